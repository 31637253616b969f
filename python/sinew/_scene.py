"""Scenes: a JSON document as docs/scene.md describes it, and arrays that take the place of files."""
from __future__ import annotations

import copy
import ctypes
import dataclasses
import json
import os
import pathlib
import re
from typing import Any, Mapping, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _files
from ._library import Error, SceneChange, SceneMesh, SceneSource, SceneValues, Status, encode_path, library

MEMORY = "memory:"

#: Vertices (n, 3) and triangles (m, 3).
Mesh = tuple[npt.ArrayLike, npt.ArrayLike]
#: The path of a mesh, or its arrays.
MeshOrPath = Union[str, "os.PathLike[str]", Mesh]
#: Keyframes as dictionaries, as an array, or {"from": "walk.glb", "node": "name"}.
Motion = Union[Sequence[Mapping[str, Any]], Mapping[str, Any], npt.ArrayLike]


@dataclasses.dataclass(frozen=True)
class Body:
    """A body of a scene, by its name."""

    name: str


@dataclasses.dataclass(frozen=True)
class Bone:
    """A bone of a scene, by its name."""

    name: str


def _vertices(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"vertices: found an array of shape {array.shape}, expected (n, 3)")
    return array.copy() if array is values else array


def _triangles(values: npt.ArrayLike) -> npt.NDArray[np.uint32]:
    array = np.asarray(values)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"triangles: found an array of shape {array.shape}, expected (m, 3)")
    if array.dtype.kind not in "iu":
        raise TypeError(f"triangles: found numbers of type {array.dtype}, expected integers")
    if array.size and (array.min() < 0 or array.max() > 0xFFFFFFFF):
        raise ValueError(f"triangles: found {array.min()} to {array.max()}, expected indices of vertices")
    return np.array(array, dtype=np.uint32, order="C")


