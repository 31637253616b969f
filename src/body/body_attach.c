// How a body hangs in its scene. Cells are chosen by their centre, nodes by their place, points of
// the skin by samples a quarter of a cell apart; all at rest. A map chooses cells, and so the nodes and
// the skin that belong to them.
#include <math.h>
#include <string.h>

#include "body/body.h"
#include "body/body_map.h"
#include "math/vec.h"
#include "solve/vector.h"

// A place in a box's face is in the box, also after rounding: slack in finest cells.
#define SLACK 1e-6
// Points of the skin along a cell's edge: a traction then reaches the nodes within about 1 %.
#define SAMPLES_PER_CELL 4
#define MAX_SAMPLES_PER_EDGE 1024

typedef struct attach_ctx {
  const sn_scene* scene;
  const sn_bone* bones;
  sn_body* body;
  uint32_t index;  // of the body
  sn_pool* pool;
  sn_arena *arena, *scratch;
} attach_ctx;

typedef struct choice {
  const sn_body* body;
  const sn_where* where;
  const sn_bone* bone;  // INSIDE, NEAR; NULL: near the body's own surface
  bool of_cells;        // else of nodes
  uint8_t* chosen;      // a cell or node each
} choice;

static bool place_is_chosen(const choice* c, sn_vec3 place) {
  double slack = SLACK * c->body->tree.cell;
  sn_box box = c->where->box;
  sn_vec3 margin = sn_v3(slack, slack, slack);
  switch (c->where->kind) {
    case SN_WHERE_INSIDE:
      return !c->bone || sn_bone_distance(c->bone, place, INFINITY) <= slack;
    case SN_WHERE_NEAR:
      if (!c->bone) {
        double limit = c->where->distance + slack;
        return sn_bvh_distance(&c->body->bvh, place, limit + slack) <= limit;
      }
      return sn_bone_distance(c->bone, place, c->where->distance + 2 * slack) <=
             c->where->distance + slack;
    case SN_WHERE_BOX:
      return sn_box_contains((sn_box){sn_sub(box.lo, margin), sn_add(box.hi, margin)}, place);
    case SN_WHERE_ALL:
      return true;
    case SN_WHERE_GROUP:
    case SN_WHERE_MAP:
      break;
  }
  return false;
}

static bool cell_is_above(const choice* c, uint32_t cell) {
  uint32_t map = sn_body_find_map(c->body->desc, c->where->map);
  return map != SN_NO_MAP && (double)c->body->maps[map][cell] > c->where->above;
}

static void choose_by_place(void* ctx, size_t begin, size_t end) {
  const choice* c = ctx;
  for (size_t i = begin; i < end; ++i) {
    sn_vec3 place = c->of_cells ? sn_octree_cell_centre(&c->body->tree, (uint32_t)i)
                                : sn_octree_node_place(&c->body->tree, (uint32_t)i);
    c->chosen[i] = place_is_chosen(c, place);
  }
}

// The same for nodes in a box, of which a scene may have many: along each axis a place is in it or not
// whatever the others are.
static void choose_nodes_in_box(void* ctx, size_t begin, size_t end) {
  const choice* c = ctx;
  const sn_octree* tree = &c->body->tree;
  double slack = SLACK * tree->cell;
  sn_vec3 margin = sn_v3(slack, slack, slack);
  sn_vec3 low = sn_sub(c->where->box.lo, margin), high = sn_add(c->where->box.hi, margin);
  for (size_t n = begin; n < end; ++n) {
    sn_octant o = tree->nodes[n];
    double x = tree->origin.x + tree->cell * o.x, y = tree->origin.y + tree->cell * o.y,
           z = tree->origin.z + tree->cell * o.z;
    c->chosen[n] = (uint8_t)((x >= low.x) & (x <= high.x) & (y >= low.y) & (y <= high.y) &
                             (z >= low.z) & (z <= high.z));
  }
}

