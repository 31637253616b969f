// Bodies of flesh on octrees, without a scene around them: a tree from a shape or from given
// octants, material for each cell, and what a solve writes.
#ifndef SN_TESTS_ELASTICITY_BLOB_H
#define SN_TESTS_ELASTICITY_BLOB_H

#include <stdio.h>

#include "body/body_terms.h"
#include "octree/octree_nodes.h"
#include "shapes.h"
#include "solve/newton.h"

typedef struct blob {
  sn_arena *arena, *scratch;
  sn_arena_mark mark;  // for a test that drops what it took
  sn_body body;        // tree, families, material and flesh; the rest is empty
  sn_body_work work;
  size_t unknown_count;
} blob;

static inline void must(sn_status status, const sn_error* err) {
  if (status != SN_OK) fail_msg("%s", err->text);
}

static inline double* blob_vector(const blob* b) {
  double* v;
  sn_error err = {0};
  must(SN_ARENA_NEW(b->arena, b->unknown_count, &v, &err), &err);
  return v;
}

static inline void blob_begin(blob* b) {
  sn_error err = {0};
  *b = (blob){0};
  must(sn_arena_create(&b->arena, &err), &err);
  must(sn_arena_create(&b->scratch, &err), &err);
}

// Everything that follows from the tree, with mu = 1 and lambda = 1 in all cells.
static inline void blob_finish(blob* b) {
  sn_error err = {0};
  sn_octree* tree = &b->body.tree;
  const char* why = "";
  if (!sn_octree_is_valid(tree, &why)) fail_msg("not true: %s", why);
  b->unknown_count = 3 * (size_t)tree->node_count;
  must(sn_families_build(tree, NULL, b->arena, b->scratch, &b->body.families, &err), &err);
  sn_octree_use_families(tree, &b->body.families);
  must(SN_ARENA_NEW(b->arena, tree->cell_count, &b->body.mu, &err), &err);
  must(SN_ARENA_NEW(b->arena, tree->cell_count, &b->body.lambda, &err), &err);
  for (uint32_t e = 0; e < tree->cell_count; ++e) b->body.mu[e] = b->body.lambda[e] = 1;
  b->body.flesh = sn_flesh_make(tree, &b->body.families, sn_body_tissue(&b->body));
  must(sn_body_work_create(&b->body, b->arena, &b->work, &err), &err);
  b->work.forces = blob_vector(b);  // none, until a test gives some
}

// A cell's material as the kernels have it: mu h / 8 and lambda h / 16, rounded.
static inline sn_cell_material blob_material(const blob* b, uint32_t cell) {
  double h = sn_octree_edge(&b->body.tree, cell);
  const float* a =
      sn_flesh_tangent(&b->work.flesh, b->body.families.places[cell], SN_TANGENT_MATERIAL);
  return (sn_cell_material){h, 8 * (double)a[0] / h, 16 * (double)a[SN_FAMILY_LANES] / h};
}

static inline void blob_destroy(blob* b) {
  sn_arena_destroy(b->arena);
  sn_arena_destroy(b->scratch);
}

static inline bool blob_is_inside(const void* ctx, sn_vec3 point) {
  return sn_bvh_winding(ctx, point) > 0.5;
}

// The tree of the mesh.
static inline void blob_fill_mesh_kept(blob* b, const sn_mesh* mesh, double cell, int coarsen) {
  sn_error err = {0};
  sn_surface surface;
  sn_bvh bvh;
  blob_begin(b);
  must(sn_surface_prepare(mesh, b->arena, b->scratch, &surface, &err), &err);
  must(sn_bvh_build(&surface, NULL, b->arena, b->scratch, &bvh, &err), &err);
  sn_octree_seed seed = {&surface, true};
  sn_octree_input input = {.box = surface.box,
                           .cell = cell,
                           .coarsen = coarsen,
                           .seeds = &seed,
                           .seed_count = 1,
                           .inside = blob_is_inside,
                           .inside_ctx = &bvh};
  must(sn_octree_build(&input, NULL, b->arena, b->arena, b->scratch, &b->body.tree, &err), &err);
  blob_finish(b);
}

// The same for a mesh that is then destroyed.
static inline void blob_fill_mesh(blob* b, sn_mesh mesh, double cell, int coarsen) {
  blob_fill_mesh_kept(b, &mesh, cell, coarsen);
  sn_mesh_destroy(&mesh);
}

// A unit cube of the given leaves, in Morton order, on a grid of 2^root_height cells a side.
static inline void blob_fill_cube(blob* b, const sn_octant* cells, uint32_t cell_count,
                                  int root_height) {
  sn_error err = {0};
  blob_begin(b);
  sn_octree* tree = &b->body.tree;
  *tree = (sn_octree){
      .cell = ldexp(1, -root_height), .root_height = root_height, .cell_count = cell_count};
  must(SN_ARENA_NEW(b->arena, cell_count, &tree->cells, &err), &err);
  memcpy(tree->cells, cells, cell_count * sizeof *cells);
  must(sn_octree_number_nodes(tree, NULL, b->arena, b->arena, b->scratch, &err), &err);
  blob_finish(b);
}

// Mark the nodes with a say in the boundary: those on it, and those that a hanging corner on it is
// interpolated from. Free nodes are those whose shape function vanishes all along the boundary.
static inline uint8_t* blob_boundary(const blob* b) {
  const sn_octree* tree = &b->body.tree;
  uint8_t* marks;
  sn_error err = {0};
  must(SN_ARENA_NEW(b->arena, tree->node_count, &marks, &err), &err);
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_octant o = tree->cells[e];
    int size = (int)sn_octant_size(o);
    double corner[8], share[8];
    for (int c = 0; c < 8; ++c) {
      corner[c] = 0;
      for (int side = 0; side < 8; ++side) {
        int x = o.x + (c & 1) * size - (side & 1), y = o.y + (c >> 1 & 1) * size - (side >> 1 & 1);
        int z = o.z + (c >> 2 & 1) * size - (side >> 2 & 1);
        if (sn_octree_find(tree, x, y, z) == SN_NO_CELL) corner[c] = 1;
      }
    }
    sn_cell_corner_to_conform(sn_flesh_shape(tree, e), corner, share);
    for (int c = 0; c < 8; ++c) marks[sn_octree_corner(tree, e, (int)c)] |= share[c] > 0;
  }
  return marks;
}

#endif
