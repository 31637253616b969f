#include "io/ply.h"

#include "io/assets.h"
#include "io/damage.h"

static const char pyramid[] =
    "ply\n"
    "format ascii 1.0\n"
    "comment a pyramid on a quad, with things to step over\n"
    "obj_info nothing\n"
    "element camera 1\n"
    "property float field\n"
    "property list uchar int sizes\n"
    "element vertex 5\n"
    "property float x\n"
    "property uchar red\n"
    "property double y\n"
    "property list uint8 float32 weights\n"
    "property int z\n"
    "element empty 99999999999\n"
    "element face 5\n"
    "property list uchar int vertex_indices\n"
    "property float quality\n"
    "end_header\n"
    "0.5 3 1 2 3\n"
    "0 255 0 0 0\n"
    "1 255 0 1 0.5 0\n"
    "1 255 1.25 2 0.5 0.5 0\n"
    "0 255 1 0 0\n"
    "0.5 255 0.5 0 1\n"
    "4 0 3 2 1 nan\n"
    "3 0 1 4 0\n"
    "3 1 2 4 0\n"
    "3 2 3\n4 0\n"
    "3 3 0 4 0\n";

static sn_status parse_text(const char* text, sn_mesh* mesh, sn_error* err) {
  return sn_ply_parse("test.ply", text, strlen(text), mesh, err);
}

static void assert_refused(const char* text, const char* place_and_found) {
  sn_mesh mesh;
  sn_error err = {0};
  assert_int_equal(parse_text(text, &mesh, &err), SN_ERR_INPUT);
  assert_message_has(&err, place_and_found);
  assert_message_has(&err, "expected");
  assert_null(mesh.storage);
  assert_int_equal(sn_memory_used(), 0);
}

// A binary file in the making.
typedef struct blob {
  char bytes[2048];
  size_t size;
  bool big_endian;
} blob;

static void put_text(blob* out, const char* text) {
  memcpy(out->bytes + out->size, text, strlen(text));
  out->size += strlen(text);
}

static void put_value(blob* out, const char* type, double value) {
  union {
    int8_t i1;
    int16_t i2;
    int32_t i4;
    uint8_t u1;
    uint16_t u2;
    uint32_t u4;
    float f4;
    double f8;
    unsigned char bytes[8];
  } u;
  if (!strcmp(type, "char") || !strcmp(type, "int8")) u.i1 = (int8_t)value;
  if (!strcmp(type, "uchar") || !strcmp(type, "uint8")) u.u1 = (uint8_t)value;
  if (!strcmp(type, "short") || !strcmp(type, "int16")) u.i2 = (int16_t)value;
  if (!strcmp(type, "ushort") || !strcmp(type, "uint16")) u.u2 = (uint16_t)value;
  if (!strcmp(type, "int") || !strcmp(type, "int32")) u.i4 = (int32_t)value;
  if (!strcmp(type, "uint") || !strcmp(type, "uint32")) u.u4 = (uint32_t)value;
  if (!strcmp(type, "float") || !strcmp(type, "float32")) u.f4 = (float)value;
  if (!strcmp(type, "double") || !strcmp(type, "float64")) u.f8 = value;
  size_t size = strstr(type, "double") || strstr(type, "64")                     ? 8
                : strstr(type, "16") || strstr(type, "short")                    ? 2
                : strstr(type, "char") || !strcmp(type + strlen(type) - 2, "t8") ? 1
                                                                                 : 4;
  const uint16_t one = 1;
  bool host_is_big = *(const unsigned char*)&one == 0;
  for (size_t i = 0; i < size; ++i) {
    out->bytes[out->size++] = (char)u.bytes[host_is_big == out->big_endian ? i : size - 1 - i];
  }
}

