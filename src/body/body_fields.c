// With F = U diag(s) V^T and P = U diag(t) V^T, the Cauchy stress P F^T / J has the principal values
// t_i s_i / J. The part of the energy that measures volume is taken from the whole cell, as in the kernels
// (docs/theory/materials.md): a pressure dW/dJ, which is a Cauchy stress by itself, or dW/dtr beside t.
#include "body/body_fields.h"

#include <float.h>
#include <math.h>

#include "body/body_cut.h"
#include "elasticity/law_cell.h"
#include "math/svd3.h"

#define CELLS_AT_ONCE 256
// Flatter cells count as this flat in stresses, which are forces over areas of now.
#define LEAST_J 1e-3

typedef struct field_job {
  const sn_body* body;
  const sn_body_work* work;
  const double* u;
  float* const* values;  // by field; NULL: not asked for
} field_job;

// How a cell is deformed, where its fields are wanted.
typedef struct cell_state {
  bool cut;
  double s[3];    // principal stretches
  double J;       // det F
  double mean_J;  // over the cell, of a cut one over what is inside
} cell_state;

static void get_modes(const field_job* job, uint32_t cell, double q[3][8]) {
  double corners[8][3];
  const sn_octree* tree = &job->body->tree;
  sn_corners at = sn_octree_corners(tree, cell);
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) corners[c][i] = job->u[3 * (size_t)at.nodes[c] + i];
  }
  sn_cell_to_modes(sn_flesh_shape(tree, cell), (const double(*)[3])corners, q);
}

// F at a place of the cell, each coordinate from -1 to 1.
static void deform_at(double h, double q[3][8], const double eta[3], double F[9]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      int a = (j + 1) % 3, b = (j + 2) % 3, J = 1 << j, A = 1 << a, B = 1 << b;
      double slope =
          q[i][J] + eta[a] * q[i][J | A] + eta[b] * q[i][J | B] + eta[a] * eta[b] * q[i][7];
      F[3 * i + j] = (i == j) + 2 / h * slope;
    }
  }
}

// Centroid of what a cut cell has inside, and the mean of J there.
static void look_inside(const sn_cut_cells* cut, uint32_t number, double h, double q[3][8],
                        double eta[3], double* mean_J) {
  double sum = 0, J = 0;
  for (int i = 0; i < 3; ++i) eta[i] = 0;
  for (uint32_t g = cut->starts[number]; g < cut->starts[number + 1]; ++g) {
    const sn_point_group* group = &cut->groups[g];
    for (int p = 0; p < SN_GROUP_POINTS; ++p) {
      double w = group->weights[p];
      double at[3] = {group->places[0][p], group->places[1][p], group->places[2][p]};
      for (int i = 0; i < 3; ++i) eta[i] += w * at[i];
      J += w * sn_cell_volume_at(h, q, at);
      sum += w;
    }
  }
  for (int i = 0; i < 3; ++i) eta[i] /= sum;
  *mean_J = J / sum;
}

static cell_state deform(const field_job* job, uint32_t cell) {
  const sn_flesh* flesh = &job->body->flesh;
  double q[3][8], F[9], U[9], V[9], eta[3] = {0, 0, 0}, h = sn_octree_edge(flesh->tree, cell);
  uint32_t number = sn_flesh_cut_number(flesh, cell);
  cell_state state = {.cut = number != UINT32_MAX};
  get_modes(job, cell, q);
  if (state.cut) {
    look_inside(flesh->cut, number, h, q, eta, &state.mean_J);
  } else {
    state.mean_J = sn_cell_mean_volume(h, q, NULL);
  }
  state.J = sn_cell_volume_at(h, q, eta);
  deform_at(h, q, eta, F);
  sn_svd3_d(F, U, state.s, V);
  return state;
}

