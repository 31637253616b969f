// Are the files of a run as it wrote them?
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "io/file.h"
#include "io/json_load.h"
#include "sinew/io.h"

#define MAX_PATH 4096

typedef struct verification {
  const char* folder;
  sn_arena* arena;  // emptied after each file
  void (*tell)(void* user, const char* text);
  void* user;
  sn_run_findings* findings;
} verification;

typedef sn_status (*check_fn)(const verification* v, const char* path, sn_error* err);

// A checksum at the end.
static sn_status check_end(const verification* v, const char* path, sn_error* err) {
  char* bytes;
  size_t size;
  uint64_t sum;
  SN_TRY(sn_file_read(path, v->arena, &bytes, &size, err));
  bool whole = size >= sizeof sum;
  if (whole) memcpy(&sum, bytes + size - sizeof sum, sizeof sum);
  SN_CHECK(whole && sum == XXH64(bytes, size - sizeof sum, 0), err, SN_ERR_INPUT,
           "%s: damaged: its checksum is wrong; expected the file as the run wrote it", path);
  return SN_OK;
}

static sn_status check_cache(const verification* v, const char* path, sn_error* err) {
  sn_pc2_info info;
  SN_TRY(sn_pc2_read_info(path, &info, err));
  char sums[MAX_PATH + 8];
  snprintf(sums, sizeof sums, "%s.sums", path);
  SN_CHECK(sn_file_exists(sums), err, SN_ERR_INPUT,
           "%s: is not there, so nobody knows whether the cache is as it was written", sums);
  for (uint32_t f = 0; f < info.frame_count; ++f) SN_TRY(sn_pc2_check_frame(path, f, err));
  v->findings->frame_count += info.frame_count;
  return SN_OK;
}

static sn_status read_all_fields(const verification* v, sn_fields* fields, sn_error* err) {
  uint32_t count = sn_fields_get_info(fields).frame_count;
  for (uint32_t f = 0; f < count; ++f) {
    sn_fields_frame frame;
    SN_TRY(sn_fields_read(fields, f, &frame, err));
  }
  v->findings->frame_count += count;
  return SN_OK;
}

static sn_status check_fields(const verification* v, const char* path, sn_error* err) {
  char cells_path[MAX_PATH + 8];
  sn_cells cells;
  sn_fields* fields;
  snprintf(cells_path, sizeof cells_path, "%.*s.cells", (int)(strlen(path) - strlen(".fields")),
           path);
  SN_TRY(sn_cells_load(cells_path, &cells, err));
  sn_status status = sn_fields_open(path, &cells, &fields, err);
  if (status == SN_OK) status = read_all_fields(v, fields, err);
  sn_fields_close(fields);
  sn_cells_destroy(&cells);
  return status;
}

static sn_status parse(const char* path, const char* bytes, size_t size, int line, sn_error* err) {
  json_error_t problem;
  bool starved;
  json_t* value = sn_json_load(bytes, size, 0, &problem, &starved);
  json_decref(value);
  if (starved) return sn_fail_memory(err, size);
  SN_CHECK(value, err, SN_ERR_INPUT, "%s:%d: damaged: %s; expected JSON as the run wrote it", path,
           line + problem.line - 1, problem.text);
  return SN_OK;
}

static sn_status check_json(const verification* v, const char* path, sn_error* err) {
  char* bytes;
  size_t size;
  SN_TRY(sn_file_read(path, v->arena, &bytes, &size, err));
  return parse(path, bytes, size, 1, err);
}

// A last line that is not ended is of a run that was killed, and does not count.
static sn_status check_lines(const verification* v, const char* path, sn_error* err) {
  char* bytes;
  size_t size, begin = 0;
  SN_TRY(sn_file_read(path, v->arena, &bytes, &size, err));
  for (int line = 1; begin < size; ++line) {
    const char* end = memchr(bytes + begin, '\n', size - begin);
    if (!end) break;
    size_t length = (size_t)(end - (bytes + begin));
    SN_TRY(parse(path, bytes + begin, length, line, err));
    begin += length + 1;
  }
  return SN_OK;
}

static bool ends_with(const char* name, const char* ending) {
  size_t length = strlen(name), part = strlen(ending);
  return length > part && strcmp(name + length - part, ending) == 0;
}

// NULL: not a file that can be checked, or one that is with another.
static check_fn check_of(const char* name) {
  static const struct {
    const char* ending;
    check_fn check;
  } KINDS[] = {{".pc2", check_cache}, {".fields", check_fields}, {".cells", check_end},
               {".ties", check_end},  {".jsonl", check_lines},   {".json", check_json}};
  bool kept = strncmp(name, "checkpoint-", 11) == 0 && !strchr(name, '.');
  if (kept || strcmp(name, "checkpoint") == 0) return check_end;
  for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; ++i) {
    if (ends_with(name, KINDS[i].ending)) return KINDS[i].check;
  }
  return NULL;
}

// What is damaged is told and counted; only what keeps us from looking is an error.
static sn_status check_file(const verification* v, const char* name, sn_error* err) {
  char path[MAX_PATH];
  sn_error found = {0};
  check_fn check = check_of(name);
  if (!check || snprintf(path, sizeof path, "%s/%s", v->folder, name) >= MAX_PATH) return SN_OK;
  sn_arena_mark mark = sn_arena_get_mark(v->arena);
  sn_status status = check(v, path, &found);
  sn_arena_release(v->arena, mark);
  v->findings->file_count++;
  if (status == SN_ERR_INPUT) {
    v->findings->damaged_count++;
    if (v->tell) v->tell(v->user, found.text);
  } else if (status != SN_OK) {
    return sn_fail(err, status, "%s", found.text);
  }
  return SN_OK;
}

static sn_status check_folder(const verification* v, sn_error* err) {
  DIR* folder = opendir(v->folder);
  if (!folder && errno == ENOMEM) return sn_fail_memory(err, sizeof(struct dirent));
  SN_CHECK(folder, err, SN_ERR_IO, "%s: cannot be read: %s", v->folder, strerror(errno));
  sn_status status = SN_OK;
  for (struct dirent* entry; status == SN_OK && (entry = readdir(folder));) {
    status = check_file(v, entry->d_name, err);
  }
  closedir(folder);
  return status;
}

sn_status sn_run_verify(const char* folder, void (*tell)(void* user, const char* text), void* user,
                        sn_run_findings* findings, sn_error* err) {
  char scene[MAX_PATH];
  *findings = (sn_run_findings){0};
  SN_CHECK(
      snprintf(scene, sizeof scene, "%s/scene.json", folder) < MAX_PATH && sn_file_exists(scene),
      err, SN_ERR_INPUT,
      "%s: has no scene.json; expected the folder of a run, as sinew run leaves it", folder);
  verification v = {.folder = folder, .tell = tell, .user = user, .findings = findings};
  SN_TRY(sn_arena_create(&v.arena, err));
  sn_status status = check_folder(&v, err);
  sn_arena_destroy(v.arena);
  return status;
}
