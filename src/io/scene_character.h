// Characters that a scene takes surfaces, maps and motion from. Each file is read once.
#ifndef SN_IO_SCENE_CHARACTER_H
#define SN_IO_SCENE_CHARACTER_H

#include "io/scene_json.h"
#include "sinew/gltf.h"

// The document of a file, until the files are closed. @param path absolute
sn_status sn_open_character(sn_reader* r, const sn_place* at, const char* path,
                            const sn_gltf** character);
// The document of a character that a motion drives by the names of its joints, with a clip more; each
// pair of files and clip once. @param at of the motion @param motion the document of `motion_path`
// @param clip of the motion; out: of the character
sn_status sn_open_driven(sn_reader* r, const sn_place* at, const char* path,
                         const char* motion_path, const sn_gltf* motion, uint32_t* clip,
                         const sn_gltf** character);
// Forget them all.
void sn_close_characters(sn_reader* r);

// A mesh of a file by name, in the bind pose if exactly one node has it, else as the file has it.
// Without a name: that of the only node with one, or all that nodes have as one, as
// sn_character_join makes it. @param path absolute @param name or NULL
sn_status sn_read_character_mesh(sn_reader* r, const sn_place* at, const char* path,
                                 const char* name, sn_mesh* mesh);

// What its vertices have one number each of.
typedef struct sn_attributes {
  const sn_gltf* character;
  int64_t mesh;        // the one that was chosen; -1: all that nodes have, by ascending node
  const char** names;  // each once (count)
  uint32_t count;
} sn_attributes;

// Those of the same mesh, until the files are closed.
sn_status sn_find_attributes(sn_reader* r, const sn_place* at, const char* path, const char* name,
                             sn_attributes* attributes);
// The numbers in the order of the vertices. @param otherwise where a mesh has none of this name
void sn_take_attribute(const sn_attributes* attributes, const char* name, double otherwise,
                       double* values);

#endif
