#include "body/body_follow.h"

#include <math.h>
#include <string.h>

#include "geometry/parts.h"
#include "math/vec.h"

// With a pose the flesh takes along what is this near to it, in diagonals of the body.
#define FADE_DIAGONALS 0.1

static void count_parts(const sn_body_desc* desc, const sn_parts* parts, uint32_t* flesh_counts,
                        sn_body* body) {
  for (uint32_t t = 0; t < desc->mesh.triangle_count; ++t) {
    flesh_counts[parts->of_triangle[t]] += !desc->follow || !desc->follow[t];
  }
  body->surface_part_count = parts->count;
  for (uint32_t p = 0; p < parts->count; ++p) body->following_part_count += flesh_counts[p] == 0;
}

static sn_status find_parts(sn_arena* scratch, sn_body* body, sn_error* err) {
  sn_parts parts;
  uint32_t* flesh_counts;
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_arena* own;
  SN_TRY(sn_arena_create(&own, err));
  sn_status status = sn_parts_number(&body->desc->mesh, own, scratch, &parts, err);
  if (status == SN_OK) status = SN_ARENA_NEW(scratch, parts.count, &flesh_counts, err);
  if (status == SN_OK) count_parts(body->desc, &parts, flesh_counts, body);
  sn_arena_destroy(own);
  sn_arena_release(scratch, mark);
  return status;
}

// The mesh with its triangles of flesh only; `sources` says which these were.
static sn_status take_flesh(const sn_body_desc* desc, sn_arena* scratch, sn_mesh* flesh,
                            uint32_t** sources, sn_error* err) {
  const sn_mesh* mesh = &desc->mesh;
  *flesh = *mesh;
  flesh->triangle_count = 0;
  SN_TRY(SN_ARENA_RAW(scratch, 3 * (size_t)mesh->triangle_count, &flesh->triangles, err));
  SN_TRY(SN_ARENA_RAW(scratch, mesh->triangle_count, sources, err));
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    if (desc->follow[t]) continue;
    memcpy(flesh->triangles + 3 * (size_t)flesh->triangle_count, mesh->triangles + 3 * (size_t)t,
           3 * sizeof *flesh->triangles);
    (*sources)[flesh->triangle_count++] = t;
  }
  return SN_OK;
}

// Vertices in a triangle that follows and in none of flesh; `marks` has a byte for each.
static uint32_t mark_followers(const sn_body_desc* desc, uint8_t* marks) {
  const sn_mesh* mesh = &desc->mesh;
  uint32_t count = 0;
  for (size_t c = 0; c < 3 * (size_t)mesh->triangle_count; ++c) {
    if (desc->follow[c / 3]) marks[mesh->triangles[c]] = 1;
  }
  for (size_t c = 0; c < 3 * (size_t)mesh->triangle_count; ++c) {
    if (!desc->follow[c / 3]) marks[mesh->triangles[c]] = 0;
  }
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) count += marks[v];
  return count;
}

static sn_status list_followers(const sn_body_desc* desc, sn_arena* arena, sn_arena* scratch,
                                sn_body* body, sn_error* err) {
  uint8_t* marks;
  SN_TRY(SN_ARENA_NEW(scratch, desc->mesh.vertex_count, &marks, err));
  uint32_t count = mark_followers(desc, marks), at = 0;
  SN_TRY(SN_ARENA_NEW(arena, count, &body->followers, err));
  for (uint32_t v = 0; v < desc->mesh.vertex_count; ++v) {
    if (marks[v]) body->followers[at++].vertex = v;
  }
  body->follower_count = count;
  return SN_OK;
}

sn_status sn_body_prepare_surface(uint32_t index, sn_arena* arena, sn_arena* scratch, sn_body* body,
                                  sn_error* err) {
  const sn_body_desc* desc = body->desc;
  SN_TRY(find_parts(scratch, body, err));
  if (!desc->follow) return sn_surface_prepare(&desc->mesh, arena, scratch, &body->surface, err);
  sn_mesh flesh;
  uint32_t* sources;
  SN_TRY(take_flesh(desc, scratch, &flesh, &sources, err));
  SN_CHECK(flesh.triangle_count > 0, err, SN_ERR_INPUT,
           "bodies[%u].follow: nothing of \"%s\" is flesh; expected some triangles that do not "
           "follow",
           index, desc->name);
  SN_TRY(sn_surface_prepare(&flesh, arena, scratch, &body->surface, err));
  sn_surface* surface = &body->surface;
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    surface->sources[t] = sources[surface->sources[t]];
  }
  SN_TRY(list_followers(desc, arena, scratch, body, err));
  surface->report.unreferenced_vertices -= body->follower_count;
  return SN_OK;
}

// 1 at the surface, 0 with continuous slope from the length on.
static double fade(double distance, double length) {
  double share = distance / length, left = share < 1 ? 1 - share * share : 0;
  return left * left;
}

static void bind(void* ctx, size_t begin, size_t end) {
  sn_body* body = ctx;
  double length = FADE_DIAGONALS * sn_distance(body->surface.box.lo, body->surface.box.hi);
  for (size_t f = begin; f < end; ++f) {
    sn_follower* follower = &body->followers[f];
    double distance;
    sn_vec3 rest = sn_load3(body->desc->mesh.positions + 3 * (size_t)follower->vertex);
    follower->rider = sn_rider_bind(&body->bvh, rest, &distance);
    follower->fade = fade(distance, length);
  }
}

void sn_body_bind_followers(sn_pool* pool, sn_body* body) {
  sn_parallel_for(pool, body->follower_count, 64, bind, body);
}

sn_vec3 sn_follower_move(const sn_follower* follower, const sn_carrier* shown,
                         const sn_carrier* pose) {
  if (!pose || !pose->surface) return sn_rider_move(&follower->rider, shown);
  sn_vec3 flesh = sn_rider_place_move(&follower->rider, shown->moves);
  sn_vec3 posed = sn_rider_place_move(&follower->rider, pose->moves);
  return sn_madd(sn_load3(pose->moves + 3 * (size_t)follower->vertex), follower->fade,
                 sn_sub(flesh, posed));
}
