#include "body/skin.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"

// Points of large triangles along an edge, at most.
#define MOST_ALONG_EDGE 4096
// Skin of the same fold closer than this at rest, in finest cells, does not touch itself.
#define NEIGHBOUR_CELLS 3.0
// How squarely two places must face away from each other at rest to be two sides of one limb.
#define OPPOSITE 0.3
// Skins that one ray goes through at most.
#define MOST_LAYERS 16

typedef struct builder {
  sn_skin* skin;
  bool counting;            // else filling
  uint32_t* vertex_points;  // the point that each vertex is, or UINT32_MAX
  uint32_t* rows[2];        // points of two neighbouring rows of a triangle (MOST_ALONG_EDGE + 1)
} builder;

static sn_carried carry(const sn_body* body, sn_vec3 rest) {
  sn_carried c = {.rest = rest};
  uint32_t cell = c.cell = sn_body_embed(body, rest, c.weights);
  for (int k = 0; k < 8; ++k) {
    c.nodes[k] = (uint32_t)(body->begin / 3) + sn_octree_corner(&body->tree, cell, k);
  }
  return c;
}

// Returns its number.
static uint32_t add_point(builder* b, uint32_t triangle, uint32_t vertex, sn_vec3 rest,
                          double area) {
  sn_skin* skin = b->skin;
  uint32_t at = skin->count;
  if (vertex != UINT32_MAX) {
    if (b->vertex_points[vertex] != UINT32_MAX) {
      at = b->vertex_points[vertex];
      if (!b->counting) skin->areas[at] += area;
      return at;
    }
    b->vertex_points[vertex] = at;
  }
  skin->count++;
  if (b->counting) return at;
  skin->points[at] = carry(skin->body, rest);
  skin->areas[at] = area;
  skin->triangles[at] = triangle;
  skin->vertices[at] = vertex;
  return at;
}

static void add_facet(builder* b, uint32_t p, uint32_t q, uint32_t r) {
  size_t at = b->skin->facet_count++;
  if (b->counting) return;
  uint32_t* facet = b->skin->facets + 3 * at;
  facet[0] = p;
  facet[1] = q;
  facet[2] = r;
}

static double rest_distance(const builder* b, uint32_t p, uint32_t q) {
  const sn_carried* points = b->skin->points;
  return b->counting ? 0 : sn_distance(points[p].rest, points[q].rest);
}

// Facets between two rows of points, of `n` and `m` parts: always the one with the shorter diagonal.
static void add_strip(builder* b, int n, int m) {
  const uint32_t *p = b->rows[0], *q = b->rows[1];
  for (int i = 0, j = 0; i < n || j < m;) {
    if (j == m || (i < n && rest_distance(b, p[i + 1], q[j]) <= rest_distance(b, p[i], q[j + 1]))) {
      add_facet(b, p[i], p[i + 1], q[j]);
      ++i;
    } else {
      add_facet(b, p[i], q[j + 1], q[j]);
      ++j;
    }
  }
}

// Parts that an edge is cut into so that none is longer than a cell and a quarter.
static int parts_of(double length, double cell) {
  double wish = ceil(length / (1.25 * cell) * (1 - 1e-9));
  return wish > MOST_ALONG_EDGE ? MOST_ALONG_EDGE : wish < 1 ? 1 : (int)wish;
}

