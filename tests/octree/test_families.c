#include "octree/families.h"

#include "io/scratch.h"
#include "octree/grown.h"

#define LANES SN_FAMILY_LANES
#define POINTS SN_FAMILY_POINTS
#define NOBODY UINT32_MAX

// A blob of several chunks with hanging corners, and its families.
typedef struct gathered {
  prepared skin;
  grown g;
  sn_arena *arena, *scratch;
  sn_families families;
} gathered;

static void gather(gathered* f, double cell, sn_pool* pool) {
  prepare(&f->skin, shape_blob(6, 0.1));
  grow(&f->g, &f->skin, cell, -1);
  assert_int_equal(sn_arena_create(&f->arena, NULL), SN_OK);
  assert_int_equal(sn_arena_create(&f->scratch, NULL), SN_OK);
  assert_int_equal(sn_families_build(&f->g.tree, pool, f->arena, f->scratch, &f->families, NULL),
                   SN_OK);
  assert_int_equal(sn_arena_bytes(f->scratch), 0);
}

static void ungather(gathered* f) {
  sn_arena_destroy(f->scratch);
  sn_arena_destroy(f->arena);
  ungrow(&f->g);
  unprepare(&f->skin);
}

static uint32_t* new_numbers(size_t count, uint32_t value) {
  uint32_t* numbers = malloc((count + 1) * sizeof *numbers);
  assert_non_null(numbers);
  for (size_t i = 0; i < count; ++i) numbers[i] = value;
  return numbers;
}

// ---- Where things are, read off the structure ----

typedef struct place {
  uint32_t packet;
  int child, lane;
} place;

static place place_of(const sn_families* families, uint32_t cell) {
  uint32_t number = families->places[cell], row = number / LANES, packet = 0;
  while (families->rows[packet + 1] <= row) ++packet;
  sn_family_row at = sn_family_first(families, packet);
  while (at.at < row) at = sn_family_next(at);
  return (place){packet, at.child, (int)(number % LANES)};
}

static uint32_t node_count_of(const sn_families* families, uint32_t chunk) {
  return families->node_starts[chunk + 1] - families->node_starts[chunk];
}

static size_t point_index(uint32_t packet, int point, int lane) {
  return ((size_t)packet * POINTS + (size_t)point) * LANES + (size_t)lane;
}

// The lattice point that carries the node at or for corner c of a cell.
static int carrier(const sn_octree* tree, uint32_t cell, int child, int c) {
  return tree->hanging[cell] >> c & 1 ? sn_family_corner(c, c) : sn_family_corner(child, c);
}

// The place of a corner's node among those of its chunk.
static uint32_t chunk_node_of(const gathered* f, uint32_t cell, int c) {
  place at = place_of(&f->families, cell);
  int point = carrier(&f->g.tree, cell, at.child, c);
  return f->families.node_starts[at.packet / SN_CHUNK_PACKETS] +
         f->families.local[point_index(at.packet, point, at.lane)];
}

// The node that each slot belongs to, by the order of the chunks' halos. The caller frees.
static uint32_t* nodes_of_slots(const sn_families* f) {
  uint32_t* nodes = new_numbers(sn_families_slot_count(f), NOBODY);
  for (uint32_t chunk = 0; chunk < f->chunk_count; ++chunk) {
    uint32_t first = f->node_starts[chunk] + f->own_counts[chunk];
    for (uint32_t i = first; i < f->node_starts[chunk + 1]; ++i) {
      nodes[f->slot_starts[chunk] + i - first] = f->chunk_nodes[i];
    }
  }
  return nodes;
}

static const double cells[] = {0.25, 0.08, 0.05};

// ---- Places ----

static void every_cell_has_a_place_of_its_own(void** unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k) {
    gathered f;
    gather(&f, cells[k], NULL);
    const sn_octree* tree = &f.g.tree;
    uint32_t packets = f.families.packet_count;
    assert_int_equal(f.families.chunk_count, (packets + SN_CHUNK_PACKETS - 1) / SN_CHUNK_PACKETS);
    size_t places = sn_families_place_count(&f.families);
    uint32_t* cell_at = new_numbers(places, SN_NO_CELL);
    for (uint32_t e = 0; e < tree->cell_count; ++e) {
      assert_true(f.families.places[e] < places);
      assert_int_equal(cell_at[f.families.places[e]], SN_NO_CELL);
      cell_at[f.families.places[e]] = e;
      assert_int_equal(place_of(&f.families, e).child, sn_octant_child_number(tree->cells[e]));
    }
    free(cell_at);
    ungather(&f);
  }
}

