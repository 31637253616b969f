// Colours for numbers. Both maps are paths through OKLab, where distance is difference in looks; a path
// is walked at an even pace, so that equal steps of the number look equal.
#include <math.h>

#include "math/vec.h"
#include "render/shade.h"

#define STOPS 5

// Lightness and the two axes of colour: green to red, blue to yellow.
static const sn_vec3 SEQUENTIAL[STOPS] = {{0.40, 0.015, -0.165},
                                          {0.47, 0.145, -0.115},
                                          {0.61, 0.175, 0.030},
                                          {0.76, 0.075, 0.135},
                                          {0.92, -0.035, 0.150}};
static const sn_vec3 DIVERGING[STOPS] = {{0.45, -0.035, -0.150},
                                         {0.70, -0.040, -0.085},
                                         {0.94, 0.000, 0.005},
                                         {0.70, 0.115, 0.060},
                                         {0.45, 0.155, 0.075}};

// On straight lines from stop to stop, `t` from 0 to 1.
static sn_vec3 on_path(const sn_vec3 stops[STOPS], double t) {
  double at = t * (STOPS - 1);
  int k = at < STOPS - 2 ? (int)at : STOPS - 2;
  return sn_madd(sn_scale(1 - (at - k), stops[k]), at - k, stops[k + 1]);
}

// The place that lies this share of the way along the path.
static sn_vec3 walk(const sn_vec3 stops[STOPS], double share) {
  double total = 0, way = 0;
  for (int k = 0; k + 1 < STOPS; ++k) total += sn_distance(stops[k], stops[k + 1]);
  for (int k = 0; k + 1 < STOPS; ++k) {
    double step = sn_distance(stops[k], stops[k + 1]);
    double t = (share * total - way) / step;
    if (t <= 1 || k + 2 == STOPS) return on_path(stops, (k + fmin(fmax(t, 0), 1)) / (STOPS - 1));
    way += step;
  }
  return stops[STOPS - 1];
}

static float clamped(double x) { return (float)fmin(fmax(x, 0), 1); }

// OKLab to linear sRGB (Ottosson 2020).
static sn_light from_oklab(sn_vec3 lab) {
  double l = lab.x + 0.3963377774 * lab.y + 0.2158037573 * lab.z;
  double m = lab.x - 0.1055613458 * lab.y - 0.0638541728 * lab.z;
  double s = lab.x - 0.0894841775 * lab.y - 1.2914855480 * lab.z;
  l = l * l * l;
  m = m * m * m;
  s = s * s * s;
  return (sn_light){clamped(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                    clamped(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                    clamped(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

sn_colour sn_scale_colour(const sn_colour_scale* scale, double value) {
  double share = (value - scale->low) / (scale->high - scale->low);
  if (isnan(share)) return (sn_colour){150, 150, 150};
  share = fmin(fmax(share, 0), 1);
  sn_vec3 lab = walk(scale->is_diverging ? DIVERGING : SEQUENTIAL, share);
  return sn_colour_plain(from_oklab(lab));
}
