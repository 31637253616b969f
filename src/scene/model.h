// The inside of the model and of the state, for the files of this layer.
#ifndef SN_SCENE_MODEL_H
#define SN_SCENE_MODEL_H

#include "body/body.h"
#include "body/body_multigrid.h"
#include "body/body_terms.h"
#include "body/contact_levels.h"
#include "body/leads.h"
#include "body/muscle_levels.h"
#include "scene/animation.h"
#include "scene/contacts.h"
#include "scene/rigid_modes.h"
#include "sinew/state.h"
#include "solve/jacobi.h"
#include "solve/newton.h"

// Times that a step may be solved to take in contacts that came up while it was.
#define SN_CONTACT_PASSES 8
// Solves that the first frame may take while it runs out of Newton steps.
#define SN_FIRST_SOLVES 3

struct sn_model {
  sn_arena* arena;  // owns all that follows
  const sn_scene* scene;
  sn_bone* bones;  // (scene->bone_count)
  sn_body* bodies;
  sn_hierarchy* hierarchies;  // a body each; NULL where no multigrid is asked for
  uint32_t body_count;        // built so far, which on failure may be fewer than the scene's
  size_t unknown_count;
  sn_contact_model contact;
  uint8_t* held;        // nodes of all bodies that move as told (unknown_count / 3)
  double force_scale;   // N
  double energy_scale;  // J
  double largest_bulk;  // lambda / mu of the cells, at most
  uint64_t fingerprint;
  char* traits;  // what the fingerprint is made of but for animation; see sn_scene_traits
  sn_memory_account memory;  // its own part
};

struct sn_state {
  sn_arena* arena;  // owns all that follows
  sn_pool* pool;
  int frame;  // last one solved
  double time,
      time_before;  // frames, of the last pose and the one before; between frames in substeps
  double
      entrance;  // share of gravity, activation and the way from the bind pose; 1 except in the preroll
  bool posed;   // have bones been brought anywhere? else they are at rest
  bool solved;  // has a frame been solved? then the next one has a past to do work on
  double* u;    // displacements of all nodes, m (unknown_count)
  double work;  // done by bones, constraints and loads so far, J

  float *pressure, *pressure_before;  // of cells that keep theirs, now and when the step began
  double* u_before;  // of the step before, with inertia or contact; else NULL (unknown_count)
  // A dynamic scene's past, NULL in others (unknown_count). While a step is being solved `velocity`
  // holds where inertia alone would lead; what was before is then what the step starts from.
  double *velocity, *velocity_before;
  double *base, *ahead_u;  // of the step being solved: see sn_body_stride
  double step_before;      // how long the last step was, s; 0: there is no past
  double push_before;      // of all contacts in the last step, N
  double jolt;             // 1: something hit or came off in the last step, else 0
  double tau;              // of the step being solved, s; 0: none is, or in balance without inertia
  bool careful;            // the step is one of backward Euler without damping
  bool still;              // it was taken back: flesh stays where it was

  sn_affine* bone_poses;    // at `frame` (bone_count)
  sn_affine* bone_moves;    // from the pose before to that (bone_count)
  sn_affine* fixed_poses;   // (fixed_count)
  sn_carrier* bone_shapes;  // of bones that deform; of others empty (bone_count)
  sn_carrier* body_poses;   // of bodies with a pose; of others empty (body_count)
  sn_carrier* shown;        // surfaces that carry something along, as last shown (body_count)
  sn_body_work* bodies;     // (body_count)
  sn_vec3** tie_moves;      // how far each tie's target moved in the last pose (tie_count), a body
  sn_vec3** held_moves;     // how far each held node did (held_count), a body
  sn_vec3** load_places;    // displacement at which each load acted before it (load_count), a body
  double* reactions;        // forces that hold the held nodes, N (3 x held nodes of all bodies)

  // Of the tricubic body last shown, else NULL (SN_SLOPE_NUMBERS x nodes of the largest).
  double* slopes;

  sn_animation animation;  // that has led to `frame`
  sn_contact_state contact;
  sn_term* terms;
  sn_problem problem;
  sn_newton_work newton;
  sn_jacobi jacobi;               // JACOBI_CG
  sn_body_multigrid* multigrids;  // MULTIGRID (body_count)
  sn_contact_levels* contact_levels;
  sn_muscle_levels* muscle_levels;
  sn_rigid_modes rigid_modes;
  uint32_t multigrid_count;
  bool by_macroblocks;  // the preconditioner is that of macroblocks, not the V-cycle alone
  sn_preconditioner preconditioner;
  bool has_preconditioner;
  sn_krylov krylov;
  sn_memory_account memory;  // its own part
};

