// sinew view DIR [OTHER]: a run, or two, in a web browser.
#include <stdio.h>

#include "commands.h"
#include "options.h"
#include "view/export.h"
#include "view/page.h"
#include "view/server.h"

typedef struct view_options {
  server_options server;
  const char* page;  // file to export into; NULL: serve
  int frames[2];     // that go into it; 0 0: all
  bool help;
} view_options;

static sn_status show(const view_options* o, const text_list* folders, sn_error* err) {
  static view v;
  sn_status status = view_open(&v, folders->items, folders->count, err);
  if (status == SN_OK && o->page) {
    status = export_page(&v, o->page, o->frames, err);
    if (status == SN_OK) printf("%s\n", o->page);
  } else if (status == SN_OK) {
    status = server_run(&v, &o->server, err);
  }
  view_close(&v);
  return status;
}

int command_view(int argc, char** argv) {
  view_options o = {0};
  const option table[] = {
      SERVER_ROWS(o.server),
      {"--export", OPTION_TEXT, "FILE.html", "write one self-contained page instead", &o.page},
      {"--frames", OPTION_RANGE, "A:B", "with --export: only these frames", &o.frames},
      {"--help", OPTION_FLAG, NULL, "this text", &o.help},
      {NULL, OPTION_FLAG, NULL, NULL, NULL},
  };
  sn_error err = {0};
  text_list words = {0};
  if (options_parse(table, argc, argv, &words, &err) != SN_OK) return report_error(&err);
  if (o.help) {
    options_print_help("sinew view DIR [OTHER] [options]",
                       "Show a run, or two side by side, on a web page of this machine.", table);
    return SN_OK;
  }
  if (words.count < 1 || words.count > VIEW_RUNS) {
    fprintf(stderr,
            "sinew: view: expected the folder of a run, or of two; sinew view --help says more\n");
    return SN_ERR_USAGE;
  }
  if ((o.frames[0] || o.frames[1]) && !o.page) {
    fprintf(stderr, "sinew: --frames: goes with --export; the page itself shows all frames\n");
    return SN_ERR_USAGE;
  }
  if (PAGE_FILE_COUNT == 0) {
    fprintf(stderr, "sinew: view: %s\n", PAGE_MISSING);
    return SN_ERR_USAGE;
  }
  return show(&o, &words, &err) == SN_OK ? SN_OK : report_error(&err);
}
