// Meshes and skins of an FBX file. Vertices stay those of the file, in its order.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "geometry/mesh_arrays.h"
#include "io/fbx.h"
#include "math/affine.h"

// The mesh of a model.
typedef struct mesh_taker {
  sn_fbx* f;
  const sn_fbx_object *model, *geometry;
  uint32_t node;
  sn_gltf_mesh* mesh;
  sn_mesh_builder builder;
  sn_tie* ties;
  size_t tie_count;
} mesh_taker;

static sn_status fail_mesh(const mesh_taker* m, const char* place, const char* what) {
  return sn_fail(m->f->im->err, SN_ERR_INPUT, "%s: mesh \"%s\": %s: %s", m->f->im->path,
                 m->mesh->name, place, what);
}

// Objects of a kind that lead to `to`, from link *at on; NULL behind the last.
static const sn_fbx_object* next_source(const sn_fbx* f, const sn_fbx_object* to, const char* kind,
                                        uint32_t* at) {
  for (; *at < to->link_count; ++*at) {
    const sn_fbx_link* link = &f->links[to->first_link + *at];
    const sn_fbx_object* from = &f->objects[link->from];
    if (!link->property && sn_fbx_is(from, kind)) {
      ++*at;
      return from;
    }
  }
  return NULL;
}

// Geometry

// Geometric transforms place a mesh at its node and nothing below it, so that they are part of it.
static void find_geometric(const sn_fbx_object* model, double m[16]) {
  double t[3] = {0.0, 0.0, 0.0}, r[3] = {0.0, 0.0, 0.0}, s[3] = {1.0, 1.0, 1.0};
  sn_fbx_property(model, "GeometricTranslation", t, 3);
  sn_fbx_property(model, "GeometricRotation", r, 3);
  sn_fbx_property(model, "GeometricScaling", s, 3);
  sn_affine_compose(sn_load3(t), sn_fbx_turn(sn_load3(r), 0), sn_load3(s), m);
}

static sn_status add_vertices(mesh_taker* m) {
  double *numbers, geometric[16];
  size_t count;
  SN_TRY(sn_fbx_numbers(m->f, sn_fbx_find(m->geometry->element, "Vertices"), &numbers, &count));
  if (count % 3 != 0) return fail_mesh(m, "Vertices", "found a part of one, expected whole ones");
  find_geometric(m->model, geometric);
  for (size_t v = 0; v < count; v += 3) {
    sn_vec3 p = sn_affine_apply(geometric, sn_load3(numbers + v));
    if (!sn_mesh_coordinate_is_valid(p.x) || !sn_mesh_coordinate_is_valid(p.y) ||
        !sn_mesh_coordinate_is_valid(p.z)) {
      return fail_mesh(m, "Vertices", "found one that is not finite, expected numbers");
    }
    SN_TRY(sn_mesh_builder_add_vertex(&m->builder, p, m->f->im->err));
  }
  return SN_OK;
}

// Groups of the materials of a model, in the order of its links; without any, one of its own.
static sn_status make_groups(mesh_taker* m, uint32_t** groups, uint32_t* group_count) {
  SN_TRY(SN_ARENA_NEW(m->f->im->scratch, (size_t)m->model->link_count + 1, groups, m->f->im->err));
  const sn_fbx_object* material;
  for (uint32_t at = 0; (material = next_source(m->f, m->model, "Material", &at)); ++*group_count) {
    char made[32];
    snprintf(made, sizeof made, "primitive%u", *group_count);
    const char* name = material->name[0] ? material->name : made;
    SN_TRY(sn_mesh_builder_find_group(&m->builder, name, strlen(name), &(*groups)[*group_count],
                                      m->f->im->err));
    SN_TRY(sn_mesh_builder_set_material(&m->builder, (*groups)[*group_count], name, strlen(name),
                                        NULL, m->f->im->err));
  }
  if (*group_count > 0) return SN_OK;
  *group_count = 1;
  return sn_mesh_builder_find_group(&m->builder, "primitive0", 10, &(*groups)[0], m->f->im->err);
}

