"""export.py SINEW SOURCE FOLDER: a run of two bodies, exported to every format and read by other programs.

Our own eyes check what is in the files; the Khronos validator and Blender look at GLB, Blender's Mesh Cache
modifier at PC2 and MDD, tinyusdz at USDA. What is not installed is skipped and said.
"""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

SINEW = os.path.abspath(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2]).resolve()
FOLDER = pathlib.Path(sys.argv[3]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
FRAMES = 70  # more than a chunk of morph targets


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def box(offset, dressed):
    """A box of quads; dressed, with two materials, two groups and a texture seam along every edge."""
    lines = [f"v {x + offset} {y} {z}" for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    faces = ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"]
    if not dressed:
        return "\n".join(lines + ["f " + face for face in faces]) + "\n"
    for k in range(6):
        lines += [f"vt {(k + u) / 8} {v / 2}" for u, v in ((0, 0), (1, 0), (1, 1), (0, 1))]
    for k, face in enumerate(faces):
        if k == 0:
            lines += ["g ends caps", "usemtl dark skin"]
        if k == 2:
            lines += ["g sides", "usemtl light"]
        lines.append("f " + " ".join(f"{v}/{4 * k + i + 1}" for i, v in enumerate(face.split())))
    return "\n".join(lines) + "\n"


def bone(name, x):
    return {"name": name, "capsule": {"from": [x + 0.3, 0.5, 0.5], "to": [x + 0.7, 0.5, 0.5], "radius": 0.2},
            "motion": [{"frame": 1}, {"frame": FRAMES, "rotate": [0, 0, 0.7071068, 0.7071068],
                                      "translate": [0, 0.5, 0.25]}]}


def sinew(*words):
    result = subprocess.run([SINEW, *words], cwd=FOLDER, capture_output=True, text=True, timeout=300)
    expect(result.returncode == 0, f"sinew {' '.join(words)}: exit code {result.returncode}: {result.stderr}")
    return result


def make_run():
    (FOLDER / "dressed.obj").write_text(box(0, True))
    (FOLDER / "plain.obj").write_text(box(4, False))
    scene = {"mode": "quasistatic", "frames": [1, FRAMES], "fps": 24,
             "bodies": [{"surface": "dressed.obj", "cell": 0.5}, {"surface": "plain.obj", "cell": 0.5}],
             "bones": [bone("a", 0), bone("b", 4)],
             "attachments": [{"body": "dressed", "bone": "a"}, {"body": "plain", "bone": "b"}],
             "output": {"formats": ["pc2", "mdd"], "checkpoint_every": FRAMES}}
    (FOLDER / "scene.json").write_text(json.dumps(scene))
    sinew("run", "scene.json", "-o", "run", "--quiet")
    expect(all((FOLDER / "run" / name).exists() for name in ("dressed.mdd", "plain.mdd", "result.json")),
           "the run did not export what its scene asks for")


def pc2(path):
    data = path.read_bytes()
    count, frames = struct.unpack("<i", data[16:20])[0], struct.unpack("<i", data[28:32])[0]
    values = struct.unpack(f"<{3 * count * frames}f", data[32:])
    return [[values[3 * (f * count + v):3 * (f * count + v) + 3] for v in range(count)] for f in range(frames)]


def mdd_holds_the_positions(frames):
    data = (FOLDER / "run/dressed.mdd").read_bytes()
    sinew("export", "run", "--to", "mdd", "-o", "caches")
    expect(data == (FOLDER / "caches/dressed.mdd").read_bytes(), "the run and the command export different bytes")
    frame_count, count = struct.unpack(">ii", data[:8])
    expect((frame_count, count) == (FRAMES, 8), f"{frame_count} frames of {count} points in the MDD file")
    times = struct.unpack(f">{frame_count}f", data[8:8 + 4 * frame_count])
    expect(all(abs(t - k / 24) < 1e-6 for k, t in enumerate(times)), "times of the MDD file")
    values = struct.unpack(f">{3 * count * frame_count}f", data[8 + 4 * frame_count:])
    flat = tuple(x for frame in frames for p in frame for x in p)
    expect(values == flat, "positions of the MDD file")


def obj_and_ply_hold_the_surface(frames):
    listed = sinew("export", "run", "--to", "obj", "--body", "dressed", "--frames", "2:3").stdout.split()
    expect(listed == ["run/obj/dressed_0002.obj", "run/obj/dressed_0003.obj"], f"files written: {listed}")
    text = (FOLDER / "run/obj/dressed_0003.obj").read_text()
    for line in ("g ends caps", "g sides", "usemtl dark skin", "usemtl light"):
        expect(line + "\n" in text, f"{line!r} is not in the OBJ file")
    points = [tuple(map(float, line.split()[1:])) for line in text.splitlines() if line.startswith("v ")]
    expect(points == [tuple(float(f"{x:.9g}") for x in p) for p in frames[2]], "positions of the OBJ file")
    expect(sum(line.startswith("f ") and line.count("/") == 4 for line in text.splitlines()) == 6, "faces")
    sinew("export", "run", "--to", "ply", "--body", "plain", "--frames", "3:3")
    data = (FOLDER / "run/ply/plain_0003.ply").read_bytes()
    head, body = data.split(b"end_header\n", 1)
    expect(b"element vertex 8\n" in head and b"element face 6\n" in head, "header of the PLY file")
    expect(len(body) == 8 * 12 + 6 * 17, "size of the PLY file")


def read_usda(path):
    """Strictly what our writer writes: prims, and the samples of points and extents."""
    meshes, at = {}, None
    for line in path.read_text().splitlines():
        prim = re.fullmatch(r'    def Mesh "(\w+)"(?: \()?', line)
        if prim:
            meshes[prim[1]] = at = {"points": {}, "extent": {}}
        opened = re.fullmatch(r"        (?:point3f|float3)\[\] (points|extent)\.timeSamples = \{", line)
        if opened:
            kind = opened[1]
        sample = re.fullmatch(r"            (\d+): \[(.*?)\]?,", line)
        more = re.fullmatch(r"                (\(.*\))\]?,?", line)
        if sample:
            frame = int(sample[1])
            at[kind][frame] = []
        text = sample[2] if sample else more[1] if more and at else None
        if text:
            at[kind][frame] += [tuple(map(float, t.split(","))) for t in re.findall(r"\(([^)]*)\)", text)]
    return meshes


def usda_is_what_usd_wants(frames):
    sinew("export", "run", "--to", "usda")
    path = FOLDER / "run/scene.usda"
    meshes = read_usda(path)
    expect(set(meshes) == {"dressed", "plain"}, f"meshes of the USDA file: {set(meshes)}")
    for mesh in meshes.values():
        expect(sorted(mesh["points"]) == list(range(1, FRAMES + 1)) == sorted(mesh["extent"]), "time samples")
        for frame, points in mesh["points"].items():
            lo = tuple(min(p[k] for p in points) for k in range(3))
            hi = tuple(max(p[k] for p in points) for k in range(3))
            expect(mesh["extent"][frame] == [lo, hi], f"extent of frame {frame}")
    written = [[struct.unpack("f", struct.pack("f", x))[0] for x in p] for p in meshes["dressed"]["points"][7]]
    expect(written == [list(p) for p in frames[6]], "points of frame 7 do not read back to their bits")
    package = SOURCE / "node_modules/tinyusdz"
    if not shutil.which("node") or not package.is_dir():
        print("skipped: no node, or no tinyusdz in node_modules (tools/deps.sh installs it)")
        return
    result = subprocess.run(["node", str(HERE / "export_usda.mjs"), str(package), str(path)],
                            capture_output=True, text=True, timeout=100)
    expect(result.returncode == 0, f"tinyusdz: {result.stdout}{result.stderr}")
    found = json.loads(result.stdout.splitlines()[-1])
    for name in ("dressed", "plain"):
        expect(found[name]["samples"] == FRAMES, f"tinyusdz finds {found[name]['samples']} samples")
        expect(found[name]["points"] == [8] * FRAMES, f"tinyusdz finds {set(found[name]['points'])} points")
    subsets = found["dressed"]["subsets"]
    expect(sorted(subsets) == ["caps", "dark_skin", "ends", "light", "sides"], f"subsets {subsets}")
    print(f"tinyusdz: {FRAMES} samples of 8 points a body, subsets {', '.join(subsets)}")


def glb_passes_the_validator():
    sinew("export", "run", "--to", "glb")
    data = (FOLDER / "run/scene.glb").read_bytes()
    size, = struct.unpack("<I", data[12:16])
    document = json.loads(data[20:20 + size])
    names = {mesh["name"]: len(mesh["primitives"]) for mesh in document["meshes"]}
    expect(names == {"dressed_0001_0065": 2, "dressed_0065_0070": 2, "plain_0001_0065": 1, "plain_0065_0070": 1},
           f"meshes of the GLB file: {names}")
    expect([m["name"] for m in document["materials"]] == ["dark skin", "light"], "materials of the GLB file")
    expect(all("TEXCOORD_0" in p["attributes"] for p in document["meshes"][0]["primitives"]), "TEXCOORD_0")
    package = SOURCE / "node_modules/gltf-validator"
    if not shutil.which("node") or not package.is_dir():
        print("skipped: no node, or no gltf-validator in node_modules (tools/deps.sh installs it)")
        return
    sinew("export", "run", "--to", "glb", "--frames", "5:5", "-o", "one.glb")
    result = subprocess.run(["node", str(HERE / "gltf_validator.js"), str(package),
                             str(FOLDER / "run/scene.glb"), str(FOLDER / "one.glb")],
                            capture_output=True, text=True, timeout=100)
    print(result.stdout.strip())
    expect(result.returncode == 0, f"gltf-validator: {result.stdout}{result.stderr}")


def blender_sees_the_same_motion():
    blender = shutil.which("blender")
    if not blender:
        print("skipped: no blender")
        return
    # Debian's Blender looks for the modules of the first python3 on the path; its own are the system's.
    system = dict(os.environ, PATH="/usr/bin:/bin")
    result = subprocess.run([blender, "-b", "--factory-startup", "--python-exit-code", "1", "-P",
                             str(HERE / "export_blender.py"), "--", str(FOLDER / "run"), str(FRAMES)],
                            capture_output=True, text=True, timeout=200, env=system)
    told = [line for line in result.stdout.splitlines() if line.startswith("blender: ")]
    print("\n".join(told))
    expect(result.returncode == 0 and told, f"blender: {result.stdout}{result.stderr}")


def a_run_without_its_input_is_exported_all_the_same():
    (FOLDER / "dressed.obj").rename(FOLDER / "away.obj")
    result = sinew("export", "run", "--to", "obj", "--body", "dressed", "--frames", "3:3", "-o", "again")
    expect("run/dressed.obj instead" in result.stderr, f"not said: {result.stderr}")
    expect((FOLDER / "again/dressed_0003.obj").read_bytes() == (FOLDER / "run/obj/dressed_0003.obj").read_bytes(),
           "BODY.obj lost groups or texture coordinates")


def wrong_use_is_explained():
    for words, code, parts in (
            (["export", "nowhere", "--to", "mdd"], 2, ["nowhere", "expected"]),
            (["export", "again", "--to", "mdd"], 2, ["again/scene.json", "is not there"]),
            (["export", "run", "--to", "glbb"], 1, ["glbb", 'did you mean "glb"']),
            (["export", "run", "--to", "pc2"], 1, ["run/dressed.pc2", "PC2 already"]),
            (["export", "run", "--to", "mdd", "--body", "plane"], 1, ["plane", "plain"]),
            (["export", "run", "--to", "mdd", "--frames", "60:80"], 1, ["60 to 80", "1 to 70"]),
            (["export", "run", "--to", "mdd", "-o", "x.mdd"], 1, ["x.mdd", "2 bodies"]),
            (["export", "run", "--to", "mdd", "--scale", "-1"], 1, ["--scale", "above 0"]),
            (["export", "run", "--to", "mdd", "--axes", "up"], 1, ["--axes", "y-up or z-up"])):
        result = subprocess.run([SINEW, *words], cwd=FOLDER, capture_output=True, text=True, timeout=100)
        expect(result.returncode == code, f"{words}: exit code {result.returncode}, expected {code}")
        for part in parts:
            expect(part in result.stderr, f"{words}: {part!r} is not in {result.stderr!r}")


make_run()
positions = pc2(FOLDER / "run/dressed.pc2")
mdd_holds_the_positions(positions)
obj_and_ply_hold_the_surface(positions)
usda_is_what_usd_wants(positions)
glb_passes_the_validator()
blender_sees_the_same_motion()
a_run_without_its_input_is_exported_all_the_same()
wrong_use_is_explained()
print("export: all formats")
