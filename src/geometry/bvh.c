// Winding numbers after Jacobson et al. 2013, with the far-field dipoles of Barill et al. 2018.
#include "geometry/bvh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/moving_bvh.h"
#include "geometry/surface.h"
#include "math/elementary.h"
#include "math/vec.h"

#define LEAF_SIZE 8
// A cluster is far when its distance is more than this many radii.
#define FAR_RADII 2.0
// No winding number is further off than this, by what clusters leave out.
#define WINDING_ERROR 0.1
// A rim counts as one piece beyond this many radii: at most 2.25 times what it is.
#define RIM_RADII 4.0
#define FOUR_PI 12.566370614359172954

double sn_triangle_winding(const sn_vec3 corner[3], sn_vec3 p) {
  // Van Oosterom and Strackee 1983: tan(omega/2) = det(a b c) / (abc + (a.b)c + (b.c)a + (c.a)b)
  sn_vec3 a = sn_sub(corner[0], p), b = sn_sub(corner[1], p), c = sn_sub(corner[2], p);
  double la = sn_length(a), lb = sn_length(b), lc = sn_length(c);
  double det = sn_dot(a, sn_cross(b, c));
  double div = la * lb * lc + sn_dot(a, b) * lc + sn_dot(b, c) * la + sn_dot(c, a) * lb;
  if (det == 0) return 0;  // in the triangle's plane: seen edge-on
  return 2.0 * sn_atan2(det, div) / FOUR_PI;
}

static sn_vec3 nearest_of_triangle(const sn_vec3 corner[3], sn_vec3 p) {
  // Regions of the plane around the triangle: three corners, three edges, the inside (Ericson
  // 2005).
  sn_vec3 ab = sn_sub(corner[1], corner[0]), ac = sn_sub(corner[2], corner[0]);
  sn_vec3 ap = sn_sub(p, corner[0]);
  double d1 = sn_dot(ab, ap), d2 = sn_dot(ac, ap);
  if (d1 <= 0 && d2 <= 0) return corner[0];
  sn_vec3 bp = sn_sub(p, corner[1]);
  double d3 = sn_dot(ab, bp), d4 = sn_dot(ac, bp);
  if (d3 >= 0 && d4 <= d3) return corner[1];
  double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) return sn_madd(corner[0], d1 / (d1 - d3), ab);
  sn_vec3 cp = sn_sub(p, corner[2]);
  double d5 = sn_dot(ab, cp), d6 = sn_dot(ac, cp);
  if (d6 >= 0 && d5 <= d6) return corner[2];
  double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) return sn_madd(corner[0], d2 / (d2 - d6), ac);
  double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    double w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    return sn_madd(corner[1], w, sn_sub(corner[2], corner[1]));
  }
  double sum = va + vb + vc;
  if (!(sum > 0)) return corner[0];  // no area
  return sn_madd(sn_madd(corner[0], vb / sum, ab), vc / sum, ac);
}

sn_vec3 sn_triangle_nearest(const sn_vec3 corner[3], sn_vec3 p) {
  // Rounding must not carry it out of the box, by which a search leaves triangles out.
  sn_vec3 lo = sn_min3(corner[0], sn_min3(corner[1], corner[2]));
  sn_vec3 hi = sn_max3(corner[0], sn_max3(corner[1], corner[2]));
  return sn_max3(lo, sn_min3(hi, nearest_of_triangle(corner, p)));
}

typedef struct sort_key {
  double at;
  uint32_t triangle;
} sort_key;

// What building looks at of a triangle.
typedef struct extent {
  sn_box box;
  sn_vec3 centroid;
} extent;

typedef struct builder {
  sn_bvh* bvh;
  extent* extents;  // (triangle_count)
  sort_key* keys;   // (triangle_count)
  uint8_t* depths;  // of the nodes
  int depth;        // of those that are to be divided
} builder;

static bool is_before(sort_key p, sort_key q) {
  return p.at != q.at ? p.at < q.at : p.triangle < q.triangle;
}

static int compare_keys(const void* a, const void* b) {
  const sort_key *p = a, *q = b;
  return is_before(*p, *q) ? -1 : is_before(*q, *p);
}

