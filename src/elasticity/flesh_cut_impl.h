// Cells with rules of their own: energy, forces and products by the points of the rules, four at a time; a
// part of flesh_kernels_impl.h (docs/theory/quadrature.md). With eta = (x, y, z) from -1 to 1, columns c
// of F at the centre and a = s / (4 h) of the hourglass modes, the columns at a point are
//     f0 = c0 + y a3 + z a5 + yz a7,   f1 = c1 + x a3 + z a6 + xz a7,   f2 = c2 + x a5 + y a6 + xy a7
// and the transpose gives dE/ds. The volume of a cell is measured once: by the mean over the rule of J, or
// of the trace for laws that measure that, so that flesh which hardly changes its volume can still bend.

#define MOST_GROUPS 3
// Of the hourglass energy that flesh of a cell's share would have if it were spread through the cell. In a
// small corner of a cell the strain hardly depends on the nodes across; without this they go astray. What it
// adds to the bending of a wall of thickness t is this times (h / t)^2. Whole cells need none: eight points
// see every mode.
#define CUT_HOURGLASS 0.003

static inline double hourglass_share(const sn_cut_cells* cut) {
  return cut->whole ? 0 : CUT_HOURGLASS;
}

typedef struct cut_cell {
  const sn_point_group* groups;
  int count;
  uint32_t first;  // group
} cut_cell;

static inline cut_cell cut_cell_at(const sn_cut_cells* cut, uint32_t number) {
  uint32_t first = cut->starts[number];
  return (cut_cell){cut->groups + first, (int)(cut->starts[number + 1] - first), first};
}

static inline void load_points(const sn_point_group* group, sn_wide_d eta[3]) {
  for (int i = 0; i < 3; ++i) memcpy(&eta[i], group->places[i], sizeof eta[i]);
}

// Gradient of what has the modes s, at the points of a group; `scale` is 1 / (4 h).
static inline void gradient_at_points(const sn_point_group* group, double s[3][8], double scale,
                                      sn_wide_d D[9]) {
  sn_wide_d eta[3];
  load_points(group, eta);
  sn_wide_d x = eta[0], y = eta[1], z = eta[2];
  for (int i = 0; i < 3; ++i) {
    sn_wide_d m[8];
    for (int k = 1; k < 8; ++k) m[k] = sn_wide_set_d(scale * s[i][k]);
    D[3 * i] = m[1] + y * m[3] + z * m[5] + y * z * m[7];
    D[3 * i + 1] = m[2] + x * m[3] + z * m[6] + x * z * m[7];
    D[3 * i + 2] = m[4] + x * m[5] + y * m[6] + x * y * m[7];
  }
}

static inline double sum_lanes(sn_wide_d v) { return (v[0] + v[1]) + (v[2] + v[3]); }

// Its transpose, added to g.
static inline void add_points(const sn_point_group* group, const sn_wide_d G[9], double g[3][8]) {
  sn_wide_d eta[3];
  load_points(group, eta);
  sn_wide_d x = eta[0], y = eta[1], z = eta[2];
  for (int i = 0; i < 3; ++i) {
    sn_wide_d a = G[3 * i], b = G[3 * i + 1], c = G[3 * i + 2];
    g[i][1] += sum_lanes(a);
    g[i][2] += sum_lanes(b);
    g[i][4] += sum_lanes(c);
    g[i][3] += sum_lanes(y * a + x * b);
    g[i][5] += sum_lanes(z * a + x * c);
    g[i][6] += sum_lanes(z * b + y * c);
    g[i][7] += sum_lanes(y * z * a + x * z * b + x * y * c);
  }
}

// What the volume of a cell costs: `measure` is the mean of J, or of the trace of S - I.
typedef struct cut_volume {
  double energy, pressure, stiffness;  // and its derivatives by the mean
  double M[2];                         // what the law makes of it, and the derivative of that
} cut_volume;

static inline bool measures_trace(const sn_material* kind) {
  return sn_law_measure_kind(kind->law) == SN_MEASURE_TRACE;
}

static inline cut_volume volume_law(const sn_material* kind, const double ab[2], double measure) {
  sn_wide_d M[3] = {sn_wide_set_d(measure), sn_wide_set_d(1), sn_wide_set_d(0)};
  double bulk = sn_law_bulk_d(kind, sn_wide_set_d(0.5 * ab[0]), sn_wide_set_d(ab[1]))[0];
  if (sn_law_measures_J(kind->law)) sn_law_measure_d(kind, sn_wide_set_d(measure), M);
  return (cut_volume){0.5 * bulk * M[0][0] * M[0][0],
                      bulk * M[0][0] * M[1][0],
                      bulk * (M[1][0] * M[1][0] + M[0][0] * M[2][0]),
                      {M[0][0], M[1][0]}};
}

