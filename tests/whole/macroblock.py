"""macroblock.py SINEW SHAPES ASSETS FOLDER [--pictures] [--only NAME,NAME...]: the scenes of Mitchell et al. (2016) with `"linear": "macroblock"`.

A sheet under nine balls, a ball against a face, the armadillo with held nodes that move, a human with a captured walk:
each without inertia and by backward Euler, and the armadillo of every material. A run must end well, with every frame
within its tolerance; on the armadillo the result is that of multigrid. With --pictures FOLDER/NAME.png shows the last frame of each.
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys

SINEW, SHAPES, ASSETS, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve(), pathlib.Path(sys.argv[4])
PICTURES = "--pictures" in sys.argv
ONLY = sys.argv[sys.argv.index("--only") + 1].split(",") if "--only" in sys.argv else None
SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
LAWS = ["corotated", "fixed-corotated", "stable-neo-hookean", "neo-hookean", "stvk", "mooney-rivlin", "biphasic"]
MOTIONS = [["--set", "mode=quasistatic"], ["--set", "mode=dynamic", "--set", "solver.integrator=euler"]]
BY_BLOCKS = ["--set", "solver.linear=macroblock"]


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.returncode, done.stderr[-500:])
    return done.stdout


def run(name, *words):
    out = FOLDER / name
    if ONLY and name not in ONLY:
        return out
    result = json.loads(call(SINEW, *words, "-o", out, "--json", "--quiet"))
    print("%-28s %3d frames, %6.1f s, %d missed their tolerance" %
          (name, result["stored_frames"], result["seconds"], result["unconverged_frames"]), flush=True)
    assert result["outcome"] == "done" and result["unconverged_frames"] == 0, name
    if PICTURES:
        call(SINEW, "render", out, "--frame", result["last_frame"], "-o", FOLDER / (name + ".png"))
    return out


def write_armadillo(law, cell):
    still = {"where": {"box": [[-1, -1, -1], [1, -0.5, 1]]}}
    left = {"where": {"box": [[-1, -1, -1], [-0.38, 1, 1]]},
            "motion": [{"frame": 1}, {"frame": 4, "translate": [-0.05, 0.08, 0]}]}
    right = {"where": {"box": [[0.34, -1, -1], [1, 1, 1]]},
             "motion": [{"frame": 1}, {"frame": 4, "translate": [0.05, -0.08, 0.05]}]}
    scene = {"sinew": 1, "frames": [1, 3], "gravity": 0,
             "bodies": [{"name": "armadillo", "surface": str(ASSETS / "surfaces/armadillo_29k.obj"), "cell": cell,
                         "coarsen": 0, "material": {"model": law, "young": 20000, "poisson": 0.4}}],
             "fixed": [still, left, right],
             "solver": {"newton": {"max": 40, "tolerance": 1e-5}}}
    path = FOLDER / "armadillo.json"
    path.write_text(json.dumps(scene), encoding="utf-8")
    return path


def last_frame(path):
    data = path.read_bytes()
    points, frames = struct.unpack_from("<i", data, 16)[0], struct.unpack_from("<i", data, 28)[0]
    return struct.unpack_from("<%df" % (3 * points), data, 32 + (frames - 1) * 12 * points)


def compare(one, other):
    """The largest distance of an entry, over the largest entry."""
    a, b = last_frame(one / "armadillo.pc2"), last_frame(other / "armadillo.pc2")
    return max(abs(x - y) for x, y in zip(a, b)) / max(abs(x) for x in a)


shutil.copytree(SCENES, FOLDER / "scenes")
(FOLDER / "scenes/meshes").mkdir(exist_ok=True)
call(SHAPES, FOLDER / "scenes/meshes")
for motion, word in zip(MOTIONS, ["quasistatic", "euler"]):
    run("sheet_" + word, "run", FOLDER / "scenes/sheet.json", *BY_BLOCKS, *motion, "--set", "frames=[1,2]")
    run("face_" + word, "run", FOLDER / "scenes/face.json", *BY_BLOCKS, *motion, "--set", "frames=[1,5]")
    run("armadillo_" + word, "run", write_armadillo("corotated", 0.03), *BY_BLOCKS, *motion)
    walk = ["flesh", ASSETS / "rigged/CesiumMan.glb", "--motion", ASSETS / "mocap/cmu_02_01.bvh", "--frames", "1:3",
            "--cell", "0.03", "--no-contact"]
    run("human_" + word, *walk, *BY_BLOCKS, *motion)
for law in LAWS:
    path = write_armadillo(law, 0.05)
    blocks = run("armadillo_" + law, "run", path, *BY_BLOCKS, *MOTIONS[0])
    levels = run("multigrid_" + law, "run", path, "--set", "solver.linear=multigrid", *MOTIONS[0])
    off = 0 if ONLY else compare(blocks, levels)
    assert off < 1e-4, (law, off)
