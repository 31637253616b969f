"""A scene being simulated."""
from __future__ import annotations

import ctypes
import json
import os
import threading
import weakref
from typing import Any, Iterator

import numpy as np
import numpy.typing as npt

from ._library import encode_path, library
from ._scene import Body, Scene, load_scene
from ._stats import Stats


class _Objects:
    """Scene, pool, model and state of the library, destroyed together and in the right order."""

    def __init__(self) -> None:
        self.scene, self.pool = ctypes.c_void_p(), ctypes.c_void_p()
        self.model, self.state = ctypes.c_void_p(), ctypes.c_void_p()

    def destroy(self) -> None:
        """Free what there is; a second time does nothing."""
        for name in ("state", "model", "pool", "scene"):
            handle = getattr(self, name)
            getattr(library(), f"sn_{name}_destroy")(handle)
            handle.value = None


class Simulation:
    """Simulates a scene frame by frame.

    Use it in a ``with`` statement, or call :meth:`close`, to free its memory at once; otherwise that happens when
    nothing refers to it any more. The scene may be changed or dropped meanwhile: it was read as it was. One thread
    at a time works on a simulation; others wait. Different simulations are independent.
    """

    def __init__(self, scene: Scene | str | os.PathLike[str], *, threads: int | None = None) -> None:
        """Read the scene and build all of it.

        :param threads: 0 is one a processor; by default as the scene says. Never changes the result.
        """
        self._lock = threading.RLock()
        self._objects = objects = _Objects()
        self._finalizer = weakref.finalize(self, objects.destroy)
        self._buffers: dict[int, npt.NDArray[np.float32]] = {}
        self._stats = ctypes.create_string_buffer(library().sn_frame_stats_size())
        self._text = ctypes.create_string_buffer(4096)
        objects.scene = (scene if isinstance(scene, Scene) else load_scene(scene))._read()
        self._scene: dict[str, Any] = json.loads(library().sn_scene_json(objects.scene))
        count = self._scene["solver"]["threads"] if threads is None else threads
        call, byref = library().call, ctypes.byref
        try:
            call("sn_pool_create", count, byref(objects.pool))
            call("sn_model_build", objects.scene, objects.pool, byref(objects.model))
            call("sn_state_create", objects.model, objects.pool, byref(objects.state))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free everything but the arrays of positions, which keep their last values."""
        with self._lock:
            self._finalizer()

    def _open(self) -> _Objects:
        if not self._finalizer.alive:
            raise ValueError("the simulation is closed")
        return self._objects

    @property
    def scene(self) -> dict[str, Any]:
        """The scene with every default filled in, as docs/scene.md describes it."""
        return self._scene

    @property
    def bodies(self) -> list[Body]:
        """The bodies, in the order of the scene."""
        return [Body(entry["name"]) for entry in self._scene["bodies"]]

    @property
    def first_frame(self) -> int:
        """The first frame of the scene."""
        return int(self._scene["frames"][0])

    @property
    def last_frame(self) -> int:
        """The last frame of the scene."""
        return int(self._scene["frames"][1])

    @property
    def frame(self) -> int:
        """The frame last solved; before the first step, the one before the first."""
        with self._lock:
            return int(library().sn_state_frame(self._open().state))

    def step(self) -> Stats:
        """Solve the next frame, also beyond the last one of the scene.

        A frame that misses its tolerance is no error; ``converged`` says so.
        """
        with self._lock:
            objects = self._open()
            library().call("sn_step", objects.model, objects.state, self.frame + 1, self._stats)
            self._refill()
            return self._read_stats()

    def __iter__(self) -> Iterator[Stats]:
        """Step through the frames that are left."""
        while self.frame < self.last_frame:
            yield self.step()

    def _read_stats(self) -> Stats:
        length = library().sn_stats_to_json(self._stats, self._text, len(self._text))
        if length >= len(self._text):
            self._text = ctypes.create_string_buffer(length + 1)
            library().sn_stats_to_json(self._stats, self._text, len(self._text))
        share = (self.frame - self.first_frame + 1) / (self.last_frame - self.first_frame + 1)
        return Stats.from_json(self._text.value.decode(), share)

    def _index(self, body: Body | str | int) -> int:
        names = [entry["name"] for entry in self._scene["bodies"]]
        name = body.name if isinstance(body, Body) else body
        if isinstance(name, int) and 0 <= name < len(names):
            return name
        if name not in names:
            raise KeyError(f"found body {name!r}, expected one of {names}")
        return names.index(name)

    def positions(self, body: Body | str | int = 0) -> npt.NDArray[np.float32]:
        """Where the vertices of a body are: (n, 3), in the order of its mesh and in the unit of the scene.

        The library writes into this array, which is the same one in every call: each :meth:`step` and :meth:`load`
        fills it anew without a copy. Take ``.copy()`` of a frame to keep it. It cannot be written to, and outlives the
        simulation.
        """
        with self._lock:
            index = self._index(body)
            if index not in self._buffers:
                count = library().sn_model_surface_count(self._open().model, index)
                self._buffers[index] = np.zeros((count, 3), dtype=np.float32)
                self._fill(index)
            view = self._buffers[index].view()
            view.flags.writeable = False
            return view

    def _fill(self, index: int) -> None:
        objects = self._open()
        target = self._buffers[index].ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        library().sn_surface_extract(objects.model, objects.state, index, target)

    def _refill(self) -> None:
        for index in self._buffers:
            self._fill(index)

    def triangles(self, body: Body | str | int = 0) -> npt.NDArray[np.uint32]:
        """The triangles of a body's surface (m, 3): a copy."""
        with self._lock:
            count = ctypes.c_uint32()
            first = library().sn_scene_triangles(self._open().scene, self._index(body), ctypes.byref(count))
            return np.ctypeslib.as_array(first, shape=(count.value, 3)).copy()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, a checkpoint: checked when it is read, replaced as a whole."""
        with self._lock:
            objects = self._open()
            library().call("sn_state_save", objects.model, objects.state, encode_path(path))

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go back, or on, to a state that :meth:`save` or ``sinew run`` wrote for the same scene."""
        with self._lock:
            objects = self._open()
            library().call("sn_state_load", objects.model, objects.state, encode_path(path))
            self._refill()
