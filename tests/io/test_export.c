// Exports of runs that are made here: a scene, a surface and a cache, without any simulation.
#include <jansson.h>
#include <math.h>

#include "geometry/mesh_arrays.h"
#include "io/export_glb.h"
#include "io/scratch.h"
#include "sinew/gltf.h"
#include "sinew/io.h"

#define VERTICES 5

// A pyramid: a quad with a material and four triangles with another, of which two share a group. The
// texture has a seam at the tip.
static const char pyramid[] =
    "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 0.5 1 0.5\n"
    "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 0.25 0.5\nvt 0.75 0.5\n"
    "g base\nusemtl floor\nf 1/1 2/2 3/3 4/4\n"
    "g\nusemtl wall\nf 2/2 1/1 5/5\nf 3/3 2/2 5/5\n"
    "g two sides\nf 4/4 3/3 5/6\nf 1/1 4/4 5/6\n";

static float coordinate(uint32_t frame, size_t i) {
  return 0.125f * (float)i + 0.37f * (float)frame - 0.001f * (float)(i * frame);
}

static void write_cache(const char* path, uint32_t frames) {
  sn_pc2* cache;
  sn_error err = {0};
  float positions[3 * VERTICES];
  assert_int_equal(sn_pc2_open(path, VERTICES, 1, 0, &cache, &err), SN_OK);
  for (uint32_t k = 0; k < frames; ++k) {
    for (size_t i = 0; i < 3 * VERTICES; ++i) positions[i] = coordinate(k, i);
    assert_int_equal(sn_pc2_append(cache, positions, &err), SN_OK);
  }
  sn_pc2_close(cache);
}

// @param more keys before "bodies"
static void write_scene(const char* more, const char* bodies, uint32_t last) {
  char text[2048];
  snprintf(text, sizeof text, "{%s \"fps\": 25, \"frames\": [1, %u], \"bodies\": [%s]}", more, last,
           bodies);
  scratch_write("run/scene.json", text, strlen(text));
}

static void write_run(uint32_t frames, uint32_t last) {
  char body[512];
  mkdir(scratch_path("run"), 0777);
  scratch_write("pyramid.obj", pyramid, sizeof pyramid - 1);
  scratch_write("run/pyramid.obj", pyramid, sizeof pyramid - 1);
  snprintf(body, sizeof body, "{\"name\": \"pyramid\", \"surface\": \"%s\"}",
           scratch_path("pyramid.obj"));
  write_scene("\"unit\": 1, \"up\": \"y\",", body, last);
  write_cache(scratch_path("run/pyramid.pc2"), frames);
}

static char messages[4096];

static void keep_message(void* user, sn_log_level level, const char* text) {
  (void)user;
  size_t length = strlen(messages);
  snprintf(messages + length, sizeof messages - length, "%s%s\n",
           level == SN_LOG_WARNING ? "warning: " : "", text);
}

static int start(void** unused) {
  messages[0] = 0;
  sn_set_log(keep_message, NULL);
  return make_scratch_folder(unused);
}

static int stop(void** unused) {
  sn_set_log(NULL, NULL);
  return remove_scratch_folder(unused);
}

static sn_export_opts options(const char* format) {
  static char folder[256];
  snprintf(folder, sizeof folder, "%s", scratch_path("run"));
  return (sn_export_opts){.folder = folder, .format = format};
}

static void export_well(const sn_export_opts* opts) {
  sn_error err = {0};
  if (sn_export(opts, &err) != SN_OK) fail_msg("%s", err.text);
  assert_int_equal(sn_memory_used(), 0);
}

static void assert_refused(const sn_export_opts* opts, sn_status status, const char* part) {
  sn_error err = {0};
  sn_status found = sn_export(opts, &err);
  if (found != status) fail_msg("status %d (%s), expected '%s'", found, err.text, part);
  assert_message_has(&err, part);
  assert_int_equal(sn_memory_used(), 0);
}

