// Cells and bytes of a body before anything of it is built. A surface need not be closed or face one way, so its
// inside is bounded, not measured: seen along an axis, it lies between the lowest and the highest triangle of each
// column. Of three axes the middle one counts: one of them may look into a hole.
#include <math.h>

#include "body/body.h"
#include "math/vec.h"

// Finest cells that the surface cuts, for each cell-sized piece of it (docs/theory/octree.md).
#define CUT_CELLS_PER_AREA 1.6
// Everything that building and solving needs, for each cell.
#define BYTES_PER_CELL 900.0
// Columns along a side of the box.
#define COLUMNS 32

// Triangles within the box as columns along one axis see them; places are shares of the box.
typedef struct columns {
  double low[COLUMNS][COLUMNS], high[COLUMNS][COLUMNS];
} columns;

static int column_of(double place) {
  int column = (int)(COLUMNS * place);
  return column < 0 ? 0 : column >= COLUMNS ? COLUMNS - 1 : column;
}

// All columns that the box around a triangle meets have it.
static void add_box(columns* c, const double low[3], const double high[3], int axis) {
  int u = (axis + 1) % 3, v = (axis + 2) % 3;
  for (int i = column_of(low[u]); i <= column_of(high[u]); ++i) {
    for (int j = column_of(low[v]); j <= column_of(high[v]); ++j) {
      c->low[i][j] = fmin(c->low[i][j], low[axis]);
      c->high[i][j] = fmax(c->high[i][j], high[axis]);
    }
  }
}

static double sum_columns(const columns* c) {
  double sum = 0;
  for (int i = 0; i < COLUMNS * COLUMNS; ++i) {
    sum += fmax(0, c->high[i / COLUMNS][i % COLUMNS] - c->low[i / COLUMNS][i % COLUMNS]);
  }
  return sum / (COLUMNS * COLUMNS);
}

static bool has_flesh(const sn_body_desc* desc, uint32_t triangle) {
  return !(desc->follow && desc->follow[triangle]);
}

static sn_vec3 corner_of(const sn_mesh* mesh, uint32_t triangle, int corner) {
  return sn_load3(mesh->positions + 3 * (size_t)mesh->triangles[3 * (size_t)triangle + corner]);
}

// The share of the box that the inside takes at most.
static double bound_inside(const sn_body_desc* desc, sn_box box) {
  columns seen[3] = {0};
  for (int axis = 0; axis < 3; ++axis) {
    for (int i = 0; i < COLUMNS * COLUMNS; ++i) seen[axis].low[i / COLUMNS][i % COLUMNS] = 1;
  }
  sn_vec3 side = sn_sub(box.hi, box.lo);
  for (uint32_t t = 0; t < desc->mesh.triangle_count; ++t) {
    if (!has_flesh(desc, t)) continue;
    sn_box around = sn_box_empty();
    for (int i = 0; i < 3; ++i) around = sn_box_grow(around, corner_of(&desc->mesh, t, i));
    sn_vec3 lo = sn_sub(around.lo, box.lo), hi = sn_sub(around.hi, box.lo);
    double low[3] = {lo.x / side.x, lo.y / side.y, lo.z / side.z};
    double high[3] = {hi.x / side.x, hi.y / side.y, hi.z / side.z};
    for (int axis = 0; axis < 3; ++axis) add_box(&seen[axis], low, high, axis);
  }
  double a = sum_columns(&seen[0]), b = sum_columns(&seen[1]), c = sum_columns(&seen[2]);
  return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

void sn_body_estimate(const sn_body_desc* desc, sn_box* box, double* cells, double* bytes) {
  double area = 0;
  *box = sn_box_empty();
  for (uint32_t t = 0; t < desc->mesh.triangle_count; ++t) {
    if (!has_flesh(desc, t)) continue;
    sn_vec3 c[3];
    for (int i = 0; i < 3; ++i) {
      c[i] = corner_of(&desc->mesh, t, i);
      *box = sn_box_grow(*box, c[i]);
    }
    area += 0.5 * sn_length(sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0])));
  }
  if (desc->cell == 0) {
    *cells = SN_DEFAULT_CELLS;
  } else {
    double pieces = area / (desc->cell * desc->cell);
    *cells = (desc->coarsen == 0 ? CUT_CELLS_PER_AREA : SN_CELLS_PER_AREA) * pieces;
    if (desc->coarsen >= 0) {
      double largest = ldexp(desc->cell, desc->coarsen);
      sn_vec3 side = sn_scale(1 / largest, sn_sub(box->hi, box->lo));
      double inside = side.x * side.y * side.z;  // 0 of a flat surface
      if (inside > 0) *cells += inside * bound_inside(desc, *box);
    }
  }
  *bytes = BYTES_PER_CELL * *cells;
}
