// sinew-peers PEER SYSTEM SOLUTION: solve the system of a file and print what it took.
//
// Exit codes: 0 solved; 1 wrong usage or file; 3 this peer was not there when the program was
// built; 4 the peer failed.
#include <stdlib.h>
#include <string.h>

#include "peers.h"

typedef struct peer {
  const char* name;
  const char* package;
  int (*solve)(peer_system* system, peer_result* result);  // NULL: not built
} peer;

static const peer PEERS[] = {
    {"jacobi-cg", "none", peer_jacobi},
#ifdef PEERS_HYPRE
    {"hypre-boomeramg", "libhypre-dev", peer_boomeramg},
#else
    {"hypre-boomeramg", "libhypre-dev", NULL},
#endif
#ifdef PEERS_PETSC
    {"petsc-gamg", "libpetsc-real-dev", peer_gamg},
    {"petsc-mg", "libpetsc-real-dev", peer_dmda},
    {"petsc-icc", "libpetsc-real-dev", peer_icc},
    {"petsc-block-jacobi", "libpetsc-real-dev", peer_block_jacobi},
#else
    {"petsc-gamg", "libpetsc-real-dev", NULL},
    {"petsc-mg", "libpetsc-real-dev", NULL},
    {"petsc-icc", "libpetsc-real-dev", NULL},
    {"petsc-block-jacobi", "libpetsc-real-dev", NULL},
#endif
#ifdef PEERS_CHOLMOD
    {"cholmod", "libsuitesparse-dev", peer_cholmod},
    {"cholmod-numeric", "libsuitesparse-dev", peer_cholmod_numeric},
#else
    {"cholmod", "libsuitesparse-dev", NULL},
    {"cholmod-numeric", "libsuitesparse-dev", NULL},
#endif
    {NULL, NULL, NULL},
};

static int solve(const peer* p, const char* in, const char* out) {
  peer_system system;
  peer_result result = {0};
  if (!system_open(in, &system)) return 1;
  int failed = p->solve(&system, &result);
  if (!failed) {
    printf("setup %.6g\nsolve %.6g\niterations %d\nbytes %.0f\n", result.setup, result.solve,
           result.iterations, peer_memory("VmHWM:") - result.start_bytes);
    if (!system_save_solution(&system, out)) failed = 1;
  }
  system_close(&system);
  return failed ? 4 : 0;
}

int main(int argc, char** argv) {
  // Open MPI: one process by itself needs no daemon beside it
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  if (argc != 4) {
    fprintf(stderr, "usage: sinew-peers PEER SYSTEM SOLUTION\npeers:");
    for (const peer* p = PEERS; p->name; ++p) fprintf(stderr, " %s", p->name);
    fprintf(stderr, "\n");
    return 1;
  }
  for (const peer* p = PEERS; p->name; ++p) {
    if (strcmp(p->name, argv[1]) != 0) continue;
    if (p->solve) return solve(p, argv[2], argv[3]);
    printf("package %s\n", p->package);
    return 3;
  }
  fprintf(stderr, "sinew-peers: no peer \"%s\"\n", argv[1]);
  return 1;
}
