// FBX and Collada that are rare, or wrong on purpose: each is read as it is meant, or refused with its place.
#include "io/import_load.h"

static const double inch = 0.0254;

static char last_warning[512];
static int warning_count;

static void keep_warning(void* unused, sn_log_level level, const char* text) {
  (void)unused;
  if (level != SN_LOG_WARNING) return;
  ++warning_count;
  snprintf(last_warning, sizeof last_warning, "%s", text);
}

// What a text becomes with parts of it replaced: pairs of old and new, up to NULL.
static char* with_changes(const char* text, const char* const* changes) {
  char* changed = strdup(text);
  assert_non_null(changed);
  for (; changes[0]; changes += 2) {
    char* next = with_text(changed, changes[0], changes[1]);
    free(changed);
    changed = next;
  }
  return changed;
}

// The character of a changed text; `warning` is part of the one warning that comes with it, or NULL for none.
static sn_gltf load_changed(const char* name, const char* text, const char* const* changes,
                            const char* warning) {
  char* changed = with_changes(text, changes);
  const char* path = scratch_write(name, changed, strlen(changed));
  free(changed);
  warning_count = 0;
  last_warning[0] = 0;
  sn_set_log(keep_warning, NULL);
  sn_gltf gltf = load_well(path);
  sn_set_log(NULL, NULL);
  if (warning_count != (warning != NULL)) fail_msg("%d warnings: %s", warning_count, last_warning);
  if (warning && !strstr(last_warning, warning)) fail_msg("%s", last_warning);
  return gltf;
}

#define CHANGES(...) ((const char* const[]){__VA_ARGS__, NULL})
#define LOAD_DAE(warning, ...) load_changed("rare.dae", made_dae, CHANGES(__VA_ARGS__), warning)
#define LOAD_FBX(warning, ...) load_changed("rare.fbx", made_fbx, CHANGES(__VA_ARGS__), warning)

// Each row: old, new, part of the message.
static void refuse_all(const char* name, const char* text, const char* const (*rows)[3],
                       size_t count) {
  for (size_t i = 0; i < count; ++i) {
    char* changed = with_text(text, rows[i][0], rows[i][1]);
    assert_refused(name, changed, rows[i][2]);
    free(changed);
  }
}

// Collada

#define MATRIX "1 0 0 0 0 1 0 0 0 0 1 1 0 0 0 1"
#define BONE "<matrix sid=\"transform\">" MATRIX "</matrix>"
#define TRIANGLES "<triangles count=\"2\">"

