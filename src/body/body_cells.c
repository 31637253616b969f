// The cells of a body as others are to see them: hanging corners are points of their own.
#include <string.h>

#include "base/sort.h"
#include "body/body_cut.h"
#include "body/body_fields.h"
#include "math/vec.h"

// Where a corner is, in finest cells: z, y and x, 16 bits each.
static uint64_t corner_key(sn_octant o, int c) {
  uint64_t size = sn_octant_size(o);
  uint64_t x = o.x + (c & 1 ? size : 0), y = o.y + (c & 2 ? size : 0), z = o.z + (c & 4 ? size : 0);
  return z << 32 | y << 16 | x;
}

// The keys of all hanging corners, ascending, each once.
static sn_status list_hanging(const sn_octree* tree, sn_pool* pool, sn_arena* scratch,
                              uint64_t** keys, uint32_t* count, sn_error* err) {
  uint64_t* other;
  size_t all = 0, at = 0, kept = 0;
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    all += (size_t)__builtin_popcount(tree->hanging[e]);
  }
  SN_TRY(SN_ARENA_RAW(scratch, all, keys, err));
  SN_TRY(SN_ARENA_RAW(scratch, all, &other, err));
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    for (int c = 0; c < 8; ++c) {
      if (tree->hanging[e] >> c & 1) (*keys)[at++] = corner_key(tree->cells[e], c);
    }
  }
  SN_TRY(sn_sort_keys(pool, *keys, other, all, 0, scratch, err));
  for (size_t i = 0; i < all; ++i) {
    if (i == 0 || (*keys)[i] != (*keys)[i - 1]) (*keys)[kept++] = (*keys)[i];
  }
  *count = (uint32_t)kept;
  return SN_OK;
}

static uint32_t find_key(const uint64_t* keys, uint32_t count, uint64_t key) {
  uint32_t begin = 0, end = count;
  while (end - begin > 1) {
    uint32_t middle = begin + (end - begin) / 2;
    if (keys[middle] <= key) {
      begin = middle;
    } else {
      end = middle;
    }
  }
  SN_ASSERT(count > 0 && keys[begin] == key);
  return begin;
}

// The nodes that corner c hangs between, ascending: whichever cell is asked, the answer is the same.
static void nodes_around(const sn_octree* tree, uint32_t cell, int c, uint32_t nodes[4]) {
  sn_corners corners = sn_octree_corners(tree, cell);
  const uint32_t* at = corners.nodes;
  int k = sn_octant_child_number(tree->cells[cell]);
  int away = c ^ k, first = away & -away, second = away ^ first;
  uint32_t found[4] = {at[k], at[second ? k ^ first : c], at[second ? k ^ second : k], at[c]};
  for (int i = 0; i < 4; ++i) {
    int j = i;
    for (; j > 0 && nodes[j - 1] > found[i]; --j) nodes[j] = nodes[j - 1];
    nodes[j] = found[i];
  }
}

static sn_status describe_corners(const sn_octree* tree, sn_pool* pool, sn_arena* scratch,
                                  sn_cells* cells, sn_error* err) {
  uint64_t* keys;
  SN_TRY(list_hanging(tree, pool, scratch, &keys, &cells->hanging_count, err));
  SN_TRY(SN_ARENA_RAW(cells->storage, 4 * (size_t)cells->hanging_count, &cells->hanging, err));
  SN_TRY(SN_ARENA_RAW(cells->storage, 8 * (size_t)tree->cell_count, &cells->corners, err));
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    uint32_t* corners = cells->corners + 8 * (size_t)e;
    for (int c = 0; c < 8; ++c) {
      corners[c] = sn_octree_corner(tree, e, c);
      if (!(tree->hanging[e] >> c & 1)) continue;
      uint32_t point = find_key(keys, cells->hanging_count, corner_key(tree->cells[e], c));
      nodes_around(tree, e, c, cells->hanging + 4 * (size_t)point);
      corners[c] = tree->node_count + point;
    }
  }
  return SN_OK;
}