static const sn_mesh_group* find_group(const sn_mesh* mesh, const char* name) {
  for (uint32_t g = 0; g < mesh->group_count; ++g) {
    if (strcmp(mesh->groups[g].name, name) == 0) return &mesh->groups[g];
  }
  return NULL;
}

static void choose_cell(const choice* c, uint32_t cell) {
  if (c->of_cells) {
    c->chosen[cell] = 1;
  } else {
    for (int k = 0; k < 8; ++k) c->chosen[sn_octree_corner(&c->body->tree, cell, k)] = 1;
  }
}

static void choose_by_map(const choice* c) {
  for (uint32_t e = 0; e < c->body->tree.cell_count; ++e) {
    if (cell_is_above(c, e)) choose_cell(c, e);
  }
}

// Called for points of the skin, `area` of it each.
typedef void (*sample_fn)(void* ctx, sn_vec3 place, double area);

// Cut a triangle into n^2 equal ones; their centres are the samples.
static void sample_triangle(const sn_body* body, uint32_t triangle, sample_fn fn, void* ctx) {
  sn_vec3 a = sn_surface_corner(&body->surface, triangle, 0);
  sn_vec3 ab = sn_sub(sn_surface_corner(&body->surface, triangle, 1), a);
  sn_vec3 ac = sn_sub(sn_surface_corner(&body->surface, triangle, 2), a);
  double longest = fmax(sn_length(sn_sub(ac, ab)), fmax(sn_length(ab), sn_length(ac)));
  double wish = ceil(longest * SAMPLES_PER_CELL / body->tree.cell);
  int n = wish > MAX_SAMPLES_PER_EDGE ? MAX_SAMPLES_PER_EDGE : wish < 1 ? 1 : (int)wish;
  double area = 0.5 * sn_length(sn_cross(ab, ac)) / n / n;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; i + j < n; ++j) {
      double s = (i + 1.0 / 3) / n, t = (j + 1.0 / 3) / n, third = 1.0 / 3 / n;
      fn(ctx, sn_madd(sn_madd(a, s, ab), t, ac), area);
      if (i + j + 1 < n) fn(ctx, sn_madd(sn_madd(a, s + third, ab), t + third, ac), area);
    }
  }
}

// Samples of the triangles of a group, or of all with group == NULL.
static sn_status sample_skin(attach_ctx* ctx, const sn_mesh_group* group, sample_fn fn,
                             void* fn_ctx, sn_error* err) {
  const sn_surface* surface = &ctx->body->surface;
  sn_arena_mark mark = sn_arena_get_mark(ctx->scratch);
  uint8_t* wanted;
  SN_TRY(SN_ARENA_NEW(ctx->scratch, ctx->body->desc->mesh.triangle_count, &wanted, err));
  if (group) {
    for (uint32_t i = 0; i < group->triangle_count; ++i) wanted[group->triangles[i]] = 1;
  }
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    if (!group || wanted[surface->sources[t]]) sample_triangle(ctx->body, t, fn, fn_ctx);
  }
  sn_arena_release(ctx->scratch, mark);
  return SN_OK;
}

static void choose_sample(void* ctx, sn_vec3 place, double area) {
  const choice* c = ctx;
  double xi[3];
  (void)area;
  choose_cell(c, sn_octree_nearest(&c->body->tree, place, xi));
}

// A bone thinner than a cell may hold no centre: then take the cells that its surface runs through.
static void choose_around_thin_bone(const choice* c) {
  const sn_octree* tree = &c->body->tree;
  const sn_surface* surface = &c->bone->surface;
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    sn_vec3 a = sn_surface_corner(surface, t, 0), b = sn_surface_corner(surface, t, 1);
    int steps = 1 + (int)fmin(1e4, sn_distance(a, b) / (0.5 * tree->cell));
    for (int i = 0; i <= steps; ++i) {
      sn_vec3 p = sn_sub(sn_madd(a, (double)i / steps, sn_sub(b, a)), tree->origin);
      p = sn_scale(1.0 / tree->cell, p);
      double size = 1 << tree->root_height;
      if (!(p.x >= 0 && p.y >= 0 && p.z >= 0 && p.x < size && p.y < size && p.z < size)) continue;
      uint32_t cell = sn_octree_find(tree, (int)p.x, (int)p.y, (int)p.z);
      if (cell != SN_NO_CELL) choose_cell(c, cell);
    }
  }
}

