// Motion in time, against closed forms: of the time integrators on one mode, and of mechanics.
#include <math.h>

#include "scene/motions.h"

#define PI 3.14159265358979323846

static int make_block(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("block.obj", 0.3, 0.2, 0.1);
  write_box("bar.obj", 1, 0.25, 0.25);
  write_box("strip.obj", 1, 0.1, 0.1);
  write_box("cube.obj", 0.2, 0.2, 0.2);
  write_fine_box("fine.obj", sn_v3(0.2, 0.2, 0.2), 0.05);
  return 0;
}

// Free fall.

// Exact answer of an integrator to constant acceleration g from rest, after `steps` of h: backward
// Euler, or BDF2 whose first step is backward Euler.
static double fallen(bool bdf2, double g, double h, int steps) {
  double x[3] = {0, 0, 0}, v[3] = {0, 0, 0};  // now, before
  for (int n = 0; n < steps; ++n) {
    bool two = bdf2 && n > 0;
    double tau = two ? 2 * h / 3 : h, now = two ? 4.0 / 3 : 1, before = two ? 1.0 / 3 : 0;
    double v_new = now * v[0] - before * v[1] + tau * g;
    double x_new = now * x[0] - before * x[1] + tau * v_new;
    x[1] = x[0], v[1] = v[0], x[0] = x_new, v[0] = v_new;
  }
  return x[0];
}

static void fall(const char* integrator) {
  char text[1024];
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"surface\": \"block.obj\", \"cell\": 0.05}],"
           " \"contact\": {\"self\": false}, \"solver\": {\"integrator\": \"%s\","
           " \"newton\": {\"tolerance\": 1e-10}}}",
           integrator);
  loaded l = load_scene(text, 1);
  bool bdf2 = strcmp(integrator, "bdf2") == 0;
  double h = 1.0 / 24, scale = 0.5 * 12000 * 0.3 * 0.2 * 0.1;  // J at a strain of one
  step(&l, 1);
  sn_vec3 start = motion_of(&l, 0).centre;
  for (int n = 1; n <= 24; ++n) {
    sn_frame_stats stats = step(&l, n + 1);
    double t = n * h, expected = fallen(bdf2, 9.81, h, n), truth = 9.81 * t * t / 2;
    double way = start.y - motion_of(&l, 0).centre.y;
    if (!bdf2) assert_near(expected, 9.81 * t * (t + h) / 2, 1e-12 * expected);
    // BDF2 is exact here but for its first step, which leaves a shift of g h^2 / 2 to 3/4 g h^2.
    if (bdf2) assert_near(expected, truth, 0.76 * 9.81 * h * h);
    assert_near(way, expected, 1e-9 * expected);
    assert_true(stats.energy_elastic < 1e-18 * scale);
  }
  unload(&l);
}

static void free_fall_is_that_of_the_integrator_and_strains_nothing(void** unused) {
  (void)unused;
  fall("euler");
  fall("bdf2");
}

// A free body that spins, flies and vibrates.

