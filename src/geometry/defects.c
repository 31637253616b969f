// What is not sound about a surface: edges by how many triangles they have, triangles that a simulation
// drops, and pairs of triangles that go through one another.
#include <string.h>

#include "geometry/moving_bvh.h"
#include "geometry/surface.h"
#include "geometry/weld.h"
#include "math/vec.h"

// Triangles of one plane would seem to cross by rounding alone: volumes below this share of the edges'
// product are none.
#define FLAT 1e-13

typedef struct search {
  const sn_mesh* mesh;
  sn_mesh_defects* defects;
  uint32_t most;
  uint32_t* weld;
  sn_surface surface;
  sn_bvh bvh;
  sn_moving_bvh tree;
  uint8_t* crossed;   // triangles of the surface
  uint32_t triangle;  // that others are compared with
  sn_vec3 corner[3];  // its corners
} search;

static sn_status make_list(sn_defect_list* list, uint32_t most, uint32_t item_size, sn_arena* arena,
                           sn_error* err) {
  return SN_ARENA_RAW(arena, (size_t)most * item_size, &list->items, err);
}

static void add_one(search* s, sn_defect_list* list, uint32_t item) {
  if (list->kept < s->most) list->items[list->kept++] = item;
  list->count++;
}

static void add_two(search* s, sn_defect_list* list, uint32_t a, uint32_t b) {
  if (list->kept < s->most) {
    list->items[2 * (size_t)list->kept] = a;
    list->items[2 * (size_t)list->kept + 1] = b;
    list->kept++;
  }
  if (list->count < UINT32_MAX) list->count++;
}

// What sn_surface_prepare left out.
static void list_dropped(search* s) {
  const sn_mesh* mesh = s->mesh;
  uint32_t next = 0;
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    if (next < s->surface.triangle_count && s->surface.sources[next] == t) {
      ++next;
      continue;
    }
    const uint32_t* corner = mesh->triangles + 3 * (size_t)t;
    sn_vec3 a = sn_load3(mesh->positions + 3 * (size_t)corner[0]);
    sn_vec3 b = sn_load3(mesh->positions + 3 * (size_t)corner[1]);
    sn_vec3 c = sn_load3(mesh->positions + 3 * (size_t)corner[2]);
    sn_vec3 n = sn_cross(sn_sub(b, a), sn_sub(c, a));
    bool flat = n.x == 0 && n.y == 0 && n.z == 0;
    add_one(s, flat ? &s->defects->degenerate : &s->defects->duplicate, t);
  }
}

// Edges

static sn_status list_edges(search* s, sn_arena* scratch, sn_error* err) {
  sn_mesh kept = {.vertex_count = s->mesh->vertex_count,
                  .triangles = s->surface.triangles,
                  .triangle_count = s->surface.triangle_count};
  sn_edge_list edges;
  SN_TRY(sn_weld_edges(&kept, s->weld, NULL, scratch, &edges, err));
  for (size_t begin = 0, end; begin < edges.count; begin = end) {
    sn_edge edge = edges.items[begin];
    end = sn_edge_list_end(&edges, begin);
    if (end - begin == 1) add_two(s, &s->defects->holes, edge.low, edge.high);
    if (end - begin > 2) add_two(s, &s->defects->nonmanifold, edge.low, edge.high);
  }
  return SN_OK;
}

// Triangles through triangles

// Six times the volume between a triangle and a point, or 0 where rounding hides its sign.
static double volume(const sn_vec3 t[3], sn_vec3 p) {
  sn_vec3 u = sn_sub(t[1], t[0]), v = sn_sub(t[2], t[0]), w = sn_sub(p, t[0]);
  double found = sn_dot(w, sn_cross(u, v));
  return fabs(found) > FLAT * sn_length(u) * sn_length(v) * sn_length(w) ? found : 0;
}

// Does the segment from p to q go through the triangle?
static bool goes_through(sn_vec3 p, sn_vec3 q, const sn_vec3 t[3]) {
  double at_p = volume(t, p), at_q = volume(t, q);
  if (!((at_p > 0 && at_q < 0) || (at_p < 0 && at_q > 0))) return false;
  int left = 0, right = 0;
  for (int k = 0; k < 3; ++k) {
    sn_vec3 a = sn_sub(t[k], p), b = sn_sub(t[(k + 1) % 3], p);
    double side = sn_dot(sn_sub(q, p), sn_cross(a, b));
    left += side > 0;
    right += side < 0;
  }
  return left == 0 || right == 0;
}

