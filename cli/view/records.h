// BODY.cells and BODY.fields as files: headers, and where the records of frames begin. Nothing but the
// offsets is kept in memory.
#ifndef SN_CLI_VIEW_RECORDS_H
#define SN_CLI_VIEW_RECORDS_H

#include <pthread.h>

#include "folder.h"

// What the header of BODY.cells says.
typedef struct cells_header {
  uint32_t cells, nodes, hanging, vertices, materials, muscles, name_bytes;
  double origin[3], edge;
  uint64_t cubes_at;  // where the cubes begin, 8 bytes each
  uint64_t nodes_at;  // the nodes' places, 6 bytes each
  uint64_t names_at;
  uint64_t checksum;
} cells_header;

// false if it is not such a file, or not whole.
bool cells_read_header(int file, uint64_t size, cells_header* header);
// One more than the highest level of a cell; 0 if that cannot be read.
uint32_t cells_read_levels(int file, const cells_header* header);

#define RECORD_HEAD 8  // frame and number of contacts
#define CONTACT_BYTES 36

// Where the frames of BODY.fields are: their sizes differ by their contacts, so they are found by going
// from one to the next, once.
typedef struct record_index {
  pthread_mutex_t lock;
  uint64_t device, inode;
  unsigned char head[40];  // of the file that the offsets belong to
  uint32_t fields, cells, nodes;
  int first_frame;
  uint32_t count;
  uint64_t* offsets;  // of the records, and of the end of the last (count + 1)
  uint32_t room;
} record_index;

// What a file holds.
typedef struct record_summary {
  int first_frame;
  uint32_t count;          // of frames
  uint32_t fields, cells;  // 0 0: it is no such file
} record_summary;

// A frame in the file.
typedef struct record_place {
  uint64_t offset, size;
  uint32_t fields, cells, nodes, contacts;
} record_place;

void records_create(record_index* index);
void records_destroy(record_index* index);
// Look what has been added.
record_summary records_update(record_index* index, int file, const struct stat* info);
// false if the frame is not there.
bool records_find(record_index* index, int file, const struct stat* info, int64_t frame,
                  record_place* place);
// Where the values of a field begin in a record, or 0 if it is not kept.
uint64_t record_field_at(const record_place* place, int field);
uint64_t record_contacts_at(const record_place* place);

#endif
