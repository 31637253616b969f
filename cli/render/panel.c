// One picture of a frame: the bodies as a panel shows them, and what is around them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

uint32_t panel_body_count(const panel* p) {
  return p->kind == PANEL_CACHE ? 1 : p->run->scene->body_count;
}

static sn_status rest_positions(const run_body* body, float* positions) {
  for (size_t i = 0; i < 3 * (size_t)body->mesh->vertex_count; ++i) {
    positions[i] = (float)body->mesh->positions[i];
  }
  return SN_OK;
}

static sn_status skinned_positions(const panel* p, uint32_t body, uint32_t index, float* positions,
                                   sn_error* err) {
  const sn_mesh_motion* pose = &p->run->scene->bodies[body].pose;
  if (pose->frame_count == 0) {
    return picture_fail(
        err, SN_ERR_INPUT,
        "--panels skinned: body \"%s\" has no pose; --beside FILE.pc2 draws a cache "
        "of one",
        p->run->bodies[body].name);
  }
  for (uint32_t v = 0; v < p->run->bodies[body].mesh->vertex_count; ++v) {
    sn_vec3 place = sn_mesh_motion_at(pose, v, run_frame_at(p->run, index));
    positions[3 * (size_t)v] = (float)place.x;
    positions[3 * (size_t)v + 1] = (float)place.y;
    positions[3 * (size_t)v + 2] = (float)place.z;
  }
  return SN_OK;
}

sn_status panel_positions(const panel* p, uint32_t body, uint32_t index, float* positions,
                          sn_error* err) {
  const run_body* shown = &p->run->bodies[body];
  switch (p->kind) {
    case PANEL_REST:
      return rest_positions(shown, positions);
    case PANEL_SKINNED:
      return skinned_positions(p, body, index, positions, err);
    case PANEL_SIMULATED:
    case PANEL_CACHE:
      break;
  }
  return run_read_cache(p->run, p->kind == PANEL_CACHE ? p->pc2 : shown->pc2, index,
                        shown->mesh->vertex_count, positions, err);
}

// Does this panel show what is inside? Only a simulation has an inside, and flesh at rest.
static bool has_inside(const panel* p) {
  return p->kind == PANEL_SIMULATED || p->kind == PANEL_REST;
}

static sn_status colour_skin(const picture_plan* plan, const panel* p, uint32_t body,
                             const float* positions, sn_drawn_surface* skin, surface_list* list,
                             sn_error* err) {
  float* values = list_take(list, skin->vertex_count, sizeof *values, err);
  sn_colour* colours = list_take(list, skin->vertex_count, sizeof *colours, err);
  if (!values || !colours) return err->status;
  sn_status status = show_values(plan, p, body, positions, values, err);
  if (status != SN_OK) return status;
  for (uint32_t v = 0; v < skin->vertex_count; ++v) {
    colours[v] = sn_scale_colour(&plan->scale, values[v]);
  }
  skin->colours = colours;
  skin->marks = NULL;
  skin->look = SN_LOOK_DATA;
  return SN_OK;
}

static bool shows_values(const picture_plan* plan, const panel* p) {
  bool shown = plan->show != SHOW_SKIN && plan->show != SHOW_CELLS;
  return shown && (p->kind == PANEL_SIMULATED || plan->show == SHOW_DISPLACEMENT);
}

static sn_status add_skin(const picture_plan* plan, const panel* p, uint32_t b, uint32_t index,
                          const cut_plane* plane, surface_list* list, sn_error* err) {
  const run_body* body = &p->run->bodies[b];
  uint32_t count = body->mesh->vertex_count;
  float* positions = list_take(list, 3 * (size_t)count, sizeof *positions, err);
  if (!positions) return err->status;
  sn_status status = panel_positions(p, b, index, positions, err);
  if (status != SN_OK) return status;
  sn_drawn_surface skin = {.positions = positions,
                           .vertex_count = count,
                           .triangles = body->mesh->triangles,
                           .triangle_count = body->mesh->triangle_count,
                           .look = plan->bones || plan->muscles ? SN_LOOK_GHOST : SN_LOOK_FLESH,
                           .base = sn_colour_body(b),
                           .marks = body->marks,
                           .mark = sn_colour_dark()};
  if (shows_values(plan, p)) status = colour_skin(plan, p, b, positions, &skin, list, err);
  if (status == SN_OK && plane) {
    float* cut = list_take(list, count, sizeof *cut, err);
    if (!cut) return err->status;
    cut_vertices(plane, p->run, b, cut);
    skin.cut = cut;
  }
  return status == SN_OK ? list_add(list, &skin, err) : status;
}

