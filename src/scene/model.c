#include "scene/model.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "math/vec.h"

// Strains of this size are taken for none where forces are judged.
#define NEGLIGIBLE_STRAIN 1e-6

// What the machine has, or what this process may have of it.
double sn_machine_bytes(void) {
  double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
  FILE* file = fopen("/sys/fs/cgroup/memory.max", "r");
  double limit;
  if (file && fscanf(file, "%lf", &limit) == 1 && limit < bytes) bytes = limit;
  if (file) fclose(file);
  return bytes;
}

sn_status sn_scene_estimate(const sn_scene* scene, uint32_t body, double* cells, double* bytes,
                            sn_error* err) {
  const sn_body_desc* desc = &scene->bodies[body];
  sn_box box;
  sn_body_estimate(desc, &box, cells, bytes);
  if (desc->cell == 0) return SN_OK;
  double axis_cells = sn_octree_axis_cells(box, desc->cell), unit = scene->unit;
  SN_CHECK(axis_cells <= SN_MAX_AXIS_CELLS, err, SN_ERR_INPUT,
           "bodies[%u].cell: %g gives %.0f cells along the longest side, at most %d are possible; "
           "take %g or more",
           body, desc->cell / unit, axis_cells, SN_MAX_AXIS_CELLS,
           sn_box_size(box) / SN_MAX_AXIS_CELLS / unit);
  double have = sn_machine_bytes();
  SN_CHECK(*bytes <= have, err, SN_ERR_INPUT,
           "bodies[%u].cell: %g would need about %.3g cells and %.1f GB, the machine has %.1f GB; "
           "take %.3g or more",
           body, desc->cell / unit, *cells, *bytes / 1e9, have / 1e9,
           desc->cell / unit * (sqrt(*bytes / have)));
  return SN_OK;
}

// Edges of so many cells hide how the flesh along them bends.
#define HIDING_CELLS 16.0

// The share of the surface, by area, that triangles with such edges are.
static double hiding_share(const sn_body* body) {
  const sn_surface* skin = &body->surface;
  double area = 0, hiding = 0;
  for (uint32_t t = 0; t < skin->triangle_count; ++t) {
    sn_vec3 c[3];
    for (int i = 0; i < 3; ++i) c[i] = sn_surface_corner(skin, t, i);
    double longest =
        fmax(sn_distance(c[0], c[1]), fmax(sn_distance(c[1], c[2]), sn_distance(c[2], c[0])));
    double own = sn_length(sn_cross(sn_sub(c[1], c[0]), sn_sub(c[2], c[0])));
    area += own;
    if (longest > HIDING_CELLS * body->tree.cell) hiding += own;
  }
  return hiding / area;
}

static void warn_about(const sn_body* body, sn_mode mode) {
  const sn_mesh_report* report = &body->surface.report;
  const char* file = body->desc->surface;
  if (report->degenerate_triangles) {
    sn_log(SN_LOG_WARNING, "%s: %u triangles without area are left out", file,
           report->degenerate_triangles);
  }
  if (report->duplicate_triangles) {
    sn_log(SN_LOG_WARNING, "%s: %u triangles that repeat others are left out", file,
           report->duplicate_triangles);
  }
  if (report->flipped_triangles) {
    sn_log(SN_LOG_WARNING, "%s: %u triangles face the wrong way and are turned", file,
           report->flipped_triangles);
  }
  if (report->unreferenced_vertices) {
    sn_log(SN_LOG_WARNING, "%s: %u vertices are in no triangle; they follow the nearest flesh",
           file, report->unreferenced_vertices);
  }
  if (hiding_share(body) > 0.5) {
    sn_log(SN_LOG_WARNING,
           "%s: most of it is triangles longer than %g cells; how flesh bends between their "
           "corners does not show in the "
           "result: a surface with more triangles shows it",
           file, HIDING_CELLS);
  }
  if (mode == SN_MODE_DYNAMIC) return;
  sn_vec3 v = body->desc->velocity;
  if (v.x != 0 || v.y != 0 || v.z != 0) {
    sn_log(SN_LOG_WARNING, "body \"%s\": its initial velocity has no effect in a quasistatic scene",
           body->desc->name);
  }
  uint32_t loose = 0;
  for (uint32_t p = 0; p < body->part_count; ++p) loose += !body->part_is_held[p];
  if (loose > 0) {
    sn_log(
        SN_LOG_WARNING,
        "body \"%s\": nothing holds %u of its %u parts; they keep the position of their start pose "
        "and feel no gravity",
        body->desc->name, loose, body->part_count);
  }
}

