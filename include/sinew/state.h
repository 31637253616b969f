/// The state: all that changes while simulating, and the step that changes it.
#ifndef SINEW_STATE_H
#define SINEW_STATE_H

#include "sinew/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque; sn_state_create makes it.
typedef struct sn_state sn_state;

/// Why Newton's method ended.
typedef enum sn_stop {
  SN_STOP_CONVERGED,  ///< residual below the tolerance
  SN_STOP_MAX,        ///< as many steps as allowed
  SN_STOP_STALLED     ///< no step lowers the energy any more
} sn_stop;

/// What memory is for.
typedef enum sn_memory_purpose {
  SN_MEMORY_SURFACE,    ///< prepared meshes, their search trees, the skin's places in the cells
  SN_MEMORY_TREE,       ///< cells and nodes of the finest grid
  SN_MEMORY_FAMILIES,   ///< the order in which kernels go through the cells
  SN_MEMORY_MATERIAL,   ///< of cells and nodes; attachments, constraints, loads
  SN_MEMORY_LEVELS,     ///< coarser grids and the transfers between them
  SN_MEMORY_TANGENTS,   ///< stiffness, on all levels
  SN_MEMORY_VECTORS,    ///< displacements, forces, and what Newton and CG need
  SN_MEMORY_MULTIGRID,  ///< vectors of all levels, and the factor of the coarsest
  SN_MEMORY_CONTACT,    ///< points of the skins, obstacles, and who touches whom
  SN_MEMORY_PURPOSES
} sn_memory_purpose;

/// Bytes that a model and a state hold, by purpose.
typedef struct sn_memory_account {
  size_t bytes[SN_MEMORY_PURPOSES];
} sn_memory_account;

/// One word for a purpose, such as "tree".
SN_API const char* sn_memory_purpose_name(sn_memory_purpose purpose);

/// What a frame came to. One line of `stats.jsonl`.
typedef struct sn_frame_stats {
  int frame;
  double time;             ///< s since the first frame
  double seconds;          ///< of computing
  double contact_seconds;  ///< of these, spent on finding and solving contacts
  int newton;              ///< Newton steps
  const int* krylov;  ///< CG iterations of each Newton step (newton); valid until the next sn_step
  double residual;    ///< force residual over the size of the forces in play
  double energy_elastic, energy_kinetic, energy_gravity;  ///< J
  double work;             ///< done by bones, constraints, loads and muscles so far, J
  double rescued;          ///< brought in by carrying along what went through, in this frame, J
  uint64_t contacts;       ///< points that touch something
  double max_penetration;  ///< the deepest of them, m
  double contact_force;    ///< that colliders push with, all together, N
  uint64_t lost_contacts;  ///< left out for want of room
  sn_stop stop;
  bool converged;
  double volume;        ///< of the cells, deformed, m3
  double volume_error;  ///< relative to rest
  double min_j;         ///< smallest det F at a cell centre
  uint64_t inverted;    ///< cells with det F <= 0
  uint64_t elements, unknowns;
  size_t bytes;  ///< that the library holds
  sn_memory_account memory;
} sn_frame_stats;

/// Bytes of an sn_frame_stats, for hosts in other languages that hold one without knowing its fields.
SN_API size_t sn_frame_stats_size(void);

/// A state at rest in the scene's start pose; `sn_step` for the first frame comes next. Uses `pool`
/// in every step; model and pool must outlive it.
SN_API sn_status sn_state_create(const sn_model* model, sn_pool* pool, sn_state** state,
                                 sn_error* err);
/// NULL is fine.
SN_API void sn_state_destroy(sn_state* state);

/// Solve one frame: bones and constraints to their pose, then Newton. Allocates nothing after the
/// first call; the thread count never changes the result. An unconverged frame is not a failure, it
/// is in `stats`. @return SN_OK, or SN_ERR_INPUT if a pose is not finite.
SN_API sn_status sn_step(const sn_model* model, sn_state* state, int frame, sn_frame_stats* stats,
                         sn_error* err);

/// What the memory of a model and its state is for.
SN_API sn_memory_account sn_state_memory(const sn_model* model, const sn_state* state);

/// The frame last solved; before the first step, the one before the scene's first.
SN_API int sn_state_frame(const sn_state* state);
/// Vertices of a body's surface.
SN_API uint32_t sn_model_surface_count(const sn_model* model, uint32_t body);
/// Deformed surface of a body, in the vertex order of its mesh and in the unit of the files.
/// Works in memory of the state: one call at a time.
/// @param positions (3 x vertex_count)
SN_API void sn_surface_extract(const sn_model* model, const sn_state* state, uint32_t body,
                               float* positions);

