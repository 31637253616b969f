// A warm, soft sun, light from the whole sky with a cool side, and a rim light from behind. Red light
// wraps farther around the form than blue: it travels farther below the skin.
#include "render/shade.h"

#include "math/vec.h"
#include "render/sample.h"

#define VEIL 0.4  // how much of a solid is seen where flesh is behind it
#define OPEN_SAMPLES 64

static const sn_light SUN = {1.12f, 1.03f, 0.93f};

static sn_vec3 normalise(sn_vec3 a) { return sn_scale(1 / sn_length(a), a); }
static double clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

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

// ---- Lights

sn_light sn_sky_light(const sn_light_rig* rig, sn_vec3 direction) {
  static const sn_light zenith = {0.52f, 0.55f, 0.60f}, horizon = {0.44f, 0.44f, 0.46f};
  static const sn_light ground = {0.25f, 0.20f, 0.18f}, cool = {0.24f, 0.28f, 0.35f};
  double height = sn_dot(direction, rig->up), side = clamp01(sn_dot(direction, rig->fill));
  sn_light sky = height > 0 ? sn_light_mix(horizon, zenith, height)
                            : sn_light_mix(horizon, ground, clamp01(-3 * height));
  return added(sky, scaled(side * side, cool));
}

sn_light sn_blocked_light(const sn_light_rig* rig, sn_vec3 direction, sn_look look) {
  // In hollows of flesh light has bounced off skin and is redder; from below it comes off the ground.
  static const sn_light skin = {0.11f, 0.055f, 0.040f}, dull = {0.045f, 0.047f, 0.052f};
  static const sn_light ground = {0.15f, 0.13f, 0.12f};
  sn_light near = look == SN_LOOK_FLESH || look == SN_LOOK_GHOST ? skin : dull;
  return sn_light_mix(near, ground, clamp01(-sn_dot(direction, rig->up)));
}

// All that the sky sends onto level ground.
static sn_light open_sky(const sn_light_rig* rig) {
  sn_vec3 u, v;
  sn_light sum = {0, 0, 0};
  sn_axes_across(rig->up, &u, &v);
  for (uint32_t i = 0; i < OPEN_SAMPLES; ++i) {
    sn_point2 p = sn_sample_disc(sn_sample((sn_sample_set){0, 0}, i));
    double out = sqrt(fmax(0, 1 - p.x * p.x - p.y * p.y));
    sn_vec3 direction = sn_madd(sn_madd(sn_scale(p.x, u), p.y, v), out, rig->up);
    sum = added(sum, scaled(1.0 / OPEN_SAMPLES, sn_sky_light(rig, direction)));
  }
  return sum;
}

// Directions are given level with the picture: to the right, up in the world, and level to the eye.
sn_light_rig sn_light_rig_make(const sn_camera* camera, sn_up up_axis) {
  sn_vec3 up = sn_v3(up_axis == SN_UP_X, up_axis == SN_UP_Y, up_axis == SN_UP_Z);
  sn_vec3 level = sn_cross(camera->right, up);
  // On a map light comes from the upper left.
  if (sn_dot(camera->toward, up) > 0.85) level = sn_scale(-1, level);
  sn_light_rig rig = {.up = up};
  rig.sun = normalise(sn_madd(sn_madd(sn_scale(-0.55, camera->right), 1.25, up), 0.65, level));
  rig.fill = normalise(sn_madd(sn_madd(sn_scale(0.85, camera->right), 0.15, up), 0.55, level));
  rig.rim = normalise(sn_madd(sn_madd(sn_scale(0.55, camera->right), 0.55, up), -0.75, level));
  rig.open_floor = added(scaled(sn_dot(rig.sun, up), SUN), open_sky(&rig));
  return rig;
}

// ---- Surfaces

// Diffuse light that reaches `wrap` beyond the right angle.
static double wrapped(double cosine, double wrap) {
  double x = clamp01((cosine + wrap) / (1 + wrap));
  return x * x * (1.5 - 0.5 * x);
}

double sn_shadow_weight(const sn_light_rig* rig, const sn_surface_point* p) {
  double cosine = sn_dot(p->normal, rig->sun);
  bool soft = p->look == SN_LOOK_FLESH || p->look == SN_LOOK_GHOST;
  // On flesh the form's own shadow must not cut the soft border of the light.
  return soft ? clamp01(2.5 * cosine + 0.25) : clamp01(20 * cosine);
}

static sn_light sun_on_flesh(const sn_light_rig* rig, const sn_surface_point* p, double sun) {
  double cosine = sn_dot(p->normal, rig->sun);
  double lit = 1 - sn_shadow_weight(rig, p) * (1 - sun);
  // Light also bleeds into shadows below the skin, red the most.
  sn_light bled = {(float)(0.10 + 0.90 * lit), (float)(0.03 + 0.97 * lit), (float)lit};
  sn_light diffuse = {(float)wrapped(cosine, 0.45), (float)wrapped(cosine, 0.28),
                      (float)wrapped(cosine, 0.22)};
  return filtered(bled, filtered(SUN, diffuse));
}

