// In place of the viewer's page, which takes Node.js to build and is the same bytes for every request.
#include "../cli/view/page.h"

const page_file PAGE_FILES[] = {{"/index.html", "text/html", (const unsigned char*)"page", 4}};
const size_t PAGE_FILE_COUNT = 1;
const char* const PAGE_MISSING = "";
