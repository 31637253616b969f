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

static sn_layer_kind layer_of(sn_look look) {
  return look == SN_LOOK_SOLID || look == SN_LOOK_GHOST ? SN_LAYER_SHEER : SN_LAYER_OPAQUE;
}

static sn_status take_layer(sn_layer* layer, size_t triangle_count, sn_arena* arena,
                            sn_error* err) {
  SN_TRY(SN_ARENA_RAW(arena, triangle_count, &layer->owners, err));
  SN_TRY(SN_ARENA_RAW(arena, triangle_count, &layer->edges, err));
  return SN_ARENA_RAW(arena, 3 * triangle_count, &layer->triangles, err);
}

static sn_status take_vertices(sn_soup* soup, size_t vertex_count, bool has_cuts, sn_arena* arena,
                               sn_error* err) {
  SN_TRY(SN_ARENA_NEW(arena, 3 * vertex_count + 1, &soup->places, err));
  SN_TRY(SN_ARENA_NEW(arena, 3 * vertex_count, &soup->normals, err));
  SN_TRY(SN_ARENA_NEW(arena, vertex_count, &soup->mark_shares, err));
  if (has_cuts) SN_TRY(SN_ARENA_NEW(arena, vertex_count, &soup->cuts, err));
  return SN_ARENA_NEW(arena, vertex_count, &soup->colours, err);
}

static void put3(float* to, sn_vec3 a) {
  to[0] = (float)a.x;
  to[1] = (float)a.y;
  to[2] = (float)a.z;
}

// A vertex that cannot be drawn is left at the origin with a normal that says so.
static void add_vertices(sn_soup* soup, const sn_drawn_surface* surface, const sn_camera* camera) {
  sn_light base = sn_light_from_colour(surface->base);
  for (uint32_t v = 0; v < surface->vertex_count; ++v) {
    const float* p = surface->positions + 3 * (size_t)v;
    size_t at = (size_t)soup->vertex_count + v;
    sn_vec3 place = sn_v3(p[0], p[1], p[2]), pixel;
    if (sn_camera_project(camera, place, &pixel)) {
      put3(soup->places + 3 * at, sn_camera_space(camera, place));
    } else {
      soup->normals[3 * at] = NAN;
    }
    soup->mark_shares[at] = surface->marks ? surface->marks[v] : 0;
    if (soup->cuts) soup->cuts[at] = surface->cut ? surface->cut[v] : -1;
    soup->colours[at] = surface->colours ? sn_light_from_colour(surface->colours[v]) : base;
  }
}

static sn_vec3 area_vector(const sn_soup* soup, const uint32_t* corners) {
  sn_vec3 a = sn_soup_place(soup, corners[0]);
  return sn_cross(sn_sub(sn_soup_place(soup, corners[1]), a),
                  sn_sub(sn_soup_place(soup, corners[2]), a));
}

static bool faces_eye(const sn_soup* soup, const uint32_t* corners, const sn_camera* camera) {
  sn_vec3 eye = sn_camera_space(camera, camera->eye);
  return sn_dot(area_vector(soup, corners), sn_sub(eye, sn_soup_place(soup, corners[0]))) > 0;
}

static void add_triangles(sn_soup* soup, const sn_drawn_surface* surface, uint32_t owner,
                          const sn_camera* camera) {
  sn_layer* layer = &soup->layers[layer_of(surface->look)];
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    uint32_t* corners = layer->triangles + 3 * (size_t)layer->triangle_count;
    bool usable = true;
    for (int c = 0; c < 3; ++c) {
      corners[c] = soup->vertex_count + surface->triangles[3 * (size_t)t + c];
      usable = usable && !isnan(soup->normals[3 * (size_t)corners[c]]);
    }
    if (usable && surface->look == SN_LOOK_FLOOR) usable = faces_eye(soup, corners, camera);
    layer->owners[layer->triangle_count] = owner;
    layer->edges[layer->triangle_count] = surface->edges ? surface->edges[t] : 0;
    layer->triangle_count += usable;
  }
}

// Sums of the triangles' area vectors, made unit.
static void make_normals(sn_soup* soup) {
  for (size_t i = 0; i < 3 * (size_t)soup->vertex_count; ++i) soup->normals[i] = 0;
  for (int k = 0; k < SN_LAYER_COUNT; ++k) {
    const sn_layer* layer = &soup->layers[k];
    for (uint32_t t = 0; t < layer->triangle_count; ++t) {
      const uint32_t* c = layer->triangles + 3 * (size_t)t;
      sn_vec3 area = area_vector(soup, c);
      for (int i = 0; i < 3; ++i) {
        put3(soup->normals + 3 * (size_t)c[i], sn_add(sn_soup_normal(soup, c[i]), area));
      }
    }
  }
  for (uint32_t v = 0; v < soup->vertex_count; ++v) {
    sn_vec3 normal = sn_soup_normal(soup, v);
    double length = sn_length(normal);
    if (length > 0) put3(soup->normals + 3 * (size_t)v, sn_scale(1 / length, normal));
  }
}

sn_status sn_soup_gather(const sn_drawn_surface* surfaces, uint32_t surface_count,
                         const sn_camera* camera, sn_arena* arena, sn_soup* soup, sn_error* err) {
  *soup = (sn_soup){0};
  bool has_cuts = false;
  size_t vertex_count = 0, triangle_counts[SN_LAYER_COUNT] = {0};
  for (uint32_t s = 0; s < surface_count; ++s) {
    SN_TRY(check_surface(&surfaces[s], s, err));
    has_cuts = has_cuts || surfaces[s].cut;
    vertex_count += surfaces[s].vertex_count;
    triangle_counts[layer_of(surfaces[s].look)] += surfaces[s].triangle_count;
  }
  size_t triangle_count = triangle_counts[0] + triangle_counts[1];
  SN_CHECK(vertex_count < UINT32_MAX && triangle_count < UINT32_MAX, err, SN_ERR_INPUT,
           "%zu vertices and %zu triangles are too many for one picture", vertex_count,
           triangle_count);
  SN_TRY(SN_ARENA_NEW(arena, surface_count, &soup->looks, err));
  SN_TRY(SN_ARENA_NEW(arena, surface_count, &soup->marks, err));
  SN_TRY(take_vertices(soup, vertex_count, has_cuts, arena, err));
  for (int k = 0; k < SN_LAYER_COUNT; ++k) {
    SN_TRY(take_layer(&soup->layers[k], triangle_counts[k], arena, err));
  }
  for (uint32_t s = 0; s < surface_count; ++s) {
    soup->looks[s] = surfaces[s].look;
    soup->marks[s] = sn_light_from_colour(surfaces[s].mark);
    add_vertices(soup, &surfaces[s], camera);
    add_triangles(soup, &surfaces[s], s, camera);
    soup->vertex_count += surfaces[s].vertex_count;
  }
  make_normals(soup);
  return SN_OK;
}