static void mistakes_in_collada_files_have_lines(void** unused) {
  (void)unused;
  static const char* const rows[][3] = {
      {"0 0 0 2 0 0 2", "0 0 0 2 0 1e31 2", "line 5: <float_array>: found '1e31'"},
      {"stride=\"3\"", "stride=\"0\"", "line 7: <input>: found fewer than three numbers"},
      {"stride=\"3\"", "offset=\"13\" stride=\"3\"", "line 6: <accessor>: found more elements"},
      {"source=\"#p\"", "source=\"#q\"", "line 7: <input>: found a reference to no numbers"},
      {"semantic=\"POSITION\"", "semantic=\"NORMAL\"", "line 4: <mesh>: found no positions"},
      {"semantic=\"VERTEX\"", "semantic=\"NORMAL\"", "line 8: <triangles>: found no vertices"},
      {"<p>0 1 2", "<p>0 1 2.5", "line 8: <p>: found a vertex that is not there"},
      {"<p>0 1 2", "<p>0 1 -2", "line 8: <p>: found a vertex that is not there"},
      {BONE, "<translate>1 2</translate>", "<translate>: found another count"},
      {BONE, "<scale>1</scale>", "<scale>: found another count"},
      {BONE, "<rotate>1 0 0</rotate>", "<rotate>: found another count"},
      {BONE, "<matrix>1 2</matrix>", "<matrix>: found another count"},
      {"url=\"#c\"", "url=\"#scene\"", "<instance_controller>: found a reference to nothing"},
      {"skin source=\"#g\"", "skin source=\"#x\"", "found a reference to nothing"},
      {"<bind_shape_matrix>1 0", "<bind_shape_matrix>1", "line 11: <bind_shape_matrix>: found an"},
      {">bone</Name_array>", "></Name_array>", "<joints>: found another count of matrices"},
      {"count=\"1\" stride=\"16\"", "count=\"4\" stride=\"4\"", "<joints>: found another count"},
      {"count=\"1\" stride=\"16\"", "count=\"0\" stride=\"16\"", "<joints>: found another count"},
      {"INV_BIND_MATRIX", "OTHER", "<skin>: found no joints"},
      {"<vertex_weights count=\"4\"><input semantic=\"JOINT\"",
       "<vertex_weights count=\"4\"><input semantic=\"OTHER\"", "found a part missing"},
      {"semantic=\"WEIGHT\"", "semantic=\"OTHER\"", "<vertex_weights>: found a part missing"},
      {"<vcount>1 1 1 1</vcount>", "", "<vertex_weights>: found a part missing"},
      {"<v>0 0 0 0 0 0 0 0</v>", "", "<vertex_weights>: found a part missing"},
      {"<vcount>1 1 1 1", "<vcount>1 1 1 1 0", "<vcount>: found more vertices than there are"},
      {"<v>0 0 0 0", "<v>-2 0 0 0", "<v>: found a joint or weight that is not there"},
      {"<v>0 0 0 0", "<v>0 -1 0 0", "<v>: found a joint or weight that is not there"},
      {"<v>0 0 0 0", "<v>0 1 0 0", "<v>: found a joint or weight that is not there"},
      {"count=\"1\">1</float_array>", "count=\"1\">-1</float_array>", "found a weight beyond"},
      {"count=\"1\">1</float_array>", "count=\"1\">1e7</float_array>", "found a weight beyond"},
      {">2 3</float_array>", ">2 1e8</float_array>", "<input>: found times that do not ascend"},
      {"count=\"2\" stride=\"16\"", "count=\"1\" stride=\"16\"", "<sampler>: found no keys"},
      {"<accessor source=\"#ta\" count=\"2\"", "<accessor source=\"#ta\" count=\"0\"",
       "<sampler>: found no keys"},
      {"count=\"2\" stride=\"16\"", "count=\"2\" stride=\"12\"", "found an animation of other"},
      {"<geometry id=\"g\"><mesh>\n", "<geometry id=\"g\"/><geometry><mesh>\n",
       "<geometry>: found no mesh"}};
  refuse_all("bad.dae", made_dae, rows, sizeof rows / sizeof *rows);
}

