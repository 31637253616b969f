// The stiffness at rest as a sparse matrix, cell by cell from the plain kernel. The solver never
// needs it; other solvers do, to be compared on the very same system.
#include <stdlib.h>
#include <string.h>

#include "math/vec.h"
#include "scene/model.h"
#include "solve/vector.h"

// Neighbours of every node of a body: the nodes that it shares a cell with, itself included.
typedef struct neighbours {
  uint64_t* starts;   // (node_count + 1)
  uint32_t* indices;  // ascending for each node
} neighbours;

static int compare_indices(const void* a, const void* b) {
  uint32_t x = *(const uint32_t*)a, y = *(const uint32_t*)b;
  return (x > y) - (x < y);
}

static uint64_t sort_and_drop_repeats(uint32_t* indices, uint64_t count) {
  qsort(indices, count, sizeof *indices, compare_indices);
  uint64_t kept = 0;
  for (uint64_t i = 0; i < count; ++i) {
    if (kept == 0 || indices[kept - 1] != indices[i]) indices[kept++] = indices[i];
  }
  return kept;
}

// All corners of all cells around each node first, then sorted and without repeats.
static sn_status find_neighbours(const sn_octree* tree, sn_arena* arena, neighbours* result,
                                 sn_error* err) {
  uint64_t *starts, *ends;
  uint32_t* indices;
  SN_TRY(SN_ARENA_NEW(arena, (size_t)tree->node_count + 1, &starts, err));
  SN_TRY(SN_ARENA_NEW(arena, tree->node_count, &ends, err));
  SN_TRY(SN_ARENA_NEW(arena, 64 * (size_t)tree->cell_count, &indices, err));
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_corners at = sn_octree_corners(tree, e);
    for (int c = 0; c < 8; ++c) starts[at.nodes[c] + 1] += 8;
  }
  for (uint32_t n = 0; n < tree->node_count; ++n) starts[n + 1] += starts[n];
  memcpy(ends, starts, tree->node_count * sizeof *ends);
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_corners at = sn_octree_corners(tree, e);
    for (int c = 0; c < 8; ++c) {
      uint64_t* end = &ends[at.nodes[c]];
      memcpy(indices + *end, at.nodes, sizeof at.nodes);
      *end += 8;
    }
  }
  uint64_t kept = 0;
  for (uint32_t n = 0; n < tree->node_count; ++n) {
    uint64_t first = starts[n];
    uint64_t count = sort_and_drop_repeats(indices + first, ends[n] - first);
    memmove(indices + kept, indices + first, count * sizeof *indices);
    starts[n] = kept;
    kept += count;
  }
  starts[tree->node_count] = kept;
  *result = (neighbours){starts, indices};
  return SN_OK;
}

// Rows and columns of a body; those of held unknowns have their diagonal only.
static uint64_t lay_out_rows(const sn_model* model, const sn_body* body, const neighbours* near,
                             uint64_t entry, sn_matrix* matrix) {
  uint32_t first = (uint32_t)(body->begin / 3);
  for (uint32_t n = 0; n < body->tree.node_count; ++n) {
    for (uint32_t i = 0; i < 3; ++i) {
      size_t row = body->begin + 3 * (size_t)n + i;
      matrix->row_starts[row] = entry;
      if (sn_is_held(model->held, row)) {
        matrix->columns[entry++] = (uint32_t)row;
        continue;
      }
      for (uint64_t k = near->starts[n]; k < near->starts[n + 1]; ++k) {
        uint32_t node = first + near->indices[k];
        for (uint32_t j = 0; j < 3; ++j) {
          if (!sn_is_held(model->held, 3 * (size_t)node + j)) {
            matrix->columns[entry++] = 3 * node + j;
          }
        }
      }
    }
  }
  return entry;
}

