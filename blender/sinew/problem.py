# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user is told when something cannot be done."""


class Problem(Exception):
    """Its text says what was found and what to do, and is shown as it is."""


def listed(names, most=6):
    """Names for a message: at most `most` of them, and how many more there are."""
    names = list(names)
    if not names:
        return "none"
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