// A tetrahedron with extra properties, coordinates, counts and indices of the given types.
static blob binary_tetrahedron(bool big_endian, const char* number, const char* count,
                               const char* index, const char* line_end) {
  blob out = {.big_endian = big_endian};
  char header[1024];
  snprintf(header, sizeof header,
           "ply%sformat binary_%s_endian 1.0%selement vertex 4%sproperty %s x%sproperty %s y%s"
           "property %s z%sproperty list %s %s rings%selement face 4%sproperty ushort flag%s"
           "property list %s %s vertex_index%send_header%s",
           line_end, big_endian ? "big" : "little", line_end, line_end, number, line_end, number,
           line_end, number, line_end, count, number, line_end, line_end, line_end, count, index,
           line_end, line_end);
  put_text(&out, header);
  static const int positions[4][3] = {{10, 0, 0}, {20, 0, 0}, {10, 30, 0}, {10, 0, 40}};
  static const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  for (int v = 0; v < 4; ++v) {
    for (int axis = 0; axis < 3; ++axis) put_value(&out, number, positions[v][axis]);
    put_value(&out, count, v);
    for (int i = 0; i < v; ++i) put_value(&out, number, 7);
  }
  for (int f = 0; f < 4; ++f) {
    put_value(&out, "ushort", 513);
    put_value(&out, count, 3);
    for (int c = 0; c < 3; ++c) put_value(&out, index, faces[f][c]);
  }
  return out;
}

