// Geometries and controllers of a Collada file as meshes and skins.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "geometry/mesh_arrays.h"
#include "io/dae.h"
#include "math/affine.h"

// The mesh of a node.
typedef struct mesh_taker {
  sn_dae* d;
  const sn_xml* instance;
  uint32_t node;
  sn_gltf_mesh* mesh;
  sn_mesh_builder builder;
  uint32_t primitive_count, left_out;
} mesh_taker;

// Geometry

static sn_status add_vertices(mesh_taker* m, const sn_xml* mesh) {
  const sn_xml* input = sn_dae_input(sn_xml_child(mesh, "vertices"), "POSITION");
  if (!input) return sn_dae_fail(m->d, mesh, "no positions", "an input of the vertices");
  sn_dae_source source;
  SN_TRY(sn_dae_source_of(m->d, input, sn_xml_value(input, "source"), &source));
  if (source.stride < 3) return sn_dae_fail(m->d, input, "fewer than three numbers", "X, Y and Z");
  for (size_t v = 0; v < source.count; ++v) {
    sn_vec3 place = sn_load3(source.values + source.stride * v);
    SN_TRY(sn_mesh_builder_add_vertex(&m->builder, place, m->d->im->err));
  }
  return SN_OK;
}

// The name of the material that a primitive's symbol is bound to, or of the symbol.
static const char* material_name(const mesh_taker* m, const char* symbol) {
  const sn_xml* bound =
      sn_xml_child(sn_xml_child(sn_xml_child(m->instance, "bind_material"), "technique_common"),
                   "instance_material");
  for (; bound; bound = sn_xml_again(bound)) {
    if (strcmp(sn_xml_value(bound, "symbol"), symbol) != 0) continue;
    const char* name = sn_xml_value(sn_dae_find(m->d, sn_xml_value(bound, "target")), "name");
    if (name[0]) return name;
  }
  return symbol;
}

static sn_status use_material(mesh_taker* m, const sn_xml* primitive) {
  char made[32];
  snprintf(made, sizeof made, "primitive%u", m->primitive_count++);
  const char *symbol = sn_xml_value(primitive, "material"),
             *name = symbol[0] ? material_name(m, symbol) : made;
  uint32_t group;
  SN_TRY(sn_mesh_builder_find_group(&m->builder, name, strlen(name), &group, m->d->im->err));
  return sn_mesh_builder_use_groups(&m->builder, &group, 1, m->d->im->err);
}

// A polygon of `count` corners whose vertices stand `stride` apart.
static sn_status add_polygon(mesh_taker* m, const sn_xml* at, const double* corners, size_t count,
                             size_t stride) {
  uint32_t vertex_count = sn_mesh_builder_vertex_count(&m->builder);
  if (count < 3) {
    m->left_out++;
    return SN_OK;
  }
  for (size_t c = 0; c < count; ++c) {
    double vertex = corners[c * stride];
    if (!(vertex >= 0.0 && vertex < vertex_count && vertex == floor(vertex))) {
      return sn_dae_fail(m->d, at, "a vertex that is not there", "one of the geometry");
    }
    SN_TRY(sn_mesh_builder_add_corner(&m->builder, (uint32_t)vertex, m->d->im->err));
  }
  return sn_mesh_builder_end_face(&m->builder, m->d->im->err);
}

// Numbers that a corner has, one for each offset among the inputs, and that of its vertex.
static size_t corner_stride(const sn_xml* primitive, size_t* vertex_offset) {
  size_t stride = 0;
  *vertex_offset = SIZE_MAX;
  const sn_xml* input = sn_xml_child(primitive, "input");
  for (; input; input = sn_xml_again(input)) {
    size_t offset = sn_dae_whole(input, "offset", 0);
    if (offset + 1 > stride) stride = offset + 1;
    if (strcmp(sn_xml_value(input, "semantic"), "VERTEX") == 0) *vertex_offset = offset;
  }
  return stride;
}

