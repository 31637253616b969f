#include "fuzz.h"

#include <ftw.h>
#include <jansson.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "geometry/mesh_arrays.h"

// Bodies that would have more cells than this are not built.
#define MOST_CELLS 4000
// Steps of a larger scene would take too long.
#define MOST_PARTS 8

void fuzz_fail(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fputs("finding: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  abort();
}

// The folder

static char folder_path[64];

static int remove_entry(const char* path, const struct stat* info, int kind, struct FTW* at) {
  (void)info;
  (void)kind;
  (void)at;
  return remove(path);
}

static void remove_folder(void) { nftw(folder_path, remove_entry, 8, FTW_DEPTH | FTW_PHYS); }

const char* fuzz_folder(void) {
  if (!folder_path[0]) {
    // In memory where that is possible: a file is written for every input.
    bool shared = access("/dev/shm", W_OK) == 0;
    snprintf(folder_path, sizeof folder_path, "%s/sinew-fuzz-XXXXXX", shared ? "/dev/shm" : "/tmp");
    FUZZ_CHECK(mkdtemp(folder_path));
    atexit(remove_folder);
  }
  return folder_path;
}

const char* fuzz_path(const char* name) {
  static char paths[4][256];
  static int turn;
  char* path = paths[turn++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", fuzz_folder(), name);
  return path;
}

const char* fuzz_write(const char* name, const void* bytes, size_t size) {
  const char* path = fuzz_path(name);
  FILE* file = fopen(path, "wb");
  FUZZ_CHECK(file);
  FUZZ_CHECK(fwrite(bytes, 1, size, file) == size);
  FUZZ_CHECK(fclose(file) == 0);
  return path;
}

void fuzz_write_text(const char* name, const char* text) { fuzz_write(name, text, strlen(text)); }

void fuzz_write_boxes(void) {
  static const char* const names[2] = {"box.obj", "small.obj"};
  for (int i = 0; i < 2; ++i) {
    char text[512];
    int length = 0;
    double lo = i ? 0.25 : 0, hi = i ? 0.75 : 1;
    for (int c = 0; c < 8; ++c) {
      length += snprintf(text + length, sizeof text - (size_t)length, "v %g %g %g\n",
                         c & 1 ? hi : lo, c & 2 ? hi : lo, c & 4 ? hi : lo);
    }
    snprintf(text + length, sizeof text - (size_t)length,
             "g ends\nf 1 3 4 2\nf 5 6 8 7\ng\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
    fuzz_write_text(names[i], text);
  }
}

// Memory

static size_t json_bytes, memory_base, memory_most = SIZE_MAX;

static void check_memory(size_t more) {
  size_t held = fuzz_memory_held() + more;
  if (held > memory_base && held - memory_base > memory_most) {
    fuzz_fail("a reader holds %zu bytes, %zu are promised", held - memory_base, memory_most);
  }
}

static void* allocate(void* user, size_t bytes, size_t alignment) {
  (void)user;
  check_memory(bytes);
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return rounded < bytes ? NULL : aligned_alloc(alignment, rounded);
}

static void release(void* user, void* block) {
  (void)user;
  free(block);
}

static void* allocate_json(size_t bytes) {
  check_memory(bytes);
  void* block = malloc(bytes);
  if (block) json_bytes += malloc_usable_size(block);
  return block;
}

static void release_json(void* block) {
  if (block) json_bytes -= malloc_usable_size(block);
  free(block);
}

size_t fuzz_memory_held(void) { return sn_memory_used() + json_bytes; }

// The first thing that happens in any program that has a target.
__attribute__((constructor)) static void watch_memory(void) {
  static const sn_allocator watched = {allocate, release, NULL};
  sn_set_allocator(&watched);
  json_set_alloc_funcs(allocate_json, release_json);
}

void fuzz_memory_begin(size_t file_bytes) {
  memory_base = fuzz_memory_held();
  memory_most = ((size_t)64 << 20) + 64 * file_bytes;
}

void fuzz_memory_end(void) { memory_most = SIZE_MAX; }

// Answers

bool fuzz_show;

bool fuzz_accepted(sn_status status, const sn_error* err) {
  if (status == SN_OK) return true;
  if (status != SN_ERR_INPUT || err->status != SN_ERR_INPUT || !err->text[0]) {
    fuzz_fail("status %d: %s", (int)status, err->text);
  }
  if (fuzz_show) printf("  refused: %s\n", err->text);
  return false;
}

void fuzz_check_finite(const float* numbers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!isfinite((double)numbers[i])) fuzz_fail("number %zu of %zu is not finite", i, count);
  }
}

// Simulation

static bool is_small(const sn_scene* scene) {
  double all = 0;
  for (uint32_t i = 0; i < scene->body_count; ++i) {
    double cells, bytes;
    sn_error err = {0};
    if (!fuzz_accepted(sn_scene_estimate(scene, i, &cells, &bytes, &err), &err)) return false;
    FUZZ_CHECK(cells >= 0);
    all += cells;
  }
  return all <= MOST_CELLS && scene->body_count <= MOST_PARTS &&
         scene->muscle_count <= MOST_PARTS && scene->collider_count <= MOST_PARTS &&
         scene->bone_count <= MOST_PARTS;
}

static void make_quick(sn_scene* scene) {
  scene->preroll = 0;
  scene->substeps = scene->max_substeps = 1;
  scene->solver.newton_max = 1;
  scene->solver.retries = 0;
  if (scene->solver.krylov_max > 4) scene->solver.krylov_max = 4;
}

static void check_surfaces(const sn_model* model, const sn_state* state) {
  for (uint32_t i = 0; i < sn_model_body_count(model); ++i) {
    size_t count = 3 * (size_t)sn_model_surface_count(model, i);
    float* places = malloc(count * sizeof *places + 1);
    FUZZ_CHECK(places);
    sn_surface_extract(model, state, i, places);
    fuzz_check_finite(places, count);
    free(places);
  }
}

static void step(const sn_model* model, sn_pool* pool, int frame) {
  sn_state* state = NULL;
  sn_error err = {0};
  sn_frame_stats stats;
  if (fuzz_accepted(sn_state_create(model, pool, &state, &err), &err) &&
      fuzz_accepted(sn_step(model, state, frame, &stats, &err), &err)) {
    FUZZ_CHECK(isfinite(stats.energy_elastic) && isfinite(stats.volume));
    check_surfaces(model, state);
  }
  sn_state_destroy(state);
}

void fuzz_simulate(sn_scene* scene) {
  sn_pool* pool = NULL;
  sn_model* model = NULL;
  sn_error err = {0};
  if (!is_small(scene)) return;
  make_quick(scene);
  FUZZ_CHECK(sn_pool_create(1, &pool, &err) == SN_OK);
  if (fuzz_accepted(sn_model_build(scene, pool, &model, &err), &err)) {
    step(model, pool, scene->first_frame);
  }
  sn_model_destroy(model);
  sn_pool_destroy(pool);
}

void fuzz_simulate_text(const char* json, size_t file_bytes) {
  sn_scene* scene = NULL;
  sn_error err = {0};
  sn_scene_source source = {.json = json, .length = strlen(json), .folder = fuzz_folder()};
  fuzz_memory_begin(source.length + file_bytes);
  bool good = fuzz_accepted(sn_scene_parse(&source, NULL, 0, &scene, &err), &err);
  fuzz_memory_end();
  if (good) fuzz_simulate(scene);
  sn_scene_destroy(scene);
}

// Surfaces

static double longest_side(const sn_mesh* mesh) {
  double longest = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double lo = INFINITY, hi = -INFINITY;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
      lo = fmin(lo, mesh->positions[3 * v + axis]);
      hi = fmax(hi, mesh->positions[3 * v + axis]);
    }
    longest = fmax(longest, hi - lo);
  }
  return longest;
}

