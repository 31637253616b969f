"""Runs: simulations that leave files, as ``sinew run`` does."""
from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
from typing import Iterator

from ._library import Error, RunOpts, Status, encode_path, library
from ._scene import Scene, load_scene
from ._simulation import Simulation
from ._stats import Stats

_RESUME_NO, _RESUME_LAST = 0, 1


def run(scene: Scene | str | os.PathLike[str], out: str | os.PathLike[str], *, frames: tuple[int, int] | None = None,
        threads: int | None = None, resume: bool = False, strict: bool = False) -> Iterator[Stats]:
    """Simulate a scene into a folder, one frame for each turn of a loop.

        for stats in sinew.run("scene.json", out="result"):
            print(f"{100 * stats.share:.0f} %, frame {stats.frame}")

    The folder has what ``sinew run`` leaves, with the same bytes in its caches. A loop that is left, by ``break`` or by
    an exception, leaves an interrupted run that goes on with ``resume=True``. Arrays of the scene are written to
    ``OUT/input``, so that the run can be looked at and repeated without this program.

    :param frames: first and last, instead of the scene's
    :param resume: go on after the last checkpoint, or start anew where there is none
    :param strict: raise Error where a frame misses its tolerance
    """
    given = scene if isinstance(scene, Scene) else load_scene(scene)
    if given._has_arrays():
        given = load_scene(given.save(pathlib.Path(out) / "input" / "scene.json"))
    if frames is not None:
        given.set("frames", list(frames))
    simulation = Simulation(given, threads=threads)
    return _frames(simulation, os.fspath(out), resume, strict)


def _frames(simulation: Simulation, out: str, resume: bool, strict: bool) -> Iterator[Stats]:
    with simulation, _opened(simulation, out, resume) as handle:
        objects = simulation._open()
        frame = library().sn_run_next_frame(handle)
        while frame <= simulation.last_frame:
            stats = simulation.step()
            library().call("sn_run_append", handle, objects.model, objects.state, simulation._stats)
            if strict and not stats.converged:
                tolerance = simulation.scene["solver"]["newton"]["tolerance"]
                raise Error(Status.TOLERANCE, f"frame {frame}: residual {stats.residual:.3g} after {stats.newton} "
                                              f"Newton steps, the tolerance is {tolerance:.3g}")
            frame = library().sn_run_next_frame(handle)
            yield stats


@contextlib.contextmanager
def _opened(simulation: Simulation, out: str, resume: bool) -> Iterator[ctypes.c_void_p]:
    """The folder of a run; how it was left decides on what result.json says."""
    objects = simulation._open()
    handle = ctypes.c_void_p()
    opts = RunOpts(folder=encode_path(out), first_frame=simulation.first_frame, last_frame=simulation.last_frame,
                   resume=_RESUME_LAST if resume else _RESUME_NO)
    library().call("sn_run_open", ctypes.byref(opts), objects.model, objects.scene, objects.state,
                   ctypes.byref(handle))
    try:
        yield handle
        library().call("sn_run_finish", handle, Status.OK, b"")
    except Error as error:
        _leave(simulation, handle, error.status, error.text)
        raise
    except BaseException as error:
        _leave(simulation, handle, Status.INTERRUPTED, f"after frame {library().sn_run_next_frame(handle) - 1}: "
                                                       f"{type(error).__name__}")
        raise
    finally:
        library().sn_run_close(handle)


def _leave(simulation: Simulation, handle: ctypes.c_void_p, status: Status, reason: str) -> None:
    """Write checkpoint and result as far as possible; the reason to leave is already on its way up."""
    objects = simulation._open()
    # An exception between a step and its storing leaves a state that is ahead of the caches.
    stored = library().sn_run_next_frame(handle) - 1
    with contextlib.suppress(Error):
        resumable = status in (Status.INTERRUPTED, Status.TOLERANCE)
        if resumable and stored >= simulation.first_frame and simulation.frame == stored:
            library().call("sn_run_checkpoint", handle, objects.model, objects.state)
    with contextlib.suppress(Error):
        library().call("sn_run_finish", handle, status, reason.encode()[:1000].decode("utf-8", "ignore").encode())
