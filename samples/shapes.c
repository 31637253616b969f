// shapes OUTDIR: makes the surfaces that the scenes in scenes/ refer to, an OBJ file each.
//
// Round ones are blended from round cones, the bar is a box of small squares, tube and bow-tie are rings of
// vertices along x. Metres, y up.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "sinew/mesh.h"
#include "sinew/shape.h"

#define MAX_PATH 4096
#define PI 3.14159265358979323846
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// Round shapes

static const sn_round_cone ball[] = {{{0, 0, 0}, {0, 0, 0}, 0.1, 0.1}};

// Thick at one end, lying along x.
static const sn_round_cone pear[] = {{{-0.04, 0, 0}, {-0.04, 0, 0}, 0.09, 0.09},
                                     {{0.04, 0.01, 0}, {0.09, 0.03, 0}, 0.06, 0.05}};

// A loaf: flat below and above, 0.1 high.
static const sn_round_cone loaf[] = {{{-0.06, 0, -0.045}, {0.06, 0, -0.045}, 0.05, 0.05},
                                     {{-0.06, 0, 0}, {0.06, 0, 0}, 0.05, 0.05},
                                     {{-0.06, 0, 0.045}, {0.06, 0, 0.045}, 0.05, 0.05}};

// A trunk along y that swells towards +z.
static const sn_round_cone belly[] = {{{0, -0.14, 0}, {0, 0.14, 0}, 0.10, 0.11},
                                      {{0, -0.04, 0.05}, {0, 0.02, 0.05}, 0.11, 0.10}};

// Along x, the joint at x = 0.3.
static const sn_round_cone arm[] = {{{0.05, 0, 0}, {0.3, 0, 0}, 0.055, 0.045},
                                    {{0.3, 0, 0}, {0.55, 0, 0}, 0.045, 0.035}};

// A leaner arm, for the muscles that follow: spindles above and below its bones.
static const sn_round_cone lean_arm[] = {{{0.04, 0, 0}, {0.3, 0, 0}, 0.046, 0.042},
                                         {{0.3, 0, 0}, {0.55, 0, 0}, 0.042, 0.034}};
static const sn_round_cone biceps[] = {{{0.03, 0.016, 0}, {0.07, 0.016, 0}, 0.010, 0.014},
                                       {{0.07, 0.016, 0}, {0.12, 0.013, 0}, 0.014, 0.028},
                                       {{0.12, 0.013, 0}, {0.20, 0.012, 0}, 0.028, 0.027},
                                       {{0.20, 0.012, 0}, {0.25, 0.014, 0}, 0.027, 0.014},
                                       {{0.25, 0.014, 0}, {0.35, 0.002, 0}, 0.014, 0.010}};
static const sn_round_cone triceps[] = {{{0.035, -0.030, 0}, {0.11, -0.033, 0}, 0.006, 0.009},
                                        {{0.11, -0.033, 0}, {0.18, -0.032, 0}, 0.009, 0.009},
                                        {{0.18, -0.032, 0}, {0.35, -0.027, 0}, 0.009, 0.006}};

// Down along -y, the joint at the origin: a thigh with a calf behind, -x.
static const sn_round_cone leg[] = {{{0, 0.32, 0}, {0, 0, 0}, 0.075, 0.052},
                                    {{0, 0, 0}, {0, -0.3, 0}, 0.050, 0.036},
                                    {{-0.015, -0.08, 0}, {-0.010, -0.14, 0}, 0.048, 0.044}};

// A trunk along y, and an arm that hangs from the shoulder (0.15, 0.2, 0) a little away from it.
static const sn_round_cone shoulder[] = {{{0, -0.15, 0}, {0, 0.17, 0}, 0.11, 0.12},
                                         {{0.08, 0.2, 0}, {0.15, 0.2, 0}, 0.07, 0.06},
                                         {{0.15, 0.2, 0}, {0.22, -0.12, 0}, 0.055, 0.042}};

// A thin nose at +x, to pull at, and a thick body behind.
static const sn_round_cone carrot[] = {{{-0.30, 0, 0}, {-0.05, 0, 0}, 0.045, 0.045},
                                       {{-0.05, 0, 0}, {0.06, 0, 0}, 0.045, 0.022},
                                       {{0.06, 0, 0}, {0.14, 0, 0}, 0.022, 0.022}};

#define SPIKE_COUNT 24

