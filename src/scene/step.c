// One frame: the method, in the order in which it happens.
#include <math.h>
#include <string.h>

#include "base/timer.h"
#include "math/vec.h"
#include "scene/model.h"
#include "solve/vector.h"

// How often a step that touches something and is far from settled is gone on with.
#define UNSETTLED_PASSES 3
// A residual at which a step is far from solved.
#define LOST 0.01
// Inverted cells, as a share, at which flesh is crushed: from there shorter steps do not lead any better.
#define CRUSHED 0.005
// And from which laws that count volumes do not find back by themselves.
#define TANGLED 0.02
// Share of its energy that flesh may gain in a step that has to do unsolved.
#define UNSOLVED_GAIN 0.25
// Share of its energy that flesh may gain in a step beyond what its damped forces did.
#define DAMPING_GAIN 0.01
// lambda / mu up to which that is asked: volumes that are stiffer are in balance ahead, and hold energy here.
#define MOST_LIFTED_BULK 40.0

static double gravity_energy(const sn_model* model, const double* u) {
  double sum = 0;
  bool dynamic = model->scene->mode == SN_MODE_DYNAMIC;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    for (uint32_t n = 0; n < body->tree.node_count; ++n) {
      if (!dynamic && !body->part_is_held[sn_body_part(body, n)]) continue;
      sn_vec3 move = sn_load3(u + body->begin + 3 * (size_t)n);
      sum -= body->node_mass[n] * sn_dot(model->scene->gravity, move);
    }
  }
  return sum;
}

static double elastic_energy(const sn_model* model, const sn_state* state, const double* u) {
  double sum = 0;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    const double* at = u + body->begin;
    sum += sn_flesh_evaluate(&body->flesh, state->pool, &state->bodies[b].flesh, at, NULL) +
           sn_muscles_energy(&body->muscles, &state->bodies[b].muscles, state->pool, at);
  }
  return sum;
}

static void measure(const sn_model* model, sn_state* state, sn_frame_stats* stats) {
  double rest_volume = 0;
  stats->min_j = INFINITY;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    const double* u = state->u + body->begin;
    sn_flesh_measure m = sn_flesh_get_measure(&body->flesh, state->pool, u);
    stats->volume += m.volume;
    stats->inverted += m.inverted;
    if (m.min_j < stats->min_j) stats->min_j = m.min_j;
    rest_volume += m.rest;
    stats->elements += body->tree.cell_count;
    stats->unknowns += 3 * (uint64_t)body->tree.node_count - body->held_unknown_count;
  }
  stats->volume_error = stats->volume / rest_volume - 1;
  stats->energy_elastic = elastic_energy(model, state, state->u);
  stats->energy_gravity = gravity_energy(model, state->u);
  stats->energy_kinetic = sn_stride_kinetic(model, state->velocity);
  stats->work = state->work;
  stats->contacts = state->contact.report.touching;
  stats->max_penetration = state->contact.report.deepest;
  stats->contact_force = state->contact.report.force;
  stats->contact_seconds = state->contact.spent;
  stats->lost_contacts = state->contact.set.lost;
  stats->bytes = sn_memory_used();
  stats->memory = sn_state_memory(model, state);
}

static sn_newton_opts newton_options(const sn_model* model, const sn_state* state) {
  const sn_solver_opts* solver = &model->scene->solver;
  bool multigrid = state->multigrid_count > 0;
  return (sn_newton_opts){
      .max = solver->newton_max,
      .tolerance = solver->newton_tolerance,
      .krylov_max = solver->krylov_max                  ? solver->krylov_max
                    : state->problem.pressure_count > 0 ? multigrid ? 200 : 2000
                    : multigrid                         ? 20
                                                        : 400,
      .krylov_long = solver->krylov_max == 0 && multigrid ? 200 : 0,
      .krylov_tolerance = solver->krylov_tolerance,
      .preconditioner = state->has_preconditioner ? &state->preconditioner : NULL,
      .krylov = state->krylov,
      .sharp = solver->sharp};
}

