// The file is made in two passes over the same arrays: the first describes them, which takes their ranges,
// the second writes them, so that no more than a frame is ever in memory.
#include "io/export_glb.h"

#include <stdio.h>
#include <string.h>

#include "io/gltf_write.h"
#include "io/writer.h"

#define HEADER_BYTES 20  // of the file and of its first chunk
#define CHUNK_HEADER_BYTES 8
#define MAGIC 0x46546C67u  // "glTF"
#define KIND_JSON 0x4E4F534Au
#define KIND_BINARY 0x004E4942u
#define JSON_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(17))

typedef struct glb {
  const sn_export_job* job;
  sn_gltf_writer document;
  bool writes;  // false: arrays are described
  sn_writer out;
  uint64_t size;         // bytes of arrays so far
  uint32_t array_count;  // so far
  sn_glb_body* bodies;   // (body_count)
  uint32_t chunk_count;
  float* base;      // a frame of the largest body
  float* gathered;  // of the largest primitive
  sn_error* err;
} glb;

// Where arrays of each kind begin; the order of put_arrays.
static uint32_t first_clock(const glb* g) {
  uint32_t count = 0;
  for (uint32_t b = 0; b < g->job->body_count; ++b) {
    for (uint32_t p = 0; p < g->bodies[b].primitive_count; ++p) {
      count += g->bodies[b].primitives[p].uvs ? 2 : 1;
    }
  }
  return count;
}

// Arrays

static void write_array(sn_writer* w, const sn_gltf_array* array) {
  size_t count = (size_t)array->width * array->count;
  if (array->component == SN_GLTF_FLOAT) {
    sn_write_little_floats(w, array->values, count);
  } else if (array->component == SN_GLTF_UINT32) {
    for (size_t i = 0; i < count; ++i) sn_write_little(w, ((const uint32_t*)array->values)[i]);
  } else {
    const uint32_t* values = array->values;  // narrowed here
    for (size_t i = 0; i < count; ++i) {
      const unsigned char bytes[2] = {(unsigned char)values[i], (unsigned char)(values[i] >> 8)};
      sn_write_bytes(w, bytes, sizeof bytes);
    }
    if (count % 2 == 1) sn_write_bytes(w, "\0", 2);
  }
}

// Describe or write. Indices of 16 bits are given as 32.
static sn_status put_array(glb* g, const sn_gltf_array* array) {
  if (g->writes) {
    write_array(&g->out, array);
  } else {
    SN_TRY(sn_gltf_add_accessor(&g->document, array, g->size));
  }
  g->size += (sn_gltf_array_bytes(array) + 3) / 4 * 4;
  g->array_count++;
  return g->writes ? g->out.status : SN_OK;
}

static sn_status put_shared(glb* g) {
  for (uint32_t b = 0; b < g->job->body_count; ++b) {
    for (uint32_t i = 0; i < g->bodies[b].primitive_count; ++i) {
      const sn_glb_primitive* p = &g->bodies[b].primitives[i];
      // 65535 itself would mean a new start.
      sn_gltf_array indices = {
          .values = p->indices,
          .component = p->vertex_count <= UINT16_MAX ? SN_GLTF_UINT16 : SN_GLTF_UINT32,
          .type = "SCALAR",
          .width = 1,
          .count = p->index_count,
          .target = SN_GLTF_INDICES};
      SN_TRY(put_array(g, &indices));
      if (!p->uvs) continue;
      sn_gltf_array uvs = {.values = p->uvs,
                           .component = SN_GLTF_FLOAT,
                           .type = "VEC2",
                           .width = 2,
                           .count = p->vertex_count,
                           .target = SN_GLTF_VERTICES};
      SN_TRY(put_array(g, &uvs));
    }
  }
  return SN_OK;
}

// The clock of a chunk: times of its frames, weights of its targets at them (at each frame that frame's
// target alone) and, where there are several chunks, times at which it comes and goes, and its scale from
// then on.
enum { CLOCK_TIMES, CLOCK_WEIGHTS, CLOCK_CHANGES, CLOCK_SCALES };

static uint32_t clock_arrays(const glb* g) {
  if (g->job->frame_count == 1) return 0;
  return g->chunk_count > 1 ? CLOCK_SCALES + 1 : CLOCK_WEIGHTS + 1;
}

