#include "solve/macroblock.h"

#include <stdlib.h>
#include <string.h>

#include "solve/macroblock_plan.h"

extern const sn_block_kernels sn_block_kernels_base;
#ifdef SN_X86_KERNELS
extern const sn_block_kernels sn_block_kernels_avx2;
#endif

static const sn_block_kernels* const LIST[] = {
#ifdef SN_X86_KERNELS
    &sn_block_kernels_avx2,
#endif
    &sn_block_kernels_base, NULL};

const sn_block_kernels* const* sn_block_kernels_list(void) { return LIST; }

const sn_block_kernels* sn_block_kernels_best(void) {
  const sn_block_kernels* const* k = LIST;
  while (!(*k)->is_supported()) ++k;
  return *k;
}

size_t sn_block_room_bytes(void) { return sizeof(sn_block_room); }

// Places along an axis: local ones of a subdomain to those in the box.
static int x_of(int sx, int a) {
  static const int FIRST[4] = {1, 7, 15, 9}, STEP[4] = {1, -1, -1, 1};
  return FIRST[sx] + STEP[sx] * a;
}
static int y_of(int s, int b) { return s ? 7 - b : 1 + b; }

static void place_of(int position, int p[3]) {
  p[0] = position % 5 - 1;
  p[1] = position / 5 % 4;
  p[2] = position / 20;
}

// The level of the layer that a position of a subdomain's surroundings belongs to; 0: its own.
static int level_of(const int p[3]) {
  if (p[0] < 0) return 4;
  return p[0] == 3 ? 3 : p[1] == 3 ? 2 : p[2] == 3;
}

static bool are_near(const int p[3], const int q[3]) {
  for (int i = 0; i < 3; ++i) {
    if (abs(p[i] - q[i]) > 1) return false;
  }
  return true;
}

// The lowest level whose layer is beside a subdomain's node, other than that at a = -1.
static int nearest_level(int n) { return n / 9 == 2 ? 1 : n / 3 % 3 == 2 ? 2 : n % 3 == 2 ? 3 : 4; }

// Subdomain order: of the nodes beside the highest level always the one with the fewest neighbours left, the first
// of these.
static void order_own(sn_block_plan* plan) {
  uint32_t near[SN_BLOCK_OWN], done = 0;
  for (int n = 0; n < SN_BLOCK_OWN; ++n) {
    int p[3] = {n % 3, n / 3 % 3, n / 9};
    near[n] = 0;
    for (int m = 0; m < SN_BLOCK_OWN; ++m) {
      int q[3] = {m % 3, m / 3 % 3, m / 9};
      if (m != n && are_near(p, q)) near[n] |= 1u << m;
    }
  }
  for (int k = 0; k < SN_BLOCK_OWN; ++k) {
    int best = -1;
    for (int n = 0; n < SN_BLOCK_OWN; ++n) {
      if (done >> n & 1 || k < NEAR_LEVEL[nearest_level(n)]) continue;
      if (best < 0 || __builtin_popcount(near[n]) < __builtin_popcount(near[best])) best = n;
    }
    done |= 1u << best;
    for (int n = 0; n < SN_BLOCK_OWN; ++n) {
      if (near[best] >> n & 1) near[n] |= near[best];
      near[n] &= ~(1u << n | done);
    }
    plan->place[k][0] = (uint8_t)(best % 3);
    plan->place[k][1] = (uint8_t)(best / 3 % 3);
    plan->place[k][2] = (uint8_t)(best / 9);
  }
}

// What is only needed while the plan is made: positions by row of the front, and blocks by row and column.
typedef struct front {
  int at[SN_BLOCK_POSITIONS][3];
  uint16_t block[SN_BLOCK_POSITIONS][SN_BLOCK_OWN];  // in `lower`; NONE: zero
} front;