static size_t count_chosen(const choice* c, size_t count) {
  size_t chosen = 0;
  for (size_t i = 0; i < count; ++i) chosen += c->chosen[i];
  return chosen;
}

// Mark the cells or nodes that `where` means. *found says how many there are.
static sn_status choose(attach_ctx* ctx, choice* c, size_t* found, sn_error* err) {
  const sn_octree* tree = &ctx->body->tree;
  size_t count = c->of_cells ? tree->cell_count : tree->node_count;
  SN_TRY(SN_ARENA_NEW(ctx->scratch, count, &c->chosen, err));
  if (c->where->kind == SN_WHERE_GROUP) {
    const sn_mesh_group* group = find_group(&ctx->body->desc->mesh, c->where->group);
    if (group) SN_TRY(sample_skin(ctx, group, choose_sample, c, err));
  } else if (c->where->kind == SN_WHERE_MAP) {
    choose_by_map(c);
  } else if (c->where->kind == SN_WHERE_BOX && !c->of_cells) {
    sn_parallel_for(ctx->pool, count, 4096, choose_nodes_in_box, c);
  } else {
    sn_parallel_for(ctx->pool, count, 64, choose_by_place, c);
  }
  *found = count_chosen(c, count);
  if (*found == 0 && c->where->kind == SN_WHERE_INSIDE && c->bone) {
    choose_around_thin_bone(c);
    *found = count_chosen(c, count);
    if (*found > 0) {
      sn_log(SN_LOG_WARNING,
             "bone \"%s\" is thinner than a cell of body \"%s\": the %zu %s around it are taken",
             c->bone->desc->name, ctx->body->desc->name, *found, c->of_cells ? "cells" : "nodes");
    }
  }
  return SN_OK;
}

// Spring constants that the chosen cells give to their nodes: a node that stands for one finest
// cell gets stiffness x mu h. Lumped, each node with a target of its own; springs at points inside
// cells couple their nodes and slow every solver down.
static void lump_springs(const choice* c, double stiffness, double* node_stiffness) {
  const sn_body* body = c->body;
  const sn_octree* tree = &body->tree;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    if (!c->chosen[e]) continue;
    double h = sn_octree_edge(tree, e), corner[8], node[8];
    double share = stiffness * sn_body_mu(body, e) * h * h * h / (tree->cell * tree->cell) / 8;
    for (int k = 0; k < 8; ++k) corner[k] = share;
    sn_cell_corner_to_conform(sn_flesh_shape(tree, e), corner, node);
    sn_corners at = sn_octree_corners(tree, e);
    for (int k = 0; k < 8; ++k) node_stiffness[at.nodes[k]] += node[k];
  }
}

// Springs of attachment i at each node of the body, zero where there is none.
static sn_status attachment_stiffness(attach_ctx* ctx, uint32_t i, double* node_stiffness,
                                      sn_error* err) {
  const sn_attachment_desc* desc = &ctx->scene->attachments[i];
  bool to_pose = desc->bone == SN_NO_BONE;
  choice c = {ctx->body, &desc->where, to_pose ? NULL : &ctx->bones[desc->bone], true, NULL};
  size_t found;
  sn_arena_mark mark = sn_arena_get_mark(ctx->scratch);
  SN_TRY(choose(ctx, &c, &found, err));
  SN_CHECK(
      found > 0 || !to_pose, err, SN_ERR_INPUT,
      "attachments[%u].where: holds no cell of body \"%s\"; expected a region that reaches into "
      "the body (its cells are %g m wide)",
      i, ctx->body->desc->name, ctx->body->tree.cell);
  SN_CHECK(found > 0, err, SN_ERR_INPUT,
           "attachments[%u]: bone \"%s\" reaches no cell of body \"%s\"; expected the bone in the "
           "body, or a larger `where`",
           i, ctx->scene->bones[desc->bone].name, ctx->body->desc->name);
  lump_springs(&c, desc->stiffness, node_stiffness);
  sn_arena_release(ctx->scratch, mark);
  return SN_OK;
}

