// The stable neo-Hookean law of Smith, de Goes and Kim 2018, without its barrier at the origin:
//     W0 = mu/2 (I1 - 3) - mu (J - 1),   M = J - 1,   bulk = lambda + mu
// In e_i = s_i - 1, so that nothing cancels near rest:
//     W0 = mu (sum e_i^2 / 2 - e_0 e_1 - e_1 e_2 - e_2 e_0 - e_0 e_1 e_2)

static inline void SN_P(stable_neo_hookean_shape)(const sn_material* material, WIDE mu, WIDE lambda,
                                                  const WIDE s[3], SN_P(sn_law_point) * out) {
  (void)material, (void)lambda;
  WIDE one = NUMBER(1), e[3] = {s[0] - one, s[1] - one, s[2] - one};
  WIDE squares = e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
  WIDE mixed = e[0] * e[1] + e[1] * e[2] + e[2] * e[0];
  out->energy = mu * (NUMBER(0.5) * squares - mixed - e[0] * e[1] * e[2]);
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    out->stress[i] = mu * (e[i] - e[j] - e[k] - e[j] * e[k]);  // mu (s_i - s_j s_k)
    out->stretch[i] = mu;
    out->stretch[SN_STRETCH_BESIDE(i)] = -(mu * s[i]);
    out->shear[i] = mu + mu * s[i];
    out->twist[i] = mu - mu * s[i];
  }
}
