// Triangles of a surface, split by the planes of an octree's grid into pieces of one finest place each.
// What integrates over the part of a surface in a cell starts here.
#ifndef SN_OCTREE_OCTREE_PIECES_H
#define SN_OCTREE_OCTREE_PIECES_H

#include "base/parallel.h"
#include "octree/octree.h"

struct sn_surface;

// Between two planes of each axis a triangle has at most two more corners an axis. This holds in
// floating point too: corners made by splitting stay within their edge on every axis, so that along
// each axis a polygon goes up once and down once.
#define SN_POLYGON_CORNERS 9

typedef struct sn_polygon {
  int count;
  double at[SN_POLYGON_CORNERS][3];  // in finest cells
} sn_polygon;

// A piece and the place of the grid that it is in. x and y are in the root; z from -1 to its size,
// which stand for all that is below and above. A piece within a plane z = const is in the place below.
typedef struct sn_piece {
  size_t index;  // in the order of the triangles
  uint32_t triangle;
  int x, y, z;
  const sn_polygon* part;
} sn_piece;

// How the triangles' pieces are numbered.
typedef struct sn_pieces {
  const sn_octree* tree;
  const struct sn_surface* surface;
  size_t count;
  size_t block_size;             // of triangles
  size_t offset[SN_MAX_BLOCKS];  // first piece of each block
} sn_pieces;

typedef void (*sn_piece_fn)(void* ctx, const sn_piece* piece);

// Count the pieces. Those in columns along z that the root does not have are left out.
void sn_pieces_count(const sn_octree* tree, const struct sn_surface* surface, sn_pool* pool,
                     sn_pieces* pieces);
// A whole triangle, in finest cells.
sn_polygon sn_pieces_triangle(const sn_pieces* pieces, uint32_t triangle);
// Call `visit` for every piece, from several threads.
void sn_pieces_visit(const sn_pieces* pieces, sn_pool* pool, sn_piece_fn visit, void* ctx);

#endif
