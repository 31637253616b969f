#include "contact/contact.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/timer.h"
#include "math/vec.h"

sn_status sn_contact_set_create(uint32_t capacity, double* seconds, sn_arena* arena,
                                sn_contact_set* set, sn_error* err) {
  *set = (sn_contact_set){.capacity = capacity, .seconds = seconds};
  SN_TRY(SN_ARENA_RAW(arena, capacity, &set->contacts, err));
  return SN_ARENA_RAW(arena, capacity, &set->blocks, err);
}

void sn_contact_set_add(sn_contact_set* set, const sn_contact* contact) {
  if (set->count == set->capacity) {
    set->lost++;
    return;
  }
  sn_contact* added = &set->contacts[set->count++];
  *added = *contact;
  if (added->on_facet) added->carrier = &added->target;
}

sn_vec3 sn_contact_place(const sn_contact* c, const double* u) {
  if (!c->on_facet) return sn_carried_place(c->carrier, u);
  sn_vec3 sum = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    sum = sn_madd(sum, c->weights[i], sn_carried_place(c->corners[i], u));
  }
  return sum;
}

sn_vec3 sn_contact_relative(const sn_contact* c, const double* u) {
  sn_vec3 target = c->against_flesh ? sn_carried_place(&c->target, u) : c->place;
  return sn_sub(sn_contact_place(c, u), target);
}

// How the point moves against what it touches.
static sn_vec3 relative_move(const sn_contact* c, const double* d) {
  if (c->against_flesh) {
    return sn_sub(sn_carried_move(c->carrier, d), sn_carried_move(&c->target, d));
  }
  if (!c->on_facet) return sn_carried_move(c->carrier, d);
  sn_vec3 sum = {0, 0, 0};
  for (int i = 0; i < 3; ++i) {
    sum = sn_madd(sum, c->weights[i], sn_carried_move(c->corners[i], d));
  }
  return sum;
}

double sn_contact_gap(const sn_contact* c, const double* u) {
  return sn_dot(c->normal, sn_contact_relative(c, u)) - c->offset;
}

// Energy of a gap g, with its derivatives: a spring on the depth -g that sets in softly, without a
// force at g = 0, grows stiffer beyond `harden`, k d (1 + (d / harden)^2), and is constant beyond
// `yield`. The stiffness there is the secant's, which keeps it positive.
typedef struct spring {
  double energy, force, stiffness;
} spring;

static spring full_push(const sn_contact* c, double d) {
  double k = c->stiffness, a = d * d / (c->harden * c->harden);
  return (spring){k * d * d * (0.5 + 0.25 * a), k * d * (1 + a), k * (1 + 3 * a)};
}

static spring push(const sn_contact* c, double g) {
  double k = c->stiffness, w = c->smooth, depth = -g - 0.5 * w, most = c->yield - 0.5 * w;
  if (g >= 0) return (spring){0, 0, 0};
  if (g > -w) return (spring){-k * g * g * g / (6 * w), 0.5 * k * g * g / w, -k * g / w};
  spring s = full_push(c, depth < most ? depth : most);
  if (depth >= most) {
    s.energy += s.force * (depth - most);
    s.stiffness = s.force / depth;
  }
  s.energy += k * w * w / 24;
  return s;
}

// Tangential part of the way that the point has gone from the anchor.
static sn_vec3 slide(const sn_contact* c, const double* u, sn_vec3 relative) {
  sn_vec3 from = c->against_flesh ? relative : sn_contact_place(c, u);
  sn_vec3 way = sn_sub(from, c->anchor);
  return sn_madd(way, -sn_dot(way, c->normal), c->normal);
}

// Stiffness of friction that holds, over that of the contact. The softer, the sooner Newton finds out
// what holds and what slides.
#define GRIP 0.01
// How well the share of a step that runs into nothing is known, in halvings.
#define HALVINGS 12

// Friction: a spring until its force reaches friction x pressure, then that force. As an energy of the
// slide: quadratic, then linear.
static spring drag(const sn_contact* c, double s) {
  double k = GRIP * c->stiffness, most = c->friction * c->pressure, reach = most / k;
  if (s <= reach) return (spring){0.5 * k * s * s, k * s, k};
  return (spring){most * (s - 0.5 * reach), most, most / s};
}

