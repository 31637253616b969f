// sinew VERB ...: one file a verb, cmd_VERB.c.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"

typedef struct verb {
  const char* name;
  const char* about;
  int (*run)(int argc, char** argv);
} verb;

static const verb VERBS[] = {
    {"flesh", "a rigged character in, simulated flesh out", command_flesh},
    {"run", "simulate a scene", command_run},
    {"check", "read and validate a scene, print what would be built", command_check},
    {"render", "pictures of a run, without a GPU", command_render},
    {"materials", "the material library, and where its numbers are from", command_materials},
    {"bench", "benchmarks and figures", command_bench},
    {"view", "a run, or two, on a web page of this machine", command_view},
    {"export", "a run in the formats of other programs", command_export},
    {NULL, NULL, NULL},
};

static void print_usage(FILE* out) {
  fprintf(out, "sinew %s: flesh, muscle and skin for animated characters, simulated on octrees\n\n",
          SN_VERSION_STRING);
  fprintf(out, "usage: sinew COMMAND [options]\n\n");
  for (const verb* v = VERBS; v->name; ++v) {
    fprintf(out, "  %-9s %s\n", v->name, v->about);
  }
  fprintf(out, "\nsinew COMMAND --help says more.\n");
}

static int unknown_verb(const char* name) {
  const char* names[16] = {NULL};
  int count = 0;
  for (const verb* v = VERBS; v->name; ++v) {
    names[count++] = v->name;
  }
  const char* near = nearest_name(name, names);
  fprintf(stderr,
          near ? "sinew: %s: no such command; did you mean %s?\n"
               : "sinew: %s: no such command; sinew --help lists them\n",
          name, near);
  return SN_ERR_USAGE;
}

// A file opened while one of the three standard ones is closed would take its number, and receive
// what is printed.
static void keep_standard_files(void) {
  int file;
  do {
    file = open("/dev/null", O_RDWR);
  } while (file >= 0 && file <= STDERR_FILENO);
  if (file > STDERR_FILENO) close(file);
}

// What was asked for on stdout has to arrive there.
static int check_stdout(int code) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return code;
  fprintf(stderr, "sinew: standard output: cannot be written\n");
  return code == SN_OK ? SN_ERR_IO : code;
}

int main(int argc, char** argv) {
  keep_standard_files();
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
    if (strcmp(argv[1], v->name) == 0) return check_stdout(v->run(argc - 1, argv + 1));
  }
  return unknown_verb(argv[1]);
}
