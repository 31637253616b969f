// States of one cell that the tests of cell kernels share: all ways in which its corners can hang,
// and all ways in which it can be squeezed, turned inside out or collapsed.
#ifndef SN_TESTS_ELASTICITY_CELL_STATES_H
#define SN_TESTS_ELASTICITY_CELL_STATES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// cmocka needs four of the above.
#include <cmocka.h>

#include "elasticity/corotated_cell.h"
#include "math/quat.h"
#include "math/random.h"
#include "math/svd3.h"

typedef const double (*corners)[3];

// Children times sets of hanging corners: any set of the three edge corners, and of the face
// corners any of those between two hanging edge corners: 1 + 3 + 3 x 2 + 8 sets.
#define SHAPE_COUNT (8 * 18)

static inline int list_shapes(sn_cell_shape shapes[SHAPE_COUNT]) {
  int count = 0;
  for (int k = 0; k < 8; ++k) {
    for (int set = 0; set < 64; ++set) {
      int edges = set & 7, faces = set >> 3, hanging = 0;
      bool possible = true;
      for (int i = 0; i < 3; ++i) {
        int others = 7 ^ 1 << i;  // the face corner across axis i is two edges away
        if (edges >> i & 1) hanging |= 1 << (k ^ 1 << i);
        if (!(faces >> i & 1)) continue;
        hanging |= 1 << (k ^ others);
        possible = possible && (edges & others) == others;
      }
      if (possible) shapes[count++] = (sn_cell_shape){(uint8_t)k, (uint8_t)hanging};
    }
  }
  return count;
}

// Where the conforming node of corner c is at rest, in edges from corner 0: at the corner, or,
// where that hangs, at the parent's corner of the same number.
static inline void conforming_place(sn_cell_shape shape, int c, double place[3]) {
  bool hangs = shape.hanging >> c & 1;
  for (int i = 0; i < 3; ++i) {
    int up = c >> i & 1, child = shape.child >> i & 1;
    place[i] = hangs ? 2 * up - child : up;
  }
}

// u += A X at the conforming nodes
static inline void add_affine(sn_cell_shape shape, double h, const double A[9], double u[8][3]) {
  for (int c = 0; c < 8; ++c) {
    double X[3];
    conforming_place(shape, c, X);
    for (int i = 0; i < 3; ++i) {
      u[c][i] += h * (A[3 * i] * X[0] + A[3 * i + 1] * X[1] + A[3 * i + 2] * X[2]);
    }
  }
}

static inline double norm(const double* v, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += v[i] * v[i];
  return sqrt(sum);
}

static inline double distance(const double* a, const double* b, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

static inline bool all_finite(const double* v, int count) {
  for (int i = 0; i < count; ++i) {
    if (!isfinite(v[i])) return false;
  }
  return true;
}

static inline double random_between(sn_random* random, double low, double high) {
  return low + (high - low) * sn_random_unit(random);
}

// Evenly over orders of magnitude.
static inline double random_scale(sn_random* random, double low, double high) {
  return low * exp(sn_random_unit(random) * log(high / low));
}

static inline sn_mat3 random_rotation(sn_random* random) {
  sn_quat q;
  do {
    q = (sn_quat){sn_random_symmetric(random), sn_random_symmetric(random),
                  sn_random_symmetric(random), sn_random_symmetric(random)};
  } while (sn_quat_length(q) < 0.1 || sn_quat_length(q) > 1);
  return sn_quat_to_mat3(sn_quat_normalise(q));
}

typedef enum cell_kind {
  CELL_PLAIN,
  CELL_STRETCHED,  // no singular value below 1
  CELL_INVERTED,
  CELL_FLAT,      // rank 2
  CELL_LINE,      // almost rank 1
  CELL_POINT,     // almost rank 0
  CELL_MIRRORED,  // almost a reflection, whose two smaller singular values cancel
  CELL_WILD,      // every node somewhere
  CELL_KINDS
} cell_kind;

typedef struct cell_state {
  cell_kind kind;
  sn_cell_shape shape;
  sn_cell_material material;
  double u[8][3];
  double F[9], s[3];  // as they came out
} cell_state;

static inline void random_singular_values(sn_random* random, cell_kind kind, double s[3]) {
  double tiny = random_scale(random, 1e-3, 1e-2);
  for (int k = 0; k < 3; ++k) s[k] = random_between(random, 0.3, 2.5);
  switch (kind) {
    case CELL_STRETCHED:
      for (int k = 0; k < 3; ++k) s[k] = random_between(random, 1.01, 2.5);
      break;
    case CELL_INVERTED:
      s[2] = -random_between(random, 0.05, 0.25);
      break;
    case CELL_FLAT:
      s[2] = 0;
      break;
    case CELL_LINE:
      s[1] = tiny;
      s[2] = tiny * random_between(random, -0.5, 1);
      break;
    case CELL_POINT:
      for (int k = 0; k < 3; ++k) s[k] *= tiny;
      break;
    case CELL_MIRRORED:
      s[0] = 1 + tiny;
      s[1] = s[0] - random_between(random, 0, 0.5 * tiny);
      s[2] = -1;
      break;
    default:
      break;
  }
}

static inline void set_deformation(cell_state* state) {
  double U[9], V[9];
  sn_cell_deformation(state->shape, state->material.h, (corners)state->u, state->F);
  sn_svd3_d(state->F, U, state->s, V);
}

// Moves that change no F: noise at the nodes, less the affine motion with the same gradient.
static inline void add_hourglass(cell_state* state, sn_random* random, double size) {
  double h = state->material.h, noise[8][3], D[9];
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) noise[c][i] = size * h * sn_random_symmetric(random);
  }
  sn_cell_deformation(state->shape, h, (corners)noise, D);
  for (int i = 0; i < 9; ++i) D[i] = (i % 4 == 0) - D[i];
  add_affine(state->shape, h, D, noise);
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) state->u[c][i] += noise[c][i];
  }
}

