// Colliders that are animated vertex by vertex: they push, carry and stop as rigid ones do.
#include <math.h>

#include "scene/animations.h"
#include "scene/motions.h"

#define FRAMES 14

#define ALONG 12
#define ACROSS 6

static int slab_vertex(int i, int k, int side) { return 1 + 2 * (i + k * (ALONG + 1)) + side; }

// 1.2 x 0.1 x 0.6 m, closed: its vertices are shared, unlike those of write_fine_box.
static void write_slab(const char* name) {
  FILE* file = fopen(scratch_path(name), "wb");
  assert_non_null(file);
  for (int k = 0; k <= ACROSS; ++k) {
    for (int i = 0; i <= ALONG; ++i) {
      fprintf(file, "v %.3f 0 %.3f\nv %.3f 0.1 %.3f\n", 0.1 * i, 0.1 * k, 0.1 * i, 0.1 * k);
    }
  }
  for (int k = 0; k <= ACROSS; ++k) {
    for (int i = 0; i <= ALONG; ++i) {
      int here[2] = {slab_vertex(i, k, 0), slab_vertex(i, k, 1)};
      int right[2] = {slab_vertex(i + 1, k, 0), slab_vertex(i + 1, k, 1)};
      int up[2] = {slab_vertex(i, k + 1, 0), slab_vertex(i, k + 1, 1)};
      if (i < ALONG && k < ACROSS) {
        fprintf(file, "f %d %d %d %d\n", here[0], right[0], slab_vertex(i + 1, k + 1, 0), up[0]);
        fprintf(file, "f %d %d %d %d\n", here[1], up[1], slab_vertex(i + 1, k + 1, 1), right[1]);
      }
      if (i < ALONG && k == 0) {
        fprintf(file, "f %d %d %d %d\n", here[0], here[1], right[1], right[0]);
      }
      if (i < ALONG && k == ACROSS) {
        fprintf(file, "f %d %d %d %d\n", here[0], right[0], right[1], here[1]);
      }
      if (k < ACROSS && i == 0) fprintf(file, "f %d %d %d %d\n", here[0], up[0], up[1], here[1]);
      if (k < ACROSS && i == ALONG) {
        fprintf(file, "f %d %d %d %d\n", here[0], here[1], up[1], up[0]);
      }
    }
  }
  assert_int_equal(fclose(file), 0);
}

static int make_meshes(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_fine_box("cube.obj", sn_v3(0.2, 0.2, 0.2), 0.05);
  write_slab("slab.obj");
  return 0;
}

static void animate(const char* mesh, const char* cache, int frames, vertex_motion at) {
  sn_mesh slab;
  sn_error err = {0};
  assert_ok(sn_mesh_load(scratch_path(mesh), &slab, &err), &err);
  write_animation(cache, &slab, frames, at);
  sn_mesh_destroy(&slab);
}

// A cube that stands on the slab, which moves as told.
static loaded load_on_slab(const char* moves, double friction, int threads) {
  char text[1024];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"surface\": \"cube.obj\", \"cell\": 0.05, \"damping\": 0.01, "
           "\"material\": {\"young\": 5e4, \"poisson\": 0.4}, \"initial\": {\"translate\": "
           "[0.3, 0.1, 0.2]}}], \"colliders\": [{\"mesh\": \"slab.obj\", \"friction\": %g, "
           "\"motion\": %s}]}",
           friction, moves);
  return load_scene(text, threads);
}

static sn_vec3 rising(sn_vec3 rest, int frame) {
  return sn_add(rest, sn_v3(0, 0.02 * (frame - 1), 0));
}

