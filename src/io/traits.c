#include "io/traits.h"

#include <stdio.h>
#include <string.h>

#define MOST_NAMED 4
#define WORDS_SIZE 700

// One line.
typedef struct trait {
  const char* place;
  size_t place_length;
  const char* what;
  size_t what_length;
} trait;

// @param at where to go on; moved behind the line @return false behind the last
static bool next_trait(const sn_trait_list* list, size_t* at, trait* t) {
  if (*at >= list->size) return false;
  const char* begin = list->text + *at;
  const char* newline = memchr(begin, '\n', list->size - *at);
  size_t length = newline ? (size_t)(newline - begin) : list->size - *at;
  const char* space = memchr(begin, ' ', length);
  size_t place = space ? (size_t)(space - begin) : length;
  *t = (trait){begin, place, begin + place, length - place};
  if (space) {
    t->what++;
    t->what_length--;
  }
  *at += length + 1;
  return true;
}

static bool find_trait(const sn_trait_list* list, const trait* wanted, trait* found) {
  for (size_t at = 0; next_trait(list, &at, found);) {
    if (found->place_length == wanted->place_length &&
        memcmp(found->place, wanted->place, wanted->place_length) == 0) {
      return true;
    }
  }
  return false;
}

static bool are_equal(const trait* a, const trait* b) {
  return a->what_length == b->what_length && memcmp(a->what, b->what, a->what_length) == 0;
}

// The differences in words, as many as are named.
typedef struct difference {
  char words[WORDS_SIZE];
  size_t length;
  int count;
  bool program;    // is of another version
  bool animation;  // is different
  bool instructions;
} difference;

// Bones and the like move by what only their hashes tell apart.
static bool is_animation(const trait* t) {
  static const char* const ENDINGS[] = {".motion", ".pose", ".activation"};
  for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; ++i) {
    size_t length = strlen(ENDINGS[i]);
    if (t->place_length > length &&
        memcmp(t->place + t->place_length - length, ENDINGS[i], length) == 0) {
      return true;
    }
  }
  return strncmp(t->place, "forces[", 7) == 0 && t->place[t->place_length - 1] == ']';
}

static bool is_at(const trait* t, const char* place) {
  return t->place_length == strlen(place) && memcmp(t->place, place, t->place_length) == 0;
}

static void name_trait(difference* d, const trait* t, const trait* before, const trait* now) {
  int length;
  char* at = d->words + d->length;
  size_t room = sizeof d->words - d->length;
  if (is_at(t, SN_TRAIT_INSTRUCTIONS)) {
    d->instructions = true;
    return;
  }
  d->count++;
  d->animation |= is_animation(t);
  d->program |= is_at(t, SN_TRAIT_PROGRAM);
  if (d->count > MOST_NAMED) return;
  const char* separator = d->count > 1 ? "; " : "";
  if (!before || !now) {
    length = snprintf(at, room, "%s%.*s %s", separator, (int)t->place_length, t->place,
                      before ? "is gone" : "is new");
  } else if (before->what_length > 0 && before->what[0] == '#') {
    length = snprintf(at, room, "%s%.*s is different", separator, (int)t->place_length, t->place);
  } else {
    length =
        snprintf(at, room, "%s%.*s was %.*s, is %.*s", separator, (int)t->place_length, t->place,
                 (int)before->what_length, before->what, (int)now->what_length, now->what);
  }
  if (length > 0 && (size_t)length < room) d->length += (size_t)length;
}

static void find_differences(const sn_trait_list* before, const sn_trait_list* now, difference* d) {
  trait t, other;
  for (size_t at = 0; next_trait(before, &at, &t);) {
    if (!find_trait(now, &t, &other)) {
      name_trait(d, &t, &t, NULL);
    } else if (!are_equal(&t, &other)) {
      name_trait(d, &t, &t, &other);
    }
  }
  for (size_t at = 0; next_trait(now, &at, &t);) {
    if (!find_trait(before, &t, &other)) name_trait(d, &t, NULL, &t);
  }
}

sn_status sn_traits_compare(const char* path, int frame, sn_trait_list before, sn_trait_list now,
                            sn_error* err) {
  if (before.size == now.size && memcmp(before.text, now.text, now.size) == 0) return SN_OK;
  difference d = {.words = ""};
  char more[48] = "", until[48] = "";
  find_differences(&before, &now, &d);
  if (d.count == 0 && d.instructions) {
    sn_log(SN_LOG_WARNING,
           "%s: was computed on a processor that rounds in another way (fused multiply-add or "
           "not); the run goes on soundly, but not to the bits of an uninterrupted one",
           path);
  }
  if (d.count == 0) return SN_OK;
  if (d.count > MOST_NAMED) snprintf(more, sizeof more, "; and %d more", d.count - MOST_NAMED);
  if (d.animation) snprintf(until, sizeof until, ", animation up to frame %d included", frame);
  return sn_fail(
      err, SN_ERR_INPUT,
      "%.300s: belongs to another %s: %s%s; run without --resume, or with all as it was%s", path,
      d.program ? "version of the program" : "scene",
      d.count > 0 ? d.words : "its traits are in another order", more, until);
}