static sn_status add_primitive(mesh_taker* m, const sn_xml* primitive) {
  bool is_list = strcmp(primitive->name, "polylist") == 0;
  bool is_triangles = strcmp(primitive->name, "triangles") == 0;
  size_t offset, stride = corner_stride(primitive, &offset), size_count = 0;
  double* sizes = NULL;
  if (offset == SIZE_MAX) return sn_dae_fail(m->d, primitive, "no vertices", "an input VERTEX");
  SN_TRY(use_material(m, primitive));
  const sn_xml* vcount = sn_xml_child(primitive, "vcount");
  if (is_list && vcount) SN_TRY(sn_dae_numbers(m->d, vcount, &sizes, &size_count));
  const sn_xml* p = sn_xml_child(primitive, "p");
  for (; p; p = sn_xml_again(p)) {
    double* numbers;
    size_t number_count;
    SN_TRY(sn_dae_numbers(m->d, p, &numbers, &number_count));
    size_t corner_count = number_count / stride, first = 0;
    size_t polygons = is_list ? size_count : is_triangles ? corner_count / 3 : 1;
    for (size_t i = 0; i < polygons; ++i) {
      double size = is_list ? sizes[i] : is_triangles ? 3.0 : (double)corner_count;
      if (!(size >= 0.0 && size <= (double)(corner_count - first))) {
        return sn_dae_fail(m->d, p, "fewer corners", "as many as the polygons have");
      }
      SN_TRY(add_polygon(m, p, numbers + first * stride + offset, (size_t)size, stride));
      first += (size_t)size;
    }
  }
  return SN_OK;
}

static sn_status add_geometry(mesh_taker* m, const sn_xml* geometry) {
  const sn_xml* mesh = sn_xml_child(geometry, "mesh");
  if (!mesh) return sn_dae_fail(m->d, geometry, "no mesh", "one of polygons");
  SN_TRY(add_vertices(m, mesh));
  for (const sn_xml* e = mesh->first; e; e = e->next) {
    if (strcmp(e->name, "triangles") == 0 || strcmp(e->name, "polylist") == 0 ||
        strcmp(e->name, "polygons") == 0) {
      SN_TRY(add_primitive(m, e));
    } else if (strncmp(e->name, "line", 4) == 0 || strncmp(e->name, "tri", 3) == 0) {
      m->left_out++;
    }
  }
  if (m->left_out > 0) {
    sn_log(SN_LOG_WARNING, "%s: mesh \"%s\": %u strips, fans or lines are left out", m->d->im->path,
           m->mesh->name, m->left_out);
  }
  return SN_OK;
}

// Skins

// A joint by its sid below the skeletons of the instance, else by sid, id or name anywhere. -1 if none
static int64_t find_joint(const mesh_taker* m, const char* word) {
  const sn_gltf* gltf = m->d->im->gltf;
  const sn_xml* skeleton = sn_xml_child(m->instance, "skeleton");
  for (; skeleton; skeleton = sn_xml_again(skeleton)) {
    const sn_xml* top = sn_dae_find(m->d, skeleton->text);
    for (uint32_t n = 0; top && n < gltf->node_count; ++n) {
      const sn_xml* e = m->d->nodes[n];
      if (!e || strcmp(sn_xml_value(e, "sid"), word) != 0) continue;
      while (e && e != top) e = e->parent;
      if (e) return n;
    }
  }
  static const char* const keys[] = {"sid", "id", "name"};
  for (int k = 0; k < 3; ++k) {
    for (uint32_t n = 0; n < gltf->node_count; ++n) {
      if (strcmp(sn_xml_value(m->d->nodes[n], keys[k]), word) == 0) return n;
    }
  }
  return -1;
}

