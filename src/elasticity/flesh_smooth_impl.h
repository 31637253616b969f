// The part of flesh_kernels_impl.h that smooths, in single precision alone: before the visit a product whose
// operand is made as it is fetched, after it one whose result is used as it is delivered. See sn_smoothing.

static void fetch_smoothed(const sn_flesh* flesh, size_t chunk, const sn_smoothing* s,
                           private_nodes_f* nodes) {
  const sn_families* f = flesh->families;
  const uint32_t *list = f->chunk_nodes + f->node_starts[chunk], last = flesh->tree->node_count - 1;
  uint32_t count = f->node_starts[chunk + 1] - f->node_starts[chunk];
  for (uint32_t i = 0; i < count; ++i) {
    *(sn_quad_f*)nodes->at[i] = sn_smoothing_start(s, list[i], last);
  }
  memset(nodes->at[count], 0, sizeof nodes->at[count]);
}

// A x - b of one node as far as this chunk knows it.
static inline sn_quad_f wrong_at(const sn_smoothing* s, uint32_t node, uint32_t last, sn_quad_f sum,
                                 sn_quad_f x, sn_quad_f b) {
  if (s->springs) sum += sn_quad_load3_f(s->springs, node, last) * x;
  return sum - b;
}

// After the visit: inner nodes are done, own nodes that others touch as well wait for these. Returns x.b of
// the inner ones.
static double deliver_smoothed(const sn_flesh* flesh, size_t chunk, const private_nodes_f* nodes,
                               const sn_smoothing* s, const private_nodes_f* x, float* slots) {
  const sn_families* f = flesh->families;
  const uint32_t *list = f->chunk_nodes + f->node_starts[chunk], last = flesh->tree->node_count - 1;
  uint32_t count = f->node_starts[chunk + 1] - f->node_starts[chunk], own = f->own_counts[chunk];
  sn_quad_d sums = {0, 0, 0, 0};
  for (uint32_t i = 0; i < own; ++i) {
    uint32_t node = list[i];
    sn_quad_f value = *(const sn_quad_f*)x->at[i], b = sn_quad_load3_f(s->b, node, last);
    sn_quad_f r = wrong_at(s, node, last, *(const sn_quad_f*)nodes->at[i], value, b);
    if (i < f->inner_counts[chunk]) {
      value -= s->damping * sn_quad_load3_f(s->inverse, node, last) * r;
      sums += __builtin_convertvector(value, sn_quad_d) * __builtin_convertvector(b, sn_quad_d);
      sn_quad_store3_f(value, s->x + 3 * (size_t)node);
    } else {
      sn_quad_store3_f(r, s->r + 3 * (size_t)node);
    }
  }
  float* slot = slots + 3 * (size_t)f->slot_starts[chunk];
  for (uint32_t i = own; i < count; ++i, slot += 3) {
    sn_quad_store3_f(*(const sn_quad_f*)nodes->at[i], slot);
  }
  return sums[0] + sums[1] + sums[2];
}

__attribute__((always_inline)) static inline double smooth_form(const sn_flesh* flesh,
                                                                sn_flesh_work* work, size_t chunk,
                                                                const sn_smoothing* s,
                                                                sn_tangent_form form) {
  private_nodes_f in, out;
  if (s->coarser) {
    fetch_nodes_f(flesh, chunk, s->x, &in);
  } else {
    fetch_smoothed(flesh, chunk, s, &in);
  }
  multiply_packets_f(flesh, work, SN_HESSIAN_DEFINITE, chunk, &in, &out, form);
  if (s->coarser) return deliver_smoothed(flesh, chunk, &out, s, &in, work->slots);
  sn_addends_f addends = {.diagonal = s->springs, .v = s->b, .scale = -1};
  deliver_nodes_f(flesh, chunk, &out, &addends, &in, work->slots, s->r);
  return 0;
}

static double smooth_R(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk,
                       const sn_smoothing* s) {
  return smooth_form(flesh, work, chunk, s, SN_FORM_COROTATED);
}
static double smooth_UV(const sn_flesh* flesh, sn_flesh_work* work, size_t chunk,
                        const sn_smoothing* s) {
  return smooth_form(flesh, work, chunk, s, SN_FORM_FRAMES);
}
