// Steps: weld equal positions (for topology only), drop triangles without area and repeated ones,
// group the rest into patches across edges that exactly two triangles share, turn the minority of
// each patch, then turn whole patches that are inside out and not the wall of a cavity.
#include "geometry/surface.h"

#include <string.h>

#include "geometry/bvh.h"
#include "geometry/weld.h"
#include "math/vec.h"

typedef struct topology {
  sn_edge_list edges;
  uint32_t* weld;       // vertex -> first vertex at the same place
  uint32_t* neighbour;  // (3 x count) triangle across each edge or NONE
  bool* against;        // (3 x count) that neighbour runs the shared edge the same way
  uint32_t* patch;      // triangle -> patch
  bool* turned;
  uint32_t patch_count;
} topology;

#define NONE UINT32_MAX
#define MANY_PATCHES 256

// Twice the area vector of a triangle of the mesh.
static sn_vec3 area_vector(const double* positions, const uint32_t* t) {
  sn_vec3 a = sn_load3(positions + 3 * (size_t)t[0]);
  sn_vec3 b = sn_load3(positions + 3 * (size_t)t[1]);
  sn_vec3 c = sn_load3(positions + 3 * (size_t)t[2]);
  return sn_cross(sn_sub(b, a), sn_sub(c, a));
}

// Copy the triangles worth keeping, in their order.
static sn_status keep_triangles(const sn_mesh* mesh, const uint32_t* weld, sn_arena* scratch,
                                sn_surface* surface, sn_error* err) {
  uint8_t* wanted;
  uint32_t with_area = 0;
  SN_TRY(SN_ARENA_RAW(scratch, mesh->triangle_count, &wanted, err));
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    sn_vec3 n = area_vector(mesh->positions, mesh->triangles + 3 * (size_t)t);
    wanted[t] = n.x != 0 || n.y != 0 || n.z != 0;
    with_area += wanted[t];
  }
  SN_TRY(sn_weld_triangles(mesh, weld, scratch, wanted, err));
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    if (!wanted[t]) continue;
    memcpy(surface->triangles + 3 * (size_t)surface->triangle_count,
           mesh->triangles + 3 * (size_t)t, 3 * sizeof(uint32_t));
    surface->sources[surface->triangle_count++] = t;
  }
  surface->report.degenerate_triangles = mesh->triangle_count - with_area;
  surface->report.duplicate_triangles = with_area - surface->triangle_count;
  return SN_OK;
}

// Which triangle lies across each edge, where exactly two share it.
static sn_status find_neighbours(const sn_surface* surface, sn_arena* scratch, topology* topo,
                                 sn_error* err) {
  sn_mesh kept = {.vertex_count = surface->vertex_count,
                  .triangles = surface->triangles,
                  .triangle_count = surface->triangle_count};
  SN_TRY(sn_weld_edges(&kept, topo->weld, NULL, scratch, &topo->edges, err));
  memset(topo->neighbour, 0xff, topo->edges.count * sizeof *topo->neighbour);
  for (size_t begin = 0, end; begin < topo->edges.count; begin = end) {
    end = sn_edge_list_end(&topo->edges, begin);
    if (end - begin != 2) continue;
    for (int i = 0; i < 2; ++i) {
      sn_edge here = topo->edges.items[begin + i], there = topo->edges.items[begin + 1 - i];
      size_t at = 3 * (size_t)here.triangle + here.side;
      topo->neighbour[at] = there.triangle;
      topo->against[at] = here.forward == there.forward;
    }
  }
  return SN_OK;
}

// Flood each patch from its first triangle, marking those that must turn to agree with it; then
// turn the smaller party.
static void agree_within_patches(const sn_surface* surface, topology* topo, uint32_t* stack) {
  for (uint32_t t = 0; t < surface->triangle_count; ++t) topo->patch[t] = NONE;
  for (uint32_t first = 0; first < surface->triangle_count; ++first) {
    if (topo->patch[first] != NONE) continue;
    uint32_t found = 0, turned = 0;  // stack[0..found) is the patch, read through once
    stack[found++] = first;
    topo->patch[first] = topo->patch_count;
    for (uint32_t next = 0; next < found; ++next) {
      uint32_t t = stack[next];
      turned += topo->turned[t];
      for (int i = 0; i < 3; ++i) {
        uint32_t other = topo->neighbour[3 * (size_t)t + i];
        if (other == NONE || topo->patch[other] != NONE) continue;
        topo->patch[other] = topo->patch_count;
        topo->turned[other] = topo->turned[t] != topo->against[3 * (size_t)t + i];
        stack[found++] = other;
      }
    }
    if (2 * turned > found) {
      for (uint32_t k = 0; k < found; ++k) topo->turned[stack[k]] = !topo->turned[stack[k]];
    }
    topo->patch_count++;
  }
}

