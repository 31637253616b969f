/// The scene: a plain description of bodies, bones and what ties them, with every default filled
/// in. Lengths are metres and forces newtons here, whatever the unit of the file was.
#ifndef SINEW_SCENE_H
#define SINEW_SCENE_H

#include "sinew/base.h"
#include "sinew/material.h"
#include "sinew/math.h"
#include "sinew/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// With inertia, or in balance at every frame.
typedef enum sn_mode { SN_MODE_DYNAMIC, SN_MODE_QUASISTATIC } sn_mode;
/// Which axis points up: gravity is against it.
typedef enum sn_up { SN_UP_X, SN_UP_Y, SN_UP_Z } sn_up;

/// Motion relative to the rest position: p -> pivot + rotate S (p - pivot) + translate, with the
/// symmetric, positive definite S. Between keys translate, pivot and S are linear, rotate is
/// spherical; outside them the end key holds.
typedef struct sn_keyframe {
  double frame;
  sn_vec3 translate;
  sn_quat rotate;
  sn_vec3 pivot;
  double stretch[6];  ///< S as xx, yy, zz, yz, zx, xy; all 0: none, as 1, 1, 1, 0, 0, 0
} sn_keyframe;

/// Nothing is stretched to less than this: the least eigenvalue of S.
#define SN_STRETCH_LEAST 1e-3

/// No keys: at rest for ever.
typedef struct sn_motion {
  sn_keyframe* keys;  ///< by ascending frame (key_count)
  uint32_t key_count;
  double period;  ///< frames after which it begins again at its first key; 0: it does not
} sn_motion;

/// Places of the vertices of a mesh over time: at every frame from the first on, linear in between.
/// Before and after them the ends hold, or with a period it begins again; the last frame is then where
/// the period ends, which may be between frames.
typedef struct sn_mesh_motion {
  float* places;  ///< metres, frame after frame (3 x vertex_count x frame_count)
  uint32_t vertex_count;
  int first_frame;
  uint32_t frame_count;  ///< 0: there is no such motion
  double period;  ///< frames, from frame_count - 2 to frame_count - 1; 0: it does not begin again
} sn_mesh_motion;

/// A force or traction over time, linear between keys.
typedef struct sn_load_key {
  double frame;
  sn_vec3 value;  ///< N in all, or Pa
} sn_load_key;

/// Kinds of sn_where.
typedef enum sn_where_kind {
  SN_WHERE_INSIDE,  ///< inside the bone
  SN_WHERE_NEAR,  ///< inside the bone or within `distance` of it; to a pose: that near to the surface
  SN_WHERE_BOX,    ///< in the closed box lo..hi, at rest
  SN_WHERE_GROUP,  ///< around the triangles of a named group of the surface
  SN_WHERE_MAP,    ///< where a map of the body is above a value
  SN_WHERE_ALL     ///< everywhere
} sn_where_kind;

/// Which part of a body an attachment, a constraint or a force takes hold of.
typedef struct sn_where {
  sn_where_kind kind;
  double distance;  ///< metres, NEAR
  sn_box box;       ///< metres, BOX
  char* group;      ///< GROUP
  char* map;        ///< name of a map of the body, MAP
  double above;     ///< the map's value there is larger, MAP. Default 0.5.
} sn_where;

/// Kinds of sn_scramble.
typedef enum sn_scramble_kind {
  SN_SCRAMBLE_NONE,
  SN_SCRAMBLE_POINT,    ///< every node at the centre
  SN_SCRAMBLE_LINE,     ///< on the x axis through the centre
  SN_SCRAMBLE_PLANE,    ///< on the plane y = centre
  SN_SCRAMBLE_MIRROR,   ///< mirrored in the plane x = centre
  SN_SCRAMBLE_RANDOM,   ///< anywhere within `amount` body sizes of the centre
  SN_SCRAMBLE_PERMUTE,  ///< every node at the rest place of another
  SN_SCRAMBLE_SCALE     ///< `amount` times as large, about the centre
} sn_scramble_kind;

/// A start state to recover from, for tests of robustness.
typedef struct sn_scramble {
  sn_scramble_kind kind;
  double amount;  ///< body sizes (longest side of the box), RANDOM; factor, SCALE. Default 1.
  uint64_t seed;  ///< Default 1.
} sn_scramble;