static void a_lane_holds_one_family_and_its_edge(void** unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k) {
    gathered f;
    gather(&f, cells[k], NULL);
    const sn_octree* tree = &f.g.tree;
    size_t lanes = (size_t)f.families.packet_count * LANES, count = 0;
    uint32_t* first = new_numbers(lanes, SN_NO_CELL);
    for (uint32_t e = 0; e < tree->cell_count; ++e) {
      place at = place_of(&f.families, e);
      size_t lane = (size_t)at.packet * LANES + (size_t)at.lane;
      if (first[lane] == SN_NO_CELL) {
        first[lane] = e;
        ++count;
      }
      sn_octant parent = sn_octant_parent(tree->cells[e]);
      sn_octant other = sn_octant_parent(tree->cells[first[lane]]);
      assert_int_equal(parent.height, other.height);
      assert_int_equal(sn_octant_compare(parent, other), 0);
      assert_true(f.families.edges[lane] == sn_octree_edge(tree, e));
    }
    assert_true(lanes - count < LANES);
    for (size_t lane = 0; lane < count; ++lane) assert_true(first[lane] != SN_NO_CELL);
    for (size_t lane = count; lane < lanes; ++lane) {
      assert_true(f.families.edges[lane] > 0);
      assert_int_equal(f.families.hanging[lane], 0);
    }
    for (size_t lane = 1; lane < count; ++lane) {
      for (size_t before = 0; before < lane; ++before) {
        sn_octant a = sn_octant_parent(tree->cells[first[before]]);
        sn_octant b = sn_octant_parent(tree->cells[first[lane]]);
        assert_true(a.height != b.height || sn_octant_compare(a, b) != 0);
      }
    }
    free(first);
    ungather(&f);
  }
}

static void a_packet_has_rows_for_the_children_of_its_families_alone(void** unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k) {
    gathered f;
    gather(&f, cells[k], NULL);
    const sn_families* families = &f.families;
    uint32_t packets = families->packet_count;
    uint32_t* has = new_numbers((size_t)packets * LANES, 0);
    for (uint32_t e = 0; e < f.g.tree.cell_count; ++e) {
      place at = place_of(families, e);
      has[(size_t)at.packet * LANES + (size_t)at.lane] |= 1u << at.child;
    }
    assert_int_equal(families->rows[0], 0);
    for (uint32_t packet = 0; packet < packets; ++packet) {
      uint32_t any = 0;
      for (size_t lane = 0; lane < LANES; ++lane) any |= has[packet * LANES + lane];
      assert_int_equal(families->children[packet], any);
      assert_int_equal(families->rows[packet + 1] - families->rows[packet],
                       __builtin_popcount(any));
    }
    // Families of a chunk with the same children follow one another.
    size_t in_chunk = SN_CHUNK_PACKETS * LANES;
    for (size_t i = 0; i < (size_t)packets * LANES; ++i) {
      size_t end = (i / in_chunk + 1) * in_chunk, same = i + 1;
      while (same < end && same < (size_t)packets * LANES && has[same] == has[i]) ++same;
      for (size_t j = same; j < end && j < (size_t)packets * LANES; ++j) {
        assert_true(has[j] != has[i]);
      }
    }
    free(has);
    ungather(&f);
  }
}

static void rows_that_nobody_needs_are_left_out(void** unused) {
  (void)unused;
  gathered f;
  gather(&f, 0.03, NULL);
  size_t places = sn_families_place_count(&f.families), cells_of_tree = f.g.tree.cell_count;
  assert_true(places < 8 * LANES * (size_t)f.families.packet_count);
  assert_true((double)places < 1.15 * (double)cells_of_tree);
  ungather(&f);
}

// ---- Lattice points ----

