#include "messages.h"

#include <stdio.h>
#include <string.h>

// What the library said before there was a folder to keep it in. Room that is there: what was said when
// memory was short is worth keeping too.
#define EARLY_MESSAGES 256
#define EARLY_TEXT 65536

typedef struct early_message {
  sn_log_level level;
  size_t begin;  // in the text
} early_message;

static struct {
  bool quiet;
  bool over;    // nothing is kept any more
  bool failed;  // something could not be, and that was said
  sn_run* run;  // NULL: not open yet
  early_message early[EARLY_MESSAGES];
  char text[EARLY_TEXT];
  size_t text_length;
  int early_count, lost;
} heard;

// A message that cannot be kept is no reason to end a run; but that it is not kept is said, even if all else
// is to be quiet.
static void store_message(sn_run* run, sn_log_level level, const char* text) {
  sn_error err = {0};
  if (sn_run_message(run, level, text, &err) == SN_OK || heard.failed) return;
  heard.failed = true;
  fprintf(stderr, "sinew: warning: %s; so messages of this run are not kept\n", err.text);
}

static void keep_message(sn_log_level level, const char* text) {
  size_t size = strlen(text) + 1;
  if (heard.over) return;
  if (heard.run) {
    store_message(heard.run, level, text);
  } else if (heard.early_count < EARLY_MESSAGES && size <= EARLY_TEXT - heard.text_length) {
    heard.early[heard.early_count++] = (early_message){level, heard.text_length};
    memcpy(heard.text + heard.text_length, text, size);
    heard.text_length += size;
  } else {
    heard.lost++;
  }
}

static void hear(void* user, sn_log_level level, const char* text) {
  if (!heard.quiet) print_message(user, level, text);
  keep_message(level, text);
}

// From now on messages go into the folder; first those that are waiting.
void messages_keep_in(sn_run* run) {
  heard.run = run;
  heard.over = !run;
  for (int i = 0; i < heard.early_count && run; ++i) {
    store_message(run, heard.early[i].level, heard.text + heard.early[i].begin);
  }
  heard.early_count = 0;
  if (run && heard.lost > 0) {
    char text[64];
    snprintf(text, sizeof text, "%d more messages were said before the first frame", heard.lost);
    store_message(run, SN_LOG_INFO, text);
  }
}

void messages_listen(bool quiet) {
  heard.quiet = quiet;
  sn_set_log(hear, NULL);
}
