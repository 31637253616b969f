#!/usr/bin/env python3
"""make_seeds.py [FOLDER]: writes the seeds of all fuzz targets, a few small files each, from this text alone.

What a fuzzer starts from decides what it reaches: every format, type and keyword that the readers know should be in one
of these.
"""
import base64
import json
import pathlib
import struct
import sys
import zlib

OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "seeds")

CORNERS = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
TRIANGLES = [t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))]


def write(target, name, content):
    folder = OUT / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)


# ---- Scenes


def scenes():
    body = {"surface": "box.obj", "cell": 0.25}
    write("scene", "drop", json.dumps({"bodies": [{"surface": "box.obj"}], "colliders": [{"shape": "plane"}]}))
    write("scene", "arm", json.dumps({
        "sinew": 1, "unit": 0.5, "up": "z", "fps": 25, "frames": [1, 24], "substeps": 2, "max_substeps": 4,
        "preroll": 3, "gravity": [0, 0, -9.81], "mode": "quasistatic", "bodies": [body],
        "bones": [{"name": "bone", "capsule": {"from": [0.2, 0.5, 0.5], "to": [0.8, 0.5, 0.5], "radius": 0.1},
                   "motion": [{"frame": 1}, {"frame": 24, "translate": [0, 0.5, 0], "rotate": [0, 0, 0.5, 0.866],
                                             "pivot": [0, 0.5, 0.5]}]},
                  {"name": "soft", "mesh": "small.obj", "motion": {"from": "move.pc2"}}],
        "attachments": [{"bone": "bone", "where": {"near": 0.1}, "stiffness": 50}, {"bone": "soft"}]}))
    write("scene", "all", json.dumps({
        "frames": [1, 2],
        "bodies": [dict(body, name="a", coarsen=1, quadrature=2, least_fill=0.02, embedding="tricubic", density=1000,
                        damping=0.01, drag=0.1, pose={"from": "move.pc2"},
                        material={"model": "neo-hookean", "young": 1e4, "poisson": 0.45, "limit": 0.2},
                        regions=[{"name": "core", "mesh": "small.obj", "material": "fat", "weight": 0.5,
                                  "stiffness": 2}],
                        maps={"stiffness": "map.csv", "grip": "map.csv", "density": None},
                        initial={"translate": [0, 1, 0], "rotate": [0, 0, 0, 1], "velocity": [0, 1, 0]}),
                   dict(body, name="b", material={"model": "mooney-rivlin", "c10": 3e3, "c01": 1e3, "kappa": 6e4},
                        initial={"scramble": {"kind": "random", "amount": 0.5, "seed": 7}})],
        "attachments": [{"body": "a", "to": "pose", "where": {"map": "grip", "above": 0.6}}],
        "fixed": [{"body": "a", "where": {"box": [[-1, -1, -1], [2, 0.1, 2]]}, "axes": "xy"},
                  {"body": "b", "where": {"group": "ends"}, "motion": [{"frame": 1}, {"frame": 2, "translate": [0.1, 0, 0]}]}],
        "forces": [{"body": "a", "where": {"group": "ends"}, "force": [1, 0, 0]},
                   {"body": "b", "traction": [{"frame": 1, "value": [0, 0, 0]}, {"frame": 2, "value": [0, 9, 0]}]}],
        "muscles": [{"name": "m", "body": "a", "mesh": "small.obj", "fibers": {"along": [[0, 0, 0], [1, 0, 0]]},
                     "activation": [{"frame": 1, "value": 0}, {"frame": 2, "value": 1}], "max_stress": 1e5,
                     "tendon": 0.1}],
        "colliders": [{"shape": "plane", "position": [0, -1, 0], "normal": [0, 1, 0], "friction": 0.5},
                      {"shape": "sphere", "position": [0, -2, 0], "radius": 1},
                      {"shape": "box", "position": [3, 0, 0], "half": [1, 1, 1], "stiffness": 100},
                      {"shape": "capsule", "from": [0, 3, 0], "to": [1, 3, 0], "radius": 0.1},
                      {"mesh": "small.obj", "motion": [{"frame": 1, "translate": [0, 4, 0]}]}],
        "contact": {"self": True, "stiffness": 500, "friction": 0.3, "thickness": 0.01, "ignore": [["a", "b"]]},
        "solver": {"linear": "multigrid", "newton": {"max": 3, "tolerance": 1e-3},
                   "krylov": {"max": 20, "tolerance": 1e-2}, "threads": 1},
        "output": {"formats": ["glb"], "fields": ["strain", "J"], "checkpoint_every": 2}}))
    for kind in ("point", "line", "plane", "mirror"):
        write("scene", "scramble_" + kind, json.dumps(
            {"gravity": 0, "bodies": [dict(body, initial={"scramble": {"kind": kind}})]}))
    for linear in ("multigrid-only", "cg", "jacobi-cg", "minres", "qmr", "macroblock"):
        write("scene", "solver_" + linear, json.dumps(
            {"bodies": [dict(body, material={"model": "stable-neo-hookean", "poisson": 0.499})],
             "solver": {"linear": linear}, "fixed": [{"where": {"box": [[-1, -1, -1], [2, 0.1, 2]]}}]}))
    for model in ("corotated", "fixed-corotated", "stvk", "biphasic"):
        write("scene", "law_" + model, json.dumps(
            {"mode": "quasistatic", "bodies": [dict(body, material={"model": model, "mu": 4e3, "lambda": 2e4})]}))
    write("scene", "muscle_solve", json.dumps(
        {"bodies": [body], "muscles": [{"mesh": "small.obj", "fibers": "solve", "activation": 0.5}],
         "fixed": [{"where": {"box": [[-1, -1, -1], [0.1, 2, 2]]}}]}))


