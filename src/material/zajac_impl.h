// The passive curve of muscle, of x = l / `optimal` in units of `max_stress`: A s^2 + B s^3 of
// s = x - 1 > 0, linear from 0.4 on; there it has value and slope of the usual 0.05 (e^(6.6 s) - 1),
// which itself starts with a slope of 0.33.
#define PASSIVE_JOINT 0.4
#define PASSIVE_A 0.639
#define PASSIVE_B 8.569

static sn_fiber_point zajac_fiber(const sn_fiber* fiber, double l) {
  double s = l / fiber->optimal - 1;
  if (s <= 0) return (sn_fiber_point){0, 0, 0};
  double t = s < PASSIVE_JOINT ? s : PASSIVE_JOINT;
  sn_fiber_point p = {t * t * t * (PASSIVE_A / 3 + PASSIVE_B / 4 * t),
                      t * t * (PASSIVE_A + PASSIVE_B * t), t * (2 * PASSIVE_A + 3 * PASSIVE_B * t)};
  go_on_straight(&p, s - t);
  return (sn_fiber_point){fiber->max_stress * fiber->optimal * p.energy,
                          fiber->max_stress * p.tension,
                          fiber->max_stress / fiber->optimal * p.slope};
}