static void a_mesh_whose_vertices_all_move_alike_pushes_as_a_rigid_one(void** unused) {
  (void)unused;
  animate("slab.obj", "rising.pc2", FRAMES, rising);
  loaded rigid =
             load_on_slab("[{\"frame\": 1}, {\"frame\": 14, \"translate\": [0, 0.26, 0]}]", 0.3, 1),
         soft = load_on_slab("{\"from\": \"rising.pc2\"}", 0.3, 1);
  double off = 0, work[2] = {0, 0};
  for (int frame = 1; frame <= FRAMES; ++frame) {
    work[0] = step(&rigid, frame).work;
    work[1] = step(&soft, frame).work;
    for (uint32_t n = 0; n < rigid.model->bodies[0].tree.node_count; ++n) {
      off = fmax(off, sn_distance(node_place(&rigid, 0, n), node_place(&soft, 0, n)));
    }
  }
  double height = motion_of(&soft, 0).centre.y;
  print_message("off by %.1e m, lifted to %.3f m, work %.4f and %.4f J\n", off, height, work[0],
                work[1]);
  assert_true(off < 2e-4);
  assert_true(height > 0.2 + 0.24);
  assert_near(work[1], work[0], 0.01 * work[0]);
  unload(&rigid);
  unload(&soft);
}

// A wave that runs along below: the slab bulges up to 0.12 m where the cube is, and is flat again.
static sn_vec3 bulging(sn_vec3 rest, int frame) {
  double bell = exp(-8 * (rest.x - 0.4) * (rest.x - 0.4));
  return sn_add(rest, sn_v3(0, 0.06 * bell * (1 - cos(0.5235987755982988 * (frame - 1))), 0));
}

static void a_bulge_lifts_what_lies_on_it_and_its_work_is_counted(void** unused) {
  (void)unused;
  animate("slab.obj", "bulging.pc2", FRAMES, bulging);
  loaded l = load_on_slab("{\"from\": \"bulging.pc2\"}", 0.6, 1);
  sn_frame_stats stats = step(&l, 1);
  double start = total_energy(&stats), highest = 0, gain = -INFINITY, most = start;
  for (int frame = 2; frame <= FRAMES; ++frame) {
    stats = step(&l, frame);
    highest = fmax(highest, motion_of(&l, 0).centre.y);
    gain = fmax(gain, total_energy(&stats) - stats.work - start);
    most = fmax(most, total_energy(&stats));
    assert_true(stats.max_penetration < 0.002 * diagonal(&l, 0));
  }
  print_message("lifted from 0.200 to %.3f m; energy %.3g to %.3g J, gained %.3g\n", highest, start,
                most, gain);
  assert_true(highest > 0.29);
  assert_true(gain < 0.01 * (most - start));
  unload(&l);
}

// A belt: its vertices go along x with 0.96 m/s.
static sn_vec3 running(sn_vec3 rest, int frame) {
  return sn_add(rest, sn_v3(-0.3 + 0.04 * (frame - 1), 0, 0));
}

static void friction_goes_by_the_velocity_of_the_vertices(void** unused) {
  (void)unused;
  animate("slab.obj", "belt.pc2", FRAMES, running);
  loaded l = load_on_slab("{\"from\": \"belt.pc2\"}", 0.3, 1);
  double at_7 = 0;
  for (int frame = 1; frame <= FRAMES; ++frame) {
    step(&l, frame);
    if (frame == 7) at_7 = motion_of(&l, 0).velocity.x;
  }
  double end = motion_of(&l, 0).velocity.x, expected = 0.3 * 9.81 * 6 / 24;
  print_message("%.4f m/s after 6 frames, expected %.4f; %.4f m/s at the end, belt 0.96\n", at_7,
                expected, end);
  assert_near(at_7, expected, 0.03 * expected);
  assert_near(end, 0.96, 0.06);  // it rocks a little
  unload(&l);
}

// A wall that comes with five body sizes a frame, bent as it comes.
static sn_vec3 rushing(sn_vec3 rest, int frame) {
  double bend = 0.3 * (rest.z - 0.3) * (rest.z - 0.3);
  return sn_v3(rest.y - 1.85 + 1.0 * (frame - 1) + bend, 0.7 - rest.x, rest.z);
}

