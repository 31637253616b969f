/// The scene: a plain description of bodies, bones and what ties them, with every default filled
/// in. Lengths are metres and forces newtons here, whatever the unit of the file was.
#ifndef SINEW_SCENE_H
#define SINEW_SCENE_H

#include "sinew/base.h"
#include "sinew/math.h"
#include "sinew/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// With inertia, or in balance at every frame.
typedef enum sn_mode { SN_MODE_DYNAMIC, SN_MODE_QUASISTATIC } sn_mode;
/// Which axis points up: gravity is against it.
typedef enum sn_up { SN_UP_X, SN_UP_Y, SN_UP_Z } sn_up;

/// Rigid motion relative to the rest position: p -> pivot + rotate (p - pivot) + translate.
/// Between keys translate and pivot are linear, rotate is spherical; outside them the end key
/// holds.
typedef struct sn_keyframe {
  double frame;
  sn_vec3 translate;
  sn_quat rotate;
  sn_vec3 pivot;
} sn_keyframe;

/// No keys: at rest for ever.
typedef struct sn_motion {
  sn_keyframe* keys;  ///< by ascending frame (key_count)
  uint32_t key_count;
} sn_motion;

/// A force or traction over time, linear between keys.
typedef struct sn_load_key {
  double frame;
  sn_vec3 value;  ///< N in all, or Pa
} sn_load_key;

/// Kinds of sn_where.
typedef enum sn_where_kind {
  SN_WHERE_INSIDE,  ///< inside the bone
  SN_WHERE_NEAR,    ///< inside the bone or within `distance` of it
  SN_WHERE_BOX,     ///< in the closed box lo..hi, at rest
  SN_WHERE_GROUP,   ///< around the triangles of a named group of the surface
  SN_WHERE_ALL      ///< everywhere
} sn_where_kind;

/// Which part of a body an attachment, a constraint or a force takes hold of.
typedef struct sn_where {
  sn_where_kind kind;
  double distance;  ///< metres, NEAR
  sn_box box;       ///< metres, BOX
  char* group;      ///< GROUP
} sn_where;

/// What the flesh is made of.
typedef struct sn_material {
  double mu, lambda;  ///< Lame parameters, Pa
} sn_material;

/// Kinds of sn_scramble.
typedef enum sn_scramble_kind {
  SN_SCRAMBLE_NONE,
  SN_SCRAMBLE_POINT,   ///< every node at the centre
  SN_SCRAMBLE_LINE,    ///< on the x axis through the centre
  SN_SCRAMBLE_PLANE,   ///< on the plane y = centre
  SN_SCRAMBLE_MIRROR,  ///< mirrored in the plane x = centre
  SN_SCRAMBLE_RANDOM   ///< anywhere within `amount` body sizes of the centre
} sn_scramble_kind;

/// A start state to recover from, for tests of robustness.
typedef struct sn_scramble {
  sn_scramble_kind kind;
  double amount;  ///< body sizes (longest side of the box), RANDOM. Default 1.
  uint64_t seed;  ///< Default 1.
} sn_scramble;

/// A body of flesh.
typedef struct sn_body_desc {
  char* name;
  char* surface;  ///< absolute path of the mesh
  sn_mesh mesh;   ///< the surface, metres
  double cell;    ///< edge of the finest cell, metres; 0: chosen for about 100k cells
  int coarsen;    ///< levels that the inside may coarsen; 0 = uniform grid, -1 = no limit
  sn_material material;
  double density;    ///< kg/m3
  double damping;    ///< s, stiffness-proportional: stress = that of strain + damping x its rate
  double drag;       ///< 1/s, mass-proportional: deceleration = drag x velocity
  sn_rigid initial;  ///< placement at the start
  sn_vec3 velocity;  ///< m/s at the start
  sn_vec3 spin;      ///< rad/s at the start, about the centre of mass
  sn_scramble scramble;
} sn_body_desc;

/// What shape a bone has.
typedef enum sn_bone_kind { SN_BONE_MESH, SN_BONE_CAPSULE } sn_bone_kind;

/// All points within a radius of a segment.
typedef struct sn_capsule {
  sn_vec3 from, to;  ///< ends of the axis, metres
  double radius;     ///< metres
} sn_capsule;

