// Steps: weld vertices at equal places, unite the corners of each triangle, number the parts, then
// measure them. Edges that only one triangle has are rims; rims that share vertices are one loop.
#include "geometry/parts.h"

#include <stdlib.h>
#include <string.h>

#include "math/vec.h"

#define NONE UINT32_MAX

typedef struct edge_key {
  uint32_t low, high;  // welded vertices
  uint32_t triangle;
  bool forward;  // the triangle runs from low to high
} edge_key;

typedef struct rim_loop {
  sn_vec3 sum;    // of the midpoints of its edges, by their length
  double length;  // of these
} rim_loop;

typedef struct parts_work {
  const sn_mesh* mesh;
  uint32_t* weld;     // vertex -> first vertex at the same place (vertex_count)
  uint32_t* above;    // trees of united vertices, towards the lowest (vertex_count)
  uint8_t* measured;  // triangle has area and repeats none before it (triangle_count)
  edge_key* rims;     // (rim_count)
  size_t rim_count;
  rim_loop* loops;  // by the lowest vertex of each (vertex_count)
} parts_work;

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

// Slots of a hash table for so many items, a power of two, at most half full.
static sn_status take_slots(sn_arena* scratch, size_t count, uint32_t** slots, size_t* mask,
                            sn_error* err) {
  size_t slot_count = 16;
  while (slot_count < 2 * count) slot_count *= 2;
  SN_TRY(SN_ARENA_RAW(scratch, slot_count, slots, err));
  memset(*slots, 0xff, slot_count * sizeof **slots);
  *mask = slot_count - 1;
  return SN_OK;
}

static uint64_t hash_place(const double* p) {
  uint64_t hash = 1;
  for (int i = 0; i < 3; ++i) {
    double value = p[i] + 0.0;  // -0 and 0 are one place
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hash = mix(hash, bits);
  }
  return hash;
}

static sn_status weld_vertices(parts_work* work, sn_arena* scratch, sn_error* err) {
  const sn_mesh* mesh = work->mesh;
  uint32_t* slots;
  size_t mask;
  SN_TRY(take_slots(scratch, mesh->vertex_count, &slots, &mask, err));
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    const double* p = mesh->positions + 3 * (size_t)v;
    size_t at = (size_t)hash_place(p) & mask;
    for (; slots[at] != NONE; at = (at + 1) & mask) {
      const double* q = mesh->positions + 3 * (size_t)slots[at];
      if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) break;
    }
    if (slots[at] == NONE) slots[at] = v;
    work->weld[v] = slots[at];
  }
  return SN_OK;
}

// The lowest vertex that v is united with; the way there is halved for the next who asks.
static uint32_t find_lowest(uint32_t* above, uint32_t v) {
  while (above[v] != v) v = above[v] = above[above[v]];
  return v;
}

static void unite(uint32_t* above, uint32_t a, uint32_t b) {
  a = find_lowest(above, a);
  b = find_lowest(above, b);
  if (a < b) above[b] = a;
  if (b < a) above[a] = b;
}

static uint32_t welded_corner(const parts_work* work, uint32_t triangle, int corner) {
  return work->weld[work->mesh->triangles[3 * (size_t)triangle + corner]];
}

static void unite_corners(parts_work* work) {
  for (uint32_t v = 0; v < work->mesh->vertex_count; ++v) work->above[v] = v;
  for (uint32_t t = 0; t < work->mesh->triangle_count; ++t) {
    unite(work->above, welded_corner(work, t, 0), welded_corner(work, t, 1));
    unite(work->above, welded_corner(work, t, 0), welded_corner(work, t, 2));
  }
}

