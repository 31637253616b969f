#include "geometry/moving_bvh.h"

#include "geometry/surface.h"
#include "math/vec.h"

// Boxes of leaves that are worth a thread.
#define MIN_BLOCK 256

sn_moving_bvh sn_moving_bvh_at_rest(const sn_bvh* rest) {
  return (sn_moving_bvh){.shape = rest, .positions = rest->surface->positions};
}

sn_status sn_moving_bvh_create(const sn_bvh* rest, sn_arena* arena, sn_moving_bvh* moving,
                               sn_error* err) {
  *moving = sn_moving_bvh_at_rest(rest);
  SN_TRY(SN_ARENA_RAW(arena, rest->node_count, &moving->boxes, err));
  for (uint32_t n = 0; n < rest->node_count; ++n) moving->boxes[n] = rest->nodes[n].box;
  return SN_OK;
}

static const sn_box* box_of(const sn_moving_bvh* moving, uint32_t node) {
  return moving->boxes ? &moving->boxes[node] : &moving->shape->nodes[node].box;
}

sn_box sn_moving_bvh_box(const sn_moving_bvh* moving) {
  return moving->shape->node_count > 0 ? *box_of(moving, 0) : sn_box_empty();
}

void sn_moving_bvh_corners(const sn_moving_bvh* moving, uint32_t triangle, sn_vec3 corner[3]) {
  const uint32_t* vertex = moving->shape->surface->triangles + 3 * (size_t)triangle;
  for (int i = 0; i < 3; ++i) corner[i] = sn_load3(moving->positions + 3 * (size_t)vertex[i]);
}

// ---- Following ------------------------------------------------------------------------------------

static sn_box triangle_box(const sn_vec3 corner[3]) {
  return (sn_box){sn_min3(corner[0], sn_min3(corner[1], corner[2])),
                  sn_max3(corner[0], sn_max3(corner[1], corner[2]))};
}

static void update_leaves(void* ctx, size_t begin, size_t end) {
  sn_moving_bvh* moving = ctx;
  for (size_t n = begin; n < end; ++n) {
    const sn_bvh_node* node = &moving->shape->nodes[n];
    if (node->right != 0) continue;
    sn_box box = sn_box_empty();
    for (uint32_t k = node->begin; k < node->end; ++k) {
      sn_vec3 corner[3];
      sn_moving_bvh_corners(moving, moving->shape->order[k], corner);
      box = sn_box_union(box, triangle_box(corner));
    }
    moving->boxes[n] = box;
  }
}

void sn_moving_bvh_update(sn_moving_bvh* moving, sn_pool* pool, const double* positions) {
  SN_ASSERT(moving->boxes || moving->shape->node_count == 0);
  moving->positions = positions;
  uint32_t count = moving->shape->node_count;
  sn_parallel_for(pool, count, MIN_BLOCK, update_leaves, moving);
  // Children come after their parent, so backwards they are done before it.
  for (uint32_t n = count; n-- > 0;) {
    uint32_t right = moving->shape->nodes[n].right;
    if (right != 0) moving->boxes[n] = sn_box_union(moving->boxes[n + 1], moving->boxes[right]);
  }
}

// ---- Questions ------------------------------------------------------------------------------------

static bool boxes_meet(const sn_box* a, const sn_box* b) {
  return a->lo.x <= b->hi.x && b->lo.x <= a->hi.x && a->lo.y <= b->hi.y && b->lo.y <= a->hi.y &&
         a->lo.z <= b->hi.z && b->lo.z <= a->hi.z;
}

void sn_moving_bvh_overlaps(const sn_moving_bvh* moving, sn_box box, sn_triangle_visit fn,
                            void* ctx) {
  const sn_bvh* shape = moving->shape;
  uint32_t stack[SN_BVH_MAX_DEPTH];
  int depth = 0;
  if (shape->node_count > 0) stack[depth++] = 0;
  while (depth > 0) {
    uint32_t index = stack[--depth];
    const sn_bvh_node* node = &shape->nodes[index];
    if (!boxes_meet(box_of(moving, index), &box)) continue;
    if (node->right != 0) {
      stack[depth++] = node->right;
      stack[depth++] = index + 1;
      continue;
    }
    for (uint32_t k = node->begin; k < node->end; ++k) {
      sn_vec3 corner[3];
      sn_moving_bvh_corners(moving, shape->order[k], corner);
      sn_box own = triangle_box(corner);
      if (boxes_meet(&own, &box)) fn(ctx, shape->order[k]);
    }
  }
}

