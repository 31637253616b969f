// BODY.fields: a header with the number of frames, then a record a frame, each with its checksum.
// Little-endian, as the machines that Sinew runs on. docs/formats.md has the layout.
//
// A record is written behind the published ones and counted afterwards, so whatever happens the header
// never promises more than there is. Readers thus accept bytes behind the last record.
#include "io/fields_file.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "io/file.h"

#define MAGIC "SINEWFD"
#define VERSION 1u
#define COUNT_OFFSET 40
#define RECORDS_OFFSET 48
#define CHECKSUM_BYTES sizeof(uint64_t)
#define ALL_FIELDS ((1u << SN_FIELD_COUNT) - 1)

typedef struct header {
  char magic[8];
  uint32_t version, fields, cells, nodes;
  uint64_t cells_checksum;
  uint64_t checksum;  // of all before
  uint64_t frames;    // with its complement above it, so that damage shows
} header;

typedef struct record {
  int32_t frame;
  uint32_t contacts;
} record;

_Static_assert(sizeof(header) == RECORDS_OFFSET && offsetof(header, frames) == COUNT_OFFSET,
               "the header is written as it is");
_Static_assert(sizeof(record) == 8 && sizeof(sn_contact_point) == 36, "and so are these");

// What the sizes of records follow from.
typedef struct layout {
  uint32_t fields, cells, nodes;
} layout;

static bool is_kept(uint32_t fields, int field) { return fields >> field & 1; }

// Bytes of a record with its checksum.
static uint64_t record_bytes(const layout* l, uint32_t contacts) {
  uint64_t numbers = 3 * (uint64_t)l->nodes;
  for (int f = 0; f < SN_FIELD_CONTACTS; ++f) numbers += is_kept(l->fields, f) ? l->cells : 0;
  return sizeof(record) + numbers * sizeof(float) + contacts * sizeof(sn_contact_point) +
         CHECKSUM_BYTES;
}

static uint64_t pack_count(uint32_t count) { return (uint64_t)~count << 32 | count; }

static header make_header(const sn_cells* cells, uint32_t fields) {
  header head = {MAGIC,           VERSION, fields,       cells->cell_count, cells->node_count,
                 cells->checksum, 0,       pack_count(0)};
  head.checksum = XXH64(&head, offsetof(header, checksum), 0);
  return head;
}

// Reading

struct sn_fields {
  sn_arena* arena;  // owns all that follows
  sn_file file;
  char* path;
  layout layout;
  uint32_t frame_count;
  int first_frame;
  uint64_t* offsets;  // of the records, and of the end of the last (frame_count + 1)
  unsigned char* bytes;
};

static sn_status fail_damaged(const sn_file* file, uint64_t offset, const char* what,
                              sn_error* err) {
  return sn_fail(err, SN_ERR_INPUT,
                 "%s: damaged at byte %" PRIu64
                 ": %s; expected the file as the run wrote it: "
                 "run again",
                 file->path, offset, what);
}

static sn_status read_header(sn_fields* f, const sn_cells* cells, sn_error* err) {
  header head;
  const sn_file* file = &f->file;
  SN_CHECK(file->size >= sizeof head, err, SN_ERR_INPUT,
           "%s: %" PRIu64 " bytes; expected a file of fields, which has %zu or more", file->path,
           file->size, sizeof head);
  SN_TRY(sn_file_read_at(file, 0, &head, sizeof head, err));
  SN_CHECK(memcmp(head.magic, MAGIC, sizeof head.magic) == 0, err, SN_ERR_INPUT,
           "%s: not a file of fields; expected the BODY.fields that a run left", file->path);
  SN_CHECK(head.version == VERSION, err, SN_ERR_INPUT,
           "%s: fields of version %u; expected version %u: run again", file->path, head.version,
           VERSION);
  if (head.checksum != XXH64(&head, offsetof(header, checksum), 0)) {
    return fail_damaged(file, 0, "the checksum of the header is wrong", err);
  }
  SN_CHECK(head.cells_checksum == cells->checksum && head.cells == cells->cell_count &&
               head.nodes == cells->node_count,
           err, SN_ERR_INPUT,
           "%s: belongs to other cells than the BODY.cells beside it; expected files of one run",
           file->path);
  f->frame_count = (uint32_t)head.frames;
  if (head.frames != pack_count(f->frame_count) || (head.fields & ~ALL_FIELDS)) {
    return fail_damaged(file, COUNT_OFFSET, "the number of frames is garbled", err);
  }
  f->layout = (layout){head.fields, head.cells, head.nodes};
  return SN_OK;
}

