// Energy, forces and tangents of any law, in the frames of F = U diag(s) V^T; a part of
// flesh_kernels_impl.h (docs/theory/materials.md, docs/theory/incompressible.md).
//
// A law is W0 + bulk/2 M^2. Where M is a function of J it is that of the mean of J over the cell,
//     Jm = det[c0 c1 c2] + 1/3 (c0.(a3 x a5) + c1.(a6 x a3) + c2.(a5 x a6)),
// exact for trilinear cells, with the columns c of F at the centre and a = s / (4 h) of the hourglass
// modes. With P in units of h / 16, dE/ds of the linear modes is 4 h P and the energy 16 h^2 W.

static inline const uint8_t* kinds_of(const sn_flesh_work* work, size_t row, int lane) {
  if (!work->kinds || work->eased) return NULL;
  return work->kinds + row * LANES + lane;
}

// Frames of one child of all eight lanes: found in single precision and made exact in double.
static inline void find_both_frames(sn_wide_d F[2][9], frames_d frames[2]) {
  sn_wide_f narrow[9], turn[9], V[9];
  make_narrow(F, narrow);
  decompose_f(narrow, turn, V);
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < 9; ++i) frames[side].V[i] = half_of(&V[i], side * SN_LANES_d);
    orthonormalise_d(frames[side].V);
    memcpy(frames[side].F, F[side], sizeof frames[side].F);
  }
  find_frames_of_d(2, frames);
}

// Jm and its gradient by the linear modes (columns 0..2) and the hourglass modes 3, 5, 6 (3..5).
static inline sn_wide_d mean_volume(const sn_wide_d F[9], sn_wide_d s[3][8], sn_wide_d scale,
                                    sn_wide_d Q[6][3]) {
  sn_wide_d c[3][3], a[3][3], t[3], third = sn_wide_set_d(1.0 / 3);
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      c[j][i] = F[3 * i + j];
      a[j][i] = scale * s[i][MODE_OF[j]];
    }
  }
  // Columns k: c_k+1 x c_k+2 + 1/3 of (a3 x a5), (a6 x a3), (a5 x a6)
  static const int LEFT[3] = {0, 2, 1}, RIGHT[3] = {1, 0, 2};
  sn_wide_d J = sn_wide_set_d(0);
  for (int k = 0; k < 3; ++k) {
    cross_d(c[(k + 1) % 3], c[(k + 2) % 3], Q[k]);
    cross_d(a[LEFT[k]], a[RIGHT[k]], t);
    sn_wide_d along = third * dot3_d(c[k][0], c[k][1], c[k][2], t[0], t[1], t[2]);
    if (k == 0) J += dot3_d(c[0][0], c[0][1], c[0][2], Q[0][0], Q[0][1], Q[0][2]);
    J += along;
    for (int i = 0; i < 3; ++i) Q[k][i] += third * t[i];
  }
  // Modes 3, 5, 6: 1/3 of (a5 x c0 + c1 x a6), (c0 x a3 + a6 x c2), (a3 x c1 + c2 x a5)
  const sn_wide_d* factors[3][4] = {
      {a[1], c[0], c[1], a[2]}, {c[0], a[0], a[2], c[2]}, {a[0], c[1], c[2], a[1]}};
  for (int m = 0; m < 3; ++m) {
    sn_wide_d other[3];
    cross_d(factors[m][0], factors[m][1], t);
    cross_d(factors[m][2], factors[m][3], other);
    for (int i = 0; i < 3; ++i) Q[3 + m][i] = third * (t[i] + other[i]);
  }
  return J;
}

// What the laws give: W, its derivatives by the stretches, and dW/dJm of what depends on that.
typedef struct law_sums_d {
  sn_wide_d energy, stress[3], pressure;
} law_sums_d;

static inline bool any_is(const uint8_t* kinds, int lanes, uint32_t kind) {
  bool any = false;
  for (int l = 0; l < lanes; ++l) any = any || kinds[l] == kind;
  return any;
}