// @param place of the motion in the scene @param item number of its owner
static sn_status check_mesh_motion(const sn_mesh_motion* motion, const sn_mesh* mesh,
                                   const char* place, uint32_t item, sn_error* err) {
  if (motion->frame_count == 0) return SN_OK;
  SN_CHECK(motion->vertex_count == mesh->vertex_count, err, SN_ERR_INPUT,
           "%s[%u]: an animated mesh of %u vertices; expected %u, those of its surface", place,
           item, motion->vertex_count, mesh->vertex_count);
  double frames = motion->frame_count - 1.0;
  SN_CHECK(motion->period == 0 || (motion->period > frames - 1 && motion->period <= frames), err,
           SN_ERR_INPUT,
           "%s[%u]: an animated mesh of %u frames with a period of %g; expected the "
           "period to end at the last frame or in the one before",
           place, item, motion->frame_count, motion->period);
  size_t count = 3 * (size_t)motion->vertex_count * motion->frame_count;
  for (size_t i = 0; i < count; ++i) {
    SN_CHECK(isfinite(motion->places[i]), err, SN_ERR_INPUT,
             "%s[%u]: a coordinate of the animated mesh is not finite at frame %lld; expected a "
             "number",
             place, item, motion->first_frame + (long long)(i / 3 / motion->vertex_count));
  }
  return SN_OK;
}

// What a scene made by hand may have wrong.
static sn_status check_mesh_motions(const sn_scene* scene, sn_error* err) {
  for (uint32_t b = 0; b < scene->body_count; ++b) {
    const sn_body_desc* body = &scene->bodies[b];
    SN_TRY(check_mesh_motion(&body->pose, &body->mesh, "bodies", b, err));
  }
  for (uint32_t b = 0; b < scene->bone_count; ++b) {
    const sn_bone_desc* bone = &scene->bones[b];
    SN_TRY(check_mesh_motion(&bone->shape, &bone->mesh, "bones", b, err));
  }
  for (uint32_t c = 0; c < scene->collider_count; ++c) {
    const sn_collider_desc* collider = &scene->colliders[c];
    SN_TRY(check_mesh_motion(&collider->shape, &collider->mesh, "colliders", c, err));
  }
  for (uint32_t i = 0; i < scene->attachment_count; ++i) {
    const sn_attachment_desc* tie = &scene->attachments[i];
    SN_CHECK(tie->bone != SN_NO_BONE || scene->bodies[tie->body].pose.frame_count > 0, err,
             SN_ERR_INPUT,
             "attachments[%u]: to the pose of body \"%s\", which has none; expected "
             "a body with a pose, or a bone",
             i, scene->bodies[tie->body].name);
  }
  return SN_OK;
}

static double largest_bulk(const sn_body* body) {
  double most = 0;
  for (uint32_t e = 0; e < (body->even ? 1 : body->tree.cell_count); ++e) {
    most = fmax(most, sn_body_lambda(body, e) / sn_body_mu(body, e));
  }
  return most;
}

