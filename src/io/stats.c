// A frame's numbers as one line of JSON.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "sinew/io.h"

typedef struct writer {
  char* text;
  size_t size;
  int length;  // wanted so far, which may be more than fits
} writer;

SN_PRINTF(2, 3) static void put(writer* w, const char* format, ...) {
  va_list args;
  va_start(args, format);
  bool fits = (size_t)w->length < w->size;
  int added = vsnprintf(fits ? w->text + w->length : NULL, fits ? w->size - (size_t)w->length : 0,
                        format, args);
  va_end(args);
  if (added > 0) w->length += added;
}

// JSON has no infinity: what is not finite becomes null.
static void put_number(writer* w, const char* before, const char* name, double value) {
  put(w, "%s\"%s\": ", before, name);
  put(w, isfinite(value) ? "%.9g" : "null", value);
}

static const char* stop_name(sn_stop stop) {
  static const char* const NAMES[] = {"converged", "max", "stalled"};
  return NAMES[stop];
}

size_t sn_frame_stats_size(void) { return sizeof(sn_frame_stats); }

int sn_stats_to_json(const sn_frame_stats* stats, char* text, size_t size) {
  writer w = {text, size, 0};
  put(&w, "{\"frame\": %d", stats->frame);
  put_number(&w, ", ", "time", stats->time);
  put_number(&w, ", ", "seconds", stats->seconds);
  put_number(&w, ", ", "contact_seconds", stats->contact_seconds);
  put(&w, ", \"newton\": %d, \"krylov\": [", stats->newton);
  for (int k = 0; k < stats->newton; ++k) put(&w, "%s%d", k ? ", " : "", stats->krylov[k]);
  put(&w, "]");
  put_number(&w, ", ", "residual", stats->residual);
  put(&w, ", \"energy\": {");
  put_number(&w, "", "elastic", stats->energy_elastic);
  put_number(&w, ", ", "kinetic", stats->energy_kinetic);
  put_number(&w, ", ", "gravity", stats->energy_gravity);
  put_number(&w, ", ", "work", stats->work);
  put_number(&w, ", ", "rescued", stats->rescued);
  put_number(&w, "}, ", "contact_force", stats->contact_force);
  put(&w, ", \"converged\": %s, \"stop\": \"%s\"", stats->converged ? "true" : "false",
      stop_name(stats->stop));
  put_number(&w, ", ", "volume", stats->volume);
  put_number(&w, ", ", "volume_error", stats->volume_error);
  put_number(&w, ", ", "min_j", stats->min_j);
  put(&w, ", \"inverted\": %llu, \"contacts\": %llu, \"lost_contacts\": %llu",
      (unsigned long long)stats->inverted, (unsigned long long)stats->contacts,
      (unsigned long long)stats->lost_contacts);
  put_number(&w, ", ", "max_penetration", stats->max_penetration);
  put(&w, ", \"elements\": %llu, \"unknowns\": %llu, \"bytes\": %zu, \"bytes_per_element\": {",
      (unsigned long long)stats->elements, (unsigned long long)stats->unknowns, stats->bytes);
  for (int p = 0; p < SN_MEMORY_PURPOSES; ++p) {
    put_number(&w, p ? ", " : "", sn_memory_purpose_name((sn_memory_purpose)p),
               round(10 * (double)stats->memory.bytes[p] / (double)stats->elements) / 10);
  }
  put(&w, "}}");
  return w.length;
}
