// A GLB file with a morph target a frame.
//
// Many engines slow down, or give up, with hundreds of targets, so long animations come in chunks of
// SN_GLB_TARGETS: a chunk is a mesh on a node of its own, whose base is the first frame of the chunk and
// whose targets are the frames that follow. Nodes are shown one after the other, by steps of their scale
// from 0 to 1 and back. The last target of a chunk is the base of the next, so it does not matter whether
// a player is a moment early or late to change over.
#ifndef SN_IO_EXPORT_GLB_H
#define SN_IO_EXPORT_GLB_H

#include "io/export.h"
#include "io/mesh_parts.h"

#define SN_GLB_TARGETS 64

// The triangles of one material, and the vertices that they use.
typedef struct sn_glb_primitive {
  uint32_t material;  // of the body's, or SN_NO_MATERIAL
  uint32_t vertex_count, index_count;
  uint32_t* vertices;  // those of the body's mesh (vertex_count)
  float* uvs;          // v down, as glTF has it (2 x vertex_count), or NULL
  uint32_t* indices;   // into the vertices here (index_count)
} sn_glb_primitive;

typedef struct sn_glb_body {
  const sn_export_body* body;
  sn_mesh_parts parts;
  sn_glb_primitive* primitives;  // those that have triangles
  uint32_t primitive_count;
} sn_glb_body;

// Split a body by its materials.
sn_status sn_glb_split(const sn_export_body* body, sn_arena* arena, sn_glb_body* split,
                       sn_error* err);

// Frames of a chunk, counted from 0; the base is the first.
typedef struct sn_glb_chunk {
  uint32_t first, frame_count;
} sn_glb_chunk;

uint32_t sn_glb_chunk_count(uint32_t frame_count);
sn_glb_chunk sn_glb_chunk_at(uint32_t frame_count, uint32_t index);

#endif
