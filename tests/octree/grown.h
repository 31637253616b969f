// An octree around a prepared surface, for tests.
#ifndef SN_TESTS_OCTREE_GROWN_H
#define SN_TESTS_OCTREE_GROWN_H

#include "base/parallel.h"
#include "geometry/prepared.h"
#include "octree/octree.h"

typedef struct grown {
  sn_arena* arena;
  sn_octree tree;
} grown;

static inline bool winds_around(const void* ctx, sn_vec3 point) {
  return sn_bvh_winding(ctx, point) > 0.5;
}

static inline bool winds_around_box(const void* ctx, sn_vec3 point, sn_box box, bool* inside) {
  return sn_bvh_inside(ctx, point, box, inside);
}

// What to build: the skin cuts; a bone (may be NULL) only refines. `seeds` must hold two.
static inline sn_octree_input tree_input(const prepared* skin, const prepared* bone, double cell,
                                         int coarsen, sn_octree_seed* seeds) {
  seeds[0] = (sn_octree_seed){&skin->surface, true};
  if (bone) seeds[1] = (sn_octree_seed){&bone->surface, false};
  return (sn_octree_input){.box = skin->surface.box,
                           .cell = cell,
                           .coarsen = coarsen,
                           .seeds = seeds,
                           .seed_count = bone ? 2 : 1,
                           .inside = winds_around,
                           .inside_ctx = &skin->bvh,
                           .inside_box = winds_around_box};
}

static inline void assert_valid_tree(const sn_octree* tree) {
  const char* why = NULL;
  if (!sn_octree_is_valid(tree, &why)) fail_msg("broken: %s", why);
}

static inline void grow_on(sn_pool* pool, grown* g, const prepared* skin, const prepared* bone,
                           double cell, int coarsen) {
  sn_octree_seed seeds[2];
  sn_octree_input input = tree_input(skin, bone, cell, coarsen, seeds);
  sn_arena* scratch;
  sn_error err = {0};
  assert_int_equal(sn_arena_create(&g->arena, NULL), SN_OK);
  assert_int_equal(sn_arena_create(&scratch, NULL), SN_OK);
  if (sn_octree_build(&input, pool, g->arena, g->arena, scratch, &g->tree, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  // Scratch is left as it was: empty.
  assert_int_equal(sn_arena_bytes(scratch), 0);
  sn_arena_destroy(scratch);
}

static inline void grow(grown* g, const prepared* skin, double cell, int coarsen) {
  grow_on(NULL, g, skin, NULL, cell, coarsen);
}

static inline void ungrow(grown* g) { sn_arena_destroy(g->arena); }

// In finest cells.
static inline uint64_t tree_volume(const sn_octree* tree) {
  uint64_t volume = 0;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    volume += (uint64_t)1 << (3 * tree->cells[e].height);
  }
  return volume;
}

static inline int tallest_cell(const sn_octree* tree) {
  int height = 0;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    if (tree->cells[e].height > height) height = tree->cells[e].height;
  }
  return height;
}

#endif