static void begin_step(const sn_model* model, sn_state* state, double seconds) {
  if (seconds > 0) {
    sn_stride_begin(model, state, seconds);
  } else if (state->u_before) {
    sn_vector_copy(state->pool, model->unknown_count, state->u, state->u_before);
  }
  size_t pressures = state->pressure ? state->problem.pressure_count : 0;
  if (pressures > 0) memcpy(state->pressure_before, state->pressure, pressures * sizeof(float));
  sn_contacts_begin(model, state, seconds > 0 ? seconds * model->scene->fps : 1);
}

static sn_evaluation evaluate_at(sn_state* state, const double* u) {
  return sn_problem_evaluate(&state->problem, state->pool, u, state->newton.gradient);
}

// Is much of a body inside out, far too large or far too small?
static bool is_ruined(const sn_model* model, const sn_state* state) {
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    sn_flesh_measure m = sn_flesh_get_measure(&body->flesh, state->pool, state->u + body->begin);
    if ((double)m.ruined > TANGLED * body->tree.cell_count) return true;
  }
  return false;
}

// In balance the past does not matter: out of ruins, where forces may lead to any knot, flesh goes to where it would
// be at rest, if that has less energy.
static void start_anew(const sn_model* model, sn_state* state) {
  const double* rest = sn_pose_rest(model, state);
  sn_contacts_find(model, state, rest);
  if (evaluate_at(state, rest).energy < evaluate_at(state, state->u).energy) {
    sn_vector_copy(state->pool, model->unknown_count, rest, state->u);
  }
}

// Where inertia alone would lead is a good place to start from, unless something is in the way; and so is
// where bones alone would. True if what is there is known, with its gradient.
static bool choose_start(const sn_model* model, sn_state* state, sn_evaluation* there) {
  const double* guesses[2];
  int count = 0;
  if (state->tau > 0) guesses[count++] = sn_stride_guess(model, state);
  const double* led = sn_pose_lead(model, state);
  if (led) guesses[count++] = led;
  if (count == 0) sn_contacts_find(model, state, state->u);
  for (int k = 0; k < count; ++k) sn_contacts_find(model, state, guesses[k]);
  double least = count > 0 ? evaluate_at(state, state->u).energy : 0;
  const double* best = NULL;
  for (int k = 0; k < count; ++k) {
    *there = evaluate_at(state, guesses[k]);
    if (!(there->energy < least)) continue;
    least = there->energy;
    best = guesses[k];
  }
  if (best) sn_vector_copy(state->pool, model->unknown_count, best, state->u);
  if (state->tau > 0 || !is_ruined(model, state)) return best && best == guesses[count - 1];
  start_anew(model, state);
  return false;
}

// The largest share of a body's cells that is inside out; of all bodies, or of those with other laws than
// the corotated one.
static double inverted_share(const sn_model* model, const sn_state* state, bool all) {
  double most = 0;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    if (!all && body->flesh.form == SN_FORM_COROTATED) continue;
    most = fmax(most, sn_body_inverted(body, state->pool, state->u));
  }
  return most;
}

static bool is_tangled(const sn_model* model, const sn_state* state) {
  return inverted_share(model, state, false) > TANGLED;
}

static void ease(const sn_model* model, sn_state* state, bool eased) {
  for (uint32_t b = 0; b < model->body_count; ++b) {
    state->bodies[b].flesh.eased = eased;
    if (state->multigrid_count > 0) sn_body_multigrid_ease(&state->multigrids[b], eased);
  }
}

// Laws with powers of J have valleys far from rest: out of a tangle flesh goes by the corotated law, at the
// pressures it has, and is its own again where it is in order.
static sn_newton_result untangle(const sn_model* model, sn_state* state, sn_newton_opts opts,
                                 sn_newton_work* work) {
  sn_problem plain = state->problem;
  plain.pressure_space_count = 0;
  plain.pressure_count = 0;
  plain.mixed = false;
  if (opts.krylov != SN_KRYLOV_NONE) opts.krylov = SN_KRYLOV_CG;
  opts.tolerance = fmax(opts.tolerance, 0.05);
  ease(model, state, true);
  sn_newton_result result = sn_newton_solve(&plain, state->pool, &opts, work, state->u);
  ease(model, state, false);
  return result;
}

