#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"

static sn_status no_memory(sn_error* err) {
  return picture_fail(err, SN_ERR_MEMORY, "out of memory");
}

void* list_take(surface_list* list, size_t count, size_t size, sn_error* err) {
  if (list->block_count == list->block_room) {
    size_t room = list->block_room ? 2 * list->block_room : 32;
    void** blocks = realloc(list->blocks, room * sizeof *blocks);
    if (!blocks) return no_memory(err), NULL;
    list->blocks = blocks;
    list->block_room = room;
  }
  void* block = calloc(count ? count : 1, size);
  if (!block) return no_memory(err), NULL;
  list->blocks[list->block_count++] = block;
  return block;
}

sn_status list_add(surface_list* list, const sn_drawn_surface* surface, sn_error* err) {
  if (list->count == list->room) {
    uint32_t room = list->room ? 2 * list->room : 16;
    sn_drawn_surface* surfaces = realloc(list->surfaces, room * sizeof *surfaces);
    if (!surfaces) return no_memory(err);
    list->surfaces = surfaces;
    list->room = room;
  }
  list->surfaces[list->count++] = *surface;
  return SN_OK;
}

void list_clear(surface_list* list) {
  for (size_t i = 0; i < list->block_count; ++i) free(list->blocks[i]);
  list->block_count = 0;
  list->count = 0;
}

void list_destroy(surface_list* list) {
  list_clear(list);
  free(list->blocks);
  free(list->surfaces);
  *list = (surface_list){0};
}