static sn_status take_joints(mesh_taker* m, const sn_xml* skin_element, sn_gltf_skin* skin) {
  sn_dae* d = m->d;
  const sn_xml* joints = sn_xml_child(skin_element, "joints");
  const sn_xml *names = sn_dae_input(joints, "JOINT"),
               *binds = sn_dae_input(joints, "INV_BIND_MATRIX");
  if (!names || !binds) return sn_dae_fail(d, skin_element, "no joints", "names and bind matrices");
  const char** words;
  size_t count, shape_count = 0;
  sn_dae_source source;
  SN_TRY(sn_dae_words(d, sn_dae_find(d, sn_xml_value(names, "source")), &words, &count));
  SN_TRY(sn_dae_source_of(d, binds, sn_xml_value(binds, "source"), &source));
  if (count == 0 || count >= UINT16_MAX || source.stride != 16 || source.count < count) {
    return sn_dae_fail(d, joints, "another count of matrices", "1 to 65534 joints, a matrix each");
  }
  double shape[16], bind[16], *shape_numbers;
  const sn_xml* bind_shape = sn_xml_child(skin_element, "bind_shape_matrix");
  sn_affine_identity(shape);
  if (bind_shape) {
    SN_TRY(sn_dae_numbers(d, bind_shape, &shape_numbers, &shape_count));
    if (!sn_dae_transform("matrix", shape_numbers, shape_count, shape)) {
      return sn_dae_fail(d, bind_shape, "another count of numbers", "16");
    }
  }
  sn_arena* storage = d->im->gltf->storage;
  // One more for what has no weights.
  SN_TRY(SN_ARENA_NEW(storage, count + 1, &skin->joints, d->im->err));
  SN_TRY(SN_ARENA_NEW(storage, 16 * (count + 1), &skin->inverse_bind, d->im->err));
  for (; skin->joint_count < count; ++skin->joint_count) {
    size_t j = skin->joint_count;
    int64_t node = find_joint(m, words[j]);
    SN_CHECK(node >= 0, d->im->err, SN_ERR_INPUT,
             "%s: line %llu: found joint \"%.60s\", expected the sid of a node", d->im->path,
             (unsigned long long)joints->line, words[j]);
    skin->joints[j] = (uint32_t)node;
    sn_dae_transform("matrix", source.values + 16 * j, 16, bind);
    sn_affine_multiply(bind, shape, skin->inverse_bind + 16 * j);
  }
  return SN_OK;
}

static sn_status take_ties(mesh_taker* m, const sn_xml* weights, const sn_gltf_skin* skin,
                           sn_tie** ties, size_t* tie_count) {
  sn_dae* d = m->d;
  const sn_xml *joint = sn_dae_input(weights, "JOINT"), *weight = sn_dae_input(weights, "WEIGHT");
  const sn_xml *vcount = sn_xml_child(weights, "vcount"), *v = sn_xml_child(weights, "v");
  if (!joint || !weight || !vcount || !v) {
    return sn_dae_fail(d, weights, "a part missing", "JOINT, WEIGHT, vcount and v");
  }
  sn_dae_source source;
  double *counts, *numbers;
  size_t vertex_count, number_count, joint_at = sn_dae_whole(joint, "offset", 0);
  size_t weight_at = sn_dae_whole(weight, "offset", 1), at = 0;
  size_t stride = (joint_at > weight_at ? joint_at : weight_at) + 1;
  SN_TRY(sn_dae_source_of(d, weight, sn_xml_value(weight, "source"), &source));
  SN_TRY(sn_dae_numbers(d, vcount, &counts, &vertex_count));
  SN_TRY(sn_dae_numbers(d, v, &numbers, &number_count));
  if (vertex_count > sn_mesh_builder_vertex_count(&m->builder)) {
    return sn_dae_fail(d, vcount, "more vertices than there are", "one count each");
  }
  SN_TRY(SN_ARENA_RAW(d->im->scratch, number_count / stride, ties, d->im->err));
  for (size_t vertex = 0; vertex < vertex_count; ++vertex) {
    for (double k = 0; k < counts[vertex]; k += 1.0, at += stride) {
      if (at + stride > number_count) return sn_dae_fail(d, v, "the end", "as many as vcount says");
      double j = numbers[at + joint_at], w = numbers[at + weight_at];
      if (!(j >= -1.0 && j < skin->joint_count && w >= 0.0 && w < (double)source.count)) {
        return sn_dae_fail(d, v, "a joint or weight that is not there", "one of the skin");
      }
      double value = source.values[source.stride * (size_t)w];
      if (!(value >= 0.0 && value <= 1e6)) {
        return sn_dae_fail(d, weight, "a weight beyond 0 to 1e6", "0 to 1");
      }
      if (j < 0.0) continue;
      (*ties)[(*tie_count)++] = (sn_tie){(uint32_t)vertex, (uint32_t)j, value};
    }
  }
  return SN_OK;
}

