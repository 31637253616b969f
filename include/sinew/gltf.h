/// glTF 2.0 files as plain structs: meshes, node hierarchy, skins and animation. Metres, y up,
/// seconds.
#ifndef SINEW_GLTF_H
#define SINEW_GLTF_H

#include "sinew/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Attributes that begin so are meant for Sinew: one float or share of 1 a vertex, in all primitives of
/// a mesh or in none.
#define SN_GLTF_OWN_PREFIX "_SINEW_"

/// A named number at each vertex, such as the attribute `_SINEW_STIFFNESS`.
typedef struct sn_gltf_map {
  char* name;
  float* values;  ///< (vertex_count)
} sn_gltf_map;

/// All primitives of one glTF mesh joined, in the order of the file: vertices of the first
/// primitive, then of the second, and so on. Their triangles are groups, named after their material
/// or, without, `primitiveN`.
typedef struct sn_gltf_mesh {
  char* name;           ///< unique in the file; made from the index where the file has none
  sn_mesh mesh;         ///< positions at rest, triangles, groups
  int influence_count;  ///< joints a vertex, all joint sets together; 0 = not skinned
  uint16_t* joints;     ///< index into the skin's joints (influence_count x vertex_count)
  float* weights;       ///< of a sum of 1, each joint once (influence_count x vertex_count)
  sn_gltf_map* maps;    ///< attributes that begin with an underscore and hold one number
  uint32_t map_count;
  float* morphs;         ///< displacements of each morph target (3 x vertex_count x morph_count)
  uint32_t morph_count;  ///< morph targets
  float* morph_weights;  ///< of them at rest (morph_count); NULL: all 0
} sn_gltf_mesh;

/// A node of the hierarchy. Parents come before their children in no particular order in the file;
/// `order` of the document lists them so.
typedef struct sn_gltf_node {
  char* name;      ///< unique in the file; made from the index where the file has none
  int32_t parent;  ///< node index or -1
  sn_vec3 translate;
  sn_quat rotate;
  sn_vec3 scale;
  bool has_matrix;       ///< `matrix` holds instead of the three above; such a node is not animated
  double matrix[16];     ///< column-major
  int32_t mesh, skin;    ///< indices or -1
  float* morph_weights;  ///< instead of those of its mesh; NULL: these
} sn_gltf_node;

/// Joints of a skinned mesh.
typedef struct sn_gltf_skin {
  char* name;
  uint32_t* joints;      ///< node indices (joint_count)
  double* inverse_bind;  ///< 4x4 column-major each (16 x joint_count)
  uint32_t joint_count;
} sn_gltf_skin;

/// What a channel moves.
typedef enum sn_gltf_path {
  SN_GLTF_TRANSLATE,
  SN_GLTF_ROTATE,
  SN_GLTF_SCALE,
  SN_GLTF_WEIGHTS  ///< of the morph targets of its mesh; in `morphs` of a clip only
} sn_gltf_path;
/// How it gets from key to key.
typedef enum sn_gltf_interpolation {
  SN_GLTF_LINEAR,
  SN_GLTF_STEP,
  SN_GLTF_CUBIC
} sn_gltf_interpolation;

/// One animated property of one node.
typedef struct sn_gltf_channel {
  uint32_t node;
  sn_gltf_path path;
  sn_gltf_interpolation interpolation;
  float* times;  ///< ascending, s (key_count)
  /// 3 or 4 (rotate) numbers a key, or as many as morph targets (weights); CUBIC has in-tangent, value, out-tangent for each key.
  float* values;
  uint32_t key_count;
} sn_gltf_channel;

/// A named animation.
typedef struct sn_gltf_clip {
  char* name;  ///< unique in the file; made from the index where the file has none
  sn_gltf_channel* channels;
  uint32_t channel_count;
  double end;               ///< time of the last key, s
  sn_gltf_channel* morphs;  ///< those that weigh morph targets (morph_count)
  uint32_t morph_count;
} sn_gltf_clip;

/// A whole file.
typedef struct sn_gltf {
  sn_gltf_mesh* meshes;
  uint32_t mesh_count;
  sn_gltf_node* nodes;
  uint32_t node_count;
  uint32_t* order;  ///< nodes, parents first (node_count)
  sn_gltf_skin* skins;
  uint32_t skin_count;
  sn_gltf_clip* clips;
  uint32_t clip_count;
  struct sn_arena* storage;  ///< owns everything above, except the meshes' own
} sn_gltf;

