// sinew check SCENE.json: what would be built, and every warning. sinew check DIR: whether the files of a run are
// as it wrote them.
#include <stdio.h>
#include <sys/stat.h>

#include "commands.h"
#include "messages.h"
#include "options.h"
#include "view/check.h"
#include "view/page.h"

typedef struct check_options {
  bool json, open, help;
  server_options server;
  int threads;
  text_list changes;
} check_options;

// All that was made.
typedef struct checked {
  const check_options* options;
  sn_scene* scene;
  sn_pool* pool;
  sn_model* model;
  sn_state* state;
  size_t state_bytes;
} checked;

static void print_levels(const sn_body_info* info, const char* separator) {
  for (int level = 0; level < info->level_count; ++level) {
    printf("%s%llu", level ? separator : "", (unsigned long long)info->cells_per_level[level]);
  }
}

static void print_parts(const sn_model* model, uint32_t body, const sn_body_info* info) {
  for (uint32_t i = 0; i < info->region_count; ++i) {
    sn_region_info region = sn_model_region(model, body, i);
    printf("  region      %s: %.3g %% of the volume, %s\n", region.name, 100 * region.share,
           region.model);
  }
  for (uint32_t i = 0; i < info->map_count; ++i) {
    sn_map_info map = sn_model_map(model, body, i);
    printf("  map         %s: %.4g to %.4g at the vertices, mean %.4g in the flesh; %s\n", map.name,
           map.least, map.most, map.mean, map.source ? map.source : "given");
  }
  for (uint32_t i = 0; i < info->muscle_count; ++i) {
    sn_muscle_info muscle = sn_model_muscle(model, body, i);
    printf("  muscle      %s: %.3g %% of the volume, in %llu cells\n", muscle.name,
           100 * muscle.share, (unsigned long long)muscle.cell_count);
  }
}

// Do all triangles of a group follow?
static bool group_follows(const sn_body_desc* body, uint32_t group) {
  const sn_mesh_group* g = &body->mesh.groups[group];
  if (!body->follow) return false;
  for (uint32_t i = 0; i < g->triangle_count; ++i) {
    if (!body->follow[g->triangles[i]]) return false;
  }
  return true;
}

static void print_followers(const sn_body_desc* body, const sn_body_info* info) {
  if (info->part_count == 1 && info->following_vertex_count == 0) return;
  printf("  parts       %u of the surface", info->part_count);
  if (info->following_vertex_count == 0) {
    printf(", all of flesh\n");
    return;
  }
  printf("; %u follow, with %u vertices", info->following_part_count, info->following_vertex_count);
  const char* before = ": ";
  for (uint32_t g = 0; g < body->mesh.group_count; ++g) {
    if (!group_follows(body, g)) continue;
    printf("%s%s", before, body->mesh.groups[g].name);
    before = ", ";
  }
  printf("\n");
}

// Names are those of the scene: JSON strings that need no escapes but these.
static void print_quoted(const char* text) {
  putchar('"');
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') putchar('\\');
    if ((unsigned char)*text >= 0x20) putchar(*text);
  }
  putchar('"');
}

static void print_parts_json(const sn_model* model, uint32_t body, const sn_body_info* info) {
  printf(", \"regions\": [");
  for (uint32_t i = 0; i < info->region_count; ++i) {
    sn_region_info region = sn_model_region(model, body, i);
    printf(i ? ", {\"name\": " : "{\"name\": ");
    print_quoted(region.name);
    printf(", \"share\": %.9g, \"model\": \"%s\"}", region.share, region.model);
  }
  printf("], \"maps\": [");
  for (uint32_t i = 0; i < info->map_count; ++i) {
    sn_map_info map = sn_model_map(model, body, i);
    printf(i ? ", {\"name\": " : "{\"name\": ");
    print_quoted(map.name);
    printf(", \"source\": ");
    print_quoted(map.source ? map.source : "");
    printf(", \"least\": %.9g, \"mean\": %.9g, \"most\": %.9g}", map.least, map.mean, map.most);
  }
  printf("], \"muscles\": [");
  for (uint32_t i = 0; i < info->muscle_count; ++i) {
    sn_muscle_info muscle = sn_model_muscle(model, body, i);
    printf(i ? ", {\"name\": " : "{\"name\": ");
    print_quoted(muscle.name);
    printf(", \"cells\": %llu, \"share\": %.9g}", (unsigned long long)muscle.cell_count,
           muscle.share);
  }
  printf("]");
}

static void print_followers_json(const sn_body_desc* body, const sn_body_info* info) {
  printf(
      ", \"parts\": %u, \"following_parts\": %u, \"following_vertices\": %u, "
      "\"following_groups\": [",
      info->part_count, info->following_part_count, info->following_vertex_count);
  const char* before = "";
  for (uint32_t g = 0; g < body->mesh.group_count; ++g) {
    if (!group_follows(body, g)) continue;
    printf("%s", before);
    print_quoted(body->mesh.groups[g].name);
    before = ", ";
  }
  printf("]");
}

