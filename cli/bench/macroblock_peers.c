// Other solvers on what macroblocks solve: the inside of one block, and the whole matrix of a small bar. They
// run as a program of their own (peers/).
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"

// A box of cells of 1 m: with all of its surface held it is the inside of a block.
static sn_status describe_box(const double size[3], bool surface, bench_body* body, sn_error* err) {
  sn_status status = bench_describe_cube(1, body, err);
  if (status != SN_OK) return status;
  double far = 1e3;
  for (uint32_t v = 0; v < body->desc.mesh.vertex_count; ++v) {
    for (int i = 0; i < 3; ++i) body->desc.mesh.positions[3 * (size_t)v + (size_t)i] *= size[i];
  }
  body->desc.coarsen = 0;
  body->scene.fixed_count = surface ? 6 : 1;
  for (int k = 0; k < 6; ++k) {
    double lo[3] = {-far, -far, -far}, hi[3] = {far, far, far};
    if (k < 3) {
      hi[k] = 0.5;
    } else {
      lo[k - 3] = size[k - 3] - 0.5;
    }
    sn_box box = {{lo[0], lo[1], lo[2]}, {hi[0], hi[1], hi[2]}};
    body->fixed[k] =
        (sn_fixed_desc){.bone = SN_NO_BONE, .where = {.kind = SN_WHERE_BOX, .box = box}};
  }
  body->scene.solver.linear = SN_LINEAR_MACROBLOCK;
  return SN_OK;
}

// Free rows only, in our order; `numbers` of the rows, UINT32_MAX where held.
static uint32_t number_rows(const sn_matrix* m, uint32_t* numbers) {
  uint32_t count = 0;
  for (uint64_t r = 0; r < m->row_count; ++r) {
    bool held = m->row_starts[r + 1] - m->row_starts[r] == 1;
    numbers[r] = held ? UINT32_MAX : count++;
  }
  return count;
}

static void write_rows(const sn_matrix* m, const uint32_t* numbers, int part, FILE* file) {
  uint64_t start = 0;
  for (uint64_t r = 0; r < m->row_count; ++r) {
    if (numbers[r] == UINT32_MAX) continue;
    if (part == 0) fwrite(&start, sizeof start, 1, file);
    for (uint64_t k = m->row_starts[r]; k < m->row_starts[r + 1]; ++k) {
      uint32_t column = numbers[m->columns[k]];
      if (column == UINT32_MAX) continue;
      ++start;
      if (part == 1) fwrite(&column, sizeof column, 1, file);
      if (part == 2) fwrite(&m->values[k], sizeof m->values[k], 1, file);
    }
  }
  if (part == 0) fwrite(&start, sizeof start, 1, file);
}

// As peers/system.c tells; the right side is 1 along y.
static sn_status save_system(const sn_matrix* m, const char* path, sn_error* err) {
  uint32_t* numbers = malloc(m->row_count * sizeof *numbers);
  if (!numbers) return bench_fail(err, SN_ERR_MEMORY, "out of memory");
  uint32_t rows = number_rows(m, numbers);
  uint64_t entries = 0;
  for (uint64_t r = 0; r < m->row_count; ++r) {
    for (uint64_t k = m->row_starts[r]; k < m->row_starts[r + 1]; ++k) {
      entries += numbers[r] != UINT32_MAX && numbers[m->columns[k]] != UINT32_MAX;
    }
  }
  uint64_t sizes[3] = {rows, entries, 0};
  FILE* file = fopen(path, "wb");
  bool whole = file != NULL;
  if (file) {
    fwrite("SNSYS1\0", 8, 1, file);
    fwrite(sizes, sizeof sizes, 1, file);
    for (uint64_t r = 0; r < m->row_count; ++r) {
      double load = r % 3 == 1 ? -1 : 0;
      if (numbers[r] != UINT32_MAX) fwrite(&load, sizeof load, 1, file);
    }
    for (int part = 0; part < 3; ++part) write_rows(m, numbers, part, file);
    whole = !ferror(file);
    if (fclose(file) != 0) whole = false;
  }
  free(numbers);
  if (whole) return SN_OK;
  return bench_fail(err, SN_ERR_IO, "%.900s: cannot be written: %s", path, strerror(errno));
}

