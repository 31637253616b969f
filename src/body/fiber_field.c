// The directions of fibres as those of something that flows through the muscle from its origin to its
// insertion: the gradient of a potential phi with
//     laplace phi = 0 inside,   d phi / d n = flux in at the origin, out at the insertion, 0 elsewhere.
// Flux, not fixed values: that lets the field be exact in a straight muscle with flat ends, whatever
// the grid. Trilinear on the cells of the body's grid that the muscle has a part in, the gradient taken
// as the mean over the part, which passes the patch test in cut cells; the modes that a mean gradient
// does not see are held as in the flesh (elasticity/corotated_cell.h). docs/theory/muscles.md derives it.
#include "body/fiber_field.h"

#include <math.h>

#include "math/svd3.h"
#include "math/vec.h"
#include "octree/families.h"
#include "octree/hanging.h"
#include "octree/octree_moments.h"

// Parts smaller than this share of their cell are left out.
#define LEAST_SHARE 1e-6
// As parts of the longest side of the muscle's box: how far an end reaches, how deep its flux goes in,
// and how far around one looks for the direction there.
#define END_WIDTH 0.35
#define END_DEPTH 0.05
#define END_AROUND 0.35
// Part of the length of the longest axis whose middle is taken for its end.
#define AXIS_TIP 0.1
// Flux is sampled this often along the edge of a cell.
#define SAMPLES_PER_CELL 8
#define MAX_SAMPLES_PER_EDGE 256
// Pulls the potential to 0, over the square of the muscle's size: for pieces that hang together with
// neither end or with one only.
#define LEAK 1e-6
// Parts below this share of their cell mix their gradient with that around them.
#define SMALL_SHARE 0.1
#define CG_MAX 4000
#define CG_TOLERANCE 1e-9
// Where the gradient is less than this part of its mean it has no direction.
#define STILL 1e-3

// Times that an end is turned to where its surface faces.
#define FACINGS 8

#define MIN_PARTS 256
#define MIN_SAMPLED_PARTS 16
#define MIN_NODES 1024

// ---- Parts

// Mean over the part of the gradient of each corner's weight, from its moments.
static void find_gradient(const double m[SN_MOMENT_COUNT], double h, double gradient[8][3]) {
  const double x = m[1] / m[0], y = m[2] / m[0], z = m[3] / m[0];
  const double xy = m[7] / m[0], yz = m[8] / m[0], xz = m[9] / m[0];
  for (int c = 0; c < 8; ++c) {
    double sx = c & 1 ? 1 : -1, sy = c & 2 ? 1 : -1, sz = c & 4 ? 1 : -1;
    gradient[c][0] = sx * (1 + sy * y + sz * z + sy * sz * yz) / (4 * h);
    gradient[c][1] = sy * (1 + sx * x + sz * z + sx * sz * xz) / (4 * h);
    gradient[c][2] = sz * (1 + sx * x + sy * y + sx * sy * xy) / (4 * h);
  }
}

static double within(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

static void set_part(const sn_octree* tree, uint32_t cell, const double m[SN_MOMENT_COUNT],
                     sn_muscle_part* part) {
  double h = sn_octree_edge(tree, cell);
  *part = (sn_muscle_part){.cell = cell, .volume = m[0] * h * h * h};
  double off[3];
  for (int i = 0; i < 3; ++i) {
    double at = within(m[1 + i] / m[0], -1, 1);
    part->xi[i] = 0.5 + 0.5 * at;
    off[i] = 0.5 * h * at;
  }
  part->centre = sn_add(sn_octree_cell_centre(tree, cell), sn_v3(off[0], off[1], off[2]));
  find_gradient(m, h, part->gradient);
}

sn_status sn_muscle_find_parts(const sn_octree* tree, const sn_muscle* muscle, sn_pool* pool,
                               sn_arena* scratch, sn_muscle_part** parts, uint32_t* count,
                               sn_error* err) {
  double(*moments)[SN_MOMENT_COUNT];
  uint32_t found = 0, at = 0;
  SN_TRY(SN_ARENA_RAW(scratch, tree->cell_count, &moments, err));
  SN_TRY(sn_octree_moments(tree, &muscle->surface, pool, scratch, moments, err));
  for (uint32_t e = 0; e < tree->cell_count; ++e) found += moments[e][0] > LEAST_SHARE;
  SN_TRY(SN_ARENA_RAW(scratch, found, parts, err));
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    if (moments[e][0] > LEAST_SHARE) set_part(tree, e, moments[e], &(*parts)[at++]);
  }
  *count = found;
  return SN_OK;
}

