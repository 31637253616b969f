// What is around and inside the bodies: ground, colliders, bones, muscles.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

static double component(sn_vec3 a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }

static sn_vec3 carry(const sn_affine* a, const double* p) {
  double q[3];
  for (int i = 0; i < 3; ++i) {
    q[i] = a->linear.m[i][0] * p[0] + a->linear.m[i][1] * p[1] + a->linear.m[i][2] * p[2];
  }
  return (sn_vec3){q[0] + a->translate.x, q[1] + a->translate.y, q[2] + a->translate.z};
}

static void put3(float* to, sn_vec3 a) {
  to[0] = (float)a.x;
  to[1] = (float)a.y;
  to[2] = (float)a.z;
}

// A copy of the mesh that lives with the list.
static sn_status add_mesh(const sn_mesh* mesh, sn_drawn_surface surface, surface_list* list,
                          sn_error* err) {
  size_t corners = 3 * (size_t)mesh->triangle_count;
  float* positions = list_take(list, 3 * (size_t)mesh->vertex_count, sizeof *positions, err);
  uint32_t* triangles = list_take(list, corners, sizeof *triangles, err);
  if (!positions || !triangles) return err->status;
  for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; ++i) {
    positions[i] = (float)mesh->positions[i];
  }
  if (corners > 0) memcpy(triangles, mesh->triangles, corners * sizeof *triangles);
  surface.positions = positions;
  surface.vertex_count = mesh->vertex_count;
  surface.triangles = triangles;
  surface.triangle_count = mesh->triangle_count;
  return list_add(list, &surface, err);
}

static sn_status add_shape(const sn_collider_desc* desc, const sn_affine* moved,
                           const sn_view* view, sn_drawn_surface surface, surface_list* list,
                           sn_error* err) {
  sn_mesh mesh;
  sn_rigid pose = {moved->linear, moved->translate};
  sn_status status = sn_mesh_from_collider(desc, &pose, view, &mesh, err);
  if (status == SN_OK) status = add_mesh(&mesh, surface, list, err);
  sn_mesh_destroy(&mesh);
  return status;
}

static double height_of(const sn_affine* moved, sn_vec3 place, int up) {
  return component(carry(moved, (double[3]){place.x, place.y, place.z}), up);
}

static double lowest_corner(const sn_collider_desc* box, const sn_affine* moved, int up) {
  double lowest = INFINITY;
  for (int k = 0; k < 8; ++k) {
    sn_vec3 corner = {box->position.x + (k & 1 ? 1 : -1) * box->half.x,
                      box->position.y + (k & 2 ? 1 : -1) * box->half.y,
                      box->position.z + (k & 4 ? 1 : -1) * box->half.z};
    lowest = fmin(lowest, height_of(moved, corner, up));
  }
  return lowest;
}

// A mesh that is moved, or that has another shape in every frame.
typedef struct moving_mesh {
  const sn_mesh* mesh;
  const sn_motion* motion;
  const sn_mesh_motion* shape;  // goes before the motion where it has frames
} moving_mesh;

static sn_vec3 vertex_at(const moving_mesh* m, const sn_affine* moved, uint32_t vertex, int frame) {
  if (m->shape->frame_count > 0) return sn_mesh_motion_at(m->shape, vertex, frame);
  return carry(moved, m->mesh->positions + 3 * (size_t)vertex);
}

static double lowest_vertex(const moving_mesh* m, int frame, int up) {
  sn_affine moved = sn_motion_at(m->motion, frame);
  double lowest = INFINITY;
  for (uint32_t v = 0; v < m->mesh->vertex_count; ++v) {
    lowest = fmin(lowest, component(vertex_at(m, &moved, v, frame), up));
  }
  return lowest;
}

static sn_status add_moving_mesh(const moving_mesh* m, int frame, sn_drawn_surface surface,
                                 surface_list* list, sn_error* err) {
  sn_affine moved = sn_motion_at(m->motion, frame);
  sn_status status = add_mesh(m->mesh, surface, list, err);
  if (status != SN_OK) return status;
  // The list's own copy, so that it may be moved.
  float* positions = (float*)list->surfaces[list->count - 1].positions;
  for (uint32_t v = 0; v < m->mesh->vertex_count; ++v) {
    put3(positions + 3 * (size_t)v, vertex_at(m, &moved, v, frame));
  }
  return SN_OK;
}

