// Eliminating the first unknowns of a front, for one instruction set. Rows are eliminated by panels, so that
// nearly all operations are updates of tiles that stay in registers while the rows of a panel pass by.
#include <math.h>
#include <string.h>

#include "math/simd.h"
#include "solve/front.h"

#define LANES SN_FRONT_LANES
#define PANEL 32  // rows eliminated before the rows after them are updated
#define STRIP 8   // rows of a panel that are eliminated one by one
#define TILE_ROWS 4
#define TILE_VECTORS 3

// A pivot below this share of what stood there is round-off: the unknown is left alone.
#define SMALLEST_PIVOT 1e-6f

typedef sn_wide_f W;

static inline W load(const float* at) {
  W value;
  memcpy(&value, at, sizeof value);
  return value;
}
static inline void store(float* at, W value) { memcpy(at, &value, sizeof value); }

// Rows i .. i + rows - 1 of F in `vectors` vectors from column j on: less the sum over the rows p of
// F[p][i] F[p][j]. Both numbers are constants wherever this is inlined.
static inline void update_tile(float* F, size_t width, size_t p0, size_t p1, size_t i, size_t j,
                               int rows, int vectors) {
  W sum[TILE_ROWS][TILE_VECTORS];
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v)
      sum[r][v] = load(F + (i + (size_t)r) * width + j + LANES * (size_t)v);
  }
  for (size_t p = p0; p < p1; ++p) {
    const float* row = F + p * width;
    W right[TILE_VECTORS];
    for (int v = 0; v < vectors; ++v) right[v] = load(row + j + LANES * (size_t)v);
    for (int r = 0; r < rows; ++r) {
      W left = sn_wide_set_f(-row[i + (size_t)r]);
      for (int v = 0; v < vectors; ++v) sum[r][v] = sn_wide_fma_f(left, right[v], sum[r][v]);
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < vectors; ++v)
      store(F + (i + (size_t)r) * width + j + LANES * (size_t)v, sum[r][v]);
  }
}

// Rows i .. i + rows - 1 from their diagonal on.
static inline void update_rows(float* F, size_t width, size_t p0, size_t p1, size_t i, int rows) {
  size_t j = i / LANES * LANES;
  for (; j + TILE_VECTORS * LANES <= width; j += TILE_VECTORS * LANES) {
    update_tile(F, width, p0, p1, i, j, rows, TILE_VECTORS);
  }
  if (j + 2 * LANES <= width) {
    update_tile(F, width, p0, p1, i, j, rows, 2);
  } else if (j + LANES <= width) {
    update_tile(F, width, p0, p1, i, j, rows, 1);
  }
}

// Rows i0 .. i1 - 1 of F, for the rows p0 .. p1 - 1 that have been eliminated.
static void update(float* F, size_t width, size_t p0, size_t p1, size_t i0, size_t i1) {
  size_t i = i0;
  for (; i + TILE_ROWS <= i1; i += TILE_ROWS) update_rows(F, width, p0, p1, i, TILE_ROWS);
  for (; i < i1; ++i) update_rows(F, width, p0, p1, i, 1);
}

// Row p, and what it means for the rows up to p1.
static void eliminate(float* F, size_t width, size_t p, size_t p1, float entry) {
  float *row = F + p * width, pivot = row[p];
  if (!(entry > 0)) entry = 1;
  pivot = sqrtf(pivot > SMALLEST_PIVOT * entry ? pivot : entry);
  W inverse = sn_wide_set_f(1 / pivot);
  size_t first = p / LANES * LANES;
  for (size_t j = first; j < width; j += LANES) store(row + j, inverse * load(row + j));
  row[p] = pivot;
  for (size_t q = p + 1; q < p1; ++q) {
    float* other = F + q * width;
    W left = sn_wide_set_f(-row[q]);
    for (size_t j = q / LANES * LANES; j < width; j += LANES) {
      store(other + j, sn_wide_fma_f(left, load(row + j), load(other + j)));
    }
  }
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void factor(float* F, size_t width, size_t own, size_t size, float* diagonal) {
  for (size_t p = 0; p < own; ++p) diagonal[p] = F[p * width + p];
  for (size_t k0 = 0; k0 < own; k0 += PANEL) {
    size_t k1 = least(k0 + PANEL, own);
    for (size_t p0 = k0; p0 < k1; p0 += STRIP) {
      size_t p1 = least(p0 + STRIP, k1);
      for (size_t p = p0; p < p1; ++p) eliminate(F, width, p, p1, diagonal[p]);
      update(F, width, p0, p1, p1, k1);
    }
    update(F, width, k0, k1, k1, size);
  }
  for (size_t p = 0; p < own; ++p) diagonal[p] = 1 / F[p * width + p];
}

static void pack(const float* F, size_t width, size_t own, float* rows) {
  for (size_t p = 0; p < own; ++p) {
    size_t first = p / LANES * LANES;
    float* to = rows + sn_front_row(width, p);
    memcpy(to, F + p * width + first, (width - first) * sizeof *to);
    for (size_t j = first; j <= p; ++j) to[j - first] = 0;
  }
}

static void forward(const float* rows, const float* diagonal, size_t width, size_t own, float* x) {
  for (size_t p = 0; p < own; ++p) {
    size_t first = p / LANES * LANES;
    const float* row = rows + sn_front_row(width, p);
    x[p] *= diagonal[p];
    W left = sn_wide_set_f(-x[p]);
    for (size_t j = first; j < width; j += LANES) {
      store(x + j, sn_wide_fma_f(left, load(row + j - first), load(x + j)));
    }
  }
}

static void backward(const float* rows, const float* diagonal, size_t width, size_t own, float* x) {
  for (size_t p = own; p-- > 0;) {
    size_t first = p / LANES * LANES, j = first;
    const float* row = rows + sn_front_row(width, p);
    W a = sn_wide_set_f(0), b = a;
    for (; j + 2 * LANES <= width; j += 2 * LANES) {
      a = sn_wide_fma_f(load(row + j - first), load(x + j), a);
      b = sn_wide_fma_f(load(row + j + LANES - first), load(x + j + LANES), b);
    }
    if (j < width) a = sn_wide_fma_f(load(row + j - first), load(x + j), a);
    a += b;
    float sum = ((a[0] + a[4]) + (a[1] + a[5])) + ((a[2] + a[6]) + (a[3] + a[7]));
    x[p] = (x[p] - sum) * diagonal[p];
  }
}

extern const sn_front_kernels SN_KERNELS;
const sn_front_kernels SN_KERNELS = {SN_KERNELS_NAME, is_supported, factor, pack,
                                     forward,         backward};
