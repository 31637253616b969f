// The stiffness operator of flesh for SN_REAL; NAME(x) is x in double and x_f in single precision.

typedef struct NAME(operator_job) {
  const sn_flesh* flesh;
  NAME(sn_flesh_work) * work;
  sn_hessian kind;
  const SN_REAL* in;
} NAME(operator_job);

static SN_P(sn_cell_material) NAME(material_of)(const sn_flesh* flesh, uint32_t cell) {
  return (SN_P(sn_cell_material)){(SN_REAL)sn_octree_edge(flesh->tree, cell),
                                  (SN_REAL)flesh->mu[cell], (SN_REAL)flesh->lambda[cell]};
}

static void NAME(gather)(const sn_octree* tree, uint32_t cell, const SN_REAL* in,
                         SN_REAL corners[8][3]) {
  const uint32_t* nodes = tree->conforming + 8 * (size_t)cell;
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) corners[c][i] = in[3 * (size_t)nodes[c] + i];
  }
}

// Room of a chunk's slots, cleared.
static SN_REAL* NAME(clear_slots)(const sn_flesh* flesh, SN_REAL* all, size_t chunk) {
  const uint32_t* starts = flesh->chunks->slot_starts;
  SN_REAL* slots = all + 3 * (size_t)starts[chunk];
  memset(slots, 0, 3 * (size_t)(starts[chunk + 1] - starts[chunk]) * sizeof *slots);
  return slots;
}

static void NAME(scatter)(const sn_chunks* chunks, uint32_t cell, SN_REAL corners[8][3],
                          SN_REAL* slots) {
  const uint16_t* local = chunks->local + 8 * (size_t)cell;
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) slots[3 * (size_t)local[c] + i] += corners[c][i];
  }
}

static void NAME(add_product)(void* ctx, size_t begin, size_t end) {
  const NAME(operator_job)* job = ctx;
  const sn_octree* tree = job->flesh->tree;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    SN_REAL* slots = NAME(clear_slots)(job->flesh, job->work->slots, chunk);
    for (uint32_t e = sn_chunk_first(chunk); e < sn_chunk_end(tree, chunk); ++e) {
      SN_REAL p[8][3], y[8][3];
      SN_P(sn_cell_material) material = NAME(material_of)(job->flesh, e);
      NAME(gather)(tree, e, job->in, p);
      SN_P(sn_cell_apply)
      (sn_flesh_shape(tree, e), &material, &job->work->tangents[e], job->kind,
       (const SN_REAL(*)[3])p, y);
      NAME(scatter)(job->flesh->chunks, e, y, slots);
    }
  }
}

static void NAME(add_diagonal)(void* ctx, size_t begin, size_t end) {
  const NAME(operator_job)* job = ctx;
  const sn_octree* tree = job->flesh->tree;
  for (size_t chunk = begin; chunk < end; ++chunk) {
    SN_REAL* slots = NAME(clear_slots)(job->flesh, job->work->slots, chunk);
    for (uint32_t e = sn_chunk_first(chunk); e < sn_chunk_end(tree, chunk); ++e) {
      SN_REAL d[8][3];
      SN_P(sn_cell_material) material = NAME(material_of)(job->flesh, e);
      SN_P(sn_cell_diagonal)
      (sn_flesh_shape(tree, e), &material, &job->work->tangents[e], job->kind, d);
      NAME(scatter)(job->flesh->chunks, e, d, slots);
    }
  }
}

void NAME(sn_flesh_apply)(const sn_flesh* flesh, sn_pool* pool, NAME(sn_flesh_work) * work,
                          sn_hessian kind, const SN_REAL* p, SN_REAL* y) {
  NAME(operator_job) job = {flesh, work, kind, p};
  sn_parallel_for(pool, flesh->chunks->chunk_count, 1, NAME(add_product), &job);
  SN_P(sn_chunks_collect)(flesh->chunks, flesh->tree, pool, work->slots, y);
}

void NAME(sn_flesh_diagonal)(const sn_flesh* flesh, sn_pool* pool, NAME(sn_flesh_work) * work,
                             sn_hessian kind, SN_REAL* d) {
  NAME(operator_job) job = {.flesh = flesh, .work = work, .kind = kind};
  sn_parallel_for(pool, flesh->chunks->chunk_count, 1, NAME(add_diagonal), &job);
  SN_P(sn_chunks_collect)(flesh->chunks, flesh->tree, pool, work->slots, d);
}
