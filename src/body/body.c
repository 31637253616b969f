#include "body/body.h"

#include <math.h>

#include "body/body_cut.h"
#include "body/body_follow.h"
#include "body/body_map.h"
#include "body/body_tissue.h"
#include "math/vec.h"
#include "octree/octree_drop.h"
#include "octree/octree_fill.h"
#include "octree/octree_moments.h"

static bool is_inside(const void* ctx, sn_vec3 point) { return sn_bvh_winding(ctx, point) > 0.5; }

static bool is_inside_box(const void* ctx, sn_vec3 point, sn_box box, bool* inside) {
  return sn_bvh_inside(ctx, point, box, inside);
}

// The skin, the regions, the muscles, and the bones that something of this body refers to.
static sn_status list_seeds(const sn_scene* scene, uint32_t index, const sn_bone* bones,
                            const sn_body* body, const sn_surface* regions, sn_arena* scratch,
                            sn_octree_input* input, sn_error* err) {
  uint8_t* wanted;
  sn_octree_seed* seeds;
  const sn_muscles* muscles = &body->muscles;
  uint32_t region_count = scene->bodies[index].region_count;
  size_t most = (size_t)scene->bone_count + region_count + muscles->count + 1;
  SN_TRY(SN_ARENA_NEW(scratch, most, &seeds, err));
  SN_TRY(SN_ARENA_NEW(scratch, scene->bone_count, &wanted, err));
  for (uint32_t i = 0; i < scene->attachment_count; ++i) {
    const sn_attachment_desc* attachment = &scene->attachments[i];
    if (attachment->body == index && attachment->bone != SN_NO_BONE) wanted[attachment->bone] = 1;
  }
  for (uint32_t i = 0; i < scene->fixed_count; ++i) {
    const sn_fixed_desc* fixed = &scene->fixed[i];
    if (fixed->body == index && fixed->bone != SN_NO_BONE) wanted[fixed->bone] = 1;
  }
  uint32_t count = 0;
  seeds[count++] = (sn_octree_seed){&body->surface, true};
  for (uint32_t i = 0; i < region_count; ++i) {
    seeds[count++] = (sn_octree_seed){&regions[i], false};
  }
  for (uint32_t m = 0; m < muscles->count; ++m) {
    seeds[count++] = (sn_octree_seed){&muscles->items[m].surface, false};
  }
  for (uint32_t b = 0; b < scene->bone_count; ++b) {
    if (wanted[b]) seeds[count++] = (sn_octree_seed){&bones[b].surface, false};
  }
  input->seeds = seeds;
  input->seed_count = count;
  return SN_OK;
}

// Newton's iteration; the C library's cbrt may differ between versions.
static double cube_root(double a) {
  double x = 1;
  for (int i = 0; i < 64; ++i) x = (2 * x + a / (x * x)) / 3;
  return x;
}

static sn_status build_tree(const sn_octree_input* input, sn_pool* pool, sn_arena* arena,
                            sn_arena* corners, sn_arena* scratch, sn_body* body, sn_error* err) {
  if (input->cell > 0) {
    return sn_octree_build(input, pool, arena, corners, scratch, &body->tree, err);
  }

  // No cell given: start from the estimate, correct it by what it gives.
  sn_octree_input tried = *input;
  tried.cell = sqrt(SN_CELLS_PER_AREA * body->surface.area / SN_DEFAULT_CELLS);
  for (int attempt = 0;; ++attempt) {
    sn_arena_mark mark = sn_arena_get_mark(arena), corners_mark = sn_arena_get_mark(corners);
    SN_TRY(sn_octree_build(&tried, pool, arena, corners, scratch, &body->tree, err));
    double ratio = body->tree.cell_count / SN_DEFAULT_CELLS;
    if (attempt == 3 || (ratio > 0.9 && ratio < 1.1) || ratio == 0) return SN_OK;
    sn_arena_release(arena, mark);
    sn_arena_release(corners, corners_mark);
    tried.cell *= input->coarsen == 0 ? cube_root(ratio) : sqrt(ratio);
  }
}

// Every node adds up what its cells weigh in their order. So that several threads can do so, each takes
// nodes of its own, and looks only at blocks of cells that have some of them.
#define MASS_PIECES 16
#define MASS_CELLS 32

