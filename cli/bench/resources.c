// Clock, and memory: what the library held at most, and what the machine has left.
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

double bench_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static atomic_size_t peak;

// The library's counter is raised after this call, so the new block is not in it yet.
static void* allocate(void* user, size_t bytes, size_t alignment) {
  (void)user;
  size_t used = sn_memory_used() + bytes, before = atomic_load(&peak);
  while (used > before && !atomic_compare_exchange_weak(&peak, &before, used)) {
  }
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return rounded < bytes ? NULL : aligned_alloc(alignment, rounded);
}

static void release(void* user, void* block) {
  (void)user;
  free(block);
}

void bench_watch_memory(void) {
  static const sn_allocator WATCHED = {allocate, release, NULL};
  sn_set_allocator(&WATCHED);
}

void bench_reset_peak(void) { atomic_store(&peak, sn_memory_used()); }
double bench_peak(void) { return (double)atomic_load(&peak); }

// A number in a file, or `otherwise` where there is none.
static double read_number(const char* path, const char* key, double otherwise) {
  char line[256];
  double value = otherwise;
  FILE* file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, key, strlen(key)) != 0) continue;
    char* end;
    double number = strtod(line + strlen(key), &end);
    if (end != line + strlen(key)) value = number;
    break;
  }
  if (file) fclose(file);
  return value;
}

double bench_available_bytes(void) {
  double machine = 1024 * read_number("/proc/meminfo", "MemAvailable:", 4e6);
  double limit = read_number("/sys/fs/cgroup/memory.max", "", machine);
  double used = read_number("/sys/fs/cgroup/memory.current", "", 0);
  return limit - used < machine && limit < machine ? limit - used : machine;
}
