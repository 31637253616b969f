// Flesh cut open at a plane, in the coordinates of rest, so that the cut goes along with the flesh.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

#define MOST_PARTS 4  // pieces along the side of a square, so that it may bend

static double component(sn_vec3 a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }

// Finest cells are the palest.
static sn_colour level_colour(unsigned level) {
  static const sn_colour levels[] = {{247, 222, 205}, {238, 178, 150}, {221, 126, 115},
                                     {176, 80, 106},  {116, 56, 98},   {66, 38, 82}};
  const unsigned last = sizeof levels / sizeof *levels - 1;
  return levels[level < last ? level : last];
}

// Unit direction to the eye.
static sn_vec3 toward_eye(const sn_view* view) {
  const double degree = 3.14159265358979323846 / 180;
  double azimuth = view->azimuth_deg * degree, elevation = view->elevation_deg * degree;
  double parts[3];
  parts[view->up] = sin(elevation);
  parts[((int)view->up + 1) % 3] = cos(elevation) * cos(azimuth);
  parts[((int)view->up + 2) % 3] = cos(elevation) * sin(azimuth);
  return (sn_vec3){parts[0], parts[1], parts[2]};
}

cut_plane cut_place(const slice_plan* slice, const run_data* run, uint32_t body,
                    const sn_view* view) {
  const sn_mesh* mesh = run->bodies[body].mesh;
  sn_vec3 toward = toward_eye(view);
  cut_plane plane = {.axis = slice->axis};
  for (int k = 0; k < 3 && slice->axis < 0; ++k) {
    if (k == 0 || fabs(component(toward, k)) > fabs(component(toward, plane.axis))) plane.axis = k;
  }
  double low = INFINITY, high = -INFINITY;
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    double at = mesh->positions[3 * (size_t)v + plane.axis] / run->scene->unit;
    low = fmin(low, at);
    high = fmax(high, at);
  }
  plane.at = 0.5 * (low + high) + slice->offset;
  plane.side = component(toward, plane.axis) < 0 ? -1 : 1;
  return plane;
}

void cut_vertices(const cut_plane* plane, const run_data* run, uint32_t body, float* cut) {
  const sn_mesh* mesh = run->bodies[body].mesh;
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    double at = mesh->positions[3 * (size_t)v + plane->axis] / run->scene->unit;
    cut[v] = (float)(plane->side * (at - plane->at));
  }
}

void cut_colour_cells(const picture_plan* plan, const run_body* body, const float* values,
                      sn_colour* colours) {
  for (uint32_t c = 0; c < body->cells.cell_count; ++c) {
    colours[c] = values ? sn_scale_colour(&plan->scale, values[c])
                        : level_colour(body->cells.cubes[c].level);
  }
}

// ---- Quads

// A surface of quads, filled one after another.
typedef struct quad_mesh {
  float* positions;
  sn_colour* colours;
  uint32_t* triangles;
  uint8_t* edges;
  float* cut;  // NULL: whole
  uint32_t vertex_count, triangle_count;
} quad_mesh;

static bool take_quads(quad_mesh* mesh, size_t vertices, size_t quads, bool with_cut,
                       surface_list* list, sn_error* err) {
  *mesh = (quad_mesh){.positions = list_take(list, 3 * vertices, sizeof(float), err),
                      .colours = list_take(list, vertices, sizeof(sn_colour), err),
                      .triangles = list_take(list, 6 * quads, sizeof(uint32_t), err),
                      .edges = list_take(list, 2 * quads, sizeof(uint8_t), err)};
  if (with_cut) mesh->cut = list_take(list, vertices, sizeof(float), err);
  return mesh->positions && mesh->colours && mesh->triangles && mesh->edges &&
         (!with_cut || mesh->cut);
}

static void add_vertex(quad_mesh* mesh, const double place[3], sn_colour colour) {
  for (int k = 0; k < 3; ++k) {
    mesh->positions[3 * (size_t)mesh->vertex_count + k] = (float)place[k];
  }
  mesh->colours[mesh->vertex_count++] = colour;
}

// @param lines for each side, from corner k to the next, whether it is drawn
static void add_quad(quad_mesh* mesh, const uint32_t c[4], const bool lines[4]) {
  const uint32_t corners[6] = {c[0], c[1], c[2], c[0], c[2], c[3]};
  memcpy(mesh->triangles + 3 * (size_t)mesh->triangle_count, corners, sizeof corners);
  mesh->edges[mesh->triangle_count] =
      (uint8_t)((lines[0] ? SN_EDGE_FIRST : 0) | (lines[1] ? SN_EDGE_SECOND : 0));
  mesh->edges[mesh->triangle_count + 1] =
      (uint8_t)((lines[2] ? SN_EDGE_SECOND : 0) | (lines[3] ? SN_EDGE_THIRD : 0));
  mesh->triangle_count += 2;
}