static void corners_are_lattice_points_and_hang_as_in_the_tree(void** unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k) {
    gathered f;
    gather(&f, cells[k], NULL);
    const sn_octree* tree = &f.g.tree;
    size_t lanes = (size_t)f.families.packet_count * LANES;
    uint32_t* expected = new_numbers(lanes, 0);
    uint32_t hanging = 0;
    for (uint32_t e = 0; e < tree->cell_count; ++e) {
      place at = place_of(&f.families, e);
      size_t lane = (size_t)at.packet * LANES + (size_t)at.lane;
      for (int c = 0; c < 8; ++c) {
        uint32_t i = chunk_node_of(&f, e, c);
        assert_true(i < f.families.node_starts[at.packet / SN_CHUNK_PACKETS + 1]);
        assert_int_equal(f.families.chunk_nodes[i], tree->conforming[8 * (size_t)e + c]);
        // The same for all cells of the family: one bit must do for every one of them.
        int point = sn_family_corner(at.child, c);
        bool hangs = tree->hanging[e] >> c & 1;
        assert_int_equal(f.families.hanging[lane] >> point & 1, hangs);
        if (hangs) expected[lane] |= 1u << point;
        hanging += hangs;
      }
    }
    if (k > 0) assert_true(hanging > 100);
    assert_memory_equal(f.families.hanging, expected, lanes * sizeof *expected);
    free(expected);
    ungather(&f);
  }
}

static void points_that_no_cell_needs_have_the_number_behind_all_nodes(void** unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k) {
    gathered f;
    gather(&f, cells[k], NULL);
    const sn_families* families = &f.families;
    size_t count = (size_t)families->packet_count * POINTS * LANES, idle = 0;
    uint8_t* used = calloc(count, 1);
    uint32_t* seen = new_numbers(families->packet_count, 0);
    for (uint32_t e = 0; e < f.g.tree.cell_count; ++e) {
      place at = place_of(families, e);
      for (int c = 0; c < 8; ++c) {
        used[point_index(at.packet, carrier(&f.g.tree, e, at.child, c), at.lane)] = 1;
      }
    }
    for (size_t i = 0; i < count; ++i) {
      uint32_t nodes = node_count_of(families, (uint32_t)(i / (POINTS * LANES * SN_CHUNK_PACKETS)));
      assert_true(nodes < SN_CHUNK_MAX_NODES);
      if (used[i]) assert_true(families->local[i] < nodes);
      if (!used[i]) assert_int_equal(families->local[i], nodes);
      idle += !used[i];
      if (used[i]) seen[i / (POINTS * LANES)] |= 1u << i / LANES % POINTS;
    }
    assert_memory_equal(families->points, seen, families->packet_count * sizeof *seen);
    free(seen);
    assert_true(idle > 0 && idle < count / 2);
    free(used);
    ungather(&f);
  }
}

// ---- Nodes of chunks ----

static void every_node_is_owned_by_the_first_chunk_that_touches_it(void** unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k) {
    gathered f;
    gather(&f, cells[k], NULL);
    const sn_octree* tree = &f.g.tree;
    const sn_families* families = &f.families;
    uint32_t *first = new_numbers(tree->node_count, NOBODY),
             *owner = new_numbers(tree->node_count, NOBODY);
    for (uint32_t e = 0; e < tree->cell_count; ++e) {
      uint32_t chunk = place_of(families, e).packet / SN_CHUNK_PACKETS;
      for (int c = 0; c < 8; ++c) {
        uint32_t node = tree->conforming[8 * (size_t)e + c];
        if (chunk < first[node]) first[node] = chunk;
      }
    }
    uint32_t owned = 0;
    for (uint32_t chunk = 0; chunk < families->chunk_count; ++chunk) {
      const uint32_t* nodes = families->chunk_nodes + families->node_starts[chunk];
      assert_true(families->own_counts[chunk] <= node_count_of(families, chunk));
      for (uint32_t i = 0; i < node_count_of(families, chunk); ++i) {
        bool own = i < families->own_counts[chunk];
        assert_true(nodes[i] < tree->node_count);
        // Own nodes come first; the halo belongs to chunks before.
        if (own) assert_int_equal(owner[nodes[i]], NOBODY);
        if (own) owner[nodes[i]] = chunk;
        assert_true(own ? first[nodes[i]] == chunk : first[nodes[i]] < chunk);
      }
      owned += families->own_counts[chunk];
    }
    assert_int_equal(owned, tree->node_count);
    assert_memory_equal(owner, first, tree->node_count * sizeof *owner);
    free(first);
    free(owner);
    ungather(&f);
  }
}

