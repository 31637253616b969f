#include "sinew/scene.h"

#include <jansson.h>
#include <locale.h>
#include <math.h>

#include "io/scene_json.h"
#include "io/scene_text.h"

// A tetrahedron with two groups, in every scratch folder as "tet.obj".
static const char tetrahedron[] =
    "v 0 0 0\nv 1.1 0 0\nv 0 1.3 0\nv 0 0 1.7\n"
    "g base\nf 1 3 2\ng sides\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

#define Q "\"mode\": \"quasistatic\""
#define BODY "\"bodies\": [{\"surface\": \"tet.obj\"}]"
#define BONE                                                                             \
  "\"bones\": [{\"name\": \"femur\", \"capsule\": {\"from\": [0,0,0], \"to\": [1,0,0], " \
  "\"radius\": 0.1}}]"

// Every key that this version has.
static const char full_scene[] =
    "{\"sinew\": 1, \"unit\": 0.01, \"up\": \"z\", \"fps\": 29.97, \"frames\": [3, 12],"
    " \"substeps\": 2, \"max_substeps\": 5, \"preroll\": 4, \"gravity\": [0.1, 0, -9.7], \"mode\": "
    "\"quasistatic\","
    " \"bodies\": [{\"name\": \"thigh\", \"type\": \"flesh\", \"surface\": \"tet.obj\", \"cell\": "
    "0.07,"
    "   \"coarsen\": 3, \"least_fill\": 0.02, \"least_width\": 0.25, \"embedding\": \"tricubic\", "
    "\"material\": "
    "{\"model\": \"corotated\", "
    "\"young\": 3.3e4, \"poisson\": "
    "0.47},"
    "   \"density\": 1000.1, \"damping\": 0.003, \"drag\": 0.7, \"initial\": {\"translate\": [0.1, "
    "0.2, 0.3],"
    "   \"rotate\": [1, 2, 3, 4], \"velocity\": [0.7, 0, 0],"
    "   \"scramble\": {\"kind\": \"random\", \"amount\": 1.5, \"seed\": 12345}},"
    "   \"regions\": [{\"name\": \"fat\", \"mesh\": \"tet.obj\", \"material\": {\"mu\": 33.3, "
    "\"lambda\": 7.7}, \"density\": 911.1, \"stiffness\": 0.7, \"weight\": 0.3}],"
    "   \"maps\": {\"stiffness\": \"ones.csv\", \"fat\": \"ones.csv\", \"grip\": \"ones.csv\"}},"
    "  {\"surface\": \"tet.obj\", \"material\": {\"mu\": 4000.3, \"lambda\": 37000.1}},"
    "  {\"surface\": \"./sub/../tet.obj\"}],"
    " \"bones\": [{\"name\": \"femur\", \"capsule\": {\"from\": [0.1, 0.1, 0.1],"
    "   \"to\": [0.3, 0.1, 0.7], \"radius\": 0.033}, \"motion\": [{\"frame\": 1},"
    "   {\"frame\": 5.5, \"translate\": [0.3, 0.7, 0.1], \"rotate\": [0, 0.1, 0, 1],"
    "   \"pivot\": [0.13, 0.17, 0.19], \"stretch\": [1.1, 0.9, 0.7]}]},"
    "  {\"mesh\": \"tet.obj\"}],"
    " \"attachments\": [{\"body\": \"thigh\", \"bone\": \"femur\", \"where\": {\"near\": 0.013},"
    "   \"stiffness\": 33.3}, {\"body\": \"tet\", \"bone\": \"bone2\"}],"
    " \"fixed\": [{\"body\": \"tet\", \"axes\": \"xz\", \"where\": {\"box\": [[-0.1, -0.1, -0.1], "
    "[0.1, 0.3, 0.7]]},"
    "   \"motion\": [{\"frame\": 2, \"translate\": [0.3, 0.3, 0.3], \"stretch\": "
    "[1.1, 1.2, 1.3, 0.1, 0.2, 0.3]}, {\"frame\": 3, \"stretch\": 0.001}]},"
    "  {\"body\": \"tet\", \"bone\": \"femur\", \"where\": \"inside\"},"
    "  {\"body\": \"thigh\", \"where\": {\"map\": \"grip\", \"above\": 0.7}}],"
    " \"forces\": [{\"body\": \"thigh\", \"where\": {\"group\": \"base\"}, \"force\": [0.1, 0.2, "
    "0.3]},"
    "  {\"body\": \"thigh\", \"traction\": [{\"frame\": 1, \"value\": [0, 0, 0]},"
    "   {\"frame\": 9, \"value\": [0.1, 0.7, 0.9]}]},"
    "  {\"body\": \"thigh\", \"where\": {\"map\": \"grip\"}, \"force\": [0.3, 0, 0]}],"
    " \"colliders\": [{\"name\": \"floor\", \"shape\": \"plane\", \"position\": [0.1, 0.2, 0.3],"
    "   \"normal\": [0.3, 0.1, 2], \"friction\": 0.7, \"stiffness\": 123.4},"
    "  {\"shape\": \"sphere\", \"position\": [0.1, 0.1, 0.3], \"radius\": 0.7},"
    "  {\"shape\": \"capsule\", \"from\": [0.1, 0, 0], \"to\": [0.3, 0, 0], \"radius\": 0.07},"
    "  {\"shape\": \"box\", \"half\": [0.1, 0.3, 0.7], \"motion\": [{\"frame\": 1},"
    "   {\"frame\": 7, \"translate\": [0.1, 0.3, 0.9]}]}, {\"name\": \"stone\",\"mesh\": "
    "\"tet.obj\"}],"
    " \"contact\": {\"self\": false, \"stiffness\": 333.3, \"friction\": 0.11, \"thickness\": "
    "0.013,"
    "   \"ignore\": [[\"thigh\", \"floor\"], [\"stone\", \"tet\"], [\"tet\", \"tet\"]]},"
    " \"solver\": {\"linear\": \"cg\", \"pressure\": \"condensed\", \"integrator\": \"euler\", "
    "\"newton\": {\"max\": 7, "
    "\"tolerance\": 1e-4, \"retries\": 1},"
    "   \"krylov\": {\"max\": 77, \"tolerance\": 0.03}, \"threads\": 3, \"precision\": \"double\"},"
    " \"output\": {\"formats\": [\"pc2\", \"glb\"], \"fields\": [], \"checkpoint_every\": 5,"
    "   \"keep_checkpoints\": true}}";

static int begin(void** state) {
  if (make_scratch_folder(state) != 0) return -1;
  scratch_write("tet.obj", tetrahedron, strlen(tetrahedron));
  scratch_write("ones.csv", "1\n1\n1\n1\n", 8);
  return 0;
}

