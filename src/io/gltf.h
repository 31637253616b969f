// The parts of the glTF 2.0 reader. Each reads one kind of entry of the document; errors have the
// manner of scene files: "FILE: JSON.path: found, expected".
//
// A file is hostile until proven otherwise. Offsets and counts are held against the bytes that are
// there before anything is taken from memory. Because entries may be used any number of times, or
// stand for zeros that no byte holds, all that is decoded is also paid for from a budget that grows
// with the size of the file.
#ifndef SN_IO_GLTF_H
#define SN_IO_GLTF_H

#include "io/scene_json.h"
#include "sinew/gltf.h"

// Numbers decoded at most: these, and so many more for each byte of the file and its buffers. A number takes 13
// bytes or so until it is in a mesh or a clip. A file that uses each of its accessors once stays below 1 a byte.
#define SN_GLTF_NUMBERS_FREE ((uint64_t)2 << 20)
#define SN_GLTF_NUMBERS_A_BYTE 3

// Whole numbers in JSON are exact up to here.
#define SN_GLTF_WHOLE_MAX 0x1p53

// A stretch of a buffer.
typedef struct sn_gltf_bytes {
  const unsigned char* at;  // NULL: there is none
  uint64_t size;
  uint64_t stride;  // of a buffer view: bytes from element to element; 0: they follow closely
} sn_gltf_bytes;

// A file being read.
typedef struct sn_gltf_reader {
  sn_reader json;  // file and error, for the functions of scene_json.h
  json_t* root;
  sn_arena* scratch;       // buffers, and numbers while they are used
  sn_gltf_bytes chunk;     // the binary chunk of a GLB file
  sn_gltf_bytes* buffers;  // one for each entry of "buffers"
  uint64_t budget;         // numbers that may still be decoded
  sn_gltf* gltf;
} sn_gltf_reader;

// Numbers in a buffer, checked: every element lies within the bytes that are there.
typedef struct sn_gltf_accessor {
  uint32_t index, count;
  const char* type;          // "VEC3"
  uint32_t columns, rows;    // of an element; one column unless it is a matrix
  uint32_t component;        // a row of the table of component types
  bool is_normalised;        // integers stand for 0..1 or -1..1
  sn_gltf_bytes elements;    // without bytes: all zero
  uint32_t sparse_count;     // elements that are replaced
  uint32_t index_component;  // type of their indices
  sn_gltf_bytes sparse_indices, sparse_values;
} sn_gltf_accessor;

// Document

// Read a whole file from memory; *(bytes + size) must be 0. `path` is for messages and external
// buffers.
sn_status sn_gltf_parse(const char* path, const char* bytes, size_t size, sn_gltf* gltf,
                        sn_error* err);
// An entry of a list of the document, an object. The index must be in range.
json_t* sn_gltf_entry(const sn_gltf_reader* r, const char* list, uint32_t index);
uint32_t sn_gltf_entry_count(const sn_gltf_reader* r, const char* list);
// `value`, which stands `at`, as an index into a list of the document.
sn_status sn_gltf_reference(sn_gltf_reader* r, const sn_place* at, const json_t* value,
                            const char* list, uint32_t* index);
// A whole number from `least` to `most`. @param preset of a missing key; -1: it must be there
sn_status sn_gltf_integer(sn_gltf_reader* r, const sn_place* owner_at, const json_t* owner,
                          const char* key, int64_t preset, sn_range range, int64_t* number);
// `count` finite numbers in a list.
sn_status sn_gltf_numbers(sn_gltf_reader* r, const sn_place* at, const json_t* value, size_t count,
                          double* numbers);
// Give items, which start with their name, names that tell them apart: what comes first keeps its name,
// what comes later under the same one gets a number behind it, what has none is named after its index.
// @param given (count), each NULL, empty or a name
sn_status sn_gltf_name_items(sn_arena* storage, sn_arena* scratch, const char* const* given,
                             uint32_t count, const char* stem, void* items, size_t item_size,
                             sn_error* err);
