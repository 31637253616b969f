// The viewer as one file: the page with every answer it could ask for.
#ifndef SN_CLI_VIEW_EXPORT_H
#define SN_CLI_VIEW_EXPORT_H

#include "view.h"

// @param frames first and last to be taken along; 0 0: all that are stored. SN_ERR_USAGE if none of them
// is, SN_ERR_IO if the file cannot be written; then there is none, or the one that was.
sn_status export_page(view* v, const char* path, const int frames[2], sn_error* err);

#endif
