// Every defect of rough_mesh.h on several bodies, and the damaged meshes of the assets folder: all are simulated or
// refused in words, nothing crashes, hangs or becomes infinite, and where the defect leaves an inside, it is the
// inside of the good mesh.
#include "base/status.h"
#include "scene/rough_mesh.h"
#include "scene/scenes.h"

// Finest cells along the longest side.
#define CELLS_ACROSS 10
#define VOLUME_TOLERANCE 0.05

// What became of a surface.
typedef struct outcome {
  bool refused;
  bool finite;
  double rest;   // volume of the flesh, m3
  double moved;  // the same after two frames: as much more or less as its cells
  char text[1024];
} outcome;

static bool all_finite(const loaded* l) {
  bool finite = true;
  size_t count = 3 * (size_t)sn_model_surface_count(l->model, 0);
  float* places = malloc(count * sizeof *places + 1);
  assert_non_null(places);
  sn_surface_extract(l->model, l->state, 0, places);
  for (size_t i = 0; i < count; ++i) finite = finite && isfinite((double)places[i]);
  free(places);
  return finite;
}

static sn_status simulate(const char* text, loaded* l, outcome* out, sn_error* err) {
  sn_scene_source source = {.json = text, .length = strlen(text), .folder = scratch_folder};
  SN_TRY(sn_scene_parse(&source, NULL, 0, &l->scene, err));
  SN_TRY(sn_pool_create(1, &l->pool, err));
  SN_TRY(sn_model_build(l->scene, l->pool, &l->model, err));
  SN_TRY(sn_state_create(l->model, l->pool, &l->state, err));
  sn_body_info info = sn_model_body(l->model, 0);
  out->rest = info.filled_volume;
  for (int frame = 1; frame <= 2; ++frame) {
    sn_frame_stats stats;
    SN_TRY(sn_step(l->model, l->state, frame, &stats, err));
    out->moved = out->rest * stats.volume / info.volume;
    out->finite = isfinite(stats.volume) && isfinite(stats.energy_elastic) &&
                  isfinite(stats.energy_kinetic) && isfinite(stats.residual);
  }
  out->finite = out->finite && all_finite(l);
  return SN_OK;
}

// Drop the surface of that file; the solver does not take much trouble.
static outcome drop(const char* path, double cell) {
  outcome out = {0};
  loaded l = {0};
  size_t used = sn_memory_used();
  sn_error err = {0};
  char text[4096];
  snprintf(text, sizeof text,
           "{\"frames\": [1, 2], \"bodies\": [{\"surface\": \"%s\", \"cell\": %.17g}], "
           "\"colliders\": [{\"shape\": \"plane\", \"position\": [0, -1, 0]}], "
           "\"solver\": {\"newton\": {\"max\": 2}}}",
           path, cell);
  sn_status status = simulate(text, &l, &out, &err);
  out.refused = status != SN_OK;
  if (out.refused && status != SN_ERR_INPUT) fail_msg("%s: status %d: %s", path, status, err.text);
  if (out.refused && !err.text[0]) fail_msg("%s: refused without a word", path);
  snprintf(out.text, sizeof out.text, "%s", err.text);
  unload(&l);
  assert_int_equal(sn_memory_used(), used);
  return out;
}

static double longest_side(const rough_mesh* m) {
  double longest = 0;
  for (int k = 0; k < 3; ++k) {
    double lo = INFINITY, hi = -INFINITY;
    for (size_t v = 0; v < m->vertex_count; ++v) {
      lo = fmin(lo, m->places[v][k]);
      hi = fmax(hi, m->places[v][k]);
    }
    longest = fmax(longest, hi - lo);
  }
  return longest;
}

// How far the volume is from that of the good mesh, as a share of it.
static double volume_error(const rough_defect* defect, const outcome* out, const outcome* good) {
  double factor = defect->volume > 0 ? defect->volume : 1;
  return fmax(fabs(out->rest / (factor * good->rest) - 1),
              fabs(out->moved / (factor * good->moved) - 1));
}

// Tells, returns whether it is as it should be.
static bool judge(const rough_defect* defect, const outcome* out, const outcome* good) {
  bool right = out->refused || out->finite;
  if (defect->fate == ROUGH_REFUSED) right = out->refused;
  if (defect->fate == ROUGH_SOUND) {
    right = !out->refused && out->finite && volume_error(defect, out, good) <= VOLUME_TOLERANCE;
  }
  if (!right) {
    print_message("wrong: %s: volume %g of %g at rest, %g of %g moved%s, %s\n", defect->name,
                  out->rest, good->rest, out->moved, good->moved,
                  out->finite || out->refused ? "" : ", not finite", out->text);
  }
  return right;
}

