"""scenes.py SINEW SHAPES CREATURE FOLDER: every scene of scenes/, run and judged.

Copies the scenes into FOLDER, makes their meshes there, runs all of them and prints a line a scene:
cells, frames, seconds, Newton steps a frame, frames that missed their tolerance, deepest penetration in
percent of the body's diagonal, smallest det F, energy gained beyond the work and energy that the last resort of
contact brought in, both in percent of the range of energies, change of shape at the end as a part of the diagonal, and
what is wrong. What must hold:

- the run ends well, and every number of its statistics is finite;
- no energy from nowhere: elastic + kinetic + gravity is at most its value at the first frame plus the
  work done since, within 1 % of the range of energies in the run; what the last resort of contact brings in
  ("rescued") is no work and gives no credit; more of it than that 1 %, even if it was lost again, is a NOTE;
- bodies that fall or are squashed sink in by 0.2 % of their diagonal at most, and by 0.05 % at rest;
- where what presses goes away again: 12 frames later nothing touches, and at the end the flesh has its
  shape at rest again, to 1e-3 of its diagonal;
- where a muscle contracts, the girth around it grows, and where muscles of a character flex, its skin moves.

Options: --quick (fewer frames of long scenes), --jitter N (instead N times, each with all vertices
moved at random by 1e-4 of the diagonal), --seed S, --only NAME,NAME, --jobs N (scenes at a time, 2),
--keep (all runs stay in FOLDER, not only those that are wrong), --pictures (of each, FOLDER/NAME.png).
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import time

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
# Frame at which what presses has left, of the scenes in which it does.
RELEASES = {"squash": 29, "belly": 30, "elbow": 54, "knee": 36, "armpit": 44, "twist": 71, "flex": 44}
# Scenes whose bodies hardly sink in, and how far, as parts of the diagonal: at most, and in the end, at rest.
SHALLOW = ("drop", "squash")
SUNK, SUNK_AT_REST = 2e-3, 5e-4
APART = 12  # frames after which nothing touches any more
RECOVERED = 1e-3
ENERGY_SLACK = 0.01
JITTER = 1e-4
# Of scenes with a muscle that swells: a frame, a place along x, and by how much the girth there grows at least.
BULGES = {"flex": (22, 0.14, 0.1)}
# Of scenes that pass the same pose twice, muscles at rest and then flexed: both frames, and how far the skin moves at least.
FLEXES = {"stride": (14, 38, 0.02)}
# Last frame under --quick, of scenes that take long.
QUICK = {"armpit": 16, "drop": 24, "elbow": 15, "flex": 22, "knee": 13, "rollers": 20, "spike": 14, "stack": 8, "stone": 24, "tube": 16,
         "twist": 24, "walk": 6, "stride": 3, "sheet": 3, "face": 6}


class Wrong(Exception):
    """What a scene does and must not."""


def call(*words):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=3600)
    if result.returncode != 0:
        raise Wrong(f"exit code {result.returncode}: {result.stderr.strip()[-300:]}")


def read_vertices(path):
    """Of an OBJ file."""
    with open(path, encoding="utf-8") as file:
        return [tuple(map(float, line.split()[1:4])) for line in file if line.startswith("v ")]


def read_triangles(path):
    """Of an OBJ file, polygons as fans."""
    with open(path, encoding="utf-8") as file:
        faces = [[int(word.split("/")[0]) - 1 for word in line.split()[1:]] for line in file if line.startswith("f ")]
    return [(face[0], face[k], face[k + 1]) for face in faces for k in range(1, len(face) - 1)]


def read_frame(path, index):
    """Of a PC2 file; frames count from 0, or with -1 from the last."""
    data = path.read_bytes()
    vertex_count, frame_count = struct.unpack_from("<i8xi", data, 16)
    at = 32 + 12 * vertex_count * (index % frame_count)
    numbers = struct.unpack_from(f"<{3 * vertex_count}f", data, at)
    return list(zip(*[iter(numbers)] * 3))


def girth(points, triangles, x):
    """Length of the line in which a surface meets a plane across x."""
    length = 0
    for triangle in triangles:
        ends = []
        for a, b in ((0, 1), (1, 2), (2, 0)):
            p, q = points[triangle[a]], points[triangle[b]]
            if (p[0] < x) != (q[0] < x):
                t = (x - p[0]) / (q[0] - p[0])
                ends.append((p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])))
        if len(ends) == 2:
            length += math.dist(*ends)
    return length


def check_bulge(run, body, first, bulge):
    """What is wrong with the girth of a body, as a list."""
    frame, x, least = bulge
    triangles, rest = read_triangles(run / f"{body}.obj"), read_vertices(run / f"{body}.obj")
    grown = girth(read_frame(run / f"{body}.pc2", frame - first), triangles, x) / girth(rest, triangles, x) - 1
    return [] if grown >= least else [f"girth grows by {100 * grown:.3g} % only"]


def check_flex(run, body, lines, flex):
    """What is wrong with the skin over muscles, as a list; a run that ends before they flex is not judged."""
    passive, active, least = flex
    if lines[-1]["frame"] < active:
        return []
    before, after = (read_frame(run / f"{body}.pc2", frame - lines[0]["frame"]) for frame in (passive, active))
    moved = max(math.dist(p, q) for p, q in zip(before, after))
    return [] if moved >= least else [f"flexed muscles move the skin by {moved:.3g} only"]


def diagonal(points):
    return math.dist([min(axis) for axis in zip(*points)], [max(axis) for axis in zip(*points)])


def jitter_obj(path, rng):
    """Move every vertex by up to JITTER of the diagonal."""
    reach = JITTER * diagonal(read_vertices(path))

    def moved(match):
        return "v " + " ".join(f"{float(x) + rng.uniform(-reach, reach):.9g}" for x in match[1].split())

    path.write_text(re.sub(r"^v (.*)$", moved, path.read_text(), flags=re.M))


def jitter_glb(path, rng):
    """The same for the places of every mesh in a GLB file with one buffer."""
    data = bytearray(path.read_bytes())
    json_size, = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20:20 + json_size])
    done = set()
    for mesh in document["meshes"]:
        for part in mesh["primitives"]:
            number = part["attributes"]["POSITION"]
            if number in done:
                continue
            done.add(number)
            accessor = document["accessors"][number]
            view = document["bufferViews"][accessor["bufferView"]]
            at = 28 + json_size + view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
            count = 3 * accessor["count"]
            reach = JITTER * math.dist(accessor["min"], accessor["max"])
            places = struct.unpack_from(f"<{count}f", data, at)
            struct.pack_into(f"<{count}f", data, at, *(x + rng.uniform(-reach, reach) for x in places))
    path.write_bytes(data)


def read_stats(run):
    lines = [json.loads(line) for line in (run / "stats.jsonl").read_text().splitlines()]

    def check_finite(value, place):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(part, (dict, list)):
                check_finite(part, f"{place}.{key}")
            elif part is None or isinstance(part, float) and not math.isfinite(part):
                raise Wrong(f"{place}.{key} is not finite")

    for line in lines:
        check_finite(line, f"frame {line['frame']}")
    return lines


def check_energy(lines):
    """The largest gain beyond the work, its frame, and all that was rescued, as parts of the range of energies."""
    def total(line):
        return sum(line["energy"][kind] for kind in ("elastic", "kinetic", "gravity"))

    size = max(max(line["energy"][kind] for line in lines) - min(line["energy"][kind] for line in lines)
               for kind in ("elastic", "kinetic", "gravity"))
    first, worst = lines[0], (-math.inf, 0)
    for line in lines:
        gain = total(line) - total(first) - (line["energy"]["work"] - first["energy"]["work"])
        worst = max(worst, (gain / size if size > 0 else 0, line["frame"]))
    rescued = sum(line["energy"]["rescued"] for line in lines)
    return *worst, rescued / size if size > 0 else 0


def shape_error(run, body, rng):
    """Change of distances between pairs of vertices at the end, against rest: blind to rigid motion."""
    rest, now = read_vertices(run / f"{body}.obj"), read_frame(run / f"{body}.pc2", -1)
    pairs = [rng.sample(range(len(rest)), 2) for _ in range(4000)]
    return max(abs(math.dist(now[a], now[b]) - math.dist(rest[a], rest[b])) for a, b in pairs) / diagonal(rest)


def judge(name, run, scene):
    """What is wrong with a run, and the figures for its line of the table."""
    lines = read_stats(run)
    bodies = [body["name"] for body in scene["bodies"]]
    size = min(diagonal(read_vertices(run / f"{body}.obj")) for body in bodies)
    wrong, at = [], {line["frame"]: line for line in lines}
    gain, frame, rescued = check_energy(lines)
    if gain > ENERGY_SLACK:
        wrong.append(f"energy grows by {100 * gain:.3g} % at frame {frame}")
    apart, error = RELEASES.get(name, math.inf) + APART, None
    for line in lines:
        if line["frame"] >= apart and line["max_penetration"] > 0:
            wrong.append(f"still touches at frame {line['frame']}, {line['max_penetration']:.3g} m deep")
            break
    deepest, ended = max(line["max_penetration"] for line in lines), scene["frames"][1] in at
    depths = [(deepest, SUNK)] + [(lines[-1]["max_penetration"], SUNK_AT_REST)] * ended if name in SHALLOW else []
    wrong += [f"sinks in by {100 * depth / size:.3g} % of the diagonal" for depth, most in depths if depth > most * size]
    if name in RELEASES and ended:
        error = max(shape_error(run, body, random.Random(1)) for body in bodies)
        if error > RECOVERED:
            wrong.append(f"shape at the end is off by {error:.3g} of the diagonal")
    if name in BULGES:
        wrong += check_bulge(run, bodies[0], lines[0]["frame"], BULGES[name])
    if name in FLEXES:
        wrong += check_flex(run, bodies[0], lines, FLEXES[name])
    return wrong, {
        "cells": lines[0]["elements"], "frames": len(lines),
        "seconds": sum(line["seconds"] for line in lines),
        "newton": sum(line["newton"] for line in lines) / len(lines),
        "unconverged": sum(not line["converged"] for line in lines),
        "deepest": 100 * deepest / size,
        "min_j": min(line["min_j"] for line in lines),
        "gain": 100 * gain, "rescued": 100 * rescued, "error": error,
    }


COLUMNS = (("cells", "7d"), ("frames", "7d"), ("seconds", "8.1f"), ("newton", "7.1f"), ("unconverged", "12d"),
           ("deepest", "8.3f"), ("min_j", "7.2f"), ("gain", "8.3f"), ("rescued", "8.3f"), ("error", "9.1e"))


def title():
    return f"{'scene':12}" + "".join(f"{key:>{re.match('[0-9]+', form)[0]}}" for key, form in COLUMNS)


def row(name, figures):
    cells = (f"{figures[key]:{form}}" if figures[key] is not None else "-".rjust(int(re.match("[0-9]+", form)[0]))
             for key, form in COLUMNS)
    return f"{name:12}" + "".join(cells)


def run_scene(options, folder, path):
    """Returns the line for the table, what is worth a look, and what is wrong."""
    name, run = path.stem, folder / f"{path.stem}.out"
    scene, notes = json.loads(path.read_text()), []
    first, last = scene["frames"]
    if options.quick:
        last = min(last, QUICK.get(name, last))
    try:
        call(options.sinew, "run", path, "-o", run, "--quiet", "--threads", 1, "--frames", f"{first}:{last}")
        wrong, figures = judge(name, run, scene)
        if options.pictures:
            call(options.sinew, "render", run, "-o", options.folder / f"{name}.png")
        if figures["rescued"] > 100 * ENERGY_SLACK:
            notes.append(f"the last resort of contact brings in {figures['rescued']:.3g} % of energy")
        text = row(name, figures)
    except Wrong as problem:
        wrong, text = [str(problem)], f"{name:12}"
    if not options.keep and not wrong:
        shutil.rmtree(run, ignore_errors=True)
    return text, notes, wrong


def run_all(options, folder, seed):
    """All scenes once, in a folder of their own; how many are wrong."""
    meshes = folder / "meshes"
    meshes.mkdir(parents=True)
    call(options.shapes, meshes)
    call(options.creature, meshes)
    if seed is not None:
        for mesh in sorted(meshes.iterdir()):
            rng = random.Random(f"{seed} {mesh.name}")
            if mesh.suffix == ".obj":
                jitter_obj(mesh, rng)
            if mesh.suffix == ".glb":
                jitter_glb(mesh, rng)
    paths = [pathlib.Path(shutil.copy(path, folder)) for path in sorted(SCENES.glob("*.json"))
             if not options.only or path.stem in options.only.split(",")]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(run_scene, options, folder, path) for path in paths]
        for job in jobs:
            text, notes, wrong = job.result()
            print(text, flush=True)
            for what in notes:
                print(f"{'':12}NOTE: {what}", flush=True)
            for what in wrong:
                print(f"{'':12}WRONG: {what}", flush=True)
            failed += bool(wrong)
    return failed


def main():
    parser = argparse.ArgumentParser()
    for name in ("sinew", "shapes", "creature", "folder"):
        parser.add_argument(name, type=lambda text: pathlib.Path(text).resolve())
    for name in ("quick", "keep", "pictures"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--jitter", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    start, failed, runs = time.time(), 0, range(options.jitter) if options.jitter else [None]
    print(title(), flush=True)
    for number in runs:
        seed = None if number is None else options.seed + number
        folder = options.folder / ("scenes" if seed is None else f"jitter{seed}")
        shutil.rmtree(folder, ignore_errors=True)
        if seed is not None:
            print(f"jitter, seed {seed}")
        failed += run_all(options, folder, seed)
    print(f"{time.time() - start:.0f} s, {failed} wrong")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
