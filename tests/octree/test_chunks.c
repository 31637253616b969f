#include "octree/chunks.h"

#include "io/scratch.h"
#include "octree/grown.h"

// A blob of several chunks with hanging corners, and its chunks.
typedef struct chunked {
  prepared skin;
  grown g;
  sn_arena *arena, *scratch;
  sn_chunks chunks;
} chunked;

static void cut_into_chunks(chunked* c, double cell, sn_pool* pool) {
  prepare(&c->skin, shape_blob(6, 0.1));
  grow(&c->g, &c->skin, cell, -1);
  assert_int_equal(sn_arena_create(&c->arena, NULL), SN_OK);
  assert_int_equal(sn_arena_create(&c->scratch, NULL), SN_OK);
  assert_int_equal(sn_chunks_build(&c->g.tree, pool, c->arena, c->scratch, &c->chunks, NULL),
                   SN_OK);
  assert_int_equal(sn_arena_bytes(c->scratch), 0);
}

static void free_chunks(chunked* c) {
  sn_arena_destroy(c->scratch);
  sn_arena_destroy(c->arena);
  ungrow(&c->g);
  unprepare(&c->skin);
}

static uint32_t slot_of(const chunked* c, size_t corner) {
  return c->chunks.slot_starts[corner / 8 / SN_CHUNK_CELLS] + c->chunks.local[corner];
}

#define NOBODY UINT32_MAX

// The node that each slot belongs to, as the corners have it. The caller frees.
static uint32_t* owners_of_slots(const chunked* c) {
  uint32_t* owner = malloc(c->chunks.slot_count * sizeof *owner);
  assert_non_null(owner);
  for (uint32_t s = 0; s < c->chunks.slot_count; ++s) owner[s] = NOBODY;
  for (size_t corner = 0; corner < 8 * (size_t)c->g.tree.cell_count; ++corner) {
    uint32_t slot = slot_of(c, corner), node = c->g.tree.conforming[corner];
    uint32_t chunk = (uint32_t)(corner / 8 / SN_CHUNK_CELLS);
    assert_true(slot < c->chunks.slot_starts[chunk + 1]);
    assert_true(owner[slot] == NOBODY || owner[slot] == node);
    owner[slot] = node;
  }
  return owner;
}

static const double cells[] = {0.25, 0.08, 0.05};

static void every_chunk_has_one_slot_for_each_of_its_nodes(void** unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k) {
    chunked c;
    cut_into_chunks(&c, cells[k], NULL);
    const sn_chunks* chunks = &c.chunks;
    uint32_t count = (c.g.tree.cell_count + SN_CHUNK_CELLS - 1) / SN_CHUNK_CELLS;
    assert_int_equal(chunks->chunk_count, count);
    assert_int_equal(chunks->slot_starts[0], 0);
    assert_int_equal(chunks->slot_starts[count], chunks->slot_count);
    uint32_t* owner = owners_of_slots(&c);
    uint32_t* last_chunk = malloc(c.g.tree.node_count * sizeof *last_chunk);
    for (uint32_t n = 0; n < c.g.tree.node_count; ++n) last_chunk[n] = NOBODY;
    for (uint32_t chunk = 0; chunk < count; ++chunk) {
      for (uint32_t s = chunks->slot_starts[chunk]; s < chunks->slot_starts[chunk + 1]; ++s) {
        assert_true(owner[s] != NOBODY);
        assert_true(last_chunk[owner[s]] != chunk);
        last_chunk[owner[s]] = chunk;
      }
    }
    free(last_chunk);
    free(owner);
    free_chunks(&c);
  }
}

static void every_node_lists_its_slots_in_the_order_of_the_chunks(void** unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k) {
    chunked c;
    cut_into_chunks(&c, cells[k], NULL);
    uint32_t* owner = owners_of_slots(&c);
    const uint32_t* starts = c.chunks.node_slot_starts;
    uint32_t shared = 0;
    assert_int_equal(starts[0], 0);
    assert_int_equal(starts[c.g.tree.node_count], c.chunks.slot_count);
    for (uint32_t n = 0; n < c.g.tree.node_count; ++n) {
      assert_true(starts[n] < starts[n + 1]);
      shared += starts[n + 1] - starts[n] > 1;
      for (uint32_t i = starts[n]; i < starts[n + 1]; ++i) {
        uint32_t slot = c.chunks.node_slots[i];
        assert_int_equal(owner[slot], n);
        if (i > starts[n]) assert_true(c.chunks.node_slots[i - 1] < slot);
      }
    }
    if (k > 0) assert_true(shared > 100);
    free(owner);
    free_chunks(&c);
  }
}

