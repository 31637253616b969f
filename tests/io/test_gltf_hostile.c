// glTF files that are wrong, by accident or on purpose: the answer is a valid document or
// SN_ERR_INPUT with the place, and nothing stays behind.
#include "io/gltf_made.h"

// Whatever was accepted must be whole, and can be posed.
static void use_document(const sn_gltf* gltf) {
  sn_error err = {0};
  if (sn_gltf_check(gltf, &err) != SN_OK) fail_msg("%s", err.text);
  double* world = malloc(16 * (gltf->node_count + 1) * sizeof *world);
  assert_non_null(world);
  for (int32_t clip = -1; clip < (int32_t)gltf->clip_count; ++clip) {
    sn_gltf_pose(gltf, clip, 0.7, world);
    for (uint32_t n = 0; n < gltf->node_count; ++n) {
      if (gltf->nodes[n].mesh < 0) continue;
      const sn_mesh* mesh = &gltf->meshes[gltf->nodes[n].mesh].mesh;
      assert_true(mesh->triangle_count == 0 || sn_mesh_is_valid(mesh));
      double* positions = malloc(3 * (mesh->vertex_count + 1) * sizeof *positions);
      assert_non_null(positions);
      sn_gltf_skin_vertices(gltf, n, world, positions);
      free(positions);
    }
  }
  free(world);
}

static size_t accepted_count, refused_count;

// The bytes go into a block of their very size, so that the sanitizer sees a step too far.
static void assert_reads_or_refuses(const char* bytes, size_t size) {
  char* copy = malloc(size + 1);
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  copy[size] = 0;
  sn_gltf gltf;
  sn_error err = {0};
  sn_status status = sn_gltf_parse("damaged.glb", copy, size, &gltf, &err);
  free(copy);
  if (status == SN_OK) {
    use_document(&gltf);
    ++accepted_count;
  } else {
    if (status != SN_ERR_INPUT) fail_msg("status %d: %s", status, err.text);
    assert_int_equal(err.status, SN_ERR_INPUT);
    assert_message_has(&err, "damaged.glb:");
    assert_null(strchr(err.text, '\n'));
    assert_null(gltf.storage);
    ++refused_count;
  }
  sn_gltf_destroy(&gltf);
  assert_int_equal(sn_memory_used(), 0);
}

static void cut_files_are_refused(void** unused) {
  (void)unused;
  glb file = make_tube_file();
  accepted_count = 0;
  for (size_t size = 0; size < file.size; ++size) assert_reads_or_refuses(file.bytes, size);
  assert_int_equal(accepted_count, 0);
  // The same with the length in the header made to agree.
  for (size_t size = 12; size < file.size; ++size) {
    put_word(file.bytes + 8, (uint32_t)size);
    assert_reads_or_refuses(file.bytes, size);
  }
  free(file.bytes);
}

// One to four bytes changed: at random, or to one that means something in JSON or in a number.
static void damage_bytes(char* bytes, size_t size, uint64_t* random) {
  static const char telling[] = "{}[]\",:0123456789.-eE \x01\x80\xFFtrun\x7F";
  uint32_t count = 1 + next_random(random) % 4;
  for (uint32_t i = 0; i < count; ++i) {
    size_t at = next_random(random) % size;
    bytes[at] = next_random(random) % 2 ? (char)next_random(random)
                                        : telling[next_random(random) % (sizeof telling - 1)];
  }
}

static void mutate(const glb* file, size_t start, size_t size, int rounds) {
  uint64_t random = 3;
  char* mutant = malloc(file->size);
  assert_non_null(mutant);
  for (int round = 0; round < rounds; ++round) {
    memcpy(mutant, file->bytes, file->size);
    damage_bytes(mutant + start, size, &random);
    assert_reads_or_refuses(mutant, file->size);
  }
  free(mutant);
}

static void damaged_files_never_crash(void** unused) {
  (void)unused;
  glb file = make_tube_file();
  size_t text_end = 20 + text_size_of(&file);
  accepted_count = 0;
  mutate(&file, 0, text_end, 8000);
  mutate(&file, text_end, file.size - text_end, 4000);
  mutate(&file, 0, file.size, 2000);
  free(file.bytes);
  assert_true(accepted_count > 100);
}

