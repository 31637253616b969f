// Flesh on an octree, of any law. Displacements in metres at the conforming nodes, three numbers a
// node. Energy and forces are computed in double precision; the stiffness is kept in single precision
// and multiplied in either.
#ifndef SN_ELASTICITY_FLESH_H
#define SN_ELASTICITY_FLESH_H

#include "elasticity/corotated_cell.h"
#include "material/law.h"
#include "octree/families.h"
#include "octree/smoothing.h"

typedef struct sn_flesh_kernels sn_flesh_kernels;

// What each cell is made of: a law by its kind, at the stiffness of its own parameters.
typedef struct sn_tissue {
  const sn_material* kinds;  // their mu and lambda are not looked at (kind_count)
  uint32_t kind_count;
  const uint8_t* cell_kinds;  // NULL: all cells are of the first kind (cell_count)
  const float* mu;            // Lame parameters of each cell, Pa (cell_count)
  const float* lambda;        // (cell_count)
  bool even;                  // those of the first cell are those of all, and there are no others
} sn_tissue;

static inline double sn_tissue_mu(const sn_tissue* tissue, size_t cell) {
  return tissue->mu[tissue->even ? 0 : cell];
}
static inline double sn_tissue_lambda(const sn_tissue* tissue, size_t cell) {
  return tissue->lambda[tissue->even ? 0 : cell];
}

// Cells that have a rule of their own: those that the skin cuts, integrated over what is inside; or all cells,
// whole, by Gauss's rule of 2 x 2 x 2 points.
#define SN_GROUP_POINTS 4

typedef struct sn_point_group {
  double weights[SN_GROUP_POINTS];    // shares of the cell's volume over its `share`; 0: no point
  double places[3][SN_GROUP_POINTS];  // from -1 to 1 through the cell
} sn_point_group;

typedef struct sn_cut_cells {
  uint32_t count;
  uint8_t* lanes;    // which cells of a row are cut, a bit a lane ([row])
  uint32_t* firsts;  // the number of the first of them ([row], and the count)
  uint32_t* starts;  // first group of each cut cell; they are in the order of places (count + 1)
  sn_point_group* groups;
  float* shares;  // factor that is in the material of each of these cells already (count)
  bool whole;     // all cells are among them and count whole
} sn_cut_cells;

// What the tangents of the cells look like.
typedef enum sn_tangent_form {
  SN_FORM_COROTATED,   // that of the corotated law, which is the lightest
  SN_FORM_FRAMES,      // that of any law
  SN_FORM_POLYNOMIAL,  // definite as of any law; energy, forces and exact products without frames
  SN_FORM_COUNT
} sn_tangent_form;

// What does not change: the grid and its material.
typedef struct sn_flesh {
  const sn_octree* tree;
  const sn_families* families;
  sn_tissue tissue;
  sn_tangent_form form;
  const sn_cut_cells* cut;  // NULL: the points at the centres count for all cells, whole
  double hourglass;         // factor on the hourglass energy; 1 = the exact integral
  const sn_flesh_kernels* kernels;
} sn_flesh;

// What a step knows of a cell, in the order of families ([row][number][lane]): the material
// a = mu h / 8, b = lambda h / 16, zero where a family lacks a cell; then, while a step is prepared, F
// and the mean of J over the cell less 1; then what products need. Rotations are quaternions of length sqrt(2): x y z, and
// the cosine of half the angle. That is, of the corotated law, R and L of the definite Hessian times h / 16. In the
// frames of F = U diag(s) V^T, for any law: U, V, and the definite Hessian there, times h / 16: for
// stretches 00 11 22 01 12 02, and half of that for shears and for twists.
#define SN_TANGENT_MATERIAL 0
#define SN_TANGENT_F 2
#define SN_TANGENT_GRADIENTS 10  // F and the mean of J - 1
#define SN_TANGENT_TURN 2
#define SN_TANGENT_L 6
#define SN_TANGENT_U 2
#define SN_TANGENT_V 6
#define SN_TANGENT_FRAMED 10
#define SN_HESSIAN_NUMBERS_COROTATED 6
#define SN_HESSIAN_NUMBERS_FRAMES 12
// What exact products with the mean of J need beside that: F, [axis][column]; a of the hourglass modes
// 3, 5, 6, [mode][axis]; dW/dJ times h / 16 of what depends on the mean. In the form of frames also dM/dJ, 0 where M is the
// trace, and the second derivative by J times h / 16.
#define SN_VOLUME_A 9
#define SN_VOLUME_PRESSURE 18
#define SN_VOLUME_SLOPE 19
#define SN_VOLUME_FACTOR 20
#define SN_VOLUME_NUMBERS_POLYNOMIAL 19
#define SN_VOLUME_NUMBERS_FRAMES 21