static uint32_t big(const char* bytes) {
  const unsigned char* b = (const unsigned char*)bytes;
  return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static float big_float(const char* bytes) {
  uint32_t bits = big(bytes);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void mdd_is_big_endian_with_times(void** unused) {
  (void)unused;
  write_run(3, 3);
  sn_export_opts opts = options("mdd");
  export_well(&opts);
  size_t size;
  char* bytes = read_everything(scratch_path("run/pyramid.mdd"), &size);
  assert_int_equal(size, 8 + 4 * 3 + 3 * 12 * VERTICES);
  assert_int_equal(big(bytes), 3);
  assert_int_equal(big(bytes + 4), VERTICES);
  for (uint32_t k = 0; k < 3; ++k) {
    assert_true(big_float(bytes + 8 + 4 * k) == (float)(k / 25.0));
    for (size_t i = 0; i < 3 * VERTICES; ++i) {
      assert_true(big_float(bytes + 20 + 12 * VERTICES * k + 4 * i) == coordinate(k, i));
    }
  }
  free(bytes);
}

static void pc2_takes_frames_axes_and_scale(void** unused) {
  (void)unused;
  write_run(5, 5);
  sn_export_opts opts = options("pc2");
  assert_refused(&opts, SN_ERR_USAGE, "PC2 already");
  opts.out = scratch_path("turned.pc2");
  opts.first_frame = 2;
  opts.last_frame = 4;
  opts.axes = SN_AXES_Z_UP;
  opts.scale = 100;
  export_well(&opts);
  sn_pc2_info info;
  float turned[3 * VERTICES];
  assert_int_equal(sn_pc2_read_info(opts.out, &info, NULL), SN_OK);
  assert_int_equal(info.frame_count, 3);
  assert_int_equal((int)info.first_frame, 2);
  assert_int_equal(sn_pc2_read_frame(opts.out, 2, turned, NULL), SN_OK);
  for (size_t v = 0; v < VERTICES; ++v) {
    assert_true(turned[3 * v] == (float)(100.0 * (double)coordinate(3, 3 * v)));
    assert_true(turned[3 * v + 1] == (float)(-100.0 * (double)coordinate(3, 3 * v + 2)));
    assert_true(turned[3 * v + 2] == (float)(100.0 * (double)coordinate(3, 3 * v + 1)));
  }
}

static const sn_mesh_group* group_of(const sn_mesh* mesh, const char* name) {
  for (uint32_t g = 0; g < mesh->group_count; ++g) {
    if (strcmp(mesh->groups[g].name, name) == 0) return &mesh->groups[g];
  }
  fail_msg("no group %s", name);
  return NULL;
}

static void obj_keeps_polygons_groups_materials_and_uvs(void** unused) {
  (void)unused;
  write_run(2, 2);
  sn_export_opts opts = options("obj");
  export_well(&opts);
  assert_non_null(strstr(messages, "pyramid.obj"));
  sn_mesh mesh, input;
  assert_int_equal(sn_mesh_load(scratch_path("pyramid.obj"), &input, NULL), SN_OK);
  assert_int_equal(sn_mesh_load(scratch_path("run/obj/pyramid_0002.obj"), &mesh, NULL), SN_OK);
  assert_true(sn_mesh_is_valid(&mesh));
  assert_int_equal(mesh.face_count, 5);
  assert_memory_equal(mesh.face_vertices, input.face_vertices, 16 * sizeof(uint32_t));
  assert_memory_equal(mesh.uvs, input.uvs, 32 * sizeof(float));
  for (size_t i = 0; i < 3 * VERTICES; ++i) {
    assert_true((float)mesh.positions[i] == coordinate(1, i));
  }
  assert_int_equal(mesh.group_count, 5);
  assert_int_equal(group_of(&mesh, "base")->triangle_count, 2);
  assert_null(group_of(&mesh, "base")->material);
  assert_string_equal(group_of(&mesh, "floor")->material, "floor");
  assert_int_equal(group_of(&mesh, "wall")->triangle_count, 4);
  assert_int_equal(group_of(&mesh, "two")->triangle_count, 2);
  sn_mesh_destroy(&mesh);
  sn_mesh_destroy(&input);
}

static void ply_keeps_uvs_of_vertices_or_of_faces(void** unused) {
  (void)unused;
  write_run(1, 1);
  sn_export_opts opts = options("ply");
  export_well(&opts);
  sn_mesh mesh;
  size_t size;
  char* bytes = read_everything(scratch_path("run/ply/pyramid_0001.ply"), &size);
  assert_non_null(strstr(bytes, "property list uchar float texcoord\n"));
  free(bytes);
  assert_int_equal(sn_mesh_load(scratch_path("run/ply/pyramid_0001.ply"), &mesh, NULL), SN_OK);
  assert_int_equal(mesh.face_count, 5);
  for (size_t i = 0; i < 3 * VERTICES; ++i) {
    assert_true((float)mesh.positions[i] == coordinate(0, i));
  }
  sn_mesh_destroy(&mesh);

  char smooth[sizeof pyramid];  // without the seam
  memcpy(smooth, pyramid, sizeof pyramid);
  for (char* at = smooth; (at = strstr(at, "5/6"));) at[2] = '5';
  scratch_write("pyramid.obj", smooth, strlen(smooth));
  export_well(&opts);
  assert_int_equal(sn_mesh_load(scratch_path("run/ply/pyramid_0001.ply"), &mesh, NULL), SN_OK);
  assert_non_null(mesh.uvs);
  const float tip[2] = {0.25f, 0.5f};
  assert_memory_equal(mesh.uvs + 2 * 6, tip, sizeof tip);  // third corner of the first triangle
  sn_mesh_destroy(&mesh);
}

static json_t* document_of(const char* path) {
  size_t size;
  char* bytes = read_everything(path, &size);
  uint32_t length = 0;
  for (int i = 3; i >= 0; --i) length = length << 8 | (unsigned char)bytes[12 + i];
  json_t* document = json_loadb(bytes + 20, length, 0, NULL);
  assert_non_null(document);
  free(bytes);
  return document;
}

static void glb_begins_with_the_first_frame(void** unused) {
  (void)unused;
  write_run(3, 3);
  sn_export_opts opts = options("glb");
  export_well(&opts);
  sn_gltf gltf;
  sn_error err = {0};
  if (sn_gltf_load(scratch_path("run/pyramid.glb"), &gltf, &err) != SN_OK) fail_msg("%s", err.text);
  assert_int_equal(gltf.mesh_count, 1);
  const sn_mesh* mesh = &gltf.meshes[0].mesh;
  assert_int_equal(mesh->triangle_count, 6);
  assert_int_equal(mesh->vertex_count, 4 + 6);  // the floor's, and the walls' with two tips
  assert_string_equal(mesh->groups[0].material, "floor");
  assert_string_equal(mesh->groups[1].material, "wall");
  for (size_t i = 0; i < 12; ++i) assert_true((float)mesh->positions[i] == coordinate(0, i));
  for (size_t i = 0; i < 3; ++i) {
    assert_true(mesh->positions[3 * 8 + i] == mesh->positions[3 * 9 + i]);
    assert_true((float)mesh->positions[3 * 8 + i] == coordinate(0, 12 + i));
  }
  const float corner[2] = {1.0f, 1.0f};
  assert_memory_equal(mesh->uvs + 2 * 2, corner, sizeof corner);
  sn_gltf_destroy(&gltf);

  json_t* document = document_of(scratch_path("run/pyramid.glb"));
  json_t* entry = json_array_get(json_object_get(document, "meshes"), 0);
  entry = json_array_get(json_object_get(entry, "primitives"), 1);
  assert_int_equal(json_array_size(json_object_get(entry, "targets")), 2);
  json_decref(document);
}

static void glb_of_a_scene_in_centimetres_is_in_metres(void** unused) {
  (void)unused;
  write_run(1, 1);
  char body[512];
  snprintf(body, sizeof body, "{\"name\": \"pyramid\", \"surface\": \"%s\"}",
           scratch_path("pyramid.obj"));
  write_scene("\"unit\": 0.01, \"up\": \"z\",", body, 1);
  sn_export_opts opts = options("glb");
  export_well(&opts);
  sn_gltf gltf;
  assert_int_equal(sn_gltf_load(scratch_path("run/pyramid.glb"), &gltf, NULL), SN_OK);
  assert_int_equal(gltf.clip_count, 0);
  const double* p = gltf.meshes[0].mesh.positions + 3;
  assert_true((float)p[0] == (float)(0.01 * (double)coordinate(0, 3)));
  assert_true((float)p[1] == (float)(0.01 * (double)coordinate(0, 5)));
  assert_true((float)p[2] == (float)(-0.01 * (double)coordinate(0, 4)));
  sn_gltf_destroy(&gltf);
}

static void chunks_cover_all_frames_and_share_their_ends(void** unused) {
  (void)unused;
  static const uint32_t counts[] = {1, 2, 64, 65, 66, 129, 130, 1000};
  static const uint32_t chunks[] = {1, 1, 1, 1, 2, 2, 3, 16};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    assert_int_equal(sn_glb_chunk_count(counts[i]), chunks[i]);
    uint32_t next = 0;
    for (uint32_t c = 0; c < chunks[i]; ++c) {
      sn_glb_chunk chunk = sn_glb_chunk_at(counts[i], c);
      assert_int_equal(chunk.first, next);
      assert_in_range(chunk.frame_count, counts[i] > 1 ? 2 : 1, SN_GLB_TARGETS + 1);
      next = chunk.first + chunk.frame_count - 1;
    }
    assert_int_equal(next, counts[i] - 1);
  }
}

// Node c + 1 is shown from its first frame on, until the next one is.
static void long_glb_animations_come_in_chunks(void** unused) {
  (void)unused;
  write_run(70, 70);
  sn_export_opts opts = options("glb");
  export_well(&opts);
  json_t* document = document_of(scratch_path("run/pyramid.glb"));
  assert_int_equal(json_array_size(json_object_get(document, "meshes")), 2);
  assert_int_equal(json_array_size(json_object_get(document, "nodes")), 3);
  json_t* animation = json_array_get(json_object_get(document, "animations"), 0);
  assert_int_equal(json_array_size(json_object_get(animation, "channels")), 4);
  json_decref(document);
  sn_gltf gltf;
  sn_error err = {0};
  if (sn_gltf_load(scratch_path("run/pyramid.glb"), &gltf, &err) != SN_OK) fail_msg("%s", err.text);
  double world[16 * 3];
  for (int frame = 0; frame < 70; ++frame) {
    sn_gltf_pose(&gltf, 0, (frame + 0.01) / 25.0, world);
    assert_true(world[16] == (frame < 64 ? 1.0 : 0.0));
    assert_true(world[32] == (frame < 64 ? 0.0 : 1.0));
  }
  sn_gltf_destroy(&gltf);
}

static void usda_has_samples_extents_and_subsets(void** unused) {
  (void)unused;
  write_run(2, 2);
  sn_export_opts opts = options("usda");
  opts.scale = 10;
  export_well(&opts);
  size_t size;
  char* text = read_everything(scratch_path("run/pyramid.usda"), &size);
  static const char* const parts[] = {
      "#usda 1.0\n",
      "endTimeCode = 2\n",
      "metersPerUnit = 0.1\n",
      "timeCodesPerSecond = 25.0\n",
      "upAxis = \"Y\"\n",
      "def Mesh \"pyramid\"",
      "int[] faceVertexCounts = [4, 3, 3, 3, 3]\n",
      "uniform token subdivisionScheme = \"none\"\n",
      "interpolation = \"faceVarying\"",
      "point3f[] points.timeSamples = {\n            1: [(0, 1.25, 2.5)",
      "float3[] extent.timeSamples = {\n            1: [(0, 1.25, 2.5), (15, 16.25, 17.5)],\n",
      "def Material \"floor\"",
      "rel material:binding = </sinew/pyramid_materials/wall>\n",
      "            int[] indices = [1, 2, 3, 4]",
      "def GeomSubset \"sides\"",
  };
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (!strstr(text, parts[i])) fail_msg("'%s' is not in the file", parts[i]);
  }
  free(text);
}

