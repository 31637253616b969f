#include "io/scene_tissue.h"

#include <string.h>
#include <strings.h>

#include "io/character.h"
#include "io/scene_character.h"
#include "io/scene_material.h"
#include "io/scene_memory.h"
#include "io/scene_mesh.h"
#include "io/scene_names.h"
#include "io/scene_table.h"
#include "io/vertex_values.h"
#include "sinew/gltf.h"

#define SOURCE_TEXT \
  "\"file.csv\", \"file.ply#property\", an attribute such as \"_SINEW_STIFFNESS\", or null"
// Of a map that only says where.
#define PLAIN_MOST 1e30
#define MOST_MAPS 1000

// What a map may scale, besides the weights of regions, and by what.
typedef struct parameter {
  const char* name;
  double least, most;
} parameter;
static const parameter parameters[] = {{"stiffness", SN_MAP_LEAST, SN_MAP_MOST},
                                       {"density", SN_MAP_LEAST, SN_MAP_MOST},
                                       {"activation", 0, 1}};

// NULL if it is none.
static const parameter* find_parameter(const char* name) {
  ptrdiff_t at = sn_name_find(SN_NAMES(parameters, COUNT(parameters)), name);
  return at >= 0 ? &parameters[at] : NULL;
}

static bool is_parameter(const char* name) { return find_parameter(name) != NULL; }

static bool is_region(const sn_body_desc* body, const char* name) {
  return sn_name_find(SN_NAMES(body->regions, body->region_count), name) >= 0;
}

// Regions

sn_status sn_take_densities(sn_reader* r, json_t* list) {
  for (size_t i = 0; i < json_array_size(list); ++i) {
    json_t* item = json_array_get(list, i);
    const sn_library_material* named = sn_library_find(json_object_get(item, "material"));
    if (!named || json_object_get(item, "density")) continue;
    SN_TRY(sn_read_replace(r, item, "density", json_real(named->density)));
  }
  return SN_OK;
}

// Null: that of what the region lies in.
static sn_status read_material(sn_reader* r, const sn_place* at, json_t* owner,
                               const sn_field* field, void* target) {
  sn_region_desc* region = target;
  region->has_material = !json_is_null(json_object_get(owner, field->key));
  return region->has_material ? sn_read_material(r, at, owner, field, target) : SN_OK;
}

sn_status sn_read_regions(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                          void* target) {
  sn_body_desc* body = target;
  SN_TRY(sn_name_by_number(r, json_object_get(owner, field->key), "region"));
  SN_TRY(sn_take_densities(r, json_object_get(owner, field->key)));
  SN_TRY(sn_read_list(r, at, owner, field, target));
  for (uint32_t i = 0; i < body->region_count; ++i) {
    if (!is_parameter(body->regions[i].name)) continue;
    sn_place here = sn_place_index(at, i), name_at = sn_place_key(&here, "name");
    return sn_read_fail(r, &name_at, "found \"%s\", which is a map's, expected another name",
                        body->regions[i].name);
  }
  return sn_check_names_differ(r, at, SN_NAMES(body->regions, body->region_count));
}

// Its mesh, and that it changes something.
static sn_status finish_region(sn_reader* r, const sn_place* at, json_t* object, void* target) {
  sn_region_desc* region = target;
  region->has_density = !json_is_null(json_object_get(object, "density"));
  if (!region->has_material && !region->has_density && region->stiffness == 1) {
    return sn_read_fail(
        r, at,
        "found a region that changes nothing, expected \"material\", \"density\" or "
        "\"stiffness\"");
  }
  return sn_read_mesh(r, at, object, "mesh", &region->surface, &region->mesh);
}

static const sn_field region_fields[] = {
    {"name", NULL, sn_read_string, AT(sn_region_desc, name), OPTIONAL, .expected = "a name"},
    {"mesh", NULL, sn_read_string, AT(sn_region_desc, surface), .expected = "the file of a mesh"},
    {"material", "null", read_material, AT(sn_region_desc, material)},
    {"density", "null", sn_read_number_or_null, AT(sn_region_desc, density), ABOVE_TO(0, 1e9)},
    {"stiffness", "1", sn_read_number, AT(sn_region_desc, stiffness),
     FROM_TO(SN_MAP_LEAST, SN_MAP_MOST)},
    {"weight", "1", sn_read_number, AT(sn_region_desc, weight), FROM_TO(0, 1)},
};
const sn_table sn_region_table = {"a region {\"mesh\": \"mesh.obj\", \"material\": {...}}",
                                  TABLE(region_fields), finish_region};