// The node's second child below the first on the stack, or the other way round.
static void push_children(const sn_bvh* shape, uint32_t index, bool left_first, uint32_t* stack,
                          int* depth) {
  uint32_t left = index + 1, right = shape->nodes[index].right;
  stack[(*depth)++] = left_first ? right : left;
  stack[(*depth)++] = left_first ? left : right;
}

static double box_distance_squared(const sn_box* box, sn_vec3 p) {
  sn_vec3 outside = sn_max3(sn_max3(sn_sub(box->lo, p), sn_sub(p, box->hi)), sn_v3(0, 0, 0));
  return sn_dot(outside, outside);
}

// No box is left out that holds a triangle as near as the best one, so that the index decides between
// equals. That holds to the last bit: the nearest place of a triangle lies within its box.
bool sn_moving_bvh_nearest(const sn_moving_bvh* moving, sn_vec3 p, double limit,
                           sn_triangle_accept accept, void* ctx, uint32_t* triangle,
                           sn_vec3* place) {
  const sn_bvh* shape = moving->shape;
  uint32_t stack[SN_BVH_MAX_DEPTH];
  int depth = 0;
  double best = limit * limit;
  bool found = false;
  if (shape->node_count > 0) stack[depth++] = 0;
  while (depth > 0) {
    uint32_t index = stack[--depth];
    const sn_bvh_node* node = &shape->nodes[index];
    if (box_distance_squared(box_of(moving, index), p) > best) continue;
    if (node->right != 0) {
      bool left_first = box_distance_squared(box_of(moving, index + 1), p) <=
                        box_distance_squared(box_of(moving, node->right), p);
      push_children(shape, index, left_first, stack, &depth);
      continue;
    }
    for (uint32_t k = node->begin; k < node->end; ++k) {
      uint32_t t = shape->order[k];
      sn_vec3 corner[3];
      sn_moving_bvh_corners(moving, t, corner);
      sn_vec3 nearest = sn_triangle_nearest(corner, p), away = sn_sub(nearest, p);
      double squared = sn_dot(away, away);
      bool nearer = squared < best || (squared == best && (!found || t < *triangle));
      if (!nearer || (accept && !accept(ctx, t))) continue;
      best = squared;
      *triangle = t;
      *place = nearest;
      found = true;
    }
  }
  return found;
}

// Does the ray come to the left child first? Only a matter of speed.
static bool left_lies_first(const sn_moving_bvh* moving, uint32_t index, const sn_ray* ray) {
  sn_vec3 left = sn_box_centre(*box_of(moving, index + 1));
  sn_vec3 right = sn_box_centre(*box_of(moving, moving->shape->nodes[index].right));
  return sn_dot(sn_sub(right, left), sn_load3(ray->way)) >= 0;
}

bool sn_moving_bvh_ray(const sn_moving_bvh* moving, sn_vec3 from, sn_vec3 direction, double length,
                       sn_triangle_accept accept, void* ctx, sn_ray_hit* hit) {
  const sn_bvh* shape = moving->shape;
  uint32_t stack[SN_BVH_MAX_DEPTH];
  int depth = 0;
  bool found = false;
  sn_ray ray;
  if (!sn_ray_set(&ray, from, direction, length, sn_moving_bvh_box(moving))) return false;
  if (shape->node_count > 0) stack[depth++] = 0;
  while (depth > 0) {
    uint32_t index = stack[--depth];
    const sn_bvh_node* node = &shape->nodes[index];
    if (!sn_ray_box(&ray, box_of(moving, index), found ? hit->t : length)) continue;
    if (node->right != 0) {
      push_children(shape, index, left_lies_first(moving, index, &ray), stack, &depth);
      continue;
    }
    for (uint32_t k = node->begin; k < node->end; ++k) {
      sn_ray_hit next = {.triangle = shape->order[k]};
      sn_vec3 corner[3];
      sn_moving_bvh_corners(moving, next.triangle, corner);
      if (!sn_ray_triangle(&ray, corner, &next)) continue;
      bool nearer =
          !found || next.t < hit->t || (next.t == hit->t && next.triangle < hit->triangle);
      if (!nearer || (accept && !accept(ctx, next.triangle))) continue;
      *hit = next;
      found = true;
    }
  }
  return found;
}