// Find the state at the pose of `time`, in balance or, with a duration, by a step of time.
static sn_status try_pose(const sn_model* model, sn_state* state, double time, double seconds,
                          sn_frame_stats* stats, sn_error* err) {
  sn_newton_opts opts = newton_options(model, state);
  sn_newton_work work = state->newton;
  work.krylov += stats->newton;  // behind the steps of the poses before
  begin_step(model, state, seconds);
  SN_TRY(sn_pose_advance(model, state, time, err));  // bones, constraints, loads
  sn_evaluation start;
  bool known = choose_start(model, state, &start);
  for (int pass = 1;; ++pass) {
    bool tangled = is_tangled(model, state);
    opts.start = known && pass == 1 && !tangled ? &start : NULL;
    sn_newton_result newton =
        tangled ? untangle(model, state, opts, &work)
                : sn_newton_solve(&state->problem, state->pool, &opts, &work, state->u);
    work.krylov += newton.steps;
    stats->newton += newton.steps;
    stats->residual = newton.residual;
    stats->stop = tangled ? SN_STOP_MAX : (sn_stop)newton.stop;
    if (tangled && pass < SN_CONTACT_PASSES && !is_tangled(model, state)) continue;
    // What went through something on the way has to go another; what touches may take longer.
    bool settled = newton.stop != SN_NEWTON_MAX || state->contact.set.block_count == 0 ||
                   model->scene->solver.retries == 0;
    if (pass == (model->scene->solver.retries > 0 ? SN_CONTACT_PASSES : UNSETTLED_PASSES)) break;
    bool far = pass >= UNSETTLED_PASSES && newton.residual > LOST;
    if (sn_contacts_find_more(model, state) == 0 && (settled || far)) break;
  }
  // What is left behind a collider is carried along with it, so that nothing is ever passed through.
  if (sn_contacts_rescue(model, state)) stats->stop = SN_STOP_MAX;
  return SN_OK;
}

static void restore_pressures(sn_state* state) {
  size_t pressures = state->pressure ? state->problem.pressure_count : 0;
  if (pressures > 0) memcpy(state->pressure, state->pressure_before, pressures * sizeof(float));
}

// Back to where the step began. What was before that is not known any more.
static void rewind(const sn_model* model, sn_state* state, double work) {
  sn_vector_copy(state->pool, model->unknown_count, state->u_before, state->u);
  if (state->tau > 0) {
    sn_vector_copy(state->pool, model->unknown_count, state->velocity_before, state->velocity);
    state->step_before = 0;
  }
  restore_pressures(state);
  state->work = work;
  sn_pose_restore(model, state, state->time_before);
}

// Elastic, kinetic and of gravity, J.
static double whole_energy(const sn_model* model, const sn_state* state, const double* u,
                           const double* velocity) {
  return elastic_energy(model, state, u) + gravity_energy(model, u) +
         sn_stride_kinetic(model, velocity);
}

// What flesh gained in a step at whose end some of it was carried along, beyond the work of all others. Places were
// set there, not found by forces, so this is nobody's work.
static double find_rescued(const sn_model* model, const sn_state* state, double work) {
  double now = whole_energy(model, state, state->u, state->velocity);
  double before = whole_energy(model, state, state->u_before, state->velocity_before);
  return fmax(0, now - before - work);
}

// A step that has to do unsolved and has torn flesh is taken back: everything stays as it was and as fast, but goes with
// bones as these alone would take it, and with colliders that would go through it; if that strains it less.
static void stand_still(const sn_model* model, sn_state* state) {
  size_t count = model->unknown_count;
  double before = elastic_energy(model, state, state->u_before);
  double allowed =
      before + UNSOLVED_GAIN * (before + sn_stride_kinetic(model, state->velocity_before));
  double found = elastic_energy(model, state, state->u), *kept = state->newton.trial;
  if (found <= allowed) return;
  sn_vector_copy(state->pool, count, state->u, kept);
  for (size_t i = 0; i < count; ++i) {
    if (!sn_is_held(model->held, i)) state->u[i] = state->u_before[i];
  }
  const double* led = sn_pose_lead(model, state);
  if (led) sn_vector_copy(state->pool, count, led, state->u);
  state->still = true;
  uint32_t contacts = state->contact.set.count, stuck = state->contact.stuck_count;
  sn_contacts_begin(model, state,
                    state->contact.frames);  // contacts tell of ways that it has not gone
  sn_contacts_rescue(model, state);
  state->still = !(elastic_energy(model, state, state->u) >= found);
  if (state->still) {
    restore_pressures(state);
    sn_contacts_find(model, state, state->u);
  } else {
    state->contact.set.count = contacts;
    state->contact.stuck_count += stuck;
    sn_vector_copy(state->pool, count, kept, state->u);
  }
}