// Spikes stand evenly over the ball: heights in equal steps, each turned by the golden angle.
static sn_status make_spikes(sn_mesh* mesh, sn_error* err) {
  sn_round_cone parts[1 + SPIKE_COUNT] = {{{0, 0, 0}, {0, 0, 0}, 0.1, 0.1}};
  for (int k = 0; k < SPIKE_COUNT; ++k) {
    double y = 1 - (2.0 * k + 1) / SPIKE_COUNT, ring = sqrt(1 - y * y);
    double turn = k * PI * (3 - sqrt(5)), x = ring * cos(turn), z = ring * sin(turn);
    parts[1 + k] =
        (sn_round_cone){{0.09 * x, 0.09 * y, 0.09 * z}, {0.2 * x, 0.2 * y, 0.2 * z}, 0.018, 0.010};
  }
  return sn_mesh_from_round_cones(parts, COUNT(parts), 0.012, 0.009, mesh, err);
}

// Bar

typedef struct bar_grid {
  int squares[3];  // along each axis
  double square;   // edge, m
} bar_grid;

// Number of a place of the grid if there were vertices inside, too.
static int place_number(const bar_grid* grid, const int at[3]) {
  return (at[2] * (grid->squares[1] + 1) + at[1]) * (grid->squares[0] + 1) + at[0];
}

static int vertex_at(const bar_grid* grid, const int at[3], int* numbers, double* positions,
                     uint32_t* vertex_count) {
  int* number = &numbers[place_number(grid, at)];
  if (*number == 0) {
    double* position = positions + 3 * (size_t)*vertex_count;
    for (int i = 0; i < 3; ++i) position[i] = grid->square * (at[i] - 0.5 * grid->squares[i]);
    *number = (int)++*vertex_count;
  }
  return *number - 1;
}

