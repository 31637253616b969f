// The laws of fibres that are stretched and not active, a row each: its place in sn_fiber_law, its
// function's first name, its name in a scene, and its own numbers: name, usual value, least, most,
// meaning.
//
// A new law is one file LAW_impl.h with the function LAW_fiber, named in fiber.c, one row here, and a
// name in sn_fiber_law.
#ifndef SN_MATERIAL_FIBER_TABLE_H
#define SN_MATERIAL_FIBER_TABLE_H

#include "material/law_table.h"

#define SN_FIBER_TABLE(ROW)                                                               \
  ROW(ZAJAC, zajac, "zajac", SN_NO_NUMBER)                                                \
  ROW(HOLZAPFEL, holzapfel, "holzapfel",                                                  \
      {"k1", 2363.2, 0, 1e12, "a quarter of the stiffness of fibres just stretched, Pa"}, \
      {"k2", 0.8393, 1e-3, 1e4, "how soon they stiffen"})

#endif