static inline void sum_law(const sn_material* kind, const sn_wide_d ab[2], mixed_side* mixed,
                           const sn_wide_d s[3], sn_wide_d J, law_sums_d* out) {
  bool mean = sn_law_measures_J(kind->law);
  sn_wide_d mu = sn_wide_set_d(0.5) * ab[0], M[3];
  sn_law_point_d point;
  sn_law_evaluate_d(kind, mu, ab[1], s, mean ? SN_LAW_SHAPE : SN_LAW_WHOLE, &point);
  out->energy = point.energy;
  out->pressure = sn_wide_set_d(0);
  if (!mean) {
    sn_wide_d one = sn_wide_set_d(1);
    out->energy += mixed_energy(mixed, (s[0] - one) + (s[1] - one) + (s[2] - one));
    for (int i = 0; i < 3; ++i) out->stress[i] = point.stress[i] + mixed->pressure;
    return;
  }
  for (int i = 0; i < 3; ++i) out->stress[i] = point.stress[i];
  sn_wide_d bulk = sn_law_bulk_d(kind, mu, ab[1]);
  sn_law_measure_d(kind, J, M);
  out->energy += sn_wide_set_d(0.5) * bulk * M[0] * M[0] + mixed_energy(mixed, M[0]);
  out->pressure = sn_wide_fma_d(bulk, M[0], mixed->pressure) * M[1];
}

static inline void sum_laws(const sn_flesh* flesh, const uint8_t* kinds, const sn_wide_d ab[2],
                            mixed_side* mixed, const sn_wide_d s[3], sn_wide_d J, law_sums_d* out) {
  const sn_tissue* tissue = &flesh->tissue;
  if (!kinds) {
    sum_law(tissue->kinds, ab, mixed, s, J, out);
    return;
  }
  *out = (law_sums_d){0};
  for (uint32_t k = 0; k < tissue->kind_count; ++k) {
    law_sums_d one;
    mixed_side its = *mixed;
    if (!any_is(kinds, SN_LANES_d, k)) continue;
    sum_law(&tissue->kinds[k], ab, &its, s, J, &one);
    sn_mask_d here = {kinds[0] == k, kinds[1] == k, kinds[2] == k, kinds[3] == k};
    here = -here;
    mixed->measure = sn_wide_select_d(here, its.measure, mixed->measure);
    out->energy = sn_wide_select_d(here, one.energy, out->energy);
    out->pressure = sn_wide_select_d(here, one.pressure, out->pressure);
    for (int i = 0; i < 3; ++i) {
      out->stress[i] = sn_wide_select_d(here, one.stress[i], out->stress[i]);
    }
  }
}

// Energy of one child of four lanes; its modes become the gradient.
static inline sn_wide_d evaluate_framed(const sn_flesh* flesh, const uint8_t* kinds,
                                        const sn_wide_d ab[2], mixed_side* mixed, sn_wide_d h,
                                        const sn_wide_d F[9], const frames_d* frames,
                                        sn_wide_d s[3][8]) {
  sn_wide_d Q[6][3], framed[9], P[9], four_h = sn_wide_set_d(4) * h;
  law_sums_d law;
  sn_wide_d J = mean_volume(F, s, sn_wide_set_d(1) / four_h, Q);
  sum_laws(flesh, kinds, ab, mixed, frames->s, J, &law);
  sn_wide_d energy = evaluate_hourglass(flesh, ab[0], s) + four_h * four_h * law.energy;
  for (int i = 0; i < 9; ++i) framed[i] = frames->U[i] * law.stress[i % 3];
  times_transposed_d(framed, frames->V, P);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      s[i][1 << j] = four_h * sn_wide_fma_d(law.pressure, Q[j][i], P[3 * i + j]);
    }
    s[i][3] = sn_wide_fma_d(four_h * law.pressure, Q[3][i], s[i][3]);
    s[i][5] = sn_wide_fma_d(four_h * law.pressure, Q[4][i], s[i][5]);
    s[i][6] = sn_wide_fma_d(four_h * law.pressure, Q[5][i], s[i][6]);
  }
  return energy;
}

static inline void store_narrow(sn_wide_d value, float* to) {
  sn_quad_f narrow = __builtin_convertvector(value, sn_quad_f);
  memcpy(to, &narrow, sizeof narrow);
}

// F at the centre, with scale = 1 / (4 h).
static inline void gradient_of(sn_wide_d s[3][8], sn_wide_d scale, sn_wide_d F[9]) {
  for (int i = 0; i < 9; ++i) {
    sn_wide_d d = scale * s[i / 3][1 << i % 3];
    F[i] = i % 4 == 0 ? d + sn_wide_set_d(1) : d;
  }
}

