#include <float.h>
#include <stddef.h>
#include <string.h>

#include "body/body_follow.h"
#include "math/random.h"
#include "math/vec.h"
#include "scene/model.h"

static sn_vec3 scrambled(const sn_scramble* scramble, sn_vec3 place, sn_vec3 centre, double size,
                         sn_random* random) {
  sn_vec3 p = place;
  switch (scramble->kind) {
    case SN_SCRAMBLE_NONE:
      break;
    case SN_SCRAMBLE_POINT:
      p = centre;
      break;
    case SN_SCRAMBLE_LINE:
      p.y = centre.y;
      p.z = centre.z;
      break;
    case SN_SCRAMBLE_PLANE:
      p.y = centre.y;
      break;
    case SN_SCRAMBLE_MIRROR:
      p.x = 2 * centre.x - p.x;
      break;
    case SN_SCRAMBLE_RANDOM: {
      double x = sn_random_symmetric(random), y = sn_random_symmetric(random);
      double z = sn_random_symmetric(random);
      p = sn_madd(centre, scramble->amount * size, sn_v3(x, y, z));
      break;
    }
    case SN_SCRAMBLE_PERMUTE:
      break;  // all of them together
    case SN_SCRAMBLE_SCALE:
      p = sn_madd(centre, scramble->amount, sn_sub(place, centre));
      break;
  }
  return p;
}

// Every order is as likely as any other. @param places (3 x count)
static void permute(sn_random* random, uint32_t count, double* places) {
  for (uint32_t n = count; n > 1; --n) {
    uint32_t other = (uint32_t)(sn_random_unit(random) * n);
    sn_vec3 place = sn_load3(places + 3 * (size_t)(n - 1));
    sn_store3(places + 3 * (size_t)(n - 1), sn_load3(places + 3 * (size_t)other));
    sn_store3(places + 3 * (size_t)other, place);
  }
}

// Rest, scrambled if so asked, then placed. @param u 0 before
static void set_start_pose(const sn_body* body, double* u) {
  const sn_body_desc* desc = body->desc;
  if (desc->scramble.kind == SN_SCRAMBLE_NONE && sn_rigid_is_none(&desc->initial)) return;
  sn_vec3 centre = sn_box_centre(body->surface.box);
  double size = sn_box_size(body->surface.box);
  sn_random random = sn_random_seeded(desc->scramble.seed);
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    sn_vec3 rest = sn_octree_node_place(&body->tree, n);
    sn_store3(u + 3 * (size_t)n, scrambled(&desc->scramble, rest, centre, size, &random));
  }
  if (desc->scramble.kind == SN_SCRAMBLE_PERMUTE) permute(&random, body->tree.node_count, u);
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    sn_vec3 rest = sn_octree_node_place(&body->tree, n), place = sn_load3(u + 3 * (size_t)n);
    sn_vec3 move = sn_add(sn_sub(place, rest), sn_rigid_displace(&desc->initial, place));
    sn_store3(u + 3 * (size_t)n, move);
  }
}

static sn_status create_bodies(const sn_model* model, sn_state* state, sn_error* err) {
  sn_arena* arena = state->arena;
  size_t held_count = 0;
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->bodies, err));
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->tie_moves, err));
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->held_moves, err));
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->load_places, err));
  SN_TRY(SN_ARENA_NEW(arena, SN_BODY_TERMS * (size_t)model->body_count + 1, &state->terms, err));
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    SN_TRY(sn_body_work_create(body, arena, &state->bodies[b], err));
    SN_TRY(SN_ARENA_NEW(arena, body->tie_count, &state->tie_moves[b], err));
    SN_TRY(SN_ARENA_NEW(arena, body->held_count, &state->held_moves[b], err));
    SN_TRY(SN_ARENA_NEW(arena, body->load_count, &state->load_places[b], err));
    sn_body_make_terms(body, &state->bodies[b], state->terms + SN_BODY_TERMS * (size_t)b);
    set_start_pose(body, state->u + body->begin);
    held_count += body->held_count;
  }
  return SN_ARENA_NEW(arena, 3 * held_count, &state->reactions, err);
}

// Vectors and multigrid hold what is left of theirs without the tangents.
static void count_memory(const sn_model* model, sn_state* state, size_t vectors, size_t multigrid) {
  size_t fine = 0, coarse = 0;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    fine += sn_flesh_work_bytes(&model->bodies[b].flesh, false);
  }
  for (uint32_t b = 0; b < state->multigrid_count; ++b) {
    const sn_hierarchy* hierarchy = &model->hierarchies[b];
    for (int l = 1; l < hierarchy->count; ++l) {
      coarse += sn_flesh_work_bytes(&hierarchy->grids[l].flesh, true);
    }
  }
  state->memory.bytes[SN_MEMORY_TANGENTS] = fine + coarse;
  state->memory.bytes[SN_MEMORY_VECTORS] = vectors - fine;
  state->memory.bytes[SN_MEMORY_MULTIGRID] = multigrid - coarse;
}

