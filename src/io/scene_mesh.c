// Paths of a scene stay below its folder unless they are absolute.
#include "io/scene_mesh.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "io/character.h"
#include "io/scene_character.h"
#include "io/scene_memory.h"

// Join a relative path to the folder of the scene, taking out "." and ".." by name.
// @return false where it leaves the folder
static bool join_path(const char* folder, const char* relative, char* joined) {
  size_t root = strlen(folder);
  while (root > 0 && folder[root - 1] == '/') root--;
  memcpy(joined, folder, root);
  size_t length = root;
  while (*relative) {
    size_t part = strcspn(relative, "/");
    if (part == 2 && relative[0] == '.' && relative[1] == '.') {
      if (length == root) return false;
      while (joined[length - 1] != '/') length--;
      length--;
    } else if (part > 0 && !(part == 1 && relative[0] == '.')) {
      joined[length++] = '/';
      memcpy(joined + length, relative, part);
      length += part;
    }
    relative += part;
    while (*relative == '/') relative++;
  }
  joined[length] = 0;
  return true;
}

// Refuse the kinds of file that this version cannot read, by their ending before any '#'.
static sn_status check_ending(sn_reader* r, const sn_place* at, const char* path) {
  char ending[8] = "";
  size_t length = strcspn(path, "#");
  for (size_t i = length; i > 0 && length - i < sizeof ending - 1 && path[i] != '/'; --i) {
    if (path[i] != '.' || i == length) continue;
    for (size_t k = 0; i + k < length; ++k) ending[k] = (char)tolower((unsigned char)path[i + k]);
    break;
  }
  return sn_read_check_absent(r, at, ending, false);
}

static sn_status scale_mesh(sn_reader* r, const sn_place* at, sn_mesh* mesh) {
  double unit = r->scene->unit;
  for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; ++i) {
    if (!(fabs(mesh->positions[i]) <= SN_COORDINATE_MAX)) {
      return sn_read_fail(r, at, "found a coordinate of %g, expected none beyond %g",
                          mesh->positions[i], SN_COORDINATE_MAX);
    }
    mesh->positions[i] *= unit;
  }
  return SN_OK;
}

sn_status sn_read_path(sn_reader* r, const sn_place* at, json_t* owner, const char* key,
                       const char* given, size_t length, char** path) {
  SN_TRY(check_ending(r, at, given));
  size_t folder = strlen(r->folder), rest = strlen(given) - length;
  char* file;
  SN_TRY(SN_ARENA_NEW(r->scene->storage, length + 1, &file, r->err));
  memcpy(file, given, length);
  char* whole;  // with the part behind the file
  SN_TRY(SN_ARENA_NEW(r->scene->storage, folder + length + rest + 2, &whole, r->err));
  if (file[0] == '/') {
    memcpy(whole, file, length);
  } else if (!join_path(r->folder, file, whole)) {
    return sn_read_fail(r, at,
                        "found \"%.200s\", expected a path below the folder of the scene; "
                        "for a file elsewhere give the absolute path",
                        given);
  }
  *path = sn_arena_copy_string(r->scene->storage, whole);
  if (!*path) return sn_fail_memory(r->err, folder + length);
  memcpy(whole + strlen(whole), given + length, rest + 1);
  json_t* absolute = json_string(whole);
  if (!absolute) {
    return sn_read_fail(
        r, at, "the folder \"%.200s\" has a name that is not UTF-8, as JSON must be", r->folder);
  }
  return sn_read_replace(r, owner, key, absolute);
}

sn_status sn_read_mesh(sn_reader* r, const sn_place* owner_at, json_t* owner, const char* key,
                       char** path, sn_mesh* mesh) {
  sn_place at = sn_place_key(owner_at, key);
  const char* given = *path;
  if (sn_memory_name(given)) {
    SN_TRY(sn_read_memory_mesh(r, &at, sn_memory_name(given), mesh));
    return scale_mesh(r, &at, mesh);
  }
  size_t character_length = sn_character_name_length(given);
  size_t length = character_length > 0 ? character_length : strlen(given);
  SN_TRY(sn_read_path(r, &at, owner, key, given, length, path));
  if (character_length > 0) {
    const char* name = given[length] == '#' ? given + length + 1 : NULL;
    SN_TRY(sn_read_character_mesh(r, &at, *path, name, mesh));
  } else {
    sn_error cause = {0};
    if (sn_mesh_load(*path, mesh, &cause) != SN_OK) return sn_read_pass_on(r, &at, &cause);
  }
  return scale_mesh(r, &at, mesh);
}
