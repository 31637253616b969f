// Unstructured grids of VTK, as ParaView reads them: XML with the numbers behind it, raw and
// little-endian as the machines that Sinew runs on.
#ifndef SN_IO_VTU_H
#define SN_IO_VTU_H

#include "io/writer.h"

typedef enum sn_vtu_type { SN_VTU_FLOAT32, SN_VTU_INT32, SN_VTU_INT64, SN_VTU_UINT8 } sn_vtu_type;

// Numbers at the points or in the cells.
typedef struct sn_vtu_array {
  const char* name;
  sn_vtu_type type;
  int components;
  const void* numbers;
} sn_vtu_array;

// A grid of hexahedra. Offsets and kinds of cells are VTK's way to say that all have eight corners.
typedef struct sn_vtu_grid {
  uint32_t point_count, cell_count;
  float* points;     // (3 x point_count)
  int32_t* corners;  // (8 x cell_count)
  int64_t* ends;     // of each cell in `corners` (cell_count)
  uint8_t* kinds;    // (cell_count)
} sn_vtu_grid;

// Room for a grid; `ends` and `kinds` are set. SN_ERR_INPUT if it is too large for the format.
sn_status sn_vtu_grid_create(uint64_t point_count, uint32_t cell_count, sn_arena* arena,
                             sn_vtu_grid* grid, sn_error* err);
// Corners of a cell by bits, 1 = x, 2 = y, 4 = z, in the order of VTK.
void sn_vtu_set_corners(sn_vtu_grid* grid, uint32_t cell, const uint32_t corners[8]);

// Write one grid. @param at_points (point_array_count) @param in_cells (cell_array_count)
sn_status sn_vtu_write(const char* path, const sn_vtu_grid* grid, double time,
                       const sn_vtu_array* at_points, int point_array_count,
                       const sn_vtu_array* in_cells, int cell_array_count, sn_error* err);

// A collection of grids over time (PVD): begin, a line for each, end.
void sn_pvd_begin(sn_writer* w);
void sn_pvd_add(sn_writer* w, double time, const char* file);
void sn_pvd_end(sn_writer* w);

#endif
