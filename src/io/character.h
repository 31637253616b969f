// Which files hold characters.
#ifndef SN_IO_CHARACTER_H
#define SN_IO_CHARACTER_H

#include <stddef.h>

// What sn_character_load reads, for messages.
#define SN_CHARACTER_FILE_TEXT "a character (.glb, .gltf, .fbx, .dae) or a motion (.bvh)"

// Length of the file's name in "file.glb#mesh" or "file.glb"; 0 if it is no file of a character, by its
// ending.
size_t sn_character_name_length(const char* path);

#endif