// The entry of a row at a column, or NULL.
static double* find_entry(const sn_matrix* matrix, size_t row, uint32_t column) {
  uint64_t low = matrix->row_starts[row], high = matrix->row_starts[row + 1];
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (matrix->columns[middle] == column) return &matrix->values[middle];
    if (matrix->columns[middle] < column) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

// One column of a cell's matrix: its product with a unit vector.
static void add_column(const sn_body* body, uint32_t cell, const sn_cell_tangent* tangent,
                       int column, sn_matrix* matrix) {
  const sn_octree* tree = &body->tree;
  sn_corners at = sn_octree_corners(tree, cell);
  sn_cell_material material = {sn_octree_edge(tree, cell), sn_body_mu(body, cell),
                               sn_body_lambda(body, cell)};
  double p[8][3] = {{0}}, y[8][3];
  p[column / 3][column % 3] = 1;
  sn_cell_apply(sn_flesh_shape(tree, cell), &material, tangent, SN_HESSIAN_DEFINITE,
                (const double(*)[3])p, y);
  uint32_t number = (uint32_t)body->begin + 3 * at.nodes[column / 3] + (uint32_t)(column % 3);
  for (int c = 0; c < 8; ++c) {
    for (int i = 0; i < 3; ++i) {
      double* entry = find_entry(matrix, body->begin + 3 * (size_t)at.nodes[c] + (size_t)i, number);
      if (entry) *entry += y[c][i];
    }
  }
}

static void add_cells(const sn_body* body, sn_matrix* matrix) {
  static const double REST[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (uint32_t e = 0; e < body->tree.cell_count; ++e) {
    sn_cell_tangent tangent;
    sn_cell_material material = {sn_octree_edge(&body->tree, e), sn_body_mu(body, e),
                                 sn_body_lambda(body, e)};
    sn_cell_linearise(&material, REST, &tangent);
    for (int column = 0; column < 24; ++column) add_column(body, e, &tangent, column, matrix);
  }
}

static sn_status assemble(const sn_model* model, sn_arena* scratch, sn_matrix* matrix,
                          sn_error* err) {
  neighbours* near;
  uint64_t most = 0, entry = 0;
  SN_TRY(SN_ARENA_NEW(scratch, model->body_count, &near, err));
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    SN_CHECK(body->tie_count == 0, err, SN_ERR_USAGE,
             "body \"%s\": has attachments, whose springs are not in the matrix; expected fixed "
             "nodes only",
             body->desc->name);
    SN_CHECK(body->muscles.count == 0, err, SN_ERR_USAGE,
             "body \"%s\": has muscles, whose fibres are not in the matrix; expected flesh only",
             body->desc->name);
    SN_TRY(find_neighbours(&body->tree, scratch, &near[b], err));
    most += 9 * near[b].starts[body->tree.node_count];
  }
  size_t rows = model->unknown_count;
  matrix->row_count = rows;
  SN_TRY(SN_ARENA_NEW(matrix->storage, rows + 1, &matrix->row_starts, err));
  SN_TRY(SN_ARENA_NEW(matrix->storage, most, &matrix->columns, err));
  SN_TRY(SN_ARENA_NEW(matrix->storage, most, &matrix->values, err));
  SN_TRY(SN_ARENA_NEW(matrix->storage, rows, &matrix->places, err));
  for (uint32_t b = 0; b < model->body_count; ++b) {
    const sn_body* body = &model->bodies[b];
    entry = lay_out_rows(model, body, &near[b], entry, matrix);
    matrix->row_starts[rows] = entry;
    for (uint32_t n = 0; n < body->tree.node_count; ++n) {
      sn_store3(matrix->places + body->begin + 3 * (size_t)n, sn_octree_node_place(&body->tree, n));
    }
  }
  for (uint32_t b = 0; b < model->body_count; ++b) add_cells(&model->bodies[b], matrix);
  return SN_OK;
}

sn_status sn_model_assemble(const sn_model* model, sn_matrix* matrix, sn_error* err) {
  sn_arena* scratch;
  *matrix = (sn_matrix){0};
  SN_TRY(sn_arena_create(&scratch, err));
  sn_status status = sn_arena_create(&matrix->storage, err);
  if (status == SN_OK) status = assemble(model, scratch, matrix, err);
  sn_arena_destroy(scratch);
  if (status != SN_OK) sn_matrix_destroy(matrix);
  return status;
}

void sn_matrix_destroy(sn_matrix* matrix) {
  sn_arena_destroy(matrix->storage);
  *matrix = (sn_matrix){0};
}