static void number_rows(sn_block_plan* plan, front* f) {
  int row = SN_BLOCK_OWN;
  for (int k = 0; k < SN_BLOCK_OWN; ++k) {
    const uint8_t* p = plan->place[k];
    plan->row_of[position_of(p[0], p[1], p[2])] = (uint8_t)k;
  }
  for (int i = 0; i < SN_BLOCK_POSITIONS; ++i) {
    int p[3];
    place_of(i, p);
    if (level_of(p) > 0) plan->row_of[i] = (uint8_t)row++;
    memcpy(f->at[plan->row_of[i]], p, sizeof p);
  }
}

// Which blocks of the first columns are not zero after elimination. Those below the subdomain's own
// diagonal get the first numbers, row by row.
static void find_pattern(sn_block_plan* plan, front* f) {
  bool filled[SN_BLOCK_POSITIONS][SN_BLOCK_POSITIONS] = {{false}};
  for (int r = 0; r < SN_BLOCK_POSITIONS; ++r) {
    for (int s = 0; s < SN_BLOCK_POSITIONS; ++s) filled[r][s] = are_near(f->at[r], f->at[s]);
  }
  for (int j = 0; j < SN_BLOCK_OWN; ++j) {
    for (int r = j + 1; r < SN_BLOCK_POSITIONS; ++r) {
      for (int s = j + 1; s < SN_BLOCK_POSITIONS; ++s) filled[r][s] |= filled[r][j] && filled[j][s];
    }
  }
  memset(f->block, 0xff, sizeof f->block);
  for (int r = 0; r < SN_BLOCK_OWN; ++r) {
    for (int s = 0; s < r; ++s) {
      if (filled[r][s]) f->block[r][s] = plan->lower_count++;
    }
  }
  SN_ASSERT(plan->lower_count == SN_BLOCK_BELOW);
  for (int r = 0; r < SN_BLOCK_POSITIONS; ++r) {
    for (int s = 0; s <= r && s < SN_BLOCK_OWN; ++s) {
      if (filled[r][s] && f->block[r][s] == NONE) f->block[r][s] = plan->lower_count++;
    }
    if (r < SN_BLOCK_OWN) plan->diagonal_blocks[r] = f->block[r][r];
  }
  SN_ASSERT(plan->lower_count <= MOST_LOWER);
}

static void list_factor(sn_block_plan* plan, const front* f) {
  int row = 0, column = 0;
  for (int r = 0; r < SN_BLOCK_OWN; ++r) {
    plan->row_starts[r] = (uint16_t)row;
    plan->column_starts[r] = (uint16_t)column;
    for (int s = 0; s < r; ++s) {
      if (f->block[r][s] != NONE) plan->rows[row++] = (block_link){f->block[r][s], (uint8_t)s};
      SN_ASSERT(s < NEAR_LEVEL[3] || f->block[r][s] != NONE);  // which sweep_forward relies on
    }
    for (int i = r + 1; i < SN_BLOCK_OWN; ++i) {
      if (f->block[i][r] != NONE)
        plan->columns[column++] = (block_link){f->block[i][r], (uint8_t)i};
    }
  }
  plan->row_starts[SN_BLOCK_OWN] = (uint16_t)row;
  plan->column_starts[SN_BLOCK_OWN] = (uint16_t)column;
}

static uint16_t pair_of(int r, int s) {
  int high = (r > s ? r : s) - SN_BLOCK_OWN, low = (r > s ? s : r) - SN_BLOCK_OWN;
  return (uint16_t)(high * (high + 1) / 2 + low);
}

static void add_target(sn_block_plan* plan, const front* f, int r, int s, uint16_t block) {
  target* t = &plan->targets[plan->target_count++];
  uint32_t last = t > plan->targets ? t[-1].end : 0;
  *t = (target){block, (uint16_t)r, (uint16_t)s, last, last};
  for (int j = 0; j < SN_BLOCK_OWN && j < s; ++j) {
    if (f->block[r][j] == NONE || f->block[s][j] == NONE) continue;
    SN_ASSERT(t->end < MOST_TERMS);
    plan->terms[t->end++] = (term){f->block[r][j], f->block[s][j]};
  }
}

