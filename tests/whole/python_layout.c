// Prints where the compiler puts the fields of the structures that python/sinew/_library.py mirrors.
#include <sinew/sn.h>
#include <stdio.h>

#define SIZE(type) printf("%s %zu\n", #type, sizeof(type))
#define FIELD(type, name) \
  printf("%s.%s %zu %zu\n", #type, #name, offsetof(type, name), sizeof((type){0}.name))

int main(void) {
  SIZE(sn_error);
  FIELD(sn_error, status);
  FIELD(sn_error, text);
  SIZE(sn_scene_change);
  FIELD(sn_scene_change, path_and_value);
  SIZE(sn_scene_mesh);
  FIELD(sn_scene_mesh, name);
  FIELD(sn_scene_mesh, positions);
  FIELD(sn_scene_mesh, vertex_count);
  FIELD(sn_scene_mesh, triangles);
  FIELD(sn_scene_mesh, triangle_count);
  SIZE(sn_scene_values);
  FIELD(sn_scene_values, name);
  FIELD(sn_scene_values, values);
  FIELD(sn_scene_values, count);
  SIZE(sn_scene_source);
  FIELD(sn_scene_source, name);
  FIELD(sn_scene_source, json);
  FIELD(sn_scene_source, length);
  FIELD(sn_scene_source, folder);
  FIELD(sn_scene_source, meshes);
  FIELD(sn_scene_source, mesh_count);
  FIELD(sn_scene_source, values);
  FIELD(sn_scene_source, values_count);
  SIZE(sn_run_opts);
  FIELD(sn_run_opts, folder);
  FIELD(sn_run_opts, first_frame);
  FIELD(sn_run_opts, last_frame);
  FIELD(sn_run_opts, resume);
  FIELD(sn_run_opts, resume_frame);
  return 0;
}