static void a_lost_surface_is_replaced_by_that_of_the_run(void** unused) {
  (void)unused;
  write_run(1, 1);
  assert_int_equal(unlink(scratch_path("pyramid.obj")), 0);
  sn_export_opts opts = options("obj");
  export_well(&opts);
  assert_non_null(strstr(messages, "warning: body \"pyramid\""));
  assert_non_null(strstr(messages, "run/pyramid.obj instead"));
  sn_mesh mesh;
  assert_int_equal(sn_mesh_load(scratch_path("run/obj/pyramid_0001.obj"), &mesh, NULL), SN_OK);
  assert_int_equal(mesh.group_count, 5);
  sn_mesh_destroy(&mesh);

  messages[0] = 0;  // one that has other vertices now
  scratch_write("pyramid.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 32);
  export_well(&opts);
  assert_non_null(strstr(messages, "has 3 vertices now, the cache 5"));
}

static void an_unfinished_run_is_exported_as_far_as_it_is(void** unused) {
  (void)unused;
  write_run(3, 9);
  sn_export_opts opts = options("mdd");
  export_well(&opts);
  assert_non_null(strstr(messages, "not finished: frames 1 to 3 of 9"));
  opts.last_frame = opts.first_frame = 4;
  assert_refused(&opts, SN_ERR_USAGE, "expected some of 1 to 3");
}

static void what_is_missing_is_named(void** unused) {
  (void)unused;
  sn_export_opts opts = options("mdd");
  assert_refused(&opts, SN_ERR_INPUT, "there is no such folder");
  mkdir(scratch_path("run"), 0777);
  assert_refused(&opts, SN_ERR_INPUT, "run/scene.json: is not there");
  write_run(0, 3);
  assert_refused(&opts, SN_ERR_INPUT, "run/pyramid.pc2: has no frame yet");
  unlink(scratch_path("run/pyramid.pc2"));
  assert_refused(&opts, SN_ERR_INPUT, "run/pyramid.pc2: is not there");
  write_run(1, 1);
  opts.body = "pyramide";
  assert_refused(&opts, SN_ERR_USAGE, "such as \"pyramid\"");
  opts.body = NULL;
  opts.format = "mmd";
  assert_refused(&opts, SN_ERR_USAGE, "did you mean \"mdd\"");
  opts.format = NULL;
  assert_refused(&opts, SN_ERR_USAGE, "expected one of pc2, mdd");
  opts.format = "mdd";
  opts.scale = NAN;
  assert_refused(&opts, SN_ERR_USAGE, "scale");
  opts.scale = 1;
  opts.fps = -1;
  assert_refused(&opts, SN_ERR_USAGE, "fps");
}

static void strange_scenes_are_refused(void** unused) {
  (void)unused;
  static const char* const bodies[] = {
      "",
      "1",
      "{}",
      "{\"name\": \"../pyramid\", \"surface\": \"x.obj\"}",
      "{\"name\": \"pyramid\", \"surface\": 1}",
  };
  static const char* const heads[] = {"\"unit\": 0, \"up\": \"y\",", "\"unit\": 1, \"up\": \"w\",",
                                      "\"unit\": 1, \"up\": 2,", ""};
  write_run(1, 1);
  sn_export_opts opts = options("obj");
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; ++i) {
    write_scene("\"unit\": 1, \"up\": \"y\",", bodies[i], 1);
    assert_refused(&opts, SN_ERR_INPUT, "run/scene.json");
  }
  for (size_t i = 0; i < sizeof heads / sizeof *heads; ++i) {
    write_scene(heads[i], "{\"name\": \"pyramid\", \"surface\": \"x.obj\"}", 1);
    assert_refused(&opts, SN_ERR_INPUT, "run/scene.json");
  }
  scratch_write("run/scene.json", "[", 1);
  assert_refused(&opts, SN_ERR_INPUT, "run/scene.json:1:");
}

