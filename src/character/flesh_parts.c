#include "character/flesh_parts.h"

#include <math.h>
#include <string.h>

#include "math/vec.h"

// A part encloses a volume if closing its rims adds no more than this share of its area; one that is closed
// up to this share will do where there is nothing better.
#define NEARLY_CLOSED 0.15
#define HALF_OPEN 0.6
// Flesh has at least this share of the largest part's volume, and is as thick as this many cells on average.
#define LEAST_VOLUME 0.003
#define LEAST_THICKNESS 1.0
// A sheet is one cell thick: thinner ones wrinkle without end.
#define SHEET_CELLS 600.0
// Meshes without a skin are flesh if skins have less than this share of the closed volume.
#define LEAST_SKINNED 0.3
// Cells of an octree for each cell-sized piece of surface, with what is fine around bones, and how many
// there shall be; see docs/theory/octree.md.
#define CELLS_PER_AREA 3.1
#define CELLS 1e5

// Volume over half the area is the thickness of a plate.
static double mean_thickness(const sn_part* part) {
  return part->area > 0.0 ? 2.0 * fabs(part->volume) / part->area : 0.0;
}

static double estimate_cell(double area, double given) {
  return given > 0.0 ? given : sqrt(CELLS_PER_AREA * area / CELLS);
}

// Swords and helmets hang on a joint as a whole. They are flesh only of a character that is made of such
// things: one whose skins have little of the volume.
static void mark_props(const sn_rig* rig, const sn_flesh_choice* c, uint8_t* is_prop) {
  double skinned = 0.0, all = 0.0;
  for (size_t t = 0; t < rig->mesh.triangle_count; ++t) {
    is_prop[c->parts.of_triangle[t]] |= !rig->vertex_is_skinned[rig->mesh.triangles[3 * t]];
  }
  for (uint32_t p = 0; p < c->parts.count; ++p) {
    if (c->parts.items[p].rim_share > NEARLY_CLOSED) continue;
    double volume = fabs(c->parts.items[p].volume);
    all += volume;
    if (!is_prop[p]) skinned += volume;
  }
  if (skinned < LEAST_SKINNED * all || skinned == 0.0) memset(is_prop, 0, c->parts.count);
}

static void choose_closed(sn_flesh_choice* c, const uint8_t* is_prop, double given_cell) {
  double largest = 0.0, area = 0.0;
  for (uint32_t p = 0; p < c->parts.count; ++p) {
    const sn_part* part = &c->parts.items[p];
    if (part->rim_share > NEARLY_CLOSED || is_prop[p]) continue;
    area += part->area;
    largest = fmax(largest, fabs(part->volume));
  }
  double cell = estimate_cell(area, given_cell);
  for (uint32_t p = 0; p < c->parts.count; ++p) {
    const sn_part* part = &c->parts.items[p];
    double volume = fabs(part->volume);
    if (part->rim_share > NEARLY_CLOSED) {
      c->reasons[p] = "open: it encloses no volume";
    } else if (is_prop[p]) {
      c->reasons[p] = "hangs on a joint as a whole, without a skin";
    } else if (!(volume >= LEAST_VOLUME * largest && volume > 0.0)) {
      c->reasons[p] = "small beside the largest part";
    } else if (mean_thickness(part) < LEAST_THICKNESS * cell && volume < 0.5 * largest) {
      c->reasons[p] = "thinner than a cell";
    } else {
      c->is_flesh[p] = 1;
      c->reasons[p] =
          part->rim_share > 0.0 ? "encloses a volume, nearly closed" : "encloses a volume";
    }
  }
}

static bool any_flesh(const sn_flesh_choice* c) {
  for (uint32_t p = 0; p < c->parts.count; ++p) {
    if (c->is_flesh[p]) return true;
  }
  return false;
}

