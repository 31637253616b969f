// USD as text: a Mesh for each body with a time sample a frame, below one Xform; materials beside them.
// Time codes are frame numbers. Names that USD would not take as they are get underscores, and keep the
// original as custom data.
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "io/export.h"
#include "io/mesh_parts.h"
#include "io/scene_json.h"
#include "io/writer.h"

#define NAME_BYTES 256
#define NUMBERS_A_LINE 8

// A prim's name as USD has it.
typedef struct usd_name {
  char text[NAME_BYTES];
} usd_name;

static bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static usd_name make_name(const char* given) {
  usd_name name;
  size_t length = 0;
  if (!given[0] || (given[0] >= '0' && given[0] <= '9')) name.text[length++] = '_';
  for (; *given && length < NAME_BYTES - 16; ++given) {
    name.text[length++] = is_name_byte(*given) ? *given : '_';
  }
  name.text[length] = 0;
  return name;
}

// Unlike all names before it, by a number at its end.
static void make_unique(usd_name* names, uint32_t count) {
  usd_name* last = &names[count];
  size_t length = strlen(last->text);
  uint32_t number = 1;
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(names[i].text, last->text) != 0) continue;
    snprintf(last->text + length, 16, "_%u", ++number);
    i = UINT32_MAX;  // from the start again
  }
}

// A list of names for prims that stand side by side.
typedef struct usd_names {
  usd_name* names;
  uint32_t count;
} usd_names;

static sn_status take_names(sn_arena* arena, size_t count, usd_names* names, sn_error* err) {
  *names = (usd_names){0};
  return SN_ARENA_NEW(arena, count, &names->names, err);
}

static const char* add_name(usd_names* names, const char* given) {
  names->names[names->count] = make_name(given);
  make_unique(names->names, names->count);
  return names->names[names->count++].text;
}

// Text

static void write_string(sn_writer* w, const char* text) {
  sn_write_text(w, "\"");
  for (; *text; ++text) {
    bool escaped = *text == '"' || *text == '\\';
    if (escaped) sn_write_text(w, "\\");
    sn_write_bytes(w, (unsigned char)*text < 0x20 ? "?" : text, 1);
  }
  sn_write_text(w, "\"");
}

static void write_real(sn_writer* w, double number) {
  char text[32];
  sn_number_to_text(number, text);
  sn_write_text(w, text);
}

// What stands between the entries of a list.
static void write_comma(sn_writer* w, size_t index, const char* indent) {
  if (index > 0) sn_write_text(w, index % NUMBERS_A_LINE == 0 ? "," : ", ");
  if (index > 0 && index % NUMBERS_A_LINE == 0) sn_write_text(w, indent);
}

static void write_tuples(sn_writer* w, const float* numbers, size_t count, int width,
                         const char* indent) {
  sn_write_text(w, "[");
  for (size_t i = 0; i < count; ++i) {
    write_comma(w, i, indent);
    for (int k = 0; k < width; ++k) {
      sn_write_text(w, k == 0 ? "(" : ", ");
      sn_write_number(w, (double)numbers[(size_t)width * i + (size_t)k]);
    }
    sn_write_text(w, ")");
  }
  sn_write_text(w, "]");
}

// A prim's opening, with the name that it was given where that is another.
static void open_prim(sn_writer* w, const char* indent, const char* type, const char* name,
                      const char* given, const char* metadata) {
  sn_write_text(w, indent);
  sn_write_text(w, "def ");
  sn_write_text(w, type);
  sn_write_text(w, " \"");
  sn_write_text(w, name);
  sn_write_text(w, "\"");
  bool renamed = given && strcmp(given, name) != 0;
  if (renamed || metadata) {
    sn_write_text(w, " (");
    if (metadata) {
      sn_write_text(w, indent);
      sn_write_text(w, "    ");
      sn_write_text(w, metadata);
    }
    if (renamed) {
      sn_write_text(w, indent);
      sn_write_text(w, "    customData = { string name = ");
      write_string(w, given);
      sn_write_text(w, " }");
    }
    sn_write_text(w, indent);
    sn_write_text(w, ")");
  }
  sn_write_text(w, indent);
  sn_write_text(w, "{");
}

// Materials

static void write_material(sn_writer* w, const sn_mesh_group* group, const char* parent,
                           const char* name) {
  const float gray[4] = {0.8f, 0.8f, 0.8f, 1.0f};
  const float* color = group->has_color ? group->color : gray;
  open_prim(w, "\n        ", "Material", name, group->material, NULL);
  sn_write_text(w, "\n            token outputs:surface.connect = </sinew/");
  sn_write_text(w, parent);
  sn_write_text(w, "/");
  sn_write_text(w, name);
  sn_write_text(w, "/surface.outputs:surface>");
  sn_write_text(w, "\n            def Shader \"surface\"\n            {");
  sn_write_text(w, "\n                uniform token info:id = \"UsdPreviewSurface\"");
  sn_write_text(w, "\n                color3f inputs:diffuseColor = (");
  for (int k = 0; k < 3; ++k) {
    if (k > 0) sn_write_text(w, ", ");
    sn_write_number(w, (double)color[k]);
  }
  sn_write_text(w, ")\n                float inputs:opacity = ");
  sn_write_number(w, (double)color[3]);
  sn_write_text(w, "\n                token outputs:surface\n            }\n        }\n");
}

