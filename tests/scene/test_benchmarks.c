// Boundary value problems with known answers, nearly incompressible: Cook's membrane, a block under a pressure on
// a part of it (Reese, Wriggers and Reddy 2000), and the torsion of a cylinder (Rivlin). Numbers without closed form
// are from finite elements of high order, computed elsewhere.
#include <math.h>

#include "material/law.h"
#include "scene/made.h"

// A prism along z over a polygon of four corners.
static sn_mesh prism(const double corners[4][2], double thickness) {
  sn_mesh mesh = shape_unit_cube();
  static const int CORNER[4] = {0, 1, 3, 2};  // of a cell, around its lower face
  for (int c = 0; c < 4; ++c) {
    for (int top = 0; top < 2; ++top) {
      sn_store3(mesh.positions + 3 * (size_t)(CORNER[c] + 4 * top),
                sn_v3(corners[c][0], corners[c][1], top * thickness));
    }
  }
  return mesh;
}

static void push(made* m, sn_vec3 lo, sn_vec3 hi, sn_vec3 from, sn_vec3 to, int frames) {
  assert_true(m->scene.force_count < MADE_PARTS);
  uint32_t k = m->scene.force_count++;
  m->loads[k][0] = (sn_load_key){0, from};
  m->loads[k][1] = (sn_load_key){frames, to};
  m->forces[k] = (sn_force_desc){
      .where = {.kind = SN_WHERE_BOX, .box = {lo, hi}}, .is_traction = true, .key_count = 2};
}

static void build(made* m) {
  for (uint32_t k = 0; k < m->scene.force_count; ++k) m->forces[k].keys = m->loads[k];
  made_build(m);
}

static double move_of_vertex(const made* m, size_t vertex, int axis) {
  sn_vec3 move = sn_body_vertex_move(&m->model->bodies[0], m->state->u, vertex);
  return axis == 0 ? move.x : axis == 1 ? move.y : move.z;
}

// Plane strain by holding z everywhere, one layer of cells. A hundredth of the load, so that any law is linear.
static double cook(sn_law law, double poisson, int across, int quadrature) {
  static const double CORNERS[4][2] = {{0, 0}, {48, 44}, {48, 60}, {0, 44}};
  double young = 250, cell = 48.0 / across, share = 0.01;
  made m = made_of(prism(CORNERS, cell), cell,
                   sn_material_of(law, lame_mu(young, poisson), lame_lambda(young, poisson)));
  m.body.quadrature = quadrature;
  m.scene.solver.newton_tolerance = 1e-4;
  m.scene.solver.sharp = quadrature == 2;
  m.scene.solver.krylov_max = 1000;
  m.scene.solver.newton_max = 100;
  made_hold(&m, sn_v3(0, 0, 0), sn_v3(0, 44, cell));
  made_hold(&m, sn_v3(-1, -1, -1), sn_v3(49, 99, 99))->axes = SN_HELD_Z;
  sn_vec3 shear = sn_v3(0, share * 100 / 16, 0);
  push(&m, sn_v3(48, 0, 0), sn_v3(48, 60, cell), shear, shear, 1);
  build(&m);
  sn_frame_stats stats = made_step(&m, 1);
  double tip = move_of_vertex(&m, 3, 1) / share;
  print_message(
      "Cook, %s, nu %g, %d cells across, quadrature %d: %llu cells, tip %.4f, %d Newton steps, "
      "residual %.0e\n",
      sn_law_name(law), poisson, across, quadrature, (unsigned long long)stats.elements, tip,
      stats.newton, stats.residual);
  assert_true(stats.converged);
  made_destroy(&m);
  return tip;
}

static void cooks_membrane_does_not_lock(void** unused) {
  (void)unused;
  double firm = 9.22269, soft = 7.7714;
  assert_near(cook(SN_LAW_NEO_HOOKEAN, 0.3, 32, 2), firm, 0.03 * firm);
  for (int across = 16; across <= 32; across *= 2) {
    assert_near(cook(SN_LAW_NEO_HOOKEAN, 0.4999, across, 2), soft, 0.03 * soft);
  }
}