// Six times the volume a triangle spans with `apex`.
static double cone_volume(const sn_surface* surface, uint32_t t, sn_vec3 apex) {
  sn_vec3 a = sn_sub(sn_surface_corner(surface, t, 0), apex);
  sn_vec3 b = sn_sub(sn_surface_corner(surface, t, 1), apex);
  sn_vec3 c = sn_sub(sn_surface_corner(surface, t, 2), apex);
  return sn_dot(a, sn_cross(b, c));
}

// What is known of a patch.
typedef struct patch_info {
  sn_vec3 centre;  // of the first corners
  double volume;   // six times what it spans with the centre, m3
  double area;     // twice, m2
  uint32_t size;   // triangles
  uint32_t first;  // triangle
  bool open;       // it has an edge without neighbour
} patch_info;

// An open patch that bulges less than this, as volume over area to 3/2, is flat: which side of it is out, its own
// shape does not tell. A hemisphere has 0.05.
#define FLAT_PATCH 0.005

static sn_status measure_patches(const sn_surface* surface, const topology* topo, sn_arena* scratch,
                                 patch_info** patches, sn_error* err) {
  SN_TRY(SN_ARENA_NEW(scratch, topo->patch_count, patches, err));
  patch_info* all = *patches;
  for (uint32_t t = surface->triangle_count; t-- > 0;) {
    patch_info* p = &all[topo->patch[t]];
    p->centre = sn_add(p->centre, sn_surface_corner(surface, t, 0));
    p->size++;
    p->first = t;
    for (int i = 0; i < 3; ++i) p->open |= topo->neighbour[3 * (size_t)t + i] == NONE;
  }
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    patch_info* p = &all[topo->patch[t]];
    p->volume += cone_volume(surface, t, sn_scale(1.0 / p->size, p->centre));
    p->area += sn_length(area_vector(surface->positions, surface->triangles + 3 * (size_t)t));
  }
  return SN_OK;
}

// Is the patch by itself inside out, beyond doubt?
static bool is_inside_out(const patch_info* p) {
  if (!p->open) return p->volume < 0;
  double area = 0.5 * p->area;
  return p->volume < -6 * FLAT_PATCH * area * sqrt(area);
}

static double triangle_winding(const sn_surface* surface, uint32_t t, sn_vec3 point) {
  sn_vec3 corner[3];
  for (int i = 0; i < 3; ++i) corner[i] = sn_surface_corner(surface, t, i);
  return sn_triangle_winding(corner, point);
}

// How often the rest of the surface winds around a point of the patch.
static double winding_of_others(const sn_surface* surface, const topology* topo, uint32_t patch,
                                sn_vec3 point) {
  double winding = 0;
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    if (topo->patch[t] != patch) winding += triangle_winding(surface, t, point);
  }
  return winding;
}

// Must a patch turn? On its own, if it is inside out. Within others an inward one is taken for the
// wall of a cavity, and so is an outward one within a skin that is inside out.
static bool must_turn(const patch_info* p, double around) {
  return fabs(around) > 0.5 ? around < 0 && p->volume > 0 : is_inside_out(p);
}

// Of few patches each is judged by all triangles of the others.
static void judge_few(const sn_surface* surface, const topology* topo, const patch_info* patches,
                      uint8_t* turn) {
  for (uint32_t p = 0; p < topo->patch_count; ++p) {
    sn_vec3 point = sn_surface_corner(surface, patches[p].first, 0);
    turn[p] = must_turn(&patches[p], winding_of_others(surface, topo, p, point));
  }
}

// Of many only those that are inside out are judged, by a tree over all triangles, from which their own are taken
// away: a soup of a million patches must not take a million times a million.
static sn_status judge_many(const sn_surface* surface, const topology* topo,
                            const patch_info* patches, sn_arena* scratch, uint8_t* turn,
                            sn_error* err) {
  sn_bvh bvh;
  double* own;
  SN_TRY(sn_bvh_build(surface, NULL, scratch, scratch, &bvh, err));
  SN_TRY(SN_ARENA_NEW(scratch, topo->patch_count, &own, err));
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    const patch_info* p = &patches[topo->patch[t]];
    if (!is_inside_out(p)) continue;
    own[topo->patch[t]] += triangle_winding(surface, t, sn_surface_corner(surface, p->first, 0));
  }
  for (uint32_t p = 0; p < topo->patch_count; ++p) {
    if (!is_inside_out(&patches[p])) continue;
    sn_vec3 point = sn_surface_corner(surface, patches[p].first, 0);
    turn[p] = must_turn(&patches[p], sn_bvh_winding(&bvh, point) - own[p]);
  }
  return SN_OK;
}

static void turn_triangle(sn_surface* surface, topology* topo, uint32_t t) {
  uint32_t* corner = surface->triangles + 3 * (size_t)t;
  uint32_t swap = corner[1];
  corner[1] = corner[2];
  corner[2] = swap;
  topo->turned[t] = !topo->turned[t];
}

