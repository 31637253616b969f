"""blender -b -P blender_rig.py -- CHARACTER_POSE FOLDER: skinning as Blender does it.

Builds a small rig that is awkward on purpose (an armature that is moved, turned and scaled, a mesh with
a place of its own below it, bones that turn, shift and scale), exports it as GLB and as FBX with
Blender's own exporters, and compares the vertices that the library computes from those files with the
mesh that Blender itself deforms, at several frames.

Exporters split vertices where normals or materials differ, and order them their own way. So each vertex
of the library is paired with Blender's nearest one at the first frame; the pairs, which must reach every
vertex, then hold for all frames.
"""
import math
import subprocess
import sys

import bpy
import mathutils

TOLERANCE = 1e-5  # of the longest side of the box
FPS = 24
FRAMES = [1, 2, 7, 12, 18, 25, 30]
RINGS, SIDES, LENGTH = 13, 12, 3.0


def tube():
    """A closed tube along z, thicker in the middle."""
    vertices, faces = [], []
    for ring in range(RINGS):
        z = LENGTH * ring / (RINGS - 1)
        radius = 0.25 + 0.1 * math.sin(math.pi * ring / (RINGS - 1))
        for side in range(SIDES):
            angle = 2 * math.pi * (side + 0.3) / SIDES
            vertices.append((radius * math.cos(angle), 0.8 * radius * math.sin(angle), z))
    for ring in range(RINGS - 1):
        for side in range(SIDES):
            a, b = ring * SIDES + side, ring * SIDES + (side + 1) % SIDES
            faces.append((a, b, b + SIDES, a + SIDES))
    faces.append(tuple(reversed(range(SIDES))))
    faces.append(tuple((RINGS - 1) * SIDES + side for side in range(SIDES)))
    return vertices, faces


def make_armature():
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    parent = None
    for index in range(3):
        bone = data.edit_bones.new(f"bone.{index}")
        bone.head = (0.05 * index, 0.0, index * LENGTH / 3)
        bone.tail = (0.05 * (index + 1), 0.0, (index + 1) * LENGTH / 3)
        bone.roll = 0.4 * index
        if parent:
            bone.parent = parent
            bone.use_connect = index == 1
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.location = (0.7, -0.4, 0.2)
    rig.rotation_euler = (0.3, -0.2, 1.1)
    rig.scale = (1.7, 1.7, 1.7)
    return rig


def make_mesh(rig):
    vertices, faces = tube()
    data = bpy.data.meshes.new("Tube")
    body = bpy.data.objects.new("Tube", data)
    bpy.context.collection.objects.link(body)
    body.parent = rig
    body.location = (0.1, 0.05, -0.1)
    body.rotation_euler = (0.0, 0.1, 0.2)
    body.scale = (1.1, 1.1, 1.1)
    bpy.context.view_layer.update()
    data.from_pydata(vertices, [], faces)
    for name in ("lower", "upper"):
        data.materials.append(bpy.data.materials.new(name))
    for polygon in data.polygons:
        polygon.material_index = int(polygon.center.z > LENGTH / 2)
    for index in range(3):
        group = body.vertex_groups.new(name=f"bone.{index}")
        for vertex, place in enumerate(vertices):
            weight = 1.0 - abs(place[2] / LENGTH * 3 - 0.5 - index)
            if weight > 0.02:
                group.add([vertex], weight, "REPLACE")
    body.modifiers.new("Armature", "ARMATURE").object = rig
    return body


