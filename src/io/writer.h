// A file that is written piece by piece and appears whole or not at all. Failures are kept: after the
// first one nothing more is written, and closing reports it, so writers of formats read like the format.
#ifndef SN_IO_WRITER_H
#define SN_IO_WRITER_H

#include "io/file.h"

typedef struct sn_writer {
  sn_file file;
  char *path, *temporary;
  unsigned char* buffer;
  size_t used;    // bytes of the buffer
  uint64_t size;  // bytes of the file so far
  sn_status status;
  sn_error* err;
} sn_writer;

// Also when it fails the writer is to be closed.
void sn_writer_open(sn_writer* w, const char* path, sn_error* err);
// Put the file in its place if nothing failed, here or in what the caller says; else remove it.
sn_status sn_writer_close(sn_writer* w, sn_status status);

void sn_write_bytes(sn_writer* w, const void* bytes, size_t size);
void sn_write_text(sn_writer* w, const char* text);
void sn_write_whole(sn_writer* w, uint64_t number);  // as decimal text
void sn_write_number(sn_writer* w, double number);   // with nine digits, as many as a float needs
// Binary, 4 bytes, on every host in the order that the name says.
void sn_write_little(sn_writer* w, uint32_t word);
void sn_write_little_floats(sn_writer* w, const float* numbers, size_t count);
void sn_write_big(sn_writer* w, uint32_t word);
void sn_write_big_floats(sn_writer* w, const float* numbers, size_t count);

// Nine digits, fewer where the rest are zeros; the locale does not matter. A float reads back to its bits.
// @param number finite @param text with a zero @return its length
int sn_nine_digits(double number, char text[24]);

#endif
