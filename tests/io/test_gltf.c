// Whole glTF files: the assets against an independent evaluator, writing and reading again, joints,
// names, primitives, buffers.
#include "sinew/gltf.h"

#include "io/gltf_made.h"

#define RIGGED SN_TEST_ASSETS "/rigged/"

static sn_gltf load_well(const char* path) {
  sn_gltf gltf;
  sn_error err = {0};
  if (sn_gltf_load(path, &gltf, &err) != SN_OK) fail_msg("%s", err.text);
  if (sn_gltf_check(&gltf, &err) != SN_OK) fail_msg("%s: %s", path, err.text);
  return gltf;
}

// Box and mean of the vertices of all nodes that have a mesh.
typedef struct extent {
  double lo[3], hi[3], mean[3];
  size_t vertex_count;
} extent;

static extent measure(const sn_gltf* gltf, int32_t clip, double time) {
  extent e = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, {0}, 0};
  double* world = malloc(16 * gltf->node_count * sizeof *world);
  sn_gltf_pose(gltf, clip, time, world);
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    if (gltf->nodes[n].mesh < 0) continue;
    uint32_t count = gltf->meshes[gltf->nodes[n].mesh].mesh.vertex_count;
    double* positions = malloc(3 * count * sizeof *positions);
    sn_gltf_skin_vertices(gltf, n, world, positions);
    for (size_t i = 0; i < 3 * (size_t)count; ++i) {
      e.lo[i % 3] = fmin(e.lo[i % 3], positions[i]);
      e.hi[i % 3] = fmax(e.hi[i % 3], positions[i]);
      e.mean[i % 3] += positions[i];
    }
    e.vertex_count += count;
    free(positions);
  }
  for (int axis = 0; axis < 3; ++axis) e.mean[axis] /= (double)e.vertex_count;
  free(world);
  return e;
}

// A file whose weights do not sum to 1; the reference has taken them as they are.
static void restore_weights(const char* path, sn_gltf* gltf) {
  glb file;
  file.bytes = read_everything(path, &file.size);
  json_t* document = document_of(&file);
  const unsigned char* chunk = (const unsigned char*)file.bytes + 20 + text_size_of(&file) + 8;
  for (uint32_t m = 0; m < gltf->mesh_count; ++m) {
    const json_t* mesh = json_array_get(json_object_get(document, "meshes"), m);
    float* to = gltf->meshes[m].weights;
    size_t index;
    const json_t* primitive;
    json_array_foreach(json_object_get(mesh, "primitives"), index, primitive) {
      const json_t* weights =
          json_object_get(json_object_get(primitive, "attributes"), "WEIGHTS_0");
      if (!weights) continue;
      const json_t* accessor = json_array_get(json_object_get(document, "accessors"),
                                              (size_t)json_integer_value(weights));
      json_int_t view_index = json_integer_value(json_object_get(accessor, "bufferView"));
      const json_t* view =
          json_array_get(json_object_get(document, "bufferViews"), (size_t)view_index);
      const unsigned char* from = chunk + json_integer_value(json_object_get(view, "byteOffset")) +
                                  json_integer_value(json_object_get(accessor, "byteOffset"));
      size_t count = 4 * (size_t)json_integer_value(json_object_get(accessor, "count"));
      memcpy(to, from, count * sizeof *to);
      to += count;
    }
  }
  json_decref(document);
  free(file.bytes);
}

// file,animation_index,animation_name,time_s,vertices,min(3),max(3),mean(3)
static double check_row(char* row) {
  char* cells[14];
  for (int i = 0; i < 14; ++i) {
    cells[i] = row;
    row = strpbrk(row, ",\n");
    assert_non_null(row);
    *row++ = 0;
  }
  char path[512];
  snprintf(path, sizeof path, RIGGED "%s", cells[0]);
  sn_gltf gltf = load_well(path);
  if (strcmp(cells[0], "robot_expressive.glb") == 0) restore_weights(path, &gltf);
  int32_t clip = cells[1][0] ? (int32_t)strtol(cells[1], NULL, 10) : -1;
  if (cells[2][0]) assert_string_equal(gltf.clips[clip].name, cells[2]);
  extent e = measure(&gltf, clip, strtod(cells[3], NULL));
  assert_int_equal(e.vertex_count, strtol(cells[4], NULL, 10));
  double size = 0.0, worst = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    size = fmax(size, e.hi[axis] - e.lo[axis]);
    worst = fmax(worst, fabs(e.lo[axis] - strtod(cells[5 + axis], NULL)));
    worst = fmax(worst, fabs(e.hi[axis] - strtod(cells[8 + axis], NULL)));
    worst = fmax(worst, fabs(e.mean[axis] - strtod(cells[11 + axis], NULL)));
  }
  if (!(worst <= 1e-5 * size))
    fail_msg("%s, clip %d: off by %g of its size", path, clip, worst / size);
  sn_gltf_destroy(&gltf);
  return worst / size;
}

