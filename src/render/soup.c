#include "render/soup.h"

#include "math/vec.h"

static sn_status check_surface(const sn_drawn_surface* surface, uint32_t index, sn_error* err) {
  for (size_t c = 0; c < 3 * (size_t)surface->triangle_count; ++c) {
    SN_CHECK(surface->triangles[c] < surface->vertex_count, err, SN_ERR_INPUT,
             "surface %u to draw: triangle %zu names vertex %u of %u", index, c / 3,
             surface->triangles[c], surface->vertex_count);
  }
  return SN_OK;
}

static sn_status take_arrays(sn_soup* soup, size_t vertex_count, size_t triangle_count,
                             sn_arena* arena, sn_error* err) {
  SN_TRY(SN_ARENA_NEW(arena, vertex_count, &soup->places, err));
  SN_TRY(SN_ARENA_NEW(arena, vertex_count, &soup->pixels, err));
  SN_TRY(SN_ARENA_NEW(arena, vertex_count, &soup->normals, err));
  SN_TRY(SN_ARENA_NEW(arena, vertex_count, &soup->marks, err));
  SN_TRY(SN_ARENA_NEW(arena, triangle_count, &soup->owners, err));
  SN_TRY(SN_ARENA_NEW(arena, vertex_count, &soup->sky, err));
  SN_TRY(SN_ARENA_NEW(arena, vertex_count, &soup->key, err));
  return SN_ARENA_NEW(arena, 3 * triangle_count, &soup->triangles, err);
}

// A vertex that cannot be drawn gets an inverse depth of zero.
static void add_vertices(sn_soup* soup, const sn_drawn_surface* surface, const sn_camera* camera) {
  for (uint32_t v = 0; v < surface->vertex_count; ++v) {
    const float* p = surface->positions + 3 * (size_t)v;
    size_t at = (size_t)soup->vertex_count + v;
    soup->places[at] = sn_v3(p[0], p[1], p[2]);
    if (!sn_camera_project(camera, soup->places[at], &soup->pixels[at])) soup->pixels[at].z = 0;
    soup->marks[at] = surface->marks ? surface->marks[v] : 0;
    soup->sky[at] = soup->key[at] = 1;
  }
}

static bool faces_eye(const sn_soup* soup, const uint32_t* corners, const sn_camera* camera) {
  sn_vec3 a = soup->places[corners[0]];
  sn_vec3 u = sn_sub(soup->places[corners[1]], a), v = sn_sub(soup->places[corners[2]], a);
  return sn_dot(sn_cross(u, v), sn_sub(camera->eye, a)) > 0;
}

static void add_triangles(sn_soup* soup, const sn_drawn_surface* surface, uint32_t owner,
                          const sn_camera* camera) {
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    uint32_t* corners = soup->triangles + 3 * (size_t)soup->triangle_count;
    bool usable = true;
    for (int c = 0; c < 3; ++c) {
      corners[c] = soup->vertex_count + surface->triangles[3 * (size_t)t + c];
      usable = usable && soup->pixels[corners[c]].z > 0;
    }
    if (usable && surface->look == SN_LOOK_FLOOR) usable = faces_eye(soup, corners, camera);
    soup->owners[soup->triangle_count] = owner;
    soup->triangle_count += usable;
  }
}

// Sums of the triangles' area vectors.
static void make_normals(sn_soup* soup) {
  for (uint32_t t = 0; t < soup->triangle_count; ++t) {
    const uint32_t* c = soup->triangles + 3 * (size_t)t;
    sn_vec3 a = soup->places[c[0]];
    sn_vec3 area = sn_cross(sn_sub(soup->places[c[1]], a), sn_sub(soup->places[c[2]], a));
    for (int k = 0; k < 3; ++k) soup->normals[c[k]] = sn_add(soup->normals[c[k]], area);
  }
  for (uint32_t v = 0; v < soup->vertex_count; ++v) {
    double length = sn_length(soup->normals[v]);
    if (length > 0) soup->normals[v] = sn_scale(1 / length, soup->normals[v]);
  }
}

sn_status sn_soup_gather(const sn_drawn_surface* surfaces, uint32_t surface_count,
                         const sn_camera* camera, sn_arena* arena, sn_soup* soup, sn_error* err) {
  *soup = (sn_soup){0};
  size_t vertex_count = 0, triangle_count = 0;
  for (uint32_t s = 0; s < surface_count; ++s) {
    SN_TRY(check_surface(&surfaces[s], s, err));
    vertex_count += surfaces[s].vertex_count;
    triangle_count += surfaces[s].triangle_count;
  }
  SN_CHECK(vertex_count <= UINT32_MAX && triangle_count <= UINT32_MAX, err, SN_ERR_INPUT,
           "%zu vertices and %zu triangles are too many for one picture", vertex_count,
           triangle_count);
  SN_TRY(SN_ARENA_NEW(arena, surface_count, &soup->colours, err));
  SN_TRY(SN_ARENA_NEW(arena, surface_count, &soup->looks, err));
  SN_TRY(take_arrays(soup, vertex_count, triangle_count, arena, err));
  for (uint32_t s = 0; s < surface_count; ++s) {
    soup->colours[s][0] = sn_light_from_colour(surfaces[s].base);
    soup->colours[s][1] = sn_light_from_colour(surfaces[s].mark);
    soup->looks[s] = surfaces[s].look;
    add_vertices(soup, &surfaces[s], camera);
    add_triangles(soup, &surfaces[s], s, camera);
    soup->vertex_count += surfaces[s].vertex_count;
  }
  make_normals(soup);
  return SN_OK;
}
