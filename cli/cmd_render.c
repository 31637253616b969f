// sinew render DIR: a picture of one frame, or a sheet of many.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "options.h"

#define MAX_PATH 4096
#define TILE 400
#define SINGLE 1200
#define SHEET_COLUMNS 4
#define SHEET_TILES 12
#define SHEET_TILES_BESIDE 8

typedef struct render_options {
  const char* folder;
  const char* out;
  const char* camera;
  const char* beside;  // another cache of the first body, drawn in a row below; NULL: none
  int frame;           // 0: a sheet
  bool no_colliders;
  bool help;
} render_options;

typedef struct drawn_body {
  char pc2[MAX_PATH];
  const sn_mesh* mesh;
  sn_pc2_info info;
  float* positions;
  float* marks;  // NULL without a group `dark`
} drawn_body;

// A collider in the frame at hand.
typedef struct drawn_collider {
  sn_mesh mesh;
  float* positions;
} drawn_collider;

typedef struct picture {
  sn_scene* scene;
  drawn_body* bodies;
  drawn_collider* colliders;
  uint32_t collider_count;     // 0 with --no-colliders
  sn_drawn_surface* surfaces;  // the colliders, then the bodies
  float* other;  // the first body's positions in the other cache, NULL without --beside
  sn_view view;
  uint32_t frame_count;  // that all bodies have
  sn_image image;
} picture;

static sn_status fail(sn_error* err, sn_status status, const char* text) {
  err->status = status;
  snprintf(err->text, sizeof err->text, "%s", text);
  return status;
}

// Eyes, noses and the like: a group named `dark` is drawn so.
static sn_status mark_dark_group(drawn_body* body, sn_error* err) {
  for (uint32_t g = 0; g < body->mesh->group_count; ++g) {
    if (strcmp(body->mesh->groups[g].name, "dark") != 0) continue;
    body->marks = malloc(sizeof(float) * body->mesh->vertex_count);
    if (!body->marks) return fail(err, SN_ERR_MEMORY, "out of memory");
    return sn_mesh_mark_group(body->mesh, &body->mesh->groups[g], body->marks, err);
  }
  return SN_OK;
}

static sn_status open_body(const render_options* o, picture* p, uint32_t b, sn_error* err) {
  drawn_body* body = &p->bodies[b];
  body->mesh = &p->scene->bodies[b].mesh;
  snprintf(body->pc2, sizeof body->pc2, "%s/%s.pc2", o->folder, p->scene->bodies[b].name);
  sn_status status = sn_pc2_read_info(body->pc2, &body->info, err);
  if (status != SN_OK) return status;
  if (body->info.vertex_count != body->mesh->vertex_count) {
    return fail(err, SN_ERR_INPUT, "the cache and the surface differ in vertices; run again");
  }
  if (b == 0 || body->info.frame_count < p->frame_count) p->frame_count = body->info.frame_count;
  body->positions = malloc(sizeof(float) * 3 * body->mesh->vertex_count);
  if (!body->positions) return fail(err, SN_ERR_MEMORY, "out of memory");
  sn_drawn_surface* surface = &p->surfaces[p->collider_count + b];
  *surface = (sn_drawn_surface){.positions = body->positions,
                                .vertex_count = body->mesh->vertex_count,
                                .triangles = body->mesh->triangles,
                                .triangle_count = body->mesh->triangle_count,
                                .base = sn_colour_body(b),
                                .mark = sn_colour_dark()};
  status = mark_dark_group(body, err);
  surface->marks = body->marks;
  return status;
}

// Caches are in the unit of the scene's files, pictures in metres.
static sn_status load_positions(const picture* p, const char* pc2, uint32_t index, uint32_t count,
                                float* positions, sn_error* err) {
  sn_status status = sn_pc2_read_frame(pc2, index, positions, err);
  for (size_t i = 0; status == SN_OK && i < 3 * (size_t)count; ++i) {
    positions[i] = (float)(positions[i] * p->scene->unit);
  }
  return status;
}

static sn_status load_bodies(picture* p, uint32_t index, sn_error* err) {
  for (uint32_t b = 0; b < p->scene->body_count; ++b) {
    drawn_body* body = &p->bodies[b];
    sn_status status =
        load_positions(p, body->pc2, index, body->mesh->vertex_count, body->positions, err);
    if (status != SN_OK) return status;
  }
  return SN_OK;
}

static int frame_at(const picture* p, uint32_t index) {
  return (int)p->bodies[0].info.first_frame + (int)index;
}

static void close_collider(drawn_collider* collider) {
  sn_mesh_destroy(&collider->mesh);
  free(collider->positions);
  *collider = (drawn_collider){0};
}

