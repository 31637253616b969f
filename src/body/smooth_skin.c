#include "body/smooth_skin.h"

#include <string.h>

#include "base/parallel.h"

#define NO_END UINT32_MAX

// ---- Where differences are taken to ----

typedef struct build_job {
  const sn_octree* tree;
  uint32_t*
      around;  // the cell on each side of a node, bit i: above it along axis i (8 x node_count)
  uint32_t* ends;
} build_job;

// A node is a corner of every cell that touches it, and lies opposite to the side on which it has it.
static void list_around(void* ctx, size_t begin, size_t end) {
  const build_job* job = ctx;
  const sn_octree* tree = job->tree;
  for (size_t e = begin; e < end; ++e) {
    for (int c = 0; c < 8; ++c) {
      if (tree->hanging[e] >> c & 1) continue;
      job->around[8 * (size_t)sn_octree_corner(tree, (uint32_t)e, c) + (7 ^ c)] = (uint32_t)e;
    }
  }
}

// The far end of the longest cell edge that leaves a node along an axis. Shorter ones on the same line have
// theirs in its middle, and the field is linear all along it.
static uint32_t find_end(const build_job* job, uint32_t node, int axis, int up) {
  const uint32_t* around = job->around + 8 * (size_t)node;
  uint32_t end = NO_END;
  int tallest = -1;
  for (int side = 0; side < 8; ++side) {
    uint32_t cell = around[side];
    if ((side >> axis & 1) != up || cell == SN_NO_CELL) continue;
    if (job->tree->cells[cell].height <= tallest) continue;
    tallest = job->tree->cells[cell].height;
    end = 8 * cell + (uint32_t)(7 ^ side ^ 1 << axis);
  }
  return end;
}

static uint32_t node_of_end(const sn_octree* tree, uint32_t end) {
  return sn_octree_corner(tree, end >> 3, (int)(end & 7));
}

static bool end_hangs(const sn_octree* tree, uint32_t end) {
  return tree->hanging[end >> 3] >> (end & 7) & 1;
}

// One end on each side; where the body is on one side only, two in a row, if the first is a node.
static void find_ends(void* ctx, size_t begin, size_t end) {
  const build_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    for (int axis = 0; axis < 3; ++axis) {
      uint32_t* ends = job->ends + 6 * n + 2 * axis;
      uint32_t above = find_end(job, (uint32_t)n, axis, 1);
      uint32_t below = find_end(job, (uint32_t)n, axis, 0);
      ends[0] = above != NO_END ? above : below;
      ends[1] = above != NO_END ? below : NO_END;
      if (ends[1] != NO_END || end_hangs(job->tree, ends[0])) continue;
      ends[1] = find_end(job, node_of_end(job->tree, ends[0]), axis, above != NO_END);
    }
  }
}

sn_status sn_smooth_skin_build(const sn_octree* tree, sn_pool* pool, sn_arena* arena,
                               sn_arena* scratch, sn_smooth_skin* skin, sn_error* err) {
  *skin = (sn_smooth_skin){.tree = tree};
  SN_TRY(SN_ARENA_RAW(arena, 6 * (size_t)tree->node_count, &skin->ends, err));
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  build_job job = {.tree = tree, .ends = skin->ends};
  SN_TRY(SN_ARENA_RAW(scratch, 8 * (size_t)tree->node_count, &job.around, err));
  memset(job.around, 0xff, 8 * (size_t)tree->node_count * sizeof *job.around);
  sn_parallel_for(pool, tree->cell_count, 1024, list_around, &job);
  sn_parallel_for(pool, tree->node_count, 1024, find_ends, &job);
  sn_arena_release(scratch, mark);
  return SN_OK;
}

// ---- Slopes at nodes ----

typedef struct slope_job {
  const sn_smooth_skin* skin;
  const double* u;
  double* slopes;
} slope_job;