static moving_mesh mesh_of_collider(const sn_collider_desc* desc) {
  return (moving_mesh){&desc->mesh, &desc->motion, &desc->shape};
}

static double lowest_of(const sn_collider_desc* desc, int frame, int up) {
  sn_affine at = sn_motion_at(&desc->motion, frame);
  const sn_affine* moved = &at;
  moving_mesh mesh = mesh_of_collider(desc);
  switch (desc->kind) {
    case SN_COLLIDER_PLANE:
      return INFINITY;
    case SN_COLLIDER_SPHERE:
      return height_of(moved, desc->position, up) - desc->radius;
    case SN_COLLIDER_CAPSULE:
      return fmin(height_of(moved, desc->capsule.from, up),
                  height_of(moved, desc->capsule.to, up)) -
             desc->capsule.radius;
    case SN_COLLIDER_BOX:
      return lowest_corner(desc, moved, up);
    case SN_COLLIDER_MESH:
      break;
  }
  return lowest_vertex(&mesh, frame, up);
}

double around_lowest(const run_data* run, int frame) {
  double lowest = INFINITY;
  for (uint32_t c = 0; c < run->scene->collider_count; ++c) {
    lowest = fmin(lowest, lowest_of(&run->scene->colliders[c], frame, (int)run->scene->up));
  }
  return lowest;
}

sn_status around_add_colliders(const run_data* run, int frame, const sn_view* view,
                               surface_list* list, sn_error* err) {
  sn_status status = SN_OK;
  for (uint32_t c = 0; c < run->scene->collider_count && status == SN_OK; ++c) {
    const sn_collider_desc* desc = &run->scene->colliders[c];
    sn_affine moved = sn_motion_at(&desc->motion, frame);
    bool floor = desc->kind == SN_COLLIDER_PLANE;
    sn_drawn_surface surface = {.look = floor ? SN_LOOK_FLOOR : SN_LOOK_SOLID,
                                .base = sn_colour_stone()};
    moving_mesh mesh = mesh_of_collider(desc);
    status = desc->kind == SN_COLLIDER_MESH ? add_moving_mesh(&mesh, frame, surface, list, err)
                                            : add_shape(desc, &moved, view, surface, list, err);
  }
  return status;
}

sn_status around_add_ground(const run_data* run, const sn_view* view, double lowest,
                            surface_list* list, sn_error* err) {
  const int up = (int)run->scene->up;
  sn_collider_desc ground = {
      .kind = SN_COLLIDER_PLANE,
      .normal = {up == 0, up == 1, up == 2},
      .position = {lowest * (up == 0), lowest * (up == 1), lowest * (up == 2)}};
  sn_affine at_rest = sn_motion_at(&(sn_motion){0}, 0);
  sn_drawn_surface surface = {.look = SN_LOOK_FLOOR, .base = sn_colour_stone()};
  return add_shape(&ground, &at_rest, view, surface, list, err);
}

// ---- Bones

sn_status around_add_bones(const run_data* run, int frame, const sn_view* view, surface_list* list,
                           sn_error* err) {
  sn_status status = SN_OK;
  for (uint32_t b = 0; b < run->scene->bone_count && status == SN_OK; ++b) {
    const sn_bone_desc* bone = &run->scene->bones[b];
    sn_drawn_surface surface = {.look = SN_LOOK_BONE, .base = {236, 228, 210}};
    if (bone->kind == SN_BONE_MESH) {
      moving_mesh mesh = {&bone->mesh, &bone->motion, &bone->shape};
      status = add_moving_mesh(&mesh, frame, surface, list, err);
    } else {
      sn_collider_desc capsule = {.kind = SN_COLLIDER_CAPSULE, .capsule = bone->capsule};
      sn_affine moved = sn_motion_at(&bone->motion, frame);
      status = add_shape(&capsule, &moved, view, surface, list, err);
    }
  }
  return status;
}

// ---- Muscles

typedef struct cell_key {
  uint64_t key;
  uint32_t cell;
} cell_key;

static uint64_t key_of(unsigned level, const double at[3]) {
  uint64_t key = level;
  for (int k = 0; k < 3; ++k) key = key << 16 | (uint64_t)at[k];
  return key;
}

static int compare_keys(const void* left, const void* right) {
  uint64_t a = ((const cell_key*)left)->key, b = ((const cell_key*)right)->key;
  return (a > b) - (a < b);
}