sn_vec3 sn_contact_force(const sn_contact* c, const double* u, sn_vec3* stretch) {
  sn_vec3 relative = sn_contact_relative(c, u), s = slide(c, u, relative);
  double length = sn_length(s), f = drag(c, length).force;
  sn_vec3 along = length > 0 ? sn_scale(1 / length, s) : sn_v3(0, 0, 0);
  if (stretch) *stretch = sn_scale(f / (GRIP * c->stiffness), along);
  sn_vec3 normal = sn_scale(push(c, sn_dot(c->normal, relative) - c->offset).force, c->normal);
  return sn_madd(normal, -f, along);
}

static void spread(const sn_carried* c, double sign, sn_vec3 v, double* y) {
  for (int k = 0; k < 8; ++k) {
    double* at = y + 3 * (size_t)c->nodes[k];
    sn_store3(at, sn_madd(sn_load3(at), sign * c->weights[k], v));
  }
}

// A force on the point, and its counterpart on flesh that it touches.
static void spread_force(const sn_contact* c, sn_vec3 force, double* y) {
  if (c->on_facet) {
    for (int i = 0; i < 3; ++i) spread(c->corners[i], c->weights[i], force, y);
    return;
  }
  spread(c->carrier, 1, force, y);
  if (c->against_flesh) spread(&c->target, -1, force, y);
}

static const sn_contact_set* set_of(const sn_term* term) { return term->work; }

static double evaluate(const sn_term* term, sn_pool* pool, const double* u, double* g,
                       double* forces) {
  const sn_contact_set* set = set_of(term);
  double sum = 0, squares = 0, start = sn_seconds();
  (void)pool;
  for (uint32_t i = 0; i < set->count; ++i) {
    const sn_contact* c = &set->contacts[i];
    sn_vec3 relative = sn_contact_relative(c, u);
    spring normal = push(c, sn_dot(c->normal, relative) - c->offset);
    sn_vec3 force = sn_scale(-normal.force, c->normal);
    sum += normal.energy;
    if (c->friction > 0 && c->pressure > 0) {
      sn_vec3 s = slide(c, u, relative);
      double length = sn_length(s);
      spring tangential = drag(c, length);
      sum += tangential.energy;
      if (length > 0) force = sn_madd(force, tangential.force / length, s);
    }
    double size = sn_dot(force, force);
    if (size == 0) continue;
    squares += size;
    if (!g) continue;
    spread_force(c, force, g);
  }
  if (forces) *forces = sqrt(squares);
  *set->seconds += sn_seconds() - start;
  return sum;
}

typedef struct refresh_job {
  sn_contact_set* set;
  const double* u;
} refresh_job;

// Of each contact alone. Returns how many change.
static double refresh_some(void* ctx, size_t begin, size_t end) {
  const refresh_job* job = ctx;
  const sn_contact_set* set = job->set;
  double changed = 0;
  for (size_t i = begin; i < end; ++i) {
    sn_contact *c = &set->contacts[i], before = *c;
    if (!c->against_flesh && set->follow) set->follow(set->follow_ctx, c, job->u);
    c->pressure = push(c, sn_contact_gap(c, job->u)).force;
    changed += (c->friction > 0 && c->pressure != before.pressure) ||
               memcmp(&before.place, &c->place, sizeof c->place) != 0 ||
               memcmp(&before.normal, &c->normal, sizeof c->normal) != 0;
  }
  return changed;
}

// Colliders' planes follow the points; friction goes by the pressure of now. True if that changes
// anything.
static bool refresh(const sn_term* term, sn_pool* pool, const double* u) {
  refresh_job job = {term->work, u};
  double start = sn_seconds();
  bool changed = sn_parallel_sum(pool, job.set->count, 64, refresh_some, &job) > 0;
  *job.set->seconds += sn_seconds() - start;
  return changed;
}

// k n n^T + k' (1 - n n^T - s s^T), s: direction of a slide that has come loose.
static void set_block(const sn_contact* c, double normal, double tangential, sn_vec3 s,
                      sn_contact_block* block) {
  double n[3] = {c->normal.x, c->normal.y, c->normal.z}, d[3] = {s.x, s.y, s.z};
  static const int ROW[6] = {0, 1, 2, 0, 0, 1}, COLUMN[6] = {0, 1, 2, 1, 2, 2};
  for (int e = 0; e < 6; ++e) {
    int i = ROW[e], j = COLUMN[e];
    double across = (i == j) - n[i] * n[j] - d[i] * d[j];
    block->m[e] = (float)(normal * n[i] * n[j] + tangential * across);
  }
}

