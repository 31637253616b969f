// A number that stands for everything in a scene that decides the result. Frame range, output and
// threads do not: a run may be resumed with others.
#include <string.h>
#include <xxhash.h>

#include "scene/model.h"

typedef struct hasher {
  XXH64_hash_t value;  // each piece is hashed with the hash so far as its seed
} hasher;

static void add_bytes(hasher* h, const void* bytes, size_t size) {
  h->value = XXH64(bytes, size, h->value);
}

static void add_double(hasher* h, double value) { add_bytes(h, &value, sizeof value); }
static void add_int(hasher* h, int64_t value) { add_bytes(h, &value, sizeof value); }
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

static void add_tissue(hasher* h, const sn_body_desc* body) {
  for (uint32_t i = 0; i < body->region_count; ++i) add_region(h, &body->regions[i]);
  for (uint32_t i = 0; i < body->map_count; ++i) {
    const sn_map* map = &body->maps[i];
    add_bytes(h, map->name, strlen(map->name) + 1);
    add_bytes(h, map->values, body->mesh.vertex_count * sizeof *map->values);
  }
}

static void add_body(hasher* h, const sn_body_desc* body) {
  add_mesh(h, &body->mesh);
  add_double(h, body->cell);
  add_int(h, body->coarsen);
  add_double(h, body->least_fill);
  add_int(h, body->quadrature);
  add_int(h, body->embedding);
  add_material(h, &body->material);
  add_double(h, body->density);
  add_double(h, body->damping);
  add_double(h, body->drag);
  for (int i = 0; i < 9; ++i) add_double(h, body->initial.rotate.m[i / 3][i % 3]);
  add_vec3(h, body->initial.translate);
  add_vec3(h, body->velocity);
  add_vec3(h, body->spin);
  add_int(h, body->scramble.kind);
  add_double(h, body->scramble.amount);
  add_int(h, (int64_t)body->scramble.seed);
  add_tissue(h, body);
  if (body->follow) add_bytes(h, body->follow, body->mesh.triangle_count);
  add_mesh_motion(h, &body->pose);
}

static void add_capsule(hasher* h, const sn_capsule* capsule) {
  add_vec3(h, capsule->from);
  add_vec3(h, capsule->to);
  add_double(h, capsule->radius);
}

static void add_bone(hasher* h, const sn_bone_desc* bone) {
  add_int(h, bone->kind);
  if (bone->kind == SN_BONE_MESH) {
    add_mesh(h, &bone->mesh);
  } else {
    add_capsule(h, &bone->capsule);
  }
  add_motion(h, &bone->motion);
  add_mesh_motion(h, &bone->shape);
}

// Only what the kind of shape has is set, and the rest is zero.
static void add_collider(hasher* h, const sn_collider_desc* collider) {
  add_int(h, collider->kind);
  add_vec3(h, collider->position);
  add_vec3(h, collider->normal);
  add_double(h, collider->radius);
  add_vec3(h, collider->half);
  add_capsule(h, &collider->capsule);
  if (collider->kind == SN_COLLIDER_MESH) add_mesh(h, &collider->mesh);
  add_motion(h, &collider->motion);
  add_mesh_motion(h, &collider->shape);
  add_double(h, collider->friction);
  add_double(h, collider->stiffness);
}

static void add_contact(hasher* h, const sn_contact_opts* contact) {
  add_int(h, contact->self);
  add_double(h, contact->stiffness);
  add_double(h, contact->friction);
  add_double(h, contact->thickness);
  add_int(h, contact->ignore_count);
  for (uint32_t i = 0; i < contact->ignore_count; ++i) {
    for (int k = 0; k < 2; ++k) {
      add_int(h, contact->ignore[i].side[k].is_collider);
      add_int(h, contact->ignore[i].side[k].index);
    }
  }
}

static void add_connections(hasher* h, const sn_scene* scene) {
  for (uint32_t i = 0; i < scene->attachment_count; ++i) {
    const sn_attachment_desc* a = &scene->attachments[i];
    add_int(h, a->body);
    add_int(h, a->bone);
    add_where(h, &a->where);
    add_double(h, a->stiffness);
  }
  for (uint32_t i = 0; i < scene->fixed_count; ++i) {
    const sn_fixed_desc* f = &scene->fixed[i];
    add_int(h, f->body);
    add_int(h, f->bone);
    add_where(h, &f->where);
    add_int(h, f->axes);
    add_motion(h, &f->motion);
  }
  for (uint32_t i = 0; i < scene->force_count; ++i) {
    const sn_force_desc* f = &scene->forces[i];
    add_int(h, f->body);
    add_where(h, &f->where);
    add_int(h, f->is_traction);
    for (uint32_t k = 0; k < f->key_count; ++k) {
      add_double(h, f->keys[k].frame);
      add_vec3(h, f->keys[k].value);
    }
  }
}

static void add_end(hasher* h, const sn_muscle_end* end) {
  add_int(h, end->kind);
  add_vec3(h, end->point);
  add_int(h, end->bone);
}

static void add_muscle(hasher* h, const sn_muscle_desc* muscle) {
  add_int(h, muscle->body);
  add_mesh(h, &muscle->mesh);
  add_int(h, muscle->fibers);
  add_vec3(h, muscle->along);
  for (uint32_t k = 0; k < muscle->field_count; ++k) {
    add_vec3(h, muscle->field[k].place);
    add_vec3(h, muscle->field[k].direction);
  }
  add_end(h, &muscle->origin);
  add_end(h, &muscle->insertion);
  add_int(h, muscle->activation_count);
  for (uint32_t k = 0; k < muscle->activation_count; ++k) {
    add_double(h, muscle->activation[k].frame);
    add_double(h, muscle->activation[k].value);
  }
  add_double(h, muscle->max_stress);
  add_double(h, muscle->optimal);
  add_double(h, muscle->passive);
  add_double(h, muscle->tendon);
  add_double(h, muscle->stiffness);
}

uint64_t sn_scene_fingerprint(const sn_scene* scene) {
  hasher h = {0};
  add_double(&h, scene->unit);
  add_double(&h, scene->fps);
  add_int(&h, scene->substeps);
  add_int(&h, scene->max_substeps);
  add_int(&h, scene->preroll);
  add_vec3(&h, scene->gravity);
  add_int(&h, scene->mode);
  for (uint32_t i = 0; i < scene->body_count; ++i) add_body(&h, &scene->bodies[i]);
  for (uint32_t i = 0; i < scene->bone_count; ++i) add_bone(&h, &scene->bones[i]);
  add_connections(&h, scene);
  for (uint32_t i = 0; i < scene->muscle_count; ++i) add_muscle(&h, &scene->muscles[i]);
  add_int(&h, scene->collider_count);
  for (uint32_t i = 0; i < scene->collider_count; ++i) add_collider(&h, &scene->colliders[i]);
  add_contact(&h, &scene->contact);
  const sn_solver_opts* solver = &scene->solver;
  add_int(&h, solver->linear);
  add_int(&h, solver->newton_max);
  add_int(&h, solver->sharp);
  add_int(&h, solver->retries);
  add_double(&h, solver->newton_tolerance);
  add_int(&h, solver->krylov_max);
  add_double(&h, solver->krylov_tolerance);
  add_int(&h, solver->multigrid.smoother);
  add_double(&h, solver->multigrid.damping);
  add_int(&h, solver->multigrid.degree);
  add_int(&h, solver->multigrid.coarsest);
  add_int(&h, solver->integrator);
  add_int(&h, solver->pressure);
  add_double(&h, solver->pressure_scale);
  add_int(&h, solver->interface);
  return h.value;
}
