// The laws, a row each: its place in sn_law, its functions' first name, its name in a scene, how its M
// measures volume, how many mu are in its bulk (bulk = lambda + so many mu), and its own numbers:
// name, usual value, least, most, meaning.
//
// A new law is one file LAW_impl.h with the function LAW_shape, named in laws_impl.h, one row here, and
// a name in sn_law.
#ifndef SN_MATERIAL_LAW_TABLE_H
#define SN_MATERIAL_LAW_TABLE_H

#include <stddef.h>

#define SN_NO_NUMBER \
  { NULL, 0, 0, 0, NULL }

#define SN_LIMIT_OF_J \
  { "limit", 0.2, 0.001, 1, "ratio of volumes below which the law goes on as a polynomial" }

#define SN_LAW_TABLE(ROW)                                                               \
  ROW(COROTATED, corotated, "corotated", TRACE, 0, SN_NO_NUMBER)                        \
  ROW(FIXED_COROTATED, fixed_corotated, "fixed-corotated", J, 0, SN_NO_NUMBER)          \
  ROW(STABLE_NEO_HOOKEAN, stable_neo_hookean, "stable-neo-hookean", J, 1, SN_NO_NUMBER) \
  ROW(NEO_HOOKEAN, neo_hookean, "neo-hookean", LOG_J, 0, SN_LIMIT_OF_J)                 \
  ROW(STVK, stvk, "stvk", NONE, 0,                                                      \
      {"limit", 0.6, 0.1, 1, "stretch below which the strain goes on as its tangent"})  \
  ROW(MOONEY_RIVLIN, mooney_rivlin, "mooney-rivlin", LOG_J, 2.0 / 3, SN_LIMIT_OF_J,     \
      {"share", 0.5, 0, 1, "c01 / (c10 + c01)"})                                        \
  ROW(BIPHASIC, biphasic, "biphasic", TRACE, 0,                                         \
      {"compressed", 0.7, 0, 0.999, "stretch below which the law is stiff"},            \
      {"stretched", 1.3, 1.001, 100, "stretch above which the law is stiff"},           \
      {"stiffening", 10, 1, 1e6, "stiffness outside, relative to rest"})

#endif