/// How a linear solver does on the model's own stiffness, linearised at rest or where the state is.
typedef struct sn_study_opts {
  /// Those with multigrid need a scene with such a solver, MINRES and QMR their own; a scene that keeps
  /// pressures is studied by MINRES in place of MULTIGRID.
  sn_linear_solver linear;
  bool here;         ///< linearise at the state's displacements, not at rest
  int max;           ///< iterations, >= 1
  double tolerance;  ///< of the relative residual; 0 runs all iterations
  /// Stop by the residual that the method itself goes by. With kept pressures that is the one of
  /// displacements and pressures together, of which |K x - b| may be a thousand times as much.
  bool own_residual;
  double amount;  ///< free nodes start at random places within this distance, m
  uint64_t seed;
  const double* start;  ///< or at these (3 a node, in the order of the bodies); NULL: at random
  /// Called after each iteration with the largest displacement left, over that of the start; may be
  /// NULL.
  void (*watch)(void* ctx, int iteration, double max_error);
  void* watch_ctx;
  bool energy;  ///< watch the energy norm of the error instead; takes a product an iteration
  /// NULL, or a right side b, N (3 a node, in the order of the bodies): then K x = b is solved from
  /// x = 0, `amount` and `seed` do not matter and nobody watches, unless there is a reference. Held
  /// nodes count as 0.
  const double* load;
  bool weight;  ///< b is the weight of the bodies at 9.81 m/s2 along -y, and no load is given
  sn_macroblock_interface interface;  ///< with MACROBLOCK: what preconditions the interface
  /// With MULTIGRID in a scene with macroblocks: these smooth its finest level.
  bool blocks_smooth;
  double* solution;  ///< of K x = b, m (as `load`); may be NULL
  /// NULL, or a solution of K x = b, m: `watch` is called with |x - reference| / |reference|.
  const double* reference;
} sn_study_opts;

/// What a study came to.
typedef struct sn_study_result {
  int iterations;
  double residual;  ///< |K x - b| / |K x_start - b| at the end, computed anew in double precision
  double seconds;   ///< of the iterations
  double setup_seconds;  ///< of linearising and of the preconditioner, before them
  bool converged;
} sn_study_result;

/// Solve K x = 0 from random displacements x, so that the error is x itself (Milne et al. 2016,
/// section 10.4); or K x = b. The state's own displacements are lost.
SN_API sn_status sn_state_study(const sn_model* model, sn_state* state, const sn_study_opts* opts,
                                sn_study_result* result, sn_error* err);

/// A piece of the solver to be timed by itself, over all bodies on their own grids.
typedef enum sn_time_what {
  SN_TIME_APPLY,         ///< product of the definite stiffness with a vector, as CG does it
  SN_TIME_POLAR,         ///< linearisation: the polar decomposition of every cell
  SN_TIME_EXACT,         ///< product of the exact stiffness with a vector: a force differential
  SN_TIME_BLOCK_FACTOR,  ///< factors of all macroblocks; these three need a scene with that solver
  SN_TIME_BLOCK_SOLVE,   ///< their inner nodes solved for
  SN_TIME_INTERFACE      ///< product of their Schur complement with a vector on the interface
} sn_time_what;

/// What sn_state_time measured.
typedef struct sn_timing {
  double seconds;     ///< of the fastest pass
  double bytes;       ///< that a pass reads and writes, each array counted once a use; an estimate
  uint64_t elements;  ///< cells that a pass goes through, or macroblocks
} sn_timing;

/// Time one piece of the solver by itself, at random displacements of a tenth of the finest cell.
/// The state's own displacements are lost. @param repeats timed passes after one that is not, >= 1
SN_API sn_status sn_state_time(const sn_model* model, sn_state* state, sn_time_what what,
                               int repeats, sn_timing* timing, sn_error* err);

/// Write the state to a file: versioned, checksummed, replaced as a whole.
SN_API sn_status sn_state_save(const sn_model* model, const sn_state* state, const char* path,
                               sn_error* err);
/// Bring back what `sn_state_save` wrote. SN_ERR_INPUT if the file is damaged or belongs to another
/// model; the state is then unchanged.
SN_API sn_status sn_state_load(const sn_model* model, sn_state* state, const char* path,
                               sn_error* err);

#ifdef __cplusplus
}
#endif

#endif