static void skinning_agrees_with_an_independent_evaluator(void** unused) {
  (void)unused;
  skip_without_assets();
  size_t size;
  char* table = read_everything(SN_TEST_ASSETS "/reference_data/skinning.csv", &size);
  double worst = 0.0;
  int count = 0;
  for (char* line = strchr(table, '\n') + 1; *line; ++count) {
    char* next = strchr(line, '\n') + 1;
    char row[1024];
    snprintf(row, sizeof row, "%.*s", (int)(next - line), line);
    worst = fmax(worst, check_row(row));
    line = next;
  }
  free(table);
  print_message("%d poses, worst error %.1e of the size\n", count, worst);
  assert_true(count > 20);
  assert_int_equal(sn_memory_used(), 0);
}

// Writing and reading again

static void assert_same_mesh(const sn_gltf_mesh* a, const sn_gltf_mesh* b) {
  size_t vertex_count = a->mesh.vertex_count;
  assert_string_equal(a->name, b->name);
  assert_int_equal(vertex_count, b->mesh.vertex_count);
  assert_int_equal(a->mesh.triangle_count, b->mesh.triangle_count);
  assert_memory_equal(a->mesh.positions, b->mesh.positions, 24 * vertex_count);
  assert_memory_equal(a->mesh.triangles, b->mesh.triangles, 12 * (size_t)a->mesh.triangle_count);
  assert_int_equal(a->mesh.group_count, b->mesh.group_count);
  for (uint32_t g = 0; g < a->mesh.group_count; ++g) {
    assert_string_equal(a->mesh.groups[g].name, b->mesh.groups[g].name);
    assert_int_equal(a->mesh.groups[g].triangle_count, b->mesh.groups[g].triangle_count);
    assert_int_equal(a->mesh.groups[g].triangles[0], b->mesh.groups[g].triangles[0]);
  }
  assert_int_equal(a->influence_count, b->influence_count);
  size_t influence_total = (size_t)a->influence_count * vertex_count;
  if (influence_total > 0) {
    assert_memory_equal(a->joints, b->joints, influence_total * sizeof *a->joints);
    assert_memory_equal(a->weights, b->weights, influence_total * sizeof *a->weights);
  }
  assert_int_equal(a->map_count, b->map_count);
  for (uint32_t m = 0; m < a->map_count; ++m) {
    assert_string_equal(a->maps[m].name, b->maps[m].name);
    assert_memory_equal(a->maps[m].values, b->maps[m].values, 4 * vertex_count);
  }
}

static void assert_same_node(const sn_gltf_node* a, const sn_gltf_node* b) {
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->parent, b->parent);
  assert_memory_equal(&a->translate, &b->translate, sizeof a->translate);
  assert_memory_equal(&a->rotate, &b->rotate, sizeof a->rotate);
  assert_memory_equal(&a->scale, &b->scale, sizeof a->scale);
  assert_int_equal(a->has_matrix, b->has_matrix);
  assert_memory_equal(a->matrix, b->matrix, sizeof a->matrix);
  assert_true(a->mesh == b->mesh && a->skin == b->skin);
}

static void assert_same_clip(const sn_gltf_clip* a, const sn_gltf_clip* b) {
  assert_string_equal(a->name, b->name);
  assert_int_equal(a->channel_count, b->channel_count);
  assert_true(a->end == b->end);
  for (uint32_t c = 0; c < a->channel_count; ++c) {
    const sn_gltf_channel *p = &a->channels[c], *q = &b->channels[c];
    assert_true(p->node == q->node && p->path == q->path && p->interpolation == q->interpolation);
    assert_int_equal(p->key_count, q->key_count);
    size_t width =
        (p->path == SN_GLTF_ROTATE ? 4 : 3) * (p->interpolation == SN_GLTF_CUBIC ? 3 : 1);
    assert_memory_equal(p->times, q->times, p->key_count * sizeof *p->times);
    assert_memory_equal(p->values, q->values, width * p->key_count * sizeof *p->values);
  }
}

