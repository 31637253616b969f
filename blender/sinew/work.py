# SPDX-License-Identifier: GPL-3.0-or-later
"""What the buttons do, without the buttons: check, begin, finish. Scripts and tests call this."""

import json
import os
import re

import bpy

from . import character, program, result, simulation, survey
from .problem import Problem

simulations = {}  # folder: Simulation, since Blender started
findings = {}     # name of an object: [(level, text)] of its last check


def preferences(context):
    """The add-on's preferences, or None where it is used without being enabled."""
    addon = context.preferences.addons.get(__package__)
    return addon.preferences if addon else None


def program_path(context):
    chosen = preferences(context)
    return program.find(bpy.path.abspath(chosen.program) if chosen and chosen.program else "")


def folder_of(mesh_object):
    """Where the files of an object go: its own folder below the chosen one."""
    base = bpy.path.abspath(mesh_object.sinew.folder) if mesh_object.sinew.folder else ""
    if mesh_object.sinew.folder.startswith("//") and not bpy.data.filepath:
        base = os.path.join(bpy.app.tempdir, "sinew")
    if not base:
        raise Problem("choose a cache folder")
    name = re.sub(r"[^\w.\- ]", "_", mesh_object.name).strip(". ") or "object"
    return os.path.join(os.path.abspath(base), name)


def is_temporary(mesh_object):
    """Whether the caches go away when Blender quits."""
    return mesh_object.sinew.folder.startswith("//") and not bpy.data.filepath


def gravity_of(scene):
    """The scene's gravity in glTF's axes, or None for Sinew's default, 9.81 m/s2 downwards."""
    if not scene.use_gravity:
        return (0.0, 0.0, 0.0)
    x, y, z = scene.gravity
    # Blender's own default is 9.81 rounded to single precision.
    if x == 0 and y == 0 and abs(z + 9.81) < 1e-5:
        return None
    return (x, z, -y)


def write_character(context, mesh_object, folder, report=lambda done: None):
    """The character in `folder` and the options of `sinew flesh` for it."""
    scene, settings = context.scene, mesh_object.sinew
    rig = character.find_rig(mesh_object)
    try:
        written = character.write(context, rig, settings, folder, report)
    except OSError as error:
        raise Problem(f"{error.filename or folder}: {error.strerror}") from error
    fps = scene.render.fps / scene.render.fps_base
    options = program.flesh_options(settings, character.unit_of(scene), fps, len(written.frames),
                                    gravity_of(scene))
    return written, options


def last_folder(mesh_object):
    """The folder of the object's last run, also after the project was moved."""
    noted = mesh_object.sinew.job_folder
    return noted if noted and os.path.isdir(noted) else folder_of(mesh_object)


def simulation_of(mesh_object):
    """The last simulation of an object since Blender started, or None. An undo may have taken back
    what the object remembers, so its name counts too."""
    found = simulations.get(mesh_object.sinew.job_folder)
    return found or next((run for run in simulations.values()
                          if run.job["object"] == mesh_object.name), None)


def running(mesh_object):
    """The simulation of an object that is going on, or None."""
    found = simulation_of(mesh_object)
    if found and found.abandoned:
        found.poll()
    return found if found and found.state == "running" else None


def object_of(run):
    """The object that a simulation belongs to, also under another name; None if it is gone."""
    return next((o for o in bpy.data.objects if o.sinew.job_folder == run.folder),
                bpy.data.objects.get(run.job["object"]))


# ---- Check --------------------------------------------------------------------------------------


def check(context, mesh_object):
    """All findings about an object, also kept for the panel; an error is among them."""
    found = []
    try:
        rig = character.find_rig(mesh_object)
        found += survey.survey(context.scene, rig)
        if is_temporary(mesh_object):
            found.append(("WARNING", "the .blend file is not saved: caches go to a temporary "
                                     "folder and are lost when Blender quits"))
        folder = os.path.join(folder_of(mesh_object), "check")
        written, options = write_character(context, mesh_object, folder)
        found += survey.survey_character(written)
        found += ask_program(program_path(context), written.path, options, folder)
    except Problem as problem:
        found.append(("ERROR", str(problem)))
    if mesh_object is not None:
        findings[mesh_object.name] = found
    return found


