#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "io/scratch.h"

#define MOST_ITEMS 300000

// Every kind of pool that must give the same results. The first is NULL.
#define POOL_COUNT 6
static sn_pool* pools[POOL_COUNT];

// A host that runs blocks backwards, half of them on a thread of its own.
typedef struct host_job {
  size_t begin, end;
  void (*task)(void* ctx, size_t block);
  void* ctx;
} host_job;

static void* run_backwards(void* argument) {
  const host_job* job = argument;
  for (size_t block = job->end; block-- > job->begin;) job->task(job->ctx, block);
  return NULL;
}

static void run_on_host(void* host, size_t block_count, void (*task)(void* ctx, size_t block),
                        void* ctx) {
  *(size_t*)host += block_count;
  host_job upper = {block_count / 2, block_count, task, ctx};
  host_job lower = {0, block_count / 2, task, ctx};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, run_backwards, &upper), 0);
  run_backwards(&lower);
  pthread_join(thread, NULL);
}

static size_t blocks_of_host;

static int make_pools(void** unused) {
  (void)unused;
  static const int threads[] = {1, 2, 3, 8};
  for (int i = 0; i < 4; ++i) {
    if (sn_pool_create(threads[i], &pools[i + 1], NULL) != SN_OK) return -1;
  }
  return sn_pool_create_hosted(run_on_host, &blocks_of_host, &pools[5], NULL) == SN_OK ? 0 : -1;
}

static int destroy_pools(void** unused) {
  (void)unused;
  for (int i = 0; i < POOL_COUNT; ++i) sn_pool_destroy(pools[i]);
  return sn_memory_used() == 0 ? 0 : -1;
}

static atomic_uchar visits[MOST_ITEMS];

typedef struct visit_ctx {
  size_t count, block_size;
  atomic_size_t wrong;
} visit_ctx;

static void visit(void* context, size_t begin, size_t end) {
  visit_ctx* ctx = context;
  size_t expected_end = begin + ctx->block_size < ctx->count ? begin + ctx->block_size : ctx->count;
  if (begin % ctx->block_size != 0 || end != expected_end) ctx->wrong++;
  for (size_t i = begin; i < end; ++i) visits[i]++;
}

static void every_item_is_visited_once_in_the_same_blocks(void** unused) {
  (void)unused;
  static const size_t counts[] = {0, 1, 2, 3, 511, 512, 513, 1000, 1024, 65537, MOST_ITEMS};
  static const size_t least[] = {0, 1, 2, 64, 1000, 1000000};
  for (int p = 0; p < POOL_COUNT; ++p) {
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
      for (size_t m = 0; m < sizeof least / sizeof *least; ++m) {
        visit_ctx ctx = {.count = counts[c], .block_size = sn_block_size(counts[c], least[m])};
        memset((void*)visits, 0, sizeof visits);
        sn_parallel_for(pools[p], counts[c], least[m], visit, &ctx);
        assert_int_equal(ctx.wrong, 0);
        size_t right = 0;
        for (size_t i = 0; i < MOST_ITEMS; ++i) right += visits[i] == (i < counts[c]);
        assert_int_equal(right, MOST_ITEMS);
      }
    }
  }
  assert_true(blocks_of_host > 0);
}

static void blocks_are_few_and_never_too_small(void** unused) {
  (void)unused;
  static const size_t counts[] = {0, 1, 511, 512, 513, 1023, 1025, 123456789, (size_t)1 << 40};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
    for (size_t min_block = 0; min_block < 2000; min_block = 3 * min_block + 1) {
      size_t size = sn_block_size(counts[c], min_block);
      assert_true(size >= 1 && size >= min_block);
      assert_true((counts[c] + size - 1) / size <= SN_MAX_BLOCKS);
    }
  }
  assert_int_equal(sn_block_size(1000, 100), 100);
  assert_int_equal(sn_block_size(51200, 10), 100);
}

static double* values;

static double sum_values(void* ctx, size_t begin, size_t end) {
  (void)ctx;
  double sum = 0;
  for (size_t i = begin; i < end; ++i) sum += values[i];
  return sum;
}

static void sums_have_the_same_bits_on_every_pool(void** unused) {
  (void)unused;
  values = malloc(MOST_ITEMS * sizeof *values);
  assert_non_null(values);
  // Values of very different size, so that any other order of additions shows.
  uint64_t state = 3;
  for (size_t i = 0; i < MOST_ITEMS; ++i) {
    values[i] = ((double)next_random(&state) - 0x1p30) * (i % 7 == 0 ? 1e6 : i % 5 == 0 ? 1e-6 : 1);
  }
  static const size_t counts[] = {0, 1, 2, 3, 511, 513, 1000, 65537, MOST_ITEMS};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
    for (size_t min_block = 1; min_block < 100000; min_block *= 17) {
      double alone = sn_parallel_sum(NULL, counts[c], min_block, sum_values, NULL);
      for (int round = 0; round < 3; ++round) {
        for (int p = 1; p < POOL_COUNT; ++p) {
          double sum = sn_parallel_sum(pools[p], counts[c], min_block, sum_values, NULL);
          assert_memory_equal(&sum, &alone, sizeof sum);
        }
      }
      long double exact = 0, size = 0;
      for (size_t i = 0; i < counts[c]; ++i) {
        exact += (long double)values[i];
        size += values[i] < 0 ? -(long double)values[i] : (long double)values[i];
      }
      long double error = (long double)alone - exact;
      assert_true((error < 0 ? -error : error) <= 1e-12L * size);
    }
  }
  free(values);
}

static double one_part(void* ctx, size_t begin, size_t end) {
  (void)end;
  return ((const double*)ctx)[begin];
}