typedef struct mass_job {
  sn_body* body;
  const double* densities;  // of the cells; NULL: all have that of the description
  uint32_t (*spans)[2];     // lowest and highest node of each block of cells
} mass_job;

static uint32_t mass_block_end(const mass_job* job, size_t block) {
  size_t end = (block + 1) * MASS_CELLS, count = job->body->tree.cell_count;
  return (uint32_t)(end < count ? end : count);
}

static void find_spans(void* ctx, size_t begin, size_t end) {
  const mass_job* job = ctx;
  for (size_t block = begin; block < end; ++block) {
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t e = (uint32_t)block * MASS_CELLS; e < mass_block_end(job, block); ++e) {
      sn_corners at = sn_octree_corners(&job->body->tree, e);
      for (int c = 0; c < 8; ++c) {
        low = at.nodes[c] < low ? at.nodes[c] : low;
        high = at.nodes[c] > high ? at.nodes[c] : high;
      }
    }
    job->spans[block][0] = low;
    job->spans[block][1] = high;
  }
}

static double cell_volume(const sn_body* body, uint32_t cell) {
  double h = sn_octree_edge(&body->tree, cell);
  return h * h * h * body->fill[cell];
}

// An eighth of the cell's mass to each corner, from the hanging ones on to the nodes. Cells that the skin
// cuts weigh what is in them.
static void share_mass(const mass_job* job, uint32_t e, double shares[8]) {
  const sn_body* body = job->body;
  double density = job->densities ? job->densities[e] : body->desc->density;
  double h = sn_octree_edge(&body->tree, e), volume = cell_volume(body, e), corner[8];
  bool cut = sn_body_cut_masses(body, e, corner);
  for (int c = 0; c < 8; ++c) {
    shares[c] = corner[c] = density * (cut ? h * h * h * corner[c] : volume / 8);
  }
  if (body->tree.hanging[e]) {
    sn_cell_corner_to_conform(sn_flesh_shape(&body->tree, e), corner, shares);
  }
}

static void add_masses(void* ctx, size_t begin, size_t end) {
  const mass_job* job = ctx;
  const sn_octree* tree = &job->body->tree;
  size_t nodes = tree->node_count, blocks = (tree->cell_count + MASS_CELLS - 1) / MASS_CELLS;
  uint32_t first = (uint32_t)(nodes * begin / MASS_PIECES);
  uint32_t last = (uint32_t)(nodes * end / MASS_PIECES);
  for (size_t block = 0; block < blocks; ++block) {
    uint32_t low = job->spans[block][0], high = job->spans[block][1];
    if (high < first || low >= last) continue;
    bool all = low >= first && high < last;
    for (uint32_t e = (uint32_t)block * MASS_CELLS; e < mass_block_end(job, block); ++e) {
      sn_corners at = sn_octree_corners(tree, e);
      bool any = all;
      for (int c = 0; c < 8 && !any; ++c) any = at.nodes[c] >= first && at.nodes[c] < last;
      if (!any) continue;
      double shares[8];
      share_mass(job, e, shares);
      for (int c = 0; c < 8; ++c) {
        bool mine = all || (at.nodes[c] >= first && at.nodes[c] < last);
        if (mine) job->body->node_mass[at.nodes[c]] += shares[c];
      }
    }
  }
}

static sn_status set_mass(const double* densities, sn_pool* pool, sn_arena* arena,
                          sn_arena* scratch, sn_body* body, sn_error* err) {
  const sn_octree* tree = &body->tree;
  mass_job job = {.body = body, .densities = densities};
  size_t blocks = ((size_t)tree->cell_count + MASS_CELLS - 1) / MASS_CELLS;
  SN_TRY(SN_ARENA_NEW(arena, tree->node_count, &body->node_mass, err));
  SN_TRY(SN_ARENA_RAW(scratch, blocks, &job.spans, err));
  sn_parallel_for(pool, blocks, 8, find_spans, &job);
  sn_parallel_for(pool, MASS_PIECES, 1, add_masses, &job);
  for (uint32_t e = 0; e < tree->cell_count; ++e) body->filled_volume += cell_volume(body, e);
  return SN_OK;
}

