// Characters of other formats: small files whose poses are known, files of others with reference poses,
// damaged files.
#include "io/damage.h"
#include "io/import_load.h"
#include "math/affine.h"

static const double inch = 0.0254;

static const char* asset(const char* name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/rigged/%s", SN_TEST_ASSETS, name);
  return path;
}

static double volume_of(const sn_mesh* mesh) {
  double volume = 0;
  for (size_t t = 0; t < mesh->triangle_count; ++t) {
    const uint32_t* c = mesh->triangles + 3 * t;
    sn_vec3 a = sn_load3(mesh->positions + 3 * (size_t)c[0]);
    sn_vec3 b = sn_load3(mesh->positions + 3 * (size_t)c[1]);
    sn_vec3 d = sn_load3(mesh->positions + 3 * (size_t)c[2]);
    volume += sn_dot(a, sn_cross(b, d)) / 6;
  }
  return volume;
}

// Edges that do not have a partner the other way round.
static size_t open_edges(const sn_mesh* mesh) {
  size_t open = 0, corner_count = 3 * (size_t)mesh->triangle_count;
  for (size_t i = 0; i < corner_count; ++i) {
    uint32_t a = mesh->triangles[i], b = mesh->triangles[i % 3 == 2 ? i - 2 : i + 1];
    int partners = 0;
    for (size_t k = 0; k < corner_count; ++k) {
      partners += mesh->triangles[k] == b && mesh->triangles[k % 3 == 2 ? k - 2 : k + 1] == a;
    }
    open += partners != 1;
  }
  return open;
}

// FBX

static void an_fbx_file_is_converted_to_metres_and_y_up(void** unused) {
  (void)unused;
  sn_gltf gltf = load_well(scratch_write("made.FBX", made_fbx, sizeof made_fbx - 1));
  assert_int_equal(gltf.node_count, 3);
  assert_int_equal(gltf.mesh_count, 1);
  assert_int_equal(gltf.skin_count, 1);
  assert_int_equal(gltf.clip_count, 1);
  const sn_mesh* mesh = &gltf.meshes[0].mesh;
  assert_int_equal(mesh->vertex_count, 5);
  assert_int_equal(mesh->face_count, 5);
  assert_int_equal(mesh->triangle_count, 6);
  assert_int_equal(mesh->group_count, 2);
  assert_string_equal(mesh->groups[0].name, "Side");
  assert_int_equal(mesh->groups[0].triangle_count, 4);
  assert_string_equal(mesh->groups[1].name, "Floor");
  assert_at(mesh->positions, -inch, 0, inch, 1e-12);
  assert_at(mesh->positions + 12, 0, 3 * inch, 0, 1e-12);
  assert_true(fabs(volume_of(mesh) - 4 * inch * inch * inch) < 1e-12);
  uint32_t upper = find_node(&gltf, "Upper");
  assert_at(&gltf.nodes[upper].translate.x, 0, 2 * inch, 0, 1e-12);
  assert_int_equal(gltf.nodes[upper].parent, find_node(&gltf, "Lower"));
  sn_gltf_destroy(&gltf);
}

// The first key is at 1 s in the file.
static void a_clip_of_an_fbx_file_begins_with_its_first_key(void** unused) {
  (void)unused;
  sn_gltf gltf = load_well(scratch_write("made.fbx", made_fbx, sizeof made_fbx - 1));
  assert_string_equal(gltf.clips[0].name, "Turn");
  assert_true(fabs(gltf.clips[0].end - 1) < 1e-6);
  for (int i = 0; i <= 2; ++i) {
    double* positions = pose_at(&gltf, 0, 0.5 * i);
    assert_at(positions, -inch, -inch, 0, 1e-7);
    assert_at(positions + 12, 0, 0, (3 + i) * inch, 1e-7);
    free(positions);
  }
  double* rest = pose_at(&gltf, -1, 0);
  assert_at(rest + 12, 0, 3 * inch, 0, 1e-12);
  free(rest);
  sn_gltf_destroy(&gltf);
}

