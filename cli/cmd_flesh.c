// sinew flesh CHARACTER: plans a scene from a rigged character, writes it, and simulates it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "simulate.h"

typedef struct flesh_options {
  const char *cell, *fps, *young, *bones, *hold;  // numbers
  const char *clip, *motion, *material, *write_scene;
  int preroll;
  bool loop, quasistatic, no_contact;
} flesh_options;

static bool parse_number(const char* text, double* number) {
  char* end;
  if (!text) return true;
  *number = strtod(text, &end);
  return end != text && !*end && *number > 0;
}

static sn_status fill_opts(const flesh_options* f, const simulate_options* o, sn_flesh_opts* opts,
                           sn_error* err) {
  *opts = sn_flesh_default_opts();
  if (!parse_number(f->cell, &opts->cell)) {
    return wrong_usage(err, "--cell: expected a length above 0, in metres");
  }
  if (!parse_number(f->fps, &opts->fps))
    return wrong_usage(err, "--fps: expected a number above 0");
  if (!parse_number(f->young, &opts->young)) {
    return wrong_usage(err, "--young: expected a stiffness above 0, in Pa");
  }
  if (!parse_number(f->bones, &opts->bones)) {
    return wrong_usage(err, "--bones: expected a factor from 0.05 to 2");
  }
  if ((o->frames[0] || o->frames[1]) && (o->frames[0] < 1 || o->frames[1] < o->frames[0])) {
    return wrong_usage(err, "--frames: expected A:B with 1 <= A <= B");
  }
  if (f->hold && strcmp(f->hold, "0") == 0) {
    opts->hold = -1;
  } else if (!parse_number(f->hold, &opts->hold)) {
    return wrong_usage(err, "--hold: expected a factor, 0 or more");
  }
  opts->clip = f->clip;
  opts->motion = f->motion;
  opts->material = f->material;
  opts->first_frame = o->frames[0];
  opts->last_frame = o->frames[1];
  opts->loop = f->loop;
  opts->quasistatic = f->quasistatic;
  opts->preroll = f->preroll;
  opts->contact = !f->no_contact;
  return SN_OK;
}

// Followers of one node for one reason are one line.
static bool same_line(const sn_flesh_part* a, const sn_flesh_part* b) {
  return a->flesh == b->flesh && strcmp(a->name, b->name) == 0 && strcmp(a->reason, b->reason) == 0;
}

static void print_parts(const sn_flesh_report* report) {
  for (uint32_t i = 0; i < report->part_count; ++i) {
    const sn_flesh_part* part = &report->parts[i];
    uint32_t count = 0, triangles = 0;
    bool told = false;
    for (uint32_t k = 0; k < i && !told; ++k) told = same_line(part, &report->parts[k]);
    if (told) continue;
    for (uint32_t k = i; k < report->part_count; ++k) {
      if (!same_line(part, &report->parts[k])) continue;
      count++;
      triangles += report->parts[k].triangle_count;
    }
    fprintf(stderr, "  %s %s: %u part%s, %u triangles; %s\n", part->flesh ? "flesh  " : "follows",
            part->name, count, count > 1 ? "s" : "", triangles, part->reason);
  }
}

static void print_joints(const sn_flesh_report* report) {
  for (uint32_t i = 0; i < report->joint_count; ++i) {
    const sn_flesh_joint* joint = &report->joints[i];
    if (joint->into) {
      fprintf(stderr, "  joint   %s: merged into %s, %s\n", joint->name, joint->into,
              joint->reason ? joint->reason : "");
    } else if (joint->reason) {
      fprintf(stderr, "  joint   %s: %s\n", joint->name, joint->reason);
    }
  }
}

static void print_report(const char* path, const sn_flesh_report* report) {
  fprintf(stderr, "sinew: %s: %u triangles, %.3g m across\n", path, report->triangle_count,
          report->size);
  print_parts(report);
  fprintf(stderr, "  bones   %u for %u joints; cells of about %.3g m\n", report->bone_count,
          report->joint_count, report->cell);
  print_joints(report);
  fprintf(stderr, "  clip    %s, frames %d to %d at %g a second, %d before\n",
          report->clip ? report->clip : "none", report->first_frame, report->last_frame,
          report->fps, report->preroll);
  for (uint32_t i = 0; i < report->note_count; ++i)
    fprintf(stderr, "  note    %s\n", report->notes[i]);
}

// The folder part of a path, "." without one.
static void folder_of(const char* path, char* folder) {
  const char* slash = strrchr(path, '/');
  int length = slash ? (int)(slash - path) : 1;
  snprintf(folder, SIMULATE_PATH_SIZE, "%.*s", length > 0 ? length : 1, slash ? path : ".");
}