// Nothing is closed: the part that encloses most, or else the largest sheet.
static void choose_something(sn_flesh_choice* c) {
  uint32_t best = 0;
  double most = -1.0;
  for (uint32_t p = 0; p < c->parts.count; ++p) {
    const sn_part* part = &c->parts.items[p];
    double volume = part->rim_share <= HALF_OPEN ? fabs(part->volume) : 0.0;
    if (!(volume > most)) continue;
    most = volume;
    best = p;
  }
  c->sheet = !(most > 0.0);
  for (uint32_t p = 0; c->sheet && p < c->parts.count; ++p) {
    if (c->parts.items[p].area > c->parts.items[best].area) best = p;
  }
  c->is_flesh[best] = 1;
  c->reasons[best] = c->sheet
                         ? "nothing encloses a volume: the largest sheet, as thick as its cells"
                         : "nothing is closed: the part that encloses most";
}

// The triangles of some parts as a mesh; vertices keep their numbers.
static sn_status take_parts(const sn_mesh* mesh, const sn_parts* parts, const uint8_t* wanted,
                            sn_arena* scratch, sn_mesh* taken, sn_error* err) {
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  uint32_t *triangles, count = 0;
  SN_TRY(SN_ARENA_RAW(scratch, 3 * (size_t)mesh->triangle_count, &triangles, err));
  for (size_t t = 0; t < mesh->triangle_count; ++t) {
    if (!wanted[parts->of_triangle[t]]) continue;
    memcpy(triangles + 3 * (size_t)count++, mesh->triangles + 3 * t, 3 * sizeof *triangles);
  }
  sn_status status =
      sn_mesh_from_arrays(mesh->positions, mesh->vertex_count, triangles, count, taken, err);
  sn_arena_release(scratch, mark);
  return status;
}

sn_status sn_flesh_choose(const sn_rig* rig, double cell, sn_arena* arena, sn_arena* scratch,
                          sn_flesh_choice* c, sn_error* err) {
  *c = (sn_flesh_choice){0};
  SN_TRY(sn_parts_find(&rig->mesh, arena, scratch, &c->parts, err));
  SN_TRY(SN_ARENA_NEW(arena, c->parts.count, &c->is_flesh, err));
  SN_TRY(SN_ARENA_NEW(arena, c->parts.count, &c->reasons, err));
  uint8_t* is_prop;
  SN_TRY(SN_ARENA_NEW(scratch, c->parts.count, &is_prop, err));
  mark_props(rig, c, is_prop);
  choose_closed(c, is_prop, cell);
  if (!any_flesh(c)) choose_something(c);
  for (uint32_t p = 0; p < c->parts.count; ++p) {
    if (c->is_flesh[p]) c->area += c->parts.items[p].area;
  }
  SN_CHECK(c->area > 0.0, err, SN_ERR_INPUT,
           "found a surface without area, expected one that can hold flesh");
  c->cell = estimate_cell(c->area, cell);
  if (c->sheet && !(cell > 0.0)) c->cell = sqrt(c->area / SHEET_CELLS);
  SN_TRY(take_parts(&rig->mesh, &c->parts, c->is_flesh, scratch, &c->mesh, err));
  SN_TRY(sn_surface_prepare(&c->mesh, arena, scratch, &c->surface, err));
  return sn_bvh_build(&c->surface, NULL, arena, scratch, &c->bvh, err);
}

// Holding

typedef struct held_part {
  uint32_t part;
  bool held;
  sn_mesh mesh;  // owns its memory
  sn_surface surface;
  sn_bvh bvh;
} held_part;

static sn_status make_held_parts(const sn_rig* rig, const sn_flesh_choice* c, sn_arena* scratch,
                                 sn_arena* room, held_part* items, sn_error* err) {
  uint8_t* wanted;
  SN_TRY(SN_ARENA_NEW(scratch, c->parts.count, &wanted, err));
  for (uint32_t p = 0, i = 0; p < c->parts.count; ++p) {
    if (!c->is_flesh[p]) continue;
    held_part* item = &items[i++];
    item->part = p;
    wanted[p] = 1;
    SN_TRY(take_parts(&rig->mesh, &c->parts, wanted, scratch, &item->mesh, err));
    wanted[p] = 0;
    SN_TRY(sn_surface_prepare(&item->mesh, room, scratch, &item->surface, err));
    SN_TRY(sn_bvh_build(&item->surface, NULL, room, scratch, &item->bvh, err));
  }
  return SN_OK;
}

