// Flesh that rides on animated meshes, and parts that ride on flesh.
#include "body/carrier.h"
#include "geometry/prepared.h"
#include "scene/animations.h"
#include "scene/scenes.h"

static const double pi = 3.14159265358979323846;

static int begin(void** state) {
  sn_set_log(NULL, NULL);
  return make_scratch_folder(state);
}

// p -> R p + t, a turn about z.
static sn_vec3 moved(sn_vec3 p, double angle, double scale, sn_vec3 t) {
  double c = scale * cos(angle), s = scale * sin(angle);
  return sn_add(sn_v3(c * p.x - s * p.y, s * p.x + c * p.y, scale * p.z), t);
}

// A bar along x as a grid of quads, with vertices all along it.
static sn_mesh bar(double length, double width, int pieces) {
  shape_arrays a = shape_begin(4 * (size_t)(pieces + 1), 8 * (size_t)pieces + 4);
  for (int i = 0; i <= pieces; ++i) {
    double x = length * i / pieces;
    for (int c = 0; c < 4; ++c) {
      shape_vertex(&a, sn_v3(x, c == 1 || c == 2 ? width : 0, c >= 2 ? width : 0));
    }
  }
  for (uint32_t i = 0; i < (uint32_t)pieces; ++i) {
    for (uint32_t c = 0; c < 4; ++c) {
      uint32_t v = 4 * i + c, w = 4 * i + (c + 1) % 4;
      shape_quad(&a, v, w, w + 4, v + 4);
    }
  }
  uint32_t last = 4 * (uint32_t)pieces;
  shape_quad(&a, 0, 3, 2, 1);
  shape_quad(&a, last, last + 1, last + 2, last + 3);
  return shape_end(&a);
}

// Carriers

static void set_moves(sn_carrier* carrier, double angle, double scale, sn_vec3 t) {
  for (size_t v = 0; v < carrier->surface->vertex_count; ++v) {
    sn_vec3 rest = sn_load3(carrier->surface->positions + 3 * v);
    sn_store3(carrier->moves + 3 * v, sn_sub(moved(rest, angle, scale, t), rest));
  }
  sn_carrier_turn(carrier, NULL);
}

static void a_rigid_or_scaled_motion_carries_exactly(void** unused) {
  (void)unused;
  prepared p;
  sn_carrier carrier;
  sn_random random = sn_random_seeded(7);
  prepare(&p, shape_blob(3, 0.1));
  assert_int_equal(sn_carrier_create(&p.surface, p.arena, &carrier, NULL), SN_OK);
  for (int k = 0; k < 4; ++k) {
    double angle = 0.9 * k, scale = k < 2 ? 1 : 0.5 * k;
    sn_vec3 t = sn_v3(k, -2 * k, 0.5 * k);
    set_moves(&carrier, angle, scale, t);
    for (int i = 0; i < 500; ++i) {
      sn_vec3 point = sn_scale(2, shape_random_point(&random));
      double distance;
      sn_rider rider = sn_rider_bind(&p.bvh, point, &distance);
      assert_near(distance, sn_bvh_distance(&p.bvh, point, INFINITY), 1e-12);
      sn_vec3 place = sn_add(point, sn_rider_move(&rider, &carrier));
      assert_near(sn_distance(place, moved(point, angle, scale, t)), 0, 1e-12);
      if (k == 0) assert_near(sn_length(sn_rider_move(&rider, &carrier)), 0, 1e-14);
    }
  }
  unprepare(&p);
}

// Points close to one another are carried to places close to one another, also where the nearest
// triangle changes: the surface bends, the points are a good way off.
static void bending_carries_smoothly(void** unused) {
  (void)unused;
  prepared p;
  sn_carrier carrier;
  prepare(&p, shape_sphere(sn_v3(0, 0, 0), 1, 16));
  assert_int_equal(sn_carrier_create(&p.surface, p.arena, &carrier, NULL), SN_OK);
  for (size_t v = 0; v < p.surface.vertex_count; ++v) {
    sn_vec3 rest = sn_load3(p.surface.positions + 3 * v);
    sn_store3(carrier.moves + 3 * v, sn_sub(moved(rest, 0.5 * rest.x, 1, sn_v3(0, 0, 0)), rest));
  }
  sn_carrier_turn(&carrier, NULL);
  sn_vec3 before = {0, 0, 0};
  double most = 0;
  for (int i = 0; i <= 20000; ++i) {
    double angle = 2 * pi * i / 20000;
    sn_vec3 point = sn_v3(1.3 * cos(angle), 1.3 * sin(angle), 0.1);
    sn_rider rider = sn_rider_bind(&p.bvh, point, NULL);
    sn_vec3 place = sn_add(point, sn_rider_move(&rider, &carrier));
    if (i > 0) most = fmax(most, sn_distance(place, before));
    before = place;
  }
  // A step is 4e-4 long at rest; what it is at most speaks of jumps.
  if (most > 2e-3) fail_msg("a step of %g", most);
  unprepare(&p);
}

