// messages.jsonl: what a run said, kept beside what it computed.
#ifndef SN_IO_MESSAGES_H
#define SN_IO_MESSAGES_H

#include <jansson.h>

#include "base/memory.h"

// Paths in a message may hold any bytes; JSON holds UTF-8: what is none becomes question marks.
json_t* sn_text_to_json(const char* text);

// Add a line to the file, which is made if it is not there. A message that it has already is not said
// again, so that a resumed run does not repeat itself. `arena` is left as it was.
sn_status sn_messages_append(const char* path, sn_log_level level, const char* text,
                             sn_arena* arena, sn_error* err);

#endif