static cell_key* sort_cells(const sn_cells* cells, surface_list* list, sn_error* err) {
  cell_key* keys = list_take(list, cells->cell_count, sizeof *keys, err);
  for (uint32_t c = 0; keys && c < cells->cell_count; ++c) {
    const sn_cell_cube* cube = &cells->cubes[c];
    keys[c] = (cell_key){key_of(cube->level, (double[]){cube->x, cube->y, cube->z}), c};
  }
  if (keys) qsort(keys, cells->cell_count, sizeof *keys, compare_keys);
  return keys;
}

// The cell that holds a place, or the one whose middle is nearest. @param at in finest cells
static uint32_t find_cell(const sn_cells* cells, const cell_key* keys, const double at[3]) {
  for (unsigned level = 0; level < 16; ++level) {
    double corner[3], size = ldexp(1, (int)level);
    bool inside = true;
    for (int k = 0; k < 3; ++k) {
      corner[k] = size * floor(at[k] / size);
      inside = inside && corner[k] >= 0 && corner[k] < 65536;
    }
    if (!inside) continue;
    cell_key wanted = {.key = key_of(level, corner)};
    const cell_key* found = bsearch(&wanted, keys, cells->cell_count, sizeof *keys, compare_keys);
    if (found) return found->cell;
  }
  uint32_t nearest = 0;
  double least = INFINITY;
  for (uint32_t c = 0; c < cells->cell_count; ++c) {
    const sn_cell_cube* cube = &cells->cubes[c];
    double half = ldexp(0.5, cube->level), square = 0;
    const double away[3] = {at[0] - cube->x - half, at[1] - cube->y - half, at[2] - cube->z - half};
    for (int k = 0; k < 3; ++k) square += away[k] * away[k];
    if (square < least) {
      least = square;
      nearest = c;
    }
  }
  return nearest;
}

// Where the cell takes a place. @param at in finest cells
static sn_vec3 carry_by_cell(const sn_cells* cells, uint32_t cell, const double at[3],
                             const double* points) {
  const sn_cell_cube* cube = &cells->cubes[cell];
  const double corner[3] = {cube->x, cube->y, cube->z}, size = ldexp(1, cube->level);
  double sum[3] = {0};
  for (int c = 0; c < 8; ++c) {
    double weight = 1;
    for (int k = 0; k < 3; ++k) {
      double share = (at[k] - corner[k]) / size;
      weight *= c >> k & 1 ? share : 1 - share;
    }
    const double* p = points + 3 * (size_t)cells->corners[8 * (size_t)cell + c];
    for (int k = 0; k < 3; ++k) sum[k] += weight * p[k];
  }
  return (sn_vec3){sum[0], sum[1], sum[2]};
}

static sn_colour muscle_colour(double activation) {
  const double slack[3] = {196, 112, 102}, tense[3] = {198, 34, 34};
  double t = fmin(fmax(activation, 0), 1);
  return (sn_colour){(uint8_t)(slack[0] + t * (tense[0] - slack[0])),
                     (uint8_t)(slack[1] + t * (tense[1] - slack[1])),
                     (uint8_t)(slack[2] + t * (tense[2] - slack[2]))};
}

sn_status around_add_muscles(const run_data* run, uint32_t body, int frame, const double* points,
                             surface_list* list, sn_error* err) {
  const sn_cells* cells = &run->bodies[body].cells;
  cell_key* keys = sort_cells(cells, list, err);
  if (!keys) return err->status;
  for (uint32_t m = 0; m < run->scene->muscle_count; ++m) {
    const sn_muscle_desc* muscle = &run->scene->muscles[m];
    if (muscle->body != body) continue;
    double activation = sn_number_at(muscle->activation, muscle->activation_count, frame);
    sn_drawn_surface surface = {.look = SN_LOOK_FLESH, .base = muscle_colour(activation)};
    sn_status status = add_mesh(&muscle->mesh, surface, list, err);
    if (status != SN_OK) return status;
    float* positions = (float*)list->surfaces[list->count - 1].positions;
    for (uint32_t v = 0; v < muscle->mesh.vertex_count; ++v) {
      double at[3];
      for (int k = 0; k < 3; ++k) {
        double place = muscle->mesh.positions[3 * (size_t)v + k] / run->scene->unit;
        at[k] = (place - component(cells->origin, k)) / cells->edge;
      }
      uint32_t cell = find_cell(cells, keys, at);
      put3(positions + 3 * (size_t)v, carry_by_cell(cells, cell, at, points));
    }
  }
  return SN_OK;
}