// The cell's material without what pressures keep of it; the kept pressure itself goes to *kept, Pa.
static sn_material material_of(const field_job* job, uint32_t cell, double* kept) {
  const sn_body* body = job->body;
  const sn_flesh_work* work = &job->work->flesh;
  sn_material material = body->kinds[body->cell_kinds ? body->cell_kinds[cell] : 0];
  double share = sn_body_cut_share(body, cell);
  material.mu = sn_body_mu(body, cell) / share;
  material.lambda = sn_body_lambda(body, cell) / share;
  *kept = 0;
  uint32_t place = body->families.places[cell];
  if (!work->pressure || !(work->kept[place] > 0)) return material;
  double unit = 16 / (share * sn_octree_edge(&body->tree, cell));
  material.lambda -= unit * work->kept[place] / work->stiffening;
  *kept = unit * work->pressure[place];
  return material;
}

// Principal Cauchy stresses, Pa.
static void find_stresses(const field_job* job, uint32_t cell, const cell_state* state,
                          double sigma[3]) {
  double kept, beside = 0, volumetric = 0;
  const double* s = state->s;
  sn_law_point law;
  sn_material material = material_of(job, cell, &kept);
  sn_measure measure = sn_law_measure_kind(material.law);
  sn_law_evaluate(&material, s, measure == SN_MEASURE_NONE ? SN_LAW_WHOLE : SN_LAW_SHAPE, &law);
  if (measure == SN_MEASURE_TRACE) {
    beside = sn_law_bulk(&material) * (s[0] + s[1] + s[2] - 3) + kept;
  } else if (measure != SN_MEASURE_NONE) {
    double M[3];
    sn_law_measure(&material, state->mean_J, M);
    volumetric = (sn_law_bulk(&material) * M[0] + kept) * M[1];
  }
  double J = copysign(fmax(fabs(state->J), LEAST_J), state->J);
  for (int i = 0; i < 3; ++i) sigma[i] = (law.stress[i] + beside) * s[i] / J + volumetric;
}

static double largest_strain(const double s[3]) {
  return fmax(fabs(s[0] - 1), fmax(fabs(s[1] - 1), fabs(s[2] - 1)));
}

static double von_mises(const double sigma[3]) {
  double a = sigma[0] - sigma[1], b = sigma[1] - sigma[2], c = sigma[2] - sigma[0];
  return sqrt(0.5 * (a * a + b * b + c * c));
}

static double activation_of(const field_job* job, uint32_t cell) {
  const sn_muscles* muscles = &job->body->muscles;
  if (!muscles->main || muscles->main[cell] == SN_NO_MUSCLE) return 0;
  return sn_muscles_local(muscles, job->work->muscles.activations, muscles->main[cell], cell);
}

// Flesh torn far apart has stresses that a float cannot hold: they end at its largest number.
static void put(const field_job* job, sn_flesh_field field, size_t cell, double value) {
  if (job->values[field]) job->values[field][cell] = (float)fmin(fmax(value, -FLT_MAX), FLT_MAX);
}

static void fill_values(void* ctx, size_t begin, size_t end) {
  const field_job* job = ctx;
  bool stressed = job->values[SN_FIELD_STRESS] || job->values[SN_FIELD_PRESSURE];
  bool deformed = stressed || job->values[SN_FIELD_STRAIN] || job->values[SN_FIELD_J];
  for (size_t e = begin; e < end; ++e) {
    put(job, SN_FIELD_ACTIVATION, e, activation_of(job, (uint32_t)e));
    if (!deformed) continue;
    cell_state state = deform(job, (uint32_t)e);
    put(job, SN_FIELD_STRAIN, e, largest_strain(state.s));
    put(job, SN_FIELD_J, e, state.cut ? state.mean_J : state.J);
    if (!stressed) continue;
    double sigma[3];
    find_stresses(job, (uint32_t)e, &state, sigma);
    put(job, SN_FIELD_STRESS, e, von_mises(sigma));
    put(job, SN_FIELD_PRESSURE, e, -(sigma[0] + sigma[1] + sigma[2]) / 3);
  }
}

void sn_body_fields(const sn_body* body, const sn_body_work* work, sn_pool* pool, const double* u,
                    float* const values[SN_FIELD_CONTACTS]) {
  field_job job = {body, work, u, values};
  sn_parallel_for(pool, body->tree.cell_count, CELLS_AT_ONCE, fill_values, &job);
}