static void every_chunk_lists_each_node_that_it_touches_once(void** unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k) {
    gathered f;
    gather(&f, cells[k], NULL);
    const sn_families* families = &f.families;
    uint32_t count = families->chunk_count, *last = new_numbers(f.g.tree.node_count, NOBODY);
    uint8_t* touched = calloc(families->node_starts[count], 1);
    for (uint32_t e = 0; e < f.g.tree.cell_count; ++e) {
      for (int c = 0; c < 8; ++c) touched[chunk_node_of(&f, e, c)] = 1;
    }
    assert_int_equal(families->node_starts[0], 0);
    assert_int_equal(families->slot_starts[0], 0);
    for (uint32_t chunk = 0; chunk < count; ++chunk) {
      for (uint32_t i = families->node_starts[chunk]; i < families->node_starts[chunk + 1]; ++i) {
        uint32_t node = families->chunk_nodes[i];
        assert_true(touched[i]);
        assert_true(last[node] != chunk);
        last[node] = chunk;
      }
      assert_int_equal(families->slot_starts[chunk + 1] - families->slot_starts[chunk],
                       node_count_of(families, chunk) - families->own_counts[chunk]);
    }
    free(touched);
    free(last);
    ungather(&f);
  }
}

static void shared_nodes_list_all_their_slots_in_the_order_of_the_chunks(void** unused) {
  (void)unused;
  for (int k = 0; k < 3; ++k) {
    gathered f;
    gather(&f, cells[k], NULL);
    const sn_families* families = &f.families;
    uint32_t* nodes = nodes_of_slots(families);
    const uint32_t* starts = families->shared_starts;
    assert_int_equal(starts[0], 0);
    // Each slot below is another one, so as many as there are is all of them.
    assert_int_equal(starts[families->shared_count], sn_families_slot_count(families));
    for (uint32_t i = 0; i < families->shared_count; ++i) {
      if (i > 0) assert_true(families->shared_nodes[i - 1] < families->shared_nodes[i]);
      assert_true(starts[i] < starts[i + 1]);
      for (uint32_t s = starts[i]; s < starts[i + 1]; ++s) {
        assert_true(families->shared_slots[s] < sn_families_slot_count(families));
        assert_int_equal(nodes[families->shared_slots[s]], families->shared_nodes[i]);
        if (s > starts[i]) assert_true(families->shared_slots[s - 1] < families->shared_slots[s]);
      }
    }
    print_message("%u cells, %u chunks, %u shared nodes\n", f.g.tree.cell_count,
                  families->chunk_count, families->shared_count);
    if (k > 0) assert_true(families->shared_count > 100);
    free(nodes);
    ungather(&f);
  }
}

// ---- Sums ----

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

// What stood in y first, then slot after slot, in both precisions.
static void make_sums(sums* s, const gathered* f) {
  s->node_values = 3 * (size_t)f->g.tree.node_count;
  s->slot_values = 3 * (size_t)sn_families_slot_count(&f->families);
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
  uint32_t* nodes = nodes_of_slots(&f->families);
  for (size_t i = 0; i < s->slot_values; ++i) {
    s->expected[3 * (size_t)nodes[i / 3] + i % 3] += s->slots[i];
    s->expected_f[3 * (size_t)nodes[i / 3] + i % 3] += s->slots_f[i];
  }
  free(nodes);
}

static void free_sums(sums* s) {
  free(s->slots);
  free(s->slots_f);
  free(s->start);
  free(s->start_f);
}

static void assert_collects(sums* s, const sn_families* families, sn_pool* pool) {
  memcpy(s->y, s->start, s->node_values * sizeof *s->y);
  sn_families_collect_d(families, pool, s->slots, s->y);
  assert_memory_equal(s->y, s->expected, s->node_values * sizeof *s->y);
  memcpy(s->y_f, s->start_f, s->node_values * sizeof *s->y_f);
  sn_families_collect_f(families, pool, s->slots_f, s->y_f);
  assert_memory_equal(s->y_f, s->expected_f, s->node_values * sizeof *s->y_f);
}

static void collecting_adds_the_slots_one_by_one_on_any_pool(void** unused) {
  (void)unused;
  static const int threads[] = {1, 2, 3, 8};
  gathered f;
  gather(&f, 0.03, NULL);
  assert_true(f.families.shared_count > 2 * 1024);  // several blocks of parallel work
  sums s;
  make_sums(&s, &f);
  assert_collects(&s, &f.families, NULL);
  for (int t = 0; t < 4; ++t) {
    sn_pool* pool;
    assert_int_equal(sn_pool_create(threads[t], &pool, NULL), SN_OK);
    assert_collects(&s, &f.families, pool);
    sn_pool_destroy(pool);
  }
  free_sums(&s);
  ungather(&f);
}