// ---- Ends

typedef struct fiber_field {
  const sn_octree* tree;
  const sn_bone* bones;
  const sn_muscle* muscle;
  sn_pool* pool;
  sn_arena* scratch;
  sn_muscle_part* parts;
  uint32_t count;
  double size;  // longest side of the muscle's box, m

  uint32_t node_count;       // that the parts' cells have
  uint32_t* numbers;         // of the tree's nodes among these, + 1; 0: none (tree's node_count)
  uint32_t (*nodes)[8];      // of each part's cell, as numbers
  uint32_t* starts;          // of each node's uses (node_count + 1)
  uint32_t* uses;            // part * 8 + corner (8 x count)
  double (*matrices)[36];    // of each part, J; the upper half by rows
  double (*products)[8];     // room
  double *diagonal, *leaks;  // of each node
  double *phi, *load, *residual, *direction, *product;
  double (*sums)[4];  // of gradients around each node, and of their volumes
} fiber_field;

static sn_vec3 mean_centre(const fiber_field* f) {
  sn_vec3 sum = {0, 0, 0};
  double volume = 0;
  for (uint32_t i = 0; i < f->count; ++i) {
    sum = sn_madd(sum, f->parts[i].volume, f->parts[i].centre);
    volume += f->parts[i].volume;
  }
  return sn_scale(1 / volume, sum);
}

// Direction in which the parts reach furthest: the largest eigenvector of their second moments, by
// repeated squaring; upward in its largest component.
static sn_vec3 longest_axis(const fiber_field* f, sn_vec3 middle) {
  sn_mat3 m = {{{0}}};
  for (uint32_t i = 0; i < f->count; ++i) {
    sn_vec3 d = sn_sub(f->parts[i].centre, middle);
    double volume = f->parts[i].volume, at[3] = {d.x, d.y, d.z};
    for (int k = 0; k < 9; ++k) m.m[k / 3][k % 3] += volume * at[k / 3] * at[k % 3];
  }
  for (int k = 0; k < 24; ++k) {
    double trace = m.m[0][0] + m.m[1][1] + m.m[2][2];
    if (!(trace > 0)) return sn_v3(1, 0, 0);
    for (int e = 0; e < 9; ++e) m.m[e / 3][e % 3] /= trace;
    m = sn_mul3(&m, &m);
  }
  int row = m.m[0][0] >= m.m[1][1] && m.m[0][0] >= m.m[2][2] ? 0 : m.m[1][1] >= m.m[2][2] ? 1 : 2;
  sn_vec3 axis = sn_v3(m.m[row][0], m.m[row][1], m.m[row][2]);
  return sn_scale(1 / sn_length(axis), axis);
}

// The middle of the muscle's tips along its longest axis.
static void find_axis_ends(const fiber_field* f, sn_vec3 ends[2]) {
  sn_vec3 middle = mean_centre(f), axis = longest_axis(f, middle);
  const sn_surface* surface = &f->muscle->surface;
  double lo = INFINITY, hi = -INFINITY;
  for (uint32_t i = 0; i < 3 * surface->triangle_count; ++i) {
    double t = sn_dot(
        axis, sn_sub(sn_load3(surface->positions + 3 * (size_t)surface->triangles[i]), middle));
    lo = fmin(lo, t);
    hi = fmax(hi, t);
  }
  for (int end = 0; end < 2; ++end) {
    sn_vec3 sum = {0, 0, 0};
    double volume = 0, tip = end ? hi : lo;
    for (uint32_t i = 0; i < f->count; ++i) {
      sn_vec3 d = sn_sub(f->parts[i].centre, middle);
      double from_tip = fabs(sn_dot(axis, d) - tip), reach = AXIS_TIP * (hi - lo);
      double weight = f->parts[i].volume * fmax(0, 1 - from_tip / reach);
      sum = sn_madd(sum, weight, d);
      volume += weight;
    }
    sn_vec3 off = volume > 0 ? sn_scale(1 / volume, sum) : sn_v3(0, 0, 0);
    off = sn_madd(off, tip - sn_dot(axis, off), axis);
    ends[end] = sn_add(middle, off);
  }
}

