// One writer a folder. The file `lock` in it is there while a run goes on, and locked: the system takes the
// lock back when the program ends, however it does, so a file that a killed program left is no lock.
#ifndef SN_IO_LOCK_H
#define SN_IO_LOCK_H

#include "io/file.h"

typedef struct sn_lock {
  sn_file file;
  char* path;
} sn_lock;

// SN_ERR_IO if another one holds it. On a file system without locks there is a warning.
sn_status sn_lock_take(const char* folder, sn_lock* lock, sn_error* err);
// Also one that was never taken (zeroed but for the descriptor, -1).
void sn_lock_drop(sn_lock* lock);

#endif