// Which parts of a law the points see.
static inline sn_law_parts parts_at_points(const sn_material* kind) {
  return sn_law_measures_J(kind->law) || measures_trace(kind) ? SN_LAW_SHAPE : SN_LAW_WHOLE;
}

static inline sn_wide_d measure_at_points(const sn_material* kind, const sn_wide_d s[3]) {
  if (sn_law_measures_J(kind->law)) return s[0] * s[1] * s[2];
  sn_wide_d one = sn_wide_set_d(1);
  return (s[0] - one) + (s[1] - one) + (s[2] - one);
}

// dW/ds at the points, given the pressure of the whole cell.
static inline void stress_at_points(const sn_material* kind, const double ab[2], double pressure,
                                    const sn_wide_d s[3], sn_law_point_d* point) {
  sn_law_evaluate_d(kind, sn_wide_set_d(0.5 * ab[0]), sn_wide_set_d(ab[1]), s,
                    parts_at_points(kind), point);
  sn_wide_d push = sn_wide_set_d(pressure), linear[3] = {sn_wide_set_d(0), push, sn_wide_set_d(0)};
  if (sn_law_measures_J(kind->law)) add_function_of_J_d(s, linear, point);
  if (!measures_trace(kind)) return;
  sn_wide_d least = least_sum_d(s);
  for (int i = 0; i < 3; ++i) {
    point->stress[i] += push;
    point->twist[i] += (push + push) / held_sum_d(s, i, least);
  }
}

// s.K s of the hourglass modes of one axis for a stiffness of 1, whose gradient is added to g.
static inline double add_hourglass(const sn_flesh* flesh, double stiffness, const double s[8],
                                   double g[8]) {
  double edge = flesh->hourglass * SN_HOURGLASS_EDGE, sum = 0;
  for (int m = 3; m < 8; ++m) {
    if (m == 4) continue;
    double k = m == 7 ? flesh->hourglass * SN_HOURGLASS_CORNER : edge;
    sum += k * s[m] * s[m];
    g[m] += stiffness * k * s[m];
  }
  return sum;
}

// Energy of one cut cell of material a, b in 16 h^2 times the units of the law; g = dE/ds.
static double evaluate_cut(const sn_flesh* flesh, uint32_t number, const sn_material* kind,
                           const double ab[2], mixed_side* mixed, double h, double s[3][8],
                           double g[3][8]) {
  cut_cell cell = cut_cell_at(flesh->cut, number);
  frames_d frames[MOST_GROUPS];
  sn_wide_d w, sum = sn_wide_set_d(0), share = sum;
  memset(g, 0, sizeof(double[3][8]));
  for (int q = 0; q < cell.count; ++q) {
    memcpy(&w, cell.groups[q].weights, sizeof w);
    gradient_at_points(&cell.groups[q], s, 0.25 / h, frames[q].F);
    for (int i = 0; i < 9; i += 4) frames[q].F[i] += sn_wide_set_d(1);
    for (int i = 0; i < 9; ++i) frames[q].V[i] = sn_wide_set_d(i % 4 == 0);
    find_frames_of_d(1, &frames[q]);
    sum += w * measure_at_points(kind, frames[q].s);
    share += w;
  }
  cut_volume volume = {0};
  double filled = sum_lanes(share);
  if (parts_at_points(kind) == SN_LAW_SHAPE) volume = volume_law(kind, ab, sum_lanes(sum) / filled);
  volume.energy += mixed_energy(mixed, sn_wide_set_d(volume.M[0]))[0];
  volume.pressure += mixed->pressure[0] * volume.M[1];
  double energy = filled * volume.energy, modes = 0;
  double hourglass = hourglass_share(flesh->cut) * filled * ab[0];
  for (int i = 0; i < 3; ++i) modes += add_hourglass(flesh, hourglass, s[i], g[i]);
  for (int q = 0; q < cell.count; ++q) {
    sn_law_point_d point;
    sn_wide_d P[9];
    memcpy(&w, cell.groups[q].weights, sizeof w);
    stress_at_points(kind, ab, volume.pressure, frames[q].s, &point);
    energy += sum_lanes(w * point.energy);
    sn_wide_d force = sn_wide_set_d(4 * h) * w;
    for (int i = 0; i < 9; ++i) frames[q].U[i] *= force * point.stress[i % 3];
    times_transposed_d(frames[q].U, frames[q].V, P);
    add_points(&cell.groups[q], P, g);
  }
  return 16 * h * h * energy + 0.5 * hourglass * modes;
}