static sn_status put_floats(glb* g, const float* values, const char* type, uint32_t width,
                            uint32_t count) {
  const sn_gltf_array array = {.values = values,
                               .component = SN_GLTF_FLOAT,
                               .type = type,
                               .width = width,
                               .count = count,
                               .has_range = width == 1};
  return put_array(g, &array);
}

static float time_of(const glb* g, uint32_t frame) { return (float)(frame / g->job->fps); }

static sn_status put_changes(glb* g, uint32_t index, sn_glb_chunk chunk) {
  float times[3], scales[9];
  uint32_t count = 0;
  if (index > 0) {
    times[count] = 0.0f;
    scales[count++] = 0.0f;
  }
  times[count] = time_of(g, chunk.first);
  scales[count++] = 1.0f;
  if (index + 1 < g->chunk_count) {
    times[count] = time_of(g, chunk.first + chunk.frame_count - 1);
    scales[count++] = 0.0f;
  }
  for (uint32_t i = count; i-- > 0;) {
    for (uint32_t k = 0; k < 3; ++k) scales[3 * i + k] = scales[i];
  }
  SN_TRY(put_floats(g, times, "SCALAR", 1, count));
  return put_floats(g, scales, "VEC3", 3, count);
}

static sn_status put_clock(glb* g, uint32_t index) {
  sn_glb_chunk chunk = sn_glb_chunk_at(g->job->frame_count, index);
  uint32_t targets = chunk.frame_count - 1;
  float times[SN_GLB_TARGETS + 1], weights[(SN_GLB_TARGETS + 1) * SN_GLB_TARGETS] = {0};
  for (uint32_t k = 0; k < chunk.frame_count; ++k) {
    times[k] = time_of(g, chunk.first + k);
    if (k > 0) weights[k * targets + k - 1] = 1.0f;
  }
  SN_TRY(put_floats(g, times, "SCALAR", 1, chunk.frame_count));
  SN_TRY(put_floats(g, weights, "SCALAR", 1, chunk.frame_count * targets));
  return g->chunk_count > 1 ? put_changes(g, index, chunk) : SN_OK;
}

// Positions of a frame, primitive after primitive: those of the base, or how the others differ from it.
static sn_status put_frame(glb* g, const sn_glb_body* body, const float* positions, bool is_base) {
  for (uint32_t i = 0; i < body->primitive_count; ++i) {
    const sn_glb_primitive* p = &body->primitives[i];
    for (size_t v = 0; v < p->vertex_count; ++v) {
      const size_t from = 3 * (size_t)p->vertices[v];
      for (size_t k = 0; k < 3; ++k) {
        float base = is_base ? 0.0f : g->base[from + k];
        g->gathered[3 * v + k] = positions[from + k] - base;
      }
    }
    const sn_gltf_array array = {.values = g->gathered,
                                 .component = SN_GLTF_FLOAT,
                                 .type = "VEC3",
                                 .width = 3,
                                 .count = p->vertex_count,
                                 .target = SN_GLTF_VERTICES,
                                 .has_range = true};
    SN_TRY(put_array(g, &array));
  }
  return SN_OK;
}

static sn_status put_chunk(glb* g, const sn_glb_body* body, uint32_t index) {
  const sn_export_job* job = g->job;
  sn_glb_chunk chunk = sn_glb_chunk_at(job->frame_count, index);
  SN_TRY(sn_export_read(job, body->body, chunk.first, g->base, g->err));
  SN_TRY(put_frame(g, body, g->base, true));
  for (uint32_t k = 1; k < chunk.frame_count; ++k) {
    SN_TRY(sn_export_read(job, body->body, chunk.first + k, job->positions, g->err));
    SN_TRY(put_frame(g, body, job->positions, false));
  }
  return SN_OK;
}

static sn_status put_arrays(glb* g) {
  g->size = 0;
  g->array_count = 0;
  SN_TRY(put_shared(g));
  SN_ASSERT(g->array_count == first_clock(g));
  for (uint32_t c = 0; c < g->chunk_count && g->job->frame_count > 1; ++c) SN_TRY(put_clock(g, c));
  for (uint32_t b = 0; b < g->job->body_count; ++b) {
    for (uint32_t c = 0; c < g->chunk_count; ++c) SN_TRY(put_chunk(g, &g->bodies[b], c));
  }
  return SN_OK;
}