static void assert_same_document(const sn_gltf* a, const sn_gltf* b) {
  assert_int_equal(a->mesh_count, b->mesh_count);
  for (uint32_t i = 0; i < a->mesh_count; ++i) assert_same_mesh(&a->meshes[i], &b->meshes[i]);
  assert_int_equal(a->node_count, b->node_count);
  for (uint32_t i = 0; i < a->node_count; ++i) assert_same_node(&a->nodes[i], &b->nodes[i]);
  if (a->node_count > 0) {
    assert_memory_equal(a->order, b->order, a->node_count * sizeof *a->order);
  }
  assert_int_equal(a->skin_count, b->skin_count);
  for (uint32_t i = 0; i < a->skin_count; ++i) {
    const sn_gltf_skin *p = &a->skins[i], *q = &b->skins[i];
    assert_string_equal(p->name, q->name);
    assert_int_equal(p->joint_count, q->joint_count);
    assert_memory_equal(p->joints, q->joints, p->joint_count * sizeof *p->joints);
    assert_memory_equal(p->inverse_bind, q->inverse_bind, 128 * (size_t)p->joint_count);
  }
  assert_int_equal(a->clip_count, b->clip_count);
  for (uint32_t i = 0; i < a->clip_count; ++i) assert_same_clip(&a->clips[i], &b->clips[i]);
}

static void assert_round_trip(const char* path) {
  sn_gltf first = load_well(path);
  sn_error err = {0};
  if (sn_gltf_save(scratch_path("first.glb"), &first, &err) != SN_OK) fail_msg("%s", err.text);
  sn_gltf second = load_well(scratch_path("first.glb"));
  assert_same_document(&first, &second);
  assert_int_equal(sn_gltf_save(scratch_path("second.glb"), &second, &err), SN_OK);
  size_t size, second_size;
  char* bytes = read_everything(scratch_path("first.glb"), &size);
  char* second_bytes = read_everything(scratch_path("second.glb"), &second_size);
  assert_int_equal(size, second_size);
  assert_memory_equal(bytes, second_bytes, size);
  free(bytes);
  free(second_bytes);
  sn_gltf_destroy(&first);
  sn_gltf_destroy(&second);
  assert_int_equal(sn_memory_used(), 0);
}

static void what_is_written_reads_back_bit_for_bit(void** unused) {
  (void)unused;
  glb file = make_tube_file();
  assert_round_trip(scratch_path("tube.glb"));
  free(file.bytes);
  if (access(RIGGED, R_OK) != 0) return;
  DIR* folder = opendir(RIGGED);
  int count = 0;
  for (struct dirent* entry; (entry = readdir(folder));) {
    const char* dot = strrchr(entry->d_name, '.');
    if (!dot || strncmp(dot, ".gl", 3) != 0) continue;
    char path[512];
    snprintf(path, sizeof path, RIGGED "%s", entry->d_name);
    assert_round_trip(path);
    ++count;
  }
  closedir(folder);
  assert_true(count >= 10);
}

static void the_tube_is_what_was_made(void** unused) {
  (void)unused;
  tube* t = malloc(sizeof *t);
  const sn_gltf* made = make_tube(t);
  glb file = make_tube_file();
  sn_gltf gltf = parse_well("tube.glb", file.bytes, file.size);
  free(file.bytes);
  assert_int_equal(gltf.mesh_count, 2);
  assert_memory_equal(gltf.meshes[0].mesh.positions, t->positions, sizeof t->positions);
  assert_memory_equal(gltf.meshes[0].mesh.triangles, t->triangles, sizeof t->triangles);
  assert_memory_equal(gltf.meshes[0].maps[0].values, t->heights, sizeof t->heights);
  assert_int_equal(gltf.meshes[0].influence_count, 8);
  assert_int_equal(gltf.meshes[0].joints[3], 0);  // no weight, so no joint
  assert_true(gltf.meshes[0].joints[8 * 5 + 4] == 1 && gltf.meshes[0].weights[8 * 5 + 4] == 0.25f);
  for (uint32_t n = 0; n < 4; ++n) {
    sn_gltf_node expected = made->nodes[n];
    if (!expected.has_matrix) memcpy(expected.matrix, gltf.nodes[n].matrix, sizeof expected.matrix);
    assert_same_node(&gltf.nodes[n], &expected);
  }
  assert_same_clip(&gltf.clips[0], &made->clips[0]);
  sn_gltf_destroy(&gltf);
  free(t);
}

