// A soft law that stiffens outside a range of stretches, as skin and fat do: W0 = sum w(s_i), M = trace.
// The stress w' is a cubic spline in e = s - 1 with slope 2 mu at rest and 2 mu `stiffening` outside:
//     w'' = 2 mu (1 + (stiffening - 1) (e / range)^2),   linear in w' beyond the range
// where range is stretched - 1 for e > 0 and 1 - compressed for e < 0. It always increases.
// Numbers: 0 `compressed`, 1 `stretched`, 2 `stiffening`.
//
// A stretch is split into e = inner[0] + inner[1] + outer: its part in the range of elongation, in that
// of compression, and beyond either. w' less its linear part is then
//     x(e) = cubic[0] inner[0]^3 + cubic[1] inner[1]^3 + slope outer

static inline void SN_P(biphasic_shape)(const sn_material* material, WIDE mu, WIDE lambda,
                                        const WIDE s[3], SN_P(sn_law_point) * out) {
  (void)lambda;
  const double stretched = material->numbers[1] - 1, compressed = material->numbers[0] - 1;
  WIDE zero = NUMBER(0), one = NUMBER(1), half = NUMBER(0.5), twice = mu + mu;
  WIDE most = NUMBER(stretched), least = NUMBER(compressed), sum = zero;
  WIDE slope = twice * NUMBER(material->numbers[2] - 1), third = slope * NUMBER(1.0 / 3);
  WIDE cubic[2] = {third / (most * most), third / (least * least)};
  WIDE e[3], x[3], inner[2][3];
  for (int i = 0; i < 3; ++i) {
    e[i] = s[i] - one;
    WIDE up = SELECT(e[i] > most, most, e[i]), down = SELECT(e[i] < least, least, e[i]);
    inner[0][i] = SELECT(up > zero, up, zero);
    inner[1][i] = SELECT(down < zero, down, zero);
    WIDE outer = e[i] - inner[0][i] - inner[1][i], edge = zero, below = zero, steep = zero;
    for (int side = 0; side < 2; ++side) {
      WIDE p = inner[side][i], p2 = p * p;
      edge += cubic[side] * p2 * p;
      below += NUMBER(0.25) * cubic[side] * p2 * p2;
      steep += NUMBER(3) * cubic[side] * p2;
    }
    x[i] = edge + slope * outer;
    sum += mu * e[i] * e[i] + below + outer * (edge + half * slope * outer);
    out->stress[i] = twice * e[i] + x[i];
    out->stretch[i] = twice + steep;
    out->stretch[3 + i] = zero;
  }
  out->energy = sum;
  WIDE floor = SN_P(least_sum)(s);
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    // Of the way from e_k to e_j the shares in the two ranges; what is left is outside.
    WIDE way = e[j] - e[k], chord = zero, outside = one;
    for (int side = 0; side < 2; ++side) {
      WIDE p = inner[side][j], q = inner[side][k];
      WIDE share = (p - q) / SELECT(way == zero, one, way);
      chord += share * cubic[side] * (p * p + p * q + q * q);
      outside -= share;
    }
    out->shear[i] = SELECT(way == zero, out->stretch[j], twice + (chord + slope * outside));
    // 2 mu (s_j + s_k) / (s_j + s_k) apart, so that flat flesh is held as in the corotated law
    out->twist[i] = twice + (x[j] + x[k] - (twice + twice)) / SN_P(held_sum)(s, i, floor);
  }
}
