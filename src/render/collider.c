// Colliders as surfaces for pictures. Their few large triangles are halved, always across the
// longest edge, until they are small against what is shown and round shapes are round; what is far
// from the view is dropped on the way, so that a collider may be as large as it likes. Whether an edge is halved
// depends on the edge alone, so that neighbours agree. Corners that meet are joined again at the
// end, within a face: boxes keep their edges.
#include <stdlib.h>

#include "base/memory.h"
#include "math/vec.h"
#include "render/camera.h"

// Longest edges, in radii of what is shown, and growing as the square of the distance beyond it;
// on round shapes also in radii of theirs, but not below a least one.
#define FINENESS 0.05
#define ROUND_FINENESS 0.2
#define ROUND_LEAST 0.01
#define ROUNDING 1e-7  // of places, as shares of what is shown
#define HALVINGS 120
// Round shapes, before halving: corners of a ring, rings of each half ball, pieces of a cylinder.
#define SIDES 24
#define END_RINGS 6
#define MOST_PIECES 400
#define PI 3.14159265358979323846

typedef struct corner {
  sn_vec3 place;
  uint32_t face;   // corners of different faces are not joined
  uint32_t index;  // where the triangles name it
} corner;

typedef struct shape {
  sn_vec3 middle;  // of what is shown
  double reach;    // radius of what is shown
  bool round;      // new corners are put on the surface of `capsule`
  sn_capsule capsule;
  corner* corners;  // three for each triangle
  size_t count, capacity;
} shape;

// To a fine grid, so that corners meet that only rounding had parted.
static sn_vec3 round_place(const shape* s, sn_vec3 place) {
  double grid = ROUNDING * s->reach;
  sn_vec3 steps = sn_scale(1 / grid, sn_sub(place, s->middle));
  return sn_madd(s->middle, grid, sn_v3(rint(steps.x), rint(steps.y), rint(steps.z)));
}

static sn_status add_triangle(shape* s, const sn_vec3 places[3], uint32_t face, sn_error* err) {
  if (s->count + 3 > s->capacity) {
    size_t capacity = s->capacity ? 2 * s->capacity : 3 << 12;
    SN_CHECK(capacity <= UINT32_MAX, err, SN_ERR_INPUT, "a collider is too large to be drawn");
    corner* corners = sn_allocate(capacity * sizeof *corners);
    if (!corners) return sn_fail_memory(err, capacity * sizeof *corners);
    for (size_t i = 0; i < s->count; ++i) corners[i] = s->corners[i];
    sn_release(s->corners);
    s->corners = corners;
    s->capacity = capacity;
  }
  for (int c = 0; c < 3; ++c) {
    s->corners[s->count] = (corner){round_place(s, places[c]), face, (uint32_t)s->count};
    s->count++;
  }
  return SN_OK;
}

static sn_vec3 put_on_capsule(const sn_capsule* capsule, sn_vec3 p) {
  sn_vec3 axis = sn_sub(capsule->to, capsule->from), away = sn_sub(p, capsule->from);
  double square = sn_dot(axis, axis), t = square > 0 ? sn_dot(axis, away) / square : 0;
  sn_vec3 centre = sn_madd(capsule->from, t < 0 ? 0 : t > 1 ? 1 : t, axis);
  double distance = sn_distance(p, centre);
  if (!(distance > 0)) return p;
  return sn_madd(centre, capsule->radius / distance, sn_sub(p, centre));
}

// How long an edge around this place may be.
static double edge_limit(const shape* s, sn_vec3 place) {
  double far = fmin(fmax(1, sn_distance(place, s->middle) / s->reach), SN_FADE_END);
  double limit = FINENESS * far * far * s->reach;
  if (s->round) {
    limit = fmin(limit, fmax(ROUND_FINENESS * s->capsule.radius, ROUND_LEAST * s->reach));
  }
  // Where coordinates have no more digits, halving would not end.
  return fmax(limit, ROUNDING * (sn_length(place) + s->capsule.radius));
}

// The first corner of the longest edge.
static int longest_edge(const sn_vec3 t[3], double* length) {
  int longest = 0;
  *length = sn_distance(t[0], t[1]);
  for (int k = 1; k < 3; ++k) {
    double other = sn_distance(t[k], t[(k + 1) % 3]);
    if (!(other > *length)) continue;
    *length = other;
    longest = k;
  }
  return longest;
}

// Depth first: one half waits, the other goes on.
static sn_status add_finely(shape* s, const sn_vec3 places[3], uint32_t face, sn_error* err) {
  sn_vec3 waiting[HALVINGS + 1][3] = {{places[0], places[1], places[2]}};
  int count = 1;
  while (count > 0) {
    sn_vec3* t = waiting[count - 1];
    double length;
    int k = longest_edge(t, &length);
    sn_vec3 a = t[k], b = t[(k + 1) % 3], c = t[(k + 2) % 3];
    sn_vec3 half = sn_scale(0.5, sn_add(a, b));
    if (sn_distance(half, s->middle) > SN_FADE_END * s->reach + 2 * length) {
      --count;
    } else if (length <= edge_limit(s, half) || count > HALVINGS) {
      SN_TRY(add_triangle(s, t, face, err));
      --count;
    } else {
      if (s->round) half = put_on_capsule(&s->capsule, half);
      sn_vec3* next = waiting[count++];
      t[0] = a, t[1] = half, t[2] = c;
      next[0] = half, next[1] = b, next[2] = c;
    }
  }
  return SN_OK;
}

