"""Tests of the Python package, by unittest alone.

SINEW_LIBRARY names the shared library, SINEW_PROGRAM the program to compare with, SINEW_LAYOUT a program that
prints the compiler's layout of structures; tests that want one that is not given are skipped.
"""
import concurrent.futures
import ctypes
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import sinew
from sinew import _library

PROGRAM = os.environ.get("SINEW_PROGRAM")
LAYOUT = os.environ.get("SINEW_LAYOUT")

QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
TRIANGLES = np.array([triangle for a, b, c, d in QUADS for triangle in ((a, b, c), (a, c, d))])


def box(x, y, z):
    """Vertices of a box with a corner in the origin, x fastest."""
    return np.array([(i * x, j * y, k * z) for k in (0, 1) for j in (0, 1) for i in (0, 1)], dtype=float)


def dropped_cube(**keys):
    """A cube that falls on the ground within its eight frames."""
    scene = sinew.Scene(frames=(1, 8), **keys)
    cube = scene.add_body(box(0.2, 0.2, 0.2), TRIANGLES, cell=0.05, name="cube", material={"young": 3e4},
                          translate=(0, 0.05, 0), spin=(0, 0, 2))
    scene.add_plane(friction=0.5)
    return scene, cube


def all_frames(scene, **options):
    with sinew.Simulation(scene, **options) as simulation:
        positions = simulation.positions()
        return np.array([positions.copy() for _ in simulation])


def cache_frames(path):
    data = pathlib.Path(path).read_bytes()
    points, frames = np.frombuffer(data, "<i4", 1, 16)[0], np.frombuffer(data, "<i4", 1, 28)[0]
    return np.frombuffer(data, "<f4", 3 * points * frames, 32).reshape(frames, points, 3)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tearDown(self):
        gc.collect()
        self.assertEqual(sinew.memory_used(), 0, "memory of the library is left")

    def assert_refused(self, status, *parts, call):
        with self.assertRaises(sinew.Error) as caught:
            call()
        self.assertEqual(caught.exception.status, status)
        for part in parts:
            self.assertIn(part, caught.exception.text)