def _plain(value: Any) -> Any:
    """Arrays and numbers of NumPy as JSON has them."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _given(**values: Any) -> dict[str, Any]:
    """Those that were said; the library has the defaults of the others."""
    return {key: _plain(value) for key, value in values.items() if value is not None}


def _motion(motion: Motion | None) -> Any:
    """Rows of an array are frame, translation, then if there are rotation (x, y, z, w) and pivot."""
    if motion is None or isinstance(motion, Mapping):
        return _plain(motion)
    if isinstance(motion, Sequence) and all(isinstance(key, Mapping) for key in motion):
        return _plain(list(motion))
    rows = np.asarray(motion, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] not in (4, 8, 11):
        raise ValueError(f"motion: found an array of shape {rows.shape}, expected (n, 4), (n, 8) or (n, 11): "
                         "frame, translation, rotation as a quaternion x y z w, pivot")
    parts = {"translate": slice(1, 4), "rotate": slice(4, 8), "pivot": slice(8, 11)}
    return [{"frame": row[0], **{key: row[part] for key, part in parts.items() if part.stop <= len(row)}}
            for row in rows.tolist()]


class Scene:
    """A scene to be simulated.

    Keys of docs/scene.md are keywords everywhere; what is not given has the default of the library.
    Arrays are copied when they are added. ``Scene(frames=(1, 24), mode="quasistatic")`` sets keys of
    the scene itself.
    """

    def __init__(self, **keys: Any) -> None:
        self._document: dict[str, Any] = _given(**keys)
        self._changes: list[str] = []
        self._name = "scene"
        self._folder = os.getcwd()
        self._meshes: dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.uint32]]] = {}
        self._values: dict[str, npt.NDArray[np.float64]] = {}

    # Names

    def _list(self, key: str) -> list[dict[str, Any]]:
        entries = self._document.setdefault(key, [])
        if not isinstance(entries, list):
            raise Error(Status.INPUT, f"{self._name}: {key}: found {entries!r}, expected a list")
        return entries

    def _new_name(self, key: str, name: str | None, stem: str) -> str:
        taken = {entry.get("name") for entry in self._list(key)}
        if name is not None:
            if name in taken:
                raise ValueError(f"{key}: found {name!r} twice, expected a name of its own")
            return name
        number = 1
        name = stem
        while name in taken:
            number += 1
            name = f"{stem}{number}"
        return name

    @staticmethod
    def _new_key(wish: str, taken: Mapping[str, Any]) -> str:
        """A name for arrays that can also name files."""
        stem = re.sub(r"[^\w-]", "_", wish) or "mesh"
        key, number = stem, 1
        while key in taken:
            number += 1
            key = f"{stem}{number}"
        return key

    def _mesh(self, mesh: MeshOrPath, wish: str) -> str:
        """What the document says in the place of a path."""
        if isinstance(mesh, (str, os.PathLike)):
            return os.fspath(mesh)
        vertices, triangles = mesh
        arrays = (_vertices(vertices), _triangles(triangles))
        key = self._new_key(wish, self._meshes)
        self._meshes[key] = arrays
        return MEMORY + key

    def _map(self, values: npt.ArrayLike, wish: str) -> str:
        array = np.array(values, dtype=np.float64).reshape(-1)
        key = self._new_key(wish, self._values)
        self._values[key] = array
        return MEMORY + key

    def _where(self, body: Body | str | None, where: Any, box: Any) -> Any:
        """A box, what docs/scene.md knows, or an array with a number or a truth value for each vertex."""
        if box is not None:
            if where is not None:
                raise ValueError("found both where and box, expected one")
            return {"box": _plain(np.asarray(box, dtype=np.float64))}
        if where is None or isinstance(where, (str, Mapping)):
            return _plain(where)
        entry = self._body_entry(body)
        maps = entry.setdefault("maps", {})
        name = self._new_key("where", maps)
        maps[name] = self._map(np.asarray(where), f"{entry.get('name', 'body')}_{name}")
        return {"map": name, "above": 0.5}

    def _body_entry(self, body: Body | str | None) -> dict[str, Any]:
        bodies = self._list("bodies")
        if body is None and len(bodies) == 1:
            return bodies[0]
        for entry in bodies:
            if entry.get("name") == _name(body):
                return entry
        raise ValueError(f"found body {_name(body)!r}, expected one of {[entry.get('name') for entry in bodies]}")

    # Contents

    def add_body(self, vertices: npt.ArrayLike | str | os.PathLike[str], triangles: npt.ArrayLike | None = None, *,
                 name: str | None = None, cell: float | None = None, material: str | Mapping[str, Any] | None = None,
                 translate: npt.ArrayLike | None = None, rotate: npt.ArrayLike | None = None,
                 velocity: npt.ArrayLike | None = None, spin: npt.ArrayLike | None = None,
                 maps: Mapping[str, Any] | None = None, **keys: Any) -> Body:
        """Add a body of flesh with a closed surface.

        :param vertices: (n, 3), or the path of a mesh; then there are no triangles
        :param triangles: (m, 3), indices of vertices
        :param cell: edge of the finest cell; by default one that gives about 100,000 cells
        :param material: a name of the library, such as ``"muscle"``, or ``{"young": 3e4, "poisson": 0.47}``
        :param rotate: a quaternion x, y, z, w
        :param maps: numbers for the vertices by name, such as ``{"stiffness": array}``, or paths
        :param keys: other keys of a body, such as ``density``, ``damping``, ``coarsen``, ``quadrature``
        """
        if isinstance(vertices, (str, os.PathLike)):
            if triangles is not None:
                raise ValueError("triangles: found some beside the path of a mesh, expected none")
            mesh: MeshOrPath = vertices
            stem = re.sub(r"[^\w -]", "_", pathlib.PurePath(os.fspath(vertices)).stem) or "body"
        else:
            if triangles is None:
                raise ValueError("triangles: found none, expected an array (m, 3)")
            mesh, stem = (vertices, triangles), "body"
        name = self._new_name("bodies", name, stem)
        entry = _given(name=name, surface=self._mesh(mesh, name), cell=cell, material=material, **keys)
        if maps:
            entry["maps"] = {key: _plain(values) if isinstance(values, (str, os.PathLike)) else
                             self._map(values, f"{name}_{key}") for key, values in maps.items()}
        initial = _given(translate=translate, rotate=rotate, velocity=velocity, spin=spin)
        if initial:
            entry.setdefault("initial", {}).update(initial)
        self._list("bodies").append(entry)
        return Body(name)

    def add_bone(self, *, capsule: tuple[npt.ArrayLike, npt.ArrayLike, float] | None = None,
                 mesh: MeshOrPath | None = None, motion: Motion | None = None, name: str | None = None,
                 **keys: Any) -> Bone:
        """Add a shape that moves as told.

        :param capsule: both ends of the axis, and the radius
        :param mesh: vertices and triangles, or a path
        :param motion: relative to rest. Rows (frame, x, y, z), with a quaternion x, y, z, w and a pivot behind it
            if there is a rotation; or keyframes as docs/scene.md has them; or ``{"from": "walk.glb", "node": ...}``
        """
        name = self._new_name("bones", name, "bone")
        entry = _given(name=name, motion=_motion(motion), **keys)
        if capsule is not None:
            start, end, radius = capsule
            entry["capsule"] = _given(**{"from": np.asarray(start), "to": np.asarray(end), "radius": radius})
        if mesh is not None:
            entry["mesh"] = self._mesh(mesh, name)
        self._list("bones").append(entry)
        return Bone(name)

    def attach(self, body: Body | str | None, bone: Bone | str, where: Any = "inside", *,
               stiffness: float | None = None, **keys: Any) -> None:
        """Tie a part of a body to a bone by springs.

        :param where: ``"inside"`` the bone, ``{"near": distance}``, or an array with a value for each vertex: what
            is above 0.5 is tied
        """
        self._list("attachments").append(_given(body=_name(body), bone=_name(bone), stiffness=stiffness,
                                                where=self._where(body, where, None), **keys))

    def fix(self, body: Body | str | None = None, *, box: npt.ArrayLike | None = None, where: Any = None,
            bone: Bone | str | None = None, axes: str | None = None, motion: Motion | None = None,
            **keys: Any) -> None:
        """Hold nodes exactly, or move them as told.

        :param box: two corners, lower first: what is in it at rest
        :param where: instead of a box, as in :meth:`attach`, or ``"all"``
        :param axes: ``"xyz"``, or those along which the nodes are held
        """
        self._list("fixed").append(_given(body=_name(body), bone=_name(bone), axes=axes, motion=_motion(motion),
                                          where=self._where(body, where, box), **keys))

    def add_force(self, body: Body | str | None = None, *, force: Any = None, traction: Any = None,
                  box: npt.ArrayLike | None = None, where: Any = None, **keys: Any) -> None:
        """Push or pull a part of the surface: ``force`` in newtons in all, or ``traction`` in pascals."""
        self._list("forces").append(_given(body=_name(body), force=force, traction=traction,
                                           where=self._where(body, where, box), **keys))

    def add_muscle(self, mesh: MeshOrPath, *, body: Body | str | None = None, activation: Any = None,
                   name: str | None = None, **keys: Any) -> str:
        """Add fibres that pull inside a closed mesh; ``activation`` is a number or keyframes."""
        name = self._new_name("muscles", name, "muscle")
        self._list("muscles").append(_given(name=name, body=_name(body), mesh=self._mesh(mesh, name),
                                            activation=activation, **keys))
        return name

    def _add_collider(self, name: str | None, stem: str, motion: Motion | None, **keys: Any) -> str:
        name = self._new_name("colliders", name, stem)
        self._list("colliders").append(_given(name=name, motion=_motion(motion), **keys))
        return name

    def add_plane(self, position: npt.ArrayLike | None = None, normal: npt.ArrayLike | None = None, *,
                  name: str | None = None, motion: Motion | None = None, **keys: Any) -> str:
        """Add a floor: everything behind it is solid. By default through the origin, facing up."""
        return self._add_collider(name, "plane", motion, shape="plane", position=position, normal=normal, **keys)

    def add_sphere(self, position: npt.ArrayLike, radius: float, *, name: str | None = None,
                   motion: Motion | None = None, **keys: Any) -> str:
        """Add a ball that flesh cannot enter."""
        return self._add_collider(name, "sphere", motion, shape="sphere", position=position, radius=radius, **keys)

    def add_capsule(self, start: npt.ArrayLike, end: npt.ArrayLike, radius: float, *, name: str | None = None,
                    motion: Motion | None = None, **keys: Any) -> str:
        """Add a rod with round ends."""
        return self._add_collider(name, "capsule", motion, shape="capsule", radius=radius,
                                  **{"from": start, "to": end}, **keys)

    def add_box(self, position: npt.ArrayLike, half: npt.ArrayLike, *, name: str | None = None,
                motion: Motion | None = None, **keys: Any) -> str:
        """Add a block; ``half`` of each side."""
        return self._add_collider(name, "box", motion, shape="box", position=position, half=half, **keys)

    def add_obstacle(self, mesh: MeshOrPath, *, name: str | None = None, motion: Motion | None = None,
                     **keys: Any) -> str:
        """Add a rigid obstacle with the shape of a mesh."""
        name = self._new_name("colliders", name, "obstacle")
        return self._add_collider(name, name, motion, mesh=self._mesh(mesh, name), **keys)

    def set(self, path: str, value: Any) -> None:
        """Change one value when the scene is read, as ``--set`` does: ``set("solver.newton.max", 20)``."""
        self._changes.append(f"{path}={json.dumps(_plain(value), allow_nan=False)}")

    # Use

    @property
    def document(self) -> dict[str, Any]:
        """The scene as it was put together: a copy. Arrays are named ``memory:NAME``."""
        return copy.deepcopy(self._document)

    def resolve(self) -> dict[str, Any]:
        """Read and check the scene with all its files: the document with every default filled in."""
        return json.loads(self._resolved_text())  # type: ignore[no-any-return]

    def save(self, path: str | os.PathLike[str]) -> pathlib.Path:
        """Write the whole scene as a file that ``sinew run`` reads, with the same result to the last bit.

        Arrays become files beside it: meshes ``NAME.ply``, values ``NAME.csv``.
        """
        path = pathlib.Path(path)
        text = self._resolved_text()
        path.parent.mkdir(parents=True, exist_ok=True)
        for name, (vertices, triangles) in self._meshes.items():
            _files.write_ply(path.parent / f"{name}.ply", vertices, triangles)
        for name, values in self._values.items():
            _files.write_csv(path.parent / f"{name}.csv", values)
        names = {MEMORY + name: f"{name}.ply" for name in self._meshes}
        value_names = {MEMORY + name: f"{name}.csv" for name in self._values}
        document = _with_files(json.loads(text), names, value_names)
        _files.write_whole(path, (json.dumps(document, indent=2) + "\n").encode())
        return path

    def _has_arrays(self) -> bool:
        return bool(self._meshes or self._values)

    def _resolved_text(self) -> str:
        scene = self._read()
        try:
            return library().sn_scene_json(scene).decode()  # type: ignore[no-any-return]
        finally:
            library().sn_scene_destroy(scene)

    def _read(self) -> ctypes.c_void_p:
        """A scene of the library, which the caller destroys."""
        json_text = json.dumps(self._document, allow_nan=False).encode()
        meshes = (SceneMesh * len(self._meshes))()
        for to, (name, (vertices, triangles)) in zip(meshes, self._meshes.items()):
            to.name = name.encode()
            to.positions = vertices.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            to.vertex_count = len(vertices)
            to.triangles = triangles.ctypes.data_as(ctypes.POINTER(ctypes.c_uint32))
            to.triangle_count = len(triangles)
        values = (SceneValues * len(self._values))()
        for item, (name, array) in zip(values, self._values.items()):
            item.name = name.encode()
            item.values = array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            item.count = len(array)
        source = SceneSource(name=encode_path(self._name), json=json_text, length=len(json_text),
                             folder=encode_path(self._folder), meshes=meshes, mesh_count=len(meshes), values=values,
                             values_count=len(values))
        changes = (SceneChange * len(self._changes))(*(SceneChange(change.encode()) for change in self._changes))
        scene = ctypes.c_void_p()
        library().call("sn_scene_parse", ctypes.byref(source), changes, len(changes), ctypes.byref(scene))
        return scene


def _name(thing: Body | Bone | str | None) -> str | None:
    return thing.name if isinstance(thing, (Body, Bone)) else thing


def _with_files(value: Any, meshes: Mapping[str, str], values: Mapping[str, str], in_maps: bool = False) -> Any:
    if isinstance(value, dict):
        return {key: _with_files(item, meshes, values, in_maps or key == "maps") for key, item in value.items()}
    if isinstance(value, list):
        return [_with_files(item, meshes, values) for item in value]
    names = values if in_maps else meshes
    return names.get(value, value) if isinstance(value, str) else value


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"found {next(key for key in keys if keys.count(key) > 1)!r} twice, expected it once")
    return result


def _no_constants(word: str) -> Any:
    raise ValueError(f"found {word}, expected a number")


def load_scene(path: str | os.PathLike[str]) -> Scene:
    """Read a scene file, to be changed and simulated. Relative paths in it begin at its folder."""
    name = os.fspath(path)
    scene = Scene()
    try:
        text = pathlib.Path(path).read_text("utf-8-sig")
        document = json.loads(text, object_pairs_hook=_no_repeats, parse_constant=_no_constants)
    except OSError as error:
        raise Error(Status.INPUT, f"{name}: cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise Error(Status.INPUT, f"{name}:{error.lineno}:{error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise Error(Status.INPUT, f"{name}: {error}") from error
    if not isinstance(document, dict):
        raise Error(Status.INPUT, f"{name}: found {type(document).__name__}, expected an object")
    scene._document = document
    scene._name = name
    scene._folder = os.path.dirname(os.path.abspath(path))
    return scene