// Has damping given energy instead of taking it? It looks ahead: where flesh snaps from one valley of its energy to
// another, forces of the valley ahead lift it onto the hump between, against those where it is.
static bool is_lifted(const sn_model* model, const sn_state* state) {
  // Where places were set, not found by forces, these say nothing.
  if (state->tau == 0 || state->contact.stuck_count > 0) return false;
  bool condensed = state->problem.pressure_count == 0;
  if (condensed && model->largest_bulk > MOST_LIFTED_BULK) return false;
  double had = sn_stride_kinetic(model, state->velocity_before), gained = 0;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    sn_body_work* work = &state->bodies[b];
    if (work->stride.ahead == 0) continue;
    size_t count = 3 * (size_t)body->tree.node_count;
    const double *now = state->u + body->begin, *before = state->u_before + body->begin;
    double *force = state->newton.trial_gradient + body->begin, *way = state->newton.trial;
    sn_vector_fill(state->pool, count, 0, force);
    const sn_term* flesh = &state->terms[SN_BODY_TERMS * (size_t)b];
    flesh->ops->evaluate(flesh, state->pool, state->u, state->newton.trial_gradient, NULL);
    sn_vector_copy(state->pool, count, now, way);
    sn_vector_add(state->pool, count, -1, before, way);
    double start = sn_flesh_evaluate(&body->flesh, state->pool, &work->flesh, before, NULL);
    had += start;
    gained += sn_flesh_evaluate(&body->flesh, state->pool, &work->flesh, now, NULL) - start -
              sn_vector_dot(state->pool, count, force, way);
  }
  return gained > DAMPING_GAIN * had;
}

// Go on to the pose at `time`; adds up in `stats`. A step that touches something and is far from solved is
// made again in two halves; one in which damping lifted flesh, without that.
static sn_status solve_pose(const sn_model* model, sn_state* state, double time, double seconds,
                            int retries, sn_frame_stats* stats, sn_error* err) {
  double from = state->time, work = state->work;
  bool has_past = state->solved && state->u_before;
  bool was_crushed = model->contact.any && inverted_share(model, state, true) > CRUSHED;
  state->still = false;
  SN_TRY(try_pose(model, state, time, seconds, stats, err));
  bool lost =
      stats->stop != SN_STOP_CONVERGED && stats->residual > LOST && state->contact.set.count > 0;
  if (lost && has_past && retries > 0 && !was_crushed) {
    rewind(model, state, work);
    double half = 0.5 * (from + time);
    state->careful = retries == 1;  // these cannot be halved any more
    SN_TRY(solve_pose(model, state, half, 0.5 * seconds, retries - 1, stats, err));
    SN_TRY(solve_pose(model, state, time, 0.5 * seconds, retries - 1, stats, err));
    state->careful = false;
    return SN_OK;
  }
  if (has_past && !state->careful && is_lifted(model, state)) {
    rewind(model, state, work);
    state->careful = true;
    SN_TRY(solve_pose(model, state, time, seconds, retries, stats, err));
    state->careful = false;
    return SN_OK;
  }
  if (lost && state->careful && state->tau > 0) stand_still(model, state);
  stats->converged = stats->converged && stats->stop == SN_STOP_CONVERGED;
  if (state->tau == 0) sn_free_parts_align(model, state);
  sn_contacts_end(model, state);
  sn_pose_finish(model, state);  // reactions, work
  if (state->tau > 0) sn_stride_end(model, state);
  // Nothing balances the acceleration of a step that is not solved: BDF2 must not carry it on.
  if (lost) state->jolt = 1;
  if (state->contact.stuck_count > 0) {
    stats->rescued += find_rescued(model, state, state->work - work);
  }
  return SN_OK;
}

