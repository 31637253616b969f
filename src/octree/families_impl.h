// The body of sn_families_collect, for SN_REAL. See families.h.

typedef struct SN_P(collect_job) {
  const sn_families* families;
  const SN_REAL* slots;
  SN_REAL* y;
} SN_P(collect_job);

static void SN_P(collect)(void* ctx, size_t begin, size_t end) {
  const SN_P(collect_job)* job = ctx;
  const sn_families* f = job->families;
  for (size_t i = begin; i < end; ++i) {
    SN_REAL* y = job->y + 3 * (size_t)f->shared_nodes[i];
    SN_REAL sum[3] = {y[0], y[1], y[2]};
    for (uint32_t s = f->shared_starts[i]; s < f->shared_starts[i + 1]; ++s) {
      const SN_REAL* slot = job->slots + 3 * (size_t)f->shared_slots[s];
      for (int k = 0; k < 3; ++k) sum[k] += slot[k];
    }
    for (int k = 0; k < 3; ++k) y[k] = sum[k];
  }
}

void SN_P(sn_families_collect)(const sn_families* families, sn_pool* pool, const SN_REAL* slots,
                               SN_REAL* y) {
  SN_P(collect_job) job = {families, slots, y};
  sn_parallel_for(pool, families->shared_count, 1024, SN_P(collect), &job);
}