// A quarter of the block, 50 mm a side; N and mm.
static void the_block_under_partial_pressure(void** unused) {
  (void)unused;
  static const double EXPECTED[] = {5.477, 10.99};
  made m = made_of(shape_box(sn_v3(0, 0, 0), sn_v3(50, 50, 50)), 50.0 / 16,
                   sn_material_of(SN_LAW_NEO_HOOKEAN, 80.194, 400889.806));
  m.scene.solver.newton_tolerance = 1e-4;
  m.scene.solver.newton_max = 100;
  made_hold(&m, sn_v3(0, 0, 0), sn_v3(0, 50, 50))->axes = SN_HELD_X;
  made_hold(&m, sn_v3(0, 0, 0), sn_v3(50, 0, 50))->axes = SN_HELD_Y;
  made_hold(&m, sn_v3(0, 0, 0), sn_v3(50, 50, 0))->axes = SN_HELD_Z;
  made_hold(&m, sn_v3(0, 0, 50), sn_v3(50, 50, 50))->axes = SN_HELD_XY;
  push(&m, sn_v3(0, 0, 50), sn_v3(25, 25, 50), sn_v3(0, 0, 0), sn_v3(0, 0, -80), 4);
  build(&m);
  for (int frame = 1; frame <= 4; ++frame) {
    sn_frame_stats stats = made_step(&m, frame);
    double down = -move_of_vertex(&m, 4, 2);
    print_message(
        "block, p/p0 %2d: -uz %.3f, volume %+.3f %%, %d Newton steps, residual %.0e, %.1f s\n",
        5 * frame, down, 100 * stats.volume_error, stats.newton, stats.residual, stats.seconds);
    assert_true(stats.converged);
    if (frame % 2) continue;
    assert_near(down, EXPECTED[frame / 2 - 1], 0.03 * EXPECTED[frame / 2 - 1]);
    assert_true(fabs(stats.volume_error) < 1e-3);
  }
  made_destroy(&m);
}

// A closed cylinder about the y axis, of unit radius.
static sn_mesh cylinder(double length, int sides) {
  shape_arrays a = shape_begin(2 * (size_t)sides + 2, 4 * (size_t)sides);
  for (int k = 0; k < sides; ++k) {
    double angle = 2 * SHAPE_PI * k / sides,
           r = 1 / sqrt(sin(2 * SHAPE_PI / sides) * sides / (2 * SHAPE_PI));
    shape_vertex(&a, sn_v3(r * cos(angle), 0, r * sin(angle)));
    shape_vertex(&a, sn_v3(r * cos(angle), length, r * sin(angle)));
  }
  uint32_t below = shape_vertex(&a, sn_v3(0, 0, 0)), above = shape_vertex(&a, sn_v3(0, length, 0));
  for (uint32_t k = 0; k < (uint32_t)sides; ++k) {
    uint32_t i = 2 * k, j = 2 * ((k + 1) % (uint32_t)sides);
    shape_quad(&a, i, i + 1, j + 1, j);
    shape_triangle(&a, below, i, j);
    shape_triangle(&a, above, j + 1, i + 1);
  }
  return shape_end(&a);
}

// Torque about y and force along it that hold the upper end.
static void hold_of_end(const made* m, double* torque, double* force) {
  const sn_body* body = &m->model->bodies[0];
  *torque = *force = 0;
  for (uint32_t h = 0; h < body->held_count; ++h) {
    if (body->held[h].fixed != 1) continue;
    uint32_t node = body->held[h].node;
    sn_vec3 place = sn_octree_node_place(&body->tree, node);
    sn_vec3 arm = sn_add(place, sn_load3(m->state->u + 3 * (size_t)node));
    sn_vec3 f = sn_load3(m->state->reactions + 3 * (size_t)h);
    *torque += sn_cross(arm, f).y;
    *force += f.y;
  }
}