static void a_minimal_scene_has_every_default(void** unused) {
  (void)unused;
  sn_scene* s = load_well("{" BODY "}");
  assert_true(s->unit == 1.0 && s->fps == 24.0);
  assert_true(s->up == SN_UP_Y && s->mode == SN_MODE_DYNAMIC);
  assert_true(s->first_frame == 1 && s->last_frame == 48 && s->substeps == 1 && s->preroll == 0);
  assert_int_equal(s->max_substeps, 8);
  assert_vector(s->gravity, 0.0, -9.81, 0.0);
  assert_int_equal(s->body_count, 1);
  assert_true(s->bone_count + s->attachment_count + s->fixed_count + s->force_count == 0);

  const sn_body_desc* body = &s->bodies[0];
  assert_string_equal(body->name, "tet");
  assert_int_equal(body->surface[0], '/');
  assert_int_equal(body->mesh.triangle_count, 4);
  assert_true(body->cell == 0.0 && body->coarsen == -1);
  assert_true(body->embedding == SN_EMBEDDING_TRILINEAR && body->least_fill == 0);
  assert_true(body->least_width == 0);
  assert_true(body->material.mu == 12000.0 / (2.0 * (1.0 + 0.47)));
  assert_true(body->material.lambda == 12000.0 * 0.47 / ((1.0 + 0.47) * (1.0 - 2.0 * 0.47)));
  assert_true(body->density == 1060.0 && body->damping == 0.001 && body->drag == 0.0);
  const sn_rigid identity = {{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}};
  assert_memory_equal(&body->initial, &identity, sizeof identity);
  assert_vector(body->velocity, 0, 0, 0);
  assert_int_equal(body->scramble.kind, SN_SCRAMBLE_NONE);

  assert_int_equal(s->solver.linear, SN_LINEAR_MULTIGRID);
  assert_true(s->solver.newton_max == 10 && s->solver.newton_tolerance == 1e-3);
  assert_int_equal(s->solver.retries, 2);
  assert_true(s->solver.krylov_max == 0 && s->solver.krylov_tolerance == 1e-2);
  assert_true(s->solver.threads == 0 && s->solver.integrator == SN_INTEGRATOR_BDF2);
  assert_int_equal(s->solver.multigrid.smoother, SN_SMOOTHER_AUTO);
  assert_true(s->solver.pressure == SN_PRESSURE_AUTO && s->solver.pressure_scale == 0);
  assert_int_equal(s->collider_count, 0);
  assert_true(s->contact.self && s->contact.stiffness == 500.0 && s->contact.friction == 0.3);
  assert_true(s->contact.thickness == 0.0 && s->contact.ignore_count == 0);
  assert_true(s->output.checkpoint_every == 1 && !s->output.keep_checkpoints);
  assert_int_equal(s->output.formats, 1u << SN_FORMAT_PC2);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void a_full_scene_is_read_in_metres(void** unused) {
  (void)unused;
  const double unit = 0.01;
  sn_scene* s = load_well(full_scene);
  assert_true(s->unit == unit && s->up == SN_UP_Z && s->fps == 29.97);
  assert_true(s->first_frame == 3 && s->last_frame == 12 && s->substeps == 2 && s->preroll == 4);
  assert_true(s->max_substeps == 5 && s->mode == SN_MODE_QUASISTATIC);
  assert_vector(s->gravity, 0.1, 0.0, -9.7);
  assert_int_equal(s->body_count, 3);
  assert_string_equal(s->bodies[1].name, "tet");
  assert_string_equal(s->bodies[2].name, "tet2");
  assert_null(strstr(s->bodies[2].surface, "sub"));

  const sn_body_desc* body = &s->bodies[0];
  assert_true(body->cell == 0.07 * unit && body->coarsen == 3);
  assert_true(body->embedding == SN_EMBEDDING_TRICUBIC && body->least_fill == 0.02);
  assert_true(body->least_width == 0.25);
  assert_true(body->damping == 0.003 && body->drag == 0.7);
  assert_true(body->mesh.positions[3] == 1.1 * unit);
  assert_true(body->material.mu == 3.3e4 / (2.0 * (1.0 + 0.47)));
  assert_true(s->bodies[1].material.mu == 4000.3 && s->bodies[1].material.lambda == 37000.1);
  assert_vector(body->initial.translate, 0.1 * unit, 0.2 * unit, 0.3 * unit);
  assert_vector(body->velocity, 0.7 * unit, 0, 0);
  assert_true(fabs(body->initial.rotate.m[0][0] - (1.0 - 2.0 * (4.0 + 9.0) / 30.0)) < 1e-15);
  assert_true(body->scramble.kind == SN_SCRAMBLE_RANDOM && body->scramble.amount == 1.5);
  assert_int_equal(body->scramble.seed, 12345);

  assert_true(s->bones[0].kind == SN_BONE_CAPSULE && s->bones[0].capsule.radius == 0.033 * unit);
  assert_vector(s->bones[0].capsule.to, 0.3 * unit, 0.1 * unit, 0.7 * unit);
  assert_true(s->bones[1].kind == SN_BONE_MESH && s->bones[1].mesh.positions[3] == 1.1 * unit);
  assert_string_equal(s->bones[1].name, "bone2");
  const sn_motion* motion = &s->bones[0].motion;
  assert_int_equal(motion->key_count, 2);
  assert_true(motion->keys[0].rotate.w == 1.0 && motion->keys[1].frame == 5.5);
  assert_vector(motion->keys[1].pivot, 0.13 * unit, 0.17 * unit, 0.19 * unit);

  assert_true(s->attachments[0].where.kind == SN_WHERE_NEAR && s->attachments[0].body == 0);
  assert_true(s->attachments[0].where.distance == 0.013 * unit);
  assert_true(s->attachments[0].stiffness == 33.3 && s->attachments[1].stiffness == 100.0);
  assert_true(s->attachments[1].body == 1 && s->attachments[1].bone == 1);
  assert_int_equal(s->attachments[1].where.kind, SN_WHERE_INSIDE);
  assert_true(s->fixed[0].bone == SN_NO_BONE && s->fixed[0].where.kind == SN_WHERE_BOX);
  assert_vector(s->fixed[0].where.box.hi, 0.1 * unit, 0.3 * unit, 0.7 * unit);
  assert_true(s->fixed[0].axes == SN_HELD_XZ && s->fixed[1].axes == SN_HELD_XYZ);
  const double no_stretch[6] = {1, 1, 1, 0, 0, 0}, axes[6] = {1.1, 0.9, 0.7, 0, 0, 0};
  assert_memory_equal(motion->keys[0].stretch, no_stretch, sizeof no_stretch);
  assert_memory_equal(motion->keys[1].stretch, axes, sizeof axes);
  assert_int_equal(s->fixed[0].motion.key_count, 2);
  assert_true(s->fixed[0].motion.keys[0].stretch[5] == 0.3);
  assert_true(s->fixed[0].motion.keys[1].stretch[2] == 0.001);
  assert_true(s->fixed[1].bone == 0 && s->fixed[1].motion.keys == motion->keys);
  assert_true(!s->forces[0].is_traction && s->forces[0].key_count == 1);
  assert_vector(s->forces[0].keys[0].value, 0.1, 0.2, 0.3);
  assert_string_equal(s->forces[0].where.group, "base");
  assert_true(s->forces[1].is_traction && s->forces[1].key_count == 2);
  assert_int_equal(s->forces[1].where.kind, SN_WHERE_ALL);

  assert_true(s->solver.linear == SN_LINEAR_CG && s->solver.newton_max == 7);
  assert_int_equal(s->solver.retries, 1);
  assert_true(s->solver.krylov_max == 77 && s->solver.threads == 3);
  assert_int_equal(s->solver.integrator, SN_INTEGRATOR_EULER);
  assert_true(s->output.checkpoint_every == 5 && s->output.keep_checkpoints);
  assert_int_equal(s->output.formats, 1u << SN_FORMAT_PC2 | 1u << SN_FORMAT_GLB);
  sn_scene_destroy(s);
  assert_int_equal(sn_memory_used(), 0);
}

static void assert_same_mesh(const sn_mesh* a, const sn_mesh* b) {
  assert_int_equal(a->vertex_count, b->vertex_count);
  if (a->vertex_count > 0) {
    assert_memory_equal(a->positions, b->positions, 24 * (size_t)a->vertex_count);
  }
}

static void assert_same_where(const sn_where* a, const sn_where* b) {
  assert_int_equal(a->kind, b->kind);
  assert_memory_equal(&a->distance, &b->distance, sizeof a->distance);
  assert_memory_equal(&a->box, &b->box, sizeof a->box);
  assert_true(!a->group == !b->group && (!a->group || strcmp(a->group, b->group) == 0));
}

static void assert_same_motion(const sn_motion* a, const sn_motion* b) {
  assert_int_equal(a->key_count, b->key_count);
  assert_true(a->period == b->period);
  if (a->key_count > 0) assert_memory_equal(a->keys, b->keys, a->key_count * sizeof *a->keys);
}

static void assert_same_bodies(const sn_scene* a, const sn_scene* b) {
  assert_int_equal(a->body_count, b->body_count);
  for (uint32_t i = 0; i < a->body_count; ++i) {
    const sn_body_desc *p = &a->bodies[i], *q = &b->bodies[i];
    assert_string_equal(p->name, q->name);
    assert_string_equal(p->surface, q->surface);
    assert_same_mesh(&p->mesh, &q->mesh);
    assert_true(p->coarsen == q->coarsen && p->scramble.kind == q->scramble.kind);
    assert_true(p->embedding == q->embedding && p->least_fill == q->least_fill);
    assert_true(p->least_width == q->least_width);
    assert_memory_equal(&p->cell, &q->cell, sizeof p->cell);
    assert_memory_equal(&p->material, &q->material, sizeof p->material);
    assert_true(p->density == q->density && p->damping == q->damping && p->drag == q->drag);
    assert_memory_equal(&p->initial, &q->initial, sizeof p->initial);
    assert_memory_equal(&p->velocity, &q->velocity, sizeof p->velocity);
    assert_true(p->scramble.amount == q->scramble.amount && p->scramble.seed == q->scramble.seed);
  }
}

static void assert_same_contact(const sn_scene* a, const sn_scene* b) {
  assert_int_equal(a->collider_count, b->collider_count);
  for (uint32_t i = 0; i < a->collider_count; ++i) {
    const sn_collider_desc *p = &a->colliders[i], *q = &b->colliders[i];
    assert_string_equal(p->name, q->name);
    assert_int_equal(p->kind, q->kind);
    assert_memory_equal(&p->position, &q->position, sizeof p->position);
    assert_memory_equal(&p->normal, &q->normal, sizeof p->normal);
    assert_memory_equal(&p->half, &q->half, sizeof p->half);
    assert_memory_equal(&p->capsule, &q->capsule, sizeof p->capsule);
    assert_true(p->radius == q->radius && p->friction == q->friction);
    assert_true(p->stiffness == q->stiffness);
    assert_same_mesh(&p->mesh, &q->mesh);
    assert_same_motion(&p->motion, &q->motion);
  }
  const sn_contact_opts *p = &a->contact, *q = &b->contact;
  assert_true(p->self == q->self && p->stiffness == q->stiffness && p->friction == q->friction);
  assert_true(p->thickness == q->thickness && p->ignore_count == q->ignore_count);
  for (uint32_t i = 0; i < p->ignore_count; ++i) {
    for (int k = 0; k < 2; ++k) {
      sn_contact_side c = p->ignore[i].side[k], d = q->ignore[i].side[k];
      assert_true(c.is_collider == d.is_collider && c.index == d.index);
    }
  }
}

static void assert_same_scene(const sn_scene* a, const sn_scene* b) {
  assert_true(a->unit == b->unit && a->up == b->up && a->fps == b->fps && a->mode == b->mode);
  assert_true(a->first_frame == b->first_frame && a->last_frame == b->last_frame);
  assert_true(a->substeps == b->substeps && a->preroll == b->preroll);
  assert_int_equal(a->max_substeps, b->max_substeps);
  assert_memory_equal(&a->gravity, &b->gravity, sizeof a->gravity);
  assert_same_bodies(a, b);
  assert_int_equal(a->bone_count, b->bone_count);
  for (uint32_t i = 0; i < a->bone_count; ++i) {
    assert_string_equal(a->bones[i].name, b->bones[i].name);
    assert_int_equal(a->bones[i].kind, b->bones[i].kind);
    assert_same_mesh(&a->bones[i].mesh, &b->bones[i].mesh);
    assert_memory_equal(&a->bones[i].capsule, &b->bones[i].capsule, sizeof a->bones[i].capsule);
    assert_same_motion(&a->bones[i].motion, &b->bones[i].motion);
  }
  assert_int_equal(a->attachment_count, b->attachment_count);
  for (uint32_t i = 0; i < a->attachment_count; ++i) {
    const sn_attachment_desc *p = &a->attachments[i], *q = &b->attachments[i];
    assert_true(p->body == q->body && p->bone == q->bone && p->stiffness == q->stiffness);
    assert_same_where(&p->where, &q->where);
  }
  assert_int_equal(a->fixed_count, b->fixed_count);
  for (uint32_t i = 0; i < a->fixed_count; ++i) {
    assert_true(a->fixed[i].body == b->fixed[i].body && a->fixed[i].bone == b->fixed[i].bone);
    assert_same_where(&a->fixed[i].where, &b->fixed[i].where);
    assert_int_equal(a->fixed[i].axes, b->fixed[i].axes);
    assert_same_motion(&a->fixed[i].motion, &b->fixed[i].motion);
  }
  assert_int_equal(a->force_count, b->force_count);
  for (uint32_t i = 0; i < a->force_count; ++i) {
    const sn_force_desc *p = &a->forces[i], *q = &b->forces[i];
    assert_true(p->body == q->body && p->is_traction == q->is_traction);
    assert_int_equal(p->key_count, q->key_count);
    assert_memory_equal(p->keys, q->keys, p->key_count * sizeof *p->keys);
    assert_same_where(&p->where, &q->where);
  }
  assert_same_contact(a, b);
  assert_memory_equal(&a->solver, &b->solver, sizeof a->solver);
  assert_memory_equal(&a->output, &b->output, sizeof a->output);
}

static void assert_round_trip(const char* text) {
  sn_scene *first = load_well(text), *second;
  sn_error err = {0};
  if (sn_scene_save(scratch_path("saved.json"), first, &err) != SN_OK) fail_msg("%s", err.text);
  if (sn_scene_load(scratch_path("saved.json"), NULL, 0, &second, &err) != SN_OK) {
    fail_msg("%s in %s", err.text, first->resolved);
  }
  assert_same_scene(first, second);
  assert_string_equal(first->resolved, second->resolved);
  sn_scene_destroy(first);
  sn_scene_destroy(second);
  assert_int_equal(sn_memory_used(), 0);
}

static void a_saved_scene_reads_back_bit_for_bit(void** unused) {
  (void)unused;
  assert_round_trip("{" BODY ", " Q "}");
  assert_round_trip(full_scene);
  assert_round_trip("{" BODY
                    ", \"up\": \"z\", \"colliders\": [{\"normal\": [3, 1, 1], \"shape\": "
                    "\"plane\"}, {\"shape\": \"plane\"}], \"substeps\": 20}");
  assert_round_trip("{" BODY ", " Q
                    ", \"unit\": 0.0254, \"gravity\": -0.0, \"fps\": 23.976023976023978}");
  assert_round_trip("{\"bodies\": [{\"surface\": \"tet.obj\", \"material\": \"flesh\"}], " Q "}");
}

static void a_saved_scene_reads_back_for_any_number(void** unused) {
  (void)unused;
  uint64_t seed = 5;
  for (int i = 0; i < 200; ++i) {
    double v[4];
    for (int k = 0; k < 4; ++k) {
      v[k] = ldexp(1.0 + next_random(&seed) * 0x1p-31, (int)(next_random(&seed) % 40) - 20);
    }
    char text[512];
    snprintf(text, sizeof text,
             "{\"unit\": %.17g, " Q
             ", \"bodies\": [{\"surface\": \"tet.obj\", \"cell\": %.17g, "
             "\"initial\": {\"translate\": [%.17g, %.17g, -0.0]}}]}",
             v[0], v[1], v[2], v[3]);
    assert_round_trip(text);
  }
}

// The point of a number does not follow the locale of the host program.
static void a_comma_locale_changes_nothing(void** unused) {
  (void)unused;
  char shortest[32];
  sn_number_to_text(0.1, shortest);
  assert_string_equal(shortest, "0.1");
  sn_number_to_text(3.0, shortest);
  assert_string_equal(shortest, "3.0");
  sn_number_to_text(1e300, shortest);
  assert_string_equal(shortest, "1e+300");
  const char* names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    if (!setlocale(LC_NUMERIC, names[i])) continue;
    assert_round_trip(full_scene);
    sn_number_to_text(0.1, shortest);
    assert_string_equal(shortest, "0.1");
  }
  setlocale(LC_NUMERIC, "C");
}