// A folder and those above it. What fails shows when the scene is written.
static void create_folder(const char* path) {
  char part[SIMULATE_PATH_SIZE];
  snprintf(part, sizeof part, "%s", path);
  for (char* slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(part, 0777);
    *slash = '/';
  }
  mkdir(part, 0777);
}

static sn_status plan(const char* character, const char* scene, const simulate_options* o,
                      sn_flesh_opts* opts, sn_error* err) {
  char folder[SIMULATE_PATH_SIZE], *text;
  sn_flesh_report report;
  folder_of(scene, folder);
  opts->scene_folder = folder;
  sn_status status = sn_flesh_plan(character, opts, &text, &report, err);
  if (status != SN_OK) return status;
  if (!o->quiet) print_report(character, &report);
  status = sn_flesh_save(scene, text, err);
  sn_flesh_report_destroy(&report);
  return status;
}

// The scene goes into the folder of the run, or where it is asked for.
static int make_flesh(const char* character, const flesh_options* f, simulate_options* o) {
  char folder[SIMULATE_PATH_SIZE], scene[SIMULATE_PATH_SIZE + 16];
  sn_error err = {0};
  sn_flesh_opts opts;
  if (fill_opts(f, o, &opts, &err) != SN_OK) return report_error(&err);
  bool only_scene = f->write_scene && !o->folder;
  if (!o->folder) {
    const char* slash = strrchr(character, '/');
    replace_ending(slash ? slash + 1 : character, ".out", folder);
    o->folder = folder;
  }
  if (f->write_scene) {
    snprintf(scene, sizeof scene, "%s", f->write_scene);
  } else {
    create_folder(o->folder);
    snprintf(scene, sizeof scene, "%s/flesh.json", o->folder);
  }
  simulate_listen(o->quiet);
  if (plan(character, scene, o, &opts, &err) != SN_OK) {
    if (!f->write_scene) rmdir(o->folder);  // only if nothing is in it
    return simulate_refused(o, &err);
  }
  if (only_scene) return SN_OK;
  o->frames[0] = o->frames[1] = 0;  // the scene has them
  return simulate_scene(o, scene);
}

int command_flesh(int argc, char** argv) {
  simulate_options o = SIMULATE_DEFAULTS;
  flesh_options f = {.preroll = -1};
  const option table[] = {
      {"-o", OPTION_TEXT, "DIR", "folder for the results (default: CHARACTER.out, here)",
       &o.folder},
      {"--cell", OPTION_TEXT, "H", "finest cell edge, m (default: about 100k cells)", &f.cell},
      {"--clip", OPTION_TEXT, "NAME|N", "clip by name or number (default: the first)", &f.clip},
      {"--motion", OPTION_TEXT, "FILE",
       "a file whose clip drives the joints by name, e.g. walk.bvh", &f.motion},
      {"--frames", OPTION_RANGE, "A:B", "frames to simulate (default: the whole clip)", &o.frames},
      {"--loop", OPTION_FLAG, NULL, "the clip begins again where it ends", &f.loop},
      {"--fps", OPTION_TEXT, "N", "frames a second (default 24)", &f.fps},
      {"--material", OPTION_TEXT, "NAME", "one of `sinew materials` (default: soft flesh)",
       &f.material},
      {"--young", OPTION_TEXT, "PA", "stiffness (default: 12 kPa, more for large or thin bodies)",
       &f.young},
      {"--quasistatic", OPTION_FLAG, NULL, "each frame in balance, without inertia",
       &f.quasistatic},
      {"--preroll", OPTION_INT, "N",
       "frames from the bind pose to the first (default: 8 if they differ)", &f.preroll},
      {"--no-contact", OPTION_FLAG, NULL, "flesh does not touch itself", &f.no_contact},
      {"--bones", OPTION_TEXT, "FACTOR", "thickness of the bones (default 1)", &f.bones},
      {"--hold", OPTION_TEXT, "FACTOR",
       "how firmly the skin is kept near the skinned pose (default 1; 0: by bones alone)", &f.hold},
      {"--write-scene", OPTION_TEXT, "FILE",
       "write the scene to FILE, to go on by hand; without -o nothing is simulated",
       &f.write_scene},
      SIMULATE_ROWS(o)};
  sn_error err = {0};
  text_list words = {0};
  if (options_parse(table, argc, argv, &words, &err) != SN_OK) return report_error(&err);
  if (o.help) {
    options_print_help("sinew flesh CHARACTER.(glb|gltf|fbx|dae) [options]",
                       "Simulate the flesh of a rigged, animated character.", table);
    return SN_OK;
  }
  if (words.count != 1) {
    wrong_usage(&err, "flesh: expected one character file; sinew flesh --help says more");
    return report_error(&err);
  }
  return make_flesh(words.items[0], &f, &o);
}
