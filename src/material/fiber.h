// The law of muscle fibres and tendons at a point: tension by stretch (docs/theory/muscles.md).
//
// With the fibre direction w at rest, l = |F w| is how far the fibre is stretched. Its energy per volume
// psi(l) adds the stress P = T(l) n w^T with n = F w / l and the tension T = dpsi/dl, nominal: a force over
// the area at rest. A fibre pulls and never pushes: T >= 0 everywhere, and T = 0 where it is very short.
#ifndef SN_MATERIAL_FIBER_H
#define SN_MATERIAL_FIBER_H

#include "material/fiber_table.h"
#include "material/law.h"
#include "math/hessian.h"
#include "sinew/math.h"

typedef struct sn_fiber {
  double max_stress;  // tension of the active fibre at its best stretch, Pa
  double optimal;     // stretch at which it pulls best
  double passive;     // factor on the tension of a fibre that is only stretched
  double tendon;      // stiffness of tendon, Pa
  sn_fiber_law law;   // of fibres that are only stretched
  double numbers[SN_FIBER_NUMBERS];
} sn_fiber;

// What a piece of muscle does of its fibres' powers.
typedef struct sn_fiber_state {
  double activation;  // 0 to 1
  double tendon;      // share that is tendon, 0 to 1: neither active nor passive muscle
} sn_fiber_state;

typedef struct sn_fiber_point {
  double energy;   // psi, J/m3
  double tension;  // T, Pa
  double slope;    // dT/dl, Pa
} sn_fiber_point;

sn_fiber_point sn_fiber_evaluate(const sn_fiber* fiber, sn_fiber_state state, double l);
// d psi / d activation of a piece without tendon, J/m3: what activation costs.
double sn_fiber_active_energy(const sn_fiber* fiber, double l);

// Its name in a scene.
const char* sn_fiber_law_name(sn_fiber_law law);
// SN_FIBER_NUMBERS of them; unused ones have no name.
const sn_law_number* sn_fiber_law_numbers(sn_fiber_law law);

// Change of the force on v = dF w: B = T/l (I - n n^T) + T' n n^T, as xx yy zz xy xz yz, times `scale`. The
// definite one has T' lifted to 0. @param stretched F w
void sn_fiber_tangent(const sn_fiber_point* point, sn_vec3 stretched, double scale, sn_hessian kind,
                      double B[6]);

#endif