// Document

static sn_status put_material(glb* g, json_t* list, const sn_mesh_group* group) {
  sn_gltf_writer* w = &g->document;
  json_t *material, *look;
  SN_TRY(sn_gltf_append_object(w, list, &material));
  SN_TRY(sn_gltf_put_name(w, material, group->material));
  SN_TRY(sn_gltf_put(w, material, "pbrMetallicRoughness", look = json_object()));
  SN_TRY(sn_gltf_put(w, look, "metallicFactor", json_real(0.0)));
  if (!group->has_color) return SN_OK;
  const float* c = group->color;
  const double color[4] = {(double)c[0], (double)c[1], (double)c[2], (double)c[3]};
  SN_TRY(sn_gltf_put_numbers(w, look, "baseColorFactor", color, 4));
  return c[3] < 1.0f ? sn_gltf_put(w, material, "alphaMode", json_string("BLEND")) : SN_OK;
}

// A primitive of a chunk. @param shared its indices; texture coordinates follow
// @param base array of its positions in the base; the same of later frames follow at this distance
static sn_status put_primitive(glb* g, json_t* list, const sn_glb_primitive* p, uint32_t shared,
                               uint32_t base, uint32_t distance, uint32_t target_count) {
  sn_gltf_writer* w = &g->document;
  json_t *primitive, *attributes, *targets, *target;
  SN_TRY(sn_gltf_append_object(w, list, &primitive));
  SN_TRY(sn_gltf_put(w, primitive, "attributes", attributes = json_object()));
  SN_TRY(sn_gltf_put(w, attributes, "POSITION", json_integer(base)));
  if (p->uvs) SN_TRY(sn_gltf_put(w, attributes, "TEXCOORD_0", json_integer(shared + 1)));
  SN_TRY(sn_gltf_put(w, primitive, "indices", json_integer(shared)));
  if (target_count == 0) return SN_OK;
  SN_TRY(sn_gltf_put_list(w, primitive, "targets", &targets));
  for (uint32_t k = 1; k <= target_count; ++k) {
    SN_TRY(sn_gltf_append_object(w, targets, &target));
    SN_TRY(sn_gltf_put(w, target, "POSITION", json_integer(base + k * distance)));
  }
  return SN_OK;
}

// Their names, where most programs look for them.
static sn_status put_target_names(glb* g, json_t* mesh, sn_glb_chunk chunk) {
  sn_gltf_writer* w = &g->document;
  json_t *extras, *names;
  if (chunk.frame_count == 1) return SN_OK;
  SN_TRY(sn_gltf_put(w, mesh, "extras", extras = json_object()));
  SN_TRY(sn_gltf_put_list(w, extras, "targetNames", &names));
  for (uint32_t k = 1; k < chunk.frame_count; ++k) {
    char name[32];
    snprintf(name, sizeof name, "frame_%04d", g->job->first_frame + (int)(chunk.first + k));
    SN_TRY(sn_gltf_append(w, names, json_string(name)));
  }
  return SN_OK;
}

static void name_chunk(const glb* g, const char* body, uint32_t index, char name[256]) {
  sn_glb_chunk chunk = sn_glb_chunk_at(g->job->frame_count, index);
  int first = g->job->first_frame + (int)chunk.first;
  if (g->chunk_count == 1) {
    snprintf(name, 256, "%s", body);
  } else {
    snprintf(name, 256, "%s_%04d_%04d", body, first, first + (int)chunk.frame_count - 1);
  }
}