static void polygons_of_a_collada_file_come_in_lists(void** unused) {
  (void)unused;
  static const char end[] = "</p></triangles>";
  static const struct {
    const char *head, *tail, *refusal, *warning;
    uint32_t triangles;
  } cases[] = {
      {"<polylist count=\"2\"><vcount>3 3</vcount>", "</p></polylist>", NULL, NULL, 2},
      {"<polylist count=\"2\"><vcount>2 4</vcount>", "</p></polylist>", NULL, "1 strips", 2},
      {"<polygons count=\"1\">", "</p></polygons>", NULL, NULL, 4},
      {"<polylist count=\"2\"><vcount>3 4</vcount>", "</p></polylist>", "<p>: found fewer", NULL,
       0},
      {"<polylist count=\"2\"><vcount>3 -3</vcount>", "</p></polylist>", "<p>: found fewer", NULL,
       0},
      {"<lines count=\"1\"/><trifans count=\"1\"/>" TRIANGLES, end, NULL, "2 strips", 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const char* const* changes = CHANGES(TRIANGLES, cases[i].head, end, cases[i].tail);
    if (cases[i].refusal) {
      char* text = with_changes(made_dae, changes);
      assert_refused("bad.dae", text, cases[i].refusal);
      free(text);
      continue;
    }
    sn_gltf gltf = load_changed("rare.dae", made_dae, changes, cases[i].warning);
    assert_int_equal(gltf.meshes[0].mesh.triangle_count, cases[i].triangles);
    sn_gltf_destroy(&gltf);
  }
}

static void x_may_be_up(void** unused) {
  (void)unused;
  sn_gltf gltf = LOAD_DAE(NULL, "Z_UP", "X_UP");
  double* positions = pose_at(&gltf, 0, 0.5);
  assert_at(positions + 6, -2 * inch, 2 * inch, 0.5 * inch, 1e-7);
  free(positions);
  sn_gltf_destroy(&gltf);
}

// Counts that are no numbers give way to what is there.
static void numbers_of_a_collada_array_may_be_counted_wrongly(void** unused) {
  (void)unused;
  static const char* const counts[] = {"-4", "5000000000", "four"};
  for (int i = 0; i < 3; ++i) {
    char count[64];
    snprintf(count, sizeof count, "count=\"%s\" stride=\"3\"", counts[i]);
    sn_gltf gltf = LOAD_DAE(NULL, "count=\"4\" stride=\"3\"", count);
    assert_int_equal(gltf.meshes[0].mesh.vertex_count, 4);
    sn_gltf_destroy(&gltf);
  }
}

static void materials_of_a_collada_file_have_names(void** unused) {
  (void)unused;
#define BOUND(target)                                                                         \
  "<bind_material><technique_common><instance_material symbol=\"other\"/><instance_material " \
  "symbol=\"m\" target=\"" target "\"/></technique_common></bind_material></instance_controller>"
  static const char* const bound[2][2] = {{BOUND("#red"), "Red skin"}, {BOUND("#none"), "m"}};
  for (int i = 0; i < 2; ++i) {
    sn_gltf gltf =
        LOAD_DAE(NULL, TRIANGLES, "<triangles count=\"2\" material=\"m\">",
                 "</instance_controller>", bound[i][0], "<library_controllers>",
                 "<library_materials><material id=\"red\" name=\"Red skin\"/></library_materials>"
                 "<library_controllers>");
    assert_string_equal(gltf.meshes[0].mesh.groups[0].name, bound[i][1]);
    sn_gltf_destroy(&gltf);
  }
}

static void a_skin_of_a_collada_file_may_lack_parts(void** unused) {
  (void)unused;
  // A skeleton that is not above the joint; no shape matrix.
  sn_gltf gltf = LOAD_DAE(NULL, "<skeleton>#bone_id", "<skeleton>#body", "<bind_shape_matrix>",
                          "<ignored>", "</bind_shape_matrix>", "</ignored>");
  assert_int_equal(gltf.skins[0].joints[0], find_node(&gltf, "Bone"));
  sn_gltf_destroy(&gltf);
  // A vertex on no joint.
  gltf = LOAD_DAE("1 vertices without weights", "<v>0 0", "<v>-1 0");
  assert_int_equal(gltf.skins[0].joint_count, 2);
  assert_int_equal(gltf.skins[0].joints[1], find_node(&gltf, "Body"));
  sn_gltf_destroy(&gltf);
}

// One node more for each mesh behind the first of a node.
static void nodes_of_a_collada_file_may_have_several_meshes(void** unused) {
  (void)unused;
  sn_gltf gltf = LOAD_DAE(NULL, "</instance_controller>",
                          "</instance_controller><instance_geometry url=\"#g\"/>", BONE,
                          BONE "<rotate>0 0 0 90</rotate><lookat/>");
  assert_int_equal(gltf.mesh_count, 2);
  assert_int_equal(gltf.node_count, 3);
  assert_int_equal(gltf.nodes[2].parent, find_node(&gltf, "Body"));
  sn_gltf_destroy(&gltf);
}

// A single number of a transform moves; frames between the keys are filled in.
static void single_numbers_of_a_collada_node_move(void** unused) {
  (void)unused;
#define VALUES "32\">" MATRIX " 1 0 0 0 0 1 0 0 0 0 1 2 0 0 0 1"
#define MOVE_BY(target, transform)                                                              \
  "bone_id/transform", target, BONE, transform, VALUES, "2\">1 2", "count=\"2\" stride=\"16\"", \
      "count=\"2\" stride=\"1\""
  static const char place[] = "<translate sid=\"transform\">0 0 1</translate>";
  static const char* const targets[] = {"bone_id/transform.Z", "bone_id/transform(2)"};
  for (int i = 0; i < 2; ++i) {
    sn_gltf gltf = LOAD_DAE(NULL, MOVE_BY(targets[i], place));
    assert_true(gltf.clips[0].channels[0].key_count > 30);
    double* positions = pose_at(&gltf, 0, 0.5);
    assert_at(positions + 6, 2 * inch, 0.5 * inch, -2 * inch, 1e-7);
    free(positions);
    sn_gltf_destroy(&gltf);
  }
  char* text = with_changes(made_dae, CHANGES(MOVE_BY("bone_id/transform.ANGLE", place)));
  assert_refused("bad.dae", text, "<translate>: found an animation of other numbers");
  free(text);
  text =
      with_changes(made_dae, CHANGES(MOVE_BY("bone_id/transform.Z", place), ">2 3<", ">2 40000<"));
  assert_refused("bad.dae", text, "found an animation of 39998 s");
  free(text);
}

static void channels_that_move_no_node_are_left_out(void** unused) {
  (void)unused;
  static const char* const targets[] = {"nobody/transform",       "bone_id",
                                        "bone_id/other",          "bone_id/transform.Q",
                                        "bone_id/transform()",    "bone_id/transform(12)",
                                        "bone_id/transform(1)(2)"};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i) {
    sn_gltf gltf = LOAD_DAE("1 channels that move no node", "bone_id/transform", targets[i]);
    assert_int_equal(gltf.clip_count, 0);
    sn_gltf_destroy(&gltf);
  }
  // The node of a second mesh has no element of its own, and so no id.
  sn_gltf gltf =
      LOAD_DAE("1 channels that move no node", "bone_id/transform", "/transform",
               "</instance_controller>", "</instance_controller><instance_geometry url=\"#g\"/>");
  assert_int_equal(gltf.clip_count, 0);
  sn_gltf_destroy(&gltf);
  gltf = LOAD_DAE("1 channels with splines", ">LINEAR LINEAR<", ">LINEAR BEZIER<");
  assert_int_equal(gltf.clip_count, 1);
  sn_gltf_destroy(&gltf);
}

