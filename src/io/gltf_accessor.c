// Numbers in buffers: any component type, any element type, with gaps, sparse or absent.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/gltf.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// What a component is made of, by the code that glTF has from OpenGL.
typedef struct component_type {
  int64_t code;
  uint32_t bytes;
  double most;  // the integer that stands for 1 where they are normalised; 0: a float
  bool is_signed;
} component_type;

static const component_type component_types[] = {
    {5120, 1, 127.0, true},    {5121, 1, 255.0, false},        {5122, 2, 32767.0, true},
    {5123, 2, 65535.0, false}, {5125, 4, 4294967295.0, false}, {5126, 4, 0.0, true},
};

typedef struct element_type {
  const char* name;
  uint32_t columns, rows;
} element_type;

static const element_type element_types[] = {
    {"SCALAR", 1, 1}, {"VEC2", 1, 2}, {"VEC3", 1, 3}, {"VEC4", 1, 4},
    {"MAT2", 2, 2},   {"MAT3", 3, 3}, {"MAT4", 4, 4},
};

// Layout

// Columns of a matrix begin at multiples of four bytes.
static uint32_t column_bytes(const sn_gltf_accessor* a) {
  uint32_t bytes = a->rows * component_types[a->component].bytes;
  return a->columns > 1 ? (bytes + 3) / 4 * 4 : bytes;
}

static uint32_t element_bytes(const sn_gltf_accessor* a) {
  return (a->columns - 1) * column_bytes(a) + a->rows * component_types[a->component].bytes;
}

static uint64_t close_stride(const sn_gltf_accessor* a) {
  return (uint64_t)a->columns * column_bytes(a);
}

// Where `count` items, `stride` apart, lie in a view.
typedef struct stretch {
  uint64_t count, stride, item_bytes;
} stretch;

// Cut `view` to the items from "byteOffset" of the owner on.
static sn_status cut_view(sn_gltf_reader* r, const sn_place* owner_at, const json_t* owner,
                          stretch items, sn_gltf_bytes* view) {
  const sn_range whole = {.lo = 0, .hi = SN_GLTF_WHOLE_MAX};
  int64_t offset = 0;
  SN_TRY(sn_gltf_integer(r, owner_at, owner, "byteOffset", 0, whole, &offset));
  uint64_t needed = (items.count - 1) * items.stride + items.item_bytes;
  if ((uint64_t)offset > view->size || needed > view->size - (uint64_t)offset) {
    return sn_read_fail(&r->json, owner_at,
                        "found %llu elements (%llu bytes) from byte %lld on, expected them within "
                        "the %llu bytes of the buffer view",
                        (unsigned long long)items.count, (unsigned long long)needed,
                        (long long)offset, (unsigned long long)view->size);
  }
  *view = (sn_gltf_bytes){view->at + offset, needed, items.stride};
  return SN_OK;
}

// Reading an entry

static sn_status read_component_type(sn_gltf_reader* r, const sn_place* owner_at,
                                     const json_t* owner, uint32_t* component) {
  const json_t* value = json_object_get(owner, "componentType");
  for (uint32_t i = 0; i < COUNT(component_types); ++i) {
    *component = i;
    if (json_is_integer(value) && json_integer_value(value) == component_types[i].code) {
      return SN_OK;
    }
  }
  sn_place at = sn_place_key(owner_at, "componentType");
  return sn_read_mismatch(&r->json, &at, value, "5120, 5121, 5122, 5123, 5125 or 5126");
}

static sn_status read_element_type(sn_gltf_reader* r, const sn_place* owner_at, const json_t* owner,
                                   sn_gltf_accessor* a) {
  sn_place at = sn_place_key(owner_at, "type");
  const json_t* value = json_object_get(owner, "type");
  const char* expected = "\"SCALAR\", \"VEC2\", \"VEC3\", \"VEC4\", \"MAT2\", \"MAT3\" or \"MAT4\"";
  if (!json_is_string(value)) return sn_read_mismatch(&r->json, &at, value, expected);
  for (size_t i = 0; i < COUNT(element_types); ++i) {
    const element_type* type = &element_types[i];
    if (strcmp(json_string_value(value), type->name) != 0) continue;
    a->type = type->name;
    a->columns = type->columns;
    a->rows = type->rows;
    return SN_OK;
  }
  return sn_read_mismatch(&r->json, &at, value, expected);
}

