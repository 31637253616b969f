#include "io/scene_motion.h"

#include <string.h>

#include "io/scene_gltf.h"
#include "io/scene_table.h"

static const sn_field keyframe_fields[] = {
    {"frame", NULL, sn_read_number, AT(sn_keyframe, frame), FROM_TO(-1e9, 1e9)},
    {"translate", "[0, 0, 0]", sn_read_length_vector, AT(sn_keyframe, translate)},
    {"rotate", "[0, 0, 0, 1]", sn_read_quat, AT(sn_keyframe, rotate)},
    {"pivot", "[0, 0, 0]", sn_read_length_vector, AT(sn_keyframe, pivot)},
};
static const sn_table keyframe_table = {
    "a keyframe {\"frame\": 1, \"translate\": [x, y, z], \"rotate\": [x, y, z, w], \"pivot\": [x, "
    "y, z]}",
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

sn_status sn_read_motion(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                         void* target) {
  json_t* value = json_object_get(owner, field->key);
  sn_motion* motion = (sn_motion*)((char*)target + field->offset);
  if (json_is_object(value)) return sn_read_gltf_motion(r, at, value, motion);
  const sn_field keys = {.key = field->key,
                         .offset = offsetof(sn_motion, keys),
                         .count_offset = offsetof(sn_motion, key_count),
                         .item_size = sizeof *motion->keys,
                         .table = &keyframe_table};
  SN_TRY(sn_read_list(r, at, owner, &keys, motion));
  if (motion->key_count == 0) return SN_OK;
  return sn_check_ascending(r, at, &motion->keys[0].frame, sizeof *motion->keys, motion->key_count);
}