// A mesh for each chunk of a body. @param shared, frames, materials: first array or material of the body;
// the next body's afterwards
static sn_status put_meshes(glb* g, json_t* list, const sn_glb_body* body, uint32_t* shared,
                            uint32_t* frames, uint32_t* materials) {
  sn_gltf_writer* w = &g->document;
  uint32_t count = body->primitive_count, own = 0;
  for (uint32_t c = 0; c < g->chunk_count; ++c) {
    sn_glb_chunk chunk = sn_glb_chunk_at(g->job->frame_count, c);
    json_t *mesh, *primitives;
    char name[256];
    name_chunk(g, body->body->name, c, name);
    SN_TRY(sn_gltf_append_object(w, list, &mesh));
    SN_TRY(sn_gltf_put_name(w, mesh, name));
    SN_TRY(sn_gltf_put_list(w, mesh, "primitives", &primitives));
    own = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const sn_glb_primitive* p = &body->primitives[i];
      SN_TRY(put_primitive(g, primitives, p, *shared + own, *frames + i, count,
                           chunk.frame_count - 1));
      own += p->uvs ? 2 : 1;
      if (p->material == SN_NO_MATERIAL) continue;
      SN_TRY(sn_gltf_put(w, json_array_get(primitives, i), "material",
                         json_integer(*materials + p->material)));
    }
    SN_TRY(put_target_names(g, mesh, chunk));
    *frames += count * chunk.frame_count;
  }
  *shared += own;
  *materials += body->parts.material_count;
  return SN_OK;
}

// A node for a body with one chunk; else one with a child for each. Nodes of chunks are
// first_node + chunk.
static sn_status put_nodes(glb* g, json_t* nodes, json_t* roots, const char* body,
                           uint32_t first_mesh, uint32_t* first_node) {
  sn_gltf_writer* w = &g->document;
  json_t *node, *children;
  json_int_t root = (json_int_t)json_array_size(nodes);
  SN_TRY(sn_gltf_append(w, roots, json_integer(root)));
  *first_node = (uint32_t)root;
  if (g->chunk_count > 1) {
    SN_TRY(sn_gltf_append_object(w, nodes, &node));
    SN_TRY(sn_gltf_put_name(w, node, body));
    SN_TRY(sn_gltf_put_list(w, node, "children", &children));
    *first_node += 1;
    for (uint32_t c = 0; c < g->chunk_count; ++c) {
      SN_TRY(sn_gltf_append(w, children, json_integer(*first_node + c)));
    }
  }
  for (uint32_t c = 0; c < g->chunk_count; ++c) {
    char name[256];
    name_chunk(g, body, c, name);
    SN_TRY(sn_gltf_append_object(w, nodes, &node));
    SN_TRY(sn_gltf_put_name(w, node, name));
    SN_TRY(sn_gltf_put(w, node, "mesh", json_integer(first_mesh + c)));
    if (c > 0) SN_TRY(sn_gltf_put_numbers(w, node, "scale", (const double[3]){0, 0, 0}, 3));
  }
  return SN_OK;
}

// Animation

static sn_status put_sampler(glb* g, json_t* samplers, uint32_t times, const char* interpolation) {
  sn_gltf_writer* w = &g->document;
  json_t* sampler;
  SN_TRY(sn_gltf_append_object(w, samplers, &sampler));
  SN_TRY(sn_gltf_put(w, sampler, "input", json_integer(times)));
  SN_TRY(sn_gltf_put(w, sampler, "output", json_integer(times + 1)));
  return sn_gltf_put(w, sampler, "interpolation", json_string(interpolation));
}

static sn_status put_channel(glb* g, json_t* channels, uint32_t sampler, uint32_t node,
                             const char* path) {
  sn_gltf_writer* w = &g->document;
  json_t *channel, *target;
  SN_TRY(sn_gltf_append_object(w, channels, &channel));
  SN_TRY(sn_gltf_put(w, channel, "sampler", json_integer(sampler)));
  SN_TRY(sn_gltf_put(w, channel, "target", target = json_object()));
  SN_TRY(sn_gltf_put(w, target, "node", json_integer(node)));
  return sn_gltf_put(w, target, "path", json_string(path));
}

// One sampler a chunk, or two where there are several; all bodies share them.
static sn_status put_animation(glb* g, json_t* list, json_t** channels) {
  sn_gltf_writer* w = &g->document;
  json_t *animation, *samplers;
  SN_TRY(sn_gltf_append_object(w, list, &animation));
  SN_TRY(sn_gltf_put_name(w, animation, "simulation"));
  SN_TRY(sn_gltf_put_list(w, animation, "channels", channels));
  SN_TRY(sn_gltf_put_list(w, animation, "samplers", &samplers));
  for (uint32_t c = 0; c < g->chunk_count; ++c) {
    uint32_t clock = first_clock(g) + clock_arrays(g) * c;
    SN_TRY(put_sampler(g, samplers, clock + CLOCK_TIMES, "LINEAR"));
    if (g->chunk_count > 1) SN_TRY(put_sampler(g, samplers, clock + CLOCK_CHANGES, "STEP"));
  }
  return SN_OK;
}

