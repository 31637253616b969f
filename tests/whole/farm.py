"""farm.py SINEW FOLDER: manners on a render farm: exit codes, result.json, signals, retries, progress for programs.

All happens in FOLDER, which must be empty. Prints a line a test.
"""
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SINEW = os.path.abspath(sys.argv[1])
BASE = pathlib.Path(sys.argv[2]).resolve()

BOX = ("".join(f"v {x} {y} {z}\n" for z in (0, 1) for y in (0, 1) for x in (0, 1)) +
       "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n")


def scene(frames=5, cell=0.25, **keys):
    """A cube that a bone in it turns and that jiggles."""
    motion = [{"frame": 1}, {"frame": frames + 1, "rotate": [0, 0, 0.3826834, 0.9238795]}]
    return {"frames": [1, frames], "bodies": [{"name": "cube", "surface": "cube.obj", "cell": cell}],
            "bones": [{"name": "core", "motion": motion,
                       "capsule": {"from": [0.3, 0.5, 0.5], "to": [0.7, 0.5, 0.5], "radius": 0.15}}],
            "attachments": [{"bone": "core"}], **keys}


def limited(**limits):
    """For preexec_fn: limits of the process by their names in `resource`, without RLIMIT_."""
    def set_limits():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name), (value, value))
    return set_limits


