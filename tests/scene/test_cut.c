// Bodies with exact cut cells, however little is in some of them: they fall, touch and are thrown into
// hopeless states without harm.
#include "body/body_cut.h"
#include "scene/motions.h"
#include "shapes.h"

static void write_mesh(const char* name, sn_mesh mesh) {
  sn_error err = {0};
  assert_ok(sn_mesh_save_obj(scratch_path(name), &mesh, &err), &err);
  sn_mesh_destroy(&mesh);
}

// Two boxes as one surface.
static sn_mesh both(sn_mesh first, sn_mesh second) {
  shape_arrays a = shape_begin(16, 24);
  const sn_mesh* parts[] = {&first, &second};
  for (int k = 0; k < 2; ++k) {
    uint32_t from = a.vertex_count;
    for (uint32_t v = 0; v < parts[k]->vertex_count; ++v) {
      shape_vertex(&a, sn_load3(parts[k]->positions + 3 * (size_t)v));
    }
    for (uint32_t t = 0; t < parts[k]->triangle_count; ++t) {
      const uint32_t* corner = parts[k]->triangles + 3 * (size_t)t;
      shape_triangle(&a, from + corner[0], from + corner[1], from + corner[2]);
    }
  }
  sn_mesh_destroy(&first);
  sn_mesh_destroy(&second);
  return shape_end(&a);
}

static int make_bodies(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_mesh("ball.obj", shape_sphere(sn_v3(0, 0.3, 0), 0.25, 16));
  // The second reaches by a six-thousandth of a cell into the next ones, along two axes.
  write_mesh("graze.obj", both(shape_box(sn_v3(0, 0, 0), sn_v3(0.5, 0.25, 0.25)),
                               shape_box(sn_v3(0.05, 0.2, 0.06), sn_v3(0.25001, 0.5, 0.18751))));
  return 0;
}

static void a_falling_body_touches_the_floor_and_stays_sound(void** unused) {
  (void)unused;
  static const char* const FILLS[] = {"0", "0.02"};
  for (int f = 0; f < 2; ++f) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"frames\": [1, 24], \"bodies\": [{\"surface\": \"ball.obj\", \"cell\": 0.0613,"
             " \"coarsen\": 0, \"quadrature\": 2, \"least_fill\": %s,"
             " \"material\": {\"young\": 2e4, \"poisson\": 0.45}}],"
             " \"colliders\": [{\"shape\": \"plane\"}]}",
             FILLS[f]);
    loaded l = load_scene(text, 2);
    double start = 0, gain = 0, deepest = 0, least = 1;
    uint64_t touched = 0;
    for (int frame = 1; frame <= 24; ++frame) {
      sn_frame_stats stats = step(&l, frame);
      if (frame == 1) start = total_energy(&stats);
      assert_true(state_is_finite(&l));
      gain = fmax(gain, (total_energy(&stats) - start) / start);
      deepest = fmax(deepest, stats.max_penetration / diagonal(&l, 0));
      least = fmin(least, stats.min_j);
      touched += stats.contacts;
    }
    print_message(
        "least fill %s: %u cut cells, energy gained %.1e, deepest %.1e, smallest J %.2f\n",
        FILLS[f], l.model->bodies[0].cut.count, gain, deepest, least);
    assert_true(touched > 0 && gain < 0.01 && deepest < 0.01 && least > 0);
    unload(&l);
  }
}

static void recover(const char* kind) {
  char text[1024];
  snprintf(text, sizeof text,
           "{\"mode\": \"quasistatic\", \"gravity\": 0, \"frames\": [1, 40],"
           " \"bodies\": [{\"surface\": \"ball.obj\", \"cell\": 0.0613, \"quadrature\": 2,"
           "   \"initial\": {\"scramble\": {\"kind\": \"%s\", \"amount\": 1}}}],"
           " \"bones\": [{\"name\": \"a\", \"capsule\": {\"from\": [-0.1, 0.3, 0],"
           "   \"to\": [0.1, 0.3, 0], \"radius\": 0.08}}],"
           " \"attachments\": [{\"bone\": \"a\"}],"
           " \"solver\": {\"newton\": {\"max\": 10, \"tolerance\": 1e-6}}}",
           kind);
  loaded l = load_scene(text, 2);
  int frame = 1;
  while (frame <= 40 && !step(&l, frame).converged) ++frame;
  const float* p = surface(&l);
  const sn_mesh* mesh = &l.scene->bodies[0].mesh;
  double worst = 0;
  for (uint32_t i = 0; i < 3 * mesh->vertex_count; ++i) {
    worst = fmax(worst, fabs(p[i] - mesh->positions[i]) / 0.5);
  }
  print_message("%-7s %.1e of the body's size after %d frames\n", kind, worst, frame);
  assert_true(worst < 1e-4);
  unload(&l);
}

static void a_scrambled_body_recovers(void** unused) {
  (void)unused;
  recover("point");
  recover("plane");
  recover("mirror");
  recover("random");
}

// Nodes that carry next to nothing go where the flesh goes.
static void cells_with_next_to_nothing_in_them_do_no_harm(void** unused) {
  (void)unused;
  char text[1024];
  snprintf(text, sizeof text,
           "{\"mode\": \"quasistatic\", \"frames\": [1, 3], \"bodies\": [{\"surface\": "
           "\"graze.obj\", \"cell\": 0.0625, \"coarsen\": 0, \"quadrature\": 2,"
           " \"material\": {\"young\": 1e5}}],"
           " \"fixed\": [{\"where\": {\"box\": [[-1, -1, -1], [0.05, 1, 1]]}}],"
           " \"solver\": {\"newton\": {\"tolerance\": 1e-6}}}");
  loaded l = load_scene(text, 2);
  sn_frame_stats stats = {0};
  for (int frame = 1; frame <= 3; ++frame) stats = step(&l, frame);
  const sn_body* body = &l.model->bodies[0];
  double least = 1, farthest = 0;
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    double corner[8], sum = 0;
    if (!sn_body_cut_masses(body, e, corner)) continue;
    for (int c = 0; c < 8; ++c) sum += corner[c];
    least = fmin(least, sum);
  }
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    farthest = fmax(farthest, sn_length(sn_load3(node_move(&l, 0, n))));
  }
  print_message("smallest share %.1e, residual %.1e, J above %.3f, nodes move by %.3f m\n", least,
                stats.residual, stats.min_j, farthest);
  assert_true(least < 1e-7 && stats.converged && stats.min_j > 0.5 && farthest < 0.2);
  unload(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_falling_body_touches_the_floor_and_stays_sound),
      cmocka_unit_test(a_scrambled_body_recovers),
      cmocka_unit_test(cells_with_next_to_nothing_in_them_do_no_harm),
  };
  return cmocka_run_group_tests(tests, make_bodies, remove_scratch_folder);
}