static sn_vec3 nearest_to_bone(const fiber_field* f, const sn_bone* bone) {
  const sn_surface* surface = &f->muscle->surface;
  sn_vec3 best = {0, 0, 0};
  double least = INFINITY;
  for (uint32_t i = 0; i < 3 * surface->triangle_count; ++i) {
    sn_vec3 p = sn_load3(surface->positions + 3 * (size_t)surface->triangles[i]);
    double distance = sn_bone_distance(bone, p, INFINITY);
    if (distance < least) best = p;
    least = fmin(least, distance);
  }
  return best;
}

static sn_vec3 find_end(const fiber_field* f, const sn_muscle_end* end) {
  uint32_t triangle;
  sn_vec3 place = end->point;
  if (end->kind == SN_END_BONE) return nearest_to_bone(f, &f->bones[end->bone]);
  sn_bvh_nearest(&f->muscle->bvh, end->point, INFINITY, &triangle, &place);
  return place;
}

// Origin and insertion. An end that is not given is the end of the longest axis further from the other.
static void find_ends(const fiber_field* f, sn_vec3 ends[2]) {
  const sn_muscle_end* given[2] = {&f->muscle->desc->origin, &f->muscle->desc->insertion};
  sn_vec3 tips[2];
  find_axis_ends(f, tips);
  for (int k = 0; k < 2; ++k) {
    ends[k] = given[k]->kind == SN_END_AXIS ? tips[k] : find_end(f, given[k]);
  }
  for (int k = 0; k < 2; ++k) {
    if (given[k]->kind != SN_END_AXIS || given[!k]->kind == SN_END_AXIS) continue;
    bool first = sn_distance(tips[0], ends[!k]) > sn_distance(tips[1], ends[!k]);
    ends[k] = tips[first ? 0 : 1];
  }
}

// The way from an end into the muscle.
static sn_vec3 way_in(const fiber_field* f, sn_vec3 end) {
  sn_vec3 sum = {0, 0, 0};
  double reach = END_AROUND * f->size;
  for (uint32_t i = 0; i < f->count; ++i) {
    sn_vec3 d = sn_sub(f->parts[i].centre, end);
    sum = sn_madd(sum, f->parts[i].volume * fmax(0, 1 - sn_dot(d, d) / (reach * reach)), d);
  }
  double length = sn_length(sum);
  return length > 0 ? sn_scale(1 / length, sum) : sn_v3(0, 0, 0);
}

// The middle of what is first in a direction, of all that is near a place, on the surface.
static sn_vec3 find_tip(const fiber_field* f, sn_vec3 place, sn_vec3 in) {
  const sn_surface* surface = &f->muscle->surface;
  double first = INFINITY, width = END_WIDTH * f->size, volume = 0;
  for (uint32_t i = 0; i < 3 * surface->triangle_count; ++i) {
    sn_vec3 d = sn_sub(sn_load3(surface->positions + 3 * (size_t)surface->triangles[i]), place);
    if (sn_length(d) < width) first = fmin(first, sn_dot(d, in));
  }
  sn_vec3 sum = {0, 0, 0};
  for (uint32_t p = 0; p < f->count; ++p) {
    sn_vec3 d = sn_sub(f->parts[p].centre, place);
    double depth = (sn_dot(d, in) - first) / (AXIS_TIP * f->size);
    if (sn_length(d) > width || depth > 1) continue;
    double weight = f->parts[p].volume * (1 - depth);
    sum = sn_madd(sum, weight, d);
    volume += weight;
  }
  if (!(volume > 0)) return place;
  sn_vec3 off = sn_scale(1 / volume, sum);
  return sn_add(place, sn_madd(off, first - sn_dot(off, in), in));
}

typedef struct flux_end {
  sn_vec3 place, in;
  double total;  // m2
} flux_end;

