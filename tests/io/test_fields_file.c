// BODY.cells and BODY.fields: what a run leaves, how it resumes, and what damage does.
#include <sys/wait.h>

#include "scene/scenes.h"

#define LAST 4
#define ALL "[\"strain\", \"stress\", \"J\", \"pressure\", \"activation\", \"contacts\"]"

// A block that falls on a floor and stays there.
#define SCENE(fields)                                                                      \
  "{\"frames\": [1, 4], \"fps\": 10, \"bodies\": [{\"name\": \"block\", \"surface\": "     \
  "\"block.obj\", \"cell\": 0.1, \"material\": {\"young\": 8000}, \"initial\": "           \
  "{\"translate\": [0, 0.02, 0]}}], \"colliders\": [{\"shape\": \"plane\"}], \"output\": " \
  "{\"keep_checkpoints\": true, \"fields\": " fields "}}"

static int make_block(void** unused) {
  if (make_scratch_folder(unused) != 0) return -1;
  write_box("block.obj", 0.6, 0.4, 0.4);
  return 0;
}

typedef struct job {
  const char* scene;
  const char* folder;
  int threads, last;
  sn_resume resume;
  int resume_frame;
} job;

static void run_scene(job j) {
  loaded l = load_scene(j.scene, j.threads ? j.threads : 1);
  int last = j.last ? j.last : LAST;
  run_all(l, (sn_run_opts){scratch_path(j.folder), 1, last, j.resume, j.resume_frame});
}

static bool exists(const char* name) { return access(scratch_path(name), F_OK) == 0; }

typedef struct opened {
  sn_cells cells;
  sn_fields* fields;
} opened;

static opened open_both(const char* folder) {
  opened o;
  sn_error err = {0};
  char name[64];
  snprintf(name, sizeof name, "%s/block.cells", folder);
  assert_ok(sn_cells_load(scratch_path(name), &o.cells, &err), &err);
  snprintf(name, sizeof name, "%s/block.fields", folder);
  assert_ok(sn_fields_open(scratch_path(name), &o.cells, &o.fields, &err), &err);
  return o;
}

static void close_both(opened* o) {
  sn_fields_close(o->fields);
  sn_cells_destroy(&o->cells);
}

// ---- What is there

static void a_run_leaves_what_its_state_had(void** unused) {
  (void)unused;
  loaded l = load_scene(SCENE(ALL), 2);
  run_scene((job){.scene = SCENE(ALL), .folder = "run"});
  opened o = open_both("run");
  sn_fields_info info = sn_fields_get_info(o.fields);
  assert_int_equal(info.frame_count, LAST);
  assert_int_equal(info.first_frame, 1);
  assert_int_equal(info.fields, (1 << SN_FIELD_COUNT) - 1);
  assert_true(o.cells.fps == 10 && o.cells.first_frame == 1);
  size_t cells = o.cells.cell_count, nodes = o.cells.node_count;
  assert_int_equal(cells, 6 * 4 * 4);
  float* values = malloc((cells + 3 * nodes) * sizeof *values);
  uint32_t touching = 0;
  for (int frame = 1; frame <= LAST; ++frame) {
    sn_error err = {0};
    sn_fields_frame read;
    uint64_t contacts = step(&l, frame).contacts;
    assert_ok(sn_fields_read(o.fields, (uint32_t)frame - 1, &read, &err), &err);
    assert_int_equal(read.frame, frame);
    for (int f = 0; f < SN_FIELD_CONTACTS; ++f) {
      sn_state_field(l.model, l.state, 0, (sn_flesh_field)f, values);
      assert_memory_equal(read.values[f], values, cells * sizeof *values);
    }
    sn_state_displacements(l.model, l.state, 0, values);
    assert_memory_equal(read.displacements, values, 3 * nodes * sizeof *values);
    assert_int_equal(read.contact_count, contacts);
    touching += read.contact_count;
  }
  assert_true(touching > 0);
  free(values);
  close_both(&o);
  unload(&l);
}