// How many corners of `a` are also b's; *shared is the last of them.
static int count_shared(const search* s, uint32_t a, uint32_t b, int* shared) {
  const uint32_t* of_a = s->surface.triangles + 3 * (size_t)a;
  const uint32_t* of_b = s->surface.triangles + 3 * (size_t)b;
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (s->weld[of_a[i]] != s->weld[of_b[j]]) continue;
      *shared = i;
      ++count;
    }
  }
  return count;
}

// Edges of `a` against triangle `b`; of one with a shared corner only the edge across from it.
static bool edges_go_through(const sn_vec3 a[3], int shared, const sn_vec3 b[3]) {
  for (int k = 0; k < 3; ++k) {
    if (shared >= 0 && k != (shared + 1) % 3) continue;
    if (goes_through(a[k], a[(k + 1) % 3], b)) return true;
  }
  return false;
}

static void compare(void* context, uint32_t other) {
  search* s = context;
  sn_vec3 corner[3];
  int here = -1, there = -1;
  if (other <= s->triangle) return;
  // Neighbours across an edge can only lie on one another.
  if (count_shared(s, s->triangle, other, &here) > 1) return;
  count_shared(s, other, s->triangle, &there);
  sn_moving_bvh_corners(&s->tree, other, corner);
  if (!edges_go_through(s->corner, here, corner) && !edges_go_through(corner, there, s->corner)) {
    return;
  }
  s->crossed[s->triangle] = s->crossed[other] = 1;
  add_two(s, &s->defects->intersecting, s->surface.sources[s->triangle], s->surface.sources[other]);
}

static void list_intersections(search* s) {
  for (uint32_t t = 0; t < s->surface.triangle_count; ++t) {
    s->triangle = t;
    sn_moving_bvh_corners(&s->tree, t, s->corner);
    sn_box box = sn_box_empty();
    for (int i = 0; i < 3; ++i) box = sn_box_grow(box, s->corner[i]);
    sn_moving_bvh_overlaps(&s->tree, box, compare, s);
  }
  for (uint32_t t = 0; t < s->surface.triangle_count; ++t) {
    if (s->crossed[t]) add_one(s, &s->defects->crossed, s->surface.sources[t]);
  }
}

static sn_status find(search* s, sn_arena* scratch, sn_error* err) {
  sn_mesh_defects* d = s->defects;
  SN_TRY(sn_arena_create(&d->storage, err));
  SN_TRY(make_list(&d->holes, s->most, 2, d->storage, err));
  SN_TRY(make_list(&d->nonmanifold, s->most, 2, d->storage, err));
  SN_TRY(make_list(&d->degenerate, s->most, 1, d->storage, err));
  SN_TRY(make_list(&d->duplicate, s->most, 1, d->storage, err));
  SN_TRY(make_list(&d->intersecting, s->most, 2, d->storage, err));
  SN_TRY(make_list(&d->crossed, s->most, 1, d->storage, err));
  SN_TRY(SN_ARENA_RAW(scratch, s->mesh->vertex_count, &s->weld, err));
  SN_TRY(sn_weld_vertices(s->mesh, scratch, s->weld, err));
  // What the tree keeps may lie in the same arena as what it needs for a while only: both end here.
  sn_arena* passing;
  SN_TRY(sn_arena_create(&passing, err));
  sn_status status = sn_surface_prepare(s->mesh, scratch, passing, &s->surface, err);
  if (status == SN_OK) status = sn_bvh_build(&s->surface, NULL, scratch, passing, &s->bvh, err);
  sn_arena_destroy(passing);
  SN_TRY(status);
  SN_TRY(SN_ARENA_NEW(scratch, s->surface.triangle_count, &s->crossed, err));
  s->tree = sn_moving_bvh_at_rest(&s->bvh);
  list_dropped(s);
  SN_TRY(list_edges(s, scratch, err));
  list_intersections(s);
  return SN_OK;
}

sn_status sn_mesh_find_defects(const sn_mesh* mesh, uint32_t most, sn_mesh_defects* defects,
                               sn_error* err) {
  search s = {.mesh = mesh, .defects = defects, .most = most};
  sn_arena* scratch;
  *defects = (sn_mesh_defects){0};
  SN_TRY(sn_arena_create(&scratch, err));
  sn_status status = find(&s, scratch, err);
  sn_arena_destroy(scratch);
  if (status != SN_OK) sn_mesh_defects_destroy(defects);
  return status;
}

void sn_mesh_defects_destroy(sn_mesh_defects* defects) {
  sn_arena_destroy(defects->storage);
  *defects = (sn_mesh_defects){0};
}
