// Bones and colliders as triangles that keep their number from frame to frame.
#ifndef SN_CLI_VIEW_SHAPES_H
#define SN_CLI_VIEW_SHAPES_H

#include "bytes.h"

typedef struct shape {
  double* places;       // at rest, metres (3 x vertex_count)
  uint32_t* triangles;  // (3 x triangle_count)
  uint32_t vertex_count, triangle_count;
} shape;

// Make sure that the box holds these places. @param places (3 x count)
void shapes_grow(sn_box* box, const double* places, uint32_t count);
// false: out of memory. Free either with shape_free.
bool shape_from_bone(const sn_bone_desc* bone, shape* s);
// @param extent where things are, metres: a plane is drawn so large that it holds all of it
bool shape_from_collider(const sn_collider_desc* collider, sn_box extent, shape* s);
bool shape_from_mesh(const sn_mesh* mesh, shape* s);
void shape_free(shape* s);

// Vertices at a frame as float32, in units of `unit` metres. @param own motion of the vertices themselves,
// which comes before `motion`; NULL or without frames: there is none
void shape_place(const shape* s, const sn_motion* motion, const sn_mesh_motion* own, double frame,
                 double unit, byte_buffer* out);
// u32 vertices, u32 triangles, float32 places at rest, u32 triangles.
void shape_write(const shape* s, double unit, byte_buffer* out);

const char* shape_name(sn_collider_kind kind);

#endif