// Turn an end to where the surface around it faces: the mean normal of what faces it already, which is
// that of a flat end or of a round tip. The tip of a muscle moves to the middle of what is there.
static void face_end(const fiber_field* f, const sn_muscle_end* given, flux_end* end) {
  const sn_surface* surface = &f->muscle->surface;
  for (int k = 0; k < FACINGS; ++k) {
    sn_vec3 sum = {0, 0, 0};
    for (uint32_t t = 0; t < surface->triangle_count; ++t) {
      sn_vec3 c[3];
      for (int i = 0; i < 3; ++i) c[i] = sn_surface_corner(surface, t, i);
      sn_vec3 area = sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0]));
      sn_vec3 middle = sn_scale(1.0 / 3, sn_add(sn_add(c[0], c[1]), c[2]));
      sn_vec3 d = sn_sub(middle, end->place);
      double faces = -sn_dot(area, end->in) / sn_length(area);
      if (faces < 0 || sn_length(d) > END_WIDTH * f->size) continue;
      if (sn_dot(d, end->in) > AXIS_TIP * f->size) continue;
      sum = sn_madd(sum, -faces * faces * faces * faces, area);
    }
    double length = sn_length(sum);
    if (length > 0) end->in = sn_scale(1 / length, sum);
    if (given->kind == SN_END_AXIS) end->place = find_tip(f, end->place, end->in);
  }
}

// ---- The system

static sn_status number_nodes(fiber_field* f, sn_error* err) {
  const sn_octree* tree = f->tree;
  SN_TRY(SN_ARENA_NEW(f->scratch, tree->node_count, &f->numbers, err));
  SN_TRY(SN_ARENA_RAW(f->scratch, f->count, &f->nodes, err));
  for (uint32_t i = 0; i < f->count; ++i) {
    sn_corners at = sn_octree_corners(tree, f->parts[i].cell);
    for (int k = 0; k < 8; ++k) {
      uint32_t* number = &f->numbers[at.nodes[k]];
      if (*number == 0) *number = ++f->node_count;
      f->nodes[i][k] = *number - 1;
    }
  }
  SN_TRY(SN_ARENA_NEW(f->scratch, (size_t)f->node_count + 1, &f->starts, err));
  SN_TRY(SN_ARENA_RAW(f->scratch, 8 * (size_t)f->count, &f->uses, err));
  for (uint32_t i = 0; i < 8 * f->count; ++i) f->starts[f->nodes[i / 8][i % 8]]++;
  sn_parallel_starts(NULL, f->starts, (size_t)f->node_count + 1);
  for (uint32_t n = 0; n < f->node_count; ++n) f->starts[n] = f->starts[n + 1];
  for (uint32_t i = 8 * f->count; i-- > 0;) f->uses[--f->starts[f->nodes[i / 8][i % 8]]] = i;
  return SN_OK;
}

static sn_cell_shape shape_of(const sn_octree* tree, uint32_t cell) {
  return (sn_cell_shape){(uint8_t)sn_octant_child_number(tree->cells[cell]), tree->hanging[cell]};
}

// V (G G^T + hourglass): that of corners a, b, whose modes have signs s_m(a).
static double corner_entry(const sn_muscle_part* part, double h, int a, int b) {
  static const struct {
    int bits;
    double weight;
  } modes[] = {{3, 2.0 / 3}, {5, 2.0 / 3}, {6, 2.0 / 3}, {7, 1.0 / 3}};
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += part->gradient[a][i] * part->gradient[b][i];
  for (int m = 0; m < 4; ++m) {
    // Bits in which the two differ turn the sign.
    int differ = (a ^ b) & modes[m].bits;
    int sign = (differ ^ differ >> 1 ^ differ >> 2) & 1 ? -1 : 1;
    sum += sign * modes[m].weight / (16 * h * h);
  }
  return part->volume * sum;
}

// The matrix of a part for its conforming nodes.
static void set_matrices(void* ctx, size_t begin, size_t end) {
  const fiber_field* f = ctx;
  for (size_t p = begin; p < end; ++p) {
    const sn_muscle_part* part = &f->parts[p];
    sn_cell_shape shape = shape_of(f->tree, part->cell);
    double h = sn_octree_edge(f->tree, part->cell), half[8][8], column[8], out[8];
    for (int a = 0; a < 8; ++a) {
      double row[8];
      for (int b = 0; b < 8; ++b) row[b] = corner_entry(part, h, a, b);
      sn_cell_corner_to_conform(shape, row, half[a]);
    }
    for (int b = 0, e = 0; b < 8; ++b) {
      for (int a = 0; a < 8; ++a) column[a] = half[a][b];
      sn_cell_corner_to_conform(shape, column, out);
      for (int a = b; a < 8; ++a) f->matrices[p][e++] = out[a];
    }
  }
}