// Digits alone keep the text JSON, so that more of the damage reaches the checks behind.
static void damaged_numbers_never_crash(void** unused) {
  (void)unused;
  glb file = make_tube_file();
  uint64_t random = 9;
  char* mutant = malloc(file.size);
  assert_non_null(mutant);
  size_t text_size = text_size_of(&file);
  accepted_count = refused_count = 0;
  for (int round = 0; round < 10000; ++round) {
    memcpy(mutant, file.bytes, file.size);
    for (uint32_t changes = 1 + next_random(&random) % 3; changes > 0;) {
      char* c = mutant + 20 + next_random(&random) % text_size;
      if (*c < '0' || *c > '9') continue;
      *c = (char)('0' + next_random(&random) % 10);
      --changes;
    }
    assert_reads_or_refuses(mutant, file.size);
  }
  free(mutant);
  free(file.bytes);
  assert_true(accepted_count > 500 && refused_count > 500);
}

// Each value of the document replaced by each of these.
static const char* const intruders[] = {
    "null", "true",       "\"x\"", "[]",         "{}",
    "-1",   "0",          "1",     "3",          "1e30",
    "0.5",  "4294967295", "65536", "[[[[]]]]",   "\"\\n\\u00e9\"",
    "[0]",  "[{}]",       "1e300", "2147483648", "9007199254740992"};

static void try_intruders(const glb* file, const json_t* document) {
  char* marked = json_dumps(document, JSON_COMPACT);
  char* mark = strstr(marked, "\"@@\"");
  assert_non_null(mark);
  *mark = 0;
  size_t start = 20 + text_size_of(file) + 8;
  for (size_t k = 0; k < sizeof intruders / sizeof intruders[0]; ++k) {
    size_t size = strlen(marked) + strlen(mark + 4) + 64;
    char* text = malloc(size);
    assert_non_null(text);
    snprintf(text, size, "%s%s%s", marked, intruders[k], mark + 4);
    glb changed = make_glb(text, file->bytes + start, file->size - start);
    assert_reads_or_refuses(changed.bytes, changed.size);
    free(changed.bytes);
    free(text);
  }
  free(marked);
}

static void replace_each(const glb* file, json_t* document, json_t* at) {
  const char* key;
  json_t* value;
  void* next;
  json_object_foreach_safe(at, next, key, value) {
    json_incref(value);
    replace_each(file, document, value);
    json_object_set_new(at, key, json_string("@@"));
    try_intruders(file, document);
    json_object_set_new(at, key, value);
  }
  for (size_t i = 0; i < json_array_size(at); ++i) {
    value = json_incref(json_array_get(at, i));
    replace_each(file, document, value);
    json_array_set_new(at, i, json_string("@@"));
    try_intruders(file, document);
    json_array_set_new(at, i, value);
  }
}

static void no_wrong_value_gets_through(void** unused) {
  (void)unused;
  glb file = make_tube_file();
  json_t* document = document_of(&file);
  accepted_count = refused_count = 0;
  replace_each(&file, document, document);
  print_message("%zu accepted, %zu refused\n", accepted_count, refused_count);
  assert_true(refused_count > accepted_count);
  json_decref(document);
  free(file.bytes);
}

// Messages

typedef struct refusal {
  const char *change, *part;
} refusal;

#define PRIMITIVE "meshes.0.primitives.0."
#define CHANNEL "animations.0.channels."
#define SAMPLER "animations.0.samplers."

