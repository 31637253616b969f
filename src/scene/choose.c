// Which level of a body's multigrid is solved directly: docs/theory/macroblock.md, section 7, for thin flesh, and
// docs/theory/incompressible.md, section 4, for nearly incompressible flesh.
#include <math.h>

#include "scene/model.h"

// Flesh with fewer cells than this through it is thin: twice the volume over the surface, which is its
// thickness if it is a plate and half of it if it is a rod.
#define THIN 4.0
// What a factor may take for each cell of the body. An operation is a ten-billionth of a second, an
// iteration of multigrid a ten-millionth for each cell: about forty iterations,
#define MOST_COST 4e4
// and reading it in every iteration about as long as the iteration itself; of the whole body there are
// few iterations, so that it may be larger.
#define MOST_NUMBERS 150.0
#define MOST_WHOLE_NUMBERS 1500.0

// Share of the machine's memory that a factor may take.
#define MOST_MEMORY 0.5

// Faces that nothing lies behind, and cells, both as if all were of the finest size.
static double mean_thickness(const sn_octree* tree) {
  double volume = 0, surface = 0;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_octant o = tree->cells[e];
    int edge = (int)sn_octant_size(o), at[3] = {o.x, o.y, o.z};
    volume += (double)edge * edge * edge;
    for (int face = 0; face < 6; ++face) {
      int beyond[3] = {at[0] + edge / 2, at[1] + edge / 2, at[2] + edge / 2};
      beyond[face / 2] = face % 2 ? at[face / 2] + edge : at[face / 2] - 1;
      bool open = sn_octree_find(tree, beyond[0], beyond[1], beyond[2]) == SN_NO_CELL;
      if (open) surface += (double)edge * edge;
    }
  }
  return surface > 0 ? 2 * volume / surface : 0;
}

// What a factor may cost: operations and numbers, and which levels are thought of.
typedef struct factor_limits {
  double cost, numbers, whole_numbers;
  int finest;
  double cells;
} factor_limits;

static factor_limits limits_of_thin_flesh(const sn_body* body) {
  double cells = body->tree.cell_count;
  return (factor_limits){MOST_COST * cells, MOST_NUMBERS * cells, MOST_WHOLE_NUMBERS * cells, 0,
                         INFINITY};
}

// Nearly incompressible flesh: limbs bend and twist too stiffly on every coarser level, so that a factor of one on which
// they are still as thick as they are may take more, up to about a tenth of a second, of fewer cells than so many.
#define STIFF_COST 1.3e5
#define MOST_STIFF_COST 1e9
#define MOST_STIFF_CELLS 20000.0
// Above this lambda / mu, condensed, coarse levels are too far from the first to be taken at their word.
#define MOST_CONDENSED_BULK 100.0
// Limbs with bones in them cannot bend by themselves: a body with more than this share of its nodes tied
// gains nothing.
#define MOST_TIED 0.02

static factor_limits limits_of_stiff_flesh(const sn_body* body) {
  double cost = STIFF_COST * body->tree.cell_count;
  return (factor_limits){fmin(cost, MOST_STIFF_COST), INFINITY, 0, 1, MOST_STIFF_CELLS};
}

static bool is_stiff(const sn_model* model, const sn_body* body) {
  const sn_multigrid_opts* asked = &model->scene->solver.multigrid;
  if (asked->smoother == SN_SMOOTHER_JACOBI || asked->coarsest == SN_COARSEST_JACOBI) return false;
  if (body->tie_count > MOST_TIED * body->tree.node_count) return false;
  if (sn_pressures_are_kept(model)) return true;
  bool smoothed = asked->smoother == SN_SMOOTHER_CHEBYSHEV || sn_flesh_is_stiff(model);
  return smoothed && model->largest_bulk <= MOST_CONDENSED_BULK;
}

