#include "shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Round shapes: corners of a ring, rings of each half ball.
#define SIDES 24
#define END_RINGS 6
#define PI 3.14159265358979323846
// A plane reaches this far from the middle of the scene, in diagonals of it.
#define PLANE_REACH 3

const char* shape_name(sn_collider_kind kind) {
  switch (kind) {
    case SN_COLLIDER_PLANE:
      return "plane";
    case SN_COLLIDER_SPHERE:
      return "sphere";
    case SN_COLLIDER_CAPSULE:
      return "capsule";
    case SN_COLLIDER_BOX:
      return "box";
    case SN_COLLIDER_MESH:
      break;
  }
  return "mesh";
}

static bool make(shape* s, uint32_t vertices, uint32_t triangles) {
  *s = (shape){.vertex_count = vertices, .triangle_count = triangles};
  s->places = calloc(3 * (size_t)vertices + 1, sizeof *s->places);
  s->triangles = calloc(3 * (size_t)triangles + 1, sizeof *s->triangles);
  if (s->places && s->triangles) return true;
  shape_free(s);
  return false;
}

void shape_free(shape* s) {
  free(s->places);
  free(s->triangles);
  *s = (shape){0};
}

bool shape_from_mesh(const sn_mesh* mesh, shape* s) {
  if (!make(s, mesh->vertex_count, mesh->triangle_count)) return false;
  memcpy(s->places, mesh->positions, 3 * (size_t)mesh->vertex_count * sizeof *s->places);
  memcpy(s->triangles, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *s->triangles);
  return true;
}

