// Muscles of a scene.
#ifndef SN_IO_SCENE_MUSCLE_H
#define SN_IO_SCENE_MUSCLE_H

#include "io/scene_json.h"

// An entry of `muscles` (sn_muscle_desc), which names bodies and bones that have been read.
extern const sn_table sn_muscle_table;

// Field: the list of muscles, after bodies and bones.
sn_status sn_read_muscles(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);

#endif
