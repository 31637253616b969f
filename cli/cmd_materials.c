// sinew materials [NAME ...]: the material library.
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "options.h"

#define COLUMNS 100

// Text in lines of COLUMNS, with so many spaces before each.
static void print_wrapped(const char* text, int indent) {
  int column = COLUMNS;
  for (const char* word = text; *word;) {
    int length = (int)strcspn(word, " ");
    if (column + 1 + length > COLUMNS) {
      printf("%s%*s", word == text ? "" : "\n", indent, "");
      column = indent;
    } else {
      putchar(' ');
      ++column;
    }
    printf("%.*s", length, word);
    column += length;
    word += length;
    word += strspn(word, " ");
  }
  putchar('\n');
}

// The parameters without the braces and quotes that JSON needs.
static void print_definition(const char* definition) {
  for (const char* c = definition; *c; ++c) {
    if (!strchr("{}\"", *c)) putchar(*c);
  }
}

static void print_material(const sn_library_material* m) {
  printf("%s\n    ", m->name);
  print_definition(m->definition);
  printf(", density: %g\n", m->density);
  print_wrapped(m->source, 4);
}

static void print_material_json(const sn_library_material* m, bool first) {
  printf("%s{\"name\": \"%s\", \"material\": %s, \"density\": %g, \"source\": \"%s\"}",
         first ? "" : ",\n ", m->name, m->definition, m->density, m->source);
}

static bool is_asked_for(const text_list* words, const char* name) {
  for (int i = 0; i < words->count; ++i) {
    if (strcmp(words->items[i], name) == 0) return true;
  }
  return words->count == 0;
}

// Every word must be a name.
static int check_words(const text_list* words, const sn_library_material* all, uint32_t count) {
  const char* names[128] = {NULL};
  for (uint32_t i = 0; i < count && i < 127; ++i) names[i] = all[i].name;
  for (int w = 0; w < words->count; ++w) {
    bool found = false;
    for (uint32_t i = 0; i < count && !found; ++i) found = strcmp(words->items[w], names[i]) == 0;
    if (found) continue;
    const char* near = nearest_name(words->items[w], names);
    fprintf(stderr,
            near ? "sinew: materials: %s: no such material; did you mean %s?\n"
                 : "sinew: materials: %s: no such material; sinew materials lists them\n",
            words->items[w], near);
    return SN_ERR_USAGE;
  }
  return SN_OK;
}

int command_materials(int argc, char** argv) {
  bool json = false, help = false;
  const option table[] = {
      {"--json", OPTION_FLAG, NULL, "print one JSON list", &json},
      {"--help", OPTION_FLAG, NULL, "this text", &help},
      {NULL, OPTION_FLAG, NULL, NULL, NULL},
  };
  sn_error err = {0};
  text_list words = {0};
  if (options_parse(table, argc, argv, &words, &err) != SN_OK) return report_error(&err);
  if (help) {
    options_print_help("sinew materials [NAME ...] [options]",
                       "The material library: law, parameters in Pa, density in kg/m3, and where "
                       "the numbers are from.",
                       table);
    return SN_OK;
  }
  uint32_t count;
  const sn_library_material* all = sn_library(&count);
  if (check_words(&words, all, count) != SN_OK) return SN_ERR_USAGE;
  bool first = true;
  if (json) putchar('[');
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_asked_for(&words, all[i].name)) continue;
    if (json) {
      print_material_json(&all[i], first);
    } else {
      print_material(&all[i]);
    }
    first = false;
  }
  if (json) printf("]\n");
  return SN_OK;
}
