// The Mooney-Rivlin law of two constants: W0 = c10 (J^-2/3 I1 - 3) + c01 (J^-4/3 I2 - 3), M = ln J,
// bulk = kappa = lambda + 2/3 mu, where mu = 2 (c10 + c01).
// Numbers: 0 `limit`, below this J the powers of J go on as their Taylor polynomials of second order;
// 1 `share`, c01 / (c10 + c01).

// c J^p and its first two derivatives by J.
static inline void SN_P(power_of_J)(WIDE value, double p, const SN_P(held_volume) * v, WIDE f[3]) {
  WIDE first = NUMBER(p) * value * v->inverse;
  // cppcheck-suppress ctuArrayIndex  // takes the vectors for numbers
  f[2] = NUMBER(p - 1) * first * v->inverse;
  f[1] = first + f[2] * v->below;
  f[0] = value + v->below * (first + NUMBER(0.5) * f[2] * v->below);
}

static inline void SN_P(mooney_rivlin_shape)(const sn_material* material, WIDE mu, WIDE lambda,
                                             const WIDE s[3], SN_P(sn_law_point) * out) {
  (void)lambda;
  WIDE half = NUMBER(0.5) * mu, share = NUMBER(material->numbers[1]);
  WIDE c01 = half * share, c10 = half * (NUMBER(1) - share), a[3], b[3];
  SN_P(held_volume) v = SN_P(hold_volume)(s[0] * s[1] * s[2], material->numbers[0]);
  WIDE root = INVERSE_CBRT(v.J), squared = root * root;
  SN_P(power_of_J)(c10 * squared, -2.0 / 3, &v, a);
  SN_P(power_of_J)(c01 * squared * squared, -4.0 / 3, &v, b);

  WIDE square[3] = {s[0] * s[0], s[1] * s[1], s[2] * s[2]};
  WIDE I1 = square[0] + square[1] + square[2];
  WIDE I2 = square[0] * square[1] + square[1] * square[2] + square[2] * square[0];
  WIDE by[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]}, mixed[3];  // dJ/ds_i, d(a' I1 + b' I2)/ds_i
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    WIDE others = square[j] + square[k], twice = s[i] + s[i];
    // d/ds_i of a I1 + b I2 with a and b held: 2 s_i (a + b (s_j^2 + s_k^2)), divided out in shear, twist
    out->stress[i] = twice * (a[0] + b[0] * others);
    mixed[i] = twice * (a[1] + b[1] * others);
    out->shear[i] = NUMBER(2) * (a[0] + b[0] * (square[i] - by[i]));
    out->twist[i] = NUMBER(2) * (a[0] + b[0] * (square[i] + by[i]));
    out->stretch[i] = NUMBER(2) * (a[0] + b[0] * others + mixed[i] * by[i]);
  }
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    out->stretch[SN_STRETCH_BESIDE(i)] =
        NUMBER(4) * b[0] * by[i] + mixed[j] * by[k] + mixed[k] * by[j];
  }
  out->energy = NUMBER(-3) * (c10 + c01);
  WIDE g[3] = {a[0] * I1 + b[0] * I2, a[1] * I1 + b[1] * I2, a[2] * I1 + b[2] * I2};
  SN_P(add_function_of_J)(s, g, out);
}
