// Solving a macroblock with its factor, for one instruction set. Level by level
//     y = K_R^-1 f,  x_c = C^-1 (f_c - K_cR y),  x = K_R^-1 (f - K_Rc x_c),
// R being the two regions that layer c separates, and C what is left of K_cc. Nothing but the factors of
// C and of the subdomains is kept beside the original matrix. Of y only what is beside the layer is needed, and
// f - K_Rc x_c differs from f there only: so each but the last of the sweeps over the subdomains is one over their
// last nodes. At level 1, where K_R = L L^T, it is an ordinary factor: x_c = C^-1 (f_c - L_c g), g = L^-1 f.
#include <string.h>

#include "math/simd.h"
#include "solve/macroblock_plan.h"

#define LANES SN_BLOCK_LANES

typedef sn_wide_f W;
typedef sn_quad_f Q;

#define ALWAYS_INLINE __attribute__((always_inline)) static inline

static inline W load(const float* at) { return *(const W*)at; }
static inline void store(float* at, W v) { *(W*)at = v; }
static inline Q load_quad(const float* at) { return *(const Q*)at; }
static inline void store_quad(float* at, Q v) { *(Q*)at = v; }
static inline W minus_product(W c, W a, W b) { return sn_wide_fma_f(-a, b, c); }

// Values of the layers at the places around the subdomains, lane by lane.
typedef struct around {
  _Alignas(64) float at[SN_BLOCK_POSITIONS][3][2][LANES];
} around;

// x <- L^-1 x in all sixteen subdomains, for x that is 0 before node `first`. Rows are full from NEAR_LEVEL[3] on.
ALWAYS_INLINE void sweep_forward(const sn_block_plan* plan, const sn_block_factor* factor,
                                 int sides, int first, float (*x)[3][2][LANES]) {
  for (int p = first; p < SN_BLOCK_OWN; ++p) {
    int end = plan->row_starts[p + 1], e = end - (p - first);
    W y[3][2];
    memcpy(y, x[p], sizeof y);
    for (e = e > plan->row_starts[p] ? e : plan->row_starts[p]; e < end; ++e) {
      const float(*L)[2][LANES] = factor->below[plan->rows[e].block];
      float(*from)[2][LANES] = x[plan->rows[e].node];
      for (int s = 0; s < sides; ++s) {
        W v0 = load(from[0][s]), v1 = load(from[1][s]), v2 = load(from[2][s]);
        for (int i = 0; i < 3; ++i) {
          y[i][s] = minus_product(y[i][s], load(L[3 * i][s]), v0);
          y[i][s] = minus_product(y[i][s], load(L[3 * i + 1][s]), v1);
          y[i][s] = minus_product(y[i][s], load(L[3 * i + 2][s]), v2);
        }
      }
    }
    const float(*d)[2][LANES] = factor->diagonal[p];
    for (int s = 0; s < sides; ++s) {
      W v0 = y[0][s] * load(d[0][s]);
      W v1 = minus_product(y[1][s], load(d[1][s]), v0) * load(d[2][s]);
      W v2 = minus_product(minus_product(y[2][s], load(d[3][s]), v0), load(d[4][s]), v1);
      store(x[p][0][s], v0);
      store(x[p][1][s], v1);
      store(x[p][2][s], v2 * load(d[5][s]));
    }
  }
}

// x = L^-T g there, from node `first` on.
ALWAYS_INLINE void sweep_backward(const sn_block_plan* plan, const sn_block_factor* factor,
                                  int sides, int first, const float (*g)[3][2][LANES],
                                  float (*x)[3][2][LANES]) {
  for (int p = SN_BLOCK_OWN - 1; p >= first; --p) {
    W y[3][2];
    memcpy(y, g[p], sizeof y);
    for (int e = plan->column_starts[p]; e < plan->column_starts[p + 1]; ++e) {
      const float(*L)[2][LANES] = factor->below[plan->columns[e].block];
      float(*from)[2][LANES] = x[plan->columns[e].node];
      for (int s = 0; s < sides; ++s) {
        W v0 = load(from[0][s]), v1 = load(from[1][s]), v2 = load(from[2][s]);
        for (int i = 0; i < 3; ++i) {
          y[i][s] = minus_product(y[i][s], load(L[i][s]), v0);
          y[i][s] = minus_product(y[i][s], load(L[3 + i][s]), v1);
          y[i][s] = minus_product(y[i][s], load(L[6 + i][s]), v2);
        }
      }
    }
    const float(*d)[2][LANES] = factor->diagonal[p];
    for (int s = 0; s < sides; ++s) {
      W v2 = y[2][s] * load(d[5][s]);
      W v1 = minus_product(y[1][s], load(d[4][s]), v2) * load(d[2][s]);
      W v0 = minus_product(minus_product(y[0][s], load(d[1][s]), v1), load(d[3][s]), v2);
      store(x[p][0][s], v0 * load(d[0][s]));
      store(x[p][1][s], v1);
      store(x[p][2][s], v2);
    }
  }
}

