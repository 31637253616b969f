// A triangle touches a cube unless one of thirteen axes keeps them apart (geometry/triangle_box.h). Along a row of
// cells each axis leaves an interval of x. Those of the nine cross products depend on y alone, on z alone, or not on x;
// so for a row there is the normal's left to look at. Large triangles are first brought down to blocks by octants.
#include "octree/octree_raster.h"

#include <math.h>

#include "geometry/surface.h"
#include "geometry/triangle_box.h"
#include "math/vec.h"

// Cells along an axis that are gone through row by row, and the height of octants that are.
#define BLOCK_CELLS 16
#define BLOCK_HEIGHT 3
// Slopes below this share of an axis are none: over a whole grid they amount to less than SN_TOUCH.
#define FLAT 1e-12

typedef struct raster_ctx {
  const sn_octree* tree;
  const sn_surface* surface;
  bool cut;
} raster_ctx;

typedef struct raster_out {
  sn_octant* items;
  size_t count;
} raster_out;

// ---- Rows

// Where centres along x may be, from the low corner of the triangle's box, for cubes that are touched and for those
// that are cut.
typedef struct limits {
  double low[2], high[2];
} limits;

static const double HALF[2] = {0.5 + SN_TOUCH, 0.5 - SN_TOUCH};

// By an axis on which the triangle is at low..high and a centre at slope x + rest.
static void narrow(limits* s, double low, double high, double reach, double slope, double rest) {
  bool flat = fabs(slope) <= FLAT * reach;
  double scale = flat ? 1 : 1 / slope;
  for (int k = 0; k < 2; ++k) {
    double from = low - HALF[k] * reach - rest, to = high + HALF[k] * reach - rest;
    if (flat) {
      if (from > 0 || to < 0) s->low[k] = INFINITY;
      continue;
    }
    double a = scale * from, b = scale * to, least = a < b ? a : b, most = a < b ? b : a;
    if (least > s->low[k]) s->low[k] = least;
    if (most < s->high[k]) s->high[k] = most;
  }
}

static void narrow_across(limits* s, const sn_triangle_axes* t, int axis, double slope,
                          double rest) {
  narrow(s, t->low[axis], t->high[axis], t->reach[axis], slope, rest);
}

static limits no_limits(void) { return (limits){{-INFINITY, -INFINITY}, {INFINITY, INFINITY}}; }

// For all rows of one y.
static limits limits_at_y(const sn_triangle_axes* t, double y) {
  limits s = no_limits();
  narrow(&s, 0, t->size.x, 1, 1, 0);
  narrow(&s, 0, t->size.y, 1, 0, y);
  for (int i = 6; i < 9; ++i) narrow_across(&s, t, i, t->across[i][0], t->across[i][1] * y);
  return s;
}

static limits limits_at_z(const sn_triangle_axes* t, double z) {
  limits s = no_limits();
  narrow(&s, 0, t->size.z, 1, 0, z);
  for (int i = 3; i < 6; ++i) narrow_across(&s, t, i, t->across[i][1], t->across[i][0] * z);
  return s;
}

static limits limits_of_row(const sn_triangle_axes* t, limits a, const limits* b, double y,
                            double z) {
  for (int k = 0; k < 2; ++k) {
    a.low[k] = a.low[k] > b->low[k] ? a.low[k] : b->low[k];
    a.high[k] = a.high[k] < b->high[k] ? a.high[k] : b->high[k];
  }
  if (a.low[0] > a.high[0]) return a;
  narrow_across(&a, t, 9, t->normal.x, t->normal.y * y + t->normal.z * z);
  for (int i = 0; i < 3 && a.low[0] <= a.high[0]; ++i) {
    narrow_across(&a, t, i, 0, t->across[i][0] * y + t->across[i][1] * z);
  }
  return a;
}

// Cells first..last of the row at `o`, as far as the triangle touches them.
static void raster_row(const raster_ctx* ctx, const limits* s, double origin, int first, int last,
                       sn_octant o, raster_out* out) {
  if (s->low[0] > s->high[0]) return;
  double from = ceil(s->low[0] + origin - 0.5), to = floor(s->high[0] + origin - 0.5);
  for (int x = from > first ? (int)from : first; x <= last && x <= to; ++x) {
    double centre = x + 0.5 - origin;
    bool cut = s->low[1] <= centre && centre <= s->high[1];
    o.x = (uint16_t)x;
    o.flags = !ctx->cut ? 0 : cut ? SN_OCTANT_TOUCHED | SN_OCTANT_CUT : SN_OCTANT_TOUCHED;
    out->items[out->count++] = o;
  }
}

// The cells low..high, at most BLOCK_CELLS along an axis.
static void raster_block(const raster_ctx* ctx, const sn_triangle_axes* t, const int low[3],
                         const int high[3], raster_out* out) {
  limits of_y[BLOCK_CELLS];
  for (int y = low[1]; y <= high[1]; ++y) {
    of_y[y - low[1]] = limits_at_y(t, y + 0.5 - t->origin.y);
  }
  for (int z = low[2]; z <= high[2]; ++z) {
    double at_z = z + 0.5 - t->origin.z;
    limits of_z = limits_at_z(t, at_z);
    for (int y = low[1]; y <= high[1]; ++y) {
      limits row = limits_of_row(t, of_y[y - low[1]], &of_z, y + 0.5 - t->origin.y, at_z);
      sn_octant o = {0, (uint16_t)y, (uint16_t)z, 0, 0};
      raster_row(ctx, &row, t->origin.x, low[0], high[0], o, out);
    }
  }
}

