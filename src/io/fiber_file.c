#include "io/fiber_file.h"

#include <math.h>

#include "geometry/mesh_arrays.h"
#include "io/file.h"
#include "io/text.h"
#include "math/vec.h"

#define FIELDS 6

static sn_status read_sample(const char* path, const sn_text* text, const sn_token* fields,
                             int count, sn_fiber_sample* sample, sn_error* err) {
  double v[FIELDS];
  SN_CHECK(count == FIELDS, err, SN_ERR_INPUT, "%s:%llu: %s%d fields; expected x, y, z, dx, dy, dz",
           path, (unsigned long long)text->line, count > FIELDS ? "more than " : "",
           count > FIELDS ? FIELDS : count);
  double most = 0;
  for (int i = 0; i < FIELDS; ++i) {
    bool good = sn_token_to_number(fields[i], &v[i]) && fabs(v[i]) <= SN_MESH_COORDINATE_MAX;
    SN_CHECK(good, err, SN_ERR_INPUT, "%s:%llu: %s; expected a number no larger than %g", path,
             (unsigned long long)text->line, sn_token_quote(fields[i]).text,
             SN_MESH_COORDINATE_MAX);
    if (i >= 3) most = fmax(most, fabs(v[i]));
  }
  SN_CHECK(most > 0, err, SN_ERR_INPUT, "%s:%llu: a direction of length 0; expected another", path,
           (unsigned long long)text->line);
  sn_vec3 d = sn_v3(v[3] / most, v[4] / most, v[5] / most);  // no square under- or overflows
  *sample = (sn_fiber_sample){sn_load3(v), sn_scale(1 / sn_length(d), d)};
  return SN_OK;
}

// With samples == NULL they are counted only.
static sn_status read_lines(const char* path, sn_text text, sn_fiber_sample* samples,
                            uint32_t* count, sn_error* err) {
  bool may_be_heading = true;
  *count = 0;
  do {
    sn_token fields[FIELDS + 1];
    int found = sn_token_split(sn_text_rest_of_line(&text), fields, FIELDS + 1);
    double number;
    if (found == 0) continue;
    bool is_heading = may_be_heading && !sn_token_to_number(fields[0], &number);
    may_be_heading = false;
    if (is_heading) continue;
    if (samples) SN_TRY(read_sample(path, &text, fields, found, &samples[*count], err));
    SN_CHECK(++*count <= SN_FIBER_SAMPLES_MAX, err, SN_ERR_INPUT,
             "%s: more than %d directions; expected fewer", path, SN_FIBER_SAMPLES_MAX);
  } while (sn_text_next_line(&text));
  return SN_OK;
}

sn_status sn_fiber_file_read(const char* path, sn_arena* arena, sn_fiber_sample** samples,
                             uint32_t* count, sn_error* err) {
  char* bytes;
  size_t size;
  SN_TRY(sn_file_read(path, arena, &bytes, &size, err));
  const sn_text text = {bytes, bytes + size, 1, false};
  SN_TRY(read_lines(path, text, NULL, count, err));
  SN_CHECK(*count > 0, err, SN_ERR_INPUT, "%s: no directions; expected lines x, y, z, dx, dy, dz",
           path);
  SN_TRY(SN_ARENA_RAW(arena, *count, samples, err));
  return read_lines(path, text, *samples, count, err);
}