// u = (U s V^T - I) X
static inline void add_stretch(cell_state* state, sn_random* random, const double s[3]) {
  double A[9];
  sn_mat3 U = random_rotation(random), V = random_rotation(random);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      A[3 * i + j] = -(i == j);
      for (int k = 0; k < 3; ++k) A[3 * i + j] += U.m[i][k] * s[k] * V.m[j][k];
    }
  }
  add_affine(state->shape, state->material.h, A, state->u);
}

static inline sn_cell_shape random_shape(sn_random* random) {
  sn_cell_shape shapes[SHAPE_COUNT];
  int count = list_shapes(shapes);
  return shapes[sn_random_bits(random) % (uint64_t)count];
}

static inline sn_cell_material random_material(sn_random* random) {
  double mu = random_scale(random, 1e2, 1e6);
  return (sn_cell_material){random_scale(random, 1e-3, 1), mu, mu * random_between(random, 0, 50)};
}

// One of the kinds, with its rotation defined: s[1] + s[2] well above round-off.
static inline cell_state random_state(sn_random* random, cell_kind kind, sn_cell_shape shape) {
  cell_state state = {.kind = kind, .shape = shape};
  state.material = random_material(random);
  do {
    memset(state.u, 0, sizeof state.u);
    if (kind == CELL_WILD) {
      for (int c = 0; c < 8; ++c) {
        for (int i = 0; i < 3; ++i) {
          state.u[c][i] = 2 * state.material.h * sn_random_symmetric(random);
        }
      }
    } else {
      double s[3];
      random_singular_values(random, kind, s);
      add_stretch(&state, random, s);
      add_hourglass(&state, random, 0.3);
    }
    set_deformation(&state);
  } while (!(state.s[1] + state.s[2] > 1e-4));
  return state;
}

// Every kind in turn, with shapes drawn at random.
static inline cell_state next_state(sn_random* random, int index) {
  return random_state(random, (cell_kind)(index % CELL_KINDS), random_shape(random));
}

// Exactly degenerate: the rotation is not defined. Values are such that no rounding saves it.
#define DEGENERATE_COUNT 6
static inline cell_state degenerate_state(sn_random* random, int index) {
  static const double F[DEGENERATE_COUNT][9] = {
      {0},                             // point
      {2, 0, 0, 0, 0, 0, 0, 0, 0},     // line
      {1, 1, 1, 0.5, 0.5, 0.5},        // line, askew
      {1, 0, 0, 0, 1, 0, 0, 0, -1},    // mirrored
      {-1, 0, 0, 0, -1, 0, 0, 0, -1},  // mirrored through a point
      {0, 1, 0, 1, 0, 0, 0, 0, 1.5},   // mirrored and stretched
  };
  cell_state state = {.shape = random_shape(random), .material = random_material(random)};
  state.material.h = ldexp(1, -(int)(sn_random_bits(random) % 10));
  double A[9];
  for (int i = 0; i < 9; ++i) A[i] = F[index % DEGENERATE_COUNT][i] - (i % 4 == 0);
  add_affine(state.shape, state.material.h, A, state.u);
  set_deformation(&state);
  return state;
}

#endif
