// A number that stands for everything in a scene that decides the result, and a list of its traits that
// says what is different where it differs. Frame range, output and threads do not count: a run may be
// resumed with others.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "scene/model.h"

#define PLACE_SIZE 128

typedef struct hasher {
  XXH64_hash_t value;  // each piece is hashed with the hash so far as its seed
  XXH64_hash_t part;   // the same, since the last trait was told
  int pieces;          // of that part
  char number[32];     // the last piece in words; empty where it is not a single number
  bool measures;       // hashes nothing, only adds up what the traits take
  char* text;          // of the traits; NULL: they are not told
  size_t size, length;
} hasher;

static void add_bytes(hasher* h, const void* bytes, size_t size) {
  h->pieces++;
  h->number[0] = 0;
  if (h->measures) return;
  h->value = XXH64(bytes, size, h->value);
  h->part = XXH64(bytes, size, h->part);
}

// As short as it reads back, and with a point whatever the language of the machine.
static void add_double(hasher* h, double value) {
  add_bytes(h, &value, sizeof value);
  for (int digits = 15; digits <= 17; ++digits) {
    snprintf(h->number, sizeof h->number, "%.*g", digits, value);
    if (strtod(h->number, NULL) == value) break;
  }
  char* comma = strchr(h->number, ',');
  if (comma) *comma = '.';
}

static void add_int(hasher* h, int64_t value) {
  add_bytes(h, &value, sizeof value);
  snprintf(h->number, sizeof h->number, "%" PRId64, value);
}

static void forget_part(hasher* h) {
  h->part = 0;
  h->pieces = 0;
}

// What was added since the last trait is the one at this place of the scene.
static void tell(hasher* h, const char* place, ...) SN_PRINTF(2, 3);
static void tell(hasher* h, const char* place, ...) {
  char line[PLACE_SIZE + 48], hash[32];
  va_list values;
  va_start(values, place);
  vsnprintf(line, PLACE_SIZE, place, values);
  va_end(values);
  // Names come from outside; lines and words are ours.
  for (char* c = line; *c; ++c) *c = (unsigned char)*c <= ' ' ? '_' : *c;
  snprintf(hash, sizeof hash, "#%016" PRIx64, (uint64_t)h->part);
  const char* what = h->pieces == 1 && h->number[0] ? h->number : hash;
  size_t length = strlen(line);
  length += (size_t)snprintf(line + length, sizeof line - length, " %s\n", what);
  forget_part(h);
  if (h->measures) h->length += length;
  if (h->measures || !h->text) return;
  SN_ASSERT(h->length + length < h->size);
  memcpy(h->text + h->length, line, length + 1);
  h->length += length;
}

static void add_vec3(hasher* h, sn_vec3 v) {
  add_double(h, v.x);
  add_double(h, v.y);
  add_double(h, v.z);
}

static void add_mesh(hasher* h, const sn_mesh* mesh) {
  add_int(h, mesh->vertex_count);
  add_int(h, mesh->triangle_count);
  add_bytes(h, mesh->positions, 3 * (size_t)mesh->vertex_count * sizeof *mesh->positions);
  add_bytes(h, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof *mesh->triangles);
  for (uint32_t g = 0; g < mesh->group_count; ++g) {
    const sn_mesh_group* group = &mesh->groups[g];
    add_bytes(h, group->name, strlen(group->name) + 1);
    add_bytes(h, group->triangles, group->triangle_count * sizeof *group->triangles);
  }
}

static void add_where(hasher* h, const sn_where* where) {
  add_int(h, where->kind);
  add_double(h, where->distance);
  add_vec3(h, where->box.lo);
  add_vec3(h, where->box.hi);
  if (where->group) add_bytes(h, where->group, strlen(where->group) + 1);
  if (where->map) add_bytes(h, where->map, strlen(where->map) + 1);
  if (where->map) add_double(h, where->above);
}

