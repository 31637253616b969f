// The table of assets (README.md in their folder): for each mesh the triangles and the box that an
// independent reader found.
#ifndef SN_TESTS_IO_ASSETS_H
#define SN_TESTS_IO_ASSETS_H

#include <math.h>

#include "geometry/mesh_arrays.h"
#include "io/scratch.h"

typedef struct asset_row {
  unsigned triangle_count;
  double size[3], lo[3];
  bool has_box;
} asset_row;

// The row `| NAME | what | triangles | A x B x C; from (a, b, c) | ...`
static inline bool find_asset_row(const char* name, asset_row* row) {
  char start[512];
  snprintf(start, sizeof start, "\n| %s |", name);
  size_t size;
  char* table = read_everything(SN_TEST_ASSETS "/README.md", &size);
  const char* at = strstr(table, start);
  bool found = false;
  if (at && (at = strchr(at + strlen(start), '|'))) {
    double* s = row->size;
    double* l = row->lo;
    int count = sscanf(at, "| %u | %lf x %lf x %lf; from (%lf, %lf, %lf)", &row->triangle_count, s,
                       s + 1, s + 2, l, l + 1, l + 2);
    found = count >= 1;
    row->has_box = count == 7;
  }
  free(table);
  return found;
}

static inline void assert_box(const sn_mesh* mesh, const asset_row* row, const char* name) {
  for (int axis = 0; axis < 3; ++axis) {
    double lo = INFINITY, hi = -INFINITY;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
      lo = fmin(lo, mesh->positions[3 * v + axis]);
      hi = fmax(hi, mesh->positions[3 * v + axis]);
    }
    // The table has four digits.
    double tolerance = 1e-3 * (fabs(row->lo[axis]) + row->size[axis]);
    if (fabs(lo - row->lo[axis]) > tolerance || fabs(hi - lo - row->size[axis]) > tolerance) {
      fail_msg("%s: axis %d is %g to %g", name, axis, lo, hi);
    }
  }
}

// Load every file of the folder with that ending and hold it against its row.
static inline int check_asset_folder(const char* folder_name, const char* ending) {
  char folder_path[512], path[1024];
  snprintf(folder_path, sizeof folder_path, "%s/%s", SN_TEST_ASSETS, folder_name);
  DIR* folder = opendir(folder_path);
  assert_non_null(folder);
  int count = 0;
  for (struct dirent* entry; (entry = readdir(folder));) {
    const char* dot = strrchr(entry->d_name, '.');
    if (!dot || strcmp(dot, ending) != 0) continue;
    snprintf(path, sizeof path, "%s/%s", folder_path, entry->d_name);
    sn_mesh mesh;
    sn_error err = {0};
    if (sn_mesh_load(path, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
    assert_true(sn_mesh_is_valid(&mesh));
    asset_row row;
    if (!find_asset_row(entry->d_name, &row)) fail_msg("%s has no row", entry->d_name);
    if (row.triangle_count != mesh.triangle_count) {
      fail_msg("%s: %u triangles, expected %u", path, mesh.triangle_count, row.triangle_count);
    }
    if (row.has_box) assert_box(&mesh, &row, entry->d_name);
    sn_mesh_destroy(&mesh);
    ++count;
  }
  closedir(folder);
  return count;
}

#endif
