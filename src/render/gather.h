// What a ray from the eye meets, and the light that gets there.
#ifndef SN_RENDER_GATHER_H
#define SN_RENDER_GATHER_H

#include "render/soup.h"
#include "render/trace.h"

// A scene ready to be looked at.
typedef struct sn_stage {
  sn_soup soup;
  sn_camera camera;
  sn_light_rig rig;
  sn_vec3 sun_across[2];  // axes of the sun's disc
  sn_tracer* tracers[SN_LAYER_COUNT];
} sn_stage;

// The nearest opaque hit, and the nearest veiling one before it. Adds to *rays.
void sn_stage_look(const sn_stage* stage, double x, double y, sn_hit hits[SN_LAYER_COUNT],
                   uint64_t* rays);

// The surface at a hit that is one. @param x, y where it is seen, pixels
sn_surface_point sn_stage_point(const sn_stage* stage, sn_layer_kind layer, const sn_hit* hit,
                                double x, double y);

// Light by one ray to the sun and one to the sky. @param index which of a sequence of rays
sn_arriving sn_stage_light(const sn_stage* stage, const sn_surface_point* point, uint32_t index,
                           uint64_t* rays);

#endif
