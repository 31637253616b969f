# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab "Sinew" in the sidebar of the 3D view."""

import textwrap

import bpy

from . import result, work

ICONS = {"DETAIL": "DOT", "INFO": "INFO", "WARNING": "ERROR", "ERROR": "CANCEL"}
CHARACTER_WIDTH = 7.0  # pixels at a scale of 1, about


def draw_text(layout, context, text, icon="NONE"):
    """A label that goes on in the next line where the sidebar is narrow."""
    width = context.region.width if context.region else 300
    scale = context.preferences.system.ui_scale
    columns = max(20, int(width / (CHARACTER_WIDTH * scale)) - 8)
    for k, line in enumerate(textwrap.wrap(text, columns) or [""]):
        layout.label(text=line, icon=icon if k == 0 else "BLANK1")


class SinewPanel:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Sinew"

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type == "MESH"


class SINEW_PT_main(bpy.types.Panel):
    bl_label = "Sinew"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Sinew"

    def draw(self, context):
        layout = self.layout
        if context.object is None or context.object.type != "MESH":
            draw_text(layout, context, "Select a mesh that an armature deforms")
            return
        layout.operator("sinew.check", icon="VIEWZOOM")
        run = work.running(context.object)
        if run:
            draw_progress(layout, run)
            layout.operator("sinew.cancel", icon="CANCEL")
        else:
            row = layout.row(align=True)
            row.operator("sinew.simulate", icon="PLAY")
            row.operator("sinew.resume", icon="FF")
        layout.operator("sinew.clear", icon="TRASH")
        modifier = result.find_modifier(context.object)
        if modifier and not run:
            draw_text(layout, context, f"Result in the modifier {modifier.name}", "CHECKMARK")


def draw_progress(layout, run):
    if hasattr(layout, "progress"):  # Blender 4
        layout.progress(factor=run.share(), text=f"{100 * run.share():.0f} %")
    else:
        full = int(20 * run.share())
        layout.label(text="\u2588" * full + "\u2591" * (20 - full))
    for line in run.progress_lines():
        layout.label(text=line)


def findings_of(context, levels):
    """What the last check or run of the object said, by level."""
    found = work.findings.get(context.object.name, [])
    return [(level, text) for wanted in levels for level, text in found if level == wanted]


class FindingsPanel(SinewPanel):
    """Shows the findings of some levels, if there are any."""

    levels = []

    @classmethod
    def poll(cls, context):
        return super().poll(context) and bool(findings_of(context, cls.levels))

    def draw(self, context):
        column = self.layout.column(align=True)
        for level, text in findings_of(context, self.levels):
            draw_text(column, context, text, ICONS[level])


class SINEW_PT_findings(FindingsPanel, bpy.types.Panel):
    bl_label = "Report"
    bl_parent_id = "SINEW_PT_main"
    levels = ["ERROR", "WARNING", "INFO"]


class SINEW_PT_details(FindingsPanel, bpy.types.Panel):
    bl_label = "Details"
    bl_parent_id = "SINEW_PT_findings"
    bl_options = {"DEFAULT_CLOSED"}
    levels = ["DETAIL"]


class SINEW_PT_flesh(SinewPanel, bpy.types.Panel):
    bl_label = "Flesh"
    bl_parent_id = "SINEW_PT_main"

    def draw(self, context):
        settings, layout = context.object.sinew, self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(settings, "cell")
        layout.prop(settings, "material")
        layout.prop(settings, "stiffness")
        layout.prop_search(settings, "stiffness_group", context.object, "vertex_groups")
        if settings.stiffness_group:
            column = layout.column(align=True)
            column.prop(settings, "stiffness_low")
            column.prop(settings, "stiffness_high")
        layout.prop(settings, "quasistatic")
        layout.prop(settings, "self_contact")


class SINEW_PT_run(SinewPanel, bpy.types.Panel):
    bl_label = "Frames and Files"
    bl_parent_id = "SINEW_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        settings, layout = context.object.sinew, self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(settings, "own_frames")
        column = layout.column(align=True)
        column.active = settings.own_frames
        column.prop(settings, "frame_start")
        column.prop(settings, "frame_end")
        layout.prop(settings, "folder")
        layout.prop(settings, "extra_options")


CLASSES = [SINEW_PT_main, SINEW_PT_findings, SINEW_PT_details, SINEW_PT_flesh, SINEW_PT_run]


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