// Which material each polygon has. @param count of `materials`: 1 for all, or one each, or 0
static sn_status read_materials(mesh_taker* m, double** materials, size_t* count) {
  const sn_fbx_element* layer = sn_fbx_find(m->geometry->element, "LayerElementMaterial");
  const char* mapping;
  *count = 0;
  if (!layer) return SN_OK;
  SN_TRY(sn_fbx_text(m->f, sn_fbx_find(layer, "MappingInformationType"), 0, &mapping));
  SN_TRY(sn_fbx_numbers(m->f, sn_fbx_find(layer, "Materials"), materials, count));
  if (strcmp(mapping, "AllSame") == 0 && *count > 1) *count = 1;
  return SN_OK;
}

// Texture coordinates of each corner, where the file has them so. @param count of pairs; 0: none
typedef struct corner_uvs {
  double *pairs, *indices;
  size_t count, index_count;
} corner_uvs;

static sn_status read_uvs(mesh_taker* m, corner_uvs* uvs) {
  const sn_fbx_element* layer = sn_fbx_find(m->geometry->element, "LayerElementUV");
  const char* mapping;
  *uvs = (corner_uvs){0};
  if (!layer || !sn_fbx_find(layer, "UV")) return SN_OK;
  SN_TRY(sn_fbx_text(m->f, sn_fbx_find(layer, "MappingInformationType"), 0, &mapping));
  if (strcmp(mapping, "ByPolygonVertex") != 0) return SN_OK;
  SN_TRY(sn_fbx_numbers(m->f, sn_fbx_find(layer, "UV"), &uvs->pairs, &uvs->count));
  uvs->count /= 2;
  if (!sn_fbx_find(layer, "UVIndex")) return SN_OK;
  return sn_fbx_numbers(m->f, sn_fbx_find(layer, "UVIndex"), &uvs->indices, &uvs->index_count);
}

// An ornament: what is wrong with it becomes 0, 0.
static sn_status add_uv(mesh_taker* m, const corner_uvs* uvs, size_t corner) {
  if (uvs->count == 0) return SN_OK;
  double place = (double)corner;
  if (uvs->indices) place = corner < uvs->index_count ? uvs->indices[corner] : -1.0;
  bool good = place >= 0.0 && place < (double)uvs->count;
  const double* pair = uvs->pairs + (good ? 2 * (size_t)place : 0);
  good = good && fabs(pair[0]) <= FLT_MAX && fabs(pair[1]) <= FLT_MAX;
  sn_error* err = m->f->im->err;
  SN_TRY(sn_mesh_builder_set_uv(&m->builder, sn_mesh_builder_uv_count(&m->builder), err));
  return sn_mesh_builder_add_uv(&m->builder, good ? (float)pair[0] : 0.0f,
                                good ? (float)pair[1] : 0.0f, err);
}

static sn_status add_polygons(mesh_taker* m) {
  corner_uvs uvs;
  double *corners, *materials = NULL;
  size_t corner_count, material_count;
  uint32_t *groups, group_count = 0, vertex_count = sn_mesh_builder_vertex_count(&m->builder);
  sn_error* err = m->f->im->err;
  SN_TRY(sn_fbx_numbers(m->f, sn_fbx_find(m->geometry->element, "PolygonVertexIndex"), &corners,
                        &corner_count));
  SN_TRY(make_groups(m, &groups, &group_count));
  SN_TRY(read_materials(m, &materials, &material_count));
  SN_TRY(read_uvs(m, &uvs));
  size_t first = 0, polygon = 0, left_out = 0;
  for (size_t c = 0; c < corner_count; ++c) {
    double end = corners[c] < 0.0 ? -1.0 - corners[c] : corners[c];
    if (!(end >= 0.0 && end < vertex_count)) {
      return fail_mesh(m, "PolygonVertexIndex",
                       "found one beyond the vertices, expected one of them");
    }
    if (corners[c] >= 0.0) continue;
    corners[c] = end;
    if (c - first < 2) {
      ++left_out;
    } else {
      size_t which = material_count == 1 ? 0 : polygon;
      double material = which < material_count ? materials[which] : 0.0;
      uint32_t group = material >= 0.0 && material < group_count ? (uint32_t)material : 0;
      SN_TRY(sn_mesh_builder_use_groups(&m->builder, &groups[group], 1, err));
      for (size_t i = first; i <= c; ++i) {
        SN_TRY(sn_mesh_builder_add_corner(&m->builder, (uint32_t)corners[i], err));
        SN_TRY(add_uv(m, &uvs, i));
      }
      SN_TRY(sn_mesh_builder_end_face(&m->builder, err));
    }
    first = c + 1;
    ++polygon;
  }
  if (first != corner_count) {
    return fail_mesh(m, "PolygonVertexIndex", "found a polygon without end, expected whole ones");
  }
  if (left_out > 0) {
    sn_log(SN_LOG_WARNING,
           "%s: mesh \"%s\": %zu polygons with fewer than three corners are left out",
           m->f->im->path, m->mesh->name, left_out);
  }
  return SN_OK;
}