// ---- Triangles

// A triangle in finest cells, and the range of those that its box touches.
typedef struct placed_triangle {
  sn_vec3 corner[3];
  int low[3], high[3];
} placed_triangle;

static placed_triangle place_triangle(const raster_ctx* ctx, size_t index) {
  placed_triangle t;
  sn_box box = sn_box_empty();
  for (int i = 0; i < 3; ++i) {
    sn_vec3 p = sn_surface_corner(ctx->surface, (uint32_t)index, i);
    t.corner[i] = sn_scale(1.0 / ctx->tree->cell, sn_sub(p, ctx->tree->origin));
    box = sn_box_grow(box, t.corner[i]);
  }
  int root_size = 1 << ctx->tree->root_height;
  for (int i = 0; i < 3; ++i) {
    double first = floor(sn_axis(box.lo, i) - SN_TOUCH),
           last = floor(sn_axis(box.hi, i) + SN_TOUCH);
    t.low[i] = first < 0 ? 0 : first >= root_size ? root_size - 1 : (int)first;
    t.high[i] = last < 0 ? 0 : last >= root_size ? root_size - 1 : (int)last;
  }
  return t;
}

// A triangle with less than this share of its edges squared as area is taken for a segment: it is less
// than a tenth of a cell wide, and its normal is not to be trusted.
#define SLIVER 1e-6

// How many cells a triangle touches at most. In a column of cells along the axis that the normal is
// closest to, a plane rises by at most two cells and so touches four, or five with some tolerance. A
// segment enters a cell on some axis each time, next to at most seven others.
static size_t bound_triangle(const void* context, size_t index) {
  placed_triangle t = place_triangle(context, index);
  size_t side[3];
  for (int i = 0; i < 3; ++i) side[i] = (size_t)t.high[i] - (size_t)t.low[i] + 1;
  sn_vec3 ab = sn_sub(t.corner[1], t.corner[0]), ac = sn_sub(t.corner[2], t.corner[0]);
  sn_vec3 n = sn_cross(ab, ac);
  if (sn_length(n) < SLIVER * (sn_dot(ab, ab) + sn_dot(ac, ac))) {
    size_t line = 8 * (side[0] + side[1] + side[2]), all = side[0] * side[1] * side[2];
    return line < all ? line : all;
  }
  double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
  int along = x >= y && x >= z ? 0 : y >= z ? 1 : 2;
  if (side[along] > 5) side[along] = 5;
  return side[0] * side[1] * side[2];
}

// What of an octant is within the triangle's range.
static void raster_octant(const raster_ctx* ctx, const placed_triangle* t,
                          const sn_triangle_axes* axes, sn_octant o, raster_out* out) {
  if (o.height <= BLOCK_HEIGHT) {
    int at[3] = {o.x, o.y, o.z}, low[3], high[3];
    for (int i = 0; i < 3; ++i) {
      int last = at[i] + (int)sn_octant_size(o) - 1;
      low[i] = t->low[i] > at[i] ? t->low[i] : at[i];
      high[i] = t->high[i] < last ? t->high[i] : last;
    }
    raster_block(ctx, axes, low, high, out);
    return;
  }
  double half = 0.5 * (double)sn_octant_size(o);
  sn_vec3 centre = sn_v3(o.x + half, o.y + half, o.z + half);
  if (!sn_triangle_touches_cubes(axes, centre, half + SN_TOUCH, 0)) return;
  for (int c = 0; c < 8; ++c) raster_octant(ctx, t, axes, sn_octant_child(o, c), out);
}

// Row by row if it is small, else from the smallest octants around it, at most two along an axis.
static size_t emit_triangle(const void* context, size_t index, sn_octant* items) {
  const raster_ctx* ctx = context;
  placed_triangle t = place_triangle(ctx, index);
  sn_triangle_axes axes = sn_triangle_find_axes(t.corner);
  raster_out out = {items, 0};
  int height = 0, longest = 0;
  for (int i = 0; i < 3; ++i) {
    while ((t.high[i] >> height) - (t.low[i] >> height) > 1) ++height;
    longest = t.high[i] - t.low[i] > longest ? t.high[i] - t.low[i] : longest;
  }
  if (longest < BLOCK_CELLS) {
    raster_block(ctx, &axes, t.low, t.high, &out);
    return out.count;
  }
  for (int z = t.low[2] >> height; z <= t.high[2] >> height; ++z) {
    for (int y = t.low[1] >> height; y <= t.high[1] >> height; ++y) {
      for (int x = t.low[0] >> height; x <= t.high[0] >> height; ++x) {
        sn_octant o = {(uint16_t)(x << height), (uint16_t)(y << height), (uint16_t)(z << height),
                       (uint8_t)height, 0};
        raster_octant(ctx, &t, &axes, o, &out);
      }
    }
  }
  return out.count;
}

sn_status sn_octree_rasterise(const sn_octree_input* input, const sn_octree* tree, sn_pool* pool,
                              sn_arena* scratch, sn_octants* fine, sn_error* err) {
  sn_octants* parts;
  SN_TRY(SN_ARENA_NEW(scratch, input->seed_count, &parts, err));
  for (uint32_t s = 0; s < input->seed_count; ++s) {
    raster_ctx ctx = {tree, input->seeds[s].surface, input->seeds[s].cut};
    SN_TRY(sn_octants_emit_once(pool, ctx.surface->triangle_count, emit_triangle, bound_triangle,
                                &ctx, scratch, &parts[s], err));
  }
  return sn_octants_join(pool, parts, input->seed_count, scratch, fine, err);
}
