// What the scene has around and in its bodies: bones, colliders, muscles.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "view.h"

// Whether the frame may be asked for; if not, the answer says so.
static bool check_frame(const view_request* r, uint32_t frame) {
  if (run_has_frame(r->run, frame)) return true;
  answer_error(r->answer, 404, "frame %u is not one of the scene's %d to %d", frame,
               r->run->first_frame, r->run->last_frame);
  return false;
}

static void answer_shapes(view_request* r, const shape* shapes, uint32_t count) {
  bytes_add(&r->answer->bytes, &count, sizeof count);
  for (uint32_t i = 0; i < count; ++i) shape_write(&shapes[i], r->run->unit, &r->answer->bytes);
}

void answer_bones_surface(view_request* r) {
  answer_shapes(r, r->run->bones, r->run->scene ? r->run->scene->bone_count : 0);
}

void answer_colliders_surface(view_request* r) {
  answer_shapes(r, r->run->colliders, r->run->scene ? r->run->scene->collider_count : 0);
}

void answer_bones_frame(view_request* r) {
  const view_run* run = r->run;
  if (!check_frame(r, r->number[1])) return;
  for (uint32_t i = 0; run->scene && i < run->scene->bone_count; ++i) {
    const sn_bone_desc* bone = &run->scene->bones[i];
    shape_place(&run->bones[i], &bone->motion, &bone->shape, r->number[1], run->unit,
                &r->answer->bytes);
  }
}

void answer_colliders_frame(view_request* r) {
  const view_run* run = r->run;
  if (!check_frame(r, r->number[1])) return;
  for (uint32_t i = 0; run->scene && i < run->scene->collider_count; ++i) {
    const sn_collider_desc* collider = &run->scene->colliders[i];
    shape_place(&run->colliders[i], &collider->motion, &collider->shape, r->number[1], run->unit,
                &r->answer->bytes);
  }
}

void answer_muscles(view_request* r) {
  const view_body* body = answer_body(r);
  byte_buffer* out = &r->answer->bytes;
  if (!body) return;
  frame_span span = run_stored(r->run, r->number[1], NULL);
  bytes_print(out, "[");
  for (uint32_t m = 0; m < body->muscle_count; ++m) {
    const sn_muscle_desc* muscle = &r->run->scene->muscles[body->muscle_numbers[m]];
    bytes_print(out, "%s{\"name\": ", m ? ", " : "");
    bytes_quote(out, muscle->name);
    bytes_print(out, ", \"activation\": [");
    for (uint32_t i = 0; i < span.count && muscle->activation_count > 0; ++i) {
      if (i) bytes_print(out, ",");
      bytes_number(
          out, sn_number_at(muscle->activation, muscle->activation_count, (double)span.first + i));
    }
    bytes_print(out, "]}");
  }
  bytes_print(out, "]\n");
}

void answer_muscle(view_request* r) {
  const view_body* body = answer_body(r);
  if (!body) return;
  if (r->number[2] >= body->muscle_count) {
    answer_error(r->answer, 404, "there is no muscle %u; body \"%s\" has %u, counted from 0",
                 r->number[2], body->name, body->muscle_count);
    return;
  }
  shape_write(&body->muscles[r->number[2]], r->run->unit, &r->answer->bytes);
}

// Attachments

#define TIES_HEAD 24
#define HELD_BIT 0x80000000u

// One as the page gets it.
typedef struct shown_tie {
  uint32_t node;
  float place[3];
  uint32_t holder;
} shown_tie;

static uint32_t holder_of(const sn_tied_node* tie) {
  return tie->fixed == SN_NOT_FIXED ? tie->bone : HELD_BIT | tie->fixed;
}

// The ties of a file whose size fits its head; those of other cells are not shown.
static bool read_ties(int file, uint64_t size, const cells_header* cells, sn_tied_node** ties,
                      uint32_t* count) {
  unsigned char head[TIES_HEAD];
  uint64_t checksum;
  if (size < sizeof head + 8 || !read_at(file, 0, head, sizeof head)) return false;
  memcpy(count, head + 12, sizeof *count);
  memcpy(&checksum, head + 16, sizeof checksum);
  uint64_t bytes = (uint64_t)*count * sizeof **ties;
  if (memcmp(head, "SINEWTI\0\1\0\0\0", 12) != 0 || size != sizeof head + bytes + 8 ||
      checksum != cells->checksum) {
    return false;
  }
  *ties = malloc((size_t)bytes + 1);
  return *ties && read_at(file, sizeof head, *ties, (size_t)bytes);
}