// A lattice of points s a + t b from one corner, which is an end of the shortest edge, so that long
// thin triangles get one row.
static void add_triangle(builder* b, uint32_t triangle) {
  const sn_surface* surface = &b->skin->body->surface;
  sn_vec3 c[3];
  int first = 0;
  for (int i = 0; i < 3; ++i) c[i] = sn_surface_corner(surface, triangle, i);
  for (int i = 1; i < 3; ++i) {
    double edge = sn_distance(c[i], c[(i + 1) % 3]);
    if (edge < sn_distance(c[first], c[(first + 1) % 3])) first = i;
  }
  sn_vec3 o = c[first], a = sn_sub(c[(first + 1) % 3], o), d = sn_sub(c[(first + 2) % 3], o);
  double cell = b->skin->body->tree.cell, area = 0.5 * sn_length(sn_cross(a, d));
  int along_a = parts_of(sn_length(a), cell), along_d = parts_of(sn_length(d), cell);
  // The far edge is as long as the two others at most; its points are where s + t = 1.
  double total = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0, above = 0; i <= along_a; ++i) {
      double s = (double)i / along_a, rest = 1 - s;
      int rows = i == along_a ? 0 : (int)ceil(rest * along_d * (1 - 1e-9));
      for (int j = 0; j <= rows; ++j) {
        double t = rows == 0 ? 0 : rest * j / rows;
        bool on_edge = i == 0 || j == 0 || j == rows;
        bool corner = i == along_a || (i == 0 && (j == 0 || j == rows));
        double share = corner ? 1.0 / 6 : on_edge ? 0.5 : 1;
        if (pass == 0) {
          total += share;
          continue;
        }
        int which = i == along_a ? 1 : i == 0 && j == 0 ? 0 : 2;
        uint32_t vertex =
            corner ? surface->triangles[3 * (size_t)triangle + (first + which) % 3] : UINT32_MAX;
        b->rows[1][j] =
            add_point(b, triangle, vertex, sn_madd(sn_madd(o, s, a), t, d), area * share / total);
      }
      if (pass == 0) continue;
      if (i > 0) add_strip(b, above, rows);
      uint32_t* row = b->rows[0];
      b->rows[0] = b->rows[1];
      b->rows[1] = row;
      above = rows;
    }
  }
}

static void add_triangles(builder* b) {
  const sn_surface* surface = &b->skin->body->surface;
  b->skin->count = b->skin->facet_count = 0;
  memset(b->vertex_points, 0xff, surface->vertex_count * sizeof *b->vertex_points);
  for (uint32_t t = 0; t < surface->triangle_count; ++t) add_triangle(b, t);
}

static sn_vec3 area_vector(const sn_vec3 corner[3]) {
  return sn_scale(0.5, sn_cross(sn_sub(corner[1], corner[0]), sn_sub(corner[2], corner[0])));
}

static sn_vec3 unit(sn_vec3 v) {
  double length = sn_length(v);
  return length > 0 ? sn_scale(1 / length, v) : sn_v3(0, 0, 0);
}

// Sums of the triangles' area vectors at their vertices, wherever those are.
static void sum_area_vectors(const sn_surface* surface, const double* vertices, double* sums) {
  memset(sums, 0, 3 * (size_t)surface->vertex_count * sizeof *sums);
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    const uint32_t* v = surface->triangles + 3 * (size_t)t;
    sn_vec3 c[3];
    for (int i = 0; i < 3; ++i) c[i] = sn_load3(vertices + 3 * (size_t)v[i]);
    sn_vec3 a = area_vector(c);
    for (int i = 0; i < 3; ++i) {
      sn_store3(sums + 3 * (size_t)v[i], sn_add(sn_load3(sums + 3 * (size_t)v[i]), a));
    }
  }
}

sn_status sn_skin_build(const sn_body* body, sn_arena* arena, sn_arena* scratch, sn_skin* skin,
                        sn_error* err) {
  const sn_surface* surface = &body->surface;
  *skin = (sn_skin){.body = body};
  builder b = {.skin = skin, .counting = true};
  double* sums;
  SN_TRY(SN_ARENA_RAW(scratch, surface->vertex_count, &b.vertex_points, err));
  SN_TRY(SN_ARENA_RAW(scratch, 3 * (size_t)surface->vertex_count, &sums, err));
  for (int i = 0; i < 2; ++i) {
    SN_TRY(SN_ARENA_RAW(scratch, MOST_ALONG_EDGE + 1, &b.rows[i], err));
  }
  add_triangles(&b);
  SN_TRY(SN_ARENA_RAW(arena, skin->count, &skin->points, err));
  SN_TRY(SN_ARENA_RAW(arena, 3 * (size_t)skin->facet_count, &skin->facets, err));
  SN_TRY(SN_ARENA_RAW(arena, skin->count, &skin->areas, err));
  SN_TRY(SN_ARENA_RAW(arena, skin->count, &skin->triangles, err));
  SN_TRY(SN_ARENA_RAW(arena, skin->count, &skin->vertices, err));
  SN_TRY(SN_ARENA_RAW(arena, skin->count, &skin->normals, err));
  b.counting = false;
  add_triangles(&b);
  sum_area_vectors(surface, surface->positions, sums);
  for (uint32_t p = 0; p < skin->count; ++p) {
    sn_vec3 c[3];
    for (int i = 0; i < 3; ++i) c[i] = sn_surface_corner(surface, skin->triangles[p], i);
    skin->normals[p] =
        unit(skin->vertices[p] == UINT32_MAX ? area_vector(c)
                                             : sn_load3(sums + 3 * (size_t)skin->vertices[p]));
  }
  return SN_OK;
}

