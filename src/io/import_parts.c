// Pieces of foreign characters: ties of vertices, transforms, units and axes.
#include <math.h>
#include <string.h>

#include "geometry/mesh_arrays.h"
#include "io/file.h"
#include "io/gltf.h"
#include "io/import.h"
#include "math/affine.h"

// A matrix whose parts put together again differ by less is not sheared; files hold floats.
#define SHEAR_TOLERANCE 1e-5

sn_status sn_import_read_file(sn_import* im, char** bytes, size_t* size) {
  sn_file file;
  SN_TRY(sn_file_open(im->path, SN_FILE_READ, &file, im->err));
  uint64_t found = file.size;
  sn_file_close(&file);
  SN_CHECK(found <= SN_IMPORT_FILE_MAX, im->err, SN_ERR_INPUT,
           "%s: found %llu bytes, expected at most %llu", im->path, (unsigned long long)found,
           SN_IMPORT_FILE_MAX);
  return sn_file_read(im->path, im->scratch, bytes, size, im->err);
}

// Ties

// Ties by vertex: those of v stand from starts[v] to starts[v + 1].
static sn_status sort_ties(sn_import* im, const sn_tie* ties, size_t tie_count,
                           uint32_t vertex_count, size_t** starts, sn_tie** sorted) {
  size_t* ends;
  SN_TRY(SN_ARENA_NEW(im->scratch, (size_t)vertex_count + 2, &ends, im->err));
  SN_TRY(SN_ARENA_NEW(im->scratch, tie_count, sorted, im->err));
  for (size_t i = 0; i < tie_count; ++i) ends[ties[i].vertex + 2]++;
  for (size_t v = 2; v < (size_t)vertex_count + 2; ++v) ends[v] += ends[v - 1];
  for (size_t i = 0; i < tie_count; ++i) (*sorted)[ends[ties[i].vertex + 1]++] = ties[i];
  *starts = ends;
  return SN_OK;
}

// A joint once, in ascending order, without those that do not pull. @return how many are left
static size_t tidy_ties(sn_tie* ties, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    sn_tie tie = ties[i];
    if (tie.weight == 0.0) continue;
    size_t at = kept;
    while (at > 0 && ties[at - 1].joint > tie.joint) --at;
    if (at > 0 && ties[at - 1].joint == tie.joint) {
      ties[at - 1].weight += tie.weight;
      continue;
    }
    memmove(ties + at + 1, ties + at, (kept - at) * sizeof *ties);
    ties[at] = tie;
    ++kept;
  }
  return kept;
}

sn_status sn_import_weigh(sn_import* im, sn_arena* arena, const sn_tie* ties, size_t tie_count,
                          uint32_t vertex_count, uint16_t own_joint, sn_gltf_mesh* mesh,
                          uint32_t* unweighted_count) {
  size_t* starts;
  sn_tie* sorted;
  SN_TRY(sort_ties(im, ties, tie_count, vertex_count, &starts, &sorted));
  size_t* kept;
  size_t width = 1;
  SN_TRY(SN_ARENA_NEW(im->scratch, vertex_count, &kept, im->err));
  for (size_t v = 0; v < vertex_count; ++v) {
    kept[v] = tidy_ties(sorted + starts[v], starts[v + 1] - starts[v]);
    if (kept[v] > width) width = kept[v];
  }
  SN_CHECK(width <= SN_IMPORT_INFLUENCES_MAX, im->err, SN_ERR_INPUT,
           "%s: mesh \"%s\": found a vertex with %zu joints, expected at most %d", im->path,
           mesh->name, width, SN_IMPORT_INFLUENCES_MAX);
  mesh->influence_count = (int)width;
  SN_TRY(SN_ARENA_NEW(arena, width * vertex_count, &mesh->joints, im->err));
  SN_TRY(SN_ARENA_NEW(arena, width * vertex_count, &mesh->weights, im->err));
  *unweighted_count = 0;
  for (size_t v = 0; v < vertex_count; ++v) {
    const sn_tie* row = sorted + starts[v];
    double sum = 0.0;
    for (size_t i = 0; i < kept[v]; ++i) sum += row[i].weight;
    for (size_t i = 0; i < kept[v]; ++i) {
      mesh->joints[v * width + i] = (uint16_t)row[i].joint;
      mesh->weights[v * width + i] = (float)(row[i].weight / sum);
    }
    if (kept[v] > 0) continue;
    mesh->joints[v * width] = own_joint;
    mesh->weights[v * width] = 1.0f;
    ++*unweighted_count;
  }
  return SN_OK;
}