// The ties of attachment i, in scratch memory.
static sn_status list_ties(attach_ctx* ctx, uint32_t i, double* stiffness, sn_tie** ties,
                           uint32_t* count, sn_error* err) {
  uint32_t nodes = ctx->body->tree.node_count;
  *count = 0;
  memset(stiffness, 0, nodes * sizeof *stiffness);
  SN_TRY(attachment_stiffness(ctx, i, stiffness, err));
  for (uint32_t n = 0; n < nodes; ++n) *count += stiffness[n] > 0;
  SN_TRY(SN_ARENA_NEW(ctx->scratch, *count, ties, err));
  uint32_t at = 0;
  for (uint32_t n = 0; n < nodes; ++n) {
    if (stiffness[n] > 0) {
      (*ties)[at++] = (sn_tie){n, ctx->scene->attachments[i].bone, stiffness[n], SN_NO_RIDER};
    }
  }
  return SN_OK;
}

static sn_status make_ties(attach_ctx* ctx, sn_error* err) {
  sn_body* body = ctx->body;
  uint32_t attachments = ctx->scene->attachment_count;
  double* stiffness;
  sn_tie** lists;
  uint32_t* counts;
  SN_TRY(SN_ARENA_NEW(ctx->scratch, body->tree.node_count, &stiffness, err));
  SN_TRY(SN_ARENA_NEW(ctx->scratch, attachments, &lists, err));
  SN_TRY(SN_ARENA_NEW(ctx->scratch, attachments, &counts, err));
  for (uint32_t i = 0; i < attachments; ++i) {
    if (ctx->scene->attachments[i].body != ctx->index) continue;
    SN_TRY(list_ties(ctx, i, stiffness, &lists[i], &counts[i], err));
    body->tie_count += counts[i];
  }
  SN_TRY(SN_ARENA_NEW(ctx->arena, body->tie_count, &body->ties, err));
  uint32_t at = 0;
  for (uint32_t i = 0; i < attachments; ++i) {
    if (counts[i]) memcpy(body->ties + at, lists[i], counts[i] * sizeof *body->ties);
    at += counts[i];
  }
  return SN_OK;
}

// Nodes are counted and listed in blocks, each of which knows where its entries go.
#define HOLD_BLOCK 4096

typedef struct held_counts {
  uint32_t entries, nodes, unknowns;
} held_counts;

typedef struct hold_job {
  sn_body* body;
  uint32_t* owner;        // fixed[] index + 1 (3 x node_count)
  const uint8_t* chosen;  // nodes that
  uint32_t fixed;         // means,
  uint8_t free_axes;      // and the axes that it leaves alone
  size_t block_size;
  held_counts counts[SN_MAX_BLOCKS];
} hold_job;

// An axis of a node belongs to the first of fixed[] that means it.
static void claim_nodes(void* context, size_t begin, size_t end) {
  const hold_job* job = context;
  for (size_t n = begin; n < end; ++n) {
    if (!job->chosen[n]) continue;
    uint32_t* owner = job->owner + 3 * n;
    for (int k = 0; k < 3; ++k) {
      if (!(job->free_axes >> k & 1) && !owner[k]) owner[k] = job->fixed + 1;
    }
  }
}

