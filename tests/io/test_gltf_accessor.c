// Numbers in buffers: every component and element type, gaps, sparse and absent ones.
#include "io/gltf_made.h"

// A document open for its accessors alone.
typedef struct open_file {
  glb file;
  sn_gltf_reader r;
  sn_error err;
} open_file;

static void open_made(open_file* o, const char* text, const void* bytes, size_t byte_count) {
  *o = (open_file){.file = make_glb(text, bytes, byte_count)};
  o->r = (sn_gltf_reader){.json = {.file = "made.glb", .err = &o->err}};
  sn_gltf_bytes json;
  assert_int_equal(sn_arena_create(&o->r.scratch, NULL), SN_OK);
  assert_int_equal(sn_gltf_split(&o->r, o->file.bytes, o->file.size, &json), SN_OK);
  assert_int_equal(sn_json_parse("made.glb", (const char*)json.at, json.size, &o->r.root, &o->err),
                   SN_OK);
  o->r.budget = 64 * o->file.size;
  if (sn_gltf_load_buffers(&o->r) != SN_OK) fail_msg("%s", o->err.text);
}

static void close_made(open_file* o) {
  json_decref(o->r.root);
  sn_arena_destroy(o->r.scratch);
  free(o->file.bytes);
}

static sn_status read_index(open_file* o, json_int_t index, double** values) {
  json_t* value = json_integer(index);
  sn_place at = sn_place_key(NULL, "test");
  sn_gltf_accessor accessor;
  sn_status status = sn_gltf_find_accessor(&o->r, &at, value, &accessor);
  if (status == SN_OK) status = sn_gltf_read_accessor(&o->r, &accessor, values);
  json_decref(value);
  return status;
}

#define HEAD "{\"asset\": {\"version\": \"2.0\"}, "

// Read accessor 0 of a document with one buffer, one view and one accessor.
static void assert_numbers(const char* view, const char* accessor, const void* bytes, size_t size,
                           const double* expected, size_t count) {
  char text[2048];
  snprintf(text, sizeof text,
           HEAD
           "\"buffers\": [{\"byteLength\": %zu}], \"bufferViews\": [{\"buffer\": 0, %s}], "
           "\"accessors\": [{%s}]}",
           size, view, accessor);
  open_file o;
  open_made(&o, text, bytes, size);
  double* values = NULL;
  if (read_index(&o, 0, &values) != SN_OK) fail_msg("%s", o.err.text);
  for (size_t i = 0; i < count; ++i) {
    if (values[i] != expected[i]) fail_msg("[%zu]: %.17g, not %.17g", i, values[i], expected[i]);
  }
  close_made(&o);
  assert_int_equal(sn_memory_used(), 0);
}

typedef struct component {
  int code, bytes;
  double least, most;  // raw numbers to try, besides 0 and 1
  double least_normalised;
} component;

static const component components[] = {
    {5120, 1, -128, 127, -1}, {5121, 1, 0, 255, 0},        {5122, 2, -32768, 32767, -1},
    {5123, 2, 0, 65535, 0},   {5125, 4, 0, 4294967295, 0}, {5126, 4, -2.5, 1e30f, 0},
};

static void put_component(unsigned char* to, const component* c, double value) {
  uint32_t bits = 0;
  float number = (float)value;
  if (c->code == 5126) {
    memcpy(&bits, &number, sizeof bits);
  } else {
    bits = (uint32_t)(int64_t)value;
  }
  for (int i = 0; i < c->bytes; ++i) to[i] = (unsigned char)(bits >> 8 * i);
}

