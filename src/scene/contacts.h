// Who touches whom: finds the contacts of a step for their term, and carries friction from one step to
// the next.
#ifndef SN_SCENE_CONTACTS_H
#define SN_SCENE_CONTACTS_H

#include "body/skin.h"
#include "geometry/solid.h"

// What does not change.
typedef struct sn_obstacle {
  const sn_collider_desc* desc;
  sn_surface surface;  // MESH
  sn_bvh bvh;          // MESH
  sn_solid solid;
} sn_obstacle;

typedef struct sn_contact_model {
  bool any;                // else all of this is empty
  sn_obstacle* obstacles;  // (scene->collider_count)
  sn_skin* skins;          // a body each
  uint32_t* firsts;        // number of each skin's first point among all (body_count + 1)
} sn_contact_model;

// What a point and a partner remember of their last step.
typedef struct sn_touch_memory {
  uint64_t partner;  // + 1; 0: none
  double pressure;   // N
  sn_vec3 stretch;   // of friction, m
  double slack;      // depth that is let be, m
  sn_vec3 normal;    // of the plane that was touched, in the frame of a collider
} sn_touch_memory;

#define SN_TOUCHES 2  // remembered of each point

typedef struct sn_contact_state {
  const sn_model* model;
  sn_contact_set set;
  sn_skin_pose* poses;         // a body each
  sn_vec3** starts;            // where its points were when the step began, a body each
  sn_rigid* obstacle_poses;    // now (collider_count)
  sn_rigid* obstacle_befores;  // when the step began
  uint64_t* known;  // which partners a point has a contact with already: a bit for each, folded
  sn_touch_memory* memory;  // (SN_TOUCHES x points)
  uint8_t* tangled;         // bodies too much inside out to touch flesh, a body each
  uint8_t* began_in;        // points that lay in another body when they were put there
  uint8_t* overlaps;        // points that lay in other flesh at rest, and have not come out since
  // Room for what is found for the points of one skin.
  sn_solid_hit* hits;
  sn_skin_touch* touches;
  uint8_t* found;
  sn_contact_report report;  // of the last step
  double frames;             // that the step takes
  double spent;              // on finding and solving contacts in this frame, s
  uint64_t first;            // 1: no step has been made yet: what overlaps was put there
} sn_contact_state;

#endif
