// All surfaces of a picture as one set of triangles, with what shading needs at each vertex.
#ifndef SN_RENDER_SOUP_H
#define SN_RENDER_SOUP_H

#include "base/memory.h"
#include "render/camera.h"
#include "render/shade.h"

typedef struct sn_soup {
  sn_light (*colours)[2];  // of each surface: base, mark
  sn_look* looks;          // of each surface
  uint32_t vertex_count;
  sn_vec3* places;      // in the scene
  sn_vec3* pixels;      // in the picture; see sn_camera_project
  sn_vec3* normals;     // unit, or zero where no drawn triangle meets
  float* sky;           // share of the light from all around that arrives, 0 to 1
  float* key;           // share of the key light
  float* marks;         // above 0.5 the surface shows its mark
  uint32_t* triangles;  // only those that can be drawn (3 x triangle_count)
  uint32_t* owners;     // surface of each triangle
  uint32_t triangle_count;
} sn_soup;

// Gather the surfaces; `sky` and `key` are full. All arrays come from the arena.
sn_status sn_soup_gather(const sn_drawn_surface* surfaces, uint32_t surface_count,
                         const sn_camera* camera, sn_arena* arena, sn_soup* soup, sn_error* err);

// Let the surfaces take light from each other where the camera looks: fills `sky` and `key`.
sn_status sn_soup_shadow(sn_soup* soup, const sn_light_rig* rig, const sn_camera* camera,
                         sn_arena* arena, sn_error* err);

#endif