// Numbers by first triangle, and the part of each triangle and vertex.
static sn_status number_parts(parts_work* work, sn_arena* arena, sn_arena* scratch, sn_parts* parts,
                              sn_error* err) {
  const sn_mesh* mesh = work->mesh;
  uint32_t* number;  // of the part with this lowest vertex
  SN_TRY(SN_ARENA_RAW(scratch, mesh->vertex_count, &number, err));
  memset(number, 0xff, mesh->vertex_count * sizeof *number);
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    uint32_t lowest = find_lowest(work->above, welded_corner(work, t, 0));
    if (number[lowest] == NONE) number[lowest] = parts->count++;
    parts->of_triangle[t] = number[lowest];
  }
  SN_TRY(SN_ARENA_NEW(arena, parts->count, &parts->items, err));
  memset(parts->of_vertex, 0xff, mesh->vertex_count * sizeof *parts->of_vertex);
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    sn_part* part = &parts->items[parts->of_triangle[t]];
    if (part->triangle_count++ == 0) {
      part->first_triangle = t;
      part->box = sn_box_empty();
    }
    for (int i = 0; i < 3; ++i) {
      uint32_t v = mesh->triangles[3 * (size_t)t + i];
      part->box = sn_box_grow(part->box, sn_load3(mesh->positions + 3 * (size_t)v));
      part->vertex_count += parts->of_vertex[v] == SN_NO_PART;
      parts->of_vertex[v] = parts->of_triangle[t];
    }
  }
  return SN_OK;
}

static void load_corners(const sn_mesh* mesh, uint32_t triangle, sn_vec3 corner[3]) {
  for (int i = 0; i < 3; ++i) {
    corner[i] = sn_load3(mesh->positions + 3 * (size_t)mesh->triangles[3 * (size_t)triangle + i]);
  }
}

static double double_area(sn_vec3 a, sn_vec3 b, sn_vec3 c) {
  return sn_length(sn_cross(sn_sub(b, a), sn_sub(c, a)));
}

// Its welded corners, ascending.
static void sorted_corners(const parts_work* work, uint32_t triangle, uint32_t c[3]) {
  for (int i = 0; i < 3; ++i) {
    uint32_t v = welded_corner(work, triangle, i);
    int at = i;
    for (; at > 0 && c[at - 1] > v; --at) c[at] = c[at - 1];
    c[at] = v;
  }
}

// Which triangles have an area and are the first of their corners.
static sn_status mark_measured(parts_work* work, sn_arena* scratch, sn_error* err) {
  const sn_mesh* mesh = work->mesh;
  uint32_t* slots;
  size_t mask;
  SN_TRY(take_slots(scratch, mesh->triangle_count, &slots, &mask, err));
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    sn_vec3 p[3];
    uint32_t corner[3], other[3];
    load_corners(mesh, t, p);
    if (!(double_area(p[0], p[1], p[2]) > 0)) continue;
    sorted_corners(work, t, corner);
    size_t at = (size_t)mix(mix(mix(1, corner[0]), corner[1]), corner[2]) & mask;
    for (; slots[at] != NONE; at = (at + 1) & mask) {
      sorted_corners(work, slots[at], other);
      if (memcmp(corner, other, sizeof corner) == 0) break;
    }
    work->measured[t] = slots[at] == NONE;
    if (slots[at] == NONE) slots[at] = t;
  }
  return SN_OK;
}

