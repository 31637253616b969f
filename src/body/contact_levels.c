#include "body/contact_levels.h"

#include <string.h>

#include "base/timer.h"

// Contacts that there is room for: one for so many that the set holds, and a few.
#define SLOT_SHARE 8
#define LEAST_SLOTS 1024

static bool is_of_body(const sn_contact_levels* levels, const sn_carried* c) {
  return c->nodes[0] - (uint32_t)(levels->body->begin / 3) < levels->body->tree.node_count;
}

// Which sides of a contact are flesh of this body: bit 0 the point's, bit 1 the target's.
static int sides_of(const sn_contact_levels* levels, const sn_contact* c) {
  int own = is_of_body(levels, c->carrier);
  int other = c->against_flesh && is_of_body(levels, &c->target);
  return own | other << 1;
}

static sn_level_carrier* carriers_of(const sn_contact_levels* levels, uint32_t slot, int level) {
  return levels->carriers + 2 * ((size_t)slot * (size_t)levels->hierarchy->count + (size_t)level);
}

static void carry(const sn_octree* tree, const sn_carried* from, sn_level_carrier* to) {
  double xi[3], weights[8];
  uint32_t cell = sn_octree_nearest(tree, from->rest, xi);
  sn_octree_point_weights(tree, cell, xi, weights);
  for (int k = 0; k < 8; ++k) {
    to->nodes[k] = sn_octree_corner(tree, cell, k);
    to->weights[k] = (float)weights[k];
  }
}

void sn_contact_levels_update(sn_contact_levels* levels) {
  const sn_contact_set* set = levels->set;
  if (levels->epoch != set->epoch) {
    memset(levels->slots, 0, set->capacity * sizeof *levels->slots);
    levels->count = 0;
    levels->epoch = set->epoch;
  }
  for (uint32_t i = 0; i < set->block_count && levels->count < levels->capacity; ++i) {
    uint32_t contact = set->blocks[i].contact;
    const sn_contact* c = &set->contacts[contact];
    int sides = sides_of(levels, c);
    if (levels->slots[contact] || sides == 0) continue;
    for (int l = 0; l < levels->hierarchy->count; ++l) {
      const sn_octree* tree = levels->hierarchy->grids[l].tree;
      sn_level_carrier* carriers = carriers_of(levels, levels->count, l);
      if (sides & 1) carry(tree, c->carrier, &carriers[0]);
      if (sides & 2) carry(tree, &c->target, &carriers[1]);
    }
    levels->slots[contact] = ++levels->count;
  }
}

static void gather(const sn_level_carrier* c, float sign, const float* x, float v[3]) {
  for (int k = 0; k < 8; ++k) {
    const float* at = x + 3 * (size_t)c->nodes[k];
    float w = sign * c->weights[k];
    for (int i = 0; i < 3; ++i) v[i] += w * at[i];
  }
}

static void spread(const sn_level_carrier* c, float sign, const float v[3], float* y) {
  for (int k = 0; k < 8; ++k) {
    float* at = y + 3 * (size_t)c->nodes[k];
    float w = sign * c->weights[k];
    for (int i = 0; i < 3; ++i) at[i] += w * v[i];
  }
}

// f = m v
static void push(const float m[6], const float v[3], float f[3]) {
  f[0] = m[0] * v[0] + m[3] * v[1] + m[4] * v[2];
  f[1] = m[3] * v[0] + m[1] * v[1] + m[5] * v[2];
  f[2] = m[4] * v[0] + m[5] * v[1] + m[2] * v[2];
}

static void multiply(void* ctx, sn_pool* pool, int level, const float* x, float* y) {
  (void)pool;
  const sn_contact_levels* levels = ctx;
  const sn_contact_set* set = levels->set;
  double start = sn_seconds();
  for (uint32_t i = 0; i < set->block_count; ++i) {
    uint32_t contact = set->blocks[i].contact, slot = levels->slots[contact];
    if (slot == 0) continue;
    int sides = sides_of(levels, &set->contacts[contact]);
    const sn_level_carrier* c = carriers_of(levels, slot - 1, level);
    float v[3] = {0, 0, 0}, f[3];
    if (sides & 1) gather(&c[0], 1, x, v);
    if (sides & 2) gather(&c[1], -1, x, v);
    push(set->blocks[i].m, v, f);
    if (sides & 1) spread(&c[0], 1, f, y);
    if (sides & 2) spread(&c[1], -1, f, y);
  }
  *set->seconds += sn_seconds() - start;
}

static bool is_idle(const void* ctx) {
  return ((const sn_contact_levels*)ctx)->set->block_count == 0;
}

// w_k B at each node bounds a spring between places (see contact.c), twice that with two sides.
static void bound(void* ctx, sn_pool* pool, int level, sn_mg_level* to) {
  (void)pool;
  const sn_contact_levels* levels = ctx;
  const sn_contact_set* set = levels->set;
  for (uint32_t i = 0; i < set->block_count; ++i) {
    uint32_t contact = set->blocks[i].contact, slot = levels->slots[contact];
    if (slot == 0) continue;
    int sides = sides_of(levels, &set->contacts[contact]);
    for (int side = 0; side < 2; ++side) {
      const sn_level_carrier* c = carriers_of(levels, slot - 1, level) + side;
      for (int k = 0; k < 8 && (sides & 1 << side); ++k) {
        float block[6], w = (sides == 3 ? 2 : 1) * c->weights[k];
        for (int e = 0; e < 6; ++e) block[e] = w * set->blocks[i].m[e];
        if (w > 0) sn_mg_add_block(to, c->nodes[k], block);
      }
    }
  }
}

sn_status sn_contact_levels_create(const sn_contact_set* set, const sn_body* body,
                                   const sn_hierarchy* hierarchy, sn_arena* arena,
                                   sn_contact_levels* levels, sn_error* err) {
  *levels = (sn_contact_levels){.set = set, .body = body, .hierarchy = hierarchy};
  levels->capacity = set->capacity / SLOT_SHARE + LEAST_SLOTS;
  if (levels->capacity > set->capacity) levels->capacity = set->capacity;
  levels->more = (sn_more_stiffness){levels, is_idle, bound, multiply};
  SN_TRY(SN_ARENA_NEW(arena, set->capacity, &levels->slots, err));
  return SN_ARENA_RAW(arena, 2 * (size_t)levels->capacity * (size_t)hierarchy->count,
                      &levels->carriers, err);
}