static sn_status build_bodies(sn_model* model, sn_pool* pool, sn_arena* scratch, sn_error* err) {
  const sn_scene* scene = model->scene;
  SN_TRY(SN_ARENA_NEW(model->arena, scene->bone_count, &model->bones, err));
  SN_TRY(SN_ARENA_NEW(model->arena, scene->body_count, &model->bodies, err));
  for (uint32_t b = 0; b < scene->bone_count; ++b) {
    SN_TRY(sn_bone_build(&scene->bones[b], model->arena, scratch, &model->bones[b], err));
  }
  for (uint32_t b = 0; b < scene->body_count; ++b) {
    double cells, bytes;
    sn_body* body = &model->bodies[b];
    SN_TRY(sn_scene_estimate(scene, b, &cells, &bytes, err));
    SN_TRY(sn_body_build(scene, b, model->bones, pool, model->arena, scratch, body, err));
    size_t held = sn_arena_bytes(model->arena);
    SN_TRY(sn_body_attach(scene, b, model->bones, pool, model->arena, scratch, body, err));
    SN_TRY(sn_leads_build(model->bones, scene->bone_count, pool, model->arena, scratch, body, err));
    model->memory.bytes[SN_MEMORY_SURFACE] += body->surface_bytes;
    model->memory.bytes[SN_MEMORY_TREE] += body->tree_bytes;
    model->memory.bytes[SN_MEMORY_FAMILIES] += body->family_bytes;
    model->memory.bytes[SN_MEMORY_MATERIAL] +=
        body->material_bytes + sn_arena_lap(model->arena, &held);
    body->begin = model->unknown_count;
    model->unknown_count += 3 * (size_t)body->tree.node_count;
    model->largest_bulk = fmax(model->largest_bulk, largest_bulk(body));
    model->body_count = b + 1;
    warn_about(body, scene->mode);
  }
  return SN_OK;
}

static sn_status build_hierarchies(sn_model* model, sn_pool* pool, sn_arena* scratch,
                                   sn_error* err) {
  sn_linear_solver linear = model->scene->solver.linear;
  bool levels = sn_linear_is_multigrid(linear) || linear == SN_LINEAR_MULTIGRID_ONLY ||
                linear == SN_LINEAR_MINRES || linear == SN_LINEAR_MACROBLOCK;
  if (!levels) return SN_OK;
  size_t held = sn_arena_bytes(model->arena);
  SN_TRY(SN_ARENA_NEW(model->arena, model->body_count, &model->hierarchies, err));
  for (uint32_t b = 0; b < model->body_count; ++b) {
    SN_TRY(sn_hierarchy_build(&model->bodies[b], pool, model->arena, scratch,
                              &model->hierarchies[b], err));
    if (linear != SN_LINEAR_MACROBLOCK) continue;
    SN_TRY(sn_macroblocks_build(&model->bodies[b].tree, pool, model->arena, scratch,
                                &model->hierarchies[b].macroblocks, err));
    if (model->scene->solver.interface == SN_MACROBLOCK_FACES) {
      const sn_grid* finest = &model->hierarchies[b].grids[0];
      SN_TRY(sn_macroblocks_plan_faces(finest->tree, finest->held, model->arena, scratch,
                                       &model->hierarchies[b].macroblocks, err));
    }
    if (model->hierarchies[b].macroblocks.count > 0) continue;
    sn_log(
        SN_LOG_WARNING,
        "body \"%s\": too few cells of one size side by side for macroblocks; what is left of them "
        "is their interface's solver",
        model->scene->bodies[b].name);
  }
  model->memory.bytes[SN_MEMORY_LEVELS] = sn_arena_lap(model->arena, &held);
  return SN_OK;
}

// Of the energy of strains of one: what cancels in a law at rest leaves round-off of this, times 1e-13.
#define CANCELLING 3e-3

// Held nodes of all bodies, and the size of forces and energies that do not matter.
static sn_status join_bodies(sn_model* model, sn_error* err) {
  SN_TRY(SN_ARENA_NEW(model->arena, model->unknown_count / 3, &model->held, err));
  double sum = 0;
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    sn_body_mark_held(body, model->held + body->begin / 3);
    for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
      double h = sn_octree_edge(&body->tree, e), force = sn_body_mu(body, e) * h * h;
      sum += force * force;
      if (body->flesh.form != SN_FORM_COROTATED) model->energy_scale += CANCELLING * force * h;
    }
  }
  model->force_scale = NEGLIGIBLE_STRAIN * sqrt(sum);
  return SN_OK;
}