// Fewer are sorted.
#define FEW_KEYS 16

// The `middle` first keys in front of the others, by halving as quicksort does but on one side only. Keys laid out
// against it are sorted after as many rounds as halving badly may take.
static void divide_keys(sort_key* keys, size_t count, size_t middle) {
  for (int rounds = 64; count > FEW_KEYS && rounds > 0; --rounds) {
    sort_key ends[3] = {keys[0], keys[count / 2], keys[count - 1]};
    qsort(ends, 3, sizeof *ends, compare_keys);
    sort_key pivot = ends[1];
    size_t i = 0, j = count - 1;
    for (;; ++i, --j) {
      while (is_before(keys[i], pivot)) ++i;
      while (is_before(pivot, keys[j])) --j;
      if (i >= j) break;
      sort_key swap = keys[i];
      keys[i] = keys[j];
      keys[j] = swap;
    }
    // keys[0..i) are not after the pivot, keys[i..count) not before it
    if (middle < i) {
      count = i;
    } else {
      keys += i;
      count -= i;
      middle -= i;
    }
  }
  qsort(keys, count, sizeof *keys, compare_keys);
}

static void get_corners(const sn_bvh* bvh, uint32_t triangle, sn_vec3 corner[3]) {
  for (int i = 0; i < 3; ++i) corner[i] = sn_surface_corner(bvh->surface, triangle, i);
}

static sn_vec3 centroid(const sn_vec3 corner[3]) {
  return sn_scale(1.0 / 3.0, sn_add(corner[0], sn_add(corner[1], corner[2])));
}

static void measure_extents(void* ctx, size_t begin, size_t end) {
  const builder* b = ctx;
  for (size_t t = begin; t < end; ++t) {
    sn_vec3 corner[3];
    get_corners(b->bvh, (uint32_t)t, corner);
    extent* e = &b->extents[t];
    *e = (extent){sn_box_empty(), centroid(corner)};
    for (int i = 0; i < 3; ++i) e->box = sn_box_grow(e->box, corner[i]);
  }
}

static int longest_side(const builder* b, const sn_bvh_node* node) {
  sn_box box = sn_box_empty();
  for (uint32_t k = node->begin; k < node->end; ++k) {
    sn_box one = b->extents[b->bvh->order[k]].box;
    box = (sn_box){sn_min3(box.lo, one.lo), sn_max3(box.hi, one.hi)};
  }
  sn_vec3 d = sn_sub(box.hi, box.lo);
  return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
}

// Half of the node's triangles to each child, by centroid along the longest side, ties by index.
static void divide_node(const builder* b, const sn_bvh_node* node) {
  int axis = longest_side(b, node);
  sort_key* keys = b->keys + node->begin;
  uint32_t *order = b->bvh->order + node->begin, count = node->end - node->begin;
  for (uint32_t k = 0; k < count; ++k) {
    keys[k] = (sort_key){sn_axis(b->extents[order[k]].centroid, axis), order[k]};
  }
  divide_keys(keys, count, count / 2);
  for (uint32_t k = 0; k < count; ++k) order[k] = keys[k].triangle;
}

static void divide_nodes(void* ctx, size_t begin, size_t end) {
  const builder* b = ctx;
  for (size_t n = begin; n < end; ++n) {
    const sn_bvh_node* node = &b->bvh->nodes[n];
    if (b->depths[n] == b->depth && node->right) divide_node(b, node);
  }
}

static uint32_t count_nodes(uint32_t triangles) {
  if (triangles <= LEAF_SIZE) return triangles > 0;
  return 1 + count_nodes(triangles / 2) + count_nodes(triangles - triangles / 2);
}

// The nodes that so many triangles give, whichever they are. Halving bounds the depth by the logarithm of the count.
static void lay_out(builder* b, uint32_t begin, uint32_t end, int depth) {
  sn_bvh* bvh = b->bvh;
  uint32_t index = bvh->node_count++;
  bvh->nodes[index] = (sn_bvh_node){.begin = begin, .end = end};
  b->depths[index] = (uint8_t)depth;
  if (depth > b->depth) b->depth = depth;
  if (end - begin <= LEAF_SIZE) return;
  uint32_t middle = begin + (end - begin) / 2;
  lay_out(b, begin, middle, depth + 1);
  bvh->nodes[index].right = bvh->node_count;
  lay_out(b, middle, end, depth + 1);
}