static void a_scene_that_was_not_read_cannot_be_saved(void** unused) {
  (void)unused;
  sn_scene scene = {0};
  sn_error err = {0};
  assert_int_equal(sn_scene_save(scratch_path("no.json"), &scene, &err), SN_ERR_USAGE);
  assert_message_has(&err, "sn_scene_load");
  sn_scene_destroy(NULL);
}

static void syntax_errors_name_line_and_column(void** unused) {
  (void)unused;
  assert_refused("{\n  \"unit\": 1,,\n}", "scene.json:2:");
  assert_refused("", "scene.json:1:");
  assert_refused("{\"unit\": 1, \"unit\": 2}", "duplicate");
  assert_refused("{\"unit\": 1e400}", "overflow");
  assert_refused("{\"frames\": [1, 99999999999999999999]}", "too big");
  assert_refused("{\"unit\": NaN}", "scene.json:1:");
  assert_refused("[]", "found an empty list, expected a scene");
  assert_refused("[1]", "found a list of 1, expected a scene");
  sn_scene_destroy(load_well("\xEF\xBB\xBF{" BODY ", " Q "}"));
}

typedef struct refusal {
  const char *text, *part;
} refusal;

static void assert_all_refused(const refusal* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) assert_refused(rows[i].text, rows[i].part);
}
#define ASSERT_ALL_REFUSED(rows) assert_all_refused(rows, sizeof(rows) / sizeof(rows)[0])

