"""golden.py FOLDER SINEW... [--renew] [--soak] [--class NAME] [--runs N] [--threads A,B,...]: the same bytes, always.

Three small scenes, on many numbers of threads, several times each, by every program SINEW: all bytes of caches and
checkpoints are the same, and the same as those of golden.txt beside this file. And one of many steps (10,000 with
--soak), in which memory does not grow. Works in FOLDER, which must be empty.

golden.txt has a line a file: class of instructions, scene, file, SHA-256. A change that is meant to change results
renews it (`sh tests/whole/golden.sh build/sinew --renew`, about a minute) and says why in its commit. A program that was
built with -DSN_PLAIN_KERNELS=ON is of the class `plain`, whatever the processor can do: say `--class plain`.
"""
import argparse
import hashlib
import json
import math
import pathlib
import platform
import resource
import subprocess
import sys
import time

GOLDEN = pathlib.Path(__file__).with_name("golden.txt")
THREADS = [1, 2, 3, 4, 8, 16, 32]


def tube(rings, sides, length, radius):
    """A closed tube along x that is thicker in the middle, as OBJ."""
    text = ["v 0 0 0", f"v {length} 0 0"]
    for i in range(rings):
        x, r = length * i / (rings - 1), radius * (1 + 0.3 * math.sin(math.pi * i / (rings - 1)))
        for k in range(sides):
            angle = 2 * math.pi * k / sides
            text.append(f"v {x:.6f} {r * math.cos(angle):.6f} {r * math.sin(angle):.6f}")
    for k in range(sides):
        here, there, last = 3 + k, 3 + (k + 1) % sides, (rings - 1) * sides
        text += [f"f 1 {there} {here}", f"f 2 {last + here} {last + there}"]
        for i in range(rings - 1):
            text.append(f"f {i * sides + here} {i * sides + there} {(i + 1) * sides + there} {(i + 1) * sides + here}")
    return "\n".join(text) + "\n"


def bone(name, begin, end, motion):
    return {"name": name, "motion": motion,
            "capsule": {"from": [begin, 0, 0], "to": [end, 0, 0], "radius": 0.03}}


def limb(cell, **material):
    """A limb of two bones, the second of which bends at the middle; with small cells, work for several threads."""
    bent = [{"frame": 1, "pivot": [0.5, 0, 0]},
            {"frame": 4, "pivot": [0.5, 0, 0], "rotate": [0, 0, 0.5, math.sqrt(0.75)]}]
    return {"frames": [1, 4], "mode": "quasistatic", "contact": {"self": False},
            "bodies": [{"name": "limb", "surface": "limb.obj", "cell": cell, "material": material}],
            "bones": [bone("upper", 0.05, 0.4, []), bone("lower", 0.6, 0.95, bent)],
            "attachments": [{"bone": "upper"}, {"bone": "lower"}],
            "output": {"fields": ["strain", "stress", "J"]}}


def scenes():
    bend = limb(0.03, model="stable-neo-hookean", young=12000, poisson=0.45)
    flex = limb(0.05, model="stable-neo-hookean", young=15000, poisson=0.499)
    flex["muscles"] = [{"name": "belly", "mesh": "belly.obj", "tendon": 0.2, "max_stress": 5e4,
                        "activation": [{"frame": 1, "value": 0}, {"frame": 4, "value": 1}]}]
    drop = {"frames": [1, 10], "bodies": [
                {"name": "limb", "surface": "limb.obj", "cell": 0.08,
                 "initial": {"translate": [0, 0.22, 0], "rotate": [0, 0, 0.06, 1], "velocity": [0, -1, 0]}}],
            "colliders": [{"shape": "plane"}], "output": {"fields": ["contacts"]}}
    return {"bend": bend, "flex": flex, "drop": drop}


SUBSTEPS = 20