// Those of a body in a scope of its own, so that names of bodies do not mix.
static sn_status write_materials(const sn_export_job* job, sn_writer* w, const char* scope,
                                 const sn_mesh_parts* parts, usd_names* names, sn_error* err) {
  SN_TRY(take_names(job->arena, parts->material_count, names, err));
  if (parts->material_count == 0) return SN_OK;
  open_prim(w, "\n    ", "Scope", scope, NULL, NULL);
  for (uint32_t m = 0; m < parts->material_count; ++m) {
    const char* name = add_name(names, parts->materials[m]->material);
    write_material(w, parts->materials[m], scope, name);
  }
  sn_write_text(w, "    }\n");
  return SN_OK;
}

// Faces

static void write_topology(sn_writer* w, const sn_mesh* mesh) {
  sn_write_text(w, "\n        int[] faceVertexCounts = [");
  for (uint32_t f = 0; f < mesh->face_count; ++f) {
    write_comma(w, f, "\n            ");
    sn_write_whole(w, mesh->face_starts[f + 1] - mesh->face_starts[f]);
  }
  sn_write_text(w, "]\n        int[] faceVertexIndices = [");
  for (uint32_t c = 0; c < mesh->face_starts[mesh->face_count]; ++c) {
    write_comma(w, c, "\n            ");
    sn_write_whole(w, mesh->face_vertices[c]);
  }
  sn_write_text(w, "]\n        uniform token subdivisionScheme = \"none\"\n");
  if (!mesh->uvs) return;
  sn_write_text(w, "        texCoord2f[] primvars:st = ");
  write_tuples(w, mesh->uvs, mesh->face_starts[mesh->face_count], 2, "\n            ");
  sn_write_text(w, " (\n            interpolation = \"faceVarying\"\n        )\n");
}

// The faces of a material or, with a family of its own, of a group.
typedef struct subset {
  const char *name, *given, *family;
  const char *scope, *material;  // of a material's faces
} subset;

static void open_subset(sn_writer* w, const subset* s) {
  const char* binds = s->material ? "prepend apiSchemas = [\"MaterialBindingAPI\"]" : NULL;
  open_prim(w, "\n        ", "GeomSubset", s->name, s->given, binds);
  sn_write_text(w, "\n            uniform token elementType = \"face\"");
  sn_write_text(w, "\n            uniform token familyName = \"");
  sn_write_text(w, s->family);
  sn_write_text(w, "\"");
  if (s->material) {
    sn_write_text(w, "\n            rel material:binding = </sinew/");
    sn_write_text(w, s->scope);
    sn_write_text(w, "/");
    sn_write_text(w, s->material);
    sn_write_text(w, ">");
  }
  sn_write_text(w, "\n            int[] indices = [");
}

static void write_material_subset(sn_writer* w, const sn_mesh* mesh, const sn_mesh_parts* parts,
                                  uint32_t material, const subset* s) {
  size_t count = 0;
  open_subset(w, s);
  for (uint32_t f = 0; f < mesh->face_count; ++f) {
    if (parts->face_materials[f] != material) continue;
    write_comma(w, count++, "\n                ");
    sn_write_whole(w, f);
  }
  sn_write_text(w, "]\n        }\n");
}

static void write_group_subset(sn_writer* w, const sn_mesh_group* group, const sn_mesh_parts* parts,
                               const subset* s) {
  size_t count = 0;
  open_subset(w, s);
  for (uint32_t i = 0; i < group->triangle_count; ++i) {
    uint32_t face = parts->triangle_faces[group->triangles[i]];
    if (i > 0 && parts->triangle_faces[group->triangles[i - 1]] == face) continue;
    write_comma(w, count++, "\n                ");
    sn_write_whole(w, face);
  }
  sn_write_text(w, "]\n        }\n");
}

static sn_status write_subsets(const sn_export_job* job, sn_writer* w, const sn_mesh* mesh,
                               const sn_mesh_parts* parts, const char* scope,
                               const usd_names* materials, sn_error* err) {
  usd_names names;
  SN_TRY(take_names(job->arena, (size_t)mesh->group_count + parts->material_count, &names, err));
  for (uint32_t m = 0; m < parts->material_count; ++m) {
    const char* given = parts->materials[m]->material;
    subset s = {add_name(&names, given), given, "materialBind", scope, materials->names[m].text};
    write_material_subset(w, mesh, parts, m, &s);
  }
  for (uint32_t g = 0; g < mesh->group_count; ++g) {
    const char* given = mesh->groups[g].name;
    if (mesh->groups[g].material) continue;
    subset s = {.name = add_name(&names, given), .given = given, .family = "group"};
    write_group_subset(w, &mesh->groups[g], parts, &s);
  }
  return SN_OK;
}