// The mean of J - 1 for linearise, in single precision, its gradient and the hourglass modes.
static inline void store_mean_volume(const sn_flesh_work* work, size_t row, int lane,
                                     sn_wide_d s[3][8], sn_wide_d scale) {
  sn_wide_d F[9], Q[6][3];
  gradient_of(s, scale, F);
  float* tangent = tangent_of(work, row) + lane;
  store_narrow(mean_volume(F, s, scale, Q) - sn_wide_set_d(1),
               tangent + (SN_TANGENT_F + 9) * LANES);
  if (!work->volume) return;
  float* volume = volume_of(work, row) + lane;
  for (int i = 0; i < 9; ++i) {
    store_narrow(Q[i % 3][i / 3], volume + i * LANES);
    store_narrow(Q[3 + i / 3][i % 3], volume + (9 + i) * LANES);
    store_narrow(scale * s[i % 3][MODE_OF[i / 3]], volume + (SN_VOLUME_A + i) * LANES);
  }
}

// Tangents, in single precision: the law's second derivative, exact and definite.
typedef struct law_pair {
  sn_law_point_f exact, definite;
  sn_wide_f slope;     // dM/dJ; 0 where M is the trace
  sn_wide_f pressure;  // dW/dJ of what depends on the mean of J
  sn_wide_f factor;    // the second derivative by M, which is not in `exact`
} law_pair;

// What is known of lambda h / 16 beyond b: `kept` of it counts for the pressure alone, unless that has a
// value of its own, `held`.
typedef struct beyond_f {
  sn_wide_f kept, held;
} beyond_f;

// A law that measures J.
static inline void law_of_mean(const sn_material* kind, const sn_wide_f ab[2],
                               const beyond_f* beyond, const sn_wide_f s[3], sn_wide_f volume,
                               law_pair* out) {
  sn_wide_f mu = sn_wide_set_f(0.5f) * ab[0], zero = sn_wide_set_f(0), M[3];
  sn_law_evaluate_f(kind, mu, ab[1], s, SN_LAW_SHAPE, &out->exact);
  sn_wide_f bulk = sn_law_bulk_f(kind, mu, ab[1]), most = sn_wide_set_f(SN_MOST_LIFTED_BULK) * mu;
  sn_law_measure_f(kind, volume + sn_wide_set_f(1), M);
  if (sn_law_measure_kind(kind->law) == SN_MEASURE_J) M[0] = volume;  // with all its digits
  sn_wide_f pressure = (bulk + beyond->kept) * M[0] + beyond->held, square = M[1] * M[1];
  sn_wide_f lifted = sn_wide_select_f(bulk < most, bulk, most);
  sn_wide_f first[3] = {zero, pressure * M[1], zero};
  sn_wide_f more[3] = {zero, zero, pressure * M[2] + lifted * square};
  sn_wide_f rest[3] = {zero, zero, (bulk - lifted) * square};
  add_function_of_J_f(s, first, &out->exact);
  out->definite = out->exact;
  add_function_of_J_f(s, more, &out->definite);
  sn_law_make_definite_f(&out->definite);
  add_function_of_J_f(s, rest, &out->definite);
  out->slope = M[1];
  out->pressure = pressure * M[1];
  out->factor = bulk + pressure * M[2] / square;
}

// The others: the whole law, less what is kept of the stiffness against a change of the trace.
static inline void law_of_trace(const sn_material* kind, const sn_wide_f ab[2],
                                const beyond_f* beyond, const sn_wide_f s[3], law_pair* out) {
  sn_wide_f least = least_sum_f(s);
  sn_law_evaluate_f(kind, sn_wide_set_f(0.5f) * ab[0], ab[1] + beyond->kept, s, SN_LAW_WHOLE,
                    &out->exact);
  for (int i = 0; i < 6; ++i) out->exact.stretch[i] -= beyond->kept;
  for (int i = 0; i < 3; ++i) {
    out->exact.twist[i] += (beyond->held + beyond->held) / held_sum_f(s, i, least);
  }
  out->definite = out->exact;
  sn_law_make_definite_f(&out->definite);
  out->slope = out->pressure = out->factor = sn_wide_set_f(0);
}

static inline void law_of_kind(const sn_material* kind, const sn_wide_f ab[2],
                               const beyond_f* beyond, const sn_wide_f s[3], sn_wide_f volume,
                               law_pair* out) {
  if (sn_law_measures_J(kind->law)) {
    law_of_mean(kind, ab, beyond, s, volume, out);
  } else {
    law_of_trace(kind, ab, beyond, s, out);
  }
}