def endurance(steps):
    """A limb that wags its lower half and brushes the ground, for a long time."""
    frames = steps // SUBSTEPS
    keys = [{"frame": 1 + 5 * k, "pivot": [0.5, 0, 0], "rotate": [0, 0, -0.2 if k % 2 else 0.2, 0.98]}
            for k in range(frames // 5 + 2)]
    return {"frames": [1, frames], "substeps": SUBSTEPS, "contact": {"self": False},
            "bodies": [{"name": "limb", "surface": "limb.obj", "cell": 0.12}],
            "bones": [bone("upper", 0.05, 0.4, []), bone("lower", 0.6, 0.95, keys)],
            "attachments": [{"bone": "upper"}, {"bone": "lower"}],
            "colliders": [{"shape": "plane", "position": [0, -0.2, 0]}]}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wait(process):
    """Wait for the end. Returns how much memory, in bytes, was resident every 10 ms."""
    page, samples = resource.getpagesize(), []
    while process.poll() is None:
        try:
            samples.append(int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * page)
        except (OSError, IndexError):
            pass
        time.sleep(0.01)
    return [s for s in samples if s > 0]


def run(program, scene, folder, threads):
    """Hashes of all that a run leaves and that must not change, by name; and what grew though it must not."""
    out = folder / "out"
    with subprocess.Popen([program, "run", folder / f"{scene}.json", "-o", out, "--threads", str(threads), "--quiet"],
                          stderr=subprocess.PIPE, text=True) as process:
        samples = wait(process)
        if process.returncode != 0:
            sys.exit(f"{program}: {scene}: exit code {process.returncode}: {process.stderr.read()}")
    names = ("limb.pc2", "limb.cells", "limb.fields", "checkpoint")
    hashes = {name: digest(out / name) for name in names if (out / name).exists()}
    stats = [json.loads(line) for line in (out / "stats.jsonl").read_text().splitlines()]
    held = {line["bytes"] for line in stats[2:]}
    grown = [f"{len(held)} sizes of what the library holds"] if len(held) > 1 else []
    if len(samples) > 100 and samples[-2] - samples[len(samples) // 4] > 1 << 20:
        grown.append(f"{samples[-2] - samples[len(samples) // 4]} bytes resident")
    for path in sorted(out.iterdir()):
        path.unlink()
    return hashes, grown


def instruction_class():
    """What the flesh kernels go by; see docs/reliability.md."""
    if platform.machine() in ("aarch64", "arm64"):
        return "fma"
    words = pathlib.Path("/proc/cpuinfo").read_text().split()
    return "fma" if "avx2" in words and "fma" in words else "plain"


def read_golden():
    known = {}
    for line in GOLDEN.read_text().splitlines() if GOLDEN.exists() else []:
        kind, scene, file, value = line.split()
        known[kind, scene, file] = value
    return known


def write_golden(known):
    GOLDEN.write_text("".join(f"{' '.join(key)} {value}\n" for key, value in sorted(known.items())))


def check(arguments, scene, threads_and_runs, found, golden):
    """All runs of a scene against the golden hashes. Returns how many runs there were and how many are wrong."""
    runs = wrong = 0
    for program in arguments.programs:
        for threads, repetition in threads_and_runs:
            hashes, grown = run(program, scene, arguments.folder, threads)
            watched = scene.startswith("endure") and not arguments.emulated
            expected, faults = golden or found, grown if watched else []
            faults += [f"other bytes in {name}" for name in hashes
                       if expected.setdefault(name, hashes[name]) != hashes[name]]
            runs += 1
            wrong += bool(faults)
            if faults:
                print(f"{scene}: {program}, {threads} threads, run {repetition + 1}: {', '.join(faults)}")
            found.update(hashes)
    return runs, wrong


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--soak", action="store_true")
    parser.add_argument("--emulated", action="store_true", help="what is resident is not the program's own")
    parser.add_argument("--class", dest="kind", default=instruction_class(), choices=["fma", "plain"])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=lambda text: [int(t) for t in text.split(",")], default=THREADS)
    return parser.parse_args()


def main():
    arguments = parse()
    (arguments.folder / "limb.obj").write_text(tube(9, 12, 1, 0.1))
    (arguments.folder / "belly.obj").write_text(
        "".join(f"v {x} {y} {z}\n" for z in (-0.04, 0.04) for y in (0.05, 0.11) for x in (0.2, 0.8)) +
        "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n")
    often = [(threads, repetition) for threads in arguments.threads for repetition in range(arguments.runs)]
    work = [(scene, content, often) for scene, content in scenes().items()]
    work.append(("endure300", endurance(300), [(2, 0)]))
    known, runs, wrong = read_golden(), 0, 0
    if arguments.soak or (arguments.renew and (arguments.kind, "endure10000", "limb.pc2") in known):
        work.append(("endure10000", endurance(10000), [(2, 0)]))
    for scene, content, how in work:
        (arguments.folder / f"{scene}.json").write_text(json.dumps(content))
        golden = {file: value for (kind, name, file), value in known.items() if (kind, name) == (arguments.kind, scene)}
        if not golden and not arguments.renew:
            sys.exit(f"{GOLDEN.name} has no hashes of {scene} for the class {arguments.kind}; make them by --renew")
        found = {}
        counts = check(arguments, scene, how, found, {} if arguments.renew else golden)
        runs, wrong = runs + counts[0], wrong + counts[1]
        known.update({(arguments.kind, scene, file): value for file, value in found.items()})
    if arguments.renew and not wrong:
        write_golden(known)
    print(f"{runs} runs of class {arguments.kind}, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