// Skins

static sn_status read_matrix(mesh_taker* m, const sn_fbx_object* cluster, const char* name,
                             double matrix[16], bool* is_there) {
  double* numbers;
  size_t count;
  SN_TRY(sn_fbx_numbers(m->f, sn_fbx_find(cluster->element, name), &numbers, &count));
  *is_there = count == 16;
  if (!*is_there) return SN_OK;
  for (int i = 0; i < 16; ++i) {
    if (!(fabs(numbers[i]) < 1e30)) return fail_mesh(m, name, "found no number, expected 16");
    matrix[i] = numbers[i];
  }
  for (int c = 0; c < 4; ++c) matrix[4 * c + 3] = c == 3;
  return SN_OK;
}

// Where there is no matrix, what the file shows is the bind pose.
static void bind_as_shown(const mesh_taker* m, uint32_t joint, const double* world, double* bind) {
  double back[16];
  sn_affine_identity(bind);
  if (sn_affine_invert(world + 16 * (size_t)joint, back)) {
    sn_affine_multiply(back, world + 16 * (size_t)m->node, bind);
  }
}

static sn_status take_ties(mesh_taker* m, const sn_fbx_object* cluster, uint32_t joint) {
  double *indices, *weights;
  size_t index_count, weight_count;
  uint32_t vertex_count = sn_mesh_builder_vertex_count(&m->builder);
  SN_TRY(sn_fbx_numbers(m->f, sn_fbx_find(cluster->element, "Indexes"), &indices, &index_count));
  SN_TRY(sn_fbx_numbers(m->f, sn_fbx_find(cluster->element, "Weights"), &weights, &weight_count));
  if (index_count != weight_count) {
    return fail_mesh(m, cluster->name, "found another number of weights, expected one each");
  }
  for (size_t i = 0; i < index_count; ++i) {
    if (!(indices[i] >= 0.0 && indices[i] < vertex_count && weights[i] >= 0.0 &&
          weights[i] <= 1e6)) {
      return fail_mesh(
          m, cluster->name,
          "found a vertex that is not there, or a weight beyond 0 to 1e6, expected 0 to 1");
    }
    m->ties[m->tie_count++] = (sn_tie){(uint32_t)indices[i], joint, weights[i]};
  }
  return SN_OK;
}

static sn_status take_cluster(mesh_taker* m, const sn_fbx_object* cluster, const double* world,
                              sn_gltf_skin* skin) {
  uint32_t at = 0;
  const sn_fbx_object* bone = next_source(m->f, cluster, "Model", &at);
  if (!bone) return SN_OK;
  uint32_t joint = skin->joint_count++;
  double* bind = skin->inverse_bind + 16 * (size_t)joint;
  bool is_there;
  skin->joints[joint] = (uint32_t)bone->node;
  SN_TRY(read_matrix(m, cluster, "Transform", bind, &is_there));
  if (!is_there) bind_as_shown(m, (uint32_t)bone->node, world, bind);
  return take_ties(m, cluster, joint);
}

static size_t count_ties(const sn_fbx_object* cluster) {
  const sn_fbx_element* e = sn_fbx_find(cluster->element, "Indexes");
  if (!e || e->value_count == 0) return 0;
  return e->values[0].kind == SN_FBX_ARRAY ? (size_t)e->values[0].integer : e->value_count;
}