/// A rigid shape that moves as told.
typedef struct sn_bone_desc {
  char* name;
  sn_bone_kind kind;
  char* surface;  ///< absolute path, MESH
  sn_mesh mesh;   ///< metres, MESH
  sn_capsule capsule;
  sn_motion motion;
} sn_bone_desc;

/// What shape a collider has.
typedef enum sn_collider_kind {
  SN_COLLIDER_PLANE,  ///< everything behind a plane is solid
  SN_COLLIDER_SPHERE,
  SN_COLLIDER_CAPSULE,
  SN_COLLIDER_BOX,  ///< axes parallel to those of the scene, until its motion turns it
  SN_COLLIDER_MESH
} sn_collider_kind;

/// A rigid obstacle that moves as told.
typedef struct sn_collider_desc {
  char* name;
  sn_collider_kind kind;
  sn_vec3 position;    ///< a point of the plane, the centre of sphere and box, metres
  sn_vec3 normal;      ///< unit length, PLANE. Default: up.
  double radius;       ///< metres, SPHERE
  sn_vec3 half;        ///< half of each side, metres, BOX
  sn_capsule capsule;  ///< CAPSULE
  char* surface;       ///< absolute path, MESH
  sn_mesh mesh;        ///< metres, MESH
  sn_motion motion;
  double friction;   ///< Coulomb's coefficient. Default: that of the scene's contact.
  double stiffness;  ///< as in sn_contact_opts. Default: that of the scene's contact.
} sn_collider_desc;

/// A body or a collider.
typedef struct sn_contact_side {
  bool is_collider;
  uint32_t index;
} sn_contact_side;

/// Two that pass through one another. Both the same body: no contact of it with itself.
typedef struct sn_contact_pair {
  sn_contact_side side[2];
} sn_contact_pair;

/// How things touch.
typedef struct sn_contact_opts {
  bool self;  ///< bodies touch themselves and one another. Default true.
  /// Spring constant of a piece of skin as large as the face of a finest cell, in units of mu h: a
  /// pressure as large as mu presses the skin in by 1 / stiffness of a finest cell. Default 500.
  double stiffness;
  double friction;   ///< Coulomb's coefficient. Default 0.3.
  double thickness;  ///< distance that contact keeps, metres. Default 0.
  sn_contact_pair* ignore;
  uint32_t ignore_count;
} sn_contact_opts;

/// Springs that tie a part of a body to a bone.
typedef struct sn_attachment_desc {
  uint32_t body, bone;  ///< indices
  sn_where where;
  /// Spring constant of a node that stands for one finest cell, in units of mu h. Default 100.
  double stiffness;
} sn_attachment_desc;

#define SN_NO_BONE UINT32_MAX

/// Nodes that move exactly as told.
typedef struct sn_fixed_desc {
  uint32_t body;
  uint32_t
      bone;  ///< whose shape INSIDE and NEAR refer to and whose motion is followed, or SN_NO_BONE
  sn_where where;
  sn_motion motion;
} sn_fixed_desc;

/// A force on a part of the surface, spread evenly by area.
typedef struct sn_force_desc {
  uint32_t body;
  sn_where where;
  bool is_traction;  ///< values are Pa over the chosen surface, else N in all
  sn_load_key* keys;
  uint32_t key_count;
} sn_force_desc;

/// How the linear system of a Newton step is solved.
typedef enum sn_linear_solver {
  SN_LINEAR_CG,             ///< without preconditioner
  SN_LINEAR_JACOBI_CG,      ///< with the diagonal
  SN_LINEAR_MULTIGRID,      ///< CG with one multigrid V-cycle an iteration
  SN_LINEAR_MULTIGRID_ONLY  ///< V-cycles without CG
} sn_linear_solver;

/// What evens out the error on each level of multigrid.
typedef enum sn_smoother { SN_SMOOTHER_JACOBI, SN_SMOOTHER_CHEBYSHEV } sn_smoother;
/// How the coarsest level of multigrid is solved.
typedef enum sn_coarsest { SN_COARSEST_CHOLESKY, SN_COARSEST_JACOBI } sn_coarsest;