// An entry for each fixed[] that owns an axis of the node. @param held NULL: only count
static void add_held_node(uint32_t node, const uint32_t owner[3], sn_held_node* held,
                          held_counts* counts) {
  if (!(owner[0] || owner[1] || owner[2])) return;
  counts->nodes++;
  for (int k = 0; k < 3; ++k) {
    if (!owner[k]) continue;
    counts->unknowns++;
    bool first = !(k > 0 && owner[0] == owner[k]) && !(k > 1 && owner[1] == owner[k]);
    if (!first) continue;
    uint8_t free_axes = 0;
    for (int i = 0; i < 3; ++i) free_axes |= (uint8_t)((owner[i] != owner[k]) << i);
    if (held) held[counts->entries] = (sn_held_node){node, owner[k] - 1, free_axes, SN_NO_RIDER};
    counts->entries++;
  }
}

static void count_held(void* context, size_t begin, size_t end) {
  hold_job* job = context;
  held_counts counts = {0};
  for (size_t n = begin; n < end; ++n) {
    add_held_node((uint32_t)n, job->owner + 3 * n, NULL, &counts);
  }
  job->counts[begin / job->block_size] = counts;
}

static void list_held(void* context, size_t begin, size_t end) {
  hold_job* job = context;
  held_counts counts = job->counts[begin / job->block_size];
  for (size_t n = begin; n < end; ++n) {
    add_held_node((uint32_t)n, job->owner + 3 * n, job->body->held, &counts);
  }
}

// Counts of the blocks become starts; the body has their sum.
static void add_up_held(hold_job* job) {
  sn_body* body = job->body;
  for (size_t b = 0; b * job->block_size < body->tree.node_count; ++b) {
    held_counts counts = job->counts[b];
    job->counts[b] = (held_counts){.entries = body->held_count};
    body->held_count += counts.entries;
    body->held_node_count += counts.nodes;
    body->held_unknown_count += counts.unknowns;
  }
}

static sn_status hold_nodes(attach_ctx* ctx, sn_error* err) {
  sn_body* body = ctx->body;
  uint32_t nodes = body->tree.node_count;
  hold_job job = {.body = body, .block_size = sn_block_size(nodes, HOLD_BLOCK)};
  SN_TRY(SN_ARENA_NEW(ctx->scratch, 3 * (size_t)nodes, &job.owner, err));
  for (uint32_t i = 0; i < ctx->scene->fixed_count; ++i) {
    const sn_fixed_desc* desc = &ctx->scene->fixed[i];
    if (desc->body != ctx->index) continue;
    choice c = {body, &desc->where, desc->bone == SN_NO_BONE ? NULL : &ctx->bones[desc->bone],
                false, NULL};
    size_t found;
    sn_arena_mark mark = sn_arena_get_mark(ctx->scratch);
    SN_TRY(choose(ctx, &c, &found, err));
    SN_CHECK(
        found > 0, err, SN_ERR_INPUT,
        "fixed[%u].where: holds no node of body \"%s\"; expected a region that reaches into the "
        "body (its cells are %g m wide)",
        i, body->desc->name, body->tree.cell);
    job.chosen = c.chosen;
    job.fixed = i;
    job.free_axes = (uint8_t)desc->axes;
    sn_parallel_for(ctx->pool, nodes, HOLD_BLOCK, claim_nodes, &job);
    sn_arena_release(ctx->scratch, mark);
  }
  sn_parallel_for(ctx->pool, nodes, HOLD_BLOCK, count_held, &job);
  add_up_held(&job);
  SN_TRY(SN_ARENA_NEW(ctx->arena, body->held_count, &body->held, err));
  sn_parallel_for(ctx->pool, nodes, HOLD_BLOCK, list_held, &job);
  return SN_OK;
}

void sn_body_mark_held(const sn_body* body, uint8_t* held) {
  for (uint32_t h = 0; h < body->held_count; ++h) {
    uint8_t* at = &held[body->held[h].node];
    uint8_t bits = SN_HELD(body->held[h].free_axes);
    *at = *at ? *at & bits : bits;
  }
}