static void check_defects(const sn_mesh* mesh) {
  sn_mesh_defects defects = {0};
  sn_error err = {0};
  FUZZ_CHECK(sn_mesh_find_defects(mesh, 8, &defects, &err) == SN_OK);
  FUZZ_CHECK(defects.holes.kept <= 8 && defects.holes.kept <= defects.holes.count);
  sn_mesh_defects_destroy(&defects);
}

// What we write we can read, and it is the same.
static void write_again(const sn_mesh* mesh) {
  sn_mesh again = {0};
  sn_error err = {0};
  const char* path = fuzz_path("again.obj");
  FUZZ_CHECK(sn_mesh_save_obj(path, mesh, &err) == SN_OK);
  if (mesh->vertex_count > 0 && mesh->triangle_count > 0) {
    if (sn_mesh_load(path, &again, &err) != SN_OK) fuzz_fail("%s", err.text);
    FUZZ_CHECK(again.vertex_count == mesh->vertex_count && again.face_count == mesh->face_count);
  }
  sn_mesh_destroy(&again);
}

static void drop(const char* name, double size, size_t file_bytes) {
  char text[512];
  if (!(size > 0 && isfinite(size))) size = 1;
  snprintf(text, sizeof text,
           "{\"bodies\": [{\"surface\": \"%s\", \"cell\": %.17g}], "
           "\"colliders\": [{\"shape\": \"plane\"}]}",
           name, size / 8);
  fuzz_simulate_text(text, file_bytes);
}

