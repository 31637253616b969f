#include "scene/obstacles.h"

#include <math.h>

#include "math/vec.h"

static sn_solid solid_of(const sn_collider_desc* d, const sn_bvh* bvh) {
  static const sn_solid_kind KINDS[] = {SN_SOLID_PLANE, SN_SOLID_SPHERE, SN_SOLID_CAPSULE,
                                        SN_SOLID_BOX, SN_SOLID_MESH};
  bool capsule = d->kind == SN_COLLIDER_CAPSULE;
  return (sn_solid){.kind = KINDS[d->kind],
                    .position = d->position,
                    .normal = d->normal,
                    .half = d->half,
                    .radius = capsule ? d->capsule.radius : d->radius,
                    .from = d->capsule.from,
                    .to = d->capsule.to,
                    .bvh = bvh};
}

sn_status sn_obstacle_build(const sn_collider_desc* desc, sn_arena* arena, sn_arena* scratch,
                            sn_obstacle* obstacle, sn_error* err) {
  *obstacle = (sn_obstacle){.desc = desc};
  if (desc->kind == SN_COLLIDER_MESH) {
    SN_TRY(sn_surface_prepare(&desc->mesh, arena, scratch, &obstacle->surface, err));
    SN_CHECK(obstacle->surface.triangle_count > 0, err, SN_ERR_INPUT,
             "%s: collider \"%s\" has no triangle with area; expected a surface mesh",
             desc->surface, desc->name);
    SN_TRY(sn_bvh_build(&obstacle->surface, NULL, arena, scratch, &obstacle->bvh, err));
  }
  obstacle->solid = solid_of(desc, &obstacle->bvh);
  return SN_OK;
}

// ---- Deforming ones -------------------------------------------------------------------------------

static bool deforms(const sn_obstacle* obstacle) {
  return obstacle->desc->kind == SN_COLLIDER_MESH && obstacle->desc->shape.frame_count > 0;
}

static sn_status create_shape(const sn_obstacle* obstacle, sn_arena* arena,
                              sn_obstacle_shape* shape, sn_error* err) {
  size_t numbers = 3 * (size_t)obstacle->surface.vertex_count;
  shape->surface = obstacle->surface;
  shape->bvh = obstacle->bvh;
  SN_TRY(SN_ARENA_RAW(arena, numbers, &shape->positions, err));
  SN_TRY(SN_ARENA_RAW(arena, obstacle->bvh.node_count, &shape->bvh.nodes, err));
  SN_TRY(SN_ARENA_RAW(arena, obstacle->surface.triangle_count, &shape->room, err));
  for (size_t i = 0; i < numbers; ++i) shape->positions[i] = obstacle->surface.positions[i];
  for (uint32_t n = 0; n < obstacle->bvh.node_count; ++n) {
    shape->bvh.nodes[n] = obstacle->bvh.nodes[n];
  }
  shape->surface.positions = shape->positions;
  shape->bvh.surface = &shape->surface;
  shape->solid = solid_of(obstacle->desc, &shape->bvh);
  return SN_OK;
}

static double area_of(const sn_surface* surface) {
  double sum = 0;
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    sn_vec3 c[3];
    for (int i = 0; i < 3; ++i) c[i] = sn_surface_corner(surface, t, i);
    sum += 0.5 * sn_length(sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0])));
  }
  return sum;
}

static void move_shape(const sn_obstacle* obstacle, sn_pool* pool, double frame,
                       sn_obstacle_shape* shape) {
  for (uint32_t v = 0; v < obstacle->surface.vertex_count; ++v) {
    sn_store3(shape->positions + 3 * (size_t)v,
              sn_mesh_motion_at(&obstacle->desc->shape, v, frame));
  }
  sn_bvh_refit(&shape->bvh, pool, shape->room);
  shape->surface.area = area_of(&shape->surface);
  if (shape->bvh.node_count > 0) shape->surface.box = shape->bvh.nodes[0].box;
}

// Weights of a triangle's corners at the place of it nearest to p, which is given.
static void weigh(const sn_vec3 c[3], sn_vec3 p, double weights[3]) {
  sn_vec3 normal = sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0]));
  double all = sn_dot(normal, normal);
  for (int i = 0; i < 3; ++i) {
    sn_vec3 a = sn_sub(c[(i + 1) % 3], p), b = sn_sub(c[(i + 2) % 3], p);
    weights[i] = all > 0 ? sn_dot(sn_cross(a, b), normal) / all : 1.0 / 3;
  }
}