static void check_base(sn_mesh mesh) {
  static rough_mesh m;
  outcome good = {0};
  int wrong = 0, sound = 0;
  double worst = 0;
  const char* worst_name = "";
  for (size_t d = 0; d < ROUGH_DEFECT_COUNT; ++d) {
    rough_from(&m, &mesh);
    double size = longest_side(&m);
    rough_defects[d].spoil(&m);
    double spoilt = longest_side(&m);
    // Cells are those of the good body, unless the size itself is what is wrong.
    bool same = rough_defects[d].fate == ROUGH_SOUND;
    if (!same && isfinite(spoilt) && spoilt > 0) size = spoilt;
    rough_write(&m, scratch_path("rough.obj"));
    outcome out = drop("rough.obj", size / CELLS_ACROSS);
    if (d == 0) good = out;
    wrong += !judge(&rough_defects[d], &out, &good);
    if (!same) continue;
    double error = volume_error(&rough_defects[d], &out, &good);
    if (error > worst) worst_name = rough_defects[d].name;
    worst = fmax(worst, error);
    ++sound;
  }
  sn_mesh_destroy(&mesh);
  print_message("%zu defects; %d leave the volume within %.2f %% (%s)\n", ROUGH_DEFECT_COUNT, sound,
                100 * worst, worst_name);
  assert_int_equal(wrong, 0);
}

static void every_defect_of_a_sphere_is_survived(void** unused) {
  (void)unused;
  skip_if_sanitized();
  check_base(shape_sphere(sn_v3(0, 0, 0), 1, 12));
}

static void every_defect_of_a_torus_is_survived(void** unused) {
  (void)unused;
  skip_if_sanitized();
  check_base(shape_torus(1, 0.45, 12));
}

// A box of many triangles: flat faces, right angles, and triangles of one plane that a cell's faces lie in.
static void every_defect_of_a_box_is_survived(void** unused) {
  (void)unused;
  skip_if_sanitized();
  static const double normals[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                       {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
  sn_mesh box = {0};
  for (int f = 0; f < 6; ++f) {
    const double* n = normals[f];
    sn_vec3 out = sn_v3(n[0], n[1], n[2]), a = sn_v3(n[1], n[2], n[0]), b = sn_cross(out, a);
    sn_vec3 corner = sn_sub(sn_sub(out, a), b);
    sn_mesh side = shape_sheet(corner, sn_scale(2, a), sn_scale(2, b), 6);
    box = f == 0 ? side : shape_join(box, side);
  }
  check_base(box);
}

static void every_defect_of_a_creature_is_survived(void** unused) {
  (void)unused;
  check_base(shape_blob(3, 0.1));
}

static int asset_count, simulated_count;

static int drop_asset(const char* path, const struct stat* info, int kind, struct FTW* at) {
  (void)info;
  (void)at;
  if (kind != FTW_F) return 0;
  sn_mesh mesh;
  sn_error err = {0};
  double side = 0;
  bool good = sn_mesh_load(path, &mesh, &err) == SN_OK;
  for (size_t i = 0; good && i < 3 * (size_t)mesh.vertex_count; ++i) {
    side = fmax(side, 2 * fabs(mesh.positions[i]));
  }
  sn_mesh_destroy(&mesh);
  outcome out = drop(path, (side > 0 ? side : 1) / CELLS_ACROSS);
  if (!out.refused && !out.finite) fail_msg("%s: not finite", path);
  simulated_count += !out.refused;
  ++asset_count;
  return 0;
}

static void damaged_assets_are_survived(void** unused) {
  (void)unused;
  skip_without_assets();
  nftw(SN_TEST_ASSETS "/defective", drop_asset, 8, FTW_PHYS);
  print_message("%d files, %d simulated, the others refused\n", asset_count, simulated_count);
  assert_true(simulated_count > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_scratch_folder, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_defect_of_a_sphere_is_survived), TEST(every_defect_of_a_torus_is_survived),
      TEST(every_defect_of_a_box_is_survived),    TEST(every_defect_of_a_creature_is_survived),
      TEST(damaged_assets_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
