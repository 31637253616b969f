// What the benchmarks share: options, figures, bodies to measure on, the machine's own limits.
// A benchmark is one function `bench_NAME` that measures and hands in figures; the table of them is
// in table.c.
#ifndef SN_CLI_BENCH_BENCH_H
#define SN_CLI_BENCH_BENCH_H

#include <sinew/sn.h>

#define BENCH_PATH 4096
#define BENCH_NAME 48

#define BENCH_MOST_ELEMENTS 4000000  // unless --max-elements says another number

typedef struct bench_options {
  const char* surface;  // NULL: the built-in animal
  const char* scene;    // of `character`; NULL: the demo's
  const char* only;     // case of `macroblock`; NULL: all
  const char* out;      // folder for table and plots; NULL: none
  int threads;          // 0: one a processor
  int max_elements;     // larger cases are left out
  bool quick, json, help;
} bench_options;

// One measured number.
typedef struct figure {
  const char* bench;  // a literal
  char name[BENCH_NAME];
  char figure[BENCH_NAME];
  double value;
  const char* unit;  // a literal
} figure;

typedef struct bench_run {
  const bench_options* o;
  const char* bench;  // under way
  figure* figures;    // handed in so far
  size_t figure_count, figure_room;
} bench_run;

typedef struct bench {
  const char* name;
  const char* about;  // one line
  const char* more;   // what is measured and which figures say so
  sn_status (*run)(bench_run* run, sn_error* err);
} bench;

// ---- The table (table.c)

// Ends with a NULL name.
extern const bench BENCHES[];

sn_status bench_machine(bench_run* run, sn_error* err);
sn_status bench_apply(bench_run* run, sn_error* err);
sn_status bench_polar(bench_run* run, sn_error* err);
sn_status bench_mgpcg(bench_run* run, sn_error* err);
sn_status bench_setup(bench_run* run, sn_error* err);
sn_status bench_convergence(bench_run* run, sn_error* err);
sn_status bench_growth(bench_run* run, sn_error* err);
sn_status bench_incompressible(bench_run* run, sn_error* err);
sn_status bench_tissue(bench_run* run, sn_error* err);
sn_status bench_spike(bench_run* run, sn_error* err);
sn_status bench_threads(bench_run* run, sn_error* err);
sn_status bench_character(bench_run* run, sn_error* err);
sn_status bench_contact(bench_run* run, sn_error* err);
sn_status bench_render(bench_run* run, sn_error* err);
sn_status bench_macroblock(bench_run* run, sn_error* err);
sn_status bench_peers(bench_run* run, sn_error* err);

// ---- Others on the matrices of macroblocks (macroblock_peers.c)

// Ours, s, of one block.
typedef struct bench_blocks {
  double factor, solve;
} bench_blocks;
// CHOLMOD on the inside of one block, numeric phase only; and others on the whole matrix of a body.
sn_status bench_block_peers(bench_run* run, const bench_blocks* ours, sn_error* err);

// ---- The demo's character (character.c)

#define BENCH_DEMO_CELLS 97641.0  // of the scene as it is made
// Young 12 kPa, Poisson 0.45
#define BENCH_COROTATED_FLESH ((sn_material){.mu = 4138, .lambda = 37241})

typedef sn_status (*bench_scene_fn)(bench_run* run, const char* path, sn_error* err);
// Measure the scene asked for, or the demo's; where the program that makes it is missing, say so.
sn_status bench_on_character(bench_run* run, bench_scene_fn measure_scene, sn_error* err);
// Change the cell of a scene's first body so that it has about so many.
sn_status bench_fit_cell(bench_run* run, sn_scene* scene, double elements, sn_error* err);

// ---- Figures (figures.c)

// Hand in a number: printed at once, kept for the table.
void bench_figure(bench_run* run, const char* name, const char* what, double value,
                  const char* unit);
// A line to stderr: what is under way, or why something is left out.
SN_PRINTF(2, 3) void bench_note(const bench_run* run, const char* format, ...);
// figures.jsonl and table.md in the folder `out`.
sn_status bench_save_figures(const bench_run* run, sn_error* err);
void bench_destroy_figures(bench_run* run);
SN_PRINTF(3, 4)
sn_status bench_fail(sn_error* err, sn_status status, const char* format, ...);