// The tree over what carries nodes by its shape: a deforming bone, or with SN_NO_BONE the body's own
// surface; NULL for a bone that only moves.
static const sn_bvh* carrying_tree(const attach_ctx* ctx, uint32_t bone) {
  if (bone == SN_NO_BONE) return &ctx->body->bvh;
  return ctx->bones[bone].desc->shape.frame_count > 0 ? &ctx->bones[bone].bvh : NULL;
}

// The tree that carries a held node; those without a bone move by their own motion.
static const sn_bvh* holding_tree(const attach_ctx* ctx, const sn_held_node* held) {
  uint32_t bone = ctx->scene->fixed[held->fixed].bone;
  return bone == SN_NO_BONE ? NULL : carrying_tree(ctx, bone);
}

static void bind_ties(void* context, size_t begin, size_t end) {
  const attach_ctx* ctx = context;
  for (size_t t = begin; t < end; ++t) {
    const sn_tie* tie = &ctx->body->ties[t];
    if (tie->rider == SN_NO_RIDER) continue;
    sn_vec3 place = sn_octree_node_place(&ctx->body->tree, tie->node);
    ctx->body->riders[tie->rider] = sn_rider_bind(carrying_tree(ctx, tie->bone), place, NULL);
  }
}

static void bind_held(void* context, size_t begin, size_t end) {
  const attach_ctx* ctx = context;
  for (size_t h = begin; h < end; ++h) {
    const sn_held_node* held = &ctx->body->held[h];
    if (held->rider == SN_NO_RIDER) continue;
    sn_vec3 place = sn_octree_node_place(&ctx->body->tree, held->node);
    ctx->body->riders[held->rider] = sn_rider_bind(holding_tree(ctx, held), place, NULL);
  }
}

// Nodes whose place follows from the shape of a deforming surface.
static sn_status make_riders(attach_ctx* ctx, sn_error* err) {
  sn_body* body = ctx->body;
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    if (carrying_tree(ctx, body->ties[t].bone)) body->ties[t].rider = body->rider_count++;
  }
  for (uint32_t h = 0; h < body->held_count; ++h) {
    if (holding_tree(ctx, &body->held[h])) body->held[h].rider = body->rider_count++;
  }
  SN_TRY(SN_ARENA_NEW(ctx->arena, body->rider_count, &body->riders, err));
  sn_parallel_for(ctx->pool, body->tie_count, 64, bind_ties, ctx);
  sn_parallel_for(ctx->pool, body->held_count, 64, bind_held, ctx);
  return SN_OK;
}

typedef struct load_samples {
  choice c;
  double area;        // chosen so far, m2
  double* node_area;  // m2 (node_count)
} load_samples;

static void add_load_sample(void* ctx, sn_vec3 place, double area) {
  load_samples* load = ctx;
  if (load->c.where->kind == SN_WHERE_BOX && !place_is_chosen(&load->c, place)) return;
  const sn_octree* tree = &load->c.body->tree;
  double xi[3], weights[8];
  uint32_t cell = sn_octree_nearest(tree, place, xi);
  if (load->c.where->kind == SN_WHERE_MAP && !cell_is_above(&load->c, cell)) return;
  sn_octree_point_weights(tree, cell, xi, weights);
  for (int k = 0; k < 8; ++k) {
    load->node_area[sn_octree_corner(tree, cell, k)] += area * weights[k];
  }
  load->area += area;
}