static void list_targets(sn_block_plan* plan, const front* f) {
  for (int r = 0; r < SN_BLOCK_POSITIONS; ++r) {
    for (int s = 0; s <= r && s < SN_BLOCK_OWN; ++s) {
      if (f->block[r][s] != NONE) add_target(plan, f, r, s, f->block[r][s]);
    }
  }
  plan->lower_targets = plan->target_count;
  for (int r = SN_BLOCK_OWN; r < SN_BLOCK_POSITIONS; ++r) {
    for (int s = SN_BLOCK_OWN; s <= r; ++s) add_target(plan, f, r, s, pair_of(r, s));
  }
}

// Corners of the cell at (ca, cb, cc) are at places one lower and there.
static void list_placings(sn_block_plan* plan, const front* f) {
  int count = 0;
  for (int cell = 0; cell < 64; ++cell) {
    int c[3] = {cell % 4, cell / 4 % 4, cell / 16}, pair = 0;
    plan->placing_starts[cell] = (uint16_t)count;
    for (int p = 0; p < 8; ++p) {
      for (int q = p; q < 8; ++q, ++pair) {
        int b[2] = {c[1] - !(p >> 1 & 1), c[1] - !(q >> 1 & 1)};
        int d[2] = {c[2] - !(p >> 2), c[2] - !(q >> 2)};
        if (b[0] < 0 || b[1] < 0 || d[0] < 0 || d[1] < 0) continue;  // on the boundary of the box
        int P = position_of(c[0] - !(p & 1), b[0], d[0]),
            Q = position_of(c[0] - !(q & 1), b[1], d[1]);
        int r = plan->row_of[P], s = plan->row_of[Q];
        bool swapped = r < s, boundary = r >= SN_BLOCK_OWN && s >= SN_BLOCK_OWN;
        uint16_t block = boundary ? pair_of(r, s) : swapped ? f->block[s][r] : f->block[r][s];
        plan->placings[count++] = (placing){block,
                                            (uint8_t)pair,
                                            swapped,
                                            boundary,
                                            (uint8_t)(swapped ? Q : P),
                                            (uint8_t)(swapped ? P : Q)};
      }
    }
  }
  plan->placing_starts[64] = (uint16_t)count;
}

static void list_out(sn_block_plan* plan, const front* f) {
  int count = 0;
  for (int level = 1; level <= 4; ++level) {
    plan->out_starts[level] = (uint16_t)count;
    for (int i = 0; i < SN_BLOCK_POSITIONS; ++i) {
      int q[3];
      place_of(i, q);
      for (int k = 0; k < SN_BLOCK_OWN && level_of(q) == level; ++k) {
        bool filled = f->block[plan->row_of[i]][k] != NONE;
        if (level == 1 ? !filled : !are_near(f->at[k], q)) continue;
        plan->out_blocks[count] = f->block[plan->row_of[i]][k];
        plan->out[count++] = (coupling){(uint8_t)k, (uint8_t)i, 0, 0};
      }
    }
  }
  plan->out_starts[5] = (uint16_t)count;
  SN_ASSERT(count == SN_BLOCK_OUT);
}

// The boundary's pair of two places becomes part of a layer's coupling.
static source make_source(const sn_block_plan* plan, int to, int node, int other, int sz, int sy) {
  int r = plan->row_of[node], s = plan->row_of[other];
  return (source){(uint16_t)to, pair_of(r, s), r < s, (uint8_t)sz, (uint8_t)sy};
}

// Nodes (a, b) of a layer z = 4 with places of higher layers at z = 3, 4 and 5.
static void list_one_out(sn_block_plan* plan) {
  int count = 0;
  for (int level = 2; level <= 4; ++level) {
    plan->one_starts[level] = (uint16_t)count;
    for (int i = 0; i < SN_BLOCK_POSITIONS; ++i) {
      int q[3];
      place_of(i, q);
      if (level_of(q) != level || q[2] < 2) continue;
      for (int sz = 0; sz < (q[2] == 2 ? 2 : 1); ++sz) {
        for (int n = 0; n < 9; ++n) {
          int p[3] = {n % 3, n / 3, 3};
          if (!are_near(p, q)) continue;
          int node = position_of(p[0], p[1], 3);
          for (int s = sz; s < (q[2] == 2 ? sz + 1 : 2); ++s) {
            plan->one_sources[plan->one_source_count++] = make_source(plan, count, node, i, s, 2);
          }
          plan->one_out[count++] = (coupling){(uint8_t)n, (uint8_t)i, (uint8_t)sz, 0};
        }
      }
    }
  }
  plan->one_starts[5] = (uint16_t)count;
  SN_ASSERT(count == SN_BLOCK_ONE_OUT);
}

