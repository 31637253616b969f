"""flesh.py SOURCE SINEW CREATURE DISTANCE [--all | FILE...]: `sinew flesh` from a rig to its flesh.

Without more words: rigs made here, good and bad, the demo character and a few of the assets folder, in large
cells and few frames. With files, or --all for everything that the assets folder has, each with no option at all:
every frame of its first clip is there, all numbers are finite, and the skin is near the skinned pose: the median
of the distances is at most 2 %, the 99th percentile at most 10 % of the diagonal.
"""
import base64
import glob
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

MEDIAN, P99 = 0.02, 0.10
problems = []


def check(good, text):
    print(("ok    " if good else "WRONG ") + text, flush=True)
    if not good:
        problems.append(text)


# Rigs


def bar(rings=9, length=1.0, half=0.1):
    """A closed bar along y, and how much of each vertex is above its middle."""
    points, triangles = [], []
    for i in range(rings):
        for x, z in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
            points.append((half * x, length * i / (rings - 1), half * z))
    for i in range(rings - 1):
        for k in range(4):
            a, b = 4 * i + k, 4 * i + (k + 1) % 4
            triangles += [(a, a + 4, b), (b, a + 4, b + 4)]
    top = 4 * (rings - 1)
    triangles += [(0, 1, 2), (0, 2, 3), (top, top + 2, top + 1), (top, top + 3, top + 2)]
    return points, triangles


def write_rig(path, skin=True, clip=True, loose=0, shift=0.0, scale=1.0, mesh=True, move_mesh=False):
    """Two joints in a bar, the upper one bends by 60 degrees within half a second.

    loose: so many vertices have no weights; shift: the joints are that far beside the bar;
    scale: of the armature, the mesh in its units; move_mesh: the clip turns the node of the mesh."""
    points, triangles = bar()
    data, views, accessors = b"", [], []

    def add(values, code, kind, component, bounds=False):
        nonlocal data
        blob = b"".join(struct.pack("<" + code * len(v), *v) for v in values)
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(blob)})
        data += blob + b"\0" * (-len(blob) % 4)
        accessor = {"bufferView": len(views) - 1, "componentType": component, "count": len(values), "type": kind}
        if bounds:
            accessor["min"] = [min(v[i] for v in values) for i in range(len(values[0]))]
            accessor["max"] = [max(v[i] for v in values) for i in range(len(values[0]))]
        accessors.append(accessor)
        return len(accessors) - 1

    nodes = [
        {"name": "armature", "children": [1], "scale": [scale] * 3},
        {"name": "lower", "children": [2], "translation": [shift / scale, 0, 0]},
        {"name": "upper", "translation": [0, 0.5 / scale, 0]},
        {"name": "body"},
    ]
    document = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 3]}], "nodes": nodes}
    if mesh:
        points = [tuple(c / scale for c in p) for p in points]
        attributes = {"POSITION": add(points, "f", "VEC3", 5126, True)}
        if skin:
            upper = [min(max((p[1] * scale - 0.4) / 0.2, 0.0), 1.0) for p in points]
            weights = [(1 - u, u, 0, 0) if i >= loose else (0, 0, 0, 0) for i, u in enumerate(upper)]
            attributes["JOINTS_0"] = add([(0, 1, 0, 0)] * len(points), "H", "VEC4", 5123)
            attributes["WEIGHTS_0"] = add(weights, "f", "VEC4", 5126)
            binds = []
            for height in (0.0, 0.5):
                m = [0.0] * 16
                m[0] = m[5] = m[10] = m[15] = 1.0
                m[12], m[13] = -shift / scale, -height / scale
                binds.append(tuple(m))
            document["skins"] = [{"joints": [1, 2], "inverseBindMatrices": add(binds, "f", "MAT4", 5126)}]
            nodes[3]["skin"] = 0
        elif scale != 1.0:
            nodes[3]["scale"] = [scale] * 3
        indices = add([(i,) for t in triangles for i in t], "H", "SCALAR", 5123)
        document["meshes"] = [{"primitives": [{"attributes": attributes, "indices": indices}]}]
        nodes[3]["mesh"] = 0
    if clip:
        half = math.radians(30)
        times = add([(0.0,), (0.5,)], "f", "SCALAR", 5126, True)
        turns = add([(0.0, 0.0, 0.0, 1.0), (0.0, 0.0, math.sin(half), math.cos(half))], "f", "VEC4", 5126)
        target = {"node": 3 if move_mesh else 2, "path": "rotation"}
        document["animations"] = [
            {"name": name, "samplers": [{"input": times, "output": turns}], "channels": [{"sampler": 0, "target": target}]}
            for name in ("bend", "nod")
        ]
    document["accessors"], document["bufferViews"] = accessors, views
    if data:
        uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        document["buffers"] = [{"byteLength": len(data), "uri": uri}]
    else:
        del document["accessors"], document["bufferViews"]
    with open(path, "w") as file:
        json.dump(document, file)