/// How the vertices of a surface follow the flesh in what is written. The simulation does not depend on it.
typedef enum sn_embedding {
  SN_EMBEDDING_TRILINEAR,  ///< as the flesh itself is computed: with creases between cells
  SN_EMBEDDING_TRICUBIC    ///< with continuous slopes
} sn_embedding;
/// A number at each vertex of a body's surface, continued into the flesh. The map `stiffness` is a
/// factor on mu and lambda, `density` one on the density; a map with the name of a region is a factor
/// on its weight. Others say where something takes hold.
typedef struct sn_map {
  char* name;
  char* source;    ///< a file, or an attribute of the surface; only to tell
  double* values;  ///< in the order of the file (vertex_count of the mesh)
} sn_map;

/// What the maps `stiffness` and `density` may hold: nothing in flesh is without either.
#define SN_MAP_LEAST 1e-3
#define SN_MAP_MOST 1e6

/// A part of a body that is made of something else. Regions are laid over the body's own material in
/// their order: of a cell that has the share f in the region, all of it that is given is mixed as
/// x <- (1 - f weight) x + f weight x_region.
typedef struct sn_region_desc {
  char* name;
  char* surface;         ///< absolute path of the mesh
  sn_mesh mesh;          ///< a closed surface, metres
  bool has_material;     ///< false: of the material below it
  sn_material material;  ///< its law is that of cells with f weight >= 1/2
  bool has_density;      ///< false: of the density below it
  double density;        ///< kg/m3
  double stiffness;      ///< factor on mu and lambda. Default 1.
  double weight;         ///< 0 to 1. Default 1.
} sn_region_desc;

/// A body of flesh.
typedef struct sn_body_desc {
  char* name;
  char* surface;  ///< absolute path of the mesh
  sn_mesh mesh;   ///< the surface, metres
  double cell;    ///< edge of the finest cell, metres; 0: chosen for about 100k cells
  int coarsen;    ///< levels that the inside may coarsen; 0 = uniform grid, -1 = no limit
  /// 1: cells that the skin cuts count whole; 2: exactly what is inside; 8: as 1, with eight points a cell
  int quadrature;
  double
      least_fill;  ///< finest cells that the body fills less than this share of are left out; 0: none
  /// Corotated flesh that the pose draws out keeps at least this share of its width: where it would not, it has a
  /// smaller lambda; 0: whatever comes of it. Without a pose no effect.
  double least_width;
  sn_embedding embedding;
  sn_material material;
  double density;    ///< kg/m3
  double damping;    ///< s, stiffness-proportional: stress = that of strain + damping x its rate
  double drag;       ///< 1/s, mass-proportional: deceleration = drag x velocity
  sn_rigid initial;  ///< placement at the start
  sn_vec3 velocity;  ///< m/s at the start
  sn_vec3 spin;      ///< rad/s at the start, about the centre of mass
  sn_scramble scramble;
  sn_region_desc* regions;  ///< from the lowest to the topmost
  uint32_t region_count;
  sn_map* maps;  ///< by different names
  uint32_t map_count;
  /// Triangles that are no flesh, 1 each, else 0 (triangle_count of the mesh); NULL: none. Vertices that
  /// are in such triangles only are carried along by the flesh.
  uint8_t* follow;
  sn_mesh_motion pose;  ///< of the surface's own vertices, as animated
} sn_body_desc;

/// What shape a bone has.
typedef enum sn_bone_kind { SN_BONE_MESH, SN_BONE_CAPSULE } sn_bone_kind;

/// All points within a radius of a segment.
typedef struct sn_capsule {
  sn_vec3 from, to;  ///< ends of the axis, metres
  double radius;     ///< metres
} sn_capsule;

/// A shape that moves as told.
typedef struct sn_bone_desc {
  char* name;
  sn_bone_kind kind;
  char* surface;  ///< absolute path, MESH
  sn_mesh mesh;   ///< metres, MESH
  sn_capsule capsule;
  sn_motion motion;
  sn_mesh_motion shape;  ///< of the mesh's own vertices: moves the bone instead of `motion`, MESH
} sn_bone_desc;

/// What shape a collider has.
typedef enum sn_collider_kind {
  SN_COLLIDER_PLANE,  ///< everything behind a plane is solid
  SN_COLLIDER_SPHERE,
  SN_COLLIDER_CAPSULE,
  SN_COLLIDER_BOX,  ///< axes parallel to those of the scene, until its motion turns it
  SN_COLLIDER_MESH
} sn_collider_kind;