// What a hanging corner lies between: corner k of its cell, which has the same place in the parent, and the
// parent's corners on the way to the hanging one's number. They differ along `axes`: 0 from 1 and 2 from 3
// along the first, 0 from 2 and 1 from 3 along the second.
typedef struct masters {
  uint32_t nodes[4];
  int count;      // 2, in the middle of an edge, or 4, of a face
  int axes[2];    // the second of a face only
  double way[2];  // from the first node to the next along each axis, finest cells
} masters;

static int axis_of(int bit) { return bit == 4 ? 2 : bit - 1; }

static masters find_masters(const sn_octree* tree, uint32_t end) {
  uint32_t cell = end >> 3;
  sn_corners corners = sn_octree_corners(tree, cell);
  const uint32_t* nodes = corners.nodes;
  sn_octant o = tree->cells[cell];
  int c = (int)(end & 7), k = sn_octant_child_number(o);
  int away = c ^ k, first = away & -away, second = away ^ first;
  double length = 2.0 * sn_octant_size(o);
  return (masters){.nodes = {nodes[k], nodes[k ^ first], nodes[k ^ second], nodes[c]},
                   .count = second ? 4 : 2,
                   .axes = {axis_of(first), axis_of(second)},
                   .way = {k & first ? -length : length, k & second ? -length : length}};
}

static double* slope_at(const slope_job* job, uint32_t node, int mask) {
  return job->slopes + SN_SLOPE_NUMBERS * (size_t)node + 3 * (size_t)(mask - 1);
}

static const double* field_at(const slope_job* job, uint32_t node, int mask) {
  return mask == 0 ? job->u + 3 * (size_t)node : slope_at(job, node, mask);
}

// Until the mixed slopes are known, the place of the one that lacks an axis holds a first estimate of the
// slope along that axis.
static int rough_mask(int axis) { return 7 ^ 1 << axis; }

static void mean_of_field(const slope_job* job, const masters* m, int mask, double mean[3]) {
  for (int i = 0; i < 3; ++i) mean[i] = 0;
  for (int k = 0; k < m->count; ++k) {
    const double* f = field_at(job, m->nodes[k], mask);
    for (int i = 0; i < 3; ++i) mean[i] += f[i];
  }
  for (int i = 0; i < 3; ++i) mean[i] /= m->count;
}

// A line through two points bends between them: in its middle by an eighth of its length times the
// difference of its slopes at the ends.
static void add_bend(const slope_job* job, const masters* m, double value[3]) {
  for (int a = 0; 2 << a <= m->count; ++a) {
    int mask = rough_mask(m->axes[a]), pairs = m->count / 2;
    for (int p = 0; p < pairs; ++p) {
      const double* from = slope_at(job, m->nodes[a == 0 ? 2 * p : p], mask);
      const double* to = slope_at(job, m->nodes[a == 0 ? 2 * p + 1 : p + 2], mask);
      for (int i = 0; i < 3; ++i) value[i] += m->way[a] / (8 * pairs) * (from[i] - to[i]);
    }
  }
}

// From a node to an end of its differences, one cell on. Positive: upward.
static double step_to(const sn_octree* tree, uint32_t end, int axis) {
  double size = sn_octant_size(tree->cells[end >> 3]);
  return end >> axis & 1 ? size : -size;
}

// Weights of the differences to two ends, t[0] and t[1] away: the slope of the parabola.
static void weigh_ends(const sn_octree* tree, const uint32_t ends[2], int axis, double weights[2]) {
  double t[2] = {step_to(tree, ends[0], axis), 0};
  weights[0] = 1 / t[0];
  weights[1] = 0;
  if (ends[1] == NO_END) return;
  t[1] = step_to(tree, ends[1], axis);
  if ((t[0] > 0) == (t[1] > 0)) t[1] += t[0];
  weights[0] = t[1] / (t[0] * (t[1] - t[0]));
  weights[1] = t[0] / (t[1] * (t[0] - t[1]));
}