# ---- Surfaces


def obj():
    box = "".join("v %g %g %g\n" % c for c in CORNERS)
    quads = "".join("f %d %d %d %d\n" % tuple(i + 1 for i in q) for q in QUADS)
    write("obj", "box", box + quads)
    write("obj", "triangles", "# comment\no thing\n" + box +
          "".join("f %d %d %d\n" % tuple(i + 1 for i in t) for t in TRIANGLES))
    write("obj", "groups", "mtllib a.mtl\n" + box + "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvn 0 0 1\ng one two\nusemtl red\n"
          "f 1/1/1 3/2/1 4/3/1 2/4/1\ns 1\ng\nusemtl blue\nf 5//1 6//1 8//1 7//1\nf -8/1 -7/2 -3/3 -4/4\n"
          "f 3 7 8 4\nf 1 5 7 3\nf 2 4 8 \\\n6\n")
    write("obj", "numbers", "v 0 0 0 1\nv 1e0 -0.0 +0 0.5 0.5 0.5\nv .5 1. 0\r\nv 5e-1 5E-1 1\rl 1 2\np 1\n"
          "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    write("obj", "ngon", "".join("v %g %g 0\n" % p for p in ((0, 0), (4, 0), (4, 4), (2, 1), (0, 4))) +
          "v 2 1 3\nf 5 4 3 2 1\n" + "".join("f %d %d 6\n" % (i + 1, (i + 1) % 5 + 1) for i in range(5)))
    write("obj", "open", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n")


def ply():
    def header(form, extra="", face="list uchar int vertex_indices", vertex="float"):
        return ("ply\nformat %s 1.0\ncomment made by hand\nelement vertex 8\n%s%selement face 6\nproperty %s\n"
                "end_header\n" % (form, "".join("property %s %s\n" % (vertex, a) for a in "xyz"), extra, face))
    rows = "".join("%g %g %g\n" % c for c in CORNERS)
    faces = "".join("4 %d %d %d %d\n" % q for q in QUADS)
    write("ply", "ascii", header("ascii") + rows + faces)
    write("ply", "stiffness", header("ascii", "property double stiffness\n") +
          "".join("%g %g %g %g\n" % (c + (1.5,)) for c in CORNERS) + faces)
    for form, mark in (("binary_little_endian", "<"), ("binary_big_endian", ">")):
        write("ply", form, header(form, "property uchar red\nproperty float stiffness\n").encode() +
              b"".join(struct.pack(mark + "3fBf", *c, 7, 2.0) for c in CORNERS) +
              b"".join(struct.pack(mark + "B4i", 4, *q) for q in QUADS))
        write("ply", form + "_wide", header(form, "", "list ushort uint vertex_index", "double").encode() +
              b"".join(struct.pack(mark + "3d", *c) for c in CORNERS) +
              b"".join(struct.pack(mark + "H4I", 4, *q) for q in QUADS))
    write("ply", "more_elements",
          "ply\r\nformat ascii 1.0\r\nelement camera 1\r\nproperty list int8 float32 m\r\nproperty int16 n\r\n"
          "element vertex 4\r\nproperty float32 x\r\nproperty float32 y\r\nproperty float32 z\r\nelement face 4\r\n"
          "property list uint8 int32 vertex_indices\r\nproperty list uint8 float texcoord\r\nend_header\r\n"
          "2 1.5 2.5 -3\r\n0 0 0\r\n1 0 0\r\n0 1 0\r\n0 0 1\r\n3 0 2 1 0\r\n3 0 1 3 0\r\n3 1 2 3 0\r\n"
          "3 2 0 3 2 0.5 0.5\r\n")


# ---- glTF


def gltf_parts():
    """A box on two joints that bend it, with a morph target and a map; document and bytes."""
    data, views, accessors = b"", [], []

    def add(form, kind, component, rows, **more):
        nonlocal data
        data += b"\0" * (-len(data) % 4)
        packed = b"".join(struct.pack("<" + form, *row) for row in rows)
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(packed)})
        data += packed
        accessors.append(dict({"bufferView": len(views) - 1, "componentType": component, "count": len(rows),
                               "type": kind}, **more))
        return len(accessors) - 1

    position = add("3f", "VEC3", 5126, CORNERS, min=[0, 0, 0], max=[1, 1, 1])
    joints = add("4B", "VEC4", 5121, [(0, 1, 0, 0)] * 8)
    weights = add("4f", "VEC4", 5126, [(1 - c[1], c[1], 0, 0) for c in CORNERS])
    shift = add("3f", "VEC3", 5126, [(0, 0.1, 0)] * 8, min=[0, 0.1, 0], max=[0, 0.1, 0])
    stiffness = add("f", "SCALAR", 5126, [(1.0 + i,) for i in range(8)])
    uv = add("2H", "VEC2", 5123, [(c[0] * 65535, c[2] * 65535) for c in CORNERS], normalized=True)
    indices = add("H", "SCALAR", 5123, [(i,) for t in TRIANGLES for i in t])
    bind = add("16f", "MAT4", 5126, [(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -y, 0, 1) for y in (0, 0.5)])
    times = add("f", "SCALAR", 5126, [(0,), (0.5,), (1,)], min=[0], max=[1])
    turns = add("4f", "VEC4", 5126, [(0, 0, 0, 1), (0.5, 0, 0, 0.866), (0, 0, 0, 1)])
    cubic = add("3f", "VEC3", 5126, [(0, 0.5, 0)] * 9)
    morphs = add("f", "SCALAR", 5126, [(0,), (1,), (0,)])
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"name": "body", "mesh": 0, "skin": 0}, {"name": "hip", "children": [2]},
                  {"name": "chest", "translation": [0, 0.5, 0]}, {"name": "still", "mesh": 1,
                   "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 3, 0, 0, 1]}],
        "meshes": [{"name": "box", "weights": [0.1], "primitives": [
            {"attributes": {"POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights, "TEXCOORD_0": uv,
                            "_SINEW_STIFFNESS": stiffness},
             "indices": indices, "mode": 4, "material": 0, "targets": [{"POSITION": shift}]}]},
            {"primitives": [{"attributes": {"POSITION": position}, "indices": indices, "mode": 5}]}],
        "materials": [{"name": "skin", "pbrMetallicRoughness": {"baseColorFactor": [1, 0.5, 0.5, 1]}}],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": bind, "skeleton": 1}],
        "animations": [{"name": "bend", "samplers": [
            {"input": times, "output": turns}, {"input": times, "output": cubic, "interpolation": "CUBICSPLINE"},
            {"input": times, "output": morphs, "interpolation": "STEP"}],
            "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}},
                         {"sampler": 1, "target": {"node": 2, "path": "translation"}},
                         {"sampler": 2, "target": {"node": 0, "path": "weights"}}]}],
        "accessors": accessors, "bufferViews": views, "buffers": [{"byteLength": len(data)}]}
    return document, data


