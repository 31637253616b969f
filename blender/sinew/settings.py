# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user can set: on the object (saved with the .blend file) and in the preferences."""

import bpy
from bpy.props import BoolProperty, FloatProperty, IntProperty, PointerProperty, StringProperty

from . import program, work
from .problem import Problem


def material_names(_settings, context, text):
    """Names of the material library that contain a text; none while the program is not found."""
    try:
        found = program.materials(work.program_path(context))
    except Problem:
        return []
    return [name for name, _ in found if text.lower() in name.lower()]


class SinewSettings(bpy.types.PropertyGroup):
    """Settings of one mesh, and what the add-on remembers about it."""

    cell: FloatProperty(
        name="Cell Size", subtype="DISTANCE", unit="LENGTH", min=0.0, default=0.0, precision=4,
        description="Edge of the finest cells; 0 chooses one that gives about 100,000 "
                    "cells. Half of it takes four to five times as long")
    material: StringProperty(
        name="Material", default="", search=material_names, search_options={"SORT"},
        description="A name of the material library (sinew materials lists it with its sources); "
                    "empty: soft flesh, stiffer for large or thin bodies")
    stiffness: FloatProperty(
        name="Stiffness", min=0.001, max=1e6, soft_max=100.0, default=1.0,
        description="Factor on the stiffness of the whole material")
    stiffness_group: StringProperty(
        name="Painted", description="Vertex group whose weights scale the stiffness")
    stiffness_low: FloatProperty(
        name="Weight 0", min=0.001, max=1e6, soft_max=100.0, default=1.0,
        description="Factor on the stiffness where the weight is 0, as outside the group")
    stiffness_high: FloatProperty(
        name="Weight 1", min=0.001, max=1e6, soft_max=100.0, default=10.0,
        description="Factor on the stiffness where the weight is 1")
    quasistatic: BoolProperty(
        name="Quasistatic", default=False,
        description="Each frame is in balance: flesh without inertia, which does not swing")
    self_contact: BoolProperty(
        name="Self Contact", default=True, description="Flesh touches itself instead of crossing")
    own_frames: BoolProperty(
        name="Own Frame Range", default=False, description="Other frames than the scene's")
    frame_start: IntProperty(name="Start", default=1, description="First frame to simulate")
    frame_end: IntProperty(name="End", default=250, description="Last frame to simulate")
    folder: StringProperty(
        name="Cache Folder", subtype="DIR_PATH", default="//sinew",
        description="Where the files go, in a folder with the name of the object")
    extra_options: StringProperty(
        name="Extra Options", description="More options of sinew flesh, as on a command line")

    # Remembered, not shown.
    job_folder: StringProperty(options={"HIDDEN"})
    cache_modifier: StringProperty(options={"HIDDEN"})
    armature_modifier: StringProperty(options={"HIDDEN"})
    armature_viewport: BoolProperty(default=True, options={"HIDDEN"})
    armature_render: BoolProperty(default=True, options={"HIDDEN"})


class SinewPreferences(bpy.types.AddonPreferences):
    """Where the program is, and how much of the machine it may use."""

    bl_idname = __package__

    program: StringProperty(
        name="Program", subtype="FILE_PATH",
        description="The program sinew; empty: the one on PATH, or beside the add-on")
    threads: IntProperty(
        name="Threads", min=0, max=1024, default=0,
        description="Threads of the program; 0 is one a processor. The result is the same")

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "program")
        try:
            layout.label(text="found: " + work.program_path(context), icon="CHECKMARK")
        except Problem as problem:
            layout.label(text=str(problem), icon="ERROR")
        layout.prop(self, "threads")


def register():
    bpy.utils.register_class(SinewSettings)
    bpy.utils.register_class(SinewPreferences)
    bpy.types.Object.sinew = PointerProperty(type=SinewSettings)


def unregister():
    del bpy.types.Object.sinew
    bpy.utils.unregister_class(SinewPreferences)
    bpy.utils.unregister_class(SinewSettings)