static void cells_read_back_as_they_were(void** unused) {
  (void)unused;
  loaded l = load_scene(SCENE("[]"), 1);
  sn_cells a, b;
  sn_error err = {0};
  assert_ok(sn_model_cells(l.model, 0, &a, &err), &err);
  assert_ok(sn_cells_save(scratch_path("a.cells"), &a, &err), &err);
  assert_ok(sn_cells_load(scratch_path("a.cells"), &b, &err), &err);
  assert_true(a.checksum == b.checksum && a.edge == b.edge && a.origin.y == b.origin.y);
  assert_int_equal(a.vertex_count, b.vertex_count);
  assert_memory_equal(a.cubes, b.cubes, a.cell_count * sizeof *a.cubes);
  assert_memory_equal(a.corners, b.corners, 8 * a.cell_count * sizeof *a.corners);
  assert_memory_equal(a.nodes, b.nodes, 3 * a.node_count * sizeof *a.nodes);
  assert_memory_equal(a.vertices, b.vertices, a.vertex_count * sizeof *a.vertices);
  assert_memory_equal(a.mu, b.mu, a.cell_count * sizeof *a.mu);
  assert_memory_equal(a.fill, b.fill, a.cell_count * sizeof *a.fill);
  assert_memory_equal(a.materials, b.materials, a.cell_count);
  assert_string_equal(b.material_names[0], "stable-neo-hookean");
  assert_int_equal(b.muscle_count, 0);
  sn_cells_destroy(&a);
  sn_cells_destroy(&b);
  unload(&l);
}

static void without_fields_there_are_no_files(void** unused) {
  (void)unused;
  run_scene((job){.scene = SCENE(ALL), .folder = "run", .last = 1});
  assert_true(exists("run/block.cells") && exists("run/block.fields") && exists("run/block.ties"));
  run_scene((job){.scene = SCENE("[]"), .folder = "run", .last = 1});
  assert_false(exists("run/block.cells") || exists("run/block.fields"));
  assert_false(exists("run/block.ties"));
}

// What holds a node is where the node is.
static void ties_say_what_holds_which_node(void** unused) {
  (void)unused;
  loaded l = load_scene(
      "{\"bodies\": [{\"name\": \"block\", \"surface\": \"block.obj\", \"cell\": 0.1}], "
      "\"bones\": [{\"name\": \"far\", \"capsule\": {\"from\": [9, 0, 0], \"to\": [9, 1, 0], "
      "\"radius\": 0.1}}, {\"name\": \"core\", \"capsule\": {\"from\": [0.1, 0.2, 0.2], \"to\": "
      "[0.3, 0.2, 0.2], \"radius\": 0.1}}], \"attachments\": [{\"bone\": \"core\"}], \"fixed\": "
      "[{\"where\": {\"box\": [[0.55, -1, -1], [0.65, 1, 1]]}}]}",
      1);
  sn_cells cells;
  sn_error err = {0};
  assert_ok(sn_model_cells(l.model, 0, &cells, &err), &err);
  sn_body_info info = sn_model_body(l.model, 0);
  uint32_t count = sn_model_ties(l.model, 0, NULL, 0), tied = 0;
  assert_int_equal(count, info.attached_node_count + info.fixed_node_count);
  sn_tied_node* ties = calloc(count, sizeof *ties);
  assert_int_equal(sn_model_ties(l.model, 0, ties, count), count);
  for (uint32_t i = 0; i < count; ++i) {
    assert_true(ties[i].node < cells.node_count);
    double x = cells.origin.x + cells.edge * cells.nodes[3 * (size_t)ties[i].node];
    if (ties[i].fixed == SN_NOT_FIXED) {
      assert_true(ties[i].bone == 1 && x < 0.45);
      ++tied;
    } else {
      assert_true(ties[i].bone == SN_NO_BONE && ties[i].fixed == 0 && x > 0.54);
    }
  }
  assert_int_equal(tied, info.attached_node_count);
  assert_ok(sn_ties_save(scratch_path("block.ties"), l.model, 0, &cells, &err), &err);
  struct stat file;
  assert_int_equal(stat(scratch_path("block.ties"), &file), 0);
  assert_int_equal(file.st_size, 24 + 12 * count + 8);
  free(ties);
  sn_cells_destroy(&cells);
  unload(&l);
}

static void only_what_is_asked_for_is_kept(void** unused) {
  (void)unused;
  run_scene((job){.scene = SCENE("[\"pressure\"]"), .folder = "run", .last = 2});
  opened o = open_both("run");
  sn_fields_frame read;
  sn_error err = {0};
  assert_ok(sn_fields_read(o.fields, 1, &read, &err), &err);
  for (int f = 0; f < SN_FIELD_CONTACTS; ++f) {
    assert_int_equal(read.values[f] != NULL, f == SN_FIELD_PRESSURE);
  }
  assert_int_equal(read.contact_count, 0);
  assert_int_equal(sn_fields_read(o.fields, 2, &read, &err), SN_ERR_INPUT);
  assert_message_has(&err, "frame 2 asked for, counted from 0; expected less than 2");
  close_both(&o);
}

// ---- Resuming