static void print_body(const sn_scene* scene, const sn_body_info* info) {
  printf("body %s\n", info->name);
  printf("  cell        %g (finest edge, in units of the scene)\n", info->cell / scene->unit);
  printf("  cells       %llu, of which %llu have hanging corners\n",
         (unsigned long long)info->cell_count, (unsigned long long)info->hanging_cell_count);
  printf("  by level    ");
  print_levels(info, "  ");
  printf("   (finest first)\n");
  if (info->dropped_cell_count > 0) {
    printf("  left out    %llu cells that are filled too little\n",
           (unsigned long long)info->dropped_cell_count);
  }
  if (info->cut_cell_count > 0) {
    printf("  cut         %llu cells, %llu with more than four points\n",
           (unsigned long long)info->cut_cell_count,
           (unsigned long long)info->many_point_cell_count);
  }
  printf("  nodes       %llu, %llu unknowns\n", (unsigned long long)info->node_count,
         (unsigned long long)info->unknown_count);
  printf("  attached    %llu nodes, %llu fixed%s\n", (unsigned long long)info->attached_node_count,
         (unsigned long long)info->fixed_node_count,
         info->held ? "" : "; parts that nothing holds keep their start pose");
  printf("  volume      %.6g m3, filled %.6g m3, mass %.6g kg\n", info->volume, info->filled_volume,
         info->mass);
}

static void print_body_json(const sn_scene* scene, const sn_body_info* info, double bytes) {
  printf("{\"name\": \"%s\", \"cell\": %.9g, \"cells\": %llu, \"cells_per_level\": [", info->name,
         info->cell / scene->unit, (unsigned long long)info->cell_count);
  print_levels(info, ", ");
  printf(
      "], \"hanging_cells\": %llu, \"nodes\": %llu, \"unknowns\": %llu, \"attached_nodes\": %llu, "
      "\"fixed_nodes\": %llu, \"outside_vertices\": %llu, \"dropped_cells\": %llu, "
      "\"cut_cells\": %llu, \"many_point_cells\": %llu, \"volume\": %.9g, "
      "\"filled_volume\": %.9g, \"mass\": %.9g, "
      "\"held\": %s, \"degenerate_triangles\": %u, \"duplicate_triangles\": %u, "
      "\"flipped_triangles\": %u, \"unreferenced_vertices\": %u, \"estimated_bytes\": %.0f",
      (unsigned long long)info->hanging_cell_count, (unsigned long long)info->node_count,
      (unsigned long long)info->unknown_count, (unsigned long long)info->attached_node_count,
      (unsigned long long)info->fixed_node_count, (unsigned long long)info->outside_vertex_count,
      (unsigned long long)info->dropped_cell_count, (unsigned long long)info->cut_cell_count,
      (unsigned long long)info->many_point_cell_count, info->volume, info->filled_volume,
      info->mass, info->held ? "true" : "false", info->mesh.degenerate_triangles,
      info->mesh.duplicate_triangles, info->mesh.flipped_triangles,
      info->mesh.unreferenced_vertices, bytes);
}

// Bytes a cell by purpose.
static void print_account(bool json, const sn_memory_account* account, double cells) {
  printf(json ? ", \"bytes_per_element\": {" : "  bytes a cell");
  for (int p = 0; p < SN_MEMORY_PURPOSES; ++p) {
    const char* name = sn_memory_purpose_name((sn_memory_purpose)p);
    printf(json ? "%s\"%s\": %.1f" : "%s %s %.0f",
           p == 0 ? ""
           : json ? ", "
                  : ",",
           name, (double)account->bytes[p] / cells);
  }
  printf(json ? "}" : "\n");
}

static void print_model(const check_options* o, const sn_scene* scene, const sn_model* model,
                        const sn_state* state, size_t state_bytes) {
  double total = (double)(sn_model_bytes(model) + state_bytes);
  sn_memory_account account = sn_state_memory(model, state);
  uint64_t cells = 0;
  for (uint32_t b = 0; b < sn_model_body_count(model); ++b)
    cells += sn_model_body(model, b).cell_count;
  if (o->json) printf("{\"bodies\": [");
  for (uint32_t b = 0; b < sn_model_body_count(model); ++b) {
    sn_body_info info = sn_model_body(model, b);
    if (o->json) {
      if (b) printf(", ");
      print_body_json(scene, &info, total * (double)info.cell_count / (double)cells);
      print_parts_json(model, b, &info);
      print_followers_json(&scene->bodies[b], &info);
      printf("}");
    } else {
      print_body(scene, &info);
      print_followers(&scene->bodies[b], &info);
      print_parts(model, b, &info);
    }
  }
  if (o->json) {
    printf("], \"estimated_bytes\": %.0f, \"frames\": [%d, %d]", total, scene->first_frame,
           scene->last_frame);
    print_account(true, &account, (double)cells);
    printf("}\n");
  } else {
    printf("memory        about %.3g MB (%.0f bytes a cell)\n", total / 1e6, total / (double)cells);
    print_account(false, &account, (double)cells);
    printf("frames        %d to %d\n", scene->first_frame, scene->last_frame);
  }
}