// Points

static void find_extent(const float* positions, size_t count, float extent[6]) {
  for (int k = 0; k < 3; ++k) {
    extent[k] = FLT_MAX;
    extent[3 + k] = -FLT_MAX;
  }
  for (size_t i = 0; i < 3 * count; ++i) {
    size_t k = i % 3;
    if (positions[i] < extent[k]) extent[k] = positions[i];
    if (positions[i] > extent[3 + k]) extent[3 + k] = positions[i];
  }
}

// Extents come behind the points, so that these need not be read twice.
static sn_status write_samples(const sn_export_job* job, const sn_export_body* body, sn_writer* w,
                               sn_error* err) {
  size_t count = body->mesh.vertex_count;
  float* extents;
  SN_TRY(SN_ARENA_RAW(job->arena, 6 * (size_t)job->frame_count, &extents, err));
  sn_write_text(w, "        point3f[] points.timeSamples = {");
  for (uint32_t k = 0; k < job->frame_count && w->status == SN_OK; ++k) {
    SN_TRY(sn_export_read(job, body, k, job->positions, err));
    find_extent(job->positions, count, extents + 6 * (size_t)k);
    sn_write_text(w, "\n            ");
    sn_write_whole(w, (uint64_t)job->first_frame + k);
    sn_write_text(w, ": ");
    write_tuples(w, job->positions, count, 3, "\n                ");
    sn_write_text(w, ",");
  }
  sn_write_text(w, "\n        }\n        float3[] extent.timeSamples = {");
  for (uint32_t k = 0; k < job->frame_count; ++k) {
    sn_write_text(w, "\n            ");
    sn_write_whole(w, (uint64_t)job->first_frame + k);
    sn_write_text(w, ": ");
    write_tuples(w, extents + 6 * (size_t)k, 2, 3, "");
    sn_write_text(w, ",");
  }
  sn_write_text(w, "\n        }\n");
  return SN_OK;
}

// The whole

static sn_status write_body(const sn_export_job* job, const sn_export_body* body, usd_names* prims,
                            sn_writer* w, sn_error* err) {
  sn_mesh_parts parts;
  usd_names materials;
  char scope_given[NAME_BYTES];
  SN_TRY(sn_mesh_parts_find(&body->mesh, job->arena, &parts, err));
  const char* name = add_name(prims, body->name);
  snprintf(scope_given, sizeof scope_given, "%.200s_materials", name);
  const char* scope = add_name(prims, scope_given);
  SN_TRY(write_materials(job, w, scope, &parts, &materials, err));
  open_prim(w, "\n    ", "Mesh", name, body->name, NULL);
  write_topology(w, &body->mesh);
  SN_TRY(write_samples(job, body, w, err));
  SN_TRY(write_subsets(job, w, &body->mesh, &parts, scope, &materials, err));
  sn_write_text(w, "    }\n");
  return SN_OK;
}

static void write_header(const sn_export_job* job, sn_writer* w) {
  sn_write_text(w, "#usda 1.0\n(\n    defaultPrim = \"sinew\"\n    endTimeCode = ");
  sn_write_whole(w, (uint64_t)job->first_frame + job->frame_count - 1);
  sn_write_text(w, "\n    framesPerSecond = ");
  write_real(w, job->fps);
  sn_write_text(w, "\n    metersPerUnit = ");
  write_real(w, job->unit);
  sn_write_text(w, "\n    startTimeCode = ");
  sn_write_whole(w, (uint64_t)job->first_frame);
  sn_write_text(w, "\n    timeCodesPerSecond = ");
  write_real(w, job->fps);
  sn_write_text(w, job->up == SN_UP_Z ? "\n    upAxis = \"Z\"\n)\n" : "\n    upAxis = \"Y\"\n)\n");
}

static sn_status write_all(const sn_export_job* job, sn_writer* w, sn_error* err) {
  usd_names prims;
  SN_TRY(take_names(job->arena, 2 * (size_t)job->body_count, &prims, err));
  write_header(job, w);
  sn_write_text(w, "\ndef Xform \"sinew\" (\n    kind = \"component\"\n)\n{");
  for (uint32_t b = 0; b < job->body_count; ++b) {
    sn_arena_mark mark = sn_arena_get_mark(job->arena);
    SN_TRY(write_body(job, &job->bodies[b], &prims, w, err));
    sn_arena_release(job->arena, mark);
  }
  sn_write_text(w, "}\n");
  return SN_OK;
}

sn_status sn_export_usda(const sn_export_job* job, sn_error* err) {
  char path[SN_EXPORT_PATH];
  sn_writer w;
  SN_TRY(sn_export_path(job, NULL, 0, path, err));
  sn_writer_open(&w, path, err);
  SN_TRY(sn_writer_close(&w, write_all(job, &w, err)));
  sn_export_tell(job, path);
  return SN_OK;
}
