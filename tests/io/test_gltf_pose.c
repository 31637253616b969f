// Poses and skinning against closed forms.
#include "io/gltf_made.h"

static const double pi = 3.14159265358979323846;

// A chain of two nodes and a clip of one channel that moves the second.
typedef struct chain {
  sn_gltf_node nodes[2];
  uint32_t order[2];
  sn_gltf_channel channel;
  sn_gltf_clip clip;
  sn_gltf gltf;
  double world[32];
} chain;

static void make_chain(chain* c, sn_gltf_path path, sn_gltf_interpolation interpolation,
                       float* times, float* values, uint32_t key_count) {
  *c = (chain){.order = {0, 1}};
  c->nodes[0] = tube_node("a", -1, 0);
  c->nodes[1] = tube_node("b", 0, 0);
  c->channel = (sn_gltf_channel){1, path, interpolation, times, values, key_count};
  c->clip = (sn_gltf_clip){.name = "move",
                           .channels = &c->channel,
                           .channel_count = 1,
                           .end = (double)times[key_count - 1]};
  c->gltf = (sn_gltf){
      .nodes = c->nodes, .node_count = 2, .order = c->order, .clips = &c->clip, .clip_count = 1};
}

static const double* pose_second(chain* c, double time) {
  sn_gltf_pose(&c->gltf, 0, time, c->world);
  return c->world + 16;
}

static void assert_near(double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance)) fail_msg("%.17g, not %.17g", value, expected);
}

static void linear_translation_is_linear_and_holds_its_ends(void** unused) {
  (void)unused;
  float times[3] = {0.5f, 1.5f, 3.5f}, values[9] = {0, 1, 2, 4, 1, -2, 0, 9, 0};
  chain c;
  make_chain(&c, SN_GLTF_TRANSLATE, SN_GLTF_LINEAR, times, values, 3);
  const double* m = pose_second(&c, 1.0);
  assert_true(m[12] == 2 && m[13] == 1 && m[14] == 0);
  m = pose_second(&c, 3.0);
  assert_true(m[12] == 1 && m[13] == 7 && m[14] == -0.5);
  static const double outside[] = {-1e9, 0, 0.5};
  for (int i = 0; i < 3; ++i) {
    m = pose_second(&c, outside[i]);
    assert_true(m[12] == 0 && m[13] == 1 && m[14] == 2);
  }
  m = pose_second(&c, 1e9);
  assert_true(m[12] == 0 && m[13] == 9 && m[14] == 0);
  // Without a clip: as the file has it.
  sn_gltf_pose(&c.gltf, -1, 1.0, c.world);
  assert_true(c.world[16 + 12] == 0 && c.world[16 + 13] == 0);
}

static void steps_hold_until_the_next_key(void** unused) {
  (void)unused;
  float times[3] = {0, 1, 2}, values[9] = {1, 1, 1, 2, 3, 4, 5, 5, 5};
  chain c;
  make_chain(&c, SN_GLTF_SCALE, SN_GLTF_STEP, times, values, 3);
  static const double at[] = {0, 0.999999999, 1, 1.5, 2, 7};
  static const double expected[] = {1, 1, 3, 3, 5, 5};
  for (int i = 0; i < 6; ++i) assert_true(pose_second(&c, at[i])[5] == expected[i]);
}

// Turning about z from 0 to 170 degrees at constant speed, whichever sign the keys have.
static void rotation_is_spherical_along_the_shorter_arc(void** unused) {
  (void)unused;
  double half = 85.0 / 180.0 * pi;
  for (int sign = -1; sign <= 1; sign += 2) {
    // Lengths of keys do not matter.
    float times[2] = {1, 3};
    float values[8] = {0, 0, 0, 2, 0, 0, (float)(sign * sin(half)), (float)(sign * cos(half))};
    chain c;
    make_chain(&c, SN_GLTF_ROTATE, SN_GLTF_LINEAR, times, values, 2);
    for (int i = 0; i <= 20; ++i) {
      const double* m = pose_second(&c, 1.0 + 0.1 * i);
      double angle = 2 * half * i / 20;
      assert_near(m[0], cos(angle), 2e-7);
      assert_near(m[1], sin(angle), 2e-7);
      assert_near(m[4], -sin(angle), 2e-7);
      assert_near(m[10], 1, 1e-15);
    }
  }
}

// A Hermite spline through a cubic polynomial is that polynomial.
static double polynomial(int k, double t) {
  return 0.5 * k + (k - 1) * t + 0.25 * t * t - 0.125 * t * t * t;
}
static double slope(int k, double t) { return k - 1 + 0.5 * t - 0.375 * t * t; }

