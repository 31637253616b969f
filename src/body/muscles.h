// The muscles of a body: fibres that pull within parts of its cells, on top of the flesh that is there
// anyway (Patterson, Mitchell and Sifakis 2012, section 5). Where muscles overlap they add.
#ifndef SN_BODY_MUSCLES_H
#define SN_BODY_MUSCLES_H

#include "body/bone.h"
#include "body/fiber_cells.h"
#include "material/fiber.h"
#include "sinew/fields.h"
#include "solve/term.h"

typedef struct sn_muscle {
  const sn_muscle_desc* desc;
  uint32_t number;  // in the scene
  sn_fiber fiber;
  sn_surface surface;
  sn_bvh bvh;
  uint32_t begin, end;  // its shares
  double volume;        // of those, m3
} sn_muscle;

// Shares are by muscle, then cell.
typedef struct sn_muscles {
  sn_muscle* items;
  uint32_t count;
  sn_fiber_cells cells;
  double (*coefs)[8];   // those of `cells` in double precision
  uint32_t* owners;     // the muscle of each share
  double* volumes;      // m3
  sn_vec3* centres;     // centroids, m
  sn_vec3* directions;  // of the fibres at rest, unit length, from origin to insertion
  double* tendons;      // share of tendon, 0 to 1
  uint32_t* main;       // the muscle with most of each cell, or SN_NO_MUSCLE; NULL without any
  const float* map;     // factors on the activation in each cell, 0 to 1; NULL: 1
} sn_muscles;

// What a step writes.
typedef struct sn_muscle_work {
  double* activations;    // of each muscle at the last pose, 0 to 1
  double* changes;        // how far they went to get there
  sn_vec3* pulls;         // room, a share each
  float (*pulls_f)[3];    // room, a share each
  float (*blocks[2])[6];  // volume x B of each share by sn_hessian, J
} sn_muscle_work;

// The surfaces of the muscles of body `index`, along which its grid will be fine.
sn_status sn_muscles_prepare(const sn_scene* scene, uint32_t index, sn_arena* arena,
                             sn_arena* scratch, sn_muscles* muscles, sn_error* err);
// Their shares in the cells of the body's grid, and how their fibres run.
sn_status sn_muscles_build(const sn_octree* tree, const sn_bone* bones, sn_pool* pool,
                           sn_arena* arena, sn_arena* scratch, sn_muscles* muscles, sn_error* err);

sn_status sn_muscle_work_create(const sn_muscles* muscles, sn_arena* arena, sn_muscle_work* work,
                                sn_error* err);

// How far the activation of a muscle goes in a cell: what its map leaves of it.
static inline double sn_muscles_local(const sn_muscles* muscles, const double* activations,
                                      uint32_t muscle, uint32_t cell) {
  return activations[muscle] * (muscles->map ? (double)muscles->map[cell] : 1);
}

// Bring the activations to a frame, which may be fractional, or to a share of that.
void sn_muscles_activate(const sn_muscles* muscles, sn_muscle_work* work, double frame,
                         double share);
// Half of what the last change of the activations costs at displacements u of the body's nodes, J: energy
// that comes from the muscles themselves.
double sn_muscles_half_work(const sn_muscles* muscles, const sn_muscle_work* work, sn_pool* pool,
                            const double* u);

// Energy in J.
double sn_muscles_energy(const sn_muscles* muscles, const sn_muscle_work* work, sn_pool* pool,
                         const double* u);

// The term: its model are sn_muscles, its work sn_muscle_work.
extern const sn_term_ops sn_muscle_term;

#endif
