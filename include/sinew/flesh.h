/// From a rigged character to a scene of its flesh: which parts are flesh, where its bones are and how
/// they move, what it is made of. `sinew flesh` is this and a run of the scene.
#ifndef SINEW_FLESH_H
#define SINEW_FLESH_H

#include "sinew/gltf.h"
#include "sinew/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What may be chosen. sn_flesh_default_opts gives the defaults; NULL and 0 mean them too, except where
/// another one is named.
typedef struct sn_flesh_opts {
  const char*
      scene_folder;    ///< where the scene will be: files below it get relative paths. Default ".".
  double cell;         ///< finest cell edge, metres. Default 0: about 100k cells.
  const char* clip;    ///< name of a clip, or its number from 1. Default: the first.
  const char* motion;  ///< another file whose clip drives the joints by their names. Default: none.
  int first_frame, last_frame;  ///< inclusive, from 1. Default 0, 0: the whole clip.
  bool loop;                    ///< the clip begins again where it ends. Default false.
  double fps;                   ///< frames a second. Default 24.
  const char* material;         ///< a name of the material library. Default: flesh.
  double young;                 ///< Pa. Default 0: 12 kPa, more for large or thin bodies.
  bool quasistatic;             ///< each frame in balance, without inertia. Default false.
  int preroll;   ///< frames from the bind pose to the first. Default -1: 12 if they differ.
  bool contact;  ///< flesh touches itself. Default true.
  double bones;  ///< factor on the thickness of the bones, 0.05 to 2. Default 1.
  double hold;   ///< factor on the ties of the skin to its skinned pose, negative: none. Default 1.
} sn_flesh_opts;

/// What became of a connected part of the surface.
typedef struct sn_flesh_part {
  char* name;       ///< of its node, and of the material where that has several
  uint32_t number;  ///< as in `follow` of the scene
  uint32_t triangle_count;
  double volume;  ///< m3
  bool flesh;     ///< else it follows
  char* reason;   ///< in words
} sn_flesh_part;

/// What became of a joint that moves vertices.
typedef struct sn_flesh_joint {
  char* name;
  uint32_t capsule_count;  ///< bones of the scene that move with it; 0: see `into`
  char* into;              ///< the joint that carries its flesh instead, or NULL
  char* reason;            ///< in words, or NULL for a plain bone along the joint
} sn_flesh_joint;

/// What was decided, and why.
typedef struct sn_flesh_report {
  sn_flesh_part* parts;
  uint32_t part_count;
  sn_flesh_joint* joints;
  uint32_t joint_count;
  uint32_t bone_count;  ///< capsules in all
  uint32_t vertex_count, triangle_count;
  double size;   ///< diagonal of the bind pose, metres
  double cell;   ///< estimate of the finest cell's edge, metres
  double young;  ///< Pa; 0: that of the named material
  double hold;   ///< stiffness of the ties of the skin to its pose, as in `attachments`; 0: none
  char* clip;    ///< NULL: no animation, at rest
  int first_frame, last_frame, preroll;
  double fps;
  char** notes;  ///< each fallback and oddity, in words
  uint32_t note_count;
  struct sn_arena* storage;  ///< owns everything above and the text of the scene
} sn_flesh_report;

/// What `sinew flesh` takes without any option.
SN_API sn_flesh_opts sn_flesh_default_opts(void);
/// Read a character and plan its flesh. What cannot be done is done as well as it can, and said in the
/// report; SN_ERR_INPUT only where nothing sensible is left: no triangles, no joint that moves them, an
/// unknown clip, which the message then lists.
/// @param scene_json the scene, for sn_scene_load from a file in `scene_folder`; owned by the report
SN_API sn_status sn_flesh_plan(const char* path, const sn_flesh_opts* opts, char** scene_json,
                               sn_flesh_report* report, sn_error* err);
/// Write the text of a scene as a whole or not at all. Its folder must exist.
SN_API sn_status sn_flesh_save(const char* path, const char* scene_json, sn_error* err);
/// Frees and zeroes. A zeroed one is fine.
SN_API void sn_flesh_report_destroy(sn_flesh_report* report);

#ifdef __cplusplus
}
#endif

#endif