// A file of the other hand is seen in a mirror: the outside stays outside.
static void a_left_handed_fbx_file_is_mirrored(void** unused) {
  (void)unused;
  char* text = with_text(made_fbx, "\"CoordAxisSign\", \"int\", \"Integer\", \"\",1",
                         "\"CoordAxisSign\", \"int\", \"Integer\", \"\",-1");
  sn_gltf gltf = load_well(scratch_write("left.fbx", text, strlen(text)));
  free(text);
  const sn_mesh* mesh = &gltf.meshes[0].mesh;
  assert_at(mesh->positions, inch, 0, inch, 1e-12);
  assert_true(volume_of(mesh) > 0);
  double* positions = pose_at(&gltf, 0, 1);
  assert_at(positions, inch, -inch, 0, 1e-7);
  assert_at(positions + 12, 0, 0, 5 * inch, 1e-7);
  free(positions);
  sn_gltf_destroy(&gltf);
}

static void assert_change_refused(const char* old, const char* new, const char* part) {
  char* text = with_text(made_fbx, old, new);
  assert_refused("bad.fbx", text, part);
  free(text);
}

static void mistakes_in_fbx_files_are_named(void** unused) {
  (void)unused;
  assert_change_refused("FBXVersion: 7400", "FBXVersion: 6100", "6100");
  assert_change_refused("2,0,0,2,2,0", "2,0,nan,2,2,0", "Vertices");
  assert_change_refused("Vertices: *15", "Vertices: *14", "Vertices");
  assert_change_refused("Vertices: *15", "Vertices: *150000", "as many numbers as said");
  assert_change_refused("0,3,2,-2", "0,3,7,-2", "PolygonVertexIndex");
  assert_change_refused("3,0,-5", "3,0,4", "without end");
  assert_change_refused("a: 0,1,2,3", "a: 0,1,2,9", "vertex that is not there");
  assert_change_refused("1,1,1,0.25", "1,1,1,-0.25", "weight");
  assert_change_refused("\"\",2.54", "\"\",0", "unit");
  assert_change_refused("\"UpAxis\", \"int\", \"Integer\", \"\",2",
                        "\"UpAxis\", \"int\", \"Integer\", \"\",0", "coincide");
  assert_change_refused("46186158000,92372316000", "92372316000,46186158000", "ascend");
  assert_change_refused("C: \"OO\",30,0", "C: \"OO\",30,40", "ancestors");
  assert_change_refused("Objects", "Subjects", "Objects");
  assert_refused("bad.fbx", "", "FBXVersion");
  assert_refused("bad.fbx", "Kaydara FBX Binary", "line 1");
}

static void vertices_without_weights_follow_the_node_of_their_mesh(void** unused) {
  (void)unused;
  char* text = with_text(made_fbx, "1,1,1,0.25", "1,1,1,0.00");
  sn_gltf gltf = load_well(scratch_write("loose.fbx", text, strlen(text)));
  free(text);
  assert_int_equal(gltf.skins[0].joint_count, 3);
  assert_int_equal(gltf.skins[0].joints[2], find_node(&gltf, "Body"));
  double* positions = pose_at(&gltf, 0, 1);
  assert_at(positions + 9, -inch, 0, -inch, 1e-9);
  free(positions);
  sn_gltf_destroy(&gltf);
}

// Collada

static void a_collada_file_is_converted_to_metres_and_y_up(void** unused) {
  (void)unused;
  sn_gltf gltf = load_well(scratch_write("made.dae", made_dae, sizeof made_dae - 1));
  assert_int_equal(gltf.mesh_count, 1);
  assert_int_equal(gltf.skin_count, 1);
  assert_int_equal(gltf.clip_count, 1);
  assert_int_equal(gltf.meshes[0].mesh.vertex_count, 4);
  assert_int_equal(gltf.meshes[0].mesh.triangle_count, 2);
  find_node(&gltf, "Bone");
  assert_true(fabs(gltf.clips[0].end - 1) < 1e-6);
  for (int i = 0; i <= 2; ++i) {
    double* positions = pose_at(&gltf, 0, 0.5 * i);
    assert_at(positions, 0, 0.5 * i * inch, 0, 1e-7);
    assert_at(positions + 6, 2 * inch, 0.5 * i * inch, -2 * inch, 1e-7);
    free(positions);
  }
  sn_gltf_destroy(&gltf);
  assert_refused("bad.dae", "<COLLADA", "line 1");
  assert_refused("bad.dae", "", "line 1");
  assert_refused("bad.dae", "<COLLADA></COLLADO>", "</COLLADA>");
  assert_refused("bad.dae", "<html/>", "<COLLADA>");
  static const char* const changes[][3] = {
      {"0 1 2 0 2 3", "0 1 2 0 2 4", "line 8"},
      {"<p>0 1 2 0 2 3", "<p>0 1 2 0 2 x", "numbers"},
      {"count=\"4\" stride=\"3\"", "count=\"5\" stride=\"3\"", "as many as the array has"},
      {"0 0 0 0 0 0 0 0</v>", "0 0 0 0 0 0 1 0</v>", "joint or weight"},
      {"0 0 0 0 0 0 0 0</v>", "0 0 0 0 0 0</v>", "vcount"},
      {">bone</Name_array>", ">wing</Name_array>", "\"wing\""},
      {">2 3</float_array>", ">3 2</float_array>", "ascend"},
      {"meter=\"0.0254\"", "meter=\"-1\"", "unit"},
      {"url=\"#c\"", "url=\"#x\"", "reference to nothing"}};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
    char* text = with_text(made_dae, changes[i][0], changes[i][1]);
    assert_refused("bad.dae", text, changes[i][2]);
    free(text);
  }
}

