// The same linear system, solved to 1e-6 by us and by others, on one core each: a uniform cube of
// n^3 cells, one face clamped, Poisson's ratio 0.3, a load down on every node. The others get our own
// matrix in a file (its form is told in peers/system.c) and run as a program of their own, so that
// none of them is linked into this one and the memory of each is measured apart.
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"

#define TOLERANCE 1e-6
#define SHARE_OF_MEMORY 0.75  // of what is available, for a peer
#define NOT_BUILT 3           // exit code of a peer whose package was missing

static const char* const PEERS[] = {"petsc-mg",  "petsc-gamg", "hypre-boomeramg",
                                    "jacobi-cg", "cholmod",    NULL};

// Ours, and what all share.
typedef struct peer_problem {
  int n;             // cells a side
  sn_matrix matrix;  // in our order of nodes
  uint32_t* order;   // our node at each place of the grid, x first (nodes)
  double* b;         // right side, in our order (rows)
  double* x;         // our solution, in our order (rows)
  double seconds, bytes;
} peer_problem;

typedef struct peer_times {
  double setup, solve, iterations, bytes;  // s, s, 1, B
} peer_times;

static double* new_vector(size_t count, sn_error* err) {
  double* vector = calloc(count, sizeof *vector);
  if (!vector) bench_fail(err, SN_ERR_MEMORY, "out of memory");
  return vector;
}

// ---- Ours

static sn_status describe(int n, bench_body* body, sn_error* err) {
  sn_status status = bench_describe_cube(n, body, err);
  if (status != SN_OK) return status;
  body->desc.coarsen = 0;
  sn_box face = {{-0.5, -0.5, -0.5}, {0.5, n + 0.5, n + 0.5}};
  body->fixed[0] =
      (sn_fixed_desc){.bone = SN_NO_BONE, .where = {.kind = SN_WHERE_BOX, .box = face}};
  body->scene.fixed_count = 1;
  return SN_OK;
}

static void hand_in(bench_run* run, const char* name, const peer_times* t) {
  bench_figure(run, name, "setup_seconds", t->setup, "s");
  bench_figure(run, name, "solve_seconds", t->solve, "s");
  bench_figure(run, name, "iterations", t->iterations, "1");
  bench_figure(run, name, "bytes", t->bytes, "B");
}

// Solved before the matrix is made, so that this is not in the memory that it took.
static sn_status solve_ours(bench_run* run, bench_body* body, peer_problem* p, sn_error* err) {
  size_t rows = 3 * (size_t)(p->n + 1) * (size_t)(p->n + 1) * (size_t)(p->n + 1);
  p->b = new_vector(rows, err);
  p->x = new_vector(rows, err);
  if (!p->b || !p->x) return SN_ERR_MEMORY;
  for (size_t i = 1; i < rows; i += 3) p->b[i] = -1;
  sn_study_result result;
  sn_study_opts opts = {.linear = SN_LINEAR_MULTIGRID,
                        .max = 500,
                        .tolerance = TOLERANCE,
                        .load = p->b,
                        .solution = p->x};
  sn_status status = sn_state_study(body->model, body->state, &opts, &result, err);
  if (status != SN_OK) return status;
  peer_times t = {.setup = body->build_seconds + body->create_seconds + result.setup_seconds,
                  .solve = result.seconds,
                  .iterations = result.iterations,
                  .bytes = bench_body_peak(body)};
  p->seconds = t.setup + t.solve;
  p->bytes = t.bytes;
  char name[BENCH_NAME];
  snprintf(name, sizeof name, "cube%d_sinew", p->n);
  hand_in(run, name, &t);
  return SN_OK;
}

// ---- The matrix, in the order of the grid

static sn_status find_order(peer_problem* p, sn_error* err) {
  size_t side = (size_t)p->n + 1, nodes = side * side * side;
  if (p->matrix.row_count != 3 * nodes) {
    return bench_fail(err, SN_ERR_INPUT, "peers: the cube has other nodes than its grid");
  }
  p->order = calloc(nodes, sizeof *p->order);
  if (!p->order) return bench_fail(err, SN_ERR_MEMORY, "out of memory");
  for (size_t v = 0; v < nodes; ++v) {
    const double* at = p->matrix.places + 3 * v;
    size_t x = (size_t)lround(at[0]), y = (size_t)lround(at[1]), z = (size_t)lround(at[2]);
    p->order[(z * side + y) * side + x] = (uint32_t)v;
  }
  return SN_OK;
}

static size_t our_row(const peer_problem* p, size_t row) {
  return 3 * (size_t)p->order[row / 3] + row % 3;
}

typedef struct entry {
  uint32_t column;
  double value;
} entry;

static int compare_entries(const void* a, const void* b) {
  uint32_t x = ((const entry*)a)->column, y = ((const entry*)b)->column;
  return (x > y) - (x < y);
}