// Two triangles for each square of both faces across `axis`.
static void add_faces(const bar_grid* grid, int axis, int* numbers, sn_mesh* mesh) {
  static const int ROUND[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  int a = (axis + 1) % 3, b = (axis + 2) % 3;
  for (int s = 0; s < 2 * grid->squares[a] * grid->squares[b]; ++s) {
    int side = s % 2, corners[4];
    for (int c = 0; c < 4; ++c) {
      int turn = side ? c : 3 - c, at[3];
      at[axis] = side * grid->squares[axis];
      at[a] = s / 2 % grid->squares[a] + ROUND[turn][0];
      at[b] = s / 2 / grid->squares[a] + ROUND[turn][1];
      corners[c] = vertex_at(grid, at, numbers, mesh->positions, &mesh->vertex_count);
    }
    for (int t = 0; t < 2; ++t) {
      uint32_t* triangle = mesh->triangles + 3 * (size_t)mesh->triangle_count++;
      triangle[0] = (uint32_t)corners[0];
      triangle[1] = (uint32_t)corners[1 + t];
      triangle[2] = (uint32_t)corners[2 + t];
    }
  }
}

// The surface of a box of squares; `bend`, unless NULL, moves its vertices.
static sn_status make_box(const bar_grid* grid, void (*bend)(double* position), sn_mesh* mesh,
                          sn_error* err) {
  const int last[3] = {grid->squares[0], grid->squares[1], grid->squares[2]};
  size_t places = 1 + (size_t)place_number(grid, last);
  int* numbers = calloc(places, sizeof *numbers);  // + 1; 0: no vertex yet
  sn_mesh draft = {.positions = malloc(3 * places * sizeof(double)),
                   .triangles = malloc(12 * places * sizeof(uint32_t))};
  sn_status status = SN_ERR_MEMORY;
  if (numbers && draft.positions && draft.triangles) {
    for (int axis = 0; axis < 3; ++axis) add_faces(grid, axis, numbers, &draft);
    for (uint32_t v = 0; v < draft.vertex_count && bend; ++v) bend(draft.positions + 3 * (size_t)v);
    status = sn_mesh_from_arrays(draft.positions, draft.vertex_count, draft.triangles,
                                 draft.triangle_count, mesh, err);
  } else {
    *err = (sn_error){status, "out of memory"};
  }
  free(numbers);
  free(draft.positions);
  free(draft.triangles);
  return status;
}

static sn_status make_bar(sn_mesh* mesh, sn_error* err) {
  return make_box(&(bar_grid){{80, 5, 5}, 0.0125}, NULL, mesh, err);
}

// Two cells of its scene thick, as is the next.
static sn_status make_sheet(sn_mesh* mesh, sn_error* err) {
  return make_box(&(bar_grid){{48, 2, 48}, 0.0125}, NULL, mesh, err);
}

// Forehead, nose and chin of a face that looks up.
static void bend_to_face(double* p) {
  static const double BUMPS[][5] = {// x, z, width, length, height
                                    {0, 0.01, 0.02, 0.035, 0.045},
                                    {0, 0.13, 0.04, 0.03, 0.02},
                                    {-0.06, -0.03, 0.025, 0.02, -0.015},
                                    {0.06, -0.03, 0.025, 0.02, -0.015}};
  double x = p[0] / 0.19, z = p[2] / 0.24;
  p[1] += 0.13 * (1 - x * x) * (1 - z * z);
  for (size_t i = 0; i < COUNT(BUMPS); ++i) {
    double a = (p[0] - BUMPS[i][0]) / BUMPS[i][2], b = (p[2] - BUMPS[i][1]) / BUMPS[i][3];
    p[1] += BUMPS[i][4] * exp(-a * a - b * b);
  }
}

static sn_status make_face(sn_mesh* mesh, sn_error* err) {
  return make_box(&(bar_grid){{36, 2, 46}, 0.01}, bend_to_face, mesh, err);
}

// Rings along x

#define RINGS 81
#define SIDES 40

// Radii of a ring along y and z at t from 0 to 1.
typedef void (*ring_fn)(double t, double radii[2]);

static void bow_tie_ring(double t, double radii[2]) {
  double off = 2 * t - 1;
  radii[0] = 0.03 + 0.2 * sqrt(off * off + 0.01);
  radii[1] = 0.06;
}

static void outer_ring(double t, double radii[2]) {
  (void)t;
  radii[0] = radii[1] = 0.05;
}

static void inner_ring(double t, double radii[2]) {
  (void)t;
  radii[0] = radii[1] = 0.044;
}

// RINGS x SIDES vertices from -length / 2 to length / 2.
static void add_rings(ring_fn ring, double length, sn_mesh* mesh) {
  for (int k = 0; k < RINGS; ++k) {
    double t = (double)k / (RINGS - 1), radii[2];
    ring(t, radii);
    for (int j = 0; j < SIDES; ++j) {
      double angle = 2 * PI * j / SIDES;
      double* at = mesh->positions + 3 * (size_t)mesh->vertex_count++;
      at[0] = length * (t - 0.5);
      at[1] = radii[0] * cos(angle);
      at[2] = radii[1] * sin(angle);
    }
  }
}

// Triangles between two rings, given by their first vertices.
static void add_band(uint32_t from, uint32_t to, sn_mesh* mesh) {
  for (uint32_t j = 0; j < SIDES; ++j) {
    uint32_t next = (j + 1) % SIDES;
    uint32_t corners[6] = {from + j, to + next, from + next, from + j, to + j, to + next};
    uint32_t* triangles = mesh->triangles + 3 * (size_t)mesh->triangle_count;
    for (int c = 0; c < 6; ++c) triangles[c] = corners[c];
    mesh->triangle_count += 2;
  }
}

// A fan over a ring, around a vertex in its middle.
static void add_cap(uint32_t ring, double x, bool high, sn_mesh* mesh) {
  double* at = mesh->positions + 3 * (size_t)mesh->vertex_count;
  at[0] = x, at[1] = at[2] = 0;
  for (uint32_t j = 0; j < SIDES; ++j) {
    uint32_t* triangle = mesh->triangles + 3 * (size_t)mesh->triangle_count++;
    uint32_t next = (j + 1) % SIDES;
    triangle[0] = mesh->vertex_count;
    triangle[1] = ring + (high ? j : next);
    triangle[2] = ring + (high ? next : j);
  }
  mesh->vertex_count++;
}

// The draft has room for `walls` sets of rings.
static sn_status make_rings(int walls, void (*fill)(sn_mesh* draft), sn_mesh* mesh, sn_error* err) {
  size_t vertices = (size_t)walls * RINGS * SIDES + 2;
  sn_mesh draft = {.positions = malloc(3 * vertices * sizeof(double)),
                   .triangles = malloc(6 * vertices * sizeof(uint32_t))};
  sn_status status = SN_ERR_MEMORY;
  if (draft.positions && draft.triangles) {
    fill(&draft);
    status = sn_mesh_from_arrays(draft.positions, draft.vertex_count, draft.triangles,
                                 draft.triangle_count, mesh, err);
  } else {
    *err = (sn_error){status, "out of memory"};
  }
  free(draft.positions);
  free(draft.triangles);
  return status;
}

static void fill_bow_tie(sn_mesh* draft) {
  uint32_t last = (RINGS - 1) * SIDES;
  add_rings(bow_tie_ring, 1, draft);
  for (uint32_t ring = 0; ring < last; ring += SIDES) add_band(ring + SIDES, ring, draft);
  add_cap(0, -0.5, false, draft);
  add_cap(last, 0.5, true, draft);
}

// A wall of 6 mm, half of a cell in the scene.
static void fill_tube(sn_mesh* draft) {
  uint32_t inner = RINGS * SIDES, last = (RINGS - 1) * SIDES;
  add_rings(outer_ring, 1, draft);
  add_rings(inner_ring, 1, draft);
  for (uint32_t ring = 0; ring < last; ring += SIDES) {
    add_band(ring + SIDES, ring, draft);
    add_band(inner + ring, inner + ring + SIDES, draft);
  }
  add_band(0, inner, draft);
  add_band(inner + last, last, draft);
}

static sn_status make_bow_tie(sn_mesh* mesh, sn_error* err) {
  return make_rings(1, fill_bow_tie, mesh, err);
}

static sn_status make_tube(sn_mesh* mesh, sn_error* err) {
  return make_rings(2, fill_tube, mesh, err);
}

// All of them

typedef struct shape_row {
  const char* name;
  const sn_round_cone* cones;  // NULL: made by a function of its own
  uint32_t cone_count;
  double blend, grid;  // m
  sn_status (*make)(sn_mesh* mesh, sn_error* err);
} shape_row;

static const shape_row shapes[] = {
    {"ball", ball, COUNT(ball), 0, 0.012, NULL},
    {"pear", pear, COUNT(pear), 0.05, 0.012, NULL},
    {"loaf", loaf, COUNT(loaf), 0.03, 0.012, NULL},
    {"belly", belly, COUNT(belly), 0.06, 0.014, NULL},
    {"arm", arm, COUNT(arm), 0.02, 0.01, NULL},
    {"lean_arm", lean_arm, COUNT(lean_arm), 0.02, 0.008, NULL},
    {"biceps", biceps, COUNT(biceps), 0.008, 0.004, NULL},
    {"triceps", triceps, COUNT(triceps), 0.008, 0.004, NULL},
    {"leg", leg, COUNT(leg), 0.03, 0.012, NULL},
    {"shoulder", shoulder, COUNT(shoulder), 0.03, 0.013, NULL},
    {"carrot", carrot, COUNT(carrot), 0.02, 0.009, NULL},
    {"bar", NULL, 0, 0, 0, make_bar},
    {"sheet", NULL, 0, 0, 0, make_sheet},
    {"face", NULL, 0, 0, 0, make_face},
    {"bowtie", NULL, 0, 0, 0, make_bow_tie},
    {"tube", NULL, 0, 0, 0, make_tube},
    {"spikes", NULL, 0, 0, 0, make_spikes},
};

static sn_status save_shape(const char* folder, const shape_row* row, sn_error* err) {
  char path[MAX_PATH];
  int size = snprintf(path, sizeof path, "%s/%s.obj", folder, row->name);
  if (size < 0 || size >= MAX_PATH) {
    *err = (sn_error){SN_ERR_USAGE, "the name of the folder is too long"};
    return SN_ERR_USAGE;
  }
  sn_mesh mesh = {0};
  sn_status status = row->make ? row->make(&mesh, err)
                               : sn_mesh_from_round_cones(row->cones, row->cone_count, row->blend,
                                                          row->grid, &mesh, err);
  if (status == SN_OK) status = sn_mesh_save_obj(path, &mesh, err);
  sn_mesh_destroy(&mesh);
  return status;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: shapes OUTDIR\n");
    return SN_ERR_USAGE;
  }
  sn_error err = {0};
  sn_status status = SN_OK;
  for (size_t i = 0; i < COUNT(shapes) && status == SN_OK; ++i) {
    status = save_shape(argv[1], &shapes[i], &err);
  }
  if (status != SN_OK) fprintf(stderr, "shapes: %s\n", err.text);
  return status;
}
