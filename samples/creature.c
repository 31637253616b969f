// creature OUTDIR: makes a soft little animal and a scene that carries and twists it.
//
// Writes OUTDIR/creature.obj, blended from round cones, and OUTDIR/scene.json, in which two bones
// inside the body lift it, carry it aside, turn against each other about its long axis, bend it and
// bring it back. x points ahead, y up, z to its right; it stands on y = 0 and is about 1 m long.
// The triangles of eyes and nose are in the group `dark`, all others in `skin`.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sinew/shape.h"

#define GRID_CELL 0.0148  // metres
#define BLEND 0.09        // metres
#define CELL_COUNT 10000  // about as many cells shall the octree have
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// Parts in the middle plane.
static const sn_round_cone middle_parts[] = {
    {{-0.21, 0.325, 0}, {-0.02, 0.290, 0}, 0.148, 0.178},  // hindquarters to belly
    {{-0.02, 0.290, 0}, {0.14, 0.340, 0}, 0.170, 0.132},   // belly to chest
    {{0.15, 0.38, 0}, {0.205, 0.50, 0}, 0.105, 0.100},     // neck
    {{0.235, 0.61, 0}, {0.285, 0.60, 0}, 0.152, 0.142},    // head
    {{0.375, 0.565, 0}, {0.44, 0.558, 0}, 0.088, 0.076},   // snout
    {{0.508, 0.590, 0}, {0.508, 0.590, 0}, 0.028, 0.028},  // nose
    {{-0.31, 0.39, 0}, {-0.43, 0.51, 0}, 0.058, 0.030},    // tail
    {{-0.445, 0.535, 0}, {-0.445, 0.535, 0}, 0.050, 0.050},
};

// Parts of the right side; the left side mirrors them.
static const sn_round_cone side_parts[] = {
    {{-0.20, 0.24, 0.085}, {-0.215, 0.07, 0.110}, 0.102, 0.062},  // hind leg
    {{-0.21, 0.065, 0.112}, {-0.17, 0.060, 0.118}, 0.060, 0.054},
    {{0.135, 0.26, 0.085}, {0.14, 0.07, 0.102}, 0.086, 0.058},  // foreleg
    {{0.145, 0.062, 0.104}, {0.185, 0.060, 0.110}, 0.058, 0.054},
    {{0.355, 0.54, 0.055}, {0.40, 0.535, 0.045}, 0.066, 0.060},    // cheek
    {{0.378, 0.668, 0.074}, {0.378, 0.668, 0.074}, 0.033, 0.033},  // eye
    {{0.205, 0.71, 0.105}, {0.175, 0.755, 0.175}, 0.050, 0.044},   // ear
    {{0.175, 0.755, 0.175}, {0.165, 0.65, 0.225}, 0.042, 0.054},
};

// What is dark: all of the surface near these places of the right side and their mirror images.
static const struct {
  sn_vec3 centre;
  double radius;
} dark_places[] = {
    {{0.378, 0.668, 0.074}, 0.036},  // eye
    {{0.508, 0.590, 0}, 0.034},      // nose
};

static sn_vec3 mirrored(sn_vec3 p) { return (sn_vec3){p.x, p.y, -p.z}; }

static sn_status make_body(sn_mesh* mesh, sn_error* err) {
  sn_round_cone parts[COUNT(middle_parts) + 2 * COUNT(side_parts)];
  memcpy(parts, middle_parts, sizeof middle_parts);
  sn_round_cone* next = parts + COUNT(middle_parts);
  for (size_t i = 0; i < COUNT(side_parts); ++i) {
    sn_round_cone part = side_parts[i];
    *next++ = part;
    part.from = mirrored(part.from);
    part.to = mirrored(part.to);
    *next++ = part;
  }
  return sn_mesh_from_round_cones(parts, COUNT(parts), BLEND, GRID_CELL, mesh, err);
}