sn_status sn_skin_pose_create(const sn_skin* skin, sn_arena* arena, sn_skin_pose* pose,
                              sn_error* err) {
  size_t numbers = 3 * (size_t)skin->body->desc->mesh.vertex_count;
  SN_TRY(SN_ARENA_NEW(arena, numbers, &pose->vertices, err));
  SN_TRY(SN_ARENA_NEW(arena, numbers, &pose->area_vectors, err));
  SN_TRY(SN_ARENA_NEW(arena, skin->count, &pose->places, err));
  return sn_moving_bvh_create(&skin->body->bvh, arena, &pose->bvh, err);
}

typedef struct pose_job {
  const sn_skin* skin;
  const double* u;
  sn_skin_pose* pose;
  sn_vec3* places;
} pose_job;

static void move_vertices(void* ctx, size_t begin, size_t end) {
  const pose_job* job = ctx;
  const sn_body* body = job->skin->body;
  const double* u = job->u + body->begin;
  for (size_t v = begin; v < end; ++v) {
    sn_vec3 rest = sn_load3(body->desc->mesh.positions + 3 * v);
    sn_store3(job->pose->vertices + 3 * v, sn_add(rest, sn_body_vertex_move(body, u, v)));
  }
}

static void move_points(void* ctx, size_t begin, size_t end) {
  const pose_job* job = ctx;
  for (size_t p = begin; p < end; ++p) {
    job->places[p] = sn_carried_place(&job->skin->points[p], job->u);
  }
}

void sn_skin_points_update(const sn_skin* skin, sn_pool* pool, const double* u, sn_vec3* places) {
  pose_job job = {.skin = skin, .u = u, .places = places};
  sn_parallel_for(pool, skin->count, 1024, move_points, &job);
}

void sn_skin_pose_update(const sn_skin* skin, sn_pool* pool, const double* u, sn_skin_pose* pose) {
  pose_job job = {.skin = skin, .u = u, .pose = pose};
  sn_skin_points_update(skin, pool, u, pose->places);
  sn_parallel_for(pool, skin->body->desc->mesh.vertex_count, 1024, move_vertices, &job);
  sum_area_vectors(&skin->body->surface, pose->vertices, pose->area_vectors);
  sn_moving_bvh_update(&pose->bvh, pool, pose->vertices);
}

static sn_vec3 triangle_normal(const sn_skin_pose* pose, uint32_t triangle) {
  sn_vec3 c[3];
  sn_moving_bvh_corners(&pose->bvh, triangle, c);
  return unit(area_vector(c));
}

sn_vec3 sn_skin_normal(const sn_skin* skin, const sn_skin_pose* pose, uint32_t point) {
  uint32_t vertex = skin->vertices[point];
  if (vertex == UINT32_MAX) return triangle_normal(pose, skin->triangles[point]);
  return unit(sn_load3(pose->area_vectors + 3 * (size_t)vertex));
}

static sn_vec3 rest_place(const sn_skin* skin, const sn_skin_touch* touch) {
  sn_vec3 sum = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    sum = sn_madd(sum, touch->weights[i],
                  sn_surface_corner(&skin->body->surface, touch->triangle, i));
  }
  return sum;
}

// Is this place of the skin near the point at rest, or the other side of the limb that it is on? Then
// flesh lies between them, and pressing it is no contact.
static bool belongs_to_point(const sn_skin* skin, uint32_t point, const sn_skin_touch* touch) {
  sn_vec3 way = sn_sub(rest_place(skin, touch), skin->points[point].rest), c[3];
  double length = sn_length(way);
  if (length < NEIGHBOUR_CELLS * skin->body->tree.cell) return true;
  for (int i = 0; i < 3; ++i) c[i] = sn_surface_corner(&skin->body->surface, touch->triangle, i);
  sn_vec3 normal = unit(area_vector(c));
  return sn_dot(way, skin->normals[point]) < -OPPOSITE * length &&
         sn_dot(way, normal) > OPPOSITE * length;
}

typedef struct facing {
  const sn_skin_pose* pose;
  sn_vec3 direction;
} facing;

