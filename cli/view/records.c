#include "records.h"

#include <stdlib.h>
#include <string.h>

#define CELLS_HEAD 96
#define FIELDS_HEAD 48
#define CHECKSUM_BYTES 8

// BODY.cells

bool cells_read_header(int file, uint64_t size, cells_header* h) {
  unsigned char head[CELLS_HEAD];
  uint32_t counts[8];
  if (size < sizeof head + CHECKSUM_BYTES || !read_at(file, 0, head, sizeof head)) return false;
  if (memcmp(head, "SINEWCL\0\1\0\0\0", 12) != 0) return false;
  memcpy(counts, head + 64, sizeof counts);
  *h = (cells_header){.cells = counts[0],
                      .nodes = counts[1],
                      .hanging = counts[2],
                      .vertices = counts[3],
                      .materials = counts[4],
                      .muscles = counts[5],
                      .name_bytes = counts[6]};
  memcpy(h->origin, head + 32, sizeof h->origin);
  memcpy(&h->edge, head + 56, sizeof h->edge);
  uint64_t c = h->cells;
  h->cubes_at =
      CELLS_HEAD + 4 * (8 * c + 4 * (uint64_t)h->hanging + 3 * c + c) + 16 * (uint64_t)h->vertices;
  h->nodes_at = h->cubes_at + 8 * c;
  h->names_at = h->nodes_at + 6 * (uint64_t)h->nodes + c;
  uint64_t end = h->names_at + h->name_bytes;
  return size == end + CHECKSUM_BYTES && read_at(file, end, &h->checksum, sizeof h->checksum);
}

uint32_t cells_read_levels(int file, const cells_header* h) {
  unsigned char cubes[8 * 4096];
  uint32_t levels = 0;
  for (uint64_t begin = 0; begin < h->cells; begin += 4096) {
    size_t count = h->cells - begin < 4096 ? (size_t)(h->cells - begin) : 4096;
    if (!read_at(file, h->cubes_at + 8 * begin, cubes, 8 * count)) return 0;
    for (size_t i = 0; i < count; ++i) {
      if (cubes[8 * i + 6] >= levels) levels = cubes[8 * i + 6] + 1u;
    }
  }
  return levels;
}

// BODY.fields

void records_create(record_index* index) {
  *index = (record_index){0};
  pthread_mutex_init(&index->lock, NULL);
}

void records_destroy(record_index* index) {
  pthread_mutex_destroy(&index->lock);
  free(index->offsets);
  *index = (record_index){0};
}

static uint64_t numbers_before(uint32_t fields, uint32_t cells, uint32_t nodes, int field) {
  uint64_t numbers = 3 * (uint64_t)nodes;
  for (int f = 0; f < field; ++f) numbers += fields >> f & 1 ? cells : 0;
  return numbers;
}

static uint64_t record_size(const record_index* index, uint32_t contacts) {
  uint64_t numbers = numbers_before(index->fields, index->cells, index->nodes, SN_FIELD_CONTACTS);
  return RECORD_HEAD + 4 * numbers + CONTACT_BYTES * (uint64_t)contacts + CHECKSUM_BYTES;
}

// Another file than before: forget what was known.
static bool begin(record_index* index, const unsigned char head[FIELDS_HEAD],
                  const struct stat* info) {
  index->count = 0;
  if (memcmp(head, "SINEWFD\0\1\0\0\0", 12) != 0) return false;
  memcpy(index->head, head, sizeof index->head);
  memcpy(&index->fields, head + 12, sizeof index->fields);
  memcpy(&index->cells, head + 16, sizeof index->cells);
  memcpy(&index->nodes, head + 20, sizeof index->nodes);
  index->device = (uint64_t)info->st_dev;
  index->inode = (uint64_t)info->st_ino;
  return index->fields >> SN_FIELD_COUNT == 0;
}

static bool make_room(record_index* index, uint32_t count) {
  if (count < index->room) return true;
  size_t room = 2 * (size_t)count + 64;
  uint64_t* offsets = realloc(index->offsets, room * sizeof *offsets);
  if (!offsets) return false;
  index->offsets = offsets;
  index->room = (uint32_t)room;
  return true;
}

