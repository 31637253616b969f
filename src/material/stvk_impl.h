// The law of Saint Venant and Kirchhoff: W = mu sum E_i^2 + lambda/2 (sum E_i)^2, E = (s^2 - 1) / 2.
// Number 0, `limit`: below this stretch E goes on as its tangent. The law as it stands has its greatest
// pressure at s = 1/sqrt(3) and none left at 0; with the tangent, W is convex and grows without end.
//
// With p = max(s, limit) and q = s - p: E = (p^2 - 1)/2 + limit q, dE/ds = p, and one of q and p - limit
// is always zero.

static inline void SN_P(stvk_shape)(const sn_material* material, WIDE mu, WIDE lambda,
                                    const WIDE s[3], SN_P(sn_law_point) * out) {
  WIDE one = NUMBER(1), zero = NUMBER(0), half = NUMBER(0.5), limit = NUMBER(material->numbers[0]);
  WIDE p[3], E[3], trace = zero, squares = zero, twice = mu + mu, least = SN_P(least_sum)(s);
  for (int i = 0; i < 3; ++i) {
    p[i] = SELECT(s[i] > limit, s[i], limit);
    E[i] = half * (p[i] - one) * (p[i] + one) + limit * (s[i] - p[i]);
    trace += E[i];
    squares += E[i] * E[i];
  }
  WIDE pressure = lambda * trace;
  out->energy = mu * squares + half * pressure * trace;
  for (int i = 0; i < 3; ++i) {
    WIDE second = twice * E[i] + pressure;  // the second Piola-Kirchhoff stress
    out->stress[i] = second * p[i];
    out->stretch[i] = (twice + lambda) * p[i] * p[i] + SELECT(s[i] > limit, second, zero);
  }
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    out->stretch[SN_STRETCH_BESIDE(i)] = lambda * p[j] * p[k];
    // Of the way from s_k to s_j the share above the limit, along which p and E p are polynomials.
    WIDE way = s[j] - s[k], equal = SELECT(s[j] > limit, one, zero);
    WIDE above = SELECT(way == zero, equal, (p[j] - p[k]) / SELECT(way == zero, one, way));
    WIDE cubic = p[j] * p[j] + p[j] * p[k] + p[k] * p[k] - one;
    out->shear[i] = (pressure + mu * cubic) * above + twice * limit * limit * (one - above);
    out->twist[i] = (out->stress[j] + out->stress[k]) / SN_P(held_sum)(s, i, least);
  }
}
