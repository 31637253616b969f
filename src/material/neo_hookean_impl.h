// The neo-Hookean law W0 = mu/2 (I1 - 3) - mu ln J, M = ln J.
// Number 0, `limit`: below this J the logarithm in W0 goes on as its Taylor polynomial of second order,
// whose second derivative keeps its sign; the one in M as its tangent (sn_law_measure).

static inline void SN_P(neo_hookean_shape)(const sn_material* material, WIDE mu, WIDE lambda,
                                           const WIDE s[3], SN_P(sn_law_point) * out) {
  (void)lambda;
  WIDE one = NUMBER(1), half = NUMBER(0.5), sum = NUMBER(0);
  for (int i = 0; i < 3; ++i) {
    WIDE e = s[i] - one;
    sum += e * (e + NUMBER(2));  // I1 - 3
    out->stress[i] = mu * s[i];
    out->stretch[i] = mu;
    out->stretch[3 + i] = NUMBER(0);
    out->shear[i] = mu;
    out->twist[i] = mu;
  }
  out->energy = half * mu * sum;
  SN_P(held_volume) v = SN_P(hold_volume)(s[0] * s[1] * s[2], material->numbers[0]);
  WIDE t = v.below * v.inverse;
  WIDE g[3] = {-(mu * (LOG(v.J) + (t - half * t * t))), -(mu * v.inverse * (one - t)),
               mu * v.inverse * v.inverse};
  SN_P(add_function_of_J)(s, g, out);
}