static void fly(const char* integrator, int steps, double* lost_turn, double* gained) {
  const double spin = 10;  // rad/s
  char text[1024];
  snprintf(text, sizeof text,
           "{\"gravity\": 0, \"fps\": %.17g, \"bodies\": [{\"surface\": \"block.obj\","
           " \"cell\": 0.05, \"damping\": 0, \"material\": {\"young\": 2e5, \"poisson\": 0.3},"
           " \"initial\": {\"velocity\": [0.3, 0.2, -0.1], \"spin\": [0, 0, %.17g]}}],"
           " \"contact\": {\"self\": false}, \"solver\": {\"linear\": \"jacobi-cg\", "
           "\"integrator\": \"%s\","
           " \"newton\": {\"tolerance\": 1e-8}, \"krylov\": {\"tolerance\": 1e-4}}}",
           100 * spin / (2 * PI), spin, integrator);
  loaded l = load_scene(text, 1);
  sn_frame_stats stats = step(&l, 1);
  const sn_body* body = &l.model->bodies[0];
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {  // 2 % longer, about the middle
    node_move(&l, 0, n)[0] += 0.02 * (node_rest(&l, 0, n).x - 0.15);
  }
  motion before = motion_of(&l, 0);
  double elastic =
      sn_flesh_evaluate(&body->flesh, l.pool, &l.state->bodies[0].flesh, l.state->u, NULL);
  double energy = stats.energy_kinetic + elastic;
  double carried = 0.5 * before.mass * sn_dot(before.velocity, before.velocity);
  double worst = 0, turn = sn_length(before.spin);
  *lost_turn = *gained = 0;
  for (int n = 1; n <= steps; ++n) {
    stats = step(&l, n + 1);
    motion now = motion_of(&l, 0);
    worst = fmax(worst, sn_distance(now.momentum, before.momentum));
    *gained = fmax(*gained, total_energy(&stats) / energy - 1);
    if (n % 100 == 0) {
      *lost_turn = fmax(*lost_turn, fabs(sn_length(now.spin) / turn - 1));
      turn = sn_length(now.spin);
    }
  }
  motion now = motion_of(&l, 0);
  print_message(
      "%s: momentum off by %.1e, angular momentum by %.3g %% a turn, energy %.3f -> %.3f"
      " (of flight %.3f), most %+.3g %%\n",
      integrator, worst / sn_length(before.momentum), 100 * *lost_turn, energy,
      total_energy(&stats), carried, 100 * *gained);
  assert_true(worst < 1e-6 * sn_length(before.momentum));
  assert_true(sn_length(sn_cross(now.spin, before.spin)) <
              1e-3 * sn_dot(now.spin, before.spin));  // the axis stays
  assert_true(*gained < 0.01);
  unload(&l);
}

static void a_free_body_keeps_its_momentum_and_gains_no_energy(void** unused) {
  (void)unused;
  double lost, gained;
  fly("bdf2", 1000, &lost, &gained);
  assert_true(lost < 0.01);
  fly("euler", 200, &lost, &gained);
  assert_true(gained <= 1e-6);
}

// A clamped bar, 1 x 0.25 x 0.25 m, E = 0.25 MPa, nu = 0.3, 1000 kg/m3: 0.61578 Hz in bending, from
// an independent computation of high order.
static void a_clamped_bar_swings_at_its_frequency(void** unused) {
  (void)unused;
  double period = 1 / 0.61578, fps = 100 / period;
  char text[1024];
  snprintf(text, sizeof text,
           "{\"gravity\": 0, \"fps\": %.17g, \"bodies\": [{\"surface\": \"bar.obj\", \"cell\":"
           " 0.03125, \"coarsen\": 0, \"damping\": 0, \"density\": 1000,"
           " \"material\": {\"young\": 2.5e5, \"poisson\": 0.3}}],"
           " \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}],"
           " \"contact\": {\"self\": false}, \"solver\": {\"newton\": {\"tolerance\": 1e-3}}}",
           fps);
  loaded l = load_scene(text, 1);
  const sn_body* body = &l.model->bodies[0];
  step(&l, 1);
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {  // about the first mode
    double x = node_rest(&l, 0, n).x;
    node_velocity(&l, 0, n)[1] = 0.01 * x * x * (6 - 4 * x + x * x) / 3;
  }
  double before = 0, first = 0, last = 0;
  int crossings = 0;
  for (int n = 1; n <= 270; ++n) {
    step(&l, n + 1);
    double now = motion_of(&l, 0).centre.y - 0.125;
    if (n > 10 && (now > 0) != (before > 0)) {
      last = (n - now / (now - before)) / fps;
      if (crossings++ == 0) first = last;
    }
    before = now;
  }
  double frequency = 0.5 * (crossings - 1) / (last - first);
  print_message("%d crossings: %.5f Hz, %+.2f %%\n", crossings, frequency,
                100 * (frequency / 0.61578 - 1));
  assert_int_equal(crossings, 5);
  assert_near(frequency, 0.61578, 0.02 * 0.61578);
  unload(&l);
}

