// Text of JSON into values, and whether memory was short. The parser (jansson 2.14) says little about that: it
// takes a lack of memory for a mistake in the text, or drops a letter of a word and goes on; and what makes a
// string of bytes fails in the same way for want of memory and for bytes that are no UTF-8.
#ifndef SN_IO_JSON_LOAD_H
#define SN_IO_JSON_LOAD_H

#include <jansson.h>
#include <stdbool.h>

// From here on it is noted if this thread does not get memory for JSON.
void sn_json_watch(void);
// Has that happened since?
bool sn_json_is_starved(void);

// As json_loadb. @param starved true where NULL is for want of memory, and not for the text
json_t* sn_json_load(const char* bytes, size_t size, size_t flags, json_error_t* problem,
                     bool* starved);

#endif
