// What would be built, in the viewer. It is put into a folder such as a run has, which is removed again.
#ifndef SN_CLI_VIEW_CHECK_H
#define SN_CLI_VIEW_CHECK_H

#include "server.h"

// Serve until Ctrl-C or SIGTERM. @param path of the scene
sn_status check_show(const char* path, sn_scene* scene, const sn_model* model, sn_state* state,
                     const server_options* o, sn_error* err);

#endif
