// sinew run SCENE.json
#include "commands.h"
#include "simulate.h"

int command_run(int argc, char** argv) {
  simulate_options o = SIMULATE_DEFAULTS;
  const option table[] = {
      {"-o", OPTION_TEXT, "DIR", "folder for the results (default: SCENE.out beside the scene)",
       &o.folder},
      {"--frames", OPTION_RANGE, "A:B", "frames to simulate (default: the scene's)", &o.frames},
      SIMULATE_ROWS(o)};
  sn_error err = {0};
  text_list words = {0};
  char folder[SIMULATE_PATH_SIZE];
  if (options_parse(table, argc, argv, &words, &err) != SN_OK) return report_error(&err);
  if (o.help) {
    options_print_help("sinew run SCENE.json [options]", "Simulate a scene.", table);
    return SN_OK;
  }
  if (words.count != 1) {
    wrong_usage(&err, "run: expected one scene file; sinew run --help says more");
    return report_error(&err);
  }
  if (!o.folder) {
    replace_ending(words.items[0], ".out", folder);
    o.folder = folder;
  }
  simulate_listen(o.quiet);
  return simulate_scene(&o, words.items[0]);
}