// Columns or values of one row, sorted by the columns of the grid's order.
static void write_row(const peer_problem* p, const uint32_t* places, size_t row, bool columns,
                      FILE* file) {
  entry entries[512];
  const sn_matrix* m = &p->matrix;
  size_t ours = our_row(p, row), count = 0;
  for (uint64_t k = m->row_starts[ours]; k < m->row_starts[ours + 1] && count < 512; ++k) {
    uint32_t column = m->columns[k];
    entries[count++] = (entry){3 * places[column / 3] + column % 3, m->values[k]};
  }
  qsort(entries, count, sizeof *entries, compare_entries);
  for (size_t k = 0; k < count; ++k) {
    if (columns) {
      fwrite(&entries[k].column, sizeof entries[k].column, 1, file);
    } else {
      fwrite(&entries[k].value, sizeof entries[k].value, 1, file);
    }
  }
}

static void write_system(const peer_problem* p, const uint32_t* places, FILE* file) {
  const sn_matrix* m = &p->matrix;
  size_t rows = m->row_count;
  uint64_t sizes[3] = {rows, m->row_starts[rows], (uint64_t)p->n + 1}, start = 0;
  fwrite("SNSYS1\0", 8, 1, file);
  fwrite(sizes, sizeof sizes, 1, file);
  for (size_t r = 0; r < rows; ++r) fwrite(&p->b[our_row(p, r)], sizeof(double), 1, file);
  for (size_t r = 0; r < rows; ++r) {
    size_t ours = our_row(p, r);
    fwrite(&start, sizeof start, 1, file);
    start += m->row_starts[ours + 1] - m->row_starts[ours];
  }
  fwrite(&start, sizeof start, 1, file);
  for (size_t r = 0; r < rows; ++r) write_row(p, places, r, true, file);
  for (size_t r = 0; r < rows; ++r) write_row(p, places, r, false, file);
}

static sn_status save_system(const peer_problem* p, const char* path, sn_error* err) {
  size_t nodes = p->matrix.row_count / 3;
  uint32_t* places = malloc(nodes * sizeof *places);  // place in the grid of each of our nodes
  if (!places) return bench_fail(err, SN_ERR_MEMORY, "out of memory");
  for (size_t v = 0; v < nodes; ++v) places[p->order[v]] = (uint32_t)v;
  FILE* file = fopen(path, "wb");
  bool whole = false;
  if (file) {
    write_system(p, places, file);
    whole = !ferror(file);
    if (fclose(file) != 0) whole = false;
  }
  free(places);
  if (whole) return SN_OK;
  return bench_fail(err, SN_ERR_IO, "%.900s: cannot be written: %s", path, strerror(errno));
}

// Held rows have one entry; nothing loads them.
static void clear_held(peer_problem* p) {
  const uint64_t* starts = p->matrix.row_starts;
  for (size_t r = 0; r < p->matrix.row_count; ++r) {
    if (starts[r + 1] - starts[r] == 1) p->b[r] = 0;
  }
}

// |b - A x| / |b|
static double residual_of(const peer_problem* p, const double* x) {
  const sn_matrix* m = &p->matrix;
  double sum = 0, norm = 0;
  for (size_t r = 0; r < m->row_count; ++r) {
    double left = p->b[r];
    for (uint64_t k = m->row_starts[r]; k < m->row_starts[r + 1]; ++k) {
      left -= m->values[k] * x[m->columns[k]];
    }
    sum += left * left;
    norm += p->b[r] * p->b[r];
  }
  return sqrt(sum / norm);
}

// |x - ours| / |ours|
static double difference_of(const peer_problem* p, const double* x) {
  double sum = 0, norm = 0;
  for (size_t r = 0; r < p->matrix.row_count; ++r) {
    double d = x[r] - p->x[r];
    sum += d * d;
    norm += p->x[r] * p->x[r];
  }
  return sqrt(sum / norm);
}

// ---- Theirs

static bool read_times(const char* text, peer_times* t) {
  return sscanf(text, "setup %lf solve %lf iterations %lf bytes %lf", &t->setup, &t->solve,
                &t->iterations, &t->bytes) == 4;
}

// Into our order.
static bool read_solution(const peer_problem* p, const char* path, double* x) {
  FILE* file = fopen(path, "rb");
  bool whole = file != NULL;
  for (size_t r = 0; whole && r < p->matrix.row_count; ++r) {
    whole = fread(&x[our_row(p, r)], sizeof *x, 1, file) == 1;
  }
  if (file) fclose(file);
  return whole;
}

static void explain_failure(bench_run* run, const char* name, const child_result* result,
                            const child_limits* limits) {
  if (result->code == NOT_BUILT) {
    char package[64] = "its package";
    sscanf(result->text, "package %63s", package);
    bench_note(run, "%s: missing: %s was not there when sinew-peers was built", name, package);
    bench_figure(run, name, "missing", 1, "1");
    return;
  }
  if (result->signal_number == SIGALRM) {
    bench_note(run, "%s: did not finish within %.0f s", name, limits->seconds);
  } else {
    bench_note(run, "%s: did not finish: it failed with %.1f GB at most to use", name,
               1e-9 * limits->bytes);
  }
  bench_figure(run, name, "did_not_finish", 1, "1");
}

