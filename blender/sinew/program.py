# SPDX-License-Identifier: GPL-3.0-or-later
"""The program `sinew`: where it is, what it knows, its command lines. Knows nothing of Blender."""

import json
import os
import shlex
import shutil
import subprocess
import sys

from .problem import Problem

NAME = "sinew.exe" if sys.platform == "win32" else "sinew"
# What programs started from a desktop often do not have in their PATH.
USUAL_FOLDERS = ["/usr/local/bin", "/opt/homebrew/bin", "~/.local/bin", "~/bin"]


def places():
    """Files that may be the program, best first, PATH aside."""
    here = os.path.dirname(os.path.abspath(__file__))
    folders = [here, os.path.join(here, "bin")]
    # The add-on used from a source tree: what was built there.
    folders.append(os.path.join(here, os.pardir, os.pardir, "build"))
    folders += [os.path.expanduser(folder) for folder in USUAL_FOLDERS]
    return [os.path.normpath(os.path.join(folder, NAME)) for folder in folders]


def find(chosen=""):
    """Path of the program: the one chosen by the user, else on PATH, else beside the add-on."""
    if chosen:
        path = os.path.join(chosen, NAME) if os.path.isdir(chosen) else chosen
        if not os.path.isfile(path):
            raise Problem(f"{path}: no such program; correct the path in the add-on's preferences")
        return path
    found = shutil.which(NAME) or next((p for p in places() if os.access(p, os.X_OK)
                                        and os.path.isfile(p)), None)
    if not found:
        raise Problem(f"the program {NAME} was found neither on PATH nor beside the add-on; "
                      "set its path in the add-on's preferences")
    return found


def run(command, timeout=600):
    """Run to the end; (exit code, lines of stdout, lines of stderr)."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=timeout, check=False)
    except OSError as error:
        raise Problem(f"{command[0]}: {error.strerror or error}") from error
    except subprocess.TimeoutExpired as error:
        raise Problem(f"{command[0]} {command[1]}: no answer in {timeout} s") from error
    texts = [text.decode("utf-8", "replace").splitlines() for text in (done.stdout, done.stderr)]
    return done.returncode, texts[0], texts[1]


_materials = {}  # path of a program: its library, which is asked for once


def materials(path):
    """[(name, description)] of the program's material library."""
    if path not in _materials:
        code, lines, errors = run([path, "materials", "--json"], timeout=30)
        if code != 0:
            raise Problem("sinew materials: " + " ".join(errors))
        try:
            _materials[path] = [(m["name"], m.get("source", ""))
                                for m in json.loads("\n".join(lines))]
        except (ValueError, KeyError, TypeError) as error:
            raise Problem(f"sinew materials: an answer that is not understood: {error}") from error
    return _materials[path]


def flesh_options(settings, unit, fps, frame_count, gravity=None):
    """Options of `sinew flesh` for the settings of a mesh. Frames of Sinew begin at 1.

    unit: metres in a Blender unit. gravity: in glTF's axes, m/s2, or None for the default."""
    options = ["--fps", f"{fps:.12g}", "--frames", f"1:{frame_count}"]
    if settings.cell > 0:
        options += ["--cell", f"{settings.cell * unit:.6g}"]
    if settings.material:
        options += ["--material", settings.material]
    if settings.quasistatic:
        options.append("--quasistatic")
    if not settings.self_contact:
        options.append("--no-contact")
    if gravity is not None:
        options += ["--set", "gravity=[" + ",".join(f"{value:.9g}" for value in gravity) + "]"]
    try:
        options += shlex.split(settings.extra_options)
    except ValueError as error:
        raise Problem(f"extra options: {error}") from error
    return options


def scene_changes(options):
    """Those options that change the scene that `sinew flesh` plans, for `sinew check`."""
    changes = []
    for word, following in zip(options, options[1:] + [""]):
        if word == "--set":
            changes += [word, following]
        elif word.startswith("--set="):
            changes.append(word)
    return changes


def error_of(messages):
    """The line of stderr that says why the program failed, or an empty text."""
    errors = [line[len("sinew: "):] for line in messages
              if line.startswith("sinew: ") and not line.startswith("sinew: warning: ")]
    return errors[-1] if errors else " ".join(list(messages)[-3:])