// Nodes (a, z) of a layer y = 4 with place (c' of sz, b' of sy) of levels 3 and 4.
static void add_two_out(sn_block_plan* plan, int i, int sz, int sy, int* count) {
  int q[3];
  place_of(i, q);
  int z = y_of(sz, q[2]);
  for (int n = 0; n < 21; ++n) {
    int a = n % 3, own_z = 1 + n / 3;
    if (abs(a - q[0]) > 1 || abs(own_z - z) > 1) continue;
    for (int s = 0; s < 2; ++s) {
      int own_c = s ? 7 - own_z : own_z - 1, c = s ? 7 - z : z - 1;
      if (own_c < 0 || own_c > 3 || c < 0 || c > 3) continue;
      plan->two_sources[plan->two_source_count++] =
          make_source(plan, *count, position_of(a, 3, own_c), position_of(q[0], q[1], c), s,
                      q[1] == 3 ? 2 : sy);
    }
    plan->two_out[(*count)++] = (coupling){(uint8_t)n, (uint8_t)i, (uint8_t)sz, (uint8_t)sy};
  }
}

static void list_two_out(sn_block_plan* plan) {
  int count = 0;
  for (int level = 3; level <= 4; ++level) {
    plan->two_starts[level] = (uint16_t)count;
    for (int i = 0; i < SN_BLOCK_POSITIONS; ++i) {
      int q[3];
      place_of(i, q);
      if (level_of(q) != level || q[1] < 2) continue;
      for (int sz = 0; sz < (q[2] == 3 ? 1 : 2); ++sz) {
        for (int sy = 0; sy < (q[1] == 3 ? 1 : 2); ++sy) add_two_out(plan, i, sz, sy, &count);
      }
    }
  }
  plan->two_starts[5] = (uint16_t)count;
  SN_ASSERT(count == SN_BLOCK_TWO_OUT);
}

// Nodes of a level-1 front: (a, b, z), the layer's own first.
static void list_one_front(sn_block_plan* plan) {
  int at[ONE_FRONT][3], count = 0;
  for (int b = 0; b < 3; ++b) {
    for (int a = 0; a < 3; ++a) memcpy(at[count++], (int[3]){a, b, 4}, sizeof at[0]);
  }
  for (int z = 1; z <= 7; ++z) {
    for (int b = 0; b <= 3; ++b) {
      for (int a = -1; a <= 3; ++a) {
        if (b < 3 && a >= 0 && a < 3) continue;
        memcpy(at[count++], (int[3]){a, b, z}, sizeof at[0]);
      }
    }
  }
  SN_ASSERT(count == ONE_FRONT);
  for (int r = 0, pair = 0; r < ONE_FRONT; ++r) {
    for (int s = 0; s <= r; ++s, ++pair) {
      for (int sz = 0; sz < 2; ++sz) {
        int c = sz ? 7 - at[r][2] : at[r][2] - 1, d = sz ? 7 - at[s][2] : at[s][2] - 1;
        plan->one_from[pair][sz] = NONE;
        if (c < 0 || c > 3 || d < 0 || d > 3) continue;
        int i = plan->row_of[position_of(at[r][0], at[r][1], c)];
        int j = plan->row_of[position_of(at[s][0], at[s][1], d)];
        plan->one_from[pair][sz] = (uint16_t)(pair_of(i, j) | (i < j ? 0x8000 : 0));
      }
    }
  }
  for (int n = 0; n < ONE_BOUNDARY; ++n) {
    const int* p = at[9 + n];
    for (int sy = 0; sy < 2; ++sy) {
      int face = 3 * (y_of(sy, p[1]) - 1 + 7 * (p[2] - 1));
      int dense = p[0] == 3  ? DENSE_OWN + face
                  : p[0] < 0 ? DENSE_OWN + SN_BLOCK_FACE_ROOM + face
                             : 3 * (p[0] + 3 * (p[2] - 1));
      plan->dense_of[n][sy] = (int16_t)dense;
    }
  }
}

