// What varies inside a body: its regions, and the maps of its surface.
#ifndef SN_IO_SCENE_TISSUE_H
#define SN_IO_SCENE_TISSUE_H

#include "io/scene_json.h"

// Fields: the list of regions, named where they have no name; what `maps` may be.
sn_status sn_read_regions(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);
sn_status sn_read_maps_kind(sn_reader*, const sn_place*, json_t*, const sn_field*, void*);

extern const sn_table sn_region_table;  // of sn_region_desc

// Of bodies or regions, before they are read: a material of the library brings its density, unless
// another is given.
sn_status sn_take_densities(sn_reader* r, json_t* list);

// Once surface and regions of a body are read: the maps that it names, and those that its glTF surface
// has as attributes _SINEW_STIFFNESS, _SINEW_DENSITY or _SINEW_REGION, which are put into the document.
sn_status sn_read_maps(sn_reader* r, const sn_place* body_at, json_t* body_object,
                       sn_body_desc* body);

// The map that a `where` names must be one of the body's.
sn_status sn_check_where_map(sn_reader* r, const sn_place* owner_at, const sn_where* where,
                             const sn_body_desc* body);
// Once all is read: a map that scales nothing must be named by a `where`.
sn_status sn_check_maps_used(sn_reader* r);

#endif