class Farm(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=BASE))
        (self.folder / "cube.obj").write_text(BOX)
        self.write(scene())

    def write(self, content):
        (self.folder / "scene.json").write_text(json.dumps(content))

    def run_sinew(self, *words, out="out", **options):
        return subprocess.run([SINEW, "run", "scene.json", "-o", out, *words], cwd=self.folder, capture_output=True,
                              text=True, errors="replace", timeout=120, check=False, **options)

    def start(self, *words, out="out"):
        return subprocess.Popen([SINEW, "run", "scene.json", "-o", out, *words], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def result(self, out="out"):
        return json.loads((self.folder / out / "result.json").read_text())

    def bytes(self, name, out="out"):
        return (self.folder / out / name).read_bytes()

    def contents(self, out="out"):
        """All files of a run but the time that it took."""
        return {path.name: path.read_bytes() for path in (self.folder / out).iterdir() if path.name != "result.json"}

    def assert_done_as_without_interruption(self):
        done = self.run_sinew(out="whole")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("cube.pc2", "checkpoint"):
            self.assertEqual(self.bytes(name), self.bytes(name, "whole"), name)
        frames = [json.loads(line)["frame"] for line in self.bytes("stats.jsonl").splitlines()]
        self.assertEqual(frames, [json.loads(line)["frame"] for line in self.bytes("stats.jsonl", "whole").splitlines()])

    # How a run ends

    def test_exit_codes_and_results(self):
        hard = {"newton": {"max": 1, "tolerance": 1e-12}}
        fine = scene(cell=0.008)
        small = limited(AS=150 << 20)
        no_space = limited(FSIZE=700)  # statistics of the second frame, or the third, have no room
        blocked = self.folder / "blocked"
        blocked.write_text("a file")
        # what, scene, words, options, exit code, outcome in result.json (None: nothing is written)
        cases = [
            ("done", scene(), (), {}, 0, "done"),
            ("unknown option", scene(), ("--threds", "1"), {}, 1, None),
            ("unknown progress", scene(), ("--progress", "bra"), {}, 1, None),
            ("frames turned round", scene(), ("--frames", "4:2"), {}, 1, None),
            ("bad value", scene(cell=-1), (), {}, 2, None),
            ("missing mesh", dict(scene(), bodies=[{"surface": "gone.obj"}]), (), {}, 2, None),
            ("missed tolerance", scene(solver=hard), ("--strict",), {}, 3, "failed"),
            ("below a file", scene(), ("-o", "blocked/out"), {}, 4, None),
            ("in place of a file", scene(), ("-o", "blocked"), {}, 4, None),
            ("no space for statistics", scene(), (), {"preexec_fn": no_space}, 4, "failed"),
            ("out of memory", fine, ("--threads", "1"), {"preexec_fn": small}, 5, None),
        ]
        for number, (what, content, words, options, code, outcome) in enumerate(cases):
            with self.subTest(what):
                out = f"out{number}"
                self.write(content)
                result = self.run_sinew(*words, out=out, **options)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertEqual((self.folder / out).exists(), outcome is not None, "the folder")
                if code:
                    self.assertIn("sinew: ", result.stderr)
                if not outcome:
                    continue
                found = self.result(out)
                self.assertEqual((found["outcome"], found["exit_code"]), (outcome, code))
                self.assertEqual(found["frames"], [1, 5])
                self.assertGreaterEqual(found["seconds"], 0)
                self.assertEqual(found["reason"] == "", code == 0, found)
                self.assertIn(found["reason"], result.stderr)
        self.assertEqual(blocked.read_text(), "a file")

    def test_a_full_disk_is_a_failure_that_can_be_resumed(self):
        for size in (100, 400, 900, 3000):
            with self.subTest(size):
                full = self.run_sinew("--set", "output.checkpoint_every=100", preexec_fn=limited(FSIZE=size))
                self.assertEqual(full.returncode, 4, full.stderr)
                self.assertIn("out/", full.stderr)
                if size > 300:  # room for result.json itself
                    self.assertEqual((self.result()["outcome"], self.result()["exit_code"]), ("failed", 4))
                again = self.run_sinew("--resume")
                self.assertEqual(again.returncode, 0, again.stderr)
                self.assert_done_as_without_interruption()

    def test_a_really_full_disk(self):
        mounted = self.folder / "disk"
        mounted.mkdir()
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", mounted], capture_output=True,
                               check=False) if os.geteuid() == 0 else None
        if mount is None or mount.returncode != 0:
            self.skipTest("no file system can be mounted here")
        try:
            result = self.run_sinew(out="disk/out")
            self.assertEqual(result.returncode, 4, result.stderr)
        finally:
            subprocess.run(["umount", mounted], check=True)

    def test_a_folder_removed_meanwhile_is_exit_4(self):
        self.write(scene(frames=200))
        process = self.start()
        for line in process.stderr:
            if line.startswith("frame 2/"):
                break
        for path in (self.folder / "out").iterdir():
            path.unlink()
        text = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 4, text)

    def test_reasons_with_odd_bytes_are_still_json(self):
        hostile = os.fsdecode(b"out\xff\n\"\x01")
        result = self.run_sinew(out=hostile, preexec_fn=limited(FSIZE=900))
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertEqual(self.result(hostile)["outcome"], "failed")
        self.assertEqual(self.run_sinew("--resume", out=hostile).returncode, 0)

    def test_a_resume_that_is_refused_leaves_the_folder_alone(self):
        self.assertEqual(self.run_sinew().returncode, 0)
        before, result = self.contents(), self.result()
        self.write(scene(cell=0.5))
        refused = self.run_sinew("--resume")
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertEqual((self.contents(), self.result()), (before, result))

    # Retries

    def test_a_retry_is_a_resume(self):
        empty = self.folder / "out"
        empty.mkdir()
        self.assertEqual(self.run_sinew("--resume", "--frames", "1:3").returncode, 0)
        self.assertEqual(self.run_sinew("--resume").returncode, 0)
        self.assertEqual(self.result()["stored_frames"], 5)
        before, result = self.contents(), self.result()
        again = self.run_sinew("--resume")
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertNotIn("frame ", again.stderr)
        self.assertEqual(self.contents(), before)
        self.assertAlmostEqual(self.result()["seconds"], result["seconds"], places=6)
        self.assertEqual({**self.result(), "seconds": 0}, {**result, "seconds": 0})
        self.assert_done_as_without_interruption()

    def test_kills_at_any_time_lose_nothing(self):
        self.write(scene(frames=12, output={"checkpoint_every": 3}))
        whole = time.monotonic()
        self.assertEqual(self.run_sinew(out="timing").returncode, 0)
        whole = time.monotonic() - whole
        for number in range(8):
            process = self.start("--resume")
            time.sleep(whole * (number + 1) / 10)
            process.kill()
            process.communicate()
        self.assertEqual(self.run_sinew("--resume").returncode, 0)
        self.assert_done_as_without_interruption()

    # Signals

    def test_a_signal_while_the_scene_is_built_ends_before_the_first_frame(self):
        self.write(scene(frames=2, cell=0.06))
        process = self.start("--progress", "openjd")
        self.assertTrue(process.stdout.readline().startswith("openjd_status: reading"))
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("interrupted", out)
        self.assertNotIn("openjd_fail", out)
        self.assertIn("--resume", err)
        self.assertEqual((self.result()["outcome"], self.result()["exit_code"]), ("interrupted", 130))
        self.assertEqual(self.result()["stored_frames"], 0)
        self.assertFalse((self.folder / "out" / "checkpoint").exists())
        self.assertEqual(self.run_sinew("--resume").returncode, 0)
        self.assert_done_as_without_interruption()

    def test_a_signal_during_preroll_ends_after_the_frame(self):
        self.write(scene(frames=2, cell=0.1, preroll=6))
        process = self.start("--quiet")
        while not (self.folder / "out" / "scene.json").exists():  # written when the first frame is about to begin
            self.assertIsNone(process.poll())
            time.sleep(0.002)
        time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertLessEqual(self.result()["stored_frames"], 1)
        self.assertEqual(self.run_sinew("--resume").returncode, 0)
        self.assert_done_as_without_interruption()

    def test_a_second_signal_of_either_kind_ends_at_once(self):
        self.write(scene(frames=1, cell=0.015))  # a frame of some seconds
        for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM)):
            process = self.start("--quiet", out=first.name)
            while not (self.folder / first.name / "scene.json").exists():
                time.sleep(0.002)
            time.sleep(0.3)
            process.send_signal(first)
            time.sleep(0.1)
            process.send_signal(second)
            sent = time.monotonic()
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, -second)
            self.assertLess(time.monotonic() - sent, 2)

    def test_a_signal_in_the_last_frame_lets_it_be_done(self):
        self.write(scene(frames=1, cell=0.04))
        process = self.start("--quiet")
        while not (self.folder / "out" / "scene.json").exists():
            time.sleep(0.002)
        time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        # Before the frame began it is an interruption; within the frame, that is finished.
        expected = {0: "done", 130: "interrupted"}
        self.assertEqual(self.result()["outcome"], expected[process.returncode])

    # Progress

    def test_openjd_lines(self):
        lines = self.run_sinew("--progress", "openjd").stdout.splitlines()
        kinds = [line.split(":")[0] for line in lines]
        self.assertEqual(set(kinds), {"openjd_progress", "openjd_status"})
        shares = [float(line.split(": ")[1]) for line in lines if line.startswith("openjd_progress")]
        self.assertEqual(shares, sorted(shares))
        self.assertTrue(all(0 <= share <= 100 for share in shares) and shares[-1] == 100, shares)
        again = self.run_sinew("--progress", "openjd", "--resume").stdout
        self.assertIn("openjd_progress: 100.0", again)

    def test_openjd_says_why_it_failed(self):
        cases = [(scene(cell=-1), (), 2, "bodies[0].cell"),
                 (scene(solver={"newton": {"max": 1, "tolerance": 1e-12}}), ("--strict",), 3, "tolerance"),
                 (scene(), ("-o", "cube.obj/out"), 4, "cube.obj")]
        for content, words, code, part in cases:
            self.write(content)
            result = self.run_sinew("--progress", "openjd", *words)
            self.assertEqual(result.returncode, code)
            last = result.stdout.splitlines()[-1]
            self.assertTrue(last.startswith("openjd_fail: ") and part in last, last)

    def test_json_lines_are_the_statistics(self):
        result = self.run_sinew("--progress", "json")
        self.assertEqual(result.stdout.encode(), self.bytes("stats.jsonl"))

    def test_a_log_line_a_frame(self):
        text = self.run_sinew("--frames", "2:5").stderr
        self.assertEqual([line.split()[1] for line in text.splitlines() if line.startswith("frame ")],
                         ["2/5", "3/5", "4/5", "5/5"])
        self.assertNotIn("\r", text)
        self.assertNotIn("\033", text)

    def test_readers_that_go_away_do_not_end_the_run(self):
        process = self.start("--progress", "json")
        process.stdout.readline()
        process.stdout.close()
        text = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(60), 0, text)
        self.assert_done_as_without_interruption()

    def test_closed_standard_files_receive_nothing_else(self):
        words = [SINEW, "run", "scene.json", "-o", "out", "--progress", "json"]
        subprocess.run(["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *words], cwd=self.folder, check=True, timeout=60)
        self.assert_done_as_without_interruption()

    def test_output_that_does_not_arrive_is_exit_4(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w", encoding="ascii") as full:
            for words in (("check", "scene.json"), ("materials",), ("run", "scene.json", "--json")):
                code = subprocess.run([SINEW, *words], cwd=self.folder, stdout=full, stderr=subprocess.DEVNULL,
                                      check=False).returncode
                self.assertEqual(code, 4, words)
            code = subprocess.run([SINEW, "run", "scene.json", "--progress", "json"], cwd=self.folder, stdout=full,
                                  stderr=subprocess.DEVNULL, check=False).returncode
            self.assertEqual(code, 0, "progress that nobody can read")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
