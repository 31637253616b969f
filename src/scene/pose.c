// Bones, constraints, loads and muscles over time, and the work that they do.
#include "math/vec.h"
#include "scene/model.h"
#include "solve/vector.h"

static void pose_bones(const sn_model* model, sn_state* state, double frame) {
  const sn_scene* scene = model->scene;
  for (uint32_t b = 0; b < scene->bone_count; ++b) {
    sn_affine before = state->posed ? state->bone_poses[b] : sn_affine_at_rest(), back;
    state->bone_poses[b] = sn_motion_toward(&scene->bones[b].motion, frame, state->entrance);
    back = sn_affine_inverse(&before);
    state->bone_moves[b] = sn_affine_after(&state->bone_poses[b], &back);
  }
  state->posed = true;
  for (uint32_t f = 0; f < scene->fixed_count; ++f) {
    const sn_fixed_desc* fixed = &scene->fixed[f];
    state->fixed_poses[f] = fixed->bone == SN_NO_BONE
                                ? sn_motion_toward(&fixed->motion, frame, state->entrance)
                                : state->bone_poses[fixed->bone];
  }
}

typedef struct shape_job {
  const sn_mesh* mesh;
  const sn_mesh_motion* motion;
  double frame, share;
  double* moves;
} shape_job;

// Of the way from rest, this share.
static void move_vertices(void* ctx, size_t begin, size_t end) {
  const shape_job* job = ctx;
  for (size_t v = begin; v < end; ++v) {
    sn_vec3 rest = sn_load3(job->mesh->positions + 3 * v);
    sn_vec3 place = sn_mesh_motion_at(job->motion, (uint32_t)v, job->frame);
    sn_store3(job->moves + 3 * v, sn_scale(job->share, sn_sub(place, rest)));
  }
}

static void pose_carrier(const sn_state* state, const sn_mesh* mesh, const sn_mesh_motion* motion,
                         double frame, sn_carrier* carrier) {
  if (!carrier->surface) return;
  shape_job job = {mesh, motion, frame, state->entrance, carrier->moves};
  sn_parallel_for(state->pool, mesh->vertex_count, 1024, move_vertices, &job);
  sn_carrier_turn(carrier, state->pool);
}

static void pose_carriers(const sn_model* model, sn_state* state, double frame) {
  const sn_scene* scene = model->scene;
  for (uint32_t b = 0; b < scene->bone_count; ++b) {
    const sn_bone_desc* bone = &scene->bones[b];
    pose_carrier(state, &bone->mesh, &bone->shape, frame, &state->bone_shapes[b]);
  }
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body_desc* body = &scene->bodies[b];
    pose_carrier(state, &body->mesh, &body->pose, frame, &state->body_poses[b]);
  }
}

// Colliders are where they are from the start: nothing has to come to them.
static void pose_colliders(const sn_model* model, sn_state* state, double frame) {
  for (uint32_t c = 0; c < model->scene->collider_count; ++c) {
    sn_obstacle_pose_move(&state->contact.obstacles[c], state->pool, frame, !state->solved);
  }
}

static bool pose_is_finite(const sn_affine* pose) {
  double sum = pose->translate.x + pose->translate.y + pose->translate.z;
  for (int i = 0; i < 9; ++i) sum += pose->linear.m[i / 3][i % 3];
  return isfinite(sum);
}

static sn_status check_poses(const sn_model* model, const sn_state* state, double frame,
                             sn_error* err) {
  const sn_scene* scene = model->scene;
  for (uint32_t b = 0; b < scene->bone_count; ++b) {
    SN_CHECK(pose_is_finite(&state->bone_poses[b]), err, SN_ERR_INPUT,
             "bones[%u].motion: the pose at frame %g is not finite; expected smaller keys", b,
             frame);
  }
  for (uint32_t f = 0; f < scene->fixed_count; ++f) {
    SN_CHECK(pose_is_finite(&state->fixed_poses[f]), err, SN_ERR_INPUT,
             "fixed[%u].motion: the pose at frame %g is not finite; expected smaller keys", f,
             frame);
  }
  for (uint32_t c = 0; c < scene->collider_count; ++c) {
    sn_affine pose = sn_affine_of_rigid(&state->contact.obstacles[c].now);
    SN_CHECK(pose_is_finite(&pose), err, SN_ERR_INPUT,
             "colliders[%u].motion: the pose at frame %g is not finite; expected smaller keys", c,
             frame);
  }
  return SN_OK;
}

// How far a tie's target is from its node at rest.
static sn_vec3 tie_target(const sn_state* state, const sn_body* body, uint32_t index,
                          const sn_tie* tie) {
  if (tie->rider == SN_NO_RIDER) {
    sn_vec3 place = sn_octree_node_place(&body->tree, tie->node);
    return sn_affine_displace(&state->bone_poses[tie->bone], place);
  }
  return sn_rider_move(&body->riders[tie->rider], tie->bone == SN_NO_BONE
                                                      ? &state->body_poses[index]
                                                      : &state->bone_shapes[tie->bone]);
}