// The derivative of a field along an axis at a node. With `bend`, rough slopes are known and the field is
// the displacement: hanging ends are moved to where they would be in a smooth field.
static void differentiate(const slope_job* job, uint32_t node, int axis, int mask, bool bend,
                          double slope[3]) {
  const sn_octree* tree = job->skin->tree;
  const uint32_t* ends = job->skin->ends + 6 * (size_t)node + 2 * axis;
  const double* here = field_at(job, node, mask);
  double weights[2], there[3];
  weigh_ends(tree, ends, axis, weights);
  for (int i = 0; i < 3; ++i) slope[i] = 0;
  for (int k = 0; k < 2 && ends[k] != NO_END; ++k) {
    const double* value = field_at(job, node_of_end(tree, ends[k]), mask);
    if (end_hangs(tree, ends[k])) {
      masters m = find_masters(tree, ends[k]);
      mean_of_field(job, &m, mask, there);
      if (bend) add_bend(job, &m, there);
      value = there;
    }
    for (int i = 0; i < 3; ++i) slope[i] += weights[k] * (value[i] - here[i]);
  }
  if (!bend || ends[1] != NO_END || !end_hangs(tree, ends[0])) return;
  // Of a parabola the slopes at both ends of a way have its mean slope as their mean.
  masters m = find_masters(tree, ends[0]);
  mean_of_field(job, &m, rough_mask(axis), there);
  for (int i = 0; i < 3; ++i) slope[i] += slope[i] - there[i];
}

static void find_rough_slopes(void* ctx, size_t begin, size_t end) {
  const slope_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    for (int axis = 0; axis < 3; ++axis) {
      differentiate(job, (uint32_t)n, axis, 0, false, slope_at(job, (uint32_t)n, rough_mask(axis)));
    }
  }
}

static void find_first_slopes(void* ctx, size_t begin, size_t end) {
  const slope_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    for (int axis = 0; axis < 3; ++axis) {
      differentiate(job, (uint32_t)n, axis, 0, true, slope_at(job, (uint32_t)n, 1 << axis));
    }
  }
}

// The order of two differences matters a little where spacings change: the mean of both.
static void find_second_slopes(void* ctx, size_t begin, size_t end) {
  const slope_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    for (int left_out = 0; left_out < 3; ++left_out) {
      int i = (left_out + 1) % 3, j = (left_out + 2) % 3;
      double a[3], b[3], *mixed = slope_at(job, (uint32_t)n, 7 ^ 1 << left_out);
      differentiate(job, (uint32_t)n, i, 1 << j, false, a);
      differentiate(job, (uint32_t)n, j, 1 << i, false, b);
      for (int k = 0; k < 3; ++k) mixed[k] = 0.5 * (a[k] + b[k]);
    }
  }
}

static void find_third_slopes(void* ctx, size_t begin, size_t end) {
  const slope_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    double *mixed = slope_at(job, (uint32_t)n, 7), one[3];
    for (int k = 0; k < 3; ++k) mixed[k] = 0;
    for (int axis = 0; axis < 3; ++axis) {
      differentiate(job, (uint32_t)n, axis, 7 ^ 1 << axis, false, one);
      for (int k = 0; k < 3; ++k) mixed[k] += one[k] / 3;
    }
  }
}

void sn_smooth_skin_update(const sn_smooth_skin* skin, sn_pool* pool, const double* u,
                           double* slopes) {
  slope_job job = {skin, u, slopes};
  uint32_t count = skin->tree->node_count;
  sn_parallel_for(pool, count, 512, find_rough_slopes, &job);
  sn_parallel_for(pool, count, 512, find_first_slopes, &job);
  sn_parallel_for(pool, count, 512, find_second_slopes, &job);
  sn_parallel_for(pool, count, 512, find_third_slopes, &job);
}

// ---- The polynomial of a cell ----

typedef double corner_data[8][3];  // by mask

