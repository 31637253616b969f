#include "body/body_cut.h"

#include <math.h>

#include "octree/octree_moments.h"
#include "octree/quadrature.h"

#define MIN_RULES 256
// A cell that the skin only touches has so much in it, everywhere, so that its nodes follow the others.
#define EMPTY 1e-9
// In products a cut cell counts as whole, with a stiffness between that of the whole cell, which bounds
// its own, and the filled share of it: the square root of the share, as measured
// (docs/theory/quadrature.md), but no less than this.
#define LEAST_SHARE 0.02

typedef struct rules_job {
  const double (*moments)[10];
  const uint32_t* cells;
  sn_rule* rules;
} rules_job;

static void make_rules(void* ctx, size_t begin, size_t end) {
  const rules_job* job = ctx;
  for (size_t r = begin; r < end; ++r) {
    const double* moments = job->moments[job->cells[r]];
    sn_rule* rule = &job->rules[r];
    if (moments[0] > EMPTY) {
      sn_rule_from_moments(moments, rule);
    } else {
      sn_rule_from_moments(sn_full_moments, rule);
      for (int p = 0; p < rule->count; ++p) rule->weights[p] *= EMPTY;
    }
  }
}

// Cut cells in the order of their places.
// @param moments NULL: all cells
static sn_status list_cut_cells(const double (*moments)[10], sn_arena* arena, sn_arena* scratch,
                                sn_body* body, uint32_t** cells, sn_error* err) {
  const sn_families* f = &body->families;
  sn_cut_cells* cut = &body->cut;
  size_t rows = f->rows[f->packet_count];
  uint32_t* cell_at;  // + 1, by place
  SN_TRY(SN_ARENA_NEW(arena, rows, &cut->lanes, err));
  SN_TRY(SN_ARENA_NEW(arena, rows + 1, &cut->firsts, err));
  SN_TRY(SN_ARENA_NEW(scratch, rows * SN_FAMILY_LANES, &cell_at, err));
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    if (moments && moments[e][0] == 1) continue;
    cell_at[f->places[e]] = e + 1;
    ++cut->count;
  }
  SN_TRY(SN_ARENA_NEW(scratch, cut->count, cells, err));
  uint32_t number = 0;
  for (size_t row = 0; row < rows; ++row) {
    cut->firsts[row] = number;
    for (int lane = 0; lane < SN_FAMILY_LANES; ++lane) {
      uint32_t cell = cell_at[row * SN_FAMILY_LANES + (size_t)lane];
      if (!cell) continue;
      cut->lanes[row] |= (uint8_t)(1 << lane);
      (*cells)[number++] = cell - 1;
    }
  }
  cut->firsts[rows] = number;
  return SN_OK;
}

static void fill_groups(const sn_rule* rule, double share, sn_point_group* groups) {
  for (int p = 0; p < rule->count; ++p) {
    sn_point_group* group = &groups[p / SN_GROUP_POINTS];
    group->weights[p % SN_GROUP_POINTS] = rule->weights[p] / share;
    for (int i = 0; i < 3; ++i) group->places[i][p % SN_GROUP_POINTS] = rule->points[p][i];
  }
}

sn_status sn_body_cut(const double (*moments)[10], sn_pool* pool, sn_arena* arena,
                      sn_arena* scratch, sn_body* body, sn_error* err) {
  sn_cut_cells* cut = &body->cut;
  rules_job job = {.moments = moments};
  uint32_t* cells;
  SN_TRY(list_cut_cells(moments, arena, scratch, body, &cells, err));
  job.cells = cells;
  SN_TRY(SN_ARENA_NEW(scratch, cut->count, &job.rules, err));
  sn_parallel_for(pool, cut->count, MIN_RULES, make_rules, &job);
  SN_TRY(SN_ARENA_NEW(arena, (size_t)cut->count + 1, &cut->starts, err));
  for (uint32_t r = 0; r < cut->count; ++r) {
    int count = job.rules[r].count;
    cut->starts[r + 1] =
        cut->starts[r] + (uint32_t)((count + SN_GROUP_POINTS - 1) / SN_GROUP_POINTS);
    body->many_point_cells += count > 4;
  }
  SN_TRY(SN_ARENA_NEW(arena, cut->starts[cut->count], &cut->groups, err));
  SN_TRY(SN_ARENA_NEW(arena, cut->count, &cut->shares, err));
  for (uint32_t r = 0; r < cut->count; ++r) {
    cut->shares[r] = (float)fmax(sqrt(moments[cells[r]][0]), LEAST_SHARE);
    fill_groups(&job.rules[r], cut->shares[r], cut->groups + cut->starts[r]);
  }
  return SN_OK;
}

sn_status sn_body_gauss(sn_arena* arena, sn_arena* scratch, sn_body* body, sn_error* err) {
  sn_cut_cells* cut = &body->cut;
  uint32_t* cells;
  sn_rule rule = {.count = 8};
  for (int p = 0; p < rule.count; ++p) {
    rule.weights[p] = 1.0 / rule.count;
    for (int i = 0; i < 3; ++i) rule.points[p][i] = (p >> i & 1 ? 1 : -1) / sqrt(3);
  }
  cut->whole = true;
  SN_TRY(list_cut_cells(NULL, arena, scratch, body, &cells, err));
  uint32_t groups = (uint32_t)rule.count / SN_GROUP_POINTS;
  SN_TRY(SN_ARENA_NEW(arena, (size_t)cut->count + 1, &cut->starts, err));
  SN_TRY(SN_ARENA_NEW(arena, groups * (size_t)cut->count, &cut->groups, err));
  SN_TRY(SN_ARENA_NEW(arena, cut->count, &cut->shares, err));
  for (uint32_t r = 0; r < cut->count; ++r) {
    cut->starts[r + 1] = groups * (r + 1);
    cut->shares[r] = 1;
    fill_groups(&rule, 1, cut->groups + cut->starts[r]);
  }
  return SN_OK;
}

double sn_body_cut_share(const sn_body* body, uint32_t cell) {
  uint32_t number = sn_flesh_cut_number(&body->flesh, cell);
  return number == UINT32_MAX ? 1 : body->cut.shares[number];
}

bool sn_body_cut_masses(const sn_body* body, uint32_t cell, double corner[8]) {
  const sn_cut_cells* cut = &body->cut;
  uint32_t number = sn_flesh_cut_number(&body->flesh, cell);
  if (number == UINT32_MAX || cut->whole) return false;
  for (int c = 0; c < 8; ++c) corner[c] = 0;
  for (uint32_t g = cut->starts[number]; g < cut->starts[number + 1]; ++g) {
    const sn_point_group* group = &cut->groups[g];
    for (int p = 0; p < SN_GROUP_POINTS; ++p) {
      for (int c = 0; c < 8; ++c) {
        double N = cut->shares[number] * group->weights[p];
        for (int i = 0; i < 3; ++i) {
          N *= 0.5 * (c >> i & 1 ? 1 + group->places[i][p] : 1 - group->places[i][p]);
        }
        corner[c] += N;
      }
    }
  }
  return true;
}

double sn_body_cut_excess(const sn_body* body, uint32_t cell) {
  const sn_cut_cells* cut = &body->cut;
  uint32_t number = sn_flesh_cut_number(&body->flesh, cell);
  double sum = 0;
  if (number == UINT32_MAX) return 1;
  for (uint32_t g = cut->starts[number]; g < cut->starts[number + 1]; ++g) {
    for (int p = 0; p < SN_GROUP_POINTS; ++p) sum += cut->groups[g].weights[p];
  }
  return sum;
}