static inline const sn_material* kind_at(const sn_flesh* flesh, const sn_flesh_work* work,
                                         size_t row, int lane) {
  const uint8_t* kinds = kinds_of(work, row, lane);
  return &flesh->tissue.kinds[kinds ? *kinds : 0];
}

// All lanes of one side: what is not cut in them is lost. Energy is added up; modes become gradients.
static double evaluate_cut_side(const sn_flesh* flesh, const sn_flesh_work* work, size_t row,
                                int lane, const sn_wide_d ab[2], mixed_side* mixed, sn_wide_d h,
                                sn_wide_d s[3][8]) {
  double energy = 0;
  uint8_t lanes = cut_lanes(flesh, row);
  for (int l = 0; l < SN_LANES_d; ++l) {
    if (!(lanes >> (lane + l) & 1)) continue;
    double modes[3][8], g[3][8], own[2] = {ab[0][l], ab[1][l]};
    for (int i = 0; i < 3; ++i) {
      for (int m = 1; m < 8; ++m) modes[i][m] = s[i][m][l];
    }
    uint32_t number = cut_number(flesh->cut, row, lane + l);
    mixed_side its = {sn_wide_set_d(mixed->pressure[l]), sn_wide_set_d(mixed->kept[l]), {0}};
    energy +=
        evaluate_cut(flesh, number, kind_at(flesh, work, row, lane + l), own, &its, h[l], modes, g);
    mixed->measure[l] = its.measure[0];
    for (int i = 0; i < 3; ++i) {
      for (int m = 1; m < 8; ++m) s[i][m][l] = g[i][m];
    }
  }
  return energy;
}

// Energy of one child of four lanes; its modes become the gradient.
static inline sn_wide_d evaluate_side(const sn_flesh* flesh, const sn_flesh_work* work, size_t row,
                                      int lane, sn_wide_d ab[2], mixed_side* mixed, sn_wide_d h,
                                      const sn_wide_d F[9], const frames_d* frames,
                                      sn_wide_d s[3][8]) {
  const uint8_t* kinds = kinds_of(work, row, lane);
  uint8_t lanes = cut_lanes(flesh, row);
  if (!(lanes >> lane & 15)) return evaluate_framed(flesh, kinds, ab, mixed, h, F, frames, s);
  sn_wide_d own[3][8], energy = sn_wide_set_d(0);
  sn_mask_d is_cut = cut_mask_d(lanes, lane);
  memcpy(own, s, sizeof own);
  mixed_side whole = *mixed;
  energy[0] = evaluate_cut_side(flesh, work, row, lane, ab, mixed, h, own);
  for (int i = 0; i < 2; ++i) ab[i] = sn_wide_keep_d(~is_cut, ab[i]);
  whole.pressure = sn_wide_keep_d(~is_cut, whole.pressure);
  energy += evaluate_framed(flesh, kinds, ab, &whole, h, F, frames, s);
  mixed->measure = sn_wide_select_d(is_cut, mixed->measure, whole.measure);
  for (int i = 0; i < 3; ++i) {
    for (int m = 1; m < 8; ++m) s[i][m] = sn_wide_select_d(is_cut, own[i][m], s[i][m]);
  }
  return energy;
}

// Tangents at the points.

static void deform_points(const sn_flesh* flesh, sn_flesh_work* work, uint32_t number, double h,
                          double s[3][8]) {
  cut_cell cell = cut_cell_at(flesh->cut, number);
  for (int q = 0; q < cell.count; ++q) {
    sn_wide_d F[9];
    gradient_at_points(&cell.groups[q], s, 0.25 / h, F);
    for (int i = 0; i < 9; ++i) {
      sn_wide_d f = i % 4 == 0 ? F[i] + sn_wide_set_d(1) : F[i];
      store_narrow(f, work->points[cell.first + (uint32_t)q].U[i]);
    }
  }
}

static void deform_cut_side(const sn_flesh* flesh, sn_flesh_work* work, size_t row, int lane,
                            sn_wide_d h, sn_wide_d s[3][8]) {
  uint8_t lanes = cut_lanes(flesh, row);
  for (int l = 0; l < SN_LANES_d; ++l) {
    double modes[3][8];
    if (!(lanes >> (lane + l) & 1)) continue;
    for (int i = 0; i < 3; ++i) {
      for (int m = 1; m < 8; ++m) modes[i][m] = s[i][m][l];
    }
    deform_points(flesh, work, cut_number(flesh->cut, row, lane + l), h[l], modes);
  }
}