// Nodes of one depth at a time, each by one thread.
sn_status sn_bvh_build(const sn_surface* surface, sn_pool* pool, sn_arena* arena, sn_arena* scratch,
                       sn_bvh* bvh, sn_error* err) {
  *bvh = (sn_bvh){.surface = surface};
  uint32_t count = surface->triangle_count, nodes = count_nodes(count);
  SN_TRY(SN_ARENA_NEW(arena, nodes, &bvh->nodes, err));
  SN_TRY(SN_ARENA_NEW(arena, count, &bvh->order, err));
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  builder b = {.bvh = bvh};
  SN_TRY(SN_ARENA_RAW(scratch, count, &b.extents, err));
  SN_TRY(SN_ARENA_RAW(scratch, count, &b.keys, err));
  SN_TRY(SN_ARENA_RAW(scratch, nodes, &b.depths, err));
  for (uint32_t t = 0; t < count; ++t) bvh->order[t] = t;
  if (count > 0) lay_out(&b, 0, count, 0);
  sn_parallel_for(pool, count, 256, measure_extents, &b);
  int deepest = b.depth;
  for (b.depth = 0; b.depth < deepest; ++b.depth) {
    sn_parallel_for(pool, bvh->node_count, 64, divide_nodes, &b);
  }
  sn_bvh_facet* room;
  SN_TRY(SN_ARENA_RAW(scratch, count, &room, err));
  sn_bvh_refit(bvh, pool, room);
  sn_arena_release(scratch, mark);
  return SN_OK;
}

// ---- Measuring

typedef struct refit_job {
  sn_bvh* bvh;
  sn_bvh_facet* facets;  // in the order of the leaves
} refit_job;

static void measure_facets(void* ctx, size_t begin, size_t end) {
  const refit_job* job = ctx;
  for (size_t k = begin; k < end; ++k) {
    sn_vec3 c[3];
    get_corners(job->bvh, job->bvh->order[k], c);
    sn_vec3 n = sn_scale(0.5, sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0])));
    job->facets[k] = (sn_bvh_facet){n, sn_length(n), sn_scale(sn_length(n), centroid(c))};
  }
}

static sn_box box_of_leaf(const sn_bvh* bvh, const sn_bvh_node* leaf) {
  sn_box box = sn_box_empty();
  for (uint32_t k = leaf->begin; k < leaf->end; ++k) {
    sn_vec3 corner[3];
    get_corners(bvh, bvh->order[k], corner);
    for (int i = 0; i < 3; ++i) box = sn_box_grow(box, corner[i]);
  }
  return box;
}

static void measure_leaves(void* ctx, size_t begin, size_t end) {
  const refit_job* job = ctx;
  for (size_t n = begin; n < end; ++n) {
    sn_bvh_node* node = &job->bvh->nodes[n];
    if (node->right == 0) node->box = box_of_leaf(job->bvh, node);
  }
}

// Children come after their parent, so backwards they are done before it.
static void join_boxes(sn_bvh* bvh) {
  for (uint32_t n = bvh->node_count; n-- > 0;) {
    uint32_t right = bvh->nodes[n].right;
    if (right != 0) bvh->nodes[n].box = sn_box_union(bvh->nodes[n + 1].box, bvh->nodes[right].box);
  }
}

// The sum, and the length of the triangle's edges at which the surface ends.
static double add_rim(const sn_bvh* bvh, uint32_t triangle, double sum) {
  sn_vec3 corner[3];
  get_corners(bvh, triangle, corner);
  for (int i = 0; i < 3; ++i) {
    bool ends = bvh->surface->rim[triangle] >> i & 1;
    if (ends) sum += sn_distance(corner[i], corner[(i + 1) % 3]);
  }
  return sum;
}

