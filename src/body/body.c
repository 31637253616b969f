#include "body/body.h"

#include <math.h>

#include "math/vec.h"
#include "octree/octree_fill.h"

// Measured on the project's test bodies: cells of an octree for each cell-sized piece of surface,
// and finest cells that the surface cuts. See docs/theory/octree.md.
#define CELLS_PER_AREA 2.7
#define CUT_CELLS_PER_AREA 1.6
// Everything that building and solving needs, for each cell.
#define BYTES_PER_CELL 900.0

#define DEFAULT_CELLS 100000.0

void sn_body_estimate(double area, double volume, double cell, int coarsen, double* cells,
                      double* bytes) {
  double pieces = area / (cell * cell);
  *cells = CELLS_PER_AREA * pieces;
  if (coarsen >= 0) {
    double largest = ldexp(cell, coarsen);
    double inner = fabs(volume) / (largest * largest * largest);
    double surface = (coarsen == 0 ? CUT_CELLS_PER_AREA : CELLS_PER_AREA) * pieces;
    *cells = surface + inner;
  }
  *bytes = BYTES_PER_CELL * *cells;
}

static bool is_inside(const void* ctx, sn_vec3 point) { return sn_bvh_winding(ctx, point) > 0.5; }

static bool is_inside_box(const void* ctx, sn_vec3 point, sn_box box, bool* inside) {
  return sn_bvh_inside(ctx, point, box, inside);
}

// The skin, and the bones that something of this body refers to.
static sn_status list_seeds(const sn_scene* scene, uint32_t index, const sn_bone* bones,
                            const sn_surface* skin, sn_arena* scratch, sn_octree_seed** seeds,
                            uint32_t* count, sn_error* err) {
  uint8_t* wanted;
  SN_TRY(SN_ARENA_NEW(scratch, (size_t)scene->bone_count + 1, seeds, err));
  SN_TRY(SN_ARENA_NEW(scratch, scene->bone_count, &wanted, err));
  for (uint32_t i = 0; i < scene->attachment_count; ++i) {
    if (scene->attachments[i].body == index) wanted[scene->attachments[i].bone] = 1;
  }
  for (uint32_t i = 0; i < scene->fixed_count; ++i) {
    const sn_fixed_desc* fixed = &scene->fixed[i];
    if (fixed->body == index && fixed->bone != SN_NO_BONE) wanted[fixed->bone] = 1;
  }
  (*seeds)[0] = (sn_octree_seed){skin, true};
  *count = 1;
  for (uint32_t b = 0; b < scene->bone_count; ++b) {
    if (wanted[b]) (*seeds)[(*count)++] = (sn_octree_seed){&bones[b].surface, false};
  }
  return SN_OK;
}

// Newton's iteration; the C library's cbrt may differ between versions.
static double cube_root(double a) {
  double x = 1;
  for (int i = 0; i < 64; ++i) x = (2 * x + a / (x * x)) / 3;
  return x;
}

static sn_status build_tree(const sn_octree_input* input, sn_pool* pool, sn_arena* arena,
                            sn_arena* scratch, sn_body* body, sn_error* err) {
  if (input->cell > 0) return sn_octree_build(input, pool, arena, scratch, &body->tree, err);

  // No cell given: start from the estimate, correct it by what it gives.
  sn_octree_input tried = *input;
  tried.cell = sqrt(CELLS_PER_AREA * body->surface.area / DEFAULT_CELLS);
  for (int attempt = 0;; ++attempt) {
    sn_arena_mark mark = sn_arena_get_mark(arena);
    SN_TRY(sn_octree_build(&tried, pool, arena, scratch, &body->tree, err));
    double ratio = body->tree.cell_count / DEFAULT_CELLS;
    if (attempt == 3 || (ratio > 0.9 && ratio < 1.1) || ratio == 0) return SN_OK;
    sn_arena_release(arena, mark);
    tried.cell *= input->coarsen == 0 ? cube_root(ratio) : sqrt(ratio);
  }
}

// Cells that the skin cuts weigh what is in them.
static sn_status set_material(const sn_body_desc* desc, const float* fill, sn_arena* arena,
                              sn_body* body, sn_error* err) {
  const sn_octree* tree = &body->tree;
  SN_TRY(SN_ARENA_RAW(arena, tree->cell_count, &body->mu, err));
  SN_TRY(SN_ARENA_RAW(arena, tree->cell_count, &body->lambda, err));
  SN_TRY(SN_ARENA_NEW(arena, tree->node_count, &body->node_mass, err));
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    body->mu[e] = (float)desc->material.mu;
    body->lambda[e] = (float)desc->material.lambda;
    // An eighth of the cell's mass to each corner, from the hanging ones on to the nodes.
    double h = sn_octree_edge(tree, e), volume = h * h * h * fill[e], corner[8], node[8];
    for (int c = 0; c < 8; ++c) corner[c] = desc->density * volume / 8;
    body->filled_volume += volume;
    const double* shares = corner;
    if (tree->hanging[e]) {
      sn_cell_corner_to_conform(sn_flesh_shape(tree, e), corner, node);
      shares = node;
    }
    for (int c = 0; c < 8; ++c) body->node_mass[tree->conforming[8 * (size_t)e + c]] += shares[c];
  }
  body->flesh = sn_flesh_make(tree, &body->families, body->mu, body->lambda);
  return SN_OK;
}