static const refusal refusals[] = {
    {"asset=3", "asset: found 3, expected an object"},
    {"asset.version=\"1.0\"", "asset.version: found \"1.0\", expected \"2.0\""},
    {"asset.minVersion=\"2.1\"", "asset.minVersion: found \"2.1\", expected \"2.0\""},
    {"extensionsRequired=[\"KHR_materials_unlit\", \"KHR_draco_mesh_compression\"]",
     "extensionsRequired[1]: found \"KHR_draco_mesh_compression\", expected a file without"},
    {"extensionsRequired=3", "extensionsRequired: found 3, expected a list"},
    {"nodes={}", "nodes: found an empty object, expected a list"},
    {"nodes.1=3", "nodes[1]: found 3, expected an object"},
    {"nodes.2.children=[1]", ".children: found a circle, expected a tree"},
    {"nodes.3.children=[3]", "nodes[3].children: found a circle, expected a tree"},
    {"nodes.0.children=[2]",
     "nodes[1].children[0]: found node 2, which is a child of node 0 too, expected one parent"},
    {"nodes.1.children=[2, 2]", "nodes[1].children[1]: found node 2"},
    {"nodes.1.children=[9]",
     "nodes[1].children[0]: found 9, expected an index into \"nodes\", which has 4"},
    {"nodes.1.children=2", "nodes[1].children: found 2, expected a list"},
    {"nodes.0.mesh=7", "nodes[0].mesh: found 7, expected an index into \"meshes\", which has 2"},
    {"nodes.0.skin=-1", "nodes[0].skin: found -1, expected an index"},
    {"nodes.0.name=7", "nodes[0].name: found 7, expected a name"},
    {"nodes.2.rotation=[0, 0, 0, 0]", "nodes[2].rotation: found a length of 0, expected 1"},
    {"nodes.2.scale=[1, 1]", "nodes[2].scale: found a list of 2, expected a list of 3 numbers"},
    {"nodes.2.translation=[1, 1, true]", "nodes[2].translation[2]: found true, expected a number"},
    {"nodes.3.scale=[1, 1, 1]", "nodes[3].matrix: found a list of 16, expected no matrix beside"},
    {"nodes.3.matrix=[1,0,0,1, 0,1,0,0, 0,0,1,0, 0,0,0,1]",
     "nodes[3].matrix: found 1 in the last row, expected (0, 0, 0, 1)"},
    {"meshes.0.primitives=3", "meshes[0].primitives: found 3, expected a list"},
    {"meshes.0.primitives.0=3", "meshes[0].primitives[0]: found 3, expected an object"},
    {PRIMITIVE "attributes=[]",
     "primitives[0].attributes: found an empty list, expected an object"},
    {PRIMITIVE "mode=7", "primitives[0].mode: found 7, expected a whole number from 0 to 6"},
    {PRIMITIVE "attributes.POSITION=99",
     "meshes[0].primitives[0].attributes.POSITION: found 99, expected an index into \"accessors\""},
    {PRIMITIVE "attributes.POSITION=3", "attributes.POSITION: found another type, expected VEC3"},
    {PRIMITIVE "attributes.JOINTS_0=3",
     "attributes.JOINTS_0: found another type, expected VEC4 of"},
    {PRIMITIVE "attributes.JOINTS_0=11",
     "JOINTS_0: found 2 elements, expected one for each of the 20"},
    {PRIMITIVE "attributes.WEIGHTS_1=1", "attributes.WEIGHTS_1: found another type, expected VEC4"},
    {PRIMITIVE "attributes={\"POSITION\": 0, \"JOINTS_0\": 2}",
     "attributes.WEIGHTS_0: found nothing, expected joints and weights in pairs"},
    {PRIMITIVE "attributes._MORE=13", "attributes._MORE: found 3 elements, expected one for each"},
    {PRIMITIVE "indices=0",
     "primitives[0].indices: found accessor 0 of type VEC3, expected one of"},
    {PRIMITIVE "indices=6",
     "primitives[0].indices: found accessor 6, expected one of whole numbers"},
    {"accessors.0.count=19", "expected one for each of the 19 positions"},
    {"accessors.0.count=21",
     "accessors[0]: found 21 elements (252 bytes) from byte 0 on, expected"},
    {"accessors.0.count=4294967294", "accessors[0]: found 4294967294 elements"},
    {"accessors.0.count=0", "accessors[0].count: found 0, expected a whole number of 1 or more"},
    {"accessors.0.byteOffset=4", "accessors[0]: found 20 elements (240 bytes) from byte 4 on"},
    {"accessors.0.byteOffset=9007199254740991", "from byte 9007199254740991 on"},
    {"accessors.0.componentType=5124", "accessors[0].componentType: found 5124, expected 5120"},
    {"accessors.0.type=\"VEC5\"", "accessors[0].type: found \"VEC5\", expected \"SCALAR\""},
    {"accessors.0.normalized=1", "accessors[0].normalized: found 1, expected true or false"},
    {"accessors.0.sparse=3", "accessors[0].sparse: found 3, expected {\"count\": n"},
    {"accessors.0.sparse={\"count\": 99, \"indices\": {}, \"values\": {}}",
     "accessors[0].sparse.count: found 99, expected a whole number from 1 to 20"},
    {"accessors.0.sparse={\"count\": 9, \"indices\": {\"componentType\": 5126}, \"values\": {}}",
     "accessors[0].sparse.indices.componentType: found 5126, expected 5121, 5123 or 5125"},
    {"accessors.7.count=95", "meshes[0].primitives[0]: found 95 corners, expected three for each"},
    {"bufferViews.0.byteLength=100000", "bufferViews[0]: found 100000 bytes from 0, expected them"},
    {"bufferViews.0.byteOffset=-1", "bufferViews[0].byteOffset: found -1, expected a whole number"},
    {"bufferViews.0.byteStride=3",
     "bufferViews[0].byteStride: found 3, expected a whole number from"},
    {"bufferViews.0.byteStride=8",
     "accessors[0].bufferView: found a byteStride of 8, expected at least the 12 bytes"},
    {"bufferViews.0.buffer=1",
     "bufferViews[0].buffer: found 1, expected an index into \"buffers\""},
    {"buffers=[]",
     "bufferViews[0].buffer: found 0, expected an index into \"buffers\", which has 0"},
    {"buffers.0.byteLength=999999", "buffers[0].byteLength: found 999999, expected at most the"},
    {"buffers.0.uri=3", "buffers[0].uri: found 3, expected data or the name of a file"},
    {"buffers.0.uri=http://example.com/a.bin", "expected a relative path below the folder of the"},
    {"buffers.0.uri=file:a.bin", "buffers[0].uri: found \"file:a.bin\", expected a relative path"},
    {"buffers.0.uri=/etc/passwd", "found \"/etc/passwd\", expected a relative path below"},
    {"buffers.0.uri=../a.bin", "found \"../a.bin\", expected a relative path below"},
    {"buffers.0.uri=a/%2E%2e/../a.bin", "expected a relative path below"},
    {"buffers.0.uri=%2e%2e/a.bin", "expected a relative path below"},
    {"buffers.0.uri=a%00.bin", "expected a relative path below"},
    {"buffers.0.uri=a%zz.bin", "expected a relative path below"},
    {"buffers.0.uri=a%2", "expected a relative path below"},
    {"buffers.0.uri=gone.bin", "gone.bin: cannot be read: No such file"},
    {"buffers.0.uri=.", "cannot be read: "},
    {"buffers.0.uri=data:,abc", "buffers[0].uri: found data without \";base64,\", expected base64"},
    {"buffers.0.uri=data:;base64,AA*A", "buffers[0].uri: found data that is damaged"},
    {"buffers.0.uri=data:;base64,AAAAA", "buffers[0].uri: found data that is damaged"},
    {"buffers.0.uri=data:;base64,AAA=", "expected at most the 2 bytes present"},
    {"skins.0.joints=[]", "skins[0].joints: found an empty list, expected a list of 1 to 65536"},
    {"skins.0.joints=[1, 44]", "skins[0].joints[1]: found 44, expected an index into \"nodes\""},
    {"skins.0.joints=[1]", "nodes[0].skin: found a skin of 1 joints for a mesh that uses joint 1"},
    {"skins.0.joints=[1, 2, 3]",
     "skins[0].inverseBindMatrices: found 2 matrices, expected one for"},
    {"skins.0.inverseBindMatrices=0",
     "inverseBindMatrices: found accessor 0 of type VEC3, expected"},
    {"animations.0.samplers=0", "animations[0].samplers: found 0, expected a list"},
    {"animations.0.channels=0", "animations[0].channels: found 0, expected a list"},
    {CHANNEL "0.sampler=7",
     "animations[0].channels[0].sampler: found 7, expected an index into the"},
    {CHANNEL "0.target=0", "animations[0].channels[0].target: found 0, expected an object"},
    {CHANNEL "0.target.node=3",
     "channels[0].target.node: found node 3, which has a matrix, expected"},
    {CHANNEL "0.target.node=4",
     "channels[0].target.node: found 4, expected an index into \"nodes\""},
    {CHANNEL "0.target.path=\"colour\"", "target.path: found \"colour\", expected \"translation\""},
    {CHANNEL "1.target.path=\"rotation\"",
     "channels[1].target.node: found the rotation of node 2 a second time, expected one channel"},
    {SAMPLER "0=1", "animations[0].samplers[0]: found 1, expected an object"},
    {SAMPLER "0.interpolation=\"CUBIC\"",
     "samplers[0].interpolation: found \"CUBIC\", expected \"LINEAR\", \"STEP\" or "
     "\"CUBICSPLINE\""},
    {SAMPLER "0.input=0", "samplers[0].input: found accessor 0 of type VEC3, expected one of type"},
    {SAMPLER "0.input=7", "samplers[0].input: found accessor 7, expected one of floats"},
    {SAMPLER "0.input=6",
     "samplers[0].input: found key 1 at 0.5 s, expected times from 0 that ascend"},
    {SAMPLER "0.output=0",
     "samplers[0].output: found accessor 0 of type VEC3, expected one of type"},
    {SAMPLER "0.output=3", "samplers[0].output: found 20 values, expected 3 for 3 keys"},
    {SAMPLER "1.interpolation=\"CUBICSPLINE\"", "found 2 values, expected 6 for 2 keys"},
};