// One mode: the bar's first along its axis with Poisson's ratio zero, where the law is linear. On a
// grid with lumped masses its shape is the sine itself and w = 2 c/h sin(pi h / 4L).

#define AXIAL_CELLS 16

static double axial_frequency(double young) {
  return 2 * AXIAL_CELLS * sqrt(young / 1000) * sin(PI / (4 * AXIAL_CELLS));  // rad/s
}

static loaded load_axial(const char* integrator, double young, double damping, double fps) {
  char text[1024];
  snprintf(
      text, sizeof text,
      "{\"gravity\": 0, \"fps\": %.17g, \"bodies\": [{\"surface\": \"bar.obj\", \"cell\": 0.0625,"
      " \"coarsen\": 0, \"damping\": %.17g, \"density\": 1000,"
      " \"material\": {\"model\": \"corotated\", \"young\": %.17g, \"poisson\": 0}}],"
      " \"fixed\": [{\"where\": {\"box\": [[0, 0, 0], [0, 1, 1]]}}],"
      " \"contact\": {\"self\": false}, \"solver\": {\"integrator\": \"%s\","
      " \"newton\": {\"tolerance\": 1e-9}, \"krylov\": {\"tolerance\": 1e-4}}}",
      fps, damping, young, integrator);
  loaded l = load_scene(text, 1);
  step(&l, 1);
  for (uint32_t n = 0; n < l.model->bodies[0].tree.node_count; ++n) {
    node_move(&l, 0, n)[0] = 0.01 * sin(PI / 2 * node_rest(&l, 0, n).x);
  }
  return l;
}

// Place and velocity of the mode, as shares of the sine.
static void axial_mode(const loaded* l, double* x, double* v) {
  const sn_body* body = &l->model->bodies[0];
  double norm = 0;
  *x = *v = 0;
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    double shape = sin(PI / 2 * node_rest(l, 0, n).x), mass = body->node_mass[n];
    *x += mass * shape * node_move(l, 0, n)[0];
    *v += mass * shape * node_velocity(l, 0, n)[0];
    norm += mass * shape * shape;
  }
  *x /= norm;
  *v /= norm;
}

static double axial_amplitude(const loaded* l, double w) {
  double x, v;
  axial_mode(l, &x, &v);
  return sqrt(x * x + v * v / (w * w));
}

static void one_mode_loses_what_its_integrator_says(void** unused) {
  (void)unused;
  double young = 1e5, w = axial_frequency(young), steps = 40, h = 2 * PI / (w * steps);
  loaded l = load_axial("euler", young, 0, 1 / h);
  double amplitude = axial_amplitude(&l, w), worst = 0;
  for (int n = 1; n <= 80; ++n) {
    step(&l, n + 1);
    double now = axial_amplitude(&l, w), expected = 1 / sqrt(1 + w * w * h * h);
    worst = fmax(worst, fabs(now / amplitude / expected - 1));
    amplitude = now;
  }
  unload(&l);
  print_message("euler: off by %.1e a step\n", worst);
  assert_true(worst < 1e-6);

  l = load_axial("bdf2", young, 0, 1 / h);
  double x[2] = {0.01, 0.01}, v[2] = {0, 0}, first = axial_amplitude(&l, w);
  worst = 0;
  for (int n = 1; n <= 80; ++n) {
    double mode[2];
    bool two = n > 1;
    double tau = two ? 2 * h / 3 : h, now = two ? 4.0 / 3 : 1, past = two ? 1.0 / 3 : 0;
    double base = now * x[0] - past * x[1], pull = now * v[0] - past * v[1];
    x[1] = x[0], v[1] = v[0];
    x[0] = (base + tau * pull) / (1 + tau * tau * w * w);
    v[0] = (x[0] - base) / tau;
    step(&l, n + 1);
    axial_mode(&l, &mode[0], &mode[1]);
    worst = fmax(worst, fmax(fabs(mode[0] - x[0]), fabs(mode[1] - v[0]) / w) / 0.01);
  }
  double kept = axial_amplitude(&l, w) / first;
  print_message("bdf2: off by %.1e; keeps %.3f of the amplitude over 2 turns, euler %.3f\n", worst,
                kept, pow(1 + w * w * h * h, -40));
  assert_true(worst < 1e-6);
  assert_true(1 - kept < 0.1 * (1 - pow(1 + w * w * h * h, -40)));
  unload(&l);
}