/// The multigrid cycle. The defaults choose the damping of every level by its largest eigenvalue.
typedef struct sn_multigrid_opts {
  sn_smoother smoother;  ///< Default jacobi.
  double damping;        ///< of Jacobi; 0 = automatic, the default.
  int degree;            ///< of Chebyshev, 1 to 8. Default 3.
  sn_coarsest coarsest;  ///< cholesky, or 16 Jacobi iterations. Default cholesky.
} sn_multigrid_opts;

/// How time goes on in a dynamic scene.
typedef enum sn_integrator {
  SN_INTEGRATOR_BDF2,  ///< of second order, hardly any damping of its own
  SN_INTEGRATOR_EULER  ///< backward Euler: of first order, calms everything down
} sn_integrator;

/// When a frame counts as solved, and how hard to try.
typedef struct sn_solver_opts {
  sn_linear_solver linear;  ///< Default multigrid.
  int newton_max;           ///< Newton steps a frame, >= 1. Default 10.
  double newton_tolerance;  ///< relative force residual at which a frame is done. Default 1e-3.
  int krylov_max;  ///< CG iterations a Newton step, >= 1. Default 20, 400 without multigrid.
  double krylov_tolerance;  ///< relative residual at which CG stops. Default 1e-2.
  int threads;              ///< 0 = one a processor. Never changes the result.
  sn_multigrid_opts multigrid;
  sn_integrator integrator;  ///< Default bdf2.
} sn_solver_opts;

/// What a run writes.
typedef struct sn_output_opts {
  int checkpoint_every;   ///< frames between checkpoints, >= 1. Default 1.
  bool keep_checkpoints;  ///< also keep each as `checkpoint-FRAME`. Default false.
} sn_output_opts;

/// The whole description.
typedef struct sn_scene {
  double unit;  ///< metres in a unit of the files
  sn_up up;
  double fps;
  int first_frame, last_frame;  ///< inclusive
  int substeps;                 ///< a frame, at least. Default 1.
  int max_substeps;  ///< a frame, where bones or colliders move further than a cell. Default 8.
  int preroll;       ///< frames simulated before the first. Default 0.
  sn_vec3 gravity;   ///< m/s2
  sn_mode mode;
  sn_body_desc* bodies;
  uint32_t body_count;
  sn_bone_desc* bones;
  uint32_t bone_count;
  sn_attachment_desc* attachments;
  uint32_t attachment_count;
  sn_fixed_desc* fixed;
  uint32_t fixed_count;
  sn_force_desc* forces;
  uint32_t force_count;
  sn_collider_desc* colliders;
  uint32_t collider_count;
  sn_contact_opts contact;
  sn_solver_opts solver;
  sn_output_opts output;
  struct sn_arena* storage;  ///< owns the scene, its arrays and strings, except the meshes' own
  char* resolved;  ///< the scene as JSON, in the unit of the file, every default filled in
} sn_scene;

/// A change made to the scene file before it is read: `bodies.0.material.young=2e4`. The value is
/// JSON; what is not JSON is taken as a string.
typedef struct sn_scene_change {
  const char* path_and_value;
} sn_scene_change;

/// Read a scene file and all meshes it names. Strict: unknown keys, wrong types and values out of
/// range are SN_ERR_INPUT with the place in `err`. Nothing is written.
SN_API sn_status sn_scene_load(const char* path, const sn_scene_change* changes, int change_count,
                               sn_scene** scene, sn_error* err);
/// Write the whole scene, every default filled in, meshes as absolute paths. Reading that file
/// again gives the same scene, bit for bit.
SN_API sn_status sn_scene_save(const char* path, const sn_scene* scene, sn_error* err);
/// NULL is fine.
SN_API void sn_scene_destroy(sn_scene* scene);

/// Bone or constraint pose at a frame, relative to rest. Frames may be fractional.
SN_API sn_rigid sn_motion_at(const sn_motion* motion, double frame);
/// The same, but only this share of the way there from rest, 0 to 1.
SN_API sn_rigid sn_motion_toward(const sn_motion* motion, double frame, double share);

#ifdef __cplusplus
}
#endif

#endif