static void sources_are_never_overwritten(void** unused) {
  (void)unused;
  write_run(1, 1);
  char body[512];
  scratch_write("pyramid.glb", "keep", 4);
  snprintf(body, sizeof body, "{\"name\": \"pyramid\", \"surface\": \"%s#part\"}",
           scratch_path("pyramid.glb"));
  write_scene("\"unit\": 1, \"up\": \"y\",", body, 1);
  sn_export_opts opts = options("glb");
  opts.out = scratch_path(".");
  assert_refused(&opts, SN_ERR_USAGE, "is the surface of body \"pyramid\"");
  size_t size;
  char* bytes = read_everything(scratch_path("pyramid.glb"), &size);
  assert_string_equal(bytes, "keep");
  free(bytes);
}

static void a_cache_that_ends_early_leaves_no_half_file(void** unused) {
  (void)unused;
  write_run(2, 2);
  size_t size;
  char* bytes = read_everything(scratch_path("run/pyramid.pc2"), &size);
  memset(bytes + size - 4, 0xff, 4);  // not a number
  scratch_write("run/pyramid.pc2", bytes, size);
  free(bytes);
  static const char* const formats[] = {"mdd", "glb", "usda"};
  for (int i = 0; i < 3; ++i) {
    char path[64];
    sn_export_opts opts = options(formats[i]);
    assert_refused(&opts, SN_ERR_INPUT, "is not finite");
    snprintf(path, sizeof path, "run/pyramid.%s", formats[i]);
    assert_int_equal(access(scratch_path(path), F_OK), -1);
    snprintf(path, sizeof path, "run/pyramid.%s.tmp", formats[i]);
    assert_int_equal(access(scratch_path(path), F_OK), -1);
  }
}