typedef struct sn_flesh_work {
  float* tangents;
  int tangent_size;  // numbers of a cell in `tangents`,
  int hessian_size;  // in `exact` and
  int volume_size;   // in `volume`
  bool eased;        // all cells follow the corotated law for now, which leads out of any state
  uint8_t* kinds;    // of the cells, by place; NULL: all are of the first kind
  // Factor on the material in the tangents, and so on all products and diagonals; energy and forces
  // are those of the material itself.
  double stiffening;
  // Numbers of the exact Hessian. NULL: no products with it, or those of the polynomial form, by `volume`.
  float* exact;
  // Tangents at the points of cut cells, for products that go with the energy. Without them, or while
  // not `sharp`, these cells count in products as if they were whole.
  struct sn_point_tangents* points;
  bool sharp;
  // While sharp, products with the definite K in single precision are those of matrices; NULL: of points.
  struct sn_packet_matrices* matrices;
  // What pressures keep of b = lambda h / 16 in the material, so that products and diagonals are those
  // of flesh with lambda = most_bulk x mu at most; NULL: nothing ([row][lane]).
  float* kept;
  const float* most_bulk;  // (cell_count)
  // Where a law measures J or pressures are kept: what exact products need of the mean of J. The
  // definite Hessian takes its change from the centre ([row][number][lane]); not of the corotated form.
  float* volume;
  // Pressures that are unknowns of their own, p h / 16 by place, and the measure M that the last
  // evaluation found. The energy has p (M - p / (2 kept)) in place of kept / 2 M^2; NULL: it has not.
  float *pressure, *measure;
  void* slots;  // sums of nodes that other chunks own (3 x slot count)
  // Called when the tangents hold F, before it makes way; NULL: nobody wants F.
  void (*deformed)(void* ctx, sn_pool* pool);
  void* deformed_ctx;
} sn_flesh_work;

// In the frames at four points, as doubles would be: U, V, exact and definite Hessian.
typedef struct sn_point_tangents {
  float U[9][SN_GROUP_POINTS], V[9][SN_GROUP_POINTS];            // while a step is prepared U is F
  float hessian[2][SN_HESSIAN_NUMBERS_FRAMES][SN_GROUP_POINTS];  // by sn_hessian
  float beside[3][SN_GROUP_POINTS];  // derivative by s of what measures volume: J or the trace
  // Of the whole cell: second derivative of the energy by the mean of that, and hourglass stiffness.
  float bulk, hourglass;
} sn_point_tangents;

// K between the 27 points of families, eight at a time, whatever their cells have in them. It has only pairs of
// two points: moving all points of a cell takes no force, so that K x at a point i is the sum of K_ij (x_j - x_i).
#define SN_FAMILY_PAIRS 158

typedef struct sn_packet_matrices {
  uint8_t ends[SN_FAMILY_PAIRS][2];                       // points i < j of each pair
  uint8_t pairs[SN_FAMILY_POINTS][SN_FAMILY_POINTS];      // the pair of two points [i][j]
  float (*numbers)[SN_FAMILY_PAIRS][9][SN_FAMILY_LANES];  // K_ij, row by row ([packet])
} sn_packet_matrices;

// Factor on a cell's volume, up or down, that no flesh survives.
#define SN_RUINED 8.0

typedef struct sn_flesh_measure {
  double volume;  // m3; of cut cells what is inside counts
  double rest;    // the same at rest
  double min_j;   // smallest det F at the centre of a cell, of a cut one the mean inside
  uint64_t inverted;
  uint64_t ruined;  // and cells of less than 1 / SN_RUINED or more than SN_RUINED of their volume
} sn_flesh_measure;

sn_flesh sn_flesh_make(const sn_octree* tree, const sn_families* families, sn_tissue tissue);
// `single`: for products in single precision with the definite Hessian alone.
sn_status sn_flesh_work_create(const sn_flesh* flesh, bool single, sn_arena* arena,
                               sn_flesh_work* work, sn_error* err);

size_t sn_flesh_work_bytes(const sn_flesh* flesh, bool single);
// Of a place, what a product reads of it.
size_t sn_flesh_product_bytes(const sn_flesh* flesh, sn_hessian kind);
// Bring the work up to date after mu, lambda or the stiffening have changed.
void sn_flesh_set_material(const sn_flesh* flesh, sn_flesh_work* work);
// Change the stiffening, before the next linearisation.
void sn_flesh_stiffen(const sn_flesh* flesh, sn_flesh_work* work, double stiffening);

