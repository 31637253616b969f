#include "io/scene_gltf.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "io/scene_mesh.h"
#include "math/affine.h"
#include "math/svd3.h"
#include "sinew/gltf.h"

#define MAX_CLIP_FRAMES 100000

// A node that stretches by more than this against its rest pose does not move rigidly. Scales that
// exporters sample from a pose without any are off by their rounding only.
#define STRETCH_TOLERANCE 1e-3

// A file that was read for this scene.
typedef struct sn_gltf_file {
  struct sn_gltf_file* next;
  sn_gltf gltf;
  char path[];
} sn_gltf_file;

size_t sn_gltf_name_length(const char* path) {
  static const char* const endings[] = {".glb", ".gltf"};
  for (const char* dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
    for (int i = 0; i < 2; ++i) {
      size_t length = strlen(endings[i]);
      if (strncasecmp(dot, endings[i], length) != 0) continue;
      if (dot[length] == 0 || dot[length] == '#') return (size_t)(dot - path) + length;
    }
  }
  return 0;
}

// Files

static sn_status open_file(sn_reader* r, const sn_place* at, const char* path,
                           const sn_gltf** gltf) {
  for (const sn_gltf_file* file = r->gltf_files; file; file = file->next) {
    *gltf = &file->gltf;
    if (strcmp(file->path, path) == 0) return SN_OK;
  }
  size_t length = strlen(path) + 1;
  sn_gltf_file* file = sn_allocate(sizeof *file + length);
  if (!file) return sn_fail_memory(r->err, sizeof *file + length);
  memcpy(file->path, path, length);
  sn_error cause = {0};
  if (sn_gltf_load(path, &file->gltf, &cause) != SN_OK) {
    sn_release(file);
    return sn_read_pass_on(r, at, &cause);
  }
  file->next = r->gltf_files;
  r->gltf_files = file;
  *gltf = &file->gltf;
  return SN_OK;
}

void sn_close_gltf_files(sn_reader* r) {
  while (r->gltf_files) {
    sn_gltf_file* file = r->gltf_files;
    r->gltf_files = file->next;
    sn_gltf_destroy(&file->gltf);
    sn_release(file);
  }
}

static sn_status take_poses(sn_reader* r, const sn_gltf* gltf, size_t count, double** world) {
  size_t bytes = count * 16 * (size_t)gltf->node_count * sizeof(double);
  *world = sn_allocate(bytes);
  return *world ? SN_OK : sn_fail_memory(r->err, bytes);
}

// Meshes

static sn_status find_mesh(sn_reader* r, const sn_place* at, const sn_gltf* gltf, const char* path,
                           const char* name, uint32_t* index) {
  sn_names names = SN_NAMES(gltf->meshes, gltf->mesh_count);
  if (gltf->mesh_count == 0) {
    return sn_read_fail(r, at, "found \"%.200s\", which has no meshes, expected one that has",
                        path);
  }
  *index = 0;
  if (!name && gltf->mesh_count == 1) return SN_OK;
  if (!name) {
    return sn_read_unknown_name(r, at, path, "one of its meshes behind it, as in file.glb#mesh",
                                names);
  }
  ptrdiff_t found = sn_name_find(names, name);
  if (found < 0) return sn_read_unknown_name(r, at, name, "the name of a mesh of the file", names);
  *index = (uint32_t)found;
  return SN_OK;
}

static sn_status copy_groups(const sn_mesh* from, sn_mesh* to, sn_error* err) {
  SN_TRY(SN_ARENA_NEW(to->storage, from->group_count, &to->groups, err));
  for (uint32_t g = 0; g < from->group_count; ++g) {
    const sn_mesh_group* group = &from->groups[g];
    uint32_t* triangles;
    SN_TRY(SN_ARENA_NEW(to->storage, group->triangle_count, &triangles, err));
    memcpy(triangles, group->triangles, group->triangle_count * sizeof *triangles);
    char* name = sn_arena_copy_string(to->storage, group->name);
    if (!name) return sn_fail_memory(err, strlen(group->name));
    to->groups[to->group_count++] = (sn_mesh_group){name, triangles, group->triangle_count};
  }
  return SN_OK;
}

// Where its node, or its joints, put a mesh at rest, if one node has it: the coordinates in which the
// nodes move, whatever the bind pose of the file is like.
static sn_status place_mesh(sn_reader* r, const sn_gltf* gltf, uint32_t index, sn_mesh* mesh) {
  uint32_t user_count = 0, user = 0;
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    if (gltf->nodes[n].mesh != (int64_t)index) continue;
    user_count++;
    user = n;
  }
  if (user_count != 1) return SN_OK;
  double* world;
  SN_TRY(take_poses(r, gltf, 1, &world));
  sn_gltf_pose(gltf, -1, 0.0, world);
  sn_gltf_skin_vertices(gltf, user, world, mesh->positions);
  sn_release(world);
  return SN_OK;
}

