/// What is inside the flesh: its cells, and numbers in them.
#ifndef SINEW_FIELDS_H
#define SINEW_FIELDS_H

#include "sinew/state.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A cube of the grid. Corners are numbered by bits: 1 = further along x, 2 = y, 4 = z.
typedef struct sn_cell_cube {
  uint16_t x, y, z;  ///< its lowest corner, in finest cells from the origin
  uint8_t level;     ///< its edge is 2^level finest cells
  uint8_t hanging;   ///< a bit for each corner that hangs
} sn_cell_cube;

/// Where the flesh carries a vertex of the surface. One that only follows has the cell nearest to it.
typedef struct sn_cell_vertex {
  uint32_t cell;
  float at
      [3];  ///< its place in that cell at rest, 0 to 1 along each axis; beyond where it sticks out
} sn_cell_vertex;

#define SN_NO_MUSCLE UINT32_MAX

/// The cells of a body at rest. Points are the nodes and, after them, the hanging corners: each of these
/// is always in the middle of four nodes, or of two that are named twice. Lengths are in the unit of the
/// scene's files, as in BODY.pc2.
typedef struct sn_cells {
  double unit;      ///< metres in a unit of length
  double fps;       ///< frames a second
  int first_frame;  ///< of the scene: time 0
  sn_vec3 origin;   ///< of the grid
  double edge;      ///< of a finest cell
  uint32_t cell_count, node_count, hanging_count, vertex_count, material_count, muscle_count;
  sn_cell_cube* cubes;  ///< (cell_count)
  uint32_t* corners;    ///< points at the corners (8 x cell_count)
  uint16_t* nodes;    ///< x, y, z of each at rest, in finest cells from the origin (3 x node_count)
  uint32_t* hanging;  ///< nodes around each hanging corner (4 x hanging_count)
  float *mu, *lambda;        ///< Lame parameters of each cell, Pa (cell_count)
  float* fill;               ///< share of each cell that is inside the surface (cell_count)
  uint32_t* muscles;         ///< the one with most of each cell, or SN_NO_MUSCLE (cell_count)
  uint8_t* materials;        ///< number of each cell's law (cell_count)
  sn_cell_vertex* vertices;  ///< (vertex_count)
  char** material_names;     ///< of the laws, as in a scene (material_count)
  char** muscle_names;       ///< (muscle_count)
  uint64_t checksum;         ///< of the file that holds them; 0 before there is one
  struct sn_arena* storage;  ///< owns everything above
} sn_cells;

/// The cells of a body of a model.
SN_API sn_status sn_model_cells(const sn_model* model, uint32_t body, sn_cells* cells,
                                sn_error* err);
/// Frees and zeroes `cells`. Zeroed ones are fine.
SN_API void sn_cells_destroy(sn_cells* cells);
/// Places of all points. @param displacements of the nodes (3 x node_count); NULL: at rest
/// @param points (3 x (node_count + hanging_count))
SN_API void sn_cells_points(const sn_cells* cells, const float* displacements, double* points);

#define SN_NOT_FIXED UINT32_MAX

/// A node that does not move freely: it is tied by springs, or held exactly.
typedef struct sn_tied_node {
  uint32_t node;  ///< as in sn_cells
  uint32_t bone;  ///< index of the bone that it goes with; SN_NO_BONE: the body's own pose, or with
                  ///< `fixed` the motion given there
  uint32_t fixed;  ///< index of the scene's fixed[] that holds it; SN_NOT_FIXED: tied by springs
} sn_tied_node;

/// How a body hangs in its scene: first the ties by attachment and node, then held nodes. A node occurs
/// as often as something takes hold of it.
/// @param nodes room for `capacity`; may be NULL with 0 @return how many there are, which may be more
SN_API uint32_t sn_model_ties(const sn_model* model, uint32_t body, sn_tied_node* nodes,
                              uint32_t capacity);

/// A point of skin that is pressed against something.
typedef struct sn_contact_point {
  float place[3];   ///< in the unit of the scene's files
  float normal[3];  ///< away from what is touched, unit length
  float depth;      ///< how far it is inside of that, in the unit of the scene's files
  float force;      ///< along the normal, N
  uint32_t cell;    ///< that carries it
} sn_contact_point;

/// The name of a field in a scene, such as "strain".
SN_API const char* sn_field_name(sn_flesh_field field);
/// One number a cell, at its centre; where the skin cuts a cell and the body's quadrature is 2, at the
/// centroid of what is inside.
///     SN_FIELD_STRAIN      the largest |s - 1| of the principal stretches s
///     SN_FIELD_STRESS      von Mises stress of the Cauchy stress, Pa
///     SN_FIELD_J           det F, as sn_frame_stats counts it: the least one is min_j
///     SN_FIELD_PRESSURE    minus the mean of the principal Cauchy stresses, Pa
///     SN_FIELD_ACTIVATION  of the muscle that has most of the cell, 0 without one
/// Stresses are those of the cell's material; what muscles and damping add is not in them. Where a cell is
/// flat or inside out, |J| counts as 0.001 at least in them, so that they stay finite.
/// @param field not SN_FIELD_CONTACTS @param values (cell_count)
SN_API void sn_state_field(const sn_model* model, const sn_state* state, uint32_t body,
                           sn_flesh_field field, float* values);
/// Several fields at once, in less time than one after another.
/// @param values by field, each (cell_count); NULL: not asked for
SN_API void sn_state_fields(const sn_model* model, const sn_state* state, uint32_t body,
                            float* const values[SN_FIELD_CONTACTS]);
/// Displacements of a body's nodes, in the unit of the scene's files.
/// @param displacements (3 x node_count)
SN_API void sn_state_displacements(const sn_model* model, const sn_state* state, uint32_t body,
                                   float* displacements);
/// Points of a body's skin that touched something at the end of the last step. Where flesh touches flesh,
/// these are points of either or of both. @param points room for `capacity`; may be NULL with 0
/// @return how many there are, which may be more
SN_API uint32_t sn_state_contacts(const sn_model* model, const sn_state* state, uint32_t body,
                                  sn_contact_point* points, uint32_t capacity);

#ifdef __cplusplus
}
#endif

#endif
