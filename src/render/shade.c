// A warm key light with soft borders, a cool fill, light from all around and a rim light from
// behind. Red light wraps farther around the form than blue: it travels farther below the skin.
#include "render/shade.h"

#include "math/vec.h"

static sn_vec3 normalise(sn_vec3 a) { return sn_scale(1 / sn_length(a), a); }

static sn_vec3 from_camera(const sn_camera* camera, double right, double up, double toward) {
  sn_vec3 direction = sn_madd(sn_scale(right, camera->right), up, camera->up);
  return normalise(sn_madd(direction, toward, camera->toward));
}

sn_light_rig sn_light_rig_make(const sn_camera* camera) {
  return (sn_light_rig){
      .key = from_camera(camera, -0.55, 0.75, 0.65),
      .fill = from_camera(camera, 0.85, 0.05, 0.55),
      .rim = from_camera(camera, 0.55, 0.55, -0.75),
      .up = camera->up,
  };
}

static sn_light scaled(double s, sn_light a) {
  return (sn_light){(float)(s * a.r), (float)(s * a.g), (float)(s * a.b)};
}
static sn_light added(sn_light a, sn_light b) {
  return (sn_light){a.r + b.r, a.g + b.g, a.b + b.b};
}
static sn_light filtered(sn_light a, sn_light b) {
  return (sn_light){a.r * b.r, a.g * b.g, a.b * b.b};
}
sn_light sn_light_mix(sn_light a, sn_light b, double share) {
  return added(scaled(1 - share, a), scaled(share, b));
}

static double clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

// Diffuse light that reaches `wrap` beyond the right angle.
static double wrapped(double cosine, double wrap) {
  double x = clamp01((cosine + wrap) / (1 + wrap));
  return x * x * (1.5 - 0.5 * x);
}

static sn_light key_light(const sn_light_rig* rig, const sn_lit_point* p) {
  static const sn_light warm = {1.25f, 1.13f, 1.00f};
  double cosine = sn_dot(p->normal, rig->key);
  // Where the form turns from the light anyway, its own shadow must not cut the soft border.
  double lit = 1 - clamp01(2.5 * cosine + 0.25) * (1 - p->key);
  // Light also bleeds into shadows below the skin, red the most.
  sn_light bled = {(float)(0.10 + 0.90 * lit), (float)(0.03 + 0.97 * lit), (float)lit};
  sn_light diffuse = {(float)wrapped(cosine, 0.45), (float)wrapped(cosine, 0.28),
                      (float)wrapped(cosine, 0.22)};
  return filtered(bled, filtered(warm, diffuse));
}

static sn_light fill_light(const sn_light_rig* rig, const sn_lit_point* p) {
  static const sn_light cool = {0.15f, 0.18f, 0.23f};
  return scaled(wrapped(sn_dot(p->normal, rig->fill), 0.5) * p->sky, cool);
}

// Bluish from above, warm from below. In hollows the light has bounced off skin and is redder.
static sn_light surrounding_light(const sn_light_rig* rig, const sn_lit_point* p) {
  static const sn_light above = {0.38f, 0.40f, 0.44f}, below = {0.24f, 0.17f, 0.15f};
  double height = 0.5 + 0.5 * sn_dot(p->normal, rig->up);
  double sky = p->sky;
  sn_light occlusion = {(float)(0.18 + 0.82 * sky), (float)(0.06 + 0.94 * sky), (float)sky};
  return filtered(occlusion, sn_light_mix(below, above, height));
}

static double power4(double x) { return x * x * x * x; }

// Skin has a broad sheen; what is wet has a small glint.
static double gloss(double cosine, bool wet) {
  double broad = power4(power4(cosine)), narrow = power4(broad), sharp = power4(narrow);
  return wet ? 0.03 * broad + 0.06 * narrow + 0.9 * sharp : 0.10 * broad + 0.09 * narrow;
}

// The reflected key light, and the rim light along grazing edges.
static sn_light reflected_light(const sn_light_rig* rig, const sn_lit_point* p) {
  static const sn_light sheen = {1.0f, 0.97f, 0.92f}, rim = {0.95f, 0.97f, 1.0f};
  sn_vec3 half = normalise(sn_add(rig->key, p->to_eye));
  double reflected = p->key * gloss(clamp01(sn_dot(p->normal, half)), p->wet);
  double graze = 1 - clamp01(sn_dot(p->normal, p->to_eye));
  double edge = 0.75 * graze * graze * graze * clamp01(sn_dot(p->normal, rig->rim) + 0.2);
  return added(scaled(reflected, sheen), scaled(edge * p->sky, rim));
}

// The same lights on something opaque and rough.
static sn_light shade_dull(const sn_light_rig* rig, const sn_lit_point* p) {
  static const sn_light key = {0.95f, 0.93f, 0.90f}, fill = {0.13f, 0.14f, 0.16f};
  static const sn_light above = {0.42f, 0.43f, 0.45f}, below = {0.20f, 0.20f, 0.21f};
  double height = 0.5 + 0.5 * sn_dot(p->normal, rig->up);
  sn_light sky = sn_light_mix(below, above, height);
  sky = added(sky, scaled(wrapped(sn_dot(p->normal, rig->fill), 0.5), fill));
  sn_light sun = scaled(p->key * wrapped(sn_dot(p->normal, rig->key), 0.15), key);
  return filtered(p->base, added(sun, scaled(p->sky, sky)));
}

sn_light sn_shade(const sn_light_rig* rig, const sn_lit_point* p) {
  if (p->dull) return shade_dull(rig, p);
  sn_light diffuse = added(key_light(rig, p), fill_light(rig, p));
  diffuse = added(diffuse, surrounding_light(rig, p));
  return added(filtered(p->base, diffuse), reflected_light(rig, p));
}

sn_light sn_shade_background(double height) {
  sn_light top = sn_light_from_colour((sn_colour){244, 245, 247});
  sn_light bottom = sn_light_from_colour((sn_colour){215, 219, 226});
  return sn_light_mix(bottom, top, clamp01(height));
}

static float decode(uint8_t value) {
  double x = value / 255.0;
  return (float)(x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4));
}

sn_light sn_light_from_colour(sn_colour colour) {
  return (sn_light){decode(colour.r), decode(colour.g), decode(colour.b)};
}

static uint8_t encode(double x, double threshold) {
  x = clamp01(x);
  double value = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
  return (uint8_t)fmin(255, 255 * value + threshold);
}

// Rounded up or down by turns, in a pattern that repeats after four pixels, so that a slow gradient
// shows no steps.
sn_colour sn_colour_from_light(sn_light light, int x, int y) {
  static const uint8_t order[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  double threshold = (order[y & 3][x & 3] + 0.5) / 16;
  return (sn_colour){encode(light.r, threshold), encode(light.g, threshold),
                     encode(light.b, threshold)};
}

sn_colour sn_colour_skin(void) { return (sn_colour){226, 174, 148}; }

sn_colour sn_colour_body(uint32_t index) {
  static const sn_colour others[5] = {
      {142, 170, 204}, {158, 190, 138}, {216, 188, 112}, {184, 150, 198}, {128, 190, 186}};
  return index % 6 == 0 ? sn_colour_skin() : others[index % 6 - 1];
}

sn_colour sn_colour_stone(void) { return (sn_colour){196, 198, 202}; }

sn_colour sn_colour_dark(void) { return (sn_colour){52, 40, 38}; }