#define WITH(rest) "{" BODY ", " Q ", " rest "}"
#define WITH_BODY(rest) "{" Q ", \"bodies\": [{\"surface\": \"tet.obj\", " rest "}]}"
#define WITH_BONE(rest) "{" BODY ", " Q ", " BONE ", " rest "}"

static void solvers_for_pressures_are_read(void** unused) {
  (void)unused;
  static const struct {
    const char* text;
    sn_linear_solver linear;
    sn_pressure_form pressure;
  } ROWS[] = {
      {WITH("\"solver\": {\"linear\": \"minres\"}"), SN_LINEAR_MINRES, SN_PRESSURE_AUTO},
      {WITH("\"solver\": {\"linear\": \"qmr\", \"pressure\": \"condensed\"}"), SN_LINEAR_QMR,
       SN_PRESSURE_CONDENSED},
      {WITH("\"solver\": {\"pressure\": \"kept\", \"pressure_scale\": 2.5}"), SN_LINEAR_MULTIGRID,
       SN_PRESSURE_KEPT},
  };
  for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; ++i) {
    sn_scene* s = load_well(ROWS[i].text);
    assert_int_equal(s->solver.linear, ROWS[i].linear);
    assert_int_equal(s->solver.pressure, ROWS[i].pressure);
    assert_true(s->solver.pressure_scale == (i == 2 ? 2.5 : 0));
    sn_scene_destroy(s);
  }
}

static void unknown_keys_name_the_nearest(void** unused) {
  (void)unused;
  const refusal rows[] = {
      {WITH("\"gravty\": 1"), "scene.json: unknown key \"gravty\", did you mean \"gravity\"?"},
      {WITH("\"Unit\": 1"), "did you mean \"unit\"?"},
      {WITH("\"qqqqqqq\": 1"), "unknown key \"qqqqqqq\", expected \"sinew\", \"unit\""},
      {WITH("\"a\\nb\": 1"), "unknown key \"a\\u000ab\""},
      {WITH_BODY("\"material\": {\"yuong\": 1}"),
       "bodies[0].material: unknown key \"yuong\", did you mean \"young\"?"},
      {WITH("\"solver\": {\"newton\": {\"tolerence\": 1}}"),
       "solver.newton: unknown key \"tolerence\", did you mean \"tolerance\"?"},
      {WITH_BONE("\"attachments\": [{\"bone\": \"femur\", \"were\": 1}]"),
       "attachments[0]: unknown key \"were\", did you mean \"where\"?"},
  };
  ASSERT_ALL_REFUSED(rows);
}

static void what_is_not_there_yet_is_said_so(void** unused) {
  (void)unused;
  const refusal rows[] = {
      {WITH_BODY("\"type\": \"cloth\""), "bodies[0].type: \"cloth\" is not in this version"},
      {WITH("\"forces\": [{\"wind\": [1, 0, 0]}]"), "forces[0].wind: not in this version"},
  };
  ASSERT_ALL_REFUSED(rows);
}

static void values_of_the_world_are_checked(void** unused) {
  (void)unused;
  const refusal rows[] = {
      {WITH("\"sinew\": 2"), "sinew: found 2, expected 1"},
      {WITH("\"unit\": 0"), "unit: found 0, expected a number of 1e-09 or more"},
      {WITH("\"unit\": \"cm\""), "unit: found \"cm\", expected a number"},
      {WITH("\"up\": \"w\""), "up: found \"w\", expected \"x\", \"y\" or \"z\""},
      {WITH("\"up\": 1"), "up: found 1, expected \"x\""},
      {WITH("\"fps\": -24"), "fps: found -24, expected a number above 0"},
      {WITH("\"fps\": 1e-200"), "fps: found 1e-200, expected a number above 0, not as near"},
      {WITH("\"fps\": 1e9"),
       "fps: found 1000000000, expected a number above 0 and at most 1000000"},
      {WITH("\"frames\": [1]"), "frames: found a list of 1, expected [first, last]"},
      {WITH("\"frames\": [0, 5]"), "frames[0]: found 0, expected a whole number of 1 or more"},
      {WITH("\"frames\": [1.5, 5]"), "frames[0]: found 1.5, expected a whole number"},
      {WITH("\"frames\": [7, 5]"), "frames: found [7, 5], expected the first"},
      {WITH("\"substeps\": 0"), "substeps: found 0, expected a whole number from 1 to 1000"},
      {WITH("\"max_substeps\": 0"),
       "max_substeps: found 0, expected a whole number from 1 to 1000"},
      {WITH("\"substeps\": 4, \"max_substeps\": 3"),
       "max_substeps: found 3, expected no less than \"substeps\", which is 4"},
      {WITH("\"preroll\": -1"), "preroll: found -1, expected a whole number from 0"},
      {WITH("\"gravity\": \"down\""), "gravity: found \"down\", expected a number of m/s2"},
      {WITH("\"gravity\": [1, 2]"), "gravity: found a list of 2, expected a vector [x, y, z]"},
      {WITH("\"gravity\": [1, 2, true]"), "gravity[2]: found true, expected a number"},
      {WITH("\"gravity\": [1, 2, 1e12]"),
       "gravity[2]: found 1000000000000, expected a number of at most"},
      {"{" BODY ", \"mode\": \"quasi-static\"}",
       "expected \"dynamic\" or \"quasistatic\"; did you mean"},
      {"{" Q "}", "bodies: found nothing, expected a list of 1 or more, each a body"},
      {"{" Q ", \"bodies\": []}", "bodies: found an empty list, expected a list of 1 or more"},
      {"{" Q ", \"bodies\": {}}", "bodies: found an empty object, expected a list"},
      {"{" Q ", \"bodies\": [3]}", "bodies[0]: found 3, expected a body"},
      {WITH("\"solver\": {\"linear\": \"jakobi-cg\"}"), "did you mean \"jacobi-cg\"?"},
      {WITH("\"solver\": {\"pressure\": \"condense\"}"), "did you mean \"condensed\"?"},
      {WITH("\"solver\": {\"pressure\": \"keep\"}"),
       "found \"keep\", expected \"auto\", \"condensed\" or \"kept\""},
      {WITH("\"solver\": {\"pressure_scale\": -1}"), "solver.pressure_scale: found -1, expected"},
      {WITH("\"solver\": {\"linear\": \"cg\", \"pressure\": \"kept\"}"),
       "solver.pressure: found \"kept\", expected \"auto\" or \"condensed\""},
      {WITH("\"solver\": {\"integrator\": \"bdf1\"}"),
       "solver.integrator: found \"bdf1\", expected \"bdf2\" or \"euler\"; did you mean \"bdf2\"?"},
      {WITH("\"solver\": {\"newton\": {\"max\": 0}}"), "solver.newton.max: found 0, expected"},
      {WITH("\"solver\": {\"newton\": {\"retries\": 4}}"),
       "solver.newton.retries: found 4, expected a whole number from 0 to 3"},
      {WITH("\"solver\": {\"newton\": {\"tolerance\": 1}}"),
       "solver.newton.tolerance: found 1, expected a number above 0 and below 1"},
      {WITH("\"solver\": {\"krylov\": 5}"), "solver.krylov: found 5, expected {\"max\""},
      {WITH("\"solver\": {\"threads\": 257}"),
       "solver.threads: found 257, expected a whole number from 0 to 256"},
      {WITH("\"solver\": {\"precision\": \"single\"}"), "found \"single\", expected \"double\""},
      {WITH("\"output\": {\"formats\": []}"),
       "output.formats: found an empty list, expected a list of \"pc2\""},
      {WITH("\"output\": {\"formats\": [\"pc2\", \"pc2\"]}"), "each at most once"},
      {WITH("\"output\": {\"formats\": [\"pc3\"]}"),
       "output.formats[0]: found \"pc3\", expected \"pc2\", \"mdd\""},
      {WITH("\"output\": {\"formats\": [\"glb\", \"vtu\"]}"),
       "output.fields: found an empty list, expected fields such as"},
      {WITH("\"output\": {\"fields\": [\"weight\"]}"),
       "output.fields[0]: found \"weight\", expected \"strain\", \"stress\", \"J\""},
      {WITH("\"output\": {\"fields\": \"J\"}"), "output.fields: found \"J\", expected a list of"},
      {WITH("\"output\": {\"fields\": [\"J\", \"J\"]}"), "each at most once"},
      {WITH("\"output\": {\"checkpoint_every\": 0}"), "output.checkpoint_every: found 0"},
      {WITH("\"output\": {\"keep_checkpoints\": 1}"), "found 1, expected true or false"},
  };
  ASSERT_ALL_REFUSED(rows);
}