typedef struct peer_times {
  double setup, solve, iterations, bytes;
} peer_times;

static sn_status run_peer(bench_run* run, const char* program, const char* folder, const char* peer,
                          peer_times* t, sn_error* err) {
  char system[BENCH_PATH + 16], solution[BENCH_PATH + 16];
  child_result result;
  child_limits limits = {.seconds = 120, .bytes = 0.75 * bench_available_bytes()};
  snprintf(system, sizeof system, "%s/system", folder);
  snprintf(solution, sizeof solution, "%s/solution", folder);
  bench_note(run, "%s", peer);
  const char* const words[] = {program, peer, system, solution, NULL};
  sn_status status = child_run(words, limits, &result, err);
  if (status != SN_OK) return status;
  bool read =
      result.code == 0 && sscanf(result.text, "setup %lf solve %lf iterations %lf bytes %lf",
                                 &t->setup, &t->solve, &t->iterations, &t->bytes) == 4;
  if (!read) {
    *t = (peer_times){0};
    bench_note(run, "%s: missing or did not finish", peer);
    bench_figure(run, peer, "missing", 1, "1");
  }
  return bench_check_stop(err);
}

static sn_status write_box(const double size[3], bool surface, const char* folder, sn_error* err) {
  bench_body body = {0};
  sn_matrix matrix = {0};
  char path[BENCH_PATH + 16];
  snprintf(path, sizeof path, "%s/system", folder);
  sn_status status = describe_box(size, surface, &body, err);
  if (status == SN_OK) status = bench_build(&body, 1, err);
  if (status == SN_OK) status = sn_model_assemble(body.model, &matrix, err);
  if (status == SN_OK) status = save_system(&matrix, path, err);
  sn_matrix_destroy(&matrix);
  bench_body_destroy(&body);
  return status;
}

static sn_status compare_block(bench_run* run, const bench_blocks* ours, const char* program,
                               const char* folder, sn_error* err) {
  static const double BLOCK[3] = {16, 8, 8};
  peer_times t = {0};
  sn_status status = write_box(BLOCK, true, folder, err);
  if (status == SN_OK) status = run_peer(run, program, folder, "cholmod-numeric", &t, err);
  if (status != SN_OK || t.solve == 0) return status;
  bench_figure(run, "block", "factor_seconds", ours->factor, "s");
  bench_figure(run, "block", "solve_seconds", ours->solve, "s");
  bench_figure(run, "block_cholmod", "factor_seconds", t.setup, "s");
  bench_figure(run, "block_cholmod", "solve_seconds", t.solve, "s");
  bench_figure(run, "block", "factor_ratio_cholmod", t.setup / ours->factor, "1");
  bench_figure(run, "block", "solve_ratio_cholmod", t.solve / ours->solve, "1");
  return SN_OK;
}

// Our solution of the free rows, in the order of the system's file. @param[out] rows to be freed
static sn_status free_rows(const sn_model* model, const double* x, double** rows, sn_error* err) {
  sn_matrix matrix = {0};
  sn_status status = sn_model_assemble(model, &matrix, err);
  if (status != SN_OK) return status;
  double* found = calloc(matrix.row_count + 1, sizeof *found);
  for (uint64_t r = 0, to = 0; found && r < matrix.row_count; ++r) {
    if (matrix.row_starts[r + 1] - matrix.row_starts[r] > 1) found[to++] = x[r];
  }
  sn_matrix_destroy(&matrix);
  *rows = found;
  return found ? SN_OK : bench_fail(err, SN_ERR_MEMORY, "out of memory");
}