def container(document, data):
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text
    if data:
        body += struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def gltf():
    document, data = gltf_parts()
    write("gltf", "rig.glb", container(document, data))
    uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    text = dict(document, buffers=[{"byteLength": len(data), "uri": uri}])
    write("gltf", "rig.gltf", json.dumps(text, separators=(",", ":")))
    plain = {"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}],
             "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
             "accessors": [{"componentType": 5126, "count": 36, "type": "VEC3", "bufferView": 0}],
             "bufferViews": [{"buffer": 0, "byteLength": 36 * 12 + 4, "byteStride": 12}],
             "buffers": [{"byteLength": 36 * 12 + 4}]}
    rows = b"".join(struct.pack("<3f", *CORNERS[i]) for t in TRIANGLES for i in t)
    write("gltf", "plain.glb", container(plain, rows + b"\0" * 4))
    sparse = {"asset": {"version": "2.0"}, "nodes": [{"mesh": 0, "scale": [2, 2, 2]}],
              "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
              "accessors": [{"componentType": 5126, "count": 4, "type": "VEC3", "sparse": {
                  "count": 3, "indices": {"bufferView": 0, "componentType": 5121}, "values": {"bufferView": 1}}},
                  {"componentType": 5121, "count": 12, "type": "SCALAR", "bufferView": 2}],
              "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 3},
                              {"buffer": 0, "byteOffset": 4, "byteLength": 36},
                              {"buffer": 0, "byteOffset": 40, "byteLength": 12}],
              "buffers": [{"byteLength": 52}]}
    data = bytes((1, 2, 3, 0)) + struct.pack("<9f", 1, 0, 0, 0, 1, 0, 0, 0, 1)
    data += bytes((0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3))
    write("gltf", "sparse.glb", container(sparse, data))


