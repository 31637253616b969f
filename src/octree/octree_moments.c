// Moments by the divergence theorem, column by column (docs/theory/quadrature.md, section 1). A *cube* is
// one of the grid, as large as a finest cell, that the surface passes through, whether or not the tree has
// a cell there. With u, v from its middle, w from its bottom, in finest cells, and sums over the pieces of
// the surface in it, the part Q inside has
//
//   integral over Q of u^p v^q w^r    = (T_pq + sum of integral u^p v^q w^(r+1) n_z dA) / (r + 1)
//   integral over bottom of u^p v^q   = T_pq + sum of integral u^p v^q n_z dA
//
// where T_pq is the same integral over the part of the top that is inside: what comes from above.
//
//   1. Split triangles into pieces, and sort these by column, from the top down.
//   2. Go down each column from outside all. A gap between cubes is all inside or all outside, so that
//      rounding is forgotten there. Where the surface overlaps itself, what comes down is how
//      often it winds around. If that is no integer the surface is open: then the winding number says what
//      gaps are, and cubes are sound if what comes down agrees with it.
//   3. A cell is made of the cubes in it and of the gaps between them. Its columns follow one another,
//      as columns are in Morton order.
#include "octree/octree_moments.h"

#include "base/sort.h"
#include "geometry/bvh.h"
#include "geometry/surface.h"
#include "math/vec.h"
#include "octree/octree_pieces.h"

#define MIN_PIECES 1024
#define MIN_COLUMNS 64
#define MIN_CELLS 512

// Keys to sort: what to sort by above a number of 32 bits.
#define LOW_BITS 32
#define LOW_MASK 0xffffffffu

// A face is full or empty if it is so to this share: what rounding and seams that were not quite closed
// leave.
#define FACE_TOLERANCE 1e-6
// Moments of a cube may be this far from those of any part of it, by rounding on the largest grids.
#define PART_TOLERANCE 1e-9
// Moments closer than this to those of nothing or of all are taken for them.
#define SNAP_TOLERANCE 1e-13

#define FACE_COUNT 6
#define SUM_COUNT 16

// Integrals with n_z dA over pieces.
typedef struct piece_sums {
  // of w^k times 1, u, v, uu, uv, vv for k = 0, and from 6 on for k = 1; from 12 on times 1, u, v for
  // k = 2; last, w^3
  double s[SUM_COUNT];
} piece_sums;

typedef struct cube {
  int z;
  uint32_t first;  // of its keys
  bool sound;      // what comes down through it agrees with what is below
  int above;       // winding of the gap right above, if there is one; above 0 = inside
  int below;
  double moments[SN_MOMENT_COUNT];  // of the part inside, about the middle, in finest cells
} cube;

typedef struct column {
  uint32_t code;
  uint32_t first;  // cube; they go down
  bool sound;      // cubes and gaps are what those of a closed surface are
} column;

typedef struct moments_job {
  const sn_octree* tree;
  sn_pieces pieces;
  piece_sums* sums;     // (pieces.count)
  uint64_t* by_z;       // depth and piece, sorted
  uint64_t* by_column;  // column and rank in by_z, sorted
  column* columns;      // (column_count + 1), the last one to end the one before
  cube* cubes;          // (cube_count + 1)
  size_t column_count, cube_count;
  sn_bvh bvh;  // made if a column is not sound
  double (*moments)[SN_MOMENT_COUNT];
} moments_job;

// ---- Pieces

// Columns in Morton order: those of a cell follow one another.
static uint32_t spread_bits(uint32_t v) {
  v = (v | v << 8) & 0x00ff00ff;
  v = (v | v << 4) & 0x0f0f0f0f;
  v = (v | v << 2) & 0x33333333;
  return (v | v << 1) & 0x55555555;
}

static uint32_t gather_bits(uint32_t v) {
  v &= 0x55555555;
  v = (v | v >> 1) & 0x33333333;
  v = (v | v >> 2) & 0x0f0f0f0f;
  v = (v | v >> 4) & 0x00ff00ff;
  return (v | v >> 8) & 0x0000ffff;
}

