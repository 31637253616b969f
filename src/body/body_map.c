// Samples of the skin leave their values in the cells they lie in. Cells without any are filled from
// coarse to fine: on the coarsest version of the octree each takes the mean of the smallest octant around
// it that has some; on the others it takes what the next coarser one has there. On each a few sweeps of
// averaging over nodes even out what is not smooth.
//
// All of it works on differences from the value of the first vertex, so that where all vertices have
// the same value nothing is added to it.
#include "body/body_map.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"
#include "octree/coarsen.h"

#define SAMPLES_PER_CELL 2
#define MOST_ALONG_EDGE 1024
// Samples that are worked out together. No triangle has more.
#define WINDOW ((size_t)MOST_ALONG_EDGE * MOST_ALONG_EDGE)
// Over the cells of each tree.
#define SWEEPS 4
// A tree of so few cells has no coarser one, nor has one of which too many would be left.
#define FEW_CELLS 100
#define LEAST_SHRINKING 0.9

uint32_t sn_body_find_map(const sn_body_desc* desc, const char* name) {
  for (uint32_t m = 0; m < desc->map_count; ++m) {
    if (strcmp(desc->maps[m].name, name) == 0) return m;
  }
  return SN_NO_MAP;
}

const float* sn_body_map_of(const sn_body* body, const char* name) {
  uint32_t map = sn_body_find_map(body->desc, name);
  return map == SN_NO_MAP ? NULL : body->maps[map];
}

// A tree and what its cells have.
typedef struct map_level {
  const sn_octree* tree;
  double* areas;  // of the samples in each cell, m2 (cell_count)
  double* sums;   // of area x difference; then the difference itself (cell_count)
  double *node_sums, *node_weights;  // (node_count)
  const struct map_level* coarser;
  uint32_t* coarse_cells;  // that each cell lies in (cell_count)
} map_level;

typedef struct map_job {
  const sn_body* body;
  const double* values;  // at the vertices
  double base;           // what differences are from

  uint64_t* starts;       // of each triangle's samples (triangle_count + 1)
  uint64_t first_sample;  // of the window
  uint32_t first_triangle;
  uint32_t* sample_cells;  // in the window
  double *sample_areas, *sample_values;
  map_level finest;
} map_job;

// Samples

// A triangle in rows, each at one share of the way from its tip to the edge opposite, which is the
// shortest: long thin triangles have short rows.
typedef struct rows {
  uint32_t vertex[3];  // tip first
  sn_vec3 tip, a, b;   // and its two long edges
  double area;
  int row_count, along;  // samples in the last row
} rows;

static int parts_of(double length, double cell) {
  double wish = ceil(SAMPLES_PER_CELL * length / cell * (1 - 1e-9));
  return wish > MOST_ALONG_EDGE ? MOST_ALONG_EDGE : wish < 1 ? 1 : (int)wish;
}

static rows rows_of(const sn_body* body, size_t triangle) {
  sn_vec3 c[3];
  int tip = 0;
  double shortest = INFINITY;
  for (int i = 0; i < 3; ++i) c[i] = sn_surface_corner(&body->surface, (uint32_t)triangle, i);
  for (int i = 0; i < 3; ++i) {
    double opposite = sn_distance(c[(i + 1) % 3], c[(i + 2) % 3]);
    if (opposite >= shortest) continue;
    shortest = opposite;
    tip = i;
  }
  rows r = {.tip = c[tip]};
  for (int i = 0; i < 3; ++i) {
    r.vertex[i] = body->surface.triangles[3 * triangle + (size_t)((tip + i) % 3)];
  }
  r.a = sn_sub(c[(tip + 1) % 3], r.tip);
  r.b = sn_sub(c[(tip + 2) % 3], r.tip);
  r.area = 0.5 * sn_length(sn_cross(r.a, r.b));
  r.row_count = parts_of(fmax(sn_length(r.a), sn_length(r.b)), body->tree.cell);
  r.along = parts_of(shortest, body->tree.cell);
  return r;
}

static int samples_in_row(const rows* r, int row) {
  return (int)ceil((double)r->along * (row + 1) / r->row_count * (1 - 1e-9));
}