// What is in the box is no further from p, squared, also after rounding: differences, squares and sums
// only grow with what they are of.
static double farthest_of_box(const sn_box* box, sn_vec3 p) {
  sn_vec3 low = sn_sub(p, box->lo), high = sn_sub(box->hi, p), most = sn_max3(low, high);
  return sn_dot(most, most);
}

static double farthest_of_leaf(const sn_bvh* bvh, const sn_bvh_node* leaf, sn_vec3 p, double most) {
  for (uint32_t k = leaf->begin; k < leaf->end; ++k) {
    sn_vec3 corner[3];
    get_corners(bvh, bvh->order[k], corner);
    for (int i = 0; i < 3; ++i) {
      sn_vec3 away = sn_sub(corner[i], p);
      double squared = sn_dot(away, away);
      if (squared > most) most = squared;
    }
  }
  return most;
}

// The square of the largest distance of a corner below the node from p; boxes that can have none are left out.
static double farthest_below(const sn_bvh* bvh, uint32_t index, sn_vec3 p, double most) {
  const sn_bvh_node* node = &bvh->nodes[index];
  if (node->right == 0) return farthest_of_leaf(bvh, node, p, most);
  uint32_t child[2] = {index + 1, node->right};
  double bound[2] = {farthest_of_box(&bvh->nodes[child[0]].box, p),
                     farthest_of_box(&bvh->nodes[child[1]].box, p)};
  int first = bound[1] > bound[0];
  for (int i = 0; i < 2; ++i) {
    int k = i ^ first;
    if (bound[k] > most) most = farthest_below(bvh, child[k], p, most);
  }
  return most;
}

static void measure_node(const refit_job* job, uint32_t index) {
  sn_bvh_node* node = &job->bvh->nodes[index];
  const sn_surface* surface = job->bvh->surface;
  sn_vec3 area_vector = {0, 0, 0}, moment = {0, 0, 0};
  double area = 0, rim = 0;
  for (uint32_t k = node->begin; k < node->end; ++k) {
    const sn_bvh_facet* facet = &job->facets[k];
    uint32_t triangle = job->bvh->order[k];
    area_vector = sn_add(area_vector, facet->area_vector);
    area += facet->area;
    moment = sn_add(moment, facet->moment);
    if (surface->rim[triangle]) rim = add_rim(job->bvh, triangle, rim);
  }
  node->area_vector = area_vector;
  node->rim = rim;
  node->centre = area > 0 ? sn_scale(1.0 / area, moment) : sn_box_centre(node->box);
  node->radius = sqrt(farthest_below(job->bvh, index, node->centre, 0));
}

static void measure_nodes(void* ctx, size_t begin, size_t end) {
  for (size_t n = begin; n < end; ++n) measure_node(ctx, (uint32_t)n);
}

void sn_bvh_refit(sn_bvh* bvh, sn_pool* pool, sn_bvh_facet* room) {
  refit_job job = {bvh, room};
  sn_parallel_for(pool, bvh->surface->triangle_count, 256, measure_facets, &job);
  sn_parallel_for(pool, bvh->node_count, 64, measure_leaves, &job);
  join_boxes(bvh);
  sn_parallel_for(pool, bvh->node_count, 64, measure_nodes, &job);
}

// ---- Questions

static double leaf_winding(const sn_bvh* bvh, const sn_bvh_node* node, sn_vec3 p) {
  double sum = 0;
  for (uint32_t k = node->begin; k < node->end; ++k) {
    sn_vec3 corner[3];
    get_corners(bvh, bvh->order[k], corner);
    sum += sn_triangle_winding(corner, p);
  }
  return sum;
}

double sn_bvh_winding(const sn_bvh* bvh, sn_vec3 p) {
  uint32_t stack[SN_BVH_MAX_DEPTH];
  int depth = 0;
  double sum = 0;
  if (bvh->node_count > 0) stack[depth++] = 0;
  while (depth > 0) {
    uint32_t index = stack[--depth];
    const sn_bvh_node* node = &bvh->nodes[index];
    sn_vec3 away = sn_sub(node->centre, p);
    double distance = sn_length(away);
    if (distance > FAR_RADII * node->radius) {
      sum += sn_dot(node->area_vector, away) / (FOUR_PI * distance * distance * distance);
    } else if (node->right == 0) {
      sum += leaf_winding(bvh, node, p);
    } else {
      stack[depth++] = node->right;
      stack[depth++] = index + 1;
    }
  }
  return sum;
}