// Whole numbers, so that both ways of adding up are exact.
static void slots_give_the_same_sums_as_going_straight_to_the_nodes(void** unused) {
  (void)unused;
  gathered f;
  gather(&f, 0.05, NULL);
  const sn_families* families = &f.families;
  size_t values = 3 * (size_t)f.g.tree.node_count;
  double* slots = calloc(3 * (size_t)sn_families_slot_count(families) + 1, sizeof *slots);
  double* y = calloc(values, sizeof *y);
  double* straight = calloc(values, sizeof *straight);
  for (uint32_t e = 0; e < f.g.tree.cell_count; ++e) {
    uint32_t chunk = place_of(families, e).packet / SN_CHUNK_PACKETS;
    for (int c = 0; c < 8; ++c) {
      size_t node = f.g.tree.conforming[8 * (size_t)e + c];
      uint32_t i = chunk_node_of(&f, e, c) - families->node_starts[chunk];
      bool own = i < families->own_counts[chunk];
      size_t slot = families->slot_starts[chunk] + (own ? 0 : i - families->own_counts[chunk]);
      for (size_t a = 0; a < 3; ++a) {
        double value = (double)((e * 7 + (size_t)c * 5 + a * 13) % 101);
        *(own ? &y[3 * node + a] : &slots[3 * slot + a]) += value;
        straight[3 * node + a] += value;
      }
    }
  }
  sn_families_collect_d(families, NULL, slots, y);
  assert_memory_equal(y, straight, values * sizeof *y);
  free(slots);
  free(y);
  free(straight);
  ungather(&f);
}

// ---- Threads, small trees, failures ----

#define ASSERT_SAME(member, count) \
  assert_memory_equal(a->member, b->member, (size_t)(count) * sizeof *a->member)

static void assert_same_families(const sn_octree* tree, const sn_families* a,
                                 const sn_families* b) {
  assert_int_equal(a->packet_count, b->packet_count);
  assert_int_equal(a->chunk_count, b->chunk_count);
  assert_int_equal(a->shared_count, b->shared_count);
  size_t lanes = (size_t)a->packet_count * LANES;
  ASSERT_SAME(places, tree->cell_count);
  ASSERT_SAME(rows, a->packet_count + 1);
  ASSERT_SAME(children, a->packet_count);
  ASSERT_SAME(points, a->packet_count);
  ASSERT_SAME(local, lanes * POINTS);
  ASSERT_SAME(hanging, lanes);
  ASSERT_SAME(edges, lanes);
  ASSERT_SAME(node_starts, a->chunk_count + 1);
  ASSERT_SAME(own_counts, a->chunk_count);
  ASSERT_SAME(chunk_nodes, a->node_starts[a->chunk_count]);
  ASSERT_SAME(slot_starts, a->chunk_count + 1);
  ASSERT_SAME(shared_nodes, a->shared_count);
  ASSERT_SAME(shared_starts, a->shared_count + 1);
  ASSERT_SAME(shared_slots, sn_families_slot_count(a));
}

static void any_number_of_threads_gives_the_same_families(void** unused) {
  (void)unused;
  static const int threads[] = {1, 2, 3, 8};
  gathered alone;
  gather(&alone, 0.03, NULL);
  assert_true(alone.families.chunk_count > 5);
  for (int t = 0; t < 4; ++t) {
    sn_pool* pool;
    assert_int_equal(sn_pool_create(threads[t], &pool, NULL), SN_OK);
    gathered f;
    gather(&f, 0.03, pool);
    assert_same_families(&alone.g.tree, &alone.families, &f.families);
    ungather(&f);
    sn_pool_destroy(pool);
  }
  ungather(&alone);
}

static void an_empty_tree_has_no_families(void** unused) {
  (void)unused;
  sn_octree tree = {.cell = 1, .root_height = 1};
  sn_arena *arena, *scratch;
  assert_int_equal(sn_arena_create(&arena, NULL), SN_OK);
  assert_int_equal(sn_arena_create(&scratch, NULL), SN_OK);
  sn_families families;
  assert_int_equal(sn_families_build(&tree, NULL, arena, scratch, &families, NULL), SN_OK);
  assert_int_equal(families.packet_count, 0);
  assert_int_equal(families.chunk_count, 0);
  assert_int_equal(families.shared_count, 0);
  assert_int_equal(sn_families_slot_count(&families), 0);
  sn_families_collect_d(&families, NULL, NULL, NULL);
  sn_families_collect_f(&families, NULL, NULL, NULL);
  sn_arena_destroy(arena);
  sn_arena_destroy(scratch);
}

