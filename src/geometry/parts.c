// Steps: weld vertices at equal places, unite the corners of each triangle, number the parts, then
// measure them. Edges that only one triangle has are rims; rims that share vertices are one loop.
#include "geometry/parts.h"

#include <string.h>

#include "geometry/weld.h"
#include "math/vec.h"

typedef struct rim_loop {
  sn_vec3 sum;    // of the midpoints of its edges, by their length
  double length;  // of these
} rim_loop;

typedef struct parts_work {
  const sn_mesh* mesh;
  uint32_t* weld;     // vertex -> first vertex at the same place (vertex_count)
  uint32_t* above;    // trees of united vertices, towards the lowest (vertex_count)
  uint8_t* measured;  // triangle has area and repeats none before it (triangle_count)
  sn_edge_list rims;
  rim_loop* loops;  // by the lowest vertex of each (vertex_count)
} parts_work;

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
    if (number[lowest] == SN_NO_PART) number[lowest] = parts->count++;
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

// Which triangles have an area and are the first of their corners.
static sn_status mark_measured(parts_work* work, sn_arena* scratch, sn_error* err) {
  const sn_mesh* mesh = work->mesh;
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    sn_vec3 p[3];
    load_corners(mesh, t, p);
    work->measured[t] = double_area(p[0], p[1], p[2]) > 0;
  }
  return sn_weld_triangles(mesh, work->weld, scratch, work->measured, err);
}

// Edges of which there is one only.
static sn_status find_rims(parts_work* work, sn_arena* scratch, sn_error* err) {
  sn_edge_list edges;
  SN_TRY(sn_weld_edges(work->mesh, work->weld, work->measured, scratch, &edges, err));
  work->rims = (sn_edge_list){edges.items, 0};
  for (size_t begin = 0, end; begin < edges.count; begin = end) {
    end = sn_edge_list_end(&edges, begin);
    if (end - begin == 1) work->rims.items[work->rims.count++] = edges.items[begin];
  }
  return SN_OK;
}

static sn_vec3 vertex_place(const parts_work* work, uint32_t v) {
  return sn_load3(work->mesh->positions + 3 * (size_t)v);
}

// The middle of each loop, from its edges.
static void find_loops(parts_work* work) {
  for (uint32_t v = 0; v < work->mesh->vertex_count; ++v) work->above[v] = v;
  for (size_t r = 0; r < work->rims.count; ++r) {
    unite(work->above, work->rims.items[r].low, work->rims.items[r].high);
  }
  for (size_t r = 0; r < work->rims.count; ++r) {
    sn_vec3 a = vertex_place(work, work->rims.items[r].low),
            b = vertex_place(work, work->rims.items[r].high);
    rim_loop* loop = &work->loops[find_lowest(work->above, work->rims.items[r].low)];
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
  for (size_t r = 0; r < work->rims.count; ++r) {
    sn_edge rim = work->rims.items[r];
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

static sn_status number(parts_work* work, sn_arena* arena, sn_arena* scratch, sn_parts* parts,
                        sn_error* err) {
  const sn_mesh* mesh = work->mesh;
  SN_TRY(SN_ARENA_RAW(arena, mesh->triangle_count, &parts->of_triangle, err));
  SN_TRY(SN_ARENA_RAW(arena, mesh->vertex_count, &parts->of_vertex, err));
  SN_TRY(SN_ARENA_RAW(scratch, mesh->vertex_count, &work->weld, err));
  SN_TRY(SN_ARENA_RAW(scratch, mesh->vertex_count, &work->above, err));
  SN_TRY(sn_weld_vertices(mesh, scratch, work->weld, err));
  unite_corners(work);
  return number_parts(work, arena, scratch, parts, err);
}

static sn_status measure(parts_work* work, sn_arena* scratch, sn_parts* parts, sn_error* err) {
  SN_TRY(SN_ARENA_RAW(scratch, work->mesh->triangle_count, &work->measured, err));
  SN_TRY(SN_ARENA_NEW(scratch, work->mesh->vertex_count, &work->loops, err));
  SN_TRY(mark_measured(work, scratch, err));
  SN_TRY(find_rims(work, scratch, err));
  find_loops(work);
  measure_parts(work, parts);
  return SN_OK;
}

static sn_status find(const sn_mesh* mesh, bool measured, sn_arena* arena, sn_arena* scratch,
                      sn_parts* parts, sn_error* err) {
  *parts = (sn_parts){0};
  parts_work work = {.mesh = mesh};
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_status status = number(&work, arena, scratch, parts, err);
  if (status == SN_OK && measured) status = measure(&work, scratch, parts, err);
  sn_arena_release(scratch, mark);
  return status;
}

sn_status sn_parts_number(const sn_mesh* mesh, sn_arena* arena, sn_arena* scratch, sn_parts* parts,
                          sn_error* err) {
  return find(mesh, false, arena, scratch, parts, err);
}

sn_status sn_parts_find(const sn_mesh* mesh, sn_arena* arena, sn_arena* scratch, sn_parts* parts,
                        sn_error* err) {
  return find(mesh, true, arena, scratch, parts, err);
}