// Pay for numbers about to be decoded.
sn_status sn_gltf_charge(sn_gltf_reader* r, const sn_place* at, uint64_t number_count);
// Give each entry of a list its name, as in gltf.h. The items start with their name.
sn_status sn_gltf_name_entries(sn_gltf_reader* r, const char* list, const char* stem, void* items,
                               size_t item_size);

// Buffers

// Find the JSON text in a .gltf or .glb file, and the binary chunk.
sn_status sn_gltf_split(sn_gltf_reader* r, const char* bytes, size_t size, sn_gltf_bytes* text);
sn_status sn_gltf_load_buffers(sn_gltf_reader* r);
// `value`, which stands `at`, as a buffer view.
sn_status sn_gltf_find_view(sn_gltf_reader* r, const sn_place* at, const json_t* value,
                            sn_gltf_bytes* view);

// Accessors

// `value`, which stands `at`, as an accessor.
sn_status sn_gltf_find_accessor(sn_gltf_reader* r, const sn_place* at, const json_t* value,
                                sn_gltf_accessor* accessor);
// The same, of one type of element.
sn_status sn_gltf_find_typed(sn_gltf_reader* r, const sn_place* at, const json_t* value,
                             const char* type, sn_gltf_accessor* accessor);
bool sn_gltf_accessor_has_floats(const sn_gltf_accessor* accessor);
// Without a sign, and as they are.
bool sn_gltf_accessor_has_indices(const sn_gltf_accessor* accessor);
// Whole numbers without a sign that stand for 0..1.
bool sn_gltf_accessor_has_shares(const sn_gltf_accessor* accessor);
// All numbers, in scratch (columns x rows x count). Refuses what is not finite.
sn_status sn_gltf_read_accessor(sn_gltf_reader* r, const sn_gltf_accessor* accessor,
                                double** values);

// Entries, in this order

sn_status sn_gltf_read_meshes(sn_gltf_reader* r);
sn_status sn_gltf_read_nodes(sn_gltf_reader* r);
sn_status sn_gltf_read_skins(sn_gltf_reader* r);
sn_status sn_gltf_read_clips(sn_gltf_reader* r);

// Give vertices whose weights are all 0 to the nearest joint of the first skin that a node shows them with.
sn_status sn_gltf_tie_loose(sn_gltf* gltf, sn_arena* scratch, sn_error* err);

// Morph targets (gltf_morph.c), of one mesh after the other

#define SN_GLTF_MORPHS_MAX 65536
#define SN_GLTF_MORPH_WEIGHT_MAX 1e6

// The most that a primitive of the mesh has so far.
sn_status sn_gltf_survey_morphs(sn_gltf_reader* r, const sn_place* primitive_at,
                                const json_t* primitive, sn_gltf_mesh* mesh);
// Room for them, and their weights at rest. @param entry of the mesh
sn_status sn_gltf_take_morphs(sn_gltf_reader* r, const sn_place* mesh_at, const json_t* entry,
                              uint64_t vertex_count, sn_gltf_mesh* mesh);
sn_status sn_gltf_read_morphs(sn_gltf_reader* r, const sn_place* primitive_at,
                              const json_t* primitive, uint32_t first_vertex, uint32_t vertex_count,
                              uint64_t mesh_vertex_count, sn_gltf_mesh* mesh);
// The list "weights" of a mesh or node; NULL where there is none.
sn_status sn_gltf_read_morph_weights(sn_gltf_reader* r, const sn_place* owner_at,
                                     const json_t* entry, uint32_t morph_count, float** weights);

// Finished documents

// Sort nodes so that parents come first. @return how many: all, unless one is its own ancestor
// @param work (2 x node_count + 1)
uint32_t sn_gltf_sort_nodes(const sn_gltf_node* nodes, uint32_t node_count, uint32_t* order,
                            uint32_t* work);
// One above the highest joint that each mesh uses. @param joint_ends (mesh_count), in scratch
sn_status sn_gltf_find_joint_ends(const sn_gltf* gltf, sn_arena* scratch, uint32_t** joint_ends,
                                  sn_error* err);
// Whether a document can be written: indices in range, numbers finite. SN_ERR_USAGE says what is
// not, with its place in the document.
sn_status sn_gltf_check(const sn_gltf* gltf, sn_error* err);

#endif
