"""cli.py SINEW FOLDER: the program as a user meets it: exit codes, messages, files, interruptions.

Each check is a function; all run in FOLDER, which must be empty. Prints a line a check.
"""
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time

SINEW = os.path.abspath(sys.argv[1])
BASE = pathlib.Path(sys.argv[2]).resolve()

BOX = ("".join(f"v {x} {y} {z}\n" for z in (0, 1) for y in (0, 1) for x in (0, 1)) +
       "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n")

SCENE = {
    "mode": "quasistatic",
    "frames": [1, 4],
    "bodies": [{"name": "cube", "surface": "cube.obj", "cell": 0.125}],
    "bones": [{"name": "core", "capsule": {"from": [0.3, 0.5, 0.5], "to": [0.7, 0.5, 0.5], "radius": 0.15},
               "motion": [{"frame": 1}, {"frame": 4, "rotate": [0, 0, 0.3826834, 0.9238795]}]}],
    "attachments": [{"bone": "core"}],
}


class Place:
    """A fresh folder with a mesh and a scene."""

    def __init__(self, name, scene=None, mesh=BOX):
        self.folder = BASE / name
        self.folder.mkdir(parents=True)
        (self.folder / "cube.obj").write_text(mesh)
        self.write(SCENE if scene is None else scene)

    def write(self, scene):
        text = scene if isinstance(scene, str) else json.dumps(scene)
        (self.folder / "scene.json").write_text(text)

    def sinew(self, *words):
        return subprocess.run([SINEW, *words], cwd=self.folder, capture_output=True, text=True, timeout=300)

    def run(self, *words):
        return self.sinew("run", "scene.json", "-o", "out", *words)

    def bytes(self, name):
        return (self.folder / name).read_bytes()


def changed(path, value):
    """The scene with one value replaced; path like bodies.0.cell."""
    scene = json.loads(json.dumps(SCENE))
    at = scene
    *way, last = path.split(".")
    for key in way:
        at = at[int(key) if isinstance(at, list) else key]
    at[int(last) if isinstance(at, list) else last] = value
    return scene


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def expect_refused(place, code, *parts, words=()):
    """Exit code, one message that holds all parts, and nothing written."""
    before = sorted(p.name for p in place.folder.iterdir())
    result = place.run(*words)
    expect(result.returncode == code, f"exit code {result.returncode}, expected {code}: {result.stderr}")
    lines = [line for line in result.stderr.splitlines() if line.startswith("sinew: ") and "warning" not in line]
    expect(len(lines) == 1, f"expected one message, got {result.stderr!r}")
    for part in parts:
        expect(part in lines[0], f"{part!r} is not in {lines[0]!r}")
    expect(sorted(p.name for p in place.folder.iterdir()) == before, "something was written")


def frames_of(data):
    expect(data[:12] == b"POINTCACHE2\0", "not a PC2 file")
    version, points, start, rate, count = struct.unpack("<iiffi", data[12:32])
    expect((version, start, rate) == (1, 1.0, 1.0), "unexpected header")
    expect(len(data) == 32 + 12 * points * count, "the header does not fit the size")
    return points, count


def a_run_leaves_what_the_contract_says():
    place = Place("files")
    result = place.run()
    expect(result.returncode == 0, result.stderr)
    names = {p.name for p in (place.folder / "out").iterdir()}
    expect(names == {"cube.pc2", "cube.pc2.sums", "cube.obj", "stats.jsonl", "checkpoint", "result.json", "scene.json"}, str(names))
    expect(frames_of(place.bytes("out/cube.pc2")) == (8, 4), "8 vertices and 4 frames expected")
    stats = [json.loads(line) for line in place.bytes("out/stats.jsonl").splitlines()]
    expect([s["frame"] for s in stats] == [1, 2, 3, 4], "frames of stats.jsonl")
    keys = ("time seconds newton krylov residual energy contact_force converged volume volume_error min_j "
            "inverted contacts max_penetration elements unknowns bytes").split()
    expect(all(key in s for s in stats for key in keys), "a key is missing in stats.jsonl")
    expect({"elastic", "kinetic", "gravity", "work"} <= stats[0]["energy"].keys(), "energy")
    expect(all(len(s["krylov"]) == s["newton"] for s in stats), "krylov is a list a Newton step")
    expect(json.loads(place.bytes("out/result.json"))["outcome"] == "done", "result.json")
    again = place.sinew("run", "out/scene.json", "-o", "again", "--threads", "1")
    expect(again.returncode == 0, again.stderr)
    expect(place.bytes("out/cube.pc2") == place.bytes("again/cube.pc2"), "the resolved scene gives other bytes")