# ---- Other characters


def fbx_text():
    corners = ",".join("%g,%g,%g" % c for c in CORNERS)
    polygons = ",".join("%d,%d,%d,%d" % (a, b, c, -d - 1) for a, b, c, d in QUADS)
    return (
        "; FBX 7.4.0 project file\nFBXHeaderExtension: {\n\tFBXVersion: 7400\n}\nGlobalSettings: {\n\tProperties70: {\n"
        '\t\tP: "UpAxis", "int", "Integer", "",1\n\t\tP: "UnitScaleFactor", "double", "Number", "",100\n\t}\n}\n'
        'Objects: {\n\tGeometry: 10, "Geometry::", "Mesh" {\n\t\tVertices: *24 {\n\t\t\ta: ' + corners +
        "\n\t\t}\n\t\tPolygonVertexIndex: *24 {\n\t\t\ta: " + polygons + "\n\t\t}\n\t}\n"
        '\tModel: 20, "Model::Body", "Mesh" {\n\t}\n\tModel: 30, "Model::Hip", "LimbNode" {\n\t}\n'
        '\tModel: 40, "Model::Chest", "LimbNode" {\n\t\tProperties70: {\n'
        '\t\t\tP: "Lcl Translation", "Lcl Translation", "", "A",0,0.5,0\n'
        '\t\t\tP: "RotationOrder", "enum", "", "",2\n\t\t}\n\t}\n'
        '\tDeformer: 60, "Deformer::", "Skin" {\n\t}\n\tDeformer: 61, "SubDeformer::", "Cluster" {\n'
        "\t\tIndexes: *4 {\n\t\t\ta: 0,1,4,5\n\t\t}\n\t\tWeights: *4 {\n\t\t\ta: 1,1,1,1\n\t\t}\n"
        "\t\tTransform: *16 {\n\t\t\ta: 1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1\n\t\t}\n\t}\n"
        '\tDeformer: 62, "SubDeformer::", "Cluster" {\n\t\tIndexes: *4 {\n\t\t\ta: 2,3,6,7\n\t\t}\n'
        "\t\tWeights: *4 {\n\t\t\ta: 1,1,1,1\n\t\t}\n"
        "\t\tTransform: *16 {\n\t\t\ta: 1,0,0,0,0,1,0,0,0,0,1,0,0,-0.5,0,1\n\t\t}\n\t}\n"
        '\tAnimationStack: 70, "AnimStack::Turn", "" {\n\t}\n\tAnimationLayer: 71, "AnimLayer::Base", "" {\n\t}\n'
        '\tAnimationCurveNode: 72, "AnimCurveNode::R", "" {\n\t}\n'
        '\tAnimationCurve: 74, "AnimCurve::", "" {\n\t\tKeyTime: *3 {\n\t\t\ta: 0,23093079000,46186158000\n\t\t}\n'
        "\t\tKeyValueFloat: *3 {\n\t\t\ta: 0,60,0\n\t\t}\n\t\tKeyAttrFlags: *2 {\n\t\t\ta: 8,4\n\t\t}\n"
        "\t\tKeyAttrDataFloat: *8 {\n\t\t\ta: 1,2,0,0,0,0,0,0\n\t\t}\n\t\tKeyAttrRefCount: *2 {\n\t\t\ta: 1,2\n\t\t}\n"
        '\t}\n}\nConnections: {\n\tC: "OO",20,0\n\tC: "OO",30,0\n\tC: "OO",40,30\n\tC: "OO",10,20\n\tC: "OO",60,10\n'
        '\tC: "OO",61,60\n\tC: "OO",62,60\n\tC: "OO",30,61\n\tC: "OO",40,62\n\tC: "OO",71,70\n\tC: "OO",72,71\n'
        '\tC: "OP",72,40, "Lcl Rotation"\n\tC: "OP",74,72, "d|X"\n}\n')


