# SPDX-License-Identifier: GPL-3.0-or-later
"""The result on the object: a Mesh Cache modifier in the place of the Armature's effect."""

import bpy

from .character import MODIFIER_NAME, find_rig
from .problem import Problem


def find_modifier(mesh_object):
    """The add-on's own modifier, by the name that the object remembers, or None."""
    modifier = mesh_object.modifiers.get(mesh_object.sinew.cache_modifier)
    return modifier if modifier and modifier.type == "MESH_CACHE" else None


def move_modifier(context, mesh_object, modifier, index):
    if hasattr(mesh_object.modifiers, "move"):
        mesh_object.modifiers.move(list(mesh_object.modifiers).index(modifier), index)
        return
    with context.temp_override(object=mesh_object):
        bpy.ops.object.modifier_move_to_index(modifier=modifier.name, index=index)


def attach(context, mesh_object, path, first_frame):
    """Show the cache instead of the armature's deformation. Again is fine."""
    settings = mesh_object.sinew
    rig = find_rig(mesh_object)
    modifier = find_modifier(mesh_object)
    if modifier is None:
        modifier = mesh_object.modifiers.new(MODIFIER_NAME, "MESH_CACHE")
        if modifier is None:
            raise Problem(f"{mesh_object.name} takes no modifier; is it linked from another file?")
        settings.cache_modifier = modifier.name
        settings.armature_modifier = rig.modifier.name
        settings.armature_viewport = rig.modifier.show_viewport
        settings.armature_render = rig.modifier.show_render
        place = rig.index() + 1
        move_modifier(context, mesh_object, modifier, place)
    rig.modifier.show_viewport = rig.modifier.show_render = False
    set_up(modifier, path, first_frame)


def set_up(modifier, path, first_frame):
    """The cache is in the object's own coordinates and axes; its first frame is `first_frame`."""
    modifier.cache_format = "PC2"
    modifier.deform_mode = "OVERWRITE"
    modifier.interpolation = "LINEAR"
    modifier.time_mode = "FRAME"
    modifier.play_mode = "SCENE"
    modifier.frame_start = first_frame
    modifier.frame_scale = 1.0
    modifier.forward_axis = "POS_Y"
    modifier.up_axis = "POS_Z"
    modifier.factor = 1.0
    modifier.filepath = blend_relative(path)


def blend_relative(path):
    """Relative to the .blend file where both are on one drive, so that a project can be moved."""
    if not bpy.data.filepath:
        return path
    try:
        return bpy.path.relpath(path)
    except ValueError:
        return path


def detach(mesh_object):
    """Remove the modifier and show the armature's deformation as before; whether there was one."""
    settings = mesh_object.sinew
    modifier = find_modifier(mesh_object)
    had_one = modifier is not None
    if had_one:
        mesh_object.modifiers.remove(modifier)
    armature = mesh_object.modifiers.get(settings.armature_modifier)
    if armature is not None:
        armature.show_viewport = settings.armature_viewport
        armature.show_render = settings.armature_render
    settings.cache_modifier = settings.armature_modifier = ""
    return had_one