static void messages_name_the_place(void** unused) {
  (void)unused;
  glb file = make_tube_file();
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; ++i) {
    glb changed = with_change(&file, refusals[i].change);
    assert_file_refused(&changed, refusals[i].part);
    free(changed.bytes);
  }
  free(file.bytes);
}

static void what_does_not_matter_is_accepted(void** unused) {
  (void)unused;
  static const char* const changes[] = {
      "extensionsRequired=[\"KHR_mesh_quantization\", \"KHR_materials_unlit\"]",
      "extensionsRequired=[\"KHR_texture_basisu\", \"EXT_texture_webp\", \"KHR_lights_x\"]",
      "asset.version=\"2.7\"",
      "materials=7",
      "scenes=[]",
      "scene=9",
      "extras={\"a\": [1, {}]}",
      "buffers=[{\"byteLength\": 2676}, {\"byteLength\": 9}]",
      "animations.0.channels.0.target.path=weights",
      "animations.0.channels.1.target={\"path\": \"pointer\"}",
      "meshes.0.primitives.0.mode=1",
      "meshes.0.primitives.0.targets=[{\"POSITION\": 0}]",
      "accessors.0.min=[9]",
      "nodes.0.rotation=[0, 0, 3, 4]",
  };
  glb file = make_tube_file();
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; ++i) {
    glb changed = with_change(&file, changes[i]);
    sn_gltf gltf = parse_well(changes[i], changed.bytes, changed.size);
    use_document(&gltf);
    sn_gltf_destroy(&gltf);
    free(changed.bytes);
  }
  free(file.bytes);
}

