/// Status codes, errors, memory, log and threads: what every other header builds on.
#ifndef SINEW_BASE_H
#define SINEW_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define SN_API __attribute__((visibility("default")))
#define SN_PRINTF(format_index, first_index) \
  __attribute__((format(printf, format_index, first_index)))
#else
#define SN_API
#define SN_PRINTF(format_index, first_index)
#endif

#define SN_VERSION_MAJOR 0
#define SN_VERSION_MINOR 1
#define SN_VERSION_PATCH 0
#define SN_VERSION_STRING "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/// The version of the library that runs, such as "0.1.0"; SN_VERSION_STRING is that of the headers.
SN_API const char* sn_version(void);

/// What a call came to. The values are the exit codes of the `sinew` program.
typedef enum sn_status {
  SN_OK = 0,                ///< done
  SN_ERR_USAGE = 1,         ///< the call or the command line is wrong
  SN_ERR_INPUT = 2,         ///< a scene, mesh or value from outside is wrong
  SN_ERR_TOLERANCE = 3,     ///< a frame missed its tolerance and the caller asked for strictness
  SN_ERR_IO = 4,            ///< a file cannot be read or written
  SN_ERR_MEMORY = 5,        ///< out of memory
  SN_ERR_INTERRUPTED = 130  ///< stopped on request, can be resumed
} sn_status;

/// Why a call failed, in words for a person: place, what was found, what would be right.
typedef struct sn_error {
  sn_status status;  ///< SN_OK until something fails
  char text[1024];   ///< one line, no newline at its end
} sn_error;

/// The memory functions behind every allocation of the library.
typedef struct sn_allocator {
  void* (*allocate)(void* user, size_t bytes, size_t alignment);  ///< NULL when out of memory
  void (*release)(void* user, void* block);  ///< takes what `allocate` gave, never NULL
  void* user;                                ///< handed to both functions
} sn_allocator;

/// Replace the allocator; NULL restores the built-in one. Call while nothing is allocated.
SN_API void sn_set_allocator(const sn_allocator* allocator);
/// Bytes the library holds now.
SN_API size_t sn_memory_used(void);
/// The most bytes the library held at once, ever or since that was last restarted.
SN_API size_t sn_memory_peak(void);
/// From now on the peak is counted anew, from the bytes held now.
SN_API void sn_memory_restart_peak(void);
/// How many allocations the library has made since the program began.
SN_API uint64_t sn_allocation_count(void);

/// How much a message matters.
typedef enum sn_log_level { SN_LOG_INFO, SN_LOG_WARNING } sn_log_level;
/// Receives one message, without a newline. May be called from any thread that calls the library.
typedef void (*sn_log_fn)(void* user, sn_log_level level, const char* text);
/// Where messages go; NULL (the start value) drops them. The library itself never prints.
SN_API void sn_set_log(sn_log_fn function, void* user);

/// A pool of threads that works through blocks of a fixed partition. Which thread takes which block
/// is left to chance; the blocks are not, so the thread count never changes a result.
typedef struct sn_pool sn_pool;

/// A host's own way to run `block_count` calls of `task(ctx, block)`, in any order, on any thread,
/// returning when all are done.
typedef void (*sn_run_blocks_fn)(void* host, size_t block_count,
                                 void (*task)(void* ctx, size_t block), void* ctx);

/// @param thread_count 1 and up; 0 takes the number of processors
SN_API sn_status sn_pool_create(int thread_count, sn_pool** pool, sn_error* err);
/// A pool without threads of its own: every block runs through the host's scheduler.
SN_API sn_status sn_pool_create_hosted(sn_run_blocks_fn run, void* host, sn_pool** pool,
                                       sn_error* err);
/// Threads that work, the caller's own included; 1 for a hosted pool.
SN_API int sn_pool_thread_count(const sn_pool* pool);
/// NULL is fine.
SN_API void sn_pool_destroy(sn_pool* pool);

#ifdef __cplusplus
}
#endif

#endif