// Spread force i over the chosen skin, evenly by area.
static sn_status make_load(attach_ctx* ctx, uint32_t i, sn_load* load, sn_error* err) {
  const sn_body* body = ctx->body;
  uint32_t nodes = body->tree.node_count;
  *load = (sn_load){.desc = &ctx->scene->forces[i]};
  load_samples samples = {.c = {.body = body, .where = &load->desc->where}};
  SN_TRY(SN_ARENA_NEW(ctx->scratch, nodes, &samples.node_area, err));
  bool by_group = load->desc->where.kind == SN_WHERE_GROUP;
  const sn_mesh_group* group =
      by_group ? find_group(&body->desc->mesh, load->desc->where.group) : NULL;
  if (!by_group || group) SN_TRY(sample_skin(ctx, group, add_load_sample, &samples, err));
  SN_CHECK(samples.area > 0, err, SN_ERR_INPUT,
           "forces[%u].where: holds no part of the surface of body \"%s\"; expected a region that "
           "the surface runs through",
           i, body->desc->name);
  for (uint32_t n = 0; n < nodes; ++n) load->share_count += samples.node_area[n] != 0;
  SN_TRY(SN_ARENA_NEW(ctx->arena, load->share_count, &load->shares, err));
  double scale = load->desc->is_traction ? 1 : 1 / samples.area;
  uint32_t at = 0;
  for (uint32_t n = 0; n < nodes; ++n) {
    if (samples.node_area[n] == 0) continue;
    load->shares[at++] = (sn_load_share){n, scale * samples.node_area[n]};
  }
  return SN_OK;
}

static sn_status make_loads(attach_ctx* ctx, sn_error* err) {
  sn_body* body = ctx->body;
  SN_TRY(SN_ARENA_NEW(ctx->arena, ctx->scene->force_count, &body->loads, err));
  for (uint32_t i = 0; i < ctx->scene->force_count; ++i) {
    if (ctx->scene->forces[i].body != ctx->index) continue;
    SN_TRY(make_load(ctx, i, &body->loads[body->load_count++], err));
  }
  return SN_OK;
}

static uint32_t find_root(uint32_t* parent, uint32_t n) {
  while (parent[n] != n) {
    parent[n] = parent[parent[n]];
    n = parent[n];
  }
  return n;
}

// The smaller of two roots stands for both.
static void unite(uint32_t* parent, uint32_t a, uint32_t b) {
  if (parent[a] == parent[b]) return;
  a = find_root(parent, a);
  b = find_root(parent, b);
  if (a < b) parent[b] = a;
  if (b < a) parent[a] = b;
}

// All cells of a family have its centre, where nothing hangs: so its nodes are in one part. A chunk of
// families joins its own nodes; what it shares with others waits until all have done so.
typedef struct part_job {
  const sn_families* families;
  uint32_t* parent;  // a node of the same part, not above this one (node_count)
  uint32_t* links;   // of each chunk's node in its halo, another node of the same part (slots)
} part_job;

// Local numbers of a chunk's nodes become connected by its families.
static void unite_families(const sn_families* f, uint32_t chunk, uint32_t* local_parent) {
  uint32_t count = f->node_starts[chunk + 1] - f->node_starts[chunk];
  uint32_t first = chunk * SN_CHUNK_PACKETS, last = first + SN_CHUNK_PACKETS;
  if (last > f->packet_count) last = f->packet_count;
  for (uint32_t i = 0; i < count; ++i) local_parent[i] = i;
  for (uint32_t packet = first; packet < last; ++packet) {
    const uint16_t* points = f->local + (size_t)packet * SN_FAMILY_POINTS * SN_FAMILY_LANES;
    const uint16_t* centres = points + sn_family_point(1, 1, 1) * SN_FAMILY_LANES;
    for (int i = 0; i < SN_FAMILY_POINTS * SN_FAMILY_LANES; ++i) {
      if (points[i] == count) continue;  // no node
      unite(local_parent, centres[i % SN_FAMILY_LANES], points[i]);
    }
  }
}