// Transforms

void sn_import_place(const double matrix[16], sn_gltf_node* node) {
  sn_mat3 linear = sn_affine_linear(matrix);
  double side = sn_det3(&linear) < 0.0 ? -1.0 : 1.0, scale[3];
  for (int c = 0; c < 3; ++c) {
    scale[c] = (c == 0 ? side : 1.0) * sn_length(sn_load3(matrix + 4 * c));
    for (int r = 0; r < 3; ++r) linear.m[r][c] /= scale[c];
  }
  bool is_flat = scale[0] == 0.0 || scale[1] == 0.0 || scale[2] == 0.0;
  node->translate = sn_affine_origin(matrix);
  node->rotate = is_flat ? sn_quat_identity() : sn_quat_from_mat3(&linear);
  node->scale = is_flat ? sn_v3(1.0, 1.0, 1.0) : sn_load3(scale);
  double again[16], size = 0.0, apart = 0.0;
  sn_affine_compose(node->translate, node->rotate, node->scale, again);
  for (int i = 0; i < 12; ++i) {
    size = fmax(size, fabs(matrix[i]));
    apart = fmax(apart, fabs(matrix[i] - again[i]));
  }
  node->has_matrix = is_flat || !(apart <= SHEAR_TOLERANCE * size);
  memcpy(node->matrix, matrix, sizeof node->matrix);
}

// Units and axes

bool sn_import_frame_is_valid(const sn_import_frame* frame) {
  bool taken[3] = {false, false, false};
  for (int r = 0; r < 3; ++r) {
    int found = 0;
    for (int c = 0; c < 3; ++c) {
      double a = frame->axes[r][c];
      if (a == 0.0) continue;
      if (fabs(a) != 1.0 || taken[c]) return false;
      taken[c] = true;
      ++found;
    }
    if (found != 1) return false;
  }
  return isfinite(frame->metres) && frame->metres >= 1e-9 && frame->metres <= 1e9;
}

static sn_vec3 turn(const sn_import_frame* f, sn_vec3 v) {
  const double(*a)[3] = f->axes;
  return sn_v3(a[0][0] * v.x + a[0][1] * v.y + a[0][2] * v.z,
               a[1][0] * v.x + a[1][1] * v.y + a[1][2] * v.z,
               a[2][0] * v.x + a[2][1] * v.y + a[2][2] * v.z);
}

// Factors along the axes change places and keep their signs.
static sn_vec3 turn_scale(const sn_import_frame* f, sn_vec3 s) {
  sn_import_frame plain = *f;
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) plain.axes[r][c] = fabs(f->axes[r][c]);
  }
  return turn(&plain, s);
}

static double hand(const sn_import_frame* f) {
  sn_mat3 m;
  memcpy(m.m, f->axes, sizeof m.m);
  return sn_det3(&m);
}

// The axis of a rotation turns with the rest; seen in a mirror the sense of rotation turns too.
static sn_quat turn_rotation(const sn_import_frame* f, sn_quat q) {
  sn_vec3 axis = sn_scale(hand(f), turn(f, sn_v3(q.x, q.y, q.z)));
  return (sn_quat){axis.x, axis.y, axis.z, q.w};
}

// C M C^-1: columns and rows change places, and the origin is a length.
static void convert_matrix(const sn_import_frame* f, double m[16]) {
  sn_vec3 columns[3], turned[3], origin = turn(f, sn_affine_origin(m));
  for (int c = 0; c < 3; ++c) columns[c] = turn(f, sn_load3(m + 4 * c));
  for (int to = 0; to < 3; ++to) {
    turned[to] = sn_v3(0.0, 0.0, 0.0);
    for (int c = 0; c < 3; ++c) turned[to] = sn_madd(turned[to], f->axes[to][c], columns[c]);
  }
  for (int c = 0; c < 3; ++c) sn_store3(m + 4 * c, turned[c]);
  sn_store3(m + 12, sn_scale(f->metres, origin));
}

