// A stranger's program: makes a pool, and checks that header and package speak of one version.
#include <sinew/sn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  sn_error err = {0};
  sn_pool* pool = NULL;
  if (sn_pool_create(2, &pool, &err) != SN_OK) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  int threads = sn_pool_thread_count(pool);
  sn_pool_destroy(pool);
  if (threads != 2 || sn_memory_used() != 0) {
    fprintf(stderr, "%d threads, %zu bytes left\n", threads, sn_memory_used());
    return 1;
  }
  if (argc > 1 && strcmp(argv[1], SN_VERSION_STRING) != 0) {
    fprintf(stderr, "the package says %s, the header " SN_VERSION_STRING "\n", argv[1]);
    return 1;
  }
  printf("sinew " SN_VERSION_STRING "\n");
  return 0;
}
