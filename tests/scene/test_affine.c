// Bones that stretch: flesh that they hold follows by the closed form.
#include "scene/made.h"

#define FRAMES 3

static sn_material soft(void) {
  return sn_material_of(SN_LAW_STABLE_NEO_HOOKEAN, lame_mu(1e4, 0.4), lame_lambda(1e4, 0.4));
}

// Turned, stretched, sheared and moved by frame FRAMES.
static void set_keys(made* m) {
  m->keys[0] = (sn_keyframe){.frame = 0, .rotate = {0, 0, 0, 1}, .pivot = {0.2, 0.3, 0.4}};
  m->keys[1] = (sn_keyframe){.frame = FRAMES,
                             .translate = {0.5, 0.1, -0.2},
                             .rotate = {0, sin(0.2), 0, cos(0.2)},
                             .pivot = {0.2, 0.3, 0.4},
                             .stretch = {1.3, 0.8, 1.1, 0.1, -0.05, 0.15}};
}

static double largest_error(const made* m, int frame) {
  const sn_octree* tree = &m->model->bodies[0].tree;
  const sn_motion motion = {.keys = (sn_keyframe*)m->keys, .key_count = 2};
  sn_affine pose = sn_motion_at(&motion, frame);
  double worst = 0;
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    sn_vec3 expected = sn_affine_displace(&pose, sn_octree_node_place(tree, n));
    worst = fmax(worst, sn_distance(sn_load3(m->state->u + 3 * (size_t)n), expected));
  }
  return worst;
}

// The patch test: faces that are moved by an affine map move the inside by it too.
static void faces_that_are_stretched_stretch_the_inside(void** unused) {
  (void)unused;
  made m = made_of(shape_unit_cube(), 0.125, soft());
  set_keys(&m);
  m.scene.solver.newton_tolerance = 1e-9;
  m.scene.solver.krylov_max = 100;
  for (int face = 0; face < 6; ++face) {
    double lo[3] = {0, 0, 0}, hi[3] = {1, 1, 1};
    (face & 1 ? lo : hi)[face / 2] = face & 1;
    made_hold(&m, sn_load3(lo), sn_load3(hi))->motion = (sn_motion){.keys = m.keys, .key_count = 2};
  }
  made_build(&m);
  for (int frame = 1; frame <= FRAMES; ++frame) {
    assert_true(made_step(&m, frame).converged);
    assert_true(largest_error(&m, frame) < 1e-8);
  }
  made_destroy(&m);
}

// All of the flesh is inside the bone and tied to it by springs.
static void flesh_inside_a_bone_takes_its_stretch(void** unused) {
  (void)unused;
  made m = made_of(shape_unit_cube(), 0.125, soft());
  set_keys(&m);
  sn_bone_desc bone = {.name = (char*)"bone",
                       .kind = SN_BONE_MESH,
                       .mesh = shape_box(sn_v3(-1, -1, -1), sn_v3(2, 2, 2)),
                       .motion = {.keys = m.keys, .key_count = 2}};
  sn_attachment_desc tie = {.where = {.kind = SN_WHERE_INSIDE}, .stiffness = 1e6};
  m.scene.bones = &bone;
  m.scene.bone_count = 1;
  m.scene.attachments = &tie;
  m.scene.attachment_count = 1;
  m.scene.solver.newton_tolerance = 1e-9;
  made_build(&m);
  for (int frame = 1; frame <= FRAMES; ++frame) {
    made_step(&m, frame);
    assert_true(largest_error(&m, frame) < 1e-6);
  }
  made_destroy(&m);
  sn_mesh_destroy(&bone.mesh);
}

static void a_stretch_is_part_of_the_scene(void** unused) {
  (void)unused;
  made m = made_of(shape_unit_cube(), 0.25, soft());
  set_keys(&m);
  made_hold(&m, sn_v3(0, 0, 0), sn_v3(1, 0, 1))->motion =
      (sn_motion){.keys = m.keys, .key_count = 2};
  made_build(&m);
  uint64_t before = sn_model_fingerprint(m.model);
  made_destroy(&m);
  m.body.mesh = shape_unit_cube();
  m.keys[1].stretch[3] += 1e-9;
  made_build(&m);
  assert_true(sn_model_fingerprint(m.model) != before);
  made_destroy(&m);
  // Colliders are refused one.
  m.body.mesh = shape_unit_cube();
  sn_collider_desc floor = {.name = (char*)"floor",
                            .kind = SN_COLLIDER_PLANE,
                            .normal = {0, 1, 0},
                            .motion = {.keys = m.keys, .key_count = 2}};
  m.scene.colliders = &floor;
  m.scene.collider_count = 1;
  sn_error err = {0};
  assert_ok(sn_pool_create(1, &m.pool, &err), &err);
  assert_int_equal(sn_model_build(&m.scene, m.pool, &m.model, &err), SN_ERR_INPUT);
  assert_non_null(strstr(err.text, "colliders[0].motion: found a stretch"));
  sn_pool_destroy(m.pool);
  sn_mesh_destroy(&m.body.mesh);
}

// A bone turns by half a circle in a frame. Where it takes the flesh is where the flesh is in balance, but for
// what the springs give: next to nothing is left to solve.
static void flesh_starts_from_where_its_bone_takes_it(void** unused) {
  (void)unused;
  made m = made_of(shape_unit_cube(), 0.125, soft());
  m.keys[0] = (sn_keyframe){.frame = 1, .rotate = {0, 0, 0, 1}};
  m.keys[1] = (sn_keyframe){.frame = 2, .rotate = {0, 0.6, 0.8, 0}, .translate = {3, 0, 0}};
  sn_bone_desc bone = {.name = (char*)"bone",
                       .kind = SN_BONE_CAPSULE,
                       .capsule = {{0.5, 0.2, 0.5}, {0.5, 0.8, 0.5}, 0.2},
                       .motion = {.keys = m.keys, .key_count = 2}};
  sn_attachment_desc tie = {.where = {.kind = SN_WHERE_INSIDE}, .stiffness = 100};
  m.scene.bones = &bone;
  m.scene.bone_count = 1;
  m.scene.attachments = &tie;
  m.scene.attachment_count = 1;
  made_build(&m);
  made_step(&m, 1);
  sn_frame_stats stats = made_step(&m, 2);
  assert_true(stats.converged);
  assert_true(stats.newton <= 1);
  assert_true(largest_error(&m, 2) < 1e-3);
  made_destroy(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(faces_that_are_stretched_stretch_the_inside),
      cmocka_unit_test(flesh_inside_a_bone_takes_its_stretch),
      cmocka_unit_test(a_stretch_is_part_of_the_scene),
      cmocka_unit_test(flesh_starts_from_where_its_bone_takes_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