def fbx_binary():
    """The mesh alone, with packed and plain arrays, as version 7400 has it."""
    def prop(value):
        if isinstance(value, str):
            return b"S" + struct.pack("<I", len(value)) + value.encode()
        if isinstance(value, int):
            return b"L" + struct.pack("<q", value)
        kind, numbers = value
        raw = struct.pack("<%d%s" % (len(numbers), kind), *numbers)
        packed = zlib.compress(raw)
        if kind == "d":
            return b"d" + struct.pack("<III", len(numbers), 1, len(packed)) + packed
        return b"i" + struct.pack("<III", len(numbers), 0, len(raw)) + raw

    def node(name, values, children, at):
        properties = b"".join(prop(v) for v in values)
        begin = at + 13 + len(name) + len(properties)
        inner = b""
        for child in children:
            inner += node(*child, at=begin + len(inner))
        if children:
            inner += b"\0" * 13
        return struct.pack("<III", begin + len(inner), len(values), len(properties)) + \
            struct.pack("B", len(name)) + name.encode() + properties + inner

    vertices = ("d", [float(x) for c in CORNERS for x in c])
    polygons = ("i", [i for a, b, c, d in QUADS for i in (a, b, c, -d - 1)])
    top = [("Objects", [], [("Geometry", [10, "\0\1Geometry", "Mesh"],
                             [("Vertices", [vertices], []), ("PolygonVertexIndex", [polygons], [])]),
                            ("Model", [20, "Body\0\1Model", "Mesh"], [])]),
           ("Connections", [], [("C", ["OO", 10, 20], []), ("C", ["OO", 20, 0], [])])]
    data = b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 7400)
    for entry in top:
        data += node(*entry, at=len(data))
    return data + b"\0" * 13


