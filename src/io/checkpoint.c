// Checkpoints: header, payload, checksum of both. Little-endian, as the machines that Sinew runs
// on; a file of another kind fails the checks.
//
//     0  char[8]   "SINEWCP\0"
//     8  uint32    version, 2
//    12  int32     frame
//    16  uint64    fingerprint of the model
//    24  uint64    bytes of payload
//    32  payload   displacements, past (dynamic), reactions, work, last step: doubles
//     .  uint64    xxHash64 of all before
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "io/file.h"
#include "scene/model.h"

#define MAGIC "SINEWCP"
#define VERSION 2u

typedef struct header {
  char magic[8];
  uint32_t version;
  int32_t frame;
  uint64_t fingerprint;
  uint64_t payload_size;
} header;

_Static_assert(sizeof(header) == 32, "the header is written as it is");

static sn_status save(const sn_model* model, const sn_state* state, sn_arena* arena,
                      const char* path, sn_error* err) {
  header head = {MAGIC, VERSION, sn_state_frame(state), sn_model_fingerprint(model),
                 sn_state_payload_size(model, state)};
  size_t checked = sizeof head + head.payload_size;
  unsigned char* bytes;
  SN_TRY(SN_ARENA_NEW(arena, checked + sizeof(uint64_t), &bytes, err));
  memcpy(bytes, &head, sizeof head);
  sn_state_write_payload(model, state, bytes + sizeof head);
  uint64_t checksum = XXH64(bytes, checked, 0);
  memcpy(bytes + checked, &checksum, sizeof checksum);
  return sn_file_write_atomic(path, bytes, checked + sizeof checksum, err);
}

static sn_status load(const sn_model* model, sn_state* state, sn_arena* arena, const char* path,
                      sn_error* err) {
  char* bytes;
  size_t size;
  header head;
  uint64_t checksum;
  SN_TRY(sn_file_read(path, arena, &bytes, &size, err));
  SN_CHECK(size >= sizeof head + sizeof checksum && memcmp(bytes, MAGIC, sizeof head.magic) == 0,
           err, SN_ERR_INPUT, "%s: not a checkpoint of Sinew; run without --resume", path);
  memcpy(&head, bytes, sizeof head);
  SN_CHECK(head.version == VERSION, err, SN_ERR_INPUT,
           "%s: checkpoint of version %u, expected %u; run without --resume", path, head.version,
           VERSION);
  size_t checked = size - sizeof checksum;
  memcpy(&checksum, bytes + checked, sizeof checksum);
  SN_CHECK(head.payload_size == checked - sizeof head && XXH64(bytes, checked, 0) == checksum, err,
           SN_ERR_INPUT, "%s: damaged (its checksum is wrong); run without --resume", path);
  SN_CHECK(head.fingerprint == sn_model_fingerprint(model) &&
               head.payload_size == sn_state_payload_size(model, state),
           err, SN_ERR_INPUT,
           "%s: belongs to another scene (its values or meshes differ); run without --resume, or "
           "with the scene as it was",
           path);
  sn_state_read_payload(model, state, head.frame, (unsigned char*)bytes + sizeof head);
  return SN_OK;
}

sn_status sn_state_save(const sn_model* model, const sn_state* state, const char* path,
                        sn_error* err) {
  sn_arena* arena;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = save(model, state, arena, path, err);
  sn_arena_destroy(arena);
  return status;
}

sn_status sn_state_load(const sn_model* model, sn_state* state, const char* path, sn_error* err) {
  sn_arena* arena;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = load(model, state, arena, path, err);
  sn_arena_destroy(arena);
  return status;
}