static sn_vec3 corner(const sn_mesh* mesh, uint32_t triangle, int which) {
  const double* p = mesh->positions + 3 * (size_t)mesh->triangles[3 * (size_t)triangle + which];
  return (sn_vec3){p[0], p[1], p[2]};
}

static double distance(sn_vec3 a, sn_vec3 b) {
  return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static int is_dark(const sn_mesh* mesh, uint32_t triangle) {
  sn_vec3 a = corner(mesh, triangle, 0), b = corner(mesh, triangle, 1),
          c = corner(mesh, triangle, 2);
  sn_vec3 middle = {(a.x + b.x + c.x) / 3, (a.y + b.y + c.y) / 3, (a.z + b.z + c.z) / 3};
  middle.z = fabs(middle.z);
  for (size_t i = 0; i < COUNT(dark_places); ++i) {
    if (distance(middle, dark_places[i].centre) < dark_places[i].radius) return 1;
  }
  return 0;
}

// Heron's formula.
static double surface_area(const sn_mesh* mesh) {
  double area = 0;
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    double a = distance(corner(mesh, t, 0), corner(mesh, t, 1));
    double b = distance(corner(mesh, t, 1), corner(mesh, t, 2));
    double c = distance(corner(mesh, t, 2), corner(mesh, t, 0)), s = (a + b + c) / 2;
    area += sqrt(s * (s - a) * (s - b) * (s - c));
  }
  return area;
}

static void write_group(const sn_mesh* mesh, const char* name, int dark, FILE* file) {
  fprintf(file, "g %s\n", name);
  for (uint32_t t = 0; t < mesh->triangle_count; ++t) {
    if (is_dark(mesh, t) != dark) continue;
    const uint32_t* c = mesh->triangles + 3 * (size_t)t;
    fprintf(file, "f %u %u %u\n", c[0] + 1, c[1] + 1, c[2] + 1);
  }
}

static void write_body(const sn_mesh* mesh, FILE* file) {
  for (uint32_t v = 0; v < mesh->vertex_count; ++v) {
    const double* p = mesh->positions + 3 * (size_t)v;
    fprintf(file, "v %.9g %.9g %.9g\n", p[0], p[1], p[2]);
  }
  write_group(mesh, "skin", 0, file);
  write_group(mesh, "dark", 1, file);
}

// Both bones are carried along the same path. About the middle of the body, the front one turns by
// these angles and the hind one by their opposites: twist about the long axis, bend to the side.
typedef struct pose {
  int frame;
  sn_vec3 carry;
  double twist_deg, bend_deg;
} pose;

static const pose poses[] = {
    {1, {0, 0, 0}, 0, 0},
    {4, {0, 0.16, 0}, 0, 0},
    {10, {0.04, 0.24, 0.14}, 45, 0},
    {15, {0.04, 0.24, -0.08}, 0, 34},
    {20, {0, 0.14, -0.08}, -40, 0},
    {24, {0, 0, 0}, 0, 0},
};
static const sn_vec3 body_middle = {0, 0.32, 0};

static const struct {
  const char* name;
  sn_capsule capsule;
  double turn;  // factor of the angles
} bones[] = {
    {"hips", {{-0.24, 0.325, 0}, {-0.17, 0.295, 0}, 0.105}, -1},
    {"chest", {{0.15, 0.305, 0}, {0.21, 0.540, 0}, 0.085}, 1},
};

// Twist first, then bend.
static sn_quat rotation(double twist_deg, double bend_deg) {
  const double half_degree = 3.14159265358979323846 / 360;
  double twist = twist_deg * half_degree, bend = bend_deg * half_degree;
  // Adding zero turns a negative zero into a plain one.
  return (sn_quat){sin(twist) * cos(bend) + 0.0, cos(twist) * sin(bend) + 0.0,
                   -sin(twist) * sin(bend) + 0.0, cos(twist) * cos(bend)};
}

