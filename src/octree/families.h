// Families: the cells that have the same parent, at most eight. A family lives on the 27 lattice
// points of its parent's corners, edge middles, face middles and centre, and whether such a point
// hangs is the same for all its cells. So it is the unit of the fast kernels:
//
//     packet   eight families side by side, one a lane of a vector register
//     row      one child of a packet's families; there is none for a child that all of them lack
//     chunk    up to SN_CHUNK_PACKETS packets: the unit of parallel work, with a private copy of every
//              node that it touches
//
// Where cells of two sizes meet, families lack the children that are smaller cells. So that these take next
// to no memory and no time, the families of a chunk are sorted by the children that they have.
//
// Every node is owned by the first chunk that touches it. A chunk adds its own nodes' sums straight to
// the result and writes those of other chunks' nodes (its halo) into *slots*; then each shared node
// adds up its slots in the order of the chunks. The order of additions depends on the tree alone, so
// sums have the same bits for any number of threads.
#ifndef SN_OCTREE_FAMILIES_H
#define SN_OCTREE_FAMILIES_H

#include "base/parallel.h"
#include "octree/octree.h"

#define SN_FAMILY_LANES 8
#define SN_FAMILY_POINTS 27
#define SN_CHUNK_PACKETS 32
// Nodes of a chunk at most, and one for the lattice points that no cell needs.
#define SN_CHUNK_MAX_NODES (SN_CHUNK_PACKETS * SN_FAMILY_LANES * SN_FAMILY_POINTS + 1)

typedef struct sn_families {
  uint32_t packet_count, chunk_count;
  uint32_t* places;   // of each cell: row * lanes + lane (cell_count)
  uint32_t* rows;     // first row of each packet (packet_count + 1)
  uint32_t* packets;  // of each row
  uint8_t* lanes;     // of each row: the families that have this child, a bit each
  uint8_t* children;  // of each packet: those that some of its families have, a bit and a row each
  uint32_t* points;   // bit p: some of its families have a node at lattice point p ([packet])
  uint16_t* local;    // node of each lattice point in its chunk ([packet][point][lane])
  uint32_t* hanging;  // bit p: lattice point p hangs ([packet][lane])
  double* edges;      // of a cell of the family, m ([packet][lane])

  uint32_t* node_starts;  // nodes of each chunk in chunk_nodes (chunk_count + 1)
  uint32_t* own_counts;   // how many of them it owns; they come first (chunk_count)
  uint32_t*
      inner_counts;  // how many of these no other chunk touches; they come first of all (chunk_count)
  uint32_t* chunk_nodes;
  uint32_t* slot_starts;  // of each chunk's halo (chunk_count + 1)

  uint32_t* shared_nodes;  // nodes with slots, ascending (shared_count)
  uint32_t shared_count;
  uint32_t* shared_starts;  // into shared_slots (shared_count + 1)
  uint32_t* shared_slots;   // ascending for each node
} sn_families;

static inline uint32_t sn_families_slot_count(const sn_families* families) {
  return families->slot_starts[families->chunk_count];
}
static inline size_t sn_families_place_count(const sn_families* families) {
  return (size_t)families->rows[families->packet_count] * SN_FAMILY_LANES;
}

// A row of a packet, from the first on, as long as its child is below 8.
typedef struct sn_family_row {
  uint32_t at;
  int child;
  uint32_t left;  // bits of children from this one on, and bit 8
} sn_family_row;

static inline sn_family_row sn_family_first(const sn_families* families, uint32_t packet) {
  uint32_t left = families->children[packet] | 256u;
  return (sn_family_row){families->rows[packet], __builtin_ctz(left), left};
}
static inline sn_family_row sn_family_next(sn_family_row row) {
  uint32_t left = row.left & (row.left - 1);
  return (sn_family_row){row.at + 1, __builtin_ctz(left), left};
}

// Lattice point at place (x, y, z), each 0..2, of the parent.
static inline int sn_family_point(int x, int y, int z) { return x + 3 * y + 9 * z; }
// Lattice point at corner c of child k.
static inline int sn_family_corner(int k, int c) {
  return sn_family_point((k & 1) + (c & 1), (k >> 1 & 1) + (c >> 1 & 1), (k >> 2) + (c >> 2));
}
// Those at the corners of child k, a bit each: of child 0 points 0, 1, 3, 4 and, above these, 9, 10, 12, 13.
static inline uint32_t sn_family_corners(int k) {
  return 0x361bu << sn_family_point(k & 1, k >> 1 & 1, k >> 2);
}

// From now on the families know the nodes of the tree's cells, and the memory of `conforming` may go.
static inline void sn_octree_use_families(sn_octree* tree, const sn_families* families) {
  tree->families = families;
  tree->conforming = NULL;
}

// The node that stands at or for corner c of a cell: where it hangs, that of the parent's corner of the same
// number.
static inline uint32_t sn_octree_corner(const sn_octree* tree, uint32_t cell, int c) {
  if (tree->conforming) return tree->conforming[8 * (size_t)cell + (size_t)c];
  const sn_families* f = tree->families;
  uint32_t place = f->places[cell], packet = f->packets[place / SN_FAMILY_LANES];
  bool hangs = tree->hanging[cell] >> c & 1;
  int point = sn_family_corner(hangs ? c : sn_octant_child_number(tree->cells[cell]), c);
  size_t at = ((size_t)packet * SN_FAMILY_POINTS + (size_t)point) * SN_FAMILY_LANES;
  return f->chunk_nodes[f->node_starts[packet / SN_CHUNK_PACKETS] +
                        f->local[at + place % SN_FAMILY_LANES]];
}

// Those of all its corners.
typedef struct sn_corners {
  uint32_t nodes[8];
} sn_corners;

static inline sn_corners sn_octree_corners(const sn_octree* tree, uint32_t cell) {
  sn_corners corners;
  if (tree->conforming) {
    for (int c = 0; c < 8; ++c) corners.nodes[c] = tree->conforming[8 * (size_t)cell + (size_t)c];
    return corners;
  }
  for (int c = 0; c < 8; ++c) corners.nodes[c] = sn_octree_corner(tree, cell, c);
  return corners;
}

sn_status sn_families_build(const sn_octree* tree, sn_pool* pool, sn_arena* arena,
                            sn_arena* scratch, sn_families* families, sn_error* err);

// y += what the slots hold, three values a node. @param slots (3 x slot count) @param y (3 x nodes)
void sn_families_collect_d(const sn_families* families, sn_pool* pool, const double* slots,
                           double* y);
void sn_families_collect_f(const sn_families* families, sn_pool* pool, const float* slots,
                           float* y);

#endif
