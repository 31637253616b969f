// Checkpoints: header, traits of the scene, compressed state, checksum of all. Little-endian, as the
// machines that Sinew runs on; a file of another kind fails the checks.
//
//     0  char[8]   "SINEWCP\0"
//     8  uint32    version, 3
//    12  int32     frame
//    16  int32     first frame that was solved; the one after `frame` if none was
//    20  uint32    bytes of traits, t
//    24  uint64    bytes of the state, n
//    32  text      traits: a line each, a place and what is there
//     .  zstd      displacements, past (dynamic), reactions, work, last step, contacts: doubles
//     .  uint64    xxHash64 of all before
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "elasticity/flesh_kernels.h"
#include "io/file.h"
#include "io/traits.h"
#include "scene/model.h"

#define MAGIC "SINEWCP"
#define VERSION 3u
#define CHECKSUM_BYTES sizeof(uint64_t)
#define PIECE_BYTES ((size_t)1 << 20)
#define MOST_FRAMES 1000000
// Numbers of flesh are mostly noise: more effort takes longer and gains nothing.
#define EFFORT 1

typedef struct header {
  char magic[8];
  uint32_t version;
  int32_t frame, first_frame;
  uint32_t traits_size;
  uint64_t payload_size;
} header;

_Static_assert(sizeof(header) == 32, "the header is written as it is");

// Traits

// Those of the model, of the program and of the animation that has led to the state.
static sn_status list_traits(const sn_model* model, const sn_animation* animation, sn_arena* arena,
                             char** traits, sn_error* err) {
  size_t fixed = strlen(model->traits), most = SN_ANIMATION_PLACE + 24;
  size_t size = fixed + most * ((size_t)animation->count + 2) + 1;
  SN_TRY(SN_ARENA_NEW(arena, size, traits, err));
  char* at = *traits;
  at += snprintf(at, most, SN_TRAIT_PROGRAM " %s\n", sn_version());
  at += snprintf(at, most, SN_TRAIT_INSTRUCTIONS " %s\n",
                 sn_flesh_kernels_best()->is_fused ? "fused" : "plain");
  memcpy(at, model->traits, fixed);
  at += fixed;
  for (uint32_t i = 0; i < animation->count; ++i) {
    char place[SN_ANIMATION_PLACE];
    sn_animation_place(model->scene, i, place);
    at += snprintf(at, most, "%s #%016" PRIx64 "\n", place, animation->hashes[i]);
  }
  return SN_OK;
}

// Writing, in pieces: a state may fill a good part of the memory, and is not held twice.

typedef struct packer {
  sn_file file;
  uint64_t written;
  unsigned char* bytes;  // that wait to be written (PIECE_BYTES)
  size_t count;
  XXH64_state_t* sum;
  ZSTD_CCtx* context;
  sn_error* err;
} packer;

static sn_status flush(packer* p) {
  XXH64_update(p->sum, p->bytes, p->count);
  SN_TRY(sn_file_write_at(&p->file, p->written, p->bytes, p->count, p->err));
  p->written += p->count;
  p->count = 0;
  return SN_OK;
}

static sn_status put(packer* p, const void* bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    size_t room = PIECE_BYTES - p->count, some = size - done < room ? size - done : room;
    memcpy(p->bytes + p->count, (const char*)bytes + done, some);
    p->count += some;
    done += some;
    if (p->count == PIECE_BYTES) SN_TRY(flush(p));
  }
  return SN_OK;
}

static sn_status pack(packer* p, const void* bytes, size_t size, bool last) {
  ZSTD_inBuffer from = {bytes, size, 0};
  for (bool done = false; !done;) {
    if (p->count == PIECE_BYTES) SN_TRY(flush(p));
    ZSTD_outBuffer to = {p->bytes, PIECE_BYTES, p->count};
    size_t left = ZSTD_compressStream2(p->context, &to, &from, last ? ZSTD_e_end : ZSTD_e_continue);
    // Nothing else can go wrong.
    if (ZSTD_isError(left)) return sn_fail_memory(p->err, size);
    p->count = to.pos;
    done = last ? left == 0 : from.pos == from.size;
  }
  return SN_OK;
}

static sn_status pack_state(packer* p, const sn_model* model, const sn_state* state) {
  int count = sn_state_payload_count();
  size_t whole = sn_state_payload_size(model, state);
  if (ZSTD_isError(ZSTD_CCtx_setParameter(p->context, ZSTD_c_compressionLevel, EFFORT)) ||
      ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(p->context, whole))) {
    return sn_fail_memory(p->err, whole);
  }
  for (int i = 0; i < count; ++i) {
    size_t size;
    const void* part = sn_state_payload_part(model, state, i, &size);
    if (size > 0) SN_TRY(pack(p, part, size, false));
  }
  return pack(p, NULL, 0, true);
}

static sn_status write_all(packer* p, const sn_model* model, const sn_state* state,
                           const char* traits) {
  const sn_animation* animation = &state->animation;
  header head = {.magic = MAGIC,
                 .version = VERSION,
                 .frame = sn_state_frame(state),
                 .first_frame = animation->begun ? animation->first : sn_state_frame(state) + 1,
                 .traits_size = (uint32_t)strlen(traits),
                 .payload_size = sn_state_payload_size(model, state)};
  XXH64_reset(p->sum, 0);
  SN_TRY(put(p, &head, sizeof head));
  SN_TRY(put(p, traits, head.traits_size));
  SN_TRY(pack_state(p, model, state));
  if (p->count > PIECE_BYTES - CHECKSUM_BYTES) SN_TRY(flush(p));
  // All but the checksum itself is in it, though both are written at once.
  XXH64_update(p->sum, p->bytes, p->count);
  uint64_t checksum = XXH64_digest(p->sum);
  memcpy(p->bytes + p->count, &checksum, sizeof checksum);
  p->count += sizeof checksum;
  return sn_file_write_at(&p->file, p->written, p->bytes, p->count, p->err);
}