// Cells of the part and of what is at p are the same or next to one another.
static bool part_is_near(const held_part* item, sn_vec3 p, double cell) {
  return sn_bvh_distance(&item->bvh, p, cell) < cell || sn_bvh_winding(&item->bvh, p) > 0.5;
}

static bool bone_is_in(const held_part* item, const sn_flesh_bone* bone, double cell) {
  for (int i = 0; i <= 4; ++i) {
    sn_vec3 way = sn_sub(bone->capsule.to, bone->capsule.from);
    if (part_is_near(item, sn_madd(bone->capsule.from, 0.25 * i, way), 0.5 * cell)) return true;
  }
  return false;
}

static bool parts_touch(const held_part* a, const held_part* b, double cell) {
  for (uint32_t t = 0; t < a->surface.triangle_count; ++t) {
    sn_vec3 p = sn_surface_corner(&a->surface, t, 0);
    if (part_is_near(b, p, 0.5 * cell)) return true;
  }
  return false;
}

// Parts that touch a held one are held, and so on.
static void spread_hold(held_part* items, uint32_t count, double cell) {
  for (bool again = true; again;) {
    again = false;
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t k = 0; k < count && !items[i].held; ++k) {
        if (!items[k].held) continue;
        items[i].held =
            parts_touch(&items[i], &items[k], cell) || parts_touch(&items[k], &items[i], cell);
        again |= items[i].held;
      }
    }
  }
}

static sn_status hold_parts(const sn_bones_input* input, sn_arena* arena, sn_arena* scratch,
                            sn_flesh_choice* c, held_part* items, uint32_t count, sn_bones* bones,
                            sn_error* err) {
  for (uint32_t i = 0; i < count; ++i) {
    for (uint32_t b = 0; b < bones->count && !items[i].held; ++b) {
      items[i].held = bone_is_in(&items[i], &bones->items[b], c->cell);
    }
  }
  spread_hold(items, count, c->cell);
  for (uint32_t i = 0; i < count; ++i) {
    if (items[i].held) continue;
    uint32_t before = bones->count;
    SN_TRY(sn_bones_add_to_part(input, items[i].part, &items[i].bvh, arena, scratch, bones, err));
    if (bones->count > before) continue;
    c->is_flesh[items[i].part] = 0;
    c->reasons[items[i].part] = "no bone fits in it";
  }
  return SN_OK;
}

sn_status sn_flesh_hold(const sn_bones_input* input, sn_arena* arena, sn_arena* scratch,
                        sn_flesh_choice* c, sn_bones* bones, sn_error* err) {
  uint32_t count = 0;
  for (uint32_t p = 0; p < c->parts.count; ++p) count += c->is_flesh[p];
  sn_arena_mark mark = sn_arena_get_mark(scratch);
  held_part* items;
  sn_arena* room;
  SN_TRY(SN_ARENA_NEW(scratch, count, &items, err));
  SN_TRY(sn_arena_create(&room, err));
  sn_status status = make_held_parts(input->rig, c, scratch, room, items, err);
  if (status == SN_OK) {
    status = hold_parts(input, arena, scratch, c, items, count, bones, err);
  }
  for (uint32_t i = 0; i < count; ++i) sn_mesh_destroy(&items[i].mesh);
  sn_arena_destroy(room);
  sn_arena_release(scratch, mark);
  return status;
}

void sn_flesh_choice_destroy(sn_flesh_choice* choice) { sn_mesh_destroy(&choice->mesh); }
