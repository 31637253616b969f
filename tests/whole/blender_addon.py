"""Runs in Blender: `all SINEW OUT` or `zip SINEW OUT ZIP` after `--`. A rigged test character goes
through the add-on: Check, Simulate, cancel, resume, Clear. Anything wrong raises."""
import json
import math
import os
import shutil
import struct
import sys

import bpy
import numpy
from mathutils import Euler, Matrix, Quaternion, Vector

WORDS = sys.argv[sys.argv.index("--") + 1:]
STEP, SINEW, OUT = WORDS[:3]
FRAMES = [11, 12, 13, 14, 15]  # not from 1, so that a wrong start shows


def say(text):
    print("--", text, flush=True)


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


# ---- The character: a capsule along z with three bones ------------------------------------------


def capsule(rings=13, sides=12, radius=0.2, length=1.2):
    """Vertices and polygons, with a pole at each end; quads, so that they are triangulated."""
    vertices, faces = [(0, 0, 0)], []
    for ring in range(rings):
        along = (ring + 0.5) / rings
        bulge = radius * math.sin(math.pi * min(1, max(0, along))) ** 0.35
        for side in range(sides):
            angle = 2 * math.pi * side / sides
            vertices.append((bulge * math.cos(angle), bulge * math.sin(angle), length * along))
    vertices.append((0, 0, length))
    last = len(vertices) - 1
    for side in range(sides):
        after = (side + 1) % sides
        faces.append((0, 1 + after, 1 + side))
        for ring in range(rings - 1):
            low, high = 1 + ring * sides, 1 + (ring + 1) * sides
            faces.append((low + side, low + after, high + after, high + side))
        top = 1 + (rings - 1) * sides
        faces.append((top + side, top + after, last))
    return vertices, faces