// Energy in J; g += dE/du unless g is NULL.
double sn_flesh_evaluate(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, const double* u,
                         double* g);

// Set the tangents for the functions that follow, at u or from gradients that lie in them.
void sn_flesh_linearise(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, const double* u);
void sn_flesh_linearise_gradients(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work);
// y += K p
void sn_flesh_apply_d(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                      const double* p, double* y);
// What a product takes with it on the way to memory: + diagonal p + scale v. NULL: nothing of the kind.
typedef struct sn_addends_f {
  const float *diagonal, *v;
  float scale;
} sn_addends_f;
// y = K p + addends. v may be y.
void sn_flesh_multiply(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                       const sn_addends_f* addends, const float* p, float* y);
// A smoothing step with the definite K + springs. After the visit returns x.b, before it 0.
double sn_flesh_smooth(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                       const sn_smoothing* smoothing);
// d += diagonal of K
void sn_flesh_diagonal_d(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                         double* d);
void sn_flesh_diagonal_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work, sn_hessian kind,
                         float* d);

// From the next linearisation on products with cut cells take as long whatever their rules are.
sn_status sn_flesh_keep_matrices(const sn_flesh* flesh, sn_arena* arena, sn_flesh_work* work,
                                 sn_error* err);

// The definite K of eight cells without hanging corners: the 3 x 3 matrices of their corners p <= q, in the
// order 00 01 .. 07 11 .. 77, [row][column][lane]. The corners of a lane with flips f are numbered from the
// mirrored side: its corner p is corner p ^ f. Cell UINT32_MAX is none: zeros. Cut cells count as they do in
// products.
void sn_flesh_cell_matrices(const sn_flesh* flesh, const sn_flesh_work* work,
                            const uint32_t cells[SN_FAMILY_LANES],
                            const uint8_t flips[SN_FAMILY_LANES], float K[36][9][SN_FAMILY_LANES]);

// From now on products and diagonals leave out what lambda has above most_bulk (cell_count) x mu. With
// `pressure` (a number a place) so do energy and forces, which have that pressure instead.
sn_status sn_flesh_keep_pressures(const sn_flesh* flesh, const float* most_bulk, float* pressure,
                                  sn_arena* arena, sn_flesh_work* work, sn_error* err);
// Numbers that stand for the pressures of the cells, by their places; 0 where there is no cell.
static inline size_t sn_flesh_place_count(const sn_flesh* flesh) {
  return sn_families_place_count(flesh->families);
}
// t = B u and y += B^T t at the tangents, with a row of B a cell: weight x R : s, s being the sums of
// the cell's linear modes. K p is what products give, + B^T kept B p with weights of 1.
void sn_flesh_gather_pressures_d(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                                 const float* weights, const double* u, double* t);
void sn_flesh_gather_pressures_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                                 const float* weights, const float* u, float* t);
void sn_flesh_scatter_pressures_d(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                                  const float* weights, const double* t, double* y);
void sn_flesh_scatter_pressures_f(const sn_flesh* flesh, sn_pool* pool, sn_flesh_work* work,
                                  const float* weights, const float* t, float* y);

sn_flesh_measure sn_flesh_get_measure(const sn_flesh* flesh, sn_pool* pool, const double* u);

// det F at the centre of one cell.
double sn_flesh_volume_ratio(const sn_flesh* flesh, const double* u, uint32_t cell);

// The number of a cut cell, or UINT32_MAX.
static inline uint32_t sn_flesh_cut_number(const sn_flesh* flesh, uint32_t cell) {
  const sn_cut_cells* cut = flesh->cut;
  uint32_t place = flesh->families->places[cell], row = place / SN_FAMILY_LANES;
  uint32_t lane = place % SN_FAMILY_LANES;
  if (!cut || !(cut->lanes[row] >> lane & 1)) return UINT32_MAX;
  return cut->firsts[row] + (uint32_t)__builtin_popcount(cut->lanes[row] & ((1u << lane) - 1));
}

// How the corners of a cell hang.
static inline sn_cell_shape sn_flesh_shape(const sn_octree* tree, uint32_t cell) {
  return (sn_cell_shape){(uint8_t)sn_octant_child_number(tree->cells[cell]), tree->hanging[cell]};
}
// Number i of a cell's tangent.
static inline float* sn_flesh_tangent(const sn_flesh_work* work, uint32_t place, int i) {
  return work->tangents +
         ((size_t)(place / SN_FAMILY_LANES) * (size_t)work->tangent_size + (size_t)i) *
             SN_FAMILY_LANES +
         place % SN_FAMILY_LANES;
}

#endif
