// Clock, and memory: what the machine has left.
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