// Maps

typedef struct map_reader {
  sn_reader* r;
  sn_body_desc* body;
  json_t* maps;                // of the document
  const sn_place* at;          // where they stand
  bool is_character;           // else the surface is from another kind of file
  sn_attributes attributes;    // of the body's surface
  const json_t* surface_name;  // of that, for messages
} map_reader;

sn_status sn_read_maps_kind(sn_reader* r, const sn_place* at, json_t* owner, const sn_field* field,
                            void* target) {
  (void)target;
  const json_t* maps = json_object_get(owner, field->key);
  if (json_is_false(maps) || json_is_object(maps)) return SN_OK;
  return sn_read_mismatch(r, at, maps, "false, or {\"stiffness\": \"file.csv\"}");
}

static sn_status find_surface(map_reader* m, const sn_place* body_at, const json_t* body_object) {
  sn_place at = sn_place_key(body_at, "surface");
  m->surface_name = json_object_get(body_object, "surface");
  const char* path = json_string_value(m->surface_name);
  size_t length = sn_character_name_length(path);
  if (length == 0) return SN_OK;
  const char* name = path[length] == '#' ? path + length + 1 : NULL;
  m->is_character = true;
  return sn_find_attributes(m->r, &at, m->body->surface, name, &m->attributes);
}

// The map that an attribute stands for: a parameter or a region, in capitals or not; NULL: none.
static const char* meaning_of(const map_reader* m, const char* attribute) {
  size_t prefix = strlen(SN_GLTF_OWN_PREFIX);
  if (strncmp(attribute, SN_GLTF_OWN_PREFIX, prefix) != 0) return NULL;
  for (size_t i = 0; i < COUNT(parameters); ++i) {
    if (strcasecmp(attribute + prefix, parameters[i].name) == 0) return parameters[i].name;
  }
  for (uint32_t i = 0; i < m->body->region_count; ++i) {
    if (strcasecmp(attribute + prefix, m->body->regions[i].name) == 0) {
      return m->body->regions[i].name;
    }
  }
  return NULL;
}

static bool is_named(const json_t* maps, const char* source) {
  const char* key;
  json_t* value;
  json_object_foreach((json_t*)maps, key, value) {
    if (json_is_string(value) && strcmp(json_string_value(value), source) == 0) return true;
  }
  return false;
}

// Attributes that are there to be used are put into the document, unless it has something else in
// their place.
static sn_status add_attributes(map_reader* m) {
  size_t prefix = strlen(SN_GLTF_OWN_PREFIX);
  for (uint32_t i = 0; i < m->attributes.count; ++i) {
    const char *attribute = m->attributes.names[i], *meaning = meaning_of(m, attribute);
    if (strncmp(attribute, SN_GLTF_OWN_PREFIX, prefix) != 0 || is_named(m->maps, attribute)) {
      continue;
    }
    if (!meaning) {
      sn_log(SN_LOG_WARNING, "body \"%s\": attribute %.60s of its surface is not used",
             m->body->name, attribute);
    } else if (!json_object_get(m->maps, meaning)) {
      sn_log(SN_LOG_INFO, "body \"%s\": attribute %.60s of its surface is taken as map \"%s\"",
             m->body->name, attribute, meaning);
      SN_TRY(sn_read_replace(m->r, m->maps, meaning, json_string(attribute)));
    }
  }
  return SN_OK;
}

#define NO_NAMES ((sn_names){0})

// Names are part of the places that messages name.
static bool is_printable(const char* name) {
  size_t length = strlen(name);
  for (size_t i = 0; i < length; ++i) {
    if ((unsigned char)name[i] < 0x20 || name[i] == 0x7F) return false;
  }
  return length >= 1 && length <= 60;
}