static void find_block(const sn_contact* c, const double* u, sn_contact_block* block) {
  sn_vec3 relative = sn_contact_relative(c, u), s = {0, 0, 0};
  spring normal = push(c, sn_dot(c->normal, relative) - c->offset), tangential = {0, 0, 0};
  if (c->friction > 0 && c->pressure > 0) {
    sn_vec3 way = slide(c, u, relative);
    double length = sn_length(way);
    tangential = drag(c, length);
    if (tangential.stiffness < GRIP * c->stiffness) s = sn_scale(1 / length, way);
  }
  set_block(c, normal.stiffness, tangential.stiffness, s, block);
}

static sn_contact_block* add_block(sn_contact_set* set, uint32_t contact) {
  sn_contact_block* block = &set->blocks[set->block_count++];
  *block = (sn_contact_block){.contact = contact};
  set->contacts[contact].block = set->block_count;
  return block;
}

static void linearise(const sn_term* term, sn_pool* pool, const double* u) {
  sn_contact_set* set = term->work;
  double start = sn_seconds();
  (void)pool;
  set->block_count = 0;
  for (uint32_t i = 0; i < set->count; ++i) {
    sn_contact* c = &set->contacts[i];
    c->block = 0;
    c->foreseen = false;
    // Friction goes by the pressure of the last refresh, also where nothing is pressed any more.
    bool grips = c->friction > 0 && c->pressure > 0;
    if (grips || sn_contact_gap(c, u) < 0) find_block(c, u, add_block(set, i));
  }
  *set->seconds += sn_seconds() - start;
}

static void add_pull(const sn_contact* c, double pull, double* g) {
  spread_force(c, sn_scale(pull, c->normal), g);
}

// What a contact comes to after a step, beyond what its tangent says.
static double surprise(const sn_contact* c, double gap, double after) {
  spring now = push(c, gap);
  double way = gap - after;
  double model = now.energy + now.force * way + 0.5 * now.stiffness * way * way;
  double truth = push(c, after).energy;
  return truth > model ? truth - model : 0;
}

// Where a share of a step would end in the full spring of a contact, which now touches softly or not at all.
static bool runs_into(const sn_contact* c, const double* u, const double* d, double share,
                      double* gap, double* after) {
  *gap = sn_contact_gap(c, u);
  *after = *gap - share * sn_dot(c->normal, relative_move(c, d));
  return *gap > -c->smooth && *after < 0 && *after < *gap;
}

// What a share of a step costs where it runs into what its model does not know.
static double find_price(const sn_contact_set* set, const double* u, const double* d,
                         double share) {
  double price = 0, gap, after;
  for (uint32_t i = 0; i < set->count; ++i) {
    const sn_contact* c = &set->contacts[i];
    if (!c->foreseen && runs_into(c, u, d, share, &gap, &after)) price += surprise(c, gap, after);
  }
  return price;
}

// The share of a step at which that is as much as it may.
static double find_share(const sn_contact_set* set, const double* u, const double* d, double most) {
  double low = 0, high = 1;
  for (int k = 0; k < HALVINGS; ++k) {
    double middle = 0.5 * (low + high);
    *(find_price(set, u, d, middle) > most ? &high : &low) = middle;
  }
  return high;
}

// Make the full spring 1/2 k (g + w/2)^2 of a contact its model.
static void foresee_one(sn_contact_set* set, uint32_t i, double gap, double* g) {
  sn_contact* c = &set->contacts[i];
  spring now = push(c, gap);
  sn_contact_block* block = c->block ? &set->blocks[c->block - 1] : add_block(set, i);
  sn_contact_block more;
  set_block(c, c->stiffness - now.stiffness, 0, sn_v3(0, 0, 0), &more);
  for (int k = 0; k < 6; ++k) block->m[k] += more.m[k];
  block->pull = c->stiffness * (gap + 0.5 * c->smooth) + now.force;
  c->foreseen = true;
  add_pull(c, block->pull, g);
}