static bool anything_is_held(const sn_model* model) {
  bool held = false;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    for (uint32_t p = 0; p < body->part_count; ++p) held = held || body->part_is_held[p];
  }
  return held;
}

// Bodies that something holds come to rest in the first pose; others wait where they are put.
static sn_status settle(const sn_model* model, sn_state* state, int frame, sn_frame_stats* stats,
                        sn_error* err) {
  if (model->scene->mode == SN_MODE_DYNAMIC && !anything_is_held(model)) {
    SN_TRY(sn_pose_advance(model, state, frame, err));
    sn_pose_finish(model, state);
    return SN_OK;
  }
  // The first frame has no pose to come from, and all weight comes upon it at once; it may take a preroll of solves besides.
  // A tolerance of 0, which benchmarks set, asks for a fixed amount of work instead.
  int first = model->scene->solver.newton_tolerance > 0 ? SN_FIRST_SOLVES : 1, solves = first;
  if (model->scene->mode == SN_MODE_QUASISTATIC) solves += model->scene->preroll;
  for (int k = 0; k < solves && (k == 0 || stats->stop == SN_STOP_MAX); ++k) {
    if (k >= first) stats->newton = 0;
    stats->converged = true;
    SN_TRY(solve_pose(model, state, frame, 0, 0, stats, err));
  }
  return SN_OK;
}

static sn_vec3 place_of(const sn_body* body, const sn_state* state, uint32_t node) {
  return sn_add(sn_octree_node_place(&body->tree, node),
                sn_load3(state->u + body->begin + 3 * (size_t)node));
}

static sn_vec3 mass_centre(const sn_body* body, const sn_state* state) {
  sn_vec3 sum = {0, 0, 0};
  double mass = 0;
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    mass += body->node_mass[n];
    sum = sn_madd(sum, body->node_mass[n], place_of(body, state, n));
  }
  return sn_scale(1 / mass, sum);
}

static void set_velocities(const sn_model* model, sn_state* state) {
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    sn_vec3 centre = mass_centre(body, state);
    for (uint32_t n = 0; n < body->tree.node_count; ++n) {
      if (body->part_is_held[sn_body_part(body, n)]) continue;
      sn_vec3 arm = sn_sub(place_of(body, state, n), centre);
      sn_store3(state->velocity + body->begin + 3 * (size_t)n,
                sn_add(body->desc->velocity, sn_cross(body->desc->spin, arm)));
    }
  }
}

// The frames before the first: gravity grows and bones go from the bind pose to the first pose, slowly
// at both ends, in the first two thirds; then everything may calm down.
static sn_status enter(const sn_model* model, sn_state* state, int frame, sn_frame_stats* stats,
                       sn_error* err) {
  const sn_scene* scene = model->scene;
  int steps = scene->preroll * scene->substeps;
  for (int k = 1; k <= steps; ++k) {
    double share = fmin(1, 1.5 * k / steps);
    state->entrance = share * share * (3 - 2 * share);
    stats->newton = 0;
    stats->converged = true;
    SN_TRY(solve_pose(model, state, frame, 1 / (scene->fps * scene->substeps), 0, stats, err));
  }
  state->entrance = 1;
  return SN_OK;
}

static sn_status first_frame(const sn_model* model, sn_state* state, int frame,
                             sn_frame_stats* stats, sn_error* err) {
  bool dynamic = model->scene->mode == SN_MODE_DYNAMIC;
  if (dynamic && model->scene->preroll > 0) {
    SN_TRY(enter(model, state, frame, stats, err));
  } else {
    SN_TRY(settle(model, state, frame, stats, err));
  }
  if (dynamic) set_velocities(model, state);
  state->work = 0;  // counted from here: settling is no motion
  stats->rescued = 0;
  return SN_OK;
}

static double largest_move(sn_box box, const sn_affine* from, const sn_affine* to) {
  double most = 0;
  for (int c = 0; c < 8; ++c) {
    sn_vec3 p = sn_v3(c & 1 ? box.hi.x : box.lo.x, c & 2 ? box.hi.y : box.lo.y,
                      c & 4 ? box.hi.z : box.lo.z);
    most = fmax(most, sn_distance(sn_affine_carry(from, p), sn_affine_carry(to, p)));
  }
  return most;
}

