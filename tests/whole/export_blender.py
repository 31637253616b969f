"""blender -b -P export_blender.py -- RUN FRAMES: Blender reads what was exported as it was meant.

The Mesh Cache modifier gives the positions of PC2 and MDD to 1e-6; an imported GLB moves as the PC2 does,
to 1e-5 of the size, on both sides of a change from one chunk of morph targets to the next.
"""
import struct
import sys

import bpy

RUN, FRAMES = sys.argv[sys.argv.index("--") + 1], int(sys.argv[-1])


def pc2(path):
    with open(path, "rb") as file:
        data = file.read()
    count, frames = struct.unpack("<i", data[16:20])[0], struct.unpack("<i", data[28:32])[0]
    values = struct.unpack(f"<{3 * count * frames}f", data[32:])
    return [[values[3 * (f * count + v):3 * (f * count + v) + 3] for v in range(count)] for f in range(frames)]


def evaluated(thing, frame, in_world):
    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    now = thing.evaluated_get(graph)
    mesh = now.to_mesh()
    points = [tuple(now.matrix_world @ v.co if in_world else v.co) for v in mesh.vertices]
    now.to_mesh_clear()
    return points


def distance(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def check_caches(frames):
    worst = 0.0
    for kind in ("PC2", "MDD"):
        bpy.ops.wm.obj_import(filepath=f"{RUN}/dressed.obj")
        thing = bpy.context.selected_objects[0]
        modifier = thing.modifiers.new("cache", "MESH_CACHE")
        modifier.cache_format = kind
        modifier.filepath = f"{RUN}/dressed.{kind.lower()}"
        modifier.frame_start = 1
        for frame in (1, 2, FRAMES):
            points = evaluated(thing, frame, False)
            assert len(points) == len(frames[0]), f"{kind}: {len(points)} points"
            error = max(map(distance, points, frames[frame - 1]))
            assert error <= 1e-6, f"{kind}: frame {frame} is off by {error}"
            worst = max(worst, error)
        world = evaluated(thing, 2, True)
        error = max(distance(p, (x, -z, y)) for p, (x, y, z) in zip(world, frames[1]))
        assert error <= 1e-5, f"{kind}: y is not up: off by {error}"
    print(f"blender: Mesh Cache, PC2 and MDD: largest error {worst:.1e}")


def check_glb(names):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 24
    # By the normals, the default, ends in an error on Debian 12: its NumPy is too new for its Blender.
    bpy.ops.import_scene.gltf(filepath=f"{RUN}/scene.glb", import_shading="SMOOTH")
    worst = 0.0
    for name in names:
        frames = pc2(f"{RUN}/{name}.pc2")
        chunks = [o for o in bpy.data.objects if o.type == "MESH" and o.name.startswith(name + "_")]
        assert len(chunks) == 2, f"{name}: {len(chunks)} chunks"
        for frame in (1, 2, 3, 64, 65, 66, FRAMES):
            bpy.context.scene.frame_set(frame - 1)
            graph = bpy.context.evaluated_depsgraph_get()
            shown = [o for o in chunks if o.evaluated_get(graph).scale[0] > 0.5]
            assert len(shown) == 1, f"{name}: {len(shown)} chunks are shown at frame {frame}"
            expected = [(x, -z, y) for x, y, z in frames[frame - 1]]
            points = evaluated(shown[0], frame - 1, True)
            used = set()
            for p in points:
                nearest = min(range(len(expected)), key=lambda v: distance(p, expected[v]))
                used.add(nearest)
                worst = max(worst, distance(p, expected[nearest]))
            assert len(used) == len(expected), f"{name}: vertices are missing at frame {frame}"
            if len(points) == len(expected):
                worst = max(worst, max(map(distance, points, expected)))
            assert worst <= 1e-5, f"{name}: frame {frame} is off by {worst}"
    materials = {slot.material.name for o in bpy.data.objects for slot in o.material_slots if slot.material}
    assert {"dark skin", "light"} <= materials, f"materials: {materials}"
    layers = [o.data.uv_layers for o in bpy.data.objects if o.type == "MESH" and o.name.startswith("dressed")]
    assert all(len(layer) == 1 for layer in layers), "UV layers"
    uvs = {tuple(round(x, 5) for x in d.uv) for d in layers[0][0].data}
    assert (0.125, 0.5) in uvs and (0.875, 0.0) not in uvs and max(v for _, v in uvs) <= 0.5, f"UVs: {uvs}"
    print(f"blender: GLB, {len(names)} bodies in 2 chunks each: largest error {worst:.1e}")


check_caches(pc2(f"{RUN}/dressed.pc2"))
check_glb(["dressed", "plain"])
