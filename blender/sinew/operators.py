# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons. From a button a simulation runs beside the user's work; from a script (EXEC) the
call returns when it has ended."""

import bpy

from . import simulation, work
from .problem import Problem

POLL_SECONDS = 0.25


def redraw(context):
    """All sidebars show the progress."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def is_mesh(context):
    return context.object is not None and context.object.type == "MESH"


class SINEW_OT_check(bpy.types.Operator):
    """Look at the rig and ask the program what it would build; nothing is simulated"""

    bl_idname = "sinew.check"
    bl_label = "Check"

    @classmethod
    def poll(cls, context):
        return is_mesh(context) and not work.running(context.object)

    def execute(self, context):
        found = work.check(context, context.object)
        for level, text in found:
            if level == "WARNING" or bpy.app.background:
                self.report({level if level == "WARNING" else "INFO"}, text)
        errors = [text for level, text in found if level == "ERROR"]
        redraw(context)
        if errors:
            self.report({"ERROR"}, errors[0])
            return {"CANCELLED"}
        warnings = sum(level == "WARNING" for level, _ in found)
        self.report({"INFO"}, f"{context.object.name}: ready to simulate, {warnings} warnings")
        return {"FINISHED"}


class Runner:
    """What Simulate and Resume share."""

    resume = False
    timer = None
    run = None

    def begin(self, context):
        manager = context.window_manager
        manager.progress_begin(0, 100)
        try:
            self.run = work.begin(context, context.object, self.resume,
                                  lambda done: manager.progress_update(100 * done))
        finally:
            manager.progress_end()

    def end(self, context):
        try:
            level, text = work.finish(context, self.run)
        except Problem as problem:
            level, text = "ERROR", str(problem)
        owner = work.object_of(self.run)
        if owner:
            work.findings[owner.name] = [(level, text)] + [
                found for found in work.said(self.run.messages) if found[0] == "WARNING"]
        self.report({level}, text)
        redraw(context)

    def execute(self, context):
        try:
            self.begin(context)
            self.run.wait()
        except Problem as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        self.end(context)
        return {"FINISHED"}

    def invoke(self, context, _event):
        try:
            self.begin(context)
        except Problem as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        # What the object remembers of the run must survive an undo of what came before.
        bpy.ops.ed.undo_push(message="Sinew begins")
        self.timer = context.window_manager.event_timer_add(POLL_SECONDS, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        going = self.run.poll()
        redraw(context)
        if going:
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self.timer)
        self.end(context)
        bpy.ops.ed.undo_push(message="Sinew result")
        return {"FINISHED"}


    def cancel(self, context):
        """Blender ends the operator, as when another file is opened: the run can be resumed."""
        context.window_manager.event_timer_remove(self.timer)
        self.run.cancel()
        self.run.abandoned = True


class SINEW_OT_simulate(Runner, bpy.types.Operator):
    """Simulate the flesh of this mesh; the result replaces the effect of its Armature modifier"""

    bl_idname = "sinew.simulate"
    bl_label = "Simulate"

    @classmethod
    def poll(cls, context):
        return is_mesh(context) and not work.running(context.object)


class SINEW_OT_resume(Runner, bpy.types.Operator):
    """Go on with the simulation that was interrupted, with the settings that it had"""

    bl_idname = "sinew.resume"
    bl_label = "Resume"
    resume = True

    @classmethod
    def poll(cls, context):
        if not is_mesh(context) or work.running(context.object):
            return False
        try:
            return simulation.can_resume(work.last_folder(context.object))
        except Problem:
            return False


class SINEW_OT_cancel(bpy.types.Operator):
    """End the simulation after the frame that is being computed; pressed again, end it at once"""

    bl_idname = "sinew.cancel"
    bl_label = "Cancel"

    @classmethod
    def poll(cls, context):
        return is_mesh(context) and work.running(context.object) is not None

    def execute(self, context):
        run = work.running(context.object)
        if run:
            run.cancel()
        redraw(context)
        return {"FINISHED"}


class SINEW_OT_clear(bpy.types.Operator):
    """Remove the result from this mesh and show the Armature's deformation again; files are kept"""

    bl_idname = "sinew.clear"
    bl_label = "Clear"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        return is_mesh(context) and not work.running(context.object)

    def execute(self, context):
        try:
            had_one = work.clear(context.object)
        except Problem as problem:
            self.report({"ERROR"}, str(problem))
            return {"CANCELLED"}
        if not had_one:
            self.report({"INFO"}, f"{context.object.name} has no result")
        redraw(context)
        return {"FINISHED"}


CLASSES = [SINEW_OT_check, SINEW_OT_simulate, SINEW_OT_resume, SINEW_OT_cancel, SINEW_OT_clear]


def register():
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister():
    work.stop_all()
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