static sn_status take_skin(mesh_taker* m, const double* world) {
  sn_gltf* gltf = m->f->im->gltf;
  sn_gltf_skin* skin = &gltf->skins[gltf->skin_count];
  const sn_fbx_object *deformer, *cluster;
  size_t cluster_count = 0, tie_count = 0;
  for (uint32_t at = 0; (deformer = next_source(m->f, m->geometry, "Deformer", &at));) {
    cluster_count += deformer->link_count;
    for (uint32_t k = 0; (cluster = next_source(m->f, deformer, "Deformer", &k));) {
      tie_count += count_ties(cluster);
    }
  }
  if (cluster_count == 0) return SN_OK;
  SN_CHECK(cluster_count < UINT16_MAX, m->f->im->err, SN_ERR_INPUT,
           "%s: mesh \"%s\": found %zu bones, expected fewer than 65535", m->f->im->path,
           m->mesh->name, cluster_count);
  SN_TRY(sn_fbx_charge(m->f, tie_count));
  SN_TRY(SN_ARENA_RAW(m->f->im->scratch, tie_count, &m->ties, m->f->im->err));
  // One more for what has no weights.
  SN_TRY(SN_ARENA_NEW(gltf->storage, cluster_count + 1, &skin->joints, m->f->im->err));
  SN_TRY(SN_ARENA_NEW(gltf->storage, 16 * (cluster_count + 1), &skin->inverse_bind, m->f->im->err));
  for (uint32_t at = 0; (deformer = next_source(m->f, m->geometry, "Deformer", &at));) {
    if (strcmp(deformer->type, "Skin") != 0) continue;
    for (uint32_t k = 0; (cluster = next_source(m->f, deformer, "Deformer", &k));) {
      SN_TRY(take_cluster(m, cluster, world, skin));
    }
  }
  if (skin->joint_count == 0) return SN_OK;
  uint32_t unweighted;
  SN_TRY(sn_import_weigh(m->f->im, gltf->storage, m->ties, m->tie_count,
                         sn_mesh_builder_vertex_count(&m->builder), (uint16_t)skin->joint_count,
                         m->mesh, &unweighted));
  if (unweighted > 0) {
    skin->joints[skin->joint_count] = m->node;
    sn_affine_identity(skin->inverse_bind + 16 * (size_t)skin->joint_count++);
    sn_log(SN_LOG_WARNING, "%s: mesh \"%s\": %u vertices without weights follow its node",
           m->f->im->path, m->mesh->name, unweighted);
  }
  skin->name = m->mesh->name;
  gltf->nodes[m->node].skin = (int32_t)gltf->skin_count++;
  return SN_OK;
}

static sn_status fill_mesh(mesh_taker* m, const double* world) {
  SN_TRY(add_vertices(m));
  SN_TRY(add_polygons(m));
  SN_TRY(take_skin(m, world));
  return sn_mesh_builder_finish(&m->builder, &m->mesh->mesh, m->f->im->err);
}

static sn_status take_mesh(sn_fbx* f, uint32_t node, const sn_fbx_object* geometry,
                           const double* world) {
  sn_gltf* gltf = f->im->gltf;
  mesh_taker m = {.f = f,
                  .model = &f->objects[f->models[node]],
                  .geometry = geometry,
                  .node = node,
                  .mesh = &gltf->meshes[gltf->mesh_count]};
  m.mesh->name = gltf->nodes[node].name;
  gltf->nodes[node].mesh = (int32_t)gltf->mesh_count++;
  sn_arena_mark mark = sn_arena_get_mark(f->im->scratch);
  sn_status status = fill_mesh(&m, world);
  sn_arena_release(f->im->scratch, mark);
  sn_mesh_builder_destroy(&m.builder);
  return status;
}

static const sn_fbx_object* geometry_of(const sn_fbx* f, uint32_t node) {
  const sn_fbx_object *model = &f->objects[f->models[node]], *geometry;
  for (uint32_t at = 0; (geometry = next_source(f, model, "Geometry", &at));) {
    if (strcmp(geometry->type, "Mesh") == 0) return geometry;
  }
  return NULL;
}

sn_status sn_fbx_take_meshes(sn_fbx* f) {
  sn_gltf* gltf = f->im->gltf;
  uint32_t count = 0;
  for (uint32_t n = 0; n < gltf->node_count; ++n) count += geometry_of(f, n) != NULL;
  SN_TRY(SN_ARENA_NEW(gltf->storage, count, &gltf->meshes, f->im->err));
  SN_TRY(SN_ARENA_NEW(gltf->storage, count, &gltf->skins, f->im->err));
  double* world;
  SN_TRY(SN_ARENA_NEW(f->im->scratch, 16 * (size_t)gltf->node_count, &world, f->im->err));
  SN_TRY(sn_import_sort(f->im));
  sn_gltf_pose(gltf, -1, 0.0, world);
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    const sn_fbx_object* geometry = geometry_of(f, n);
    if (geometry) SN_TRY(take_mesh(f, n, geometry, world));
  }
  return SN_OK;
}