// Joints follow the weights that count

#define HEAD "{\"asset\": {\"version\": \"2.0\"}, "

// Three vertices, one triangle, with joints and weights of four bytes each: 0 joints, 12 weights,
// 24 positions.
static const char skinned_text[] = HEAD
    "\"buffers\": [{\"byteLength\": 60}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 60}],"
    "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5121, \"type\": \"VEC4\", \"count\": "
    "3},"
    "{\"bufferView\": 0, \"byteOffset\": 12, \"componentType\": 5121, \"normalized\": true, "
    "\"type\": \"VEC4\", \"count\": 3},"
    "{\"bufferView\": 0, \"byteOffset\": 24, \"componentType\": 5126, \"type\": \"VEC3\", "
    "\"count\": 3}],"
    "\"meshes\": [{\"primitives\": [{\"attributes\": {\"JOINTS_0\": 0, \"WEIGHTS_0\": 1, "
    "\"POSITION\": 2}}]}],"
    "\"nodes\": [{\"mesh\": 0, \"skin\": 0}, {}, {}, {}],"
    "\"skins\": [{\"joints\": [1, 2, 3]}]}";

static void weights_are_made_to_sum_to_one(void** unused) {
  (void)unused;
  unsigned char bytes[60] = {
      0,  1,  2,   9,    // the last has no weight, so it may be anything
      2,  2,  1,   2,    // a joint three times
      0,  1,  2,   0,    // no weight at all
      51, 51, 102, 0,    // sums to 0.8
      51, 51, 51,  102,  // sums to 1
  };
  sn_gltf gltf = parse_made(skinned_text, bytes, sizeof bytes);
  const sn_gltf_mesh* mesh = &gltf.meshes[0];
  const uint16_t joints[12] = {0, 1, 2, 0, 2, 0, 1, 0, 0, 1, 2, 0};
  const float weights[12] = {0.25f, 0.25f, 0.5f, 0, 0.8f, 0, 0.2f, 0, 1, 0, 0, 0};
  for (int i = 0; i < 12; ++i) {
    assert_true(fabsf(mesh->weights[i] - weights[i]) < 1e-7f);
    assert_int_equal(mesh->joints[i], weights[i] > 0 ? joints[i] : 0);
  }
  sn_gltf_destroy(&gltf);
  bytes[15] = 1;  // now the last has a weight
  glb file = make_glb(skinned_text, bytes, sizeof bytes);
  assert_file_refused(&file,
                      "nodes[0].skin: found a skin of 3 joints for a mesh that uses joint 9");
  free(file.bytes);
}

// Names

static void every_entry_has_a_name_of_its_own(void** unused) {
  (void)unused;
  static const char text[] = HEAD
      "\"nodes\": [{}, {\"name\": \"Arm\"}, {\"name\": \"Arm\"}, {\"name\": \"\"}, "
      "{\"name\": \"Arm_2\"}, {\"name\": \"node0\"}, {\"name\": \"Arm\"}]}";
  static const char* const names[] = {"node0_2", "Arm",   "Arm_3", "node3",
                                      "Arm_2",   "node0", "Arm_4"};
  sn_gltf gltf = parse_made(text, NULL, 0);
  assert_int_equal(gltf.node_count, 7);
  for (uint32_t n = 0; n < 7; ++n) assert_string_equal(gltf.nodes[n].name, names[n]);
  sn_gltf_destroy(&gltf);
}

static void parents_come_first(void** unused) {
  (void)unused;
  static const char text[] =
      HEAD "\"nodes\": [{}, {\"children\": [0, 4]}, {\"children\": [1]}, {}, {\"children\": [3]}]}";
  sn_gltf gltf = parse_made(text, NULL, 0);
  static const int32_t parents[] = {1, 2, -1, 4, 1};
  static const uint32_t order[] = {2, 1, 0, 4, 3};
  for (int n = 0; n < 5; ++n) assert_int_equal(gltf.nodes[n].parent, parents[n]);
  assert_memory_equal(gltf.order, order, sizeof order);
  sn_gltf_destroy(&gltf);
}

