// What tests of motion measure: mass, momentum, energy and places, from the inside of a state.
#ifndef SN_TESTS_SCENE_MOTIONS_H
#define SN_TESTS_SCENE_MOTIONS_H

#include "math/vec.h"
#include "scene/model.h"
#include "scene/scenes.h"

typedef struct motion {
  double mass;       // kg
  sn_vec3 centre;    // of mass, m
  sn_vec3 velocity;  // of the centre, m/s
  sn_vec3 momentum;  // kg m/s
  sn_vec3 spin;      // angular momentum about the centre, kg m2/s
} motion;

static inline sn_vec3 node_rest(const loaded* l, uint32_t body, uint32_t node) {
  return sn_octree_node_place(&l->model->bodies[body].tree, node);
}

static inline double* node_move(const loaded* l, uint32_t body, uint32_t node) {
  return l->state->u + l->model->bodies[body].begin + 3 * (size_t)node;
}

static inline double* node_velocity(const loaded* l, uint32_t body, uint32_t node) {
  return l->state->velocity + l->model->bodies[body].begin + 3 * (size_t)node;
}

static inline sn_vec3 node_place(const loaded* l, uint32_t body, uint32_t node) {
  return sn_add(node_rest(l, body, node), sn_load3(node_move(l, body, node)));
}

static inline motion motion_of(const loaded* l, uint32_t b) {
  const sn_body* body = &l->model->bodies[b];
  motion m = {0};
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    double mass = body->node_mass[n];
    m.mass += mass;
    m.centre = sn_madd(m.centre, mass, node_place(l, b, n));
    m.momentum = sn_madd(m.momentum, mass, sn_load3(node_velocity(l, b, n)));
  }
  m.centre = sn_scale(1 / m.mass, m.centre);
  m.velocity = sn_scale(1 / m.mass, m.momentum);
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    sn_vec3 arm = sn_sub(node_place(l, b, n), m.centre);
    m.spin = sn_madd(m.spin, body->node_mass[n], sn_cross(arm, sn_load3(node_velocity(l, b, n))));
  }
  return m;
}

static inline double total_energy(const sn_frame_stats* stats) {
  return stats->energy_elastic + stats->energy_kinetic + stats->energy_gravity;
}

static inline bool state_is_finite(const loaded* l) {
  double sum = 0;
  for (size_t i = 0; i < l->model->unknown_count; ++i) {
    sum += fabs(l->state->u[i]) + fabs(l->state->velocity[i]);
  }
  return isfinite(sum);
}

static inline double diagonal(const loaded* l, uint32_t body) {
  sn_box box = l->model->bodies[body].surface.box;
  return sn_distance(box.lo, box.hi);
}

// Places of the points of the skin that may touch something; the caller frees. (skin.count)
static inline sn_vec3* skin_places(const loaded* l, uint32_t body) {
  const sn_skin* skin = &l->model->contact.skins[body];
  sn_vec3* places = malloc(skin->count * sizeof *places);
  assert_non_null(places);
  sn_skin_points_update(skin, l->pool, l->state->u, places);
  return places;
}

// The box from the origin to `size` with its faces cut into squares of about `edge`, so that the skin
// bends as the cells do.
static inline void write_fine_box(const char* name, sn_vec3 size, double edge) {
  static const int AXES[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 2, 0}, {1, 0, 2}, {2, 0, 1}, {2, 1, 0}};
  const char* path = scratch_path(name);
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  int first = 1;
  for (int f = 0; f < 6; ++f) {  // faces across AXES[f][0]: the lower one if f is odd
    const int* axis = AXES[f];
    int n = (int)round(sn_axis(size, axis[1]) / edge),
        m = (int)round(sn_axis(size, axis[2]) / edge);
    for (int k = 0; k < (n + 1) * (m + 1); ++k) {
      double p[3];
      p[axis[0]] = f % 2 ? 0 : sn_axis(size, axis[0]);
      p[axis[1]] = sn_axis(size, axis[1]) * (k % (n + 1)) / n;
      p[axis[2]] = sn_axis(size, axis[2]) * (double)(k / (n + 1)) / m;
      fprintf(file, "v %.17g %.17g %.17g\n", p[0], p[1], p[2]);
    }
    for (int k = 0; k < n * m; ++k) {
      int v = first + k % n + k / n * (n + 1);
      fprintf(file, "f %d %d %d %d\n", v, v + 1, v + n + 2, v + n + 1);
    }
    first += (n + 1) * (m + 1);
  }
  assert_int_equal(fclose(file), 0);
}

static inline void save_mesh(const char* name, sn_mesh mesh) {
  sn_error err = {0};
  assert_ok(sn_mesh_save_obj(scratch_path(name), &mesh, &err), &err);
  sn_mesh_destroy(&mesh);
}

#endif