static sn_status build_model(sn_model* model, sn_pool* pool, sn_error* err) {
  sn_arena* scratch;
  SN_TRY(sn_arena_create(&scratch, err));
  sn_arena_set_pool(scratch, pool);
  sn_arena_keep_dropped(scratch);
  sn_status status = build_bodies(model, pool, scratch, err);
  if (status == SN_OK) status = build_hierarchies(model, pool, scratch, err);
  size_t held = sn_arena_bytes(model->arena);
  if (status == SN_OK) status = sn_contacts_build(model, scratch, err);
  model->memory.bytes[SN_MEMORY_CONTACT] = sn_arena_lap(model->arena, &held);
  for (uint32_t b = 0; b < model->body_count && model->hierarchies && status == SN_OK; ++b) {
    status = sn_choose_direct(model, b, scratch, err);
  }
  model->memory.bytes[SN_MEMORY_LEVELS] += sn_arena_lap(model->arena, &held);
  sn_arena_destroy(scratch);
  SN_TRY(status);
  SN_TRY(join_bodies(model, err));
  return sn_scene_traits(model->scene, model->arena, &model->traits, &model->fingerprint, err);
}

sn_status sn_model_build(const sn_scene* scene, sn_pool* pool, sn_model** model, sn_error* err) {
  *model = NULL;
  SN_CHECK(scene->body_count > 0, err, SN_ERR_INPUT,
           "bodies: the scene has none; expected at least one");
  SN_TRY(check_mesh_motions(scene, err));
  for (uint32_t c = 0; c < scene->collider_count; ++c) {
    SN_CHECK(sn_motion_is_rigid(&scene->colliders[c].motion), err, SN_ERR_INPUT,
             "colliders[%u].motion: found a stretch, expected none: colliders are rigid", c);
  }
  sn_arena* arena;
  sn_model* built;
  SN_TRY(sn_arena_create(&arena, err));
  sn_status status = SN_ARENA_NEW(arena, 1, &built, err);
  if (status != SN_OK) {
    sn_arena_destroy(arena);
    return status;
  }
  sn_arena_set_pool(arena, pool);
  built->arena = arena;
  built->scene = scene;
  status = build_model(built, pool, err);
  if (status != SN_OK) {
    sn_model_destroy(built);
    return status;
  }
  *model = built;
  return SN_OK;
}

void sn_model_destroy(sn_model* model) {
  if (!model) return;
  for (uint32_t b = 0; model->bones && b < model->scene->bone_count; ++b) {
    sn_bone_destroy(&model->bones[b]);
  }
  sn_arena_destroy(model->arena);  // the model itself is in it
}

uint32_t sn_model_body_count(const sn_model* model) { return model->body_count; }
sn_body_info sn_model_body(const sn_model* model, uint32_t body) {
  return sn_body_get_info(&model->bodies[body]);
}
sn_region_info sn_model_region(const sn_model* model, uint32_t body, uint32_t region) {
  return sn_body_get_region(&model->bodies[body], region);
}
sn_map_info sn_model_map(const sn_model* model, uint32_t body, uint32_t map) {
  return sn_body_get_map(&model->bodies[body], map);
}
sn_muscle_info sn_model_muscle(const sn_model* model, uint32_t body, uint32_t muscle) {
  return sn_body_get_muscle(&model->bodies[body], muscle);
}
size_t sn_model_bytes(const sn_model* model) { return sn_arena_bytes(model->arena); }
uint64_t sn_model_fingerprint(const sn_model* model) { return model->fingerprint; }
uint32_t sn_model_surface_count(const sn_model* model, uint32_t body) {
  return model->bodies[body].desc->mesh.vertex_count;
}