static sn_status read_elements(sn_gltf_reader* r, const sn_place* at, const json_t* entry,
                               sn_gltf_accessor* a) {
  const json_t* view = json_object_get(entry, "bufferView");
  if (!view) return SN_OK;
  sn_place view_at = sn_place_key(at, "bufferView");
  SN_TRY(sn_gltf_find_view(r, &view_at, view, &a->elements));
  uint64_t stride = a->elements.stride;
  if (stride > 0 && stride < element_bytes(a)) {
    return sn_read_fail(&r->json, &view_at,
                        "found a byteStride of %llu, expected at least the %u bytes of an element",
                        (unsigned long long)stride, element_bytes(a));
  }
  if (stride == 0) stride = close_stride(a);
  return cut_view(r, at, entry, (stretch){a->count, stride, element_bytes(a)}, &a->elements);
}

static sn_status read_sparse(sn_gltf_reader* r, const sn_place* owner_at, const json_t* entry,
                             sn_gltf_accessor* a) {
  json_t* sparse = json_object_get(entry, "sparse");
  if (!sparse) return SN_OK;
  sn_place at = sn_place_key(owner_at, "sparse");
  const json_t *indices = json_object_get(sparse, "indices"),
               *values = json_object_get(sparse, "values");
  if (!json_is_object(indices) || !json_is_object(values)) {
    return sn_read_mismatch(&r->json, &at, sparse,
                            "{\"count\": n, \"indices\": {...}, \"values\": {...}}");
  }
  int64_t count = 0;
  const sn_range range = {.lo = 1, .hi = a->count};
  SN_TRY(sn_gltf_integer(r, &at, sparse, "count", -1, range, &count));
  a->sparse_count = (uint32_t)count;

  sn_place indices_at = sn_place_key(&at, "indices");
  SN_TRY(read_component_type(r, &indices_at, indices, &a->index_component));
  const component_type* index_type = &component_types[a->index_component];
  if (index_type->is_signed) {
    sn_place type_at = sn_place_key(&indices_at, "componentType");
    return sn_read_mismatch(&r->json, &type_at, json_object_get(indices, "componentType"),
                            "5121, 5123 or 5125");
  }
  sn_place view_at = sn_place_key(&indices_at, "bufferView");
  const json_t* view = json_object_get(indices, "bufferView");
  SN_TRY(sn_gltf_find_view(r, &view_at, view, &a->sparse_indices));
  stretch items = {a->sparse_count, index_type->bytes, index_type->bytes};
  SN_TRY(cut_view(r, &indices_at, indices, items, &a->sparse_indices));

  sn_place values_at = sn_place_key(&at, "values"),
           values_view_at = sn_place_key(&values_at, "bufferView");
  view = json_object_get(values, "bufferView");
  SN_TRY(sn_gltf_find_view(r, &values_view_at, view, &a->sparse_values));
  items = (stretch){a->sparse_count, close_stride(a), element_bytes(a)};
  return cut_view(r, &values_at, values, items, &a->sparse_values);
}

sn_status sn_gltf_find_accessor(sn_gltf_reader* r, const sn_place* at, const json_t* value,
                                sn_gltf_accessor* a) {
  *a = (sn_gltf_accessor){0};
  SN_TRY(sn_gltf_reference(r, at, value, "accessors", &a->index));
  const json_t* entry = sn_gltf_entry(r, "accessors", a->index);
  sn_place list_at = sn_place_key(NULL, "accessors"), here = sn_place_index(&list_at, a->index);
  int64_t count = 0;
  const sn_range range = {.lo = 1, .hi = UINT32_MAX - 1};
  SN_TRY(sn_gltf_integer(r, &here, entry, "count", -1, range, &count));
  a->count = (uint32_t)count;
  SN_TRY(read_component_type(r, &here, entry, &a->component));
  SN_TRY(read_element_type(r, &here, entry, a));
  const json_t* normalised = json_object_get(entry, "normalized");
  if (normalised && !json_is_boolean(normalised)) {
    sn_place normalised_at = sn_place_key(&here, "normalized");
    return sn_read_mismatch(&r->json, &normalised_at, normalised, "true or false");
  }
  a->is_normalised = json_is_true(normalised) && !sn_gltf_accessor_has_floats(a);
  SN_TRY(read_elements(r, &here, entry, a));
  return read_sparse(r, &here, entry, a);
}

