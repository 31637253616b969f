/// The model: all that does not change while simulating. Built once from a scene, then always
/// const.
#ifndef SINEW_MODEL_H
#define SINEW_MODEL_H

#include "sinew/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Opaque; sn_model_build makes it.
typedef struct sn_model sn_model;

#define SN_MAX_LEVELS 17

/// What was, or would be, built for one body.
typedef struct sn_body_info {
  const char* name;
  double cell;  ///< edge of the finest cell, metres
  uint64_t cell_count;
  uint64_t cells_per_level[SN_MAX_LEVELS];  ///< [0] = the finest
  int level_count;
  uint64_t node_count;     ///< conforming nodes
  uint64_t unknown_count;  ///< 3 a node, fixed ones left out
  uint64_t attached_node_count, fixed_node_count;
  uint64_t hanging_cell_count;     ///< cells with a hanging corner
  uint64_t outside_vertex_count;   ///< surface vertices outside every cell, tied to the nearest
  uint64_t dropped_cell_count;     ///< left out for being filled too little
  uint64_t cut_cell_count;         ///< integrated over what is inside; 0 but for quadrature 2
  uint64_t many_point_cell_count;  ///< of these, with more than four points
  double volume;                   ///< of the cells, m3
  double filled_volume;            ///< of the flesh itself, m3
  double mass;                     ///< kg
  bool held;                       ///< false: nothing holds it, its start pose is kept
  sn_mesh_report mesh;             ///< what was left out of the surface
  uint32_t region_count, map_count, muscle_count;
  uint32_t part_count;              ///< connected parts of the surface
  uint32_t following_part_count;    ///< of these, without any flesh
  uint32_t following_vertex_count;  ///< in no triangle of flesh, but in one that follows
} sn_body_info;

/// What became of a region of a body.
typedef struct sn_region_info {
  const char* name;
  const char* model;  ///< name of its law, or of the body's own where it has no material
  double share;       ///< of the body's filled volume that lies in it
} sn_region_info;

/// What a map of a body holds.
typedef struct sn_map_info {
  const char *name, *source;
  double least, most;  ///< of the vertices
  double mean;         ///< over the filled volume
} sn_map_info;

/// What became of a muscle of a body.
typedef struct sn_muscle_info {
  const char* name;
  uint64_t cell_count;  ///< that it has a part of
  double share;         ///< of the body's filled volume that lies in it
} sn_muscle_info;

/// How much memory a body of the scene would take, from its area and volume, before anything is
/// built. Also fails with SN_ERR_INPUT where that is more than the machine has, or where the cells
/// along an axis are more than 32,767.
SN_API sn_status sn_scene_estimate(const sn_scene* scene, uint32_t body, double* cells,
                                   double* bytes, sn_error* err);

/// Build octrees, numbering, materials, attachments. The scene must outlive the model.
SN_API sn_status sn_model_build(const sn_scene* scene, sn_pool* pool, sn_model** model,
                                sn_error* err);
/// NULL is fine.
SN_API void sn_model_destroy(sn_model* model);
/// Bodies, in the order of the scene.
SN_API uint32_t sn_model_body_count(const sn_model* model);
/// What was built for a body, counted from 0.
SN_API sn_body_info sn_model_body(const sn_model* model, uint32_t body);
/// A region of a body, in the order of the scene.
SN_API sn_region_info sn_model_region(const sn_model* model, uint32_t body, uint32_t region);
/// A map of a body, in the order of the scene.
SN_API sn_map_info sn_model_map(const sn_model* model, uint32_t body, uint32_t map);
/// A muscle of a body, in the order of the scene.
SN_API sn_muscle_info sn_model_muscle(const sn_model* model, uint32_t body, uint32_t muscle);
/// Bytes of the model itself.
SN_API size_t sn_model_bytes(const sn_model* model);
/// Stands for everything that decides the result: scene values and mesh contents, but not frame
/// range, output or threads. Checkpoints carry it.
SN_API uint64_t sn_model_fingerprint(const sn_model* model);

/// A sparse matrix by rows.
typedef struct sn_matrix {
  uint64_t row_count;        ///< the unknowns of all bodies: x, y, z of each node
  uint64_t* row_starts;      ///< first entry of each row (row_count + 1)
  uint32_t* columns;         ///< ascending in each row
  double* values;            ///< N/m
  double* places;            ///< of the nodes at rest, m (row_count)
  struct sn_arena* storage;  ///< owns everything above
} sn_matrix;

/// The definite stiffness of the flesh at rest as a matrix, for comparison with other solvers: none
/// here needs it. Rows and columns of held unknowns keep their diagonal only. SN_ERR_USAGE if a body
/// has attachments or muscles, which it would lack.
SN_API sn_status sn_model_assemble(const sn_model* model, sn_matrix* matrix, sn_error* err);
/// Frees and zeroes `matrix`. A zeroed matrix is fine.
SN_API void sn_matrix_destroy(sn_matrix* matrix);

#ifdef __cplusplus
}
#endif

#endif