static void damping_calms_a_mode_by_half_of_it_times_the_frequency(void** unused) {
  (void)unused;
  double young = 1e5, w = axial_frequency(young), h = 2 * PI / (w * 100);
  static const double RATIO[] = {0.02, 0.1};  // of critical damping
  for (int k = 0; k < 2; ++k) {
    loaded l = load_axial("bdf2", young, 2 * RATIO[k] / w, 1 / h);
    double top[8], before[2] = {0, 0}, x, v;
    int tops = 0;
    for (int n = 1; n <= 260 && tops < 8; ++n) {
      step(&l, n + 1);
      axial_mode(&l, &x, &v);
      if (n > 10 && fabs(before[0]) > fabs(x) && fabs(before[0]) > fabs(before[1])) {
        top[tops++] = fabs(before[0]);
      }
      before[1] = before[0], before[0] = x;
    }
    assert_true(tops >= 4);
    for (int i = 1; i < tops; ++i) {  // half a turn apart
      double decrement = log(top[i - 1] / top[i]);
      double expected = PI * RATIO[k] / sqrt(1 - RATIO[k] * RATIO[k]);
      if (i == 1)
        print_message("damping %g: decrement %.5f, expected %.5f\n", RATIO[k], decrement, expected);
      assert_near(decrement, expected, 0.1 * expected);
    }
    unload(&l);
  }
}

static void drag_slows_a_free_body(void** unused) {
  (void)unused;
  for (int k = 0; k < 2; ++k) {
    char text[1024];
    snprintf(text, sizeof text,
             "{\"gravity\": 0, \"bodies\": [{\"surface\": \"block.obj\", \"cell\": 0.05,"
             " \"drag\": 0.8, \"initial\": {\"velocity\": [1, 0, -2]}}],"
             " \"contact\": {\"self\": false}, \"solver\": {\"integrator\": \"%s\","
             " \"newton\": {\"tolerance\": 1e-9}}}",
             k ? "bdf2" : "euler");
    loaded l = load_scene(text, 1);
    step(&l, 1);
    for (int n = 1; n <= 48; ++n) {
      step(&l, n + 1);
      double h = 1.0 / 24, expected = exp(-0.8 * n * h), euler = pow(1 + 0.8 * h, -n);
      motion m = motion_of(&l, 0);
      assert_near(m.velocity.x, k ? expected : euler, k ? 0.002 : 1e-7);
      assert_near(m.velocity.x, expected, 0.8 * h);
      assert_near(m.velocity.z, -2 * m.velocity.x, 1e-7);
    }
    unload(&l);
  }
}

// Stability: whatever the material, in one step a frame.

static bool drop_is_stable(double young, double poisson, double density) {
  char text[1024];
  snprintf(text, sizeof text,
           "{\"max_substeps\": 1, \"bodies\": [{\"surface\": \"cube.obj\", \"cell\": 0.05,"
           " \"density\": %.17g, \"material\": {\"young\": %.17g, \"poisson\": %.17g},"
           " \"initial\": {\"translate\": [0, 0.3, 0]}}],"
           " \"colliders\": [{\"shape\": \"plane\"}]}",
           density, young, poisson);
  loaded l = load_scene(text, 1);
  sn_frame_stats stats = step(&l, 1);
  double start = total_energy(&stats), worst = -INFINITY, low = stats.energy_gravity;
  bool finite = true;
  for (int n = 2; n <= 25; ++n) {
    stats = step(&l, n);
    finite = finite && state_is_finite(&l) && isfinite(total_energy(&stats));
    low = fmin(low, stats.energy_gravity);
    worst = fmax(worst, total_energy(&stats) - stats.work - start);
  }
  double range = start - low;
  bool good = finite && worst <= 0.01 * range;
  if (!good) {
    print_message("E %g, nu %g, rho %g: %s, energy gained %.3g of %.3g\n", young, poisson, density,
                  finite ? "finite" : "NOT FINITE", worst, range);
  }
  unload(&l);
  return good;
}