// Only what a step runs into first is foreseen: held there it goes another way, and may miss the rest. A tip whose step
// leads through a plane comes to touch it by one point; springs on all would press it flat.
static bool foresee(const sn_term* term, sn_pool* pool, const double* u, const double* d,
                    double most, double* g) {
  sn_contact_set* set = term->work;
  double gap, after, start = sn_seconds();
  (void)pool;
  for (uint32_t i = 0; !d && i < set->block_count; ++i) {
    add_pull(&set->contacts[set->blocks[i].contact], -set->blocks[i].pull, g);
    set->blocks[i].pull = 0;
  }
  bool found = d && find_price(set, u, d, 1) > most;
  double share = found ? find_share(set, u, d, most) : 0;
  for (uint32_t i = 0; found && i < set->count; ++i) {
    const sn_contact* c = &set->contacts[i];
    if (!c->foreseen && runs_into(c, u, d, share, &gap, &after)) foresee_one(set, i, gap, g);
  }
  *set->seconds += sn_seconds() - start;
  return found;
}

// Of a spring that has grown stiffer tangents lead out by a third of the depth at a time, and outweigh all else until then.
static bool ease(const sn_term* term, sn_pool* pool, const double* u, double* g) {
  sn_contact_set* set = term->work;
  bool eased = false;
  double start = sn_seconds();
  (void)pool;
  for (uint32_t i = 0; i < set->count; ++i) {
    double gap = sn_contact_gap(&set->contacts[i], u);
    if (gap > -set->contacts[i].harden) continue;
    foresee_one(set, i, gap, g);
    eased = true;
  }
  *set->seconds += sn_seconds() - start;
  return eased;
}

static sn_vec3 block_times(const sn_contact_block* b, sn_vec3 v) {
  const float* m = b->m;
  return sn_v3(m[0] * v.x + m[3] * v.y + m[4] * v.z, m[3] * v.x + m[1] * v.y + m[5] * v.z,
               m[4] * v.x + m[5] * v.y + m[2] * v.z);
}

static void apply_d(const sn_term* term, sn_pool* pool, sn_hessian kind, const double* p,
                    double* y) {
  const sn_contact_set* set = set_of(term);
  double start = sn_seconds();
  (void)pool;
  (void)kind;
  for (uint32_t i = 0; i < set->block_count; ++i) {
    const sn_contact* c = &set->contacts[set->blocks[i].contact];
    spread_force(c, block_times(&set->blocks[i], relative_move(c, p)), y);
  }
  *set->seconds += sn_seconds() - start;
}

static void gather_f(const sn_carried* c, float sign, const float* p, float v[3]) {
  for (int k = 0; k < 8; ++k) {
    const float* at = p + 3 * (size_t)c->nodes[k];
    float w = sign * (float)c->weights[k];
    for (int i = 0; i < 3; ++i) v[i] += w * at[i];
  }
}

static void spread_f(const sn_carried* c, float sign, const float v[3], float* y) {
  for (int k = 0; k < 8; ++k) {
    float* at = y + 3 * (size_t)c->nodes[k];
    float w = sign * (float)c->weights[k];
    for (int i = 0; i < 3; ++i) at[i] += w * v[i];
  }
}

// What carries a contact: its point, or the corners of its facet; and the flesh that it touches.
static int list_sides(const sn_contact* c, const sn_carried* side[3], float signs[3]) {
  if (c->on_facet) {
    for (int i = 0; i < 3; ++i) {
      side[i] = c->corners[i];
      signs[i] = (float)c->weights[i];
    }
    return 3;
  }
  side[0] = c->carrier;
  side[1] = &c->target;
  signs[0] = 1;
  signs[1] = -1;
  return c->against_flesh ? 2 : 1;
}

static void apply_f(const sn_term* term, sn_pool* pool, sn_hessian kind, const float* p, float* y) {
  const sn_contact_set* set = set_of(term);
  double start = sn_seconds();
  (void)pool;
  (void)kind;
  for (uint32_t i = 0; i < set->block_count; ++i) {
    const sn_contact* c = &set->contacts[set->blocks[i].contact];
    const float* m = set->blocks[i].m;
    float v[3] = {0, 0, 0};
    float signs[3];
    const sn_carried* side[3];
    int sides = list_sides(c, side, signs);
    for (int k = 0; k < sides; ++k) gather_f(side[k], signs[k], p, v);
    float f[3] = {m[0] * v[0] + m[3] * v[1] + m[4] * v[2], m[3] * v[0] + m[1] * v[1] + m[5] * v[2],
                  m[4] * v[0] + m[5] * v[1] + m[2] * v[2]};
    for (int k = 0; k < sides; ++k) spread_f(side[k], signs[k], f, y);
  }
  *set->seconds += sn_seconds() - start;
}

