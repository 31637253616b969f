#include "io/json_load.h"

static _Thread_local bool starved_here;
static json_malloc_t host_malloc;
static json_free_t host_free;

static void* allocate_and_note(size_t bytes) {
  void* block = host_malloc(bytes);
  if (!block) starved_here = true;
  return block;
}

// When the library is loaded: the functions that the host has chosen do the work as before. A host that chooses
// others later takes ours away, and with them what they notice.
__attribute__((constructor)) static void begin(void) {
  json_get_alloc_funcs(&host_malloc, &host_free);
  json_set_alloc_funcs(allocate_and_note, host_free);
}

// Where the library is unloaded before jansson is.
__attribute__((destructor)) static void end(void) {
  json_malloc_t now;
  json_free_t now_free;
  json_get_alloc_funcs(&now, &now_free);
  if (now == allocate_and_note) json_set_alloc_funcs(host_malloc, host_free);
}

void sn_json_watch(void) { starved_here = false; }

bool sn_json_is_starved(void) { return starved_here; }

json_t* sn_json_load(const char* bytes, size_t size, size_t flags, json_error_t* problem,
                     bool* starved) {
  bool before = starved_here;
  starved_here = false;
  json_t* value = json_loadb(bytes, size, flags, problem);
  *starved = starved_here;
  starved_here = starved_here || before;
  if (!*starved) return value;
  json_decref(value);
  return NULL;
}
