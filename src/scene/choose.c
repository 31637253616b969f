// Which level of a body's multigrid is solved directly: docs/theory/macroblock.md, section 7.
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

static bool pays(const sn_dissection* plan, int level, uint32_t cells) {
  double numbers = level == 0 ? MOST_WHOLE_NUMBERS : MOST_NUMBERS;
  return plan->cost <= MOST_COST * cells && (double)plan->factor_count <= numbers * cells;
}

// The finest level that pays; -1: none.
static sn_status find_level(const sn_hierarchy* hierarchy, sn_arena* scratch, int* level,
                            sn_error* err) {
  *level = -1;
  for (int l = 0; l < hierarchy->count && *level < 0; ++l) {
    sn_arena_mark mark = sn_arena_get_mark(scratch);
    const sn_grid* grid = &hierarchy->grids[l];
    sn_dissection plan;
    sn_error why = {0};
    sn_status status = sn_dissection_plan(grid->tree, grid->held, scratch, scratch, &plan, &why);
    if (status == SN_OK && pays(&plan, l, hierarchy->grids[0].tree->cell_count)) *level = l;
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
  if (solver->linear == SN_LINEAR_AUTO && level < 0) {
    double thickness = mean_thickness(&model->bodies[body].tree);
    bool thin = thickness < THIN && !sn_pressures_are_kept(model);
    if (thin) SN_TRY(find_level(hierarchy, scratch, &level, err));
    say(model->scene->bodies[body].name, thickness, level);
  }
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
