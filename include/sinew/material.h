/// What flesh is made of.
#ifndef SINEW_MATERIAL_H
#define SINEW_MATERIAL_H

#include "sinew/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The elastic laws.
typedef enum sn_law {
  SN_LAW_COROTATED,
  SN_LAW_FIXED_COROTATED,
  SN_LAW_STABLE_NEO_HOOKEAN,
  SN_LAW_NEO_HOOKEAN,
  SN_LAW_STVK,
  SN_LAW_MOONEY_RIVLIN,
  SN_LAW_BIPHASIC,
  SN_LAW_COUNT
} sn_law;

#define SN_LAW_NUMBERS 6

/// A law with its parameters. Whatever the law, mu and lambda are those of small strains.
typedef struct sn_material {
  sn_law law;
  double mu, lambda;               ///< Lame parameters, Pa
  double numbers[SN_LAW_NUMBERS];  ///< the law's own; what they are is in its file
} sn_material;

/// Laws of fibres that are stretched and not active.
typedef enum sn_fiber_law {
  SN_FIBER_ZAJAC,      ///< muscle
  SN_FIBER_HOLZAPFEL,  ///< collagen: skin, walls of vessels, fascia
  SN_FIBER_LAW_COUNT
} sn_fiber_law;

#define SN_FIBER_NUMBERS 2

/// An entry of the material library: what a name in a scene stands for.
typedef struct sn_library_material {
  const char* name;
  const char* definition;  ///< a scene's material, a JSON object
  double density;          ///< kg/m3
  const char* source;      ///< who measured what, and what was chosen here
} sn_library_material;

/// The material library. Nobody frees it.
/// @param count how many there are
SN_API const sn_library_material* sn_library(uint32_t* count);

#ifdef __cplusplus
}
#endif

#endif