static double largest_vertex_move(const sn_mesh_motion* motion, int frame) {
  double most = 0;
  for (uint32_t v = 0; v < motion->vertex_count; ++v) {
    most = fmax(most, sn_distance(sn_mesh_motion_at(motion, v, frame - 1),
                                  sn_mesh_motion_at(motion, v, frame)));
  }
  return most;
}

// How far what an attachment ties to goes from the frame before, at most.
static double tie_move(const sn_model* model, const sn_attachment_desc* tie, int frame) {
  if (tie->bone == SN_NO_BONE) {
    return largest_vertex_move(&model->scene->bodies[tie->body].pose, frame);
  }
  const sn_bone* bone = &model->bones[tie->bone];
  if (bone->desc->shape.frame_count > 0) return largest_vertex_move(&bone->desc->shape, frame);
  sn_affine from = sn_motion_at(&bone->desc->motion, frame - 1);
  sn_affine to = sn_motion_at(&bone->desc->motion, frame);
  return largest_move(bone->surface.box, &from, &to);
}

// How far the fastest node of a body goes in a frame.
static double fastest_move(const sn_model* model, const sn_state* state, const sn_body* body) {
  double most = 0;
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    sn_vec3 v = sn_load3(state->velocity + body->begin + 3 * (size_t)n);
    most = fmax(most, sn_dot(v, v));
  }
  return sqrt(most) / model->scene->fps;
}

// As many as asked for; more where a bone moves its flesh further than a cell at a time, or where
// something that may hit something moves further than a quarter of its size.
static int count_substeps(const sn_model* model, const sn_state* state, int frame) {
  const sn_scene* scene = model->scene;
  double parts = 0;
  for (uint32_t i = 0; i < scene->attachment_count; ++i) {
    const sn_attachment_desc* tie = &scene->attachments[i];
    double cell = model->bodies[tie->body].tree.cell;
    parts = fmax(parts, tie_move(model, tie, frame) / cell);
  }
  for (uint32_t b = 0; b < model->body_count && model->contact.any; ++b) {
    const sn_body* body = &model->bodies[b];
    double move = fastest_move(model, state, body);
    for (uint32_t c = 0; c < scene->collider_count; ++c) {
      const sn_obstacle* obstacle = &model->contact.obstacles[c];
      move = fmax(move, sn_obstacle_reach(obstacle, body->surface.box, frame - 1, frame));
    }
    parts = fmax(parts, 4 * move / sn_box_size(body->surface.box));
  }
  int wish = parts < scene->max_substeps ? (int)ceil(parts) : scene->max_substeps;
  return wish > scene->substeps ? wish : scene->substeps;
}

static sn_status next_frame(const sn_model* model, sn_state* state, int frame,
                            sn_frame_stats* stats, sn_error* err) {
  const sn_scene* scene = model->scene;
  bool dynamic = scene->mode == SN_MODE_DYNAMIC;
  int substeps = dynamic ? count_substeps(model, state, frame) : scene->substeps;
  double seconds = dynamic ? 1 / (scene->fps * substeps) : 0;
  for (int k = 1; k <= substeps; ++k) {
    double time = frame - 1 + (double)k / substeps;
    SN_TRY(solve_pose(model, state, time, seconds, scene->solver.retries, stats, err));
  }
  return SN_OK;
}

sn_status sn_step(const sn_model* model, sn_state* state, int frame, sn_frame_stats* stats,
                  sn_error* err) {
  double start = sn_seconds();
  const sn_scene* scene = model->scene;
  *stats = (sn_frame_stats){.frame = frame,
                            .time = (frame - scene->first_frame) / scene->fps,
                            .krylov = state->newton.krylov,
                            .converged = true};
  state->contact.spent = 0;
  SN_TRY((state->solved ? next_frame : first_frame)(model, state, frame, stats, err));
  state->frame = frame;
  sn_animation_advance(scene, &state->animation, frame);
  measure(model, state, stats);
  if (stats->lost_contacts > 0) {
    sn_log(SN_LOG_WARNING, "frame %d: no room for %llu contacts; points of the skin may go through",
           frame, (unsigned long long)stats->lost_contacts);
  }
  stats->seconds = sn_seconds() - start;
  return SN_OK;
}
