// What `sinew render` is made of: runs that are read frame by frame, surfaces gathered for a panel, a
// sheet of panels, a movie of sheets.
#ifndef SN_CLI_RENDER_PICTURE_H
#define SN_CLI_RENDER_PICTURE_H

#include <sinew/sn.h>

#define PICTURE_PATH 4096
#define MOST_PANELS 4

// ---- What is asked for (cmd_render.c)

typedef enum show_kind {
  SHOW_SKIN,
  SHOW_STRAIN,
  SHOW_STRESS,
  SHOW_J,
  SHOW_PRESSURE,
  SHOW_ACTIVATION,
  SHOW_CELLS,
  SHOW_DISPLACEMENT,
  SHOW_PENETRATION
} show_kind;

typedef struct slice_plan {
  bool on;
  int axis;       // 0 to 2; -1: the one that the view looks along most
  double offset;  // from the middle of each body at rest, in the unit of the scene's files
} slice_plan;

typedef struct picture_plan {
  show_kind show;
  slice_plan slice;
  bool bones, muscles, colliders, ground;
  bool has_range;
  sn_colour_scale scale;  // of what is shown; found by show_find_range, or as asked for
} picture_plan;

SN_PRINTF(3, 4) sn_status picture_fail(sn_error* err, sn_status status, const char* format, ...);

// ---- A run (run.c)

typedef struct run_body {
  const char* name;
  char pc2[PICTURE_PATH];
  const sn_mesh* mesh;  // metres, at rest
  sn_pc2_info info;
  float* marks;       // NULL without a group `dark`
  sn_cells cells;     // zeroed where none are needed
  sn_fields* fields;  // NULL where none are needed
  sn_fields_frame frame;
} run_body;

typedef struct run_data {
  const char* folder;
  sn_scene* scene;
  run_body* bodies;      // (body_count of the scene)
  uint32_t frame_count;  // that all bodies have
} run_data;

// @param with_cells read BODY.cells and BODY.fields too
sn_status run_load(const char* folder, bool with_cells, run_data* run, sn_error* err);
void run_destroy(run_data* run);
// Metres. @param positions (3 x vertex_count)
sn_status run_read_cache(const run_data* run, const char* pc2, uint32_t index,
                         uint32_t vertex_count, float* positions, sn_error* err);
// Make `frame` of every body that has fields the one of this frame of the cache.
sn_status run_read_fields(run_data* run, uint32_t index, sn_error* err);
int run_frame_at(const run_data* run, uint32_t index);

// ---- Surfaces to draw, with the memory behind them (list.c)

typedef struct surface_list {
  sn_drawn_surface* surfaces;
  uint32_t count, room;
  void** blocks;
  size_t block_count, block_room;
} surface_list;

// Room that lives as long as the list's content. NULL where there is none.
void* list_take(surface_list* list, size_t count, size_t size, sn_error* err);
sn_status list_add(surface_list* list, const sn_drawn_surface* surface, sn_error* err);
// Forget the content, keep the list.
void list_clear(surface_list* list);
void list_destroy(surface_list* list);

// ---- Panels (panel.c)

typedef enum panel_kind { PANEL_SIMULATED, PANEL_REST, PANEL_SKINNED, PANEL_CACHE } panel_kind;

typedef struct panel {
  panel_kind kind;
  const char* title;
  run_data* run;
  const char* pc2;  // PANEL_CACHE: of the first body
} panel;

// Positions of a body as the panel shows it, metres. @param positions (3 x vertex_count)
sn_status panel_positions(const panel* p, uint32_t body, uint32_t index, float* positions,
                          sn_error* err);
// How many of the run's bodies it shows.
uint32_t panel_body_count(const panel* p);
// Everything of a frame. @param lowest height of the ground, where there is one to add
sn_status panel_gather(const picture_plan* plan, const panel* p, uint32_t index,
                       const sn_view* view, double lowest, surface_list* list, sn_error* err);

// ---- Around the bodies (around.c)

// How far down colliders other than planes reach in a frame, metres along the up axis.
double around_lowest(const run_data* run, int frame);
sn_status around_add_colliders(const run_data* run, int frame, const sn_view* view,
                               surface_list* list, sn_error* err);
sn_status around_add_ground(const run_data* run, const sn_view* view, double lowest,
                            surface_list* list, sn_error* err);
sn_status around_add_bones(const run_data* run, int frame, const sn_view* view, surface_list* list,
                           sn_error* err);
// Carried along by the cells. @param points of the cells, metres
sn_status around_add_muscles(const run_data* run, uint32_t body, int frame, const double* points,
                             surface_list* list, sn_error* err);

// ---- Cells (cut.c)

// Where the flesh is cut: what lies beyond is not drawn. In the coordinates of the cells at rest.
typedef struct cut_plane {
  int axis;
  double at;    // in the unit of the scene's files
  double side;  // 1 or -1: what is further along the axis times this is cut away
} cut_plane;

cut_plane cut_place(const slice_plan* slice, const run_data* run, uint32_t body,
                    const sn_view* view);
// Above 0 where a vertex of the surface at rest is cut away. @param cut (vertex_count)
void cut_vertices(const cut_plane* plane, const run_data* run, uint32_t body, float* cut);
// Numbers of the cells as colours; NULL values: by level. (cell_count)
void cut_colour_cells(const picture_plan* plan, const run_body* body, const float* values,
                      sn_colour* colours);
// The cut through the cells, a square for each. @param points of the cells, metres
sn_status cut_add_squares(const cut_plane* plane, const run_body* body, const double* points,
                          const sn_colour* colours, surface_list* list, sn_error* err);
// What the colours of levels stand for, one below the other. @return its width, pixels; with an image
// of NULL nothing is drawn
int cut_draw_legend(const run_data* run, int left, int top, int text_scale, sn_image* image);
// The cells themselves. @param plane NULL: all of them
sn_status cut_add_cubes(const cut_plane* plane, const run_body* body, const double* points,
                        const sn_colour* colours, surface_list* list, sn_error* err);

// ---- Numbers as colours (show.c)

show_kind show_find(const char* name, sn_error* err);  // sets err where there is no such name
bool show_needs_cells(show_kind show);
// Read what is shown of this frame: a number for each vertex. @param values (vertex_count)
sn_status show_values(const picture_plan* plan, const panel* p, uint32_t body,
                      const float* positions, float* values, sn_error* err);
// The values of cells, or NULL if what is shown is none of cells.
const float* show_cell_values(show_kind show, const run_body* body);
// The scale that suits these frames of these panels.
sn_status show_find_range(picture_plan* plan, const panel* panels, int panel_count,
                          const uint32_t* frames, uint32_t frame_count, sn_error* err);
// What a legend is headed, with the unit. Values are multiplied by *factor before they are drawn.
const char* show_title(const picture_plan* plan, double* factor);

// ---- Movies (movie.c)

typedef struct movie movie;

// Start the program ffmpeg. @param path what is to become of it; complete or not there at all
sn_status movie_open(const char* path, int width, int height, double fps, movie** m, sn_error* err);
sn_status movie_add(movie* m, const sn_image* image, sn_error* err);
// Finish the file and put it in its place.
sn_status movie_finish(movie* m, sn_error* err);
// Give up what is not finished. NULL is fine.
void movie_close(movie* m);

#endif