static sn_status add_to_list(const quad_mesh* mesh, surface_list* list, sn_error* err) {
  sn_drawn_surface surface = {.positions = mesh->positions,
                              .vertex_count = mesh->vertex_count,
                              .triangles = mesh->triangles,
                              .triangle_count = mesh->triangle_count,
                              .look = SN_LOOK_DATA,
                              .colours = mesh->colours,
                              .edges = mesh->edges,
                              .cut = mesh->cut};
  return list_add(list, &surface, err);
}

// ---- The cut

// The place of a plane along its axis, in finest cells.
static double plane_in_cells(const cut_plane* plane, const sn_cells* cells) {
  return (plane->at - component(cells->origin, plane->axis)) / cells->edge;
}

static double cube_corner(const sn_cell_cube* cube, int axis) {
  return axis == 0 ? cube->x : axis == 1 ? cube->y : cube->z;
}

static bool crosses(const cut_plane* plane, const sn_cells* cells, uint32_t cell) {
  const sn_cell_cube* cube = &cells->cubes[cell];
  double at = plane_in_cells(plane, cells) - cube_corner(cube, plane->axis);
  return 0 <= at && at < ldexp(1, cube->level);
}

// The point with the given shares of a cell's sides.
static void place_in_cell(const sn_cells* cells, uint32_t cell, const double share[3],
                          const double* points, double place[3]) {
  memset(place, 0, 3 * sizeof *place);
  for (int c = 0; c < 8; ++c) {
    double weight = 1;
    for (int k = 0; k < 3; ++k) weight *= c >> k & 1 ? share[k] : 1 - share[k];
    const double* p = points + 3 * (size_t)cells->corners[8 * (size_t)cell + c];
    for (int k = 0; k < 3; ++k) place[k] += weight * p[k];
  }
}

static int parts_of(const sn_cell_cube* cube) {
  return cube->level >= 2 ? MOST_PARTS : 1 << cube->level;
}

static void add_square(quad_mesh* mesh, const cut_plane* plane, const sn_cells* cells,
                       uint32_t cell, const double* points, sn_colour colour) {
  const sn_cell_cube* cube = &cells->cubes[cell];
  int parts = parts_of(cube), row = parts + 1, u = (plane->axis + 1) % 3, v = (plane->axis + 2) % 3;
  uint32_t first = mesh->vertex_count;
  double share[3], place[3];
  share[plane->axis] =
      (plane_in_cells(plane, cells) - cube_corner(cube, plane->axis)) / ldexp(1, cube->level);
  for (int i = 0; i < row * row; ++i) {
    int across = i % row, along = i / row;
    share[u] = (double)across / parts;
    share[v] = (double)along / parts;
    place_in_cell(cells, cell, share, points, place);
    add_vertex(mesh, place, colour);
  }
  for (int i = 0; i < parts * parts; ++i) {
    int x = i % parts, y = i / parts;
    uint32_t a = first + (uint32_t)(y * row + x), up = (uint32_t)row;
    add_quad(mesh, (uint32_t[4]){a, a + 1, a + 1 + up, a + up},
             (bool[4]){y == 0, x == parts - 1, y == parts - 1, x == 0});
  }
}

sn_status cut_add_squares(const cut_plane* plane, const run_body* body, const double* points,
                          const sn_colour* colours, surface_list* list, sn_error* err) {
  const sn_cells* cells = &body->cells;
  size_t vertices = 0, quads = 0;
  quad_mesh mesh;
  for (uint32_t c = 0; c < cells->cell_count; ++c) {
    if (!crosses(plane, cells, c)) continue;
    size_t parts = (size_t)parts_of(&cells->cubes[c]);
    vertices += (parts + 1) * (parts + 1);
    quads += parts * parts;
  }
  if (!take_quads(&mesh, vertices, quads, false, list, err)) return err->status;
  for (uint32_t c = 0; c < cells->cell_count; ++c) {
    if (crosses(plane, cells, c)) add_square(&mesh, plane, cells, c, points, colours[c]);
  }
  return add_to_list(&mesh, list, err);
}

// ---- The cells

typedef struct cell_face {
  uint32_t points[4];  // ascending
  uint32_t cell;
  uint8_t axis, end;  // its normal, and at which end of the cell it is
} cell_face;

static int compare_faces(const void* left, const void* right) {
  const cell_face *a = left, *b = right;
  for (int k = 0; k < 4; ++k) {
    if (a->points[k] != b->points[k]) return a->points[k] < b->points[k] ? -1 : 1;
  }
  return 0;
}