static void add_motion(hasher* h, const sn_motion* motion) {
  add_int(h, motion->key_count);
  for (uint32_t k = 0; k < motion->key_count; ++k) {
    const sn_keyframe* key = &motion->keys[k];
    add_double(h, key->frame);
    add_vec3(h, key->translate);
    add_vec3(h, key->pivot);
    add_vec3(h, (sn_vec3){key->rotate.x, key->rotate.y, key->rotate.z});
    add_double(h, key->rotate.w);
  }
  // Nothing more for a rigid motion that ends: what was computed before there were others can be resumed.
  if (sn_motion_is_rigid(motion) && motion->period == 0) return;
  add_double(h, motion->period);
  for (uint32_t k = 0; k < motion->key_count; ++k) {
    add_bytes(h, motion->keys[k].stretch, sizeof motion->keys[k].stretch);
  }
}

// Nothing where there is none: runs from before there was such a thing can go on.
static void add_mesh_motion(hasher* h, const sn_mesh_motion* motion) {
  if (motion->frame_count == 0) return;
  add_int(h, motion->vertex_count);
  add_int(h, motion->first_frame);
  add_int(h, motion->frame_count);
  add_double(h, motion->period);
  for (uint32_t f = 0; f < motion->frame_count; ++f) {
    size_t numbers = 3 * (size_t)motion->vertex_count;
    add_bytes(h, motion->places + f * numbers, numbers * sizeof *motion->places);
  }
}

static void add_material(hasher* h, const sn_material* material) {
  add_int(h, material->law);
  add_double(h, material->mu);
  add_double(h, material->lambda);
  for (int i = 0; i < SN_LAW_NUMBERS; ++i) add_double(h, material->numbers[i]);
}

static void add_region(hasher* h, const sn_region_desc* region) {
  add_bytes(h, region->name, strlen(region->name) + 1);
  add_mesh(h, &region->mesh);
  add_int(h, region->has_material);
  add_material(h, &region->material);
  add_int(h, region->has_density);
  add_double(h, region->density);
  add_double(h, region->stiffness);
  add_double(h, region->weight);
}

static void add_tissue(hasher* h, const sn_body_desc* body, uint32_t number) {
  for (uint32_t i = 0; i < body->region_count; ++i) {
    add_region(h, &body->regions[i]);
    tell(h, "bodies[%u].regions[%u]", number, i);
  }
  for (uint32_t i = 0; i < body->map_count; ++i) {
    const sn_map* map = &body->maps[i];
    add_bytes(h, map->name, strlen(map->name) + 1);
    add_bytes(h, map->values, body->mesh.vertex_count * sizeof *map->values);
    tell(h, "bodies[%u].maps.%s", number, map->name);
  }
}

static void add_body(hasher* h, const sn_body_desc* body, uint32_t b) {
  add_mesh(h, &body->mesh);
  tell(h, "bodies[%u].surface", b);
  add_double(h, body->cell);
  tell(h, "bodies[%u].cell", b);
  add_int(h, body->coarsen);
  tell(h, "bodies[%u].coarsen", b);
  add_double(h, body->least_fill);
  tell(h, "bodies[%u].least_fill", b);
  add_double(h, body->least_width);
  tell(h, "bodies[%u].least_width", b);
  add_int(h, body->quadrature);
  tell(h, "bodies[%u].quadrature", b);
  add_int(h, body->embedding);
  tell(h, "bodies[%u].embedding", b);
  add_material(h, &body->material);
  tell(h, "bodies[%u].material", b);
  add_double(h, body->density);
  tell(h, "bodies[%u].density", b);
  add_double(h, body->damping);
  tell(h, "bodies[%u].damping", b);
  add_double(h, body->drag);
  tell(h, "bodies[%u].drag", b);
  for (int i = 0; i < 9; ++i) add_double(h, body->initial.rotate.m[i / 3][i % 3]);
  add_vec3(h, body->initial.translate);
  add_vec3(h, body->velocity);
  add_vec3(h, body->spin);
  add_int(h, body->scramble.kind);
  add_double(h, body->scramble.amount);
  add_int(h, (int64_t)body->scramble.seed);
  tell(h, "bodies[%u].initial", b);
  add_tissue(h, body, b);
  if (body->follow) add_bytes(h, body->follow, body->mesh.triangle_count);
  tell(h, "bodies[%u].follow", b);
  add_mesh_motion(h, &body->pose);
  forget_part(h);
}