// Primitives

static char last_warning[256];
static int warning_count;

static void keep_warning(void* unused, sn_log_level level, const char* text) {
  (void)unused;
  if (level != SN_LOG_WARNING) return;
  snprintf(last_warning, sizeof last_warning, "%s", text);
  ++warning_count;
}

// Six vertices on a line of squares; strip, fan, list with and without indices, and lines.
static void primitives_of_all_kinds_are_joined(void** unused) {
  (void)unused;
  static const char text[] = HEAD
      "\"buffers\": [{\"byteLength\": 78}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 72}, "
      "{\"buffer\": 0, \"byteOffset\": 72, \"byteLength\": 6}],"
      "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"type\": \"VEC3\", \"count\": "
      "6},"
      "{\"bufferView\": 1, \"componentType\": 5121, \"type\": \"SCALAR\", \"count\": 6},"
      "{\"bufferView\": 0, \"componentType\": 5126, \"type\": \"VEC3\", \"count\": 4}],"
      "\"meshes\": [{\"primitives\": ["
      "{\"mode\": 5, \"attributes\": {\"POSITION\": 0}},"
      "{\"mode\": 1, \"attributes\": {\"POSITION\": 0}},"
      "{\"mode\": 6, \"attributes\": {\"POSITION\": 2}},"
      "{\"attributes\": {\"POSITION\": 0}, \"indices\": 1},"
      "{\"attributes\": {\"COLOR_0\": 0}},"
      "{\"mode\": 4, \"attributes\": {\"POSITION\": 0}}]}]}";
  unsigned char bytes[78] = {0};
  float positions[18];
  for (int i = 0; i < 18; ++i) positions[i] = (float)(i * i % 7);
  memcpy(bytes, positions, sizeof positions);
  memcpy(bytes + 72, (unsigned char[]){5, 4, 3, 0, 2, 1}, 6);
  warning_count = 0;
  sn_set_log(keep_warning, NULL);
  sn_gltf gltf = parse_made(text, bytes, sizeof bytes);
  sn_set_log(NULL, NULL);
  assert_int_equal(warning_count, 1);
  assert_non_null(strstr(last_warning, "mesh \"mesh0\": 2 primitives"));
  static const uint32_t triangles[] = {0,  1,  2,  1,  3,  2,  2, 3, 4, 3, 5, 4,  // strip
                                       7,  8,  6,  8,  9,  6,                     // fan
                                       15, 14, 13, 10, 12, 11,                    // indices
                                       16, 17, 18, 19, 20, 21};                   // none
  static const char* const groups[] = {"primitive0", "primitive2", "primitive3", "primitive5"};
  const sn_mesh* mesh = &gltf.meshes[0].mesh;
  assert_true(sn_mesh_is_valid(mesh));
  assert_int_equal(mesh->vertex_count, 22);
  assert_int_equal(mesh->triangle_count, 10);
  assert_memory_equal(mesh->triangles, triangles, sizeof triangles);
  assert_int_equal(mesh->group_count, 4);
  for (int g = 0; g < 4; ++g) assert_string_equal(mesh->groups[g].name, groups[g]);
  assert_true(mesh->positions[3 * 9 + 2] == (double)positions[11]);

  // Written again, the groups are primitives again.
  sn_error err = {0};
  assert_int_equal(sn_gltf_save(scratch_path("joined.glb"), &gltf, &err), SN_OK);
  sn_gltf again = load_well(scratch_path("joined.glb"));
  assert_memory_equal(again.meshes[0].mesh.triangles, triangles, sizeof triangles);
  assert_int_equal(again.meshes[0].mesh.group_count, 4);
  assert_int_equal(again.meshes[0].mesh.groups[3].triangles[0], 8);
  sn_gltf_destroy(&again);
  sn_gltf_destroy(&gltf);
}

