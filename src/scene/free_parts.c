// Parts of a body that nothing holds. Without inertia their position is undetermined: loads lose
// their net force and torque, and after each solve the start pose's placement is given back.
#include <math.h>

#include "math/svd3.h"
#include "math/vec.h"
#include "scene/model.h"

static sn_vec3 mass_centre(const sn_body* body, uint32_t part, const sn_vec3* places,
                           double* mass) {
  sn_vec3 sum = {0, 0, 0};
  *mass = 0;
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    if (sn_body_part(body, n) != part) continue;
    *mass += body->node_mass[n];
    sum =
        sn_madd(sum, body->node_mass[n], places ? places[n] : sn_octree_node_local(&body->tree, n));
  }
  return sn_scale(1 / *mass, sum);
}

// I^-1 t for a symmetric, positive matrix, by cofactors.
static sn_vec3 solve_symmetric(const sn_mat3* I, sn_vec3 t) {
  sn_vec3 a = sn_v3(I->m[0][0], I->m[1][0], I->m[2][0]);
  sn_vec3 b = sn_v3(I->m[0][1], I->m[1][1], I->m[2][1]);
  sn_vec3 c = sn_v3(I->m[0][2], I->m[1][2], I->m[2][2]);
  double det = sn_dot(a, sn_cross(b, c));
  return sn_scale(1 / det, sn_v3(sn_dot(t, sn_cross(b, c)), sn_dot(a, sn_cross(t, c)),
                                 sn_dot(a, sn_cross(b, t))));
}

// f -= m (A + B x r), the acceleration field of a rigid body under the same net force and torque.
static void balance_part(const sn_body* body, uint32_t part, double* forces) {
  double mass;
  sn_vec3 centre = mass_centre(body, part, NULL, &mass), force = {0, 0, 0}, torque = {0, 0, 0};
  sn_mat3 inertia = {{{0}}};
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    if (sn_body_part(body, n) != part) continue;
    sn_vec3 r = sn_sub(sn_octree_node_local(&body->tree, n), centre);
    sn_vec3 f = sn_load3(forces + 3 * (size_t)n);
    double rr = sn_dot(r, r), v[3] = {r.x, r.y, r.z};
    force = sn_add(force, f);
    torque = sn_add(torque, sn_cross(r, f));
    for (int i = 0; i < 9; ++i) {
      inertia.m[i / 3][i % 3] += body->node_mass[n] * ((i % 4 == 0) * rr - v[i / 3] * v[i % 3]);
    }
  }
  sn_vec3 linear = sn_scale(1 / mass, force), angular = solve_symmetric(&inertia, torque);
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    if (sn_body_part(body, n) != part) continue;
    sn_vec3 r = sn_sub(sn_octree_node_local(&body->tree, n), centre);
    sn_vec3 field = sn_add(linear, sn_cross(angular, r));
    double* f = forces + 3 * (size_t)n;
    sn_store3(f, sn_madd(sn_load3(f), -body->node_mass[n], field));
  }
}

// Weight first and exactly: it is mass times a constant field. What is left, loads, is balanced.
void sn_free_parts_balance(const sn_body* body, sn_vec3 gravity, double* forces) {
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    if (body->part_is_held[sn_body_part(body, n)]) continue;
    double* f = forces + 3 * (size_t)n;
    sn_store3(f, sn_madd(sn_load3(f), -body->node_mass[n], gravity));
  }
  for (uint32_t p = 0; p < body->part_count; ++p) {
    if (!body->part_is_held[p]) balance_part(body, p, forces);
  }
}

// Best rotation from where the part should be to where it is: of sum m (x - c)(x0 - c0)^T.
static sn_mat3 best_rotation(const double covariance[9]) {
  double U[9], s[3], V[9];
  sn_mat3 R;
  sn_svd3_d(covariance, U, s, V);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      R.m[i][j] = U[3 * i] * V[3 * j] + U[3 * i + 1] * V[3 * j + 1] + U[3 * i + 2] * V[3 * j + 2];
    }
  }
  return R;
}

static void align_part(const sn_body* body, uint32_t part, double* u) {
  const sn_octree* tree = &body->tree;
  const sn_rigid* start = &body->desc->initial;
  double mass = 0;
  sn_vec3 is = {0, 0, 0}, ought = {0, 0, 0};  // centres
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    if (sn_body_part(body, n) != part) continue;
    double m = body->node_mass[n];
    sn_vec3 place = sn_octree_node_place(tree, n), local = sn_octree_node_local(tree, n);
    mass += m;
    is = sn_madd(is, m, sn_add(local, sn_load3(u + 3 * (size_t)n)));
    ought = sn_madd(ought, m, sn_add(local, sn_rigid_displace(start, place)));
  }
  is = sn_scale(1 / mass, is);
  ought = sn_scale(1 / mass, ought);

  double covariance[9] = {0};
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    if (sn_body_part(body, n) != part) continue;
    sn_vec3 place = sn_octree_node_place(tree, n), local = sn_octree_node_local(tree, n);
    sn_vec3 a = sn_sub(sn_add(local, sn_load3(u + 3 * (size_t)n)), is);
    sn_vec3 b = sn_sub(sn_add(local, sn_rigid_displace(start, place)), ought);
    double av[3] = {a.x, a.y, a.z}, bv[3] = {b.x, b.y, b.z};
    for (int i = 0; i < 9; ++i) covariance[i] += body->node_mass[n] * av[i / 3] * bv[i % 3];
  }
  sn_mat3 R = best_rotation(covariance), back;
  for (int i = 0; i < 9; ++i) back.m[i / 3][i % 3] = R.m[i % 3][i / 3];
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    if (sn_body_part(body, n) != part) continue;
    sn_vec3 local = sn_octree_node_local(tree, n);
    sn_vec3 from_centre = sn_sub(sn_add(local, sn_load3(u + 3 * (size_t)n)), is);
    sn_store3(u + 3 * (size_t)n, sn_sub(sn_add(ought, sn_mul3v(&back, from_centre)), local));
  }
}

void sn_free_parts_place(const sn_body* body, double* u) {
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    if (body->part_is_held[sn_body_part(body, n)]) continue;
    sn_vec3 place = sn_octree_node_place(&body->tree, n);
    sn_store3(u + 3 * (size_t)n, sn_rigid_displace(&body->desc->initial, place));
  }
}

void sn_free_parts_align(const sn_model* model, sn_state* state) {
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    for (uint32_t p = 0; p < body->part_count; ++p) {
      if (!body->part_is_held[p]) align_part(body, p, state->u + body->begin);
    }
  }
}