static void show_ties(view_request* r, int file, const cells_header* cells,
                      const sn_tied_node* ties, uint32_t count) {
  byte_buffer* out = &r->answer->bytes;
  bytes_add(out, &count, sizeof count);
  for (uint32_t i = 0; i < count; ++i) {
    uint16_t at[3];
    shown_tie shown = {.node = ties[i].node, .holder = holder_of(&ties[i])};
    if (ties[i].node >= cells->nodes ||
        !read_at(file, cells->nodes_at + 6 * (uint64_t)ties[i].node, at, sizeof at)) {
      answer_error(r->answer, 404, "the files of cells and ties are damaged; run again");
      return;
    }
    for (int k = 0; k < 3; ++k) {
      shown.place[k] = (float)(cells->origin[k] + cells->edge * at[k]);
    }
    bytes_add(out, &shown, sizeof shown);
  }
}

// Without cells nothing is said of nodes: there are no attachments then.
void answer_attachments(view_request* r) {
  const view_body* body = answer_body(r);
  struct stat cells_info, info;
  cells_header cells;
  sn_tied_node* ties = NULL;
  uint32_t count = 0;
  if (!body) return;
  int cells_file = folder_file(&r->run->folder, body->name, ".cells", &cells_info);
  int file = folder_file(&r->run->folder, body->name, ".ties", &info);
  bool found = cells_file >= 0 && file >= 0 &&
               cells_read_header(cells_file, (uint64_t)cells_info.st_size, &cells) &&
               read_ties(file, (uint64_t)info.st_size, &cells, &ties, &count);
  if (found) {
    show_ties(r, cells_file, &cells, ties, count);
  } else {
    count = 0;
    bytes_add(&r->answer->bytes, &count, sizeof count);
  }
  free(ties);
  if (cells_file >= 0) close(cells_file);
  if (file >= 0) close(file);
}

// Defects

#define DEFECTS_MOST 20000

static void print_list(byte_buffer* out, const char* name, const sn_defect_list* list, int size,
                       const char* between) {
  bytes_print(out, "%s\"%s\": [", between, name);
  for (uint32_t i = 0; i < list->kept; ++i) {
    if (i) bytes_print(out, ",");
    if (size == 1) {
      bytes_print(out, "%u", list->items[i]);
    } else {
      bytes_print(out, "[%u,%u]", list->items[2 * (size_t)i], list->items[2 * (size_t)i + 1]);
    }
  }
  bytes_print(out, "]");
}

static void print_defects(byte_buffer* out, const sn_mesh_defects* d) {
  static const char* const NAMES[6] = {"holes",      "nonmanifold", "intersecting",
                                       "degenerate", "duplicate",   "self"};
  const sn_defect_list* lists[6] = {&d->holes,      &d->nonmanifold, &d->intersecting,
                                    &d->degenerate, &d->duplicate,   &d->crossed};
  bool truncated = false;
  for (int k = 0; k < 6; ++k) {
    print_list(out, NAMES[k], lists[k], k < 3 ? 2 : 1, k ? ",\n" : "{");
    truncated |= lists[k]->kept < lists[k]->count;
  }
  bytes_print(out, ",\n\"counts\": {");
  for (int k = 0; k < 6; ++k) {
    bytes_print(out, "%s\"%s\": %u", k ? ", " : "", NAMES[k], lists[k]->count);
  }
  bytes_print(out, "}, \"truncated\": %s}\n", truncated ? "true" : "false");
}

// The surface of the scene has all its digits; that of the run has nine.
static sn_status find_defects(const view_request* r, const view_body* body, sn_mesh_defects* found,
                              sn_error* err) {
  const sn_mesh* mesh = r->run->scene ? &r->run->scene->bodies[r->number[1]].mesh : NULL;
  if (mesh && mesh->vertex_count == body->vertex_count &&
      mesh->triangle_count == body->triangle_count) {
    return sn_mesh_find_defects(mesh, DEFECTS_MOST, found, err);
  }
  sn_mesh copy = {0};
  size_t count = 3 * (size_t)body->vertex_count;
  double* places = malloc((count + 1) * sizeof *places);
  err->status = SN_ERR_MEMORY;
  if (!places) return SN_ERR_MEMORY;
  for (size_t i = 0; i < count; ++i) places[i] = (double)body->rest[i];
  sn_status status = sn_mesh_from_arrays(places, body->vertex_count, body->triangles,
                                         body->triangle_count, &copy, err);
  if (status == SN_OK) status = sn_mesh_find_defects(&copy, DEFECTS_MOST, found, err);
  sn_mesh_destroy(&copy);
  free(places);
  return status;
}

void answer_defects(view_request* r) {
  const view_body* body = answer_body(r);
  sn_mesh_defects found = {0};
  sn_error err = {0};
  if (!body) return;
  if (find_defects(r, body, &found, &err) == SN_OK) {
    print_defects(&r->answer->bytes, &found);
  } else {
    answer_error(r->answer, 503, "%s", err.text[0] ? err.text : "out of memory");
  }
  sn_mesh_defects_destroy(&found);
}