static void a_fast_one_takes_a_body_along(void** unused) {
  (void)unused;
  animate("slab.obj", "wall.pc2", 5, rushing);
  loaded l = load_scene(
      "{\"gravity\": 0, \"bodies\": [{\"surface\": \"cube.obj\", \"cell\": 0.05, \"material\": "
      "{\"young\": 1e4}, \"initial\": {\"translate\": [0.3, 0, 0.2]}}], \"contact\": {\"self\": "
      "false}, \"colliders\": [{\"mesh\": \"slab.obj\", \"motion\": {\"from\": \"wall.pc2\"}}]}",
      1);
  for (int frame = 1; frame <= 5; ++frame) {
    sn_frame_stats stats = step(&l, frame);
    assert_true(state_is_finite(&l));
    print_message("frame %d: %d contacts, deepest %.2f %%, residual %.1e\n", frame,
                  (int)stats.contacts, 100 * stats.max_penetration / diagonal(&l, 0),
                  stats.residual);
    assert_true(stats.max_penetration < 0.01 * diagonal(&l, 0));
    sn_vec3* places = skin_places(&l, 0);
    for (uint32_t p = 0; p < l.model->contact.skins[0].count; ++p) {
      // Its front is at the upper side of the slab, 0.1 from rest.
      double bend = 0.3 * (places[p].z - 0.3) * (places[p].z - 0.3);
      double front = 0.1 - 1.85 + 1.0 * (frame - 1) + bend;
      if (places[p].y > -0.5 && places[p].y < 0.7 && places[p].z > 0 && places[p].z < 0.6) {
        if (!(places[p].x > front - 0.01))
          fail_msg("frame %d: %g behind", frame, places[p].x - front);
      }
    }
    free(places);
  }
  assert_true(motion_of(&l, 0).velocity.x > 5);
  unload(&l);
}

static void a_frame_can_be_resumed_and_threads_do_not_matter(void** unused) {
  (void)unused;
  animate("slab.obj", "bulging.pc2", FRAMES, bulging);
  const char* moves = "{\"from\": \"bulging.pc2\"}";
  loaded a = load_on_slab(moves, 0.6, 1), b = load_on_slab(moves, 0.6, 3),
         c = load_on_slab(moves, 0.6, 1);
  sn_error err = {0};
  for (int frame = 1; frame <= 8; ++frame) {
    step(&a, frame);
    step(&b, frame);
    if (frame == 5) {
      assert_ok(sn_state_save(a.model, a.state, scratch_path("state"), &err), &err);
      assert_ok(sn_state_load(c.model, c.state, scratch_path("state"), &err), &err);
    } else if (frame > 5) {
      step(&c, frame);
    }
  }
  size_t bytes = a.model->unknown_count * sizeof(double);
  assert_memory_equal(a.state->u, b.state->u, bytes);
  assert_memory_equal(a.state->u, c.state->u, bytes);
  unload(&a);
  unload(&b);
  unload(&c);
}

static void only_a_mesh_may_deform(void** unused) {
  (void)unused;
  static const char TEXT[] =
      "{\"bodies\": [{\"surface\": \"cube.obj\", \"cell\": 0.1}], \"colliders\": [{\"shape\": "
      "\"sphere\", \"position\": [0, 0, 0], \"radius\": 1, \"motion\": {\"from\": \"a.pc2\"}}]}";
  sn_scene* scene;
  sn_error err = {0};
  const char* path = scratch_write("scene.json", TEXT, strlen(TEXT));
  assert_int_equal(sn_scene_load(path, NULL, 0, &scene, &err), SN_ERR_INPUT);
  assert_non_null(strstr(err.text, "colliders[0].motion: found an animated mesh for a shape"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_meshes, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_mesh_whose_vertices_all_move_alike_pushes_as_a_rigid_one),
      TEST(a_bulge_lifts_what_lies_on_it_and_its_work_is_counted),
      TEST(friction_goes_by_the_velocity_of_the_vertices),
      TEST(a_fast_one_takes_a_body_along),
      TEST(a_frame_can_be_resumed_and_threads_do_not_matter),
      TEST(only_a_mesh_may_deform),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