static uint32_t column_code(uint32_t x, uint32_t y) { return spread_bits(x) | spread_bits(y) << 1; }

static void add_point(piece_sums* sum, double weight, double u, double v, double w) {
  double wu = weight * u, wv = weight * v, wuu = wu * u, wuv = wu * v, wvv = wv * v, ww = w * w;
  const double face[FACE_COUNT] = {weight, wu, wv, wuu, wuv, wvv};
  for (int i = 0; i < FACE_COUNT; ++i) {
    sum->s[i] += face[i];
    sum->s[FACE_COUNT + i] += face[i] * w;
  }
  for (int i = 0; i < 3; ++i) sum->s[12 + i] += face[i] * ww;
  sum->s[15] += weight * ww * w;
}

// Over a triangle of the projected area `area`, by the rule that is exact for cubics: corners 1/20,
// middles of edges 2/15, centroid 9/20.
static void add_triangle(piece_sums* sum, double area, const double* a, const double* b,
                         const double* c) {
  const double* corner[3] = {a, b, c};
  double middle[3] = {0};
  for (int i = 0; i < 3; ++i) {
    const double *p = corner[i], *q = corner[(i + 1) % 3];
    add_point(sum, area / 20, p[0], p[1], p[2]);
    add_point(sum, area * 2 / 15, 0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0.5 * (p[2] + q[2]));
    for (int k = 0; k < 3; ++k) middle[k] += p[k] / 3;
  }
  add_point(sum, area * 9 / 20, middle[0], middle[1], middle[2]);
}

static void integrate_piece(void* ctx, const sn_piece* piece) {
  const moments_job* job = ctx;
  const sn_polygon* part = piece->part;
  double at[SN_POLYGON_CORNERS][3];
  for (int c = 0; c < part->count; ++c) {
    at[c][0] = part->at[c][0] - piece->x - 0.5;
    at[c][1] = part->at[c][1] - piece->y - 0.5;
    at[c][2] = part->at[c][2] - piece->z;
  }
  piece_sums sum = {{0}};
  for (int c = 2; c < part->count; ++c) {
    const double *p = at[0], *q = at[c - 1], *r = at[c];
    double area = 0.5 * ((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]));
    if (area != 0) add_triangle(&sum, area, p, q, r);
  }
  uint32_t depth = (uint32_t)((1 << job->tree->root_height) - piece->z);
  job->sums[piece->index] = sum;
  job->by_z[piece->index] = (uint64_t)depth << LOW_BITS | piece->index;
  // Found again by the number of the piece, when the order by depth is known.
  job->by_column[piece->index] = column_code((uint32_t)piece->x, (uint32_t)piece->y);
}

typedef struct rank_job {
  const uint64_t *by_z, *codes;
  uint64_t* keys;
} rank_job;

static void rank_pieces(void* ctx, size_t begin, size_t end) {
  const rank_job* job = ctx;
  for (size_t i = begin; i < end; ++i) {
    job->keys[i] = job->codes[job->by_z[i] & LOW_MASK] << LOW_BITS | i;
  }
}

// All pieces, sorted by column, from the top down, and then by triangle.
static sn_status list_pieces(moments_job* job, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  size_t count = job->pieces.count;
  uint64_t* other;
  SN_CHECK(count < LOW_MASK, err, SN_ERR_INPUT,
           "the surface has %zu pieces in cells; take a larger cell", count);
  SN_TRY(SN_ARENA_RAW(scratch, count, &job->sums, err));
  SN_TRY(SN_ARENA_RAW(scratch, count, &job->by_z, err));
  SN_TRY(SN_ARENA_RAW(scratch, count, &job->by_column, err));
  SN_TRY(SN_ARENA_RAW(scratch, count, &other, err));
  sn_pieces_visit(&job->pieces, pool, integrate_piece, job);
  SN_TRY(sn_sort_keys(pool, job->by_z, other, count, LOW_BITS, scratch, err));
  rank_job ranks = {job->by_z, job->by_column, other};
  sn_parallel_for(pool, count, MIN_PIECES, rank_pieces, &ranks);
  uint64_t* spare = job->by_column;
  job->by_column = other;
  return sn_sort_keys(pool, job->by_column, spare, count, LOW_BITS, scratch, err);
}