static sn_status check_solution(bench_run* run, const peer_problem* p, const char* name,
                                const char* path, sn_error* err) {
  double* x = new_vector(p->matrix.row_count, err);
  if (!x) return SN_ERR_MEMORY;
  if (read_solution(p, path, x)) {
    bench_figure(run, name, "residual", residual_of(p, x), "1");
    bench_figure(run, name, "difference", difference_of(p, x), "1");
  } else {
    bench_note(run, "%s: left no solution", name);
  }
  free(x);
  return SN_OK;
}

static sn_status run_peer(bench_run* run, const peer_problem* p, const char* program,
                          const char* folder, const char* peer, sn_error* err) {
  char name[BENCH_NAME], system[BENCH_PATH + 16], solution[BENCH_PATH + 16];
  child_result result;
  peer_times t;
  child_limits limits = {.seconds = run->o->quick ? 30 : 240,
                         .bytes = SHARE_OF_MEMORY * bench_available_bytes()};
  snprintf(name, sizeof name, "cube%d_%s", p->n, peer);
  snprintf(system, sizeof system, "%s/system", folder);
  snprintf(solution, sizeof solution, "%s/solution", folder);
  bench_note(run, "%s", name);
  const char* const words[] = {program, peer, system, solution, NULL};
  sn_status status = child_run(words, limits, &result, err);
  if (status == SN_OK) status = bench_check_stop(err);
  if (status != SN_OK) return status;
  if (result.code != 0 || !read_times(result.text, &t)) {
    explain_failure(run, name, &result, &limits);
    return SN_OK;
  }
  hand_in(run, name, &t);
  bench_figure(run, name, "ratio_time", (t.setup + t.solve) / p->seconds, "1");
  bench_figure(run, name, "ratio_memory", t.bytes / p->bytes, "1");
  return check_solution(run, p, name, solution, err);
}

// ---- All

static sn_status prepare(bench_run* run, peer_problem* p, sn_error* err) {
  bench_body body = {0};
  char name[BENCH_NAME];
  bench_note(run, "our own, %d cells a side", p->n);
  sn_status status = describe(p->n, &body, err);
  if (status == SN_OK) status = bench_build(&body, 1, err);
  if (status == SN_OK) status = solve_ours(run, &body, p, err);
  if (status == SN_OK) status = bench_check_stop(err);
  if (status == SN_OK) bench_note(run, "assembling the matrix");
  if (status == SN_OK) status = sn_model_assemble(body.model, &p->matrix, err);
  bench_body_destroy(&body);
  if (status == SN_OK) status = find_order(p, err);
  if (status != SN_OK) return status;
  clear_held(p);
  snprintf(name, sizeof name, "cube%d_sinew", p->n);
  bench_figure(run, name, "residual", residual_of(p, p->x), "1");
  double rows = (double)p->matrix.row_count;
  double entries = (double)p->matrix.row_starts[p->matrix.row_count];
  snprintf(name, sizeof name, "cube%d", p->n);
  bench_figure(run, name, "unknowns", rows, "1");
  bench_figure(run, name, "matrix_bytes", 12 * entries + 8 * rows, "B");
  return SN_OK;
}

static void destroy(peer_problem* p) {
  sn_matrix_destroy(&p->matrix);
  free(p->order);
  free(p->b);
  free(p->x);
}

static sn_status compare(bench_run* run, int n, const char* program, const char* folder,
                         sn_error* err) {
  char system[BENCH_PATH + 16];
  peer_problem p = {.n = n};
  sn_status status = prepare(run, &p, err);
  snprintf(system, sizeof system, "%s/system", folder);
  if (status == SN_OK && program) status = save_system(&p, system, err);
  for (const char* const* peer = PEERS; program && *peer && status == SN_OK; ++peer) {
    status = run_peer(run, &p, program, folder, *peer, err);
  }
  destroy(&p);
  return status;
}

sn_status bench_peers(bench_run* run, sn_error* err) {
  static const int QUICK[] = {8, 0}, FULL[] = {32, 64, 0};
  static const char* const FILES[] = {"system", "solution", NULL};
  char program[BENCH_PATH], folder[BENCH_PATH];
  bool found = child_find("sinew-peers", program);
  if (!found) bench_note(run, "missing: sinew-peers beside this program; only our own is measured");
  sn_status status = child_make_folder(folder, err);
  if (status != SN_OK) return status;
  for (const int* n = run->o->quick ? QUICK : FULL; *n && status == SN_OK; ++n) {
    status = compare(run, *n, found ? program : NULL, folder, err);
  }
  child_remove_folder(folder, FILES);
  return status;
}