static void write_key(const pose* key, double turn, FILE* file) {
  sn_quat q = rotation(turn * key->twist_deg, turn * key->bend_deg);
  fprintf(file,
          "        {\"frame\": %d, \"translate\": [%g, %g, %g], "
          "\"rotate\": [%.9g, %.9g, %.9g, %.9g], \"pivot\": [%g, %g, %g]}",
          key->frame, key->carry.x, key->carry.y, key->carry.z, q.x, q.y, q.z, q.w, body_middle.x,
          body_middle.y, body_middle.z);
}

static void write_bone(size_t bone, FILE* file) {
  const sn_capsule* c = &bones[bone].capsule;
  fprintf(file,
          "    {\n      \"name\": \"%s\",\n"
          "      \"capsule\": {\"from\": [%g, %g, %g], \"to\": [%g, %g, %g], \"radius\": %g},\n"
          "      \"motion\": [\n",
          bones[bone].name, c->from.x, c->from.y, c->from.z, c->to.x, c->to.y, c->to.z, c->radius);
  for (size_t i = 0; i < COUNT(poses); ++i) {
    write_key(&poses[i], bones[bone].turn, file);
    fprintf(file, i + 1 < COUNT(poses) ? ",\n" : "\n");
  }
  fprintf(file, "      ]\n    }");
}

static void write_scene(double cell, FILE* file) {
  fprintf(
      file,
      "{\n  \"sinew\": 1,\n  \"mode\": \"quasistatic\",\n  \"frames\": [%d, %d],\n"
      "  \"bodies\": [\n    {\n      \"name\": \"creature\",\n"
      "      \"surface\": \"creature.obj\",\n      \"cell\": %.3g,\n"
      "      \"material\": {\"young\": 30000, \"poisson\": 0.45}\n    }\n  ],\n  \"bones\": [\n",
      poses[0].frame, poses[COUNT(poses) - 1].frame, cell);
  for (size_t i = 0; i < COUNT(bones); ++i) {
    write_bone(i, file);
    fprintf(file, i + 1 < COUNT(bones) ? ",\n" : "\n");
  }
  fprintf(file, "  ],\n  \"attachments\": [\n");
  for (size_t i = 0; i < COUNT(bones); ++i) {
    fprintf(file, "    {\"body\": \"creature\", \"bone\": \"%s\", \"where\": \"inside\"}%s\n",
            bones[i].name, i + 1 < COUNT(bones) ? "," : "");
  }
  fprintf(file, "  ]\n}\n");
}

static FILE* open_file(const char* folder, const char* name) {
  char path[4096];
  int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  if (length < 0 || (size_t)length >= sizeof path) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  return fopen(path, "w");
}

// False if anything went wrong since the file was opened.
static int close_file(FILE* file) {
  int failed = ferror(file);
  return fclose(file) == 0 && !failed;
}

static int write_files(const sn_mesh* mesh, double cell, const char* folder) {
  FILE* file = open_file(folder, "creature.obj");
  if (!file) return 0;
  write_body(mesh, file);
  if (!close_file(file)) return 0;
  file = open_file(folder, "scene.json");
  if (!file) return 0;
  write_scene(cell, file);
  return close_file(file);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: creature OUTDIR\n");
    return SN_ERR_USAGE;
  }
  sn_mesh mesh = {0};
  sn_error err = {0};
  if (make_body(&mesh, &err) != SN_OK) {
    fprintf(stderr, "creature: %s\n", err.text);
    return err.status;
  }
  // A surface of area A cuts about 2.6 A / cell^2 cells, and the coarse inside hardly adds to them.
  double cell = sqrt(2.6 * surface_area(&mesh) / CELL_COUNT);
  int written = write_files(&mesh, cell, argv[1]);
  if (!written) fprintf(stderr, "creature: %s: cannot be written: %s\n", argv[1], strerror(errno));
  sn_mesh_destroy(&mesh);
  return written ? SN_OK : SN_ERR_IO;
}
