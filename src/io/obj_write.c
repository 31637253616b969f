#include "io/obj_write.h"

#include <string.h>

static void write_triple(sn_writer* w, const char* keyword, const double* numbers, int count) {
  sn_write_text(w, keyword);
  for (int i = 0; i < count; ++i) {
    sn_write_text(w, " ");
    sn_write_number(w, numbers[i]);
  }
  sn_write_text(w, "\n");
}

void sn_obj_write_vertex(sn_writer* w, double x, double y, double z) {
  write_triple(w, "v", (const double[]){x, y, z}, 3);
}

// Names of groups end at a blank, those of materials with the line.
static void write_name(sn_writer* w, const char* name, bool keeps_blanks) {
  for (; *name; ++name) {
    unsigned char c = (unsigned char)*name;
    bool kept = c > ' ' || (c == ' ' && keeps_blanks);
    sn_write_bytes(w, kept ? name : "_", 1);
  }
}

// A material's group of the same name need not be said twice.
static bool is_said(const sn_mesh_group* group) {
  return !group->material || strcmp(group->material, group->name) != 0;
}

static void write_groups(sn_writer* w, const sn_mesh* mesh, const sn_mesh_parts* parts,
                         uint32_t face) {
  sn_write_text(w, "g");
  for (uint32_t i = parts->group_starts[face]; i < parts->group_starts[face + 1]; ++i) {
    const sn_mesh_group* group = &mesh->groups[parts->groups[i]];
    if (!is_said(group)) continue;
    sn_write_text(w, " ");
    write_name(w, group->name, false);
  }
  sn_write_text(w, "\n");
}

static bool same_groups(const sn_mesh_parts* parts, uint32_t a, uint32_t b) {
  uint32_t count = parts->group_starts[a + 1] - parts->group_starts[a];
  return count == parts->group_starts[b + 1] - parts->group_starts[b] &&
         (count == 0 ||
          memcmp(parts->groups + parts->group_starts[a], parts->groups + parts->group_starts[b],
                 count * sizeof(uint32_t)) == 0);
}

// What changes from the face before.
static void write_changes(sn_writer* w, const sn_mesh* mesh, const sn_mesh_parts* parts,
                          uint32_t face) {
  bool any = parts->group_starts[face + 1] > parts->group_starts[face];
  if (face == 0 ? any : !same_groups(parts, face - 1, face)) write_groups(w, mesh, parts, face);
  uint32_t material = parts->face_materials[face];
  if (material == (face == 0 ? SN_NO_MATERIAL : parts->face_materials[face - 1])) return;
  sn_write_text(w, "usemtl");
  if (material != SN_NO_MATERIAL) {
    sn_write_text(w, " ");
    write_name(w, parts->materials[material]->material, true);
  }
  sn_write_text(w, "\n");
}

void sn_obj_write_faces(sn_writer* w, const sn_mesh* mesh, const sn_mesh_parts* parts) {
  for (size_t p = 0; p < parts->point_count && parts->point_uvs; ++p) {
    const float* uv = parts->point_uvs + 2 * p;
    write_triple(w, "vt", (const double[]){(double)uv[0], (double)uv[1]}, 2);
  }
  for (uint32_t f = 0; f < mesh->face_count; ++f) {
    write_changes(w, mesh, parts, f);
    sn_write_text(w, "f");
    for (uint32_t c = mesh->face_starts[f]; c < mesh->face_starts[f + 1]; ++c) {
      sn_write_text(w, " ");
      sn_write_whole(w, mesh->face_vertices[c] + 1ull);
      if (!parts->point_uvs) continue;
      sn_write_text(w, "/");
      sn_write_whole(w, parts->corner_points[c] + 1ull);
    }
    sn_write_text(w, "\n");
  }
}