static void add_capsule(hasher* h, const sn_capsule* capsule) {
  add_vec3(h, capsule->from);
  add_vec3(h, capsule->to);
  add_double(h, capsule->radius);
}

static void add_bone(hasher* h, const sn_bone_desc* bone, uint32_t b) {
  add_int(h, bone->kind);
  if (bone->kind == SN_BONE_MESH) {
    add_mesh(h, &bone->mesh);
  } else {
    add_capsule(h, &bone->capsule);
  }
  tell(h, "bones[%u].%s", b, bone->kind == SN_BONE_MESH ? "mesh" : "capsule");
  add_motion(h, &bone->motion);
  add_mesh_motion(h, &bone->shape);
  forget_part(h);
}

// Only what the kind of shape has is set, and the rest is zero.
static void add_collider(hasher* h, const sn_collider_desc* collider, uint32_t c) {
  add_int(h, collider->kind);
  add_vec3(h, collider->position);
  add_vec3(h, collider->normal);
  add_double(h, collider->radius);
  add_vec3(h, collider->half);
  add_capsule(h, &collider->capsule);
  if (collider->kind == SN_COLLIDER_MESH) add_mesh(h, &collider->mesh);
  tell(h, "colliders[%u].%s", c, collider->kind == SN_COLLIDER_MESH ? "mesh" : "shape");
  add_motion(h, &collider->motion);
  add_mesh_motion(h, &collider->shape);
  forget_part(h);
  add_double(h, collider->friction);
  tell(h, "colliders[%u].friction", c);
  add_double(h, collider->stiffness);
  tell(h, "colliders[%u].stiffness", c);
}

static void add_contact(hasher* h, const sn_contact_opts* contact) {
  add_int(h, contact->self);
  tell(h, "contact.self");
  add_double(h, contact->stiffness);
  tell(h, "contact.stiffness");
  add_double(h, contact->friction);
  tell(h, "contact.friction");
  add_double(h, contact->thickness);
  tell(h, "contact.thickness");
  add_int(h, contact->ignore_count);
  for (uint32_t i = 0; i < contact->ignore_count; ++i) {
    for (int k = 0; k < 2; ++k) {
      add_int(h, contact->ignore[i].side[k].is_collider);
      add_int(h, contact->ignore[i].side[k].index);
    }
  }
  tell(h, "contact.ignore");
}

static void add_connections(hasher* h, const sn_scene* scene) {
  for (uint32_t i = 0; i < scene->attachment_count; ++i) {
    const sn_attachment_desc* a = &scene->attachments[i];
    add_int(h, a->body);
    add_int(h, a->bone);
    add_where(h, &a->where);
    add_double(h, a->stiffness);
    tell(h, "attachments[%u]", i);
  }
  for (uint32_t i = 0; i < scene->fixed_count; ++i) {
    const sn_fixed_desc* f = &scene->fixed[i];
    add_int(h, f->body);
    add_int(h, f->bone);
    add_where(h, &f->where);
    add_int(h, f->axes);
    tell(h, "fixed[%u].where", i);
    add_motion(h, &f->motion);
    forget_part(h);
  }
  for (uint32_t i = 0; i < scene->force_count; ++i) {
    const sn_force_desc* f = &scene->forces[i];
    add_int(h, f->body);
    add_where(h, &f->where);
    add_int(h, f->is_traction);
    tell(h, "forces[%u].where", i);
    for (uint32_t k = 0; k < f->key_count; ++k) {
      add_double(h, f->keys[k].frame);
      add_vec3(h, f->keys[k].value);
    }
    forget_part(h);
  }
}

static void add_end(hasher* h, const sn_muscle_end* end) {
  add_int(h, end->kind);
  add_vec3(h, end->point);
  add_int(h, end->bone);
}

