// The zero surface of a field as a triangle mesh.
#ifndef SN_GEOMETRY_SURFACE_NETS_H
#define SN_GEOMETRY_SURFACE_NETS_H

#include "base/status.h"
#include "sinew/mesh.h"

// Negative inside. Must not change by more than the distance walked, as a signed distance does:
// whole runs of samples are skipped on that promise.
typedef struct sn_distance_field {
  double (*value)(const void* ctx, sn_vec3 p, sn_vec3* gradient);  // `gradient` may be NULL
  const void* ctx;
} sn_distance_field;

// Closed, 2-manifold and outward for any field that is positive outside `box`. `cell` is the edge
// of the sampling grid. SN_ERR_INPUT where the grid is too large or no sample lies inside.
sn_status sn_mesh_from_field(const sn_distance_field* field, sn_box box, double cell, sn_mesh* mesh,
                             sn_error* err);

#endif