// The law at the points, without what a change of the mean gives beyond the pressure.
static void linearise_point_group(const sn_material* kind, const double ab[2], cut_volume volume,
                                  frames_d* frames, sn_point_tangents* t) {
  sn_wide_d half = sn_wide_set_d(0.5), one = sn_wide_set_d(1);
  const sn_wide_d* s = frames->s;
  sn_law_point_d point;
  stress_at_points(kind, ab, volume.pressure, s, &point);
  for (int i = 0; i < 9; ++i) {
    store_narrow(frames->U[i], t->U[i]);
    store_narrow(frames->V[i], t->V[i]);
  }
  for (int i = 0; i < 3; ++i) {
    store_narrow(sn_law_measures_J(kind->law) ? s[(i + 1) % 3] * s[(i + 2) % 3] : one,
                 t->beside[i]);
  }
  static const sn_hessian KINDS[2] = {SN_HESSIAN_EXACT, SN_HESSIAN_DEFINITE};
  for (int k = 0; k < 2; ++k) {
    if (KINDS[k] == SN_HESSIAN_DEFINITE) sn_law_make_definite_d(&point);
    for (int i = 0; i < 6; ++i) store_narrow(point.stretch[i], t->hessian[KINDS[k]][i]);
    for (int i = 0; i < 3; ++i) {
      store_narrow(half * point.shear[i], t->hessian[KINDS[k]][6 + i]);
      store_narrow(half * point.twist[i], t->hessian[KINDS[k]][9 + i]);
    }
  }
}

static void linearise_cut(const sn_flesh* flesh, sn_flesh_work* work, uint32_t number,
                          const sn_material* kind, const double ab[2], double held) {
  cut_cell cell = cut_cell_at(flesh->cut, number);
  sn_point_tangents* t = work->points + cell.first;
  frames_d frames[MOST_GROUPS];
  sn_wide_d sum = sn_wide_set_d(0), share = sum;
  for (int q = 0; q < cell.count; ++q) {
    sn_wide_d w;
    memcpy(&w, cell.groups[q].weights, sizeof w);
    for (int i = 0; i < 9; ++i) {
      frames[q].F[i] = sn_wide_load_d(t[q].U[i]);
      frames[q].V[i] = sn_wide_set_d(i % 4 == 0);
    }
    find_frames_of_d(1, &frames[q]);
    sum += w * measure_at_points(kind, frames[q].s);
    share += w;
  }
  cut_volume volume = {0};
  if (parts_at_points(kind) == SN_LAW_SHAPE) {
    volume = volume_law(kind, ab, sum_lanes(sum) / sum_lanes(share));
    volume.pressure += held * volume.M[1];
  }
  for (int q = 0; q < cell.count; ++q) {
    linearise_point_group(kind, ab, volume, &frames[q], &t[q]);
    t[q].bulk = (float)volume.stiffness;
    t[q].hourglass = (float)(hourglass_share(flesh->cut) * sum_lanes(share) * ab[0]);
  }
}

static void linearise_cut_cells(const sn_flesh* flesh, sn_flesh_work* work, size_t row) {
  const float* tangent = tangent_of(work, row);
  uint8_t lanes = cut_lanes(flesh, row);
  for (int lane = 0; lane < LANES; ++lane) {
    double ab[2] = {tangent[lane], tangent[LANES + lane]}, held = 0;
    if (!(lanes >> lane & 1)) continue;
    if (work->pressure) held = work->stiffening * pressure_of(work, row)[lane];
    linearise_cut(flesh, work, cut_number(flesh->cut, row, lane), kind_at(flesh, work, row, lane),
                  ab, held);
  }
}

// dP of the points of a group for D, in place; the change of what is measured at each point goes to `change`, or what
// `push` times that says is added.
static inline void multiply_points(const sn_point_tangents* t, sn_hessian kind, sn_wide_d D[9],
                                   sn_wide_d* change, sn_wide_d push) {
  sn_wide_d C[9], U[9], V[9], hessian[SN_HESSIAN_NUMBERS_FRAMES];
  for (int i = 0; i < 9; ++i) {
    U[i] = sn_wide_load_d(t->U[i]);
    V[i] = sn_wide_load_d(t->V[i]);
  }
  transposed_times_d(U, D, C);
  matrix_times_d(C, V, D);
  if (change) {
    *change = dot3_d(D[0], D[4], D[8], sn_wide_load_d(t->beside[0]), sn_wide_load_d(t->beside[1]),
                     sn_wide_load_d(t->beside[2]));
    return;
  }
  for (int i = 0; i < SN_HESSIAN_NUMBERS_FRAMES; ++i) {
    hessian[i] = sn_wide_load_d(t->hessian[kind][i]);
  }
  multiply_framed_d(hessian, D);
  for (int k = 0; k < 3; ++k) D[4 * k] += push * sn_wide_load_d(t->beside[k]);
  times_transposed_d(D, V, C);
  matrix_times_d(U, C, D);
}

