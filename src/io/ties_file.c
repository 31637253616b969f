// BODY.ties: a header, twelve bytes a tie, a checksum of both. Little-endian, as the machines that Sinew
// runs on. docs/formats.md has the layout.
#include <string.h>
#include <xxhash.h>

#include "io/file.h"
#include "sinew/io.h"

#define MAGIC "SINEWTI"
#define VERSION 1u

typedef struct header {
  char magic[8];
  uint32_t version, count;
  uint64_t cells_checksum;
} header;

_Static_assert(sizeof(header) == 24 && sizeof(sn_tied_node) == 12, "these are written as they are");

static sn_status save(const char* path, const sn_model* model, uint32_t body, const sn_cells* cells,
                      sn_arena* arena, sn_error* err) {
  header head = {MAGIC, VERSION, sn_model_ties(model, body, NULL, 0), cells->checksum};
  size_t size = sizeof head + head.count * sizeof(sn_tied_node);
  unsigned char* bytes;
  SN_TRY(SN_ARENA_RAW(arena, size + sizeof(uint64_t), &bytes, err));
  memcpy(bytes, &head, sizeof head);
  sn_model_ties(model, body, (sn_tied_node*)(void*)(bytes + sizeof head), head.count);
  uint64_t checksum = XXH64(bytes, size, 0);
  memcpy(bytes + size, &checksum, sizeof checksum);
  return sn_file_write_atomic(path, bytes, size + sizeof checksum, err);
}

sn_status sn_ties_save(const char* path, const sn_model* model, uint32_t body,
                       const sn_cells* cells, sn_error* err) {
  sn_arena* arena;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = save(path, model, body, cells, arena, err);
  sn_arena_destroy(arena);
  return status;
}
