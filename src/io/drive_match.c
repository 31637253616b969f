// Which joint follows which: those of one name, then of one word and side, then of one part of the body.
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "io/drive.h"

enum { BY_NAME, BY_WORD, BY_PART, WAYS };

// What has a mesh is no joint.
static bool is_joint(const sn_gltf_node* node) { return node->mesh < 0; }

// Under what a node can be found, "" under nothing.
static void make_key(int way, const sn_gltf_node* node, const sn_joint_word* word, char* key,
                     size_t size) {
  char side = word->side ? word->side : '-';
  key[0] = 0;
  if (way == BY_NAME) {
    snprintf(key, size, "%s", node->name);
  } else if (way == BY_WORD && word->text[0]) {
    snprintf(key, size, "%c %s", side, word->text);
  } else if (way == BY_PART && word->part >= 0) {
    snprintf(key, size, "%c %d", side, word->part);
  }
}

// Longer names are found by their beginnings, which is as good.
#define KEY_SIZE 512

static sn_status list_sources(const sn_driver* d, int way, json_t* table) {
  for (uint32_t i = 0; i < d->from->node_count; ++i) {
    uint32_t n = d->from->order[i];
    if (d->target_of[n] >= 0 || !is_joint(&d->from->nodes[n])) continue;
    char key[KEY_SIZE];
    make_key(way, &d->from->nodes[n], &d->from_words[n], key, sizeof key);
    if (!key[0] || json_object_get(table, key)) continue;
    if (json_object_set_new_nocheck(table, key, json_integer(n)) != 0) {
      return sn_fail_memory(d->err, strlen(key));
    }
  }
  return SN_OK;
}

static sn_status match_by(sn_driver* d, int way) {
  json_t* table = json_object();
  if (!table) return sn_fail_memory(d->err, sizeof(json_t*));
  sn_status status = list_sources(d, way, table);
  for (uint32_t i = 0; i < d->to->node_count && status == SN_OK; ++i) {
    uint32_t n = d->to->order[i];
    if (d->source_of[n] >= 0 || !is_joint(&d->to->nodes[n])) continue;
    char key[KEY_SIZE];
    make_key(way, &d->to->nodes[n], &d->to_words[n], key, sizeof key);
    const json_t* found = key[0] ? json_object_get(table, key) : NULL;
    if (!found) continue;
    d->source_of[n] = (int32_t)json_integer_value(found);
    d->target_of[d->source_of[n]] = (int32_t)n;
    d->matched_count++;
    json_object_del(table, key);
  }
  json_decref(table);
  return status;
}

// As many names as have room, then how many more.
static void list_names(const sn_gltf* gltf, char* text, size_t size) {
  size_t at = 0, left = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < gltf->node_count; ++i) {
    const sn_gltf_node* node = &gltf->nodes[gltf->order[i]];
    if (!is_joint(node)) continue;
    size_t length = strlen(node->name);
    if (left > 0 || at + length + 24 > size) {
      ++left;
      continue;
    }
    at += (size_t)snprintf(text + at, size - at, "%s%s", at > 0 ? ", " : "", node->name);
  }
  if (left > 0) snprintf(text + at, size - at, " and %zu more", left);
}

static sn_status fail_unmatched(const sn_driver* d) {
  char ours[360], theirs[360];
  list_names(d->to, ours, sizeof ours);
  list_names(d->from, theirs, sizeof theirs);
  return sn_fail(d->err, SN_ERR_INPUT,
                 "found no joint of the motion (%s) under a name of the character (%s), expected "
                 "names that belong together, such as Hips, LeftArm, upper_arm.L",
                 theirs, ours);
}

// Chains whose joints have numbers only, which may go up or down: arm_joint_L_1, arm_joint_L_2. The
// place in the chain counts instead.
static void number_chains(const sn_gltf* gltf, sn_joint_word* words) {
  static const char* const stems[] = {"armjoint", "legjoint", "torsojoint", "neckjoint"};
  for (int s = 0; s < 4; ++s) {
    int counts[3] = {0, 0, 0};  // without side, left, right
    for (uint32_t i = 0; i < gltf->node_count; ++i) {
      sn_joint_word* word = &words[gltf->order[i]];
      size_t length = strlen(stems[s]);
      if (strncmp(word->text, stems[s], length) != 0) continue;
      if (strspn(word->text + length, "0123456789") != strlen(word->text + length)) continue;
      int number = ++counts[word->side == 0 ? 0 : word->side == 'l' ? 1 : 2];
      snprintf(word->text, sizeof word->text, "%s%d", stems[s], number);
      word->part = sn_joint_word_part(word);
    }
  }
}

static sn_status find_words(const sn_driver* d, const sn_gltf* gltf, sn_joint_word** words) {
  SN_TRY(SN_ARENA_NEW(d->scratch, gltf->node_count, words, d->err));
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    (*words)[n] = sn_joint_word_of(gltf->nodes[n].name);
  }
  number_chains(gltf, *words);
  return SN_OK;
}

sn_status sn_drive_match(sn_driver* d) {
  SN_TRY(find_words(d, d->to, &d->to_words));
  SN_TRY(find_words(d, d->from, &d->from_words));
  SN_TRY(SN_ARENA_NEW(d->scratch, d->to->node_count, &d->source_of, d->err));
  SN_TRY(SN_ARENA_NEW(d->scratch, d->from->node_count, &d->target_of, d->err));
  for (uint32_t n = 0; n < d->to->node_count; ++n) d->source_of[n] = -1;
  for (uint32_t n = 0; n < d->from->node_count; ++n) d->target_of[n] = -1;
  for (int way = 0; way < WAYS; ++way) SN_TRY(match_by(d, way));
  return d->matched_count > 0 ? SN_OK : fail_unmatched(d);
}