// The first two corners may be the same, or the last two: then it is a triangle.
static sn_status add_quad(shape* s, const sn_vec3 q[4], uint32_t face, sn_error* err) {
  if (sn_distance(q[0], q[1]) > 0) {
    SN_TRY(add_finely(s, (sn_vec3[3]){q[0], q[1], q[2]}, face, err));
  }
  if (!(sn_distance(q[2], q[3]) > 0)) return SN_OK;
  return add_finely(s, (sn_vec3[3]){q[0], q[2], q[3]}, face, err);
}

static sn_status add_mesh(shape* s, const sn_mesh* mesh, const sn_rigid* pose, sn_error* err) {
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    sn_vec3 places[3];
    for (int c = 0; c < 3; ++c) {
      const double* p = mesh->positions + 3 * (size_t)mesh->triangles[3 * (size_t)t + c];
      places[c] = sn_rigid_apply(pose, sn_load3(p));
    }
    SN_TRY(add_finely(s, places, 0, err));
  }
  return SN_OK;
}

// Unit vectors that make a right-handed frame with a unit axis: u, v, axis.
static void axes_across(sn_vec3 axis, sn_vec3* u, sn_vec3* v) {
  *u = sn_cross(fabs(axis.x) < 0.8 ? sn_v3(1, 0, 0) : sn_v3(0, 1, 0), axis);
  *u = sn_scale(1 / sn_length(*u), *u);
  *v = sn_cross(axis, *u);
}

// A square that holds all of the plane that is not faded.
static sn_status add_plane(shape* s, sn_vec3 point, sn_vec3 normal, sn_error* err) {
  double side = SN_FADE_END * s->reach;
  sn_vec3 u, v, q[4];
  axes_across(normal, &u, &v);
  sn_vec3 centre = sn_madd(s->middle, -sn_dot(sn_sub(s->middle, point), normal), normal);
  for (int k = 0; k < 4; ++k) {
    q[k] = sn_madd(sn_madd(centre, k == 0 || k == 3 ? -side : side, u), k < 2 ? -side : side, v);
  }
  return add_quad(s, q, 0, err);
}

static sn_status add_box(shape* s, const sn_collider_desc* box, const sn_rigid* pose,
                         sn_error* err) {
  const double half[3] = {box->half.x, box->half.y, box->half.z};
  for (uint32_t face = 0; face < 6; ++face) {
    uint32_t axis = face / 2;
    double side = face % 2 ? 1 : -1, at[3];
    sn_vec3 q[4];
    at[axis] = side * half[axis];
    for (int k = 0; k < 4; ++k) {
      // Counter-clockwise seen from outside.
      at[(axis + 1) % 3] = (k == 0 || k == 3 ? -side : side) * half[(axis + 1) % 3];
      at[(axis + 2) % 3] = (k < 2 ? -1 : 1) * half[(axis + 2) % 3];
      q[k] = sn_rigid_apply(pose, sn_add(box->position, sn_load3(at)));
    }
    SN_TRY(add_quad(s, q, face, err));
  }
  return SN_OK;
}

// The place between the ends of the axis that lies this far beyond the one nearest to the view.
static sn_vec3 place_on_axis(const shape* s, const sn_capsule* capsule, double beyond) {
  sn_vec3 axis = sn_sub(capsule->to, capsule->from);
  double length = sn_length(axis);
  if (!(length > 0)) return capsule->from;
  double at = sn_dot(sn_sub(s->middle, capsule->from), axis) / length + beyond;
  return sn_madd(capsule->from, fmin(fmax(at / length, 0), 1), axis);
}

// Ring `index` of `count` from pole to pole: half a ball, `count` - 2 * END_RINGS - 1 pieces of
// cylinder, half a ball.
static void place_ring(const sn_capsule* capsule, int index, int count, sn_vec3 ring[SIDES]) {
  sn_vec3 axis = sn_sub(capsule->to, capsule->from), u, v;
  double length = sn_length(axis);
  axis = length > 0 ? sn_scale(1 / length, axis) : sn_v3(0, 1, 0);
  axes_across(axis, &u, &v);
  int pieces = count - 1 - 2 * END_RINGS, straight = index - END_RINGS;
  straight = straight < 0 ? 0 : straight > pieces ? pieces : straight;
  double latitude = PI / 2 * (index - straight - END_RINGS) / END_RINGS;
  double along = pieces > 0 ? length * straight / pieces : 0;
  double out = index == 0 || index == count - 1 ? 0 : capsule->radius * cos(latitude);
  sn_vec3 centre = sn_madd(capsule->from, along + capsule->radius * sin(latitude), axis);
  for (int side = 0; side < SIDES; ++side) {
    double angle = 2 * PI * side / SIDES;
    ring[side] = sn_madd(sn_madd(centre, out * cos(angle), u), out * sin(angle), v);
  }
}

