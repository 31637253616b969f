// OBJ as text.
#ifndef SN_IO_OBJ_WRITE_H
#define SN_IO_OBJ_WRITE_H

#include "io/mesh_parts.h"
#include "io/writer.h"

void sn_obj_write_vertex(sn_writer* w, double x, double y, double z);
// Texture coordinates, and all faces with their groups and materials.
void sn_obj_write_faces(sn_writer* w, const sn_mesh* mesh, const sn_mesh_parts* parts);

#endif