static void add_muscle(hasher* h, const sn_muscle_desc* muscle, uint32_t m) {
  add_int(h, muscle->body);
  tell(h, "muscles[%u].body", m);
  add_mesh(h, &muscle->mesh);
  tell(h, "muscles[%u].mesh", m);
  add_int(h, muscle->fibers);
  add_vec3(h, muscle->along);
  for (uint32_t k = 0; k < muscle->field_count; ++k) {
    add_vec3(h, muscle->field[k].place);
    add_vec3(h, muscle->field[k].direction);
  }
  add_end(h, &muscle->origin);
  add_end(h, &muscle->insertion);
  tell(h, "muscles[%u].fibers", m);
  add_int(h, muscle->activation_count);
  for (uint32_t k = 0; k < muscle->activation_count; ++k) {
    add_double(h, muscle->activation[k].frame);
    add_double(h, muscle->activation[k].value);
  }
  forget_part(h);
  add_double(h, muscle->max_stress);
  tell(h, "muscles[%u].max_stress", m);
  add_double(h, muscle->optimal);
  tell(h, "muscles[%u].optimal", m);
  add_double(h, muscle->passive);
  tell(h, "muscles[%u].passive", m);
  add_double(h, muscle->tendon);
  tell(h, "muscles[%u].tendon", m);
  add_double(h, muscle->stiffness);
  tell(h, "muscles[%u].stiffness", m);
  add_int(h, muscle->law);
  for (int k = 0; k < SN_FIBER_NUMBERS; ++k) add_double(h, muscle->numbers[k]);
  tell(h, "muscles[%u].law", m);
}

static void add_solver(hasher* h, const sn_solver_opts* solver) {
  add_int(h, solver->linear);
  tell(h, "solver.linear");
  add_int(h, solver->newton_max);
  tell(h, "solver.newton.max");
  add_int(h, solver->sharp);
  tell(h, "solver.newton.sharp");
  add_int(h, solver->retries);
  tell(h, "solver.newton.retries");
  add_double(h, solver->newton_tolerance);
  tell(h, "solver.newton.tolerance");
  add_int(h, solver->krylov_max);
  tell(h, "solver.krylov.max");
  add_double(h, solver->krylov_tolerance);
  tell(h, "solver.krylov.tolerance");
  add_int(h, solver->multigrid.smoother);
  add_double(h, solver->multigrid.damping);
  add_int(h, solver->multigrid.degree);
  add_int(h, solver->multigrid.coarsest);
  add_int(h, solver->multigrid.exact);
  tell(h, "solver.multigrid");
  add_int(h, solver->integrator);
  tell(h, "solver.integrator");
  add_int(h, solver->pressure);
  add_double(h, solver->pressure_scale);
  tell(h, "solver.pressure");
  add_int(h, solver->interface);
  tell(h, "solver.interface");
}

static void add_world(hasher* h, const sn_scene* scene) {
  add_double(h, scene->unit);
  tell(h, "unit");
  add_double(h, scene->fps);
  tell(h, "fps");
  add_int(h, scene->substeps);
  tell(h, "substeps");
  add_int(h, scene->max_substeps);
  tell(h, "max_substeps");
  add_int(h, scene->preroll);
  tell(h, "preroll");
  add_vec3(h, scene->gravity);
  tell(h, "gravity");
  add_int(h, scene->mode);
  tell(h, "mode");
}

static void add_scene(hasher* h, const sn_scene* scene) {
  add_world(h, scene);
  for (uint32_t i = 0; i < scene->body_count; ++i) add_body(h, &scene->bodies[i], i);
  for (uint32_t i = 0; i < scene->bone_count; ++i) add_bone(h, &scene->bones[i], i);
  add_connections(h, scene);
  for (uint32_t i = 0; i < scene->muscle_count; ++i) add_muscle(h, &scene->muscles[i], i);
  add_int(h, scene->collider_count);
  forget_part(h);
  for (uint32_t i = 0; i < scene->collider_count; ++i) add_collider(h, &scene->colliders[i], i);
  add_contact(h, &scene->contact);
  add_solver(h, &scene->solver);
}

uint64_t sn_scene_fingerprint(const sn_scene* scene) {
  hasher h = {0};
  add_scene(&h, scene);
  return h.value;
}

sn_status sn_scene_traits(const sn_scene* scene, sn_arena* arena, char** traits,
                          uint64_t* fingerprint, sn_error* err) {
  hasher length = {.measures = true}, h = {0};
  add_scene(&length, scene);
  h.size = length.length + 1;
  SN_TRY(SN_ARENA_NEW(arena, h.size, &h.text, err));
  add_scene(&h, scene);
  *traits = h.text;
  *fingerprint = h.value;
  return SN_OK;
}