def dae():
    def source(name, values, stride, kind="float"):
        array = "Name_array" if kind == "name" else "float_array"
        return ('<source id="%s"><%s id="%sa" count="%d">%s</%s><technique_common><accessor source="#%sa" count="%d" '
                'stride="%d"><param type="%s"/></accessor></technique_common></source>\n' %
                (name, array, name, len(values), " ".join(map(str, values)), array, name, len(values) // stride,
                 stride, kind))
    unit = "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1"
    polygons = " ".join(str(i) for q in QUADS for i in q)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<COLLADA version="1.4.1"><!-- by hand -->\n'
        '<asset><unit meter="0.5"/><up_axis>Y_UP</up_axis></asset>\n<library_geometries><geometry id="g"><mesh>\n' +
        source("p", [x for c in CORNERS for x in c], 3) +
        '<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>\n<polylist count="6">'
        '<input semantic="VERTEX" source="#v" offset="0"/><vcount>4 4 4 4 4 4</vcount><p>' + polygons +
        "</p></polylist>\n</mesh></geometry></library_geometries>\n"
        '<library_controllers><controller id="c"><skin source="#g"><bind_shape_matrix>' + unit +
        "</bind_shape_matrix>\n" + source("j", ["hip"], 1, "name") + source("b", unit.split(), 16) +
        source("w", [1, 0.5], 1) +
        '<joints><input semantic="JOINT" source="#j"/><input semantic="INV_BIND_MATRIX" source="#b"/></joints>\n'
        '<vertex_weights count="8"><input semantic="JOINT" source="#j" offset="0"/><input semantic="WEIGHT" '
        'source="#w" offset="1"/><vcount>1 1 1 1 1 1 1 1</vcount><v>0 0 0 0 0 0 0 0 0 1 0 1 0 1 0 1</v>'
        "</vertex_weights></skin></controller></library_controllers>\n"
        '<library_animations><animation id="a">\n' + source("t", [0, 1], 1) + source("o", [0, 1], 1) +
        source("i", ["LINEAR", "BEZIER"], 1, "name") +
        '<sampler id="s"><input semantic="INPUT" source="#t"/><input semantic="OUTPUT" source="#o"/>'
        '<input semantic="INTERPOLATION" source="#i"/></sampler><channel source="#s" target="h/move.X"/>\n'
        '</animation></library_animations>\n<library_visual_scenes><visual_scene id="scene">\n'
        '<node id="h" sid="hip" name="Hip" type="JOINT"><translate sid="move">0 0 0</translate>'
        '<rotate sid="rx">1 0 0 30</rotate><scale>1 1 1</scale></node>\n'
        '<node id="body" name="B&amp;y &#65;"><instance_controller url="#c"><skeleton>#h</skeleton>'
        "</instance_controller></node></visual_scene></library_visual_scenes>\n"
        '<scene><instance_visual_scene url="#scene"/></scene></COLLADA>\n')


def foreign():
    write("foreign", "text.fbx", fbx_text())
    write("foreign", "binary.fbx", fbx_binary())
    write("foreign", "skin.dae", dae())
    write("foreign", "walk.bvh",
          "HIERARCHY\nROOT Hips {\n  OFFSET 1 2 3\n  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation "
          "Yrotation\n  JOINT Arm\n  {\n    OFFSET 0 1 0\n    CHANNELS 3 Xrotation Yrotation Zrotation\n"
          "    End Site\n    {\n      OFFSET 0 0.5 0\n    }\n  }\n}\nMOTION\nFrames: 2\nFrame Time: .25\n"
          "0 10 0 30 0 20 0 0 0\n90 10 0 30 0 21 0 90 90\n")


