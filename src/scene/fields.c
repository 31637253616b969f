// What others may see of the inside of the flesh.
#include "body/body_fields.h"
#include "math/vec.h"
#include "scene/model.h"

const char* sn_field_name(sn_flesh_field field) {
  static const char* const NAMES[SN_FIELD_COUNT] = {"strain",   "stress",     "J",
                                                    "pressure", "activation", "contacts"};
  return NAMES[field];
}

static sn_status describe(const sn_model* model, uint32_t body, sn_arena* scratch, sn_cells* cells,
                          sn_error* err) {
  const sn_scene* scene = model->scene;
  SN_TRY(sn_body_describe_cells(&model->bodies[body], NULL, scratch, cells, err));
  cells->unit = scene->unit;
  cells->fps = scene->fps;
  cells->first_frame = scene->first_frame;
  cells->origin = sn_scale(1 / scene->unit, cells->origin);
  cells->edge /= scene->unit;
  return SN_OK;
}

sn_status sn_model_cells(const sn_model* model, uint32_t body, sn_cells* cells, sn_error* err) {
  sn_arena* scratch;
  *cells = (sn_cells){0};
  SN_TRY(sn_arena_create(&scratch, err));
  sn_status status = sn_arena_create(&cells->storage, err);
  if (status == SN_OK) status = describe(model, body, scratch, cells, err);
  if (status != SN_OK) sn_cells_destroy(cells);
  sn_arena_destroy(scratch);
  return status;
}

void sn_cells_destroy(sn_cells* cells) {
  sn_arena_destroy(cells->storage);
  *cells = (sn_cells){0};
}

void sn_cells_points(const sn_cells* cells, const float* displacements, double* points) {
  double origin[3] = {cells->origin.x, cells->origin.y, cells->origin.z};
  for (size_t i = 0; i < 3 * (size_t)cells->node_count; ++i) {
    points[i] = origin[i % 3] + cells->edge * cells->nodes[i];
    if (displacements) points[i] += displacements[i];
  }
  for (size_t p = 0; p < cells->hanging_count; ++p) {
    double* at = points + 3 * (cells->node_count + p);
    const uint32_t* nodes = cells->hanging + 4 * p;
    for (int i = 0; i < 3; ++i) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum += points[3 * (size_t)nodes[k] + i];
      at[i] = 0.25 * sum;
    }
  }
}

uint32_t sn_model_ties(const sn_model* model, uint32_t body, sn_tied_node* nodes,
                       uint32_t capacity) {
  const sn_body* b = &model->bodies[body];
  uint32_t count = 0;
  for (uint32_t i = 0; i < b->tie_count; ++i) {
    if (count++ >= capacity) continue;
    nodes[count - 1] = (sn_tied_node){b->ties[i].node, b->ties[i].bone, SN_NOT_FIXED};
  }
  for (uint32_t i = 0; i < b->held_count; ++i) {
    if (count++ >= capacity) continue;
    uint32_t fixed = b->held[i].fixed;
    nodes[count - 1] = (sn_tied_node){b->held[i].node, model->scene->fixed[fixed].bone, fixed};
  }
  return count;
}

void sn_state_fields(const sn_model* model, const sn_state* state, uint32_t body,
                     float* const values[SN_FIELD_CONTACTS]) {
  const sn_body* b = &model->bodies[body];
  sn_body_fields(b, &state->bodies[body], state->pool, state->u + b->begin, values);
}

void sn_state_field(const sn_model* model, const sn_state* state, uint32_t body,
                    sn_flesh_field field, float* values) {
  float* one[SN_FIELD_CONTACTS] = {0};
  SN_ASSERT(field < SN_FIELD_CONTACTS);
  one[field] = values;
  sn_state_fields(model, state, body, one);
}

void sn_state_displacements(const sn_model* model, const sn_state* state, uint32_t body,
                            float* displacements) {
  const sn_body* b = &model->bodies[body];
  const double* u = state->u + b->begin;
  for (size_t i = 0; i < 3 * (size_t)b->tree.node_count; ++i) {
    displacements[i] = (float)(u[i] / model->scene->unit);
  }
}

static void store_narrow(sn_vec3 v, float out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = (float)sn_axis(v, i);
}

uint32_t sn_state_contacts(const sn_model* model, const sn_state* state, uint32_t body,
                           sn_contact_point* points, uint32_t capacity) {
  const sn_contact_set* set = &state->contact.set;
  double unit = model->scene->unit;
  uint32_t count = 0;
  if (!model->contact.any) return 0;
  for (uint32_t i = 0; i < set->count; ++i) {
    const sn_contact* c = &set->contacts[i];
    if (c->body != body) continue;
    double gap = sn_contact_gap(c, state->u);
    if (gap >= 0 || count++ >= capacity) continue;
    sn_contact_point* point = &points[count - 1];
    store_narrow(sn_scale(1 / unit, sn_contact_place(c, state->u)), point->place);
    store_narrow(c->normal, point->normal);
    point->depth = (float)((-gap - c->offset - c->sag) / unit);
    point->force = (float)sn_dot(sn_contact_force(c, state->u, NULL), c->normal);
    point->cell = c->carrier->cell;
  }
  return count;
}
