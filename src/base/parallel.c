// Between jobs threads look for the next one for a moment, then sleep on a condition variable; within a
// job they claim blocks from an atomic counter. A job is published by its number and done when every
// thread has been through it, so a late thread can never join a finished one.
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/memory.h"

#define MAX_THREADS 256

// How often a thread looks for news before it goes to sleep: some 50 microseconds. Jobs follow one
// another by the thousand, and waking a thread takes as long as a small job. None where threads have to
// share processors: there a thread that looks keeps the others from working.
#define LOOKS 2000

struct sn_pool {
  sn_run_blocks_fn host_run;  // NULL: own threads
  void* host;
  int thread_count;  // with the caller's own
  pthread_t* threads;
  int started;  // threads to join
  int looks;
  pthread_mutex_t lock;  // for sleeping and waking alone
  pthread_cond_t work_ready, work_done;
  atomic_int sleeping;  // workers
  atomic_bool waiting;  // is the caller asleep?
  atomic_bool stopping;
  // The job. Written before its number is, read after that.
  atomic_uint_least64_t job_number;
  atomic_int busy;
  size_t block_count;
  atomic_size_t next_block;
  void (*task)(void* ctx, size_t block);
  void* ctx;
};

static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static void work_through_blocks(sn_pool* pool) {
  for (;;) {
    size_t block = atomic_fetch_add_explicit(&pool->next_block, 1, memory_order_relaxed);
    if (block >= pool->block_count) return;
    pool->task(pool->ctx, block);
  }
}

// Is there something to do for a worker that has done job `seen`?
static bool is_called(sn_pool* pool, uint64_t seen) {
  return atomic_load(&pool->job_number) != seen || atomic_load(&pool->stopping);
}

static void wait_for_call(sn_pool* pool, uint64_t seen) {
  for (int look = 0; look < pool->looks; ++look) {
    if (is_called(pool, seen)) return;
    relax();
  }
  pthread_mutex_lock(&pool->lock);
  // Whoever calls looks for sleepers after publishing, so that either sees the other.
  atomic_fetch_add(&pool->sleeping, 1);
  while (!is_called(pool, seen)) pthread_cond_wait(&pool->work_ready, &pool->lock);
  atomic_fetch_sub(&pool->sleeping, 1);
  pthread_mutex_unlock(&pool->lock);
}

static void wake(sn_pool* pool, pthread_cond_t* condition) {
  pthread_mutex_lock(&pool->lock);
  pthread_cond_broadcast(condition);
  pthread_mutex_unlock(&pool->lock);
}

static void* worker_main(void* argument) {
  sn_pool* pool = argument;
  for (uint64_t seen = 0;; ++seen) {
    wait_for_call(pool, seen);
    if (atomic_load(&pool->stopping)) return NULL;
    work_through_blocks(pool);
    if (atomic_fetch_sub(&pool->busy, 1) == 1 && atomic_load(&pool->waiting)) {
      wake(pool, &pool->work_done);
    }
  }
}

static void wait_for_workers(sn_pool* pool) {
  for (int look = 0; look < pool->looks; ++look) {
    if (atomic_load(&pool->busy) == 0) return;
    relax();
  }
  pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->waiting, true);
  while (atomic_load(&pool->busy) > 0) pthread_cond_wait(&pool->work_done, &pool->lock);
  atomic_store(&pool->waiting, false);
  pthread_mutex_unlock(&pool->lock);
}

static void run_own_threads(sn_pool* pool, size_t block_count,
                            void (*task)(void* ctx, size_t block), void* ctx) {
  pool->block_count = block_count;
  pool->task = task;
  pool->ctx = ctx;
  atomic_store(&pool->next_block, 0);
  atomic_store(&pool->busy, pool->started);
  atomic_fetch_add(&pool->job_number, 1);
  if (atomic_load(&pool->sleeping) > 0) wake(pool, &pool->work_ready);
  work_through_blocks(pool);
  wait_for_workers(pool);
}

static void run_blocks(sn_pool* pool, size_t block_count, void (*task)(void* ctx, size_t block),
                       void* ctx) {
  if (pool && pool->host_run) {
    pool->host_run(pool->host, block_count, task, ctx);
  } else if (pool && pool->started > 0 && block_count > 1) {
    run_own_threads(pool, block_count, task, ctx);
  } else {
    for (size_t block = 0; block < block_count; ++block) task(ctx, block);
  }
}

static sn_status create_pool(sn_pool** pool, sn_error* err) {
  *pool = sn_allocate(sizeof **pool);
  if (!*pool) return sn_fail_memory(err, sizeof **pool);
  **pool = (sn_pool){.thread_count = 1};
  pthread_mutex_init(&(*pool)->lock, NULL);
  pthread_cond_init(&(*pool)->work_ready, NULL);
  pthread_cond_init(&(*pool)->work_done, NULL);
  return SN_OK;
}

