"""What a frame came to."""
from __future__ import annotations

import dataclasses
import json
import math
from typing import Any


@dataclasses.dataclass(frozen=True)
class Energy:
    """Joules."""

    elastic: float
    kinetic: float
    gravity: float
    work: float  #: done by bones, constraints, loads and muscles so far
    rescued: float  #: brought in by the last resort of contact, in this frame


@dataclasses.dataclass(frozen=True)
class Stats:
    """Statistics of a frame: a line of ``stats.jsonl``, which docs/formats.md explains.

    What is not finite, ``null`` in the file, is NaN here.
    """

    frame: int
    time: float             #: s since the first frame
    seconds: float          #: of computing
    newton: int             #: Newton steps
    krylov: tuple[int, ...]  #: iterations of each
    residual: float         #: unbalanced force over the forces in play
    converged: bool
    stop: str               #: ``converged``, ``max`` or ``stalled``
    energy: Energy
    volume: float           #: m3, of the deformed cells
    volume_error: float     #: relative to rest
    min_j: float            #: smallest det F
    inverted: int           #: cells with det F <= 0
    contacts: int           #: points that touch
    max_penetration: float  #: m
    contact_force: float    #: N, of all colliders
    elements: int
    unknowns: int
    bytes: int              #: that the library holds
    share: float            #: of the frames of the scene that are done, 0 to 1
    line: dict[str, Any] = dataclasses.field(repr=False)  #: all of it, as the file has it

    @classmethod
    def from_json(cls, text: str, share: float) -> Stats:
        """Read a line as the library writes it."""
        line = json.loads(text)
        names = {field.name for field in dataclasses.fields(cls)} - {"energy", "krylov", "share", "line"}
        values = {name: math.nan if line[name] is None else line[name] for name in names}
        energy = {field.name: math.nan if line["energy"][field.name] is None else line["energy"][field.name]
                  for field in dataclasses.fields(Energy)}
        return cls(energy=Energy(**energy), krylov=tuple(line["krylov"]), share=share, line=line, **values)