static int compare_edges(const void* a, const void* b) {
  const edge_key *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  if (p->high != q->high) return p->high < q->high ? -1 : 1;
  return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

// Edges of which there is one only.
static sn_status find_rims(parts_work* work, sn_arena* scratch, sn_error* err) {
  edge_key* edges;
  size_t count = 0;
  SN_TRY(SN_ARENA_RAW(scratch, 3 * (size_t)work->mesh->triangle_count, &edges, err));
  for (uint32_t t = 0; t < work->mesh->triangle_count; ++t) {
    for (int i = 0; i < 3 && work->measured[t]; ++i) {
      uint32_t a = welded_corner(work, t, i), b = welded_corner(work, t, (i + 1) % 3);
      edges[count++] = (edge_key){a < b ? a : b, a < b ? b : a, t, a < b};
    }
  }
  qsort(edges, count, sizeof *edges, compare_edges);
  work->rims = edges;
  for (size_t begin = 0, end; begin < count; begin = end) {
    end = begin + 1;
    while (end < count && edges[end].low == edges[begin].low &&
           edges[end].high == edges[begin].high) {
      ++end;
    }
    if (end - begin == 1) edges[work->rim_count++] = edges[begin];
  }
  return SN_OK;
}

static sn_vec3 vertex_place(const parts_work* work, uint32_t v) {
  return sn_load3(work->mesh->positions + 3 * (size_t)v);
}

// The middle of each loop, from its edges.
static void find_loops(parts_work* work) {
  for (uint32_t v = 0; v < work->mesh->vertex_count; ++v) work->above[v] = v;
  for (size_t r = 0; r < work->rim_count; ++r) {
    unite(work->above, work->rims[r].low, work->rims[r].high);
  }
  for (size_t r = 0; r < work->rim_count; ++r) {
    sn_vec3 a = vertex_place(work, work->rims[r].low), b = vertex_place(work, work->rims[r].high);
    rim_loop* loop = &work->loops[find_lowest(work->above, work->rims[r].low)];
    double length = sn_distance(a, b);
    loop->sum = sn_madd(loop->sum, 0.5 * length, sn_add(a, b));
    loop->length += length;
  }
}

// Volume between a triangle and the middle of its part.
static double cone_volume(const sn_part* part, sn_vec3 a, sn_vec3 b, sn_vec3 c) {
  sn_vec3 middle = sn_box_centre(part->box);
  return sn_dot(sn_sub(a, middle), sn_cross(sn_sub(b, middle), sn_sub(c, middle))) / 6;
}

static void measure_parts(const parts_work* work, sn_parts* parts) {
  for (uint32_t t = 0; t < work->mesh->triangle_count; ++t) {
    if (!work->measured[t]) continue;
    sn_part* part = &parts->items[parts->of_triangle[t]];
    sn_vec3 p[3];
    load_corners(work->mesh, t, p);
    part->area += 0.5 * double_area(p[0], p[1], p[2]);
    part->volume += cone_volume(part, p[0], p[1], p[2]);
  }
  for (size_t r = 0; r < work->rim_count; ++r) {
    edge_key rim = work->rims[r];
    sn_part* part = &parts->items[parts->of_triangle[rim.triangle]];
    const rim_loop* loop = &work->loops[find_lowest(work->above, rim.low)];
    sn_vec3 middle = sn_scale(1 / loop->length, loop->sum);
    sn_vec3 a = vertex_place(work, rim.forward ? rim.high : rim.low);
    sn_vec3 b = vertex_place(work, rim.forward ? rim.low : rim.high);
    part->rim_length += sn_distance(a, b);
    part->rim_share += 0.5 * double_area(a, b, middle);
    part->volume += cone_volume(part, a, b, middle);
  }
  for (uint32_t p = 0; p < parts->count; ++p) {
    sn_part* part = &parts->items[p];
    part->rim_share = part->area > 0 ? part->rim_share / part->area : 0;
  }
}

static sn_status find_parts(parts_work* work, sn_arena* arena, sn_arena* scratch, sn_parts* parts,
                            sn_error* err) {
  const sn_mesh* mesh = work->mesh;
  SN_TRY(SN_ARENA_RAW(arena, mesh->triangle_count, &parts->of_triangle, err));
  SN_TRY(SN_ARENA_RAW(arena, mesh->vertex_count, &parts->of_vertex, err));
  SN_TRY(SN_ARENA_RAW(scratch, mesh->vertex_count, &work->weld, err));
  SN_TRY(SN_ARENA_RAW(scratch, mesh->vertex_count, &work->above, err));
  SN_TRY(SN_ARENA_NEW(scratch, mesh->triangle_count, &work->measured, err));
  SN_TRY(SN_ARENA_NEW(scratch, mesh->vertex_count, &work->loops, err));
  SN_TRY(weld_vertices(work, scratch, err));
  unite_corners(work);
  SN_TRY(number_parts(work, arena, scratch, parts, err));
  SN_TRY(mark_measured(work, scratch, err));
  SN_TRY(find_rims(work, scratch, err));
  find_loops(work);
  measure_parts(work, parts);
  return SN_OK;
}

sn_status sn_parts_find(const sn_mesh* mesh, sn_arena* arena, sn_arena* scratch, sn_parts* parts,
                        sn_error* err) {
  *parts = (sn_parts){0};
  parts_work work = {.mesh = mesh};
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_status status = find_parts(&work, arena, scratch, parts, err);
  sn_arena_release(scratch, mark);
  return status;
}
