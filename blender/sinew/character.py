# SPDX-License-Identifier: GPL-3.0-or-later
"""A rigged mesh of Blender as a character for Sinew: its rest shape, its weights, and a key a frame
of every joint, as the dependency graph evaluates them (constraints, drivers, NLA and all)."""

import os

import bpy
import numpy
from mathutils import kdtree

from . import glb, skeleton
from .problem import Problem, listed

MODIFIER_NAME = "Sinew"
LEAST_STIFFNESS, MOST_STIFFNESS = 0.001, 1e6
# The least volume factor of a joint or object that is not taken for scaled to nothing.
LEAST_DETERMINANT = 1e-12


class Rig:
    """A mesh object, its Armature modifier and the armature."""

    def __init__(self, mesh_object, modifier):
        self.object = mesh_object
        self.modifier = modifier
        self.armature = modifier.object

    def index(self):
        """Of the Armature modifier in the stack."""
        return list(self.object.modifiers).index(self.modifier)

    def deforming_bones(self):
        """Bones that move vertices, parents first."""
        bones = [bone for bone in self.armature.data.bones if bone.use_deform]
        return sorted(bones, key=lambda bone: len(bone.parent_recursive))


def find_rig(mesh_object):
    """The rig of an object, by its first Armature modifier. Problem if it has none."""
    if mesh_object is None or mesh_object.type != "MESH":
        raise Problem("Select a mesh that an armature deforms")
    for modifier in mesh_object.modifiers:
        if modifier.type == "ARMATURE" and modifier.object and modifier.object.type == "ARMATURE":
            return Rig(mesh_object, modifier)
    if mesh_object.parent and mesh_object.parent_type == "ARMATURE":
        raise Problem(f"{mesh_object.name} is deformed by its parent without a modifier; add an "
                      f"Armature modifier with the object {mesh_object.parent.name}")
    raise Problem(f"{mesh_object.name} has no Armature modifier with an armature; found: "
                  + listed(m.name for m in mesh_object.modifiers))


def unit_of(scene):
    """Metres in a Blender unit."""
    settings = scene.unit_settings
    return 1.0 if settings.system == "NONE" else settings.scale_length


# ---- Motion -------------------------------------------------------------------------------------


class Motion:
    """Where object, armature and bones are, a row a frame, as 4x4 matrices."""

    def __init__(self, frames, bone_count):
        self.frames = frames  # numbers of the scene's frames
        self.object = numpy.zeros((len(frames), 4, 4))    # in the world
        self.armature = numpy.zeros((len(frames), 4, 4))  # in the world
        self.bones = numpy.zeros((len(frames), bone_count, 4, 4))  # in the armature


def bake(context, rig, bones, frames, report=lambda done: None):
    """Play the frames of the scene and note the motion. The frame is put back afterwards."""
    scene = context.scene
    motion = Motion(frames, len(bones))
    kept = scene.frame_current, scene.frame_subframe
    try:
        for row, frame in enumerate(frames):
            scene.frame_set(frame)
            graph = context.evaluated_depsgraph_get()
            armature = rig.armature.evaluated_get(graph)
            motion.object[row] = rig.object.evaluated_get(graph).matrix_world
            motion.armature[row] = armature.matrix_world
            for k, bone in enumerate(bones):
                motion.bones[row, k] = armature.pose.bones[bone.name].matrix
            report((row + 1) / len(frames))
    finally:
        scene.frame_set(kept[0], subframe=kept[1])
    check_volumes(rig, bones, motion)
    return motion


def check_volumes(rig, bones, motion):
    """Problem if something is scaled to nothing: what is below it has no place then."""
    for owner, matrices in ((rig.object, motion.object), (rig.armature, motion.armature)):
        flat = abs(numpy.linalg.det(matrices[:, :3, :3])) < LEAST_DETERMINANT
        if flat.any():
            raise Problem(f"object {owner.name} is scaled to nothing in frame "
                          f"{motion.frames[int(flat.argmax())]}")
    for k, bone in enumerate(bones):
        flat = abs(numpy.linalg.det(motion.bones[:, k, :3, :3])) < LEAST_DETERMINANT
        if flat.any():
            raise Problem(f"bone {bone.name} is scaled to nothing in frame "
                          f"{motion.frames[int(flat.argmax())]}; use a small scale instead")


def rest_bones(bones):
    """(bones, 4, 4) of the bones at rest, in the armature."""
    return numpy.array([bone.matrix_local for bone in bones], float).reshape(-1, 4, 4)


