// Collagen after Holzapfel, Gasser and Ogden (2000): wavy fibres that straighten, then stiffen fast.
//     psi = k1 / (2 k2) (e^(k2 E^2) - 1),   E = l^2 - 1 > 0
// where the exponent is below MOST_EXPONENT; beyond, the tension goes on straight. The usual numbers are
// theirs for the media of a rabbit's carotid artery. Numbers: 0 `k1`, 1 `k2`.
#define MOST_EXPONENT 8.0

static sn_fiber_point holzapfel_fiber(const sn_fiber* fiber, double l) {
  double k1 = fiber->numbers[0], k2 = fiber->numbers[1];
  if (l <= 1) return (sn_fiber_point){0, 0, 0};
  double last = sqrt(1 + sqrt(MOST_EXPONENT / k2)), held = l < last ? l : last;
  double E = (held - 1) * (held + 1), square = held * held, grown = sn_expm1(k2 * E * E);
  double factor = 2 * k1 * (1 + grown);
  sn_fiber_point p = {k1 / (2 * k2) * grown, factor * E * held,
                      factor * (E + 2 * square + 4 * k2 * square * E * E)};
  go_on_straight(&p, l - held);
  return p;
}