static double boxes_distance_squared(const sn_box* a, const sn_box* b) {
  sn_vec3 apart = sn_max3(sn_sub(a->lo, b->hi), sn_sub(b->lo, a->hi));
  apart = sn_max3(apart, sn_v3(0, 0, 0));
  return sn_dot(apart, apart);
}

// A lower bound on the distance of a segment from a box: the better one of two, between the boxes of
// both and between the segment and a ball around the box.
static double segment_distance(sn_vec3 p, sn_vec3 q, const sn_box* box) {
  sn_box own = {sn_min3(p, q), sn_max3(p, q)};
  double boxes = sqrt(boxes_distance_squared(&own, box));
  sn_vec3 centre = sn_box_centre(*box), along = sn_sub(q, p), from = sn_sub(centre, p);
  double squared = sn_dot(along, along), t = squared > 0 ? sn_dot(along, from) / squared : 0;
  sn_vec3 nearest = sn_madd(p, t < 0 ? 0 : t > 1 ? 1 : t, along);
  double ball = sn_distance(centre, nearest) - 0.5 * sn_distance(box->lo, box->hi);
  return boxes > ball ? boxes : ball;
}

// Rim of a leaf's triangles over the square of its distance from the box; infinite where they touch.
static double leaf_steepness(const sn_bvh* bvh, const sn_bvh_node* node, const sn_box* box) {
  double sum = 0;
  for (uint32_t k = node->begin; k < node->end; ++k) {
    uint32_t rim = bvh->surface->rim[bvh->order[k]];
    sn_vec3 corner[3];
    if (rim) get_corners(bvh, bvh->order[k], corner);
    for (int i = 0; rim >> i; ++i) {
      if (!(rim >> i & 1)) continue;
      sn_vec3 p = corner[i], q = corner[(i + 1) % 3];
      double distance = segment_distance(p, q, box);
      sum += sn_distance(p, q) / (distance * distance);
    }
  }
  return sum;
}

// A bound on the slope of the winding number within the box, per metre. Off the surface its gradient
// is the field of a current along the rim (Biot and Savart): at most the integral of 1 / (4 pi r^2)
// over the rim.
static double steepest_within(const sn_bvh* bvh, const sn_box* box) {
  uint32_t stack[SN_BVH_MAX_DEPTH];
  int depth = 0;
  double sum = 0;
  if (bvh->node_count > 0) stack[depth++] = 0;
  while (depth > 0) {
    uint32_t index = stack[--depth];
    const sn_bvh_node* node = &bvh->nodes[index];
    if (node->rim == 0) continue;
    double squared = boxes_distance_squared(&node->box, box);
    if (squared > RIM_RADII * RIM_RADII * node->radius * node->radius) {
      sum += node->rim / squared;
    } else if (node->right == 0) {
      sum += leaf_steepness(bvh, node, box);
    } else {
      stack[depth++] = node->right;
      stack[depth++] = index + 1;
    }
  }
  return sum / FOUR_PI;
}

bool sn_bvh_inside(const sn_bvh* bvh, sn_vec3 p, sn_box box, bool* inside) {
  double winding = sn_bvh_winding(bvh, p);
  *inside = winding > 0.5;
  double change = steepest_within(bvh, &box) * sn_distance(box.lo, box.hi);
  return fabs(winding - 0.5) > WINDING_ERROR + change;
}

bool sn_bvh_nearest(const sn_bvh* bvh, sn_vec3 p, double limit, uint32_t* triangle,
                    sn_vec3* place) {
  sn_moving_bvh rest = sn_moving_bvh_at_rest(bvh);
  return sn_moving_bvh_nearest(&rest, p, limit, NULL, NULL, triangle, place);
}

double sn_bvh_distance(const sn_bvh* bvh, sn_vec3 p, double limit) {
  uint32_t triangle;
  sn_vec3 place;
  return sn_bvh_nearest(bvh, p, limit, &triangle, &place) ? sn_distance(place, p) : limit;
}
