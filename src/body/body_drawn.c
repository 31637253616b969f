// Nodes near the skin go where the skin takes them, as ties to the pose would have it; the lines between the
// corners of a cell then tell how far it is drawn out. Where two sheets of the skin share cells and part,
// some corners go with one and some with the other: docs/theory/flesh.md, section 6.
#include "body/body_drawn.h"

#include <math.h>

#include "math/vec.h"

// How near to the skin a node has to be for the skin to say where it goes, in finest cells.
#define NEAR 2.0
// Of more frames so many are looked at, evenly spread.
#define MOST_FRAMES 64
#define MIN_NODES 256

typedef struct drawn_job {
  const sn_body* body;
  const float* places;  // of the vertices at the frame (3 x vertex_count)
  sn_carrier carrier;
  uint8_t* is_near;  // (node_count)
  sn_rider* riders;  // of nodes that are near (node_count)
  double* now;       // where the skin takes those (3 x node_count)
  float* stretch;    // (cell_count)
} drawn_job;

static void bind_nodes(void* ctx, size_t begin, size_t end) {
  const drawn_job* job = ctx;
  const sn_body* body = job->body;
  double limit = NEAR * body->tree.cell;
  for (size_t n = begin; n < end; ++n) {
    sn_vec3 place = sn_octree_node_place(&body->tree, (uint32_t)n);
    job->is_near[n] = sn_bvh_distance(&body->bvh, place, limit) < limit;
    if (job->is_near[n]) job->riders[n] = sn_rider_bind(&body->bvh, place, NULL);
  }
}

static void move_vertices(void* ctx, size_t begin, size_t end) {
  const drawn_job* job = ctx;
  const double* rest = job->body->desc->mesh.positions;
  for (size_t i = 3 * begin; i < 3 * end; ++i) {
    job->carrier.moves[i] = (double)job->places[i] - rest[i];
  }
}

static void move_nodes(void* ctx, size_t begin, size_t end) {
  const drawn_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    if (!job->is_near[n]) continue;
    sn_vec3 place = sn_octree_node_place(&job->body->tree, (uint32_t)n);
    sn_store3(job->now + 3 * n, sn_add(place, sn_rider_move(&job->riders[n], &job->carrier)));
  }
}

static double stretch_of(const drawn_job* job, const uint32_t nodes[8]) {
  const sn_octree* tree = &job->body->tree;
  double most = 1;
  for (int i = 1; i < 8; ++i) {
    for (int k = 0; k < i; ++k) {
      if (nodes[i] == nodes[k]) continue;
      double rest =
          sn_distance(sn_octree_node_place(tree, nodes[i]), sn_octree_node_place(tree, nodes[k]));
      double now = sn_distance(sn_load3(job->now + 3 * (size_t)nodes[i]),
                               sn_load3(job->now + 3 * (size_t)nodes[k]));
      most = fmax(most, now / rest);
    }
  }
  return most;
}

static void stretch_cells(void* ctx, size_t begin, size_t end) {
  const drawn_job* job = ctx;
  for (size_t e = begin; e < end; ++e) {
    sn_corners at = sn_octree_corners(&job->body->tree, (uint32_t)e);
    bool near = true;
    for (int c = 0; c < 8; ++c) near = near && job->is_near[at.nodes[c]];
    if (near) job->stretch[e] = (float)fmax((double)job->stretch[e], stretch_of(job, at.nodes));
  }
}

static void look_at_frame(drawn_job* job, sn_pool* pool, uint32_t frame) {
  const sn_mesh_motion* pose = &job->body->desc->pose;
  const sn_octree* tree = &job->body->tree;
  job->places = pose->places + 3 * (size_t)pose->vertex_count * frame;
  sn_parallel_for(pool, pose->vertex_count, 1024, move_vertices, job);
  sn_carrier_turn(&job->carrier, pool);
  sn_parallel_for(pool, tree->node_count, MIN_NODES, move_nodes, job);
  sn_parallel_for(pool, tree->cell_count, MIN_NODES, stretch_cells, job);
}

// What a cell is drawn out by pulls at its neighbours too.
static sn_status spread(const sn_octree* tree, sn_arena* scratch, const float* stretch,
                        float* around, sn_error* err) {
  float* most;
  SN_TRY(SN_ARENA_NEW(scratch, tree->node_count, &most, err));
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_corners at = sn_octree_corners(tree, e);
    for (int c = 0; c < 8; ++c) most[at.nodes[c]] = fmaxf(most[at.nodes[c]], stretch[e]);
  }
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_corners at = sn_octree_corners(tree, e);
    around[e] = stretch[e];
    for (int c = 0; c < 8; ++c) around[e] = fmaxf(around[e], most[at.nodes[c]]);
  }
  return SN_OK;
}

