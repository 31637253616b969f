# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a rigged character as a binary glTF 2.0 file. Knows nothing of Blender.

glTF is in metres, y up, seconds, matrices column-major.
"""

import json
import os
import struct

import numpy

FLOAT, UNSIGNED_SHORT, UNSIGNED_INT = 5126, 5123, 5125
VERTICES, INDICES = 34962, 34963
TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
COMPONENTS = {"f": ("<f4", FLOAT), "u": ("<u4", UNSIGNED_INT), "h": ("<u2", UNSIGNED_SHORT)}


class Buffer:
    """The binary chunk and the accessors that describe it."""

    def __init__(self):
        self.bytes = bytearray()
        self.views = []
        self.accessors = []

    def add(self, values, kind="f", target=None, bounds=False):
        """Append an array, a row an element; its accessor's number.

        kind: a key of COMPONENTS. bounds: write the least and the greatest of each column, which
        glTF demands of positions and of the times of keys."""
        dtype, component = COMPONENTS[kind]
        data = numpy.ascontiguousarray(values, dtype)
        rows = data.reshape(len(data), -1)
        view = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": data.nbytes}
        if target:
            view["target"] = target
        accessor = {"bufferView": len(self.views), "componentType": component,
                    "count": len(rows), "type": TYPES[rows.shape[1]]}
        if bounds:
            accessor["min"] = [float(value) for value in rows.min(axis=0)]
            accessor["max"] = [float(value) for value in rows.max(axis=0)]
        self.bytes += data.tobytes()
        self.bytes += bytes(-len(self.bytes) % 4)
        self.views.append(view)
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def primitive_of(mesh, buffer):
    """The glTF primitive of a Surface: positions, triangles, joint sets, maps."""
    attributes = {"POSITION": buffer.add(mesh.positions, target=VERTICES, bounds=True)}
    for k in range(mesh.joints.shape[1] // 4):
        columns = slice(4 * k, 4 * k + 4)
        attributes[f"JOINTS_{k}"] = buffer.add(mesh.joints[:, columns], "h", VERTICES)
        attributes[f"WEIGHTS_{k}"] = buffer.add(mesh.weights[:, columns], target=VERTICES)
    for name, values in mesh.maps.items():
        attributes[name] = buffer.add(values, target=VERTICES)
    indices = buffer.add(mesh.triangles.reshape(-1), "u", INDICES)
    return {"attributes": attributes, "indices": indices, "mode": 4}


def clip_of(skeleton, times, buffer):
    """The glTF animation: a key of each joint at each time."""
    clock = buffer.add(times, bounds=True)
    samplers, channels = [], []
    for joint in range(len(skeleton.names)):
        for path in ("translation", "rotation", "scale"):
            values = getattr(skeleton, path)[:, joint]
            channels.append({"sampler": len(samplers), "target": {"node": joint, "path": path}})
            samplers.append({"input": clock, "output": buffer.add(values),
                             "interpolation": "LINEAR"})
    return {"name": "shot", "samplers": samplers, "channels": channels}


def nodes_of(skeleton, name):
    """Joints are the first nodes, in their own order; the node of the mesh is the last. The joints
    stand where the first key has them."""
    nodes = []
    for joint, joint_name in enumerate(skeleton.names):
        node = {"name": joint_name}
        for path in ("translation", "rotation", "scale"):
            node[path] = [float(value) for value in
                          getattr(skeleton, path)[0, joint].astype(numpy.float32)]
        children = [k for k, parent in enumerate(skeleton.parents) if parent == joint]
        if children:
            node["children"] = children
        nodes.append(node)
    nodes.append({"name": name, "mesh": 0, "skin": 0})
    return nodes


def document_of(name, mesh, skeleton, times):
    """(JSON object, bytes) of a character."""
    buffer = Buffer()
    primitive = primitive_of(mesh, buffer)
    joint_count = len(skeleton.names)
    # Row-major in memory here; glTF wants columns after one another.
    inverse_bind = buffer.add(skeleton.inverse_bind.transpose(0, 2, 1).reshape(joint_count, 16))
    roots = [k for k, parent in enumerate(skeleton.parents) if parent < 0]
    document = {
        "asset": {"version": "2.0", "generator": "Sinew add-on for Blender"},
        "scene": 0,
        "scenes": [{"nodes": roots + [joint_count]}],
        "nodes": nodes_of(skeleton, name),
        "meshes": [{"name": name, "primitives": [primitive]}],
        "skins": [{"joints": list(range(joint_count)), "inverseBindMatrices": inverse_bind}],
        "animations": [clip_of(skeleton, times, buffer)],
    }
    document["accessors"] = buffer.accessors
    document["bufferViews"] = buffer.views
    document["buffers"] = [{"byteLength": len(buffer.bytes)}]
    return document, bytes(buffer.bytes)


def write(path, name, mesh, skeleton, times):
    """Write the character to `path`, which appears only when it is whole."""
    document, data = document_of(name, mesh, skeleton, times)
    text = json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8")
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + len(data)
    if total >= 2**32:
        raise ValueError(f"the character takes {total} bytes; a glTF file holds at most 4 GiB")
    temporary = path + ".tmp"
    with open(temporary, "wb") as file:
        file.write(struct.pack("<4sII", b"glTF", 2, total))
        file.write(struct.pack("<I4s", len(text), b"JSON") + text)
        file.write(struct.pack("<I4s", len(data), b"BIN\0") + data)
    os.replace(temporary, path)