// FBX

#define LIST(name, count, values) name ": *" #count " {\n\t\t\ta: " values "\n"
#define SECONDS_OF(second) "46186158000," second
#define UP_AXIS(axis) "\"UpAxis\", \"int\", \"Integer\", \"\"," axis

static void mistakes_in_fbx_numbers_are_named(void** unused) {
  (void)unused;
  static const char* const rows[][3] = {
      {UP_AXIS("2"), UP_AXIS("3"), "GlobalSettings.UpAxis: found 3"},
      {UP_AXIS("2"), UP_AXIS("-1"), "GlobalSettings.UpAxis: found -1"},
      {"FBXVersion: 7400", "FBXVersion:", "FBXVersion: found 0"},
      {"FBXVersion: 7400", "FBXVersion: 8000", "FBXVersion: found 8000"},
      {"Vertices: *15", "Vertices: *-15", "line 19: found '-15'"},
      {"2,0,0,2,2,0", "2,1e300,0,2,2,0", "mesh \"Body\": Vertices: found one that is not finite"},
      {"2,0,0,2,2,0", "2,0,1e300,2,2,0", "mesh \"Body\": Vertices: found one that is not finite"},
      {LIST("Indexes", 4, "0,1,2,3"), LIST("Indexes", 3, "0,1,2"), "another number of weights"},
      {"a: 0,1,2,3\n", "a: -1,1,2,3\n", "found a vertex that is not there"},
      {"1,1,1,0.25", "1,1,1,1e7", "a weight beyond 0 to 1e6"},
      {LIST("Transform", 16, "1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1"),
       LIST("Transform", 16, "1,0,0,0,0,1e31,0,0,0,0,1,0,0,0,0,1"), "Transform: found no number"},
      {LIST("KeyTime", 2, SECONDS_OF("92372316000")), LIST("KeyTime", 1, "46186158000"),
       "AnimationCurve 74: found 1 times and 2 values"},
      {"a: 90,90", "a: 90,1e31", "AnimationCurve 74: found key 1 of 1e+31"},
      {SECONDS_OF("92372316000"), SECONDS_OF("923723160000000000"),
       "AnimationCurve 74: found key 1"},
      {SECONDS_OF("92372316000"), SECONDS_OF("46186158000000000"), "clip \"Turn\": found 999999 s"},
      {SECONDS_OF("92372316000"), SECONDS_OF("4618615800000000"), "found more numbers than a file"},
      {"Objects: {", "Objects: {\n\tA: {}}", "line 116: found '}'"},
      {"FBXHeaderExtension: {",
       "A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{A:{"
       "A:{A:{A:{A:{A:{",
       "expected at most 32 elements within one another"}};
  refuse_all("bad.fbx", made_fbx, rows, sizeof rows / sizeof *rows);
}

