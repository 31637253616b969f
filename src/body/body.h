// One body of flesh: its surface, its octree, its material, how it hangs on bones, and the points
// of the skin that it carries. Built once, then const.
#ifndef SN_BODY_BODY_H
#define SN_BODY_BODY_H

#include "body/bone.h"
#include "body/carrier.h"
#include "body/muscles.h"
#include "body/smooth_skin.h"
#include "elasticity/flesh.h"
#include "sinew/model.h"

#define SN_NO_RIDER UINT32_MAX

// A spring from a node to the place where a bone, or the body's own pose, would carry it.
typedef struct sn_tie {
  uint32_t node, bone;  // SN_NO_BONE: the pose
  double stiffness;     // N/m
  uint32_t rider;       // of the body's riders, if what carries it deforms; else SN_NO_RIDER
} sn_tie;

// A node that moves exactly as told.
typedef struct sn_held_node {
  uint32_t node, fixed;  // index into the scene's fixed[]
  uint8_t free_axes;     // along which this one does not hold it, a bit each
  uint32_t rider;        // of the body's riders, if its bone deforms; else SN_NO_RIDER
} sn_held_node;

// A vertex that is no flesh.
typedef struct sn_follower {
  uint32_t vertex;
  sn_rider rider;  // on the surface of the flesh
  double fade;     // with a pose: how much of the flesh's own displacement it takes, 0 to 1
} sn_follower;

// Share of a force at a node: newtons there = share x value of the force at the frame.
typedef struct sn_load_share {
  uint32_t node;
  double share;
} sn_load_share;

typedef struct sn_load {
  const sn_force_desc* desc;
  sn_load_share* shares;
  uint32_t share_count;
} sn_load;

typedef struct sn_body {
  const sn_body_desc* desc;
  sn_surface surface;
  sn_bvh bvh;
  sn_octree tree;
  sn_families families;
  sn_flesh flesh;
  const sn_material* kinds;  // laws that its cells follow (kind_count)
  uint32_t kind_count;
  uint8_t* cell_kinds;        // NULL: all cells are of the first kind
  float *mu, *lambda;         // of each cell, Pa, as in sn_tissue
  bool even;                  // those of one are those of all
  sn_cut_cells cut;           // empty: all cells count as whole
  uint64_t many_point_cells;  // cut cells whose rule has more than four points
  double* region_shares;      // of the filled volume that is in each region (desc->region_count)
  float** maps;               // each at the cells (desc->map_count)
  double* map_means;          // over the filled volume (desc->map_count)
  float* fill;                // share of each cell inside the skin (cell_count)
  double* node_mass;          // kg (node_count)
  double filled_volume;       // of the cells' shares inside the skin, m3

  uint32_t* vertex_cells;  // the cell that carries each vertex of the mesh (vertex_count)
  double* vertex_weights;  // of that cell's conforming nodes (8 x vertex_count)
  uint64_t outside_vertex_count;
  uint32_t dropped_cell_count;
  double reach;           // how far beyond its cell a point may be carried, in that cell's edges
  sn_smooth_skin smooth;  // with the tricubic embedding; else its tree is NULL

  sn_tie* ties;  // by attachment, then node
  uint32_t tie_count;
  sn_held_node* held;  // by node; the first fixed[] that claims an axis of a node has it
  uint32_t held_count;
  uint32_t held_node_count, held_unknown_count;
  sn_rider* riders;  // nodes that a deforming surface carries (rider_count)
  uint32_t rider_count;
  struct sn_lead* leads;  // bones that take each node along (node_count), or NULL
  sn_load* loads;
  uint32_t load_count;
  sn_muscles muscles;

  sn_follower* followers;  // by vertex
  uint32_t follower_count;
  uint32_t surface_part_count, following_part_count;  // connected parts of the mesh

  uint32_t* node_parts;  // connected part of each node (node_count); NULL: there is one
  uint32_t part_count;
  uint8_t* part_is_held;  // does a tie or a held node hold it? (part_count)

  size_t begin;  // its first unknown in the vector of all
  size_t surface_bytes, tree_bytes, family_bytes, material_bytes;  // that it holds
} sn_body;

// Grid, material and embedding. A cell of 0 in the description is replaced by one that gives about
// 100,000 cells. `bones` refine the grid where this body is attached to them.
sn_status sn_body_build(const sn_scene* scene, uint32_t index, const sn_bone* bones, sn_pool* pool,
                        sn_arena* arena, sn_arena* scratch, sn_body* body, sn_error* err);

// Ties, held nodes, loads and parts (body_attach.c).
sn_status sn_body_attach(const sn_scene* scene, uint32_t index, const sn_bone* bones, sn_pool* pool,
                         sn_arena* arena, sn_arena* scratch, sn_body* body, sn_error* err);

static inline sn_tissue sn_body_tissue(const sn_body* body) {
  return (sn_tissue){body->kinds, body->kind_count, body->cell_kinds,
                     body->mu,    body->lambda,     body->even};
}
static inline double sn_body_mu(const sn_body* body, size_t cell) {
  return body->mu[body->even ? 0 : cell];
}
static inline double sn_body_lambda(const sn_body* body, size_t cell) {
  return body->lambda[body->even ? 0 : cell];
}

// The share of its cells that displacements turn inside out. (of all bodies)
static inline double sn_body_inverted(const sn_body* body, sn_pool* pool, const double* u) {
  sn_flesh_measure m = sn_flesh_get_measure(&body->flesh, pool, u + body->begin);
  return (double)m.inverted / body->tree.cell_count;
}

// The part that a node belongs to.
static inline uint32_t sn_body_part(const sn_body* body, uint32_t node) {
  return body->node_parts ? body->node_parts[node] : 0;
}

// Its held nodes, as in solve/vector.h (node_count, 0 before).
void sn_body_mark_held(const sn_body* body, uint8_t* held);

// Cells of an octree for each cell-sized piece of surface, measured (docs/theory/octree.md, section 9).
#define SN_CELLS_PER_AREA 2.7
// About as many where no cell is given.
#define SN_DEFAULT_CELLS 1e5

// The box around a body, and cells and bytes that it would take, from its surface alone.
void sn_body_estimate(const sn_body_desc* desc, sn_box* box, double* cells, double* bytes);

// The cell that carries a point of the body, and the weights of its conforming nodes.
uint32_t sn_body_embed(const sn_body* body, sn_vec3 point, double weights[8]);

// How far vertex v of the mesh has gone; u are the displacements of this body's nodes.
static inline sn_vec3 sn_body_vertex_move(const sn_body* body, const double* u, size_t v) {
  sn_corners at = sn_octree_corners(&body->tree, body->vertex_cells[v]);
  const double* weights = body->vertex_weights + 8 * v;
  double move[3] = {0, 0, 0};
  for (int k = 0; k < 8; ++k) {
    for (int i = 0; i < 3; ++i) move[i] += weights[k] * u[3 * (size_t)at.nodes[k] + i];
  }
  return (sn_vec3){move[0], move[1], move[2]};
}

// The same where the surface is shown: smooth if the description says so. `slopes` are those of
// sn_smooth_skin_update, unused if not.
sn_vec3 sn_body_vertex_show(const sn_body* body, const double* u, const double* slopes, size_t v);

sn_body_info sn_body_get_info(const sn_body* body);
sn_region_info sn_body_get_region(const sn_body* body, uint32_t region);
sn_map_info sn_body_get_map(const sn_body* body, uint32_t map);
sn_muscle_info sn_body_get_muscle(const sn_body* body, uint32_t muscle);

#endif