# ---- Caches


def cache():
    frames = [[(x, y + 0.1 * f, z) for x, y, z in CORNERS] for f in range(3)]
    for name, first, step in (("one", 1.0, 1.0), ("late", 5.0, 1.0), ("half", 1.0, 0.5)):
        write("cache", name + ".pc2", b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 8, first, step, 3) +
              b"".join(struct.pack("<3f", *p) for frame in frames for p in frame))
    write("cache", "lies.pc2", b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 8, 1.0, 1.0, 1 << 30) + b"\0" * 96)
    write("cache", "one.mdd", struct.pack(">ii", 3, 8) + struct.pack(">3f", 0, 1 / 24, 2 / 24) +
          b"".join(struct.pack(">3f", *p) for frame in frames for p in frame))


# ---- Checkpoints, as edits of one that the target makes; and requests


def checkpoint():
    write("checkpoint", "good", b"\x01")
    write("checkpoint", "one_bit", b"\x01" + struct.pack("<HB", 100, 1))
    write("checkpoint", "behind_the_checksum", b"\x03" + struct.pack("<HBHBHB", 38, 0x7f, 39, 0x7f, 800, 0xff))
    write("checkpoint", "head", b"\x03" + struct.pack("<HBHB", 12, 0xff, 24, 0x10))
    write("checkpoint", "short", b"\x06" + b"\0" * 64)
    write("checkpoint", "empty", b"\x00")
    for name, number in (("infinite", float("inf")), ("nan", float("nan")), ("huge", 1e300), ("large", 1e6),
                         ("zero", 0.0)):
        write("checkpoint", name, b"\x18" + struct.pack("<d", number))
        write("checkpoint", "one_" + name, b"\x30" + struct.pack("<Hd", 7, number))
    write("checkpoint", "not_packed", b"\x0a" + struct.pack("<d", 1.0))
    write("checkpoint", "another_frame", b"\x11" + struct.pack("<HBHB", 12, 0x03, 16, 0x01))
    write("checkpoint", "numbers", b"\x30" + b"".join(struct.pack("<Hd", 5 * i, 1e-3 * i) for i in range(12)))


def http():
    for name, path in (
            ("page", "/"), ("runs", "/api/runs"), ("scene", "/api/0/scene"), ("stats", "/api/0/stats?from=1"),
            ("messages", "/api/0/messages"), ("result", "/api/1/result"), ("surface", "/api/0/body/0/surface"),
            ("frame", "/api/0/body/1/frame/2"), ("skinned", "/api/0/body/0/skinned/1"),
            ("cells", "/api/0/body/0/cells"), ("fields", "/api/0/body/0/fields/1?names=strain,J"),
            ("range", "/api/0/body/0/range?field=stress"), ("vertex", "/api/0/body/0/vertex/7"),
            ("cell", "/api/0/body/0/cell/3?frame=2"), ("defects", "/api/0/body/0/defects"),
            ("muscles", "/api/0/body/0/muscles"), ("muscle", "/api/0/body/0/muscle/0"),
            ("attachments", "/api/0/attachments/0"), ("bones", "/api/0/bones/surface"),
            ("bones_frame", "/api/0/bones/frame/1"), ("colliders", "/api/0/colliders/surface"),
            ("colliders_frame", "/api/0/colliders/frame/2"), ("up", "/api/0/../../etc/passwd"),
            ("large", "/api/4294967296/body/00/frame/99999999999")):
        write("http", name, path)


for make in (scenes, obj, ply, gltf, foreign, cache, checkpoint, http):
    make()