/// An obstacle that moves as told.
typedef struct sn_collider_desc {
  char* name;
  sn_collider_kind kind;
  sn_vec3 position;      ///< a point of the plane, the centre of sphere and box, metres
  sn_vec3 normal;        ///< unit length, PLANE. Default: up.
  double radius;         ///< metres, SPHERE
  sn_vec3 half;          ///< half of each side, metres, BOX
  sn_capsule capsule;    ///< CAPSULE
  char* surface;         ///< absolute path, MESH
  sn_mesh mesh;          ///< metres, MESH
  sn_motion motion;      ///< without stretches
  sn_mesh_motion shape;  ///< of the mesh's own vertices: moves it instead of `motion`, MESH
  double friction;       ///< Coulomb's coefficient. Default: that of the scene's contact.
  double stiffness;      ///< as in sn_contact_opts. Default: that of the scene's contact.
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

#define SN_NO_BONE UINT32_MAX

/// Springs that tie a part of a body to a bone, or to the pose of its own surface.
typedef struct sn_attachment_desc {
  uint32_t body, bone;  ///< indices; SN_NO_BONE: to the pose of the body
  sn_where where;
  /// Spring constant of a node that stands for one finest cell, in units of mu h. Default 100.
  double stiffness;
} sn_attachment_desc;

/// The axes along which nodes are held. A bit that is set frees an axis: 1 x, 2 y, 4 z.
typedef enum sn_held_axes {
  SN_HELD_XYZ,
  SN_HELD_YZ,
  SN_HELD_XZ,
  SN_HELD_Z,
  SN_HELD_XY,
  SN_HELD_Y,
  SN_HELD_X
} sn_held_axes;

/// Nodes that move exactly as told.
typedef struct sn_fixed_desc {
  uint32_t body;
  uint32_t
      bone;  ///< whose shape INSIDE and NEAR refer to and whose motion is followed, or SN_NO_BONE
  sn_where where;
  sn_held_axes axes;  ///< along the others nodes move freely. Default all.
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

/// A number over time, linear between keys; outside them the end key holds.
typedef struct sn_number_key {
  double frame, value;
} sn_number_key;

/// How the directions of a muscle's fibres are found.
typedef enum sn_fibers_kind {
  SN_FIBERS_SOLVE,  ///< as something would flow from its origin to its insertion
  SN_FIBERS_ALONG,  ///< all in one direction
  SN_FIBERS_FIELD   ///< as given at points
} sn_fibers_kind;

/// The direction of fibres at a point; its sign does not matter.
typedef struct sn_fiber_sample {
  sn_vec3 place;      ///< metres
  sn_vec3 direction;  ///< unit length
} sn_fiber_sample;

/// Kinds of sn_muscle_end.
typedef enum sn_muscle_end_kind {
  /// An end of the muscle's longest axis: the one further from the other end or, if neither is given, for
  /// the origin the lower one in the coordinate in which they differ most.
  SN_END_AXIS,
  SN_END_POINT,  ///< where it is nearest to a point
  SN_END_BONE    ///< where it is nearest to a bone
} sn_muscle_end_kind;

/// Where a muscle begins or ends.
typedef struct sn_muscle_end {
  sn_muscle_end_kind kind;
  sn_vec3 point;  ///< metres, POINT
  uint32_t bone;  ///< index, BONE
} sn_muscle_end;

/// Fibres that pull within a part of a body.
typedef struct sn_muscle_desc {
  char* name;
  uint32_t body;  ///< index
  char* surface;  ///< absolute path of the mesh
  sn_mesh mesh;   ///< around its volume, metres
  sn_fibers_kind fibers;
  sn_vec3 along;           ///< unit length, ALONG
  char* field_source;      ///< absolute path, FIELD; only to tell
  sn_fiber_sample* field;  ///< FIELD (field_count)
  uint32_t field_count;
  sn_muscle_end origin, insertion;  ///< SOLVE
  sn_number_key* activation;        ///< 0 to 1, by ascending frame (activation_count)
  uint32_t activation_count;
  double max_stress;  ///< tension of the fully active fibre at its best, Pa. Default 3e5.
  double optimal;     ///< stretch at which it pulls best. Default 1.
  double passive;     ///< factor on the tension of the stretched fibre at rest. Default 1.
  double tendon;      ///< share of the length that is tendon at either end. Default 0.
  double stiffness;   ///< of tendon, Pa. Default 3e6.
  sn_fiber_law law;   ///< of fibres that are not active. Default ZAJAC.
  double numbers[SN_FIBER_NUMBERS];  ///< the law's own; what they are is in its file
} sn_muscle_desc;

/// How the linear system of a Newton step is solved.
typedef enum sn_linear_solver {
  SN_LINEAR_CG,              ///< without preconditioner
  SN_LINEAR_JACOBI_CG,       ///< with the diagonal
  SN_LINEAR_MULTIGRID,       ///< CG with one multigrid V-cycle an iteration; see sn_pressure_form
  SN_LINEAR_MULTIGRID_ONLY,  ///< V-cycles without CG
  SN_LINEAR_MINRES,          ///< the minimal residual method with one V-cycle an iteration
  SN_LINEAR_QMR,             ///< symmetric QMR without preconditioner
  SN_LINEAR_MACROBLOCK,      ///< CG on the interface of blocks of 16 x 8 x 8 cells, solved directly
  SN_LINEAR_DIRECT,  ///< CG with a factor of the whole: blocks within blocks, cut by the body's shape
  SN_LINEAR_AUTO     ///< multigrid, or what is faster where a body is thin; says what it picked
} sn_linear_solver;

/// What preconditions the interface of macroblocks.
typedef enum sn_macroblock_interface {
  SN_MACROBLOCK_MULTIGRID,  ///< one multigrid V-cycle
  SN_MACROBLOCK_JACOBI,     ///< the diagonal
  SN_MACROBLOCK_NONE,       ///< nothing
  SN_MACROBLOCK_FACES       ///< the stiffness between the nodes of each face, edge and corner
} sn_macroblock_interface;

/// What becomes of the pressures in nearly incompressible flesh while a linear system is solved.
typedef enum sn_pressure_form {
  SN_PRESSURE_AUTO,  ///< kept where that takes less time; with MINRES and QMR wherever it matters
  SN_PRESSURE_CONDENSED,  ///< eliminated: displacements alone are unknowns
  SN_PRESSURE_KEPT        ///< unknowns of their own, a cell each; with multigrid by MINRES
} sn_pressure_form;

/// What evens out the error on each level of multigrid.
typedef enum sn_smoother {
  SN_SMOOTHER_AUTO,  ///< Chebyshev where flesh is nearly incompressible, else Jacobi
  SN_SMOOTHER_JACOBI,
  SN_SMOOTHER_CHEBYSHEV
} sn_smoother;
/// How the coarsest level of multigrid is solved.
typedef enum sn_coarsest { SN_COARSEST_CHOLESKY, SN_COARSEST_JACOBI } sn_coarsest;

/// The multigrid cycle. The defaults choose the damping of every level by its largest eigenvalue.
typedef struct sn_multigrid_opts {
  sn_smoother smoother;  ///< Default auto.
  double damping;        ///< of Jacobi; 0 = automatic, the default.
  int degree;            ///< of Chebyshev, 1 to 8. Default 3.
  sn_coarsest coarsest;  ///< cholesky, or 16 Jacobi iterations. Default cholesky.
  int exact;  ///< level that is solved directly, 1 = the body's own cells, and no coarser one is
              ///< visited; 0 = none, the default
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
  bool sharp;               ///< no defect correction: exact products for cut cells. Default false.
  int retries;  ///< times that a step with contacts that is far from solved is cut in halves and
                ///< tried again; 0: nor is it given more steps than newton_max. Default 2.
  double newton_tolerance;  ///< relative force residual at which a frame is done. Default 1e-3.
  int krylov_max;  ///< Krylov iterations a Newton step, >= 1. Default 20, 400 without multigrid; with
                   ///< pressures kept 200, 2000 without.
  double krylov_tolerance;  ///< relative residual at which CG stops. Default 1e-2.
  int threads;              ///< 0 = one a processor. Never changes the result.
  sn_multigrid_opts multigrid;
  sn_macroblock_interface interface;  ///< Default multigrid.
  sn_integrator integrator;           ///< Default bdf2.
  sn_pressure_form pressure;          ///< Default auto.
  double pressure_scale;  ///< Pa of one unit of pressure in QMR; 0 = mu / cell, the default.
} sn_solver_opts;

/// What a run may keep of the inside of the flesh; see sinew/fields.h.
typedef enum sn_flesh_field {
  SN_FIELD_STRAIN,
  SN_FIELD_STRESS,
  SN_FIELD_J,
  SN_FIELD_PRESSURE,
  SN_FIELD_ACTIVATION,
  SN_FIELD_CONTACTS,  ///< points of the skin, not a number a cell
  SN_FIELD_COUNT
} sn_flesh_field;

/// Files for other programs; sn_export_format has them by the same numbers.
typedef enum sn_output_format {
  SN_FORMAT_PC2,  ///< what a run writes in any case
  SN_FORMAT_MDD,
  SN_FORMAT_OBJ,
  SN_FORMAT_PLY,
  SN_FORMAT_GLB,
  SN_FORMAT_USDA,
  SN_FORMAT_VTU,
  SN_FORMAT_COUNT
} sn_output_format;

/// What a run writes.
typedef struct sn_output_opts {
  uint32_t formats;       ///< a bit 1 << sn_output_format for each that is exported when it is done
  uint32_t fields;        ///< a bit 1 << sn_flesh_field for each that is kept. Default none.
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
  sn_muscle_desc* muscles;
  uint32_t muscle_count;
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

/// A surface in memory, which a scene names as "memory:NAME" where the path of a mesh would stand.
typedef struct sn_scene_mesh {
  const char* name;
  const double* positions;  ///< (3 x vertex_count), in the unit of the scene
  uint32_t vertex_count;
  const uint32_t* triangles;  ///< (3 x triangle_count)
  uint32_t triangle_count;
} sn_scene_mesh;

/// A number for each vertex of a body, which its maps name as "memory:NAME".
typedef struct sn_scene_values {
  const char* name;
  const double* values;
  uint32_t count;
} sn_scene_values;

/// A scene that is not a file. All of it is copied; nothing needs to outlive the call.
typedef struct sn_scene_source {
  const char* name;             ///< what messages call it; NULL: "scene"
  const char* json;             ///< the text of a scene file
  size_t length;                ///< of `json`, bytes
  const char* folder;           ///< where relative paths of files begin; NULL: the current folder
  const sn_scene_mesh* meshes;  ///< may be NULL where there are none
  uint32_t mesh_count;
  const sn_scene_values* values;  ///< may be NULL where there are none
  uint32_t values_count;
} sn_scene_source;

/// Read a scene from memory, as strictly as sn_scene_load.
SN_API sn_status sn_scene_parse(const sn_scene_source* source, const sn_scene_change* changes,
                                int change_count, sn_scene** scene, sn_error* err);
/// The scene as JSON text, every default filled in: what sn_scene_save writes. NULL for a scene that
/// was put together by hand. Lives as long as the scene.
SN_API const char* sn_scene_json(const sn_scene* scene);
/// Triangles of a body's surface (3 x count). Live as long as the scene.
SN_API const uint32_t* sn_scene_triangles(const sn_scene* scene, uint32_t body, uint32_t* count);
/// Write the whole scene, every default filled in, meshes as absolute paths. Reading that file
/// again gives the same scene, bit for bit. What came from memory stays "memory:NAME": such a text
/// can be read by sn_scene_parse only, with the same arrays.
SN_API sn_status sn_scene_save(const char* path, const sn_scene* scene, sn_error* err);
/// NULL is fine.
SN_API void sn_scene_destroy(sn_scene* scene);

/// The value of keys at a frame, which may be fractional. @param keys (count), count >= 1
SN_API double sn_number_at(const sn_number_key* keys, uint32_t count, double frame);

/// Where a vertex is at a frame, which may be fractional. @param motion with one frame or more
SN_API sn_vec3 sn_mesh_motion_at(const sn_mesh_motion* motion, uint32_t vertex, double frame);

/// Bone, constraint or collider pose at a frame, relative to rest. Frames may be fractional. Without
/// stretches the linear part is a rotation.
SN_API sn_affine sn_motion_at(const sn_motion* motion, double frame);
/// Is nothing stretched at any key?
SN_API bool sn_motion_is_rigid(const sn_motion* motion);
/// As sn_motion_at, but only this share of the way there from rest, 0 to 1.
SN_API sn_affine sn_motion_toward(const sn_motion* motion, double frame, double share);

#ifdef __cplusplus
}
#endif

#endif
