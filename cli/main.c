// sinew VERB ...: one file a verb, cmd_VERB.c.
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"

typedef struct verb {
  const char* name;
  const char* about;
  int (*run)(int argc, char** argv);  // NULL: not in this version
} verb;

static const verb VERBS[] = {
    {"run", "simulate a scene", command_run},
    {"check", "read and validate a scene, print what would be built", command_check},
    {"render", "pictures of a run, without a GPU", command_render},
    {"materials", "the material library, and where its numbers are from", command_materials},
    {"bench", "benchmarks and figures", command_bench},
    {"flesh", "a rigged character in, simulated flesh out", NULL},
    {"view", "web viewer", NULL},
    {"export", "other formats", NULL},
    {NULL, NULL, NULL},
};

static void print_usage(FILE* out) {
  fprintf(out, "sinew %s: flesh, muscle and skin for animated characters, simulated on octrees\n\n",
          SN_VERSION_STRING);
  fprintf(out, "usage: sinew COMMAND [options]\n\n");
  for (const verb* v = VERBS; v->name; ++v) {
    if (v->run) fprintf(out, "  %-9s %s\n", v->name, v->about);
  }
  fprintf(out, "\nsinew COMMAND --help says more.\n");
}

static int unknown_verb(const char* name) {
  const char* names[16] = {NULL};
  int count = 0;
  for (const verb* v = VERBS; v->name; ++v) {
    if (v->run) names[count++] = v->name;
  }
  const char* near = nearest_name(name, names);
  fprintf(stderr,
          near ? "sinew: %s: no such command; did you mean %s?\n"
               : "sinew: %s: no such command; sinew --help lists them\n",
          name, near);
  return SN_ERR_USAGE;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    print_usage(stderr);
    return SN_ERR_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
    print_usage(stdout);
    return SN_OK;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("sinew %s\n", SN_VERSION_STRING);
    return SN_OK;
  }
  for (const verb* v = VERBS; v->name; ++v) {
    if (strcmp(argv[1], v->name) != 0) continue;
    if (v->run) return v->run(argc - 1, argv + 1);
    fprintf(stderr, "sinew: %s: not in this version (%s)\n", v->name, SN_VERSION_STRING);
    return SN_ERR_USAGE;
  }
  return unknown_verb(argv[1]);
}