def deformations(motion, rest):
    """(frames, bones, 4, 4): what the Armature modifier does to a vertex of each bone, in the
    world, from where the object rests in the first frame. Blender takes the vertex from the object
    into the armature and back, so that the motion of one against the other counts."""
    inverse = numpy.linalg.inv
    start = inverse(motion.object[0])
    into_armature = inverse(motion.armature) @ motion.object @ start
    posed = motion.armature[:, None] @ motion.bones @ inverse(rest)
    return posed @ into_armature[:, None]


def build_skeleton(rig, bones, motion, unit):
    """The skeleton for glTF of these bones, parents first, below the nearest of them."""
    names = [bone.name for bone in bones]
    parents = []
    for bone in bones:
        above = [names.index(b.name) for b in bone.parent_recursive if b.name in names]
        parents.append(above[0] if above else -1)
    rest = rest_bones(bones)
    bind = skeleton.rigid_frames(motion.armature[0] @ rest)
    return skeleton.build(names, parents, deformations(motion, rest), bind, unit)


# ---- Surface ------------------------------------------------------------------------------------


class Rest:
    """The mesh as it enters the Armature modifier: shape keys and earlier modifiers are done."""

    def __init__(self, mesh, group_count):
        self.positions = numpy.empty(3 * len(mesh.vertices), numpy.float32)
        mesh.vertices.foreach_get("co", self.positions)
        self.positions = self.positions.reshape(-1, 3).astype(float)
        mesh.calc_loop_triangles()
        self.triangles = numpy.empty(3 * len(mesh.loop_triangles), numpy.int32)
        mesh.loop_triangles.foreach_get("vertices", self.triangles)
        self.triangles = self.triangles.reshape(-1, 3)
        # Of each vertex, (group, weight) of all groups that it is in.
        self.groups = [[(g.group, g.weight) for g in vertex.groups if g.group < group_count]
                       for vertex in mesh.vertices]


def read_rest(context, rig, frame):
    """Evaluate a copy of the object that ends before the Armature modifier, in a frame."""
    scene = context.scene
    kept = scene.frame_current, scene.frame_subframe
    copy = rig.object.copy()
    try:
        for modifier in list(copy.modifiers)[rig.index():]:
            copy.modifiers.remove(modifier)
        copy.hide_viewport = False
        scene.collection.objects.link(copy)
        scene.frame_set(frame)
        graph = context.evaluated_depsgraph_get()
        evaluated = copy.evaluated_get(graph)
        mesh = evaluated.to_mesh(preserve_all_data_layers=True, depsgraph=graph)
        rest = Rest(mesh, len(rig.object.vertex_groups))
        evaluated.to_mesh_clear()
    finally:
        bpy.data.objects.remove(copy)
        scene.frame_set(kept[0], subframe=kept[1])
    if len(rest.triangles) == 0:
        raise Problem(f"{rig.object.name} has no faces")
    return rest


def weighing_bones(rig, rest):
    """Those deforming bones that some vertex has a weight of, parents first."""
    used = {group for groups in rest.groups for group, weight in groups if weight > 0}
    names = {rig.object.vertex_groups[group].name for group in used}
    bones = [bone for bone in rig.deforming_bones() if bone.name in names]
    if not bones:
        raise Problem(f"no vertex of {rig.object.name} has a weight of a deforming bone of "
                      f"{rig.armature.name}; its vertex groups: "
                      + listed(group.name for group in rig.object.vertex_groups)
                      + "; deforming bones: "
                      + listed(bone.name for bone in rig.deforming_bones()))
    return bones


def fill_unweighted(rest, influences):
    """Give vertices that no bone moves the weights of the nearest one that has some."""
    empty = [vertex for vertex, found in enumerate(influences) if not found]
    if not empty:
        return 0
    tree = kdtree.KDTree(len(influences) - len(empty))
    for vertex, found in enumerate(influences):
        if found:
            tree.insert(rest.positions[vertex], vertex)
    tree.balance()
    for vertex in empty:
        influences[vertex] = influences[tree.find(rest.positions[vertex])[1]]
    return len(empty)


