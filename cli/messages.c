#include "messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What the library said before there was a folder to keep it in.
#define EARLY_MESSAGES 256

typedef struct early_message {
  sn_log_level level;
  char* text;
} early_message;

static struct {
  bool quiet;
  bool over;    // nothing is kept any more
  sn_run* run;  // NULL: not open yet
  early_message early[EARLY_MESSAGES];
  int early_count, lost;
} heard;

// A message that cannot be kept has been printed; the run goes on.
static void keep_message(sn_log_level level, const char* text) {
  if (heard.over) return;
  if (heard.run) {
    sn_run_message(heard.run, level, text, NULL);
  } else if (heard.early_count < EARLY_MESSAGES) {
    early_message* early = &heard.early[heard.early_count];
    *early = (early_message){level, strdup(text)};
    heard.early_count += early->text != NULL;
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
  for (int i = 0; i < heard.early_count; ++i) {
    if (run) sn_run_message(run, heard.early[i].level, heard.early[i].text, NULL);
    free(heard.early[i].text);
  }
  heard.early_count = 0;
  if (run && heard.lost > 0) {
    char text[64];
    snprintf(text, sizeof text, "%d more messages were said before the first frame", heard.lost);
    sn_run_message(run, SN_LOG_INFO, text, NULL);
  }
}

void messages_listen(bool quiet) {
  heard.quiet = quiet;
  sn_set_log(hear, NULL);
}