// Where the records are: their sizes differ by their contacts.
static sn_status find_records(sn_fields* f, uint64_t* largest, sn_error* err) {
  const sn_file* file = &f->file;
  uint64_t at = RECORDS_OFFSET, least = record_bytes(&f->layout, 0);
  if (f->frame_count > (file->size - at) / least) {
    return fail_damaged(file, COUNT_OFFSET, "it ends before its last frame", err);
  }
  SN_TRY(SN_ARENA_RAW(f->arena, (size_t)f->frame_count + 1, &f->offsets, err));
  *largest = least;
  for (uint32_t i = 0; i < f->frame_count; ++i) {
    record head;
    f->offsets[i] = at;
    if (file->size - at < least)
      return fail_damaged(file, at, "it ends before its last frame", err);
    SN_TRY(sn_file_read_at(file, at, &head, sizeof head, err));
    uint64_t size = record_bytes(&f->layout, head.contacts);
    if (size > file->size - at ||
        (head.contacts > 0 && !is_kept(f->layout.fields, SN_FIELD_CONTACTS))) {
      return fail_damaged(file, at, "a frame has more contacts than there is room for", err);
    }
    if (i == 0) f->first_frame = head.frame;
    if ((int64_t)head.frame != (int64_t)f->first_frame + i) {
      return fail_damaged(file, at, "frames are not numbered one after another", err);
    }
    if (size > *largest) *largest = size;
    at += size;
  }
  f->offsets[f->frame_count] = at;
  return SN_OK;
}

static sn_status open_file(const char* path, const sn_cells* cells, sn_fields* f, sn_error* err) {
  uint64_t largest = 0;
  f->path = sn_arena_copy_string(f->arena, path);
  if (!f->path) return sn_fail_memory(err, strlen(path) + 1);
  SN_TRY(sn_file_open(f->path, SN_FILE_READ, &f->file, err));
  SN_TRY(read_header(f, cells, err));
  SN_TRY(find_records(f, &largest, err));
  if (largest > SIZE_MAX) return sn_fail_memory(err, SIZE_MAX);
  return SN_ARENA_RAW(f->arena, (size_t)largest, &f->bytes, err);
}

sn_status sn_fields_open(const char* path, const sn_cells* cells, sn_fields** fields,
                         sn_error* err) {
  sn_arena* arena;
  sn_fields* opened;
  *fields = NULL;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = SN_ARENA_NEW(arena, 1, &opened, err);
  if (status != SN_OK) {
    sn_arena_destroy(arena);
    return status;
  }
  opened->arena = arena;
  opened->file.descriptor = -1;
  status = open_file(path, cells, opened, err);
  if (status != SN_OK) {
    sn_fields_close(opened);
    return status;
  }
  *fields = opened;
  return SN_OK;
}

sn_fields_info sn_fields_get_info(const sn_fields* fields) {
  return (sn_fields_info){fields->frame_count, fields->first_frame, fields->layout.fields};
}

void sn_fields_close(sn_fields* fields) {
  if (!fields) return;
  sn_file_close(&fields->file);
  sn_arena_destroy(fields->arena);  // the fields themselves are in it
}

static bool are_finite(const float* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!isfinite(numbers[i])) return false;
  }
  return true;
}

static bool are_contacts_valid(const layout* l, const sn_fields_frame* frame) {
  for (uint32_t i = 0; i < frame->contact_count; ++i) {
    const sn_contact_point* c = &frame->contacts[i];
    if (c->cell >= l->cells || !are_finite(c->place, 3) || !are_finite(c->normal, 3) ||
        !isfinite(c->depth) || !isfinite(c->force)) {
      return false;
    }
  }
  return true;
}