static void a_twisted_cylinder_has_rivlins_torque(void** unused) {
  (void)unused;
  double length = 2, poisson = 0.499, mu = 1, psi = 0.5, torque, force;
  made m = made_of(cylinder(length, 96), 2.0 / 16,
                   sn_material_of(SN_LAW_NEO_HOOKEAN, mu, 2 * mu * poisson / (1 - 2 * poisson)));
  m.body.quadrature = 2;
  m.scene.solver.newton_tolerance = 1e-4;
  m.scene.solver.newton_max = 100;
  m.scene.solver.sharp = true;
  m.scene.solver.krylov_max = 300;
  made_hold(&m, sn_v3(-2, 0, -2), sn_v3(2, 0, 2));
  made_hold(&m, sn_v3(-2, length, -2), sn_v3(2, length, 2));
  for (int k = 0; k < 2; ++k) {
    double half = 0.5 * psi * length * k;
    m.keys[k] = (sn_keyframe){.frame = k, .rotate = {0, sin(half), 0, cos(half)}};
  }
  m.fixed[1].motion = (sn_motion){.keys = m.keys, .key_count = 2};
  build(&m);
  sn_frame_stats stats = made_step(&m, 1);
  hold_of_end(&m, &torque, &force);
  double expected = SHAPE_PI / 2 * mu * psi, pushed = -SHAPE_PI / 4 * mu * psi * psi;
  print_message(
      "torsion: %llu cells, torque %.4f of %.4f (%+.2f %%), force %.4f of %.4f, %d Newton steps, "
      "residual %.0e\n",
      (unsigned long long)stats.elements, torque, expected, 100 * (torque / expected - 1), force,
      pushed, stats.newton, stats.residual);
  assert_true(stats.converged);
  assert_near(torque, expected, 0.02 * expected);
  made_destroy(&m);
}

// A sphere of radius 2 with a hollow of radius 1, whose pressure is a traction on each of its triangles.
typedef struct hollow {
  made m;
  uint32_t first, count, first_vertex;  // triangles and vertices of the hollow
  sn_force_desc* forces;
  sn_load_key* keys;
  sn_mesh_group* groups;
  uint32_t* triangles;
  char (*names)[16];
} hollow;

static void make_hollow(hollow* h, int across, double poisson) {
  sn_mesh outer = shape_sphere(sn_v3(0, 0, 0), 2, 48), inner = shape_sphere(sn_v3(0, 0, 0), 1, 32);
  h->first = outer.triangle_count;
  h->count = inner.triangle_count;
  h->first_vertex = outer.vertex_count;
  sn_mesh mesh = shape_join(outer, inner);
  shape_flip(&mesh, h->first, h->first + h->count);
  h->forces = calloc(h->count, sizeof *h->forces);
  h->keys = calloc(h->count, sizeof *h->keys);
  h->groups = calloc(h->count, sizeof *h->groups);
  h->triangles = calloc(h->count, sizeof *h->triangles);
  h->names = calloc(h->count, sizeof *h->names);
  for (uint32_t k = 0; k < h->count; ++k) {
    h->triangles[k] = h->first + k;
    snprintf(h->names[k], sizeof h->names[k], "%u", k);
    h->groups[k] =
        (sn_mesh_group){.name = h->names[k], .triangles = &h->triangles[k], .triangle_count = 1};
    h->forces[k] = (sn_force_desc){.where = {.kind = SN_WHERE_GROUP, .group = h->names[k]},
                                   .is_traction = true,
                                   .keys = &h->keys[k],
                                   .key_count = 1};
  }
  mesh.groups = h->groups;
  mesh.group_count = h->count;
  sn_material material =
      sn_material_of(SN_LAW_NEO_HOOKEAN, lame_mu(1, poisson), lame_lambda(1, poisson));
  h->m = made_of(mesh, 4.0 / across, material);
  h->m.body.quadrature = 2;
  h->m.scene.forces = h->forces;
  h->m.scene.force_count = h->count;
  h->m.scene.solver.sharp = true;
  h->m.scene.solver.krylov_max = 300;
  h->m.scene.solver.newton_tolerance = 1e-4;
  made_build(&h->m);
}

static void destroy_hollow(hollow* h) {
  made_destroy(&h->m);
  free(h->forces);
  free(h->keys);
  free(h->groups);
  free(h->triangles);
  free(h->names);
}