static void values_of_bodies_are_checked(void** unused) {
  (void)unused;
  const refusal rows[] = {
      {"{" Q ", \"bodies\": [{}]}",
       "bodies[0].surface: found nothing, expected the file of a mesh"},
      {"{" Q ", \"bodies\": [{\"surface\": \"\"}]}",
       "bodies[0].surface: found \"\", expected the file"},
      {"{" Q ", \"bodies\": [{\"surface\": \"gone.obj\"}]}", "bodies[0].surface: /"},
      {"{" Q ", \"bodies\": [{\"surface\": \"gone.obj\"}]}", "/gone.obj: "},
      {"{" Q ", \"bodies\": [{\"surface\": \"../tet.obj\"}]}", "give the absolute path"},
      {"{" Q ", \"bodies\": [{\"surface\": \"a/../../tet.obj\"}]}",
       "bodies[0].surface: found \"a/../../tet.obj\", expected a path below the folder"},
      {"{" Q ", \"bodies\": [{\"surface\": \"..\"}]}", "give the absolute path"},
      {WITH_BODY("\"name\": \"a/b\""), "bodies[0].name: found \"a/b\", expected a name for files"},
      {WITH_BODY("\"name\": \"..\""), "expected a name for files"},
      {WITH_BODY("\"name\": \"\""), "expected a name for files"},
      {WITH_BODY("\"name\": 5"), "bodies[0].name: found 5, expected a name"},
      {"{" Q ", \"bodies\": [{\"name\": \"a\", \"surface\": \"tet.obj\"}, "
       "{\"name\": \"a\", \"surface\": \"tet.obj\"}]}",
       "bodies[1].name: found \"a\", which bodies[0] has too"},
      {WITH_BODY("\"type\": \"flash\""), "did you mean \"flesh\"?"},
      {WITH_BODY("\"cell\": 0"), "bodies[0].cell: found 0, expected a number above 0"},
      {WITH_BODY("\"cell\": \"fine\""),
       "bodies[0].cell: found \"fine\", expected a number above 0"},
      {WITH_BODY("\"coarsen\": -1"),
       "bodies[0].coarsen: found -1, expected a whole number from 0 to 16"},
      {WITH_BODY("\"least_width\": 1"),
       "bodies[0].least_width: found 1, expected a number from 0 to 0.9"},
      {WITH_BODY("\"quadrature\": 3"), "bodies[0].quadrature: found 3, expected 1, 2 or 8"},
      {WITH_BODY("\"least_fill\": 0.6"),
       "bodies[0].least_fill: found 0.6, expected a number from 0 to 0.5"},
      {WITH_BODY("\"embedding\": \"cubic\""), "bodies[0].embedding: found \"cubic\", expected"},
      {WITH_BODY("\"material\": {\"young\": -3}"),
       "scene.json: bodies[0].material.young: found -3, expected a number above 0"},
      {WITH_BODY("\"material\": {\"poisson\": 0.5}"),
       "bodies[0].material.poisson: found 0.5, expected a number from -0.9 to below 0.5"},
      {WITH_BODY("\"material\": {\"mu\": 5}"), "material.lambda: found nothing, expected a number"},
      {WITH_BODY("\"material\": {\"lambda\": 5}"),
       "material.mu: found nothing, expected a number above 0"},
      {WITH_BODY("\"material\": {\"mu\": 5, \"lambda\": -4}"),
       "material.lambda: found -4, expected -9/14 mu"},
      {WITH_BODY("\"material\": {\"mu\": 5, \"young\": 4}"),
       "bodies[0].material: found keys of two kinds"},
      {WITH_BODY("\"material\": \"fleshh\""),
       "bodies[0].material: found \"fleshh\", expected a library material; did you mean "
       "\"flesh\"?"},
      {WITH_BODY("\"material\": \"cast iron\""),
       "expected a library material: \"flesh\", \"muscle\", "},
      {WITH_BODY("\"material\": 3"), "bodies[0].material: found 3, expected a library name or {"},
      {WITH_BODY("\"density\": 0"), "bodies[0].density: found 0, expected a number above 0"},
      {WITH_BODY("\"damping\": -1"), "bodies[0].damping: found -1, expected a number of 0 or more"},
      {WITH_BODY("\"drag\": -1"), "bodies[0].drag: found -1, expected a number of 0 or more"},
      {WITH_BODY("\"drag\": 2e6"), "bodies[0].drag: found 2000000, expected a number"},
      {WITH_BODY("\"initial\": {\"rotate\": [0, 0, 0, 0]}"),
       "bodies[0].initial.rotate: found a length of 0, expected a rotation [x, y, z, w]"},
      {WITH_BODY("\"initial\": {\"rotate\": [0, 0, 0]}"), "found a list of 3, expected a rotation"},
      {WITH_BODY("\"initial\": {\"scramble\": {}}"),
       "initial.scramble.kind: found nothing, expected \"point\""},
      {WITH_BODY("\"initial\": {\"scramble\": {\"kind\": \"dot\"}}"),
       "found \"dot\", expected \"point\", \"line\""},
      {WITH_BODY("\"initial\": {\"scramble\": {\"kind\": \"line\", \"seed\": -1}}"),
       "scramble.seed: found -1"},
      {WITH_BODY("\"initial\": {\"scramble\": {\"kind\": \"line\", \"seed\": 9007199254740993}}"),
       "found 9007199254740993, expected a whole number"},
      {WITH_BODY("\"initial\": {\"scramble\": {\"kind\": \"line\", \"seed\": 0.5}}"),
       "scramble.seed: found 0.5"},
  };
  ASSERT_ALL_REFUSED(rows);
}