static void set_tie_targets(const sn_model* model, sn_state* state, uint32_t index) {
  const sn_body* body = &model->bodies[index];
  sn_body_work* work = &state->bodies[index];
  sn_vec3* moves = state->tie_moves[index];
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    sn_vec3 target = tie_target(state, body, index, &body->ties[t]);
    moves[t] = sn_sub(target, work->tie_targets[t]);
    work->tie_targets[t] = target;
  }
}

static void set_forces(const sn_model* model, const sn_state* state, const sn_body* body,
                       double frame, sn_body_work* work) {
  work->gravity = sn_scale(state->entrance, model->scene->gravity);
  work->free_float = state->tau == 0;
  if (!work->forces) return;
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    sn_store3(work->forces + 3 * (size_t)n, sn_scale(body->node_mass[n], work->gravity));
  }
  for (uint32_t l = 0; l < body->load_count; ++l) {
    const sn_load* load = &body->loads[l];
    sn_vec3 value = sn_force_at(load->desc, frame);
    for (uint32_t s = 0; s < load->share_count; ++s) {
      double* at = work->forces + 3 * (size_t)load->shares[s].node;
      sn_store3(at, sn_madd(sn_load3(at), load->shares[s].share, value));
    }
  }
  if (work->free_float) sn_free_parts_balance(body, work->gravity, work->forces);
}

// `held` along the axes that are, `free` along the others.
static sn_vec3 along_held(const sn_held_node* node, sn_vec3 held, sn_vec3 free) {
  return sn_v3(node->free_axes & 1 ? free.x : held.x, node->free_axes & 2 ? free.y : held.y,
               node->free_axes & 4 ? free.z : held.z);
}

// How far a held node is to be from its place at rest.
static sn_vec3 held_target(const sn_model* model, const sn_state* state, const sn_body* body,
                           const sn_held_node* held) {
  if (held->rider == SN_NO_RIDER) {
    sn_vec3 place = sn_octree_node_place(&body->tree, held->node);
    return sn_affine_displace(&state->fixed_poses[held->fixed], place);
  }
  uint32_t bone = model->scene->fixed[held->fixed].bone;
  return sn_rider_move(&body->riders[held->rider], &state->bone_shapes[bone]);
}

static void move_held_nodes(const sn_model* model, const sn_state* state, const sn_body* body,
                            double* u, sn_vec3* moves) {
  for (uint32_t h = 0; h < body->held_count; ++h) {
    double* at = u + 3 * (size_t)body->held[h].node;
    sn_vec3 to = held_target(model, state, body, &body->held[h]);
    to = along_held(&body->held[h], to, sn_load3(at));
    moves[h] = sn_sub(to, sn_load3(at));
    sn_store3(at, to);
  }
}

// Half of the work of the last move, with the forces of now: of springs k (target - u), of the
// reactions of held nodes, and of loads (their mean over the frame; called at its end only).
static double half_work_of_ties(const sn_body* body, const sn_body_work* work, const sn_vec3* moves,
                                const double* u) {
  double sum = 0;
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    sn_vec3 pull = sn_sub(work->tie_targets[t], sn_load3(u + 3 * (size_t)body->ties[t].node));
    sum += 0.5 * body->ties[t].stiffness * sn_dot(pull, moves[t]);
  }
  return sum;
}

static double half_work_of_held(const sn_body* body, const double* reactions,
                                const sn_vec3* moves) {
  double sum = 0;
  for (uint32_t h = 0; h < body->held_count; ++h) {
    sum += 0.5 * sn_dot(sn_load3(reactions + 3 * (size_t)h), moves[h]);
  }
  return sum;
}

// Displacement at which a load acts: the sum of its nodes', by their shares.
static sn_vec3 load_place(const sn_load* load, const double* u) {
  sn_vec3 sum = {0, 0, 0};
  for (uint32_t s = 0; s < load->share_count; ++s) {
    sum = sn_madd(sum, load->shares[s].share, sn_load3(u + 3 * (size_t)load->shares[s].node));
  }
  return sum;
}

static double work_of_loads(const sn_body* body, const sn_state* state, const sn_vec3* before,
                            const double* u) {
  double sum = 0;
  for (uint32_t l = 0; l < body->load_count; ++l) {
    const sn_load* load = &body->loads[l];
    sn_vec3 mean = sn_scale(0.5, sn_add(sn_force_at(load->desc, state->time_before),
                                        sn_force_at(load->desc, state->time)));
    sum += sn_dot(mean, sn_sub(load_place(load, u), before[l]));
  }
  return sum;
}

