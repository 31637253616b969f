// The page, embedded when the program is built. tools/embed.py makes the C file.
#ifndef SN_CLI_VIEW_PAGE_H
#define SN_CLI_VIEW_PAGE_H

#include <stddef.h>

typedef struct page_file {
  const char* path;  // "/viewer.js"
  const char* type;  // of its content
  const unsigned char* bytes;
  size_t size;
} page_file;

// Empty if the program was built without the page; `page_missing` then says what that took.
extern const page_file PAGE_FILES[];
extern const size_t PAGE_FILE_COUNT;
extern const char* const PAGE_MISSING;

// NULL: there is no such file.
const page_file* page_find(const char* path);

#endif
