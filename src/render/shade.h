// Light on flesh and stone: from a normal and the light that arrives to a colour.
#ifndef SN_RENDER_SHADE_H
#define SN_RENDER_SHADE_H

#include "render/camera.h"

// Linear light, 1 is white.
typedef struct sn_light {
  float r, g, b;
} sn_light;

// Unit directions to the lights. They stand with the camera, so that every view is well lit.
typedef struct sn_light_rig {
  sn_vec3 key, fill, rim, up;
} sn_light_rig;

// A point of a surface, ready to be lit. All directions are unit.
typedef struct sn_lit_point {
  sn_vec3 normal, to_eye;
  sn_light base;
  bool dull;       // not flesh: without sheen, and shadows keep the colour
  bool wet;        // with a small bright glint, as eyes and noses have
  float sky, key;  // share of the light from all around and from the key light that gets here
} sn_lit_point;

sn_light_rig sn_light_rig_make(const sn_camera* camera);
sn_light sn_shade(const sn_light_rig* rig, const sn_lit_point* point);
// From `a`, at 0, to `b`, at 1.
sn_light sn_light_mix(sn_light a, sn_light b, double share);
// @param height 0 at the bottom of the picture, 1 at its top
sn_light sn_shade_background(double height);

sn_light sn_light_from_colour(sn_colour colour);
// @param x, y pixel that the colour is for
sn_colour sn_colour_from_light(sn_light light, int x, int y);

#endif