int sn_scene_most_newton(const sn_scene* scene) {
  bool more = scene->mode == SN_MODE_DYNAMIC && scene->max_substeps > scene->substeps;
  // Of a step and its halves, each with and without damping.
  int tries = 2 * ((1 << (scene->solver.retries + 1)) - 1);
  int solves = tries * (more ? scene->max_substeps : scene->substeps);
  return SN_CONTACT_PASSES * scene->solver.newton_max *
         (solves > SN_FIRST_SOLVES ? solves : SN_FIRST_SOLVES);
}

static sn_status create_past(const sn_model* model, sn_state* state, sn_error* err) {
  double** vectors[] = {&state->u_before, &state->velocity, &state->velocity_before, &state->base,
                        &state->ahead_u};
  bool dynamic = model->scene->mode == SN_MODE_DYNAMIC;
  size_t count = dynamic ? sizeof vectors / sizeof *vectors : model->contact.any ? 1 : 0;
  for (size_t i = 0; i < count; ++i) {
    SN_TRY(SN_ARENA_NEW(state->arena, model->unknown_count, vectors[i], err));
  }
  return SN_OK;
}

// Surfaces that carry something: deforming bones, poses of bodies, flesh with followers.
static sn_status create_carriers(const sn_model* model, sn_state* state, sn_error* err) {
  sn_arena* arena = state->arena;
  const sn_scene* scene = model->scene;
  SN_TRY(SN_ARENA_NEW(arena, scene->bone_count, &state->bone_shapes, err));
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->body_poses, err));
  SN_TRY(SN_ARENA_NEW(arena, model->body_count, &state->shown, err));
  for (uint32_t b = 0; b < scene->bone_count; ++b) {
    if (scene->bones[b].shape.frame_count == 0) continue;
    SN_TRY(sn_carrier_create(&model->bones[b].surface, arena, &state->bone_shapes[b], err));
  }
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    if (body->desc->pose.frame_count > 0) {
      SN_TRY(sn_carrier_create(&body->surface, arena, &state->body_poses[b], err));
    }
    if (body->follower_count > 0) {
      SN_TRY(sn_carrier_create(&body->surface, arena, &state->shown[b], err));
    }
  }
  return SN_OK;
}

// One body at a time is shown.
static sn_status create_slopes(const sn_model* model, sn_state* state, sn_error* err) {
  size_t most = 0;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    if (body->smooth.tree && body->tree.node_count > most) most = body->tree.node_count;
  }
  return most ? SN_ARENA_RAW(state->arena, SN_SLOPE_NUMBERS * most, &state->slopes, err) : SN_OK;
}

static sn_status create(const sn_model* model, sn_pool* pool, sn_state* state, sn_error* err) {
  sn_arena* arena = state->arena;
  const sn_scene* scene = model->scene;
  state->pool = pool;
  state->frame = scene->first_frame - 1;
  state->entrance = 1;
  SN_TRY(SN_ARENA_NEW(arena, model->unknown_count, &state->u, err));
  SN_TRY(create_past(model, state, err));
  SN_TRY(SN_ARENA_NEW(arena, scene->bone_count, &state->bone_poses, err));
  SN_TRY(SN_ARENA_NEW(arena, scene->bone_count, &state->bone_moves, err));
  SN_TRY(SN_ARENA_NEW(arena, scene->fixed_count, &state->fixed_poses, err));
  SN_TRY(create_bodies(model, state, err));
  SN_TRY(create_carriers(model, state, err));
  SN_TRY(create_slopes(model, state, err));
  SN_TRY(sn_animation_create(scene, arena, &state->animation, err));
  SN_TRY(sn_newton_work_create(model->unknown_count, sn_scene_most_newton(scene), arena,
                               &state->newton, err));
  int terms = SN_BODY_TERMS * (int)model->body_count;
  if (model->contact.any) state->terms[terms++] = sn_contact_term(&state->contact.set);
  state->problem = (sn_problem){.unknown_count = model->unknown_count,
                                .terms = state->terms,
                                .term_count = terms,
                                .held = model->held,
                                .force_scale = model->force_scale,
                                .energy_scale = model->energy_scale};
  size_t held = 0, vectors = sn_arena_lap(arena, &held);
  SN_TRY(sn_contacts_create(model, state, err));
  state->memory.bytes[SN_MEMORY_CONTACT] = sn_arena_lap(arena, &held);
  SN_TRY(sn_preconditioner_create(model, state, err));
  SN_TRY(sn_pressures_create(model, state, err));
  count_memory(model, state, vectors, sn_arena_lap(arena, &held));
  return SN_OK;
}

