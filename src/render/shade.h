// From a point of a surface and the light that arrives there to a colour.
#ifndef SN_RENDER_SHADE_H
#define SN_RENDER_SHADE_H

#include "render/camera.h"

// Linear light, 1 is white.
typedef struct sn_light {
  float r, g, b;
} sn_light;

// Unit directions to the lights. They stand with the camera, so that every view is well lit, but the
// sun is always above the horizon.
typedef struct sn_light_rig {
  sn_vec3 sun, fill, rim, up;
  sn_light open_floor;  // what arrives on level ground in the open
} sn_light_rig;

// A point of a surface. All directions are unit.
typedef struct sn_surface_point {
  sn_vec3 place, normal, to_eye;
  sn_vec3 lifted;  // where light rays begin: off the flat triangle, on the round form it stands for
  sn_light base;   // its colour
  sn_look look;    //
  uint32_t owner;  // the surface
  bool wet;        // with a small bright glint, as eyes and noses have
  double presence;  // 1; falls to 0 where a collider has faded into the background
} sn_surface_point;

// Light that arrives at a point: from all around, weighed as a surface weighs it, and the share of the
// sun that is not hidden.
typedef struct sn_arriving {
  sn_light sky;
  float sun;
} sn_arriving;

sn_light_rig sn_light_rig_make(const sn_camera* camera, sn_up up);
// What comes from a direction in the open.
sn_light sn_sky_light(const sn_light_rig* rig, sn_vec3 direction);
// What comes from there if something else is in the way: light that bounced off it.
sn_light sn_blocked_light(const sn_light_rig* rig, sn_vec3 direction, sn_look look);
// How much a shadow of the sun matters at this point, 0 to 1: not where the form turns from the light.
double sn_shadow_weight(const sn_light_rig* rig, const sn_surface_point* point);

sn_light sn_shade(const sn_light_rig* rig, const sn_surface_point* point,
                  const sn_arriving* arriving, sn_light background);
// How much of a veiling point is seen before what is behind it. @param behind the look of that, or
// SN_LOOK_FLOOR for nothing
double sn_shade_opacity(const sn_surface_point* point, sn_look behind);
// From `a`, at 0, to `b`, at 1.
sn_light sn_light_mix(sn_light a, sn_light b, double share);
// @param height 0 at the bottom of the picture, 1 at its top
sn_light sn_shade_background(double height);

sn_light sn_light_from_colour(sn_colour colour);
// Bright light is rolled off towards white, as film does it.
sn_light sn_light_develop(sn_light light);
// Rounded to the nearest.
sn_colour sn_colour_plain(sn_light light);
// @param x, y pixel that the colour is for
sn_colour sn_colour_from_light(sn_light light, int x, int y);

#endif