static void wrong_containers_are_refused(void** unused) {
  (void)unused;
  glb file = make_tube_file();
  uint32_t size = (uint32_t)file.size, text_size = text_size_of(&file);
  static const struct {
    int at;
    uint32_t word;
    const char* part;
  } rows[] = {{4, 1, "found version 1 of the container, expected 2"},
              {8, UINT32_MAX, "of 4294967295 bytes, expected the whole file"},
              {12, UINT32_MAX, "found chunk 0 of 4294967295 bytes where "},
              {16, 0x12345678, "found no JSON in the first chunk, expected a glTF 2 file"},
              {8, 12, "found no JSON in the first chunk"},
              {8, 0, "found no JSON in the first chunk"},
              {8, 16, "found 4 bytes behind chunk 0, expected whole chunks"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    char before[4];
    memcpy(before, file.bytes + rows[i].at, 4);
    put_word(file.bytes + rows[i].at, rows[i].word);
    assert_file_refused(&file, rows[i].part);
    memcpy(file.bytes + rows[i].at, before, 4);
  }
  // A binary chunk that is shorter than the buffer.
  put_word(file.bytes + 8, size - 4);
  put_word(file.bytes + 20 + text_size, size - 4 - 28 - text_size);
  assert_file_refused(&file, "buffers[0].byteLength: found ");
  // None at all.
  put_word(file.bytes + 8, 20 + text_size);
  assert_file_refused(&file, "bufferViews[0].buffer: found 0, which has no bytes, expected one");
  free(file.bytes);
  sn_gltf gltf;
  sn_error err = {0};
  assert_int_equal(sn_gltf_load(scratch_path("gone.glb"), &gltf, &err), SN_ERR_INPUT);
  assert_message_has(&err, "gone.glb");
  assert_int_equal(sn_gltf_load(scratch_folder, &gltf, NULL), SN_ERR_INPUT);
}

// Two of them would sum to infinity.
static void weights_without_bounds_are_refused(void** unused) {
  (void)unused;
  static const float wrong[][2] = {{3e38f, 3e38f}, {-0.25f, 1.25f}};
  for (int i = 0; i < 2; ++i) {
    glb file = make_tube_file();
    // Behind 20 positions, normals and joints.
    memcpy(file.bytes + 28 + text_size_of(&file) + 640, wrong[i], sizeof wrong[i]);
    assert_file_refused(&file, "attributes.WEIGHTS_0: found a weight beyond 0 to 1e6, expected");
    free(file.bytes);
  }
}

// A short file that means very much: nodes and primitives that all use the same data.
static void many_uses_of_one_accessor_are_limited(void** unused) {
  (void)unused;
  enum { USES = 5000 };
  static const char head[] =
      "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"byteLength\": 12000}], "
      "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": 12000}], \"accessors\": [{\"bufferView\": "
      "0, \"componentType\": 5126, \"type\": \"VEC3\", \"count\": 999}], \"meshes\": "
      "[{\"primitives\": [";
  static const char use[] = "{\"attributes\":{\"POSITION\":0}},",
                    tail[] = "{\"attributes\":{}}]}]}";
  size_t used = strlen(head);
  char* text = malloc(used + USES * strlen(use) + sizeof tail);
  assert_non_null(text);
  memcpy(text, head, used);
  for (int i = 0; i < USES; ++i, used += strlen(use)) memcpy(text + used, use, strlen(use));
  memcpy(text + used, tail, sizeof tail);
  char* bytes = calloc(12000, 1);
  assert_non_null(bytes);
  glb file = make_glb(text, bytes, 12000);
  assert_file_refused(&file, "numbers more than a file of this size can mean");
  free(file.bytes);
  free(bytes);
  free(text);
}

// Memory

static sn_status load_tube(sn_error* err) {
  sn_gltf gltf;
  sn_status status = sn_gltf_load(scratch_path("tube.glb"), &gltf, err);
  if (status != SN_OK) assert_null(gltf.storage);
  sn_gltf_destroy(&gltf);
  return status;
}

static sn_status save_tube(sn_error* err) {
  static tube t;
  return sn_gltf_save(scratch_path("again.glb"), make_tube(&t), err);
}

static void running_out_of_memory_frees_everything(void** unused) {
  (void)unused;
  glb file = make_tube_file();
  free(file.bytes);
  assert_survives_failing_allocations(load_tube);
  assert_survives_failing_allocations(save_tube);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch_folder, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(cut_files_are_refused),
      TEST(damaged_files_never_crash),
      TEST(damaged_numbers_never_crash),
      TEST(no_wrong_value_gets_through),
      TEST(messages_name_the_place),
      TEST(what_does_not_matter_is_accepted),
      TEST(wrong_containers_are_refused),
      TEST(weights_without_bounds_are_refused),
      TEST(many_uses_of_one_accessor_are_limited),
      TEST(running_out_of_memory_frees_everything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