static const char* attempted;

static sn_status attempt(sn_error* err) {
  sn_export_opts opts = options(attempted);
  return sn_export(&opts, err);
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  static const char* const formats[] = {"mdd", "obj", "ply", "glb", "usda"};
  write_run(2, 2);
  for (int i = 0; i < 5; ++i) {
    attempted = formats[i];
    assert_survives_every_failing_request(attempt);
  }
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void) {
  const struct CMUnitTest tests[] = {
      EACH(mdd_is_big_endian_with_times),
      EACH(pc2_takes_frames_axes_and_scale),
      EACH(obj_keeps_polygons_groups_materials_and_uvs),
      EACH(ply_keeps_uvs_of_vertices_or_of_faces),
      EACH(glb_begins_with_the_first_frame),
      EACH(glb_of_a_scene_in_centimetres_is_in_metres),
      EACH(chunks_cover_all_frames_and_share_their_ends),
      EACH(long_glb_animations_come_in_chunks),
      EACH(usda_has_samples_extents_and_subsets),
      EACH(a_lost_surface_is_replaced_by_that_of_the_run),
      EACH(an_unfinished_run_is_exported_as_far_as_it_is),
      EACH(what_is_missing_is_named),
      EACH(strange_scenes_are_refused),
      EACH(sources_are_never_overwritten),
      EACH(a_cache_that_ends_early_leaves_no_half_file),
      EACH(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