#define KEYS(frames) WITH("\"bones\": [{\"mesh\": \"tet.obj\", \"motion\": " frames "}]")
#define TWO_BODIES(rest)                                                                          \
  "{" Q ", \"bodies\": [{\"surface\": \"tet.obj\"}, {\"surface\": \"tet.obj\"}], " BONE ", " rest \
  "}"

static void values_of_bones_and_ties_are_checked(void** unused) {
  (void)unused;
  const refusal rows[] = {
      {WITH("\"bones\": [{}]"),
       "bones[0]: found neither of \"mesh\" and \"capsule\", expected one"},
      {WITH("\"bones\": [{\"mesh\": \"tet.obj\", \"capsule\": {\"from\": [0,0,0], \"to\": [0,0,0], "
            "\"radius\": 1}}]"),
       "bones[0]: found both of"},
      {WITH("\"bones\": [{\"capsule\": {\"from\": [0,0,0]}}]"),
       "bones[0].capsule.to: found nothing, expected a vector"},
      {WITH("\"bones\": [{\"capsule\": {\"from\": [0,0,0], \"to\": [0,0,0], \"radius\": 0}}]"),
       "bones[0].capsule.radius: found 0, expected a number above 0"},
      {WITH("\"bones\": [{\"name\": \"b\", \"mesh\": \"tet.obj\"}, {\"name\": \"b\", \"mesh\": "
            "\"tet.obj\"}]"),
       "bones[1].name: found \"b\", which bones[0] has too"},
      {KEYS("3"), "bones[0].motion: found 3, expected a list, each a keyframe"},
      {KEYS("{}"),
       "bones[0].motion.from: found nothing, expected a character (.glb, .gltf, .fbx, .dae) or a "
       "motion (.bvh)"},
      {KEYS("[{}]"), "bones[0].motion[0].frame: found nothing, expected a number"},
      {KEYS("[{\"frame\": 2}, {\"frame\": 2}]"),
       "bones[0].motion[1].frame: found 2 after 2, expected frames that ascend"},
      {KEYS("[{\"frame\": 2, \"rotate\": [0,0,0,0]}]"),
       "bones[0].motion[0].rotate: found a length of 0"},
      {KEYS("[{\"frame\": 1, \"stretch\": 0}]"),
       "bones[0].motion[0].stretch: found 0, expected a factor, [x, y, z] or [xx, yy, zz, yz, zx, "
       "xy], nothing below 0.001"},
      {KEYS("[{\"frame\": 1, \"stretch\": [1, 1, -1]}]"), "motion[0].stretch: found a list of 3"},
      {KEYS("[{\"frame\": 1, \"stretch\": [1, 1]}]"), "motion[0].stretch: found a list of 2"},
      {KEYS("[{\"frame\": 1, \"stretch\": [1, 1, 1, 0, 0, 1]}]"),
       "motion[0].stretch: found a list of 6"},
      {KEYS("[{\"frame\": 1, \"stretch\": [1, \"a\", 1]}]"),
       "motion[0].stretch[1]: found \"a\", expected a number"},
      {WITH("\"colliders\": [{\"shape\": \"plane\", \"motion\": [{\"frame\": 1}, {\"frame\": 2, "
            "\"stretch\": 2}]}]"),
       "colliders[0].motion[1].stretch: found 2, expected 1: what flesh touches is rigid"},
      {WITH_BONE("\"attachments\": [{}]"),
       "attachments[0]: found neither of \"bone\" and \"to\": \"pose\", expected one"},
      {WITH_BONE("\"attachments\": [{\"bone\": \"femor\"}]"),
       "attachments[0].bone: found \"femor\", expected the name of a bone; did you mean "
       "\"femur\"?"},
      {WITH_BONE("\"attachments\": [{\"bone\": \"ulna\"}]"),
       "expected the name of a bone: \"femur\""},
      {WITH_BONE("\"attachments\": [{\"body\": \"tat\", \"bone\": \"femur\"}]"),
       "attachments[0].body: found \"tat\", expected the name of a body; did you mean \"tet\"?"},
      {TWO_BODIES("\"attachments\": [{\"bone\": \"femur\"}]"),
       "attachments[0].body: found nothing, expected the name of a body"},
      {WITH_BONE("\"attachments\": [{\"bone\": \"femur\", \"stiffness\": 0}]"),
       "stiffness: found 0"},
      {WITH_BONE("\"attachments\": [{\"bone\": \"femur\", \"where\": \"nowhere\"}]"),
       "attachments[0].where: found \"nowhere\", expected \"inside\", \"all\", {\"near\": d}"},
      {WITH_BONE("\"attachments\": [{\"bone\": \"femur\", \"where\": {}}]"),
       "where: found an empty object"},
      {WITH_BONE("\"attachments\": [{\"bone\": \"femur\", \"where\": {\"near\": 1, \"group\": "
                 "\"base\"}}]"),
       "attachments[0].where: found an object, expected"},
      {WITH_BONE("\"attachments\": [{\"bone\": \"femur\", \"where\": {\"near\": -1}}]"),
       "where.near: found -1"},
      {WITH_BONE("\"attachments\": [{\"bone\": \"femur\", \"where\": {\"group\": \"bas\"}}]"),
       "attachments[0].where.group: found \"bas\", expected a group of the body's mesh; did you "
       "mean \"base\"?"},
      {WITH_BONE("\"attachments\": [{\"bone\": \"femur\", \"where\": {\"group\": \"foot\"}}]"),
       "expected a group of the body's mesh: \"base\" or \"sides\""},
      {WITH("\"fixed\": [{}]"), "fixed[0].where: found nothing, expected \"inside\""},
      {WITH("\"fixed\": [{\"where\": \"inside\"}]"),
       "fixed[0].bone: found nothing, expected the name of the bone"},
      {WITH("\"fixed\": [{\"where\": {\"near\": 1}}]"), "fixed[0].bone: found nothing"},
      {WITH("\"fixed\": [{\"where\": \"all\", \"axes\": \"zx\"}]"), "fixed[0].axes: found \"zx\""},
      {WITH("\"fixed\": [{\"where\": {\"box\": [[0,0,0]]}}]"),
       "where.box: found a list of 1, expected two corners"},
      {WITH("\"fixed\": [{\"where\": {\"box\": [[0,0,1], [1,1,0]]}}]"),
       "where.box: found a second corner below"},
      {WITH("\"fixed\": [{\"where\": {\"box\": [[0,0,0], [1,1]]}}]"),
       "where.box[1]: found a list of 2, expected a vector"},
      {WITH_BONE("\"fixed\": [{\"where\": \"all\", \"bone\": \"femur\", \"motion\": []}]"),
       "fixed[0].motion: found an empty list, expected no such key beside \"bone\""},
      {WITH("\"forces\": [{}]"),
       "forces[0]: found neither of \"force\" and \"traction\", expected one"},
      {WITH("\"forces\": [{\"force\": [0,0,0], \"traction\": [0,0,0]}]"), "forces[0]: found both"},
      {WITH("\"forces\": [{\"force\": 3}]"),
       "forces[0].force: found 3, expected [x, y, z] or a list"},
      {WITH("\"forces\": [{\"force\": []}]"), "forces[0].force: found an empty list"},
      {WITH("\"forces\": [{\"force\": [{\"frame\": 1}]}]"),
       "forces[0].force[0].value: found nothing, expected a vector"},
      {WITH("\"forces\": [{\"force\": [{\"frame\": 1, \"value\": [0,0,0]}, 3]}]"),
       "forces[0].force[1]: found 3, expected a keyframe"},
      {WITH("\"forces\": [{\"force\": [{\"frame\": 5, \"value\": [0,0,0]}, {\"frame\": 4, "
            "\"value\": [0,0,0]}]}]"),
       "forces[0].force[1].frame: found 4 after 5"},
      {WITH("\"forces\": [{\"force\": [0,0,0], \"where\": \"inside\"}]"),
       "forces[0].where: found \"inside\", expected \"all\", {\"box\": [lo, hi]}, {\"group\": "
       "\"name\"} or {\"map\": \"name\", \"above\": 0.5}"},
      {WITH("\"forces\": [{\"force\": [0,0,0], \"where\": {\"near\": 1}}]"),
       "forces[0].where: found an object"},
  };
  ASSERT_ALL_REFUSED(rows);
}