static inline void law_of_kinds(const sn_flesh* flesh, const uint8_t* kinds, const sn_wide_f ab[2],
                                const beyond_f* beyond, const sn_wide_f s[3], sn_wide_f volume,
                                law_pair* out) {
  const sn_tissue* tissue = &flesh->tissue;
  if (!kinds) {
    law_of_kind(tissue->kinds, ab, beyond, s, volume, out);
    return;
  }
  *out = (law_pair){0};
  for (uint32_t k = 0; k < tissue->kind_count; ++k) {
    law_pair one;
    sn_mask_f here = {0};
    if (!any_is(kinds, LANES, k)) continue;
    law_of_kind(&tissue->kinds[k], ab, beyond, s, volume, &one);
    for (int l = 0; l < LANES; ++l) here[l] = kinds[l] == k ? -1 : 0;
    sn_wide_f *to = (sn_wide_f*)out, *from = (sn_wide_f*)&one;
    for (size_t i = 0; i < sizeof one / sizeof *to; ++i) {
      to[i] = sn_wide_select_f(here, from[i], to[i]);
    }
  }
}

static inline void store_framed(const sn_law_point_f* point, float* out) {
  sn_wide_f half = sn_wide_set_f(0.5f);
  for (int i = 0; i < 6; ++i) *(sn_wide_f*)(out + i * LANES) = point->stretch[i];
  for (int k = 0; k < 3; ++k) {
    *(sn_wide_f*)(out + (6 + k) * LANES) = half * point->shear[k];
    *(sn_wide_f*)(out + (9 + k) * LANES) = half * point->twist[k];
  }
}

// How M grows: with J by its slope, or with the trace as R = U V^T does. And what else products need.
static inline void finish_volume(const sn_wide_f F[9], const sn_wide_f U[9], const sn_wide_f V[9],
                                 const law_pair* law, float* volume) {
  sn_wide_f R[9], zero = sn_wide_set_f(0), third = sn_wide_set_f(1.0f / 3) * law->pressure;
  sn_mask_f trace = law->slope == zero;
  times_transposed_f(U, V, R);
  for (int i = 0; i < SN_VOLUME_F; ++i) {
    sn_wide_f* at = (sn_wide_f*)(volume + i * LANES);
    *at = sn_wide_select_f(trace, i < 9 ? R[i] : zero, law->slope * *at);
  }
  for (int i = 0; i < 9; ++i) {
    *(sn_wide_f*)(volume + (SN_VOLUME_F + i) * LANES) = third * F[i];
    *(sn_wide_f*)(volume + (SN_VOLUME_A + i) * LANES) *= third;
  }
  *(sn_wide_f*)(volume + SN_VOLUME_FACTOR * LANES) = law->factor;
}

static void linearise_cut_cells(const sn_flesh* flesh, sn_flesh_work* work, size_t row);

static inline void linearise_framed(const sn_flesh* flesh, sn_flesh_work* work, size_t row,
                                    const frames_f* frames) {
  float* tangent = tangent_of(work, row);
  sn_wide_f ab[2], volume = sn_wide_load_f(tangent + (SN_TANGENT_F + 9) * LANES);
  law_pair law;
  load_tangent_f(tangent, 0, SN_TANGENT_MATERIAL, 2, ab);
  beyond_f beyond = {{0}, {0}};
  if (work->pressure) {
    beyond.held = sn_wide_set_f((float)work->stiffening) * pressure_of(work, row);
  } else if (work->kept) {
    beyond.kept = sn_wide_load_f(kept_of(work, row));
  }
  law_of_kinds(flesh, kinds_of(work, row, 0), ab, &beyond, frames->s, volume, &law);
  if (work->volume) finish_volume(frames->F, frames->U, frames->V, &law, volume_of(work, row));
  for (int i = 0; i < 9; ++i) {
    *(sn_wide_f*)(tangent + (SN_TANGENT_U + i) * LANES) = frames->U[i];
    *(sn_wide_f*)(tangent + (SN_TANGENT_V + i) * LANES) = frames->V[i];
  }
  if (work->exact) store_framed(&law.exact, exact_of(work, row));
  store_framed(&law.definite, tangent + SN_TANGENT_FRAMED * LANES);
  if (work->sharp) linearise_cut_cells(flesh, work, row);
}