const char* sn_memory_purpose_name(sn_memory_purpose purpose) {
  static const char* const NAMES[SN_MEMORY_PURPOSES] = {"surface",  "tree",      "families",
                                                        "material", "levels",    "tangents",
                                                        "vectors",  "multigrid", "contact"};
  return NAMES[purpose];
}

sn_memory_account sn_state_memory(const sn_model* model, const sn_state* state) {
  sn_memory_account sum = model->memory;
  for (int p = 0; p < SN_MEMORY_PURPOSES; ++p) sum.bytes[p] += state->memory.bytes[p];
  return sum;
}

sn_status sn_state_create(const sn_model* model, sn_pool* pool, sn_state** state, sn_error* err) {
  sn_arena* arena;
  sn_state* created;
  *state = NULL;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = SN_ARENA_NEW(arena, 1, &created, err);
  if (status == SN_OK) {
    created->arena = arena;
    sn_arena_set_pool(arena, pool);
    status = create(model, pool, created, err);
  }
  if (status != SN_OK) {
    sn_arena_destroy(arena);
    return status;
  }
  *state = created;
  return SN_OK;
}

void sn_state_destroy(sn_state* state) {
  if (state) sn_arena_destroy(state->arena);  // the state itself is in it
}

int sn_state_frame(const sn_state* state) { return state->frame; }

typedef struct extract_job {
  const sn_body* body;
  const double *u, *slopes;
  double unit;
  float* positions;
  double* moves;  // of the vertices, where something follows; else NULL (3 x vertex_count)
  const sn_carrier *shown, *pose;
} extract_job;

static void show_vertex(const extract_job* job, size_t v, sn_vec3 move) {
  sn_vec3 place = sn_add(sn_load3(job->body->desc->mesh.positions + 3 * v), move);
  for (int i = 0; i < 3; ++i) job->positions[3 * v + i] = (float)(sn_axis(place, i) / job->unit);
}

// Rest place plus interpolated displacement: at rest the vertex is where the file had it.
static void extract(void* ctx, size_t begin, size_t end) {
  const extract_job* job = ctx;
  const sn_body* body = job->body;
  for (size_t v = begin; v < end; ++v) {
    sn_vec3 move = sn_body_vertex_show(body, job->u, job->slopes, v);
    if (job->moves) sn_store3(job->moves + 3 * v, move);
    show_vertex(job, v, move);
  }
}

static void extract_followers(void* ctx, size_t begin, size_t end) {
  const extract_job* job = ctx;
  for (size_t f = begin; f < end; ++f) {
    const sn_follower* follower = &job->body->followers[f];
    show_vertex(job, follower->vertex, sn_follower_move(follower, job->shown, job->pose));
  }
}

void sn_surface_extract(const sn_model* model, const sn_state* state, uint32_t body,
                        float* positions) {
  const sn_body* b = &model->bodies[body];
  sn_carrier *shown = &state->shown[body], *pose = &state->body_poses[body];
  extract_job job = {.body = b,
                     .u = state->u + b->begin,
                     .slopes = state->slopes,
                     .unit = model->scene->unit,
                     .positions = positions,
                     .moves = shown->moves,
                     .shown = shown,
                     .pose = pose};
  if (b->smooth.tree) sn_smooth_skin_update(&b->smooth, state->pool, job.u, state->slopes);
  sn_parallel_for(state->pool, b->desc->mesh.vertex_count, 1024, extract, &job);
  if (b->follower_count == 0) return;
  if (!pose->surface) sn_carrier_turn(shown, state->pool);
  sn_parallel_for(state->pool, b->follower_count, 1024, extract_followers, &job);
}

// A checkpoint holds displacements, reactions and work, and of a dynamic scene the past; poses and
// targets follow from the frame.
typedef enum payload_kind {
  PAYLOAD_WAYS,     // doubles: displacements and velocities
  PAYLOAD_NUMBERS,  // doubles
  PAYLOAD_FLOATS,
  PAYLOAD_TOUCHES,
  PAYLOAD_FACETS,
  PAYLOAD_MARKS  // whatever they are, nothing is reached by them
} payload_kind;

typedef struct payload_part {
  void* at;
  size_t size;
  payload_kind kind;
} payload_part;

#define PAYLOAD_PARTS 14

