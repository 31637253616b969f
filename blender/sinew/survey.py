# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user should know about a rig before it is simulated. Findings are (level, text); the
levels are those of Blender's reports, INFO, WARNING and ERROR, and DETAIL."""

from .character import unit_of
from .problem import listed

# Modifiers that may change how many vertices there are.
GENERATE = {"ARRAY", "BEVEL", "BOOLEAN", "BUILD", "DECIMATE", "EDGE_SPLIT", "MASK",
            "MESH_TO_VOLUME", "MIRROR", "MULTIRES", "NODES", "REMESH", "SCREW", "SKIN",
            "SOLIDIFY", "SUBSURF", "TRIANGULATE", "VOLUME_TO_MESH", "WELD", "WIREFRAME",
            "EXPLODE", "FLUID", "OCEAN",
            "PARTICLE_INSTANCE", "PARTICLE_SYSTEM"}
# Those whose outcome differs between viewport and render by a setting of their own.
LEVELS = {"SUBSURF": ("levels", "render_levels"), "MULTIRES": ("levels", "render_levels")}
FAR = 1e4  # m from the origin at which single precision shows


def survey(scene, rig):
    """All findings that need no simulation and no baking."""
    found = []
    found += survey_armature(rig)
    found += survey_before(rig)
    found += survey_after(rig)
    found += survey_object(scene, rig)
    return found


def survey_armature(rig):
    modifier, armature = rig.modifier, rig.armature
    if not modifier.use_vertex_groups:
        yield "WARNING", (f"{modifier.name}: Vertex Groups is off, but weights are read from "
                          "vertex groups; envelopes are not")
    if modifier.use_bone_envelopes:
        yield "WARNING", f"{modifier.name}: bone envelopes are ignored; vertex groups count"
    if modifier.use_deform_preserve_volume:
        yield "INFO", (f"{modifier.name}: Preserve Volume is not needed: the flesh follows the "
                       "bones and keeps its volume by itself")
    if modifier.vertex_group:
        yield "WARNING", f"{modifier.name}: its vertex group {modifier.vertex_group} is ignored"
    if modifier.use_multi_modifier:
        yield "WARNING", f"{modifier.name}: Multi Modifier is ignored"
    if armature.data.pose_position == "REST":
        yield "WARNING", f"{armature.name} shows its rest position: nothing will move"
    bendy = [bone.name for bone in rig.deforming_bones() if bone.bbone_segments > 1]
    if bendy:
        yield "WARNING", "bendy bones move as straight ones: " + listed(bendy)


def survey_before(rig):
    """Modifiers and shape keys that are part of the rest shape."""
    keys = rig.object.data.shape_keys
    if keys and any(key.value != 0 and not key.mute for key in keys.key_blocks[1:]):
        yield "INFO", ("shape keys count as they are in the first frame; their motion later is not "
                       "simulated")
    for modifier in list(rig.object.modifiers)[:rig.index()]:
        name = modifier.name
        if modifier.show_viewport != modifier.show_render and modifier.type in GENERATE:
            yield "WARNING", (f"{name} is before the Armature and is not on both in viewport and "
                              "in render: the cache fits the viewport only; switch both, apply it, "
                              "or move it behind the Armature")
        if not modifier.show_viewport:
            continue
        if modifier.type in LEVELS:
            levels = [getattr(modifier, key) for key in LEVELS[modifier.type]]
            if levels[0] != levels[1]:
                yield "WARNING", (f"{name} is before the Armature with {levels[0]} levels in the "
                                  f"viewport and {levels[1]} in the render: the cache fits the "
                                  "viewport only; make them equal or move it behind the Armature")
        if modifier.type in GENERATE:
            yield "INFO", (f"{name} is before the Armature: what it makes is simulated, as it is "
                           "in the first frame; leave its settings alone afterwards")
        else:
            yield "WARNING", (f"{name} is before the Armature: it counts as it is in the first "
                              "frame; its motion later is ignored")


def survey_after(rig):
    behind = [m for m in list(rig.object.modifiers)[rig.index() + 1:]
              if m.name != rig.object.sinew.cache_modifier and m.show_viewport]
    for modifier in behind:
        if modifier.type == "ARMATURE":
            yield "WARNING", (f"{modifier.name}, a second Armature, is not simulated; it still "
                              "deforms the result")
    rest = [m.name for m in behind if m.type != "ARMATURE"]
    if rest:
        yield "INFO", "not simulated, still applied to the result: " + listed(rest)


def survey_object(scene, rig):
    size = unit_of(scene) * max(rig.object.dimensions)
    if size > 20 or (0 < size < 0.02):
        yield "WARNING", (f"{rig.object.name} is {size:.3g} m large; flesh of that size moves "
                          "unlike a creature's: check the scale, or the unit scale of the scene")
    if max(abs(value) for value in rig.object.matrix_world.translation) * unit_of(scene) > FAR:
        yield "WARNING", f"{rig.object.name} is far from the origin: positions lose precision"
    render = scene.render
    if render.frame_map_old != render.frame_map_new:
        yield "WARNING", ("the scene stretches time (Time Remapping in its Format settings): the "
                          "cache is played as if it did not")


def survey_character(character):
    """Findings about what was written."""
    if character.unweighted:
        yield "WARNING", (f"{character.unweighted} vertices have no weight of a deforming bone; "
                          "they take those of the nearest vertex that has")
    if character.sheared:
        worst = max(shear for _, shear in character.sheared)
        yield "WARNING", (f"bones are sheared by up to {100 * worst:.1f} %, which is left out; "
                          "apply the armature's scale (Ctrl A) if it differs by direction: "
                          + listed(name for name, _ in character.sheared))
