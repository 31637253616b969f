// Regions are laid over the body's own material one after another, cell by cell; maps scale what has
// come of it (docs/theory/tissue.md).
#include "body/body_tissue.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "body/body_drawn.h"
#include "body/body_map.h"
#include "math/vec.h"
#include "octree/octree_fill.h"
#include "octree/octree_moments.h"

#define MOST_KINDS 255
// From this strength on a region decides which law a cell follows.
#define LAW_STRENGTH 0.5
// Shares of a cell below this are rounding.
#define LEAST_SHARE 1e-9

typedef struct tissue_job {
  sn_body* body;
  uint32_t index;  // of the body
  const float* fill;
  double *mu, *lambda;  // while regions are laid, Pa (cell_count)
  double* density;      // kg/m3 (cell_count)

  const sn_region_desc* region;  // that is being laid
  double* overlap;               // share of each cell's flesh that is in it (cell_count)
  const float* weights;          // factor on its weight, NULL: 1 (cell_count)
  uint8_t kind;                  // of its law
  const float *stiffness_map, *density_map;
  const double* skin_share;  // of each cell inside the skin, without bounds (cell_count)
} tissue_job;

// Surfaces

static void warn_about(const sn_region_desc* region, const sn_surface* surface) {
  uint32_t open = 0;
  for (uint32_t t = 0; t < surface->triangle_count; ++t) open += surface->rim[t] != 0;
  const sn_mesh_report* report = &surface->report;
  uint32_t left_out = report->degenerate_triangles + report->duplicate_triangles;
  if (left_out > 0 || report->flipped_triangles > 0) {
    sn_log(SN_LOG_WARNING,
           "region \"%s\": %u triangles without area or that repeat others are left out, %u that "
           "face the wrong way are turned",
           region->name, left_out, report->flipped_triangles);
  }
  if (open > 0) {
    sn_log(SN_LOG_WARNING,
           "region \"%s\": its surface is open at %u triangles: what is inside is a guess",
           region->name, open);
  }
}

sn_status sn_body_prepare_regions(const sn_body_desc* desc, sn_arena* arena, sn_arena* scratch,
                                  sn_surface** surfaces, sn_error* err) {
  SN_TRY(SN_ARENA_NEW(arena, desc->region_count, surfaces, err));
  for (uint32_t i = 0; i < desc->region_count; ++i) {
    const sn_region_desc* region = &desc->regions[i];
    sn_surface* surface = &(*surfaces)[i];
    SN_TRY(sn_surface_prepare(&region->mesh, arena, scratch, surface, err));
    SN_CHECK(surface->triangle_count > 0, err, SN_ERR_INPUT,
             "%s: no triangle has an area; expected the closed surface of region \"%s\"",
             region->surface, region->name);
    warn_about(region, surface);
  }
  return SN_OK;
}

// Kinds

static bool is_same_law(const sn_material* a, const sn_material* b) {
  return a->law == b->law && memcmp(a->numbers, b->numbers, sizeof a->numbers) == 0;
}

// Different laws, the body's own first.
static sn_status list_kinds(sn_body* body, sn_arena* arena, sn_error* err) {
  const sn_body_desc* desc = body->desc;
  sn_material* kinds;
  SN_TRY(SN_ARENA_NEW(arena, (size_t)desc->region_count + 1, &kinds, err));
  kinds[body->kind_count++] = desc->material;
  for (uint32_t i = 0; i < desc->region_count; ++i) {
    bool known = !desc->regions[i].has_material;
    for (uint32_t k = 0; k < body->kind_count && !known; ++k) {
      known = is_same_law(&kinds[k], &desc->regions[i].material);
    }
    if (!known) kinds[body->kind_count++] = desc->regions[i].material;
  }
  body->kinds = kinds;
  SN_CHECK(body->kind_count <= MOST_KINDS, err, SN_ERR_INPUT,
           "body \"%s\": its regions follow %u different laws; expected at most %d", desc->name,
           body->kind_count, MOST_KINDS);
  return SN_OK;
}

static uint8_t find_kind(const sn_body* body, const sn_material* material) {
  uint32_t k = 0;
  while (!is_same_law(&body->kinds[k], material)) ++k;
  return (uint8_t)k;
}

// Maps

static double cell_volume(const tissue_job* job, size_t e) {
  double h = sn_octree_edge(&job->body->tree, (uint32_t)e);
  return h * h * h * (double)job->fill[e];
}

typedef struct weighted_sum {
  const tissue_job* job;
  const float* values;    // or
  const double* overlap;  // of the cells; neither: ones
} weighted_sum;

static double sum_volumes(void* ctx, size_t begin, size_t end) {
  const weighted_sum* s = ctx;
  double sum = 0;
  for (size_t e = begin; e < end; ++e) {
    double value = s->values ? (double)s->values[e] : s->overlap ? s->overlap[e] : 1;
    sum += value * cell_volume(s->job, e);
  }
  return sum;
}