static void cubic_splines_follow_cubic_polynomials(void** unused) {
  (void)unused;
  float times[4] = {0, 0.5f, 2, 4}, values[4 * 3 * 4];
  for (int width = 3; width <= 4; ++width) {
    for (int key = 0; key < 4; ++key) {
      for (int k = 0; k < width; ++k) {
        float* at = values + 3 * width * key + k;
        double t = (double)times[key];
        at[0] = (float)slope(k, t);
        at[width] = (float)polynomial(k, t);
        at[2 * width] = (float)slope(k, t);
      }
    }
    chain c;
    make_chain(&c, width == 3 ? SN_GLTF_TRANSLATE : SN_GLTF_ROTATE, SN_GLTF_CUBIC, times, values,
               4);
    for (int i = 0; i <= 64; ++i) {
      double t = 4.0 * i / 64, p[4], squared = 0;
      for (int k = 0; k < width; ++k) {
        p[k] = polynomial(k, t);
        squared += p[k] * p[k];
      }
      const double* m = pose_second(&c, t);
      if (width == 3) {
        for (int k = 0; k < 3; ++k) assert_near(m[12 + k], p[k], 1e-14);
      } else {  // made a unit, then a matrix
        assert_near(m[0], 1 - 2 * (p[1] * p[1] + p[2] * p[2]) / squared, 1e-13);
        assert_near(m[1], 2 * (p[0] * p[1] + p[3] * p[2]) / squared, 1e-13);
        assert_near(m[8], 2 * (p[2] * p[0] + p[3] * p[1]) / squared, 1e-13);
      }
    }
    // Tangents play no part outside the keys.
    const double* m = pose_second(&c, 99.0);
    if (width == 3) assert_true(m[12] == polynomial(0, 4.0));
  }
}

// Parent turned by a quarter about z, scaled by 2 and moved; child moved along its x.
static void transforms_go_down_the_hierarchy(void** unused) {
  (void)unused;
  float times[1] = {0}, values[3] = {3, 0, 0};
  chain c;
  make_chain(&c, SN_GLTF_TRANSLATE, SN_GLTF_LINEAR, times, values, 1);
  c.nodes[0].translate = (sn_vec3){1, 1, 1};
  c.nodes[0].rotate = (sn_quat){0, 0, sqrt(0.5), sqrt(0.5)};
  c.nodes[0].scale = (sn_vec3){2, 2, 2};
  const double* m = pose_second(&c, 0);
  assert_near(m[12], 1, 1e-14);
  assert_near(m[13], 7, 1e-14);
  assert_near(m[1], 2, 1e-15);
  // The same parent as a matrix.
  const double matrix[16] = {0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 1, 1, 1, 1};
  memcpy(c.nodes[0].matrix, matrix, sizeof matrix);
  c.nodes[0].has_matrix = true;
  m = pose_second(&c, 0);
  assert_true(m[12] == 1 && m[13] == 7 && m[14] == 1 && m[1] == 2 && m[3] == 0 && m[15] == 1);
}

// The tube's upper joint turns by 2 atan(3/4) about x and rises; each vertex is the mean of where its
// two joints take it.
static void vertices_are_weighted_means_of_their_joints(void** unused) {
  (void)unused;
  glb file = make_tube_file();
  sn_gltf gltf = parse_well("tube.glb", file.bytes, file.size);
  free(file.bytes);
  double world[64], positions[3 * TUBE_VERTICES];
  sn_gltf_pose(&gltf, -1, 0, world);
  sn_gltf_skin_vertices(&gltf, 0, world, positions);
  for (int i = 0; i < 3 * TUBE_VERTICES; ++i) {  // at rest, where it was bound
    assert_near(positions[i], gltf.meshes[0].mesh.positions[i], 1e-15);
  }
  sn_gltf_pose(&gltf, 0, 0.5, world);
  sn_gltf_skin_vertices(&gltf, 0, world, positions);
  double s = 0.96, c = 0.28;  // sine and cosine of the angle
  for (int v = 0; v < TUBE_VERTICES; ++v) {
    const double* p = gltf.meshes[0].mesh.positions + 3 * v;
    double w = (double)(v / TUBE_SIDES) / (TUBE_RINGS - 1);
    // At 0.5 s the cubic channel has doubled the lower joint, which carries the upper one.
    double y = c * (p[1] - 1) - s * p[2] + 2, z = s * (p[1] - 1) + c * p[2];
    assert_near(positions[3 * v], 2 * p[0], 1e-14);
    assert_near(positions[3 * v + 1], (1 - w) * 2 * p[1] + w * 2 * y, 1e-6);
    assert_near(positions[3 * v + 2], (1 - w) * 2 * p[2] + w * 2 * z, 1e-6);
  }
  // A mesh without skin goes with its node.
  sn_gltf_skin_vertices(&gltf, 3, world, positions);
  for (int v = 0; v < TUBE_VERTICES; ++v) {
    const double* p = gltf.meshes[1].mesh.positions + 3 * v;
    assert_true(positions[3 * v] == 3 - 2 * p[1] && positions[3 * v + 1] == 2 * p[0]);
  }
  sn_gltf_destroy(&gltf);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch_folder, remove_scratch_folder)

