// Terms and problems: all that a solver sees.
//
// The unknowns of all bodies form one vector of displacements; a *space* is the stretch of it that
// belongs to one set of nodes. Everything that acts on the unknowns is a *term*: an energy with its
// derivatives. A term on two spaces couples them. New physics is a new term; the solvers stay.
#ifndef SN_SOLVE_TERM_H
#define SN_SOLVE_TERM_H

#include "base/parallel.h"
#include "math/hessian.h"
#include "solve/pressure.h"

typedef struct sn_term sn_term;

typedef struct sn_term_ops {
  const char* name;
  // Energy in J. Unless g is NULL, g += dE/du; unless `forces` is NULL, *forces = |dE/du| of this term
  // alone, for which the first term of a space may count on zeros in g.
  double (*evaluate)(const sn_term* term, sn_pool* pool, const double* u, double* g,
                     double* forces);
  // Remember at u what the next two need. NULL: nothing to remember.
  void (*linearise)(const sn_term* term, sn_pool* pool, const double* u);
  // y += K p, in double and in single precision. NULL: K = 0.
  void (*apply_d)(const sn_term* term, sn_pool* pool, sn_hessian kind, const double* p, double* y);
  void (*apply_f)(const sn_term* term, sn_pool* pool, sn_hessian kind, const float* p, float* y);
  // y = (K + springs) p on the whole of the first space, in place of what was there, instead of apply_f. If one
  // space has such a term then all have, each as its first.
  void (*multiply_f)(const sn_term* term, sn_pool* pool, sn_hessian kind, const float* p, float* y);
  // d += diagonal of the definite K, or anything above it that bounds K as well. NULL: K = 0.
  void (*diagonal)(const sn_term* term, sn_pool* pool, double* d);
  // Bring to u what an energy keeps fixed while a step is found, such as the pressure that friction
  // goes by. True if that changes the energy. NULL: there is nothing of the kind.
  bool (*refresh)(const sn_term* term, sn_pool* pool, const double* u);
  // Would the step to u - d cost this term more than `most`, J, in a way that its linearisation does not
  // know, such as a contact that begins on the way? Then know it from now on, until the next
  // linearisation: K gets stiffer, and g += what its model of the energy gives at u. Returns whether it
  // did. With d = NULL that g is taken back. NULL: never.
  bool (*foresee)(const sn_term* term, sn_pool* pool, const double* u, const double* d, double most,
                  double* g);
  // Is this term strained so far that its tangent leads nowhere near balance, as that of a spring which hardens? Then
  // know it as softer until the next linearisation, with g to match, which foresee takes back as its own. Returns
  // whether it did. NULL: never.
  bool (*ease)(const sn_term* term, sn_pool* pool, const double* u, double* g);
  // Products are by default those of a simpler energy, which serve as well while steps get on (defect
  // correction). With `on` they are those of this energy from the next linearisation. NULL: there is no
  // difference.
  void (*sharpen)(const sn_term* term, bool on);
} sn_term_ops;

// What multigrid makes of a term.
typedef enum sn_term_levels {
  SN_LEVELS_DIAGONAL,  // it is a diagonal, and springs at the nodes of every level
  SN_LEVELS_OWN        // it has a version of its own on every level
} sn_term_levels;

struct sn_term {
  const sn_term_ops* ops;
  const void* model;  // what does not change while simulating
  void* work;         // what a step writes
  size_t begin[2];    // first unknown of each space that it acts on
  sn_term_levels levels;
  const float* springs;  // for multiply_f: a diagonal of its space; NULL: none
};

// min over u of the sum of the terms' energies, nodes marked in `held` staying where they are.
typedef struct sn_problem {
  size_t unknown_count;  // 3 x nodes of all spaces
  const sn_term* terms;
  int term_count;
  const uint8_t* held;            // a node each, as in vector.h (unknown_count / 3)
  double force_scale;             // forces that count as none: those of strains of a millionth, N
  double energy_scale;            // size of what cancels within terms' energies, J
  const sn_pressures* pressures;  // stiffness that the terms leave out of their products
  int pressure_space_count;
  size_t pressure_count;  // of all spaces
  bool mixed;             // they are unknowns of Newton's method, not only of its linear solves
  bool summed;  // the terms that are diagonals are in the springs of others, for products in single
} sn_problem;

typedef struct sn_evaluation {
  double energy;     // J
  double magnitude;  // sum of the terms' |energies|: what round-off is measured by
  double forces;     // size of the forces in play: the sum over the terms of the norms of their own
                     // gradients, reactions of held nodes included, N
} sn_evaluation;

// Energy at u and its gradient g, 0 on the held nodes.
sn_evaluation sn_problem_evaluate(const sn_problem* problem, sn_pool* pool, const double* u,
                                  double* g);
// y = K p on the free nodes, 0 on the held ones. p must be 0 on those. K is the whole stiffness; the part
// A of it that is not left to pressures comes from the two after.
void sn_problem_apply_d(const sn_problem* problem, sn_pool* pool, sn_hessian kind, const double* p,
                        double* y);
void sn_problem_apply_f(const sn_problem* problem, sn_pool* pool, sn_hessian kind, const float* p,
                        float* y);
void sn_problem_apply_part_d(const sn_problem* problem, sn_pool* pool, sn_hessian kind,
                             const double* p, double* y);
void sn_problem_apply_part_f(const sn_problem* problem, sn_pool* pool, sn_hessian kind,
                             const float* p, float* y);
// d = diagonal of the definite A, 1 on the held nodes.
void sn_problem_diagonal(const sn_problem* problem, sn_pool* pool, double* d);
// True if a term's energy changed by it.
bool sn_problem_refresh(const sn_problem* problem, sn_pool* pool, const double* u);
// What a step will meet: see sn_term_ops.
bool sn_problem_foresee(const sn_problem* problem, sn_pool* pool, const double* u, const double* d,
                        double most, double* g);
// What a step had better not know: see sn_term_ops.
bool sn_problem_ease(const sn_problem* problem, sn_pool* pool, const double* u, double* g);
void sn_problem_linearise(const sn_problem* problem, sn_pool* pool, const double* u);
// Exact products or the simpler ones: see sn_term_ops.
void sn_problem_sharpen(const sn_problem* problem, bool on);

#endif
