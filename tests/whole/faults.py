"""faults.py SINEW_FAULTS FOLDER [--all] [TEST...]: a small run, again and again, with something going wrong at every turn.

SINEW_FAULTS is the program with calls that fail on demand (faults.c). Killed at the n-th call that changes a file, or
refused the n-th of them or the n-th piece of memory: then all files must be whole, the exit code right, nothing leaked,
and --resume, with another number of threads, must lead to the bytes of the run that nothing happened to. Every n with
--all, which takes minutes; else some, spread evenly.
"""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run_files  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
BASE = pathlib.Path(sys.argv[2]).resolve()
ALL = "--all" in sys.argv[3:]
ONLY = [word for word in sys.argv[3:] if word != "--all"]  # names of tests

BOX = ("".join(f"v {x} {y} {z}\n" for z in (0, 1) for y in (0, 1) for x in (0, 1)) +
       "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n")
FRAMES = 10
TIMINGS = ("seconds", "contact_seconds", "bytes")


def scene(frames=FRAMES, cell=0.5, **output):
    """A cube that a bone turns and presses on the ground; of flesh that keeps pressures, so that there is a past of every
    kind."""
    motion = [{"frame": 1}, {"frame": 6, "translate": [0, -0.3, 0]},
              {"frame": frames + 1, "translate": [0, -0.4, 0], "rotate": [0, 0, 0.3826834, 0.9238795]}]
    return {"frames": [1, frames],
            "bodies": [{"name": "cube", "surface": "cube.obj", "cell": cell,
                        "material": {"young": 12000, "poisson": 0.4995}}],
            "bones": [{"name": "core", "motion": motion,
                       "capsule": {"from": [0.3, 0.5, 0.5], "to": [0.7, 0.5, 0.5], "radius": 0.25}}],
            "attachments": [{"bone": "core"}], "colliders": [{"shape": "plane", "position": [0, -0.1, 0]}],
            "output": {"fields": ["strain", "contacts"], **output}}


def write(name, content):
    (BASE / name).write_text(content if isinstance(content, str) else json.dumps(content))