static const char dressed_text[] = HEAD
    "\"buffers\": [{\"byteLength\": 60}], \"bufferViews\": [{\"buffer\": 0, \"byteLength\": 36},"
    "{\"buffer\": 0, \"byteOffset\": 36, \"byteLength\": 24}],"
    "\"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": "
    "\"VEC3\"},"
    "{\"bufferView\": 1, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC2\"}],"
    "\"materials\": [{\"name\": \"skin\", \"pbrMetallicRoughness\": {\"baseColorFactor\": [1, 0.5, "
    "0.25, 1]}},"
    "{}],"
    "\"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"material\": 1},"
    "{\"attributes\": {\"POSITION\": 0, \"TEXCOORD_0\": 1}, \"material\": 0}]}],"
    "\"nodes\": [{\"name\": \"a\", \"mesh\": 0}, {\"name\": \"b\", \"mesh\": 0}]}";

static void assert_dressed(const sn_mesh* mesh, const sn_mesh_group* plain,
                           const sn_mesh_group* skin) {
  static const float uvs[12] = {0, 0, 0, 0, 0, 0, 0.5f, 0.75f, 1, 1, 0, 0};
  static const float color[4] = {1, 0.5f, 0.25f, 1};
  assert_true(sn_mesh_is_valid(mesh));
  assert_memory_equal(mesh->uvs, uvs, sizeof uvs);
  assert_string_equal(plain->material, "primitive0");
  assert_false(plain->has_color);
  assert_string_equal(skin->material, "skin");
  assert_true(skin->has_color);
  assert_memory_equal(skin->color, color, sizeof color);
}

static void texture_coordinates_and_materials_are_kept(void** unused) {
  (void)unused;
  static const float numbers[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.5f, 0.25f, 1, 0, 0, 1};
  sn_gltf gltf = parse_made(dressed_text, numbers, sizeof numbers);
  const sn_mesh* mesh = &gltf.meshes[0].mesh;
  assert_dressed(mesh, &mesh->groups[0], &mesh->groups[1]);

  sn_mesh joined;
  sn_error err = {0};
  if (sn_character_join(&gltf, &joined, &err) != SN_OK) fail_msg("%s", err.text);
  assert_int_equal(joined.group_count, 6);
  assert_string_equal(joined.groups[5].name, "b/skin");
  assert_dressed(&joined, &joined.groups[1], &joined.groups[2]);
  assert_memory_equal(joined.uvs + 12, joined.uvs, 12 * sizeof(float));
  sn_mesh_destroy(&joined);
  sn_gltf_destroy(&gltf);
}

static void a_mesh_without_triangles_is_empty_and_not_written(void** unused) {
  (void)unused;
  static const char text[] = HEAD
      "\"accessors\": [{\"componentType\": 5126, \"type\": \"VEC3\", \"count\": 2}],"
      "\"meshes\": [{\"primitives\": [{\"mode\": 0, \"attributes\": {\"POSITION\": 0}}]}],"
      "\"nodes\": [{\"mesh\": 0}], \"animations\": [{\"channels\": [{\"sampler\": 0, \"target\": "
      "{\"node\": 0, \"path\": \"weights\"}}, {\"sampler\": 0, \"target\": {\"path\": "
      "\"rotation\"}}], \"samplers\": []}]}";
  sn_gltf gltf = parse_made(text, NULL, 0);
  assert_true(gltf.meshes[0].mesh.vertex_count == 0 && gltf.meshes[0].mesh.triangle_count == 0);
  assert_int_equal(gltf.clips[0].channel_count, 0);
  sn_error err = {0};
  assert_int_equal(sn_gltf_save(scratch_path("empty.glb"), &gltf, &err), SN_OK);
  sn_gltf again = load_well(scratch_path("empty.glb"));
  assert_true(again.mesh_count == 0 && again.clip_count == 0 && again.nodes[0].mesh == -1);
  sn_gltf_destroy(&again);
  sn_gltf_destroy(&gltf);
}

// Buffers