// One map for each key that is not null.
static sn_status list_maps(map_reader* m) {
  sn_body_desc* body = m->body;
  sn_arena* storage = m->r->scene->storage;
  size_t most = json_object_size(m->maps);
  if (most > MOST_MAPS) {
    return sn_read_fail(m->r, m->at, "found %zu maps, expected at most %d", most, MOST_MAPS);
  }
  SN_TRY(SN_ARENA_NEW(storage, most, &body->maps, m->r->err));
  const char* key;
  json_t* value;
  json_object_foreach(m->maps, key, value) {
    sn_place at = sn_place_key(m->at, key);
    if (!is_printable(key)) {
      return sn_read_unknown_name(m->r, m->at, key, "a name of 1 to 60 bytes on one line",
                                  NO_NAMES);
    }
    if (json_is_null(value)) continue;
    if (!json_is_string(value)) return sn_read_mismatch(m->r, &at, value, SOURCE_TEXT);
    sn_map* map = &body->maps[body->map_count++];
    map->name = sn_arena_copy_string(storage, key);
    map->source = sn_arena_copy_string(storage, json_string_value(value));
    if (!map->name || !map->source) return sn_fail_memory(m->r->err, strlen(key));
    SN_TRY(SN_ARENA_NEW(storage, body->mesh.vertex_count, &map->values, m->r->err));
  }
  return SN_OK;
}

// Values from an attribute of the surface; meshes that have none scale nothing and are nowhere.
static sn_status read_attribute(const map_reader* m, const sn_place* at, sn_map* map) {
  if (!m->is_character) {
    return sn_read_fail(
        m->r, at, "found the attribute \"%.60s\", but \"%.200s\" is no glTF file, %s", map->source,
        json_string_value(m->surface_name), "expected \"file.csv\" or \"file.ply#property\"");
  }
  sn_names names = SN_NAMES(m->attributes.names, m->attributes.count);
  if (sn_name_find(names, map->source) < 0) {
    return sn_read_unknown_name(m->r, at, map->source,
                                names.count > 0
                                    ? "an attribute of the surface with one number a vertex"
                                    : "an attribute of the surface, which has none",
                                names);
  }
  sn_take_attribute(&m->attributes, map->source, is_parameter(map->name) ? 1 : 0, map->values);
  return SN_OK;
}

// Length of the file's name in "file.ply#property" or "file.csv"; 0 if it is neither.
static size_t file_length(const char* source) {
  static const char* const endings[] = {".csv", ".ply"};
  for (const char* dot = strchr(source, '.'); dot; dot = strchr(dot + 1, '.')) {
    for (int i = 0; i < 2; ++i) {
      if (strncasecmp(dot, endings[i], 4) != 0) continue;
      if (dot[4] == 0 || (i == 1 && dot[4] == '#' && dot[5])) return (size_t)(dot - source) + 4;
    }
  }
  return 0;
}

static sn_status read_file(const map_reader* m, const sn_place* at, sn_map* map) {
  const char* in_memory = sn_memory_name(map->source);
  if (in_memory) {
    return sn_read_memory_values(m->r, at, in_memory, m->body->mesh.vertex_count, map->values);
  }
  size_t length = file_length(map->source);
  if (length == 0) {
    return sn_read_mismatch(m->r, at, json_object_get(m->maps, map->name), SOURCE_TEXT);
  }
  const char* property = map->source[length] == '#' ? map->source + length + 1 : map->name;
  char* path;
  SN_TRY(sn_read_path(m->r, at, m->maps, map->name, map->source, length, &path));
  sn_arena* scratch;
  SN_TRY(sn_arena_create(&scratch, m->r->err));
  sn_vertex_values values = {0};
  sn_error cause = {0};
  uint32_t count = m->body->mesh.vertex_count;
  sn_status status = sn_vertex_values_read(path, property, count, scratch, &values, &cause);
  if (status == SN_OK) {
    memcpy(map->values, values.values, count * sizeof *map->values);
  } else {
    status = sn_read_pass_on(m->r, at, &cause);
  }
  sn_arena_destroy(scratch);
  return status;
}