def start(*words, fault=None, trace=None):
    environment = dict(os.environ, SN_FAULT_REPORT=str(BASE / "report"))
    if fault:
        environment["SN_FAULT"] = fault
    if trace:
        environment["SN_FAULT_TRACE"] = str(BASE / trace)
    return subprocess.Popen([PROGRAM, "run", *words, "--quiet"], cwd=BASE, env=environment, text=True,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def run(*words, **options):
    """@return exit code, what it said, and of the report: calls, allocations, blocks held, bytes held, the call hit"""
    (BASE / "report").unlink(missing_ok=True)
    process = start(*words, **options)
    said = process.communicate(timeout=900)[1]
    report = (BASE / "report").read_text().split() if (BASE / "report").exists() else None
    if report:
        report = [*map(int, report[:4]), report[4]]
    return process.returncode, said, report


def contents(folder):
    """What must be equal: all files, without what differs from clock to clock."""
    found = {path.name: path.read_bytes() for path in (BASE / folder).iterdir()}
    found.pop("lock", None)  # one that could not be removed does no harm
    lines = [json.loads(line) for line in found.pop("stats.jsonl").splitlines()]
    found["stats"] = [{key: line[key] for key in line if key not in TIMINGS} for line in lines]
    found["result"] = {**json.loads(found.pop("result.json")), "seconds": 0}
    return found


def some(count, daily):
    """Numbers from 1 to count: all, or about so many of them."""
    return range(1, count + 1) if ALL else range(1, count + 1, max(1, count // daily))


class Faults(unittest.TestCase):
    """Each test has a way to run, the folder that it starts from, and what it must come to."""

    @classmethod
    def setUpClass(cls):
        write("cube.obj", BOX)
        write("scene.json", scene())
        write("sparse.json", scene(checkpoint_every=3))
        write("kept.json", scene(keep_checkpoints=True))
        for name in ("scene", "sparse", "kept"):
            code, said, report = run(f"{name}.json", "-o", f"whole-{name}", "--threads", "1")
            assert code == 0, said
            assert report[2:4] == [0, 0], f"held at the end: {report}"
            run_files.check_folder(BASE / f"whole-{name}")
        cls.whole = {name: contents(f"whole-{name}") for name in ("scene", "sparse", "kept")}
        cls.calls, cls.allocations = report[0], report[1]

    def fresh(self, source=None):
        shutil.rmtree(BASE / "out", ignore_errors=True)
        if source:
            shutil.copytree(BASE / source, BASE / "out")

    def count(self, *words, source=None):
        """Calls and allocations of such a run."""
        self.fresh(source)
        code, said, report = run(*words, "-o", "out", "--threads", "1")
        self.assertEqual(code, 0, said)
        return report[0], report[1]

    def assert_whole(self, name, what, said):
        """All as without faults, but for messages if it was said that they are not kept."""
        found, whole = contents("out"), dict(self.whole[name])
        if "messages of this run are not kept" in said:
            found.pop("messages.jsonl", None)
            whole.pop("messages.jsonl")
        self.assertEqual(sorted(found), sorted(whole), what)
        for key, expected in whole.items():
            self.assertEqual(found[key], expected, f"{what}: {key}")

    def assert_comes_to(self, name, what):
        """What is left can be resumed, to the bytes of a run without faults."""
        code, said, report = run(f"{name}.json", "-o", "out", "--resume", "--threads", "2")
        self.assertEqual(code, 0, f"{what}: {said}")
        self.assert_whole(name, what, "")
        self.assertEqual(report[3], 0, f"{what}: bytes held at the end")  # threads leave a block to the system

    def kill_at(self, number, name, words, source, every):
        what = f"killed before call {number} of {' '.join(words)}"
        self.fresh(source)
        code, said, _ = run(f"{name}.json", *words, "-o", "out", "--threads", "1", fault=f"kill-before:{number}")
        self.assertEqual(code, -signal.SIGKILL, f"{what}: {said}")
        if not (BASE / "out").exists():
            return
        caches, checkpoint = run_files.check_folder(BASE / "out")
        if checkpoint and "cube" in caches:
            self.assertLessEqual(caches["cube"] - checkpoint, every, f"{what}: frames lost")
        self.assert_comes_to(name, what)

    def each(self, numbers, attempt):
        """All of them, also if some fail; these are told at once."""
        failures = []
        for number in numbers:
            try:
                attempt(number)
            except (AssertionError, run_files.Damaged) as failure:
                failures.append(str(failure)[:1000])
                print(failures[-1], flush=True)
        self.assertEqual(failures, [])

    def kill_everywhere(self, name, words, source, daily, every=1):
        calls, _ = self.count(f"{name}.json", *words, source=source)
        self.each(some(calls, daily), lambda number: self.kill_at(number, name, words, source, every))
        print(f"{calls} calls", end=" ", flush=True)

    # Kills

    def test_killed_at_any_call(self):
        self.kill_everywhere("scene", (), None, 70)

    def test_killed_at_any_call_of_a_resume(self):
        code, _, _ = run("sparse.json", "-o", "half", "--threads", "1", fault="kill-before:200")
        self.assertEqual(code, -signal.SIGKILL)
        caches, checkpoint = run_files.check_folder(BASE / "half")
        self.assertGreater(caches["cube"], checkpoint, "nothing to cut back")
        self.kill_everywhere("sparse", ("--resume",), "half", 30, every=FRAMES)

    def test_killed_at_any_call_of_a_resume_from_a_kept_checkpoint(self):
        self.kill_everywhere("kept", ("--resume-from", "7"), "whole-kept", 25, every=FRAMES)

    def test_killed_at_any_call_of_a_run_into_an_old_folder(self):
        self.kill_everywhere("scene", (), "whole-scene", 25, every=FRAMES)

    def test_killed_at_random_times(self):
        """A run of some seconds, killed and resumed until it is done."""
        if not ALL:
            self.skipTest("only with --all")
        write("medium.json", scene(frames=40, cell=0.17))
        begun = time.monotonic()
        code, said, _ = run("medium.json", "-o", "whole-medium", "--threads", "2")
        self.assertEqual(code, 0, said)
        seconds = time.monotonic() - begun
        self.whole["medium"] = contents("whole-medium")
        chance, kills = random.Random(7), 0
        while kills < 50:
            self.fresh()
            for _ in range(10):
                process = start("medium.json", "-o", "out", "--resume", "--threads", str(chance.randint(1, 3)))
                time.sleep(chance.uniform(0, seconds))
                process.kill()
                process.communicate()
                kills += 1
                if (BASE / "out").exists():
                    run_files.check_folder(BASE / "out")
            self.assert_comes_to("medium", f"after {kills} kills")
        print(f"{kills} kills in runs of {seconds:.1f} s", end=" ", flush=True)

    # Calls that fail

    def fail_at(self, fault, name, words, source, fine):
        """@param fine the call may fail and the run go on: hit call -> bool"""
        what = f"{fault} in {' '.join(words)}"
        self.fresh(source)
        code, said, report = run(f"{name}.json", *words, "-o", "out", "--threads", "1", fault=fault)
        self.assertIn(code, (0, 4), f"{what}: {said}")
        told = "messages of this run are not kept" in said
        self.assertTrue(code == 4 or told or fine(report[4]), f"{what}: exit code 0 though {report[4]} failed")
        if code == 4:
            self.assertIn("out", said, f"{what}: the message has no path")
        self.assertEqual(report[2:4], [0, 0], f"{what}: held at the end")
        if not (BASE / "out").exists():
            return
        run_files.check_folder(BASE / "out")
        if code == 0:
            self.assert_whole(name, what, said)
        self.assert_comes_to(name, what)

    def fail_everywhere(self, kind, ending, daily, fine):
        calls, _ = self.count("scene.json")
        self.each(some(calls, daily),
                  lambda number: self.fail_at(f"{kind}:{number}{ending}", "scene", (), None, fine))
        calls, _ = self.count("sparse.json", "--resume", source="whole-sparse")
        self.each(some(calls, daily // 4),
                  lambda number: self.fail_at(f"{kind}:{number}{ending}", "sparse", ("--resume",), "whole-sparse", fine))

    @staticmethod
    def is_harmless(hit):
        """What is closed has been written to the disk before; the folder is there; a lock that stays locks nothing."""
        return hit in ("close:", "unlink:lock", "mkdir:out") and (hit != "mkdir:out" or (BASE / "out").exists())

    def test_a_full_disk(self):
        self.fail_everywhere("enospc", "", 25, self.is_harmless)

    def test_a_disk_that_stays_full(self):
        self.fail_everywhere("enospc", ":ever", 20, self.is_harmless)

    def test_a_broken_disk(self):
        self.fail_everywhere("eio", "", 20, self.is_harmless)

    def test_interrupted_calls_are_made_again(self):
        self.fail_everywhere("eintr", "", 15, lambda hit: True)

    def test_short_writes_go_on(self):
        self.fail_everywhere("short", "", 10, lambda hit: True)
        self.fresh()
        code, said, _ = run("scene.json", "-o", "out", fault="short:1:ever")
        self.assertEqual(code, 0, said)
        self.assert_whole("scene", "short writes", said)

    # Memory

    def starve(self, fault, name, words, source):
        what = f"{fault} in {' '.join(words)}"
        self.fresh(source)
        code, said, report = run(f"{name}.json", *words, "-o", "out", "--threads", "1", fault=fault)
        self.assertIn(code, (0, 5), f"{what}: {said}")
        self.assertEqual(report[2:4], [0, 0], f"{what}: held at the end")
        if not (BASE / "out").exists():
            return
        run_files.check_folder(BASE / "out")
        if code == 0:  # memory for something that the run can do without
            self.assert_whole(name, what, said)
        self.assert_comes_to(name, what)

    def starve_everywhere(self, ending, daily):
        _, allocations = self.count("scene.json")
        self.each(some(allocations, daily), lambda number: self.starve(f"alloc:{number}{ending}", "scene", (), None))
        _, again = self.count("sparse.json", "--resume", source="whole-sparse")
        self.each(some(again, daily // 4),
                  lambda number: self.starve(f"alloc:{number}{ending}", "sparse", ("--resume",), "whole-sparse"))
        print(f"{allocations} and {again} allocations", end=" ", flush=True)

    def test_no_memory_once(self):
        self.starve_everywhere("", 50)

    def test_no_memory_any_more(self):
        self.starve_everywhere(":ever", 40)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + [f"Faults.{name}" for name in ONLY], verbosity=2)