static void partial_sums_are_added_as_a_tree(void** unused) {
  (void)unused;
  // One item a block. In a row the small parts would vanish behind 2^53 one by one.
  double parts[5] = {0x1p53, 1, 1, 1, 1};
  double tree = ((parts[0] + parts[1]) + (parts[2] + parts[3])) + parts[4];
  double row = (((parts[0] + parts[1]) + parts[2]) + parts[3]) + parts[4];
  assert_true(tree != row);
  for (int p = 0; p < POOL_COUNT; ++p) {
    assert_true(sn_parallel_sum(pools[p], 5, 1, one_part, parts) == tree);
  }
}

static void an_empty_sum_is_zero_and_calls_nothing(void** unused) {
  (void)unused;
  assert_true(sn_parallel_sum(pools[3], 0, 1, NULL, NULL) == 0.0);
  sn_parallel_for(pools[3], 0, 1, NULL, NULL);
}

static void add_one(void* ctx, size_t begin, size_t end) {
  atomic_fetch_add((atomic_size_t*)ctx, end - begin);
}

static void pools_come_and_go(void** unused) {
  (void)unused;
  size_t used = sn_memory_used();
  for (int round = 0; round < 100; ++round) {
    sn_pool* pool;
    assert_int_equal(sn_pool_create(1 + round % 8, &pool, NULL), SN_OK);
    assert_int_equal(sn_pool_thread_count(pool), 1 + round % 8);
    // Some are never used, some only once.
    atomic_size_t total = 0;
    for (int job = 0; job < round % 3; ++job) sn_parallel_for(pool, 1000, 1, add_one, &total);
    assert_int_equal(total, 1000 * (round % 3));
    sn_pool_destroy(pool);
    assert_int_equal(sn_memory_used(), used);
  }
  sn_pool_destroy(NULL);
}

static void many_short_jobs_lose_nothing(void** unused) {
  (void)unused;
  for (int p = 1; p < 5; ++p) {
    atomic_size_t total = 0;
    for (size_t job = 0; job < 3000; ++job) {
      sn_parallel_for(pools[p], job % 20, 1, add_one, &total);
      assert_int_equal(total, job / 20 * 190 + job % 20 * (job % 20 + 1) / 2);
    }
  }
}

static void thread_counts_are_checked(void** unused) {
  (void)unused;
  static const int wrong[] = {-1, 257, INT32_MAX, INT32_MIN};
  for (int i = 0; i < 4; ++i) {
    sn_pool* pool = pools[1];
    sn_error err = {0};
    assert_int_equal(sn_pool_create(wrong[i], &pool, &err), SN_ERR_USAGE);
    assert_message_has(&err, "threads");
    assert_null(pool);
  }
  sn_pool* pool = pools[1];
  assert_int_equal(sn_pool_create_hosted(NULL, NULL, &pool, NULL), SN_ERR_USAGE);
  assert_null(pool);
  assert_int_equal(sn_pool_create(0, &pool, NULL), SN_OK);
  assert_true(sn_pool_thread_count(pool) >= 1);
  sn_pool_destroy(pool);
  assert_int_equal(sn_pool_thread_count(NULL), 1);
}

static sn_status create_and_destroy(sn_error* err) {
  sn_pool* pool;
  sn_status status = sn_pool_create(3, &pool, err);
  if (status != SN_OK) assert_null(pool);
  sn_pool_destroy(pool);
  return status;
}

static sn_status create_and_destroy_hosted(sn_error* err) {
  sn_pool* pool;
  sn_status status = sn_pool_create_hosted(run_on_host, &blocks_of_host, &pool, err);
  if (status != SN_OK) assert_null(pool);
  sn_pool_destroy(pool);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_failing_allocations(create_and_destroy);
  assert_survives_failing_allocations(create_and_destroy_hosted);
}

static void starts_are_the_sums_of_the_counts_before(void** unused) {
  (void)unused;
  static const size_t counts[] = {0, 1, 2, 16384, 16385, 100000, MOST_ITEMS};
  static uint32_t starts[MOST_ITEMS];
  for (int p = 0; p < POOL_COUNT; ++p) {
    for (size_t c = 0; c < sizeof counts / sizeof *counts; ++c) {
      for (size_t i = 0; i < counts[c]; ++i) starts[i] = (uint32_t)(i * 7919 % 13);
      uint32_t total = sn_parallel_starts(pools[p], starts, counts[c]), sum = 0;
      for (size_t i = 0; i < counts[c]; ++i) {
        assert_int_equal(starts[i], sum);
        sum += (uint32_t)(i * 7919 % 13);
      }
      assert_int_equal(total, sum);
    }
  }
}

int main(void) {
  const struct CMUnitTest with_pools[] = {
      cmocka_unit_test(every_item_is_visited_once_in_the_same_blocks),
      cmocka_unit_test(starts_are_the_sums_of_the_counts_before),
      cmocka_unit_test(blocks_are_few_and_never_too_small),
      cmocka_unit_test(sums_have_the_same_bits_on_every_pool),
      cmocka_unit_test(partial_sums_are_added_as_a_tree),
      cmocka_unit_test(an_empty_sum_is_zero_and_calls_nothing),
      cmocka_unit_test(pools_come_and_go),
      cmocka_unit_test(many_short_jobs_lose_nothing),
      cmocka_unit_test(thread_counts_are_checked),
  };
  const struct CMUnitTest alone[] = {
      cmocka_unit_test(failing_allocations_are_survived),
  };
  int failures = cmocka_run_group_tests(with_pools, make_pools, destroy_pools);
  return failures + cmocka_run_group_tests(alone, NULL, NULL);
}