static sn_status write_file(packer* p, const sn_model* model, const sn_state* state,
                            const char* traits, char* temporary, const char* path) {
  SN_TRY(sn_file_begin(temporary, &p->file, p->err));
  sn_status status = write_all(p, model, state, traits);
  if (status == SN_OK) return sn_file_publish(&p->file, temporary, path, p->err);
  sn_file_abandon(&p->file);
  return status;
}

static sn_status save(const sn_model* model, const sn_state* state, sn_arena* arena,
                      const char* path, sn_error* err) {
  char *traits, *temporary;
  packer p = {.err = err};
  size_t length = strlen(path) + sizeof ".tmp";
  SN_TRY(list_traits(model, &state->animation, arena, &traits, err));
  SN_TRY(SN_ARENA_NEW(arena, length, &temporary, err));
  SN_TRY(SN_ARENA_RAW(arena, PIECE_BYTES, &p.bytes, err));
  snprintf(temporary, length, "%s.tmp", path);
  p.sum = XXH64_createState();
  p.context = ZSTD_createCCtx();
  sn_status status = p.sum && p.context ? write_file(&p, model, state, traits, temporary, path)
                                        : sn_fail_memory(err, PIECE_BYTES);
  XXH64_freeState(p.sum);
  ZSTD_freeCCtx(p.context);
  return status;
}

// Reading

static sn_status fail_damaged(const char* path, sn_error* err) {
  return sn_fail(
      err, SN_ERR_INPUT,
      "%s: damaged (its checksum is wrong); expected it as the run wrote it: run without "
      "--resume",
      path);
}

// A whole file in memory: kind, version and checksum. Sizes fit into the file from then on.
static sn_status read_header(const char* path, const char* bytes, size_t size, header* head,
                             sn_error* err) {
  uint64_t checksum;
  SN_CHECK(size >= sizeof *head + sizeof checksum && memcmp(bytes, MAGIC, sizeof head->magic) == 0,
           err, SN_ERR_INPUT,
           "%s: not a checkpoint of Sinew; expected the file that a run left: run without --resume",
           path);
  memcpy(head, bytes, sizeof *head);
  SN_CHECK(head->version == VERSION, err, SN_ERR_INPUT,
           "%s: checkpoint of version %u, expected %u: it is from another version of the program; "
           "run without --resume",
           path, head->version, VERSION);
  size_t checked = size - sizeof checksum, inside = checked - sizeof *head;
  memcpy(&checksum, bytes + checked, sizeof checksum);
  bool fits = head->traits_size <= inside;
  if (!fits || XXH64(bytes, checked, 0) != checksum) return fail_damaged(path, err);
  return SN_OK;
}

static sn_status unpack(const char* path, const unsigned char* packed, size_t packed_size,
                        unsigned char* payload, size_t size, sn_error* err) {
  ZSTD_DCtx* context = ZSTD_createDCtx();
  if (!context) return sn_fail_memory(err, size);
  size_t found = ZSTD_decompressDCtx(context, payload, size, packed, packed_size);
  ZSTD_freeDCtx(context);
  return found == size ? SN_OK : fail_damaged(path, err);
}

// The animation of this scene up to the frame of the checkpoint, in the memory of `arena`.
static sn_status animate(const sn_model* model, const header* head, sn_arena* arena,
                         sn_animation* animation, sn_error* err) {
  SN_TRY(sn_animation_create(model->scene, arena, animation, err));
  sn_animation_restart(model->scene, animation, head->first_frame, head->frame);
  return SN_OK;
}

static sn_status load(const sn_model* model, sn_state* state, sn_arena* arena, const char* path,
                      sn_error* err) {
  char *bytes, *traits;
  size_t size;
  header head;
  sn_animation animation;
  unsigned char* payload;
  SN_TRY(sn_file_read(path, arena, &bytes, &size, err));
  SN_TRY(read_header(path, bytes, size, &head, err));
  int64_t frames = (int64_t)head.frame - head.first_frame + 1;
  SN_CHECK(frames >= 0 && frames <= MOST_FRAMES, err, SN_ERR_INPUT,
           "%s: frames %d to %d; expected a checkpoint of Sinew", path, head.first_frame,
           head.frame);
  SN_TRY(animate(model, &head, arena, &animation, err));
  SN_TRY(list_traits(model, &animation, arena, &traits, err));
  sn_trait_list before = {bytes + sizeof head, head.traits_size}, now = {traits, strlen(traits)};
  SN_TRY(sn_traits_compare(path, head.frame, before, now, err));
  SN_CHECK(head.payload_size == sn_state_payload_size(model, state), err, SN_ERR_INPUT,
           "%s: a state of %" PRIu64 " bytes, expected %zu; run without --resume", path,
           head.payload_size, sn_state_payload_size(model, state));
  SN_TRY(SN_ARENA_RAW(arena, head.payload_size, &payload, err));
  size_t packed = sizeof head + head.traits_size;
  SN_TRY(unpack(path, (unsigned char*)bytes + packed, size - CHECKSUM_BYTES - packed, payload,
                head.payload_size, err));
  SN_CHECK(sn_state_read_payload(model, state, head.frame, payload), err, SN_ERR_INPUT,
           "%s: found numbers that are not finite; run without --resume", path);
  sn_animation_restart(model->scene, &state->animation, head.first_frame, head.frame);
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
