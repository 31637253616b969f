// Joints of different rigs under one name.
#ifndef SN_IO_DRIVE_NAMES_H
#define SN_IO_DRIVE_NAMES_H

#include <stdbool.h>

#define SN_JOINT_WORD_SIZE 96

// A name without what only tells rigs apart: "mixamorig:LeftUpLeg", "Bip01 L UpLeg" and "up_leg.L" are
// all `upleg` on the left.
typedef struct sn_joint_word {
  char text[SN_JOINT_WORD_SIZE];  // lower case, empty where nothing is left or it is too long
  char side;                      // 'l', 'r' or 0
  int part;                       // SN_PART_HIPS, ... or -1: of no known part
} sn_joint_word;

sn_joint_word sn_joint_word_of(const char* name);
// The part of the body that a word and its side mean, or -1.
int sn_joint_word_part(const sn_joint_word* word);

// Parts of a body, as far as the rigs that we know have words for them.
enum {
  SN_PART_HIPS,
  SN_PART_SPINE,
  SN_PART_CHEST,
  SN_PART_NECK,
  SN_PART_HEAD,
  SN_PART_CLAVICLE,
  SN_PART_UPPER_ARM,
  SN_PART_FOREARM,
  SN_PART_HAND,
  SN_PART_THUMB,
  SN_PART_INDEX,
  SN_PART_MIDDLE,
  SN_PART_RING,
  SN_PART_PINKY,
  SN_PART_THIGH,
  SN_PART_SHIN,
  SN_PART_FOOT,
  SN_PART_TOE,
  SN_PART_COUNT
};

#endif
