#include "creature_shape.h"

#include <stdlib.h>
#include <string.h>

#include "creature_math.h"
#include "sinew/shape.h"

#define SKIN_GRID 0.0136  // metres
#define DARK_GRID 0.0085
#define BLEND 0.09
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// Parts in the middle plane.
static const sn_round_cone middle_parts[] = {
    {{-0.21, 0.425, 0}, {-0.02, 0.400, 0}, 0.145, 0.172},  // hindquarters to belly
    {{-0.02, 0.400, 0}, {0.14, 0.440, 0}, 0.165, 0.130},   // belly to chest
    {{0.15, 0.48, 0}, {0.205, 0.60, 0}, 0.105, 0.100},     // neck
    {{0.235, 0.71, 0}, {0.285, 0.70, 0}, 0.152, 0.142},    // head
    {{0.375, 0.665, 0}, {0.44, 0.658, 0}, 0.088, 0.076},   // snout
    {{-0.32, 0.49, 0}, {-0.405, 0.55, 0}, 0.056, 0.045},   // tail
    {{-0.405, 0.55, 0}, {-0.455, 0.635, 0}, 0.045, 0.038},
    {{-0.455, 0.635, 0}, {-0.470, 0.720, 0}, 0.038, 0.046},
};

// Parts of the right side; the left side mirrors them.
static const sn_round_cone side_parts[] = {
    {{-0.20, 0.37, 0.085}, {-0.14, 0.22, 0.105}, 0.104, 0.070},  // hind leg
    {{-0.14, 0.22, 0.105}, {-0.205, 0.075, 0.110}, 0.070, 0.054},
    {{-0.205, 0.062, 0.110}, {-0.158, 0.056, 0.116}, 0.058, 0.053},
    {{0.15, 0.37, 0.085}, {0.095, 0.225, 0.102}, 0.086, 0.064},  // foreleg
    {{0.095, 0.225, 0.102}, {0.14, 0.075, 0.106}, 0.064, 0.052},
    {{0.14, 0.062, 0.106}, {0.187, 0.056, 0.112}, 0.057, 0.053},
    {{0.355, 0.64, 0.055}, {0.40, 0.635, 0.045}, 0.066, 0.060},   // cheek
    {{0.205, 0.81, 0.105}, {0.175, 0.855, 0.175}, 0.050, 0.044},  // ear
    {{0.175, 0.855, 0.175}, {0.165, 0.75, 0.225}, 0.042, 0.054},
};

// Balls: both eyes and the nose.
static const sn_round_cone dark_parts[] = {
    {{0.378, 0.768, 0.074}, {0.378, 0.768, 0.074}, 0.034, 0.034},
    {{0.378, 0.768, -0.074}, {0.378, 0.768, -0.074}, 0.034, 0.034},
    {{0.508, 0.690, 0}, {0.508, 0.690, 0}, 0.033, 0.033},
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
  mesh->groups[0] = (sn_mesh_group){skin, triangles, skin_count};
  mesh->groups[1] =
      (sn_mesh_group){dark, triangles + skin_count, mesh->triangle_count - skin_count};
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
