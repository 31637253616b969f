// How much memory readers hold at most: 64 MiB + 64 x the size of the file, whatever the file says. On files as dense as
// a format allows, and on those whose heads promise more than there is.
#include <jansson.h>
#include <malloc.h>
#include <zlib.h>

#include "io/mdd.h"
#include "io/scratch.h"
#include "scene/scenes.h"
#include "sinew/sn.h"

#define HEAD ((size_t)64 << 20)
#define FACTOR 64
#define DENSE ((size_t)3 << 20)

// The library's memory, and that of its JSON documents.
static size_t json_bytes, peak;

static void note(size_t more) {
  size_t held = sn_memory_used() + json_bytes + more;
  if (held > peak) peak = held;
}

static void* allocate_noted(void* user, size_t bytes, size_t alignment) {
  (void)user;
  note(bytes);
  return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void* allocate_json(size_t bytes) {
  void* block = malloc(bytes);
  if (block) json_bytes += malloc_usable_size(block);
  note(0);
  return block;
}

static void release_json(void* block) {
  if (block) json_bytes -= malloc_usable_size(block);
  free(block);
}

static int watch_memory(void** unused) {
  static const sn_allocator noted = {allocate_noted, release_block, NULL};
  (void)unused;
  sn_set_allocator(&noted);
  json_set_alloc_funcs(allocate_json, release_json);
  return 0;
}

// Texts in the making

typedef struct text {
  char* at;
  size_t size, room;
} text;

static void add_bytes(text* t, const void* bytes, size_t size) {
  if (t->size + size > t->room) {
    t->room = 2 * (t->size + size) + 4096;
    t->at = realloc(t->at, t->room);
    assert_non_null(t->at);
  }
  if (size > 0) memcpy(t->at + t->size, bytes, size);
  t->size += size;
}

static void add(text* t, const char* words) { add_bytes(t, words, strlen(words)); }

// The same words until the text is that long.
static void add_many(text* t, const char* words, size_t until) {
  while (t->size < until) add(t, words);
}

static void add_number(text* t, uint64_t number, int width, bool big_endian) {
  for (int i = 0; i < width; ++i) {
    unsigned char byte = (unsigned char)(number >> 8 * (big_endian ? width - 1 - i : i));
    add_bytes(t, &byte, 1);
  }
}

// What came of it

static void finish(const char* name, size_t size, size_t used, sn_status status,
                   const sn_error* err) {
  size_t most = HEAD + FACTOR * size, held = peak - used;
  if (status != SN_OK && status != SN_ERR_INPUT) fail_msg("%s: %d: %s", name, status, err->text);
  print_message("%-28s %8zu bytes, held %5.1f x, %s\n", name, size, (double)held / (double)size,
                status == SN_OK ? "read" : err->text);
  if (held > most) fail_msg("%s: held %zu bytes, %zu are promised", name, held, most);
  assert_int_equal(sn_memory_used() + json_bytes, used);
}

static size_t start(void) {
  peak = sn_memory_used() + json_bytes;
  return peak;
}

static sn_status read_mesh(const char* path, sn_error* err) {
  sn_mesh mesh;
  sn_status status = sn_mesh_load(path, &mesh, err);
  sn_mesh_destroy(&mesh);
  return status;
}

static sn_status read_character(const char* path, sn_error* err) {
  sn_gltf character = {0};
  sn_status status = sn_character_load(path, &character, err);
  sn_gltf_destroy(&character);
  return status;
}

static sn_status read_scene(const char* path, sn_error* err) {
  sn_scene* scene = NULL;
  sn_status status = sn_scene_load(path, NULL, 0, &scene, err);
  sn_scene_destroy(scene);
  return status;
}

static sn_status read_cells(const char* path, sn_error* err) {
  sn_cells cells = {0};
  sn_status status = sn_cells_load(path, &cells, err);
  sn_cells_destroy(&cells);
  return status;
}

static sn_status read_mdd(const char* path, sn_error* err) {
  sn_mdd_info info;
  return sn_mdd_read_info(path, &info, err);
}

static sn_status read_pc2(const char* path, sn_error* err) {
  sn_pc2_info info;
  return sn_pc2_read_info(path, &info, err);
}

// Frees the text.
static sn_status check(const char* what, const char* file, text* t,
                       sn_status (*read)(const char* path, sn_error* err)) {
  sn_error err = {0};
  const char* path = scratch_write(file, t->at, t->size);
  size_t used = start();
  sn_status status = read(path, &err);
  finish(what, t->size, used, status, &err);
  free(t->at);
  *t = (text){0};
  return status;
}

static void dense_surfaces(void** unused) {
  (void)unused;
  text t = {0};
  add(&t, "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
  add_many(&t, "f 1 2 3\n", DENSE);
  assert_int_equal(check("OBJ, triangles", "a.obj", &t, read_mesh), SN_OK);
  add(&t, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf");
  add_many(&t, " 1 2 3", DENSE);
  assert_int_equal(check("OBJ, one polygon", "a.obj", &t, read_mesh), SN_OK);
  add(&t, "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf");
  add_many(&t, " 1/1 2/1 3/1", DENSE);
  assert_int_equal(check("OBJ, textured", "a.obj", &t, read_mesh), SN_OK);
  add_many(&t, "v 0 0 0\n", DENSE);
  add(&t, "f 1 2 3\n");
  assert_int_equal(check("OBJ, vertices", "a.obj", &t, read_mesh), SN_OK);
  add(&t, "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
  for (uint32_t i = 0; t.size < DENSE; ++i) {
    char line[32];
    snprintf(line, sizeof line, "g%x\nf 1 2 3\n", i);
    line[1] = ' ';
    add(&t, line);
  }
  check("OBJ, groups", "a.obj", &t, read_mesh);
}

// A head for vertices of single bytes and triangles of them.
static void add_ply_head(text* t, const char* form, uint64_t vertices, uint64_t faces) {
  char line[512];
  snprintf(line, sizeof line,
           "ply\nformat %s 1.0\nelement vertex %llu\nproperty uchar x\nproperty uchar y\nproperty "
           "uchar z\nelement face %llu\nproperty list uchar uchar vertex_indices\nend_header\n",
           form, (unsigned long long)vertices, (unsigned long long)faces);
  add(t, line);
}

static void ply_files(void** unused) {
  (void)unused;
  text t = {0};
  uint64_t count = DENSE / 4;
  add_ply_head(&t, "binary_little_endian", 3, count);
  add_bytes(&t, "\0\0\0\1\0\0\0\1\0", 9);
  for (uint64_t i = 0; i < count; ++i) add_bytes(&t, "\3\0\1\2", 4);
  assert_int_equal(check("PLY, triangles", "a.ply", &t, read_mesh), SN_OK);
  add_ply_head(&t, "ascii", 4, DENSE / 8);
  add(&t, "0 0 0\n1 0 0\n0 1 0\n0 0 1\n");
  for (uint64_t i = 0; i < DENSE / 8; ++i) add(&t, "3 0 1 2\n");
  assert_int_equal(check("PLY, text", "a.ply", &t, read_mesh), SN_OK);
  static const uint64_t lies[] = {100, 1000000, 4000000000u, 1ull << 40, UINT64_MAX};
  for (size_t i = 0; i < sizeof lies / sizeof *lies; ++i) {
    static const char* const forms[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    for (int f = 0; f < 3; ++f) {
      add_ply_head(&t, forms[f], lies[i], 1);
      add(&t, "0 0 0 0 0 0 0 0 0\n");
      assert_int_equal(check("PLY, lies on vertices", "a.ply", &t, read_mesh), SN_ERR_INPUT);
      add_ply_head(&t, forms[f], 3, lies[i]);
      add(&t, "0 0 0 1 1 1 0 0 0\n");
      assert_int_equal(check("PLY, lies on faces", "a.ply", &t, read_mesh), SN_ERR_INPUT);
    }
  }
}

// Elements that take no bytes may be as many as a head likes to say.
static void empty_elements_take_no_time(void** unused) {
  (void)unused;
  text t = {0};
  add(&t,
      "ply\nformat binary_little_endian 1.0\nelement nothing 4000000000\nelement vertex 3\n"
      "property uchar x\nproperty uchar y\nproperty uchar z\nelement face 1\nproperty list uchar "
      "uchar vertex_indices\nend_header\n");
  add_bytes(&t, "\0\0\0\1\0\0\0\1\0\3\0\1\2", 13);
  check("PLY, empty elements", "a.ply", &t, read_mesh);
}

static void dense_documents(void** unused) {
  (void)unused;
  text t = {0};
  add(&t, "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{}");
  add_many(&t, ",{}", DENSE);
  add(&t, "]}");
  check("glTF, empty nodes", "a.gltf", &t, read_character);
  add(&t, "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"name\":\"a\"}");
  add_many(&t, ",{\"name\":\"a\"}", DENSE);
  add(&t, "]}");
  check("glTF, named nodes", "a.gltf", &t, read_character);
  add(&t, "{\"asset\":{\"version\":\"2.0\"},\"extras\":[0");
  add_many(&t, ",0", DENSE);
  add(&t, "]}");
  check("glTF, numbers", "a.gltf", &t, read_character);
  add(&t, "{\"asset\":{\"version\":\"2.0\"},\"extras\":[[]");
  add_many(&t, ",[]", DENSE);
  add(&t, "]}");
  check("glTF, empty lists", "a.gltf", &t, read_character);
  add(&t, "{\"asset\":{\"version\":\"2.0\"},\"extras\":[{\"\":0}");
  add_many(&t, ",{\"\":0}", DENSE);
  add(&t, "]}");
  check("glTF, small objects", "a.gltf", &t, read_character);
}

// Numbers that no byte stands for.
static void gltf_lies(void** unused) {
  (void)unused;
  text t = {0};
  static const char* const accessors[] = {
      "{\"componentType\":5126,\"count\":4000000000,\"type\":\"VEC3\"}",
      "{\"componentType\":5126,\"count\":100000000,\"type\":\"VEC3\"}",
      "{\"componentType\":5126,\"count\":3000000,\"type\":\"VEC3\"}",
      "{\"componentType\":5126,\"count\":1000000,\"type\":\"VEC3\",\"bufferView\":0}",
      ("{\"componentType\":5126,\"count\":1000000,\"type\":\"VEC3\",\"sparse\":{\"count\":900000,"
       "\"indices\":{\"bufferView\":0,\"componentType\":5125},\"values\":{\"bufferView\":0}}}")};
  for (size_t i = 0; i < sizeof accessors / sizeof *accessors; ++i) {
    add(&t, "{\"asset\":{\"version\":\"2.0\"},\"accessors\":[");
    add(&t, accessors[i]);
    add(&t,
        "],\"bufferViews\":[{\"buffer\":0,\"byteLength\":4}],\"buffers\":[{\"byteLength\":4,"
        "\"uri\":"
        "\"data:application/octet-stream;base64,AAAAAA==\"}],\"nodes\":[{\"mesh\":0}],\"meshes\":[{"
        "\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]}");
    check("glTF, lies", "a.gltf", &t, read_character);
  }
  // One accessor for as many primitives as the text has room for.
  add(&t,
      "{\"asset\":{\"version\":\"2.0\"},\"accessors\":[{\"componentType\":5126,\"count\":3000,"
      "\"type\":\"VEC3\"}],\"nodes\":[{\"mesh\":0}],\"meshes\":[{\"primitives\":[{\"attributes\":{"
      "\"POSITION\":0}}");
  add_many(&t, ",{\"attributes\":{\"POSITION\":0}}", DENSE / 8);
  add(&t, "]}]}");
  check("glTF, shared accessor", "a.gltf", &t, read_character);
}

// An element of a binary FBX file whose end is not known yet. @return where to put it
static size_t fbx_begin(text* t, const char* name, uint64_t value_count, const text* values) {
  size_t at = t->size;
  unsigned char length = (unsigned char)strlen(name);
  add_number(t, 0, 4, false);
  add_number(t, value_count, 4, false);
  add_number(t, values->size, 4, false);
  add_bytes(t, &length, 1);
  add(t, name);
  add_bytes(t, values->at, values->size);
  free(values->at);
  return at;
}

static void fbx_end(text* t, size_t at, bool has_children) {
  if (has_children) add_bytes(t, "\0\0\0\0\0\0\0\0\0\0\0\0\0", 13);
  for (int i = 0; i < 4; ++i) t->at[at + (size_t)i] = (char)(t->size >> 8 * i);
}

static void add_fbx_text(text* values, const char* words) {
  add(values, "S");
  add_number(values, strlen(words), 4, false);
  add(values, words);
}

static text fbx_object(uint64_t id, const char* kind) {
  text values = {0};
  add(&values, "L");
  add_number(&values, id, 8, false);
  add_fbx_text(&values, "name");
  add_fbx_text(&values, kind);
  return values;
}

static void fbx_connect(text* t, uint64_t from, uint64_t to) {
  text values = {0};
  add_fbx_text(&values, "OO");
  add(&values, "L");
  add_number(&values, from, 8, false);
  add(&values, "L");
  add_number(&values, to, 8, false);
  fbx_end(t, fbx_begin(t, "C", 3, &values), false);
}

// An array of nothing but zeros, packed: a thousand bytes for one of the file.
static text fbx_zeros(size_t count) {
  text values = {0};
  uLongf size = compressBound((uLong)(8 * count));
  double* zeros = calloc(count, sizeof *zeros);
  unsigned char* packed = malloc(size);
  assert_non_null(zeros);
  assert_non_null(packed);
  assert_int_equal(compress2(packed, &size, (const Bytef*)zeros, (uLong)(8 * count), 9), Z_OK);
  add(&values, "d");
  add_number(&values, count, 4, false);
  add_number(&values, 1, 4, false);
  add_number(&values, size, 4, false);
  add_bytes(&values, packed, size);
  free(zeros);
  free(packed);
  return values;
}

static void an_fbx_that_swells(void** unused) {
  (void)unused;
  static const size_t counts[] = {600000, 2000000, 24u << 20};
  for (int i = 0; i < 3; ++i) {
    text t = {0}, values = {0};
    add(&t, "Kaydara FBX Binary  ");
    add_bytes(&t, "\0\x1a\0", 3);
    add_number(&t, 7400, 4, false);
    size_t objects = fbx_begin(&t, "Objects", 0, &values);
    values = fbx_object(10, "Mesh");
    size_t geometry = fbx_begin(&t, "Geometry", 3, &values);
    values = fbx_zeros(counts[i] / 3 * 3);
    fbx_end(&t, fbx_begin(&t, "Vertices", 1, &values), false);
    values = (text){0};
    add_bytes(&values, "i\3\0\0\0\0\0\0\0\14\0\0\0\0\0\0\0\1\0\0\0\xfd\xff\xff\xff", 25);
    fbx_end(&t, fbx_begin(&t, "PolygonVertexIndex", 1, &values), false);
    fbx_end(&t, geometry, true);
    values = fbx_object(20, "Mesh");
    fbx_end(&t, fbx_begin(&t, "Model", 3, &values), false);
    fbx_end(&t, objects, true);
    values = (text){0};
    size_t connections = fbx_begin(&t, "Connections", 0, &values);
    fbx_connect(&t, 10, 20);
    fbx_connect(&t, 20, 0);
    fbx_end(&t, connections, true);
    add_bytes(&t, "\0\0\0\0\0\0\0\0\0\0\0\0\0", 13);
    check("FBX, swells", "a.fbx", &t, read_character);
  }
}

static void dense_foreign_files(void** unused) {
  (void)unused;
  text t = {0};
  add(&t, "; FBX 7.4.0 project file\nFBXHeaderExtension: {\n\tFBXVersion: 7400\n}\nObjects: {\n");
  add_many(&t, "a:\n", DENSE);
  add(&t, "}\n");
  check("FBX text, elements", "a.fbx", &t, read_character);
  add(&t, "; FBX 7.4.0 project file\nFBXHeaderExtension: {\n\tFBXVersion: 7400\n}\nObjects: 0");
  add_many(&t, ",0", DENSE);
  add(&t, " {\n}\n");
  check("FBX text, values", "a.fbx", &t, read_character);
  add(&t, "<COLLADA>");
  add_many(&t, "<a/>", DENSE);
  add(&t, "</COLLADA>");
  check("DAE, elements", "a.dae", &t, read_character);
  add(&t, "<COLLADA ");
  for (uint32_t i = 0; t.size < DENSE; ++i) {
    char word[32];
    snprintf(word, sizeof word, "a%x='' ", i);
    add(&t, word);
  }
  add(&t, "/>");
  check("DAE, attributes", "a.dae", &t, read_character);
  add(&t,
      "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n}\nMOTION\n"
      "Frames: 4000000000\nFrame Time: 0.1\n0 0 0\n");
  check("BVH, lies", "a.bvh", &t, read_character);
  add(&t, "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n}\n");
  char line[64];
  snprintf(line, sizeof line, "MOTION\nFrames: %zu\nFrame Time: 0.1\n", DENSE / 6);
  add(&t, line);
  for (size_t i = 0; i < DENSE / 6; ++i) add(&t, "0 0 0\n");
  check("BVH, frames", "a.bvh", &t, read_character);
}

static void dense_scenes(void** unused) {
  (void)unused;
  text t = {0};
  write_box("box.obj", 1, 1, 1);
  add(&t,
      "{\"bodies\":[{\"surface\":\"box.obj\"}],\"bones\":[{\"name\":\"b\",\"mesh\":\"box.obj\","
      "\"motion\":[{\"frame\":1}");
  for (uint32_t i = 2; t.size < DENSE / 2; ++i) {
    char key[32];
    snprintf(key, sizeof key, ",{\"frame\":%u}", i);
    add(&t, key);
  }
  add(&t, "]}]}");
  check("scene, keys", "a.json", &t, read_scene);
  add(&t, "{\"bodies\":[{\"surface\":\"box.obj\"}],\"fixed\":[{}");
  add_many(&t, ",{}", 290000);
  add(&t, "]}");
  check("scene, empty objects", "a.json", &t, read_scene);
  add(&t, "{\"bodies\":[{\"surface\":\"box.obj\"}],\"fixed\":[{\"where\":\"all\"}");
  add_many(&t, ",{\"where\":\"all\"}", DENSE / 2);
  add(&t, "]}");
  check("scene, fixed", "a.json", &t, read_scene);
  add_many(&t, "[", DENSE);
  check("scene, depth", "a.json", &t, read_scene);
}

static void lying_caches(void** unused) {
  (void)unused;
  static const uint32_t lies[] = {9, 1000000, 0x7fffffff, 0xffffffff};
  text t = {0};
  for (size_t i = 0; i < sizeof lies / sizeof *lies; ++i) {
    add_bytes(&t, "POINTCACHE2\0", 12);
    add_number(&t, 1, 4, false);
    add_number(&t, lies[i], 4, false);
    add_bytes(&t, "\0\0\x80\x3f\0\0\x80\x3f", 8);
    add_number(&t, lies[i], 4, false);
    add_many(&t, "12345678", 256);
    check("PC2, lies", "a.pc2", &t, read_pc2);
    add_number(&t, lies[i], 4, true);
    add_number(&t, lies[i], 4, true);
    add_many(&t, "12345678", 256);
    check("MDD, lies", "a.mdd", &t, read_mdd);
  }
  add_many(&t, "SINEWCEL", 4096);
  check("cells, nonsense", "a.cells", &t, read_cells);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch_folder, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(dense_surfaces),      TEST(ply_files),    TEST(empty_elements_take_no_time),
      TEST(dense_documents),     TEST(gltf_lies),    TEST(an_fbx_that_swells),
      TEST(dense_foreign_files), TEST(dense_scenes), TEST(lying_caches),
  };
  return cmocka_run_group_tests(tests, watch_memory, NULL);
}