// BVH

static void a_bvh_file_has_channels_in_any_order(void** unused) {
  (void)unused;
  sn_gltf gltf = load_well(scratch_write("wave.bvh", made_bvh, sizeof made_bvh - 1));
  assert_int_equal(gltf.node_count, 3);
  assert_int_equal(gltf.mesh_count, 0);
  assert_string_equal(gltf.nodes[0].name, "Big Hips");
  assert_string_equal(gltf.nodes[2].name, "Arm_end");
  assert_string_equal(gltf.clips[0].name, "wave");
  assert_true(gltf.clips[0].end == 0.25);
  double world[48];
  sn_gltf_pose(&gltf, 0, 0.25, world);
  assert_at(world + 12, 10, 21, 30, 1e-5);
  assert_at(world + 28, 9, 21, 30, 1e-5);
  assert_at(world + 44, 9, 21, 30.5, 1e-5);
  sn_gltf_pose(&gltf, -1, 0, world);
  assert_at(world + 44, 1, 3.5, 3, 1e-12);
  sn_gltf_destroy(&gltf);
}

static void mistakes_in_bvh_files_have_lines(void** unused) {
  (void)unused;
  static const char* const changes[][3] = {
      {"HIERARCHY", "HIERACHY", "line 1: found 'HIERACHY'"},
      {"ROOT Big Hips {", "ROOT {", "line 2"},
      {"OFFSET 1 2 3", "OFFSET 1 2 x", "line 3: found 'x'"},
      {"CHANNELS 6", "CHANNELS 7", "line 4: found '7'"},
      {"Zrotation Xposition", "Zrotation Zrotation", "line 4: found 'Zrotation'"},
      {"Yrotation Zrotation\n", "Yrotation Wrotation\n", "line 8: found 'Wrotation'"},
      {"End Site", "End Of", "line 9: found 'Of'"},
      {"    }\n  }\n}\n", "    }\n  }\n", "line 14: found 'MOTION'"},
      {"Frames: 2", "Frames: 3", "found the end of the file"},
      {"Frames: 2", "Frames: 1", "line 19: found '90'"},
      {"Frames: 2", "Frames: 0", "line 16: found '0'"},
      {"Frames: 2", "Frames: 2000000", "line 16"},
      {"Time: .25", "Time: 0", "line 17"},
      {"Time: .25", "Time: nan", "line 17: found 'nan'"},
      {"90 10 0 30 0 21", "90 10 0 1e99 0 21", "line 19: found '1e99'"},
      {"90 10 0 30 0 21", "90 10 inf 30 0 21", "line 19: found 'inf'"}};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
    char* text = with_text(made_bvh, changes[i][0], changes[i][1]);
    assert_refused("bad.bvh", text, changes[i][2]);
    free(text);
  }
  assert_refused("bad.bvh", "", "HIERARCHY");
}

// Endings, damage, memory

static void other_endings_are_refused(void** unused) {
  (void)unused;
  assert_refused("scene.blend", "BLENDER", "\".blend\"");
  assert_refused("scene", "x", ".bvh");
  sn_gltf gltf;
  sn_error err = {0};
  assert_int_equal(sn_character_load(scratch_path("none.fbx"), &gltf, &err), SN_ERR_INPUT);
  assert_message_has(&err, "none.fbx");
}