// Triangles through which the direction leads out of the flesh.
static bool leads_out(void* ctx, uint32_t triangle) {
  const facing* f = ctx;
  return sn_dot(f->direction, triangle_normal(f->pose, triangle)) > 0;
}

// Layers of flesh that a place lies in: times that a ray leaves some, less those that it enters.
static int layers_around(const sn_skin_pose* pose, sn_vec3 from, sn_vec3 direction, double skip) {
  int layers = 0;
  for (int i = 0; i < MOST_LAYERS; ++i) {
    sn_ray_hit hit;
    if (!sn_moving_bvh_ray(&pose->bvh, from, direction, INFINITY, NULL, NULL, &hit)) break;
    layers += hit.from_behind ? 1 : -1;
    from = sn_madd(from, hit.t + skip, direction);
  }
  return layers;
}

// From a little ahead of the point a ray goes back into its own flesh. If the point is in other flesh, or
// about to be, the ray starts there, and the first skin through which it comes out is the one touched.
bool sn_skin_find_touch(const sn_skin* skin, const sn_skin_pose* pose, sn_vec3 place,
                        sn_vec3 normal, double reach, double depth, uint32_t own,
                        sn_skin_touch* touch) {
  facing f = {pose, sn_scale(-1, normal)};
  sn_vec3 ahead = sn_madd(place, reach, normal);
  sn_ray_hit hit;
  if (sn_dot(normal, normal) == 0) return false;
  if (!sn_moving_bvh_ray(&pose->bvh, ahead, f.direction, reach + depth, leads_out, &f, &hit)) {
    return false;
  }
  *touch = (sn_skin_touch){hit.triangle, {1 - hit.u - hit.v, hit.u, hit.v}, {0, 0, 0}};
  if (own != UINT32_MAX && belongs_to_point(skin, own, touch)) return false;
  touch->normal = triangle_normal(pose, hit.triangle);
  return layers_around(pose, ahead, normal, 1e-6 * skin->body->tree.cell) > 0;
}

typedef struct strangers {
  const sn_skin* skin;
  uint32_t own;
} strangers;

static bool is_stranger(void* ctx, uint32_t triangle) {
  const strangers* s = ctx;
  sn_skin_touch middle = {triangle, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {0, 0, 0}};
  return s->own == UINT32_MAX || !belongs_to_point(s->skin, s->own, &middle);
}

// Weights of the corners at a place of a triangle.
static void weigh_corners(const sn_vec3 c[3], sn_vec3 p, double weights[3]) {
  sn_vec3 normal = area_vector(c);
  double all = sn_dot(normal, normal);
  for (int i = 0; i < 3; ++i) {
    sn_vec3 part[3] = {p, c[(i + 1) % 3], c[(i + 2) % 3]};
    weights[i] = all > 0 ? sn_dot(area_vector(part), normal) / all : 1.0 / 3;
  }
}

bool sn_skin_find_nearest(const sn_skin* skin, const sn_skin_pose* pose, sn_vec3 place,
                          double depth, uint32_t own, sn_skin_touch* touch) {
  strangers s = {skin, own};
  sn_vec3 nearest, c[3];
  *touch = (sn_skin_touch){0};
  if (!sn_moving_bvh_nearest(&pose->bvh, place, depth, is_stranger, &s, &touch->triangle,
                             &nearest)) {
    return false;
  }
  sn_moving_bvh_corners(&pose->bvh, touch->triangle, c);
  weigh_corners(c, nearest, touch->weights);
  touch->normal = triangle_normal(pose, touch->triangle);
  return own == UINT32_MAX || !belongs_to_point(skin, own, touch);
}

sn_carried sn_skin_carry(const sn_skin* skin, const sn_skin_touch* touch) {
  return carry(skin->body, rest_place(skin, touch));
}

sn_carried sn_skin_carry_facet(const sn_skin* skin, uint32_t facet, const double weights[3]) {
  const uint32_t* corners = skin->facets + 3 * (size_t)facet;
  sn_vec3 rest = {0, 0, 0};
  for (int i = 0; i < 3; ++i) rest = sn_madd(rest, weights[i], skin->points[corners[i]].rest);
  return carry(skin->body, rest);
}

double sn_skin_facet_area(const sn_skin* skin, uint32_t facet) {
  sn_vec3 c[3];
  for (int i = 0; i < 3; ++i) c[i] = skin->points[skin->facets[3 * (size_t)facet + i]].rest;
  return sn_length(area_vector(c));
}