static uint32_t piece_column(const moments_job* job, size_t i) {
  return (uint32_t)(job->by_column[i] >> LOW_BITS);
}

static int piece_z(const moments_job* job, size_t i) {
  uint32_t depth = (uint32_t)(job->by_z[job->by_column[i] & LOW_MASK] >> LOW_BITS);
  return (1 << job->tree->root_height) - (int)depth;
}

// Where columns and cubes start among the sorted pieces. Called twice: without arrays it counts.
static void list_cubes(moments_job* job) {
  size_t columns = 0, cubes = 0;
  for (size_t i = 0; i < job->pieces.count; ++i) {
    bool new_column = i == 0 || piece_column(job, i) != piece_column(job, i - 1);
    if (!new_column && piece_z(job, i) == piece_z(job, i - 1)) continue;
    if (job->columns) {
      if (new_column) {
        job->columns[columns] = (column){piece_column(job, i), (uint32_t)cubes, true};
      }
      job->cubes[cubes] = (cube){.z = piece_z(job, i), .first = (uint32_t)i, .sound = true};
    }
    columns += new_column;
    ++cubes;
  }
  job->column_count = columns;
  job->cube_count = cubes;
}

static sn_status find_cubes(moments_job* job, sn_arena* scratch, sn_error* err) {
  list_cubes(job);
  SN_TRY(SN_ARENA_RAW(scratch, job->column_count + 1, &job->columns, err));
  SN_TRY(SN_ARENA_RAW(scratch, job->cube_count + 1, &job->cubes, err));
  list_cubes(job);
  job->columns[job->column_count] = (column){UINT32_MAX, (uint32_t)job->cube_count, true};
  job->cubes[job->cube_count] = (cube){.first = (uint32_t)job->pieces.count};
  return SN_OK;
}

// ---- Columns

static const double full_cube[SN_MOMENT_COUNT] = {1,        0,        0, 0, 1.0 / 12,
                                                  1.0 / 12, 1.0 / 12, 0, 0, 0};

static void set_face(double face[FACE_COUNT], int winding) {
  static const double full[FACE_COUNT] = {1, 0, 0, 1.0 / 12, 0, 1.0 / 12};
  for (int i = 0; i < FACE_COUNT; ++i) face[i] = winding * full[i];
}

// Could these be of a part of the cube, with this face below? Bounds of each, and a covariance that is not
// negative.
static bool are_possible(const double m[SN_MOMENT_COUNT], double face) {
  double most = m[0] + PART_TOLERANCE;
  bool fits = most > 0 && m[0] < 1 + PART_TOLERANCE;
  fits = fits && face > -FACE_TOLERANCE && face < 1 + FACE_TOLERANCE;
  for (int i = 0; i < 3; ++i) {
    fits = fits && fabs(m[1 + i]) < 0.5 * most;
    fits = fits && m[4 + i] > -PART_TOLERANCE && m[4 + i] < 0.25 * most;
    fits = fits && m[0] * m[4 + i] > m[1 + i] * m[1 + i] - PART_TOLERANCE;
  }
  return fits;
}

// A cube in which the surface winds around everything once at least is full, and one in which it does so
// never, empty. Returns whether moments are left that there can be.
static bool flatten_cube(double m[SN_MOMENT_COUNT], double top, double bottom) {
  double least = floor(fmin(top, bottom) + FACE_TOLERANCE);
  least = fmin(least, floor(m[0] + SNAP_TOLERANCE));
  double above[SN_MOMENT_COUNT];
  for (int k = 0; k < SN_MOMENT_COUNT; ++k) above[k] = m[k] - least * full_cube[k];
  if (!are_possible(above, bottom - least)) return false;
  for (int k = 0; least != 0 && k < SN_MOMENT_COUNT; ++k) m[k] = least > 0 ? full_cube[k] : 0;
  return true;
}

