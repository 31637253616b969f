// character_pose FILE CLIP TIME...: the vertices of a character at times of a clip (its name, or a number
// from 0), each time a block of lines "x y z" that a blank line ends. Before them a line with the counts
// of nodes, meshes, skins and clips.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sinew/gltf.h"

static int fail(const char* text) {
  fprintf(stderr, "%s\n", text);
  return 1;
}

static int32_t find_clip(const sn_gltf* character, const char* name) {
  for (uint32_t c = 0; c < character->clip_count; ++c) {
    if (strcmp(character->clips[c].name, name) == 0) return (int32_t)c;
  }
  char* end;
  long number = strtol(name, &end, 10);
  return *end == 0 && number < (long)character->clip_count ? (int32_t)number : -2;
}

static void print_pose(const sn_gltf* character, uint32_t vertex_count, int32_t clip, double time,
                       double* world, double* positions) {
  sn_gltf_pose(character, clip, time, world);
  sn_character_pose(character, world, positions);
  for (size_t v = 0; v < vertex_count; ++v) {
    const double* p = positions + 3 * v;
    printf("%.9g %.9g %.9g\n", p[0], p[1], p[2]);
  }
  printf("\n");
}

int main(int count, char** arguments) {
  if (count < 4) return fail("character_pose FILE CLIP TIME...");
  sn_gltf character;
  sn_mesh joined;
  sn_error err = {0};
  if (sn_character_load(arguments[1], &character, &err) != SN_OK) return fail(err.text);
  if (sn_character_join(&character, &joined, &err) != SN_OK) return fail(err.text);
  int32_t clip = find_clip(&character, arguments[2]);
  if (clip < -1) return fail("no such clip");
  printf("%u %u %u %u\n", character.node_count, character.mesh_count, character.skin_count,
         character.clip_count);
  double* world = malloc(16 * (size_t)character.node_count * sizeof *world);
  double* positions = malloc(3 * (size_t)joined.vertex_count * sizeof *positions);
  if (!world || !positions) return fail("out of memory");
  for (int i = 3; i < count; ++i) {
    print_pose(&character, joined.vertex_count, clip, strtod(arguments[i], NULL), world, positions);
  }
  free(world);
  free(positions);
  sn_mesh_destroy(&joined);
  sn_gltf_destroy(&character);
  return 0;
}
