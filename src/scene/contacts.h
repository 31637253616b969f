// Who touches whom: finds the contacts of a step for their term, and carries friction from one step to
// the next.
#ifndef SN_SCENE_CONTACTS_H
#define SN_SCENE_CONTACTS_H

#include "body/skin.h"
#include "scene/obstacles.h"

typedef struct sn_contact_model {
  bool any;                // else all of this is empty
  sn_obstacle* obstacles;  // (scene->collider_count)
  sn_skin* skins;          // a body each
  uint32_t* firsts;        // number of each skin's first point among all (body_count + 1)
  uint32_t* facet_firsts;  // the same of facets
} sn_contact_model;

// What a point and a partner remember of their last step.
typedef struct sn_touch_memory {
  uint64_t partner;  // + 1; 0: none
  double pressure;   // N
  sn_vec3 stretch;   // of friction, m
  double slack;      // depth that is let be, m
  double depth;      // beyond that, m
  sn_vec3 normal;    // of the plane that was touched, in the frame of a collider
} sn_touch_memory;

#define SN_TOUCHES 2  // remembered of each point

// The same of a facet.
typedef struct sn_facet_memory {
  uint64_t partner;  // + 1; 0: none
  float slack;       // depth that is let be, m
  float depth;       // beyond that, m
} sn_facet_memory;

typedef struct sn_contact_state {
  const sn_model* model;
  sn_contact_set set;
  sn_skin_pose* poses;  // a body each
  sn_vec3** starts;     // where its points were when the step began, a body each
  sn_vec3** seen;       // and where their ways were last looked at, once the step was solved
  bool has_seen;        // they were
  sn_obstacle_pose* obstacles;  // (collider_count)
  uint64_t* known;  // which partners a point has a contact with already: a bit for each, folded
  sn_touch_memory* memory;        // (SN_TOUCHES x points)
  sn_facet_memory* facet_memory;  // (facets)
  uint8_t* tangled;               // bodies too much inside out to touch flesh, a body each
  uint8_t* began_in;              // points that lay in another body when they were put there
  uint8_t* stuck;                 // nodes that are carried along (unknown_count / 3)
  uint32_t stuck_count;  // how many that are in this step; with none `stuck` is of another one
  uint8_t* overlaps;     // points that lay in other flesh at rest, and have not come out since
  // Room for what is found for the points or facets of one skin.
  sn_solid_hit* hits;
  double (*spots)[3];  // places of facets, by the weights of their corners
  sn_skin_touch* touches;
  uint8_t* found;
  uint32_t* round;           // how a point may have gone round a collider (contact_parts.h)
  sn_contact_report report;  // of the last step
  double frames;             // that the step takes
  double spent;              // on finding and solving contacts in this frame, s
  uint64_t first;            // 1: no step has been made yet: what overlaps was put there
} sn_contact_state;

#endif
