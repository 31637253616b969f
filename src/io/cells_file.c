// BODY.cells: header, arrays, checksum of both. Little-endian, as the machines that Sinew runs on.
// docs/formats.md has the layout.
#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "io/file.h"
#include "octree/octant.h"
#include "sinew/io.h"

#define MAGIC "SINEWCL"
#define VERSION 1u
#define SECTIONS 10

typedef struct header {
  char magic[8];
  uint32_t version;
  int32_t first_frame;
  double unit, fps, origin[3], edge;
  uint32_t cells, nodes, hanging, vertices, materials, muscles, name_bytes, unused;
} header;

_Static_assert(sizeof(header) == 96, "the header is written as it is");
_Static_assert(sizeof(sn_cell_cube) == 8 && sizeof(sn_cell_vertex) == 16, "and so are these");

// An array of the file.
typedef struct section {
  void** array;
  size_t size;  // of an item
  uint64_t count;
} section;

static void list_sections(sn_cells* c, section sections[SECTIONS]) {
  const section all[SECTIONS] = {
      {(void**)&c->corners, sizeof *c->corners, 8 * (uint64_t)c->cell_count},
      {(void**)&c->hanging, sizeof *c->hanging, 4 * (uint64_t)c->hanging_count},
      {(void**)&c->mu, sizeof *c->mu, c->cell_count},
      {(void**)&c->lambda, sizeof *c->lambda, c->cell_count},
      {(void**)&c->fill, sizeof *c->fill, c->cell_count},
      {(void**)&c->muscles, sizeof *c->muscles, c->cell_count},
      {(void**)&c->vertices, sizeof *c->vertices, c->vertex_count},
      {(void**)&c->cubes, sizeof *c->cubes, c->cell_count},
      {(void**)&c->nodes, sizeof *c->nodes, 3 * (uint64_t)c->node_count},
      {(void**)&c->materials, sizeof *c->materials, c->cell_count}};
  memcpy(sections, all, sizeof all);
}

static uint64_t array_bytes(const section sections[SECTIONS]) {
  uint64_t sum = 0;
  for (int i = 0; i < SECTIONS; ++i) sum += sections[i].size * sections[i].count;
  return sum;
}

// Writing

static char* name_at(const sn_cells* cells, uint32_t i) {
  return i < cells->material_count ? cells->material_names[i]
                                   : cells->muscle_names[i - cells->material_count];
}

static header make_header(const sn_cells* cells) {
  header head = {MAGIC,
                 VERSION,
                 cells->first_frame,
                 cells->unit,
                 cells->fps,
                 {cells->origin.x, cells->origin.y, cells->origin.z},
                 cells->edge,
                 cells->cell_count,
                 cells->node_count,
                 cells->hanging_count,
                 cells->vertex_count,
                 cells->material_count,
                 cells->muscle_count,
                 0,
                 0};
  for (uint32_t i = 0; i < cells->material_count + cells->muscle_count; ++i) {
    head.name_bytes += (uint32_t)strlen(name_at(cells, i)) + 1;
  }
  return head;
}

static unsigned char* put(unsigned char* at, const void* bytes, size_t size) {
  if (size > 0) memcpy(at, bytes, size);
  return at + size;
}

static void encode(const sn_cells* cells, const header* head, const section sections[SECTIONS],
                   unsigned char* bytes) {
  unsigned char* at = put(bytes, head, sizeof *head);
  for (int i = 0; i < SECTIONS; ++i) {
    at = put(at, *sections[i].array, sections[i].size * sections[i].count);
  }
  for (uint32_t i = 0; i < cells->material_count + cells->muscle_count; ++i) {
    at = put(at, name_at(cells, i), strlen(name_at(cells, i)) + 1);
  }
}

sn_status sn_cells_save(const char* path, sn_cells* cells, sn_error* err) {
  section sections[SECTIONS];
  header head = make_header(cells);
  list_sections(cells, sections);
  size_t checked = sizeof head + array_bytes(sections) + head.name_bytes;
  unsigned char* bytes = sn_allocate(checked + sizeof cells->checksum);
  if (!bytes) return sn_fail_memory(err, checked + sizeof cells->checksum);
  encode(cells, &head, sections, bytes);
  cells->checksum = XXH64(bytes, checked, 0);
  memcpy(bytes + checked, &cells->checksum, sizeof cells->checksum);
  sn_status status = sn_file_write_atomic(path, bytes, checked + sizeof cells->checksum, err);
  sn_release(bytes);
  return status;
}

// Reading

static sn_status fail_damaged(const char* path, const char* what, sn_error* err) {
  return sn_fail(err, SN_ERR_INPUT,
                 "%s: damaged: %s; expected the file as the run wrote it: run again", path, what);
}

