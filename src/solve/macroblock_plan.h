// The lists of operations of a macroblock: what macroblock.c makes and its kernels follow.
#ifndef SN_SOLVE_MACROBLOCK_PLAN_H
#define SN_SOLVE_MACROBLOCK_PLAN_H

#include "solve/macroblock.h"

#define BOUNDARY (SN_BLOCK_POSITIONS - SN_BLOCK_OWN)  // places around a subdomain
#define BOUNDARY_PAIRS (BOUNDARY * (BOUNDARY + 1) / 2)
#define ONE_BOUNDARY 77  // nodes around a column of two subdomains and the layer between
#define ONE_FRONT (9 + ONE_BOUNDARY)
#define ONE_PAIRS (ONE_FRONT * (ONE_FRONT + 1) / 2)
#define MOST_LOWER 1400
#define MOST_TERMS 24000
#define MOST_TARGETS (MOST_LOWER + BOUNDARY_PAIRS)
#define NONE UINT16_MAX

// A subdomain's nodes beside the layer of level 1 are eliminated last, before them those beside level 2, and
// so on: from this one on are those that a level has to do with, as levels below it have.
static const int NEAR_LEVEL[5] = {SN_BLOCK_OWN, 18, 12, 8, 0};

// A factor's block, and the node beside it that its own row or column belongs to.
typedef struct block_link {
  uint16_t block;
  uint8_t node;
} block_link;

// One block between a node of a layer (or subdomain) and a place of a higher layer.
typedef struct coupling {
  uint8_t node, position, sz, sy;
} coupling;

// One 3 x 3 block of a subdomain's front: target -= sum over terms of L_x L_y^T.
typedef struct target {
  uint16_t block;  // in `lower`, or of the boundary's pairs
  uint16_t row, column;
  uint32_t first, end;  // terms
} target;

typedef struct term {
  uint16_t x, y;
} term;

// A cell's matrix of two corners goes to a block of the front.
typedef struct placing {
  uint16_t block;
  uint8_t pair, transposed, boundary;
  uint8_t rows, columns;  // positions of the block's rows and columns
} placing;

// A layer's coupling comes from a pair of the subdomains' boundaries.
typedef struct source {
  uint16_t to, pair;
  uint8_t transposed, sz, sy;  // sy = 2: both halves
} source;

struct sn_block_plan {
  uint8_t place[SN_BLOCK_OWN][3];      // (a, b, c) in the order of elimination
  uint8_t row_of[SN_BLOCK_POSITIONS];  // own nodes come first
  uint16_t row_starts[SN_BLOCK_OWN + 1], column_starts[SN_BLOCK_OWN + 1];
  block_link rows[SN_BLOCK_BELOW], columns[SN_BLOCK_BELOW];

  // Sorted by level, then position; out_starts[l] is the first of level l.
  coupling out[SN_BLOCK_OUT], one_out[SN_BLOCK_ONE_OUT], two_out[SN_BLOCK_TWO_OUT];
  uint16_t out_starts[6], one_starts[6], two_starts[6];

  uint16_t
      lower_count;  // blocks of the first columns of the front: those of `below` come first, in order
  uint16_t diagonal_blocks[SN_BLOCK_OWN];
  uint16_t out_blocks[SN_BLOCK_OUT];  // in `lower`, transposed
  target targets[MOST_TARGETS];
  uint32_t lower_targets, target_count;  // the first so many are of `lower`
  term terms[MOST_TERMS];
  uint16_t placing_starts[65];
  placing placings[64 * SN_CORNER_PAIRS];
  source one_sources[4 * SN_BLOCK_ONE_OUT], two_sources[8 * SN_BLOCK_TWO_OUT];
  int one_source_count, two_source_count;

  // Pairs r >= s of the nodes of a level-1 front: the subdomains' pair that adds to it, by sz, NONE where
  // there is none, with bit 15 where it is to be transposed.
  uint16_t one_from[ONE_PAIRS][2];
  // Where a node of that front's boundary is in the dense front of its slab, by sy; < 0 where it is none.
  int16_t dense_of[ONE_BOUNDARY][2];
  // Where a place of levels 3 and 4 is in its layer: 3 (y - 1 + 7 (z - 1)), [b + 4 c][sz][sy].
  uint16_t face_of[16][2][2];
};

static inline int position_of(int a, int b, int c) { return a + 1 + 5 * (b + 4 * c); }
// Where row k of a packed triangle begins, less k's multiple of 8.
static inline int triangle_row(int k) {
  int group = k / 8, room = SN_BLOCK_FACE_ROOM;
  return 8 * (group * room - 4 * group * (group - 1)) + (k % 8) * (room - 8 * group) - 8 * group;
}

#define DENSE_OWN 64                                    // of level 2, one of them idle
#define DENSE_NEAR (DENSE_OWN + SN_BLOCK_FACE_ROOM)     // with the layer of level 3
#define DENSE_FAR (DENSE_OWN + 2 * SN_BLOCK_FACE_ROOM)  // and that of level 4
#define DENSE_HALF (2 * SN_BLOCK_FACE_ROOM)

struct sn_block_room {
  _Alignas(64) float cell[SN_CORNER_PAIRS][9][SN_BLOCK_LANES];
  float keep[2][SN_BLOCK_POSITIONS][3][SN_BLOCK_LANES];
  float lower[MOST_LOWER][9][SN_BLOCK_LANES];
  float boundary[2][BOUNDARY_PAIRS][9][SN_BLOCK_LANES];
  float one[ONE_FRONT * 9][9][SN_BLOCK_LANES];  // [row][column]
  float one_diagonal[9][6][SN_BLOCK_LANES];
  // Dense fronts: of slabs sx = 0 and 2, of 1 and 3, of halves and of the last layer. Rows are as long as
  // there are unknowns.
  float near[2][DENSE_NEAR * DENSE_NEAR];
  float far[2][DENSE_FAR * DENSE_FAR];
  float half[2][DENSE_HALF * DENSE_HALF];
  float last[SN_BLOCK_FACE_ROOM * SN_BLOCK_FACE_ROOM];
};

#endif