sn_status sn_pool_create(int thread_count, sn_pool** pool, sn_error* err) {
  *pool = NULL;
  SN_CHECK(thread_count >= 0 && thread_count <= MAX_THREADS, err, SN_ERR_USAGE,
           "threads: found %d, expected 0 (one a processor) to %d", thread_count, MAX_THREADS);
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (thread_count == 0) {
    thread_count = processors < 1 ? 1 : processors > MAX_THREADS ? MAX_THREADS : (int)processors;
  }
  SN_TRY(create_pool(pool, err));
  sn_pool* p = *pool;
  p->threads = sn_allocate(sizeof(pthread_t) * (size_t)thread_count);
  if (!p->threads) {
    sn_pool_destroy(p);
    *pool = NULL;
    return sn_fail_memory(err, sizeof(pthread_t) * (size_t)thread_count);
  }
  p->thread_count = thread_count;
  p->looks = thread_count <= processors ? LOOKS : 0;
  // Fewer threads than asked for still give the same result, so a failed start is not an error.
  while (p->started < thread_count - 1 &&
         pthread_create(&p->threads[p->started], NULL, worker_main, p) == 0) {
    p->started++;
  }
  return SN_OK;
}

sn_status sn_pool_create_hosted(sn_run_blocks_fn run, void* host, sn_pool** pool, sn_error* err) {
  *pool = NULL;
  SN_CHECK(run, err, SN_ERR_USAGE, "a hosted pool needs a function that runs blocks, found NULL");
  SN_TRY(create_pool(pool, err));
  (*pool)->host_run = run;
  (*pool)->host = host;
  return SN_OK;
}

int sn_pool_thread_count(const sn_pool* pool) { return pool ? pool->thread_count : 1; }

void sn_pool_destroy(sn_pool* pool) {
  if (!pool) return;
  atomic_store(&pool->stopping, true);
  wake(pool, &pool->work_ready);
  for (int i = 0; i < pool->started; ++i) pthread_join(pool->threads[i], NULL);
  pthread_cond_destroy(&pool->work_done);
  pthread_cond_destroy(&pool->work_ready);
  pthread_mutex_destroy(&pool->lock);
  sn_release(pool->threads);
  sn_release(pool);
}

size_t sn_block_size(size_t count, size_t min_block) {
  size_t size = (count + SN_MAX_BLOCKS - 1) / SN_MAX_BLOCKS;
  if (size < min_block) size = min_block;
  return size ? size : 1;
}

typedef struct range_job {
  size_t count, block_size;
  sn_range_fn fn;
  sn_sum_fn sum;
  void* ctx;
  double partial[SN_MAX_BLOCKS];
} range_job;

static void run_range_block(void* ctx, size_t block) {
  range_job* job = ctx;
  size_t begin = block * job->block_size;
  size_t end = begin + job->block_size;
  if (end > job->count) end = job->count;
  if (job->sum) {
    job->partial[block] = job->sum(job->ctx, begin, end);
  } else {
    job->fn(job->ctx, begin, end);
  }
}

void sn_parallel_for(sn_pool* pool, size_t count, size_t min_block, sn_range_fn fn, void* ctx) {
  if (count == 0) return;
  range_job job;
  job.count = count;
  job.block_size = sn_block_size(count, min_block);
  job.fn = fn;
  job.sum = NULL;
  job.ctx = ctx;
  run_blocks(pool, (count + job.block_size - 1) / job.block_size, run_range_block, &job);
}

double sn_parallel_sum(sn_pool* pool, size_t count, size_t min_block, sn_sum_fn fn, void* ctx) {
  if (count == 0) return 0.0;
  range_job job;
  job.count = count;
  job.block_size = sn_block_size(count, min_block);
  job.fn = NULL;
  job.sum = fn;
  job.ctx = ctx;
  size_t blocks = (count + job.block_size - 1) / job.block_size;
  run_blocks(pool, blocks, run_range_block, &job);
  // Pairwise: neighbours first, then pairs of pairs. Smaller error than a running sum, fixed order.
  for (size_t stride = 1; stride < blocks; stride *= 2) {
    for (size_t i = 0; i + stride < blocks; i += 2 * stride)
      job.partial[i] += job.partial[i + stride];
  }
  return job.partial[0];
}

#define STARTS_BLOCK 16384

typedef struct starts_job {
  uint32_t* values;
  size_t block_size;
  uint32_t base[SN_MAX_BLOCKS];  // of each block: first its sum, then that of the blocks before it
} starts_job;

static void sum_block(void* ctx, size_t begin, size_t end) {
  starts_job* job = ctx;
  uint32_t sum = 0;
  for (size_t i = begin; i < end; ++i) sum += job->values[i];
  job->base[begin / job->block_size] = sum;
}

static void start_block(void* ctx, size_t begin, size_t end) {
  starts_job* job = ctx;
  uint32_t sum = job->base[begin / job->block_size];
  for (size_t i = begin; i < end; ++i) {
    uint32_t value = job->values[i];
    job->values[i] = sum;
    sum += value;
  }
}

uint32_t sn_parallel_starts(sn_pool* pool, uint32_t* values, size_t count) {
  starts_job job = {.values = values, .block_size = sn_block_size(count, STARTS_BLOCK)};
  sn_parallel_for(pool, count, STARTS_BLOCK, sum_block, &job);
  uint32_t total = 0;
  for (size_t b = 0; b * job.block_size < count; ++b) {
    uint32_t sum = job.base[b];
    job.base[b] = total;
    total += sum;
  }
  sn_parallel_for(pool, count, STARTS_BLOCK, start_block, &job);
  return total;
}