void fuzz_surface(const char* name, const uint8_t* data, size_t size) {
  size_t held = fuzz_memory_held();
  sn_mesh mesh = {0};
  sn_error err = {0};
  const char* path = fuzz_write(name, data, size);
  fuzz_memory_begin(size);
  bool good = fuzz_accepted(sn_mesh_load(path, &mesh, &err), &err);
  fuzz_memory_end();
  FUZZ_CHECK(good ? sn_mesh_is_valid(&mesh) : strstr(err.text, name) != NULL);
  double side = good ? longest_side(&mesh) : 0;
  if (good) check_defects(&mesh);
  if (good) write_again(&mesh);
  sn_mesh_destroy(&mesh);
  if (good) drop(name, side, size);
  FUZZ_CHECK(fuzz_memory_held() == held);
}

// Characters

static void check_poses(const sn_gltf* character) {
  double* world = malloc((16 * (size_t)character->node_count + 1) * sizeof *world);
  FUZZ_CHECK(world);
  sn_gltf_bind_pose(character, world);
  for (int32_t clip = -1; clip < (int32_t)character->clip_count && clip < 4; ++clip) {
    double end = clip < 0 ? 0 : character->clips[clip].end;
    sn_gltf_pose(character, clip, 0.37 * end, world);
    for (uint32_t n = 0; n < character->node_count && n < 16; ++n) {
      if (character->nodes[n].mesh < 0) continue;
      size_t count = character->meshes[character->nodes[n].mesh].mesh.vertex_count;
      double* places = malloc((3 * count + 1) * sizeof *places);
      FUZZ_CHECK(places);
      sn_gltf_morph_vertices(character, n, clip, 0.37 * end, world, places);
      free(places);
    }
  }
  free(world);
}

// All meshes as one. @return its size, or 0
static double join(const sn_gltf* character) {
  sn_mesh mesh = {0};
  sn_error err = {0};
  double size = 0;
  if (fuzz_accepted(sn_character_join(character, &mesh, &err), &err)) {
    FUZZ_CHECK(sn_mesh_is_valid(&mesh));
    size = longest_side(&mesh);
  }
  sn_mesh_destroy(&mesh);
  return size;
}

static void make_flesh(const char* name, double size, size_t file_bytes) {
  sn_flesh_report report = {0};
  sn_error err = {0};
  char* text = NULL;
  sn_flesh_opts opts = sn_flesh_default_opts();
  opts.scene_folder = fuzz_folder();
  if (size > 0 && isfinite(size)) opts.cell = size / 8;
  opts.last_frame = 2;
  opts.first_frame = 1;
  if (fuzz_accepted(sn_flesh_plan(fuzz_path(name), &opts, &text, &report, &err), &err)) {
    fuzz_simulate_text(text, file_bytes);
  }
  sn_flesh_report_destroy(&report);
}

void fuzz_character(const char* name, const uint8_t* data, size_t size) {
  size_t held = fuzz_memory_held();
  sn_gltf character = {0};
  sn_error err = {0};
  const char* path = fuzz_write(name, data, size);
  fuzz_memory_begin(size);
  bool good = fuzz_accepted(sn_character_load(path, &character, &err), &err);
  fuzz_memory_end();
  FUZZ_CHECK(good || strstr(err.text, name) != NULL);
  double side = 0;
  if (good) {
    check_poses(&character);
    side = join(&character);
  }
  sn_gltf_destroy(&character);
  if (good) make_flesh(name, side, size);
  if (good && strstr(name, ".gl")) drop(name, side, size);
  FUZZ_CHECK(fuzz_memory_held() == held);
}