static bool pays(const sn_dissection* plan, int level, const factor_limits* limits) {
  double numbers = level == 0 ? limits->whole_numbers : limits->numbers;
  return plan->cost <= limits->cost && (double)plan->factor_count <= numbers;
}

// The finest level that pays; -1: none.
static sn_status find_level(const sn_hierarchy* hierarchy, const factor_limits* limits,
                            sn_arena* scratch, int* level, sn_error* err) {
  *level = -1;
  for (int l = limits->finest; l < hierarchy->count && *level < 0; ++l) {
    sn_arena_mark mark = sn_arena_get_mark(scratch);
    const sn_grid* grid = &hierarchy->grids[l];
    sn_dissection plan;
    sn_error why = {0};
    if (grid->tree->cell_count > limits->cells) continue;
    sn_status status = sn_dissection_plan(grid->tree, grid->held, scratch, scratch, &plan, &why);
    if (status == SN_OK && pays(&plan, l, limits)) *level = l;
    sn_arena_release(scratch, mark);
    // A front that is too large is no error here: the level is not solved directly.
    if (status != SN_OK && status != SN_ERR_INPUT) {
      *err = why;
      return status;
    }
  }
  return SN_OK;
}

static void say(const char* name, double thickness, int level) {
  const char* thin = thickness < THIN ? "thin" : "stout";
  if (level == 0) {
    sn_log(SN_LOG_INFO,
           "body \"%s\": %.1f cells thick, which is %s: solver.linear \"auto\" is \"direct\", a "
           "factor of the "
           "whole body",
           name, thickness, thin);
  } else if (level > 0) {
    sn_log(SN_LOG_INFO,
           "body \"%s\": %.1f cells thick, which is %s: solver.linear \"auto\" is \"multigrid\" "
           "with level %d "
           "solved directly (multigrid.exact %d)",
           name, thickness, thin, level + 1, level + 1);
  } else {
    sn_log(SN_LOG_INFO,
           "body \"%s\": %.1f cells thick, which is %s: solver.linear \"auto\" is \"multigrid\"",
           name, thickness, thin);
  }
}

sn_status sn_choose_direct(sn_model* model, uint32_t body, sn_arena* scratch, sn_error* err) {
  const sn_solver_opts* solver = &model->scene->solver;
  sn_hierarchy* hierarchy = &model->hierarchies[body];
  int level = solver->multigrid.exact - 1;
  if (solver->linear == SN_LINEAR_DIRECT) level = 0;
  bool open = level < 0, automatic = open && solver->linear == SN_LINEAR_AUTO;
  const sn_body* flesh = &model->bodies[body];
  double thickness = automatic ? mean_thickness(&flesh->tree) : 0;
  if (automatic && thickness < THIN && !sn_pressures_are_kept(model)) {
    factor_limits limits = limits_of_thin_flesh(flesh);
    SN_TRY(find_level(hierarchy, &limits, scratch, &level, err));
  }
  if (open && level < 0 && is_stiff(model, flesh)) {
    factor_limits limits = limits_of_stiff_flesh(flesh);
    SN_TRY(find_level(hierarchy, &limits, scratch, &level, err));
  }
  if (automatic) say(model->scene->bodies[body].name, thickness, level);
  if (level < 0) return SN_OK;
  if (level >= hierarchy->count) level = hierarchy->count - 1;
  SN_TRY(sn_hierarchy_dissect(hierarchy, level, model->arena, scratch, err));
  double bytes = sn_dissection_bytes(&hierarchy->dissection, 1), have = sn_machine_bytes();
  SN_CHECK(bytes <= MOST_MEMORY * have, err, SN_ERR_INPUT,
           "solver: level %d of body \"%s\" solved directly takes %.1f GB, the machine has %.1f "
           "GB; take "
           "\"linear\": \"multigrid\" without \"exact\", or \"auto\"",
           level + 1, model->scene->bodies[body].name, bytes / 1e9, have / 1e9);
  return SN_OK;
}