class LibraryTest(Case):
    def test_structures_are_laid_out_as_in_c(self):
        if not LAYOUT:
            self.skipTest("SINEW_LAYOUT is not given")
        lines = subprocess.run([LAYOUT], capture_output=True, text=True, check=True).stdout.splitlines()
        seen = {}
        for line in lines:
            name, *numbers = line.split()
            structure, _, field = name.partition(".")
            mirrored = _library.STRUCTURES[structure]
            if field:
                at = getattr(mirrored, field)
                self.assertEqual([at.offset, at.size], [int(n) for n in numbers], name)
            else:
                self.assertEqual(ctypes.sizeof(mirrored), int(numbers[0]), name)
            seen.setdefault(structure, set()).add(field)
        for name, mirrored in _library.STRUCTURES.items():
            self.assertEqual(seen[name], {""} | {field[0] for field in mirrored._fields_}, name)

    def test_the_library_is_the_one_named_and_of_this_version(self):
        self.assertEqual(sinew.library_version().split(".")[:2], sinew.__version__.split(".")[:2])
        if "SINEW_LIBRARY" in os.environ:
            self.assertEqual(sinew.library_path(), os.environ["SINEW_LIBRARY"])

    def test_a_library_that_cannot_be_loaded_is_named(self):
        wrong = str(self.folder / "libnothing.so")
        environment = dict(os.environ, SINEW_LIBRARY=wrong)
        result = subprocess.run([sys.executable, "-c", "import sinew; sinew.memory_used()"], env=environment,
                                capture_output=True, text=True, check=False)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("ImportError", result.stderr)
        self.assertIn(wrong, result.stderr)

    def test_messages_go_to_logging(self):
        triangles = np.vstack([TRIANGLES, [(0, 0, 1)]])
        scene = sinew.Scene(frames=(1, 1))
        scene.add_body(box(1, 1, 1), triangles, cell=0.25)
        with self.assertLogs("sinew", "WARNING") as log:
            sinew.Simulation(scene).close()
        self.assertTrue(any("1 triangles without area" in line for line in log.output), log.output)

    def test_a_program_may_end_without_closing(self):
        text = ("import numpy as np, sinew\nfrom test_sinew import dropped_cube\n"
                "scene, cube = dropped_cube()\nsimulation = sinew.Simulation(scene)\n"
                "positions = simulation.positions(cube)\nsimulation.step()\nprint('end')\n")
        here = os.pathsep.join([str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        result = subprocess.run([sys.executable, "-c", text], env=dict(os.environ, PYTHONPATH=here),
                                capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "end\n", ""))


class ClosedFormTest(Case):
    """A bar of 1 m x 0.25 m x 0.25 m, free to become thinner."""

    def bar(self, **keys):
        scene = sinew.Scene(mode="quasistatic", frames=(1, 1), **keys)
        bar = scene.add_body(box(1, 0.25, 0.25), TRIANGLES, cell=0.125, density=1000,
                             material={"model": "corotated", "young": 1e6, "poisson": 0.3})
        for axis in range(3):
            upper = [2, 2, 2]
            upper[axis] = 0
            scene.fix(bar, box=[(-1, -1, -1), upper], axes="xyz"[axis])
        scene.set("solver.newton.tolerance", 1e-8)
        scene.set("solver.newton.max", 50)
        return scene, bar

    def test_a_pulled_bar_stretches_by_stress_over_young(self):
        scene, bar = self.bar(gravity=0)
        scene.add_force(bar, traction=(1e3, 0, 0), box=[(0.999, -1, -1), (1.001, 1, 1)])
        with sinew.Simulation(scene) as simulation:
            stats = simulation.step()
            corner = simulation.positions(bar)[7]
        self.assertTrue(stats.converged)
        strain = 1e3 / 1e6
        self.assertAlmostEqual((corner[0] - 1) / strain, 1, delta=0.005)
        self.assertAlmostEqual((corner[1] / 0.25 - 1) / strain, -0.3, delta=0.005)

    def test_a_hanging_bar_stretches_by_half_its_weight(self):
        scene, bar = self.bar(gravity=(9.81, 0, 0))
        with sinew.Simulation(scene) as simulation:
            simulation.step()
            end = simulation.positions(bar)[[1, 3, 5, 7], 0].mean()
        self.assertAlmostEqual((end - 1) / (1000 * 9.81 / (2 * 1e6)), 1, delta=0.015)


class ViewTest(Case):
    def test_positions_start_at_the_vertices(self):
        scene, cube = dropped_cube()
        with sinew.Simulation(scene) as simulation:
            expected = box(0.2, 0.2, 0.2) + (0, 0.05, 0)
            np.testing.assert_allclose(simulation.positions(cube), expected, atol=1e-6)
            np.testing.assert_array_equal(simulation.triangles(cube), TRIANGLES)

    def test_positions_are_the_same_memory_with_new_values(self):
        scene, cube = dropped_cube()
        with sinew.Simulation(scene) as simulation:
            first = simulation.positions(cube)
            address, before = first.ctypes.data, first.copy()
            simulation.step()
            simulation.step()
            again = simulation.positions("cube")
            self.assertEqual(again.ctypes.data, address)
            self.assertTrue(np.shares_memory(first, again))
            self.assertFalse(np.array_equal(first, before))
            np.testing.assert_array_equal(first, again)
            self.assertEqual((first.dtype, first.shape), (np.dtype(np.float32), (8, 3)))
            with self.assertRaises(ValueError):
                first[0, 0] = 1

    def test_positions_outlive_the_simulation(self):
        scene, cube = dropped_cube()
        simulation = sinew.Simulation(scene)
        simulation.step()
        positions = simulation.positions(cube)
        kept = positions.copy()
        simulation.close()
        simulation.close()
        np.testing.assert_array_equal(positions, kept)
        for call in (simulation.step, simulation.triangles, lambda: simulation.frame):
            with self.assertRaisesRegex(ValueError, "closed"):
                call()

    def test_objects_may_go_in_any_order(self):
        scene, cube = dropped_cube()
        simulation = sinew.Simulation(scene)
        positions = simulation.positions(cube)
        del scene
        gc.collect()
        simulation.step()
        self.assertGreater(sinew.memory_used(), 0)
        ring = [simulation]
        ring.append(ring)  # only the collector can free this
        del simulation, ring
        gc.collect()
        self.assertEqual(sinew.memory_used(), 0)
        self.assertTrue(np.isfinite(positions).all())

    def test_arrays_are_taken_as_they_were(self):
        vertices, triangles = box(1, 1, 1), TRIANGLES.copy()
        scene = sinew.Scene(frames=(1, 1), mode="quasistatic")
        scene.add_body(vertices, triangles, cell=0.25)
        vertices[:] = np.nan
        triangles[:] = 0
        with self.assertLogs("sinew"), sinew.Simulation(scene) as simulation:
            np.testing.assert_allclose(simulation.positions(), box(1, 1, 1), atol=1e-6)


class SameBitsTest(Case):
    def test_threads_do_not_change_the_result(self):
        scene, _ = dropped_cube()
        np.testing.assert_array_equal(all_frames(scene, threads=1), all_frames(scene, threads=3))

    def test_arrays_of_other_kinds_give_the_same(self):
        scene, _ = dropped_cube()
        other = sinew.Scene(frames=(1, 8))
        other.add_body(np.asfortranarray(box(0.2, 0.2, 0.2)), TRIANGLES.astype(np.int16).tolist(), cell=0.05,
                       material={"young": 3e4}, translate=np.float32([0, 0, 0]) + (0, 0.05, 0), spin=[0, 0, 2])
        other.add_plane(friction=np.float64(0.5))
        np.testing.assert_array_equal(all_frames(scene), all_frames(other))

    def test_the_program_gives_the_same(self):
        if not PROGRAM:
            self.skipTest("SINEW_PROGRAM is not given")
        scene, _ = dropped_cube()
        stiffness = np.linspace(0.5, 1.7, 8) / 3 + 0.1
        scene.add_body(box(0.1, 0.1, 0.1) / 3, TRIANGLES, cell=0.01, name="other", maps={"stiffness": stiffness},
                       translate=(0.5, 0.01, 0))
        frames = all_frames(scene)
        path = scene.save(self.folder / "saved" / "scene.json")
        subprocess.run([PROGRAM, "run", path, "-o", self.folder / "out", "--quiet"], check=True)
        np.testing.assert_array_equal(cache_frames(self.folder / "out" / "cube.pc2"), frames)
        self.assertEqual(len(list(sinew.run(scene, self.folder / "own"))), 8)
        for name in ("cube.pc2", "other.pc2", "cube.obj", "checkpoint"):
            own, program = self.folder / "own" / name, self.folder / "out" / name
            self.assertEqual(own.read_bytes(), program.read_bytes(), name)
        picture = self.folder / "sheet.png"
        subprocess.run([PROGRAM, "render", self.folder / "own", "-o", picture], check=True)
        self.assertGreater(picture.stat().st_size, 1000)

    def test_simulations_run_side_by_side(self):
        scene, _ = dropped_cube()
        expected = all_frames(scene)
        with concurrent.futures.ThreadPoolExecutor(3) as executor:
            for frames in executor.map(lambda _: all_frames(scene, threads=1), range(3)):
                np.testing.assert_array_equal(frames, expected)


class StateTest(Case):
    def test_a_state_comes_back_to_the_last_bit(self):
        scene, cube = dropped_cube()
        with sinew.Simulation(scene) as simulation:
            positions = simulation.positions(cube)
            for _ in range(3):
                simulation.step()
            simulation.save(self.folder / "three")
            third = positions.copy()
            fourth = simulation.step() and positions.copy()
            simulation.load(self.folder / "three")
            self.assertEqual(simulation.frame, 3)
            np.testing.assert_array_equal(positions, third)
            simulation.step()
            np.testing.assert_array_equal(positions, fourth)

    def test_a_state_of_another_scene_is_refused(self):
        scene, _ = dropped_cube()
        with sinew.Simulation(scene) as simulation:
            simulation.step()
            simulation.save(self.folder / "state")
        scene.set("bodies.0.density", 900)
        with sinew.Simulation(scene) as simulation:
            self.assert_refused(sinew.Status.INPUT, "state", call=lambda: simulation.load(self.folder / "state"))
            self.assert_refused(sinew.Status.INPUT, "gone", call=lambda: simulation.load(self.folder / "gone"))
            self.assert_refused(sinew.Status.IO, "no", call=lambda: simulation.save(self.folder / "no" / "where"))

    def test_statistics_are_typed(self):
        scene, _ = dropped_cube()
        with sinew.Simulation(scene) as simulation:
            every = list(simulation)
        self.assertEqual([stats.frame for stats in every], list(range(1, 9)))
        self.assertEqual(every[-1].share, 1.0)
        last = every[-1]
        self.assertEqual(len(last.krylov), last.newton)
        self.assertGreater(last.contacts, 0)
        self.assertIsInstance(last.converged, bool)
        self.assertIsInstance(last.energy.kinetic, float)
        self.assertEqual(last.unknowns, last.line["unknowns"])


class SceneTest(Case):
    def test_bones_move_what_is_attached(self):
        scene = sinew.Scene(mode="quasistatic", frames=(1, 3), gravity=0)
        body = scene.add_body(box(1, 1, 1), TRIANGLES, cell=0.125)
        motion = np.array([[1, 0, 0, 0], [3, 0.5, 0, 0]])
        bone = scene.add_bone(capsule=((0.3, 0.5, 0.5), (0.7, 0.5, 0.5), 0.2), motion=motion)
        scene.attach(body, bone)
        turning = [[1, 0, 0, 0, 0, 0, 0, 1], [3, 0.5, 0, 0, 0, 0, 0, 1]]
        block = scene.add_bone(mesh=(box(0.2, 0.2, 0.2) + 0.1, TRIANGLES), motion=turning, name="block")
        scene.attach(body, block, where={"near": 0.1})
        with sinew.Simulation(scene) as simulation:
            list(simulation)
            moved = simulation.positions(body) - box(1, 1, 1)
        np.testing.assert_allclose(moved, np.tile([0.5, 0, 0], (8, 1)), atol=1e-3)

    def test_an_array_says_where(self):
        vertices = box(1, 1, 1)
        scene = sinew.Scene(mode="quasistatic", frames=(1, 1))
        body = scene.add_body(vertices, TRIANGLES, cell=0.125, material={"young": 1e5})
        scene.fix(body, where=vertices[:, 1] > 0.5)
        with sinew.Simulation(scene) as simulation:
            simulation.step()
            sag = simulation.positions(body)[:, 1] - vertices[:, 1]
        np.testing.assert_allclose(sag[vertices[:, 1] == 1], 0, atol=1e-5)
        self.assertTrue((sag[vertices[:, 1] == 0] < -1e-3).all(), sag)

    def test_every_kind_of_thing_can_be_added(self):
        scene, cube = dropped_cube()
        scene.add_sphere((3, 0, 0), 1)
        scene.add_capsule((3, 0, 0), (4, 0, 0), 0.5)
        scene.add_box((5, 0, 0), (1, 1, 1), motion=[{"frame": 1, "translate": [0, 1, 0]}])
        scene.add_obstacle((box(1, 1, 1) + 5, TRIANGLES))
        scene.add_muscle((box(0.1, 0.05, 0.05) + 0.05, TRIANGLES), body=cube, activation=0.5)
        document = scene.resolve()
        self.assertEqual([entry["name"] for entry in document["colliders"]],
                         ["plane", "sphere", "capsule", "box", "obstacle"])
        self.assertEqual(document["muscles"][0]["body"], "cube")
        with sinew.Simulation(scene) as simulation:
            self.assertTrue(np.isfinite(simulation.step().residual))

    def test_names_are_found_for_the_nameless(self):
        scene = sinew.Scene()
        bodies = [scene.add_body(box(1, 1, 1), TRIANGLES) for _ in range(3)]
        self.assertEqual([body.name for body in bodies], ["body", "body2", "body3"])
        with self.assertRaises(ValueError):
            scene.add_body(box(1, 1, 1), TRIANGLES, name="body2")

    def test_wrong_scenes_are_refused_with_their_place(self):
        status = sinew.Status.INPUT
        scene, _ = dropped_cube(framez=3)
        self.assert_refused(status, "framez", "frames", call=scene.resolve)
        scene, _ = dropped_cube()
        scene.set("bodies.0.cell", -1)
        self.assert_refused(status, "bodies[0].cell", "-1", call=lambda: sinew.Simulation(scene))
        scene, _ = dropped_cube()
        scene.set("bodies.7.cell", 1)
        self.assert_refused(sinew.Status.USAGE, "bodies.7.cell", call=scene.resolve)
        scene = sinew.Scene()
        scene.add_body(box(1, 1, 1), TRIANGLES + 1)
        self.assert_refused(status, "bodies[0].surface", "triangles[", call=scene.resolve)
        scene = sinew.Scene()
        scene.add_body(box(1, np.nan, 1), TRIANGLES)
        self.assert_refused(status, "bodies[0].surface", "nan", call=scene.resolve)
        scene = sinew.Scene()
        scene.add_body(box(1, 1, 1), TRIANGLES, maps={"stiffness": np.ones(7)})
        self.assert_refused(status, "bodies[0].maps.stiffness", "7 values", "8 vertices", call=scene.resolve)
        scene = sinew.Scene()
        scene.add_body("memory:nothing")
        self.assert_refused(status, "bodies[0].surface", "nothing", call=scene.resolve)
        self.assert_refused(status, call=sinew.Scene().resolve)

    def test_wrong_arrays_are_refused_at_once(self):
        scene = sinew.Scene()
        cube = box(1, 1, 1)
        cases = [(ValueError, np.zeros((4, 2)), TRIANGLES), (ValueError, cube, None), (ValueError, cube, [0, 1, 2]),
                 (ValueError, cube, -TRIANGLES), (TypeError, cube, TRIANGLES * 1.5), (ValueError, "x.obj", TRIANGLES)]
        for error, vertices, triangles in cases:
            with self.assertRaises(error):
                scene.add_body(vertices, triangles)
        with self.assertRaises(ValueError):
            scene.add_bone(motion=np.zeros((3, 5)))
        with self.assertRaises(ValueError):
            scene.set("gravity", float("nan"))
        scene.add_body(box(1, 1, 1), TRIANGLES, cell=0.25)
        with sinew.Simulation(scene) as simulation, self.assertRaises(KeyError):
            simulation.positions("nobody")

    def test_scene_files_are_loaded_and_changed(self):
        scene, _ = dropped_cube()
        path = scene.save(self.folder / "scene.json")
        loaded = sinew.load_scene(path)
        loaded.set("frames", [1, 2])
        np.testing.assert_array_equal(all_frames(loaded), all_frames(scene)[:2])
        with sinew.Simulation(path) as simulation:
            self.assertEqual(simulation.last_frame, 8)
        cases = [("{\n  \"bodies\": [}", ":2:"), ("{\"unit\": 1, \"unit\": 2}", "'unit' twice"), ("[]", "object"),
                 ("{\"unit\": NaN}", "NaN"), ("{\"bodies\": [{\"surface\": \"gone.obj\"}]}", "gone.obj"),
                 ("{\"bodies\": [{\"surface\": \"memory:x\"}]}", "memory")]
        for text, part in cases:
            wrong = self.folder / "wrong.json"
            wrong.write_text(text)
            self.assert_refused(sinew.Status.INPUT, str(wrong), part, call=lambda: sinew.Simulation(wrong))
        self.assert_refused(sinew.Status.INPUT, "none.json", call=lambda: sinew.load_scene(self.folder / "none.json"))


class RunTest(Case):
    def result(self):
        return json.loads((self.folder / "out" / "result.json").read_text())

    def test_a_loop_that_is_left_is_interrupted_and_goes_on(self):
        scene, _ = dropped_cube()
        expected = all_frames(scene)
        for stats in sinew.run(scene, self.folder / "out"):
            if stats.frame == 3:
                break
        gc.collect()
        self.assertEqual((self.result()["outcome"], self.result()["last_frame"]), ("interrupted", 3))
        rest = [stats.frame for stats in sinew.run(scene, self.folder / "out", resume=True, threads=1)]
        self.assertEqual(rest, [4, 5, 6, 7, 8])
        self.assertEqual(self.result()["outcome"], "done")
        np.testing.assert_array_equal(cache_frames(self.folder / "out" / "cube.pc2"), expected)
        self.assertEqual(list(sinew.run(scene, self.folder / "out", resume=True)), [])

    def test_an_exception_in_the_loop_is_an_interruption(self):
        scene, _ = dropped_cube()
        running = sinew.run(scene, self.folder / "out", frames=(1, 4))
        next(running)
        with self.assertRaises(KeyboardInterrupt):
            running.throw(KeyboardInterrupt())
        self.assertEqual(self.result()["outcome"], "interrupted")
        self.assertIn("KeyboardInterrupt", self.result()["reason"])

    def test_strict_runs_fail_where_a_frame_does(self):
        scene, _ = dropped_cube()
        scene.set("solver.newton", {"max": 1, "tolerance": 1e-12})
        self.assert_refused(sinew.Status.TOLERANCE, "frame ", "tolerance",
                            call=lambda: list(sinew.run(scene, self.folder / "out", strict=True)))
        self.assertEqual(self.result()["outcome"], "failed")

    def test_a_folder_that_cannot_be_made_is_an_error(self):
        (self.folder / "file").write_text("")
        path = dropped_cube()[0].save(self.folder / "scene.json")
        self.assert_refused(sinew.Status.IO, "file",
                            call=lambda: list(sinew.run(path, self.folder / "file" / "out")))


class ExampleTest(Case):
    def test_the_example_runs(self):
        example = pathlib.Path(__file__).resolve().parents[1] / "examples" / "jelly.py"
        path = os.environ.get("PATH", "")
        if PROGRAM:
            path = os.path.dirname(PROGRAM) + os.pathsep + path
        result = subprocess.run([sys.executable, example], cwd=self.folder, env=dict(os.environ, PATH=path),
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("ball", result.stdout)
        self.assertTrue((self.folder / "jelly" / "ball.pc2").is_file())
        if PROGRAM:
            self.assertTrue((self.folder / "jelly.png").is_file(), result.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
