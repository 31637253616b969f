#include "io/scene_memory.h"

#include <stdio.h>
#include <string.h>

const char* sn_memory_name(const char* given) {
  size_t length = strlen(SN_MEMORY_PREFIX);
  return strncmp(given, SN_MEMORY_PREFIX, length) == 0 ? given + length : NULL;
}

// Position of `name` among what the caller gave. A scene file has nothing in memory to refer to.
static sn_status find_name(sn_reader* r, const sn_place* at, const char* name, const char* what,
                           sn_names names, size_t* index) {
  ptrdiff_t found = sn_name_find(names, name);
  if (found < 0) {
    char expected[128];
    snprintf(expected, sizeof expected, "%s in memory%s", what,
             names.count > 0 ? "" : ", of which none are given");
    return sn_read_unknown_name(r, at, name, expected, names);
  }
  *index = (size_t)found;
  return SN_OK;
}

sn_status sn_read_memory_mesh(sn_reader* r, const sn_place* at, const char* name, sn_mesh* mesh) {
  const sn_scene_source* source = r->source;
  sn_names names = {0};
  size_t index = 0;
  if (source) names = SN_NAMES(source->meshes, source->mesh_count);
  SN_TRY(find_name(r, at, name, "the name of a mesh", names, &index));
  const sn_scene_mesh* given = &source->meshes[index];
  sn_error cause = {0};
  sn_status status = sn_mesh_from_arrays(given->positions, given->vertex_count, given->triangles,
                                         given->triangle_count, mesh, &cause);
  return status == SN_OK ? SN_OK : sn_read_pass_on(r, at, &cause);
}

sn_status sn_read_memory_values(sn_reader* r, const sn_place* at, const char* name, uint32_t count,
                                double* values) {
  const sn_scene_source* source = r->source;
  sn_names names = {0};
  size_t index = 0;
  if (source) names = SN_NAMES(source->values, source->values_count);
  SN_TRY(find_name(r, at, name, "the name of vertex values", names, &index));
  const sn_scene_values* given = &source->values[index];
  if (given->count != count) {
    return sn_read_fail(r, at, "found %u values in memory, expected one for each of %u vertices",
                        given->count, count);
  }
  if (count > 0) memcpy(values, given->values, count * sizeof *values);
  return SN_OK;
}