static sn_status put_channels(glb* g, json_t* channels, uint32_t first_node) {
  for (uint32_t c = 0; c < g->chunk_count; ++c) {
    SN_TRY(put_channel(g, channels, 2 * c, first_node + c, "weights"));
    if (g->chunk_count == 1) continue;
    SN_TRY(put_channel(g, channels, 2 * c + 1, first_node + c, "scale"));
  }
  return SN_OK;
}

// The whole

static sn_status start_document(glb* g, sn_error* err) {
  sn_gltf_writer* w = &g->document;
  json_t *asset, *extras;
  *w = (sn_gltf_writer){.root = json_object(), .err = err};
  SN_TRY(sn_gltf_put(w, w->root, "asset", asset = json_object()));
  SN_TRY(sn_gltf_put(w, asset, "version", json_string("2.0")));
  SN_TRY(sn_gltf_put(w, asset, "generator", json_string("Sinew")));
  SN_TRY(sn_gltf_put(w, asset, "extras", extras = json_object()));
  SN_TRY(sn_gltf_put(w, extras, "fps", json_real(g->job->fps)));
  SN_TRY(sn_gltf_put(w, extras, "first_frame", json_integer(g->job->first_frame)));
  SN_TRY(sn_gltf_put_list(w, w->root, "accessors", &w->accessors));
  return sn_gltf_put_list(w, w->root, "bufferViews", &w->views);
}

static sn_status put_entries(glb* g) {
  sn_gltf_writer* w = &g->document;
  json_t *scenes, *scene, *roots, *nodes, *meshes, *clips, *channels = NULL;
  SN_TRY(sn_gltf_put(w, w->root, "scene", json_integer(0)));
  SN_TRY(sn_gltf_put_list(w, w->root, "scenes", &scenes));
  SN_TRY(sn_gltf_append_object(w, scenes, &scene));
  SN_TRY(sn_gltf_put_list(w, scene, "nodes", &roots));
  SN_TRY(sn_gltf_put_list(w, w->root, "nodes", &nodes));
  SN_TRY(sn_gltf_put_list(w, w->root, "meshes", &meshes));
  SN_TRY(sn_gltf_put_list(w, w->root, "materials", &w->materials));
  SN_TRY(sn_gltf_put_list(w, w->root, "animations", &clips));
  bool moves = g->job->frame_count > 1;
  uint32_t shared = 0, materials = 0;
  uint32_t frames = first_clock(g) + clock_arrays(g) * g->chunk_count;
  if (moves) SN_TRY(put_animation(g, clips, &channels));
  for (uint32_t b = 0; b < g->job->body_count; ++b) {
    const sn_glb_body* body = &g->bodies[b];
    uint32_t first_mesh = b * g->chunk_count, first_node = 0;
    for (uint32_t m = 0; m < body->parts.material_count; ++m) {
      SN_TRY(put_material(g, w->materials, body->parts.materials[m]));
    }
    SN_TRY(put_meshes(g, meshes, body, &shared, &frames, &materials));
    SN_TRY(put_nodes(g, nodes, roots, body->body->name, first_mesh, &first_node));
    if (moves) SN_TRY(put_channels(g, channels, first_node));
  }
  SN_ASSERT(frames == g->array_count);
  return SN_OK;
}

static sn_status fail_size(const glb* g, double bytes, sn_error* err) {
  return sn_fail(
      err, SN_ERR_USAGE,
      "frames %d to %d would take %.1f GB, and a GLB file holds 4.2; expected fewer: write "
      "it in parts (--frames A:B), or as another format",
      g->job->first_frame, g->job->first_frame + (int)g->job->frame_count - 1, bytes / 1e9);
}

