// The command line from one table: what is parsed, and what the help says.
#ifndef SN_CLI_OPTIONS_H
#define SN_CLI_OPTIONS_H

#include <sinew/sn.h>

typedef enum option_kind {
  OPTION_FLAG,
  OPTION_TEXT,
  OPTION_INT,
  OPTION_RANGE,
  OPTION_LIST
} option_kind;

typedef struct option {
  const char* name;  // "--threads"; "-o" and the like may stand here too
  option_kind kind;
  const char* value;  // what the help calls the value
  const char* help;
  void* target;  // bool, const char*, int, int[2] (A:B), or text_list
} option;

#define MAX_LIST 64

typedef struct text_list {
  const char* items[MAX_LIST];
  int count;
} text_list;

// Read argv[1..] into the options' targets and the other words into `words`. `--name=value` and
// `--name value` both work; `--` ends the options. SN_ERR_USAGE names what is wrong, and the
// nearest option where one is unknown.
sn_status options_parse(const option* table, int argc, char** argv, text_list* words,
                        sn_error* err);

// `usage: ...` and a line an option, to stdout.
void options_print_help(const char* usage, const char* about, const option* table);

// Of `names` (NULL at the end) the one most like `word`, or NULL if none is.
const char* nearest_name(const char* word, const char* const* names);

// Print `sinew: text` to stderr and return the status as exit code.
int report_error(const sn_error* err);

// Put the scene's name before a message that begins with a place in it.
void name_scene(const char* path, sn_error* err);

// Send the library's warnings to stderr, unless quiet.
void listen_to_log(bool quiet);
// One of them, as it is printed. @param user unused
void print_message(void* user, sn_log_level level, const char* text);

#endif
