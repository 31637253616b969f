// The viewer's web server: on this machine only, and for its own page only.
#ifndef SN_CLI_VIEW_SERVER_H
#define SN_CLI_VIEW_SERVER_H

#include "view.h"

typedef struct server_options {
  int port;      // 0: any free one
  bool browser;  // start one
  // Called once the address has been printed; may be NULL.
  void (*told)(void* user);
  void* user;
} server_options;

// Rows of an option table.
#define SERVER_ROWS(o)                                                                    \
  {"--port", OPTION_INT, "N", "port on 127.0.0.1 (default: a free one)", &(o).port}, {    \
    "--browser", OPTION_FLAG, NULL, "open the page in a browser (xdg-open)", &(o).browser \
  }

// Serve until Ctrl-C or SIGTERM; the address is the first line on stdout. SN_ERR_USAGE if the port is
// no port, SN_ERR_IO if it cannot be had. The view must live as long as the program.
sn_status server_run(view* v, const server_options* o, sn_error* err);

#endif