static sn_status describe_grid(const sn_octree* tree, sn_cells* cells, sn_error* err) {
  cells->origin = tree->origin;
  cells->edge = tree->cell;
  cells->cell_count = tree->cell_count;
  cells->node_count = tree->node_count;
  SN_TRY(SN_ARENA_RAW(cells->storage, tree->cell_count, &cells->cubes, err));
  SN_TRY(SN_ARENA_RAW(cells->storage, 3 * (size_t)tree->node_count, &cells->nodes, err));
  for (uint32_t e = 0; e < tree->cell_count; ++e) {
    sn_octant o = tree->cells[e];
    cells->cubes[e] = (sn_cell_cube){o.x, o.y, o.z, o.height, tree->hanging[e]};
  }
  for (size_t n = 0; n < tree->node_count; ++n) {
    cells->nodes[3 * n] = tree->nodes[n].x;
    cells->nodes[3 * n + 1] = tree->nodes[n].y;
    cells->nodes[3 * n + 2] = tree->nodes[n].z;
  }
  return SN_OK;
}

// Lame parameters are those of the flesh itself, whatever share of a cell it fills.
static sn_status describe_tissue(const sn_body* body, sn_cells* cells, sn_error* err) {
  size_t count = body->tree.cell_count;
  const uint32_t* mains = body->muscles.main;
  SN_TRY(SN_ARENA_RAW(cells->storage, count, &cells->mu, err));
  SN_TRY(SN_ARENA_RAW(cells->storage, count, &cells->lambda, err));
  SN_TRY(SN_ARENA_RAW(cells->storage, count, &cells->fill, err));
  SN_TRY(SN_ARENA_RAW(cells->storage, count, &cells->muscles, err));
  SN_TRY(SN_ARENA_NEW(cells->storage, count, &cells->materials, err));
  for (uint32_t e = 0; e < count; ++e) {
    double share = sn_body_cut_share(body, e);
    cells->mu[e] = (float)(sn_body_mu(body, e) / share);
    cells->lambda[e] = (float)(sn_body_lambda(body, e) / share);
    cells->muscles[e] = mains ? mains[e] : SN_NO_MUSCLE;
    if (body->cell_kinds) cells->materials[e] = body->cell_kinds[e];
  }
  memcpy(cells->fill, body->fill, count * sizeof *cells->fill);
  return SN_OK;
}

static sn_status copy_name(sn_cells* cells, const char* text, char** name, sn_error* err) {
  *name = sn_arena_copy_string(cells->storage, text);
  return *name ? SN_OK : sn_fail_memory(err, strlen(text) + 1);
}

static sn_status describe_names(const sn_body* body, sn_cells* cells, sn_error* err) {
  cells->material_count = body->kind_count;
  cells->muscle_count = body->muscles.count;
  SN_TRY(SN_ARENA_NEW(cells->storage, body->kind_count, &cells->material_names, err));
  SN_TRY(SN_ARENA_NEW(cells->storage, body->muscles.count, &cells->muscle_names, err));
  for (uint32_t k = 0; k < body->kind_count; ++k) {
    SN_TRY(copy_name(cells, sn_law_name(body->kinds[k].law), &cells->material_names[k], err));
  }
  for (uint32_t m = 0; m < body->muscles.count; ++m) {
    const char* name = body->muscles.items[m].desc->name;
    SN_TRY(copy_name(cells, name, &cells->muscle_names[m], err));
  }
  return SN_OK;
}

static sn_status describe_embedding(const sn_body* body, sn_cells* cells, sn_error* err) {
  const sn_mesh* mesh = &body->desc->mesh;
  cells->vertex_count = mesh->vertex_count;
  SN_TRY(SN_ARENA_RAW(cells->storage, mesh->vertex_count, &cells->vertices, err));
  for (size_t v = 0; v < mesh->vertex_count; ++v) {
    double xi[3];
    uint32_t cell = body->vertex_cells[v];
    sn_octree_place_in(&body->tree, cell, sn_load3(mesh->positions + 3 * v), body->reach, xi);
    cells->vertices[v] = (sn_cell_vertex){cell, {(float)xi[0], (float)xi[1], (float)xi[2]}};
  }
  return SN_OK;
}

sn_status sn_body_describe_cells(const sn_body* body, sn_pool* pool, sn_arena* scratch,
                                 sn_cells* cells, sn_error* err) {
  SN_TRY(describe_grid(&body->tree, cells, err));
  SN_TRY(describe_corners(&body->tree, pool, scratch, cells, err));
  SN_TRY(describe_tissue(body, cells, err));
  SN_TRY(describe_names(body, cells, err));
  return describe_embedding(body, cells, err);
}
