// Energy, forces and tangents of any law, in the frames of F = U diag(s) V^T; a part of
// flesh_kernels_impl.h (docs/theory/materials.md, docs/theory/incompressible.md).
//
// A law is W0 + bulk/2 M^2. Where M is a function of J it is that of the mean of J over the cell,
//     Jm = det[c0 c1 c2] + 1/3 (det[c0 a3 a5] + det[c1 a6 a3] + det[c2 a5 a6]),
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

// The mean of J, and how it grows with the linear modes (columns 0..2) and the hourglass modes 3, 5, 6 (3..5).
typedef struct mean_volume {
  sn_wide_d centre, mean, cofactors[3][3], Q[6][3];
} mean_volume;

static inline void find_mean_volume(const sn_wide_d F[9], sn_wide_d s[3][8], sn_wide_d scale,
                                    mean_volume* v) {
  volume_vectors_d x;
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 3; ++i) {
      x.c[k][i] = F[3 * i + k];
      x.a[k][i] = scale * s[i][MODE_OF[k]];
    }
  }
  differentiate_volume_d(&x, v->cofactors, v->Q);
  v->centre = dot3_d(x.c[0][0], x.c[0][1], x.c[0][2], v->cofactors[0][0], v->cofactors[0][1],
                     v->cofactors[0][2]);
  // The rest is of second degree in a: twice it is a . Q (Euler).
  sn_wide_d twice = sn_wide_set_d(0);
  for (int k = 0; k < 3; ++k) {
    twice +=
        dot3_d(x.a[k][0], x.a[k][1], x.a[k][2], v->Q[3 + k][0], v->Q[3 + k][1], v->Q[3 + k][2]);
  }
  v->mean = sn_wide_fma_d(sn_wide_set_d(0.5), twice, v->centre);
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

// P of the law at the centre and the pressure of the mean of J become the gradient by the modes.
static inline void add_stress(sn_wide_d four_h, const sn_wide_d P[9], sn_wide_d pressure,
                              sn_wide_d Q[6][3], sn_wide_d s[3][8]) {
  for (int i = 0; i < 3; ++i) {
    for (int k = 0; k < 3; ++k) {
      s[i][1 << k] = four_h * sn_wide_fma_d(pressure, Q[k][i], P[3 * i + k]);
      s[i][MODE_OF[k]] = sn_wide_fma_d(four_h * pressure, Q[3 + k][i], s[i][MODE_OF[k]]);
    }
  }
}

// Energy of one child of four lanes; its modes become the gradient.
static inline sn_wide_d evaluate_framed(const sn_flesh* flesh, const uint8_t* kinds,
                                        const sn_wide_d ab[2], mixed_side* mixed, sn_wide_d h,
                                        const sn_wide_d F[9], const frames_d* frames,
                                        sn_wide_d s[3][8]) {
  mean_volume v;
  sn_wide_d framed[9], P[9], four_h = sn_wide_set_d(4) * h;
  law_sums_d law;
  find_mean_volume(F, s, sn_wide_set_d(1) / four_h, &v);
  sum_laws(flesh, kinds, ab, mixed, frames->s, v.mean, &law);
  sn_wide_d energy = evaluate_hourglass(flesh, ab[0], s) + four_h * four_h * law.energy;
  for (int i = 0; i < 9; ++i) framed[i] = frames->U[i] * law.stress[i % 3];
  times_transposed_d(framed, frames->V, P);
  add_stress(four_h, P, law.pressure, v.Q, s);
  return energy;
}

// (|F|^2 - 3) / 2 - (J - 1) without cancelling at rest, wherever that is turned to: with Green's strain
// E = (D + D^T + D^T D) / 2, D = F - I, and J^2 = det(I + 2 E) it is
//     (tr E (J - 1) - 4 E_II - 8 det E) / (J + 1)
// and inside out, where nothing cancels, |D|^2 / 2 - D_II - det D.
static inline sn_wide_d polynomial_density(const sn_wide_d D[9], sn_wide_d J) {
  sn_wide_d half = sn_wide_set_d(0.5), one = sn_wide_set_d(1), E[6], minors[3];
  for (int e = 0; e < 6; ++e) {  // 00 11 22 01 12 02
    int i = e == 5 ? 0 : e % 3, j = e < 3 ? e : e == 5 ? 2 : i + 1;
    E[e] = half * (dot3_d(D[i], D[3 + i], D[6 + i], D[j], D[3 + j], D[6 + j]) +
                   (D[3 * i + j] + D[3 * j + i]));
  }
  for (int k = 0; k < 3; ++k) {
    sn_wide_d beside = E[k == 0 ? 4 : k == 1 ? 5 : 3];
    minors[k] = sn_wide_fma_d(E[(k + 1) % 3], E[(k + 2) % 3], -(beside * beside));
  }
  sn_wide_d trace = E[0] + E[1] + E[2], second = minors[0] + minors[1] + minors[2];
  sn_wide_d det = dot3_d(E[0], E[3], E[5], minors[0], sn_wide_fma_d(E[4], E[5], -(E[3] * E[2])),
                         sn_wide_fma_d(E[3], E[4], -(E[1] * E[5])));
  sn_wide_d density = sn_wide_fma_d(trace, J - one, sn_wide_set_d(-4) * second);
  density = sn_wide_fma_d(sn_wide_set_d(-8), det, density) / (J + one);
  sn_mask_d turned = J <= sn_wide_set_d(0);
  if (!sn_mask_any_d(turned)) return density;
  sn_wide_d direct = sn_wide_set_d(0), cofactor[3];
  for (int i = 0; i < 9; ++i) direct = sn_wide_fma_d(D[i], D[i], direct);
  direct *= half;
  for (int k = 0; k < 3; ++k) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    direct -= sn_wide_fma_d(D[4 * i], D[4 * j], -(D[3 * i + j] * D[3 * j + i]));
  }
  cross_d(D + 3, D + 6, cofactor);
  direct -= dot3_d(D[0], D[1], D[2], cofactor[0], cofactor[1], cofactor[2]);
  return sn_wide_select_d(turned, direct, density);
}