sn_status sn_read_gltf_mesh(sn_reader* r, const sn_place* at, const char* path, const char* name,
                            sn_mesh* mesh) {
  const sn_gltf* gltf = NULL;
  uint32_t index = 0;
  SN_TRY(open_file(r, at, path, &gltf));
  SN_TRY(find_mesh(r, at, gltf, path, name, &index));
  const sn_mesh* from = &gltf->meshes[index].mesh;
  if (from->triangle_count == 0) {
    return sn_read_fail(r, at, "found a mesh without triangles, expected a surface");
  }
  SN_TRY(sn_mesh_from_arrays(from->positions, from->vertex_count, from->triangles,
                             from->triangle_count, mesh, r->err));
  SN_TRY(copy_groups(from, mesh, r->err));
  return place_mesh(r, gltf, index, mesh);
}

sn_status sn_find_gltf_mesh(sn_reader* r, const sn_place* at, const char* path, const char* name,
                            const sn_gltf_mesh** mesh) {
  const sn_gltf* gltf = NULL;
  uint32_t index = 0;
  SN_TRY(open_file(r, at, path, &gltf));
  SN_TRY(find_mesh(r, at, gltf, path, name, &index));
  *mesh = &gltf->meshes[index];
  return SN_OK;
}

// Motion

typedef struct motion_source {
  char *from, *node, *clip;
} motion_source;

static const sn_field source_fields[] = {
    {.key = "from",
     .read = sn_read_string,
     .offset = offsetof(motion_source, from),
     .expected = "a glTF file (.glb or .gltf)"},
    {.key = "node",
     .read = sn_read_string,
     .offset = offsetof(motion_source, node),
     .expected = "the name of a node of the file"},
    {.key = "clip",
     .read = sn_read_string,
     .offset = offsetof(motion_source, clip),
     .optional = true,
     .expected = "the name of a clip of the file"},
};
static const sn_table source_table = {
    "{\"from\": \"walk.glb\", \"node\": \"name\", \"clip\": \"name\"}", source_fields, 3, NULL};

// Which node of which clip.
typedef struct mover {
  const sn_gltf* gltf;
  uint32_t node, clip;
} mover;

static sn_status find_mover(sn_reader* r, const sn_place* at, json_t* object,
                            const motion_source* source, mover* m) {
  const sn_gltf* gltf = m->gltf;
  sn_place node_at = sn_place_key(at, "node"), clip_at = sn_place_key(at, "clip");
  sn_names nodes = SN_NAMES(gltf->nodes, gltf->node_count);
  sn_names clips = SN_NAMES(gltf->clips, gltf->clip_count);
  ptrdiff_t node = sn_name_find(nodes, source->node);
  if (node < 0) {
    return sn_read_unknown_name(r, &node_at, source->node, "the name of a node of the file", nodes);
  }
  if (clips.count == 0) {
    sn_place from_at = sn_place_key(at, "from");
    return sn_read_fail(r, &from_at,
                        "found \"%.200s\", which has no animation, expected one that has",
                        source->from);
  }
  ptrdiff_t clip = source->clip ? sn_name_find(clips, source->clip) : 0;
  if (clip < 0) {
    return sn_read_unknown_name(r, &clip_at, source->clip, "the name of a clip of the file", clips);
  }
  m->node = (uint32_t)node;
  m->clip = (uint32_t)clip;
  return sn_read_replace(r, object, "clip", json_string(gltf->clips[clip].name));
}

// @return false where it has none: something is scaled to nothing
static bool invert3(const sn_mat3* a, sn_mat3* inverse) {
  double det = sn_det3(a);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      int p = (j + 1) % 3, q = (j + 2) % 3, s = (i + 1) % 3, t = (i + 2) % 3;
      inverse->m[i][j] = (a->m[p][s] * a->m[q][t] - a->m[p][t] * a->m[q][s]) / det;
    }
  }
  return isfinite(det) && fabs(det) > 1e-30;
}

