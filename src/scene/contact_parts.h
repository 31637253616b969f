// What the parts of contacts.h share: who touches whom among colliders (contact_colliders.c) and flesh
// (contact_flesh.c), and what becomes of what went through (contact_rescue.c).
#ifndef SN_SCENE_CONTACT_PARTS_H
#define SN_SCENE_CONTACT_PARTS_H

#include <math.h>

#include "geometry/sweep.h"
#include "math/vec.h"
#include "scene/model.h"

// In finest cells: within which flesh is watched while a step is solved; as good as touching.
#define SN_WATCH_FLESH 0.5
#define SN_ON_SKIN 1e-3
// How far skin between its points may sag into a collider, in finest cells.
#define SN_SAG 0.1
// Cosine of the angle by which a collider's surface may turn below a point at a time.
#define SN_SAME_SIDE 0.5

uint32_t sn_contact_points(const sn_model* model);  // of all skins
// Do these two, colliders first and then bodies, pass through one another?
bool sn_contact_is_ignored(const sn_scene* scene, uint32_t a, uint32_t b);
// Depth beyond which the force of contact grows faster, m.
double sn_contact_harden(const sn_body* body);
// Which partners a point has a contact with already: a bit for each, folded.
static inline uint64_t partner_bit(uint32_t partner) { return (uint64_t)1 << (partner % 64); }

// What contacts have in common, whatever they are with; and those of a point of the skin.
sn_contact sn_contact_make(const sn_model* model, uint32_t body, uint32_t partner,
                           const sn_carried* carrier, double area, double stiffness);
sn_contact sn_contact_begin(const sn_model* model, uint32_t body, uint32_t point, uint32_t partner,
                            double stiffness, double friction);
void sn_contact_add(sn_contact_state* state, const sn_contact* contact);
// Where the step began for its point.
sn_vec3 sn_contact_start(const sn_contact_state* state, const sn_contact* contact);

// What the step before left of a point and a partner; NULL: nothing.
const sn_touch_memory* sn_touch_memory_of(const sn_contact_state* state, uint32_t point,
                                          uint32_t partner);
// Friction begins where the step before left it: with its pressure, and strained as it was. False if
// there was no contact then.
bool sn_contact_recall(const sn_contact_state* state, sn_contact* contact);
// What was inside before is let be, and less and less of it.
void sn_contact_let_be(const sn_contact_state* state, double slack, sn_contact* contact);

// Bring the skins to where displacements have them.
void sn_contacts_update_poses(const sn_model* model, sn_contact_state* state, sn_pool* pool,
                              const double* u);
// Find and add contacts. @param at_rest only look for overlaps that were there from the start
void sn_contacts_find_colliders(const sn_model* model, sn_contact_state* state, sn_pool* pool,
                                const double* u, const double* u_before);
// Of the skin between points: what still comes in there once the points do not.
void sn_contacts_find_facets(const sn_model* model, sn_contact_state* state, sn_pool* pool,
                             const double* u, const double* u_before);
void sn_contacts_find_flesh(const sn_model* model, sn_contact_state* state, sn_pool* pool,
                            const double* u, const double* u_before, bool at_rest);
// An sn_contact_follow.
void sn_contacts_follow(const void* ctx, sn_contact* contact, const double* u);

// Of one body's skin and one collider.
typedef struct collider_job {
  const sn_model* model;
  sn_contact_state* state;
  uint32_t body, collider;
  const double *u, *u_before;
  sn_solid_hit* hits;  // a point or facet each
  uint8_t* found;      // 0, or how
} collider_job;

// How points may have gone round the collider, though a straight way leads through it: with a contact (its number + 1),
// on whose plane they always were, or without one, by where they were seen. Unless `any` is false.
#define SN_NOT_ROUND 0
#define SN_ROUND_UNTOUCHED UINT32_MAX
void sn_contacts_find_round(const collider_job* job, bool any);
// The ways of a facet, in the frame of the collider.
sn_sweep_ways sn_contacts_facet_ways(const collider_job* job, uint32_t facet);

static inline const sn_obstacle_pose* obstacle_of(const collider_job* job) {
  return &job->state->obstacles[job->collider];
}

static inline sn_vec3 point_seen(const collider_job* job, uint32_t p) {
  return sn_obstacle_place(obstacle_of(job), job->state->seen[job->body][p]);
}

// Where a straight way enters the collider, if it does, and deeper than springs let it be.
static inline bool way_enters(const collider_job* job, sn_vec3 from, sn_vec3 to, double graze,
                              sn_solid_hit* hit) {
  double h = job->model->bodies[job->body].tree.cell;
  return sn_solid_pierce(obstacle_of(job)->solid, from, to, h, graze, hit);
}

// How far facets and a collider may go past one another unseen: a quarter of a cell, or of the shortest way
// across the collider, as far as its box tells.
static inline double look_of(const sn_solid* solid, double cell) {
  sn_box box = sn_solid_box(solid);
  sn_vec3 size = sn_sub(box.hi, box.lo);
  return 0.25 * fmin(cell, fmin(size.x, fmin(size.y, size.z)));
}

// A place of the facet between its corners.
static inline sn_vec3 mix_corners(const sn_vec3 c[3], const double weights[3]) {
  return sn_madd(sn_madd(sn_scale(weights[0], c[0]), weights[1], c[1]), weights[2], c[2]);
}

#endif