// The moments of a cube, and its face from the top one to the bottom one. Returns whether there can be
// such moments.
static bool integrate_cube(const moments_job* job, size_t index, double face[FACE_COUNT]) {
  cube* p = &job->cubes[index];
  piece_sums sum = {{0}};
  for (size_t i = p->first; i < job->cubes[index + 1].first; ++i) {
    uint64_t number = job->by_z[job->by_column[i] & LOW_MASK] & LOW_MASK;
    for (int k = 0; k < SUM_COUNT; ++k) sum.s[k] += job->sums[number].s[k];
  }
  double flat[FACE_COUNT], linear[3], square = (face[0] + sum.s[15]) / 3, top = face[0];
  for (int i = 0; i < FACE_COUNT; ++i) flat[i] = face[i] + sum.s[FACE_COUNT + i];
  for (int i = 0; i < 3; ++i) linear[i] = (face[i] + sum.s[12 + i]) / 2;
  double* m = p->moments;
  m[0] = flat[0];
  m[1] = flat[1];
  m[2] = flat[2];
  m[4] = flat[3];
  m[5] = flat[5];
  m[7] = flat[4];
  // w from the middle instead of the bottom
  m[3] = linear[0] - flat[0] / 2;
  m[6] = square - linear[0] + flat[0] / 4;
  m[8] = linear[2] - flat[2] / 2;
  m[9] = linear[1] - flat[1] / 2;
  for (int i = 0; i < FACE_COUNT; ++i) face[i] += sum.s[i];
  bool beyond = p->z < 0 || p->z >= 1 << job->tree->root_height;
  return beyond || flatten_cube(m, top, face[0]);
}

static bool is_near(double a, double b) { return fabs(a - b) < FACE_TOLERANCE; }

// One past the cubes that follow one another without a gap.
static size_t end_of_run(const moments_job* job, size_t first, size_t end) {
  size_t next = first + 1;
  while (next < end && job->cubes[next].z == job->cubes[next - 1].z - 1) ++next;
  return next;
}

static int round_winding(double winding) { return (int)floor(winding + 0.5); }

static int find_winding(const moments_job* job, double x, double y, double z) {
  sn_vec3 p = sn_madd(job->tree->origin, job->tree->cell, sn_v3(x, y, z));
  return round_winding(sn_bvh_winding(&job->bvh, p));
}

// Down a column that starts outside and has to end there. Not sound: a gap's winding is no integer, or
// a cube has moments that no part of it has.
static void follow_column(const moments_job* job, column* c) {
  size_t end = c[1].first;
  int winding = 0;
  for (size_t first = c->first; first < end;) {
    size_t next = end_of_run(job, first, end);
    double face[FACE_COUNT];
    set_face(face, winding);
    job->cubes[first].above = winding;
    for (size_t p = first; p < next; ++p) c->sound = integrate_cube(job, p, face) && c->sound;
    winding = round_winding(face[0]);
    job->cubes[next - 1].below = winding;
    if (!is_near(face[0], winding)) c->sound = false;
    first = next;
  }
  if (winding != 0) c->sound = false;
}

// The same where gaps are what the winding number says right above and below each run. If what comes
// down does not agree, the cubes of the run are not sound.
static void settle_column(const moments_job* job, const column* c) {
  size_t end = c[1].first;
  double x = gather_bits(c->code) + 0.5, y = gather_bits(c->code >> 1) + 0.5;
  for (size_t first = c->first; first < end;) {
    size_t next = end_of_run(job, first, end);
    cube *top = &job->cubes[first], *bottom = &job->cubes[next - 1];
    double face[FACE_COUNT];
    top->above = find_winding(job, x, y, top->z + 1.5);
    bottom->below = find_winding(job, x, y, bottom->z - 0.5);
    set_face(face, top->above);
    bool sound = true;
    for (size_t p = first; p < next; ++p) sound = integrate_cube(job, p, face) && sound;
    sound = sound && is_near(face[0], bottom->below);
    for (size_t p = first; p < next; ++p) job->cubes[p].sound = sound;
    first = next;
  }
}

static void follow_columns(void* ctx, size_t begin, size_t end) {
  const moments_job* job = ctx;
  for (size_t c = begin; c < end; ++c) follow_column(job, &job->columns[c]);
}