// Bring bones, constraints and loads to a frame, or in between; held nodes go there at once. With a past, half of
// the work of this move is counted; sn_pose_finish counts the other half with the new forces.
sn_status sn_pose_advance(const sn_model* model, sn_state* state, double frame, sn_error* err);
void sn_pose_finish(const sn_model* model, sn_state* state);
// Where bones alone would take the flesh from where it is, in memory that Newton's method will use; NULL
// where there are none.
const double* sn_pose_lead(const sn_model* model, sn_state* state);
// Flesh at rest, where bones alone would have taken it; in other memory of Newton's method than sn_pose_lead.
const double* sn_pose_rest(const sn_model* model, sn_state* state);
// Poses and targets of a frame without touching displacements or work: after loading a state.
void sn_pose_restore(const sn_model* model, sn_state* state, double frame);

// A step of time: its inertia and damping enter the bodies' energies; the velocity comes out of it.
void sn_stride_begin(const sn_model* model, sn_state* state, double seconds);
// Where inertia alone would lead, in memory that Newton's method will use.
const double* sn_stride_guess(const sn_model* model, sn_state* state);
void sn_stride_end(const sn_model* model, sn_state* state);
// Of all bodies, J. @param velocity of all nodes; NULL: nothing moves
double sn_stride_kinetic(const sn_model* model, const double* velocity);

// Obstacles and the points of skins that may touch; sets model->contact.
sn_status sn_contacts_build(sn_model* model, sn_arena* scratch, sn_error* err);
sn_status sn_contacts_create(const sn_model* model, sn_state* state, sn_error* err);
// A step that takes so many frames starts at u_before, without contacts.
void sn_contacts_begin(const sn_model* model, sn_state* state, double frames);
// Add contacts that u has and that are not known yet. Returns how many of these go through something.
uint32_t sn_contacts_find(const sn_model* model, sn_state* state, const double* u);
// The same at state->u, unless that is too near to where contacts were looked for last to have new ones.
uint32_t sn_contacts_find_more(const sn_model* model, sn_state* state);
// The last resort: what has gone through a collider on its straight way since the step began is carried along with
// that instead, as if it stuck to it, and so is what goes through because of this. Then nothing has. False if
// nothing had.
bool sn_contacts_rescue(const sn_model* model, sn_state* state);
// The step has ended at state->u: remember friction, report.
void sn_contacts_end(const sn_model* model, sn_state* state);

// Give parts that nothing holds the position and orientation of the start pose again.
void sn_free_parts_align(const sn_model* model, sn_state* state);
// At rest there, without touching others.
void sn_free_parts_place(const sn_body* body, double* u);
// Take net force and torque out of the loads of parts that nothing holds, their weight included.
void sn_free_parts_balance(const sn_body* body, sn_vec3 gravity, double* forces);

// Memory and functions of the preconditioner that the scene asks for.
sn_status sn_preconditioner_create(const sn_model* model, sn_state* state, sn_error* err);
// By CG with a cycle of multigrid, of which a level may be solved directly?
static inline bool sn_linear_is_multigrid(sn_linear_solver linear) {
  return linear == SN_LINEAR_MULTIGRID || linear == SN_LINEAR_DIRECT || linear == SN_LINEAR_AUTO;
}

// Memory of the machine, or what this process may have of it.
double sn_machine_bytes(void);
// Is any flesh so nearly incompressible that a strong smoother pays?
bool sn_flesh_is_stiff(const sn_model* model);
// Which level of a body is solved directly, and the plan for it: as the scene asks, or what pays.
sn_status sn_choose_direct(sn_model* model, uint32_t body, sn_arena* scratch, sn_error* err);

// Of a scene with macroblocks: what preconditions their interface.
void sn_preconditioner_set_interface(sn_state* state, sn_macroblock_interface interface);
// Macroblocks smooth the first level of multigrid, or no longer, from the next update on.
void sn_preconditioner_smooth_by_blocks(sn_state* state, bool on);

// Are cells' pressures unknowns? Then memory for them, and what solves for them.
bool sn_pressures_are_kept(const sn_model* model);
sn_status sn_pressures_create(const sn_model* model, sn_state* state, sn_error* err);

// Newton steps that a frame may take.
int sn_scene_most_newton(const sn_scene* scene);
uint64_t sn_scene_fingerprint(const sn_scene* scene);
// All that the fingerprint is made of but for animation, a line each: the place in the scene and a number or
// hash. Both in one go, as meshes are read for either. In `arena`.
sn_status sn_scene_traits(const sn_scene* scene, sn_arena* arena, char** traits,
                          uint64_t* fingerprint, sn_error* err);

// The state as bytes, for a checkpoint: in parts, of which some are empty; and back, where `bytes` must be of
// the right size.
size_t sn_state_payload_size(const sn_model* model, const sn_state* state);
int sn_state_payload_count(void);
const void* sn_state_payload_part(const sn_model* model, const sn_state* state, int index,
                                  size_t* size);
// False if numbers in it are not finite or beyond all measure: the state is then unchanged.
__attribute__((warn_unused_result)) bool sn_state_read_payload(const sn_model* model,
                                                               sn_state* state, int frame,
                                                               const unsigned char* bytes);

#endif