static sn_status place_collider(picture* p, uint32_t c, int frame, sn_error* err) {
  const sn_collider_desc* desc = &p->scene->colliders[c];
  drawn_collider* collider = &p->colliders[c];
  sn_affine moved = sn_motion_at(&desc->motion, frame);
  sn_rigid pose = {moved.linear, moved.translate};  // colliders are not stretched
  close_collider(collider);
  sn_status status = sn_mesh_from_collider(desc, &pose, &p->view, &collider->mesh, err);
  if (status != SN_OK) return status;
  size_t count = 3 * (size_t)collider->mesh.vertex_count;
  collider->positions = malloc(sizeof(float) * (count + 1));
  if (!collider->positions) return fail(err, SN_ERR_MEMORY, "out of memory");
  for (size_t i = 0; i < count; ++i) {
    collider->positions[i] = (float)collider->mesh.positions[i];
  }
  bool floor = desc->kind == SN_COLLIDER_PLANE;
  p->surfaces[c] = (sn_drawn_surface){.positions = collider->positions,
                                      .vertex_count = collider->mesh.vertex_count,
                                      .triangles = collider->mesh.triangles,
                                      .triangle_count = collider->mesh.triangle_count,
                                      .look = floor ? SN_LOOK_FLOOR : SN_LOOK_SOLID,
                                      .base = sn_colour_stone()};
  return SN_OK;
}

static sn_status load_frame(picture* p, uint32_t index, sn_error* err) {
  sn_status status = load_bodies(p, index, err);
  for (uint32_t c = 0; c < p->collider_count && status == SN_OK; ++c) {
    status = place_collider(p, c, frame_at(p, index), err);
  }
  return status;
}

// "AZIMUTH,ELEVATION" in degrees. All frames of the bodies are to be seen, colliders only as far as
// they come into the picture.
static sn_status set_view(const render_options* o, picture* p, sn_error* err) {
  double azimuth = 30, elevation = 15;
  if (o->camera && sscanf(o->camera, "%lf,%lf", &azimuth, &elevation) != 2) {
    return fail(err, SN_ERR_USAGE, "--camera: expected AZIMUTH,ELEVATION in degrees, e.g. 30,15");
  }
  if (!(fabs(azimuth) <= 3600) || !(fabs(elevation) <= 90)) {
    return fail(err, SN_ERR_USAGE, "--camera: expected an elevation between -90 and 90 degrees");
  }
  p->view = sn_view_make(p->scene->up, azimuth, elevation);
  for (uint32_t f = 0; f < p->frame_count; ++f) {
    sn_status status = load_bodies(p, f, err);
    if (status != SN_OK) return status;
    for (uint32_t b = 0; b < p->scene->body_count; ++b) {
      sn_view_include(&p->view, p->bodies[b].positions, p->bodies[b].mesh->vertex_count);
    }
  }
  return SN_OK;
}

static void label_tile(picture* p, const int rectangle[4], const char* text) {
  sn_image_draw_text(&p->image, rectangle[0] + 10, rectangle[1] + 10, 2, (sn_colour){80, 85, 100},
                     text);
}

static sn_status draw_frame(picture* p, uint32_t index, const int rectangle[4], sn_error* err) {
  char label[32];
  sn_status status = load_frame(p, index, err);
  if (status == SN_OK) {
    status = sn_image_draw_surfaces(&p->image, rectangle, &p->view, p->surfaces,
                                    p->collider_count + p->scene->body_count, err);
  }
  snprintf(label, sizeof label, "frame %d", frame_at(p, index));
  label_tile(p, rectangle, label);
  return status;
}

// The first body as the other cache has it, among the colliders of the frame above.
static sn_status draw_beside(const render_options* o, picture* p, uint32_t index,
                             const int rectangle[4], sn_error* err) {
  const drawn_body* body = &p->bodies[0];
  sn_status status = load_positions(p, o->beside, index, body->mesh->vertex_count, p->other, err);
  if (status != SN_OK) return status;
  p->surfaces[p->collider_count].positions = p->other;
  status = sn_image_draw_surfaces(&p->image, rectangle, &p->view, p->surfaces,
                                  p->collider_count + 1, err);
  p->surfaces[p->collider_count].positions = body->positions;
  const char* slash = strrchr(o->beside, '/');
  label_tile(p, rectangle, slash ? slash + 1 : o->beside);
  return status;
}

static sn_status open_beside(const render_options* o, picture* p, sn_error* err) {
  sn_pc2_info info;
  if (!o->beside) return SN_OK;
  sn_status status = sn_pc2_read_info(o->beside, &info, err);
  if (status != SN_OK) return status;
  if (info.vertex_count != p->bodies[0].info.vertex_count) {
    return fail(err, SN_ERR_INPUT, "--beside: the cache is of a mesh with other vertices");
  }
  if (info.frame_count < p->frame_count) p->frame_count = info.frame_count;
  p->other = malloc(sizeof(float) * 3 * info.vertex_count);
  return p->other ? SN_OK : fail(err, SN_ERR_MEMORY, "out of memory");
}

static sn_status draw_single(const render_options* o, picture* p, sn_error* err) {
  int index = o->frame - (int)p->bodies[0].info.first_frame;
  if (index < 0 || index >= (int)p->frame_count) {
    return fail(err, SN_ERR_USAGE, "--frame: the cache has no such frame");
  }
  int tile[4] = {0, 0, SINGLE, SINGLE * 3 / 4};
  int height = o->beside ? 2 * tile[3] : tile[3];
  sn_status status = sn_image_create(tile[2], height, &p->image, err);
  if (status == SN_OK) status = draw_frame(p, (uint32_t)index, tile, err);
  tile[1] += tile[3];
  if (o->beside && status == SN_OK) status = draw_beside(o, p, (uint32_t)index, tile, err);
  return status;
}

