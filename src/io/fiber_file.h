// Directions of muscle fibres at points, as dissection, imaging or another program gives them.
#ifndef SN_IO_FIBER_FILE_H
#define SN_IO_FIBER_FILE_H

#include "base/memory.h"
#include "sinew/scene.h"

// Each point takes part in every direction, so more than this would be waited for.
#define SN_FIBER_SAMPLES_MAX 200000

// CSV: x, y, z, dx, dy, dz a line, in the unit of the file, the direction of any length but 0. Fields are
// divided by commas, semicolons or blanks; a first line that does not begin with a number is a heading.
sn_status sn_fiber_file_read(const char* path, sn_arena* arena, sn_fiber_sample** samples,
                             uint32_t* count, sn_error* err);

#endif
