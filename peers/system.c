// The file between `sinew bench peers` and the peers, of this machine's byte order: "SNSYS1\0\0",
// rows, entries and nodes along a side as 64-bit integers; then b (double), row starts (64 bit, one
// more than rows), columns (32 bit) and values (double).
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peers.h"

#define HEADER 32

double peer_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double peer_memory(const char* key) {
  char line[256];
  double kilobytes = 0;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, key, strlen(key)) == 0) kilobytes = strtod(line + strlen(key), NULL);
  }
  if (file) fclose(file);
  return 1024 * kilobytes;
}

static bool refuse(const char* path) {
  fprintf(stderr, "sinew-peers: %s: not a system, or out of memory\n", path);
  return false;
}

bool system_open(const char* path, peer_system* system) {
  char magic[8];
  uint64_t sizes[3];
  *system = (peer_system){0};
  FILE* file = fopen(path, "rb");
  system->columns = file;
  system->values = fopen(path, "rb");
  if (!file || !system->values) return refuse(path);
  if (fread(magic, 8, 1, file) != 1 || memcmp(magic, "SNSYS1\0", 8) != 0) return refuse(path);
  if (fread(sizes, sizeof sizes, 1, file) != 1) return refuse(path);
  size_t rows = sizes[0];
  system->rows = (int)rows;
  system->entries = sizes[1];
  system->side = (int)sizes[2];
  system->b = malloc(rows * sizeof(double));
  system->x = calloc(rows, sizeof(double));
  system->row_starts = malloc((rows + 1) * sizeof(uint64_t));
  if (!system->b || !system->x || !system->row_starts) return refuse(path);
  if (fread(system->b, sizeof(double), rows, file) != rows) return refuse(path);
  if (fread(system->row_starts, sizeof(uint64_t), rows + 1, file) != rows + 1) return refuse(path);
  size_t columns_at = HEADER + 8 * rows + 8 * (rows + 1);
  size_t values_at = columns_at + 4 * system->entries;
  return fseek(system->values, (long)values_at, SEEK_SET) == 0 || refuse(path);
}

bool system_next_row(peer_system* system, peer_row* row) {
  if (system->next == system->rows) return false;
  row->index = system->next++;
  size_t count = system->row_starts[row->index + 1] - system->row_starts[row->index];
  row->count = (int)count;
  return count <= PEER_ROW &&
         fread(row->columns, sizeof *row->columns, count, system->columns) == count &&
         fread(row->values, sizeof *row->values, count, system->values) == count;
}

bool system_is_held(const peer_system* system, int row) {
  return system->row_starts[row + 1] - system->row_starts[row] == 1;
}

bool system_save_solution(const peer_system* system, const char* path) {
  FILE* file = fopen(path, "wb");
  size_t rows = (size_t)system->rows;
  bool whole = file && fwrite(system->x, sizeof(double), rows, file) == rows;
  if (file && fclose(file) != 0) whole = false;
  return whole;
}

void system_close(peer_system* system) {
  free(system->b);
  free(system->x);
  free(system->row_starts);
  if (system->columns) fclose(system->columns);
  if (system->values) fclose(system->values);
}