// The next record, if it is whole and what is expected there.
static bool add_record(record_index* index, int file, uint64_t size) {
  uint32_t head[2];
  if (!make_room(index, index->count + 1)) return false;
  if (index->count == 0) index->offsets[0] = FIELDS_HEAD;
  uint64_t at = index->offsets[index->count];
  if (at > size || size - at < record_size(index, 0)) return false;
  if (!read_at(file, at, head, sizeof head)) return false;
  uint64_t bytes = record_size(index, head[1]);
  bool contacts_kept = index->fields >> SN_FIELD_CONTACTS & 1;
  if (bytes > size - at || (head[1] > 0 && !contacts_kept)) return false;
  int32_t frame = (int32_t)head[0];
  if (index->count == 0) index->first_frame = frame;
  if ((int64_t)frame != (int64_t)index->first_frame + index->count) return false;
  index->offsets[++index->count] = at + bytes;
  return true;
}

static void update(record_index* index, int file, const struct stat* info) {
  unsigned char head[FIELDS_HEAD];
  uint32_t count, complement;
  uint64_t size = (uint64_t)info->st_size;
  if (size < sizeof head || !read_at(file, 0, head, sizeof head)) {
    index->count = 0;
    return;
  }
  bool same = index->inode == (uint64_t)info->st_ino && index->device == (uint64_t)info->st_dev &&
              memcmp(index->head, head, sizeof index->head) == 0;
  if (!same && !begin(index, head, info)) return;
  memcpy(&count, head + 40, sizeof count);
  memcpy(&complement, head + 44, sizeof complement);
  // A resumed run cuts its files back.
  while (index->count > 0 && index->offsets[index->count] > size) index->count--;
  if (complement != ~count) return;  // caught while it was being written
  if (index->count > count) index->count = count;
  while (index->count < count && add_record(index, file, size)) continue;
}

record_summary records_update(record_index* index, int file, const struct stat* info) {
  pthread_mutex_lock(&index->lock);
  update(index, file, info);
  bool known = index->inode == (uint64_t)info->st_ino && index->device == (uint64_t)info->st_dev;
  record_summary found = {index->first_frame, index->count, known ? index->fields : 0,
                          known ? index->cells : 0};
  pthread_mutex_unlock(&index->lock);
  return found;
}

// What is at the place that the index has for a frame? Files that were cut back and went on differently
// show here.
static bool is_still_there(const record_index* index, int file, int64_t frame,
                           record_place* place) {
  int32_t head[2];
  if (!read_at(file, place->offset, head, sizeof head)) return false;
  place->contacts = (uint32_t)head[1];
  return head[0] == frame && place->size == record_size(index, place->contacts);
}

static bool is_known(const record_index* index, int64_t frame) {
  return frame >= index->first_frame && frame - index->first_frame < index->count;
}

static bool find(record_index* index, int file, const struct stat* info, int64_t frame,
                 record_place* place) {
  update(index, file, info);
  if (!is_known(index, frame)) return false;
  int64_t i = frame - index->first_frame;
  uint64_t offset = index->offsets[i];
  *place = (record_place){
      offset, index->offsets[i + 1] - offset, index->fields, index->cells, index->nodes, 0};
  return is_still_there(index, file, frame, place);
}

bool records_find(record_index* index, int file, const struct stat* info, int64_t frame,
                  record_place* place) {
  pthread_mutex_lock(&index->lock);
  bool found = find(index, file, info, frame, place);
  if (!found && is_known(index, frame)) {
    index->count = 0;
    found = find(index, file, info, frame, place);
  }
  pthread_mutex_unlock(&index->lock);
  return found;
}

uint64_t record_field_at(const record_place* p, int field) {
  if (!(p->fields >> field & 1)) return 0;
  return p->offset + RECORD_HEAD + 4 * numbers_before(p->fields, p->cells, p->nodes, field);
}

uint64_t record_contacts_at(const record_place* p) {
  return p->offset + RECORD_HEAD +
         4 * numbers_before(p->fields, p->cells, p->nodes, SN_FIELD_CONTACTS);
}