// Values of very different size: another order of additions would show.
static double uneven(sn_random* random) {
  double value = sn_random_symmetric(random);
  return sn_random_bits(random) % 3 ? value : 1e9 * value;
}

typedef struct sums {
  double *slots, *start, *expected, *y;
  float *slots_f, *start_f, *expected_f, *y_f;
  size_t slot_values, node_values;
} sums;

// What stood in y first, then chunk after chunk, in both precisions.
static void make_sums(sums* s, const chunked* c) {
  s->node_values = 3 * (size_t)c->g.tree.node_count;
  s->slot_values = 3 * (size_t)c->chunks.slot_count;
  s->slots = malloc(s->slot_values * sizeof(double));
  s->slots_f = malloc(s->slot_values * sizeof(float));
  s->start = malloc(3 * s->node_values * sizeof(double));
  s->start_f = malloc(3 * s->node_values * sizeof(float));
  s->expected = s->start + s->node_values;
  s->expected_f = s->start_f + s->node_values;
  s->y = s->expected + s->node_values;
  s->y_f = s->expected_f + s->node_values;
  sn_random random = sn_random_seeded(1);
  for (size_t i = 0; i < s->slot_values; ++i) {
    s->slots[i] = uneven(&random);
    s->slots_f[i] = (float)s->slots[i];
  }
  for (size_t i = 0; i < s->node_values; ++i) {
    s->expected[i] = s->start[i] = uneven(&random);
    s->expected_f[i] = s->start_f[i] = (float)s->start[i];
  }
  uint32_t* owner = owners_of_slots(c);
  for (size_t i = 0; i < s->slot_values; ++i) {
    s->expected[3 * (size_t)owner[i / 3] + i % 3] += s->slots[i];
    s->expected_f[3 * (size_t)owner[i / 3] + i % 3] += s->slots_f[i];
  }
  free(owner);
}

static void free_sums(sums* s) {
  free(s->slots);
  free(s->slots_f);
  free(s->start);
  free(s->start_f);
}

static void assert_collects(sums* s, const chunked* c, sn_pool* pool) {
  memcpy(s->y, s->start, s->node_values * sizeof *s->y);
  sn_chunks_collect_d(&c->chunks, &c->g.tree, pool, s->slots, s->y);
  assert_memory_equal(s->y, s->expected, s->node_values * sizeof *s->y);
  memcpy(s->y_f, s->start_f, s->node_values * sizeof *s->y_f);
  sn_chunks_collect_f(&c->chunks, &c->g.tree, pool, s->slots_f, s->y_f);
  assert_memory_equal(s->y_f, s->expected_f, s->node_values * sizeof *s->y_f);
}

static void collecting_adds_the_slots_one_by_one_on_any_pool(void** unused) {
  (void)unused;
  static const int threads[] = {1, 2, 3, 8};
  chunked c;
  cut_into_chunks(&c, 0.045, NULL);
  sums s;
  make_sums(&s, &c);
  assert_collects(&s, &c, NULL);
  for (int t = 0; t < 4; ++t) {
    sn_pool* pool;
    assert_int_equal(sn_pool_create(threads[t], &pool, NULL), SN_OK);
    assert_collects(&s, &c, pool);
    sn_pool_destroy(pool);
  }
  free_sums(&s);
  free_chunks(&c);
}

static void chunks_are_runs_of_cells(void** unused) {
  (void)unused;
  chunked c;
  cut_into_chunks(&c, 0.07, NULL);
  for (uint32_t chunk = 0; chunk < c.chunks.chunk_count; ++chunk) {
    uint32_t first = sn_chunk_first(chunk), end = sn_chunk_end(&c.g.tree, chunk);
    assert_int_equal(first, chunk * SN_CHUNK_CELLS);
    bool last = chunk + 1 == c.chunks.chunk_count;
    assert_int_equal(end, last ? c.g.tree.cell_count : first + SN_CHUNK_CELLS);
  }
  free_chunks(&c);
}

// Whole numbers, so that both ways of adding up are exact.
static void slots_give_the_same_sums_as_going_straight_to_the_nodes(void** unused) {
  (void)unused;
  chunked c;
  cut_into_chunks(&c, 0.07, NULL);
  double* slots = calloc(3 * (size_t)c.chunks.slot_count, sizeof *slots);
  double* y = calloc(3 * (size_t)c.g.tree.node_count, sizeof *y);
  double* straight = calloc(3 * (size_t)c.g.tree.node_count, sizeof *straight);
  for (size_t corner = 0; corner < 8 * (size_t)c.g.tree.cell_count; ++corner) {
    for (size_t i = 0; i < 3; ++i) {
      double value = (double)((corner * 7 + i * 13) % 101);
      slots[3 * (size_t)slot_of(&c, corner) + i] += value;
      straight[3 * (size_t)c.g.tree.conforming[corner] + i] += value;
    }
  }
  sn_chunks_collect_d(&c.chunks, &c.g.tree, NULL, slots, y);
  assert_memory_equal(y, straight, 3 * (size_t)c.g.tree.node_count * sizeof *y);
  free(slots);
  free(y);
  free(straight);
  free_chunks(&c);
}