static size_t list_payload(const sn_model* model, const sn_state* state,
                           payload_part parts[PAYLOAD_PARTS]) {
  size_t vector = model->unknown_count * sizeof(double), reactions = 0, size = 0;
  size_t points = model->contact.any ? model->contact.firsts[model->body_count] : 0;
  size_t facets = model->contact.any ? model->contact.facet_firsts[model->body_count] : 0;
  size_t past = model->scene->mode == SN_MODE_DYNAMIC ? vector : 0;
  for (uint32_t b = 0; b < model->body_count; ++b) reactions += model->bodies[b].held_count;
  const payload_part all[PAYLOAD_PARTS] = {
      {state->u, vector, PAYLOAD_WAYS},
      {state->pressure, state->pressure ? state->problem.pressure_count * sizeof(float) : 0,
       PAYLOAD_FLOATS},
      {state->velocity, past, PAYLOAD_WAYS},
      {state->velocity_before, past, PAYLOAD_WAYS},
      {state->u_before, past, PAYLOAD_WAYS},
      {state->reactions, 3 * reactions * sizeof(double), PAYLOAD_NUMBERS},
      {(void*)&state->work, sizeof state->work, PAYLOAD_NUMBERS},
      {(void*)&state->step_before, sizeof state->step_before, PAYLOAD_NUMBERS},
      {(void*)&state->push_before, sizeof state->push_before, PAYLOAD_NUMBERS},
      {(void*)&state->jolt, sizeof state->jolt, PAYLOAD_NUMBERS},
      {(void*)&state->contact.first, sizeof state->contact.first, PAYLOAD_MARKS},
      {state->contact.memory, SN_TOUCHES * points * sizeof *state->contact.memory, PAYLOAD_TOUCHES},
      {state->contact.facet_memory, facets * sizeof *state->contact.facet_memory, PAYLOAD_FACETS},
      {state->contact.overlaps, points * sizeof *state->contact.overlaps, PAYLOAD_MARKS}};
  for (int i = 0; i < PAYLOAD_PARTS; ++i) {
    parts[i] = all[i];
    size += all[i].size;
  }
  return size;
}

size_t sn_state_payload_size(const sn_model* model, const sn_state* state) {
  payload_part parts[PAYLOAD_PARTS];
  return list_payload(model, state, parts);
}

const void* sn_state_payload_part(const sn_model* model, const sn_state* state, int index,
                                  size_t* size) {
  payload_part parts[PAYLOAD_PARTS];
  list_payload(model, state, parts);
  *size = index < PAYLOAD_PARTS ? parts[index].size : 0;
  return index < PAYLOAD_PARTS ? parts[index].at : NULL;
}

int sn_state_payload_count(void) { return PAYLOAD_PARTS; }

// Nothing that is simulated gets further than this, in metres or metres a second.
#define MOST_WAY 1e12

static bool are_finite(const unsigned char* bytes, size_t count, double most) {
  for (size_t i = 0; i < count; ++i) {
    double number;
    memcpy(&number, bytes + i * sizeof number, sizeof number);
    if (!(fabs(number) <= most)) return false;
  }
  return true;
}

static bool floats_are_finite(const unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    float number;
    memcpy(&number, bytes + i * sizeof number, sizeof number);
    if (!isfinite((double)number)) return false;
  }
  return true;
}

// All numbers of a touch follow its partner.
static bool touches_are_finite(const unsigned char* bytes, size_t count) {
  size_t first = offsetof(sn_touch_memory, pressure), size = sizeof(sn_touch_memory);
  for (size_t i = 0; i < count; ++i) {
    if (!are_finite(bytes + i * size + first, (size - first) / sizeof(double), DBL_MAX))
      return false;
  }
  return true;
}

static bool facets_are_finite(const unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!floats_are_finite(bytes + i * sizeof(sn_facet_memory) + offsetof(sn_facet_memory, slack),
                           2)) {
      return false;
    }
  }
  return true;
}

static bool part_is_sound(payload_part part, const unsigned char* bytes) {
  switch (part.kind) {
    case PAYLOAD_WAYS:
      return are_finite(bytes, part.size / sizeof(double), MOST_WAY);
    case PAYLOAD_NUMBERS:
      return are_finite(bytes, part.size / sizeof(double), DBL_MAX);
    case PAYLOAD_FLOATS:
      return floats_are_finite(bytes, part.size / sizeof(float));
    case PAYLOAD_TOUCHES:
      return touches_are_finite(bytes, part.size / sizeof(sn_touch_memory));
    case PAYLOAD_FACETS:
      return facets_are_finite(bytes, part.size / sizeof(sn_facet_memory));
    default:
      return true;
  }
}

bool sn_state_read_payload(const sn_model* model, sn_state* state, int frame,
                           const unsigned char* bytes) {
  payload_part parts[PAYLOAD_PARTS];
  list_payload(model, state, parts);
  const unsigned char* at = bytes;
  for (int i = 0; i < PAYLOAD_PARTS; at += parts[i++].size) {
    if (!part_is_sound(parts[i], at)) return false;
  }
  for (int i = 0; i < PAYLOAD_PARTS; bytes += parts[i++].size) {
    if (parts[i].size) memcpy(parts[i].at, bytes, parts[i].size);
  }
  state->frame = frame;
  state->solved = true;
  sn_pose_restore(model, state, frame);
  return true;
}
