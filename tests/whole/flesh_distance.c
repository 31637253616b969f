// flesh_distance CHARACTER CACHE.pc2 FPS [CLIP]: how far a simulated skin is from the skinned pose, over all
// vertices and frames, in shares of the diagonal of the bind pose. Prints one line of JSON, or says which
// frame has a number that is not finite. CLIP is a number from 0; -1 is the pose of the file. Uses public
// headers only.
#include <math.h>
#include <sinew/sn.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct comparison {
  sn_gltf character;
  sn_mesh rest;
  sn_pc2_info info;
  double* world;
  double* posed;
  float* simulated;
  double* distances;  // of all frames
  size_t count;
  double diagonal;
} comparison;

static int fail(const char* text) {
  fprintf(stderr, "flesh_distance: %s\n", text);
  return EXIT_FAILURE;
}

static double find_diagonal(const sn_mesh* mesh) {
  double square = 0;
  for (size_t axis = 0; axis < 3; ++axis) {
    double lo = INFINITY, hi = -INFINITY;
    for (size_t v = 0; v < mesh->vertex_count; ++v) {
      lo = fmin(lo, mesh->positions[3 * v + axis]);
      hi = fmax(hi, mesh->positions[3 * v + axis]);
    }
    square += (hi - lo) * (hi - lo);
  }
  return sqrt(square);
}

static int compare_doubles(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static int compare_frame(comparison* c, const char* cache, uint32_t frame, double fps, int clip) {
  sn_error err = {0};
  if (sn_pc2_read_frame(cache, frame, c->simulated, &err) != SN_OK) return fail(err.text);
  double time = ((double)c->info.first_frame + frame - 1) / fps;
  sn_gltf_pose(&c->character, clip, time, c->world);
  sn_character_pose(&c->character, c->world, c->posed);
  for (size_t v = 0; v < c->rest.vertex_count; ++v) {
    double square = 0;
    for (size_t i = 3 * v; i < 3 * v + 3; ++i) {
      double d = (double)c->simulated[i] - c->posed[i];
      square += d * d;
    }
    if (!isfinite(square)) {
      printf("frame %u of the cache: vertex %zu is not finite\n", frame, v);
      return EXIT_FAILURE;
    }
    c->distances[c->count++] = sqrt(square) / c->diagonal;
  }
  return 0;
}

static int compare_all(comparison* c, const char* path, const char* cache, double fps, int clip) {
  sn_error err = {0};
  if (sn_character_load(path, &c->character, &err) != SN_OK) return fail(err.text);
  if (sn_character_join(&c->character, &c->rest, &err) != SN_OK) return fail(err.text);
  if (sn_pc2_read_info(cache, &c->info, &err) != SN_OK) return fail(err.text);
  if (c->info.vertex_count != c->rest.vertex_count) return fail("vertex counts differ");
  if (clip >= (int)c->character.clip_count) clip = -1;
  size_t vertices = c->info.vertex_count;
  c->world = malloc(sizeof(double[16]) * c->character.node_count);
  c->posed = malloc(sizeof(double[3]) * vertices);
  c->simulated = malloc(sizeof(float[3]) * vertices);
  c->distances = malloc(sizeof(double) * vertices * (c->info.frame_count + 1));
  if (!c->world || !c->posed || !c->simulated || !c->distances) return fail("out of memory");
  c->diagonal = find_diagonal(&c->rest);
  for (uint32_t f = 0; f < c->info.frame_count; ++f) {
    if (compare_frame(c, cache, f, fps, clip) != 0) return EXIT_FAILURE;
  }
  if (c->count == 0) return fail("no frames");
  qsort(c->distances, c->count, sizeof *c->distances, compare_doubles);
  printf("{\"frames\": %u, \"median\": %.6f, \"p99\": %.6f, \"most\": %.6f, \"diagonal\": %.6g}\n",
         c->info.frame_count, c->distances[c->count / 2], c->distances[c->count * 99 / 100],
         c->distances[c->count - 1], c->diagonal);
  return EXIT_SUCCESS;
}

int main(int count, char** words) {
  if (count < 4) return fail("expected CHARACTER CACHE.pc2 FPS [CLIP]");
  comparison c = {0};
  int clip = count > 4 ? (int)strtol(words[4], NULL, 10) : 0;
  int result = compare_all(&c, words[1], words[2], strtod(words[3], NULL), clip);
  free(c.world);
  free(c.posed);
  free(c.simulated);
  free(c.distances);
  sn_mesh_destroy(&c.rest);
  sn_gltf_destroy(&c.character);
  return result;
}