static sn_status set_system(fiber_field* f, sn_error* err) {
  double** vectors[] = {&f->diagonal, &f->leaks,     &f->phi,    &f->load,
                        &f->residual, &f->direction, &f->product};
  SN_TRY(SN_ARENA_RAW(f->scratch, f->count, &f->matrices, err));
  SN_TRY(SN_ARENA_RAW(f->scratch, f->count, &f->products, err));
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) {
    SN_TRY(SN_ARENA_NEW(f->scratch, f->node_count, vectors[i], err));
  }
  SN_TRY(SN_ARENA_NEW(f->scratch, f->node_count, &f->sums, err));
  sn_parallel_for(f->pool, f->count, MIN_PARTS, set_matrices, f);
  for (uint32_t p = 0; p < f->count; ++p) {
    for (int k = 0, e = 0; k < 8; e += 8 - k++) {
      uint32_t n = f->nodes[p][k];
      f->leaks[n] += LEAK / (f->size * f->size) * f->parts[p].volume / 8;
      f->diagonal[n] += f->matrices[p][e] + LEAK / (f->size * f->size) * f->parts[p].volume / 8;
    }
  }
  return SN_OK;
}

static void multiply_parts(void* ctx, size_t begin, size_t end) {
  const fiber_field* f = ctx;
  for (size_t p = begin; p < end; ++p) {
    double x[8], y[8] = {0};
    const double* m = f->matrices[p];
    for (int k = 0; k < 8; ++k) x[k] = f->direction[f->nodes[p][k]];
    for (int a = 0; a < 8; ++a) {
      y[a] += *m++ * x[a];
      for (int b = a + 1; b < 8; ++b, ++m) {
        y[a] += *m * x[b];
        y[b] += *m * x[a];
      }
    }
    for (int k = 0; k < 8; ++k) f->products[p][k] = y[k];
  }
}

// product = K direction; returns their scalar product.
static double add_products(void* ctx, size_t begin, size_t end) {
  const fiber_field* f = ctx;
  double sum = 0;
  for (size_t n = begin; n < end; ++n) {
    double y = f->leaks[n] * f->direction[n];
    for (uint32_t e = f->starts[n]; e < f->starts[n + 1]; ++e) {
      y += f->products[f->uses[e] / 8][f->uses[e] % 8];
    }
    f->product[n] = y;
    sum += y * f->direction[n];
  }
  return sum;
}

static double residual_size(void* ctx, size_t begin, size_t end) {
  const fiber_field* f = ctx;
  double sum = 0;
  for (size_t n = begin; n < end; ++n) sum += f->residual[n] * f->residual[n] / f->diagonal[n];
  return sum;
}

// K phi = load by conjugate gradients with the diagonal, from phi = 0.
static void solve(fiber_field* f) {
  uint32_t n = f->node_count;
  for (uint32_t i = 0; i < n; ++i) {
    f->phi[i] = 0;
    f->residual[i] = f->load[i];
    f->direction[i] = f->load[i] / f->diagonal[i];
  }
  double size = sn_parallel_sum(f->pool, n, MIN_NODES, residual_size, f);
  double enough = CG_TOLERANCE * CG_TOLERANCE * size;
  for (int k = 0; k < CG_MAX && size > enough; ++k) {
    sn_parallel_for(f->pool, f->count, MIN_PARTS, multiply_parts, f);
    double curvature = sn_parallel_sum(f->pool, n, MIN_NODES, add_products, f);
    if (!(curvature > 0)) break;
    double step = size / curvature;
    for (uint32_t i = 0; i < n; ++i) {
      f->phi[i] += step * f->direction[i];
      f->residual[i] -= step * f->product[i];
    }
    double next = sn_parallel_sum(f->pool, n, MIN_NODES, residual_size, f), turn = next / size;
    for (uint32_t i = 0; i < n; ++i) {
      f->direction[i] = f->residual[i] / f->diagonal[i] + turn * f->direction[i];
    }
    size = next;
  }
}