static void names_are_found_for_the_nameless(void** unused) {
  (void)unused;
  scratch_write(".obj", tetrahedron, strlen(tetrahedron));
  sn_scene* s =
      load_well("{" Q
                ", \"bodies\": [{\"surface\": \"tet.obj\"}, {\"surface\": \"tet.obj\"},"
                " {\"name\": \"tet\", \"surface\": \"tet.obj\"}, {\"surface\": \".obj\"}],"
                " \"bones\": [{\"mesh\": \"tet.obj\"}, {\"mesh\": \"tet.obj\"},"
                " {\"name\": \"bone2\", \"mesh\": \"tet.obj\"}, {\"mesh\": \"tet.obj\"}]}");
  const char* bodies[] = {"tet2", "tet3", "tet", "body"};
  const char* bones[] = {"bone1", "bone3", "bone2", "bone4"};
  for (int i = 0; i < 4; ++i) {
    assert_string_equal(s->bodies[i].name, bodies[i]);
    assert_string_equal(s->bones[i].name, bones[i]);
  }
  sn_scene_destroy(s);
}

static void a_frame_may_be_divided_as_often_as_it_must(void** unused) {
  (void)unused;
  const struct {
    const char* text;
    int most;
  } rows[] = {{WITH("\"substeps\": 3"), 8},
              {WITH("\"substeps\": 20"), 20},
              {WITH("\"max_substeps\": null"), 8},
              {WITH("\"substeps\": 3, \"max_substeps\": 3"), 3},
              {WITH("\"max_substeps\": 1000"), 1000}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    sn_scene* s = load_well(rows[i].text);
    assert_int_equal(s->max_substeps, rows[i].most);
    sn_scene_destroy(s);
  }
}

static void gravity_points_against_up(void** unused) {
  (void)unused;
  sn_scene* s = load_well(WITH("\"up\": \"x\", \"gravity\": 1.5"));
  assert_vector(s->gravity, -1.5, 0, 0);
  sn_scene_destroy(s);
  s = load_well(WITH("\"up\": \"z\""));
  assert_vector(s->gravity, 0, 0, -9.81);
  sn_scene_destroy(s);
}

static void paths_are_relative_to_the_scene(void** unused) {
  (void)unused;
  char text[512];
  snprintf(text, sizeof text, "{" Q ", \"bodies\": [{\"surface\": \"%s\"}]}",
           scratch_path("tet.obj"));
  sn_scene* s = load_well(text);  // absolute, as it is
  assert_string_equal(s->bodies[0].surface, scratch_path("tet.obj"));
  sn_scene_destroy(s);
  char here[512];
  assert_non_null(getcwd(here, sizeof here));
  assert_int_equal(chdir(scratch_folder), 0);
  sn_error err = {0};
  sn_status status = sn_scene_load("scene.json", NULL, 0, &s, &err);
  assert_int_equal(chdir(here), 0);
  if (status != SN_OK) fail_msg("%s", err.text);
  sn_scene_destroy(s);
}

static void a_scene_that_is_not_there_is_named(void** unused) {
  (void)unused;
  sn_scene* scene;
  sn_error err = {0};
  assert_int_not_equal(sn_scene_load(scratch_path("none.json"), NULL, 0, &scene, &err), SN_OK);
  assert_message_has(&err, "none.json");
  assert_null(scene);
  assert_int_not_equal(sn_scene_load(scratch_folder, NULL, 0, &scene, NULL), SN_OK);
  assert_int_equal(sn_memory_used(), 0);
}

static sn_status load_changed(const char* change, sn_scene** scene, sn_error* err) {
  scratch_write("scene.json", full_scene, strlen(full_scene));
  const sn_scene_change changes[] = {{change}, {"fps=30"}};
  *err = (sn_error){0};
  return sn_scene_load(scratch_path("scene.json"), changes, 2, scene, err);
}

static sn_scene* load_changed_well(const char* change) {
  sn_scene* scene;
  sn_error err;
  if (load_changed(change, &scene, &err) != SN_OK) fail_msg("%s: %s", change, err.text);
  assert_true(scene->fps == 30.0);
  return scene;
}

static void changes_reach_any_value(void** unused) {
  (void)unused;
  sn_scene* s = load_changed_well("bodies.0.material.young=2e4");
  assert_true(s->bodies[0].material.mu == 2e4 / (2.0 * (1.0 + 0.47)));
  sn_scene_destroy(s);
  s = load_changed_well("bodies[1].cell=0.5");
  assert_true(s->bodies[1].cell == 0.5 * 0.01);
  assert_non_null(strstr(s->resolved, "\"cell\": 0.5"));
  sn_scene_destroy(s);
  s = load_changed_well("bodies.2.material.poisson=0.25");  // object made
  assert_true(s->bodies[2].material.mu == 12000.0 / (2.0 * (1.0 + 0.25)));
  sn_scene_destroy(s);
  s = load_changed_well("bodies.2.initial.scramble.kind=point");  // two made, value a string
  assert_int_equal(s->bodies[2].scramble.kind, SN_SCRAMBLE_POINT);
  sn_scene_destroy(s);
  s = load_changed_well("frames[1]=7");
  assert_int_equal(s->last_frame, 7);
  sn_scene_destroy(s);
  s = load_changed_well("bodies.2.name=a=b.c");  // only the first '=' counts
  assert_string_equal(s->bodies[2].name, "a=b.c");
  sn_scene_destroy(s);
}

static void wrong_changes_are_wrong_usage(void** unused) {
  (void)unused;
  const refusal rows[] = {
      {"bodies.0.cell", "--set bodies.0.cell: no '=', expected path=value such as"},
      {"=3", "no path before '='"},
      {"bodies..cell=1", "empty, overlong or unfinished part"},
      {"bodies[0.cell=1", "unfinished part"},
      {"bodies[x]=1", "unfinished part"},
      {"fps.=1", "unfinished part"},
      {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q=1", "too many parts"},
      {"bodies.3.cell=1", "found entry \"3\" of a list, expected 0 to 2"},
      {"bodies.name.cell=1", "found entry \"name\" of a list, expected 0 to 2"},
      {"frames.9=1", "found entry \"9\" of a list, expected 0 to 1"},
      {"bodies.99999999999999999999999.cell=1", "expected 0 to 2"},
      {"muscles.0.friction=1", "the scene has no list \"muscles\" with an entry 0"},
      {"unit.x=1", "neither object nor list; set it as a whole"},
      {"unit.x.y=1", "neither object nor list; set it as a whole"},
      {"output.fields.0=strain", "the list is empty"},
      {"up=\xff", "the value is not UTF-8"},
      {"\xff.a=1", "is not UTF-8"},
      {"\xff=1", "is not UTF-8"},
  };
  sn_scene* scene;
  sn_error err;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    sn_status status = load_changed(rows[i].text, &scene, &err);
    if (status != SN_ERR_USAGE) fail_msg("%s: status %d, %s", rows[i].text, status, err.text);
    assert_message_has(&err, rows[i].part);
    assert_int_equal(sn_memory_used(), 0);
  }
  assert_int_equal(load_changed(NULL, &scene, &err), SN_ERR_USAGE);
  assert_int_equal(load_changed("bodies.0.mass=1", &scene, &err), SN_ERR_INPUT);
  assert_message_has(&err, "bodies[0]: unknown key \"mass\"");
}