// Whole scenes

#define BAR_PIECES 8
#define BAR_VERTICES (4 * (BAR_PIECES + 1))

static void write_mesh(const char* name, const sn_mesh* mesh) {
  sn_error err = {0};
  assert_ok(sn_mesh_save_obj(scratch_path(name), mesh, &err), &err);
}

static sn_vec3 turning(sn_vec3 rest, int frame) {
  return moved(rest, 0.2 * (frame - 1), 1, sn_v3(0.1 * (frame - 1), 0, 0));
}

static void write_turning_bar(void) {
  sn_mesh mesh = bar(1, 0.25, BAR_PIECES);
  write_mesh("bar.obj", &mesh);
  write_animation("bar.pc2", &mesh, 4, turning);
  sn_mesh_destroy(&mesh);
}

// Tied to a pose that turns rigidly, flesh turns with it.
static void flesh_follows_its_pose(void** unused) {
  (void)unused;
  write_turning_bar();
  static const char* const wheres[] = {"\"all\"", "{\"near\": 0.07}",
                                       "{\"box\": [[0,0,0],[1,1,1]]}"};
  for (int i = 0; i < 3; ++i) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"mode\": \"quasistatic\", \"gravity\": 0, \"contact\": {\"self\": false}, "
             "\"solver\": {\"newton\": {\"max\": 40, \"tolerance\": 1e-9}}, \"bodies\": "
             "[{\"surface\": \"bar.obj\", \"cell\": 0.125, \"pose\": {\"from\": \"bar.pc2\"}}], "
             "\"attachments\": [{\"to\": \"pose\", \"where\": %s}]}",
             wheres[i]);
    loaded l = load_scene(text, 2);
    const double* rest = l.scene->bodies[0].mesh.positions;
    for (int f = 1; f <= 4; ++f) {
      step(&l, f);
      const float* places = surface(&l);
      for (size_t v = 0; v < BAR_VERTICES; ++v) {
        sn_vec3 to = turning(sn_load3(rest + 3 * v), f);
        for (int k = 0; k < 3; ++k)
          assert_near((double)places[3 * v + (size_t)k], sn_axis(to, k), 1e-6);
      }
    }
    unload(&l);
  }
}

// Bent about z: the middle line becomes an arc whose angle grows along x.
static sn_vec3 bent(sn_vec3 rest, int frame) {
  double rate = 0.3 * (frame - 1), middle = 0.1;
  if (rate == 0) return rest;
  double angle = rate * rest.x, radius = 1 / rate - (rest.y - middle);
  return sn_v3(radius * sin(angle), middle + 1 / rate - radius * cos(angle), rest.z);
}

// A bone of the bar's own shape, thinner, bends it; as springs and as held nodes.
static void a_deforming_bone_bends_a_bar(void** unused) {
  (void)unused;
  sn_mesh flesh = bar(1, 0.2, BAR_PIECES), bone = bar(1, 0.2, 32);
  write_mesh("flesh.obj", &flesh);
  write_mesh("bone.obj", &bone);
  write_animation("bone.pc2", &bone, 4, bent);
  sn_mesh_destroy(&bone);
  static const char* const ties[] = {
      "\"attachments\": [{\"bone\": \"b\", \"where\": {\"near\": 0.01}, \"stiffness\": 1000}]",
      "\"fixed\": [{\"bone\": \"b\", \"where\": {\"near\": 0.01}}]"};
  for (int i = 0; i < 2; ++i) {
    char text[1024];
    snprintf(
        text, sizeof text,
        "{\"gravity\": 0, \"frames\": [1, 4], \"contact\": {\"self\": false}, \"mode\": "
        "\"quasistatic\", \"bodies\": [{\"surface\": \"flesh.obj\", \"cell\": 0.05}], \"bones\": "
        "[{\"name\": \"b\", \"mesh\": \"bone.obj\", \"motion\": {\"from\": \"bone.pc2\"}}], %s}",
        ties[i]);
    loaded l = load_scene(text, 2);
    for (int f = 1; f <= 4; ++f) {
      sn_frame_stats stats = step(&l, f);
      assert_true(stats.converged);
      const float* places = surface(&l);
      for (size_t v = 0; v < BAR_VERTICES; ++v) {
        sn_vec3 to = bent(sn_load3(flesh.positions + 3 * v), f);
        double off = sn_distance(
            sn_v3((double)places[3 * v], (double)places[3 * v + 1], (double)places[3 * v + 2]), to);
        if (off > 0.01) fail_msg("frame %d, vertex %zu: %g from where it should be", f, v, off);
      }
    }
    unload(&l);
  }
  sn_mesh_destroy(&flesh);
}