// At most of all frames; 1 for cells that are not near the skin.
static sn_status find_stretch(const sn_body* body, sn_pool* pool, sn_arena* scratch, float* stretch,
                              sn_error* err) {
  drawn_job job = {.body = body, .stretch = stretch};
  size_t nodes = body->tree.node_count;
  SN_TRY(sn_carrier_create(&body->surface, scratch, &job.carrier, err));
  SN_TRY(SN_ARENA_RAW(scratch, nodes, &job.is_near, err));
  SN_TRY(SN_ARENA_RAW(scratch, nodes, &job.riders, err));
  SN_TRY(SN_ARENA_RAW(scratch, 3 * nodes, &job.now, err));
  sn_parallel_for(pool, nodes, MIN_NODES, bind_nodes, &job);
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) stretch[e] = 1;
  uint32_t count = body->desc->pose.frame_count, looks = count < MOST_FRAMES ? count : MOST_FRAMES;
  for (uint32_t i = 0; i < looks; ++i) {
    look_at_frame(&job, pool, looks > 1 ? (uint32_t)((uint64_t)i * (count - 1) / (looks - 1)) : 0);
  }
  return SN_OK;
}

// Corotated flesh of Poisson's ratio nu that is drawn out to s times its length has 1 - nu (s - 1) of its width: none at
// 1 + 1/nu, and beyond that it is inside out. The other laws stay in order.
static double ratio_of(const sn_body* body, double mu, double lambda, size_t cell) {
  const sn_material* kind = &body->kinds[body->cell_kinds ? body->cell_kinds[cell] : 0];
  return kind->law == SN_LAW_COROTATED ? lambda / (2 * (lambda + mu)) : 0;
}

static bool is_too_thin(const sn_body* body, double nu, double stretch) {
  return 1 - nu * (stretch - 1) < body->desc->least_width;
}

sn_status sn_body_find_drawn(const sn_body* body, sn_pool* pool, sn_arena* scratch, sn_drawn* drawn,
                             sn_error* err) {
  const sn_body_desc* desc = body->desc;
  *drawn = (sn_drawn){NULL, NULL};
  if (desc->least_width == 0 || desc->pose.frame_count == 0) return SN_OK;
  uint32_t cells = body->tree.cell_count;
  float* stretch;
  SN_TRY(SN_ARENA_RAW(scratch, cells, &stretch, err));
  SN_TRY(SN_ARENA_RAW(scratch, cells, &drawn->around, err));
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  SN_TRY(find_stretch(body, pool, scratch, stretch, err));
  SN_TRY(spread(&body->tree, scratch, stretch, drawn->around, err));
  sn_arena_release(scratch, mark);
  double most = 1, nu = 0;
  for (uint32_t e = 0; e < cells; ++e) most = fmax(most, (double)stretch[e]);
  for (uint32_t k = 0; k < body->kind_count; ++k) {
    if (body->kinds[k].law != SN_LAW_COROTATED) continue;
    nu = fmax(nu, body->kinds[k].lambda / (2 * (body->kinds[k].lambda + body->kinds[k].mu)));
  }
  if (is_too_thin(body, nu, most)) drawn->stretch = stretch;
  return SN_OK;
}

// A ratio at which the width is kept, also beside such cells, which share their pull; and a tension that does not
// grow beyond that of flesh drawn out as far as it may be: between lips there is nothing to hold them.
void sn_body_spare_drawn(const sn_drawn* drawn, sn_body* body) {
  double shrink = 1 - body->desc->least_width;
  for (size_t e = 0; e < body->tree.cell_count; ++e) {
    double mu = (double)body->mu[e], nu = ratio_of(body, mu, (double)body->lambda[e], e);
    if (!is_too_thin(body, nu, (double)drawn->around[e])) continue;
    double strain = (double)drawn->stretch[e] - 1, kept = shrink / ((double)drawn->around[e] - 1);
    if (nu * strain > shrink) mu *= shrink / (nu * strain);
    body->mu[e] = (float)mu;
    body->lambda[e] = (float)(2 * mu * kept / (1 - 2 * kept));
  }
}