// With exact cut cells whole ones have the hourglass energy of bending that the points of those see: of
// u_x = a x y, which strains by a y and shears by a x, under W0 at rest,
//     a^2 / 6 (W_00 + (shear + twist) / 2)    over    2/3 mu a^2, the integral of mu |F|^2:
// 3/4 of corotated flesh, 1/2 of stable neo-Hookean (docs/theory/quadrature.md, section 7).
static double bending_share(const sn_material* kind) {
  static const double REST[3] = {1, 1, 1};
  sn_law_point law;
  sn_law_evaluate(kind, REST, SN_LAW_SHAPE, &law);
  return (law.stretch[0] + 0.5 * (law.shear[2] + law.twist[2])) / (4 * kind->mu);
}

// In products cut cells count as whole and softer.
static void make_flesh(sn_body* body) {
  body->flesh = sn_flesh_make(&body->tree, &body->families, sn_body_tissue(body));
  if (body->cut.count == 0) return;
  body->flesh.cut = &body->cut;
  body->flesh.form = SN_FORM_FRAMES;
  body->flesh.hourglass = bending_share(&body->kinds[0]);
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    double share = sn_body_cut_share(body, e);
    body->mu[e] = (float)(share * body->mu[e]);
    body->lambda[e] = (float)(share * body->lambda[e]);
  }
}

static sn_status cut_cells(sn_pool* pool, sn_arena* arena, sn_arena* scratch, sn_body* body,
                           sn_error* err) {
  double(*moments)[SN_MOMENT_COUNT];
  SN_TRY(SN_ARENA_RAW(scratch, body->tree.cell_count, &moments, err));
  SN_TRY(sn_octree_moments(&body->tree, &body->surface, pool, scratch, moments, err));
  return sn_body_cut((const double(*)[SN_MOMENT_COUNT])moments, pool, arena, scratch, body, err);
}

uint32_t sn_body_embed(const sn_body* body, sn_vec3 point, double weights[8]) {
  double xi[3];
  uint32_t cell = sn_octree_nearest(&body->tree, point, xi);
  sn_octree_place_in(&body->tree, cell, point, body->reach, xi);
  sn_octree_point_weights(&body->tree, cell, xi, weights);
  return cell;
}

static void embed(void* ctx, size_t begin, size_t end) {
  sn_body* body = ctx;
  for (size_t v = begin; v < end; ++v) {
    sn_vec3 p = sn_load3(body->desc->mesh.positions + 3 * v);
    body->vertex_cells[v] = sn_body_embed(body, p, body->vertex_weights + 8 * v);
  }
}

static uint64_t count_outside(const sn_body* body) {
  const sn_octree* tree = &body->tree;
  uint64_t count = 0;
  for (uint32_t v = 0, f = 0; v < body->desc->mesh.vertex_count; ++v) {
    bool follows = f < body->follower_count && body->followers[f].vertex == v;
    f += follows;
    if (follows) continue;
    sn_octant o = tree->cells[body->vertex_cells[v]];
    sn_vec3 p = sn_sub(sn_load3(body->desc->mesh.positions + 3 * (size_t)v), tree->origin);
    double size = sn_octant_size(o), slack = 1e-6;
    sn_vec3 in = sn_sub(sn_scale(1.0 / tree->cell, p), sn_v3(o.x, o.y, o.z));
    count += in.x < -slack || in.y < -slack || in.z < -slack || in.x > size + slack ||
             in.y > size + slack || in.z > size + slack;
  }
  return count;
}

// A cell that is left out touches one that stays: what lies in it is at most an edge away from that.
#define REACH 1.0

// Leave out finest cells that hold too little of the body; `shares` of the others move up.
static sn_status drop_thin_cells(sn_pool* pool, sn_arena* arena, sn_arena* corners,
                                 sn_arena* scratch, double* shares, sn_body* body, sn_error* err) {
  uint8_t* drop;
  uint32_t count = body->tree.cell_count, left = 0;
  if (body->desc->least_fill == 0) return SN_OK;
  SN_TRY(SN_ARENA_RAW(scratch, count, &drop, err));
  body->dropped_cell_count = sn_octree_mark_thin(&body->tree, shares, body->desc->least_fill, drop);
  if (body->dropped_cell_count == 0) return SN_OK;
  for (uint32_t e = 0; e < count; ++e) {
    if (!drop[e]) shares[left++] = shares[e];
  }
  body->reach = REACH;
  return sn_octree_leave_out(drop, pool, arena, corners, scratch, &body->tree, err);
}