def build_armature():
    data = bpy.data.armatures.new("rig")
    armature = bpy.data.objects.new("rig", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for name, low, high in (("hip", 0.05, 0.4), ("knee", 0.4, 0.8), ("toe", 0.8, 1.15)):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.roll = (0, 0.01, low), (0, 0, high), 0.3
        bone.parent = above
        above = bone
    idle = data.edit_bones.new("control")
    idle.head, idle.tail, idle.use_deform = (1, 0, 0), (1, 0, 1), False
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def animate(armature):
    """The armature's object walks; one bone is keyed, one follows it by a constraint."""
    bones = armature.pose.bones
    for bone in bones:
        bone.rotation_mode = "XYZ"
    follow = bones["toe"].constraints.new("COPY_ROTATION")
    follow.target, follow.subtarget = armature, "knee"
    follow.target_space = follow.owner_space = "LOCAL"
    for frame, angle in ((FRAMES[0], 0.0), (FRAMES[-1], 0.35)):
        bones["knee"].rotation_euler = (angle, 0.1 * angle, 0)
        bones["knee"].keyframe_insert("rotation_euler", frame=frame)
        bones["hip"].location = (0, 0, 0.2 * angle)
        bones["hip"].keyframe_insert("location", frame=frame)
        armature.location = (0.3 + 0.1 * angle, -0.2, 0.5)
        armature.keyframe_insert("location", frame=frame)
    armature.rotation_euler = (0.2, 0.1, 0.7)
    armature.scale = (0.8, 0.8, 0.8)


def ramp(distance):
    return min(1.0, max(0.0, distance / 0.2 + 0.5))


def weigh(body):
    """Smooth weights along the bones, and a painted group."""
    ends = {"hip": (-1, 0.4), "knee": (0.4, 0.8), "toe": (0.8, 3)}
    groups = {name: body.vertex_groups.new(name=name) for name in ["painted", "toe", "hip", "knee"]}
    for vertex in body.data.vertices:
        height = (body.matrix_local @ vertex.co).z
        for name, (low, high) in ends.items():
            weight = ramp(height - low) * ramp(high - height)
            if weight > 0:
                groups[name].add([vertex.index], 0.7 * weight, "REPLACE")
        if height > 0.6:
            groups["painted"].add([vertex.index], min(1, height - 0.6), "REPLACE")


def build_character():
    scene = bpy.context.scene
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    scene.render.fps, scene.render.fps_base = 30, 1.001
    scene.unit_settings.scale_length = 0.5
    armature = build_armature()
    animate(armature)
    mesh = bpy.data.meshes.new("body")
    # The mesh is turned and scaled in its own coordinates; its object undoes that.
    own = Matrix.LocRotScale((0.1, 0.2, -0.1), Euler((0.4, -0.3, 0.9)), (1.25, 0.8, 1.0))
    vertices, faces = capsule()
    mesh.from_pydata([own.inverted() @ Vector(v) for v in vertices], [], faces)
    body = bpy.data.objects.new("body", mesh)
    scene.collection.objects.link(body)
    body.parent = armature
    body.matrix_local = own
    modifier = body.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    modifier.show_render = False  # to see that it is remembered
    body.modifiers.new("Smooth", "CORRECTIVE_SMOOTH").show_viewport = False
    bpy.context.view_layer.update()
    weigh(body)
    bpy.context.view_layer.objects.active = body
    return body


# ---- What Blender shows, and what files hold ----------------------------------------------------


def evaluated(body, frame):
    """Positions in the world, as the dependency graph has them."""
    bpy.context.scene.frame_set(frame)
    graph = bpy.context.evaluated_depsgraph_get()
    shown = body.evaluated_get(graph)
    positions = numpy.empty(3 * len(shown.data.vertices), numpy.float32)
    shown.data.vertices.foreach_get("co", positions)
    matrix = numpy.array(shown.matrix_world)
    return positions.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def size_of(positions):
    return float(numpy.linalg.norm(positions.max(axis=0) - positions.min(axis=0)))


def to_blender(positions):
    """From glTF's axes and metres to the scene's."""
    unit = bpy.context.scene.unit_settings.scale_length
    return numpy.stack([positions[:, 0], -positions[:, 2], positions[:, 1]], axis=1) / unit


class Glb:
    """A reader of its own, so that reader and writer do not agree by sharing code."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        magic, version, total = struct.unpack_from("<4sII", data)
        expect((magic, version, total) == (b"glTF", 2, len(data)), "not a GLB file")
        length, = struct.unpack_from("<I", data, 12)
        self.document = json.loads(data[20:20 + length])
        self.data = data[28 + length:]

    def array(self, number):
        accessor = self.document["accessors"][number]
        view = self.document["bufferViews"][accessor["bufferView"]]
        kind = {5126: "<f4", 5123: "<u2", 5125: "<u4"}[accessor["componentType"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor["type"]]
        return numpy.frombuffer(self.data, kind, accessor["count"] * width,
                                view["byteOffset"]).reshape(-1, width)

    def attribute(self, name):
        return self.array(self.document["meshes"][0]["primitives"][0]["attributes"][name])

    def worlds(self, key):
        """World matrices of the nodes at a key of the clip."""
        nodes = self.document["nodes"]
        clip = self.document["animations"][0]
        rest = {"translation": (0, 0, 0), "rotation": (0, 0, 0, 1), "scale": (1, 1, 1)}
        values = [dict(rest) for _ in nodes]
        for channel in clip["channels"]:
            output = self.array(clip["samplers"][channel["sampler"]]["output"])
            values[channel["target"]["node"]][channel["target"]["path"]] = output[key]
        worlds = {}

        def visit(node, above):
            v = values[node]
            x, y, z, w = (float(c) for c in v["rotation"])
            local = Matrix.LocRotScale([float(c) for c in v["translation"]],
                                       Quaternion((w, x, y, z)),
                                       [float(c) for c in v["scale"]])
            worlds[node] = above @ numpy.array(local)
            for child in nodes[node].get("children", []):
                visit(child, worlds[node])

        for root in self.document["scenes"][0]["nodes"]:
            visit(root, numpy.eye(4))
        return worlds

    def skinned(self, key):
        """Linear blend skinning at a key."""
        skin = self.document["skins"][0]
        worlds = self.worlds(key)
        inverse = self.array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
        matrices = numpy.array([worlds[node] @ inverse[k] for k, node in enumerate(skin["joints"])])
        rest = self.attribute("POSITION").astype(float)
        rest = numpy.concatenate([rest, numpy.ones((len(rest), 1))], axis=1)
        moved, sets = numpy.zeros((len(rest), 4)), 0
        while f"JOINTS_{sets}" in self.document["meshes"][0]["primitives"][0]["attributes"]:
            joints, weights = self.attribute(f"JOINTS_{sets}"), self.attribute(f"WEIGHTS_{sets}")
            for k in range(4):
                posed = numpy.einsum("vij,vj->vi", matrices[joints[:, k]], rest)
                moved += weights[:, k, None] * posed
            sets += 1
        return moved[:, :3]


def read_pc2(path):
    with open(path, "rb") as file:
        magic, _, vertices, _, _, frames = struct.unpack("<12siiffi", file.read(32))
        expect(magic == b"POINTCACHE2\0", "not a PC2 file")
        points = numpy.frombuffer(file.read(12 * vertices * frames), "<f4")
        return points.reshape(frames, vertices, 3)


# ---- The tests ----------------------------------------------------------------------------------


def enable(program):
    bpy.ops.preferences.addon_enable(module="sinew")
    bpy.context.preferences.addons["sinew"].preferences.program = program


def check_skinning(body, name):
    """The file, skinned by the book, is what Blender's Armature modifier makes."""
    import sinew
    folder = os.path.join(OUT, name)
    rig = sinew.character.find_rig(body)
    written = sinew.character.write(bpy.context, rig, body.sinew, folder)
    glb = Glb(written.path)
    worst = 0.0
    for key, frame in enumerate(FRAMES):
        shown = evaluated(body, frame)
        expect(len(shown) == written.vertex_count, f"{name}: {len(shown)} vertices are shown")
        worst = max(worst, abs(to_blender(glb.skinned(key)) - shown).max() / size_of(shown))
    say(f"{name}: skinning differs from Blender's by {worst:.1e} of the size")
    expect(worst < 1e-5, f"{name}: the skinned file is not what Blender shows")
    shutil.copy(written.path, os.path.join(OUT, name + ".glb"))
    return glb, written


def test_character(body):
    body.sinew.stiffness_group = "painted"
    body.sinew.stiffness = 2.0
    glb, _ = check_skinning(body, "plain")
    joints = [node["name"] for node in glb.document["nodes"]]
    expect(joints == ["hip", "knee", "toe", "body"], f"nodes {joints}")
    expect(glb.document["nodes"][0]["children"] == [1], "the knee is not below the hip")
    painted = numpy.array([sum(g.weight for g in v.groups if g.group == 0)
                           for v in body.data.vertices])
    stiffness = glb.attribute("_SINEW_STIFFNESS")[:, 0]
    expect(abs(stiffness - 2 * (1 + 9 * painted)).max() < 1e-5, "the painted stiffness is wrong")
    times = glb.array(glb.document["animations"][0]["samplers"][0]["input"])[:, 0]
    expect(abs(times - numpy.arange(5) * 1.001 / 30).max() < 1e-7, f"times {times}")
    triangles = glb.array(glb.document["meshes"][0]["primitives"][0]["indices"]).reshape(-1, 3)
    corners = glb.attribute("POSITION")[triangles].astype(float)
    volume = (corners[:, 0] * numpy.cross(corners[:, 1], corners[:, 2])).sum() / 6
    expect(volume > 0, "the triangles are inside out")


def test_odd_rigs(body):
    """Modifiers and shape keys before the armature, an armature apart from its mesh, mirrored ones,
    many influences, vertices without weights."""
    mirror = body.modifiers.new("Mirror", "MIRROR")
    with bpy.context.temp_override(object=body):
        bpy.ops.object.modifier_move_to_index(modifier="Mirror", index=0)
    body.shape_key_add(name="Basis")
    key = body.shape_key_add(name="fat")
    for point in key.data:
        point.co *= 1.1
    key.value = 0.7
    _, written = check_skinning(body, "modified")
    expect(written.vertex_count > len(body.data.vertices), "the Mirror modifier did nothing")
    body.modifiers.remove(mirror)
    body.shape_key_clear()

    parent, local = body.parent, body.matrix_local.copy()
    body.parent = None
    body.matrix_world = Matrix.LocRotScale((0.4, 0, 0.3), Euler((0, 0.2, 0)), (-1, 1, 1))
    for frame in (FRAMES[0], FRAMES[-1]):
        body.location.z = 0.3 + 0.01 * frame
        body.keyframe_insert("location", frame=frame)
    check_skinning(body, "apart")
    body.animation_data_clear()
    body.parent, body.matrix_local = parent, local

    parent.scale.z = 1.6
    import sinew
    written = sinew.character.write(bpy.context, sinew.character.find_rig(body), body.sinew,
                                    os.path.join(OUT, "sheared"))
    expect([name for name, _ in written.sheared] == ["knee", "toe"], f"sheared: {written.sheared}")
    parent.scale.z = 0.8

    groups = [body.vertex_groups[name] for name in ("hip", "knee", "toe")]
    kept = [[(g.group, g.weight) for g in v.groups] for v in body.data.vertices]
    for group in groups:
        group.remove([5])
    armature = body.parent
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for k in range(4):
        bone = armature.data.edit_bones.new(f"more{k}")
        bone.head, bone.tail = (0, 0.1 * k, 0.3), (0, 0.1 * k, 0.5)
        bone.parent = armature.data.edit_bones["hip"]
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.context.view_layer.objects.active = body
    others = [body.vertex_groups.new(name=f"more{k}") for k in range(4)]
    for k, group in enumerate(others):
        group.add([v.index for v in body.data.vertices if v.index != 5], 0.1 + 0.1 * k, "REPLACE")
        armature.pose.bones[group.name].rotation_mode = "XYZ"
        armature.pose.bones[group.name].rotation_euler = (0.1 * k, 0.2, 0)
    # Blender leaves vertex 5 where it is; the file has it move with its neighbours.
    rig = sinew.character.find_rig(body)
    written = sinew.character.write(bpy.context, rig, body.sinew, os.path.join(OUT, "many"))
    glb = Glb(written.path)
    expect(written.unweighted == 1, f"{written.unweighted} vertices without weight")
    attributes = glb.document["meshes"][0]["primitives"][0]["attributes"]
    expect("JOINTS_1" in attributes, "one joint set only")
    shown = evaluated(body, FRAMES[4])
    apart = numpy.linalg.norm(to_blender(glb.skinned(4)) - shown, axis=1) / size_of(shown)
    expect(numpy.delete(apart, 5).max() < 1e-5, "many influences: not what Blender shows")
    shutil.copy(written.path, os.path.join(OUT, "many.glb"))
    for group in others:
        body.vertex_groups.remove(group)
    for index, weight in kept[5]:
        body.vertex_groups[index].add([5], weight, "REPLACE")


def test_problems(body):
    """Each says what is wrong, to the user."""
    import sinew
    settings = body.sinew

    def refused(text, call=bpy.ops.sinew.check):
        try:
            call()
        except RuntimeError as error:
            expect(text in str(error), f"expected \"{text}\", found: {error}")
            return
        raise AssertionError(f"nothing was said about: {text}")

    settings.stiffness_group = "nothing"
    refused("no vertex group nothing; it has: painted, toe, hip, knee")
    settings.stiffness_group = "painted"
    settings.extra_options = "--celll 3"
    refused("no such option")
    refused("no such option", bpy.ops.sinew.simulate)
    settings.extra_options = ""
    settings.material = "cheese"
    refused("cheese")
    settings.material = ""
    preferences = bpy.context.preferences.addons["sinew"].preferences
    preferences.program = "/nowhere/sinew"
    refused("no such program")
    preferences.program = SINEW
    modifier = body.modifiers["Armature"]
    armature, modifier.object = modifier.object, None
    refused("no Armature modifier")
    modifier.object = armature
    knee = armature.pose.bones["knee"]
    knee.scale = (0, 0, 0)
    refused("scaled to nothing in frame 11")
    knee.scale = (1, 1, 1)
    names = [name for name, _ in sinew.program.materials(SINEW)]
    expect("muscle" in names, f"materials {names}")


def test_survey(body):
    """Check names what of a rig it cannot simulate, and what to do."""
    import sinew
    rig = sinew.character.find_rig(body)
    smooth = body.modifiers.new("Levels", "SUBSURF")
    smooth.levels, smooth.render_levels = 1, 2
    with bpy.context.temp_override(object=body):
        bpy.ops.object.modifier_move_to_index(modifier="Levels", index=0)
    body.modifiers.new("Second", "ARMATURE").object = rig.armature
    rig.armature.data.bones["knee"].bbone_segments = 4
    rig = sinew.character.find_rig(body)
    found = sinew.survey.survey(bpy.context.scene, rig)
    text = "\n".join(line for level, line in found if level == "WARNING")
    for words in ("Levels is before the Armature with 1 levels in the viewport and 2 in the render",
                  "Second, a second Armature", "bendy bones move as straight ones: knee"):
        expect(words in text, f"not said: {words}; found:\n{text}")
    rig.armature.data.bones["knee"].bbone_segments = 1
    body.modifiers.remove(body.modifiers["Levels"])
    body.modifiers.remove(body.modifiers["Second"])
    rig = sinew.character.find_rig(body)
    found = sinew.survey.survey(bpy.context.scene, rig)
    expect(not [line for level, line in found if level != "INFO"], f"a plain rig: {found}")


def test_check(body):
    expect(bpy.ops.sinew.check() == {"FINISHED"}, "Check")
    import sinew
    found = sinew.work.findings["body"]
    text = "\n".join(f"{level}: {line}" for level, line in found)
    for words in ("cells", "stiffness 2 to ", "kg"):
        expect(words in text, f"Check does not say {words}:\n{text}")
    expect(not any(level == "ERROR" for level, _ in found), text)


def test_modifier(body):
    modifier = body.modifiers[1]
    expect([m.type for m in body.modifiers] == ["ARMATURE", "MESH_CACHE", "CORRECTIVE_SMOOTH"],
           f"modifiers {[m.type for m in body.modifiers]}")
    expect(modifier.cache_format == "PC2" and modifier.frame_start == FRAMES[0], "wrong settings")
    expect(not body.modifiers[0].show_viewport and not body.modifiers[0].show_render,
           "the Armature is still on")


def test_positions(body, skinned):
    """Blender shows what the program computed, which is near the pose of the bones."""
    folder = body.sinew.job_folder
    caches = [name for name in os.listdir(os.path.join(folder, "run")) if name.endswith(".pc2")]
    frames = read_pc2(os.path.join(folder, "run", caches[0]))
    expect(len(frames) == len(FRAMES), f"{len(frames)} frames")
    for k in (0, 2, 4):
        shown, size = evaluated(body, FRAMES[k]), size_of(skinned[k])
        error = abs(shown - to_blender(frames[k].astype(float))).max() / size
        distance = numpy.median(numpy.linalg.norm(shown - skinned[k], axis=1)) / size
        say(f"frame {FRAMES[k]}: cache shown to {error:.1e}, {100 * distance:.2f} % from the pose")
        expect(error < 1e-6, f"frame {FRAMES[k]}: Blender shows something else")
        expect(distance < 0.05, f"frame {FRAMES[k]}: far from the pose")
    return frames


def test_simulation(body):
    import sinew
    body.sinew.cell = 0.03  # a frame takes long enough to be interrupted
    skinned = [evaluated(body, frame) for frame in FRAMES]
    run = sinew.work.begin(bpy.context, body)
    run.wait(until=lambda r: r.frame >= 2)
    expect(run.state == "running", f"{run.state} before it could be cancelled: {run.error}")
    expect("left" in run.progress_lines()[1] and 0.3 < run.share() < 1, str(run.progress_lines()))
    run.cancel()
    expect(run.wait() == "interrupted", f"{run.state}: {run.error}")
    level, text = sinew.work.finish(bpy.context, run)
    say(f"{text}; {run.seconds:.2f} s a frame")
    expect(level == "WARNING" and 2 <= run.copy.done < 5, f"{run.copy.done} frames when cancelled")
    test_modifier(body)
    expect(sinew.simulation.can_resume(run.folder), "cannot be resumed")
    expect(bpy.ops.sinew.resume() == {"FINISHED"}, "Resume")
    expect(not bpy.ops.sinew.resume.poll(), "a finished run can be resumed")
    test_modifier(body)
    frames = test_positions(body, skinned)
    expect(bpy.ops.sinew.simulate() == {"FINISHED"}, "Simulate")
    again = test_positions(body, skinned)
    expect((frames == again).all(), "interrupted and resumed is not the same as in one go")
    test_modifier(body)


def test_saved(body):
    """Other settings; paths relative to a saved file; the result is there when that is opened."""
    import sinew
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(OUT, "shot.blend"))
    settings = body.sinew
    settings.own_frames, settings.frame_start, settings.frame_end = True, 12, 13
    settings.folder = "//caches"
    settings.quasistatic, settings.self_contact, settings.material = True, False, "muscle"
    bpy.context.scene.gravity = (1, 2, -3)
    folder = sinew.work.folder_of(body)
    expect(folder == os.path.join(OUT, "caches", "body"), folder)
    expect(bpy.ops.sinew.simulate() == {"FINISHED"}, "Simulate")
    with open(os.path.join(folder, "run", "scene.json"), encoding="utf-8") as file:
        scene = json.load(file)
    expect(scene["frames"] == [1, 2] and scene["mode"] == "quasistatic", "frames or mode")
    expect(scene["gravity"] == [1, -3, -2], f"gravity {scene['gravity']}")
    expect(not scene["contact"]["self"], "self contact")
    modifier = sinew.result.find_modifier(body)
    expect(modifier.filepath == "//caches/body/flesh.pc2", modifier.filepath)
    expect(modifier.frame_start == 12, f"start frame {modifier.frame_start}")
    shown = evaluated(body, 13)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=os.path.join(OUT, "shot.blend"))
    body = bpy.data.objects["body"]
    expect((evaluated(body, 13) == shown).all(), "an opened file shows something else")
    expect(bpy.ops.sinew.clear() == {"FINISHED"} and body.modifiers[0].show_viewport, "Clear")


