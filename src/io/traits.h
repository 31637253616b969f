// What a checkpoint belongs to, as a text: a line for each trait of the scene and of the program, its place
// and what is there, and where two such texts differ.
#ifndef SN_IO_TRAITS_H
#define SN_IO_TRAITS_H

#include "base/status.h"

// The place of the program's own version.
#define SN_TRAIT_PROGRAM "program"
// How the processor multiplies and adds. Another way gives other last digits, which is worth a warning.
#define SN_TRAIT_INSTRUCTIONS "instructions"

typedef struct sn_trait_list {
  const char* text;
  size_t size;
} sn_trait_list;

// SN_ERR_INPUT with the places that differ. @param path of the checkpoint @param frame of it
sn_status sn_traits_compare(const char* path, int frame, sn_trait_list before, sn_trait_list now,
                            sn_error* err);

#endif