// Places of the points of the cells, metres.
static double* cell_points(const panel* p, const run_body* body, surface_list* list,
                           sn_error* err) {
  size_t count = 3 * ((size_t)body->cells.node_count + body->cells.hanging_count);
  double* points = list_take(list, count, sizeof *points, err);
  if (!points) return NULL;
  bool at_rest = p->kind == PANEL_REST;
  sn_cells_points(&body->cells, at_rest ? NULL : body->frame.displacements, points);
  for (size_t i = 0; i < count; ++i) points[i] *= p->run->scene->unit;
  return points;
}

// How far the middle of each cell has moved, metres.
static sn_status measure_cells(const panel* p, const run_body* body, const double* points,
                               float* values, surface_list* list, sn_error* err) {
  const sn_cells* cells = &body->cells;
  size_t count = 3 * ((size_t)cells->node_count + cells->hanging_count);
  double* rest = list_take(list, count, sizeof *rest, err);
  if (!rest) return err->status;
  sn_cells_points(cells, NULL, rest);
  for (uint32_t c = 0; c < cells->cell_count; ++c) {
    double way[3] = {0};
    for (int i = 0; i < 24; ++i) {
      size_t at = 3 * (size_t)cells->corners[8 * (size_t)c + i / 3] + i % 3;
      way[i % 3] += (points[at] - rest[at] * p->run->scene->unit) / 8;
    }
    values[c] = (float)sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
  }
  return SN_OK;
}

// Numbers of the cells for what is shown: not a number where there is none inside. NULL: levels.
static sn_status cell_numbers(const picture_plan* plan, const panel* p, const run_body* body,
                              const double* points, const float** values, surface_list* list,
                              sn_error* err) {
  *values = shows_values(plan, p) ? show_cell_values(plan->show, body) : NULL;
  if (*values || !shows_values(plan, p)) return SN_OK;
  float* made = list_take(list, body->cells.cell_count, sizeof *made, err);
  if (!made) return err->status;
  *values = made;
  if (plan->show == SHOW_DISPLACEMENT) return measure_cells(p, body, points, made, list, err);
  for (uint32_t c = 0; c < body->cells.cell_count; ++c) made[c] = NAN;
  return SN_OK;
}

static sn_status add_inside(const picture_plan* plan, const panel* p, uint32_t b, int frame,
                            const cut_plane* plane, surface_list* list, sn_error* err) {
  const run_body* body = &p->run->bodies[b];
  double* points = cell_points(p, body, list, err);
  sn_colour* colours = list_take(list, body->cells.cell_count, sizeof *colours, err);
  if (!points || !colours) return err->status;
  const float* values;
  sn_status status = cell_numbers(plan, p, body, points, &values, list, err);
  if (status == SN_OK) cut_colour_cells(plan, body, values, colours);
  if (status == SN_OK && plane) status = cut_add_squares(plane, body, points, colours, list, err);
  if (status == SN_OK && plan->show == SHOW_CELLS) {
    status = cut_add_cubes(plane, body, points, colours, list, err);
  }
  if (status == SN_OK && plan->muscles) {
    status = around_add_muscles(p->run, b, frame, points, list, err);
  }
  return status;
}

static sn_status add_body(const picture_plan* plan, const panel* p, uint32_t b, uint32_t index,
                          const sn_view* view, surface_list* list, sn_error* err) {
  sn_status status = SN_OK;
  bool inside = has_inside(p) && p->run->bodies[b].fields;
  cut_plane place, *plane = NULL;
  if (plan->slice.on && inside) {
    place = cut_place(&plan->slice, p->run, b, view);
    plane = &place;
  }
  if (!inside || plan->show != SHOW_CELLS) {
    status = add_skin(plan, p, b, index, plane, list, err);
  }
  if (status == SN_OK && inside) {
    status = add_inside(plan, p, b, run_frame_at(p->run, index), plane, list, err);
  }
  return status;
}

static bool has_floor(const sn_scene* scene) {
  for (uint32_t c = 0; c < scene->collider_count; ++c) {
    if (scene->colliders[c].kind == SN_COLLIDER_PLANE) return true;
  }
  return false;
}

sn_status panel_gather(const picture_plan* plan, const panel* p, uint32_t index,
                       const sn_view* view, double lowest, surface_list* list, sn_error* err) {
  int frame = run_frame_at(p->run, index);
  list_clear(list);
  sn_status status = has_inside(p) ? run_read_fields(p->run, index, err) : SN_OK;
  for (uint32_t b = 0; b < panel_body_count(p) && status == SN_OK; ++b) {
    status = add_body(plan, p, b, index, view, list, err);
  }
  if (status == SN_OK && plan->colliders && p->kind != PANEL_REST) {
    status = around_add_colliders(p->run, frame, view, list, err);
  }
  bool ground = plan->ground && !(plan->colliders && has_floor(p->run->scene));
  if (status == SN_OK && ground) status = around_add_ground(p->run, view, lowest, list, err);
  if (status == SN_OK && plan->bones && p->kind != PANEL_REST) {
    status = around_add_bones(p->run, frame, view, list, err);
  }
  return status;
}