static sn_status add_rings(shape* s, int count, sn_error* err) {
  sn_vec3 rings[2][SIDES];
  place_ring(&s->capsule, 0, count, rings[0]);
  for (int index = 1; index < count; ++index) {
    const sn_vec3* before = rings[(index + 1) % 2];
    sn_vec3* ring = rings[index % 2];
    place_ring(&s->capsule, index, count, ring);
    for (int side = 0; side < SIDES; ++side) {
      int next = (side + 1) % SIDES;
      const sn_vec3 q[4] = {before[side], before[next], ring[next], ring[side]};
      SN_TRY(add_quad(s, q, 0, err));
    }
  }
  return SN_OK;
}

// The axis is cut to what is not faded, and the cylinder into pieces about as long as wide.
static sn_status add_capsule(shape* s, sn_capsule at_rest, const sn_rigid* pose, sn_error* err) {
  sn_capsule whole = {sn_rigid_apply(pose, at_rest.from), sn_rigid_apply(pose, at_rest.to),
                      at_rest.radius};
  s->round = true;
  s->capsule = whole;
  s->capsule.from = place_on_axis(s, &whole, -SN_FADE_END * s->reach);
  s->capsule.to = place_on_axis(s, &whole, SN_FADE_END * s->reach);
  double length = sn_distance(s->capsule.from, s->capsule.to);
  double pieces = fmin(ceil(length / (2 * PI / SIDES * whole.radius)), MOST_PIECES);
  return add_rings(s, 2 * END_RINGS + 1 + (int)pieces, err);
}

static sn_status add_collider(shape* s, const sn_collider_desc* collider, const sn_rigid* pose,
                              sn_error* err) {
  switch (collider->kind) {
    case SN_COLLIDER_PLANE:
      return add_plane(s, sn_rigid_apply(pose, collider->position),
                       sn_mul3v(&pose->rotate, collider->normal), err);
    case SN_COLLIDER_SPHERE:
      return add_capsule(s, (sn_capsule){collider->position, collider->position, collider->radius},
                         pose, err);
    case SN_COLLIDER_CAPSULE:
      return add_capsule(s, collider->capsule, pose, err);
    case SN_COLLIDER_BOX:
      return add_box(s, collider, pose, err);
    case SN_COLLIDER_MESH:
      break;
  }
  return add_mesh(s, &collider->mesh, pose, err);
}

static int compare_doubles(double a, double b) { return (a > b) - (a < b); }

static int compare_corners(const void* left, const void* right) {
  const corner *a = left, *b = right;
  if (a->face != b->face) return a->face < b->face ? -1 : 1;
  int order = compare_doubles(a->place.x, b->place.x);
  if (order == 0) order = compare_doubles(a->place.y, b->place.y);
  return order != 0 ? order : compare_doubles(a->place.z, b->place.z);
}

// One vertex for all corners of a face at the same place.
static sn_status join_corners(const shape* s, sn_arena* arena, sn_mesh* mesh, sn_error* err) {
  double* positions;
  uint32_t *triangles, vertex_count = 0;
  SN_TRY(SN_ARENA_RAW(arena, 3 * s->count, &positions, err));
  SN_TRY(SN_ARENA_RAW(arena, s->count, &triangles, err));
  qsort(s->corners, s->count, sizeof *s->corners, compare_corners);
  for (size_t i = 0; i < s->count; ++i) {
    if (i == 0 || compare_corners(&s->corners[i - 1], &s->corners[i]) != 0) {
      sn_store3(positions + 3 * (size_t)vertex_count++, s->corners[i].place);
    }
    triangles[s->corners[i].index] = vertex_count - 1;
  }
  return sn_mesh_from_arrays(positions, vertex_count, triangles, (uint32_t)(s->count / 3), mesh,
                             err);
}

static sn_status finish(const shape* s, sn_mesh* mesh, sn_error* err) {
  if (s->count == 0) return SN_OK;
  sn_arena* arena;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = join_corners(s, arena, mesh, err);
  sn_arena_destroy(arena);
  return status;
}

sn_status sn_mesh_from_collider(const sn_collider_desc* collider, const sn_rigid* pose,
                                const sn_view* view, sn_mesh* mesh, sn_error* err) {
  *mesh = (sn_mesh){0};
  sn_camera camera = sn_camera_fit(view, 1, 1);
  shape s = {.middle = camera.middle, .reach = camera.radius};
  sn_status status = add_collider(&s, collider, pose, err);
  if (status == SN_OK) status = finish(&s, mesh, err);
  sn_release(s.corners);
  return status;
}