static void embed(void* ctx, size_t begin, size_t end) {
  sn_body* body = ctx;
  for (size_t v = begin; v < end; ++v) {
    double xi[3];
    sn_vec3 p = sn_load3(body->desc->mesh.positions + 3 * v);
    body->vertex_cells[v] = sn_octree_nearest(&body->tree, p, xi);
    sn_octree_point_weights(&body->tree, body->vertex_cells[v], xi, body->vertex_weights + 8 * v);
  }
}

static uint64_t count_outside(const sn_body* body) {
  const sn_octree* tree = &body->tree;
  uint64_t count = 0;
  for (uint32_t v = 0; v < body->desc->mesh.vertex_count; ++v) {
    sn_octant o = tree->cells[body->vertex_cells[v]];
    sn_vec3 p = sn_sub(sn_load3(body->desc->mesh.positions + 3 * (size_t)v), tree->origin);
    double size = sn_octant_size(o), slack = 1e-6;
    sn_vec3 in = sn_sub(sn_scale(1.0 / tree->cell, p), sn_v3(o.x, o.y, o.z));
    count += in.x < -slack || in.y < -slack || in.z < -slack || in.x > size + slack ||
             in.y > size + slack || in.z > size + slack;
  }
  return count;
}

sn_status sn_body_build(const sn_scene* scene, uint32_t index, const sn_bone* bones, sn_pool* pool,
                        sn_arena* arena, sn_arena* scratch, sn_body* body, sn_error* err) {
  const sn_body_desc* desc = &scene->bodies[index];
  *body = (sn_body){.desc = desc};
  size_t held = sn_arena_bytes(arena);
  SN_TRY(sn_surface_prepare(&desc->mesh, arena, scratch, &body->surface, err));
  SN_CHECK(body->surface.triangle_count > 0, err, SN_ERR_INPUT,
           "%s: no triangle has an area; expected a surface mesh", desc->surface);
  SN_TRY(sn_bvh_build(&body->surface, arena, scratch, &body->bvh, err));
  body->surface_bytes = sn_arena_lap(arena, &held);

  sn_octree_seed* seeds;
  sn_octree_input input = {.box = body->surface.box,
                           .cell = desc->cell,
                           .coarsen = desc->coarsen,
                           .inside = is_inside,
                           .inside_ctx = &body->bvh,
                           .inside_box = is_inside_box};
  SN_TRY(list_seeds(scene, index, bones, &body->surface, scratch, &seeds, &input.seed_count, err));
  input.seeds = seeds;
  SN_TRY(build_tree(&input, pool, arena, scratch, body, err));
  SN_CHECK(body->tree.cell_count > 0, err, SN_ERR_INPUT,
           "bodies[%u]: \"%s\" has no cell; expected a surface with some extent", index,
           desc->name);

  body->tree_bytes = sn_arena_lap(arena, &held);
  SN_TRY(sn_families_build(&body->tree, pool, arena, scratch, &body->families, err));
  body->family_bytes = sn_arena_lap(arena, &held);
  float* fill;
  SN_TRY(SN_ARENA_RAW(scratch, body->tree.cell_count, &fill, err));
  SN_TRY(sn_octree_fill(&body->tree, &body->surface, pool, scratch, fill, err));
  SN_TRY(set_material(desc, fill, arena, body, err));
  body->material_bytes = sn_arena_lap(arena, &held);
  SN_TRY(SN_ARENA_RAW(arena, desc->mesh.vertex_count, &body->vertex_cells, err));
  SN_TRY(SN_ARENA_RAW(arena, 8 * (size_t)desc->mesh.vertex_count, &body->vertex_weights, err));
  sn_parallel_for(pool, desc->mesh.vertex_count, 256, embed, body);
  body->outside_vertex_count = count_outside(body);
  body->surface_bytes += sn_arena_lap(arena, &held);
  return SN_OK;
}

sn_body_info sn_body_get_info(const sn_body* body) {
  const sn_octree* tree = &body->tree;
  sn_body_info info = {.name = body->desc->name,
                       .cell = tree->cell,
                       .cell_count = tree->cell_count,
                       .node_count = tree->node_count,
                       .unknown_count = 3 * ((uint64_t)tree->node_count - body->held_count),
                       .fixed_node_count = body->held_count,
                       .outside_vertex_count = body->outside_vertex_count,
                       .filled_volume = body->filled_volume,
                       .held = true,
                       .mesh = body->surface.report};
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    int height = tree->cells[e].height;
    double h = sn_octree_edge(tree, e);
    info.cells_per_level[height]++;
    if (height >= info.level_count) info.level_count = height + 1;
    info.hanging_cell_count += tree->hanging[e] != 0;
    info.volume += h * h * h;
  }
  for (uint32_t n = 0; n < tree->node_count; ++n) info.mass += body->node_mass[n];
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    info.attached_node_count += t == 0 || body->ties[t].node != body->ties[t - 1].node;
  }
  for (uint32_t p = 0; p < body->part_count; ++p) info.held = info.held && body->part_is_held[p];
  return info;
}