static void read_node(const double* u, const double* slopes, uint32_t node, corner_data data) {
  memcpy(data[0], u + 3 * (size_t)node, sizeof data[0]);
  memcpy(data[1], slopes + SN_SLOPE_NUMBERS * (size_t)node, SN_SLOPE_NUMBERS * sizeof(double));
}

// The middle of the cubic through two corners, `way` apart along an axis, in place of the first.
//   f(1/2)  = (f0 + f1) / 2 + way (f0' - f1') / 8
//   f'(1/2) = 3 (f1 - f0) / (2 way) - (f0' + f1') / 4
static void go_halfway(corner_data first, corner_data second, int axis, double way) {
  for (int mask = 0; mask < 8; ++mask) {
    if (mask >> axis & 1) continue;
    double *f0 = first[mask], *slope0 = first[mask | 1 << axis];
    const double *f1 = second[mask], *slope1 = second[mask | 1 << axis];
    for (int i = 0; i < 3; ++i) {
      double value = 0.5 * (f0[i] + f1[i]) + way / 8 * (slope0[i] - slope1[i]);
      slope0[i] = 1.5 / way * (f1[i] - f0[i]) - 0.25 * (slope0[i] + slope1[i]);
      f0[i] = value;
    }
  }
}

static void read_hanging_corner(const sn_smooth_skin* skin, const double* u, const double* slopes,
                                uint32_t end, corner_data data) {
  corner_data at[4];
  masters m = find_masters(skin->tree, end);
  for (int k = 0; k < m.count; ++k) read_node(u, slopes, m.nodes[k], at[k]);
  go_halfway(at[0], at[1], m.axes[0], m.way[0]);
  if (m.count == 4) {
    go_halfway(at[2], at[3], m.axes[0], m.way[0]);
    go_halfway(at[0], at[2], m.axes[1], m.way[1]);
  }
  memcpy(data, at[0], sizeof at[0]);
}

void sn_smooth_skin_cell(const sn_smooth_skin* skin, const double* u, const double* slopes,
                         uint32_t cell, sn_smooth_cell* poly) {
  const sn_octree* tree = skin->tree;
  poly->size = sn_octant_size(tree->cells[cell]);
  for (uint32_t c = 0; c < 8; ++c) {
    uint32_t end = 8 * cell + c;
    if (end_hangs(tree, end)) {
      read_hanging_corner(skin, u, slopes, end, poly->at[c]);
    } else {
      read_node(u, slopes, node_of_end(tree, end), poly->at[c]);
    }
  }
}

// Weights along one axis: [end][0] of the values, [end][1] of the slopes. Beyond an end, the straight line from it.
static void weigh_axis(double t, double size, double weights[2][2]) {
  double s = 1 - t;
  if (t < 0 || t > 1) {
    int end = t > 1;
    memset(weights, 0, 4 * sizeof weights[0][0]);
    weights[end][0] = 1;
    weights[end][1] = size * (t - end);
    return;
  }
  weights[1][0] = t * t * (3 - 2 * t);
  weights[0][0] = 1 - weights[1][0];
  weights[0][1] = size * t * s * s;
  weights[1][1] = -size * t * t * s;
}

sn_vec3 sn_smooth_cell_value(const sn_smooth_cell* poly, const double xi[3]) {
  double w[3][2][2], sum[3] = {0, 0, 0};
  for (int axis = 0; axis < 3; ++axis) weigh_axis(xi[axis], poly->size, w[axis]);
  for (int c = 0; c < 8; ++c) {
    for (int mask = 0; mask < 8; ++mask) {
      double weight =
          w[0][c & 1][mask & 1] * w[1][c >> 1 & 1][mask >> 1 & 1] * w[2][c >> 2 & 1][mask >> 2 & 1];
      for (int i = 0; i < 3; ++i) sum[i] += weight * poly->at[c][mask][i];
    }
  }
  return (sn_vec3){sum[0], sum[1], sum[2]};
}