// The tree, and how much of each cell the body fills.
static sn_status build_cells(const sn_scene* scene, uint32_t index, const sn_bone* bones,
                             sn_pool* pool, sn_arena* arena, sn_arena* corners, sn_arena* scratch,
                             sn_body* body, const sn_surface* regions, sn_error* err) {
  const sn_body_desc* desc = body->desc;
  sn_octree_input input = {.box = body->surface.box,
                           .cell = desc->cell,
                           .coarsen = desc->coarsen,
                           .inside = is_inside,
                           .inside_ctx = &body->bvh,
                           .inside_box = is_inside_box};
  SN_TRY(list_seeds(scene, index, bones, body, regions, scratch, &input, err));
  SN_TRY(build_tree(&input, pool, arena, corners, scratch, body, err));
  SN_CHECK(body->tree.cell_count > 0, err, SN_ERR_INPUT,
           "bodies[%u]: \"%s\" has no cell; expected a surface with some extent", index,
           desc->name);

  double* shares;
  SN_TRY(SN_ARENA_RAW(scratch, body->tree.cell_count, &shares, err));
  SN_TRY(sn_octree_fill_unbounded(&body->tree, &body->bvh, pool, scratch, shares, err));
  SN_TRY(drop_thin_cells(pool, arena, corners, scratch, shares, body, err));
  SN_TRY(SN_ARENA_RAW(arena, body->tree.cell_count, &body->fill, err));
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) body->fill[e] = sn_fill_bound(shares[e]);
  return SN_OK;
}

// The cells and their families.
static sn_status build_grid(const sn_scene* scene, uint32_t index, const sn_bone* bones,
                            sn_pool* pool, sn_arena* arena, sn_arena* corners, sn_arena* scratch,
                            sn_body* body, const sn_surface* regions, sn_error* err) {
  size_t held = sn_arena_bytes(arena);
  SN_TRY(build_cells(scene, index, bones, pool, arena, corners, scratch, body, regions, err));
  body->tree_bytes = sn_arena_lap(arena, &held);
  SN_TRY(sn_families_build(&body->tree, pool, arena, scratch, &body->families, err));
  body->family_bytes = sn_arena_lap(arena, &held);
  return SN_OK;
}

static sn_status build_embedding(sn_pool* pool, sn_arena* arena, sn_arena* scratch, sn_body* body,
                                 sn_error* err) {
  size_t count = body->desc->mesh.vertex_count;
  SN_TRY(SN_ARENA_RAW(arena, count, &body->vertex_cells, err));
  SN_TRY(SN_ARENA_RAW(arena, 8 * count, &body->vertex_weights, err));
  sn_parallel_for(pool, count, 256, embed, body);
  body->outside_vertex_count = count_outside(body);
  if (body->desc->embedding == SN_EMBEDDING_TRILINEAR) return SN_OK;
  return sn_smooth_skin_build(&body->tree, pool, arena, scratch, &body->smooth, err);
}

static sn_status build_body(const sn_scene* scene, uint32_t index, const sn_bone* bones,
                            sn_pool* pool, sn_arena* arena, sn_arena* corners, sn_arena* scratch,
                            sn_body* body, sn_error* err) {
  const sn_body_desc* desc = &scene->bodies[index];
  *body = (sn_body){.desc = desc};
  size_t held = sn_arena_bytes(arena);
  SN_TRY(sn_body_prepare_surface(index, arena, scratch, body, err));
  SN_CHECK(body->surface.triangle_count > 0, err, SN_ERR_INPUT,
           "%s: no triangle has an area; expected a surface mesh", desc->surface);
  SN_TRY(sn_bvh_build(&body->surface, pool, arena, scratch, &body->bvh, err));
  sn_body_bind_followers(pool, body);
  SN_TRY(sn_muscles_prepare(scene, index, arena, scratch, &body->muscles, err));
  body->surface_bytes = sn_arena_lap(arena, &held);
  sn_surface* regions;
  SN_TRY(sn_body_prepare_regions(desc, arena, scratch, &regions, err));
  body->surface_bytes += sn_arena_lap(arena, &held);
  SN_TRY(build_grid(scene, index, bones, pool, arena, corners, scratch, body, regions, err));

  sn_arena_lap(arena, &held);
  if (desc->quadrature == 2) SN_TRY(cut_cells(pool, arena, scratch, body, err));
  if (desc->quadrature == 8) SN_TRY(sn_body_gauss(arena, scratch, body, err));
  double* densities;
  SN_TRY(
      sn_body_lay_tissue(body, index, regions, body->fill, pool, arena, scratch, &densities, err));
  make_flesh(body);

  SN_TRY(set_mass(densities, pool, arena, scratch, body, err));

  SN_TRY(sn_muscles_build(&body->tree, bones, pool, arena, scratch, &body->muscles, err));
  body->muscles.map = sn_body_map_of(body, "activation");
  body->material_bytes = sn_arena_lap(arena, &held);
  SN_TRY(build_embedding(pool, arena, scratch, body, err));
  body->surface_bytes += sn_arena_lap(arena, &held);
  return SN_OK;
}

