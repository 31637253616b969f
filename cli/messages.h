// What the library says: printed, and kept for the folder of the run that it is about.
#ifndef SN_CLI_MESSAGES_H
#define SN_CLI_MESSAGES_H

#include "options.h"

// From here on messages are printed, unless quiet, and kept.
void messages_listen(bool quiet);
// They go into this run's folder from now on, first those that have been waiting for one. NULL: they are
// no longer kept. The run must be open until then.
void messages_keep_in(sn_run* run);

#endif
