// A GLB file in the making: the document, and the bytes that its accessors refer to.
#ifndef SN_IO_GLTF_WRITE_H
#define SN_IO_GLTF_WRITE_H

#include <jansson.h>

#include "base/memory.h"
#include "sinew/gltf.h"

typedef struct sn_gltf_writer {
  const sn_gltf* gltf;
  json_t* root;
  json_t *accessors, *views, *materials;  // lists of the root
  unsigned char* bytes;                   // the binary chunk
  size_t size, capacity;
  sn_arena* scratch;
  sn_error* err;
} sn_gltf_writer;

// The codes of glTF.
typedef enum sn_gltf_code {
  SN_GLTF_UINT16 = 5123,
  SN_GLTF_UINT32 = 5125,
  SN_GLTF_FLOAT = 5126,
  SN_GLTF_VERTICES = 34962,
  SN_GLTF_INDICES = 34963
} sn_gltf_code;

// Numbers to become an accessor.
typedef struct sn_gltf_array {
  const void* values;      // of the type that the code says (width x count)
  sn_gltf_code component;  // UINT16, UINT32 or FLOAT
  const char* type;        // "VEC3"
  uint32_t width, count;   // width <= 16
  int target;              // VERTICES, INDICES, or 0 for neither
  bool has_range;          // the document states min and max; FLOAT only
} sn_gltf_array;

// Put `value` (taken over; NULL is out of memory) into an object or at the end of a list.
sn_status sn_gltf_put(sn_gltf_writer* w, json_t* object, const char* key, json_t* value);
sn_status sn_gltf_append(sn_gltf_writer* w, json_t* list, json_t* value);
// Make an empty list or object part of another.
sn_status sn_gltf_put_list(sn_gltf_writer* w, json_t* object, const char* key, json_t** list);
sn_status sn_gltf_append_object(sn_gltf_writer* w, json_t* list, json_t** object);
// "name", unless it is NULL.
sn_status sn_gltf_put_name(sn_gltf_writer* w, json_t* object, const char* name);
// A list of numbers, as JSON.
sn_status sn_gltf_put_numbers(sn_gltf_writer* w, json_t* object, const char* key,
                              const double* numbers, int count);
// A new accessor for numbers at this place of the binary chunk, which is a multiple of 4; its index is
// the number of accessors before. They take sn_gltf_array_bytes.
sn_status sn_gltf_add_accessor(sn_gltf_writer* w, const sn_gltf_array* array, size_t start);
size_t sn_gltf_array_bytes(const sn_gltf_array* array);
// Lists of a document must not be empty.
void sn_gltf_drop_empty_lists(json_t* root);
// Put the index of a new accessor into an object.
sn_status sn_gltf_put_array(sn_gltf_writer* w, json_t* object, const char* key,
                            const sn_gltf_array* array);
// Fill the object of a mesh.
sn_status sn_gltf_put_mesh(sn_gltf_writer* w, json_t* object, const sn_gltf_mesh* mesh);

#endif