static void load_anyhow(const char* name, const char* bytes, size_t size) {
  size_t used = sn_memory_used();
  sn_gltf gltf;
  sn_error err = {0};
  const char* path = scratch_write(name, bytes, size);
  sn_status status = sn_character_load(path, &gltf, &err);
  // To overwrite a file makes some systems wait for the disk.
  remove(path);
  if (status == SN_OK) {
    for (uint32_t m = 0; m < gltf.mesh_count; ++m) {
      const sn_mesh* mesh = &gltf.meshes[m].mesh;
      assert_true(mesh->triangle_count == 0 || sn_mesh_is_valid(mesh));
    }
    assert_int_equal(sn_gltf_check(&gltf, &err), SN_OK);
    for (uint32_t c = 0; c < gltf.clip_count; ++c) free(pose_at(&gltf, (int32_t)c, 0.3));
    sn_gltf_destroy(&gltf);
  } else {
    assert_int_equal(status, SN_ERR_INPUT);
    assert_message_has(&err, name);
    assert_message_has(&err, "expected");
    assert_null(gltf.storage);
  }
  assert_int_equal(sn_memory_used(), used);
}

static void survive(const char* name, const char* bytes, size_t size, int mutant_count) {
  for (size_t i = 0; i < 200; ++i) load_anyhow(name, bytes, size * i / 200);
  uint64_t random = 7;
  char* mutant = malloc(size + 8);
  assert_non_null(mutant);
  for (int i = 0; i < mutant_count; ++i) {
    memcpy(mutant, bytes, size);
    load_anyhow(name, mutant, damage(mutant, size, &random));
  }
  free(mutant);
}

static void damaged_texts_do_no_harm(void** unused) {
  (void)unused;
  survive("damaged.bvh", made_bvh, sizeof made_bvh - 1, 2000);
  survive("damaged.fbx", made_fbx, sizeof made_fbx - 1, 2000);
  survive("damaged.dae", made_dae, sizeof made_dae - 1, 2000);
}

static void damaged_files_do_no_harm(void** unused) {
  (void)unused;
  skip_without_assets();
  static const char* const names[] = {"ufbx_skin/max_transformed_skin_7500_binary.fbx",
                                      "ufbx_skin/max_transformed_skin_7500_ascii.fbx"};
  for (int i = 0; i < 2; ++i) {
    size_t size;
    char* bytes = read_everything(asset(names[i]), &size);
    survive("damaged.fbx", bytes, size, 500);
    free(bytes);
  }
}

static const char* path_to_load;

static sn_status load_once(sn_error* err) {
  sn_gltf gltf;
  sn_status status = sn_character_load(path_to_load, &gltf, err);
  sn_gltf_destroy(&gltf);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  path_to_load = scratch_write("made.fbx", made_fbx, sizeof made_fbx - 1);
  assert_survives_every_failing_request(load_once);
  path_to_load = scratch_write("made.dae", made_dae, sizeof made_dae - 1);
  assert_survives_every_failing_request(load_once);
  path_to_load = scratch_write("made.bvh", made_bvh, sizeof made_bvh - 1);
  assert_survives_every_failing_request(load_once);
}

// Files of others

static void check_animal(const char* name, uint32_t vertices, uint32_t triangles, uint32_t groups,
                         uint32_t joints, uint32_t clips, const char* clip, double seconds) {
  sn_gltf gltf = load_well(asset(name));
  assert_int_equal(gltf.mesh_count, 1);
  assert_int_equal(gltf.skin_count, 1);
  assert_int_equal(gltf.skins[0].joint_count, joints);
  assert_int_equal(gltf.clip_count, clips);
  assert_string_equal(gltf.clips[0].name, clip);
  assert_true(fabs(gltf.clips[0].end - seconds) < 1e-5);
  sn_mesh joined;
  sn_error err = {0};
  if (sn_character_join(&gltf, &joined, &err) != SN_OK) fail_msg("%s", err.text);
  assert_int_equal(joined.vertex_count, vertices);
  assert_int_equal(joined.triangle_count, triangles);
  // The node's own group, and the materials.
  assert_int_equal(joined.group_count, groups + 1);
  assert_int_equal(open_edges(&joined), 0);
  assert_true(volume_of(&joined) > 0);
  for (uint32_t c = 0; c < gltf.clip_count; ++c) {
    double* positions = pose_at(&gltf, (int32_t)c, 0.5 * gltf.clips[c].end);
    for (size_t i = 0; i < 3 * (size_t)vertices; ++i) assert_true(fabs(positions[i]) < 100);
    free(positions);
  }
  sn_mesh_destroy(&joined);
  sn_gltf_destroy(&gltf);
}