static void buffers_may_be_text_or_files_below(void** unused) {
  (void)unused;
  const float values[3] = {1.5f, -2.0f, 0.25f};
  assert_int_equal(mkdir(scratch_path("a b"), 0777), 0);
  scratch_write("a b/x.bin", values, sizeof values);
  static const char* const uris[] = {"data:application/octet-stream;base64,AADAPwAAAMAAAIA+",
                                     "a%20b/x.bin", "./a b/x.bin",
                                     "data:application/gltf-buffer;base64,AADAPwAAAMAAAIA+AAA="};
  for (size_t i = 0; i < sizeof uris / sizeof uris[0]; ++i) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "\xEF\xBB\xBF" HEAD
        "\"buffers\": [{\"byteLength\": 12, \"uri\": \"%s\"}], \"bufferViews\": [{\"buffer\": "
        "0, \"byteLength\": 12}], \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, "
        "\"type\": \"SCALAR\", \"count\": 3}, {\"componentType\": 5126, \"type\": \"VEC3\", "
        "\"count\": 3}], \"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 1, "
        "\"_M\": 0, \"_PAIRS\": 1}}]}]}",
        uris[i]);
    scratch_write("text.gltf", text, strlen(text));
    sn_gltf gltf = load_well(scratch_path("text.gltf"));
    assert_int_equal(gltf.meshes[0].map_count, 1);
    assert_string_equal(gltf.meshes[0].maps[0].name, "_M");
    assert_memory_equal(gltf.meshes[0].maps[0].values, values, sizeof values);
    sn_gltf_destroy(&gltf);
  }
}

static void what_a_program_gets_wrong_is_not_written(void** unused) {
  (void)unused;
  static tube t;
  sn_error err = {0};
  const char* path = scratch_path("wrong.glb");
#define ASSERT_WRONG(change, part)                                     \
  do {                                                                 \
    make_tube(&t);                                                     \
    change;                                                            \
    assert_int_equal(sn_gltf_save(path, &t.gltf, &err), SN_ERR_USAGE); \
    assert_message_has(&err, part);                                    \
  } while (0)
  ASSERT_WRONG(t.triangles[5] = 20, "meshes[0]: corner 5 is vertex 20");
  ASSERT_WRONG(t.positions[4] = 1e39, "meshes[0]: a position");
  ASSERT_WRONG(t.positions[4] = NAN, "meshes[0]: a position");
  ASSERT_WRONG(t.weights[7] = -1, "meshes[0]: weight 7 is -1");
  ASSERT_WRONG(t.map.name = "STIFF", "map 0 is called \"STIFF\"");
  ASSERT_WRONG(t.map.name = "_\xff", "not UTF-8");
  ASSERT_WRONG(t.heights[3] = INFINITY, "map \"_SINEW_STIFFNESS\"");
  ASSERT_WRONG(t.joints[4 + 5 * 5] = 2, "nodes[0]: its mesh uses joint 2, its skin has 2");
  ASSERT_WRONG(t.skin_joints[1] = 4, "skins[0]: joint 1 is node 4");
  ASSERT_WRONG(t.skin.joint_count = 0, "skins[0]: 0 joints");
  ASSERT_WRONG(t.inverse_bind[3] = NAN, "skins[0]: an inverse bind");
  ASSERT_WRONG(t.nodes[1].parent = 2, "nodes: one is its own ancestor");
  ASSERT_WRONG(t.nodes[1].parent = 4, "nodes[1]: its parent");
  ASSERT_WRONG(t.nodes[2].rotate.w = 0, "nodes[2]: its transform");
  ASSERT_WRONG(t.nodes[2].name = "\xff", "not UTF-8");
  ASSERT_WRONG(t.channels[1].node = 3, "clips[0].channels[1]: node 3");
  ASSERT_WRONG(t.times[1] = 0, "clips[0].channels[0]: no keys, or times");
  ASSERT_WRONG(t.turns[1] = NAN, "clips[0].channels[0]: a value");
#undef ASSERT_WRONG
  assert_int_equal(scratch_file_count(), 0);
  assert_int_equal(sn_memory_used(), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch_folder, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(skinning_agrees_with_an_independent_evaluator),
      TEST(what_is_written_reads_back_bit_for_bit),
      TEST(the_tube_is_what_was_made),
      TEST(weights_are_made_to_sum_to_one),
      TEST(every_entry_has_a_name_of_its_own),
      TEST(parents_come_first),
      TEST(primitives_of_all_kinds_are_joined),
      TEST(texture_coordinates_and_materials_are_kept),
      TEST(a_mesh_without_triangles_is_empty_and_not_written),
      TEST(buffers_may_be_text_or_files_below),
      TEST(what_a_program_gets_wrong_is_not_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