static void every_component_type_is_read(void** unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof components / sizeof components[0]; ++i) {
    const component* c = &components[i];
    const double raw[4] = {c->least, 0, 1, c->most};
    unsigned char bytes[16];
    for (int k = 0; k < 4; ++k) put_component(bytes + k * c->bytes, c, raw[k]);
    char view[64], accessor[128];
    snprintf(view, sizeof view, "\"byteLength\": %d", 4 * c->bytes);
    snprintf(accessor, sizeof accessor,
             "\"bufferView\": 0, \"componentType\": %d, \"type\": \"SCALAR\", \"count\": 4",
             c->code);
    assert_numbers(view, accessor, bytes, 4 * (size_t)c->bytes, raw, 4);

    // Normalised: the ends are exactly -1 and 1, and floats stay as they are.
    const double normalised[4] = {c->least_normalised, 0, 1 / c->most, 1};
    char normal[160];
    snprintf(normal, sizeof normal, "%s, \"normalized\": true", accessor);
    assert_numbers(view, normal, bytes, 4 * (size_t)c->bytes, c->code == 5126 ? raw : normalised,
                   4);
  }
}

// Columns of matrices begin at multiples of four bytes; vectors have no gaps.
static void every_element_type_is_read(void** unused) {
  (void)unused;
  static const struct {
    const char* name;
    int columns, rows;
  } types[] = {{"SCALAR", 1, 1}, {"VEC2", 1, 2}, {"VEC3", 1, 3}, {"VEC4", 1, 4},
               {"MAT2", 2, 2},   {"MAT3", 3, 3}, {"MAT4", 4, 4}};
  for (size_t t = 0; t < 7; ++t) {
    for (size_t i = 0; i < 6; ++i) {
      const component* c = &components[i];
      int column_bytes = types[t].rows * c->bytes;
      if (types[t].columns > 1) column_bytes = (column_bytes + 3) / 4 * 4;
      unsigned char bytes[3 * 4 * 4 * 4];
      memset(bytes, 0xEE, sizeof bytes);
      double expected[48];
      int count = 0, element_bytes = types[t].columns * column_bytes;
      for (int e = 0; e < 3; ++e) {
        for (int column = 0; column < types[t].columns; ++column) {
          for (int row = 0; row < types[t].rows; ++row, ++count) {
            expected[count] = count + 3;
            put_component(bytes + e * element_bytes + column * column_bytes + row * c->bytes, c,
                          expected[count]);
          }
        }
      }
      char view[64], accessor[128];
      snprintf(view, sizeof view, "\"byteLength\": %d", 3 * element_bytes);
      snprintf(accessor, sizeof accessor,
               "\"bufferView\": 0, \"componentType\": %d, \"type\": \"%s\", \"count\": 3", c->code,
               types[t].name);
      assert_numbers(view, accessor, bytes, 3 * (size_t)element_bytes, expected, (size_t)count);
    }
  }
}

static void offsets_and_strides_are_followed(void** unused) {
  (void)unused;
  unsigned char bytes[64];
  memset(bytes, 0xFF, sizeof bytes);
  double expected[8];
  // Pairs of shorts every 12 bytes, from byte 4 + 6 on; the last one ends with the view.
  for (int e = 0; e < 4; ++e) {
    for (int k = 0; k < 2; ++k) {
      expected[2 * e + k] = 100 * e + k;
      put_component(bytes + 10 + 12 * e + 2 * k, &components[3], expected[2 * e + k]);
    }
  }
  assert_numbers("\"byteOffset\": 4, \"byteLength\": 46, \"byteStride\": 12",
                 "\"bufferView\": 0, \"byteOffset\": 6, \"componentType\": 5123, \"type\": "
                 "\"VEC2\", \"count\": 4",
                 bytes, sizeof bytes, expected, 8);
}

static const char sparse_text[] = HEAD
    "\"buffers\": [{\"byteLength\": 40}], \"bufferViews\": ["
    "{\"buffer\": 0, \"byteLength\": 16}, {\"buffer\": 0, \"byteOffset\": 16, \"byteLength\": 8},"
    "{\"buffer\": 0, \"byteOffset\": 24, \"byteLength\": 16}],"
    "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"type\": \"SCALAR\", \"count\": "
    "4, \"sparse\": {\"count\": 2, \"indices\": {\"bufferView\": 1, \"byteOffset\": 1, "
    "\"componentType\": 5121}, \"values\": {\"bufferView\": 2, \"byteOffset\": 4}}},"
    "{\"componentType\": 5126, \"type\": \"SCALAR\", \"count\": 4, \"sparse\": {\"count\": 2, "
    "\"indices\": {\"bufferView\": 1, \"byteOffset\": 4, \"componentType\": 5123}, \"values\": "
    "{\"bufferView\": 2}}},"
    "{\"componentType\": 5126, \"type\": \"VEC2\", \"count\": 3}]}";

