// Threads sleep on a condition variable between jobs; within a job they claim blocks from an atomic
// counter. A job is published by its number, so a late thread can never join a finished one.
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/memory.h"

#define MAX_THREADS 256

struct sn_pool {
  sn_run_blocks_fn host_run;  // NULL: own threads
  void* host;
  int thread_count;  // with the caller's own
  pthread_t* threads;
  int started;  // threads to join
  pthread_mutex_t lock;
  pthread_cond_t work_ready, work_done;
  // The job, guarded by `lock` except for the claims.
  uint64_t job_number;
  bool stopping;
  int busy;
  size_t block_count;
  atomic_size_t next_block;
  void (*task)(void* ctx, size_t block);
  void* ctx;
};

static void work_through_blocks(sn_pool* pool) {
  for (;;) {
    size_t block = atomic_fetch_add_explicit(&pool->next_block, 1, memory_order_relaxed);
    if (block >= pool->block_count) return;
    pool->task(pool->ctx, block);
  }
}

static void* worker_main(void* argument) {
  sn_pool* pool = argument;
  uint64_t seen = 0;
  pthread_mutex_lock(&pool->lock);
  for (;;) {
    while (pool->job_number == seen && !pool->stopping) {
      pthread_cond_wait(&pool->work_ready, &pool->lock);
    }
    if (pool->stopping) break;
    seen = pool->job_number;
    pthread_mutex_unlock(&pool->lock);
    work_through_blocks(pool);
    pthread_mutex_lock(&pool->lock);
    if (--pool->busy == 0) pthread_cond_signal(&pool->work_done);
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}

static void run_own_threads(sn_pool* pool, size_t block_count,
                            void (*task)(void* ctx, size_t block), void* ctx) {
  pthread_mutex_lock(&pool->lock);
  pool->block_count = block_count;
  pool->task = task;
  pool->ctx = ctx;
  atomic_store_explicit(&pool->next_block, 0, memory_order_relaxed);
  pool->busy = pool->started;
  pool->job_number++;
  pthread_cond_broadcast(&pool->work_ready);
  pthread_mutex_unlock(&pool->lock);

  work_through_blocks(pool);

  pthread_mutex_lock(&pool->lock);
  while (pool->busy > 0) pthread_cond_wait(&pool->work_done, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
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
  if (thread_count == 0) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
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
  pthread_mutex_lock(&pool->lock);
  pool->stopping = true;
  pthread_cond_broadcast(&pool->work_ready);
  pthread_mutex_unlock(&pool->lock);
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