// All points of a cell have the same; the definite kind holds it above zero.
static inline double bulk_of(const sn_point_tangents* t, sn_hessian kind) {
  return kind == SN_HESSIAN_DEFINITE && t->bulk < 0 ? 0 : t->bulk;
}

// g = K s for one cut cell.
static void multiply_cut(const sn_flesh* flesh, const sn_flesh_work* work, uint32_t number,
                         sn_hessian kind, double s[3][8], double g[3][8]) {
  cut_cell cell = cut_cell_at(flesh->cut, number);
  const sn_point_tangents* t = work->points + cell.first;
  sn_wide_d w, D[9], change, sum = sn_wide_set_d(0), share = sum;
  for (int q = 0; q < cell.count; ++q) {
    memcpy(&w, cell.groups[q].weights, sizeof w);
    gradient_at_points(&cell.groups[q], s, 1, D);
    multiply_points(&t[q], kind, D, &change, sum);
    sum += w * change;
    share += w;
  }
  sn_wide_d push = sn_wide_set_d(bulk_of(t, kind) * sum_lanes(sum) / sum_lanes(share));
  memset(g, 0, sizeof(double[3][8]));
  for (int i = 0; i < 3; ++i) add_hourglass(flesh, t->hourglass, s[i], g[i]);
  for (int q = 0; q < cell.count; ++q) {
    memcpy(&w, cell.groups[q].weights, sizeof w);
    gradient_at_points(&cell.groups[q], s, 1, D);
    multiply_points(&t[q], kind, D, NULL, push);
    for (int i = 0; i < 9; ++i) D[i] *= w;
    add_points(&cell.groups[q], D, g);
  }
}

// Entries of the diagonal of K at a corner whose shape function has the modes s, for the three axes. In
// the frames dF is u t^T, with u the row of U and t = V^T grad.
static void cut_diagonal(const sn_flesh* flesh, const sn_flesh_work* work, uint32_t number,
                         sn_hessian kind, const double s[8], double entries[3]) {
  cut_cell cell = cut_cell_at(flesh->cut, number);
  const sn_point_tangents* tangents = work->points + cell.first;
  double modes[3][8] = {{0}}, unused[8] = {0}, change[3] = {0, 0, 0}, share = 0;
  memcpy(modes[0], s, sizeof modes[0]);
  double hourglass = tangents->hourglass * add_hourglass(flesh, 0, s, unused);
  for (int i = 0; i < 3; ++i) entries[i] = hourglass;
  for (int q = 0; q < cell.count; ++q) {
    const sn_point_tangents* t = &tangents[q];
    sn_wide_d w, D[9], frame[ROW_NUMBERS], hessian[SN_HESSIAN_NUMBERS_FRAMES];
    memcpy(&w, cell.groups[q].weights, sizeof w);
    gradient_at_points(&cell.groups[q], modes, 1, D);
    for (int i = 0; i < 9; ++i) {
      frame[ROW_U + i] = sn_wide_load_d(t->U[i]);
      frame[ROW_V + i] = sn_wide_load_d(t->V[i]);
    }
    for (int i = 0; i < SN_HESSIAN_NUMBERS_FRAMES; ++i) {
      hessian[i] = sn_wide_load_d(t->hessian[kind][i]);
    }
    sn_wide_d slope[8] = {[1] = D[0], [2] = D[1], [4] = D[2]}, forms[3][6], products[6];
    diagonal_forms_d(SN_FORM_FRAMES, frame, hessian, forms);
    form_products_d(SN_FORM_FRAMES, frame, slope, products);
    for (int i = 0; i < 3; ++i) {
      entries[i] += sum_lanes(w * form_value_d(forms[i], products));
      sn_wide_d own = sn_wide_set_d(0);
      for (int k = 0; k < 3; ++k) {
        const sn_wide_d* V = frame + ROW_V;
        own += sn_wide_load_d(t->beside[k]) * frame[ROW_U + 3 * i + k] *
               dot3_d(V[k], V[3 + k], V[6 + k], D[0], D[1], D[2]);
      }
      change[i] += sum_lanes(w * own);
    }
    share += sum_lanes(w);
  }
  for (int i = 0; i < 3; ++i) entries[i] += bulk_of(tangents, kind) * change[i] * change[i] / share;
}
