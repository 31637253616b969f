// Names of joints: split into words, side and prefixes taken off, then looked up in a small table of the
// rigs in use: CMU and MotionBuilder, Mixamo, Rigify and MakeHuman, 3ds Max Biped, Quaternius, KayKit.
#include "io/drive_names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// Words that name the rig, not the joint, where they come first.
static const char* const prefixes[] = {"mixamorig",  "armature", "skeleton", "rig", "bip",
                                       "valvebiped", "def",      "org",      "cc",  "base"};

// The words for each part, each between blanks.
static const char* const parts[SN_PART_COUNT] = {
    [SN_PART_HIPS] = " hips hip pelvis cog torsojoint1 ",
    [SN_PART_SPINE] = " spine abdomen stomach waist lowerback spinelower torsojoint2 ",
    [SN_PART_CHEST] = " chest torso upperchest ribcage thorax spine1 spine2 spine3 torsojoint3 ",
    [SN_PART_NECK] = " neck neck1 neckjoint1 ",
    [SN_PART_HEAD] = " head neckjoint2 ",
    [SN_PART_CLAVICLE] = " clavicle shoulder shoulder1 collar collarbone ",
    [SN_PART_UPPER_ARM] = " arm upperarm upperarm1 uparm armjoint1 ",
    [SN_PART_FOREARM] = " forearm lowerarm lowerarm1 loarm lowarm elbow armjoint2 ",
    [SN_PART_HAND] = " hand wrist palm palm2 armjoint3 ",
    [SN_PART_THUMB] = " thumb thumb1 handthumb1 fthumb ",
    [SN_PART_INDEX] = " index index1 handindex1 findex1 ",
    [SN_PART_MIDDLE] = " middle middle1 handmiddle1 fmiddle1 ",
    [SN_PART_RING] = " ring ring1 handring1 fring1 ",
    [SN_PART_PINKY] = " pinky pinky1 handpinky1 fpinky1 little ",
    [SN_PART_THIGH] = " thigh upleg upperleg upperleg1 legjoint1 ",
    [SN_PART_SHIN] = " shin leg lowerleg lowerleg1 loleg lowleg calf knee legjoint2 ",
    [SN_PART_FOOT] = " foot ankle legjoint3 ",
    [SN_PART_TOE] = " toe toes toebase toe0 ball legjoint4 ",
};

// Parts that come in pairs need a side, the others must have none.
int sn_joint_word_part(const sn_joint_word* word) {
  char wanted[SN_JOINT_WORD_SIZE + 2];
  snprintf(wanted, sizeof wanted, " %s ", word->text);
  for (int p = 0; p < SN_PART_COUNT; ++p) {
    if ((p >= SN_PART_CLAVICLE) == (word->side != 0) && strstr(parts[p], wanted)) return p;
  }
  return -1;
}

// Of ASCII only, whatever the locale is.
static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_small(char c) { return c >= 'a' && c <= 'z'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return is_capital(c) || is_small(c); }
static bool is_plain(char c) { return is_letter(c) || is_digit(c); }

// A word begins behind anything that is neither letter nor digit, where case goes up, before the last of
// several capitals that a small letter follows, and where a digit is followed by a letter.
static bool begins_word(const char* name, size_t i) {
  char before = name[i - 1], here = name[i];
  if (!is_plain(before)) return true;
  if (is_digit(before)) return is_letter(here);
  if (is_capital(here)) return is_small(before) || is_small(name[i + 1]);
  return false;
}

static bool is_one_of(const char* word, size_t length, const char* const* list, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (strlen(list[i]) == length && strncasecmp(word, list[i], length) == 0) return true;
  }
  return false;
}

// A prefix may have a number: Bip01.
static bool is_prefix(const char* word, size_t length) {
  while (length > 0 && is_digit(word[length - 1])) --length;
  return is_one_of(word, length, prefixes, COUNT(prefixes));
}

static char side_of(const char* word, size_t length) {
  static const char* const lefts[] = {"l", "left"};
  static const char* const rights[] = {"r", "right"};
  if (is_one_of(word, length, lefts, COUNT(lefts))) return 'l';
  return is_one_of(word, length, rights, COUNT(rights)) ? 'r' : 0;
}

// In lower case and without zeros before a number. @return false if it does not fit
static bool append(sn_joint_word* to, const char* word, size_t length) {
  size_t at = strlen(to->text);
  for (size_t i = 0; i < length; ++i) {
    bool starts_number = i == 0 || !is_digit(word[i - 1]);
    bool goes_on = i + 1 < length && is_digit(word[i + 1]);
    while (starts_number && word[i] == '0' && goes_on) {
      ++i;
      goes_on = i + 1 < length && is_digit(word[i + 1]);
    }
    if (at + 1 >= SN_JOINT_WORD_SIZE) return false;
    to->text[at++] = is_capital(word[i]) ? (char)(word[i] - 'A' + 'a') : word[i];
  }
  return true;
}

sn_joint_word sn_joint_word_of(const char* name) {
  // MakeHuman's name for what only joins two joints.
  if (strncmp(name, "__", 2) == 0) return (sn_joint_word){.part = -1};
  // A name space ends with a colon or a bar.
  for (const char* c = name; *c; ++c) {
    if ((*c == ':' || *c == '|') && c[1]) name = c + 1;
  }
  sn_joint_word word = {.part = -1};
  bool fits = true;
  for (size_t i = 0; name[i] && fits;) {
    if (!is_plain(name[i])) {
      ++i;
      continue;
    }
    size_t start = i++;
    while (is_plain(name[i]) && !begins_word(name, i)) ++i;
    char side = side_of(name + start, i - start);
    if (side && !word.side) {
      word.side = side;
    } else if (word.text[0] || !name[i] || !is_prefix(name + start, i - start)) {
      fits = append(&word, name + start, i - start);
    }
  }
  if (!fits) word.text[0] = 0;
  word.part = sn_joint_word_part(&word);
  return word;
}
