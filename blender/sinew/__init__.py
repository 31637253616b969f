# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sinew add-on for Blender. Copyright the Sinew authors.
#
# This program is free software: you can redistribute it and/or modify it under the terms of the
# GNU General Public License as published by the Free Software Foundation, either version 3 of the
# License, or (at your option) any later version.
#
# This program is distributed in the hope that it will be useful, but WITHOUT ANY WARRANTY; without
# even the implied warranty of MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE. See the GNU
# General Public License for more details.
#
# You should have received a copy of the GNU General Public License along with this program. If not,
# see <https://www.gnu.org/licenses/>.
"""Sinew for Blender: a rigged mesh becomes simulated flesh, by the program `sinew`."""

import atexit

from . import operators, panel, settings, work

bl_info = {
    "name": "Sinew",
    "author": "The Sinew authors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > Sinew",
    "description": "Simulates the flesh of a rigged mesh",
    "category": "Physics",
}

PARTS = [settings, operators, panel]


def register():
    for part in PARTS:
        part.register()
    atexit.register(work.stop_all)


def unregister():
    atexit.unregister(work.stop_all)
    for part in reversed(PARTS):
        part.unregister()
