#include "options.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPTIONS 64
#define MAX_WORD 64

SN_PRINTF(2, 3) static sn_status usage_error(sn_error* err, const char* format, ...) {
  va_list args;
  va_start(args, format);
  err->status = SN_ERR_USAGE;
  vsnprintf(err->text, sizeof err->text, format, args);
  va_end(args);
  return SN_ERR_USAGE;
}

// Edits that turn one word into the other.
static int edit_distance(const char* a, const char* b) {
  int row[MAX_WORD + 1];
  int n = (int)strlen(a), m = (int)strlen(b);
  if (n > MAX_WORD || m > MAX_WORD) return INT_MAX;
  for (int j = 0; j <= m; ++j) row[j] = j;
  for (int i = 1; i <= n; ++i) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= m; ++j) {
      int swap = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      int least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
      row[j] = swap < least ? swap : least;
    }
  }
  return row[m];
}

const char* nearest_name(const char* word, const char* const* names) {
  const char* best = NULL;
  int least = (int)strlen(word) / 2 + 1;  // a word half of which is wrong is another word
  for (; *names; ++names) {
    int distance = edit_distance(word, *names);
    if (distance < least) {
      least = distance;
      best = *names;
    }
  }
  return best;
}

static sn_status unknown_option(const option* table, const char* name, sn_error* err) {
  const char* names[MAX_OPTIONS + 1] = {NULL};
  for (int i = 0; i < MAX_OPTIONS && table[i].name; ++i) names[i] = table[i].name;
  const char* near = nearest_name(name, names);
  if (near) return usage_error(err, "%s: no such option; did you mean %s?", name, near);
  return usage_error(err, "%s: no such option; --help lists them", name);
}

static bool parse_int(const char* text, int* value) {
  char* end;
  long number = strtol(text, &end, 10);
  if (end == text || *end || number < INT_MIN || number > INT_MAX) return false;
  *value = (int)number;
  return true;
}

static bool parse_range(const char* text, int range[2]) {
  char first[32];
  const char* colon = strchr(text, ':');
  if (!colon) return parse_int(text, &range[0]) && parse_int(text, &range[1]);
  size_t length = (size_t)(colon - text);
  if (length >= sizeof first) return false;
  memcpy(first, text, length);
  first[length] = 0;
  return parse_int(first, &range[0]) && parse_int(colon + 1, &range[1]);
}

static sn_status store(const option* o, const char* value, sn_error* err) {
  switch (o->kind) {
    case OPTION_FLAG:
      *(bool*)o->target = true;
      return SN_OK;
    case OPTION_TEXT:
      *(const char**)o->target = value;
      return SN_OK;
    case OPTION_INT:
      if (parse_int(value, o->target)) return SN_OK;
      return usage_error(err, "%s: found \"%s\", expected a whole number", o->name, value);
    case OPTION_RANGE:
      if (parse_range(value, o->target)) return SN_OK;
      return usage_error(err, "%s: found \"%s\", expected A:B, two frames", o->name, value);
    case OPTION_LIST: {
      text_list* list = o->target;
      if (list->count == MAX_LIST) {
        return usage_error(err, "%s: given more than %d times", o->name, MAX_LIST);
      }
      list->items[list->count++] = value;
      return SN_OK;
    }
  }
  return SN_OK;
}

static const option* find_option(const option* table, const char* word, size_t length) {
  for (; table->name; ++table) {
    if (strlen(table->name) == length && strncmp(table->name, word, length) == 0) return table;
  }
  return NULL;
}

sn_status options_parse(const option* table, int argc, char** argv, text_list* words,
                        sn_error* err) {
  bool only_words = false;
  for (int i = 1; i < argc; ++i) {
    const char* word = argv[i];
    if (!only_words && strcmp(word, "--") == 0) {
      only_words = true;
    } else if (only_words || word[0] != '-' || !word[1]) {
      if (words->count == MAX_LIST) return usage_error(err, "too many words");
      words->items[words->count++] = word;
    } else {
      const char* equals = word[1] == '-' ? strchr(word, '=') : NULL;
      size_t length = equals ? (size_t)(equals - word) : strlen(word);
      const option* o = find_option(table, word, length);
      if (!o) return unknown_option(table, word, err);
      if (o->kind == OPTION_FLAG && equals) {
        return usage_error(err, "%s: takes no value", o->name);
      }
      const char* value = equals ? equals + 1 : NULL;
      if (o->kind != OPTION_FLAG && !value) {
        if (i + 1 == argc) return usage_error(err, "%s: needs a value, %s", o->name, o->value);
        value = argv[++i];
      }
      if (store(o, value, err) != SN_OK) return SN_ERR_USAGE;
    }
  }
  return SN_OK;
}

void options_print_help(const char* usage, const char* about, const option* table) {
  printf("usage: %s\n\n%s\n", usage, about);
  if (table && table->name) printf("\noptions:\n");
  for (; table && table->name; ++table) {
    char left[64];
    snprintf(left, sizeof left, "%s %s", table->name, table->value ? table->value : "");
    printf("  %-26s %s\n", left, table->help);
  }
}

int report_error(const sn_error* err) {
  fprintf(stderr, "sinew: %s\n", err->text);
  return (int)err->status;
}

void name_scene(const char* path, sn_error* err) {
  char text[sizeof err->text];
  if (err->status != SN_ERR_INPUT || strncmp(err->text, path, strlen(path)) == 0) return;
  memcpy(text, err->text, sizeof text);
  int length = snprintf(err->text, sizeof err->text, "%s: ", path);
  if (length < 0 || (size_t)length >= sizeof err->text) length = 0;
  snprintf(err->text + length, sizeof err->text - (size_t)length, "%s", text);
}

void print_message(void* user, sn_log_level level, const char* text) {
  (void)user;
  fprintf(stderr, "sinew: %s%s\n", level == SN_LOG_WARNING ? "warning: " : "", text);
}

void listen_to_log(bool quiet) { sn_set_log(quiet ? NULL : print_message, NULL); }