static void sparse_and_absent_elements_are_read(void** unused) {
  (void)unused;
  unsigned char bytes[40] = {[17] = 1, [18] = 3, [20] = 0, [22] = 2};
  for (int i = 0; i < 4; ++i) put_component(bytes + 4 * i, &components[5], 10 + i);
  for (int i = 0; i < 4; ++i) put_component(bytes + 24 + 4 * i, &components[5], 70 + i);
  static const double expected[3][6] = {{10, 71, 12, 72}, {70, 0, 71, 0}, {0, 0, 0, 0, 0, 0}};
  open_file o;
  open_made(&o, sparse_text, bytes, sizeof bytes);
  for (int a = 0; a < 3; ++a) {
    double* values = NULL;
    if (read_index(&o, a, &values) != SN_OK) fail_msg("%s", o.err.text);
    assert_memory_equal(values, expected[a], (a == 2 ? 6 : 4) * sizeof *values);
  }
  close_made(&o);

  // Indices must ascend and stay below the count.
  static const unsigned char wrong[][2] = {{1, 1}, {2, 1}, {1, 4}};
  for (int i = 0; i < 3; ++i) {
    memcpy(bytes + 17, wrong[i], 2);
    open_made(&o, sparse_text, bytes, sizeof bytes);
    double* values;
    assert_int_equal(read_index(&o, 0, &values), SN_ERR_INPUT);
    assert_message_has(&o.err, "accessors[0].sparse.indices: found ");
    assert_message_has(&o.err, "expected ascending indices below 4");
    close_made(&o);
  }
  assert_int_equal(sn_memory_used(), 0);
}

static void only_finite_numbers_are_read(void** unused) {
  (void)unused;
  static const double values[] = {NAN, INFINITY, -INFINITY};
  for (int i = 0; i < 3; ++i) {
    unsigned char bytes[40] = {[17] = 1, [18] = 3};
    put_component(bytes + 8, &components[5], values[i]);
    open_file o;
    open_made(&o, sparse_text, bytes, sizeof bytes);
    double* read;
    assert_int_equal(read_index(&o, 0, &read), SN_ERR_INPUT);
    assert_message_has(&o.err, "in element 2, expected finite numbers");
    close_made(&o);
  }
}

// A count that no byte stands behind cannot ask for much.
static void zeros_cost_as_much_as_numbers(void** unused) {
  (void)unused;
  static const char text[] = HEAD
      "\"accessors\": [{\"componentType\": 5126, \"type\": \"MAT4\", \"count\": 4294967294}, "
      "{\"componentType\": 5126, \"type\": \"VEC3\", \"count\": 1000}]}";
  open_file o;
  open_made(&o, text, NULL, 0);
  double* values;
  size_t used = sn_memory_used();
  assert_int_equal(read_index(&o, 0, &values), SN_ERR_INPUT);
  assert_message_has(&o.err, "accessors[0]: found ");
  assert_message_has(&o.err, "numbers more than a file of this size can mean");
  assert_int_equal(sn_memory_used(), used);
  int times = 0;
  while (read_index(&o, 1, &values) == SN_OK) ++times;
  assert_in_range(times, 1, 10);
  close_made(&o);
  assert_int_equal(sn_memory_used(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_component_type_is_read),
      cmocka_unit_test(every_element_type_is_read),
      cmocka_unit_test(offsets_and_strides_are_followed),
      cmocka_unit_test(sparse_and_absent_elements_are_read),
      cmocka_unit_test(only_finite_numbers_are_read),
      cmocka_unit_test(zeros_cost_as_much_as_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