static void unite_chunks(void* context, size_t begin, size_t end) {
  const part_job* job = context;
  const sn_families* f = job->families;
  for (uint32_t chunk = (uint32_t)begin; chunk < end; ++chunk) {
    uint32_t local_parent[SN_CHUNK_MAX_NODES], lowest[SN_CHUNK_MAX_NODES];
    const uint32_t* nodes = f->chunk_nodes + f->node_starts[chunk];
    uint32_t own = f->own_counts[chunk], count = f->node_starts[chunk + 1] - f->node_starts[chunk];
    unite_families(f, chunk, local_parent);
    // The lowest own node of each set; own nodes have the lower numbers, and so the roots.
    memset(lowest, 0xff, own * sizeof *lowest);
    for (uint32_t i = 0; i < own; ++i) {
      uint32_t* least = &lowest[find_root(local_parent, i)];
      if (nodes[i] < *least) *least = nodes[i];
    }
    for (uint32_t i = 0; i < own; ++i) {
      job->parent[nodes[i]] = lowest[find_root(local_parent, i)];
    }
    for (uint32_t i = own; i < count; ++i) {
      uint32_t root = find_root(local_parent, i);
      job->links[f->slot_starts[chunk] + (i - own)] = root < own ? lowest[root] : nodes[root];
    }
  }
}

// Part of each node, numbered by their first nodes. Returns how many there are.
static uint32_t number_parts(uint32_t node_count, uint32_t* parent, uint32_t* parts) {
  uint32_t count = 0;
  for (uint32_t n = 0; n < node_count; ++n) {
    uint32_t root = find_root(parent, n);
    parts[n] = root == n ? count++ : parts[root];
  }
  return count;
}

// Nodes that cells connect form a part. Parts are numbered by their first node.
static sn_status find_parts(attach_ctx* ctx, sn_error* err) {
  sn_body* body = ctx->body;
  const sn_octree* tree = &body->tree;
  const sn_families* f = &body->families;
  part_job job = {.families = f};
  uint32_t* parts;
  SN_TRY(SN_ARENA_RAW(ctx->scratch, tree->node_count, &job.parent, err));
  SN_TRY(SN_ARENA_RAW(ctx->scratch, sn_families_slot_count(f), &job.links, err));
  SN_TRY(SN_ARENA_RAW(ctx->scratch, tree->node_count, &parts, err));
  sn_parallel_for(ctx->pool, f->chunk_count, 1, unite_chunks, &job);
  for (uint32_t chunk = 0; chunk < f->chunk_count; ++chunk) {
    const uint32_t* halo = f->chunk_nodes + f->node_starts[chunk] + f->own_counts[chunk];
    const uint32_t* links = job.links + f->slot_starts[chunk];
    uint32_t count = f->slot_starts[chunk + 1] - f->slot_starts[chunk];
    for (uint32_t i = 0; i < count; ++i) unite(job.parent, halo[i], links[i]);
  }
  body->part_count = number_parts(tree->node_count, job.parent, parts);
  if (body->part_count > 1) {
    SN_TRY(SN_ARENA_RAW(ctx->arena, tree->node_count, &body->node_parts, err));
    memcpy(body->node_parts, parts, tree->node_count * sizeof *parts);
  }
  SN_TRY(SN_ARENA_NEW(ctx->arena, body->part_count, &body->part_is_held, err));
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    body->part_is_held[sn_body_part(body, body->ties[t].node)] = 1;
  }
  for (uint32_t h = 0; h < body->held_count; ++h) {
    body->part_is_held[sn_body_part(body, body->held[h].node)] = 1;
  }
  return SN_OK;
}

sn_status sn_body_attach(const sn_scene* scene, uint32_t index, const sn_bone* bones, sn_pool* pool,
                         sn_arena* arena, sn_arena* scratch, sn_body* body, sn_error* err) {
  attach_ctx ctx = {scene, bones, body, index, pool, arena, scratch};
  SN_TRY(make_ties(&ctx, err));
  SN_TRY(hold_nodes(&ctx, err));
  SN_TRY(make_riders(&ctx, err));
  SN_TRY(make_loads(&ctx, err));
  return find_parts(&ctx, err);
}