static void count_samples(void* ctx, size_t begin, size_t end) {
  const map_job* job = ctx;
  for (size_t t = begin; t < end; ++t) {
    rows r = rows_of(job->body, t);
    uint64_t count = 0;
    for (int i = 0; i < r.row_count; ++i) count += (uint64_t)samples_in_row(&r, i);
    job->starts[t + 1] = count;
  }
}

// Row i is the strip from i / n to (i + 1) / n: its share of the area, and where its centroid is.
static void take_samples(void* ctx, size_t begin, size_t end) {
  const map_job* job = ctx;
  for (size_t t = job->first_triangle + begin; t < job->first_triangle + end; ++t) {
    rows r = rows_of(job->body, t);
    size_t at = job->starts[t] - job->first_sample;
    double n = r.row_count, d[3];
    for (int k = 0; k < 3; ++k) d[k] = job->values[r.vertex[k]] - job->base;
    for (int i = 0; i < r.row_count; ++i) {
      int count = samples_in_row(&r, i);
      double square = 2.0 * i + 1, cube = 3.0 * i * (i + 1) + 1;
      double s = cube / square * 2 / 3 / n, area = r.area * square / (n * n) / count;
      for (int j = 0; j < count; ++j, ++at) {
        double v = s * (j + 0.5) / count, u = s - v, xi[3];
        sn_vec3 place = sn_madd(sn_madd(r.tip, u, r.a), v, r.b);
        job->sample_cells[at] = sn_octree_nearest(&job->body->tree, place, xi);
        job->sample_areas[at] = area;
        job->sample_values[at] = d[0] + u * (d[1] - d[0]) + v * (d[2] - d[0]);
      }
    }
  }
}

// One after another, so that sums do not depend on the threads.
static void add_samples(const map_job* job, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint32_t cell = job->sample_cells[i];
    job->finest.areas[cell] += job->sample_areas[i];
    job->finest.sums[cell] += job->sample_areas[i] * job->sample_values[i];
  }
}

static sn_status sample_skin(map_job* job, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  uint32_t triangles = job->body->surface.triangle_count;
  SN_TRY(SN_ARENA_NEW(scratch, (size_t)triangles + 1, &job->starts, err));
  sn_parallel_for(pool, triangles, 256, count_samples, job);
  for (uint32_t t = 0; t < triangles; ++t) job->starts[t + 1] += job->starts[t];
  size_t room = job->starts[triangles] < WINDOW ? job->starts[triangles] : WINDOW;
  SN_TRY(SN_ARENA_RAW(scratch, room, &job->sample_cells, err));
  SN_TRY(SN_ARENA_RAW(scratch, room, &job->sample_areas, err));
  SN_TRY(SN_ARENA_RAW(scratch, room, &job->sample_values, err));
  for (uint32_t t = 0; t < triangles;) {
    job->first_triangle = t;
    job->first_sample = job->starts[t];
    while (t < triangles && job->starts[t + 1] - job->first_sample <= WINDOW) ++t;
    sn_parallel_for(pool, t - job->first_triangle, 64, take_samples, job);
    add_samples(job, job->starts[t] - job->first_sample);
  }
  return SN_OK;
}

// Filling

typedef struct mean {
  double area, sum;
} mean;

