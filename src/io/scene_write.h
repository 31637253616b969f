// A scene document as text for people: two spaces a level, vectors on one line, every number as
// short as it can be and still the same.
#ifndef SN_IO_SCENE_WRITE_H
#define SN_IO_SCENE_WRITE_H

#include <jansson.h>

#include "base/memory.h"

// The text goes to `storage`.
sn_status sn_scene_to_text(const json_t* document, sn_arena* storage, char** text, sn_error* err);

#endif