def animate(rig):
    keys = {  # frame: for each bone turn (XYZ, rad), shift, scale
        1: [((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0))] * 3,
        12: [((0.2, 0.1, -0.3), (0.1, 0.0, 0.2), (1.0, 1.0, 1.0)),
             ((0.5, -0.4, 0.9), (0.0, 0.0, 0.0), (1.2, 1.2, 1.2)),
             ((-0.7, 0.2, 0.3), (0.0, 0.1, 0.0), (0.8, 1.3, 1.0))],
        30: [((-0.1, 0.4, 0.2), (0.0, -0.2, 0.0), (1.1, 0.9, 1.0)),
             ((1.3, 0.3, -0.5), (0.0, 0.0, 0.0), (0.9, 1.0, 1.1)),
             ((0.4, -0.9, 0.1), (0.2, 0.0, 0.1), (1.0, 1.0, 1.0))],
    }
    for frame, bones in keys.items():
        for index, (turn, shift, scale) in enumerate(bones):
            bone = rig.pose.bones[f"bone.{index}"]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler, bone.location, bone.scale = turn, shift, scale
            for path in ("rotation_euler", "location", "scale"):
                bone.keyframe_insert(path, frame=frame)
    rig.animation_data.action.name = "Bend"


def to_library(place):
    """From Blender's z up to y up."""
    return mathutils.Vector((place.x, place.z, -place.y))


def evaluate(body, frame):
    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    evaluated = body.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    places = [to_library(evaluated.matrix_world @ vertex.co) for vertex in mesh.vertices]
    evaluated.to_mesh_clear()
    return places


def library_poses(program, path, first_frame):
    times = [repr((frame - first_frame) / FPS) for frame in FRAMES]
    text = subprocess.run([program, path, "0", *times], check=True, capture_output=True,
                          text=True).stdout
    blocks = text.split("\n", 1)[1].strip("\n").split("\n\n")
    return [[mathutils.Vector(map(float, line.split())) for line in block.split("\n")]
            for block in blocks]


def compare(name, poses, expected):
    flat = [place for frame in expected for place in frame]
    size = max(max(p[c] for p in flat) - min(p[c] for p in flat) for c in range(3))
    tree = mathutils.kdtree.KDTree(len(expected[0]))
    for index, place in enumerate(expected[0]):
        tree.insert(place, index)
    tree.balance()
    pairs = [tree.find(place)[1] for place in poses[0]]
    missed = len(expected[0]) - len(set(pairs))
    worst = max((ours - theirs[pair]).length
                for pose, theirs in zip(poses, expected) for ours, pair in zip(pose, pairs))
    print(f"{name}: {len(pairs)} vertices for {len(expected[0])}, {missed} of them unpaired, "
          f"{len(FRAMES)} frames, largest distance {worst / size:.3g} of the size")
    return missed == 0 and worst <= TOLERANCE * size


def main():
    program, folder = sys.argv[sys.argv.index("--") + 1:]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = FPS, FRAMES[0], FRAMES[-1]
    rig = make_armature()
    body = make_mesh(rig)
    animate(rig)
    expected = [evaluate(body, frame) for frame in FRAMES]
    scene.frame_set(FRAMES[0])
    bpy.ops.export_scene.gltf(filepath=f"{folder}/rig.glb", export_format="GLB")
    # Without simplification the curves hold the pose of every frame.
    bpy.ops.export_scene.fbx(filepath=f"{folder}/rig.fbx", bake_anim_simplify_factor=0.0)
    # A glTF file keeps Blender's frame numbers, of which 0 is at 0 s; an FBX clip begins with its first key.
    good = compare("GLB", library_poses(program, f"{folder}/rig.glb", 0), expected)
    good &= compare("FBX", library_poses(program, f"{folder}/rig.fbx", FRAMES[0]), expected)
    if bpy.app.build_options.collada:
        # Blender's Collada files forget the place of the armature in their bind poses.
        rig.matrix_world = mathutils.Matrix()
        expected = [evaluate(body, frame) for frame in FRAMES]
        bpy.ops.wm.collada_export(filepath=f"{folder}/rig.dae")
        good &= compare("DAE", library_poses(program, f"{folder}/rig.dae", FRAMES[0]), expected)
    if not good:
        sys.exit(f"expected every vertex within {TOLERANCE} of the size")


main()
