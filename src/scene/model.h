// The inside of the model and of the state, for the files of this layer.
#ifndef SN_SCENE_MODEL_H
#define SN_SCENE_MODEL_H

#include "body/body.h"
#include "body/body_multigrid.h"
#include "body/body_terms.h"
#include "sinew/state.h"
#include "solve/jacobi.h"
#include "solve/newton.h"

struct sn_model {
  sn_arena* arena;  // owns all that follows
  const sn_scene* scene;
  sn_bone* bones;  // (scene->bone_count)
  sn_body* bodies;
  sn_hierarchy* hierarchies;  // a body each; NULL where no multigrid is asked for
  uint32_t body_count;        // built so far, which on failure may be fewer than the scene's
  size_t unknown_count;
  uint8_t* held;       // nodes of all bodies that move as told (unknown_count / 3)
  double force_scale;  // N
  uint64_t fingerprint;
  sn_memory_account memory;  // its own part
};

struct sn_state {
  sn_arena* arena;  // owns all that follows
  sn_pool* pool;
  int frame;  // last one solved
  double time,
      time_before;  // frames, of the last pose and the one before; between frames in substeps
  bool solved;      // has a frame been solved? then the next one has a past to do work on
  double* u;        // displacements of all nodes, m (unknown_count)
  double work;      // done by bones, constraints and loads so far, J

  sn_rigid* bone_poses;   // at `frame` (bone_count)
  sn_rigid* fixed_poses;  // (fixed_count)
  sn_body_work* bodies;   // (body_count)
  sn_vec3** tie_moves;    // how far each tie's target moved in the last pose (tie_count), a body
  sn_vec3** held_moves;   // how far each held node did (held_count), a body
  sn_vec3** load_places;  // displacement at which each load acted before it (load_count), a body
  double* reactions;      // forces that hold the held nodes, N (3 x held nodes of all bodies)

  sn_term* terms;
  sn_problem problem;
  sn_newton_work newton;
  sn_jacobi jacobi;               // JACOBI_CG
  sn_body_multigrid* multigrids;  // MULTIGRID (body_count)
  uint32_t multigrid_count;
  sn_preconditioner preconditioner;
  bool has_preconditioner;
  sn_memory_account memory;  // its own part
};

// Bring bones, constraints and loads to a frame, or in between; held nodes go there at once. With a past, half of
// the work of this move is counted; sn_pose_finish counts the other half with the new forces.
sn_status sn_pose_advance(const sn_model* model, sn_state* state, double frame, sn_error* err);
void sn_pose_finish(const sn_model* model, sn_state* state);
// Poses and targets of a frame without touching displacements or work: after loading a state.
void sn_pose_restore(const sn_model* model, sn_state* state, int frame);

// Give parts that nothing holds the position and orientation of the start pose again.
void sn_free_parts_align(const sn_model* model, sn_state* state);
// Take net force and torque out of the loads of parts that nothing holds, their weight included.
void sn_free_parts_balance(const sn_model* model, const sn_body* body, double* forces);

// Memory and functions of the preconditioner that the scene asks for.
sn_status sn_preconditioner_create(const sn_model* model, sn_state* state, sn_error* err);

uint64_t sn_scene_fingerprint(const sn_scene* scene);

// The state as bytes, for a checkpoint (in `arena`), and back. `bytes` must be of the right size.
size_t sn_state_payload_size(const sn_model* model);
void sn_state_write_payload(const sn_model* model, const sn_state* state, unsigned char* bytes);
void sn_state_read_payload(const sn_model* model, sn_state* state, int frame,
                           const unsigned char* bytes);

#endif