static sn_status solve_box(bench_run* run, const bench_body* body, double** rows, sn_error* err) {
  sn_study_result result;
  size_t count = 3 * (size_t)sn_model_body(body->model, 0).node_count;
  double* load = calloc(2 * count, sizeof *load);
  if (!load) return bench_fail(err, SN_ERR_MEMORY, "out of memory");
  for (size_t i = 1; i < count; i += 3) load[i] = -1;
  sn_study_opts opts = {.linear = SN_LINEAR_MACROBLOCK,
                        .interface = SN_MACROBLOCK_MULTIGRID,
                        .max = 1000,
                        .tolerance = 1e-8,
                        .load = load,
                        .solution = load + count};
  sn_status status = sn_state_study(body->model, body->state, &opts, &result, err);
  if (status == SN_OK) {
    bench_figure(run, "whole_macroblock", "setup_seconds", result.setup_seconds, "s");
    bench_figure(run, "whole_macroblock", "solve_seconds", result.seconds, "s");
    bench_figure(run, "whole_macroblock", "iterations", result.iterations, "1");
    status = free_rows(body->model, opts.solution, rows, err);
  }
  free(load);
  return status;
}

static sn_status solve_ours(bench_run* run, const double size[3], double** rows, sn_error* err) {
  bench_body body = {0};
  sn_status status = describe_box(size, false, &body, err);
  if (status == SN_OK) status = bench_build(&body, 1, err);
  if (status == SN_OK) status = solve_box(run, &body, rows, err);
  bench_body_destroy(&body);
  return status;
}

// |theirs - ours| / |ours|
static void compare_solution(bench_run* run, const char* name, const char* folder,
                             const double* ours) {
  char path[BENCH_PATH + 16];
  double theirs, off = 0, norm = 0;
  snprintf(path, sizeof path, "%s/solution", folder);
  FILE* file = fopen(path, "rb");
  for (size_t r = 0; file && ours && fread(&theirs, sizeof theirs, 1, file) == 1; ++r) {
    off += (theirs - ours[r]) * (theirs - ours[r]);
    norm += ours[r] * ours[r];
  }
  if (file) fclose(file);
  if (norm > 0) bench_figure(run, name, "difference", sqrt(off / norm), "1");
}

// They solve to 1e-6, CHOLMOD exactly; ours to 1e-8.
static sn_status compare_whole(bench_run* run, const char* program, const char* folder,
                               sn_error* err) {
  static const char* const PEERS[] = {"cholmod", "petsc-icc", "petsc-block-jacobi", "jacobi-cg"};
  double cells = run->o->quick ? 8 : 16, size[3] = {4 * cells, cells, cells}, *ours = NULL;
  sn_status status = solve_ours(run, size, &ours, err);
  if (status == SN_OK) status = write_box(size, false, folder, err);
  for (int i = 0; i < 4 && status == SN_OK; ++i) {
    peer_times t;
    char name[BENCH_NAME];
    status = run_peer(run, program, folder, PEERS[i], &t, err);
    if (status != SN_OK || t.bytes == 0) continue;
    snprintf(name, sizeof name, "whole_%s", PEERS[i]);
    bench_figure(run, name, "setup_seconds", t.setup, "s");
    bench_figure(run, name, "solve_seconds", t.solve, "s");
    bench_figure(run, name, "iterations", t.iterations, "1");
    compare_solution(run, name, folder, ours);
  }
  free(ours);
  return status;
}

sn_status bench_block_peers(bench_run* run, const bench_blocks* ours, sn_error* err) {
  static const char* const FILES[] = {"system", "solution", NULL};
  char program[BENCH_PATH], folder[BENCH_PATH];
  if (!child_find("sinew-peers", program)) {
    bench_note(run, "missing: sinew-peers beside this program; only our own is measured");
    return SN_OK;
  }
  sn_status status = child_make_folder(folder, err);
  if (status != SN_OK) return status;
  status = compare_block(run, ours, program, folder, err);
  if (status == SN_OK) status = compare_whole(run, program, folder, err);
  child_remove_folder(folder, FILES);
  return status;
}