// A head with a hat (a hemisphere a little above it) and an eye (a small sphere in it).
typedef struct head {
  sn_mesh mesh;
  uint32_t head_vertices, hat_end;
} head;

static head make_head(void) {
  sn_mesh skull = shape_sphere(sn_v3(0, 0, 0), 0.5, 12);
  sn_mesh hat = shape_hemisphere(sn_v3(0, 0, 0), 0.55, 12);
  sn_mesh eye = shape_sphere(sn_v3(0.5, 0, 0.1), 0.05, 6);
  head h = {.head_vertices = skull.vertex_count, .hat_end = skull.vertex_count + hat.vertex_count};
  h.mesh = shape_join(shape_join(skull, hat), eye);
  return h;
}

static sn_vec3 place_of(const float* places, size_t v) {
  return sn_v3((double)places[3 * v], (double)places[3 * v + 1], (double)places[3 * v + 2]);
}

#define HEAD_SCENE                                                                                \
  "{\"frames\": [1, 6], \"gravity\": 0, \"contact\": {\"self\": false}, \"bodies\": [{\"name\": " \
  "\"head\", \"surface\": \"head.obj\", \"cell\": 0.1, \"follow\": [1, 2]%s}], \"bones\": "       \
  "[{\"name\": \"b\", \"capsule\": {\"from\": [0,0,-0.2], \"to\": [0,0,0.2], \"radius\": 0.2}, "  \
  "\"motion\": [{\"frame\": 1}, {\"frame\": 6, \"translate\": [1, 0, 0], \"rotate\": "            \
  "[0, 0, 0.6, 0.8]}]}], \"attachments\": [%s]}"

#define TO_BONE "{\"bone\": \"b\", \"stiffness\": 1000}"

// A body that turns as a whole takes its hat and its eye along, and they keep their shape and
// distance.
static void a_hat_stays_on_a_head(void** unused) {
  (void)unused;
  head h = make_head();
  write_mesh("head.obj", &h.mesh);
  char text[1024];
  snprintf(
      text, sizeof text,
      "{\"mode\": \"quasistatic\", \"gravity\": 0, \"contact\": {\"self\": false}, \"bodies\": "
      "[{\"surface\": \"head.obj\", \"cell\": 0.1, \"follow\": [1, 2]}], \"fixed\": [{\"where\": "
      "\"all\", \"motion\": [{\"frame\": 1}, {\"frame\": 6, \"translate\": [1, 0, 0], "
      "\"rotate\": [0, 0, 0.6, 0.8]}]}]}");
  loaded l = load_scene(text, 2);
  sn_body_info info = sn_model_body(l.model, 0);
  assert_int_equal(info.part_count, 3);
  assert_int_equal(info.following_part_count, 2);
  assert_int_equal(info.following_vertex_count, h.mesh.vertex_count - h.head_vertices);
  assert_int_equal(info.mesh.unreferenced_vertices, 0);
  assert_true(info.filled_volume < 4.2 / 8 && info.filled_volume > 0.9 * 4.18 / 8);
  double angle = 2 * asin(0.6);
  step(&l, 1);
  step(&l, 6);
  const float* places = surface(&l);
  for (size_t v = 0; v < h.mesh.vertex_count; ++v) {
    sn_vec3 to = moved(sn_load3(h.mesh.positions + 3 * v), angle, 1, sn_v3(1, 0, 0));
    assert_near(sn_distance(place_of(places, v), to), 0, 1e-6);
  }
  unload(&l);
  sn_mesh_destroy(&h.mesh);
}

