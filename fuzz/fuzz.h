// What the fuzz targets share. A target is one file with LLVMFuzzerTestOneInput, which takes any bytes as
// a file of its kind and goes the whole way behind the reader: read, validate, build the cells, take a step.
// Whatever the bytes are, the answer is a result of finite numbers or a refusal with a message.
//
// Built in two ways: with clang's libFuzzer (preset "fuzz"; `make fuzz`), and with the small main of replay.c,
// which goes through stored inputs (a test like all others).
#ifndef SN_FUZZ_FUZZ_H
#define SN_FUZZ_FUZZ_H

#include "sinew/sn.h"

// The entry that libFuzzer and replay.c call.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// Say what does not hold and end the process: a finding.
_Noreturn void fuzz_fail(const char* format, ...) SN_PRINTF(1, 2);
#define FUZZ_CHECK(condition) \
  ((condition) ? (void)0 : fuzz_fail("%s:%d: %s", __FILE__, __LINE__, #condition))

// A folder of this process, made when first asked for and removed at the end.
const char* fuzz_folder(void);
// Path of a file in it; valid until the fourth call after this one.
const char* fuzz_path(const char* name);
// Create or replace a file in it. @return its path
const char* fuzz_write(const char* name, const void* bytes, size_t size);
void fuzz_write_text(const char* name, const char* text);
// Two boxes of eight vertices, box.obj (0 to 1) and small.obj (0.25 to 0.75), for scenes to name.
void fuzz_write_boxes(void);

// Between the two calls readers may hold as much as is promised for files of so many bytes in all, no more:
// 64 MiB + 64 x size. The library's memory and that of its JSON documents counts.
void fuzz_memory_begin(size_t file_bytes);
void fuzz_memory_end(void);
// What the library and its JSON documents hold now.
size_t fuzz_memory_held(void);

// Tell of every refusal on stdout; off at first.
extern bool fuzz_show;
// true: done. false: refused as bad input, with a message. Anything else is a finding.
bool fuzz_accepted(sn_status status, const sn_error* err);
// All of these numbers must be finite.
void fuzz_check_finite(const float* numbers, size_t count);

// Build the model of a scene and take a step of its first frame, unless it is too large for that. Its solver is
// made to do little.
void fuzz_simulate(sn_scene* scene);
// The same for the text of a scene in the folder. @param file_bytes of the files that it names; reading all of it
// may take as much memory as is promised
void fuzz_simulate_text(const char* json, size_t file_bytes);

// A file of a surface, by a name that says what it is: read it, look for defects, write and read it again, let it
// drop on the ground.
void fuzz_surface(const char* name, const uint8_t* data, size_t size);
// The same for a file of a rigged character: poses, skinning, its flesh.
void fuzz_character(const char* name, const uint8_t* data, size_t size);

#endif