sn_status sn_gltf_find_typed(sn_gltf_reader* r, const sn_place* at, const json_t* value,
                             const char* type, sn_gltf_accessor* a) {
  SN_TRY(sn_gltf_find_accessor(r, at, value, a));
  if (strcmp(a->type, type) == 0) return SN_OK;
  return sn_read_fail(&r->json, at, "found accessor %u of type %s, expected one of type %s",
                      a->index, a->type, type);
}

bool sn_gltf_accessor_has_floats(const sn_gltf_accessor* a) {
  return component_types[a->component].most == 0.0;
}

bool sn_gltf_accessor_has_indices(const sn_gltf_accessor* a) {
  return !component_types[a->component].is_signed && !a->is_normalised;
}

bool sn_gltf_accessor_has_shares(const sn_gltf_accessor* a) {
  return !component_types[a->component].is_signed && a->is_normalised;
}

// Decoding

// Little-endian, as every glTF buffer.
static double decode_component(const unsigned char* bytes, const component_type* type) {
  uint32_t bits = 0;
  for (uint32_t i = type->bytes; i-- > 0;) bits = bits << 8 | bytes[i];
  if (type->most == 0.0) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return (double)number;
  }
  if (!type->is_signed) return bits;
  return type->bytes == 1 ? (int8_t)bits : (int16_t)bits;
}

static void decode_element(const sn_gltf_accessor* a, const unsigned char* bytes, double* values) {
  const component_type* type = &component_types[a->component];
  for (uint32_t column = 0; column < a->columns; ++column, bytes += column_bytes(a)) {
    for (uint32_t row = 0; row < a->rows; ++row) {
      double value = decode_component(bytes + row * type->bytes, type);
      if (a->is_normalised) {
        value /= type->most;
        if (value < -1.0) value = -1.0;
      }
      *values++ = value;
    }
  }
}

static sn_status replace_sparse(sn_gltf_reader* r, const sn_place* at, const sn_gltf_accessor* a,
                                double* values) {
  const component_type* type = &component_types[a->index_component];
  uint32_t before = 0;
  for (uint32_t i = 0; i < a->sparse_count; ++i) {
    size_t offset = (size_t)i * type->bytes;
    uint32_t index = (uint32_t)decode_component(a->sparse_indices.at + offset, type);
    if (index >= a->count || (i > 0 && index <= before)) {
      sn_place sparse_at = sn_place_key(at, "sparse"),
               indices_at = sn_place_key(&sparse_at, "indices");
      return sn_read_fail(&r->json, &indices_at, "found %u, expected ascending indices below %u",
                          index, a->count);
    }
    before = index;
    decode_element(a, a->sparse_values.at + i * a->sparse_values.stride,
                   values + (size_t)index * a->columns * a->rows);
  }
  return SN_OK;
}

sn_status sn_gltf_read_accessor(sn_gltf_reader* r, const sn_gltf_accessor* a, double** values) {
  sn_place list_at = sn_place_key(NULL, "accessors"), at = sn_place_index(&list_at, a->index);
  uint64_t width = (uint64_t)a->columns * a->rows, total = width * a->count;
  SN_TRY(sn_gltf_charge(r, &at, total));
  SN_TRY(SN_ARENA_NEW(r->scratch, total, values, r->json.err));
  for (uint32_t i = 0; i < a->count && a->elements.at; ++i) {
    decode_element(a, a->elements.at + i * a->elements.stride, *values + i * width);
  }
  SN_TRY(replace_sparse(r, &at, a, *values));
  for (uint64_t i = 0; i < total; ++i) {
    if (isfinite((*values)[i])) continue;
    return sn_read_fail(&r->json, &at, "found %g in element %llu, expected finite numbers",
                        (*values)[i], (unsigned long long)(i / width));
  }
  return SN_OK;
}