static void any_material_is_stable_in_one_step_a_frame(void** unused) {
  (void)unused;
  static const double YOUNG[] = {1e2, 1e4, 1e6, 1e9}, POISSON[] = {0.3, 0.49},
                      DENSITY[] = {10, 1000, 10000};
  int bad = 0;
  for (int i = 0; i < 24; ++i) {
    bad += !drop_is_stable(YOUNG[i % 4], POISSON[i / 4 % 2], DENSITY[i / 8]);
  }
  assert_int_equal(bad, 0);
}

// Determinism: a block slides over the ground with another one on it.

static const char* const SLIDE =
    "{\"frames\": [1, 6], \"bodies\": [{\"name\": \"block\", \"surface\": \"fine.obj\","
    "   \"cell\": 0.05, \"material\": {\"young\": 1e5, \"poisson\": 0.4}, \"initial\": {"
    "   \"translate\": [0, 0.001, 0], \"velocity\": [0.5, 0, 0.2]}},"
    "  {\"name\": \"lid\", \"surface\": \"fine.obj\", \"cell\": 0.05, \"material\": {"
    "   \"young\": 2e5, \"poisson\": 0.3}, \"initial\": {\"translate\": [0.02, 0.203, 0.01]}}],"
    " \"colliders\": [{\"shape\": \"plane\", \"friction\": 0.5}],"
    " \"contact\": {\"friction\": 0.3}, \"solver\": {\"newton\": {\"max\": 6}}}";

static uint64_t run_into(const char* folder, int threads, int last, sn_resume resume,
                         int resume_frame) {
  loaded l = load_scene(SLIDE, threads);
  l.scene->output.keep_checkpoints = true;
  return run_all(l, (sn_run_opts){scratch_path(folder), 1, last, resume, resume_frame});
}

static void assert_same_run(const char* a, const char* b) {
  static const char* const FILES[] = {"block.pc2", "lid.pc2", "checkpoint"};
  for (int i = 0; i < 3; ++i) {
    char one[64], other[64];
    snprintf(one, sizeof one, "%s/%s", a, FILES[i]);
    snprintf(other, sizeof other, "%s/%s", b, FILES[i]);
    assert_same_file(one, other);
  }
}

static void any_thread_count_gives_the_same_bytes(void** unused) {
  (void)unused;
  uint64_t contacts = run_into("base", 1, 6, SN_RESUME_NO, 0);
  print_message("%d contacts\n", (int)contacts);
  assert_true(contacts > 100);
  for (int threads = 1; threads <= 3; ++threads) {
    run_into("other", threads, 6, SN_RESUME_NO, 0);
    assert_same_run("base", "other");
  }
}

static void resuming_at_any_solved_frame_gives_the_same_bytes(void** unused) {
  (void)unused;
  run_into("base", 2, 6, SN_RESUME_NO, 0);
  for (int last = 2; last < 6; ++last) {
    run_into("other", 1, last, SN_RESUME_NO, 0);
    run_into("other", 2, 6, SN_RESUME_LAST, 0);
    assert_same_run("base", "other");
  }
  for (int frame = 3; frame <= 6; ++frame) {
    run_into("other", 1, 6, SN_RESUME_AT, frame);
    assert_same_run("base", "other");
  }
}

static void the_third_step_allocates_nothing(void** unused) {
  (void)unused;
  loaded l = load_scene(SLIDE, 2);
  step(&l, 1);
  step(&l, 2);
  uint64_t before = sn_allocation_count();
  assert_true(step(&l, 3).contacts > 0);
  assert_int_equal(sn_allocation_count(), before);
  unload(&l);
}