def skin_of(rig, rest, bones):
    """(joints, weights, vertices without any) for glTF, with as many sets of four as are needed."""
    joint_of_bone = {bone.name: k for k, bone in enumerate(bones)}
    joint_of_group = {group.index: joint_of_bone[group.name]
                      for group in rig.object.vertex_groups if group.name in joint_of_bone}
    influences = []
    for groups in rest.groups:
        found = [(weight, joint_of_group[group]) for group, weight in groups
                 if weight > 0 and group in joint_of_group]
        influences.append(sorted(found, reverse=True))
    unweighted = fill_unweighted(rest, influences)
    most = max(len(found) for found in influences)
    joints = numpy.zeros((len(influences), 4 * ((most + 3) // 4)), numpy.uint16)
    weights = numpy.zeros(joints.shape)
    for vertex, found in enumerate(influences):
        for k, (weight, joint) in enumerate(found):
            joints[vertex, k], weights[vertex, k] = joint, weight
    weights /= weights.sum(axis=1, keepdims=True)
    return joints, weights, unweighted


def stiffness_of(rig, rest, settings):
    """Factors on the stiffness of the vertices, or None where all are 1."""
    if not settings.stiffness_group and settings.stiffness == 1.0:
        return None
    painted = numpy.zeros(len(rest.groups))
    if settings.stiffness_group:
        group = rig.object.vertex_groups.get(settings.stiffness_group)
        if group is None:
            raise Problem(f"{rig.object.name} has no vertex group {settings.stiffness_group}; "
                          "it has: " + listed(g.name for g in rig.object.vertex_groups))
        painted[:] = [dict(groups).get(group.index, 0.0) for groups in rest.groups]
        low, high = settings.stiffness_low, settings.stiffness_high
    else:
        low = high = 1.0
    values = settings.stiffness * (low + (high - low) * painted)
    if values.min() < LEAST_STIFFNESS or values.max() > MOST_STIFFNESS:
        raise Problem(f"the stiffness factors go from {values.min():g} to {values.max():g}; "
                      f"{LEAST_STIFFNESS:g} to {MOST_STIFFNESS:g} is possible")
    return values


def build_surface(rest, motion, unit, skin, stiffness):
    """The surface for glTF: the rest shape where the object is in the first frame."""
    to_gltf = skeleton.placement(unit) @ motion.object[0]
    positions = rest.positions @ to_gltf[:3, :3].T + to_gltf[:3, 3]
    mirrored = numpy.linalg.det(motion.object[0][:3, :3]) < 0
    triangles = rest.triangles[:, ::-1] if mirrored else rest.triangles
    maps = {} if stiffness is None else {"_SINEW_STIFFNESS": stiffness}
    return skeleton.Surface(positions, triangles, skin[0], skin[1], maps)


# ---- The whole ----------------------------------------------------------------------------------


class Character:
    """What was written, and what is needed to bring the result back."""

    def __init__(self, path, rig, rest, motion, unit):
        self.path = path
        self.frames = motion.frames
        self.vertex_count = len(rest.positions)
        self.unweighted = 0
        self.sheared = []  # (bone, shear)
        # From Sinew's world to the object's own coordinates, a row a frame (frames, 4, 4).
        self.to_object = numpy.linalg.inv(skeleton.placement(unit) @ motion.object)
        self.name = rig.object.name


def frames_of(scene, settings):
    """Numbers of the frames to simulate, in the scene."""
    if settings.own_frames:
        first, last = settings.frame_start, settings.frame_end
    else:
        first, last = scene.frame_start, scene.frame_end
    if last < first:
        raise Problem(f"the last frame, {last}, is before the first, {first}")
    return range(first, last + 1)


def write(context, rig, settings, folder, report=lambda done: None):
    """Write `folder`/character.glb; a Character. Problem if there is something in the way."""
    scene = context.scene
    if rig.armature.mode == "EDIT":
        raise Problem(f"armature {rig.armature.name} is in edit mode; leave it first")
    if rig.object.mode == "EDIT":
        rig.object.update_from_editmode()
    frames = frames_of(scene, settings)
    unit = unit_of(scene)
    rest = read_rest(context, rig, frames[0])
    bones = weighing_bones(rig, rest)
    joints, weights, unweighted = skin_of(rig, rest, bones)
    motion = bake(context, rig, bones, frames, report)
    joint_tree = build_skeleton(rig, bones, motion, unit)
    surface = build_surface(rest, motion, unit, (joints, weights),
                            stiffness_of(rig, rest, settings))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "character.glb")
    fps = scene.render.fps / scene.render.fps_base
    times = numpy.arange(len(frames)) / fps
    name = rig.object.name
    if name in joint_tree.names:
        name += " mesh"
    try:
        glb.write(path, name, surface, joint_tree, times)
    except ValueError as error:
        raise Problem(f"{path}: {error}") from error
    character = Character(path, rig, rest, motion, unit)
    character.unweighted = unweighted
    character.sheared = [(joint_tree.names[k], float(shear))
                         for k, shear in enumerate(joint_tree.shear) if shear > 1e-3]
    return character
