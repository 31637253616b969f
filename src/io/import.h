// What readers of foreign characters share: names, ties of vertices to joints, units and axes. A reader
// fills a document as its file has it, in the unit and axes of the file, and converts it as a whole at
// the end.
#ifndef SN_IO_IMPORT_H
#define SN_IO_IMPORT_H

#include "base/memory.h"
#include "sinew/gltf.h"

// Longer files are refused before they are read, so that numbers of things in a file fit 31 bits.
#define SN_IMPORT_FILE_MAX 0x40000000ull

// Joints of a vertex, at most, as of a glTF file.
#define SN_IMPORT_INFLUENCES_MAX 64

// A document in the making. `gltf->storage` exists.
typedef struct sn_import {
  const char* path;
  sn_arena* scratch;
  sn_gltf* gltf;
  sn_error* err;
} sn_import;

// A joint's pull on a vertex.
typedef struct sn_tie {
  uint32_t vertex, joint;
  double weight;
} sn_tie;

// How lengths and directions of a file become metres and y up.
typedef struct sn_import_frame {
  double metres;      // in a unit of the file
  double axes[3][3];  // signed permutation: rows are x, y, z of the document in those of the file
} sn_import_frame;

// Read a file of at most SN_IMPORT_FILE_MAX bytes into scratch.
sn_status sn_import_read_file(sn_import* im, char** bytes, size_t* size);
// Joints and weights of a mesh from ties in any order. Vertices that nothing pulls get `own_joint`, of
// which `*unweighted_count` says how many. @param joints, weights in `arena` (width x vertex_count)
sn_status sn_import_weigh(sn_import* im, sn_arena* arena, const sn_tie* ties, size_t tie_count,
                          uint32_t vertex_count, uint16_t own_joint, sn_gltf_mesh* mesh,
                          uint32_t* unweighted_count);
// Set a node from a matrix (column-major): its parts, or the matrix itself where it is sheared or flat.
void sn_import_place(const double matrix[16], sn_gltf_node* node);
// Express the whole document in metres and y up. Every node keeps its meaning: x becomes C x, and each
// local transform M becomes C M C^-1. A frame of the other hand turns the triangles too.
void sn_import_convert(const sn_import_frame* frame, sn_gltf* gltf);
// Whether a frame is a signed permutation.
bool sn_import_frame_is_valid(const sn_import_frame* frame);
// List parents first. SN_ERR_INPUT if a node is its own ancestor.
sn_status sn_import_sort(sn_import* im);
// Sort if that has not been done and check every number; SN_ERR_INPUT says what is wrong.
sn_status sn_import_finish(sn_import* im);

// Collada (.dae).
sn_status sn_import_dae(sn_import* im);
// Biovision hierarchies (.bvh).
sn_status sn_import_bvh(sn_import* im);

#endif