def ask_program(path, glb, options, folder):
    """What the program says about the character: the plan of its flesh, then the scene's check."""
    scene = os.path.join(folder, "scene.json")
    plan = [path, "flesh", glb, "--write-scene", scene] + options
    look = [path, "check", scene, "--json"] + program.scene_changes(options)
    found, lines = [], []
    for command in (plan, look):
        code, lines, messages = program.run(command)
        found += said(messages)
        if code != 0:
            reason = program.error_of(messages) or "no message"
            return found + [("ERROR", f"sinew {command[1]} ended with code {code}: {reason}")]
    try:
        return found + list(described(json.loads("\n".join(lines))))
    except (ValueError, KeyError, TypeError) as error:
        raise Problem(f"sinew check: an answer that is not understood: {error}") from error


def described(answer):
    """The answer of `sinew check --json` in words."""
    for body in answer["bodies"]:
        yield "INFO", (f"{body['cells']:,} cells, the finest {body['cell']:.3g} m; about "
                       f"{answer['estimated_bytes'] / 1e6:,.0f} MB of memory")
        yield "INFO", f"{1e3 * body['filled_volume']:.3g} litres of flesh, {body['mass']:.3g} kg"
        for painted in body["maps"]:
            yield "INFO", (f"{painted['name']} {painted['least']:.3g} to {painted['most']:.3g}, "
                           f"{painted['mean']:.3g} in the mean")
        yield "DETAIL", (f"{body['unknowns']:,} unknowns, {body['attached_nodes']:,} nodes held by "
                         "bones")


def said(messages):
    """Lines of stderr as findings. What the program notes by itself is worth a line in the report,
    its description of parts and joints is for those who look."""
    found = []
    for line in messages:
        text = re.sub(r"^sinew: ", "", line).strip()
        for start, level in (("warning: ", "WARNING"), ("note: ", "INFO"), ("", "DETAIL")):
            if text and text.startswith(start):
                found.append((level, text[len(start):]))
                break
    return found


# ---- Simulate -----------------------------------------------------------------------------------


def begin(context, mesh_object, resume=False, report=lambda done: None):
    """Start simulating an object, or go on with it; the Simulation. An old result stays in view
    until the new one has a frame."""
    if mesh_object is None or mesh_object.type != "MESH":
        raise Problem("Select a mesh that an armature deforms")
    path = program_path(context)
    folder = last_folder(mesh_object) if resume else folder_of(mesh_object)
    before = simulations.get(folder)
    if running(mesh_object) or (before and before.state == "running"):
        raise Problem(f"the simulation of {mesh_object.name} in {folder} is still going on")
    if not resume:
        written, options = write_character(context, mesh_object, folder, report)
        simulation.write_job(folder, options, written)
    run = simulation.Simulation(path, folder)
    chosen = preferences(context)
    run.start(resume, chosen.threads if chosen else 0)
    mesh_object.sinew.job_folder = folder
    simulations[folder] = run
    return run


def finish(context, run):
    """Show what a simulation that has ended left; (level, text) of how it went."""
    mesh_object = object_of(run)
    name = run.job["object"]
    frames = run.copy.done if run.copy else 0
    if mesh_object and frames > 0:
        mesh_object.sinew.job_folder = run.folder
        result.attach(context, mesh_object, run.cache, run.job["first_frame"])
    if run.state == "done":
        text = f"{name}: {frames} frames simulated"
        if run.unconverged:
            return "WARNING", f"{text}; {run.unconverged} of them missed their tolerance"
        return "INFO", text
    if run.state == "interrupted":
        return "WARNING", f"{name}: interrupted after {frames} of {run.frame_count} frames; " \
                          "Resume goes on"
    return "ERROR", f"{name}: {run.error}"


def clear(mesh_object):
    """Remove the result from the object; its files stay. Whether there was one."""
    if running(mesh_object):
        raise Problem(f"{mesh_object.name} is being simulated; cancel first")
    findings.pop(mesh_object.name, None)
    return result.detach(mesh_object)


def stop_all():
    """Ask every running program to end: Blender quits, or the add-on is switched off."""
    for run in simulations.values():
        if run.state == "running" and not run.cancelled:
            run.cancel()