def progress_is_a_line_a_frame_and_can_be_silenced():
    place = Place("progress")
    lines = [line for line in place.run().stderr.splitlines() if line.startswith("frame ")]
    expect(len(lines) == 4 and "4/4" in lines[3], str(lines))
    expect(place.run("--quiet").stderr == "", "--quiet speaks")
    json_lines = place.run("--progress", "json").stdout.splitlines()
    expect([json.loads(line)["frame"] for line in json_lines] == [1, 2, 3, 4], "json progress")
    openjd = place.run("--progress", "openjd").stdout
    expect("openjd_progress: 100.0" in openjd and "openjd_status: frame 4 of 4" in openjd, openjd)


def frames_and_set_change_the_run():
    place = Place("options")
    expect(place.run("--frames", "1:2", "--set", "bodies.0.material.young=2e4").returncode == 0, "run")
    expect(frames_of(place.bytes("out/cube.pc2"))[1] == 2, "two frames expected")
    resolved = json.loads(place.bytes("out/scene.json"))
    expect(resolved["bodies"][0]["material"]["young"] == 2e4 and resolved["frames"] == [1, 2], str(resolved))


def strict_ends_with_3_and_can_be_resumed():
    place = Place("strict")
    place.write(dict(SCENE, solver={"newton": {"max": 1, "tolerance": 1e-9}}))
    result = place.run("--strict")
    expect(result.returncode == 3 and "frame 1" in result.stderr, result.stderr)
    expect(json.loads(place.bytes("out/result.json"))["outcome"] == "failed", "outcome")
    expect(place.run("--resume").returncode == 0, "resume without --strict")
    expect(frames_of(place.bytes("out/cube.pc2"))[1] == 4, "four frames in the end")


def long_scene():
    scene = changed("frames", [1, 12])
    scene["bodies"][0]["cell"] = 0.08
    scene["bones"][0]["motion"][1]["frame"] = 12
    return scene


def start_and_wait_for_frames(place, count, *words):
    process = subprocess.Popen([SINEW, "run", "scene.json", "-o", "out", *words], cwd=place.folder,
                               stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for line in process.stderr:
        if line.startswith(f"frame {count}/"):
            break
    return process


def interruptions_lose_nothing():
    whole = Place("whole_run", long_scene())
    expect(whole.run().returncode == 0, "the run without interruption")
    for number, sent in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGKILL)):
        place = Place(f"interrupted{number}", long_scene())
        process = start_and_wait_for_frames(place, 3)
        process.send_signal(sent)
        text = process.stderr.read()
        code = process.wait(60)
        frames_of(place.bytes("out/cube.pc2"))
        if sent != signal.SIGKILL:
            expect(code == 130, f"exit code {code}")
            expect("--resume" in text, "it must say how to go on")
            expect(json.loads(place.bytes("out/result.json"))["outcome"] == "interrupted", "outcome")
        else:
            expect(not (place.folder / "out/result.json").exists(), "result.json of a killed run")
        expect(place.run("--resume").returncode == 0, "resume")
        expect(place.bytes("out/cube.pc2") == whole.bytes("out/cube.pc2"), "resumed to other bytes")
        frames = [json.loads(line)["frame"] for line in place.bytes("out/stats.jsonl").splitlines()]
        expect(frames == list(range(1, 13)), f"statistics of frames {frames}")


def resume_from_needs_kept_checkpoints():
    place = Place("resume_from")
    expect(place.run().returncode == 0, "run")
    result = place.run("--resume-from", "3")
    expect(result.returncode == 2 and "keep_checkpoints" in result.stderr, result.stderr)
    kept = dict(SCENE, output={"keep_checkpoints": True})
    place.write(kept)
    expect(place.run().returncode == 0, "run")
    before = place.bytes("out/cube.pc2")
    expect(place.run("--resume-from", "3").returncode == 0, "resume from 3")
    expect(place.bytes("out/cube.pc2") == before, "other bytes after --resume-from")


def a_checkpoint_of_another_scene_is_refused():
    place = Place("foreign")
    expect(place.run("--frames", "1:2").returncode == 0, "run")
    before = place.bytes("out/cube.pc2")
    place.write(changed("bodies.0.cell", 0.25))
    result = place.run("--resume")
    expect(result.returncode == 2 and "another scene" in result.stderr, result.stderr)
    expect(place.bytes("out/cube.pc2") == before, "the cache was touched")