static void animals_are_whole(void** unused) {
  (void)unused;
  skip_without_assets();
  check_animal("quaternius_cow.fbx", 400, 796, 3, 28, 6, "Armature|Death", 1.25);
  check_animal("quaternius_slime.fbx", 726, 1440, 2, 12, 4, "Armature|Slime_Attack", 0.625);
}

// Vertices of our pose that are nearest to those of the reference, which is in centimetres and z up.
static void check_pose(const sn_gltf* gltf, int frame) {
  char name[64];
  snprintf(name, sizeof name, "ufbx_skin/max_transformed_skin_%d.obj", frame);
  sn_mesh reference;
  sn_error err = {0};
  if (sn_mesh_load(asset(name), &reference, &err) != SN_OK) fail_msg("%s", err.text);
  double* positions = pose_at(gltf, 0, frame / 30.0);
  uint32_t count = gltf->meshes[0].mesh.vertex_count;
  assert_int_equal(reference.vertex_count, count);
  sn_box box = sn_box_empty();
  for (size_t r = 0; r < count; ++r) box = sn_box_grow(box, sn_load3(reference.positions + 3 * r));
  double size = 0.01 * sn_box_size(box), worst = 0;
  uint8_t* taken = calloc(count, 1);
  assert_non_null(taken);
  for (size_t r = 0; r < count; ++r) {
    const double* p = reference.positions + 3 * r;
    sn_vec3 wanted = sn_scale(0.01, sn_v3(p[0], p[2], -p[1]));
    size_t nearest = 0;
    for (size_t v = 1; v < count; ++v) {
      if (sn_distance(sn_load3(positions + 3 * v), wanted) <
          sn_distance(sn_load3(positions + 3 * nearest), wanted)) {
        nearest = v;
      }
    }
    // Each vertex belongs to one of the reference.
    assert_int_equal(taken[nearest], 0);
    taken[nearest] = 1;
    worst = fmax(worst, sn_distance(sn_load3(positions + 3 * nearest), wanted));
  }
  print_message("frame %d: %.2g of the size\n", frame, worst / size);
  assert_true(worst < 1e-5 * size);
  free(taken);
  free(positions);
  sn_mesh_destroy(&reference);
}

// Splines of angles, a geometric offset, a skin: against the program that wrote the file.
static void poses_between_keys_are_those_of_3ds_max(void** unused) {
  (void)unused;
  skip_without_assets();
  static const char* const kinds[] = {"ascii", "binary"};
  for (int i = 0; i < 2; ++i) {
    char name[64];
    snprintf(name, sizeof name, "ufbx_skin/max_transformed_skin_7500_%s.fbx", kinds[i]);
    sn_gltf gltf = load_well(asset(name));
    check_pose(&gltf, 5);
    check_pose(&gltf, 15);
    sn_gltf_destroy(&gltf);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_fbx_file_is_converted_to_metres_and_y_up),
      cmocka_unit_test(a_clip_of_an_fbx_file_begins_with_its_first_key),
      cmocka_unit_test(a_left_handed_fbx_file_is_mirrored),
      cmocka_unit_test(mistakes_in_fbx_files_are_named),
      cmocka_unit_test(vertices_without_weights_follow_the_node_of_their_mesh),
      cmocka_unit_test(a_collada_file_is_converted_to_metres_and_y_up),
      cmocka_unit_test(a_bvh_file_has_channels_in_any_order),
      cmocka_unit_test(mistakes_in_bvh_files_have_lines),
      cmocka_unit_test(other_endings_are_refused),
      cmocka_unit_test(damaged_texts_do_no_harm),
      cmocka_unit_test(damaged_files_do_no_harm),
      cmocka_unit_test(failing_allocations_are_survived),
      cmocka_unit_test(animals_are_whole),
      cmocka_unit_test(poses_between_keys_are_those_of_3ds_max),
  };
  return cmocka_run_group_tests(tests, make_scratch_folder, remove_scratch_folder);
}