// Corner `k` of a face, going around it.
static uint32_t face_corner(const cell_face* face, int k) {
  static const uint8_t around[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  return (uint32_t)face->end << face->axis | (uint32_t)around[k][0] << (face->axis + 1) % 3 |
         (uint32_t)around[k][1] << (face->axis + 2) % 3;
}

static void name_points(const sn_cells* cells, cell_face* face) {
  for (int k = 0; k < 4; ++k) {
    uint32_t point = cells->corners[8 * (size_t)face->cell + face_corner(face, k)];
    int at = k;
    for (; at > 0 && face->points[at - 1] > point; --at) face->points[at] = face->points[at - 1];
    face->points[at] = point;
  }
}

static void add_face(quad_mesh* mesh, const cut_plane* plane, const sn_cells* cells,
                     const cell_face* face, const double* points, sn_colour colour) {
  const sn_cell_cube* cube = &cells->cubes[face->cell];
  uint32_t first = mesh->vertex_count;
  double most = -1;
  for (int k = 0; k < 4; ++k) {
    uint32_t corner = face_corner(face, k);
    if (plane) {
      double along =
          cube_corner(cube, plane->axis) + (corner >> plane->axis & 1 ? ldexp(1, cube->level) : 0);
      double cut = plane->side * (along - plane_in_cells(plane, cells));
      mesh->cut[mesh->vertex_count] = (float)cut;
      most = k == 0 ? cut : fmin(most, cut);
    }
    add_vertex(mesh, points + 3 * (size_t)cells->corners[8 * (size_t)face->cell + corner], colour);
  }
  // All of it is cut away.
  if (most >= 0) {
    mesh->vertex_count = first;
    return;
  }
  add_quad(mesh, (uint32_t[4]){first, first + 1, first + 2, first + 3},
           (bool[4]){true, true, true, true});
}

sn_status cut_add_cubes(const cut_plane* plane, const run_body* body, const double* points,
                        const sn_colour* colours, surface_list* list, sn_error* err) {
  const sn_cells* cells = &body->cells;
  size_t count = 6 * (size_t)cells->cell_count, open = 0;
  cell_face* faces = list_take(list, count, sizeof *faces, err);
  quad_mesh mesh;
  if (!faces) return err->status;
  for (size_t f = 0; f < count; ++f) {
    faces[f] = (cell_face){
        .cell = (uint32_t)(f / 6), .axis = (uint8_t)(f % 6 / 2), .end = (uint8_t)(f % 2)};
    name_points(cells, &faces[f]);
  }
  // Faces between two cells of one size are there twice, and are not seen.
  qsort(faces, count, sizeof *faces, compare_faces);
  for (size_t f = 0; f < count; ++f) {
    bool twice = f + 1 < count && compare_faces(&faces[f], &faces[f + 1]) == 0;
    if (twice) {
      ++f;
    } else {
      faces[open++] = faces[f];
    }
  }
  if (!take_quads(&mesh, 4 * open, open, plane != NULL, list, err)) return err->status;
  for (size_t f = 0; f < open; ++f) {
    add_face(&mesh, plane, cells, &faces[f], points, colours[faces[f].cell]);
  }
  return add_to_list(&mesh, list, err);
}

// ---- Legend

static void fill_square(sn_image* image, int left, int top, int side, sn_colour colour) {
  for (int y = top < 0 ? 0 : top; y < top + side && y < image->height; ++y) {
    for (int x = left < 0 ? 0 : left; x < left + side && x < image->width; ++x) {
      uint8_t* pixel = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
      memcpy(pixel, (uint8_t[3]){colour.r, colour.g, colour.b}, 3);
    }
  }
}

int cut_draw_legend(const run_data* run, int left, int top, int text_scale, sn_image* image) {
  const sn_colour ink = {70, 74, 88};
  const int side = 9 * text_scale, step = 13 * text_scale;
  const sn_cells* cells = &run->bodies[0].cells;
  double edge = 1e3 * cells->edge * run->scene->unit;
  const char* unit = edge < 100 ? "mm" : edge < 1e4 ? "cm" : "m";
  edge *= edge < 100 ? 1 : edge < 1e4 ? 0.1 : 1e-3;
  unsigned levels = 0;
  char text[32];
  for (uint32_t c = 0; c < cells->cell_count; ++c) {
    if (cells->cubes[c].level > levels) levels = cells->cubes[c].level;
  }
  snprintf(text, sizeof text, "cell, %s", unit);
  if (image) sn_image_draw_text(image, left, top, text_scale, ink, text);
  for (unsigned level = 0; image && level <= levels; ++level) {
    int y = top + step * ((int)level + 1);
    fill_square(image, left, y, side, ink);
    fill_square(image, left + 1, y + 1, side - 2, level_colour(level));
    snprintf(text, sizeof text, "%.3g", edge * ldexp(1, (int)level));
    sn_image_draw_text(image, left + side + 4 * text_scale, y + text_scale, text_scale, ink, text);
  }
  return 12 * 6 * text_scale;
}
