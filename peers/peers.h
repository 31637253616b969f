// Other solvers on Sinew's own matrix. `sinew bench peers` runs this program once for each peer and
// size, so that memory is measured apart. None of it is linked into Sinew.
#ifndef SN_PEERS_PEERS_H
#define SN_PEERS_PEERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PEER_TOLERANCE 1e-6  // of the relative residual
#define PEER_MAX 5000        // iterations

// A system on the nodes of a cube, x first, then y, then z; x, y, z of a node are neighbours.
// Rows are read one by one, so that nothing but the peer's own matrix takes memory.
typedef struct peer_system {
  int rows, side;  // unknowns; nodes along a side
  uint64_t entries;
  double* b;  // right side (rows)
  double* x;  // solution, 0 at first (rows)
  uint64_t* row_starts;
  FILE *columns, *values;  // standing at the next row
  int next;
} peer_system;

#define PEER_ROW 512  // most entries of a row

// One row; `columns` ascending.
typedef struct peer_row {
  int index, count;
  int columns[PEER_ROW];
  double values[PEER_ROW];
} peer_row;

typedef struct peer_result {
  double setup, solve;  // s; reading the matrix into the peer's form is in neither
  int iterations;       // 0: a direct solver
  double start_bytes;   // that the process held before it read the matrix
} peer_result;

// False, with a message, where the file is not a system.
bool system_open(const char* path, peer_system* system);
bool system_next_row(peer_system* system, peer_row* row);
// A row of a held unknown has its diagonal only.
bool system_is_held(const peer_system* system, int row);
bool system_save_solution(const peer_system* system, const char* path);
void system_close(peer_system* system);

double peer_now(void);  // s
// A value of /proc/self/status, in bytes: "VmRSS:", what the process holds, or "VmHWM:", the most it
// ever held. That begins with this program, unlike the peak of getrusage, which a parent hands down.
double peer_memory(const char* key);

// Solve, to PEER_TOLERANCE. @return 0 when done
int peer_jacobi(peer_system* system, peer_result* result);
int peer_boomeramg(peer_system* system, peer_result* result);
int peer_gamg(peer_system* system, peer_result* result);
int peer_dmda(peer_system* system, peer_result* result);
int peer_cholmod(peer_system* system, peer_result* result);
// The numeric phase alone, and one solution: the fastest of many.
int peer_cholmod_numeric(peer_system* system, peer_result* result);
int peer_icc(peer_system* system, peer_result* result);
// Blocks of about as many unknowns as the inside of a macroblock has, solved exactly.
int peer_block_jacobi(peer_system* system, peer_result* result);

#endif
