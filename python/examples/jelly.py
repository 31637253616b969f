# %% [markdown]
# # A jelly ball and a block
# Both are built from NumPy arrays and dropped on the floor, the ball on the block. The cells of this script
# run one by one in an editor that knows `# %%`, or all at once: `python3 jelly.py`.

# %%
import shutil
import subprocess

import numpy as np

import sinew

print(f"sinew {sinew.__version__}, library {sinew.library_path()}")


# %% [markdown]
# ## Surfaces
# A surface is closed: vertices (n, 3) in metres, triangles (m, 3), counter-clockwise seen from outside.

# %%
def make_ball(radius, rings=16, sectors=32):
    polar = np.pi * np.arange(1, rings) / rings
    around = 2 * np.pi * np.arange(sectors) / sectors
    theta, phi = np.meshgrid(polar, around, indexing="ij")
    inner = np.stack([np.sin(theta) * np.sin(phi), np.cos(theta), np.sin(theta) * np.cos(phi)], axis=-1)
    vertices = radius * np.vstack([[(0, 1, 0)], inner.reshape(-1, 3), [(0, -1, 0)]])
    here, last = np.arange(sectors), len(vertices) - 1
    following = (here + 1) % sectors
    triangles = [np.stack([0 * here, 1 + here, 1 + following], axis=1)]
    for ring in range(rings - 2):
        a, b = 1 + ring * sectors, 1 + (ring + 1) * sectors
        triangles.append(np.stack([a + here, b + here, b + following], axis=1))
        triangles.append(np.stack([a + here, b + following, a + following], axis=1))
    bottom = 1 + (rings - 2) * sectors
    triangles.append(np.stack([0 * here + last, bottom + following, bottom + here], axis=1))
    return vertices, np.vstack(triangles)


def make_block(half):
    vertices = np.array([(x, y, z) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]) * np.asarray(half, dtype=float)
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return vertices, np.array([triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))])


# %% [markdown]
# ## The scene
# Keywords are the keys of docs/scene.md; `set` reaches everything else.

# %%
scene = sinew.Scene(frames=(1, 20))
ball = scene.add_body(*make_ball(0.1), name="ball", cell=0.03, material={"young": 8e3, "poisson": 0.45},
                      translate=(0.04, 0.45, 0), spin=(0, 0, -4))
block = scene.add_body(*make_block((0.15, 0.08, 0.15)), name="block", cell=0.04, material="fat",
                       translate=(0, 0.09, 0))
scene.add_plane(friction=0.6)
scene.set("solver.newton.max", 20)

# %% [markdown]
# ## Frame by frame
# `positions` is filled anew by every step; no copy is made.

# %%
with sinew.Simulation(scene) as simulation:
    positions = simulation.positions(ball)
    for stats in simulation:
        width, height = np.ptp(positions[:, 0]), np.ptp(positions[:, 1])
        print(f"frame {stats.frame:2}: ball at {positions[:, 1].mean():.3f} m, "
              f"{1000 * width:.0f} x {1000 * height:.0f} mm, {stats.contacts} contacts, {stats.newton} Newton steps")

# %% [markdown]
# ## Into files
# The same again, as `sinew run` would do it: a cache for each body, statistics, a checkpoint. Then a picture.

# %%
for stats in sinew.run(scene, out="jelly"):
    print(f"\r{100 * stats.share:3.0f} %", end="", flush=True)
print("\ncaches: jelly/ball.pc2, jelly/block.pc2")
if shutil.which("sinew"):
    subprocess.run(["sinew", "render", "jelly", "--frame", "9", "-o", "jelly.png"], check=True)
    print("picture: jelly.png")
