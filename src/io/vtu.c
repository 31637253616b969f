#include "io/vtu.h"

#include <limits.h>

#define HEXAHEDRON 12  // VTK's number for it

typedef struct type_row {
  const char* name;
  size_t size;
} type_row;

static const type_row TYPES[] = {[SN_VTU_FLOAT32] = {"Float32", 4},
                                 [SN_VTU_INT32] = {"Int32", 4},
                                 [SN_VTU_INT64] = {"Int64", 8},
                                 [SN_VTU_UINT8] = {"UInt8", 1}};

sn_status sn_vtu_grid_create(uint64_t point_count, uint32_t cell_count, sn_arena* arena,
                             sn_vtu_grid* grid, sn_error* err) {
  SN_CHECK(point_count <= INT32_MAX, err, SN_ERR_INPUT,
           "%llu points; expected %d at most in a VTU file", (unsigned long long)point_count,
           INT32_MAX);
  *grid = (sn_vtu_grid){.point_count = (uint32_t)point_count, .cell_count = cell_count};
  SN_TRY(SN_ARENA_RAW(arena, 3 * (size_t)point_count, &grid->points, err));
  SN_TRY(SN_ARENA_RAW(arena, 8 * (size_t)cell_count, &grid->corners, err));
  SN_TRY(SN_ARENA_RAW(arena, cell_count, &grid->ends, err));
  SN_TRY(SN_ARENA_RAW(arena, cell_count, &grid->kinds, err));
  for (uint32_t e = 0; e < cell_count; ++e) {
    grid->ends[e] = 8 * ((int64_t)e + 1);
    grid->kinds[e] = HEXAHEDRON;
  }
  return SN_OK;
}

// VTK goes around the lower face, then around the upper one.
void sn_vtu_set_corners(sn_vtu_grid* grid, uint32_t cell, const uint32_t corners[8]) {
  static const int ORDER[8] = {0, 1, 3, 2, 4, 5, 7, 6};
  for (int k = 0; k < 8; ++k) {
    grid->corners[8 * (size_t)cell + (size_t)k] = (int32_t)corners[ORDER[k]];
  }
}

static uint64_t array_bytes(const sn_vtu_array* array, uint64_t count) {
  return count * (uint64_t)array->components * TYPES[array->type].size;
}

// What an array is, and where in the part behind the XML its length and its numbers are.
static void declare(sn_writer* w, const sn_vtu_array* array, uint64_t count, uint64_t* offset) {
  sn_write_text(w, "<DataArray type=\"");
  sn_write_text(w, TYPES[array->type].name);
  sn_write_text(w, "\" Name=\"");
  sn_write_text(w, array->name);
  sn_write_text(w, "\" NumberOfComponents=\"");
  sn_write_whole(w, (uint64_t)array->components);
  sn_write_text(w, "\" format=\"appended\" offset=\"");
  sn_write_whole(w, *offset);
  sn_write_text(w, "\"/>\n");
  *offset += sizeof(uint64_t) + array_bytes(array, count);
}

static void append(sn_writer* w, const sn_vtu_array* array, uint64_t count) {
  uint64_t bytes = array_bytes(array, count);
  sn_write_bytes(w, &bytes, sizeof bytes);
  sn_write_bytes(w, array->numbers, (size_t)bytes);
}

// A group of arrays between its tags.
typedef struct group {
  const char* tag;
  const sn_vtu_array* arrays;
  int array_count;
  uint64_t count;  // of points or cells
} group;

static void declare_group(sn_writer* w, const group* g, uint64_t* offset) {
  sn_write_text(w, "<");
  sn_write_text(w, g->tag);
  sn_write_text(w, ">\n");
  for (int i = 0; i < g->array_count; ++i) declare(w, &g->arrays[i], g->count, offset);
  sn_write_text(w, "</");
  sn_write_text(w, g->tag);
  sn_write_text(w, ">\n");
}

static void write_head(sn_writer* w, const sn_vtu_grid* grid, double time) {
  sn_write_text(w,
                "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
                "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n"
                "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
                "format=\"ascii\">");
  sn_write_number(w, time);
  sn_write_text(w, "</DataArray>\n</FieldData>\n<Piece NumberOfPoints=\"");
  sn_write_whole(w, grid->point_count);
  sn_write_text(w, "\" NumberOfCells=\"");
  sn_write_whole(w, grid->cell_count);
  sn_write_text(w, "\">\n");
}

sn_status sn_vtu_write(const char* path, const sn_vtu_grid* grid, double time,
                       const sn_vtu_array* at_points, int point_array_count,
                       const sn_vtu_array* in_cells, int cell_array_count, sn_error* err) {
  const sn_vtu_array places = {"Points", SN_VTU_FLOAT32, 3, grid->points};
  const sn_vtu_array topology[3] = {{"connectivity", SN_VTU_INT32, 1, grid->corners},
                                    {"offsets", SN_VTU_INT64, 1, grid->ends},
                                    {"types", SN_VTU_UINT8, 1, grid->kinds}};
  const uint64_t lengths[3] = {8 * (uint64_t)grid->cell_count, grid->cell_count, grid->cell_count};
  const group groups[3] = {{"PointData", at_points, point_array_count, grid->point_count},
                           {"CellData", in_cells, cell_array_count, grid->cell_count},
                           {"Points", &places, 1, grid->point_count}};
  uint64_t offset = 0;
  sn_writer w;
  sn_writer_open(&w, path, err);
  write_head(&w, grid, time);
  for (int g = 0; g < 3; ++g) declare_group(&w, &groups[g], &offset);
  sn_write_text(&w, "<Cells>\n");
  for (int i = 0; i < 3; ++i) declare(&w, &topology[i], lengths[i], &offset);
  sn_write_text(&w, "</Cells>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_");
  for (int g = 0; g < 3; ++g) {
    for (int i = 0; i < groups[g].array_count; ++i)
      append(&w, &groups[g].arrays[i], groups[g].count);
  }
  for (int i = 0; i < 3; ++i) append(&w, &topology[i], lengths[i]);
  sn_write_text(&w, "\n</AppendedData>\n</VTKFile>\n");
  return sn_writer_close(&w, SN_OK);
}

void sn_pvd_begin(sn_writer* w) {
  sn_write_text(w,
                "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" "
                "byte_order=\"LittleEndian\">\n<Collection>\n");
}

static void write_escaped(sn_writer* w, const char* text) {
  for (; *text; ++text) {
    const char one[2] = {*text, 0};
    sn_write_text(w, *text == '&'    ? "&amp;"
                     : *text == '<'  ? "&lt;"
                     : *text == '"'  ? "&quot;"
                     : *text == '\n' ? "&#10;"
                                     : one);
  }
}

void sn_pvd_add(sn_writer* w, double time, const char* file) {
  sn_write_text(w, "<DataSet timestep=\"");
  sn_write_number(w, time);
  sn_write_text(w, "\" group=\"\" part=\"0\" file=\"");
  write_escaped(w, file);
  sn_write_text(w, "\"/>\n");
}

void sn_pvd_end(sn_writer* w) { sn_write_text(w, "</Collection>\n</VTKFile>\n"); }
