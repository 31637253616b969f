// Which samples of a raster a triangle covers.
#ifndef SN_RENDER_SCAN_H
#define SN_RENDER_SCAN_H

#include "math/vec.h"

// Weights of the three corners as linear functions a x + b y + c of the place in the raster, and
// the samples [x_begin, x_end) x [y_begin, y_end) that may lie inside.
typedef struct sn_scan {
  double a[3], b[3], c[3];
  int x_begin, x_end, y_begin, y_end;
} sn_scan;

static inline int sn_scan_clamp(double value, int lo, int hi) {
  return value <= lo ? lo : value >= hi ? hi : (int)value;
}

// False where the triangle is edge-on or misses the rows [y_begin, y_end) of a raster `width` wide.
static inline bool sn_scan_begin(sn_scan* scan, const sn_vec3 p[3], int width, int y_begin,
                                 int y_end) {
  sn_vec3 lo = sn_min3(p[0], sn_min3(p[1], p[2])), hi = sn_max3(p[0], sn_max3(p[1], p[2]));
  // Sample i sits at i + 1/2.
  scan->x_begin = sn_scan_clamp(ceil(lo.x - 0.5), 0, width);
  scan->x_end = sn_scan_clamp(floor(hi.x - 0.5) + 1, 0, width);
  scan->y_begin = sn_scan_clamp(ceil(lo.y - 0.5), y_begin, y_end);
  scan->y_end = sn_scan_clamp(floor(hi.y - 0.5) + 1, y_begin, y_end);
  if (scan->x_begin >= scan->x_end || scan->y_begin >= scan->y_end) return false;
  double area = (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[2].x - p[0].x) * (p[1].y - p[0].y);
  if (!(fabs(area) > 1e-12)) return false;
  for (int k = 0; k < 3; ++k) {
    sn_vec3 u = p[(k + 1) % 3], v = p[(k + 2) % 3];
    scan->a[k] = (u.y - v.y) / area;
    scan->b[k] = (v.x - u.x) / area;
    scan->c[k] = (u.x * v.y - v.x * u.y) / area;
  }
  return true;
}

// Whether the sample is inside, up to rounding so that neighbours leave no gap.
static inline bool sn_scan_weights(const sn_scan* scan, int x, int y, double weights[3]) {
  for (int k = 0; k < 3; ++k) {
    weights[k] = scan->a[k] * (x + 0.5) + scan->b[k] * (y + 0.5) + scan->c[k];
    if (weights[k] < -1e-9) return false;
  }
  return true;
}

#endif