/// Read a .gltf or .glb file: embedded buffers, or files below its own folder. Every count, offset
/// and type is checked; SN_ERR_INPUT names the JSON path (`meshes[0].primitives[1].indices`).
SN_API sn_status sn_gltf_load(const char* path, sn_gltf* gltf, sn_error* err);
/// Write a .glb file: nodes, meshes with normals, skins, clips, maps. `order` is not needed. Meshes
/// without triangles, clips without channels and morph targets are left out. SN_ERR_USAGE for a document with
/// indices out of range, circles, or numbers that are not finite.
SN_API sn_status sn_gltf_save(const char* path, const sn_gltf* gltf, sn_error* err);
/// Frees and zeroes `gltf`. A zeroed one is fine.
SN_API void sn_gltf_destroy(sn_gltf* gltf);

/// World transforms of all nodes at a time of a clip; without a clip (-1) as the file has them.
/// Times outside the clip hold its ends. @param world 4x4 column-major each (16 x node_count)
SN_API void sn_gltf_pose(const sn_gltf* gltf, int32_t clip, double time, double* world);
/// World transforms of all nodes in the pose in which the meshes were tied to their joints: joints where
/// their inverse bind matrices say, carried along as the topmost one is in the file; all other nodes as
/// the file has them below their parents. Without skins it is the pose of the file.
/// @param world (16 x node_count)
SN_API void sn_gltf_bind_pose(const sn_gltf* gltf, double* world);
/// Linear blend skinning of the mesh of a node (which must have one), with its morph targets as at rest. A
/// mesh without a skin moves with its node; a skinned one with its joints only, as glTF says.
/// @param positions (3 x vertex_count)
SN_API void sn_gltf_skin_vertices(const sn_gltf* gltf, uint32_t node, const double* world,
                                  double* positions);
/// The same with its morph targets as they are at a time of a clip; without a clip (-1) as at rest.
SN_API void sn_gltf_morph_vertices(const sn_gltf* gltf, uint32_t node, int32_t clip, double time,
                                   const double* world, double* positions);

/// Read a character, by the ending of its file: glTF (.glb, .gltf), FBX (.fbx), Collada (.dae), or the nodes
/// and the motion of a Biovision hierarchy (.bvh). Whatever the file is, the document is in metres, y up,
/// seconds; what each format says of its units, axes and times is in docs/formats.md.
SN_API sn_status sn_character_load(const char* path, sn_gltf* character, sn_error* err);
/// What driving a character by a motion came to. The lists live in the character.
typedef struct sn_drive_report {
  uint32_t clip;                     ///< index of the new clip
  const char** matched_character;    ///< joints that move (matched_count)
  const char** matched_motion;       ///< joints of the motion that move them (matched_count)
  uint32_t matched_count;            ///< pairs
  const char** unmatched_character;  ///< joints of skins that keep their place below their parents
  uint32_t unmatched_character_count;  ///< how many
  const char** unmatched_motion;       ///< joints that move in the motion and nothing else
  uint32_t unmatched_motion_count;     ///< how many
  double scale;                        ///< of distances travelled: character over motion
} sn_drive_report;

/// Add a clip to a character that moves its joints as those of a motion of another skeleton move, which
/// are found by their names. Only turns are taken over, and the path of the hips, scaled by the length of
/// the legs. Baked at the times of the motion's keys, 60 a second at most. The clip gets the name of the
/// motion's. SN_ERR_INPUT lists the names of both where none match.
/// @param clip_name NULL: the first  @param report may be NULL
SN_API sn_status sn_character_drive(sn_gltf* character, const sn_gltf* motion,
                                    const char* clip_name, sn_drive_report* report, sn_error* err);
/// All meshes that nodes place as one, in the bind pose: vertices and triangles by ascending node, a
/// group for each node with its name, then the groups of the meshes as `NODE/GROUP`. SN_ERR_INPUT if no
/// node has triangles.
SN_API sn_status sn_character_join(const sn_gltf* character, sn_mesh* mesh, sn_error* err);
/// The vertices of that mesh in another pose. @param world (16 x node_count)
/// @param positions (3 x its vertex_count)
SN_API void sn_character_pose(const sn_gltf* character, const double* world, double* positions);
/// The same with its morph targets as they are at a time of a clip; without a clip (-1) as at rest.
SN_API void sn_character_morph(const sn_gltf* character, int32_t clip, double time,
                               const double* world, double* positions);

#ifdef __cplusplus
}
#endif

#endif
