// Contact as a term: springs with friction between points of the skin and what they touch (Milne et
// al. 2016, section 8). Who touches whom is found elsewhere; see docs/theory/contact.md.
#ifndef SN_CONTACT_CONTACT_H
#define SN_CONTACT_CONTACT_H

#include "base/memory.h"
#include "sinew/math.h"
#include "solve/term.h"

// A point that nodes carry: rest + sum of weights x displacements.
typedef struct sn_carried {
  uint32_t nodes[8];  // of all bodies
  double weights[8];
  sn_vec3 rest;   // m
  uint32_t cell;  // whose nodes these are
} sn_carried;

static inline sn_vec3 sn_carried_move(const sn_carried* c, const double* u) {
  sn_vec3 sum = {0, 0, 0};
  for (int k = 0; k < 8; ++k) {
    const double* at = u + 3 * (size_t)c->nodes[k];
    sum.x += c->weights[k] * at[0];
    sum.y += c->weights[k] * at[1];
    sum.z += c->weights[k] * at[2];
  }
  return sum;
}

static inline sn_vec3 sn_carried_place(const sn_carried* c, const double* u) {
  sn_vec3 move = sn_carried_move(c, u);
  return (sn_vec3){c->rest.x + move.x, c->rest.y + move.y, c->rest.z + move.z};
}

// One point that touches, or is about to touch, a plane: the surface of a collider or of flesh as it is
// near the point. The gap is normal . (x - target) - offset.
typedef struct sn_contact {
  uint32_t body;     // whose skin it is on
  uint32_t point;    // its number among all points, or all facets, of the skins
  uint32_t partner;  // collider, or number of colliders + body
  const sn_carried* carrier;
  sn_carried target;  // of flesh; of a facet about where the point is
  // Of a facet: the points between which the point is, and their weights.
  const sn_carried* corners[3];
  double weights[3];
  sn_vec3 place;        // target of a collider, m
  sn_vec3 by;           // the last such place to which a straight way led, in the collider's frame
  sn_vec3 normal;       // away from what is touched
  sn_vec3 anchor;       // x - target at which friction pulls at nothing; x itself with a collider
  sn_vec3 drift;        // how far the collider's material moved in this step, m
  sn_vec3 way;          // how far the point itself did, once the step has ended, m
  double stiffness;     // N/m
  double friction;      // Coulomb's coefficient
  double offset;        // distance that is to be kept, m; negative: depth that is let be
  double sag;           // part of that which is let be always, m
  double slack;         // part of that which is let be only because it was there, m
  double depth_before;  // how deep it was when the last step ended, m
  double gap_before;    // at the start of the step, with the plane of now, m
  double smooth;        // depth over which the force sets in, m
  double harden;        // depth beyond which it grows faster, m
  double yield;         // depth beyond which it grows no more, m
  double pressure;      // force that friction goes by, N: of the last refresh
  bool against_flesh;   // else a collider
  bool on_facet;        // a place between the points
  uint32_t block;       // its number + 1; 0: it has none, for it does not touch
  bool foreseen;        // its block is that of a full spring
  bool entered;         // found by its way, not by where it is: the plane is that of the entry
} sn_contact;

// Bring plane and place of a contact with a collider up to date with displacements.
typedef void (*sn_contact_follow)(const void* ctx, sn_contact* contact, const double* u);

typedef struct sn_contact_block {
  float m[6];  // xx yy zz xy xz yz, N/m
  uint32_t contact;
  double pull;  // of a contact that is foreseen, N
} sn_contact_block;

// All contacts of a step, and what their term needs.
typedef struct sn_contact_set {
  sn_contact* contacts;
  uint32_t count, capacity;
  uint64_t lost;             // for which there was no room
  sn_contact_block* blocks;  // stiffness of those that push (block_count)
  uint32_t block_count;
  uint32_t epoch;   // counts how often the contacts were found from scratch
  double* seconds;  // spent on contacts, counted here; never NULL
  sn_contact_follow follow;
  const void* follow_ctx;
} sn_contact_set;

typedef struct sn_contact_report {
  uint64_t touching;
  double deepest;  // penetration, m
  double force;    // of all colliders, N
  double push;     // of all contacts, N
  double
      work;  // that was done in the step by colliders, and by planes that were moved or turned, J
} sn_contact_report;

// `seconds` is added to by whatever takes time.
sn_status sn_contact_set_create(uint32_t capacity, double* seconds, sn_arena* arena,
                                sn_contact_set* set, sn_error* err);
// Add one; counts it as lost where there is no room. With a facet the carrier is its target.
void sn_contact_set_add(sn_contact_set* set, const sn_contact* contact);

sn_term sn_contact_term(sn_contact_set* set);

sn_vec3 sn_contact_place(const sn_contact* contact, const double* u);     // x
sn_vec3 sn_contact_relative(const sn_contact* contact, const double* u);  // x - target
double sn_contact_gap(const sn_contact* contact, const double* u);
// Force on the point, N; its stretch: how far friction is strained, m.
sn_vec3 sn_contact_force(const sn_contact* contact, const double* u, sn_vec3* stretch);
sn_contact_report sn_contact_set_report(const sn_contact_set* set, const double* u);

#endif
