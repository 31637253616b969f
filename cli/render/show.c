// Numbers of the flesh as colours.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../options.h"
#include "picture.h"

#define RANGE_FRAMES 12  // frames that a range is taken from, evenly chosen

typedef struct show_row {
  const char* name;
  int field;       // sn_flesh_field, or -1
  bool diverging;  // around `middle`
  double middle;
  const char* title;
  char unit;  // 'p' pascals, 'm' metres, 0 none
} show_row;

static const show_row ROWS[] = {
    [SHOW_SKIN] = {"skin", -1, false, 0, "", 0},
    [SHOW_STRAIN] = {"strain", SN_FIELD_STRAIN, false, 0, "strain", 0},
    [SHOW_STRESS] = {"stress", SN_FIELD_STRESS, false, 0, "stress", 'p'},
    [SHOW_J] = {"J", SN_FIELD_J, true, 1, "volume J", 0},
    [SHOW_PRESSURE] = {"pressure", SN_FIELD_PRESSURE, true, 0, "pressure", 'p'},
    [SHOW_ACTIVATION] = {"activation", SN_FIELD_ACTIVATION, false, 0, "activation", 0},
    [SHOW_CELLS] = {"cells", -1, false, 0, "", 0},
    [SHOW_DISPLACEMENT] = {"displacement", -1, false, 0, "moved", 'm'},
    [SHOW_PENETRATION] = {"penetration", SN_FIELD_CONTACTS, false, 0, "depth", 'm'},
};
#define ROW_COUNT (int)(sizeof ROWS / sizeof *ROWS)