static void list_faces(sn_block_plan* plan) {
  for (int i = 0; i < 64; ++i) {
    int b = i % 4, c = i / 4 % 4, sz = i / 16 % 2, sy = i / 32;
    plan->face_of[b + 4 * c][sz][sy] = (uint16_t)(3 * (y_of(sy, b) - 1 + 7 * (y_of(sz, c) - 1)));
  }
}

sn_status sn_block_plan_create(sn_arena* arena, const sn_block_plan** plan, sn_error* err) {
  sn_block_plan* made = NULL;
  front* f = NULL;
  SN_TRY(SN_ARENA_NEW(arena, 1, &made, err));
  SN_TRY(SN_ARENA_NEW(arena, 1, &f, err));
  order_own(made);
  number_rows(made, f);
  find_pattern(made, f);
  list_factor(made, f);
  list_targets(made, f);
  list_placings(made, f);
  list_out(made, f);
  list_one_out(made);
  list_two_out(made);
  list_one_front(made);
  list_faces(made);
  *plan = made;
  return SN_OK;
}

// First node of each array of a vector.
enum { FIRST_ONE = 432, FIRST_TWO = 504, FIRST_THREE = 588, FIRST_FOUR = 686 };

void sn_block_node_place(const sn_block_plan* plan, int i, int place[3]) {
  if (i < FIRST_ONE) {
    int lane = i % 8, sz = i / 8 % 2;
    const uint8_t* p = plan->place[i / 16];
    memcpy(place, (int[3]){x_of(lane % 4, p[0]), y_of(lane / 4, p[1]), y_of(sz, p[2])}, 12);
  } else if (i < FIRST_TWO) {
    int lane = (i - FIRST_ONE) % 8, n = (i - FIRST_ONE) / 8;
    memcpy(place, (int[3]){x_of(lane % 4, n % 3), y_of(lane / 4, n / 3), 4}, 12);
  } else if (i < FIRST_THREE) {
    int n = (i - FIRST_TWO) / 4;
    memcpy(place, (int[3]){x_of((i - FIRST_TWO) % 4, n % 3), 4, 1 + n / 3}, 12);
  } else {
    int n = (i - FIRST_THREE) % 49, layer = (i - FIRST_THREE) / 49;
    memcpy(place, (int[3]){layer == 2 ? 8 : 4 + 8 * layer, 1 + n % 7, 1 + n / 7}, 12);
  }
}

void sn_block_cell_place(int i, int place[3]) {
  int lane = i % 8, sz = i / 8 % 2, cell = i / 16, sx = lane % 4;
  int ca = cell % 4, cb = cell / 4 % 4, cc = cell / 16;
  static const int FIRST[4] = {0, 7, 15, 8}, STEP[4] = {1, -1, -1, 1};
  place[0] = FIRST[sx] + STEP[sx] * ca;
  place[1] = lane / 4 ? 7 - cb : cb;
  place[2] = sz ? 7 - cc : cc;
}

int sn_block_node_offset(int i, int* stride) {
  typedef sn_block_vector v;
  int n;
  if (i < FIRST_ONE) {
    *stride = 16;
    return i / 16 * 48 + i % 16;
  }
  if (i < FIRST_TWO) {
    n = i - FIRST_ONE;
    *stride = 8;
    return (int)(offsetof(v, one) / 4) + n / 8 * 24 + n % 8;
  }
  if (i < FIRST_THREE) {
    n = i - FIRST_TWO;
    *stride = 4;
    return (int)(offsetof(v, two) / 4) + n / 4 * 12 + n % 4;
  }
  n = i - FIRST_THREE;
  *stride = 1;
  return (int)(offsetof(v, three) / 4) + n / 49 * SN_BLOCK_FACE_ROOM + n % 49 * 3;
}
