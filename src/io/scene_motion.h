// Keyframes of a scene.
#ifndef SN_IO_SCENE_MOTION_H
#define SN_IO_SCENE_MOTION_H

#include "io/scene_json.h"

// Keys must follow one another in time.
// @param at the list @param first_frame frame of the first key @param stride bytes between keys
sn_status sn_check_ascending(sn_reader* r, const sn_place* at, const void* first_frame,
                             size_t stride, uint32_t count);

// Field: a list of keyframes, or an object that names a file (sn_motion).
sn_status sn_read_motion(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
// The same for what cannot be stretched.
sn_status sn_read_rigid_motion(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);

#endif
