// The fixed corotated law of Stomakhin, Howes, Schroeder and Teran 2012: W0 is that of the corotated
// law, and M = J - 1 knows the volume.

static inline void SN_P(fixed_corotated_shape)(const sn_material* material, WIDE mu, WIDE lambda,
                                               const WIDE s[3], SN_P(sn_law_point) * out) {
  SN_P(corotated_shape)(material, mu, lambda, s, out);
}
