#include "io/scratch.h"
#include "sinew/shape.h"

#define SIDE 12  // squares along an edge of the sheet

// A flat sheet of squares; the group holds all triangles left of the middle.
static void make_sheet(sn_mesh* mesh, uint32_t* group, uint32_t* group_count) {
  static double positions[3 * (SIDE + 1) * (SIDE + 1)];
  static uint32_t triangles[6 * SIDE * SIDE];
  uint32_t count = 0;
  *group_count = 0;
  for (uint32_t v = 0; v < (SIDE + 1) * (SIDE + 1); ++v) {
    positions[3 * v] = v % (SIDE + 1);
    positions[3 * v + 1] = v / (SIDE + 1);
  }
  for (uint32_t s = 0; s < SIDE * SIDE; ++s) {
    uint32_t x = s % SIDE, a = s / SIDE * (SIDE + 1) + x, c = a + SIDE + 2;
    const uint32_t corners[6] = {a, a + 1, c, a, c, c - 1};
    for (uint32_t k = 0; k < 2; ++k) {
      if (x < SIDE / 2) group[(*group_count)++] = count + k;
    }
    memcpy(triangles + 3 * (size_t)count, corners, sizeof corners);
    count += 2;
  }
  assert_int_equal(
      sn_mesh_from_arrays(positions, (SIDE + 1) * (SIDE + 1), triangles, count, mesh, NULL), SN_OK);
}

static void marks_cross_one_half_at_the_border_of_the_group(void** unused) {
  (void)unused;
  sn_mesh mesh;
  uint32_t chosen[2 * SIDE * SIDE];
  sn_mesh_group group = {.triangles = chosen};
  float marks[(SIDE + 1) * (SIDE + 1)];
  make_sheet(&mesh, chosen, &group.triangle_count);
  assert_int_equal(sn_mesh_mark_group(&mesh, &group, marks, NULL), SN_OK);
  for (int v = 0; v < (SIDE + 1) * (SIDE + 1); ++v) {
    int x = v % (SIDE + 1);
    assert_true(0 <= marks[v] && marks[v] <= 1);
    if (x < SIDE / 2) assert_true(marks[v] > 0.5f);
    if (x > SIDE / 2) assert_true(marks[v] < 0.5f);
    if (x < SIDE / 2 - 3) assert_true(marks[v] > 0.999f);
    if (x > SIDE / 2 + 3) assert_true(marks[v] < 0.001f);
  }
  sn_mesh_destroy(&mesh);
}

static void an_empty_group_marks_nothing(void** unused) {
  (void)unused;
  sn_mesh mesh;
  uint32_t chosen[2 * SIDE * SIDE], ignored;
  sn_mesh_group group = {0};
  float marks[(SIDE + 1) * (SIDE + 1)];
  make_sheet(&mesh, chosen, &ignored);
  assert_int_equal(sn_mesh_mark_group(&mesh, &group, marks, NULL), SN_OK);
  for (int v = 0; v < (SIDE + 1) * (SIDE + 1); ++v) assert_true(marks[v] == 0);
  sn_mesh_destroy(&mesh);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(marks_cross_one_half_at_the_border_of_the_group),
      cmocka_unit_test(an_empty_group_marks_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