static void convert_mesh(const sn_import_frame* f, sn_mesh* mesh) {
  for (size_t v = 0; v < mesh->vertex_count; ++v) {
    double* p = mesh->positions + 3 * v;
    sn_store3(p, sn_scale(f->metres, turn(f, sn_load3(p))));
  }
  if (hand(f) > 0.0) return;
  // Polygons turn about their first corner, from which they are fanned.
  uint32_t* triangle = mesh->triangles;
  for (size_t face = 0; face < mesh->face_count; ++face) {
    uint32_t* corners = mesh->face_vertices + mesh->face_starts[face];
    uint32_t count = mesh->face_starts[face + 1] - mesh->face_starts[face];
    for (uint32_t a = 1, b = count - 1; a < b; ++a, --b) {
      uint32_t kept = corners[a];
      corners[a] = corners[b];
      corners[b] = kept;
    }
    for (uint32_t c = 1; c + 1 < count; ++c, triangle += 3) {
      triangle[0] = corners[0];
      triangle[1] = corners[c];
      triangle[2] = corners[c + 1];
    }
  }
}

static void convert_channel(const sn_import_frame* f, sn_gltf_channel* channel) {
  size_t width = channel->path == SN_GLTF_ROTATE ? 4 : 3;
  for (size_t k = 0; k < channel->key_count; ++k) {
    float* v = channel->values + width * k;
    sn_vec3 from = sn_v3((double)v[0], (double)v[1], (double)v[2]), to;
    if (channel->path == SN_GLTF_ROTATE) {
      sn_quat q = turn_rotation(f, (sn_quat){from.x, from.y, from.z, (double)v[3]});
      to = sn_v3(q.x, q.y, q.z);
    } else if (channel->path == SN_GLTF_SCALE) {
      to = turn_scale(f, from);
    } else {
      to = sn_scale(f->metres, turn(f, from));
    }
    v[0] = (float)to.x;
    v[1] = (float)to.y;
    v[2] = (float)to.z;
  }
}

void sn_import_convert(const sn_import_frame* frame, sn_gltf* gltf) {
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    sn_gltf_node* node = &gltf->nodes[n];
    node->translate = sn_scale(frame->metres, turn(frame, node->translate));
    node->rotate = turn_rotation(frame, node->rotate);
    node->scale = turn_scale(frame, node->scale);
    convert_matrix(frame, node->matrix);
  }
  for (uint32_t m = 0; m < gltf->mesh_count; ++m) convert_mesh(frame, &gltf->meshes[m].mesh);
  for (uint32_t s = 0; s < gltf->skin_count; ++s) {
    for (uint32_t j = 0; j < gltf->skins[s].joint_count; ++j) {
      convert_matrix(frame, gltf->skins[s].inverse_bind + 16 * (size_t)j);
    }
  }
  for (uint32_t c = 0; c < gltf->clip_count; ++c) {
    for (uint32_t k = 0; k < gltf->clips[c].channel_count; ++k) {
      convert_channel(frame, &gltf->clips[c].channels[k]);
    }
  }
}

// The end

sn_status sn_import_sort(sn_import* im) {
  sn_gltf* gltf = im->gltf;
  uint32_t* work;
  SN_TRY(SN_ARENA_NEW(gltf->storage, gltf->node_count, &gltf->order, im->err));
  SN_TRY(SN_ARENA_NEW(im->scratch, 2 * (size_t)gltf->node_count + 1, &work, im->err));
  uint32_t sorted = sn_gltf_sort_nodes(gltf->nodes, gltf->node_count, gltf->order, work);
  SN_CHECK(sorted == gltf->node_count, im->err, SN_ERR_INPUT,
           "%s: found nodes that are their own ancestors, expected a tree", im->path);
  return SN_OK;
}

sn_status sn_import_finish(sn_import* im) {
  sn_gltf* gltf = im->gltf;
  if (!gltf->order) SN_TRY(sn_import_sort(im));
  sn_error why = {0};
  sn_status status = sn_gltf_check(gltf, &why);
  if (status == SN_ERR_MEMORY) return sn_fail(im->err, status, "%s", why.text);
  SN_CHECK(status == SN_OK, im->err, SN_ERR_INPUT, "%s: %s", im->path, why.text);
  return SN_OK;
}