// The parts of a record whose checksum is right.
static sn_status decode(const sn_fields* f, uint64_t offset, sn_fields_frame* frame,
                        sn_error* err) {
  const layout* l = &f->layout;
  record head;
  memcpy(&head, f->bytes, sizeof head);
  const float* at = (const float*)(const void*)(f->bytes + sizeof head);
  *frame = (sn_fields_frame){.frame = head.frame, .displacements = at};
  at += 3 * (size_t)l->nodes;
  for (int field = 0; field < SN_FIELD_CONTACTS; ++field) {
    if (!is_kept(l->fields, field)) continue;
    frame->values[field] = at;
    at += l->cells;
  }
  frame->contacts = (const sn_contact_point*)(const void*)at;
  frame->contact_count = head.contacts;
  if (!are_finite(frame->displacements, (size_t)(at - frame->displacements)) ||
      !are_contacts_valid(l, frame)) {
    return fail_damaged(&f->file, offset, "a number is not finite or out of range", err);
  }
  return SN_OK;
}

sn_status sn_fields_read(sn_fields* fields, uint32_t index, sn_fields_frame* frame, sn_error* err) {
  *frame = (sn_fields_frame){0};
  SN_CHECK(index < fields->frame_count, err, SN_ERR_INPUT,
           "%s: frame %u asked for, counted from 0; expected less than %u, the frames it holds",
           fields->path, index, fields->frame_count);
  uint64_t offset = fields->offsets[index], checksum;
  size_t size = (size_t)(fields->offsets[index + 1] - offset), checked = size - CHECKSUM_BYTES;
  SN_TRY(sn_file_read_at(&fields->file, offset, fields->bytes, size, err));
  memcpy(&checksum, fields->bytes + checked, sizeof checksum);
  if (checksum != XXH64(fields->bytes, checked, 0)) {
    return fail_damaged(&fields->file, offset, "the checksum of the frame is wrong", err);
  }
  return decode(fields, offset, frame, err);
}

// Writing

struct sn_fields_writer {
  sn_file file;
  layout layout;
  uint32_t frame_count;
  uint64_t end;  // of the published records
  unsigned char* bytes;
  size_t room;
  char path[];
};

static sn_status make_writer(const char* path, const layout* l, sn_fields_writer** writer,
                             sn_error* err) {
  size_t length = strlen(path) + 1;
  sn_fields_writer* made = sn_allocate(sizeof *made + length);
  *writer = NULL;
  if (!made) return sn_fail_memory(err, sizeof *made + length);
  *made = (sn_fields_writer){.file = {.descriptor = -1}, .layout = *l, .end = RECORDS_OFFSET};
  memcpy(made->path, path, length);
  *writer = made;
  return SN_OK;
}

static sn_status publish(sn_fields_writer* writer, uint32_t count, sn_error* err) {
  uint64_t word = pack_count(count);
  SN_TRY(sn_file_write_at(&writer->file, COUNT_OFFSET, &word, sizeof word, err));
  writer->frame_count = count;
  return SN_OK;
}

static sn_status start(sn_fields_writer* writer, const header* head, sn_error* err) {
  SN_TRY(sn_file_write_atomic(writer->path, head, sizeof *head, err));
  return sn_file_open(writer->path, SN_FILE_UPDATE, &writer->file, err);
}

sn_status sn_fields_start(const char* path, const sn_cells* cells, uint32_t fields,
                          sn_fields_writer** writer, sn_error* err) {
  header head = make_header(cells, fields);
  layout l = {fields, cells->cell_count, cells->node_count};
  SN_TRY(make_writer(path, &l, writer, err));
  sn_status status = start(*writer, &head, err);
  if (status == SN_OK) return SN_OK;
  sn_fields_finish(*writer);
  *writer = NULL;
  return status;
}