// Before all frames are read for nothing.
static sn_status check_size(const glb* g, sn_error* err) {
  double bytes = 0.0;
  for (uint32_t b = 0; b < g->job->body_count; ++b) {
    for (uint32_t p = 0; p < g->bodies[b].primitive_count; ++p) {
      double frames = (double)g->job->frame_count + g->chunk_count - 1.0;
      bytes += 12.0 * frames * g->bodies[b].primitives[p].vertex_count;
    }
  }
  return bytes < UINT32_MAX ? SN_OK : fail_size(g, bytes, err);
}

static sn_status plan(glb* g, sn_error* err) {
  const sn_export_job* job = g->job;
  size_t most = 0, widest = 0;
  SN_TRY(SN_ARENA_NEW(job->arena, job->body_count, &g->bodies, err));
  for (uint32_t b = 0; b < job->body_count; ++b) {
    SN_TRY(sn_glb_split(&job->bodies[b], job->arena, &g->bodies[b], err));
    if (job->bodies[b].mesh.vertex_count > most) most = job->bodies[b].mesh.vertex_count;
    for (uint32_t p = 0; p < g->bodies[b].primitive_count; ++p) {
      size_t count = g->bodies[b].primitives[p].vertex_count;
      if (count > widest) widest = count;
    }
  }
  g->chunk_count = sn_glb_chunk_count(job->frame_count);
  SN_TRY(check_size(g, err));
  SN_TRY(SN_ARENA_RAW(job->arena, 3 * most, &g->base, err));
  SN_TRY(SN_ARENA_RAW(job->arena, 3 * widest, &g->gathered, err));
  SN_TRY(start_document(g, err));
  SN_TRY(put_arrays(g));
  SN_TRY(put_entries(g));
  sn_gltf_writer* w = &g->document;
  json_t *buffers, *buffer;
  SN_TRY(sn_gltf_put_list(w, w->root, "buffers", &buffers));
  SN_TRY(sn_gltf_append_object(w, buffers, &buffer));
  SN_TRY(sn_gltf_put(w, buffer, "byteLength", json_integer((json_int_t)g->size)));
  sn_gltf_drop_empty_lists(w->root);
  return SN_OK;
}

// Header, JSON chunk padded with spaces, binary chunk.
static sn_status write_container(glb* g, const char* text, size_t text_size, sn_error* err) {
  size_t padded = (text_size + 3) / 4 * 4;
  uint64_t size = g->size, total = HEADER_BYTES + padded + CHUNK_HEADER_BYTES + size;
  if (total > UINT32_MAX) return fail_size(g, (double)total, err);
  sn_write_little(&g->out, MAGIC);
  sn_write_little(&g->out, 2);
  sn_write_little(&g->out, (uint32_t)total);
  sn_write_little(&g->out, (uint32_t)padded);
  sn_write_little(&g->out, KIND_JSON);
  sn_write_bytes(&g->out, text, text_size);
  sn_write_bytes(&g->out, "   ", padded - text_size);
  sn_write_little(&g->out, (uint32_t)size);
  sn_write_little(&g->out, KIND_BINARY);
  SN_TRY(put_arrays(g));
  SN_ASSERT(g->size == size && g->out.size == total);
  return SN_OK;
}

static sn_status write_file(glb* g, sn_error* err) {
  char path[SN_EXPORT_PATH];
  SN_TRY(sn_export_path(g->job, NULL, 0, path, err));
  SN_TRY(plan(g, err));
  size_t size = json_dumpb(g->document.root, NULL, 0, JSON_FLAGS);
  char* text;
  SN_CHECK(size > 0, err, SN_ERR_MEMORY, "out of memory");
  SN_TRY(SN_ARENA_RAW(g->job->arena, size, &text, err));
  json_dumpb(g->document.root, text, size, JSON_FLAGS);
  sn_writer_open(&g->out, path, err);
  g->writes = true;
  SN_TRY(sn_writer_close(&g->out, write_container(g, text, size, err)));
  sn_export_tell(g->job, path);
  return SN_OK;
}

sn_status sn_export_glb(const sn_export_job* job, sn_error* err) {
  glb g = {.job = job, .err = err};
  sn_status status = write_file(&g, err);
  json_decref(g.document.root);
  return status;
}