static void assert_is_the_tetrahedron(const blob* file) {
  sn_mesh mesh;
  sn_error err = {0};
  if (sn_ply_parse("test.ply", file->bytes, file->size, &mesh, &err) != SN_OK) {
    fail_msg("%s", err.text);
  }
  static const double positions[] = {10, 0, 0, 20, 0, 0, 10, 30, 0, 10, 0, 40};
  static const uint32_t triangles[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
  assert_true(sn_mesh_is_valid(&mesh));
  assert_int_equal(mesh.vertex_count, 4);
  assert_int_equal(mesh.triangle_count, 4);
  assert_memory_equal(mesh.positions, positions, sizeof positions);
  assert_memory_equal(mesh.triangles, triangles, sizeof triangles);
  sn_mesh_destroy(&mesh);
}

static void an_ascii_file_is_read_and_strange_properties_skipped(void** unused) {
  (void)unused;
  sn_mesh mesh;
  sn_error err = {0};
  if (parse_text(pyramid, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
  assert_true(sn_mesh_is_valid(&mesh));
  assert_int_equal(mesh.vertex_count, 5);
  assert_int_equal(mesh.face_count, 5);
  assert_int_equal(mesh.triangle_count, 6);
  static const double third[] = {1, 1.25, 0}, top[] = {0.5, 0.5, 1};
  assert_memory_equal(mesh.positions + 6, third, sizeof third);
  assert_memory_equal(mesh.positions + 12, top, sizeof top);
  static const uint32_t base[] = {0, 3, 2, 1};
  assert_memory_equal(mesh.face_vertices, base, sizeof base);
  sn_mesh_destroy(&mesh);
}

static void every_type_is_read_in_both_byte_orders(void** unused) {
  (void)unused;
  static const char* const names[] = {"char",   "int8",    "uchar",  "uint8",  "short", "int16",
                                      "ushort", "uint16",  "int",    "int32",  "uint",  "uint32",
                                      "float",  "float32", "double", "float64"};
  for (size_t i = 0; i < 16; ++i) {
    for (int big_endian = 0; big_endian < 2; ++big_endian) {
      blob file =
          binary_tetrahedron(big_endian, names[i], names[(i + 3) % 16], names[(i + 10) % 16], "\n");
      assert_is_the_tetrahedron(&file);
    }
  }
}

static void headers_may_end_their_lines_in_three_ways(void** unused) {
  (void)unused;
  blob file = binary_tetrahedron(false, "float", "uchar", "int", "\r\n");
  assert_is_the_tetrahedron(&file);
  // The data begin with a byte 10, which a single \r must not take along.
  file = binary_tetrahedron(false, "char", "uchar", "int", "\r");
  assert_is_the_tetrahedron(&file);
  file = binary_tetrahedron(false, "char", "uchar", "int", "\n");
  assert_is_the_tetrahedron(&file);
}

#define VERTEX_LINES "property float x\nproperty float y\nproperty float z\n"
#define FACE_LINE "property list uchar int vertex_indices\n"
#define ASCII "ply\nformat ascii 1.0\n"
#define THREE ASCII "element vertex 3\n" VERTEX_LINES "element face 1\n" FACE_LINE "end_header\n"

static void faults_of_the_header_are_refused_with_their_line(void** unused) {
  (void)unused;
  assert_refused("plyx\n", "test.ply:1: not a PLY file");
  assert_refused("ply\n", "ends within its header");
  assert_refused("ply\nformat ascii 2.0\n", "test.ply:2: format 'ascii' '2.0'");
  assert_refused("ply\nformat text 1.0\n", "format 'text'");
  assert_refused("ply\nformat ascii\n", "the line ends too early");
  assert_refused(ASCII "elements\n", "test.ply:3: 'elements'");
  assert_refused(ASCII "element vertex -1\n", "element count '-1'");
  assert_refused(ASCII "element vertex many\n", "element count 'many'");
  assert_refused(ASCII "property float x\n", "a property without an element");
  assert_refused(ASCII "element vertex 1\nproperty single x\n", "property type 'single'");
  assert_refused(ASCII "element vertex 1\nproperty list list int x\n", "property type 'list'");
  assert_refused(ASCII "element vertex 1\nelement vertex 1\n", "a second element 'vertex'");
  assert_refused(ASCII "element vertex 1\n" VERTEX_LINES "property int x\n",
                 "a second property 'x'");
  assert_refused(ASCII "element vertex 1\nproperty float x\nend_header\n0\n", "x, y and z");
  assert_refused(ASCII "element vertex 1\n" VERTEX_LINES "end_header\n0 0 0\n", "no triangles");
  assert_refused(ASCII "element vertex 1\n" VERTEX_LINES "element face 1\nend_header\n0 0 0\n",
                 "no list vertex_indices");
  assert_refused("ply\nelement vertex 1\n" VERTEX_LINES "element face 1\n" FACE_LINE
                 "end_header\n0 0 0\n",
                 "no format line");
  assert_refused(ASCII "element vertex 99999999999\n" VERTEX_LINES "element face 1\n" FACE_LINE
                       "end_header\n0 0 0\n",
                 "99999999999 vertices");
}

static void faults_of_the_data_are_refused_with_their_line(void** unused) {
  (void)unused;
  assert_refused(THREE "0 0 0\n1 0 nan\n0 1 0\n3 0 1 2\n", "test.ply:11: 'nan'");
  assert_refused(THREE "0 0 0\n1 0 0\n0 1e200 0\n3 0 1 2\n", "test.ply:12: y coordinate 1e+200");
  assert_refused(THREE "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "test.ply:13: vertex index 3");
  assert_refused(THREE "0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "vertex index -1");
  assert_refused(THREE "0 0 0\n1 0 0\n0 1 0\n3 0 1 1.5\n", "vertex index 1.5");
  assert_refused(THREE "0 0 0\n1 0 0\n0 1 0\n2 0 1\n", "face with 2 corners");
  assert_refused(THREE "0 0 0\n1 0 0\n0 1 0\n-3 0 1\n", "a list of -3 values");
  assert_refused(THREE "0 0 0\n1 0 0\n0 1 0\n1e9 0 1\n", "a list of 1000000000 values");
  assert_refused(THREE "0 0 0\n1 0 0\n0 1 0\n3 0 1\n", "the file ends within element 'face' 0");
  assert_refused(THREE "0 0 0\n", "3 items of element 'vertex' announced");
}

static void faults_of_binary_data_are_refused_with_their_item(void** unused) {
  (void)unused;
  blob file = binary_tetrahedron(false, "float", "uchar", "int", "\n");
  sn_mesh mesh;
  sn_error err;
  file.bytes[file.size - 1] = 1;  // the high byte of the last index
  assert_int_equal(sn_ply_parse("test.ply", file.bytes, file.size, &mesh, &err), SN_ERR_INPUT);
  assert_message_has(&err, "test.ply: element 'face' 3: vertex index 16777219");
  file.bytes[file.size] = 0;
  file = binary_tetrahedron(true, "float", "uchar", "int", "\n");
  char* data = strstr(file.bytes, "end_header\n") + strlen("end_header\n");
  memcpy(data + 13 + 4, "\x7f\xc0\0\0", 4);
  assert_int_equal(sn_ply_parse("test.ply", file.bytes, file.size, &mesh, &err), SN_ERR_INPUT);
  assert_message_has(&err, "test.ply: element 'vertex' 1: y coordinate nan");
}

static void damaged_files_are_refused_or_read(void** unused) {
  (void)unused;
  assert_survives_truncation(sn_ply_parse, pyramid, sizeof pyramid - 1);
  assert_survives_mutation(sn_ply_parse, pyramid, sizeof pyramid - 1);
  for (int big_endian = 0; big_endian < 2; ++big_endian) {
    blob file = binary_tetrahedron(big_endian, "float", "uint", "int", "\n");
    assert_survives_truncation(sn_ply_parse, file.bytes, file.size);
    assert_survives_mutation(sn_ply_parse, file.bytes, file.size);
  }
}

static sn_status parse_pyramid(sn_error* err) {
  sn_mesh mesh;
  sn_status status = parse_text(pyramid, &mesh, err);
  sn_mesh_destroy(&mesh);
  return status;
}

static void vertices_hand_their_texture_coordinates_to_corners(void** unused) {
  (void)unused;
  static const char* const names[][2] = {{"s", "t"}, {"u", "v"}, {"texture_u", "texture_v"}};
  for (int i = 0; i < 3; ++i) {
    char text[512];
    snprintf(text, sizeof text,
             "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
             "property float z\nproperty float %s\nproperty float %s\nproperty float s\n"
             "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
             "0 0 0 0.5 1 9\n1 0 0 0.25 -1 9\n0 1 0 nan 3 9\n3 2 1 0\n",
             names[i][0], names[i][1]);
    sn_mesh mesh;
    sn_error err = {0};
    if (parse_text(text, &mesh, &err) != SN_OK) fail_msg("%s", err.text);
    assert_true(sn_mesh_is_valid(&mesh));
    static const float expected[6] = {0, 0, 0.25f, -1, 0.5f, 1};
    assert_memory_equal(mesh.uvs, expected, sizeof expected);
    sn_mesh_destroy(&mesh);
  }
}

static void failing_allocations_are_survived(void** unused) {
  (void)unused;
  assert_survives_every_failing_request(parse_pyramid);
}

static void anatomy_has_the_triangles_and_boxes_of_its_table(void** unused) {
  (void)unused;
  skip_without_assets();
  assert_true(check_asset_folder("anatomy/arm", ".ply") >= 9);
  assert_true(check_asset_folder("cloth", ".ply") >= 2);
  assert_true(check_asset_folder("defective", ".ply") >= 1);
  assert_int_equal(sn_memory_used(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_ascii_file_is_read_and_strange_properties_skipped),
      cmocka_unit_test(every_type_is_read_in_both_byte_orders),
      cmocka_unit_test(headers_may_end_their_lines_in_three_ways),
      cmocka_unit_test(faults_of_the_header_are_refused_with_their_line),
      cmocka_unit_test(faults_of_the_data_are_refused_with_their_line),
      cmocka_unit_test(faults_of_binary_data_are_refused_with_their_item),
      cmocka_unit_test(vertices_hand_their_texture_coordinates_to_corners),
      cmocka_unit_test(damaged_files_are_refused_or_read),
      cmocka_unit_test(failing_allocations_are_survived),
      cmocka_unit_test(anatomy_has_the_triangles_and_boxes_of_its_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