// Everything goes with the place of the mesh that is nearest to it.
static sn_vec3 carry_by_shape(const sn_obstacle_pose* pose, sn_vec3 p) {
  const sn_obstacle_shape *now = &pose->shapes[0], *before = &pose->shapes[1];
  uint32_t triangle;
  sn_vec3 nearest, corners[3], move = {0, 0, 0};
  double weights[3];
  if (!sn_bvh_nearest(&before->bvh, p, INFINITY, &triangle, &nearest)) return p;
  for (int i = 0; i < 3; ++i) corners[i] = sn_surface_corner(&before->surface, triangle, i);
  weigh(corners, nearest, weights);
  for (int i = 0; i < 3; ++i) {
    sn_vec3 to = sn_surface_corner(&now->surface, triangle, i);
    move = sn_madd(move, weights[i], sn_sub(to, corners[i]));
  }
  return sn_add(p, move);
}

// ---- All ------------------------------------------------------------------------------------------

sn_status sn_obstacle_pose_create(const sn_obstacle* obstacle, sn_arena* arena,
                                  sn_obstacle_pose* pose, sn_error* err) {
  sn_affine rest = sn_affine_at_rest();
  sn_rigid still = {rest.linear, rest.translate};
  *pose = (sn_obstacle_pose){
      .obstacle = obstacle, .now = still, .before = still, .solid = &obstacle->solid};
  if (!deforms(obstacle)) return SN_OK;
  SN_TRY(SN_ARENA_NEW(arena, 2, &pose->shapes, err));
  for (int i = 0; i < 2; ++i) SN_TRY(create_shape(obstacle, arena, &pose->shapes[i], err));
  pose->solid = &pose->shapes[0].solid;
  return SN_OK;
}

void sn_obstacle_pose_move(sn_obstacle_pose* pose, sn_pool* pool, double frame, bool still) {
  if (!pose->shapes) {
    sn_affine to = sn_motion_at(&pose->obstacle->desc->motion, frame);
    pose->before = pose->now;
    pose->now = (sn_rigid){to.linear, to.translate};
    if (still) pose->before = pose->now;
    return;
  }
  sn_obstacle_shape *now = &pose->shapes[0], *before = &pose->shapes[1];
  size_t numbers = 3 * (size_t)now->surface.vertex_count;
  for (size_t i = 0; i < numbers; ++i) before->positions[i] = now->positions[i];
  for (uint32_t n = 0; n < now->bvh.node_count; ++n) before->bvh.nodes[n] = now->bvh.nodes[n];
  move_shape(pose->obstacle, pool, frame, now);
  if (still) move_shape(pose->obstacle, pool, frame, before);
}

double sn_obstacle_reach(const sn_obstacle* obstacle, sn_box box, double from, double to) {
  double most = 0;
  if (deforms(obstacle)) {
    const sn_mesh_motion* shape = &obstacle->desc->shape;
    for (uint32_t v = 0; v < shape->vertex_count; ++v) {
      most = fmax(most,
                  sn_distance(sn_mesh_motion_at(shape, v, from), sn_mesh_motion_at(shape, v, to)));
    }
    return most;
  }
  sn_affine before = sn_motion_at(&obstacle->desc->motion, from);
  sn_affine after = sn_motion_at(&obstacle->desc->motion, to);
  for (int c = 0; c < 8; ++c) {
    sn_vec3 p = sn_v3(c & 1 ? box.hi.x : box.lo.x, c & 2 ? box.hi.y : box.lo.y,
                      c & 4 ? box.hi.z : box.lo.z);
    most = fmax(most, sn_distance(sn_affine_carry(&before, p), sn_affine_carry(&after, p)));
  }
  return most;
}

// R^T d
static sn_vec3 turn_back(const sn_rigid* pose, sn_vec3 d) {
  const double(*m)[3] = pose->rotate.m;
  return sn_v3(m[0][0] * d.x + m[1][0] * d.y + m[2][0] * d.z,
               m[0][1] * d.x + m[1][1] * d.y + m[2][1] * d.z,
               m[0][2] * d.x + m[1][2] * d.y + m[2][2] * d.z);
}

sn_vec3 sn_obstacle_place(const sn_obstacle_pose* pose, sn_vec3 place) {
  return turn_back(&pose->now, sn_sub(place, pose->now.translate));
}

sn_vec3 sn_obstacle_start(const sn_obstacle_pose* pose, sn_vec3 place) {
  if (pose->shapes) return carry_by_shape(pose, place);
  return turn_back(&pose->before, sn_sub(place, pose->before.translate));
}

sn_vec3 sn_obstacle_carry(const sn_obstacle_pose* pose, sn_vec3 place) {
  return sn_rigid_apply(&pose->now, sn_obstacle_start(pose, place));
}

sn_vec3 sn_obstacle_turn(const sn_obstacle_pose* pose, sn_vec3 direction) {
  return sn_mul3v(&pose->now.rotate, direction);
}

sn_vec3 sn_obstacle_turn_back(const sn_obstacle_pose* pose, sn_vec3 direction) {
  return turn_back(&pose->now, direction);
}