// w w^T <= sum |w| diag(|w|). The weights of a point within its cell are not negative and sum to one.
static void spread_bound(const sn_carried* c, double sides, sn_vec3 rows, double* d) {
  double sum = 0, least = 0;
  for (int k = 0; k < 8; ++k) {
    sum += fabs(c->weights[k]);
    if (c->weights[k] < least) least = c->weights[k];
  }
  double scale = least < 0 ? sides * sum : sides;
  for (int k = 0; k < 8; ++k) {
    double* at = d + 3 * (size_t)c->nodes[k];
    sn_store3(at, sn_madd(sn_load3(at), scale * fabs(c->weights[k]), rows));
  }
}

// Row sums of absolute values. A spring B at a point couples the nodes k, l that carry it by w_k w_l B; the
// bound of w w^T times B at each node alone bounds it, twice that if flesh is on both sides.
static void diagonal(const sn_term* term, sn_pool* pool, double* d) {
  const sn_contact_set* set = set_of(term);
  double start = sn_seconds();
  (void)pool;
  for (uint32_t i = 0; i < set->block_count; ++i) {
    const sn_contact* c = &set->contacts[set->blocks[i].contact];
    const float* m = set->blocks[i].m;
    double sides = c->against_flesh ? 2 : 1;
    sn_vec3 rows =
        sn_v3(fabsf(m[0]) + fabsf(m[3]) + fabsf(m[4]), fabsf(m[3]) + fabsf(m[1]) + fabsf(m[5]),
              fabsf(m[4]) + fabsf(m[5]) + fabsf(m[2]));
    if (c->on_facet) {
      for (int k = 0; k < 3; ++k) spread_bound(c->corners[k], c->weights[k], rows, d);
      continue;
    }
    spread_bound(c->carrier, sides, rows, d);
    if (c->against_flesh) spread_bound(&c->target, sides, rows, d);
  }
  *set->seconds += sn_seconds() - start;
}

static const sn_term_ops CONTACT = {.name = "contact",
                                    .evaluate = evaluate,
                                    .linearise = linearise,
                                    .apply_d = apply_d,
                                    .apply_f = apply_f,
                                    .diagonal = diagonal,
                                    .refresh = refresh,
                                    .foresee = foresee,
                                    .ease = ease};

sn_term sn_contact_term(sn_contact_set* set) {
  return (sn_term){.ops = &CONTACT, .model = set, .work = set, .levels = SN_LEVELS_OWN};
}

// Work of a collider on a point: what it offers, as far as the point has gone along. A point that a step could not
// take along is deep in the collider, pushed by a large force that moved nothing.
static double taken(double offered, double moved) {
  return offered > 0 ? fmin(offered, fmax(0, moved)) : fmax(offered, fmin(0, moved));
}

static double collider_work(const sn_contact* c, const double* u, double pressure) {
  // The plane was that much further out than the one by which the last step ended.
  double raised = fmax(0, -c->gap_before - c->depth_before);
  sn_vec3 friction = sn_madd(sn_contact_force(c, u, NULL), -pressure, c->normal);
  return taken(pressure * (sn_dot(c->normal, c->drift) + raised),
               pressure * sn_dot(c->normal, c->way)) +
         taken(sn_dot(friction, c->drift), sn_dot(friction, c->way));
}

sn_contact_report sn_contact_set_report(const sn_contact_set* set, const double* u) {
  sn_contact_report report = {0};
  for (uint32_t i = 0; i < set->count; ++i) {
    const sn_contact* c = &set->contacts[i];
    double gap = sn_contact_gap(c, u), pressure = push(c, gap).force,
           depth = -gap - c->offset - c->sag;
    if (depth > report.deepest) report.deepest = depth;
    if (pressure == 0) continue;
    report.touching++;
    report.push += pressure;
    if (c->against_flesh) {
      report.work += pressure * fmax(0, -c->gap_before - c->depth_before);
      continue;
    }
    report.force += pressure;
    report.work += collider_work(c, u, pressure);
  }
  return report;
}