def bad_scenes_are_refused_with_place_and_remedy():
    cases = [
        (changed("bodies.0.surface", "missing.obj"), ["bodies[0].surface", "missing.obj"]),
        (changed("bodies.0.cell", -1), ["bodies[0].cell", "-1"]),
        (changed("bodies.0.cell", 1e-9), ["bodies[0].cell", "32767"]),
        (changed("bodies.0.cell", 4e-5), ["bodies[0].cell", "GB", "take"]),
        (dict(SCENE, framez=[1, 2]), ["framez", "frames"]),
        (changed("attachments.0", {"bone": "cor"}), ["attachments[0].bone", "core"]),
        (changed("bones.0.capsule", {"from": [9, 9, 9], "to": [9, 9, 8], "radius": 0.1}), ["attachments[0]", "core"]),
        (dict(SCENE, fixed=[{"where": {"box": [[5, 5, 5], [6, 6, 6]]}}]), ["fixed[0]", "no node"]),
        (dict(SCENE, forces=[{"where": {"box": [[5, 5, 5], [6, 6, 6]]}, "force": [1, 0, 0]}]), ["forces[0]"]),
        ('{"mode": "quasistatic",\n  "bodies": [}', ["scene.json:2:"]),
        ("", ["scene.json"]),
        (changed("bodies.0.type", "cloth"), ["bodies[0].type", "version"]),
        (dict(SCENE, colliders=[{"shape": "plain"}]), ["colliders[0].shape", "plane"]),
        (changed("bodies.0.surface", "../../etc/passwd"), ["bodies[0].surface"]),
        (dict(SCENE, mode="quasistatics"), ["mode", "quasistatic"]),
    ]
    for number, (scene, parts) in enumerate(cases):
        expect_refused(Place(f"bad_scene{number}", scene), 2, *parts)
    expect_refused(Place("bad_set"), 1, "--set", words=("--set", "bodies.0.cell"))
    expect_refused(Place("bad_option"), 1, "--thread", "--threads", words=("--thread", "2"))


def bad_meshes_are_refused():
    cases = [
        (BOX.replace("v 0 0 0", "v 0 nan 0"), ["cube.obj:1"]),
        (BOX + "f 1 2 99\n", ["cube.obj:15", "99"]),
        ("".join(BOX.splitlines(True)[:8]), ["cube.obj", "no triangles"]),
        ("v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n", ["cube.obj", "area"]),
        ("", ["cube.obj"]),
    ]
    for number, (mesh, parts) in enumerate(cases):
        expect_refused(Place(f"bad_mesh{number}", mesh=mesh), 2, *parts)
    place = Place("no_scene")
    (place.folder / "scene.json").unlink()
    expect_refused(place, 2, "scene.json")


def faults_that_can_be_lived_with_are_counted():
    mesh = BOX + "f 1 3 4 2\nf 1 1 2\nv 9 9 9\n"
    place = Place("lived_with", mesh=mesh)
    result = place.run()
    expect(result.returncode == 0, result.stderr)
    for part in ("2 triangles that repeat", "1 triangles without area", "1 vertices are in no triangle"):
        expect(part in result.stderr, f"{part!r} is not in {result.stderr!r}")
    expect(frames_of(place.bytes("out/cube.pc2"))[0] == 9, "the loose vertex is in the cache")


def an_unwritable_folder_is_exit_4():
    place = Place("unwritable")
    (place.folder / "out").write_text("a file where the folder should be")
    result = place.run()
    expect(result.returncode == 4 and "out" in result.stderr, f"{result.returncode}: {result.stderr}")


def check_prints_what_would_be_built_and_writes_nothing():
    place = Place("check")
    before = sorted(p.name for p in place.folder.iterdir())
    result = place.sinew("check", "scene.json")
    expect(result.returncode == 0 and re.search(r"cells +\d+", result.stdout), result.stdout)
    data = json.loads(place.sinew("check", "scene.json", "--json").stdout)
    body = data["bodies"][0]
    expect(sum(body["cells_per_level"]) == body["cells"] and data["estimated_bytes"] > 0, str(data))
    expect(body["unknowns"] == 3 * body["nodes"], str(body))
    expect(0 < body["filled_volume"] <= body["volume"] * (1 + 1e-6), str(body))
    expect(sorted(p.name for p in place.folder.iterdir()) == before, "check wrote something")