static void scaling_lengths_modulus_and_time_scales_the_result(void** unused) {
  (void)unused;
  // Lengths and Young's modulus x 4096, times x 64, density fixed; gravity then stays as it is.
  static const char* const FORMAT =
      "{\"fps\": %.17g, \"bodies\": [{\"surface\": \"%s\", \"cell\": %.17g, \"damping\": %.17g,"
      "  \"drag\": %.17g, \"material\": {\"young\": %.17g, \"poisson\": 0.4}, \"initial\": {"
      "  \"translate\": [0, %.17g, 0], \"rotate\": [0.1, 0.2, 0.3, 0.9],"
      "  \"velocity\": [%.17g, %.17g, 0], \"spin\": [0, 0, %.17g]}}],"
      " \"colliders\": [{\"shape\": \"plane\"}]}";
  float result[2][24];
  uint64_t contacts = 0;
  for (int k = 0; k < 2; ++k) {
    double s = k ? 4096 : 1, t = k ? 64 : 1;
    char text[2048];
    const char* name = k ? "large.obj" : "small.obj";
    write_box(name, 0.3 * s, 0.2 * s, 0.1 * s);
    snprintf(text, sizeof text, FORMAT, 24 / t, name, 0.05 * s, 0.002 * t, 0.25 / t, 2e4 * s,
             0.1 * s, s / t, -s / t, 2 / t);
    loaded l = load_scene(text, 1);
    for (int frame = 1; frame <= 8; ++frame) contacts += step(&l, frame).contacts;
    memcpy(result[k], surface(&l), sizeof result[k]);
    unload(&l);
  }
  double worst = 0;
  for (int i = 0; i < 24; ++i) worst = fmax(worst, fabs(result[0][i] - result[1][i] / 4096));
  print_message("off by %.2e m, %d contacts\n", worst, (int)contacts);
  assert_true(contacts > 0);
  assert_true(worst < 1e-6 * 0.3);
}

// The ends of a strip are pushed together, so that it bulges to one side, and then turned until it snaps to the other.
static double snap(const char* integrator, double damping) {
  char text[2048];
  snprintf(
      text, sizeof text,
      "{\"gravity\": 0, \"contact\": {\"self\": false}, \"bodies\": [{\"surface\": \"strip.obj\","
      "  \"cell\": 0.05, \"damping\": %.17g, \"material\": {\"young\": 1e5, \"poisson\": 0.3}}],"
      " \"fixed\": [{\"where\": {\"box\": [[-1, -1, -1], [0.06, 1, 1]]}, \"motion\": ["
      "   {\"frame\": 13, \"rotate\": [0, 0, -0.05, 1], \"pivot\": [0.05, 0.05, 0.05]},"
      "   {\"frame\": 25, \"rotate\": [0, 0, 0.577, 1], \"pivot\": [0.05, 0.05, 0.05]}]},"
      "  {\"where\": {\"box\": [[0.94, -1, -1], [2, 1, 1]]}, \"motion\": ["
      "   {\"frame\": 1, \"rotate\": [0, 0, 0.05, 1], \"pivot\": [0.95, 0.05, 0.05]},"
      "   {\"frame\": 13, \"translate\": [-0.2, 0, 0], \"rotate\": [0, 0, 0.05, 1],"
      "    \"pivot\": [0.95, 0.05, 0.05]},"
      "   {\"frame\": 25, \"translate\": [-0.2, 0, 0], \"rotate\": [0, 0, -0.577, 1],"
      "    \"pivot\": [0.95, 0.05, 0.05]}]}],"
      " \"solver\": {\"integrator\": \"%s\"}}",
      damping, integrator);
  loaded l = load_scene(text, 2);
  double start = 0, most = 0, gained = 0;
  for (int frame = 1; frame <= 30; ++frame) {
    sn_frame_stats stats = step(&l, frame);
    double beyond = stats.energy_elastic + stats.energy_kinetic - stats.work;
    if (frame == 1) start = beyond;
    most = fmax(most, fmax(stats.energy_elastic, stats.energy_kinetic));
    gained = fmax(gained, beyond - start);
  }
  print_message("%s, damping %g s: gains %.2f %%\n", integrator, damping, 100 * gained / most);
  unload(&l);
  return gained / most;
}

