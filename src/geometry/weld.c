// Vertices and triangles are found again in hash tables; edges are sorted by counting.
#include "geometry/weld.h"

#include <string.h>

#define NONE UINT32_MAX

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

sn_status sn_weld_vertices(const sn_mesh* mesh, sn_arena* scratch, uint32_t* weld, sn_error* err) {
  uint32_t* slots;
  size_t mask;
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(take_slots(scratch, mesh->vertex_count, &slots, &mask, err));
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    const double* p = mesh->positions + 3 * (size_t)v;
    size_t at = (size_t)hash_place(p) & mask;
    for (; slots[at] != NONE; at = (at + 1) & mask) {
      const double* q = mesh->positions + 3 * (size_t)slots[at];
      if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) break;
    }
    if (slots[at] == NONE) slots[at] = v;
    weld[v] = slots[at];
  }
  sn_arena_release(scratch, mark);
  return SN_OK;
}

// The welded corners of a triangle, ascending.
static void sorted_corners(const sn_mesh* mesh, const uint32_t* weld, uint32_t triangle,
                           uint32_t c[3]) {
  for (int i = 0; i < 3; ++i) {
    uint32_t v = weld[mesh->triangles[3 * (size_t)triangle + i]];
    int at = i;
    for (; at > 0 && c[at - 1] > v; --at) c[at] = c[at - 1];
    c[at] = v;
  }
}

sn_status sn_weld_triangles(const sn_mesh* mesh, const uint32_t* weld, sn_arena* scratch,
                            uint8_t* wanted, sn_error* err) {
  uint32_t* slots;
  size_t mask;
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(take_slots(scratch, mesh->triangle_count, &slots, &mask, err));
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    uint32_t corner[3], other[3];
    if (!wanted[t]) continue;
    sorted_corners(mesh, weld, t, corner);
    size_t at = (size_t)mix(mix(mix(1, corner[0]), corner[1]), corner[2]) & mask;
    for (; slots[at] != NONE; at = (at + 1) & mask) {
      sorted_corners(mesh, weld, slots[at], other);
      if (memcmp(corner, other, sizeof corner) == 0) break;
    }
    wanted[t] = slots[at] == NONE;
    if (slots[at] == NONE) slots[at] = t;
  }
  sn_arena_release(scratch, mark);
  return SN_OK;
}

static size_t list_edges(const sn_mesh* mesh, const uint32_t* weld, const uint8_t* wanted,
                         sn_edge* out) {
  size_t count = 0;
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    const uint32_t* corner = mesh->triangles + 3 * (size_t)t;
    if (wanted && !wanted[t]) continue;
    for (int i = 0; i < 3; ++i) {
      uint32_t a = weld[corner[i]], b = weld[corner[(i + 1) % 3]];
      out[count++] = (sn_edge){a < b ? a : b, a < b ? b : a, t, (uint8_t)i, a < b};
    }
  }
  return count;
}

static uint32_t vertex_of(const sn_edge* edge, bool high) { return high ? edge->high : edge->low; }

// By one of their vertices; edges that have the same keep their order. @param starts (limit + 1)
static void sort_edges(const sn_edge* from, size_t count, bool high, uint32_t limit, size_t* starts,
                       sn_edge* to) {
  memset(starts, 0, ((size_t)limit + 1) * sizeof *starts);
  for (size_t e = 0; e < count; ++e) starts[vertex_of(&from[e], high) + 1]++;
  for (uint32_t v = 0; v < limit; ++v) starts[v + 1] += starts[v];
  for (size_t e = 0; e < count; ++e) to[starts[vertex_of(&from[e], high)]++] = from[e];
}

sn_status sn_weld_edges(const sn_mesh* mesh, const uint32_t* weld, const uint8_t* wanted,
                        sn_arena* arena, sn_edge_list* edges, sn_error* err) {
  size_t most = 3 * (size_t)mesh->triangle_count, *starts;
  uint32_t vertices = mesh->vertex_count;
  sn_edge* by_high;
  SN_TRY(SN_ARENA_RAW(arena, most, &edges->items, err));
  sn_arena_mark mark = sn_arena_get_mark(arena);
  SN_TRY(SN_ARENA_RAW(arena, most, &by_high, err));
  SN_TRY(SN_ARENA_RAW(arena, (size_t)vertices + 1, &starts, err));
  edges->count = list_edges(mesh, weld, wanted, edges->items);
  sort_edges(edges->items, edges->count, true, vertices, starts, by_high);
  sort_edges(by_high, edges->count, false, vertices, starts, edges->items);
  sn_arena_release(arena, mark);
  return SN_OK;
}

size_t sn_edge_list_end(const sn_edge_list* edges, size_t begin) {
  const sn_edge* e = edges->items;
  size_t end = begin + 1;
  while (end < edges->count && e[end].low == e[begin].low && e[end].high == e[begin].high) ++end;
  return end;
}
