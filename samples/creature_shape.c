#include "creature_shape.h"

#include <stdlib.h>
#include <string.h>

#include "creature_math.h"
#include "sinew/shape.h"

#define SKIN_GRID 0.0155  // metres
#define DARK_GRID 0.0085
#define BLEND 0.09
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// Parts in the middle plane.
static const sn_round_cone middle_parts[] = {
    {{-0.23, 0.455, 0}, {-0.01, 0.425, 0}, 0.143, 0.174},   // hindquarters to belly
    {{-0.01, 0.425, 0}, {0.15, 0.47, 0}, 0.166, 0.130},     // belly to chest
    {{0.15, 0.51, 0}, {0.205, 0.63, 0}, 0.105, 0.100},      // neck
    {{0.235, 0.74, 0}, {0.285, 0.73, 0}, 0.152, 0.142},     // head
    {{0.375, 0.695, 0}, {0.44, 0.688, 0}, 0.088, 0.076},    // snout
    {{-0.335, 0.515, 0}, {-0.488, 0.74, 0}, 0.056, 0.036},  // tail
    {{-0.488, 0.74, 0}, {-0.488, 0.74, 0}, 0.048, 0.048},
};

// Parts of the right side; the left side mirrors them.
static const sn_round_cone side_parts[] = {
    {{-0.225, 0.40, 0.085}, {-0.18, 0.23, 0.105}, 0.104, 0.066},  // hind leg
    {{-0.18, 0.23, 0.105}, {-0.23, 0.075, 0.110}, 0.066, 0.052},
    {{-0.23, 0.062, 0.110}, {-0.183, 0.056, 0.116}, 0.058, 0.053},
    {{0.155, 0.40, 0.085}, {0.182, 0.225, 0.102}, 0.088, 0.059},  // foreleg
    {{0.182, 0.225, 0.102}, {0.162, 0.075, 0.106}, 0.059, 0.051},
    {{0.162, 0.062, 0.106}, {0.209, 0.056, 0.112}, 0.057, 0.053},
    {{0.355, 0.67, 0.055}, {0.40, 0.665, 0.045}, 0.066, 0.060},   // cheek
    {{0.205, 0.84, 0.105}, {0.175, 0.885, 0.175}, 0.050, 0.044},  // ear
    {{0.175, 0.885, 0.175}, {0.165, 0.78, 0.225}, 0.042, 0.054},
};

// Balls: both eyes and the nose.
static const sn_round_cone dark_parts[] = {
    {{0.378, 0.798, 0.074}, {0.378, 0.798, 0.074}, 0.034, 0.034},
    {{0.378, 0.798, -0.074}, {0.378, 0.798, -0.074}, 0.034, 0.034},
    {{0.508, 0.72, 0}, {0.508, 0.72, 0}, 0.033, 0.033},
};

static sn_status make_skin(sn_mesh* mesh, sn_error* err) {
  sn_round_cone parts[COUNT(middle_parts) + 2 * COUNT(side_parts)];
  memcpy(parts, middle_parts, sizeof middle_parts);
  sn_round_cone* next = parts + COUNT(middle_parts);
  for (size_t i = 0; i < COUNT(side_parts); ++i) {
    sn_round_cone part = side_parts[i];
    *next++ = part;
    part.from = mirrored(part.from);
    part.to = mirrored(part.to);
    *next++ = part;
  }
  return sn_mesh_from_round_cones(parts, COUNT(parts), BLEND, SKIN_GRID, mesh, err);
}

static sn_status fail_memory(sn_error* err) {
  *err = (sn_error){SN_ERR_MEMORY, "out of memory"};
  return SN_ERR_MEMORY;
}

// All of a, then all of b.
static sn_status join_meshes(const sn_mesh* a, const sn_mesh* b, sn_mesh* joined, sn_error* err) {
  size_t a_numbers = 3 * (size_t)a->vertex_count, b_numbers = 3 * (size_t)b->vertex_count;
  size_t a_corners = 3 * (size_t)a->triangle_count, b_corners = 3 * (size_t)b->triangle_count;
  double* positions = malloc(sizeof *positions * (a_numbers + b_numbers));
  uint32_t* corners = malloc(sizeof *corners * (a_corners + b_corners));
  sn_status status = SN_OK;
  if (positions && corners) {
    memcpy(positions, a->positions, sizeof *positions * a_numbers);
    memcpy(positions + a_numbers, b->positions, sizeof *positions * b_numbers);
    memcpy(corners, a->triangles, sizeof *corners * a_corners);
    for (size_t c = 0; c < b_corners; ++c) {
      corners[a_corners + c] = a->vertex_count + b->triangles[c];
    }
    status = sn_mesh_from_arrays(positions, a->vertex_count + b->vertex_count, corners,
                                 a->triangle_count + b->triangle_count, joined, err);
  } else {
    status = fail_memory(err);
  }
  free(positions);
  free(corners);
  return status;
}

// Two groups in one block: the first triangles and the rest.
static sn_status add_groups(sn_mesh* mesh, uint32_t skin_count, sn_error* err) {
  static char skin[] = "skin", dark[] = "dark";
  mesh->groups = calloc(2, sizeof *mesh->groups);
  uint32_t* triangles = malloc(sizeof *triangles * mesh->triangle_count);
  if (!mesh->groups || !triangles) {
    free(triangles);
    return fail_memory(err);
  }
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) triangles[t] = t;
  mesh->groups[0] =
      (sn_mesh_group){.name = skin, .triangles = triangles, .triangle_count = skin_count};
  mesh->groups[1] = (sn_mesh_group){.name = dark,
                                    .triangles = triangles + skin_count,
                                    .triangle_count = mesh->triangle_count - skin_count};
  mesh->group_count = 2;
  return SN_OK;
}

sn_status shape_create(sn_mesh* mesh, sn_error* err) {
  sn_mesh skin = {0}, dark = {0};
  *mesh = (sn_mesh){0};
  sn_status status = make_skin(&skin, err);
  if (status == SN_OK) {
    status = sn_mesh_from_round_cones(dark_parts, COUNT(dark_parts), 0, DARK_GRID, &dark, err);
  }
  if (status == SN_OK) status = join_meshes(&skin, &dark, mesh, err);
  if (status == SN_OK) status = add_groups(mesh, skin.triangle_count, err);
  sn_mesh_destroy(&skin);
  sn_mesh_destroy(&dark);
  return status;
}

void shape_destroy(sn_mesh* mesh) {
  if (mesh->group_count > 0) free(mesh->groups[0].triangles);
  free(mesh->groups);
  sn_mesh_destroy(mesh);
}

double shape_area(const sn_mesh* mesh) {
  double area = 0;
  for (size_t t = 0; t < mesh->triangle_count; ++t) {
    sn_vec3 p[3];
    for (int c = 0; c < 3; ++c) {
      memcpy(&p[c], mesh->positions + 3 * (size_t)mesh->triangles[3 * t + c], sizeof p[c]);
    }
    area += length(cross(subtract(p[1], p[0]), subtract(p[2], p[0]))) / 2;
  }
  return area;
}
