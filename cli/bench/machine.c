// What the machine can do at most, measured by loops that do nothing else.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"
#include "machine_kernels.h"

#define MAX_THREADS 256
#define PASSES 5
#define PASS_SECONDS 0.02  // that a pass takes at least

typedef struct worker {
  pthread_barrier_t* start;
  size_t n;       // doubles of each array; 0: multiply-adds instead
  size_t rounds;  // in a pass
  double work;    // bytes or operations of a pass
  double times[PASSES][2];
  double sink;
} worker;

static void run_rounds(worker* w, double* arrays) {
  if (w->n == 0) {
    w->work = kernel_fma(w->rounds, &w->sink);
    return;
  }
  for (size_t r = 0; r < w->rounds; ++r) {
    kernel_triad(arrays, arrays + w->n, arrays + 2 * w->n, 0.5, w->n);
  }
  w->work = 24.0 * (double)w->n * (double)w->rounds;
  w->sink += arrays[w->n / 2];
}

// All threads begin each pass together; a thread's memory is its own and first touched by it.
static void* work_through(void* ctx) {
  worker* w = ctx;
  double* arrays = w->n ? malloc(3 * w->n * sizeof *arrays) : NULL;
  for (size_t i = 0; arrays && i < 3 * w->n; ++i) arrays[i] = 1;
  bool able = arrays || w->n == 0;
  for (int pass = 0; pass < PASSES; ++pass) {
    pthread_barrier_wait(w->start);
    w->times[pass][0] = bench_now();
    if (able) run_rounds(w, arrays);
    w->times[pass][1] = bench_now();
  }
  free(arrays);
  return NULL;
}

// Work a second of all threads in the best pass: from the first that begins to the last that ends.
static double best_rate(const worker* workers, int threads) {
  double best = 0;
  for (int pass = 0; pass < PASSES; ++pass) {
    double begin = workers[0].times[pass][0], end = workers[0].times[pass][1], work = 0;
    for (int t = 0; t < threads; ++t) {
      if (workers[t].times[pass][0] < begin) begin = workers[t].times[pass][0];
      if (workers[t].times[pass][1] > end) end = workers[t].times[pass][1];
      work += workers[t].work;
    }
    if (work / (end - begin) > best) best = work / (end - begin);
  }
  return best;
}

static double measure(int threads, size_t n, size_t rounds) {
  worker workers[MAX_THREADS];
  pthread_t handles[MAX_THREADS];
  pthread_barrier_t start;
  if (threads > MAX_THREADS) threads = MAX_THREADS;
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int t = 0; t < threads; ++t)
    workers[t] = (worker){.start = &start, .n = n, .rounds = rounds};
  int started = 1;
  while (started < threads &&
         pthread_create(&handles[started], NULL, work_through, &workers[started]) == 0) {
    ++started;
  }
  if (started < threads) {  // those that did start would wait for ever
    fprintf(stderr, "sinew: bench: cannot start %d threads\n", threads);
    _exit(SN_ERR_MEMORY);
  }
  work_through(&workers[0]);
  for (int t = 1; t < threads; ++t) pthread_join(handles[t], NULL);
  pthread_barrier_destroy(&start);
  return best_rate(workers, threads);
}

double machine_triad(int threads, double bytes) {
  size_t n = (size_t)(bytes / 24 / threads) / 16 * 16;
  if (n < 16) n = 16;
  // as many rounds as a slow machine of 10 GB/s does in the time of a pass
  size_t rounds = (size_t)(PASS_SECONDS * 1e10 / (24.0 * (double)n)) + 1;
  return measure(threads, n, rounds);
}

double machine_fma(int threads) { return measure(threads, 0, (size_t)(PASS_SECONDS * 1e9)); }

int machine_cores(void) {
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : (int)count;
}

sn_status bench_machine(bench_run* run, sn_error* err) {
  double bytes = run->o->quick ? 24e6 : 480e6;
  int all = machine_cores();
  for (int threads = 1;; threads = all) {
    sn_status status = bench_check_stop(err);
    if (status != SN_OK) return status;
    const char* name = threads == 1 ? "one_core" : "all_cores";
    bench_figure(run, name, "threads", threads, "1");
    bench_figure(run, name, "triad_gb_per_s", 1e-9 * machine_triad(threads, bytes), "GB/s");
    bench_figure(run, name, "fma_gflops", 1e-9 * machine_fma(threads), "1/ns");
    if (threads == all) return SN_OK;
  }
}
