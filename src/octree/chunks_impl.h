// The body of sn_chunks_collect, for SN_REAL. See chunks.h.

typedef struct SN_P(collect_job) {
  const sn_chunks* chunks;
  const SN_REAL* slots;
  SN_REAL* y;
} SN_P(collect_job);

static void SN_P(collect)(void* ctx, size_t begin, size_t end) {
  const SN_P(collect_job)* job = ctx;
  const sn_chunks* chunks = job->chunks;
  for (size_t n = begin; n < end; ++n) {
    SN_REAL sum[3] = {job->y[3 * n], job->y[3 * n + 1], job->y[3 * n + 2]};
    for (uint32_t s = chunks->node_slot_starts[n]; s < chunks->node_slot_starts[n + 1]; ++s) {
      const SN_REAL* slot = job->slots + 3 * (size_t)chunks->node_slots[s];
      for (int i = 0; i < 3; ++i) sum[i] += slot[i];
    }
    for (int i = 0; i < 3; ++i) job->y[3 * n + i] = sum[i];
  }
}

void SN_P(sn_chunks_collect)(const sn_chunks* chunks, const sn_octree* tree, sn_pool* pool,
                             const SN_REAL* slots, SN_REAL* y) {
  SN_P(collect_job) job = {chunks, slots, y};
  sn_parallel_for(pool, tree->node_count, 1024, SN_P(collect), &job);
}
