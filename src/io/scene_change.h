// Changes to a scene document before it is read, as `--set` takes them.
#ifndef SN_IO_SCENE_CHANGE_H
#define SN_IO_SCENE_CHANGE_H

#include <jansson.h>

#include "sinew/scene.h"

// Apply `path=value` to the document: `bodies.0.material.young=2e4` or
// `bodies[0].material.young=2e4`. Objects that are not there are made; entries of lists are not.
// SN_ERR_USAGE for a path that leads nowhere; whether the key exists is found out by reading.
sn_status sn_scene_apply_change(json_t* document, const char* path_and_value, sn_error* err);

#endif