// Morph targets: a mesh of one triangle, the corners of which two targets move.
typedef struct morphed {
  chain c;
  double positions[9];
  uint32_t triangle[3];
  float moves[18], rest[2], own[2];
  sn_gltf_mesh mesh;
} morphed;

static void make_morphed(morphed* m, sn_gltf_interpolation interpolation, float* times,
                         float* values, uint32_t key_count) {
  *m = (morphed){.positions = {0, 0, 0, 1, 0, 0, 0, 1, 0}, .triangle = {0, 1, 2}};
  make_chain(&m->c, SN_GLTF_WEIGHTS, interpolation, times, values, key_count);
  m->c.clip.morphs = m->c.clip.channels;
  m->c.clip.morph_count = 1;
  m->c.clip.channel_count = 0;
  m->moves[2] = 1;           // the first lifts the first corner,
  m->moves[9 + 3 + 1] = -2;  // the second lowers the second one
  m->mesh = (sn_gltf_mesh){.name = "m",
                           .mesh = {.positions = m->positions,
                                    .vertex_count = 3,
                                    .triangles = m->triangle,
                                    .triangle_count = 1},
                           .morphs = m->moves,
                           .morph_count = 2};
  m->c.gltf.meshes = &m->mesh;
  m->c.gltf.mesh_count = 1;
  m->c.nodes[1].mesh = 0;
  m->c.nodes[1].translate.x = 10;
}

static void assert_morphed(morphed* m, int32_t clip, double time, double first, double second) {
  double places[9];
  sn_gltf_pose(&m->c.gltf, clip, time, m->c.world);
  sn_gltf_morph_vertices(&m->c.gltf, 1, clip, time, m->c.world, places);
  for (int i = 0; i < 9; ++i) {
    double expected = m->positions[i] + (i % 3 == 0 ? 10 : 0);
    if (i == 2) expected += first;
    if (i == 4) expected -= 2 * second;
    assert_near(places[i], expected, 1e-6);
  }
}

static void morph_targets_add_up(void** unused) {
  (void)unused;
  float times[2] = {0, 2}, values[4] = {0, 1, 1, 0.5f};
  morphed m;
  make_morphed(&m, SN_GLTF_LINEAR, times, values, 2);
  assert_morphed(&m, 0, -1, 0, 1);
  assert_morphed(&m, 0, 0.5, 0.25, 0.875);
  assert_morphed(&m, 0, 5, 1, 0.5);
  assert_morphed(&m, -1, 0, 0, 0);
  m.rest[1] = 0.5f;
  m.mesh.morph_weights = m.rest;
  assert_morphed(&m, -1, 0, 0, 0.5);
  m.own[0] = 2;
  m.c.nodes[1].morph_weights = m.own;
  assert_morphed(&m, -1, 0, 2, 0);
  double places[9];
  sn_gltf_pose(&m.c.gltf, -1, 0, m.c.world);
  sn_gltf_skin_vertices(&m.c.gltf, 1, m.c.world, places);
  assert_near(places[2], 2, 1e-12);
  make_morphed(&m, SN_GLTF_STEP, times, values, 2);
  assert_morphed(&m, 0, 1.9, 0, 1);
}

// u (1 - u) (1 - 2u) and the like: a spline through 0 with slopes 1 and 1 over one second is
// 2u^3 - 3u^2 + u.
static void cubic_weights_are_hermite_splines(void** unused) {
  (void)unused;
  float times[2] = {1, 2}, values[12] = {0, 0, 0, 0, 1, 0, 1, 0, 0, 1, 0, 0};
  morphed m;
  make_morphed(&m, SN_GLTF_CUBIC, times, values, 2);
  for (int i = 0; i <= 8; ++i) {
    double u = i / 8.0;
    assert_morphed(&m, 0, 1 + u, u * (2 * u * u - 3 * u + 1), u * u * (3 - 2 * u));
  }
}

