"""The shared library: where it is, what its functions take, and how its failures become exceptions.

Objects of the library are opaque pointers here. The few structures that are passed by their fields are
mirrored below; the tests compare their layout with that of the compiler.
"""
from __future__ import annotations

import atexit
import ctypes
import ctypes.util
import enum
import functools
import logging
import os
import pathlib
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_float, c_int, c_size_t, c_uint32, c_void_p
from typing import Any, Iterator

from ._version import __version__

logger = logging.getLogger("sinew")


class Status(enum.IntEnum):
    """What a call came to; also the exit codes of the ``sinew`` program."""

    OK = 0
    USAGE = 1        #: the call is wrong
    INPUT = 2        #: a scene, mesh or value is wrong
    TOLERANCE = 3    #: a frame missed its tolerance, and strictness was asked for
    IO = 4           #: a file cannot be read or written
    MEMORY = 5       #: out of memory
    INTERRUPTED = 130  #: stopped on request


class Error(Exception):
    """A call failed. ``text`` says where, what was found and what was expected."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = Status(status)
        self.text = text


class ErrorStruct(ctypes.Structure):
    """sn_error"""
    _fields_ = [("status", c_int), ("text", c_char * 1024)]


class SceneChange(ctypes.Structure):
    """sn_scene_change"""
    _fields_ = [("path_and_value", c_char_p)]


class SceneMesh(ctypes.Structure):
    """sn_scene_mesh"""
    _fields_ = [("name", c_char_p), ("positions", POINTER(c_double)), ("vertex_count", c_uint32),
                ("triangles", POINTER(c_uint32)), ("triangle_count", c_uint32)]


class SceneValues(ctypes.Structure):
    """sn_scene_values"""
    _fields_ = [("name", c_char_p), ("values", POINTER(c_double)), ("count", c_uint32)]


class SceneSource(ctypes.Structure):
    """sn_scene_source"""
    _fields_ = [("name", c_char_p), ("json", c_char_p), ("length", c_size_t), ("folder", c_char_p),
                ("meshes", POINTER(SceneMesh)), ("mesh_count", c_uint32),
                ("values", POINTER(SceneValues)), ("values_count", c_uint32)]


class RunOpts(ctypes.Structure):
    """sn_run_opts"""
    _fields_ = [("folder", c_char_p), ("first_frame", c_int), ("last_frame", c_int), ("resume", c_int),
                ("resume_frame", c_int)]


#: Mirrored structures by their names in C.
STRUCTURES = {"sn_error": ErrorStruct, "sn_scene_change": SceneChange, "sn_scene_mesh": SceneMesh,
              "sn_scene_values": SceneValues, "sn_scene_source": SceneSource, "sn_run_opts": RunOpts}

_LOG_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)
_LIBRARY_NAMES = ("libsinew.so.0", "libsinew.so", "libsinew.dylib")

# name: (result, arguments). Those that return a status take an sn_error last.
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "sn_memory_used": (c_size_t, []),
    "sn_set_log": (None, [_LOG_FUNCTION, c_void_p]),
    "sn_pool_create": (c_int, [c_int, POINTER(c_void_p), c_void_p]),
    "sn_pool_destroy": (None, [c_void_p]),
    "sn_scene_load": (c_int, [c_char_p, POINTER(SceneChange), c_int, POINTER(c_void_p), c_void_p]),
    "sn_scene_parse": (c_int, [POINTER(SceneSource), POINTER(SceneChange), c_int, POINTER(c_void_p), c_void_p]),
    "sn_scene_json": (c_char_p, [c_void_p]),
    "sn_scene_triangles": (POINTER(c_uint32), [c_void_p, c_uint32, POINTER(c_uint32)]),
    "sn_scene_destroy": (None, [c_void_p]),
    "sn_model_build": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), c_void_p]),
    "sn_model_destroy": (None, [c_void_p]),
    "sn_model_surface_count": (c_uint32, [c_void_p, c_uint32]),
    "sn_state_create": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), c_void_p]),
    "sn_state_destroy": (None, [c_void_p]),
    "sn_state_frame": (c_int, [c_void_p]),
    "sn_state_save": (c_int, [c_void_p, c_void_p, c_char_p, c_void_p]),
    "sn_state_load": (c_int, [c_void_p, c_void_p, c_char_p, c_void_p]),
    "sn_step": (c_int, [c_void_p, c_void_p, c_int, c_void_p, c_void_p]),
    "sn_surface_extract": (None, [c_void_p, c_void_p, c_uint32, POINTER(c_float)]),
    "sn_frame_stats_size": (c_size_t, []),
    "sn_stats_to_json": (c_int, [c_void_p, c_char_p, c_size_t]),
    "sn_run_open": (c_int, [POINTER(RunOpts), c_void_p, c_void_p, c_void_p, POINTER(c_void_p), c_void_p]),
    "sn_run_next_frame": (c_int, [c_void_p]),
    "sn_run_append": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "sn_run_checkpoint": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sn_run_finish": (c_int, [c_void_p, c_int, c_char_p, c_void_p]),
    "sn_run_close": (None, [c_void_p]),
}


def _candidates() -> Iterator[str]:
    given = os.environ.get("SINEW_LIBRARY")
    if given:
        yield given
        return
    package = pathlib.Path(__file__).resolve().parent
    # PREFIX/share/sinew/python/sinew of an installation: the library is in PREFIX/lib or below.
    if package.parts[-4:] == ("share", "sinew", "python", "sinew"):
        prefix = package.parents[3]
        for pattern in ("lib", "lib64", "lib/*"):
            for folder in sorted(prefix.glob(pattern)):
                yield from (str(folder / name) for name in _LIBRARY_NAMES if (folder / name).is_file())
    # CHECKOUT/python/sinew
    checkout = package.parents[1]
    if (checkout / "include" / "sinew" / "sn.h").is_file():
        yield from (str(checkout / "build" / name) for name in _LIBRARY_NAMES
                    if (checkout / "build" / name).is_file())
    found = ctypes.util.find_library("sinew")
    if found:
        yield found
    yield _LIBRARY_NAMES[0]


def _open() -> tuple[ctypes.CDLL, str]:
    tried = []
    for path in _candidates():
        try:
            return ctypes.CDLL(path), path
        except OSError as error:
            tried.append(f"{path} ({error})")
    raise ImportError("the shared library of Sinew cannot be loaded; tried " + "; ".join(tried) +
                      ". Build it (make), or name it in SINEW_LIBRARY")


def _check_version(library: ctypes.CDLL, path: str) -> str:
    try:
        library.sn_version.restype = c_char_p
        version = str(library.sn_version().decode())
    except AttributeError:
        version = "an earlier one"
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise ImportError(f"{path}: found version {version}, expected {__version__}, that of the Python package")
    return version


def _log(_user: int, level: int, text: bytes) -> None:
    logger.log(logging.WARNING if level > 0 else logging.INFO, "%s", text.decode("utf-8", "replace"))


_LOG = _LOG_FUNCTION(_log)


class Library:
    """The loaded library; its functions are attributes."""

    def __init__(self) -> None:
        self._library, self.path = _open()
        self.version = _check_version(self._library, self.path)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        self._library.sn_set_log(_LOG, None)
        # The interpreter goes before the library does.
        atexit.register(self._library.sn_set_log, ctypes.cast(0, _LOG_FUNCTION), None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function that returns a status; raise Error if that is a failure."""
        error = ErrorStruct()
        status = getattr(self._library, name)(*arguments, byref(error))
        if status != Status.OK:
            text = error.text.decode("utf-8", "replace")
            raise Error(status, text or f"{name}: {Status(status).name.lower()}")


@functools.lru_cache(maxsize=None)
def library() -> Library:
    """The library, loaded once, when it is first needed."""
    return Library()


def library_path() -> str:
    """Where the shared library was found."""
    return library().path


def library_version() -> str:
    """Version of the shared library."""
    return library().version


def memory_used() -> int:
    """Bytes that the library holds now, in all simulations together. Arrays of NumPy do not count."""
    return int(library().sn_memory_used())


def encode_path(path: str | os.PathLike[str]) -> bytes:
    """A path as the library takes it."""
    return os.fsencode(path)
