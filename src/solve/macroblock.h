// One macroblock: the inside of a box of 16 x 8 x 8 cells, solved directly (Mitchell, Doescher and
// Sifakis 2016, section 4). docs/theory/macroblock.md derives it.
//
// Its 15 x 7 x 7 inner nodes are cut in halves four times, by layers of nodes:
//
//     level 4   x = 8            7 x 7 nodes, between two halves         once
//     level 3   x = 4, 12        7 x 7 nodes                             twice
//     level 2   y = 4            3 x 7 nodes, in each of 4 slabs of x    4 times
//     level 1   z = 4            3 x 3 nodes, in each of 8 columns       8 times
//     level 0                    3 x 3 x 3 nodes: a *subdomain*          16 times
//
// Subdomains lie mirrored to one another, so that all have the layers on the same sides: a subdomain's
// own nodes are at (a, b, c), each 0..2, the layers of levels 3, 2, 1 at a = 3, b = 3, c = 3, and that of
// level 4 or the boundary of the box at a = -1. So one list of operations serves all of them, a lane each:
//
//     lane = sx + 4 sy, one vector each for sz = 0, 1;      x = 1 + a, 7 - a, 15 - a, 9 + a for sx = 0..3
//                                                           y = 1 + b, 7 - b;  z = 1 + c, 7 - c
//
// A node that is not solved for (held, missing, on the interface) keeps its place with an equation of
// its own, 1 x = 0.
#ifndef SN_SOLVE_MACROBLOCK_H
#define SN_SOLVE_MACROBLOCK_H

#include "base/memory.h"

#define SN_BLOCK_LANES 8
#define SN_BLOCK_OWN 27        // nodes of a subdomain
#define SN_BLOCK_POSITIONS 80  // places (a, b, c) with a from -1 to 3 and b, c from 0 to 3
#define SN_BLOCK_NODES 735
#define SN_BLOCK_CELLS 1024
#define SN_BLOCK_BELOW 288    // 3 x 3 blocks below the diagonal of a subdomain's factor,
#define SN_BLOCK_OUT 253      // between a subdomain and layers,
#define SN_BLOCK_ONE_OUT 69   // level 1 and higher ones,
#define SN_BLOCK_TWO_OUT 114  // level 2 and higher ones
#define SN_BLOCK_ONE 27       // unknowns of a layer of level 1,
#define SN_BLOCK_TWO 63       // 2, and
#define SN_BLOCK_TWO_ROOM 64
#define SN_BLOCK_FACE 147  // 3 and 4
#define SN_BLOCK_FACE_ROOM 152
#define SN_BLOCK_TRIANGLE \
  12160  // numbers of such a layer's factor, rows starting at multiples of 8

// Numbers of all inner nodes, layer by layer.
typedef struct sn_block_vector {
  _Alignas(64) float sub[SN_BLOCK_OWN][3][2][SN_BLOCK_LANES];  // in the order of elimination
  float one[9][3][SN_BLOCK_LANES];                             // a + 3 b
  float two[21][3][4];                                         // a + 3 (z - 1), lane = sx
  _Alignas(64) float three[2][SN_BLOCK_FACE_ROOM];             // 3 ((y - 1) + 7 (z - 1)) + axis
  float four[SN_BLOCK_FACE_ROOM];
} sn_block_vector;

// What is kept of a block to solve it: the entries that figure 5 of the paper has in black.
typedef struct sn_block_factor {
  _Alignas(64) float diagonal[SN_BLOCK_OWN][6][2][SN_BLOCK_LANES];  // 00 10 11 20 21 22, reciprocal
  float below[SN_BLOCK_BELOW][9][2][SN_BLOCK_LANES];
  float out[SN_BLOCK_OUT][9][2][SN_BLOCK_LANES];  // L to level 1, K to the others
  // What is left of the layers of levels 1 and 2, inverted: as many operations as with factors, and none
  // waits for another.
  float one[SN_BLOCK_ONE][SN_BLOCK_ONE][SN_BLOCK_LANES];
  float one_out[SN_BLOCK_ONE_OUT][9][SN_BLOCK_LANES];
  float two[SN_BLOCK_TWO][SN_BLOCK_TWO_ROOM][4];
  float two_out[SN_BLOCK_TWO_OUT][9][4];
  // Rows of U; the 8 x 8 blocks on the diagonal are inverted.
  _Alignas(64) float three[2][SN_BLOCK_TRIANGLE];
  float four[SN_BLOCK_TRIANGLE];
  // Thin bodies leave much of a box empty: how many of the two vectors of subdomains have unknowns, how
  // many unknowns of levels 3 and 4 may be more than idle (a multiple of 8), and which levels have none.
  int sides, faces;
  bool idle[5];
} sn_block_factor;

// The cells of a block as an operator gives them: for eight cells, lanes of vectors, the 3 x 3 matrices
// K of corners p <= q, in the order 00 01 .. 07 11 .. 77, [row][column][lane]. Corners are numbered by
// bits (x, y, z); those of a lane with flips f are numbered from the mirrored side: its corner p is corner
// p ^ f. Cell UINT32_MAX is none: all zeros.
#define SN_CORNER_PAIRS 36
typedef struct sn_block_cells {
  void (*matrices)(const void* ctx, const uint32_t cells[SN_BLOCK_LANES],
                   const uint8_t flips[SN_BLOCK_LANES],
                   float K[SN_CORNER_PAIRS][9][SN_BLOCK_LANES]);
  const void* ctx;
} sn_block_cells;

// What is to be factored.
typedef struct sn_block_input {
  const uint32_t (
      *cells)[2][SN_BLOCK_LANES];  // cell numbers at (4 cc + cb) 4 + ca, [sz][lane] (64)
  const sn_block_vector* keep;     // 1: solved for; 0: not
  const sn_block_vector* add;      // to the diagonal; 1 where not solved for
} sn_block_input;

// The lists of operations, the same for all blocks.
typedef struct sn_block_plan sn_block_plan;
// Room to factor a block; one a thread.
typedef struct sn_block_room sn_block_room;

sn_status sn_block_plan_create(sn_arena* arena, const sn_block_plan** plan, sn_error* err);
size_t sn_block_room_bytes(void);

// Where node and cell number i of the arrays above are in the box: nodes in the order of a vector's
// arrays without the axes, 1..15, 1..7, 1..7; cells in that of sn_block_input, 0..15, 0..7, 0..7.
void sn_block_node_place(const sn_block_plan* plan, int i, int place[3]);
void sn_block_cell_place(int i, int place[3]);
// Node i's first number in a vector, and how far it is to the other two.
int sn_block_node_offset(int i, int* stride);

typedef struct sn_block_kernels {
  const char* name;
  bool (*is_supported)(void);
  void (*factor)(const sn_block_plan* plan, const sn_block_cells* cells,
                 const sn_block_input* input, sn_block_room* room, sn_block_factor* factor);
  // x <- K^-1 x; `x` must be 0 where nodes are not solved for.
  void (*solve)(const sn_block_plan* plan, const sn_block_factor* factor, sn_block_vector* x);
} sn_block_kernels;

// All that were compiled, best first, ended by NULL; and the first that this processor supports.
const sn_block_kernels* const* sn_block_kernels_list(void);
const sn_block_kernels* sn_block_kernels_best(void);

#endif