// The same as evaluate_framed for the polynomial law, by F alone:
//     P = mu (F - cof F),   the rest by the pressure (lambda + mu) (Jm - 1)
static inline sn_wide_d evaluate_polynomial(const sn_flesh* flesh, const sn_wide_d ab[2],
                                            mixed_side* mixed, sn_wide_d h, const sn_wide_d D[9],
                                            const sn_wide_d F[9], sn_wide_d s[3][8]) {
  mean_volume v;
  sn_wide_d P[9], four_h = sn_wide_set_d(4) * h, mu = sn_wide_set_d(0.5) * ab[0];
  find_mean_volume(F, s, sn_wide_set_d(1) / four_h, &v);
  sn_wide_d M = v.mean - sn_wide_set_d(1), bulk = polynomial_bulk_d(flesh, ab);
  sn_wide_d density = sn_wide_fma_d(mu, polynomial_density(D, v.centre),
                                    sn_wide_set_d(0.5) * bulk * M * M + mixed_energy(mixed, M));
  sn_wide_d energy = evaluate_hourglass(flesh, ab[0], s) + four_h * four_h * density;
  for (int i = 0; i < 9; ++i) P[i] = mu * (F[i] - v.cofactors[i % 3][i / 3]);
  add_stress(four_h, P, sn_wide_fma_d(bulk, M, mixed->pressure), v.Q, s);
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

// The mean of J - 1 for linearise, in single precision, and the hourglass modes.
static inline void store_mean_volume(const sn_flesh_work* work, size_t row, int lane,
                                     sn_wide_d s[3][8], sn_wide_d scale) {
  mean_volume v;
  sn_wide_d F[9];
  gradient_of(s, scale, F);
  find_mean_volume(F, s, scale, &v);
  float* tangent = tangent_of(work, row) + lane;
  store_narrow(v.mean - sn_wide_set_d(1), tangent + (SN_TANGENT_F + 9) * LANES);
  if (!work->volume) return;
  float* a = volume_of(work, row) + SN_VOLUME_A * LANES + lane;
  for (int i = 0; i < 9; ++i) store_narrow(scale * s[i % 3][MODE_OF[i / 3]], a + i * LANES);
}

// Tangents, in single precision: the law's second derivative, exact and definite.
typedef struct law_pair {
  sn_law_point_f exact, definite;
  sn_wide_f slope;     // dM/dJ; 0 where M is the trace
  sn_wide_f pressure;  // dW/dJ of what depends on the mean of J, and
  sn_wide_f factor;    // the second derivative, which is not in `exact`
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
  out->factor = bulk * square + pressure * M[2];
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

// R as a quaternion of length sqrt(2). Each of its numbers times each other is at hand: four times q q^T, of which the
// row with the largest square is taken.
static inline void store_rotation(const sn_wide_f R[9], float* out) {
  sn_wide_f one = sn_wide_set_f(1), q[4], largest = one + R[0] + R[4] + R[8];
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    q[i] = R[3 * k + j] - R[3 * j + k];
  }
  q[3] = largest;
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, k = (i + 2) % 3;
    sn_wide_f square = one + R[4 * i] - R[4 * j] - R[4 * k], row[4];
    row[i] = square;
    row[j] = R[3 * i + j] + R[3 * j + i];
    row[k] = R[3 * i + k] + R[3 * k + i];
    row[3] = R[3 * k + j] - R[3 * j + k];
    sn_mask_f larger = square > largest;
    largest = sn_wide_select_f(larger, square, largest);
    for (int n = 0; n < 4; ++n) q[n] = sn_wide_select_f(larger, row[n], q[n]);
  }
  sn_wide_f square = sn_wide_fma_f(q[3], q[3], dot3_f(q[0], q[1], q[2], q[0], q[1], q[2]));
  sn_wide_f scale = sn_wide_sqrt_f(sn_wide_set_f(2) / square);
  for (int n = 0; n < 4; ++n) *(sn_wide_f*)(out + n * LANES) = scale * q[n];
}

// What products need of the mean of J beside the hourglass modes, which are there.
static inline void finish_volume(const sn_wide_f F[9], const law_pair* law, sn_tangent_form form,
                                 float* volume) {
  memcpy(volume, F, SN_VOLUME_A * sizeof *F);
  *(sn_wide_f*)(volume + SN_VOLUME_PRESSURE * LANES) = law->pressure;
  if (form == SN_FORM_POLYNOMIAL) return;
  *(sn_wide_f*)(volume + SN_VOLUME_SLOPE * LANES) = law->slope;
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
  if (work->volume) finish_volume(frames->F, &law, flesh->form, volume_of(work, row));
  store_rotation(frames->U, tangent + SN_TANGENT_U * LANES);
  store_rotation(frames->V, tangent + SN_TANGENT_V * LANES);
  if (work->exact) store_framed(&law.exact, exact_of(work, row));
  store_framed(&law.definite, tangent + SN_TANGENT_FRAMED * LANES);
  if (work->sharp) linearise_cut_cells(flesh, work, row);
}
