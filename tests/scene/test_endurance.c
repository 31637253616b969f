// Again and again: the same bytes, and no memory that stays behind. More of it with SN_SOAK in the environment.
#include <math.h>

#include "scene/model.h"
#include "scene/scenes.h"

// How often a state is stepped and a scene created; less often where sanitizers slow everything down.
#ifdef SN_SANITIZED
#define AGAIN 10
#define CREATED 12
#else
#define AGAIN 50
#define CREATED 60
#endif

#define LIMB                                                                                   \
  "\"bodies\": [{\"surface\": \"limb.obj\", \"cell\": 0.1, \"material\": {\"poisson\": %g}}]," \
  " \"bones\": [{\"name\": \"a\", \"capsule\": {\"from\": [0, 0.1, 0.1],"                      \
  "   \"to\": [0.3, 0.1, 0.1], \"radius\": 0.05}},"                                            \
  "  {\"name\": \"b\", \"capsule\": {\"from\": [0.7, 0.1, 0.1], \"to\": [1, 0.1, 0.1],"        \
  "   \"radius\": 0.05}, \"motion\": [{\"frame\": 1}, {\"frame\": 9,"                          \
  "   \"rotate\": [0, 0, 0.5, 0.8660254], \"pivot\": [0.5, 0.1, 0.1]}]}],"                     \
  " \"attachments\": [{\"bone\": \"a\"}, {\"bone\": \"b\"}]"

// In balance; nearly incompressible with a muscle; in motion with contacts.
static const char* const SCENES[] = {
    "{\"mode\": \"quasistatic\", \"frames\": [1, 9], " LIMB "}",
    "{\"mode\": \"quasistatic\", \"frames\": [1, 9], " LIMB
    ", \"muscles\": [{\"mesh\": \"limb.obj\","
    " \"max_stress\": 5000, \"activation\": [{\"frame\": 1, \"value\": 0},"
    "  {\"frame\": 9, \"value\": 1}]}]}",
    "{\"frames\": [1, 9], " LIMB
    ", \"colliders\": [{\"shape\": \"plane\", \"position\": [0, 0.005, 0]}]}"};
static const double POISSON[] = {0.45, 0.499, 0.45};
#define SCENE_COUNT 3

static loaded load(int scene, int threads) {
  char text[2048];
  // Formats are those of the table above.
  snprintf(text, sizeof text, SCENES[scene], POISSON[scene]);
  return load_scene(text, threads);
}

static unsigned char* payload(const loaded* l, size_t* size) {
  *size = sn_state_payload_size(l->model, l->state);
  unsigned char* bytes = malloc(*size);
  assert_non_null(bytes);
  unsigned char* to = bytes;
  for (int i = 0; i < sn_state_payload_count(); ++i) {
    size_t part_size;
    const void* part = sn_state_payload_part(l->model, l->state, i, &part_size);
    if (part_size > 0) memcpy(to, part, part_size);
    to += part_size;
  }
  return bytes;
}

static void one_state_is_always_stepped_to_the_same_bytes(void** unused) {
  (void)unused;
  sn_error err = {0};
  for (int s = 0; s < SCENE_COUNT; ++s) {
    size_t size, again_size;
    loaded l = load(s, 1);
    for (int frame = 1; frame <= 4; ++frame) step(&l, frame);
    assert_ok(sn_state_save(l.model, l.state, scratch_path("four"), &err), &err);
    sn_frame_stats stats = step(&l, 5);
    if (s == 2) assert_true(stats.contacts > 0);
    unsigned char* first = payload(&l, &size);
    unload(&l);
    for (int k = 0; k < AGAIN; ++k) {
      if (k % 10 == 0) l = load(s, 1 + k / 10 * 2);
      assert_ok(sn_state_load(l.model, l.state, scratch_path("four"), &err), &err);
      step(&l, 5);
      unsigned char* again = payload(&l, &again_size);
      assert_int_equal(size, again_size);
      assert_memory_equal(first, again, size);
      free(again);
      if (k % 10 == 9) unload(&l);
    }
    free(first);
  }
}

// Bytes of memory that the process has in use, as far as that says anything: sanitizers keep what was freed for a while,
// to catch who still uses it.
static long resident(void) {
#ifdef SN_SANITIZED
  return 0;
#endif
  long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static void nothing_stays_behind(void** unused) {
  (void)unused;
  int times = getenv("SN_SOAK") ? 1000 : CREATED;
  size_t used = sn_memory_used();
  long early = 0;
  for (int k = 0; k < times; ++k) {
    loaded l = load(k % SCENE_COUNT, 1 + k % 4);
    for (int frame = 1; frame <= 2; ++frame) step(&l, frame);
    unload(&l);
    assert_int_equal(sn_memory_used(), used);
    if (k == times / 4) early = resident();
  }
  long growth = resident() - early;
  print_message("%d times created, run, destroyed: %zu bytes left, %ld more resident\n", times,
                sn_memory_used() - used, growth);
  assert_true(growth < 1 << 20);
}

static int make_limb(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("limb.obj", 1, 0.2, 0.2);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(one_state_is_always_stepped_to_the_same_bytes, make_limb,
                                      remove_scratch_folder),
      cmocka_unit_test_setup_teardown(nothing_stays_behind, make_limb, remove_scratch_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