static void settle_columns(void* ctx, size_t begin, size_t end) {
  const moments_job* job = ctx;
  for (size_t c = begin; c < end; ++c) {
    if (!job->columns[c].sound) settle_column(job, &job->columns[c]);
  }
}

static sn_status integrate_columns(moments_job* job, sn_pool* pool, sn_arena* scratch,
                                   sn_error* err) {
  sn_parallel_for(pool, job->column_count, MIN_COLUMNS, follow_columns, job);
  bool sound = true;
  for (size_t c = 0; c < job->column_count; ++c) sound = sound && job->columns[c].sound;
  if (sound) return SN_OK;
  SN_TRY(sn_bvh_build(job->pieces.surface, pool, scratch, scratch, &job->bvh, err));
  sn_parallel_for(pool, job->column_count, 1, settle_columns, job);
  return SN_OK;
}

// ---- Cells

// What is known of a cell while going through its columns.
typedef struct cell_sum {
  double low[3], size;              // in finest cells
  double moments[SN_MOMENT_COUNT];  // about its middle, in finest cells
  uint32_t full_count;              // of columns that are all inside
  bool met;                         // by the surface
  bool sound;                       // its cubes are
  bool settled;                     // so are the columns that have no cube in it
} cell_sum;

// Add the moments b about a point that is at d from the middle.
static void add_shifted(double m[SN_MOMENT_COUNT], const double b[SN_MOMENT_COUNT],
                        const double d[3]) {
  m[0] += b[0];
  for (int i = 0; i < 3; ++i) {
    int j = (i + 1) % 3, mixed = i == 2 ? 9 : 7 + i;
    m[1 + i] += b[1 + i] + d[i] * b[0];
    m[4 + i] += b[4 + i] + 2 * d[i] * b[1 + i] + d[i] * d[i] * b[0];
    m[mixed] += b[mixed] + d[i] * b[1 + j] + d[j] * b[1 + i] + d[i] * d[j] * b[0];
  }
}

// The part of a column between two heights, all inside.
static void add_gap(cell_sum* sum, double x, double y, int low, int high) {
  double length = high - low, middle = 0.5 * sum->size;
  const double d[3] = {x + 0.5 - sum->low[0] - middle, y + 0.5 - sum->low[1] - middle,
                       0.5 * (low + high) - sum->low[2] - middle};
  const double box[SN_MOMENT_COUNT] = {
      length, 0, 0, 0, length / 12, length / 12, length * length * length / 12, 0, 0, 0};
  add_shifted(sum->moments, box, d);
}

static void add_cube(cell_sum* sum, double x, double y, const cube* p) {
  double middle = 0.5 * (sum->size - 1);
  const double d[3] = {x - sum->low[0] - middle, y - sum->low[1] - middle,
                       p->z - sum->low[2] - middle};
  add_shifted(sum->moments, p->moments, d);
  sum->met = true;
  sum->sound = sum->sound && p->sound;
}