static double mean_over_volume(const tissue_job* job, sn_pool* pool, const float* values,
                               const double* overlap) {
  weighted_sum part = {job, values, overlap}, whole = {job, NULL, NULL};
  uint32_t count = job->body->tree.cell_count;
  return sn_parallel_sum(pool, count, 1024, sum_volumes, &part) /
         sn_parallel_sum(pool, count, 1024, sum_volumes, &whole);
}

static sn_status check_map(const sn_body_desc* desc, const sn_map* map, sn_error* err) {
  bool scales = strcmp(map->name, "stiffness") == 0 || strcmp(map->name, "density") == 0;
  double least = scales ? SN_MAP_LEAST : 0;
  double most = scales ? SN_MAP_MOST : strcmp(map->name, "activation") == 0 ? 1 : FLT_MAX;
  for (uint32_t v = 0; v < desc->mesh.vertex_count; ++v) {
    SN_CHECK(map->values[v] >= least && map->values[v] <= most, err, SN_ERR_INPUT,
             "body \"%s\": map \"%s\" is %g at vertex %u; expected %g to %g", desc->name, map->name,
             map->values[v], v, least, most);
  }
  return SN_OK;
}

static sn_status spread_maps(tissue_job* job, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                             sn_error* err) {
  sn_body* body = job->body;
  const sn_body_desc* desc = body->desc;
  SN_TRY(SN_ARENA_NEW(arena, desc->map_count, &body->maps, err));
  SN_TRY(SN_ARENA_NEW(arena, desc->map_count, &body->map_means, err));
  for (uint32_t m = 0; m < desc->map_count; ++m) {
    SN_TRY(check_map(desc, &desc->maps[m], err));
    SN_TRY(SN_ARENA_RAW(arena, body->tree.cell_count, &body->maps[m], err));
    SN_TRY(sn_body_map_to_cells(body, desc->maps[m].values, pool, scratch, body->maps[m], err));
    body->map_means[m] = mean_over_volume(job, pool, body->maps[m], NULL);
  }
  return SN_OK;
}

// Regions

// How much of each cell is in the region.
static sn_status find_shares(const tissue_job* job, const sn_surface* surface, sn_pool* pool,
                             sn_arena* scratch, sn_error* err) {
  const sn_octree* tree = &job->body->tree;
  double(*moments)[SN_MOMENT_COUNT];
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(SN_ARENA_RAW(scratch, tree->cell_count, &moments, err));
  SN_TRY(sn_octree_moments(tree, surface, pool, scratch, moments, err));
  for (uint32_t e = 0; e < tree->cell_count; ++e) job->overlap[e] = moments[e][0];
  sn_arena_release(scratch, mark);
  return SN_OK;
}

// Of the part of a cell that the skin leaves, how much the region has: the smaller of the two parts is
// taken to lie in the larger.
static void find_overlaps(void* ctx, size_t begin, size_t end) {
  const tissue_job* job = ctx;
  for (size_t e = begin; e < end; ++e) {
    double in_region = job->overlap[e], in_skin = job->skin_share[e];
    bool all = in_region >= in_skin || in_region > 1 - LEAST_SHARE;
    job->overlap[e] = in_region < LEAST_SHARE ? 0 : all ? 1 : in_region / in_skin;
  }
}

static double mix(double a, double b, double share) { return (1 - share) * a + share * b; }

static void lay_region(void* ctx, size_t begin, size_t end) {
  const tissue_job* job = ctx;
  const sn_region_desc* region = job->region;
  for (size_t e = begin; e < end; ++e) {
    double map = job->weights ? fmin(1, (double)job->weights[e]) : 1;
    double strength = job->overlap[e] * region->weight * map;
    double mu = region->has_material ? region->material.mu : job->mu[e];
    double lambda = region->has_material ? region->material.lambda : job->lambda[e];
    job->mu[e] = mix(job->mu[e], region->stiffness * mu, strength);
    job->lambda[e] = mix(job->lambda[e], region->stiffness * lambda, strength);
    if (region->has_density) job->density[e] = mix(job->density[e], region->density, strength);
    bool decides = region->has_material && strength >= LAW_STRENGTH;
    if (decides && job->body->cell_kinds) job->body->cell_kinds[e] = job->kind;
  }
}

