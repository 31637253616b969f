// Every reader against damaged files: whatever the bytes are, the answer is a valid mesh or
// SN_ERR_INPUT, and nothing stays behind.
#ifndef SN_TESTS_IO_DAMAGE_H
#define SN_TESTS_IO_DAMAGE_H

#include "geometry/mesh_arrays.h"
#include "io/scratch.h"

typedef sn_status (*parse_function)(const char* path, const char* bytes, size_t size, sn_mesh* mesh,
                                    sn_error* err);

// The bytes go into a block of their very size, so that the sanitizer sees a step too far.
static inline void assert_parses_or_refuses(parse_function parse, const char* bytes, size_t size) {
  size_t used = sn_memory_used();
  char* copy = malloc(size + 1);
  assert_non_null(copy);
  memcpy(copy, bytes, size);
  copy[size] = 0;
  sn_mesh mesh;
  sn_error err = {0};
  sn_status status = parse("damaged", copy, size, &mesh, &err);
  free(copy);
  if (status == SN_OK) {
    assert_true(sn_mesh_is_valid(&mesh));
  } else {
    assert_int_equal(status, SN_ERR_INPUT);
    assert_int_equal(err.status, SN_ERR_INPUT);
    assert_message_has(&err, "damaged");
    assert_message_has(&err, "expected");
    assert_null(mesh.storage);
  }
  sn_mesh_destroy(&mesh);
  assert_int_equal(sn_memory_used(), used);
}

static inline void assert_survives_truncation(parse_function parse, const char* bytes,
                                              size_t size) {
  for (size_t length = 0; length <= size; ++length) assert_parses_or_refuses(parse, bytes, length);
}

// One to four changes at a time: a random byte, a telling byte, a byte removed or one doubled.
static inline size_t damage(char* bytes, size_t size, uint64_t* random) {
  static const char telling[] = "\0\xff\x7f\x80-+.e/ \n\r\\#0123456789vfgonai";
  uint32_t change_count = 1 + next_random(random) % 4;
  for (uint32_t i = 0; i < change_count && size > 1; ++i) {
    size_t at = next_random(random) % size;
    switch (next_random(random) % 4) {
      case 0:
        bytes[at] = (char)next_random(random);
        break;
      case 1:
        bytes[at] = telling[next_random(random) % (sizeof telling - 1)];
        break;
      case 2:
        memmove(bytes + at, bytes + at + 1, size - at - 1);
        --size;
        break;
      default:
        memmove(bytes + at + 1, bytes + at, size - at);
        ++size;
    }
  }
  return size;
}

static inline void assert_survives_mutation(parse_function parse, const char* bytes, size_t size) {
  uint64_t random = 1;
  char* mutant = malloc(size + 4);
  assert_non_null(mutant);
  for (int round = 0; round < 5000; ++round) {
    memcpy(mutant, bytes, size);
    size_t mutant_size = damage(mutant, size, &random);
    assert_parses_or_refuses(parse, mutant, mutant_size);
  }
  free(mutant);
}

#endif