static sn_status take_skin(mesh_taker* m, const sn_xml* skin_element) {
  sn_gltf* gltf = m->d->im->gltf;
  sn_gltf_skin* skin = &gltf->skins[gltf->skin_count];
  const sn_xml* weights = sn_xml_child(skin_element, "vertex_weights");
  if (!weights) return sn_dae_fail(m->d, skin_element, "no weights", "vertex_weights");
  sn_tie* ties = NULL;
  size_t tie_count = 0;
  uint32_t unweighted;
  SN_TRY(take_joints(m, skin_element, skin));
  SN_TRY(take_ties(m, weights, skin, &ties, &tie_count));
  SN_TRY(sn_import_weigh(m->d->im, gltf->storage, ties, tie_count,
                         sn_mesh_builder_vertex_count(&m->builder), (uint16_t)skin->joint_count,
                         m->mesh, &unweighted));
  if (unweighted > 0) {
    skin->joints[skin->joint_count] = m->node;
    sn_affine_identity(skin->inverse_bind + 16 * (size_t)skin->joint_count++);
    sn_log(SN_LOG_WARNING, "%s: mesh \"%s\": %u vertices without weights follow its node",
           m->d->im->path, m->mesh->name, unweighted);
  }
  skin->name = m->mesh->name;
  gltf->nodes[m->node].skin = (int32_t)gltf->skin_count++;
  return SN_OK;
}

static sn_status fill_mesh(mesh_taker* m) {
  const sn_xml* source = sn_dae_find(m->d, sn_xml_value(m->instance, "url"));
  const sn_xml* skin = sn_xml_child(source, "skin");
  const sn_xml* geometry = skin ? sn_dae_find(m->d, sn_xml_value(skin, "source")) : source;
  if (!geometry || strcmp(geometry->name, "geometry") != 0) {
    return sn_dae_fail(m->d, m->instance, "a reference to nothing", "that of a geometry or skin");
  }
  SN_TRY(add_geometry(m, geometry));
  if (skin) SN_TRY(take_skin(m, skin));
  return sn_mesh_builder_finish(&m->builder, &m->mesh->mesh, m->d->im->err);
}

sn_status sn_dae_take_meshes(sn_dae* d) {
  sn_gltf* gltf = d->im->gltf;
  uint32_t count = 0;
  for (uint32_t n = 0; n < gltf->node_count; ++n) count += d->meshes[n] != NULL;
  SN_TRY(SN_ARENA_NEW(gltf->storage, count, &gltf->meshes, d->im->err));
  SN_TRY(SN_ARENA_NEW(gltf->storage, count, &gltf->skins, d->im->err));
  for (uint32_t n = 0; n < gltf->node_count; ++n) {
    if (!d->meshes[n]) continue;
    mesh_taker m = {
        .d = d, .instance = d->meshes[n], .node = n, .mesh = &gltf->meshes[gltf->mesh_count]};
    m.mesh->name = gltf->nodes[n].name;
    gltf->nodes[n].mesh = (int32_t)gltf->mesh_count++;
    sn_arena_mark mark = sn_arena_get_mark(d->im->scratch);
    sn_status status = fill_mesh(&m);
    sn_arena_release(d->im->scratch, mark);
    sn_mesh_builder_destroy(&m.builder);
    if (status != SN_OK) return status;
  }
  return SN_OK;
}
