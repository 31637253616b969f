#include "io/scene_motion.h"

#include <string.h>

#include "io/scene_clip.h"
#include "io/scene_table.h"

#define STRETCH_TEXT "a factor, [x, y, z] or [xx, yy, zz, yz, zx, xy], nothing below 0.001"

// Is S - SN_STRETCH_LEAST positive definite, but for round-off? By the minors of S.
static bool is_definite(const double s[6]) {
  double least = SN_STRETCH_LEAST * (1 - 1e-9);
  double xx = s[0] - least, yy = s[1] - least, zz = s[2] - least;
  double minor = xx * yy - s[5] * s[5];
  double det = xx * (yy * zz - s[3] * s[3]) - s[5] * (s[5] * zz - s[3] * s[4]) +
               s[4] * (s[5] * s[3] - yy * s[4]);
  return xx > 0 && minor > 0 && det > 0;
}

static sn_status read_stretch(sn_reader* r, const sn_place* at, json_t* owner,
                              const sn_field* field, void* target) {
  const json_t* value = json_object_get(owner, field->key);
  double* stretch = ((sn_keyframe*)target)->stretch;
  size_t count = json_is_number(value) ? 1 : json_array_size(value);
  if (count != 1 && count != 3 && count != 6) return sn_read_mismatch(r, at, value, STRETCH_TEXT);
  if (count == 1 && !json_is_number(value)) return sn_read_mismatch(r, at, value, STRETCH_TEXT);
  for (size_t i = 0; i < (count == 1 ? 3 : count); ++i) {
    sn_place here = sn_place_index(at, i);
    const json_t* number = count == 1 ? value : json_array_get(value, i);
    SN_TRY(sn_value_number(r, count == 1 ? at : &here, number, field->range, &stretch[i]));
  }
  return is_definite(stretch) ? SN_OK : sn_read_mismatch(r, at, value, STRETCH_TEXT);
}

static const sn_field keyframe_fields[] = {
    {"frame", NULL, sn_read_number, AT(sn_keyframe, frame), FROM_TO(-1e9, 1e9)},
    {"translate", "[0, 0, 0]", sn_read_length_vector, AT(sn_keyframe, translate)},
    {"rotate", "[0, 0, 0, 1]", sn_read_quat, AT(sn_keyframe, rotate)},
    {"pivot", "[0, 0, 0]", sn_read_length_vector, AT(sn_keyframe, pivot)},
    {"stretch", "1", read_stretch, FROM_TO(-1e3, 1e3)},
};
static const sn_table keyframe_table = {
    "a keyframe {\"frame\": 1, \"translate\": [x, y, z], \"rotate\": [x, y, z, w], \"pivot\": [x, "
    "y, z], \"stretch\": 1}",
    TABLE(keyframe_fields), NULL};

sn_status sn_check_ascending(sn_reader* r, const sn_place* at, const void* first_frame,
                             size_t stride, uint32_t count) {
  for (uint32_t i = 1; i < count; ++i) {
    double before, frame;
    memcpy(&before, (const char*)first_frame + (i - 1) * stride, sizeof before);
    memcpy(&frame, (const char*)first_frame + i * stride, sizeof frame);
    if (frame > before) continue;
    sn_place key_at = sn_place_index(at, i), frame_at = sn_place_key(&key_at, "frame");
    return sn_read_fail(r, &frame_at, "found %g after %g, expected frames that ascend", frame,
                        before);
  }
  return SN_OK;
}

static sn_status read_keys(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                           sn_motion* motion) {
  const sn_field keys = {.key = field->key,
                         .offset = offsetof(sn_motion, keys),
                         .count_offset = offsetof(sn_motion, key_count),
                         .item_size = sizeof *motion->keys,
                         .table = &keyframe_table};
  SN_TRY(sn_read_list(r, at, owner, &keys, motion));
  if (motion->key_count == 0) return SN_OK;
  return sn_check_ascending(r, at, &motion->keys[0].frame, sizeof *motion->keys, motion->key_count);
}

sn_status sn_read_motion(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                         void* target) {
  json_t* value = json_object_get(owner, field->key);
  sn_motion* motion = (sn_motion*)((char*)target + field->offset);
  if (json_is_object(value)) return sn_read_clip_motion(r, at, value, false, motion);
  return read_keys(r, at, owner, field, motion);
}

sn_status sn_read_rigid_motion(sn_reader* r, const sn_place* at, json_t* owner,
                               const sn_field* field, void* target) {
  json_t* value = json_object_get(owner, field->key);
  sn_motion* motion = (sn_motion*)((char*)target + field->offset);
  if (json_is_object(value)) return sn_read_clip_motion(r, at, value, true, motion);
  SN_TRY(read_keys(r, at, owner, field, motion));
  for (uint32_t k = 0; k < motion->key_count; ++k) {
    if (sn_motion_is_rigid(&(sn_motion){.keys = &motion->keys[k], .key_count = 1})) continue;
    sn_place key_at = sn_place_index(at, k), stretch_at = sn_place_key(&key_at, "stretch");
    return sn_read_mismatch(r, &stretch_at, json_object_get(json_array_get(value, k), "stretch"),
                            "1: what flesh touches is rigid");
  }
  return SN_OK;
}