// Flesh that is swung about takes its hat along: edges of the hat change hardly more than those of the
// skin below it.
static void a_hat_on_soft_flesh_changes_as_the_skin_does(void** unused) {
  (void)unused;
  head h = make_head();
  write_mesh("head.obj", &h.mesh);
  char text[1024];
  snprintf(text, sizeof text, HEAD_SCENE, ", \"damping\": 0.01", TO_BONE);
  loaded l = load_scene(text, 2);
  double most[2] = {0, 0};  // of skin, of hat
  for (int f = 1; f <= 6; ++f) {
    step(&l, f);
    const float* places = surface(&l);
    for (size_t c = 0; c < 3 * (size_t)h.mesh.triangle_count; ++c) {
      uint32_t a = h.mesh.triangles[c], b = h.mesh.triangles[c % 3 == 2 ? c - 2 : c + 1];
      if (a >= h.hat_end) continue;
      double rest = sn_distance(sn_load3(h.mesh.positions + 3 * (size_t)a),
                                sn_load3(h.mesh.positions + 3 * (size_t)b));
      double change = fabs(sn_distance(place_of(places, a), place_of(places, b)) / rest - 1);
      double* of = &most[a >= h.head_vertices];
      *of = fmax(*of, change);
    }
  }
  assert_true(most[0] > 0.1);
  if (most[1] > 1.2 * most[0]) fail_msg("skin changes by %g, the hat by %g", most[0], most[1]);
  unload(&l);
  sn_mesh_destroy(&h.mesh);
}

static sn_vec3 walking(sn_vec3 rest, int frame) {
  return sn_add(rest, sn_v3(0.05 * (frame - 1), 0, 0));
}

// With a pose, what follows is where the pose has it, and goes with the flesh only as far as it is near:
// the eye, on the skin, with all of it; something far away with nothing.
static void followers_of_a_pose_fade_out(void** unused) {
  (void)unused;
  sn_mesh skull = shape_sphere(sn_v3(0, 0, 0), 0.5, 12);
  sn_mesh near = shape_sphere(sn_v3(0.51, 0, 0), 0.01, 4);
  sn_mesh far = shape_sphere(sn_v3(2, 0, 0), 0.1, 4);
  uint32_t near_first = skull.vertex_count, far_first = near_first + near.vertex_count;
  sn_mesh mesh = shape_join(shape_join(skull, near), far);
  write_mesh("head.obj", &mesh);
  write_animation("head.pc2", &mesh, 6, walking);
  // Held at rest, so that flesh and pose part.
  loaded l = load_scene(
      "{\"mode\": \"quasistatic\", \"gravity\": 0, \"contact\": {\"self\": false}, \"bodies\": "
      "[{\"surface\": \"head.obj\", \"cell\": 0.1, \"follow\": [1, 2], \"pose\": {\"from\": "
      "\"head.pc2\"}}], \"fixed\": [{\"where\": \"all\"}]}",
      2);
  step(&l, 1);
  step(&l, 6);
  const float* places = surface(&l);
  for (size_t v = 0; v < mesh.vertex_count; ++v) {
    double move = place_of(places, v).x - mesh.positions[3 * v];
    double expected = v < near_first ? 0 : v < far_first ? 0.01 : 0.25;
    assert_near(move, expected, v < near_first || v >= far_first ? 1e-6 : 0.0101);
  }
  unload(&l);
  sn_mesh_destroy(&mesh);
}

static void a_body_must_have_flesh(void** unused) {
  (void)unused;
  head h = make_head();
  write_mesh("head.obj", &h.mesh);
  sn_scene* scene;
  sn_pool* pool;
  sn_model* model;
  sn_error err = {0};
  const char* text = "{\"bodies\": [{\"surface\": \"head.obj\", \"follow\": [0, 1, 2]}]}";
  const char* path = scratch_write("scene.json", text, strlen(text));
  assert_ok(sn_scene_load(path, NULL, 0, &scene, &err), &err);
  assert_ok(sn_pool_create(1, &pool, &err), &err);
  assert_int_equal(sn_model_build(scene, pool, &model, &err), SN_ERR_INPUT);
  assert_message_has(&err, "bodies[0].follow: nothing of \"head\" is flesh");
  sn_pool_destroy(pool);
  sn_scene_destroy(scene);
  sn_mesh_destroy(&h.mesh);
}

