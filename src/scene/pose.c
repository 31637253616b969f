// Bones, constraints, loads and muscles over time, and the work that they do.
#include "math/vec.h"
#include "scene/model.h"

static sn_vec3 load_value(const sn_force_desc* desc, double frame) {
  const sn_load_key* keys = desc->keys;
  uint32_t last = desc->key_count - 1;
  if (frame <= keys[0].frame) return keys[0].value;
  if (frame >= keys[last].frame) return keys[last].value;
  uint32_t k = 0;
  while (keys[k + 1].frame < frame) ++k;
  double t = (frame - keys[k].frame) / (keys[k + 1].frame - keys[k].frame);
  return sn_madd(keys[k].value, t, sn_sub(keys[k + 1].value, keys[k].value));
}

static void pose_bones(const sn_model* model, sn_state* state, double frame) {
  const sn_scene* scene = model->scene;
  for (uint32_t b = 0; b < scene->bone_count; ++b) {
    state->bone_poses[b] = sn_motion_toward(&scene->bones[b].motion, frame, state->entrance);
  }
  for (uint32_t f = 0; f < scene->fixed_count; ++f) {
    const sn_fixed_desc* fixed = &scene->fixed[f];
    state->fixed_poses[f] = fixed->bone == SN_NO_BONE
                                ? sn_motion_toward(&fixed->motion, frame, state->entrance)
                                : state->bone_poses[fixed->bone];
  }
}

// Colliders are where they are from the start: nothing has to come to them.
static void pose_colliders(const sn_model* model, sn_state* state, double frame) {
  for (uint32_t c = 0; c < model->scene->collider_count; ++c) {
    state->contact.obstacle_befores[c] = state->contact.obstacle_poses[c];
    state->contact.obstacle_poses[c] = sn_motion_at(&model->scene->colliders[c].motion, frame);
    if (!state->solved) state->contact.obstacle_befores[c] = state->contact.obstacle_poses[c];
  }
}

static bool pose_is_finite(const sn_rigid* pose) {
  double sum = pose->translate.x + pose->translate.y + pose->translate.z;
  for (int i = 0; i < 9; ++i) sum += pose->rotate.m[i / 3][i % 3];
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
    SN_CHECK(pose_is_finite(&state->contact.obstacle_poses[c]), err, SN_ERR_INPUT,
             "colliders[%u].motion: the pose at frame %g is not finite; expected smaller keys", c,
             frame);
  }
  return SN_OK;
}

static void set_tie_targets(const sn_body* body, const sn_rigid* poses, sn_body_work* work,
                            sn_vec3* moves) {
  for (uint32_t t = 0; t < body->tie_count; ++t) {
    sn_vec3 place = sn_octree_node_place(&body->tree, body->ties[t].node);
    sn_vec3 target = sn_rigid_displace(&poses[body->ties[t].bone], place);
    moves[t] = sn_sub(target, work->tie_targets[t]);
    work->tie_targets[t] = target;
  }
}

static void set_forces(const sn_model* model, const sn_state* state, const sn_body* body,
                       double frame, sn_body_work* work) {
  sn_vec3 gravity = sn_scale(state->entrance, model->scene->gravity);
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    sn_store3(work->forces + 3 * (size_t)n, sn_scale(body->node_mass[n], gravity));
  }
  for (uint32_t l = 0; l < body->load_count; ++l) {
    const sn_load* load = &body->loads[l];
    sn_vec3 value = load_value(load->desc, frame);
    for (uint32_t s = 0; s < load->share_count; ++s) {
      double* at = work->forces + 3 * (size_t)load->shares[s].node;
      sn_store3(at, sn_madd(sn_load3(at), load->shares[s].share, value));
    }
  }
  if (state->tau == 0) sn_free_parts_balance(model, body, work->forces);
}

// `held` along the axes that are, `free` along the others.
static sn_vec3 along_held(const sn_held_node* node, sn_vec3 held, sn_vec3 free) {
  return sn_v3(node->free_axes & 1 ? free.x : held.x, node->free_axes & 2 ? free.y : held.y,
               node->free_axes & 4 ? free.z : held.z);
}

static void move_held_nodes(const sn_body* body, const sn_state* state, double* u, sn_vec3* moves) {
  for (uint32_t h = 0; h < body->held_count; ++h) {
    sn_vec3 place = sn_octree_node_place(&body->tree, body->held[h].node);
    double* at = u + 3 * (size_t)body->held[h].node;
    sn_vec3 to = sn_rigid_displace(&state->fixed_poses[body->held[h].fixed], place);
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
    sn_vec3 mean = sn_scale(0.5, sn_add(load_value(load->desc, state->time_before),
                                        load_value(load->desc, state->time)));
    sum += sn_dot(mean, sn_sub(load_place(load, u), before[l]));
  }
  return sum;
}

void sn_pose_restore(const sn_model* model, sn_state* state, double frame) {
  state->time = frame;
  pose_bones(model, state, frame);
  pose_colliders(model, state, frame);
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    set_tie_targets(body, state->bone_poses, &state->bodies[b], state->tie_moves[b]);
    set_forces(model, state, body, frame, &state->bodies[b]);
    sn_muscles_activate(&body->muscles, &state->bodies[b].muscles, frame, state->entrance);
  }
}

sn_status sn_pose_advance(const sn_model* model, sn_state* state, double frame, sn_error* err) {
  pose_bones(model, state, frame);
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
    set_tie_targets(body, state->bone_poses, work, state->tie_moves[b]);
    set_forces(model, state, body, frame, work);
    sn_muscles_activate(&body->muscles, &work->muscles, frame, state->entrance);
    if (state->solved) {
      state->work += sn_muscles_half_work(&body->muscles, &work->muscles, state->pool, u);
    }
    move_held_nodes(body, state, u, state->held_moves[b]);
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