def pictures_are_drawn():
    place = Place("render")
    expect(place.run().returncode == 0, "run")
    result = place.sinew("render", "out", "--size", "200x200", "-o", "sheet.png")
    expect(result.returncode == 0 and place.bytes("sheet.png")[:4] == b"\x89PNG", result.stderr)
    expect(place.sinew("render", "out", "--frame", "2", "-o", "two.png").returncode == 0, "one frame")
    beside = place.sinew("render", "out", "--frame", "2", "--beside", "out/cube.pc2", "-o", "both.png")
    expect(beside.returncode == 0, beside.stderr)
    sizes = [struct.unpack(">II", place.bytes(name)[16:24]) for name in ("two.png", "both.png")]
    expect(sizes == [(1200, 900), (1440, 720)], f"--beside draws two panels: {sizes}")
    expect(place.sinew("render", "out", "--frame", "9").returncode == 1, "no such frame")
    expect(place.sinew("render", "nowhere").returncode == 2, "no such folder")


def scaled(value, factor):
    """All numbers in a list, or in the values of an object, times a factor."""
    if isinstance(value, dict):
        return {key: scaled(item, factor) for key, item in value.items()}
    if isinstance(value, list):
        return [scaled(item, factor) for item in value]
    return value * factor if isinstance(value, (int, float)) else value


def pictures_show_colliders():
    colliders = [{"shape": "plane"}, {"shape": "sphere", "position": [1.5, 0.3, 0.5], "radius": 0.3}]
    scene = {**SCENE, "frames": [1, 1], "colliders": colliders}
    place = Place("colliders", scene)
    expect(place.run().returncode == 0, "run")

    def draw(name, *words):
        result = place.sinew("render", "out", "--frame", "1", "--size", "320x240", "-o", name, *words)
        expect(result.returncode == 0, result.stderr)
        return place.bytes(name)

    picture = draw("with.png")
    expect(picture == draw("again.png"), "the same picture twice")
    expect(picture != draw("without.png", "--no-colliders"), "--no-colliders leaves the floor out")
    # The same in half metres: every number in the files is twice as large, exactly.
    bone = {"capsule": scaled(SCENE["bones"][0]["capsule"], 2), "name": "core"}
    body = {**SCENE["bodies"][0], "cell": 0.25}
    place.write({**scene, "unit": 0.5, "colliders": scaled(colliders, 2), "bodies": [body], "bones": [bone]})
    lines = [line.split() for line in BOX.splitlines()]
    mesh = "".join(" ".join([w[0]] + [str(2 * int(n)) if w[0] == "v" else n for n in w[1:]]) + "\n" for w in lines)
    (place.folder / "cube.obj").write_text(mesh)
    expect(place.run().returncode == 0, "run in half metres")
    expect(picture == draw("half.png"), "the unit of the files does not show")


def usage_errors_are_exit_1():
    place = Place("usage")
    for words, part in ((("rum",), "run"), ((), "usage"), (("run",), "scene"), (("view",), "folder")):
        result = place.sinew(*words)
        expect(result.returncode == 1 and part in result.stderr, f"{words}: {result.returncode} {result.stderr!r}")
    for words in (("--help",), ("--version",), ("run", "--help"), ("check", "--help"), ("bench", "--help"),
                  ("materials", "--help")):
        expect(place.sinew(*words).returncode == 0, f"{words}")


def materials_are_listed():
    place = Place("materials")
    library = json.loads(place.sinew("materials", "--json").stdout)
    names = [entry["name"] for entry in library]
    expect(len(names) > 10 and {"flesh", "muscle", "skin", "fat"} <= set(names), names)
    listing = place.sinew("materials").stdout
    for entry in library:
        expect(entry["name"] in listing and entry["source"] and entry["density"] > 0, entry)
        expect("model" in entry["material"], entry)
    one = place.sinew("materials", "muscle").stdout
    expect(one.startswith("muscle\n") and "skin" not in one, one)
    result = place.sinew("materials", "muskle")
    expect(result.returncode == 1 and "did you mean muscle" in result.stderr, result.stderr)


def benchmarks_are_named():
    place = Place("bench")
    help_text = place.sinew("bench", "--help").stdout
    expect(help_text.count("usage:") == 1 and "mgpcg" in help_text, help_text)
    for name in re.findall(r"^  ([a-z]+)  ", help_text, re.M):
        more = place.sinew("bench", name, "--help")
        expect(more.returncode == 0 and f"{name}: " in more.stdout, more.stdout)
    result = place.sinew("bench", "aply")
    expect(result.returncode == 1 and "did you mean apply" in result.stderr and "growth" in result.stderr, result.stderr)


def main():
    checks = [value for name, value in globals().items()
              if callable(value) and getattr(value, "__module__", None) == "__main__" and not isinstance(value, type)
              and value.__code__.co_argcount == 0 and name not in ("main", "long_scene")]
    failed = 0
    for check in checks:
        start = time.monotonic()
        try:
            check()
            print(f"ok      {check.__name__}  {time.monotonic() - start:.1f} s")
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED  {check.__name__}: {error}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