// ---- Stopping (stop.c)

// From now on Ctrl-C and SIGTERM only ask to stop; a second one ends the program at once.
void bench_listen_for_stop(void);
// SN_ERR_INTERRUPTED once a stop has been asked for. Call between measurements.
sn_status bench_check_stop(sn_error* err);

// ---- Time and memory (resources.c)

double bench_now(void);  // s
// What can still be allocated without swapping, by the machine and by the process's group.
double bench_available_bytes(void);

// ---- The machine's limits (machine.c)

// Bytes a second that all threads together move in a[i] = b[i] + s c[i], the three arrays of all
// threads taking `bytes` in all: in cache or out of it, as the measurement to compare with.
double machine_triad(int threads, double bytes);
// Floating-point operations a second of fused multiply-adds in double precision.
double machine_fma(int threads);
int machine_cores(void);

// ---- Bodies to measure on (bodies.c)

// A body ready to be solved, all of it owned.
typedef struct bench_body {
  sn_fixed_desc fixed[8];
  sn_bone_desc bone;
  sn_attachment_desc tie;
  sn_body_desc desc;
  sn_scene scene;
  sn_pool* pool;
  sn_model* model;
  sn_state* state;
  int threads;
  double elements;
  double build_seconds, create_seconds;  // of model and state
  double held_bytes;                     // by model and state
  size_t bytes_before;                   // that the library held already
} bench_body;

// A stout animal with limbs, tail and ears, about 1 m tall. @param cell about the edge of its triangles
sn_status bench_make_animal(double cell, sn_mesh* mesh, sn_error* err);
// The animal, or the surface of the options.
sn_status bench_load_surface(const bench_run* run, sn_mesh* mesh, sn_error* err);
// Extent of a mesh along an axis, m.
double bench_side(const sn_mesh* mesh, int axis);
double bench_longest_side(const sn_mesh* mesh);
double bench_area(const sn_mesh* mesh);

// A scene around a surface, which the body then owns: nothing held, no gravity, multigrid.
void bench_describe(bench_body* body, sn_mesh* mesh, double cell, int coarsen);
// The cube of section 10.4 of Milne et al. 2016: n cells of 1 m a side, the eight corner cells held.
sn_status bench_describe_cube(int n, bench_body* body, sn_error* err);
// Pool, model and state of what was described.
sn_status bench_build(bench_body* body, int threads, sn_error* err);
// Most bytes that it held at once since it was built, building included.
double bench_body_peak(const bench_body* body);
// The fastest of some solutions, as with every other kernel.
sn_status bench_solve_fastest(const bench_body* body, const sn_study_opts* opts,
                              sn_study_result* result, sn_error* err);
// Frees everything; also after a failure.
void bench_body_destroy(bench_body* body);
// The cube of n cells a side, built.
sn_status bench_open_cube(const bench_run* run, int n, int threads, bench_body* body,
                          sn_error* err);
// Solve frames `first` to `last` and give the mean time of one, s.
sn_status bench_time_frames(const bench_run* run, const sn_model* model, sn_state* state,
                            const int frames[2], double* seconds, sn_error* err);

// Cells a side of the cubes that kernels are measured on, ending with 0: one that fits into the
// caches and one that does not.
const int* bench_cube_sizes(const bench_run* run);

// ---- Plots (plot.c)

#define PLOT_SERIES 12

typedef struct plot_series {
  char name[BENCH_NAME];
  double* points;  // (2 x count): x, y
  size_t count, room;
} plot_series;

// Both axes are logarithmic where asked for; points that then have no logarithm are left out.
typedef struct plot {
  const char *title, *x_label, *y_label;
  bool x_log, y_log;
  plot_series series[PLOT_SERIES];
  int series_count;
} plot;

// A new series, or the last one when there is no room.
plot_series* plot_add_series(plot* p, const char* name);
void plot_add_point(plot_series* series, double x, double y);
// NAME.svg and NAME.png in the folder `out`; nothing without one or without points. Empties `p`.
sn_status plot_save(const bench_run* run, plot* p, const char* name, sn_error* err);
void plot_destroy(plot* p);

#endif
