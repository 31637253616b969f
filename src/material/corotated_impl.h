// Corotated elasticity: W0 = mu sum (s_i - 1)^2, the linear law in the frame that turns along.
// Beside M = trace this is the law of Milne et al. 2016.

static inline void SN_P(corotated_shape)(const sn_material* material, WIDE mu, WIDE lambda,
                                         const WIDE s[3], SN_P(sn_law_point) * out) {
  (void)material, (void)lambda;
  WIDE one = NUMBER(1), twice = mu + mu, least = SN_P(least_sum)(s), sum = NUMBER(0);
  for (int i = 0; i < 3; ++i) {
    WIDE e = s[i] - one;
    sum += e * e;
    out->stress[i] = twice * e;
    out->stretch[i] = twice;
    out->stretch[3 + i] = NUMBER(0);
    out->shear[i] = twice;
    // 2 mu (s_j + s_k - 2) / (s_j + s_k)
    out->twist[i] = twice - (twice + twice) / SN_P(held_sum)(s, i, least);
  }
  out->energy = mu * sum;
}