static sn_status lay_regions(tissue_job* job, const sn_surface* surfaces, sn_pool* pool,
                             sn_arena* arena, sn_arena* scratch, sn_error* err) {
  sn_body* body = job->body;
  const sn_body_desc* desc = body->desc;
  uint32_t cells = body->tree.cell_count;
  if (desc->region_count == 0) return SN_OK;
  double* skin_share;
  SN_TRY(SN_ARENA_NEW(arena, desc->region_count, &body->region_shares, err));
  if (body->kind_count > 1) SN_TRY(SN_ARENA_NEW(arena, cells, &body->cell_kinds, err));
  SN_TRY(SN_ARENA_RAW(scratch, cells, &job->overlap, err));
  SN_TRY(SN_ARENA_RAW(scratch, cells, &skin_share, err));
  SN_TRY(sn_octree_fill_unbounded(&body->tree, &body->bvh, pool, scratch, skin_share, err));
  job->skin_share = skin_share;
  for (uint32_t i = 0; i < desc->region_count; ++i) {
    job->region = &desc->regions[i];
    SN_TRY(find_shares(job, &surfaces[i], pool, scratch, err));
    sn_parallel_for(pool, cells, 1024, find_overlaps, job);
    body->region_shares[i] = mean_over_volume(job, pool, NULL, job->overlap);
    SN_CHECK(body->region_shares[i] > 0, err, SN_ERR_INPUT,
             "bodies[%u].regions[%u]: \"%s\" holds nothing of body \"%s\"; expected a mesh that "
             "reaches into the body",
             job->index, i, job->region->name, desc->name);
    job->weights = sn_body_map_of(body, job->region->name);
    if (job->region->has_material) job->kind = find_kind(body, &job->region->material);
    sn_parallel_for(pool, cells, 1024, lay_region, job);
  }
  return SN_OK;
}

// The whole

static void begin_cells(void* ctx, size_t begin, size_t end) {
  const tissue_job* job = ctx;
  const sn_body_desc* desc = job->body->desc;
  for (size_t e = begin; e < end; ++e) {
    job->mu[e] = desc->material.mu;
    job->lambda[e] = desc->material.lambda;
    job->density[e] = desc->density;
  }
}

static void end_cells(void* ctx, size_t begin, size_t end) {
  const tissue_job* job = ctx;
  for (size_t e = begin; e < end; ++e) {
    double factor = job->stiffness_map ? (double)job->stiffness_map[e] : 1;
    job->body->mu[e] = (float)(factor * job->mu[e]);
    job->body->lambda[e] = (float)(factor * job->lambda[e]);
    if (job->density_map) job->density[e] *= (double)job->density_map[e];
  }
}

static sn_status check_cells(const sn_body* body, sn_error* err) {
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    SN_CHECK(body->mu[e] >= FLT_MIN && isfinite(body->mu[e]) && isfinite(body->lambda[e]), err,
             SN_ERR_INPUT,
             "body \"%s\": regions and maps together make a cell of mu %g Pa and lambda %g Pa; "
             "expected smaller factors",
             body->desc->name, (double)body->mu[e], (double)body->lambda[e]);
  }
  return SN_OK;
}

static void fill_evenly(sn_body* body) {
  for (uint32_t e = 0; e < (body->even ? 1 : body->tree.cell_count); ++e) {
    body->mu[e] = (float)body->desc->material.mu;
    body->lambda[e] = (float)body->desc->material.lambda;
  }
}

sn_status sn_body_lay_tissue(sn_body* body, uint32_t index, const sn_surface* regions,
                             const float* fill, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                             double** density, sn_error* err) {
  uint32_t cells = body->tree.cell_count;
  *density = NULL;
  SN_TRY(list_kinds(body, arena, err));
  sn_drawn drawn;
  SN_TRY(sn_body_find_drawn(body, pool, scratch, &drawn, err));
  bool one = body->desc->region_count == 0 && body->desc->map_count == 0;
  body->even = one && body->cut.count == 0 && !drawn.stretch;
  SN_TRY(SN_ARENA_RAW(arena, body->even ? 1 : cells, &body->mu, err));
  SN_TRY(SN_ARENA_RAW(arena, body->even ? 1 : cells, &body->lambda, err));
  if (one) {
    fill_evenly(body);
    if (drawn.stretch) sn_body_spare_drawn(&drawn, body);
    return SN_OK;
  }
  tissue_job job = {.body = body, .index = index, .fill = fill};
  SN_TRY(SN_ARENA_RAW(scratch, cells, &job.density, err));
  SN_TRY(SN_ARENA_RAW(scratch, cells, &job.mu, err));
  SN_TRY(SN_ARENA_RAW(scratch, cells, &job.lambda, err));
  sn_parallel_for(pool, cells, 1024, begin_cells, &job);
  SN_TRY(spread_maps(&job, pool, arena, scratch, err));
  SN_TRY(lay_regions(&job, regions, pool, arena, scratch, err));
  job.stiffness_map = sn_body_map_of(body, "stiffness");
  job.density_map = sn_body_map_of(body, "density");
  sn_parallel_for(pool, cells, 1024, end_cells, &job);
  if (drawn.stretch) sn_body_spare_drawn(&drawn, body);
  *density = job.density;
  return check_cells(body, err);
}
