"""Arrays as files that the program reads back to the last bit. Each appears as a whole or not at all."""
from __future__ import annotations

import os
import pathlib

import numpy as np
import numpy.typing as npt


def write_whole(path: pathlib.Path, data: bytes) -> None:
    """Replace a file by a rename."""
    temporary = path.with_name(path.name + ".tmp")
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def write_ply(path: pathlib.Path, vertices: npt.NDArray[np.float64], triangles: npt.NDArray[np.uint32]) -> None:
    """A binary PLY file in double precision."""
    header = (f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\n"
              "property double x\nproperty double y\nproperty double z\n"
              f"element face {len(triangles)}\nproperty list uchar uint vertex_indices\nend_header\n")
    faces = np.empty(len(triangles), dtype=[("count", "u1"), ("corners", "<u4", 3)])
    faces["count"] = 3
    faces["corners"] = triangles
    write_whole(path, header.encode() + vertices.astype("<f8").tobytes() + faces.tobytes())


def write_csv(path: pathlib.Path, values: npt.NDArray[np.float64]) -> None:
    """A value a line."""
    write_whole(path, "".join(f"{value!r}\n" for value in values.tolist()).encode())