void sn_pose_restore(const sn_model* model, sn_state* state, double frame) {
  state->time = frame;
  pose_bones(model, state, frame);
  pose_carriers(model, state, frame);
  pose_colliders(model, state, frame);
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    set_tie_targets(model, state, b);
    set_forces(model, state, body, frame, &state->bodies[b]);
    sn_muscles_activate(&body->muscles, &state->bodies[b].muscles, frame, state->entrance);
  }
}

sn_status sn_pose_advance(const sn_model* model, sn_state* state, double frame, sn_error* err) {
  pose_bones(model, state, frame);
  pose_carriers(model, state, frame);
  pose_colliders(model, state, frame);
  SN_TRY(check_poses(model, state, frame, err));
  const double* reactions = state->reactions;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    double* u = state->u + body->begin;
    for (uint32_t l = 0; l < body->load_count; ++l) {
      state->load_places[b][l] = load_place(&body->loads[l], u);
    }
    // With a past: springs that pull now, over the way that their targets go now.
    sn_body_work* work = &state->bodies[b];
    set_tie_targets(model, state, b);
    set_forces(model, state, body, frame, work);
    sn_muscles_activate(&body->muscles, &work->muscles, frame, state->entrance);
    if (state->solved) {
      state->work += sn_muscles_half_work(&body->muscles, &work->muscles, state->pool, u);
    }
    move_held_nodes(model, state, body, u, state->held_moves[b]);
    if (state->solved) {
      for (uint32_t t = 0; t < body->tie_count; ++t) {
        sn_vec3 old_target = sn_sub(work->tie_targets[t], state->tie_moves[b][t]);
        sn_vec3 pull = sn_sub(old_target, sn_load3(u + 3 * (size_t)body->ties[t].node));
        state->work += 0.5 * body->ties[t].stiffness * sn_dot(pull, state->tie_moves[b][t]);
      }
      state->work += half_work_of_held(body, reactions, state->held_moves[b]);
    }
    reactions += 3 * (size_t)body->held_count;
  }
  state->time_before = state->time;
  state->time = frame;
  return SN_OK;
}

static void keep_held(const sn_model* model, const sn_state* state, double* u) {
  for (size_t i = 0; i < model->unknown_count; ++i) {
    if (sn_is_held(model->held, i)) u[i] = state->u[i];
  }
}

const double* sn_pose_lead(const sn_model* model, sn_state* state) {
  double* led = state->newton.step;
  bool any = false;
  for (uint32_t b = 0; b < model->body_count; ++b) any = any || model->bodies[b].leads;
  if (!any) return NULL;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    const double* u = state->u + body->begin;
    if (body->leads) {
      sn_leads_follow(body, state->pool, state->bone_moves, u, led + body->begin);
    } else {
      sn_vector_copy(state->pool, 3 * (size_t)body->tree.node_count, u, led + body->begin);
    }
  }
  keep_held(model, state, led);
  return led;
}

const double* sn_pose_rest(const sn_model* model, sn_state* state) {
  double* rest = state->newton.trial;
  sn_vector_fill(state->pool, model->unknown_count, 0, rest);
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    double* at = rest + body->begin;
    if (body->leads) sn_leads_follow(body, state->pool, state->bone_poses, at, at);
    sn_free_parts_place(body, at);
  }
  keep_held(model, state, rest);
  return rest;
}

// Force that each held node needs: the gradient of everything there.
static void find_reactions(const sn_model* model, sn_state* state) {
  uint32_t held = 0;
  for (uint32_t b = 0; b < model->body_count; ++b) held += model->bodies[b].held_count;
  if (held == 0) return;
  double* gradient = state->newton.trial_gradient;
  for (size_t i = 0; i < model->unknown_count; ++i) gradient[i] = 0;
  for (int t = 0; t < state->problem.term_count; ++t) {
    const sn_term* term = &state->terms[t];
    term->ops->evaluate(term, state->pool, state->u, gradient, NULL);
  }
  double* reaction = state->reactions;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    for (uint32_t h = 0; h < body->held_count; ++h, reaction += 3) {
      sn_vec3 force = sn_load3(gradient + body->begin + 3 * (size_t)body->held[h].node);
      sn_store3(reaction, along_held(&body->held[h], force, sn_v3(0, 0, 0)));
    }
  }
}

void sn_pose_finish(const sn_model* model, sn_state* state) {
  find_reactions(model, state);
  const double* reactions = state->reactions;
  for (uint32_t b = 0; b < model->body_count && state->solved; ++b) {
    const sn_body* body = &model->bodies[b];
    const double* u = state->u + body->begin;
    state->work += half_work_of_ties(body, &state->bodies[b], state->tie_moves[b], u);
    state->work += half_work_of_held(body, reactions, state->held_moves[b]);
    state->work += work_of_loads(body, state, state->load_places[b], u);
    state->work += sn_muscles_half_work(&body->muscles, &state->bodies[b].muscles, state->pool, u);
    reactions += 3 * (size_t)body->held_count;
  }
  if (state->solved) state->work += state->contact.report.work;
  state->solved = true;
}