static void morph_targets_are_read(void** unused) {
  (void)unused;
  // Positions, then two targets of the second primitive, times, weights of two keys.
  static const float bytes[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0,
                                1, 0, 2, 0, 0, 2, 0, 0, 2, 0, 0, 1, 0, 1, 1, 1};
  static const char text[] =
      "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"byteLength\": 132}], \"bufferViews\": "
      "[{\"buffer\": 0, \"byteLength\": 132}], \"accessors\": ["
      "{\"bufferView\": 0, \"componentType\": 5126, \"type\": \"VEC3\", \"count\": 3},"
      "{\"bufferView\": 0, \"byteOffset\": 36, \"componentType\": 5126, \"type\": \"VEC3\", "
      "\"count\": 3},"
      "{\"bufferView\": 0, \"byteOffset\": 72, \"componentType\": 5126, \"type\": \"VEC3\", "
      "\"count\": 3},"
      "{\"bufferView\": 0, \"byteOffset\": 108, \"componentType\": 5126, \"type\": \"SCALAR\", "
      "\"count\": 2},"
      "{\"bufferView\": 0, \"byteOffset\": 116, \"componentType\": 5126, \"type\": \"SCALAR\", "
      "\"count\": 4}],"
      "\"meshes\": [{\"weights\": [0.5, 0], \"primitives\": [{\"attributes\": {\"POSITION\": 0}}, "
      "{\"attributes\": {\"POSITION\": 0}, \"targets\": [{\"POSITION\": 1}, {\"POSITION\": 2}]}]}],"
      "\"nodes\": [{\"mesh\": 0}, {\"mesh\": 0, \"weights\": [0, 1]}],"
      "\"animations\": [{\"samplers\": [{\"input\": 3, \"output\": 4}], \"channels\": "
      "[{\"sampler\": 0, \"target\": {\"node\": 0, \"path\": \"weights\"}}]}]}";
  sn_gltf gltf = parse_made(text, bytes, sizeof bytes);
  assert_int_equal(gltf.meshes[0].morph_count, 2);
  assert_int_equal(gltf.clips[0].channel_count, 0);
  assert_int_equal(gltf.clips[0].morph_count, 1);
  assert_true(gltf.clips[0].end == 1);
  double world[32], places[18];
  sn_gltf_pose(&gltf, 0, 0.25, world);
  sn_gltf_morph_vertices(&gltf, 0, 0, 0.25, world, places);
  // At 0.25 the weights are 0.25 and 1: the first primitive has no targets.
  assert_near(places[2], 0, 0);
  assert_near(places[9 + 1], 2, 1e-6);
  assert_near(places[9 + 2], 0.25, 1e-6);
  sn_gltf_skin_vertices(&gltf, 0, world, places);
  assert_near(places[9 + 2], 0.5, 1e-6);
  sn_gltf_morph_vertices(&gltf, 1, 0, 0.25, world, places);
  assert_near(places[9 + 1], 2, 1e-6);
  assert_near(places[9 + 2], 0, 0);
  sn_gltf_destroy(&gltf);
  glb file = make_glb(text, bytes, sizeof bytes);
  static const char* const changes[][2] = {
      {"meshes.0.weights=[1]", "meshes[0].weights: found 1 weights, expected a list of 2"},
      {"nodes.1.weights=[1,2,3]", "nodes[1].weights: found 3"},
      {"meshes.0.weights=[1,1e9]", "meshes[0].weights[1]"},
      {"meshes.0.primitives.1.targets=7", "meshes[0].primitives[1].targets: found 7"},
      {"meshes.0.primitives.1.targets.0.POSITION=3", "targets[0].POSITION"},
      {"accessors.1.count=2", "expected one for each of the 3 positions"},
      {"accessors.4.count=3", "found 3 values, expected 4 for 2 keys"}};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
    glb changed = with_change(&file, changes[i][0]);
    assert_file_refused(&changed, changes[i][1]);
    free(changed.bytes);
  }
  free(file.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(linear_translation_is_linear_and_holds_its_ends),
      TEST(steps_hold_until_the_next_key),
      TEST(rotation_is_spherical_along_the_shorter_arc),
      TEST(cubic_splines_follow_cubic_polynomials),
      TEST(transforms_go_down_the_hierarchy),
      TEST(vertices_are_weighted_means_of_their_joints),
      cmocka_unit_test(morph_targets_add_up),
      cmocka_unit_test(cubic_weights_are_hermite_splines),
      cmocka_unit_test(morph_targets_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