// Kind, version and checksum; then what the header says of sizes must be the file's own.
static sn_status read_header(const char* path, const char* bytes, size_t size, header* head,
                             sn_cells* cells, sn_error* err) {
  SN_CHECK(size >= sizeof *head + sizeof cells->checksum && memcmp(bytes, MAGIC, 8) == 0, err,
           SN_ERR_INPUT, "%s: not a file of cells; expected the BODY.cells that a run left", path);
  memcpy(head, bytes, sizeof *head);
  SN_CHECK(head->version == VERSION, err, SN_ERR_INPUT,
           "%s: cells of version %u; expected version %u: run again", path, head->version, VERSION);
  size_t checked = size - sizeof cells->checksum;
  memcpy(&cells->checksum, bytes + checked, sizeof cells->checksum);
  if (XXH64(bytes, checked, 0) != cells->checksum) {
    return fail_damaged(path, "its checksum is wrong", err);
  }
  cells->first_frame = head->first_frame;
  cells->unit = head->unit;
  cells->fps = head->fps;
  cells->origin = (sn_vec3){head->origin[0], head->origin[1], head->origin[2]};
  cells->edge = head->edge;
  cells->cell_count = head->cells;
  cells->node_count = head->nodes;
  cells->hanging_count = head->hanging;
  cells->vertex_count = head->vertices;
  cells->material_count = head->materials;
  cells->muscle_count = head->muscles;
  section sections[SECTIONS];
  list_sections(cells, sections);
  if (sizeof *head + array_bytes(sections) + head->name_bytes != checked) {
    return fail_damaged(path, "its counts do not fit its size", err);
  }
  return SN_OK;
}

// The names are the last bytes; each ends with a zero, and no byte is left over.
static sn_status read_names(const char* path, const char* at, size_t size, sn_cells* cells,
                            sn_error* err) {
  uint64_t count = (uint64_t)cells->material_count + cells->muscle_count;
  const char* end = at + size;
  if (count > size) return fail_damaged(path, "names are missing", err);
  SN_TRY(SN_ARENA_NEW(cells->storage, cells->material_count, &cells->material_names, err));
  SN_TRY(SN_ARENA_NEW(cells->storage, cells->muscle_count, &cells->muscle_names, err));
  for (uint32_t i = 0; i < count; ++i) {
    const char* zero = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;
    if (!zero) return fail_damaged(path, "names are missing", err);
    char* name = sn_arena_copy_string(cells->storage, at);
    if (!name) return sn_fail_memory(err, (size_t)(zero - at) + 1);
    if (i < cells->material_count) {
      cells->material_names[i] = name;
    } else {
      cells->muscle_names[i - cells->material_count] = name;
    }
    at = zero + 1;
  }
  return at == end ? SN_OK : fail_damaged(path, "bytes are left over", err);
}

static bool is_positive(double number) { return isfinite(number) && number > 0; }

static bool is_cell_valid(const sn_cells* c, uint32_t e) {
  bool fine = c->cubes[e].level <= SN_MAX_HEIGHT && c->materials[e] < c->material_count &&
              (c->muscles[e] == SN_NO_MUSCLE || c->muscles[e] < c->muscle_count) &&
              isfinite(c->mu[e]) && isfinite(c->lambda[e]) && isfinite(c->fill[e]);
  uint64_t points = (uint64_t)c->node_count + c->hanging_count;
  for (int k = 0; k < 8; ++k) fine = fine && c->corners[8 * (size_t)e + (size_t)k] < points;
  return fine;
}

static bool is_vertex_valid(const sn_cells* c, const sn_cell_vertex* v) {
  return v->cell < c->cell_count && isfinite(v->at[0]) && isfinite(v->at[1]) && isfinite(v->at[2]);
}

static sn_status check_values(const char* path, const sn_cells* c, sn_error* err) {
  bool fine = is_positive(c->unit) && is_positive(c->fps) && is_positive(c->edge) &&
              isfinite(c->origin.x) && isfinite(c->origin.y) && isfinite(c->origin.z) &&
              c->cell_count > 0 && c->node_count > 0;
  for (uint32_t e = 0; fine && e < c->cell_count; ++e) fine = is_cell_valid(c, e);
  for (size_t i = 0; fine && i < 4 * (size_t)c->hanging_count; ++i) {
    fine = c->hanging[i] < c->node_count;
  }
  for (uint32_t v = 0; fine && v < c->vertex_count; ++v) fine = is_vertex_valid(c, &c->vertices[v]);
  return fine ? SN_OK : fail_damaged(path, "a number is out of range", err);
}

static sn_status load(const char* path, sn_arena* scratch, sn_cells* cells, sn_error* err) {
  char* bytes;
  size_t size;
  header head;
  SN_TRY(sn_file_read(path, scratch, &bytes, &size, err));
  SN_TRY(read_header(path, bytes, size, &head, cells, err));
  section sections[SECTIONS];
  list_sections(cells, sections);
  const char* at = bytes + sizeof head;
  for (int i = 0; i < SECTIONS; ++i) {
    size_t length = sections[i].size * (size_t)sections[i].count;
    SN_TRY(sn_arena_take_raw(cells->storage, (size_t)sections[i].count, sections[i].size,
                             sections[i].array, err));
    if (length > 0) memcpy(*sections[i].array, at, length);
    at += length;
  }
  SN_TRY(read_names(path, at, head.name_bytes, cells, err));
  return check_values(path, cells, err);
}

sn_status sn_cells_load(const char* path, sn_cells* cells, sn_error* err) {
  sn_arena* scratch;
  *cells = (sn_cells){0};
  SN_TRY(sn_arena_create(&scratch, err));
  sn_status status = sn_arena_create(&cells->storage, err);
  if (status == SN_OK) status = load(path, scratch, cells, err);
  sn_arena_destroy(scratch);
  if (status != SN_OK) sn_cells_destroy(cells);
  return status;
}