// Rows of an inverse that are gone through together.
#define TOGETHER 9

// x = C^-1 from with the inverse at hand, in the layers of level 1, eight at once,
static void solve_one(const float (*inverse)[SN_BLOCK_ONE][LANES], const float (*from)[LANES],
                      float (*x)[LANES]) {
  for (int i = 0; i < SN_BLOCK_ONE; i += TOGETHER) {
    W sum[TOGETHER] = {{0}};
    for (int j = 0; j < SN_BLOCK_ONE; ++j) {
      W v = load(from[j]);
      for (int k = 0; k < TOGETHER; ++k) sum[k] = sn_wide_fma_f(load(inverse[i + k][j]), v, sum[k]);
    }
    for (int k = 0; k < TOGETHER; ++k) store(x[i + k], sum[k]);
  }
}

// of level 2, four at once, two columns in a vector,
static void solve_two(const float (*inverse)[SN_BLOCK_TWO_ROOM][4], const float (*from)[4],
                      float (*x)[4]) {
  Q last = load_quad(from[SN_BLOCK_TWO - 1]);
  for (int i = 0; i < SN_BLOCK_TWO; i += TOGETHER) {
    W sum[TOGETHER] = {{0}};
    for (int j = 0; j < SN_BLOCK_TWO - 1; j += 2) {
      W v = load(from[j]);
      for (int k = 0; k < TOGETHER; ++k) sum[k] = sn_wide_fma_f(load(inverse[i + k][j]), v, sum[k]);
    }
    for (int k = 0; k < TOGETHER; ++k) {
      Q even = __builtin_shufflevector(sum[k], sum[k], 0, 1, 2, 3);
      Q odd = __builtin_shufflevector(sum[k], sum[k], 4, 5, 6, 7);
      Q rest = load_quad(inverse[i + k][SN_BLOCK_TWO - 1]);
      store_quad(x[i + k], sn_quad_fma_f(rest, last, even + odd));
    }
  }
}

