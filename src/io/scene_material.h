// The material of a body or of a part of one: a name of the library, or a law with its parameters.
#ifndef SN_IO_SCENE_MATERIAL_H
#define SN_IO_SCENE_MATERIAL_H

#include "io/scene_json.h"
#include "sinew/material.h"

// Field: an sn_material. A name is replaced by what it stands for.
sn_status sn_read_material(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);

// The library entry that a value names, or NULL.
const sn_library_material* sn_library_find(const json_t* value);

#endif
