// All surfaces of a picture as triangles in two layers, with what shading needs at each vertex. Places
// are measured from the middle of what is shown, in its radii, so that every picture has one scale.
#ifndef SN_RENDER_SOUP_H
#define SN_RENDER_SOUP_H

#include "base/memory.h"
#include "render/camera.h"
#include "render/shade.h"

// What hides everything behind it, and what only veils it.
typedef enum sn_layer_kind { SN_LAYER_OPAQUE, SN_LAYER_SHEER, SN_LAYER_COUNT } sn_layer_kind;

typedef struct sn_layer {
  uint32_t* triangles;  // only those that can be drawn (3 x triangle_count)
  uint32_t* owners;     // surface of each triangle
  uint8_t* edges;       // bits of sn_edges
  uint32_t triangle_count;
} sn_layer;

typedef struct sn_soup {
  sn_look* looks;   // of each surface
  sn_light* marks;  // of each surface: the colour of its mark
  uint32_t vertex_count;
  float* places;       // in the space of the picture (3 x vertex_count, and one more number)
  float* normals;      // unit, or zero where no drawn triangle meets (3 x vertex_count)
  sn_light* colours;   // (vertex_count)
  float* cuts;         // above 0 a surface is cut away (vertex_count); NULL: nowhere
  float* mark_shares;  // above 0.5 the surface shows its mark (vertex_count)
  sn_layer layers[SN_LAYER_COUNT];
} sn_soup;

// Gather the surfaces. All arrays come from the arena.
sn_status sn_soup_gather(const sn_drawn_surface* surfaces, uint32_t surface_count,
                         const sn_camera* camera, sn_arena* arena, sn_soup* soup, sn_error* err);

static inline sn_vec3 sn_soup_place(const sn_soup* soup, uint32_t vertex) {
  const float* p = soup->places + 3 * (size_t)vertex;
  return (sn_vec3){p[0], p[1], p[2]};
}
static inline sn_vec3 sn_soup_normal(const sn_soup* soup, uint32_t vertex) {
  const float* n = soup->normals + 3 * (size_t)vertex;
  return (sn_vec3){n[0], n[1], n[2]};
}

#endif