static double power4(double x) { return x * x * x * x; }

// Skin has a broad sheen; what is wet has a small glint.
static double gloss(double cosine, bool wet) {
  double broad = power4(power4(cosine)), narrow = power4(broad), sharp = power4(narrow);
  return wet ? 0.03 * broad + 0.06 * narrow + 0.9 * sharp : 0.09 * broad + 0.08 * narrow;
}

// The reflected sun, and the rim light along grazing edges.
static sn_light reflected_light(const sn_light_rig* rig, const sn_surface_point* p,
                                const sn_arriving* a) {
  static const sn_light sheen = {1.0f, 0.97f, 0.92f}, rim = {0.95f, 0.97f, 1.0f};
  sn_vec3 half = normalise(sn_add(rig->sun, p->to_eye));
  double reflected = a->sun * gloss(clamp01(sn_dot(p->normal, half)), p->wet);
  double graze = 1 - clamp01(sn_dot(p->normal, p->to_eye));
  double edge = 0.9 * graze * graze * graze * clamp01(sn_dot(p->normal, rig->rim) + 0.2);
  return added(scaled(reflected, sheen), scaled(edge * a->sky.g, rim));
}

static sn_light shade_flesh(const sn_light_rig* rig, const sn_surface_point* p,
                            const sn_arriving* a) {
  sn_light diffuse = added(sun_on_flesh(rig, p, a->sun), a->sky);
  return added(filtered(p->base, diffuse), reflected_light(rig, p, a));
}

// Something opaque and rough.
static sn_light light_on_dull(const sn_light_rig* rig, const sn_surface_point* p,
                              const sn_arriving* a) {
  double sun = a->sun * clamp01(sn_dot(p->normal, rig->sun));
  return added(scaled(sun, SUN), a->sky);
}

// The background, as much darker as the ground is than ground in the open.
static sn_light shade_floor(const sn_light_rig* rig, const sn_surface_point* p,
                            const sn_arriving* a, sn_light background) {
  sn_light light = light_on_dull(rig, p, a), open = rig->open_floor;
  sn_light share = {fminf(light.r / open.r, 1), fminf(light.g / open.g, 1),
                    fminf(light.b / open.b, 1)};
  return sn_light_mix(background, filtered(background, share), p->presence);
}

// Most of the light is the same everywhere: form shows, and colours can still be read.
static sn_light shade_data(const sn_light_rig* rig, const sn_surface_point* p,
                           const sn_arriving* a) {
  sn_light light = light_on_dull(rig, p, a);
  double form = fmin(1, (light.r + light.g + light.b) / 3.6);
  return scaled(0.5 + 0.5 * form, p->base);
}

sn_light sn_shade(const sn_light_rig* rig, const sn_surface_point* p, const sn_arriving* a,
                  sn_light background) {
  switch (p->look) {
    case SN_LOOK_FLOOR:
      return shade_floor(rig, p, a, background);
    case SN_LOOK_DATA:
      return shade_data(rig, p, a);
    case SN_LOOK_SOLID:
    case SN_LOOK_BONE:
      return filtered(p->base, scaled(0.85, light_on_dull(rig, p, a)));
    case SN_LOOK_FLESH:
    case SN_LOOK_GHOST:
      break;
  }
  return shade_flesh(rig, p, a);
}

double sn_shade_opacity(const sn_surface_point* p, sn_look behind) {
  if (p->look == SN_LOOK_GHOST) {
    double graze = 1 - clamp01(sn_dot(p->normal, p->to_eye));
    return 0.28 + 0.6 * graze * graze;
  }
  return behind == SN_LOOK_FLOOR ? p->presence : VEIL * p->presence;
}

// ---- Colours

sn_light sn_shade_background(double height) {
  sn_light top = sn_light_from_colour((sn_colour){244, 245, 247});
  sn_light bottom = sn_light_from_colour((sn_colour){215, 219, 226});
  return sn_light_mix(bottom, top, clamp01(height));
}

sn_light sn_light_develop(sn_light light) {
  const double knee = 0.72, room = 1 - knee;
  float* parts[3] = {&light.r, &light.g, &light.b};
  for (int k = 0; k < 3; ++k) {
    double x = *parts[k];
    if (x > knee) *parts[k] = (float)(1 - room * exp((knee - x) / room));
  }
  return light;
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

sn_colour sn_colour_plain(sn_light light) {
  return (sn_colour){encode(light.r, 0.5), encode(light.g, 0.5), encode(light.b, 0.5)};
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