static void polygons_of_an_fbx_file_may_lack_corners_and_materials(void** unused) {
  (void)unused;
  sn_gltf gltf = LOAD_FBX("1 polygons with fewer than three corners", "PolygonVertexIndex: *16",
                          "PolygonVertexIndex: *15", "1,2,-5,2,3,-5", "1,2,-5,3,-5");
  assert_int_equal(gltf.meshes[0].mesh.triangle_count, 5);
  sn_gltf_destroy(&gltf);
  gltf = LOAD_FBX(NULL, "\"ByPolygon\"", "\"AllSame\"");
  assert_int_equal(gltf.meshes[0].mesh.group_count, 1);
  assert_string_equal(gltf.meshes[0].mesh.groups[0].name, "Floor");
  sn_gltf_destroy(&gltf);
  // Numbers of no material are those of the first.
  gltf = LOAD_FBX(NULL, "a: 1,0,0,0,0\n", "a: 7,-1,1,1,1\n");
  assert_int_equal(gltf.meshes[0].mesh.groups[0].triangle_count, 3);
  assert_string_equal(gltf.meshes[0].mesh.groups[0].name, "Side");
  sn_gltf_destroy(&gltf);
  gltf = LOAD_FBX(NULL, "Material::Side", "Material::");
  assert_string_equal(gltf.meshes[0].mesh.groups[0].name, "primitive0");
  sn_gltf_destroy(&gltf);
}