// The sums over the lanes of eight vectors.
static inline W sum_lanes(const W v[8]) {
  W pair[4], four[2];
  for (int i = 0; i < 4; ++i) {
    W a = v[2 * i], b = v[2 * i + 1];
    pair[i] = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
              __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 2; ++i) {
    W a = pair[2 * i], b = pair[2 * i + 1];
    four[i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
              __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  }
  return __builtin_shufflevector(four[0], four[1], 0, 1, 2, 3, 8, 9, 10, 11) +
         __builtin_shufflevector(four[0], four[1], 4, 5, 6, 7, 12, 13, 14, 15);
}

// y - sum over i of v_i row_i
static inline W subtract_rows(const float* rows, int stride, const float v[8], W y) {
  W other = sn_wide_set_f(0);
  for (int i = 0; i < 8; i += 2) {
    y = minus_product(y, load(rows + i * stride), sn_wide_set_f(v[i]));
    other = minus_product(other, load(rows + (i + 1) * stride), sn_wide_set_f(v[i + 1]));
  }
  return y + other;
}

// and of levels 3 and 4, one by one, eight rows at a time. Rows begin at multiples of 8.
static void solve_face(const float* U, int end, float* x) {
  for (int base = 0; base < end; base += 8) {
    const float* rows = U + triangle_row(base) + base;
    int stride = SN_BLOCK_FACE_ROOM - base;
    _Alignas(32) float v[8];
    memcpy(v, x + base, sizeof v);
    W solved = -subtract_rows(rows, stride, v, sn_wide_set_f(0));
    store(v, solved);
    store(x + base, solved);
    for (int j = 8; j < end - base; j += 8) {
      store(x + base + j, subtract_rows(rows + j, stride, v, load(x + base + j)));
    }
  }
  for (int base = end - 8; base >= 0; base -= 8) {
    const float* rows = U + triangle_row(base) + base;
    int stride = SN_BLOCK_FACE_ROOM - base;
    W all[8] = {{0}};
    for (int j = 8; j < end - base; j += 8) {
      W from = load(x + base + j);
      for (int i = 0; i < 8; ++i) all[i] = sn_wide_fma_f(load(rows + i * stride + j), from, all[i]);
    }
    W left = load(x + base) - sum_lanes(all);
    for (int i = 0; i < 8; ++i) all[i] = load(rows + i * stride) * left;
    store(x + base, sum_lanes(all));
  }
}

// Values of the layers of one level to the places around the subdomains.
static void expand_faces(const sn_block_plan* plan, int a, const float* left, const float* right,
                         around* to) {
  for (int i = 0; i < 16; ++i) {
    float(*at)[2][LANES] = to->at[position_of(a, i % 4, i / 4)];
    for (int sz = 0; sz < 2; ++sz) {
      for (int lane = 0; lane < LANES; ++lane) {
        const float* from = (lane & 2 ? right : left) + plan->face_of[i][sz][lane >> 2];
        bool none = a < 0 && !(lane & 1);
        for (int k = 0; k < 3; ++k) at[k][sz][lane] = none ? 0 : from[k];
      }
    }
  }
}

static void expand(const sn_block_plan* plan, int level, const sn_block_vector* x, around* to) {
  for (int n = 0; n < 9 && level == 1; ++n) {
    for (int k = 0; k < 3; ++k) {
      float(*at)[LANES] = to->at[position_of(n % 3, n / 3, 3)][k];
      store(at[0], load(x->one[n][k]));
      store(at[1], load(x->one[n][k]));
    }
  }
  for (int i = 0; i < 24 && level == 2; ++i) {
    int a = i % 3, c = i / 3 % 4, sz = i / 12, z = sz ? 7 - c : 1 + c;
    for (int k = 0; k < 3; ++k) {
      float* at = to->at[position_of(a, 3, c)][k][sz];
      store_quad(at, load_quad(x->two[a + 3 * (z - 1)][k]));
      store_quad(at + 4, load_quad(x->two[a + 3 * (z - 1)][k]));
    }
  }
  if (level == 3) expand_faces(plan, 3, x->three[0], x->three[1], to);
  if (level == 4) expand_faces(plan, -1, x->four, x->four, to);
}

static void fold_faces(const sn_block_plan* plan, int a, const around* from, float* left,
                       float* right) {
  for (int i = 0; i < 16; ++i) {
    const float(*at)[2][LANES] = from->at[position_of(a, i % 4, i / 4)];
    for (int sz = 0; sz < 2; ++sz) {
      for (int lane = a < 0; lane < LANES; lane += a < 0 ? 2 : 1) {
        float* to = (lane & 2 ? right : left) + plan->face_of[i][sz][lane >> 2];
        for (int k = 0; k < 3; ++k) to[k] -= at[k][sz][lane];
      }
    }
  }
}

// The transpose of expand, with its sign turned, added to x.
static void fold(const sn_block_plan* plan, int level, const around* from, sn_block_vector* x) {
  for (int n = 0; n < 9 && level == 1; ++n) {
    for (int k = 0; k < 3; ++k) {
      const float(*at)[LANES] = from->at[position_of(n % 3, n / 3, 3)][k];
      store(x->one[n][k], load(x->one[n][k]) - (load(at[0]) + load(at[1])));
    }
  }
  for (int i = 0; i < 24 && level == 2; ++i) {
    int a = i % 3, c = i / 3 % 4, sz = i / 12, z = sz ? 7 - c : 1 + c;
    for (int k = 0; k < 3; ++k) {
      const float* at = from->at[position_of(a, 3, c)][k][sz];
      float* to = x->two[a + 3 * (z - 1)][k];
      store_quad(to, load_quad(to) - (load_quad(at) + load_quad(at + 4)));
    }
  }
  if (level == 3) fold_faces(plan, 3, from, x->three[0], x->three[1]);
  if (level == 4) fold_faces(plan, -1, from, x->four, x->four);
}

// g_c -= K_cR x: the sums of one place are kept in registers while its couplings last.
ALWAYS_INLINE void multiply_up(const sn_block_plan* plan, const sn_block_factor* factor, int level,
                               int sides, const sn_block_vector* x, sn_block_vector* g) {
  around sums;
  for (int e = plan->out_starts[level]; e < plan->out_starts[level + 1];) {
    int position = plan->out[e].position;
    W y[3][2] = {{{0}}};
    for (; e < plan->out_starts[level + 1] && plan->out[e].position == position; ++e) {
      const float(*K)[2][LANES] = factor->out[e];
      const float(*from)[2][LANES] = x->sub[plan->out[e].node];
      for (int s = 0; s < sides; ++s) {
        W v0 = load(from[0][s]), v1 = load(from[1][s]), v2 = load(from[2][s]);
        for (int i = 0; i < 3; ++i) {
          y[i][s] = sn_wide_fma_f(load(K[i][s]), v0, y[i][s]);
          y[i][s] = sn_wide_fma_f(load(K[3 + i][s]), v1, y[i][s]);
          y[i][s] = sn_wide_fma_f(load(K[6 + i][s]), v2, y[i][s]);
        }
      }
    }
    memcpy(sums.at[position], y, sizeof y);
  }
  for (int e = plan->one_starts[level]; level > 1 && e < plan->one_starts[level + 1]; ++e) {
    const coupling* c = &plan->one_out[e];
    for (int i = 0; i < 3; ++i) {
      float* to = sums.at[c->position][i][c->sz];
      W y = load(to);
      for (int k = 0; k < 3; ++k) {
        y = sn_wide_fma_f(load(factor->one_out[e][3 * k + i]), load(x->one[c->node][k]), y);
      }
      store(to, y);
    }
  }
  for (int e = plan->two_starts[level]; level > 2 && e < plan->two_starts[level + 1]; ++e) {
    const coupling* c = &plan->two_out[e];
    for (int i = 0; i < 3; ++i) {
      float* to = sums.at[c->position][i][c->sz] + 4 * c->sy;
      Q y = load_quad(to);
      for (int k = 0; k < 3; ++k) {
        y = sn_quad_fma_f(load_quad(factor->two_out[e][3 * k + i]), load_quad(x->two[c->node][k]),
                          y);
      }
      store_quad(to, y);
    }
  }
  fold(plan, level, &sums, g);
}

// y = K_Rc x_c: subdomains' nodes beside the layer, and layers below it.
ALWAYS_INLINE void multiply_down(const sn_block_plan* plan, const sn_block_factor* factor,
                                 int level, int sides, const sn_block_vector* x,
                                 sn_block_vector* y) {
  around at;
  expand(plan, level, x, &at);
  int first = NEAR_LEVEL[level];
  memset(y->sub[first], 0, (size_t)(SN_BLOCK_OWN - first) * sizeof y->sub[0]);
  for (int e = plan->out_starts[level]; e < plan->out_starts[level + 1]; ++e) {
    const float(*K)[2][LANES] = factor->out[e];
    float(*from)[2][LANES] = at.at[plan->out[e].position];
    float(*to)[2][LANES] = y->sub[plan->out[e].node];
    for (int s = 0; s < sides; ++s) {
      W v0 = load(from[0][s]), v1 = load(from[1][s]), v2 = load(from[2][s]);
      for (int i = 0; i < 3; ++i) {
        W sum = sn_wide_fma_f(load(K[3 * i][s]), v0, load(to[i][s]));
        sum = sn_wide_fma_f(load(K[3 * i + 1][s]), v1, sum);
        store(to[i][s], sn_wide_fma_f(load(K[3 * i + 2][s]), v2, sum));
      }
    }
  }
  if (level > 1) memset(y->one, 0, sizeof y->one);
  for (int e = plan->one_starts[level]; level > 1 && e < plan->one_starts[level + 1]; ++e) {
    const coupling* c = &plan->one_out[e];
    for (int i = 0; i < 3; ++i) {
      W sum = load(y->one[c->node][i]);
      for (int k = 0; k < 3; ++k) {
        sum = sn_wide_fma_f(load(factor->one_out[e][3 * i + k]), load(at.at[c->position][k][c->sz]),
                            sum);
      }
      store(y->one[c->node][i], sum);
    }
  }
  if (level > 2) memset(y->two, 0, sizeof y->two);
  for (int e = plan->two_starts[level]; level > 2 && e < plan->two_starts[level + 1]; ++e) {
    const coupling* c = &plan->two_out[e];
    for (int i = 0; i < 3; ++i) {
      Q sum = load_quad(y->two[c->node][i]);
      for (int k = 0; k < 3; ++k) {
        sum = sn_quad_fma_f(load_quad(factor->two_out[e][3 * i + k]),
                            load_quad(at.at[c->position][k][c->sz] + 4 * c->sy), sum);
      }
      store_quad(y->two[c->node][i], sum);
    }
  }
}

static void subtract(const float* from, float* to, int count) {
  for (int i = 0; i < count; i += LANES) store(to + i, load(to + i) - load(from + i));
}

// With the number of sides known to the compiler.
static void go_forward(const sn_block_plan* plan, const sn_block_factor* factor, int first,
                       sn_block_vector* x) {
  if (factor->sides == 1) {
    sweep_forward(plan, factor, 1, first, x->sub);
  } else {
    sweep_forward(plan, factor, 2, first, x->sub);
  }
}
static void go_backward(const sn_block_plan* plan, const sn_block_factor* factor, int first,
                        const sn_block_vector* g, sn_block_vector* x) {
  if (factor->sides == 1) {
    sweep_backward(plan, factor, 1, first, g->sub, x->sub);
  } else {
    sweep_backward(plan, factor, 2, first, g->sub, x->sub);
  }
}
static void go_up(const sn_block_plan* plan, const sn_block_factor* factor, int level,
                  const sn_block_vector* x, sn_block_vector* g) {
  if (factor->sides == 1) {
    multiply_up(plan, factor, level, 1, x, g);
  } else {
    multiply_up(plan, factor, level, 2, x, g);
  }
}
static void go_down(const sn_block_plan* plan, const sn_block_factor* factor, int level,
                    const sn_block_vector* x, sn_block_vector* y) {
  if (factor->sides == 1) {
    multiply_down(plan, factor, level, 1, x, y);
  } else {
    multiply_down(plan, factor, level, 2, x, y);
  }
}

// x_c = C^-1 g_c
static void solve_layers(const sn_block_factor* factor, int level, const sn_block_vector* g,
                         sn_block_vector* x) {
  if (level == 1) solve_one(factor->one, g->one[0], x->one[0]);
  if (level == 2) solve_two(factor->two, g->two[0], x->two[0]);
  if (level == 3) memcpy(x->three, g->three, sizeof x->three);
  for (int half = 0; half < 2 && level == 3; ++half) {
    solve_face(factor->three[half], factor->faces, x->three[half]);
  }
  if (level == 4) memcpy(x->four, g->four, sizeof x->four);
  if (level == 4) solve_face(factor->four, factor->faces, x->four);
}

// g -= y
static void subtract_below(int level, const sn_block_vector* y, sn_block_vector* g) {
  int first = NEAR_LEVEL[level];
  subtract(y->sub[first][0][0], g->sub[first][0][0], (SN_BLOCK_OWN - first) * 48);
  if (level > 1) subtract(y->one[0][0], g->one[0][0], 9 * 24);
  for (int i = 0; i < SN_BLOCK_TWO && level > 2; ++i) {
    float* to = g->two[i / 3][i % 3];
    store_quad(to, load_quad(to) - load_quad(y->two[i / 3][i % 3]));
  }
}

// x = K_R^-1 f on the regions up to a level and its layers, of subdomains from node `first` on. g is f with the
// subdomains swept forward, and is lost.
static void solve_level(const sn_block_plan* plan, const sn_block_factor* factor, int level,
                        int first, sn_block_vector* g, sn_block_vector* x) {
  if (level == 0) {
    go_backward(plan, factor, first, g, x);
    return;
  }
  if (!factor->idle[level]) {
    sn_block_vector y;
    if (level > 1) {
      y = *g;
      solve_level(plan, factor, level - 1, NEAR_LEVEL[level], &y, x);
    }
    go_up(plan, factor, level, level > 1 ? x : g, g);
    solve_layers(factor, level, g, x);
    go_down(plan, factor, level, x, &y);
    if (level > 1) go_forward(plan, factor, NEAR_LEVEL[level], &y);
    subtract_below(level, &y, g);
  }
  solve_level(plan, factor, level - 1, first, g, x);
}

static void solve(const sn_block_plan* plan, const sn_block_factor* factor, sn_block_vector* x) {
  sn_block_vector g = *x;
  go_forward(plan, factor, 0, &g);
  solve_level(plan, factor, 4, 0, &g, x);
}
