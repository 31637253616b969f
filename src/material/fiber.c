// What is active, what is only stretched (by a law of fiber_table.h), and tendon. The curves of muscle are
// those of Zajac as Blemker, Pinsky and Delp (2005) write them and Lee, Sifakis and Terzopoulos (2009) use
// them, with their kinks taken out: a tension with a continuous slope is what Newton's method likes.
#include "material/fiber.h"

#include "math/elementary.h"
#include "math/vec.h"

// From the end of a curve on, further by `more`, its tension is a straight line.
static void go_on_straight(sn_fiber_point* p, double more) {
  p->energy += more * (p->tension + 0.5 * more * p->slope);
  p->tension += more * p->slope;
}

#include "material/holzapfel_impl.h"
#include "material/zajac_impl.h"

// A curve with its integral and its slope.
typedef struct curve {
  double integral, value, slope;
} curve;

// Active: 1 - 4 (1 - x)^2 about the best stretch. At both ends a parabola that ends at 0.4 or 1.6 with
// slope 0; value and slope meet where |1 - x| = 5/12. The usual factor of 9 and joint at 0.4 meet in value only.
#define ACTIVE_REACH 0.6
#define ACTIVE_JOINT (5.0 / 12)
#define ACTIVE_FOOT (100.0 / 11)

// Tendon: fibres that are wavy at rest straighten over the first 2 %, then it is linear.
#define TENDON_TOE 0.02

// From the best stretch outwards, d = |x - 1|; the integral is from there, too.
static curve active_from_best(double d) {
  if (d >= ACTIVE_REACH) d = ACTIVE_REACH;
  double top = d < ACTIVE_JOINT ? d : ACTIVE_JOINT;
  curve c = {top - 4.0 / 3 * top * top * top, 1 - 4 * d * d, -8 * d};
  if (d < ACTIVE_JOINT) return c;
  double left = ACTIVE_REACH - d, joint = ACTIVE_REACH - ACTIVE_JOINT;
  c.integral += ACTIVE_FOOT / 3 * (joint * joint * joint - left * left * left);
  c.value = ACTIVE_FOOT * left * left;
  c.slope = -2 * ACTIVE_FOOT * left;
  return c;
}

// Its integral is from 0.4 on: nothing is left of a fibre that is as short as it can get.
static curve active(double x) {
  double whole = active_from_best(ACTIVE_REACH).integral;
  curve c = active_from_best(fabs(x - 1));
  if (x >= 1) return (curve){whole + c.integral, c.value, c.slope};
  return (curve){whole - c.integral, c.value, -c.slope};
}

static sn_fiber_point tendon(double l) {
  double s = l - 1;
  if (s <= 0) return (sn_fiber_point){0, 0, 0};
  double t = s < TENDON_TOE ? s : TENDON_TOE;
  sn_fiber_point p = {t * t * t / (6 * TENDON_TOE), t * t / (2 * TENDON_TOE), t / TENDON_TOE};
  go_on_straight(&p, s - t);
  return p;
}

#define PASSIVE_CASE(ID, file, ...) \
  case SN_FIBER_##ID:               \
    return file##_fiber(fiber, l);
static sn_fiber_point passive(const sn_fiber* fiber, double l) {
  switch (fiber->law) {
    SN_FIBER_TABLE(PASSIVE_CASE)
    default:
      return (sn_fiber_point){0, 0, 0};
  }
}

sn_fiber_point sn_fiber_evaluate(const sn_fiber* fiber, sn_fiber_state state, double l) {
  double muscle = 1 - state.tendon, wa = muscle * fiber->max_stress * state.activation;
  double wp = muscle * fiber->passive, wt = state.tendon * fiber->tendon;
  curve a = active(l / fiber->optimal);
  sn_fiber_point p = passive(fiber, l), t = tendon(l);
  return (sn_fiber_point){wa * fiber->optimal * a.integral + wp * p.energy + wt * t.energy,
                          wa * a.value + wp * p.tension + wt * t.tension,
                          wa * a.slope / fiber->optimal + wp * p.slope + wt * t.slope};
}

double sn_fiber_active_energy(const sn_fiber* fiber, double l) {
  return fiber->max_stress * fiber->optimal * active(l / fiber->optimal).integral;
}

void sn_fiber_tangent(const sn_fiber_point* point, sn_vec3 stretched, double scale, sn_hessian kind,
                      double B[6]) {
  double l = sn_length(stretched);
  // A fibre without length has no tension (and no direction).
  double across = l > 0 ? scale * point->tension / l : 0, along = scale * point->slope;
  if (kind == SN_HESSIAN_DEFINITE && along < 0) along = 0;
  sn_vec3 n = sn_scale(l > 0 ? 1 / l : 0, stretched);
  double more = along - across;
  B[0] = across + more * n.x * n.x;
  B[1] = across + more * n.y * n.y;
  B[2] = across + more * n.z * n.z;
  B[3] = more * n.x * n.y;
  B[4] = more * n.x * n.z;
  B[5] = more * n.y * n.z;
}

typedef struct row {
  const char* name;
  sn_law_number numbers[SN_FIBER_NUMBERS];
} row;

#define ROW_OF(ID, file, name, ...) [SN_FIBER_##ID] = {name, {__VA_ARGS__}},
static const row ROWS[SN_FIBER_LAW_COUNT] = {SN_FIBER_TABLE(ROW_OF)};

const char* sn_fiber_law_name(sn_fiber_law law) { return ROWS[law].name; }

const sn_law_number* sn_fiber_law_numbers(sn_fiber_law law) { return ROWS[law].numbers; }