static sn_vec3 add(sn_vec3 a, double s, sn_vec3 b) {
  return (sn_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static sn_vec3 cross(sn_vec3 a, sn_vec3 b) {
  return (sn_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static double dot(sn_vec3 a, sn_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

// Unit vectors that make a right-handed frame with a unit axis: u, v, axis.
static void axes_across(sn_vec3 axis, sn_vec3* u, sn_vec3* v) {
  sn_vec3 other = fabs(axis.x) < 0.8 ? (sn_vec3){1, 0, 0} : (sn_vec3){0, 1, 0};
  *u = cross(other, axis);
  double length = sqrt(dot(*u, *u));
  *u = (sn_vec3){u->x / length, u->y / length, u->z / length};
  *v = cross(axis, *u);
}

static void put(shape* s, uint32_t vertex, sn_vec3 place) {
  double* at = s->places + 3 * (size_t)vertex;
  at[0] = place.x, at[1] = place.y, at[2] = place.z;
}

static void put_quad(shape* s, uint32_t quad, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  const uint32_t corners[6] = {a, b, c, a, c, d};
  memcpy(s->triangles + 6 * (size_t)quad, corners, sizeof corners);
}

// Rings from pole to pole: half a ball around each end. At the poles all corners of a ring meet.
static bool make_capsule(sn_capsule capsule, shape* s) {
  const uint32_t rings = 2 * END_RINGS + 2;
  if (!make(s, rings * SIDES, 2 * (rings - 1) * SIDES)) return false;
  sn_vec3 axis = add(capsule.to, -1, capsule.from), u, v;
  double length = sqrt(dot(axis, axis));
  axis = length > 0 ? (sn_vec3){axis.x / length, axis.y / length, axis.z / length}
                    : (sn_vec3){0, 1, 0};
  axes_across(axis, &u, &v);
  for (uint32_t ring = 0; ring < rings; ++ring) {
    bool upper = ring > END_RINGS;
    int step = upper ? (int)ring - END_RINGS - 1 : (int)ring - END_RINGS;
    double latitude = PI / 2 * step / END_RINGS, out = capsule.radius * cos(latitude);
    sn_vec3 middle = add(upper ? capsule.to : capsule.from, capsule.radius * sin(latitude), axis);
    for (uint32_t side = 0; side < SIDES; ++side) {
      double angle = 2 * PI * side / SIDES;
      put(s, ring * SIDES + side, add(add(middle, out * cos(angle), u), out * sin(angle), v));
      if (ring == 0) continue;
      uint32_t next = (side + 1) % SIDES, below = (ring - 1) * SIDES, here = ring * SIDES;
      put_quad(s, below + side, below + side, below + next, here + next, here + side);
    }
  }
  return true;
}

static bool make_box(sn_vec3 middle, sn_vec3 half, shape* s) {
  static const uint32_t FACES[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                       {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  if (!make(s, 8, 12)) return false;
  for (uint32_t c = 0; c < 8; ++c) {
    put(s, c,
        (sn_vec3){middle.x + (c & 1 ? half.x : -half.x), middle.y + (c & 2 ? half.y : -half.y),
                  middle.z + (c & 4 ? half.z : -half.z)});
  }
  for (uint32_t f = 0; f < 6; ++f) {
    put_quad(s, f, FACES[f][0], FACES[f][1], FACES[f][2], FACES[f][3]);
  }
  return true;
}

static bool make_plane(sn_vec3 point, sn_vec3 normal, sn_box extent, shape* s) {
  if (!make(s, 4, 2)) return false;
  sn_vec3 middle = {(extent.lo.x + extent.hi.x) / 2, (extent.lo.y + extent.hi.y) / 2,
                    (extent.lo.z + extent.hi.z) / 2};
  sn_vec3 diagonal = add(extent.hi, -1, extent.lo), u, v;
  double reach = PLANE_REACH * sqrt(dot(diagonal, diagonal));
  axes_across(normal, &u, &v);
  middle = add(middle, -dot(add(middle, -1, point), normal), normal);
  for (uint32_t c = 0; c < 4; ++c) {
    double right = c == 1 || c == 2 ? reach : -reach, up = c < 2 ? -reach : reach;
    put(s, c, add(add(middle, right, u), up, v));
  }
  put_quad(s, 0, 0, 1, 2, 3);
  return true;
}

bool shape_from_bone(const sn_bone_desc* bone, shape* s) {
  return bone->kind == SN_BONE_MESH ? shape_from_mesh(&bone->mesh, s)
                                    : make_capsule(bone->capsule, s);
}

bool shape_from_collider(const sn_collider_desc* collider, sn_box extent, shape* s) {
  switch (collider->kind) {
    case SN_COLLIDER_PLANE:
      return make_plane(collider->position, collider->normal, extent, s);
    case SN_COLLIDER_SPHERE:
      return make_capsule((sn_capsule){collider->position, collider->position, collider->radius},
                          s);
    case SN_COLLIDER_CAPSULE:
      return make_capsule(collider->capsule, s);
    case SN_COLLIDER_BOX:
      return make_box(collider->position, collider->half, s);
    case SN_COLLIDER_MESH:
      break;
  }
  return shape_from_mesh(&collider->mesh, s);
}

void shapes_grow(sn_box* box, const double* places, uint32_t count) {
  for (uint32_t v = 0; v < count; ++v) {
    const double* p = places + 3 * (size_t)v;
    box->lo = (sn_vec3){fmin(box->lo.x, p[0]), fmin(box->lo.y, p[1]), fmin(box->lo.z, p[2])};
    box->hi = (sn_vec3){fmax(box->hi.x, p[0]), fmax(box->hi.y, p[1]), fmax(box->hi.z, p[2])};
  }
}

static void place_by_motion(const shape* s, const sn_motion* motion, double frame, double unit,
                            byte_buffer* out) {
  sn_affine pose = sn_motion_at(motion, frame);
  const double t[3] = {pose.translate.x, pose.translate.y, pose.translate.z};
  float* to = bytes_take(out, 3 * (size_t)s->vertex_count * sizeof *to);
  for (size_t v = 0; to && v < s->vertex_count; ++v) {
    const double* p = s->places + 3 * v;
    for (int i = 0; i < 3; ++i) {
      const double* row = pose.linear.m[i];
      to[3 * v + i] = (float)((row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + t[i]) / unit);
    }
  }
}

void shape_place(const shape* s, const sn_motion* motion, const sn_mesh_motion* own, double frame,
                 double unit, byte_buffer* out) {
  if (!own || own->frame_count == 0) {
    place_by_motion(s, motion, frame, unit, out);
    return;
  }
  float* to = bytes_take(out, 3 * (size_t)s->vertex_count * sizeof *to);
  for (uint32_t v = 0; to && v < s->vertex_count; ++v) {
    sn_vec3 place = sn_mesh_motion_at(own, v, frame);
    to[3 * (size_t)v] = (float)(place.x / unit);
    to[3 * (size_t)v + 1] = (float)(place.y / unit);
    to[3 * (size_t)v + 2] = (float)(place.z / unit);
  }
}

void shape_write(const shape* s, double unit, byte_buffer* out) {
  bytes_add(out, (uint32_t[2]){s->vertex_count, s->triangle_count}, 2 * sizeof(uint32_t));
  size_t count = 3 * (size_t)s->vertex_count;
  float* to = bytes_take(out, count * sizeof *to);
  for (size_t i = 0; to && i < count; ++i) to[i] = (float)(s->places[i] / unit);
  bytes_add(out, s->triangles, 3 * (size_t)s->triangle_count * sizeof *s->triangles);
}