// Mean gradient of phi over a part.
static sn_vec3 gradient_of(const fiber_field* f, uint32_t p) {
  double node[8], corner[8], sum[3] = {0, 0, 0};
  for (int k = 0; k < 8; ++k) node[k] = f->phi[f->nodes[p][k]];
  sn_cell_conform_to_corner(shape_of(f->tree, f->parts[p].cell), node, corner);
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) sum[i] += f->parts[p].gradient[c][i] * corner[c];
  }
  return sn_v3(sum[0], sum[1], sum[2]);
}

static double value_of(const fiber_field* f, uint32_t p) {
  double weights[8], sum = 0;
  sn_octree_point_weights(f->tree, f->parts[p].cell, f->parts[p].xi, weights);
  for (int k = 0; k < 8; ++k) sum += weights[k] * f->phi[f->nodes[p][k]];
  return sum;
}

// ---- Flux

// Flux through a piece of the surface with this outward area, into the nodes around it.
static void add_flux(fiber_field* f, flux_end* end, sn_vec3 p, sn_vec3 area, double* load) {
  sn_vec3 d = sn_sub(p, end->place);
  double flux = -sn_dot(area, end->in), size = sn_length(area), xi[3], weights[8];
  if (flux <= 0 || sn_dot(d, end->in) > END_DEPTH * f->size) return;
  if (sn_length(d) > END_WIDTH * f->size) return;
  // A little inside, so that of two cells that meet here it is the right one.
  p = sn_madd(p, -1e-6 * f->tree->cell / size, area);
  uint32_t cell = sn_octree_nearest(f->tree, p, xi);
  sn_corners at = sn_octree_corners(f->tree, cell);
  for (int k = 0; k < 8; ++k) {
    if (f->numbers[at.nodes[k]] == 0) return;  // outside of the body
  }
  sn_octree_point_weights(f->tree, cell, xi, weights);
  for (int k = 0; k < 8; ++k) load[f->numbers[at.nodes[k]] - 1] += weights[k] * flux;
  end->total += flux;
}

// Three points of each of n x n small triangles; those of a row point up and down in turns.
static void sample_triangle(fiber_field* f, flux_end* end, const sn_vec3 c[3], int n,
                            double* load) {
  sn_vec3 a = sn_scale(1.0 / n, sn_sub(c[1], c[0])), b = sn_scale(1.0 / n, sn_sub(c[2], c[0]));
  sn_vec3 area = sn_scale(1.0 / 6, sn_cross(a, b));
  for (int e = 0; e < n * n; ++e) {
    int row = e / n, place = e % n;
    bool down = row + place >= n;  // the second half of the square
    double u = down ? n - row : row, v = down ? n - place : place;
    for (int k = 0; k < 3; ++k) {
      double s = k == 1 ? 2.0 / 3 : 1.0 / 6, t = k == 2 ? 2.0 / 3 : 1.0 / 6;
      sn_vec3 p = sn_madd(sn_madd(c[0], down ? u - s : u + s, a), down ? v - t : v + t, b);
      add_flux(f, end, p, area, load);
    }
  }
}

static void set_flux(fiber_field* f, flux_end* end, double* load) {
  const sn_surface* surface = &f->muscle->surface;
  for (uint32_t n = 0; n < f->node_count; ++n) load[n] = 0;
  for (uint32_t t = 0; t < surface->triangle_count; ++t) {
    sn_vec3 c[3];
    for (int i = 0; i < 3; ++i) c[i] = sn_surface_corner(surface, t, i);
    double longest =
        fmax(fmax(sn_distance(c[0], c[1]), sn_distance(c[1], c[2])), sn_distance(c[2], c[0]));
    double n = ceil(SAMPLES_PER_CELL * longest / f->tree->cell);
    sample_triangle(f, end, c, (int)within(n, 1, MAX_SAMPLES_PER_EDGE), load);
  }
}

// ---- Directions and lengths

static void point_all_along(fiber_field* f, sn_vec3 direction) {
  for (uint32_t p = 0; p < f->count; ++p) f->parts[p].direction = direction;
}