// Up to twelve frames (eight beside another cache), evenly chosen, the first and the last among them.
static sn_status draw_sheet(const render_options* o, picture* p, sn_error* err) {
  uint32_t most = o->beside ? SHEET_TILES_BESIDE : SHEET_TILES;
  uint32_t tiles = p->frame_count < most ? p->frame_count : most;
  int columns = tiles < SHEET_COLUMNS ? (int)tiles : SHEET_COLUMNS;
  int rows = ((int)tiles + columns - 1) / columns, height = o->beside ? 2 * TILE : TILE;
  sn_status status = sn_image_create(columns * TILE, rows * height, &p->image, err);
  for (uint32_t t = 0; t < tiles && status == SN_OK; ++t) {
    uint32_t index = tiles > 1 ? t * (p->frame_count - 1) / (tiles - 1) : 0;
    int tile[4] = {(int)t % columns * TILE, (int)t / columns * height, TILE, TILE};
    status = draw_frame(p, index, tile, err);
    tile[1] += TILE;
    if (o->beside && status == SN_OK) status = draw_beside(o, p, index, tile, err);
  }
  return status;
}

static sn_status draw(const render_options* o, picture* p, sn_error* err) {
  char path[MAX_PATH];
  snprintf(path, sizeof path, "%s/scene.json", o->folder);
  sn_status status = sn_scene_load(path, NULL, 0, &p->scene, err);
  if (status != SN_OK) return status;
  if (!o->no_colliders) p->collider_count = p->scene->collider_count;
  p->bodies = calloc(p->scene->body_count, sizeof *p->bodies);
  p->colliders = calloc(p->collider_count + 1, sizeof *p->colliders);
  p->surfaces = calloc(p->collider_count + p->scene->body_count, sizeof *p->surfaces);
  if (!p->bodies || !p->colliders || !p->surfaces) {
    return fail(err, SN_ERR_MEMORY, "out of memory");
  }
  for (uint32_t b = 0; b < p->scene->body_count && status == SN_OK; ++b) {
    status = open_body(o, p, b, err);
  }
  if (status == SN_OK && p->frame_count == 0) {
    status = fail(err, SN_ERR_INPUT, "the caches have no frame yet; run the scene first");
  }
  if (status == SN_OK) status = open_beside(o, p, err);
  if (status == SN_OK) status = set_view(o, p, err);
  if (status == SN_OK) status = o->frame ? draw_single(o, p, err) : draw_sheet(o, p, err);
  return status == SN_OK ? sn_image_save_png(&p->image, o->out, err) : status;
}

static void destroy(picture* p) {
  for (uint32_t b = 0; p->bodies && b < p->scene->body_count; ++b) {
    free(p->bodies[b].positions);
    free(p->bodies[b].marks);
  }
  for (uint32_t c = 0; p->colliders && c < p->collider_count; ++c) close_collider(&p->colliders[c]);
  free(p->other);
  free(p->colliders);
  free(p->bodies);
  free(p->surfaces);
  sn_image_destroy(&p->image);
  sn_scene_destroy(p->scene);
}

int command_render(int argc, char** argv) {
  render_options o = {0};
  const option table[] = {
      {"-o", OPTION_TEXT, "FILE.png", "the picture (default: DIR/sheet.png or DIR/frame.png)",
       &o.out},
      {"--frame", OPTION_INT, "N", "one frame instead of a sheet of twelve", &o.frame},
      {"--camera", OPTION_TEXT, "A,E", "azimuth and elevation in degrees (default 30,15)",
       &o.camera},
      {"--beside", OPTION_TEXT, "FILE.pc2", "draw this cache of the first body below", &o.beside},
      {"--no-colliders", OPTION_FLAG, NULL, "leave out what bodies touch", &o.no_colliders},
      {"--help", OPTION_FLAG, NULL, "this text", &o.help},
      {NULL, OPTION_FLAG, NULL, NULL, NULL},
  };
  sn_error err = {0};
  text_list words = {0};
  char out[MAX_PATH];
  if (options_parse(table, argc, argv, &words, &err) != SN_OK) return report_error(&err);
  if (o.help) {
    options_print_help("sinew render DIR [options]", "Draw what a run left in DIR.", table);
    return SN_OK;
  }
  if (words.count != 1) {
    fprintf(stderr, "sinew: render: expected the folder of a run; sinew render --help says more\n");
    return SN_ERR_USAGE;
  }
  o.folder = words.items[0];
  if (!o.out) {
    snprintf(out, sizeof out, "%s/%s", o.folder, o.frame ? "frame.png" : "sheet.png");
    o.out = out;
  }
  listen_to_log(false);
  picture p = {0};
  sn_status status = draw(&o, &p, &err);
  destroy(&p);
  if (status != SN_OK) return report_error(&err);
  printf("%s\n", o.out);
  return SN_OK;
}