// Hostile input: each value of the full scene replaced by each of these.
static const char* const intruders[] = {
    "null",     "true",           "\"x\"",           "[]", "{}", "-1", "1e400", "1e300",
    "[[[[]]]]", "\"\\n\\u00e9\"", "9007199254740993"};
#define INTRUDER_COUNT (sizeof intruders / sizeof intruders[0])

static size_t accepted_count, refused_count;

// Read the document with the text that stands for the mark put in its place.
static void try_intruders(const json_t* document) {
  char* marked = json_dumps(document, 0);
  char* mark = strstr(marked, "\"@@\"");
  assert_non_null(mark);
  *mark = 0;
  for (size_t k = 0; k < INTRUDER_COUNT; ++k) {
    size_t size = strlen(marked) + strlen(mark + 4) + 64;
    char* text = malloc(size);
    snprintf(text, size, "%s%s%s", marked, intruders[k], mark + 4);
    sn_scene* scene;
    sn_error err;
    sn_status status = load_text(text, &scene, &err);
    if (status == SN_OK) {
      accepted_count++;
      sn_scene_destroy(scene);
    } else {
      refused_count++;
      assert_int_equal(status, SN_ERR_INPUT);
      assert_true(strlen(err.text) > strlen(scratch_path("scene.json")) + 4);
    }
    assert_int_equal(sn_memory_used(), 0);
    free(text);
  }
  free(marked);
}

static void replace_each(json_t* document, json_t* at) {
  const char* key;
  json_t* value;
  void* next;
  json_object_foreach_safe(at, next, key, value) {
    json_incref(value);
    replace_each(document, value);
    json_object_set_new(at, key, json_string("@@"));
    try_intruders(document);
    json_object_set_new(at, key, value);
  }
  for (size_t i = 0; i < json_array_size(at); ++i) {
    value = json_incref(json_array_get(at, i));
    replace_each(document, value);
    json_array_set_new(at, i, json_string("@@"));
    try_intruders(document);
    json_array_set_new(at, i, value);
  }
}

static void no_wrong_value_gets_through(void** unused) {
  (void)unused;
  json_t* document = json_loads(full_scene, 0, NULL);
  assert_non_null(document);
  accepted_count = refused_count = 0;
  replace_each(document, document);
  json_decref(document);
  // Some are fine: -1 as a coordinate, null as a cell, "x" as a name.
  assert_true(refused_count > 7 * accepted_count);
}

static void each_key_may_be_left_out_or_is_missed(void** unused) {
  (void)unused;
  json_t* document = json_loads(full_scene, 0, NULL);
  const char* key;
  json_t* value;
  void* next;
  json_object_foreach_safe(document, next, key, value) {
    json_t* shorter = json_deep_copy(document);
    json_object_del(shorter, key);
    char* text = json_dumps(shorter, 0);
    sn_scene* scene;
    sn_error err;
    bool needed =
        strcmp(key, "bodies") == 0 || strcmp(key, "bones") == 0 || strcmp(key, "colliders") == 0;
    assert_int_equal(load_text(text, &scene, &err), needed ? SN_ERR_INPUT : SN_OK);
    sn_scene_destroy(scene);
    free(text);
    json_decref(shorter);
  }
  json_decref(document);
  assert_int_equal(sn_memory_used(), 0);
}

static void deep_nesting_is_refused(void** unused) {
  (void)unused;
  enum { DEPTH = 100000 };
  char* text = malloc(DEPTH + 64);
  const char open[2] = {'[', '{'};
  for (int kind = 0; kind < 2; ++kind) {
    memset(text, open[kind], DEPTH);
    text[DEPTH] = 0;
    assert_refused(text, "scene.json:1:");
  }
  size_t start = (size_t)snprintf(text, DEPTH, "{" Q ", \"bodies\": ");
  memset(text + start, '[', 1000);
  memset(text + start + 1000, ']', 1000);
  memcpy(text + start + 2000, "}", 2);
  assert_refused(text, "bodies[0]: found a list of 1");
  free(text);
}

static void long_names_are_cut_in_messages(void** unused) {
  (void)unused;
  enum { LENGTH = 100000 };
  char* text = malloc(LENGTH + 64);
  memcpy(text, "{\"", 2);
  for (int i = 0; i < LENGTH / 2; ++i) memcpy(text + 2 + 2 * i, "\xC3\xA9", 2);
  memcpy(text + 2 + LENGTH, "\": 1}", 6);
  assert_refused(text, "...\", expected \"sinew\"");
  free(text);
}

static void damaged_bytes_never_crash(void** unused) {
  (void)unused;
  uint64_t seed = 11;
  char text[sizeof full_scene];
  for (int round = 0; round < 3000; ++round) {
    memcpy(text, full_scene, sizeof text);
    for (uint32_t k = 0; k <= next_random(&seed) % 4; ++k) {
      static const char bytes[] = "{}[]\",:0123456789.-eE \x01\x80\xFFtrun";
      text[next_random(&seed) % (sizeof text - 1)] = bytes[next_random(&seed) % (sizeof bytes - 1)];
    }
    sn_scene* scene;
    sn_error err;
    sn_status status = load_text(text, &scene, &err);
    assert_true(status == SN_OK || status == SN_ERR_INPUT);
    sn_scene_destroy(scene);
    assert_int_equal(sn_memory_used(), 0);
  }
}

static sn_status load_full(sn_error* err) {
  sn_scene* scene;
  sn_status status = sn_scene_load(scratch_path("scene.json"), NULL, 0, &scene, err);
  sn_scene_destroy(scene);
  return status;
}

static void running_out_of_memory_frees_everything(void** unused) {
  (void)unused;
  scratch_write("scene.json", full_scene, strlen(full_scene));
  assert_survives_failing_allocations(load_full);
}

static void nearest_names_are_near(void** unused) {
  (void)unused;
  const sn_choice choices[] = {{"young", 0}, {"poisson", 0}, {"mu", 0}};
  sn_names names = SN_NAMES(choices, 3);
  assert_string_equal(sn_name_nearest(names, "Young"), "young");
  assert_string_equal(sn_name_nearest(names, "yuong"), "young");
  assert_string_equal(sn_name_nearest(names, "poison"), "poisson");
  assert_null(sn_name_nearest(names, "x"));
  assert_null(sn_name_nearest(names, ""));
  assert_null(sn_name_nearest(names, "viscosity"));
  assert_int_equal(sn_name_find(names, "mu"), 2);
  assert_int_equal(sn_name_find(names, "m"), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_minimal_scene_has_every_default),
      TEST(a_full_scene_is_read_in_metres),
      TEST(a_saved_scene_reads_back_bit_for_bit),
      TEST(a_saved_scene_reads_back_for_any_number),
      TEST(a_comma_locale_changes_nothing),
      TEST(a_scene_that_was_not_read_cannot_be_saved),
      TEST(syntax_errors_name_line_and_column),
      TEST(solvers_for_pressures_are_read),
      TEST(unknown_keys_name_the_nearest),
      TEST(what_is_not_there_yet_is_said_so),
      TEST(values_of_the_world_are_checked),
      TEST(solvers_for_pressures_are_read),
      TEST(values_of_bodies_are_checked),
      TEST(values_of_bones_and_ties_are_checked),
      TEST(names_are_found_for_the_nameless),
      TEST(a_frame_may_be_divided_as_often_as_it_must),
      TEST(gravity_points_against_up),
      TEST(paths_are_relative_to_the_scene),
      TEST(a_scene_that_is_not_there_is_named),
      TEST(changes_reach_any_value),
      TEST(wrong_changes_are_wrong_usage),
      TEST(no_wrong_value_gets_through),
      TEST(each_key_may_be_left_out_or_is_missed),
      TEST(deep_nesting_is_refused),
      TEST(long_names_are_cut_in_messages),
      TEST(damaged_bytes_never_crash),
      TEST(running_out_of_memory_frees_everything),
      TEST(nearest_names_are_near),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