// Between samples x_i the fibres run along the axis v that is nearest to theirs: the largest
// v . (sum of w_i d_i d_i^T) v, which does not ask for signs, with weights w_i = (r_i^2 + (h/2)^2)^-2 that
// fall fast enough for far samples not to matter and are even within a cell of edge h.
static void take_from_samples(void* ctx, size_t begin, size_t end) {
  const fiber_field* f = ctx;
  const sn_muscle_desc* desc = f->muscle->desc;
  for (size_t p = begin; p < end; ++p) {
    sn_muscle_part* part = &f->parts[p];
    double even = 0.5 * sn_octree_edge(f->tree, part->cell), nearest = INFINITY;
    double sum[9] = {0}, U[9], s[3], V[9];
    sn_vec3 forward = {0, 0, 0};
    for (uint32_t k = 0; k < desc->field_count; ++k) {
      sn_vec3 way = sn_sub(desc->field[k].place, part->centre), d = desc->field[k].direction;
      double squared = sn_dot(way, way) / (even * even) + 1, weight = 1 / (squared * squared);
      if (squared < nearest) forward = d;
      nearest = fmin(nearest, squared);
      const double axis[3] = {d.x, d.y, d.z};
      for (int i = 0; i < 9; ++i) sum[i] += weight * axis[i / 3] * axis[i % 3];
    }
    sn_svd3_d(sum, U, s, V);
    sn_vec3 along = sn_v3(U[0], U[3], U[6]);
    part->direction = sn_dot(along, forward) < 0 ? sn_scale(-1, along) : along;
  }
}

// At each node the sum of the gradients of the parts around it, by volume, and of these volumes.
static void sum_gradients(void* ctx, size_t begin, size_t end) {
  const fiber_field* f = ctx;
  for (size_t n = begin; n < end; ++n) {
    sn_vec3 sum = {0, 0, 0};
    double volume = 0;
    for (uint32_t e = f->starts[n]; e < f->starts[n + 1]; ++e) {
      uint32_t p = f->uses[e] / 8;
      sum = sn_madd(sum, f->parts[p].volume, gradient_of(f, p));
      volume += f->parts[p].volume;
    }
    sn_store3(f->sums[n], sum);
    f->sums[n][3] = volume;
  }
}

// The mean of those sums over the nodes of a part.
static sn_vec3 gradient_around(const fiber_field* f, uint32_t p) {
  sn_vec3 sum = {0, 0, 0};
  double volume = 0;
  for (int k = 0; k < 8; ++k) {
    sum = sn_add(sum, sn_load3(f->sums[f->nodes[p][k]]));
    volume += f->sums[f->nodes[p][k]][3];
  }
  return sn_scale(1 / volume, sum);
}

// Small parts hold their nodes so loosely that they have to look around; where nothing flows, fibres
// run straight from end to end.
static void follow_gradient(fiber_field* f, sn_vec3 straight) {
  double sum = 0, volume = 0;
  sn_parallel_for(f->pool, f->node_count, MIN_NODES, sum_gradients, f);
  for (uint32_t p = 0; p < f->count; ++p) {
    sn_muscle_part* part = &f->parts[p];
    double h = sn_octree_edge(f->tree, part->cell), own = part->volume / (SMALL_SHARE * h * h * h);
    sn_vec3 g = gradient_around(f, p);
    part->direction = sn_madd(g, fmin(own, 1), sn_sub(gradient_of(f, p), g));
    sum += part->volume * sn_length(part->direction);
    volume += part->volume;
  }
  for (uint32_t p = 0; p < f->count; ++p) {
    sn_vec3* g = &f->parts[p].direction;
    double size = sn_length(*g);
    *g = size > STILL * sum / volume ? sn_scale(1 / size, *g) : straight;
  }
}