// The first cube of a column that is not above `z`.
static size_t first_not_above(const moments_job* job, const column* c, int z) {
  size_t low = c->first, high = c[1].first;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (job->cubes[middle].z > z) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// What of a column is in a cell.
static void add_column(const moments_job* job, const column* c, sn_octant o, cell_sum* sum) {
  uint32_t x = gather_bits(c->code), y = gather_bits(c->code >> 1);
  int bottom = o.z, top = bottom + (int)sn_octant_size(o);
  size_t first = first_not_above(job, c, top - 1), end = c[1].first;
  if (first == end || job->cubes[first].z < bottom) {
    int winding = first > c->first ? job->cubes[first - 1].below : job->cubes[first].above;
    sum->settled = sum->settled && c->sound;
    if (winding <= 0) return;
    sum->full_count++;
    add_gap(sum, x, y, bottom, top);
    return;
  }
  for (size_t p = first; p < end && job->cubes[p].z >= bottom; ++p) {
    int above = job->cubes[p].z + 1;
    if (above < top && job->cubes[p].above > 0) add_gap(sum, x, y, above, top);
    add_cube(sum, x, y, &job->cubes[p]);
    top = job->cubes[p].z;
    bool is_last = p + 1 == end || job->cubes[p + 1].z < bottom;
    if (is_last && top > bottom && job->cubes[p].below > 0) add_gap(sum, x, y, bottom, top);
  }
}

// The winding number at the eight points of Gauss in each of the cell's eight parts: the moments of
// what is inside by these are always those of some part of the cell, and exact for all of it.
static void sample_cell(const moments_job* job, const cell_sum* sum, double m[SN_MOMENT_COUNT]) {
  const double near = 0.5 - 0.28867513459481288, far = 0.5 + 0.28867513459481288;
  const double at[4] = {-far, -near, near, far};
  double half = 0.5 * sum->size;
  for (int k = 0; k < SN_MOMENT_COUNT; ++k) m[k] = 0;
  for (int k = 0; k < 64; ++k) {
    const double d[3] = {at[k & 3], at[k >> 2 & 3], at[k >> 4]};
    const double unit[SN_MOMENT_COUNT] = {1.0 / 64};
    int winding = find_winding(job, sum->low[0] + half * (1 + d[0]),
                               sum->low[1] + half * (1 + d[1]), sum->low[2] + half * (1 + d[2]));
    if (winding > 0) add_shifted(m, unit, d);
  }
}

static void set_moments(double m[SN_MOMENT_COUNT], bool full) {
  for (int k = 0; k < SN_MOMENT_COUNT; ++k) m[k] = full ? sn_full_moments[k] : 0;
}

static void scale_moments(const cell_sum* sum, double m[SN_MOMENT_COUNT]) {
  double scale = 1.0 / (sum->size * sum->size * sum->size), length = 2.0 / sum->size;
  for (int k = 0; k < SN_MOMENT_COUNT; ++k) {
    double power = k == 0 ? 1 : k < 4 ? length : length * length;
    m[k] = scale * power * sum->moments[k];
  }
}

// From the first column on, a cell that has some.
static void integrate_cell(const moments_job* job, size_t first, sn_octant o,
                           double m[SN_MOMENT_COUNT]) {
  uint32_t size = sn_octant_size(o), begin = column_code(o.x, o.y);
  cell_sum sum = {.low = {o.x, o.y, o.z}, .size = size, .sound = true, .settled = true};
  for (size_t c = first; c < job->column_count && job->columns[c].code - begin < size * size; ++c) {
    add_column(job, &job->columns[c], o, &sum);
  }
  if (!sum.sound) {
    sample_cell(job, &sum, m);
  } else if (!sum.met && !sum.settled) {
    double half = 0.5 * size;
    set_moments(m, find_winding(job, o.x + half, o.y + half, o.z + half) > 0);
  } else if (!sum.met && sum.full_count == size * size) {
    set_moments(m, true);
  } else {
    scale_moments(&sum, m);
  }
}

static size_t first_column(const moments_job* job, uint32_t code) {
  size_t low = 0, high = job->column_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (job->columns[middle].code < code) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static void integrate_cells(void* ctx, size_t begin, size_t end) {
  const moments_job* job = ctx;
  for (size_t e = begin; e < end; ++e) {
    sn_octant o = job->tree->cells[e];
    integrate_cell(job, first_column(job, column_code(o.x, o.y)), o, job->moments[e]);
  }
}

static sn_status find_moments(moments_job* job, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  SN_TRY(list_pieces(job, pool, scratch, err));
  SN_TRY(find_cubes(job, scratch, err));
  SN_TRY(integrate_columns(job, pool, scratch, err));
  sn_parallel_for(pool, job->tree->cell_count, MIN_CELLS, integrate_cells, job);
  return SN_OK;
}

sn_status sn_octree_moments(const sn_octree* tree, const sn_surface* surface, sn_pool* pool,
                            sn_arena* scratch, double (*moments)[SN_MOMENT_COUNT], sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  moments_job job = {.tree = tree, .moments = moments};
  sn_pieces_count(tree, surface, pool, &job.pieces);
  sn_status status = find_moments(&job, pool, scratch, err);
  sn_arena_release(scratch, mark);
  return status;
}
