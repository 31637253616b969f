// The part of flesh_kernels_impl.h between displacements and the pressures of cells, for SN_REAL:
//     gather    t = w Q : s          one number a cell from the plain sums s of its modes
//     scatter   s = w Q t            its transpose
// where Q = dM/dF is how the measure M of the change of volume grows with F, and w a weight a cell.
// docs/theory/incompressible.md.

// Q of a row, by the linear modes and the hourglass modes 3, 5, 6. For M = tr(S - I) it
// is R and nothing.
static inline void SN_P(load_volume_gradient)(const sn_flesh* flesh, const sn_flesh_work* work,
                                              size_t row, int lane, WIDE by_modes[9],
                                              WIDE hourglass[9]) {
  const float* tangent = tangent_of(work, row);
  if (!work->volume) {
    SN_P(load_rotation)(tangent, lane, by_modes);
    return;
  }
  const float* volume = volume_of(work, row);
  SN_P(volume_vectors) x;
  WIDE U[9], V[9], R[9], cofactors[3][3], Q[6][3], zero = SET(0), slope = SET(!work->eased);
  if (flesh->form == SN_FORM_FRAMES) {
    SN_P(load_tangent)(volume, lane, SN_VOLUME_SLOPE, 1, &slope);
  }
  SN_P(load_volume_vectors)(volume, lane, &x);
  SN_P(differentiate_volume)(&x, cofactors, Q);
  SN_P(load_frames)(tangent, lane, U, V);
  SN_P(times_transposed)(U, V, R);
  for (int i = 0; i < 9; ++i) {
    by_modes[i] = SELECT(slope == zero, R[i], slope * Q[i % 3][i / 3]);
    hourglass[i] = slope * Q[3 + i / 3][i % 3];
  }
}

// The transpose of the three linear modes of one axis, added to the corners.
static inline void SN_P(add_linear_modes)(WIDE s1, WIDE s2, WIDE s4, int i, WIDE (*v)[3]) {
  WIDE sum = s1 + s2, difference = s1 - s2;
  WIDE a = sum + s4, b = difference - s4, c = difference + s4, d = sum - s4;
  v[0][i] -= a;
  v[1][i] += b;
  v[3][i] -= c;
  v[4][i] += d;
  v[9][i] -= d;
  v[10][i] += c;
  v[12][i] -= b;
  v[13][i] += a;
}

// Numbers of a row, from and to memory.
static inline WIDE SN_P(load_places)(const SN_REAL* at) {
  WIDE value;
  memcpy(&value, at, sizeof value);
  return value;
}

static void SN_P(gather_pressures)(const sn_flesh* flesh, const sn_flesh_work* work, size_t chunk,
                                   const float* weights, const SN_REAL* u, SN_REAL* t) {
  const sn_families* f = flesh->families;
  SN_P(private_nodes) in;
  SN_P(fetch_nodes)(flesh, chunk, u, &in);
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    for (int lane = 0; lane < LANES; lane += SN_P(SN_LANES)) {
      WIDE v[POINTS][3];
      SN_P(load_lattice)(f, packet, lane, &in, v, NULL);
      for (sn_family_row row = sn_family_first(f, packet); row.child < 8;
           row = sn_family_next(row)) {
        size_t place = (size_t)row.at * LANES + (size_t)lane;
        WIDE Q[9], hourglass[9], sum = SET(0);
        SN_P(load_volume_gradient)(flesh, work, row.at, lane, Q, hourglass);
        for (int i = 0; i < 3; ++i) {
          WIDE s[8];
          SN_P(to_modes)(v + CHILD[row.child], i, s);
          sum = FMA(Q[3 * i + 2], s[4], FMA(Q[3 * i + 1], s[2], FMA(Q[3 * i], s[1], sum)));
          if (!work->volume) continue;
          sum = FMA(hourglass[6 + i], s[6],
                    FMA(hourglass[3 + i], s[5], FMA(hourglass[i], s[3], sum)));
        }
        sum *= SN_P(sn_wide_load)(weights + place);
        memcpy(t + place, &sum, sizeof sum);
      }
    }
  }
}

static void SN_P(scatter_pressures)(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk,
                                    const float* weights, const SN_REAL* t, SN_REAL* y) {
  const sn_families* f = flesh->families;
  SN_P(private_nodes) out;
  SN_P(clear_nodes)(f, chunk, &out);
  for (uint32_t packet = (uint32_t)chunk * SN_CHUNK_PACKETS; packet < chunk_end(flesh, chunk);
       ++packet) {
    for (int lane = 0; lane < LANES; lane += SN_P(SN_LANES)) {
      WIDE sums[POINTS][3];
      memset(sums, 0, sizeof sums);
      for (sn_family_row row = sn_family_first(f, packet); row.child < 8;
           row = sn_family_next(row)) {
        size_t place = (size_t)row.at * LANES + (size_t)lane;
        WIDE Q[9], hourglass[9];
        WIDE value = SN_P(sn_wide_load)(weights + place) * SN_P(load_places)(t + place);
        SN_P(load_volume_gradient)(flesh, work, row.at, lane, Q, hourglass);
        for (int i = 0; i < 3; ++i) {
          if (work->volume) {
            WIDE zero = SET(0);
            WIDE modes[8] = {zero,
                             value * Q[3 * i],
                             value * Q[3 * i + 1],
                             value * hourglass[i],
                             value * Q[3 * i + 2],
                             value * hourglass[3 + i],
                             value * hourglass[6 + i],
                             zero};
            SN_P(add_modes)(modes, i, sums + CHILD[row.child]);
          } else {
            SN_P(add_linear_modes)
            (value * Q[3 * i], value * Q[3 * i + 1], value * Q[3 * i + 2], i,
             sums + CHILD[row.child]);
          }
        }
      }
      SN_P(add_lattice)(f, packet, lane, sums, &out);
    }
  }
  SN_P(deliver_nodes)(flesh, chunk, &out, NULL, NULL, work->slots, y);
}