// A scene with all of it: a pose, ties to it, a deforming bone, followers, inertia, a preroll.
static void write_whole_scene(char* text, size_t size) {
  head h = make_head();
  write_mesh("head.obj", &h.mesh);
  write_animation("head.pc2", &h.mesh, 6, walking);
  sn_mesh_destroy(&h.mesh);
  snprintf(
      text, size,
      "{\"frames\": [1, 6], \"preroll\": 3, \"bodies\": [{\"name\": \"head\", \"surface\": "
      "\"head.obj\", \"cell\": 0.1, \"follow\": [1, 2], \"pose\": {\"from\": \"head.pc2\"}}], "
      "\"bones\": [{\"name\": \"b\", \"mesh\": \"head.obj\", \"motion\": {\"from\": "
      "\"head.pc2\"}}], \"attachments\": [{\"to\": \"pose\", \"where\": {\"near\": 0.1}}], "
      "\"fixed\": [{\"bone\": \"b\", \"where\": {\"box\": [[-0.1,-0.1,-0.1], [0.1,0.1,0.1]]}}]}");
}

static uint64_t sum_of(const float* places, size_t count) {
  uint64_t hash = 1469598103934665603u;
  const unsigned char* bytes = (const unsigned char*)places;
  for (size_t i = 0; i < count * sizeof *places; ++i) hash = (hash ^ bytes[i]) * 1099511628211u;
  return hash;
}

static uint64_t surface_sum(const loaded* l) {
  return sum_of(surface(l), 3 * (size_t)sn_model_surface_count(l->model, 0));
}

static void threads_and_resuming_change_nothing(void** unused) {
  (void)unused;
  char text[1024];
  uint64_t sums[7] = {0};
  sn_error err = {0};
  write_whole_scene(text, sizeof text);
  for (int threads = 1; threads <= 3; ++threads) {
    loaded l = load_scene(text, threads);
    for (int f = 1; f <= 6; ++f) {
      step(&l, f);
      if (threads == 1) sums[f] = surface_sum(&l);
      assert_true(surface_sum(&l) == sums[f]);
      if (f == 3) assert_ok(sn_state_save(l.model, l.state, scratch_path("saved"), &err), &err);
    }
    unload(&l);
  }
  loaded l = load_scene(text, 2);
  assert_ok(sn_state_load(l.model, l.state, scratch_path("saved"), &err), &err);
  assert_true(surface_sum(&l) == sums[3]);
  for (int f = 4; f <= 6; ++f) {
    step(&l, f);
    assert_true(surface_sum(&l) == sums[f]);
  }
  unload(&l);
}

static void steps_allocate_nothing(void** unused) {
  (void)unused;
  char text[1024];
  write_whole_scene(text, sizeof text);
  loaded l = load_scene(text, 2);
  step(&l, 1);
  surface(&l);
  uint64_t before = sn_allocation_count();
  step(&l, 2);
  step(&l, 3);
  surface(&l);
  assert_true(sn_allocation_count() == before);
  unload(&l);
  assert_int_equal(sn_memory_used(), 0);
}

// What decides the result is in the fingerprint: other numbers in the cache, another choice of parts.
static void other_poses_have_another_fingerprint(void** unused) {
  (void)unused;
  char text[1024];
  write_whole_scene(text, sizeof text);
  loaded l = load_scene(text, 1);
  uint64_t first = sn_model_fingerprint(l.model);
  unload(&l);
  l = load_scene(text, 1);
  assert_true(sn_model_fingerprint(l.model) == first);
  unload(&l);
  head h = make_head();
  write_animation("head.pc2", &h.mesh, 6, turning);
  sn_mesh_destroy(&h.mesh);
  l = load_scene(text, 1);
  assert_true(sn_model_fingerprint(l.model) != first);
  unload(&l);
  write_whole_scene(text, sizeof text);
  char* list = strstr(text, "[1, 2], \"pose\"");
  memcpy(list, "[1]   ", 6);
  l = load_scene(text, 1);
  assert_true(sn_model_fingerprint(l.model) != first);
  unload(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_rigid_or_scaled_motion_carries_exactly),
      cmocka_unit_test(bending_carries_smoothly),
      cmocka_unit_test(flesh_follows_its_pose),
      cmocka_unit_test(a_deforming_bone_bends_a_bar),
      cmocka_unit_test(a_hat_stays_on_a_head),
      cmocka_unit_test(a_hat_on_soft_flesh_changes_as_the_skin_does),
      cmocka_unit_test(followers_of_a_pose_fade_out),
      cmocka_unit_test(a_body_must_have_flesh),
      cmocka_unit_test(threads_and_resuming_change_nothing),
      cmocka_unit_test(steps_allocate_nothing),
      cmocka_unit_test(other_poses_have_another_fingerprint),
  };
  return cmocka_run_group_tests(tests, begin, remove_scratch_folder);
}