static void resuming_gives_the_same_bytes(void** unused) {
  (void)unused;
  run_scene((job){.scene = SCENE(ALL), .folder = "base", .threads = 2});
  for (int last = 1; last < LAST; ++last) {
    run_scene((job){.scene = SCENE(ALL), .folder = "other", .last = last});
    run_scene((job){.scene = SCENE(ALL), .folder = "other", .resume = SN_RESUME_LAST});
    assert_same_file("base/block.fields", "other/block.fields");
    assert_same_file("base/block.cells", "other/block.cells");
  }
  for (int frame = 1; frame <= LAST; ++frame) {
    job again = {SCENE(ALL), "other", 2, LAST, SN_RESUME_AT, frame};
    run_scene(again);
    assert_same_file("base/block.fields", "other/block.fields");
  }
}

static int warnings;
static char last_warning[512];

static void count_warning(void* user, sn_log_level level, const char* text) {
  (void)user;
  if (level != SN_LOG_WARNING) return;
  ++warnings;
  snprintf(last_warning, sizeof last_warning, "%s", text);
}

// Fields that were not kept so far begin where the run goes on.
static void other_fields_begin_where_the_run_goes_on(void** unused) {
  (void)unused;
  static const char* const BEFORE[] = {SCENE("[]"), SCENE("[\"J\"]")};
  for (int i = 0; i < 2; ++i) {
    run_scene((job){.scene = BEFORE[i], .folder = "run", .last = 2});
    warnings = 0;
    sn_set_log(count_warning, NULL);
    run_scene((job){.scene = SCENE("[\"strain\"]"), .folder = "run", .resume = SN_RESUME_LAST});
    sn_set_log(NULL, NULL);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_warning, "so it begins anew at frame 3"));
    opened o = open_both("run");
    sn_fields_info info = sn_fields_get_info(o.fields);
    assert_int_equal(info.first_frame, 3);
    assert_int_equal(info.frame_count, 2);
    close_both(&o);
  }
}

// A child that is killed at any moment leaves a file that can be read and resumed.
static void a_killed_run_leaves_a_valid_file(void** unused) {
  (void)unused;
  run_scene((job){.scene = SCENE(ALL), .folder = "base"});
  for (useconds_t pause = 0; pause < 60000; pause += 12000) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
      run_scene((job){.scene = SCENE(ALL), .folder = "killed"});
      _exit(0);
    }
    usleep(pause);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (exists("killed/block.fields")) {
      opened o = open_both("killed");
      for (uint32_t i = 0; i < sn_fields_get_info(o.fields).frame_count; ++i) {
        sn_fields_frame read;
        sn_error err = {0};
        assert_ok(sn_fields_read(o.fields, i, &read, &err), &err);
      }
      close_both(&o);
    }
    run_scene((job){.scene = SCENE(ALL), .folder = "killed", .resume = SN_RESUME_LAST});
    assert_same_file("base/block.fields", "killed/block.fields");
  }
}

// Bytes behind the last published frame are no harm.
static void an_unpublished_frame_is_ignored(void** unused) {
  (void)unused;
  run_scene((job){.scene = SCENE(ALL), .folder = "run", .last = 2});
  FILE* file = fopen(scratch_path("run/block.fields"), "ab");
  for (int i = 0; i < 1000; ++i) fputc(i & 255, file);
  fclose(file);
  opened o = open_both("run");
  assert_int_equal(sn_fields_get_info(o.fields).frame_count, 2);
  close_both(&o);
}

// ---- Damage

static sn_status read_all(const char* cells_name, const char* fields_name, sn_error* err) {
  sn_cells cells;
  sn_fields* fields = NULL;
  sn_status status = sn_cells_load(scratch_path(cells_name), &cells, err);
  if (status == SN_OK) status = sn_fields_open(scratch_path(fields_name), &cells, &fields, err);
  sn_cells_destroy(&cells);
  for (uint32_t i = 0; status == SN_OK && i < sn_fields_get_info(fields).frame_count; ++i) {
    sn_fields_frame frame;
    status = sn_fields_read(fields, i, &frame, err);
  }
  sn_fields_close(fields);
  return status;
}

static void assert_damage_is_found(const char* bytes, size_t size, size_t at, bool of_cells) {
  sn_error err = {0};
  char* copy = malloc(size);
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  copy[at] ^= 0x10;
  scratch_write("damaged", copy, size);
  sn_status status = of_cells ? read_all("damaged", "run/block.fields", &err)
                              : read_all("run/block.cells", "damaged", &err);
  if (status != SN_ERR_INPUT) fail_msg("a wrong byte %zu of %zu is not noticed", at, size);
  free(copy);
}