static void flesh_that_snaps_gains_nothing_by_damping(void** unused) {
  (void)unused;
  static const double DAMPING[] = {0, 0.01, 0.05, 0.2};  // s; a frame is 0.042
  for (int k = 0; k < 4; ++k) {
    assert_true(snap("euler", DAMPING[k]) < 0.01);
    assert_true(snap("bdf2", DAMPING[k]) < 0.01);
  }
}

// A body whose bones are far from the bind pose at the first frame.
static void a_preroll_brings_a_body_to_its_first_pose_at_rest(void** unused) {
  (void)unused;
  static const char* const POSED =
      "{\"preroll\": 24, \"gravity\": 9.81, \"bodies\": [{\"surface\": \"bar.obj\","
      "   \"cell\": 0.0625, \"material\": {\"young\": 2e5, \"poisson\": 0.4}, \"damping\": 0.01}],"
      " \"bones\": [{\"name\": \"a\", \"capsule\": {\"from\": [0.1, 0.1, 0.125],"
      "   \"to\": [0.1, 0.15, 0.125], \"radius\": 0.1}}, {\"name\": \"b\", \"capsule\": {"
      "   \"from\": [0.9, 0.1, 0.125], \"to\": [0.9, 0.15, 0.125], \"radius\": 0.1},"
      "   \"motion\": [{\"frame\": 1, \"translate\": [-0.1, 0.3, 0],"
      "    \"rotate\": [0.5, 0, 0, 0.8660254037844386], \"pivot\": [0.9, 0.125, 0.125]}]}],"
      " \"attachments\": [{\"bone\": \"a\"}, {\"bone\": \"b\"}],"
      " \"contact\": {\"self\": false}}";
  loaded l = load_scene(POSED, 2);
  sn_frame_stats stats = step(&l, 1);
  double places[8][3];
  print_message("first frame: elastic %.3g, kinetic %.3g J\n", stats.energy_elastic,
                stats.energy_kinetic);
  assert_true(stats.energy_kinetic < 0.01 * stats.energy_elastic);
  double jump = 0;
  for (int frame = 2; frame <= 6; ++frame) {
    const float* p = surface(&l);
    for (int i = 0; i < 24; ++i) places[i / 3][i % 3] = p[i];
    stats = step(&l, frame);
    p = surface(&l);
    for (int i = 0; i < 24; ++i) jump = fmax(jump, fabs(p[i] - places[i / 3][i % 3]));
    assert_true(stats.energy_kinetic < 0.01 * stats.energy_elastic);
  }
  print_message("largest move from frame to frame: %.3g m\n", jump);
  assert_true(jump < 0.01);
  unload(&l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_block, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(free_fall_is_that_of_the_integrator_and_strains_nothing),
      TEST(a_free_body_keeps_its_momentum_and_gains_no_energy),
      TEST(a_clamped_bar_swings_at_its_frequency),
      TEST(one_mode_loses_what_its_integrator_says),
      TEST(damping_calms_a_mode_by_half_of_it_times_the_frequency),
      TEST(flesh_that_snaps_gains_nothing_by_damping),
      TEST(drag_slows_a_free_body),
      TEST(any_material_is_stable_in_one_step_a_frame),
      TEST(any_thread_count_gives_the_same_bytes),
      TEST(resuming_at_any_solved_frame_gives_the_same_bytes),
      TEST(the_third_step_allocates_nothing),
      TEST(scaling_lengths_modulus_and_time_scales_the_result),
      TEST(a_preroll_brings_a_body_to_its_first_pose_at_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
