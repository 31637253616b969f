// Names in a scene: how bodies, bones and colliders get theirs, and how other keys refer to them.
#ifndef SN_IO_SCENE_NAMES_H
#define SN_IO_SCENE_NAMES_H

#include "io/scene_json.h"

// Whether a body may have this name: it is that of its files, on any system.
bool sn_usable_as_file_name(const char* name);

// Name what has no name, before the list is read: bodies and muscles after their file, bones and regions by
// number, colliders after their file or shape and unlike any body. Explicit names, also later ones, go
// first; entries too wrong to have a name are left to the reader.
sn_status sn_name_bodies(sn_reader* r, json_t* list);
sn_status sn_name_by_number(sn_reader* r, json_t* list, const char* stem);
sn_status sn_name_colliders(sn_reader* r, json_t* list, const json_t* bodies);
sn_status sn_name_muscles(sn_reader* r, json_t* list);
sn_status sn_check_names_differ(sn_reader* r, const sn_place* list_at, sn_names names);
// None of them may be the name of a body.
sn_status sn_check_no_body_names(sn_reader* r, const sn_place* list_at, sn_names names);

// The index of a name in `names`.
sn_status sn_value_reference(sn_reader* r, const sn_place* at, const json_t* value,
                             const char* expected, sn_names names, uint32_t* index);

// Fields: a body's own name, usable for files (char*); the body or bone that is meant (uint32_t).
sn_status sn_read_body_name(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
sn_status sn_read_body_reference(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
sn_status sn_read_bone_reference(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
// A list whose entries refer to bodies: where there is only one, it need not be said.
sn_status sn_read_body_references(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);

#endif