static sn_status build(const check_options* o, const char* path, checked* c, sn_error* err) {
  sn_scene_change changes[MAX_LIST];
  for (int i = 0; i < o->changes.count; ++i) changes[i].path_and_value = o->changes.items[i];
  sn_status status = sn_scene_load(path, changes, o->changes.count, &c->scene, err);
  if (status == SN_OK) status = sn_pool_create(o->threads, &c->pool, err);
  if (status == SN_OK) {
    status = sn_model_build(c->scene, c->pool, &c->model, err);
    if (status != SN_OK) name_scene(path, err);
  }
  size_t before = sn_memory_used();
  if (status == SN_OK) status = sn_state_create(c->model, c->pool, &c->state, err);
  c->state_bytes = sn_memory_used() - before;
  return status;
}

static void destroy(checked* c) {
  sn_state_destroy(c->state);
  sn_model_destroy(c->model);
  sn_pool_destroy(c->pool);
  sn_scene_destroy(c->scene);
  *c = (checked){.options = c->options};
}

// The viewer has all of it in files by now, so that nothing large is held while someone looks at it.
static void print_and_destroy(void* user) {
  checked* c = user;
  print_model(c->options, c->scene, c->model, c->state, c->state_bytes);
  destroy(c);
}

static sn_status check(const check_options* o, const char* path, sn_error* err) {
  checked c = {.options = o};
  sn_status status = build(o, path, &c, err);
  if (status == SN_OK && o->open) {
    server_options server = o->server;
    server.told = print_and_destroy;
    server.user = &c;
    status = check_show(path, c.scene, c.model, c.state, &server, err);
  } else if (status == SN_OK) {
    print_model(o, c.scene, c.model, c.state, c.state_bytes);
  }
  destroy(&c);
  return status;
}

static bool is_folder(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static void print_damage(void* user, const char* text) {
  (void)user;
  fprintf(stderr, "sinew: %s\n", text);
}

static sn_status verify(const char* folder, bool json, sn_error* err) {
  sn_run_findings found;
  sn_status status = sn_run_verify(folder, print_damage, NULL, &found, err);
  if (status != SN_OK) return status;
  if (json) {
    printf("{\"files\": %u, \"frames\": %u, \"damaged\": %u}\n", found.file_count,
           found.frame_count, found.damaged_count);
  } else {
    printf("%u files, %u frames in them\n", found.file_count, found.frame_count);
  }
  if (found.damaged_count == 0) return SN_OK;
  err->status = SN_ERR_INPUT;
  snprintf(err->text, sizeof err->text,
           "%.500s: %u of its files are damaged; expected them as the run wrote them: run again",
           folder, found.damaged_count);
  return SN_ERR_INPUT;
}

int command_check(int argc, char** argv) {
  check_options o = {0};
  const option table[] = {
      {"--json", OPTION_FLAG, NULL, "print one JSON object", &o.json},
      {"--open", OPTION_FLAG, NULL, "show it in the viewer, until Ctrl-C", &o.open},
      SERVER_ROWS(o.server),
      {"--threads", OPTION_INT, "N", "threads; 0 = one a processor", &o.threads},
      {"--set", OPTION_LIST, "PATH=VALUE", "change a value of the scene", &o.changes},
      {"--help", OPTION_FLAG, NULL, "this text", &o.help},
      {NULL, OPTION_FLAG, NULL, NULL, NULL},
  };
  sn_error err = {0};
  text_list words = {0};
  if (options_parse(table, argc, argv, &words, &err) != SN_OK) return report_error(&err);
  if (o.help) {
    options_print_help("sinew check SCENE.json [options]\n       sinew check DIR [--json]",
                       "Read and validate all inputs; print cells, unknowns, memory and warnings.\n"
                       "With the folder of a run, compare its files with their checksums.",
                       table);
    return SN_OK;
  }
  if (words.count != 1) {
    fprintf(stderr,
            "sinew: check: expected one scene file or the folder of a run; sinew check --help says "
            "more\n");
    return SN_ERR_USAGE;
  }
  if (o.open && PAGE_FILE_COUNT == 0) {
    fprintf(stderr, "sinew: check: --open: %s\n", PAGE_MISSING);
    return SN_ERR_USAGE;
  }
  messages_listen(false);
  if (is_folder(words.items[0]) && !o.open) {
    return verify(words.items[0], o.json, &err) == SN_OK ? SN_OK : report_error(&err);
  }
  return check(&o, words.items[0], &err) == SN_OK ? SN_OK : report_error(&err);
}