show_kind show_find(const char* name, sn_error* err) {
  const char* names[ROW_COUNT + 1] = {NULL};
  for (int k = 0; k < ROW_COUNT; ++k) {
    if (strcmp(name, ROWS[k].name) == 0) return (show_kind)k;
    names[k] = ROWS[k].name;
  }
  const char* near = nearest_name(name, names);
  picture_fail(err, SN_ERR_USAGE,
               "--show: found \"%s\", expected strain, stress, J, pressure, activation, cells, "
               "displacement or penetration%s%s%s",
               name, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
  return SHOW_SKIN;
}

bool show_needs_cells(show_kind show) { return ROWS[show].field >= 0 || show == SHOW_CELLS; }

const float* show_cell_values(show_kind show, const run_body* body) {
  int field = ROWS[show].field;
  return field >= 0 && field != SN_FIELD_CONTACTS ? body->frame.values[field] : NULL;
}

// ---- Values at vertices

static sn_status check_kept(show_kind show, const run_data* run, const run_body* body,
                            sn_error* err) {
  int field = ROWS[show].field;
  if (sn_fields_get_info(body->fields).fields & 1u << field) return SN_OK;
  return picture_fail(err, SN_ERR_INPUT,
                      "%s/%s.fields: does not have \"%s\"; run the scene again with --set "
                      "'output.fields=[\"%s\"]'",
                      run->folder, body->name, sn_field_name((sn_flesh_field)field),
                      sn_field_name((sn_flesh_field)field));
}

// The mean over the cells around each point, then linear in the cell of each vertex.
static sn_status spread_cells(const run_body* body, const float* cell_values, float* values,
                              sn_error* err) {
  const sn_cells* cells = &body->cells;
  size_t count = (size_t)cells->node_count + cells->hanging_count;
  float(*sums)[2] = calloc(count + 1, sizeof *sums);
  if (!sums) return picture_fail(err, SN_ERR_MEMORY, "out of memory");
  for (size_t i = 0; i < 8 * (size_t)cells->cell_count; ++i) {
    sums[cells->corners[i]][0] += cell_values[i / 8];
    sums[cells->corners[i]][1] += 1;
  }
  for (uint32_t v = 0; v < cells->vertex_count; ++v) {
    const sn_cell_vertex* vertex = &cells->vertices[v];
    double sum = 0;
    for (int c = 0; c < 8; ++c) {
      double weight = 1;
      for (int k = 0; k < 3; ++k) {
        double at = fmin(fmax(vertex->at[k], 0), 1);
        weight *= c >> k & 1 ? at : 1 - at;
      }
      const float* point = sums[cells->corners[8 * (size_t)vertex->cell + c]];
      if (weight > 0) sum += weight * point[0] / point[1];
    }
    values[v] = (float)sum;
  }
  free(sums);
  return SN_OK;
}

typedef struct carried {
  uint32_t cell, vertex;
} carried;

static int compare_carried(const void* left, const void* right) {
  const carried *a = left, *b = right;
  if (a->cell != b->cell) return a->cell < b->cell ? -1 : 1;
  return (a->vertex > b->vertex) - (a->vertex < b->vertex);
}

// The first vertex that a cell carries, or that a later one does. @param by_cell (count), sorted
static uint32_t first_carried(const carried* by_cell, uint32_t count, uint32_t cell) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (by_cell[middle].cell < cell) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static void place_contact(const sn_contact_point* contact, double unit, const carried* by_cell,
                          uint32_t count, const float* positions, float* values) {
  double least = INFINITY;
  uint32_t nearest = 0;
  for (uint32_t i = first_carried(by_cell, count, contact->cell);
       i < count && by_cell[i].cell == contact->cell; ++i) {
    double square = 0;
    for (int k = 0; k < 3; ++k) {
      double away = contact->place[k] * unit - positions[3 * (size_t)by_cell[i].vertex + k];
      square += away * away;
    }
    if (square >= least) continue;
    least = square;
    nearest = by_cell[i].vertex;
  }
  float depth = (float)(contact->depth * unit);
  if (least < INFINITY && depth > values[nearest]) values[nearest] = depth;
}

// The depth of each contact at the nearest vertex that its cell carries.
static sn_status place_contacts(const run_body* body, double unit, const float* positions,
                                float* values, sn_error* err) {
  uint32_t count = body->cells.vertex_count;
  carried* by_cell = malloc(sizeof *by_cell * (count + 1));
  if (!by_cell) return picture_fail(err, SN_ERR_MEMORY, "out of memory");
  for (uint32_t v = 0; v < count; ++v) {
    by_cell[v] = (carried){body->cells.vertices[v].cell, v};
    values[v] = 0;
  }
  qsort(by_cell, count, sizeof *by_cell, compare_carried);
  for (uint32_t i = 0; i < body->frame.contact_count; ++i) {
    place_contact(&body->frame.contacts[i], unit, by_cell, count, positions, values);
  }
  free(by_cell);
  return SN_OK;
}

static void measure_way(const run_body* body, const float* positions, float* values) {
  for (uint32_t v = 0; v < body->mesh->vertex_count; ++v) {
    double square = 0;
    for (int k = 0; k < 3; ++k) {
      double way = positions[3 * (size_t)v + k] - body->mesh->positions[3 * (size_t)v + k];
      square += way * way;
    }
    values[v] = (float)sqrt(square);
  }
}

sn_status show_values(const picture_plan* plan, const panel* p, uint32_t b, const float* positions,
                      float* values, sn_error* err) {
  const run_body* body = &p->run->bodies[b];
  if (plan->show == SHOW_DISPLACEMENT) {
    measure_way(body, positions, values);
    return SN_OK;
  }
  sn_status status = check_kept(plan->show, p->run, body, err);
  if (status != SN_OK) return status;
  const float* cell_values = show_cell_values(plan->show, body);
  if (cell_values) return spread_cells(body, cell_values, values, err);
  return place_contacts(body, p->run->scene->unit, positions, values, err);
}

// ---- Range

static int compare_floats(const void* left, const void* right) {
  float a = *(const float*)left, b = *(const float*)right;
  return (a > b) - (a < b);
}

// All but a hundredth at either end. Sorts the values.
static void widen_range(float* values, size_t count, double range[2]) {
  size_t good = 0;
  for (size_t i = 0; i < count; ++i) {
    if (isfinite(values[i])) values[good++] = values[i];
  }
  if (good == 0) return;
  qsort(values, good, sizeof *values, compare_floats);
  range[0] = fmin(range[0], values[good / 100]);
  range[1] = fmax(range[1], values[good - 1 - good / 100]);
}

// The next of 1, 1.5, 2, 3, 5, 7 times a power of ten.
static double round_up(double x) {
  static const double steps[] = {1, 1.5, 2, 3, 5, 7, 10};
  if (!(x > 0) || !isfinite(x)) return 1;
  double power = pow(10, floor(log10(x)));
  for (int k = 0; k < 7; ++k) {
    if (steps[k] * power >= x * (1 - 1e-9)) return steps[k] * power;
  }
  return 10 * power;
}

static sn_status widen_by_body(const picture_plan* plan, const panel* p, uint32_t b, uint32_t index,
                               double range[2], sn_error* err) {
  const run_body* body = &p->run->bodies[b];
  uint32_t count = body->mesh->vertex_count;
  const float* cells = show_cell_values(plan->show, body);
  size_t room = count > body->cells.cell_count ? count : body->cells.cell_count;
  float* positions = malloc(sizeof *positions * (3 * (size_t)count + room + 1));
  if (!positions) return picture_fail(err, SN_ERR_MEMORY, "out of memory");
  float* values = positions + 3 * (size_t)count;
  sn_status status = panel_positions(p, b, index, positions, err);
  if (status == SN_OK) status = show_values(plan, p, b, positions, values, err);
  // What is shown of a cut is the cells themselves.
  if (status == SN_OK && plan->slice.on && cells) {
    memcpy(values, cells, sizeof *values * body->cells.cell_count);
    count = body->cells.cell_count;
  }
  if (status == SN_OK) widen_range(values, count, range);
  free(positions);
  return status;
}

static void set_scale(picture_plan* plan, const double range[2]) {
  const show_row* row = &ROWS[plan->show];
  plan->scale.is_diverging = row->diverging;
  if (plan->has_range) return;
  if (plan->show == SHOW_ACTIVATION) {
    plan->scale.low = 0;
    plan->scale.high = 1;
  } else if (row->diverging) {
    double far = fmax(row->middle - range[0], range[1] - row->middle);
    far = round_up(far);
    plan->scale.low = row->middle - far;
    plan->scale.high = row->middle + far;
  } else {
    plan->scale.low = 0;
    plan->scale.high = round_up(range[1]);
  }
}

sn_status show_find_range(picture_plan* plan, const panel* panels, int panel_count,
                          const uint32_t* frames, uint32_t frame_count, sn_error* err) {
  double range[2] = {INFINITY, -INFINITY};
  if (plan->show == SHOW_SKIN || plan->show == SHOW_CELLS) return SN_OK;
  uint32_t steps = frame_count < RANGE_FRAMES ? frame_count : RANGE_FRAMES;
  for (uint32_t s = 0; s < steps && !plan->has_range; ++s) {
    uint32_t index = frames[steps > 1 ? s * (frame_count - 1) / (steps - 1) : 0];
    for (int k = 0; k < panel_count; ++k) {
      const panel* p = &panels[k];
      if (p->kind != PANEL_SIMULATED) continue;
      sn_status status = run_read_fields(p->run, index, err);
      for (uint32_t b = 0; b < panel_body_count(p) && status == SN_OK; ++b) {
        status = widen_by_body(plan, p, b, index, range, err);
      }
      if (status != SN_OK) return status;
    }
  }
  set_scale(plan, range);
  return SN_OK;
}

const char* show_title(const picture_plan* plan, double* factor) {
  static char title[64];
  const show_row* row = &ROWS[plan->show];
  double most = fmax(fabs(plan->scale.low), fabs(plan->scale.high));
  const char* unit = "";
  *factor = 1;
  if (row->unit == 'p') {
    bool kilo = most >= 1000;
    *factor = kilo ? 1e-3 : 1;
    unit = kilo ? ", kPa" : ", Pa";
  } else if (row->unit == 'm') {
    *factor = most < 0.05 ? 1e3 : most < 2 ? 1e2 : 1;
    unit = most < 0.05 ? ", mm" : most < 2 ? ", cm" : ", m";
  }
  snprintf(title, sizeof title, "%s%s", row->title, unit);
  return title;
}