// Fibres from flux at both ends. False if they do not let any in.
static bool follow_flux(fiber_field* f, flux_end ends[2]) {
  for (int k = 0; k < 2; ++k) {
    ends[k].total = 0;
    set_flux(f, &ends[k], k ? f->load : f->residual);
    if (!(ends[k].total > 0)) return false;
  }
  for (uint32_t n = 0; n < f->node_count; ++n) {
    f->load[n] = f->load[n] / ends[1].total - f->residual[n] / ends[0].total;
  }
  solve(f);
  sn_vec3 straight = sn_sub(ends[1].place, ends[0].place);
  double length = sn_length(straight);
  follow_gradient(f, length > 0 ? sn_scale(1 / length, straight) : ends[0].in);
  return true;
}

static void flow(fiber_field* f) {
  sn_vec3 places[2];
  flux_end ends[2];
  find_ends(f, places);
  for (int k = 0; k < 2; ++k) {
    ends[k] = (flux_end){.place = places[k], .in = way_in(f, places[k])};
    face_end(f, k ? &f->muscle->desc->insertion : &f->muscle->desc->origin, &ends[k]);
  }
  if (follow_flux(f, ends)) return;
  sn_log(SN_LOG_WARNING,
         "muscle \"%s\": its fibres find no way between its ends; they run straight",
         f->muscle->desc->name);
  sn_vec3 straight = sn_sub(places[1], places[0]);
  double length = sn_length(straight);
  point_all_along(f, length > 0 ? sn_scale(1 / length, straight) : sn_v3(1, 0, 0));
}

// The field whose gradient is nearest to the fibres' directions grows along them by a metre a metre.
static void measure_lengths(fiber_field* f) {
  for (uint32_t n = 0; n < f->node_count; ++n) f->load[n] = 0;
  for (uint32_t p = 0; p < f->count; ++p) {
    const sn_muscle_part* part = &f->parts[p];
    double corner[8], node[8];
    for (int c = 0; c < 8; ++c)
      corner[c] = part->volume * sn_dot(part->direction, sn_load3(part->gradient[c]));
    sn_cell_corner_to_conform(shape_of(f->tree, part->cell), corner, node);
    for (int k = 0; k < 8; ++k) f->load[f->nodes[p][k]] += node[k];
  }
  solve(f);
  for (uint32_t p = 0; p < f->count; ++p) f->parts[p].length = value_of(f, p);
}

// How far a part reaches along its fibres, m.
static double reach_of(const fiber_field* f, const sn_muscle_part* part) {
  sn_vec3 w = part->direction;
  return sn_octree_edge(f->tree, part->cell) * (fabs(w.x) + fabs(w.y) + fabs(w.z));
}

// Tendon is what lies within its share of the length of either end; of a part on the border, some.
static void set_tendons(fiber_field* f) {
  double first = INFINITY, last = -INFINITY, share = f->muscle->desc->tendon;
  for (uint32_t p = 0; p < f->count; ++p) {
    first = fmin(first, f->parts[p].length);
    last = fmax(last, f->parts[p].length);
  }
  for (uint32_t p = 0; p < f->count; ++p) {
    sn_muscle_part* part = &f->parts[p];
    double from_end = fmin(part->length - first, last - part->length);
    double inside = share * (last - first) - from_end;
    part->length -= first;
    part->tendon = share > 0 ? within(0.5 + inside / reach_of(f, part), 0, 1) : 0;
  }
}

sn_status sn_muscle_find_fibers(const sn_octree* tree, const sn_bone* bones,
                                const sn_muscle* muscle, sn_pool* pool, sn_arena* scratch,
                                sn_muscle_part* parts, uint32_t count, sn_error* err) {
  fiber_field f = {.tree = tree,
                   .bones = bones,
                   .muscle = muscle,
                   .pool = pool,
                   .scratch = scratch,
                   .parts = parts,
                   .count = count,
                   .size = sn_box_size(muscle->surface.box)};
  bool solved = muscle->desc->fibers == SN_FIBERS_SOLVE;
  if (count == 0) return SN_OK;
  point_all_along(&f, muscle->desc->along);
  if (muscle->desc->fibers == SN_FIBERS_FIELD) {
    sn_parallel_for(pool, count, MIN_SAMPLED_PARTS, take_from_samples, &f);
  }
  if (!solved && muscle->desc->tendon == 0) return SN_OK;
  SN_TRY(number_nodes(&f, err));
  SN_TRY(set_system(&f, err));
  if (solved) flow(&f);
  measure_lengths(&f);
  set_tendons(&f);
  return SN_OK;
}