# Runs


def flesh(words, cwd=None):
    run = subprocess.run([sinew, "flesh"] + words, capture_output=True, text=True, cwd=cwd)
    return run.returncode, run.stdout + run.stderr


def measure(character, folder, fps=24):
    cache = glob.glob(os.path.join(folder, "*.pc2"))
    run = subprocess.run([distance, character, cache[0], str(fps)], capture_output=True, text=True)
    return json.loads(run.stdout) if run.returncode == 0 else {"error": run.stdout + run.stderr}


def try_character(character, folder, words, frames=None):
    """Simulate and compare. @return whether all is well"""
    name = os.path.basename(character)
    code, text = flesh([character, "-o", folder] + words)
    if code != 0:
        check(False, "%s: exit code %d: %s" % (name, code, text[-600:]))
        return False
    stats = [json.loads(line) for line in open(os.path.join(folder, "stats.jsonl"))]
    scene = json.load(open(os.path.join(folder, "scene.json")))
    expected = scene["frames"][1] - scene["frames"][0] + 1
    found = measure(character, folder, scene["fps"])
    good = "error" not in found and found["median"] <= MEDIAN and found["p99"] <= P99
    good = good and len(stats) == expected == found["frames"] and (frames is None or expected == frames)
    seconds = sorted(s["seconds"] for s in stats)[len(stats) // 2]
    check(good, "%s: %s; %d cells, %.2f s a frame, Newton steps %d, missed %d of %d" % (
        name, json.dumps(found), stats[0]["elements"], seconds, sum(s["newton"] for s in stats),
        sum(not s["converged"] for s in stats), len(stats)))
    return good


def same_file(a, b):
    return open(a, "rb").read() == open(b, "rb").read()


def test_same_bits(work):
    """The scene that is written gives the same bits, also elsewhere and in any number of threads."""
    os.makedirs(os.path.join(work, "shot"))
    rig = os.path.join(work, "shot", "bar.gltf")
    write_rig(rig)
    words = ["--cell", "0.04", "--frames", "1:5", "--quiet"]
    code, text = flesh([rig, "-o", os.path.join(work, "shot", "a")] + words)
    check(code == 0, "a bar: exit code %d %s" % (code, text))
    code, text = flesh(["bar.gltf", "--write-scene", "bar.json"] + words, cwd=os.path.join(work, "shot"))
    scene = os.path.join(work, "shot", "bar.json")
    check(code == 0 and json.load(open(scene))["bodies"][0]["surface"] == "bar.gltf",
          "--write-scene alone writes a scene with relative paths " + text)
    check(not os.path.exists(os.path.join(work, "shot", "bar.out")), "and simulates nothing")
    far = os.path.join(work, "far.json")
    code, text = flesh([rig, "--write-scene", far] + words)
    for number, path in enumerate((scene, far)):
        folder = os.path.join(work, "b%d" % number)
        run = subprocess.run([sinew, "run", path, "-o", folder, "--threads", "1", "--quiet"], cwd="/")
        check(run.returncode == 0 and same_file(os.path.join(work, "shot", "a", "bar.pc2"), os.path.join(folder, "bar.pc2")),
              "sinew run of %s gives the same bits" % os.path.basename(path))


def test_rigs(work):
    """Rigs as they should be and as they are. Words: what the report must say."""
    cases = [
        ("whole", {}, [], 0, ["flesh", "bend"]),
        ("second clip", {}, ["--clip", "2"], 0, ["nod"]),
        ("named clip", {}, ["--clip", "nod"], 0, ["nod"]),
        ("no such clip", {}, ["--clip", "bent"], 2, ["bent", "did you mean \"bend\"", "nod"]),
        ("no animation", {"clip": False}, ["--frames", "1:3"], 0, ["no animation"]),
        ("clip of none", {"clip": False}, ["--clip", "bend"], 2, ["no animation"]),
        ("loose vertices", {"loose": 4}, [], 0, ["4 vertices without weights", "nearest joint"]),
        # The clip turns it about a far joint: flesh that is torn apart only has to stay finite.
        ("far skeleton", {"shift": 30.0}, [], 0, ["outside"]),
        ("scaled armature", {"scale": 0.01}, [], 0, ["flesh"]),
        ("no skin", {"skin": False}, [], 2, ["none with a skin"]),
        ("moved node", {"skin": False, "move_mesh": True}, [], 0, ["no skin"]),
        ("no mesh", {"mesh": False}, [], 2, ["mesh"]),
        ("loop", {}, ["--loop"], 0, ["flesh"]),
        ("balance", {}, ["--quasistatic", "--no-contact", "--young", "3e4", "--bones", "0.8"], 0, ["flesh"]),
        ("both", {}, ["--material", "fat", "--young", "1e4"], 1, ["one of them"]),
    ]
    for name, rig, words, expected, texts in cases:
        path = os.path.join(work, name.replace(" ", "_") + ".gltf")
        folder = os.path.join(work, name.replace(" ", "_"))
        write_rig(path, **rig)
        frames = [] if "--frames" in words else ["--frames", "1:4"]
        code, text = flesh([path, "-o", folder, "--cell", "0.05"] + frames + words)
        check(code == expected and all(t in text for t in texts), "%s: exit code %d%s" % (
            name, code, "" if code == expected and all(t in text for t in texts) else ": " + text[-700:]))
        if code == 0:
            found = measure(path, folder)
            good = "error" not in found and (found["p99"] <= P99 or name == "far skeleton")
            check(good, "%s: %s" % (name, found))
        else:
            check(not os.path.exists(folder), "%s: leaves no folder" % name)
    path = os.path.join(work, "text.glb")
    with open(path, "w") as file:
        file.write("v 0 0 0\n")
    code, text = flesh([path, "-o", os.path.join(work, "text")])
    check(code == 2 and "text.glb" in text, "not a character: " + text.strip())
    code, text = flesh([os.path.join(work, "absent.glb"), "-o", os.path.join(work, "absent")])
    check(code == 2 and "absent.glb" in text, "no such file: " + text.strip())


def test_motion(work, rigged):
    """Another file's motion, matched by the names of joints; the written scene has it too."""
    man, walk = os.path.join(rigged, "CesiumMan.glb"), os.path.join(rigged, "..", "mocap", "cmu_02_01.bvh")
    if not (os.path.exists(man) and os.path.exists(walk)):
        print("skip  no motion capture is there")
        return
    folder = os.path.join(work, "driven")
    code, text = flesh([man, "--motion", walk, "-o", folder, "--cell", "0.05", "--frames", "1:3"])
    check(code == 0 and "driven by" in text, "CesiumMan.glb walks as cmu_02_01.bvh: " + text[-300:].replace("\n", " "))
    again = os.path.join(work, "driven2")
    run = subprocess.run([sinew, "run", os.path.join(folder, "flesh.json"), "-o", again, "--quiet"])
    check(run.returncode == 0 and same_file(os.path.join(folder, "CesiumMan.pc2"), os.path.join(again, "CesiumMan.pc2")),
          "and its scene gives the same bits")


def main():
    global sinew, distance
    source, sinew, creature, distance = (os.path.abspath(w) for w in sys.argv[1:5])
    rigged = os.path.join(source, "..", "shared", "assets", "rigged")
    files = sys.argv[5:]
    with tempfile.TemporaryDirectory() as work:
        subprocess.run([creature, work], check=True)
        demo = os.path.join(work, "creature.glb")
        if files:
            if files == ["--all"]:
                files = [demo] + sorted(f for f in glob.glob(os.path.join(rigged, "*.*")) + glob.glob(
                    os.path.join(rigged, "ufbx_skin", "*_binary.fbx")))
            for number, file in enumerate(files):
                try_character(file, os.path.join(work, "run%d" % number), [])
        else:
            test_same_bits(work)
            test_rigs(work)
            test_motion(work, rigged)
            try_character(demo, os.path.join(work, "demo"), ["--cell", "0.035", "--frames", "1:4"])
            few = [("RiggedFigure.glb", "0.04"), ("quaternius_puffer.glb", "0.15"), ("quaternius_slime.fbx", "0.2"),
                   ("SimpleSkin.gltf", "0.05")]
            for name, cell in few:
                path = os.path.join(rigged, name)
                if os.path.exists(path):
                    try_character(path, os.path.join(work, name), ["--cell", cell, "--frames", "1:3"])
                else:
                    print("skip  %s is not there" % name)
    if problems:
        print("%d problems" % len(problems))
    return 1 if problems else 0


sys.exit(main())