static void any_number_of_threads_gives_the_same_chunks(void** unused) {
  (void)unused;
  static const int threads[] = {1, 2, 3, 8};
  chunked alone;
  cut_into_chunks(&alone, 0.045, NULL);
  const sn_chunks* a = &alone.chunks;
  assert_true(a->chunk_count > 5);
  for (int t = 0; t < 4; ++t) {
    sn_pool* pool;
    assert_int_equal(sn_pool_create(threads[t], &pool, NULL), SN_OK);
    chunked c;
    cut_into_chunks(&c, 0.045, pool);
    const sn_chunks* b = &c.chunks;
    assert_int_equal(a->chunk_count, b->chunk_count);
    assert_int_equal(a->slot_count, b->slot_count);
    assert_memory_equal(a->slot_starts, b->slot_starts,
                        (a->chunk_count + 1) * sizeof *a->slot_starts);
    assert_memory_equal(a->local, b->local, 8 * (size_t)alone.g.tree.cell_count * sizeof *a->local);
    assert_memory_equal(a->node_slot_starts, b->node_slot_starts,
                        (alone.g.tree.node_count + 1) * sizeof *a->node_slot_starts);
    assert_memory_equal(a->node_slots, b->node_slots, a->slot_count * sizeof *a->node_slots);
    free_chunks(&c);
    sn_pool_destroy(pool);
  }
  free_chunks(&alone);
}

static void an_empty_tree_has_no_chunks(void** unused) {
  (void)unused;
  sn_octree tree = {.cell = 1, .root_height = 1};
  sn_arena *arena, *scratch;
  assert_int_equal(sn_arena_create(&arena, NULL), SN_OK);
  assert_int_equal(sn_arena_create(&scratch, NULL), SN_OK);
  sn_chunks chunks;
  assert_int_equal(sn_chunks_build(&tree, NULL, arena, scratch, &chunks, NULL), SN_OK);
  assert_int_equal(chunks.chunk_count, 0);
  assert_int_equal(chunks.slot_count, 0);
  sn_chunks_collect_d(&chunks, &tree, NULL, NULL, NULL);
  sn_arena_destroy(arena);
  sn_arena_destroy(scratch);
}

static const sn_octree* tree_to_cut;

static sn_status build_chunks(sn_error* err) {
  size_t outside = sn_memory_used();
  sn_arena *arena = NULL, *scratch = NULL;
  sn_chunks chunks;
  sn_status status = sn_arena_create(&arena, err);
  if (status == SN_OK) status = sn_arena_create(&scratch, err);
  if (status == SN_OK) status = sn_chunks_build(tree_to_cut, NULL, arena, scratch, &chunks, err);
  if (status != SN_OK) assert_int_equal(sn_arena_bytes(scratch), 0);
  sn_arena_destroy(scratch);
  sn_arena_destroy(arena);
  assert_int_equal(sn_memory_used(), outside);
  return status;
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  // The tree itself in plain memory, so that the counter starts at zero.
  chunked c;
  cut_into_chunks(&c, 0.07, NULL);
  sn_octree tree = c.g.tree;
  size_t bytes = 8 * (size_t)tree.cell_count * sizeof *tree.conforming;
  tree.conforming = malloc(bytes);
  memcpy(tree.conforming, c.g.tree.conforming, bytes);
  free_chunks(&c);
  tree_to_cut = &tree;
  assert_survives_failing_allocations(build_chunks);
  free(tree.conforming);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chunks_are_runs_of_cells),
      cmocka_unit_test(every_chunk_has_one_slot_for_each_of_its_nodes),
      cmocka_unit_test(every_node_lists_its_slots_in_the_order_of_the_chunks),
      cmocka_unit_test(collecting_adds_the_slots_one_by_one_on_any_pool),
      cmocka_unit_test(slots_give_the_same_sums_as_going_straight_to_the_nodes),
      cmocka_unit_test(any_number_of_threads_gives_the_same_chunks),
      cmocka_unit_test(an_empty_tree_has_no_chunks),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