// The pressure acts along the normals of now, on the areas of now.
static void set_pressure(hollow* h, double pressure) {
  const sn_mesh* mesh = &h->m.body.mesh;
  for (uint32_t k = 0; k < h->count; ++k) {
    sn_vec3 rest[3], now[3];
    for (int c = 0; c < 3; ++c) {
      uint32_t v = mesh->triangles[3 * (size_t)(h->first + k) + (size_t)c];
      rest[c] = sn_load3(mesh->positions + 3 * (size_t)v);
      now[c] = sn_add(rest[c], sn_body_vertex_move(&h->m.model->bodies[0], h->m.state->u, v));
    }
    sn_vec3 area = sn_cross(sn_sub(now[1], now[0]), sn_sub(now[2], now[0]));
    sn_vec3 before = sn_cross(sn_sub(rest[1], rest[0]), sn_sub(rest[2], rest[0]));
    h->keys[k].value = sn_scale(-pressure / sn_length(before), area);
  }
}

// Mean radius of the hollow and of the outside.
static void radii(const hollow* h, double mean[2]) {
  const sn_mesh* mesh = &h->m.body.mesh;
  double sum[2] = {0, 0}, count[2] = {0, 0};
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    sn_vec3 p = sn_load3(mesh->positions + 3 * (size_t)v);
    int which = v < h->first_vertex;
    sum[which] +=
        sn_length(sn_add(p, sn_body_vertex_move(&h->m.model->bodies[0], h->m.state->u, v)));
    count[which]++;
  }
  for (int k = 0; k < 2; ++k) mean[k] = sum[k] / count[k];
}

// Lame: u(r) = p A^3 / (E (B^3 - A^3)) ((1 - 2 nu) r + (1 + nu) B^3 / (2 r^2))
static void a_hollow_sphere_under_small_pressure_is_lames(void** unused) {
  (void)unused;
  static const double POISSON[] = {0.3, 0.45, 0.49};
  for (int k = 0; k < 3; ++k) {
    hollow h;
    double r[2], p = 0.002, nu = POISSON[k];
    make_hollow(&h, 20, nu);
    set_pressure(&h, p);
    sn_frame_stats stats = made_step(&h.m, 1);
    radii(&h, r);
    double inner = ((1 - 2 * nu) + 4 * (1 + nu)) / 7, outer = (2 * (1 - 2 * nu) + (1 + nu)) / 7;
    print_message(
        "sphere, nu %.2f: %llu cells, u(A) E/p %.4f of %.4f, u(B) E/p %.4f of %.4f, %d Newton "
        "steps, residual %.0e\n",
        nu, (unsigned long long)stats.elements, (r[0] - 1) / p, inner, (r[1] - 2) / p, outer,
        stats.newton, stats.residual);
    destroy_hollow(&h);
  }
}

// Incompressible: a^3 - 1 = 8 (b^3 - 1), p/mu = 2 (1/b - 1/a) + (1/b^4 - 1/a^4) / 2, with the stretches a and b
// of the inner and the outer radius.
static void a_hollow_sphere_swells_as_in_closed_form(void** unused) {
  (void)unused;
  hollow h;
  double r[2], poisson = 0.49, a = 1.1, b = cbrt(1 + (a * a * a - 1) / 8);
  double p = 2 * (1 / b - 1 / a) + (pow(b, -4) - pow(a, -4)) / 2;
  make_hollow(&h, 16, poisson);
  sn_frame_stats stats = {0};
  for (int frame = 1; frame <= 6; ++frame) {
    set_pressure(&h, p * lame_mu(1, poisson));
    stats = made_step(&h.m, frame);
  }
  radii(&h, r);
  print_message(
      "sphere, p/mu %.4f: stretches %.4f of %.4f and %.4f of %.4f, volume %+.2f %%, residual "
      "%.0e\n",
      p, r[0], a, r[1] / 2, b, 100 * stats.volume_error, stats.residual);
  assert_true(stats.converged);
  assert_near(r[0] - 1, a - 1, 0.03 * (a - 1));
  assert_near(r[1] / 2 - 1, b - 1, 0.03 * (b - 1));
  destroy_hollow(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_hollow_sphere_swells_as_in_closed_form),
      cmocka_unit_test(a_hollow_sphere_under_small_pressure_is_lames),
      cmocka_unit_test(a_twisted_cylinder_has_rivlins_torque),
      cmocka_unit_test(the_block_under_partial_pressure),
      cmocka_unit_test(cooks_membrane_does_not_lock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