// A root that is a cell has a parent all the same, if only by its numbers.
static void a_single_cell_is_a_family(void** unused) {
  (void)unused;
  for (uint8_t height = 0; height <= SN_MAX_HEIGHT; height += SN_MAX_HEIGHT) {
    sn_octant cell = {0, 0, 0, height, 0};
    uint8_t hanging = 0;
    uint32_t conforming[8];
    for (uint32_t c = 0; c < 8; ++c) conforming[c] = c;
    sn_octree tree = {.cell = 0.5,
                      .root_height = height,
                      .cells = &cell,
                      .cell_count = 1,
                      .node_count = 8,
                      .hanging = &hanging,
                      .conforming = conforming};
    sn_arena *arena, *scratch;
    assert_int_equal(sn_arena_create(&arena, NULL), SN_OK);
    assert_int_equal(sn_arena_create(&scratch, NULL), SN_OK);
    sn_families families;
    assert_int_equal(sn_families_build(&tree, NULL, arena, scratch, &families, NULL), SN_OK);
    assert_int_equal(families.packet_count, 1);
    assert_int_equal(families.chunk_count, 1);
    assert_int_equal(families.own_counts[0], 8);
    assert_int_equal(families.shared_count, 0);
    assert_true(families.edges[0] == sn_octree_edge(&tree, 0));
    for (int c = 0; c < 8; ++c) {
      uint16_t local = families.local[point_index(0, sn_family_corner(0, c), 0)];
      assert_int_equal(families.chunk_nodes[local], c);
    }
    for (int lane = 1; lane < LANES; ++lane) {
      for (int p = 0; p < POINTS; ++p) {
        assert_int_equal(families.local[point_index(0, p, lane)], 8);
      }
    }
    sn_arena_destroy(arena);
    sn_arena_destroy(scratch);
  }
}

static const sn_octree* tree_to_gather;

static sn_status build_families(sn_error* err) {
  size_t outside = sn_memory_used();
  sn_arena *arena = NULL, *scratch = NULL;
  sn_families families;
  sn_status status = sn_arena_create(&arena, err);
  if (status == SN_OK) status = sn_arena_create(&scratch, err);
  if (status == SN_OK) {
    status = sn_families_build(tree_to_gather, NULL, arena, scratch, &families, err);
    assert_int_equal(sn_arena_bytes(scratch), 0);
  }
  sn_arena_destroy(scratch);
  sn_arena_destroy(arena);
  assert_int_equal(sn_memory_used(), outside);
  return status;
}

static void* copied(const void* from, size_t bytes) {
  void* to = malloc(bytes);
  assert_non_null(to);
  return memcpy(to, from, bytes);
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  // The tree itself in plain memory, so that the counter starts at zero.
  gathered f;
  gather(&f, 0.05, NULL);
  sn_octree tree = f.g.tree;
  size_t count = tree.cell_count;
  tree.cells = copied(tree.cells, count * sizeof *tree.cells);
  tree.hanging = copied(tree.hanging, count * sizeof *tree.hanging);
  tree.conforming = copied(tree.conforming, 8 * count * sizeof *tree.conforming);
  ungather(&f);
  tree_to_gather = &tree;
  assert_survives_failing_allocations(build_families);
  free(tree.cells);
  free(tree.hanging);
  free(tree.conforming);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_cell_has_a_place_of_its_own),
      cmocka_unit_test(a_packet_has_rows_for_the_children_of_its_families_alone),
      cmocka_unit_test(rows_that_nobody_needs_are_left_out),
      cmocka_unit_test(a_lane_holds_one_family_and_its_edge),
      cmocka_unit_test(corners_are_lattice_points_and_hang_as_in_the_tree),
      cmocka_unit_test(points_that_no_cell_needs_have_the_number_behind_all_nodes),
      cmocka_unit_test(every_node_is_owned_by_the_first_chunk_that_touches_it),
      cmocka_unit_test(every_chunk_lists_each_node_that_it_touches_once),
      cmocka_unit_test(shared_nodes_list_all_their_slots_in_the_order_of_the_chunks),
      cmocka_unit_test(collecting_adds_the_slots_one_by_one_on_any_pool),
      cmocka_unit_test(slots_give_the_same_sums_as_going_straight_to_the_nodes),
      cmocka_unit_test(any_number_of_threads_gives_the_same_families),
      cmocka_unit_test(an_empty_tree_has_no_families),
      cmocka_unit_test(a_single_cell_is_a_family),
      cmocka_unit_test(failing_allocations_are_survived),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
