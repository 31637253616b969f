# SPDX-License-Identifier: GPL-3.0-or-later
"""Moving joints as glTF has them: translation, rotation and scale below a parent. Knows nothing of
Blender. Matrices are row-major arrays that multiply columns: a point p goes to A @ p."""

import numpy

# Blender's z is up, glTF's y: (x, y, z) becomes (x, z, -y).
TO_GLTF = numpy.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


class Surface:
    """A skinned triangle mesh at rest, in the axes and unit of glTF."""

    def __init__(self, positions, triangles, joints, weights, maps):
        self.positions = positions  # (vertices, 3)
        self.triangles = triangles  # (triangles, 3)
        self.joints = joints        # (vertices, a multiple of 4); 0 where the weight is 0
        self.weights = weights      # the same shape; of a vertex they sum to 1
        self.maps = maps            # name of the attribute: (vertices)


class Skeleton:
    """Joints, parents first, with a key each frame."""

    def __init__(self, names, parents, frame_count):
        count = len(names)
        self.names = names
        self.parents = parents  # index of an earlier joint or -1
        self.translation = numpy.zeros((frame_count, count, 3))
        self.rotation = numpy.zeros((frame_count, count, 4))  # x, y, z, w
        self.scale = numpy.ones((frame_count, count, 3))
        self.inverse_bind = numpy.zeros((count, 4, 4))
        self.shear = numpy.zeros(count)  # what translation, rotation and scale cannot say


def placement(unit):
    """The 4x4 matrix from Blender's world, with `unit` metres a Blender unit, to glTF's."""
    matrix = numpy.eye(4)
    matrix[:3, :3] = unit * TO_GLTF
    return matrix


def nearest_rotations(matrices):
    """Of each 3x3 matrix, the nearest rotation; of one that mirrors, that of its negative."""
    left, _, right = numpy.linalg.svd(matrices)
    rotations = left @ right
    return rotations * numpy.sign(numpy.linalg.det(rotations))[..., None, None]


def rigid_frames(matrices):
    """The 4x4 matrices with their scale and shear taken out."""
    frames = numpy.array(matrices, float)
    frames[..., :3, :3] = nearest_rotations(frames[..., :3, :3])
    return frames


def quaternions(rotations):
    """(x, y, z, w) of a series of rotation matrices, of which each is near the one before."""
    # Of the four ways to take the root, the one with the greatest component is exact for each.
    r = rotations
    trace = r[:, 0, 0] + r[:, 1, 1] + r[:, 2, 2]
    outer = numpy.empty((len(r), 4, 4))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        outer[:, i, i] = 1 + 2 * r[:, i, i] - trace
        outer[:, i, j] = outer[:, j, i] = r[:, j, i] + r[:, i, j]
        outer[:, i, 3] = outer[:, 3, i] = r[:, k, j] - r[:, j, k]
    outer[:, 3, 3] = 1 + trace
    best = numpy.argmax(outer[:, range(4), range(4)], axis=1)
    rows = outer[range(len(r)), best]
    rows /= numpy.linalg.norm(rows, axis=1, keepdims=True)
    for frame in range(1, len(rows)):  # q and -q are the same rotation; keys take the short way
        if rows[frame] @ rows[frame - 1] < 0:
            rows[frame] *= -1
    return rows


def build(names, parents, deformations, bind, unit):
    """The skeleton that moves a vertex with joint j in frame f by deformations[f, j].

    deformations (frames, joints, 4, 4): from the rest position to that of the frame, in Blender's
    world. bind (joints, 4, 4): rigid frames of the joints at rest, there too."""
    skeleton = Skeleton(names, parents, len(deformations))
    to_gltf = placement(unit)
    from_gltf = numpy.linalg.inv(to_gltf)
    moves = to_gltf @ deformations @ from_gltf
    rest = rigid_frames(to_gltf @ bind)
    skeleton.inverse_bind[:] = numpy.linalg.inv(rest)
    worlds = []
    for joint, parent in enumerate(parents):
        wanted = moves[:, joint] @ rest[joint]
        local = wanted if parent < 0 else numpy.linalg.inv(worlds[parent]) @ wanted
        rotation = nearest_rotations(local[:, :3, :3])
        scale = numpy.einsum("fij,fij->fj", rotation, local[:, :3, :3])
        skeleton.translation[:, joint] = local[:, :3, 3]
        skeleton.rotation[:, joint] = quaternions(rotation)
        skeleton.scale[:, joint] = scale
        # Children stand on what the file will say, so that no error adds up along a limb.
        said = local.copy()
        said[:, :3, :3] = rotation * scale[:, None, :]
        world = said if parent < 0 else worlds[parent] @ said
        worlds.append(world)
        skeleton.shear[joint] = abs(world - wanted)[:, :3, :3].max()
    return skeleton
