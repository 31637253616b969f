// Readers without memory: every stored input of the fuzz targets, with each single request for memory failing, also
// those for JSON. All of it must be given back, and the answer be that there is none.
#include <jansson.h>

#include "io/scratch.h"
#include "sinew/sn.h"

#define SEEDS SN_TEST_SCENES "/../fuzz/seeds/"

static char input_path[512];
static int input_count, read_count;
static bool is_starving;

static void* allocate_json(size_t bytes) {
  if (is_starving && allocations_left == 0) return NULL;
  allocations_left -= is_starving;
  return malloc(bytes);
}

// Before the library, which takes over the functions that it finds.
__attribute__((constructor(101))) static void choose_json_functions(void) {
  json_set_alloc_funcs(allocate_json, free);
}

static sn_status read_surface(sn_error* err) {
  sn_mesh mesh = {0};
  sn_status status = sn_mesh_load(input_path, &mesh, err);
  sn_mesh_destroy(&mesh);
  return status;
}

static sn_status read_character(sn_error* err) {
  sn_gltf character = {0};
  sn_status status = sn_character_load(input_path, &character, err);
  sn_gltf_destroy(&character);
  return status;
}

static sn_status read_scene(sn_error* err) {
  size_t size;
  char* text = read_everything(input_path, &size);
  sn_scene* scene = NULL;
  sn_scene_source source = {.json = text, .length = size, .folder = scratch_folder};
  sn_status status = sn_scene_parse(&source, NULL, 0, &scene, err);
  sn_scene_destroy(scene);
  free(text);
  return status;
}

static void starve_folder(const char* folder, sn_status (*attempt)(sn_error* err)) {
  char path[256];
  snprintf(path, sizeof path, SEEDS "%s", folder);
  DIR* list = opendir(path);
  assert_non_null(list);
  size_t slab = sn_arena_set_slab(0);
  for (struct dirent* entry; (entry = readdir(list));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(input_path, sizeof input_path, "%s/%s", path, entry->d_name);
    is_starving = true;
    sn_status status = starve(attempt);
    is_starving = false;
    assert_true(status == SN_OK || status == SN_ERR_INPUT);
    ++input_count;
    read_count += status == SN_OK;
  }
  sn_arena_set_slab(slab);
  closedir(list);
}

static void write_boxes(void) {
  static const char box[] =
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n"
      "g ends\nf 1 3 4 2\nf 5 6 8 7\ng\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";
  scratch_write("box.obj", box, sizeof box - 1);
  scratch_write("small.obj", box, sizeof box - 1);
}

static void readers_without_memory_say_so(void** unused) {
  (void)unused;
  write_boxes();
  starve_folder("obj", read_surface);
  starve_folder("ply", read_surface);
  starve_folder("gltf", read_character);
  starve_folder("foreign", read_character);
  starve_folder("scene", read_scene);
  print_message("%d inputs, %d of them read in the end\n", input_count, read_count);
  assert_true(read_count > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(readers_without_memory_say_so, make_scratch_folder,
                                      remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