static sn_status check_values(const map_reader* m, const sn_place* at, const sn_map* map) {
  const parameter* scaled = find_parameter(map->name);
  double least = scaled ? scaled->least : 0;
  double most = scaled ? scaled->most : is_region(m->body, map->name) ? 1 : PLAIN_MOST;
  for (uint32_t v = 0; v < m->body->mesh.vertex_count; ++v) {
    double value = map->values[v];
    if (value >= least && value <= most) continue;
    return sn_read_fail(m->r, at, "found %g at vertex %u of \"%.200s\", expected %g to %g", value,
                        v, map->source, least, most);
  }
  return SN_OK;
}

sn_status sn_read_maps(sn_reader* r, const sn_place* body_at, json_t* body_object,
                       sn_body_desc* body) {
  sn_place at = sn_place_key(body_at, "maps");
  map_reader m = {.r = r, .body = body, .at = &at, .maps = json_object_get(body_object, "maps")};
  if (json_is_false(m.maps)) return SN_OK;
  SN_TRY(find_surface(&m, body_at, body_object));
  SN_TRY(add_attributes(&m));
  SN_TRY(list_maps(&m));
  for (uint32_t i = 0; i < body->map_count; ++i) {
    sn_map* map = &body->maps[i];
    sn_place map_at = sn_place_key(&at, map->name);
    bool is_attribute = map->source[0] == '_';
    SN_TRY(is_attribute ? read_attribute(&m, &map_at, map) : read_file(&m, &map_at, map));
    SN_TRY(check_values(&m, &map_at, map));
  }
  return SN_OK;
}

// Use

sn_status sn_check_where_map(sn_reader* r, const sn_place* owner_at, const sn_where* where,
                             const sn_body_desc* body) {
  sn_names names = SN_NAMES(body->maps, body->map_count);
  if (sn_name_find(names, where->map) >= 0) return SN_OK;
  sn_place where_at = sn_place_key(owner_at, "where"), at = sn_place_key(&where_at, "map");
  return sn_read_unknown_name(
      r, &at, where->map,
      names.count > 0 ? "a map of the body" : "a map of the body, which has none", names);
}

static bool names_map(const sn_where* where, uint32_t where_body, uint32_t body, const char* map) {
  return where_body == body && where->kind == SN_WHERE_MAP && strcmp(where->map, map) == 0;
}

static bool is_used(const sn_scene* scene, uint32_t body, const char* map) {
  bool used = false;
  for (uint32_t i = 0; i < scene->attachment_count; ++i) {
    used |= names_map(&scene->attachments[i].where, scene->attachments[i].body, body, map);
  }
  for (uint32_t i = 0; i < scene->fixed_count; ++i) {
    used |= names_map(&scene->fixed[i].where, scene->fixed[i].body, body, map);
  }
  for (uint32_t i = 0; i < scene->force_count; ++i) {
    used |= names_map(&scene->forces[i].where, scene->forces[i].body, body, map);
  }
  return used;
}

static sn_status fail_unused(sn_reader* r, const sn_place* at, const sn_body_desc* body,
                             const char* map) {
  const char** names;
  size_t count = COUNT(parameters);
  SN_TRY(SN_ARENA_NEW(r->scene->storage, count + body->region_count, &names, r->err));
  for (size_t i = 0; i < count; ++i) names[i] = parameters[i].name;
  for (uint32_t i = 0; i < body->region_count; ++i) names[count++] = body->regions[i].name;
  return sn_read_unknown_name(r, at, map, "a map that a \"where\" names, or one of a known name",
                              SN_NAMES(names, count));
}

sn_status sn_check_maps_used(sn_reader* r) {
  sn_place list_at = sn_place_key(NULL, "bodies");
  for (uint32_t b = 0; b < r->scene->body_count; ++b) {
    const sn_body_desc* body = &r->scene->bodies[b];
    sn_place body_at = sn_place_index(&list_at, b), at = sn_place_key(&body_at, "maps");
    for (uint32_t i = 0; i < body->map_count; ++i) {
      const char* name = body->maps[i].name;
      if (is_parameter(name) || is_region(body, name) || is_used(r->scene, b, name)) continue;
      return fail_unused(r, &at, body, name);
    }
  }
  return SN_OK;
}