// Pairs of the first corners; what is wrong with one becomes 0, 0.
static void texture_coordinates_of_an_fbx_file_are_an_ornament(void** unused) {
  (void)unused;
#define LAYER(content) "LayerElementUV: 0 {\n" content "}\n\t\tLayerElementMaterial: 0 {"
#define EACH "MappingInformationType: \"ByPolygonVertex\"\n"
#define PAIRS "UV: *6 {\na: 0.25,0,0.5,1,1e300,0\n}\n"
  static const struct {
    const char* layer;
    float first[3][2];
    bool is_there;
  } cases[] = {
      {LAYER(EACH PAIRS), {{0.25f, 0}, {0.5f, 1}, {0, 0}}, true},
      {LAYER(EACH PAIRS "UVIndex: *2 {\na: 1,-1\n}\n"), {{0.5f, 1}, {0, 0}, {0, 0}}, true},
      {LAYER(EACH PAIRS "UVIndex: *3 {\na: 3,0,2\n}\n"), {{0, 0}, {0.25f, 0}, {0, 0}}, true},
      {LAYER("MappingInformationType: \"ByVertice\"\n" PAIRS), {{0}}, false},
      {LAYER(EACH), {{0}}, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    sn_gltf gltf = LOAD_FBX(NULL, "LayerElementMaterial: 0 {", cases[i].layer);
    const float* uvs = gltf.meshes[0].mesh.uvs;
    assert_int_equal(uvs != NULL, cases[i].is_there);
    if (uvs) assert_memory_equal(uvs, cases[i].first, sizeof cases[i].first);
    sn_gltf_destroy(&gltf);
  }
}

// Half a second behind the first of three keys, a second apart.
static void tangents_of_an_fbx_curve_are_found(void** unused) {
  (void)unused;
#define CURVE "AnimationCurve: 75, \"AnimCurve::\", \"\" {\n"
  static const struct {
    const char *values, *flags, *data;
    double expected;
  } cases[] = {{"2,4,10", "8", "0,0", 2.5},       // as steep as from the first to the last
               {"2,4,10", "4104", "0,0", 2.5},    // clamped, but not too steep
               {"2,3,13", "4104", "0,0", 2.125},  // no steeper than thrice the way before
               {"13,12,2", "4104", "0,0", 12.875},
               {"2,4,2", "16392", "0,0", 3},  // flat at an extremum
               {"2,4,10", "1032", "2,2", 3},  // set by hand
               {"2,4,10", "258", "0,0", 4},   // the value of the next key holds
               {"2,4,10", "2", "0,0", 2},     // its own does
               {"2,4,10", "9e9", "0,0", 3},   // flags of nothing: linear
               {"2,4,10", "-1", "0,0", 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char curve[512];
    snprintf(curve, sizeof curve,
             CURVE
             "KeyTime: *3 {\na: 46186158000,92372316000,138558474000\n}\n"
             "KeyValueFloat: *3 {\na: %s\n}\nKeyAttrFlags: *1 {\na: %s\n}\n"
             "KeyAttrDataFloat: *4 {\na: %s,0,0\n}\nKeyAttrRefCount: *1 {\na: 3\n}\n",
             cases[i].values, cases[i].flags, cases[i].data);
    sn_gltf gltf = LOAD_FBX(NULL, CURVE, curve);
    double* positions = pose_at(&gltf, 0, 0.5);
    assert_at(positions + 12, 0, 0, (1 + cases[i].expected) * inch, 1e-7);
    free(positions);
    sn_gltf_destroy(&gltf);
  }
}

static uint32_t key_count_at(const char* mode) {
  char changed[128];
  snprintf(changed, sizeof changed,
           "\"CustomFrameRate\", \"double\", \"Number\", \"\",10\n\t\tP: \"TimeMode\", \"enum\", "
           "\"\", \"\",%s",
           mode);
  sn_gltf gltf = LOAD_FBX(NULL, "\"TimeMode\", \"enum\", \"\", \"\",11", changed);
  uint32_t count = gltf.clips[0].channels[0].key_count;
  sn_gltf_destroy(&gltf);
  return count;
}

static void clips_of_an_fbx_file_have_their_own_rate_and_layers(void** unused) {
  (void)unused;
  assert_int_equal(key_count_at("11"), 25);
  assert_int_equal(key_count_at("14"), 11);
  assert_int_equal(key_count_at("99"), 31);
  assert_int_equal(key_count_at("-1"), 31);
  sn_gltf gltf = LOAD_FBX("of 2 layers the first", "\tAnimationLayer: 71",
                          "\tAnimationLayer: 76, \"AnimLayer::More\", \"\" {\n\t}\n"
                          "\tAnimationLayer: 71",
                          "\tC: \"OO\",71,70\n", "\tC: \"OO\",71,70\n\tC: \"OO\",76,70\n");
  sn_gltf_destroy(&gltf);
}

// What turns before, and scale that is not inherited; also from the properties that all models have.
static void pivots_of_an_fbx_node_hold(void** unused) {
  (void)unused;
#define LOWER "\"Model::Lower\", \"LimbNode\" {\n"
#define P(name, numbers) "\t\t\tP: \"" name "\", \"\", \"\", \"A\"," numbers "\n"
  sn_gltf gltf = LOAD_FBX(
      NULL, LOWER,
      LOWER "\t\tProperties70: {\n" P("RotationActive", "1") P("RotationOrder", "9")
          P("PreRotation", "0,0,90") P("Lcl Scaling", "2,2,2") "\t\t}\n",
      "\t\t\tP: \"Lcl Translation\"", P("InheritType", "2") "\t\t\tP: \"Lcl Translation\"");
  const sn_gltf_node* lower = &gltf.nodes[find_node(&gltf, "Lower")];
  assert_at(&lower->rotate.x, 0, sqrt(0.5), 0, 1e-12);
  assert_at(&gltf.nodes[find_node(&gltf, "Upper")].scale.x, 0.5, 0.5, 0.5, 1e-12);
  sn_gltf_destroy(&gltf);
  gltf = LOAD_FBX(NULL, "Objects: {",
                  "Definitions: {\n\tObjectType: {\n\t}\n\tObjectType: 5 {\n\t}\n"
                  "\tObjectType: \"Bodel\" {\n\t}\n\tObjectType: \"Model\" {\n"
                  "\t\tPropertyTemplate: \"FbxNode\" {\n\t\t\tProperties70: {\n" P(
                      "Lcl Scaling", "3,3,3") "\t\t\t}\n\t\t}\n\t}\n}\nObjects: {");
  assert_at(&gltf.nodes[find_node(&gltf, "Body")].scale.x, 3, 3, 3, 1e-12);
  sn_gltf_destroy(&gltf);
}

// Binary FBX

typedef struct binary {
  unsigned char bytes[4096];
  size_t size;
} binary;

static void put(binary* b, const void* bytes, size_t size) {
  assert_true(b->size + size <= sizeof b->bytes);
  memcpy(b->bytes + b->size, bytes, size);
  b->size += size;
}

static void put_uint(binary* b, uint32_t number) { put(b, &number, sizeof number); }

static binary begin_binary(uint32_t version) {
  binary b = {.size = 0};
  put(&b, "Kaydara FBX Binary  \0\x1a", 23);
  put_uint(&b, version);
  return b;
}

// An element of one value, or of none where it takes no bytes; what is put behind it stands in it until it is ended.
static size_t begin_element(binary* b, const char* name, const void* value, size_t size) {
  size_t start = b->size;
  put_uint(b, 0);
  put_uint(b, size > 0);
  put_uint(b, (uint32_t)size);
  put(b, (unsigned char[]){(unsigned char)strlen(name)}, 1);
  put(b, name, strlen(name));
  put(b, value, size);
  return start;
}

static void end_element(binary* b, size_t start) {
  put_word((char*)b->bytes + start, (uint32_t)b->size);
}

static void put_element(binary* b, const char* name, const void* value, size_t size) {
  end_element(b, begin_element(b, name, value, size));
}

static void end_binary(binary* b) { put(b, (unsigned char[13]){0}, 13); }

static void assert_binary_refused(const binary* b, const char* part) {
  sn_gltf gltf;
  sn_error err = {0};
  const char* path = scratch_write("bad.fbx", b->bytes, b->size);
  assert_int_equal(sn_character_load(path, &gltf, &err), SN_ERR_INPUT);
  assert_message_has(&err, "bad.fbx");
  assert_message_has(&err, part);
}

static void values_of_a_binary_fbx_file_that_end_early_are_refused(void** unused) {
  (void)unused;
  static const struct {
    const char* value;
    size_t size;
    const char* message;
  } cases[] = {
      {"C", 1, "byte 42: found the end"},
      {"B", 1, "byte 42: found the end"},
      {"Y\1", 2, "byte 42: found the end"},
      {"I\1\1\1", 4, "byte 42: found the end"},
      {"L\1\1\1\1\1\1\1", 8, "byte 42: found the end"},
      {"F\1\1\1", 4, "byte 42: found the end"},
      {"D\1\1\1\1\1\1\1", 8, "byte 42: found the end"},
      {"S\1\1\1", 4, "byte 42: found the end"},
      {"R\2\0\0\0x", 6, "byte 46: found the end, expected more of a text"},
      {"d\1\0\0", 4, "byte 42: found the end"},
      {"d\1\0\0\0\0\0", 7, "byte 46: found the end"},
      {"d\1\0\0\0\0\0\0\0\0", 10, "byte 50: found the end"},
      {"d\1\0\0\0\0\0\0\0\7\0\0\0aaaaaaa", 20, "byte 54: found an array of another length"},
      {"b\2\0\0\0\0\0\0\0\3\0\0\0aaa", 16, "byte 54: found an array of another length"},
      {"i\1\0\0\0\2\0\0\0\4\0\0\0aaaa", 17, "byte 54: found an array of another length"},
      {"l\377\377\377\377\1\0\0\0\1\0\0\0a", 14, "byte 54: found an array of another"},
      {"Z", 1, "byte 42: found a value of an unknown type"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    binary b = begin_binary(7400);
    put_element(&b, "A", cases[i].value, cases[i].size);
    end_binary(&b);
    assert_binary_refused(&b, cases[i].message);
  }
}

static void elements_of_a_binary_fbx_file_stay_within_one_another(void** unused) {
  (void)unused;
  binary b = begin_binary(6100);
  end_binary(&b);
  assert_binary_refused(&b, "found FBX version 6100");
  b = begin_binary(8000);
  assert_binary_refused(&b, "found FBX version 8000");
  // Heads that are cut: end, count, size, name.
  for (size_t size = 1; size < 13; ++size) {
    b = begin_binary(7400);
    put(&b, (unsigned char[13]){40}, size);
    assert_binary_refused(&b, "found the end, expected more of an element");
  }
  b = begin_binary(7400);
  put_element(&b, "A", "", 0);
  assert_binary_refused(&b, "byte 41: found the end, expected the mark behind the last element");
  b = begin_binary(7400);
  put_element(&b, "A", "", 0);
  end_element(&b, 27 + 100);
  put_word((char*)b.bytes + 27, 20);
  assert_binary_refused(&b, "byte 40: found an element of another length");
  put_word((char*)b.bytes + 27, 30);  // within its own head
  put_word((char*)b.bytes + 31, 0x7fffffff);
  put_word((char*)b.bytes + 35, 0x7fffffff);
  assert_binary_refused(&b, "byte 40: found an element of another length");
  size_t starts[40];
  b = begin_binary(7400);
  for (int i = 0; i < 40; ++i) starts[i] = begin_element(&b, "A", "", 0);
  for (int i = 40; i-- > 0;) end_element(&b, starts[i]);
  end_binary(&b);
  assert_binary_refused(&b, "found too many elements within one another, expected 32");
}

// Whole numbers, floats and booleans as a file has them, through a mesh of one triangle.
static void all_types_of_a_binary_fbx_file_are_read(void** unused) {
  (void)unused;
  static const unsigned char places[] = "d\x09\0\0\0\0\0\0\0\x48\0\0\0";
  static const unsigned char corners[] =
      "i\3\0\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0\1\0\0\0\375\377\377\377";
  unsigned char vertices[13 + 72];
  const double numbers[9] = {0, 0, 0, 100, 0, 0, 0, 100, 0};
  memcpy(vertices, places, 13);
  memcpy(vertices + 13, numbers, 72);
  binary b = begin_binary(7400);
  size_t list = begin_element(&b, "Objects", "", 0);
  size_t mesh = begin_element(&b, "Geometry", "L\12\0\0\0\0\0\0\0", 9);
  put_element(&b, "Vertices", vertices, sizeof vertices);
  put_element(&b, "PolygonVertexIndex", corners, 25);
  put_element(&b, "Edges", "b\2\0\0\0\0\0\0\0\2\0\0\0\1\0", 15);
  put_element(&b, "Weight", "F\0\0\200\77", 5);
  put_element(&b, "Number", "Y\1\0", 3);
  put_element(&b, "Switch", "C\1", 2);
  end_element(&b, mesh);
  put_element(&b, "Model", "I\24\0\0\0", 5);
  end_element(&b, list);
  end_binary(&b);
  sn_gltf gltf = load_well(scratch_write("all.fbx", b.bytes, b.size));
  assert_int_equal(gltf.node_count, 1);
  sn_gltf_destroy(&gltf);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mistakes_in_collada_files_have_lines),
      cmocka_unit_test(polygons_of_a_collada_file_come_in_lists),
      cmocka_unit_test(x_may_be_up),
      cmocka_unit_test(numbers_of_a_collada_array_may_be_counted_wrongly),
      cmocka_unit_test(materials_of_a_collada_file_have_names),
      cmocka_unit_test(a_skin_of_a_collada_file_may_lack_parts),
      cmocka_unit_test(nodes_of_a_collada_file_may_have_several_meshes),
      cmocka_unit_test(single_numbers_of_a_collada_node_move),
      cmocka_unit_test(channels_that_move_no_node_are_left_out),
      cmocka_unit_test(mistakes_in_fbx_numbers_are_named),
      cmocka_unit_test(polygons_of_an_fbx_file_may_lack_corners_and_materials),
      cmocka_unit_test(texture_coordinates_of_an_fbx_file_are_an_ornament),
      cmocka_unit_test(tangents_of_an_fbx_curve_are_found),
      cmocka_unit_test(clips_of_an_fbx_file_have_their_own_rate_and_layers),
      cmocka_unit_test(pivots_of_an_fbx_node_hold),
      cmocka_unit_test(values_of_a_binary_fbx_file_that_end_early_are_refused),
      cmocka_unit_test(elements_of_a_binary_fbx_file_stay_within_one_another),
      cmocka_unit_test(all_types_of_a_binary_fbx_file_are_read),
  };
  return cmocka_run_group_tests(tests, make_scratch_folder, remove_scratch_folder);
}
