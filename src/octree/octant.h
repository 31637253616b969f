// An octant: a cube of the background grid, 8 bytes. Anchor = lowest corner, in finest cells.
//
// Children are numbered like corners, bit 0 = x, bit 1 = y, bit 2 = z, and octants are sorted along
// the Z-shaped curve of their anchors' Morton codes (z y x bits interleaved, z first).
#ifndef SN_OCTREE_OCTANT_H
#define SN_OCTREE_OCTANT_H

#include <stdbool.h>
#include <stdint.h>

#define SN_MAX_HEIGHT 16
// Cells along an axis: far corners must be 16-bit coordinates, also those of the larger cells that
// coarsening makes. They end at 32,768 at most.
#define SN_MAX_AXIS_CELLS 32767

typedef struct sn_octant {
  uint16_t x, y, z;
  uint8_t height;  // edge = 2^height finest cells
  uint8_t flags;
} sn_octant;

_Static_assert(sizeof(sn_octant) == 8, "an octant is 8 bytes");

// The surface passes through the octant's inside, not only along its faces.
#define SN_OCTANT_CUT 1
// The surface meets the octant, if only along a face. Set with CUT too.
#define SN_OCTANT_TOUCHED 2
// A leaf that belongs to the body.
#define SN_OCTANT_INSIDE 4

static inline uint32_t sn_octant_size(sn_octant o) { return 1u << o.height; }

// Is the highest set bit of a below that of b? (Chan 2002)
static inline bool sn_top_bit_less(uint32_t a, uint32_t b) { return a < b && a < (a ^ b); }

// Morton order of two anchors without interleaving: the axis with the highest differing bit
// decides.
static inline int sn_octant_compare(sn_octant a, sn_octant b) {
  uint32_t dx = (uint32_t)(a.x ^ b.x), dy = (uint32_t)(a.y ^ b.y), dz = (uint32_t)(a.z ^ b.z);
  uint32_t highest = dz;
  int left = a.z, right = b.z;
  if (sn_top_bit_less(highest, dy)) highest = dy, left = a.y, right = b.y;
  if (sn_top_bit_less(highest, dx)) left = a.x, right = b.x;
  return (left > right) - (left < right);
}

// Of each number below 256 the bits, two zeros after each.
extern const uint32_t sn_spread_bits[256];

// The Morton code of a place, 48 bits: its coordinates' bits interleaved, z above y above x.
static inline uint64_t sn_morton_spread(uint32_t coordinate) {
  return sn_spread_bits[coordinate & 255] | (uint64_t)sn_spread_bits[coordinate >> 8 & 255] << 24;
}
static inline uint64_t sn_morton(uint32_t x, uint32_t y, uint32_t z) {
  return sn_morton_spread(x) | sn_morton_spread(y) << 1 | sn_morton_spread(z) << 2;
}

// Every third bit of a Morton code, from the lowest on: x; of code >> 1 and >> 2, y and z.
static inline uint16_t sn_morton_gather(uint64_t code) {
  uint64_t v = code & 0x9249249249249249;
  v = (v | v >> 2) & 0x30c30c30c30c30c3;
  v = (v | v >> 4) & 0xf00f00f00f00f00f;
  v = (v | v >> 8) & 0x00ff0000ff0000ff;
  v = (v | v >> 16) & 0xffff00000000ffff;
  return (uint16_t)(v | v >> 32);
}
static inline sn_octant sn_octant_at(uint64_t code) {
  return (sn_octant){sn_morton_gather(code), sn_morton_gather(code >> 1),
                     sn_morton_gather(code >> 2), 0, 0};
}

static inline uint32_t sn_bit_count(uint64_t v) {
  v -= v >> 1 & 0x5555555555555555;
  v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
  v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return (uint32_t)(v * 0x0101010101010101 >> 56);
}

static inline sn_octant sn_octant_parent(sn_octant o) {
  uint32_t mask = ~((2u << o.height) - 1u);
  return (sn_octant){(uint16_t)(o.x & mask), (uint16_t)(o.y & mask), (uint16_t)(o.z & mask),
                     (uint8_t)(o.height + 1), 0};
}

// Which child of its parent it is.
static inline int sn_octant_child_number(sn_octant o) {
  return (o.x >> o.height & 1) | (o.y >> o.height & 1) << 1 | (o.z >> o.height & 1) << 2;
}

// Do they have the same parent?
static inline bool sn_octant_are_siblings(sn_octant a, sn_octant b) {
  return a.height == b.height && ((a.x ^ b.x) | (a.y ^ b.y) | (a.z ^ b.z)) >> (a.height + 1) == 0;
}

static inline sn_octant sn_octant_child(sn_octant o, int number) {
  int half = 1 << (o.height - 1);
  return (sn_octant){(uint16_t)(o.x + (number & 1) * half),
                     (uint16_t)(o.y + (number >> 1 & 1) * half),
                     (uint16_t)(o.z + (number >> 2 & 1) * half), (uint8_t)(o.height - 1), 0};
}

// Does the octant hold the finest cell (x, y, z)?
static inline bool sn_octant_holds(sn_octant o, int x, int y, int z) {
  return x >> o.height == o.x >> o.height && y >> o.height == o.y >> o.height &&
         z >> o.height == o.z >> o.height;
}

#endif
