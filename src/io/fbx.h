// The parts of the FBX reader (versions 7.0 to 7.7, binary and text).
//
// Not read by assimp: version 5.2.4 drops tangents of curves, so that poses between keys are wrong, and
// geometric offsets of skins, and it does not keep the vertices of the file. A file is hostile until proven otherwise: lengths are held against the bytes that
// are there, and what is decoded is paid for from a budget that grows with the file.
#ifndef SN_IO_FBX_H
#define SN_IO_FBX_H

#include "io/import.h"
#include "math/quat.h"

// Numbers decoded at most: these, and so many more for each byte of the file.
#define SN_FBX_NUMBERS_FREE ((uint64_t)1 << 20)
#define SN_FBX_NUMBERS_A_BYTE 2

// Ticks of the clock of an FBX file in a second.
#define SN_FBX_TICKS 46186158000.0

typedef enum sn_fbx_kind { SN_FBX_INTEGER, SN_FBX_NUMBER, SN_FBX_TEXT, SN_FBX_ARRAY } sn_fbx_kind;

// A value behind the name of an element.
typedef struct sn_fbx_value {
  sn_fbx_kind kind;
  char type;         // of an array's numbers in a binary file: f d l i b; of a text file 0
  uint8_t packed;    // an array in a binary file: 1 if it is compressed
  int64_t integer;   // INTEGER; count of an ARRAY
  double number;     // INTEGER and NUMBER
  const char* text;  // TEXT, not ended by a zero; bytes of an ARRAY
  size_t size;       // of them
} sn_fbx_value;

// Name, values, elements within: the file is a tree of these.
typedef struct sn_fbx_element {
  const char* name;
  size_t name_size;
  sn_fbx_value* values;
  uint32_t value_count;
  struct sn_fbx_element *first, *next;  // within, behind
} sn_fbx_element;

// An entry of "Objects".
typedef struct sn_fbx_object {
  int64_t id;
  const sn_fbx_element* element;
  const sn_fbx_element* preset;  // properties of its kind, or NULL
  const char* name;
  const char* kind;  // "Model", ...
  const char* type;  // "Mesh", "LimbNode", ...
  uint32_t first_link, link_count;
  int32_t node;  // of a model: index in the document, else -1
} sn_fbx_object;

// What is connected to an object: another object, or one of its properties.
typedef struct sn_fbx_link {
  uint32_t from, to;     // objects
  const char* property;  // of `to`, or NULL
} sn_fbx_link;

typedef struct sn_fbx {
  sn_import* im;
  uint64_t budget;
  sn_fbx_element* root;
  sn_fbx_object* objects;  // ascending by id
  uint32_t object_count;
  sn_fbx_link* links;  // those that lead to one object together, in the order of the file
  uint32_t link_count;
  uint32_t* models;  // objects, in the order of the file: node of the document n is models[n]
} sn_fbx;

// Vectors that move a model.
enum {
  SN_FBX_TRANSLATION,
  SN_FBX_ROTATION,
  SN_FBX_SCALING,
  SN_FBX_MOVING  // how many
};

// How a model lies below its parent, but for the three that move.
typedef struct sn_fbx_pivot {
  sn_vec3 lcl[SN_FBX_MOVING];
  sn_vec3 rotation_offset, rotation_pivot, scaling_offset, scaling_pivot;
  sn_quat before, after;  // the rotation, its inverse already
  int order;              // of the three rotations
  int inherit;            // 0, 1: scale of the parent holds for the child too; 2: not
} sn_fbx_pivot;

// Document

sn_status sn_fbx_parse(sn_fbx* f, const char* bytes, size_t size);
const sn_fbx_element* sn_fbx_find(const sn_fbx_element* within, const char* name);
// All numbers of an element, in scratch: an array, or single values. None where `element` is NULL.
sn_status sn_fbx_numbers(sn_fbx* f, const sn_fbx_element* element, double** numbers, size_t* count);
// A value as a zero-ended text in scratch; "" where it is none.
sn_status sn_fbx_text(sn_fbx* f, const sn_fbx_element* element, uint32_t index, const char** text);
// Pay for numbers about to be decoded.
sn_status sn_fbx_charge(sn_fbx* f, uint64_t count);

// Objects

sn_status sn_fbx_list_objects(sn_fbx* f);
// Numbers of a property ("Lcl Translation") of an object or of its kind; false: as they are.
bool sn_fbx_property(const sn_fbx_object* object, const char* name, double* numbers, int count);
bool sn_fbx_property_of(const sn_fbx_element* element, const char* name, double* numbers,
                        int count);
bool sn_fbx_is(const sn_fbx_object* object, const char* kind);

// Entries of the document

sn_status sn_fbx_take_nodes(sn_fbx* f);
void sn_fbx_read_pivot(const sn_fbx_object* model, sn_fbx_pivot* pivot);
// Parts of a node of the document. @param parent_scale of the model above
void sn_fbx_place(const sn_fbx_pivot* pivot, const sn_vec3 lcl[SN_FBX_MOVING], sn_vec3 parent_scale,
                  sn_gltf_node* node);
sn_quat sn_fbx_turn(sn_vec3 degrees, int order);
sn_status sn_fbx_take_meshes(sn_fbx* f);
sn_status sn_fbx_take_clips(sn_fbx* f);

// FBX (.fbx).
sn_status sn_import_fbx(sn_import* im);

#endif