def test_clear(body, before):
    expect(bpy.ops.sinew.clear() == {"FINISHED"}, "Clear")
    after = [(m.type, m.show_viewport, m.show_render) for m in body.modifiers]
    expect(after == before, f"Clear left {after} instead of {before}")


def main():
    os.makedirs(OUT, exist_ok=True)
    if STEP == "zip":
        bpy.ops.preferences.addon_install(filepath=WORDS[3])
    enable(SINEW)
    body = build_character()
    body.sinew.folder = OUT
    body.sinew.cell = 0.05
    if STEP == "zip":
        installed = os.path.dirname(sys.modules["sinew"].__file__)
        expect(os.path.isfile(os.path.join(installed, "LICENSE")), "no licence in the zip")
        body.sinew.stiffness_group, body.sinew.stiffness = "painted", 2.0
        test_check(body)
        test_saved(body)
        say("installed from the zip")
    else:
        before = [(m.type, m.show_viewport, m.show_render) for m in body.modifiers]
        test_character(body)
        test_odd_rigs(body)
        test_problems(body)
        test_survey(body)
        test_check(body)
        test_simulation(body)
        test_clear(body, before)
    bpy.ops.preferences.addon_disable(module="sinew")
    expect(not hasattr(bpy.types.Object, "sinew"), "the add-on leaves something behind")


main()
