// The parts of the Collada reader (1.4 and 1.5). assimp is not used: Debian's has its assertions on, and
// an index beyond an array in a file ends the program.
#ifndef SN_IO_DAE_H
#define SN_IO_DAE_H

#include <jansson.h>

#include "io/import.h"
#include "io/xml.h"

// Numbers decoded at most: these, and so many more for each byte of the file.
#define SN_DAE_NUMBERS_FREE ((uint64_t)2 << 20)
#define SN_DAE_NUMBERS_A_BYTE 3

typedef struct sn_dae {
  sn_import* im;
  uint64_t budget;
  sn_xml* root;
  const sn_xml** elements;  // those with an id
  json_t* ids;              // places in `elements`
  const sn_xml** nodes;     // <node> of each node of the document
  const sn_xml** meshes;    // <instance_geometry> or <instance_controller> of each, or NULL
} sn_dae;

// Numbers of a <source> or <float_array>: `stride` for each of `count`.
typedef struct sn_dae_source {
  const double* values;
  size_t count, stride;
} sn_dae_source;

sn_status sn_dae_fail(const sn_dae* d, const sn_xml* at, const char* found, const char* expected);
// The element of an id, with or without '#'; NULL without.
const sn_xml* sn_dae_find(const sn_dae* d, const char* url);
// All numbers of a text, in scratch.
sn_status sn_dae_numbers(sn_dae* d, const sn_xml* element, double** numbers, size_t* count);
sn_status sn_dae_source_of(sn_dae* d, const sn_xml* at, const char* url, sn_dae_source* source);
// Words of a <source> of names. @param words each ended by a zero, in scratch
sn_status sn_dae_words(sn_dae* d, const sn_xml* source, const char*** words, size_t* count);
// The <input> with that meaning, NULL without.
const sn_xml* sn_dae_input(const sn_xml* within, const char* semantic);
// A whole number of an attribute; `preset` where it is missing or none.
size_t sn_dae_whole(const sn_xml* element, const char* attribute, size_t preset);

// One transform of a node, of its <matrix>, <translate>, <rotate> or <scale>. @return whether it is one
bool sn_dae_transform(const char* kind, const double* numbers, size_t count, double m[16]);

sn_status sn_dae_take_meshes(sn_dae* d);
sn_status sn_dae_take_clip(sn_dae* d);

#endif