// Turn the patches that are inside out. The verdicts first, so that no patch is judged by one already turned.
static sn_status turn_patches_outward(sn_surface* surface, sn_arena* scratch, topology* topo,
                                      sn_error* err) {
  patch_info* patches;
  uint8_t* turn;
  SN_TRY(measure_patches(surface, topo, scratch, &patches, err));
  SN_TRY(SN_ARENA_NEW(scratch, topo->patch_count, &turn, err));
  bool any = false;
  for (uint32_t p = 0; p < topo->patch_count; ++p) any = any || is_inside_out(&patches[p]);
  if (any && topo->patch_count > MANY_PATCHES) {
    SN_TRY(judge_many(surface, topo, patches, scratch, turn, err));
  } else if (any) {
    judge_few(surface, topo, patches, turn);
  }
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    if (turn[topo->patch[t]]) turn_triangle(surface, topo, t);
  }
  return SN_OK;
}

// The surface ends at an edge that its triangles do not run as often one way as the other: there,
// and only there, does its solid angle change as a point moves beside it.
static void find_rim(sn_surface* surface, const topology* topo) {
  const sn_edge* edges = topo->edges.items;
  for (size_t begin = 0, end; begin < topo->edges.count; begin = end) {
    size_t forward = 0;
    end = sn_edge_list_end(&topo->edges, begin);
    for (size_t e = begin; e < end; ++e) {
      forward += edges[e].forward != topo->turned[edges[e].triangle];
    }
    if (2 * forward == end - begin) continue;
    for (size_t e = begin; e < end; ++e) {
      // Turning a triangle swaps its last two corners, and so its first and its last edge.
      int side = topo->turned[edges[e].triangle] ? 2 - edges[e].side : edges[e].side;
      surface->rim[edges[e].triangle] |= (uint8_t)(1 << side);
    }
  }
}

static sn_status orient(sn_surface* surface, sn_arena* scratch, topology* topo, sn_error* err) {
  uint32_t* stack;
  size_t count = surface->triangle_count;
  SN_TRY(SN_ARENA_NEW(scratch, 3 * count, &topo->neighbour, err));
  SN_TRY(SN_ARENA_NEW(scratch, 3 * count, &topo->against, err));
  SN_TRY(SN_ARENA_NEW(scratch, count, &topo->patch, err));
  SN_TRY(SN_ARENA_NEW(scratch, count, &topo->turned, err));
  SN_TRY(SN_ARENA_NEW(scratch, count, &stack, err));
  SN_TRY(find_neighbours(surface, scratch, topo, err));
  agree_within_patches(surface, topo, stack);
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    if (!topo->turned[t]) continue;
    topo->turned[t] = false;
    turn_triangle(surface, topo, t);
  }
  SN_TRY(turn_patches_outward(surface, scratch, topo, err));
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    surface->report.flipped_triangles += topo->turned[t];
  }
  find_rim(surface, topo);
  return SN_OK;
}

static sn_status measure(const sn_mesh* mesh, sn_arena* scratch, sn_surface* surface,
                         sn_error* err) {
  uint8_t* used;
  SN_TRY(SN_ARENA_NEW(scratch, mesh->vertex_count, &used, err));
  surface->box = sn_box_empty();
  for (size_t c = 0; c < 3 * (size_t)surface->triangle_count; ++c) {
    used[surface->triangles[c]] = 1;
    surface->box =
        sn_box_grow(surface->box, sn_load3(mesh->positions + 3 * (size_t)surface->triangles[c]));
  }
  for (uint32_t v = 0; v < mesh->vertex_count; ++v)
    surface->report.unreferenced_vertices += !used[v];
  sn_vec3 apex = sn_box_centre(surface->box);
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    surface->area +=
        0.5 * sn_length(area_vector(mesh->positions, surface->triangles + 3 * (size_t)t));
    surface->volume += cone_volume(surface, t, apex) / 6.0;
  }
  return SN_OK;
}

static sn_status prepare(const sn_mesh* mesh, sn_arena* arena, sn_arena* scratch,
                         sn_surface* surface, sn_error* err) {
  topology topo = {0};
  SN_TRY(SN_ARENA_NEW(arena, 3 * (size_t)mesh->triangle_count, &surface->triangles, err));
  SN_TRY(SN_ARENA_NEW(arena, mesh->triangle_count, &surface->sources, err));
  SN_TRY(SN_ARENA_NEW(scratch, mesh->vertex_count, &topo.weld, err));
  SN_TRY(sn_weld_vertices(mesh, scratch, topo.weld, err));
  SN_TRY(keep_triangles(mesh, topo.weld, scratch, surface, err));
  SN_TRY(SN_ARENA_NEW(arena, surface->triangle_count, &surface->rim, err));
  SN_TRY(orient(surface, scratch, &topo, err));
  return measure(mesh, scratch, surface, err);
}

sn_status sn_surface_prepare(const sn_mesh* mesh, sn_arena* arena, sn_arena* scratch,
                             sn_surface* surface, sn_error* err) {
  *surface = (sn_surface){.positions = mesh->positions, .vertex_count = mesh->vertex_count};
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_status status = prepare(mesh, arena, scratch, surface, err);
  sn_arena_release(scratch, mark);
  return status;
}
