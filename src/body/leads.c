#include "body/leads.h"

#include <math.h>

#include "math/vec.h"

#define MIN_NODES 1024

typedef struct leads_job {
  const sn_body* body;
  const sn_bone* bones;
  const uint16_t* tied;  // bones that hold the body (tied_count)
  uint32_t tied_count;
  sn_lead* leads;
  const sn_affine* moves;
  const double* u;
  double* led;
} leads_job;

// Keep the nearest, by distance.
static void insert(uint16_t bone, double distance, uint16_t* bones, double* distances) {
  int at = SN_LEADS;
  for (; at > 0 && distance < distances[at - 1]; --at) {
    if (at == SN_LEADS) continue;
    distances[at] = distances[at - 1];
    bones[at] = bones[at - 1];
  }
  if (at == SN_LEADS) return;
  distances[at] = distance;
  bones[at] = bone;
}

// The nearest bones lead, by shares that fall with the fourth power of the distance and are even within a
// cell of it.
static void find_leads(void* ctx, size_t begin, size_t end) {
  const leads_job* job = ctx;
  double cell = job->body->tree.cell;
  for (size_t n = begin; n < end; ++n) {
    sn_lead* lead = &job->leads[n];
    sn_vec3 place = sn_octree_node_place(&job->body->tree, (uint32_t)n);
    double distances[SN_LEADS];
    for (int k = 0; k < SN_LEADS; ++k) {
      lead->bones[k] = job->tied[0];
      distances[k] = INFINITY;
    }
    for (uint32_t t = 0; t < job->tied_count; ++t) {
      const sn_bone* bone = &job->bones[job->tied[t]];
      double distance = fmax(0, sn_bone_distance(bone, place, distances[SN_LEADS - 1]));
      insert(job->tied[t], distance, lead->bones, distances);
    }
    for (int k = 0; k < SN_LEADS; ++k) {
      double near = (distances[0] + cell) / (distances[k] + cell);
      lead->shares[k] = (uint16_t)(near * near * near * near * UINT16_MAX);
    }
  }
}

static void follow(void* ctx, size_t begin, size_t end) {
  const leads_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    const sn_lead* lead = &job->leads[n];
    sn_vec3 u = sn_load3(job->u + 3 * n);
    sn_vec3 place = sn_add(sn_octree_node_place(&job->body->tree, (uint32_t)n), u);
    sn_vec3 move = {0, 0, 0};
    double sum = 0;
    for (int k = 0; k < SN_LEADS && lead->shares[k] > 0; ++k) {
      sum += lead->shares[k];
      move = sn_madd(move, lead->shares[k], sn_affine_displace(&job->moves[lead->bones[k]], place));
    }
    sn_store3(job->led + 3 * n, sn_madd(u, 1 / sum, move));
  }
}

void sn_leads_follow(const sn_body* body, sn_pool* pool, const sn_affine* moves, const double* u,
                     double* led) {
  leads_job job = {.body = body, .leads = body->leads, .moves = moves, .u = u, .led = led};
  sn_parallel_for(pool, body->tree.node_count, MIN_NODES, follow, &job);
}

sn_status sn_leads_build(const sn_bone* bones, uint32_t bone_count, sn_pool* pool, sn_arena* arena,
                         sn_arena* scratch, sn_body* body, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  uint16_t* tied;
  uint8_t* holds;
  if (bone_count > UINT16_MAX) return SN_OK;
  SN_TRY(SN_ARENA_NEW(scratch, bone_count, &tied, err));
  SN_TRY(SN_ARENA_NEW(scratch, bone_count, &holds, err));
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    if (body->ties[t].rider == SN_NO_RIDER) holds[body->ties[t].bone] = 1;
  }
  leads_job job = {.body = body, .bones = bones, .tied = tied};
  for (uint32_t b = 0; b < bone_count; ++b) {
    if (holds[b]) tied[job.tied_count++] = (uint16_t)b;
  }
  if (job.tied_count > 0) {
    SN_TRY(SN_ARENA_RAW(arena, body->tree.node_count, &body->leads, err));
    job.leads = body->leads;
    sn_parallel_for(pool, body->tree.node_count, MIN_NODES, find_leads, &job);
  }
  sn_arena_release(scratch, mark);
  return SN_OK;
}
