// The surface of the creature, standing: x ahead, y up, z to its right, soles on y = 0.
#ifndef CREATURE_SHAPE_H
#define CREATURE_SHAPE_H

#include "sinew/mesh.h"

// Blended from round cones. The triangles of eyes and nose, balls set into the head, come last and
// have vertices of their own; they are the group `dark`, all others `skin`.
// @param mesh the caller frees it with shape_destroy
sn_status shape_create(sn_mesh* mesh, sn_error* err);
void shape_destroy(sn_mesh* mesh);
double shape_area(const sn_mesh* mesh);

#endif