// The rotation in `moved`, and by how much it stretches at most.
static sn_quat find_rotation(const sn_mat3* moved, double* stretch) {
  double F[9], U[9], s[3], V[9];
  memcpy(F, moved, sizeof F);
  sn_svd3_d(F, U, s, V);
  *stretch = 0.0;
  sn_mat3 rotation;
  for (int i = 0; i < 3; ++i) {
    if (!(fabs(s[i] - 1.0) <= *stretch)) *stretch = fabs(s[i] - 1.0);
    for (int j = 0; j < 3; ++j) {
      rotation.m[i][j] =
          U[3 * i] * V[3 * j] + U[3 * i + 1] * V[3 * j + 1] + U[3 * i + 2] * V[3 * j + 2];
    }
  }
  return sn_quat_from_mat3(&rotation);
}

static bool is_near(sn_vec3 v) {
  return fabs(v.x) <= SN_COORDINATE_MAX && fabs(v.y) <= SN_COORDINATE_MAX &&
         fabs(v.z) <= SN_COORDINATE_MAX;
}

// world(t) world(rest)^-1 about the node's own origin at rest.
static sn_status fill_key(sn_reader* r, const sn_place* at, const double* rest, const double* now,
                          sn_keyframe* key) {
  sn_mat3 rest_linear = sn_affine_linear(rest), now_linear = sn_affine_linear(now), inverse;
  sn_vec3 pivot = sn_affine_origin(rest), travel = sn_sub(sn_affine_origin(now), pivot);
  bool usable = invert3(&rest_linear, &inverse);
  sn_mat3 moved = sn_mul3(&now_linear, &inverse);
  double size = 0.0;
  for (int i = 0; i < 9; ++i) size += fabs(moved.m[i / 3][i % 3]);
  if (!usable || !is_near(pivot) || !is_near(travel) || !(size <= SN_COORDINATE_MAX)) {
    return sn_read_fail(r, at, "found a pose at frame %.0f that is flat or without bounds, %s",
                        key->frame, "expected a rigid motion");
  }
  double stretch;
  key->rotate = find_rotation(&moved, &stretch);
  if (!(stretch <= STRETCH_TOLERANCE)) {
    return sn_read_fail(r, at,
                        "found the node scaled, sheared or mirrored by %g against its rest pose at "
                        "frame %.0f, expected a rigid motion",
                        stretch, key->frame);
  }
  key->pivot = sn_scale(r->scene->unit, pivot);
  key->translate = sn_scale(r->scene->unit, travel);
  return SN_OK;
}

// @param world two poses: at rest and now (2 x 16 x node_count)
static sn_status fill_keys(sn_reader* r, const sn_place* at, const mover* m, double* world,
                           sn_motion* motion) {
  const sn_scene* scene = r->scene;
  double* now = world + 16 * (size_t)m->gltf->node_count;
  size_t node = 16 * (size_t)m->node;
  sn_gltf_pose(m->gltf, -1, 0.0, world);
  // Frame 1 is time 0, and the pose at the end of the clip holds for ever, whatever the frames of the
  // scene are: part of a shot moves as it does in the whole.
  double frames = ceil(m->gltf->clips[m->clip].end * scene->fps);
  if (frames > MAX_CLIP_FRAMES) {
    return sn_read_fail(r, at, "found a clip of %g frames, expected at most %d", frames,
                        MAX_CLIP_FRAMES);
  }
  motion->key_count = (uint32_t)frames + 1;
  SN_TRY(SN_ARENA_NEW(scene->storage, motion->key_count, &motion->keys, r->err));
  for (uint32_t k = 0; k < motion->key_count; ++k) {
    motion->keys[k].frame = 1 + (double)k;
    sn_gltf_pose(m->gltf, (int32_t)m->clip, k / scene->fps, now);
    SN_TRY(fill_key(r, at, world + node, now + node, &motion->keys[k]));
  }
  return SN_OK;
}

sn_status sn_read_gltf_motion(sn_reader* r, const sn_place* at, json_t* object, sn_motion* motion) {
  motion_source source = {0};
  mover m = {0};
  SN_TRY(sn_value_object(r, at, object, &source_table, &source));
  sn_place from_at = sn_place_key(at, "from");
  const char* given = source.from;
  SN_TRY(sn_read_path(r, &from_at, object, "from", given, strlen(given), &source.from));
  if (sn_gltf_name_length(given) != strlen(given)) {
    return sn_read_mismatch(r, &from_at, json_object_get(object, "from"),
                            source_fields[0].expected);
  }
  SN_TRY(open_file(r, &from_at, source.from, &m.gltf));
  SN_TRY(find_mover(r, at, object, &source, &m));
  double* world;
  SN_TRY(take_poses(r, m.gltf, 2, &world));
  sn_status status = fill_keys(r, at, &m, world, motion);
  sn_release(world);
  return status;
}