// First the promise, then the data, so that the header stays true in between.
static sn_status cut(sn_fields_writer* writer, const sn_fields* old, int last, sn_error* err) {
  uint32_t keep = (uint32_t)((int64_t)last - old->first_frame + 1);
  SN_TRY(sn_file_open(writer->path, SN_FILE_UPDATE, &writer->file, err));
  SN_TRY(publish(writer, keep, err));
  writer->end = old->offsets[keep];
  return sn_file_cut(&writer->file, writer->end, err);
}

static sn_status check_old(const sn_fields* old, uint32_t fields, int last, sn_error* err) {
  SN_CHECK(old->layout.fields == fields, err, SN_ERR_INPUT,
           "%s: holds other fields than are asked for now", old->path);
  SN_CHECK(old->frame_count > 0 && old->first_frame <= last &&
               (int64_t)last < (int64_t)old->first_frame + old->frame_count,
           err, SN_ERR_INPUT, "%s: does not hold frame %d, after which it is to go on", old->path,
           last);
  return SN_OK;
}

sn_status sn_fields_continue(const char* path, const sn_cells* cells, uint32_t fields, int last,
                             sn_fields_writer** writer, sn_error* err) {
  sn_fields* old;
  *writer = NULL;
  SN_TRY(sn_fields_open(path, cells, &old, err));
  sn_status status = check_old(old, fields, last, err);
  if (status == SN_OK) status = make_writer(path, &old->layout, writer, err);
  if (status == SN_OK) status = cut(*writer, old, last, err);
  sn_fields_close(old);
  if (status == SN_OK) return SN_OK;
  sn_fields_finish(*writer);
  *writer = NULL;
  return status;
}

static sn_status make_room(sn_fields_writer* writer, uint64_t size, sn_error* err) {
  if (size <= writer->room) return SN_OK;
  // Half as much again: contacts come and go.
  uint64_t room = size + size / 2;
  unsigned char* bytes = room <= SIZE_MAX ? sn_allocate((size_t)room) : NULL;
  if (!bytes) return sn_fail_memory(err, (size_t)room);
  sn_release(writer->bytes);
  writer->bytes = bytes;
  writer->room = (size_t)room;
  return SN_OK;
}

sn_status sn_fields_append(sn_fields_writer* writer, const sn_model* model, const sn_state* state,
                           uint32_t body, sn_error* err) {
  const layout* l = &writer->layout;
  bool contacts = is_kept(l->fields, SN_FIELD_CONTACTS);
  record head = {sn_state_frame(state),
                 contacts ? sn_state_contacts(model, state, body, NULL, 0) : 0};
  uint64_t size = record_bytes(l, head.contacts);
  SN_TRY(make_room(writer, size, err));
  memcpy(writer->bytes, &head, sizeof head);
  float* at = (float*)(void*)(writer->bytes + sizeof head);
  float* values[SN_FIELD_CONTACTS] = {0};
  sn_state_displacements(model, state, body, at);
  at += 3 * (size_t)l->nodes;
  for (int f = 0; f < SN_FIELD_CONTACTS; ++f) {
    if (!is_kept(l->fields, f)) continue;
    values[f] = at;
    at += l->cells;
  }
  sn_state_fields(model, state, body, values);
  sn_state_contacts(model, state, body, (sn_contact_point*)(void*)at, head.contacts);
  uint64_t checksum = XXH64(writer->bytes, size - sizeof checksum, 0);
  memcpy(writer->bytes + size - sizeof checksum, &checksum, sizeof checksum);
  SN_TRY(sn_file_write_at(&writer->file, writer->end, writer->bytes, size, err));
  // The count must not be on the disk before the data.
  SN_TRY(sn_file_sync(&writer->file, err));
  SN_TRY(publish(writer, writer->frame_count + 1, err));
  writer->end += size;
  return SN_OK;
}

sn_status sn_fields_sync(const sn_fields_writer* writer, sn_error* err) {
  return writer ? sn_file_sync(&writer->file, err) : SN_OK;
}

void sn_fields_finish(sn_fields_writer* writer) {
  if (!writer) return;
  sn_file_close(&writer->file);
  sn_release(writer->bytes);
  sn_release(writer);
}