// Where the cells of child `number` and later ones of the octant begin.
static uint32_t child_begin(const sn_octree* tree, int height, uint32_t begin, uint32_t end,
                            int number) {
  while (begin < end) {
    uint32_t middle = begin + (end - begin) / 2;
    sn_octant o = tree->cells[middle];
    int down = height - 1, of = (o.x >> down & 1) | (o.y >> down & 1) << 1 | (o.z >> down & 1) << 2;
    if (of < number) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// The cells from begin to end are those of an octant of this height. Fills the ones without a sample if
// any of the others has some, and returns what these have.
static mean fill_octant(const map_level* level, int height, uint32_t begin, uint32_t end) {
  const sn_octree* tree = level->tree;
  if (begin == end) return (mean){0, 0};
  if (tree->cells[begin].height == height) {
    double area = level->areas[begin];
    return (mean){area, area > 0 ? area * level->sums[begin] : 0};
  }
  mean whole = {0, 0};
  uint32_t starts[9] = {begin};
  bool empty[8];
  for (int c = 0; c < 8; ++c) {
    starts[c + 1] = child_begin(tree, height, starts[c], end, c + 1);
    mean part = fill_octant(level, height - 1, starts[c], starts[c + 1]);
    empty[c] = part.area == 0;
    whole.area += part.area;
    whole.sum += part.sum;
  }
  for (int c = 0; c < 8 && whole.area > 0; ++c) {
    for (uint32_t e = starts[c]; e < starts[c + 1] && empty[c]; ++e) {
      level->sums[e] = whole.sum / whole.area;
    }
  }
  return whole;
}

// Sweeps

static void centre_weights(const sn_octree* tree, uint32_t cell, double weights[8]) {
  static const double centre[3] = {0.5, 0.5, 0.5};
  for (int k = 0; k < 8; ++k) weights[k] = 0.125;
  if (tree->hanging[cell]) sn_octree_point_weights(tree, cell, centre, weights);
}

// To each node the mean of the cells around it: two cells of different size count by their edges, as
// two rods of one material pass on heat.
static void average_to_nodes(const map_level* level, bool weigh) {
  const sn_octree* tree = level->tree;
  memset(level->node_sums, 0, tree->node_count * sizeof *level->node_sums);
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    double weights[8], size = sn_octant_size(tree->cells[e]);
    centre_weights(tree, e, weights);
    sn_corners at = sn_octree_corners(tree, e);
    for (int k = 0; k < 8; ++k) {
      uint32_t node = at.nodes[k];
      level->node_sums[node] += size * weights[k] * level->sums[e];
      if (weigh) level->node_weights[node] += size * weights[k];
    }
  }
}

static double interpolate(const map_level* level, uint32_t cell, const double weights[8]) {
  double sum = 0;
  sn_corners at = sn_octree_corners(level->tree, cell);
  for (int k = 0; k < 8; ++k) {
    uint32_t node = at.nodes[k];
    sum += weights[k] * level->node_sums[node] / level->node_weights[node];
  }
  return sum;
}

static void average_to_cells(void* ctx, size_t begin, size_t end) {
  const map_level* level = ctx;
  for (size_t e = begin; e < end; ++e) {
    double weights[8];
    if (level->areas[e] > 0) continue;
    centre_weights(level->tree, (uint32_t)e, weights);
    level->sums[e] = interpolate(level, (uint32_t)e, weights);
  }
}

static void even_out(map_level* level, sn_pool* pool) {
  for (int i = 0; i < SWEEPS; ++i) {
    average_to_nodes(level, i == 0);
    sn_parallel_for(pool, level->tree->cell_count, 1024, average_to_cells, level);
  }
}

// Levels

// What the cells of a tree have, in those of the next coarser one. Both are in Morton order.
static void collect(const map_level* fine, const map_level* coarse) {
  uint32_t c = 0;
  for (uint32_t e = 0; e < fine->tree->cell_count; ++e) {
    sn_octant o = fine->tree->cells[e];
    while (!sn_octant_holds(coarse->tree->cells[c], o.x, o.y, o.z)) ++c;
    fine->coarse_cells[e] = c;
    coarse->areas[c] += fine->areas[e];
    coarse->sums[c] += fine->areas[e] * fine->sums[e];
  }
}

// Cells without a sample take what the nodes of the coarser tree have at their centre.
static void take_over(void* ctx, size_t begin, size_t end) {
  const map_level *fine = ctx, *coarse = fine->coarser;
  for (size_t e = begin; e < end; ++e) {
    if (fine->areas[e] > 0) continue;
    uint32_t c = fine->coarse_cells[e];
    sn_octant o = fine->tree->cells[e], parent = coarse->tree->cells[c];
    double half = 0.5 * sn_octant_size(o), size = sn_octant_size(parent), weights[8];
    double xi[3] = {(o.x - parent.x + half) / size, (o.y - parent.y + half) / size,
                    (o.z - parent.z + half) / size};
    sn_octree_point_weights(coarse->tree, c, xi, weights);
    fine->sums[e] = interpolate(coarse, c, weights);
  }
}

static sn_status fill_level(map_level* level, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                            sn_error* err);

// @param filled whether there is a coarser tree worth having
static sn_status fill_from_coarser(map_level* level, sn_pool* pool, sn_arena* arena,
                                   sn_arena* scratch, bool* filled, sn_error* err) {
  const sn_octree* tree = level->tree;
  sn_octree coarse_tree;
  *filled = false;
  if (tree->cell_count <= FEW_CELLS) return SN_OK;
  SN_TRY(sn_octree_coarsen(tree, pool, arena, arena, scratch, &coarse_tree, err));
  if (coarse_tree.cell_count > LEAST_SHRINKING * tree->cell_count) return SN_OK;
  map_level coarse = {.tree = &coarse_tree};
  SN_TRY(SN_ARENA_RAW(arena, tree->cell_count, &level->coarse_cells, err));
  SN_TRY(SN_ARENA_NEW(arena, coarse_tree.cell_count, &coarse.areas, err));
  SN_TRY(SN_ARENA_NEW(arena, coarse_tree.cell_count, &coarse.sums, err));
  collect(level, &coarse);
  SN_TRY(fill_level(&coarse, pool, arena, scratch, err));
  average_to_nodes(&coarse, false);
  level->coarser = &coarse;
  sn_parallel_for(pool, tree->cell_count, 1024, take_over, level);
  level->coarser = NULL;
  *filled = true;
  return SN_OK;
}

static void divide_by_area(void* ctx, size_t begin, size_t end) {
  const map_level* level = ctx;
  for (size_t e = begin; e < end; ++e) {
    if (level->areas[e] > 0) level->sums[e] /= level->areas[e];
  }
}

static sn_status fill_level(map_level* level, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                            sn_error* err) {
  const sn_octree* tree = level->tree;
  bool filled;
  SN_TRY(SN_ARENA_RAW(arena, tree->node_count, &level->node_sums, err));
  SN_TRY(SN_ARENA_NEW(arena, tree->node_count, &level->node_weights, err));
  sn_parallel_for(pool, tree->cell_count, 1024, divide_by_area, level);
  SN_TRY(fill_from_coarser(level, pool, arena, scratch, &filled, err));
  if (!filled) fill_octant(level, tree->root_height, 0, tree->cell_count);
  even_out(level, pool);
  return SN_OK;
}

// Rounding must not lead beyond what the vertices have.
static void write_cells(const map_job* job, float* cells) {
  double least = job->base, most = job->base;
  for (uint32_t v = 0; v < job->body->desc->mesh.vertex_count; ++v) {
    least = fmin(least, job->values[v]);
    most = fmax(most, job->values[v]);
  }
  for (uint32_t e = 0; e < job->body->tree.cell_count; ++e) {
    cells[e] = (float)fmin(most, fmax(least, job->base + job->finest.sums[e]));
  }
}

static sn_status map_to_cells(map_job* job, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                              float* cells, sn_error* err) {
  map_level* finest = &job->finest;
  SN_TRY(SN_ARENA_NEW(arena, finest->tree->cell_count, &finest->areas, err));
  SN_TRY(SN_ARENA_NEW(arena, finest->tree->cell_count, &finest->sums, err));
  SN_TRY(sample_skin(job, pool, scratch, err));
  SN_TRY(fill_level(finest, pool, arena, scratch, err));
  write_cells(job, cells);
  return SN_OK;
}

sn_status sn_body_map_to_cells(const sn_body* body, const double* values, sn_pool* pool,
                               sn_arena* scratch, float* cells, sn_error* err) {
  map_job job = {.body = body, .values = values, .finest = {.tree = &body->tree}};
  job.base = values[body->surface.triangles[0]];
  sn_arena* levels;  // building a coarser tree needs another arena for what it forgets
  SN_TRY(sn_arena_create(&levels, err));
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  sn_status status = map_to_cells(&job, pool, levels, scratch, cells, err);
  sn_arena_release(scratch, mark);
  sn_arena_destroy(levels);
  return status;
}
