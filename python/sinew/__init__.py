"""Sinew from Python: scenes from NumPy arrays, frame by frame, without compiling anything.

    import sinew

    scene = sinew.Scene(frames=(1, 48))
    ball = scene.add_body(vertices, triangles, cell=0.02, material="muscle", translate=(0, 1, 0))
    scene.add_plane()
    with sinew.Simulation(scene) as simulation:
        positions = simulation.positions(ball)   # filled anew by every step
        for stats in simulation:
            print(stats.frame, positions[:, 1].min())

The shared library is found as ``SINEW_LIBRARY`` says, else beside an installed package, else in the
``build`` folder of a checkout, else by the system. Its messages go to the logger ``sinew``.
"""
from ._library import Error, Status, library_path, library_version, memory_used
from ._run import run
from ._scene import Body, Bone, Scene, load_scene
from ._simulation import Simulation
from ._stats import Energy, Stats
from ._version import __version__

__all__ = [
    "Body", "Bone", "Energy", "Error", "Scene", "Simulation", "Stats", "Status", "__version__", "library_path",
    "library_version", "load_scene", "memory_used", "run",
]