sn_status sn_body_build(const sn_scene* scene, uint32_t index, const sn_bone* bones, sn_pool* pool,
                        sn_arena* arena, sn_arena* scratch, sn_body* body, sn_error* err) {
  sn_arena* corners;
  SN_TRY(sn_arena_create(&corners, err));
  sn_arena_set_pool(corners, pool);
  sn_status status = build_body(scene, index, bones, pool, arena, corners, scratch, body, err);
  // From here on the families know the nodes of the cells.
  sn_octree_use_families(&body->tree, &body->families);
  sn_arena_destroy(corners);
  return status;
}

sn_vec3 sn_body_vertex_show(const sn_body* body, const double* u, const double* slopes, size_t v) {
  if (!body->smooth.tree) return sn_body_vertex_move(body, u, v);
  sn_smooth_cell poly;
  double xi[3];
  uint32_t cell = body->vertex_cells[v];
  sn_octree_place_in(&body->tree, cell, sn_load3(body->desc->mesh.positions + 3 * v), body->reach,
                     xi);
  sn_smooth_skin_cell(&body->smooth, u, slopes, cell, &poly);
  return sn_smooth_cell_value(&poly, xi);
}

sn_body_info sn_body_get_info(const sn_body* body) {
  const sn_octree* tree = &body->tree;
  sn_body_info info = {.name = body->desc->name,
                       .cell = tree->cell,
                       .cell_count = tree->cell_count,
                       .node_count = tree->node_count,
                       .unknown_count = 3 * (uint64_t)tree->node_count - body->held_unknown_count,
                       .fixed_node_count = body->held_node_count,
                       .outside_vertex_count = body->outside_vertex_count,
                       .dropped_cell_count = body->dropped_cell_count,
                       .cut_cell_count = body->cut.whole ? 0 : body->cut.count,
                       .many_point_cell_count = body->many_point_cells,
                       .filled_volume = body->filled_volume,
                       .held = true,
                       .mesh = body->surface.report,
                       .region_count = body->desc->region_count,
                       .map_count = body->desc->map_count,
                       .muscle_count = body->muscles.count,
                       .part_count = body->surface_part_count,
                       .following_part_count = body->following_part_count,
                       .following_vertex_count = body->follower_count};
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

sn_region_info sn_body_get_region(const sn_body* body, uint32_t region) {
  const sn_region_desc* desc = &body->desc->regions[region];
  const sn_material* material = desc->has_material ? &desc->material : &body->desc->material;
  return (sn_region_info){desc->name, sn_law_name(material->law), body->region_shares[region]};
}

sn_map_info sn_body_get_map(const sn_body* body, uint32_t map) {
  const sn_map* desc = &body->desc->maps[map];
  sn_map_info info = {desc->name, desc->source, desc->values[0], desc->values[0],
                      body->map_means[map]};
  for (uint32_t v = 1; v < body->desc->mesh.vertex_count; ++v) {
    info.least = fmin(info.least, desc->values[v]);
    info.most = fmax(info.most, desc->values[v]);
  }
  return info;
}

sn_muscle_info sn_body_get_muscle(const sn_body* body, uint32_t muscle) {
  const sn_muscle* m = &body->muscles.items[muscle];
  return (sn_muscle_info){m->desc->name, m->end - m->begin, m->volume / body->filled_volume};
}