static void every_wrong_byte_is_noticed(void** unused) {
  (void)unused;
  run_scene((job){.scene = SCENE(ALL), .folder = "run"});
  for (int which = 0; which < 2; ++which) {
    size_t size;
    char* bytes =
        read_everything(scratch_path(which ? "run/block.cells" : "run/block.fields"), &size);
    for (size_t at = 0; at < size; at += at < 200 ? 1 : 997) {
      assert_damage_is_found(bytes, size, at, which);
    }
    assert_damage_is_found(bytes, size, size - 1, which);
    free(bytes);
  }
}

static void every_cut_is_noticed(void** unused) {
  (void)unused;
  run_scene((job){.scene = SCENE(ALL), .folder = "run", .last = 2});
  for (int which = 0; which < 2; ++which) {
    size_t size;
    char* bytes =
        read_everything(scratch_path(which ? "run/block.cells" : "run/block.fields"), &size);
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 7 : 499) {
      sn_error err = {0};
      scratch_write("cut", bytes, cut);
      assert_int_equal(which ? read_all("cut", "run/block.fields", &err)
                             : read_all("run/block.cells", "cut", &err),
                       SN_ERR_INPUT);
    }
    free(bytes);
  }
}

static void fields_of_other_cells_are_refused(void** unused) {
  (void)unused;
  sn_error err = {0};
  run_scene((job){.scene = SCENE(ALL), .folder = "run", .last = 1});
  run_scene((job){.scene = "{\"bodies\": [{\"name\": \"block\", \"surface\": \"block.obj\", "
                           "\"cell\": 0.2}], \"output\": {\"fields\": [\"J\"]}}",
                  .folder = "other",
                  .last = 1});
  assert_int_equal(read_all("run/block.cells", "other/block.fields", &err), SN_ERR_INPUT);
  assert_message_has(&err, "belongs to other cells");
  assert_int_equal(read_all("run/block.obj", "other/block.fields", &err), SN_ERR_INPUT);
  assert_message_has(&err, "not a file of cells");
  assert_int_equal(read_all("run/block.cells", "run/block.pc2", &err), SN_ERR_INPUT);
  assert_message_has(&err, "not a file of fields");
  assert_int_equal(read_all("none.cells", "none.fields", &err), SN_ERR_INPUT);
}

// A checksum that is right says nothing about the numbers.
static void numbers_are_checked_behind_a_right_checksum(void** unused) {
  (void)unused;
  loaded l = load_scene(SCENE("[]"), 1);
  for (int i = 0; i < 6; ++i) {
    sn_cells cells;
    sn_error err = {0};
    assert_ok(sn_model_cells(l.model, 0, &cells, &err), &err);
    if (i == 0) cells.corners[17] = cells.node_count + cells.hanging_count;
    if (i == 1) cells.vertices[3].cell = cells.cell_count;
    if (i == 2) cells.muscles[2] = 0;
    if (i == 3) cells.materials[1] = 1;
    if (i == 4) cells.edge = NAN;
    if (i == 5) cells.cubes[0].level = 40;
    assert_ok(sn_cells_save(scratch_path("bad.cells"), &cells, &err), &err);
    sn_cells_destroy(&cells);
    assert_int_equal(sn_cells_load(scratch_path("bad.cells"), &cells, &err), SN_ERR_INPUT);
    assert_message_has(&err, "a number is out of range");
    sn_cells_destroy(&cells);
  }
  unload(&l);
}

static sn_status attempt_read(sn_error* err) {
  return read_all("run/block.cells", "run/block.fields", err);
}

static void reading_survives_failing_allocations(void** unused) {
  (void)unused;
  run_scene((job){.scene = SCENE(ALL), .folder = "run", .last = 1});
  assert_survives_failing_allocations(attempt_read);
}

#define IN_BLOCK(test) cmocka_unit_test_setup_teardown(test, make_block, remove_scratch_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_BLOCK(a_run_leaves_what_its_state_had),
      IN_BLOCK(cells_read_back_as_they_were),
      IN_BLOCK(without_fields_there_are_no_files),
      IN_BLOCK(ties_say_what_holds_which_node),
      IN_BLOCK(only_what_is_asked_for_is_kept),
      IN_BLOCK(resuming_gives_the_same_bytes),
      IN_BLOCK(other_fields_begin_where_the_run_goes_on),
      IN_BLOCK(a_killed_run_leaves_a_valid_file),
      IN_BLOCK(an_unpublished_frame_is_ignored),
      IN_BLOCK(every_wrong_byte_is_noticed),
      IN_BLOCK(every_cut_is_noticed),
      IN_BLOCK(fields_of_other_cells_are_refused),
      IN_BLOCK(numbers_are_checked_behind_a_right_checksum),
      IN_BLOCK(reading_survives_failing_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
