"""vtu.py SINEW: runs a small scene with fields, exports it as VTU and reads it with VTK."""
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy
import vtk
from vtk.util.numpy_support import vtk_to_numpy

SINEW = sys.argv[1]
UNIT = 0.01
CELL = 4
FRAMES = 5
FIELDS = ["strain", "stress", "J", "pressure", "activation", "contacts"]


def write_box(path, lo, hi):
    corners = [[(hi if c >> i & 1 else lo)[i] for i in range(3)] for c in range(8)]
    faces = ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"]
    with open(path, "w") as file:
        for corner in corners:
            file.write("v %g %g %g\n" % tuple(corner))
        for face in faces:
            file.write("f %s\n" % face)


def write_scene(folder, fields):
    write_box(os.path.join(folder, "block.obj"), [0, 0, 0], [96, 64, 64])
    write_box(os.path.join(folder, "core.obj"), [16, 24, 24], [48, 40, 40])
    scene = {
        "unit": UNIT, "fps": 25, "frames": [1, FRAMES],
        "bodies": [{"name": "bl&ck", "surface": "block.obj", "cell": CELL, "quadrature": 1,
                    "material": {"young": 5e3},
                    "initial": {"translate": [0, 1, 0]}}],
        "muscles": [{"body": "bl&ck", "mesh": "core.obj", "max_stress": 2e3, "activation": 0.5}],
        "colliders": [{"shape": "plane"}],
        "output": {"fields": fields}}
    path = os.path.join(folder, "scene.json")
    with open(path, "w") as file:
        json.dump(scene, file)
    return path


def sinew(*arguments, status=0):
    done = subprocess.run([SINEW, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def read(path):
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    assert reader.GetErrorCode() == 0, path
    return reader.GetOutput()


def cell_data(grid, name):
    array = grid.GetCellData().GetArray(name)
    assert array is not None, name
    return vtk_to_numpy(array)


def volumes(grid):
    """Of hexahedra between straight edges, exactly: two points an axis integrate det of the map."""
    points = vtk_to_numpy(grid.GetPoints().GetData()).astype(float)
    corners = vtk_to_numpy(grid.GetCells().GetConnectivityArray()).reshape(-1, 8)
    at_corner = numpy.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0],
                             [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
    total = numpy.zeros(len(corners))
    for g in range(8):
        at = numpy.array([0.5 + (0.5 if g >> i & 1 else -0.5) / 3 ** 0.5 for i in range(3)])
        weight = numpy.where(at_corner == 1, at, 1 - at)
        sign = 2 * at_corner - 1
        slopes = numpy.stack([sign[:, 0] * weight[:, 1] * weight[:, 2],
                              weight[:, 0] * sign[:, 1] * weight[:, 2],
                              weight[:, 0] * weight[:, 1] * sign[:, 2]])
        total += numpy.linalg.det(numpy.einsum("kc,eci->eki", slopes, points[corners])) / 8
    return total


def check_grid(grid, stats):
    volume = volumes(grid)
    assert (volume > 0).all()
    share = volume.sum() * UNIT ** 3 / stats["volume"]
    assert abs(share - 1) < 1e-5, share
    assert grid.GetNumberOfCells() == stats["elements"]
    for e in range(grid.GetNumberOfCells()):
        assert grid.GetCellType(e) == vtk.VTK_HEXAHEDRON
    rest = (CELL * UNIT * 2.0 ** cell_data(grid, "level")) ** 3
    mean_j = volume * UNIT ** 3 / rest
    # J at the centre is near its mean over the cell.
    assert numpy.abs(mean_j - cell_data(grid, "J")).max() < 0.1
    assert abs(cell_data(grid, "J").min() - stats["min_j"]) < 1e-6
    for name in ["strain", "stress", "pressure", "mu", "lambda", "fill"]:
        values = cell_data(grid, name)
        assert values.dtype == numpy.float32 and numpy.isfinite(values).all(), name
    assert (cell_data(grid, "stress") >= 0).all()
    assert stats["frame"] < FRAMES or cell_data(grid, "stress").max() > 100
    force = cell_data(grid, "contact_force").sum()
    assert abs(force - stats["contact_force"]) <= 1e-4 * stats["contact_force"]
    muscle = cell_data(grid, "muscle")
    assert set(muscle) == {-1, 0}
    assert numpy.allclose(cell_data(grid, "activation"), numpy.where(muscle == 0, 0.5, 0))
    points = vtk_to_numpy(grid.GetPoints().GetData())
    moves = vtk_to_numpy(grid.GetPointData().GetArray("displacement"))
    at_rest = (points - moves) / CELL
    assert numpy.abs(at_rest - numpy.round(at_rest)).max() < 1e-4
    time = grid.GetFieldData().GetArray("TimeValue").GetValue(0)
    assert abs(time - stats["time"]) < 1e-9


def check_export(folder):
    run = os.path.join(folder, "run")
    stats = [json.loads(line) for line in open(os.path.join(run, "stats.jsonl"))]
    written = sinew("export", run, "--to", "vtu").stdout.split("\n")
    pvd = os.path.join(run, "vtu", "bl&ck.pvd")
    assert pvd in written, written
    text = open(pvd).read()
    sets = re.findall(r'timestep="([^"]*)".*file="([^"]*)"', text)
    assert len(sets) == FRAMES, text
    levels = set()
    for (time, file), line in zip(sets, stats):
        assert abs(float(time) - line["time"]) < 1e-9
        path = os.path.join(run, "vtu", file.replace("&amp;", "&"))
        assert path in written
        grid = read(path)
        check_grid(grid, line)
        levels |= set(cell_data(grid, "level"))
    assert len(levels) > 1, "no hanging corners in this test"
    assert stats[-1]["contacts"] > 0, "no contact in this test"


def check_space(folder):
    """Other axes and lengths, chosen frames, a file as target."""
    run = os.path.join(folder, "run")
    plain = read(os.path.join(run, "vtu", "bl&ck_0002.vtu"))
    out = os.path.join(folder, "turned", "a_b.vtu")
    sinew("export", run, "--to", "vtu", "-o", out, "--axes", "z-up", "--scale", "0.01",
          "--frames", "2:3")
    assert sorted(os.listdir(os.path.dirname(out))) == ["a_b.pvd", "a_b_0002.vtu", "a_b_0003.vtu"]
    turned = read(os.path.join(folder, "turned", "a_b_0002.vtu"))
    before = vtk_to_numpy(plain.GetPoints().GetData())
    after = vtk_to_numpy(turned.GetPoints().GetData())
    expected = 0.01 * before[:, [0, 2, 1]] * [1, -1, 1]
    assert numpy.abs(after - expected).max() < 1e-6


def check_errors(folder):
    run = os.path.join(folder, "plain")
    sinew("run", write_scene(folder, []), "-o", run, "--frames", "1:1", "--quiet")
    assert not os.path.exists(os.path.join(run, "bl&ck.cells"))
    said = sinew("export", run, "--to", "vtu", status=2).stderr
    assert "bl&ck.cells" in said and "--set 'output.fields=" in said, said
    run = os.path.join(folder, "run")
    path = os.path.join(run, "bl&ck.fields")
    with open(path, "r+b") as file:
        file.seek(1000)
        file.write(b"?")
    said = sinew("export", run, "--to", "vtu", status=2).stderr
    assert "bl&ck.fields: damaged at byte 48" in said, said


def check_check(folder):
    scene = write_scene(folder, FIELDS)
    text = sinew("check", scene).stdout
    assert re.search(r"muscle +core: 2.08 % of the volume, in \d+ cells", text), text
    muscle = json.loads(sinew("check", scene, "--json").stdout)["bodies"][0]["muscles"][0]
    assert muscle["name"] == "core" and abs(muscle["share"] - 1 / 48) < 1e-3, muscle


with tempfile.TemporaryDirectory() as work:
    sinew("run", write_scene(work, FIELDS), "-o", os.path.join(work, "run"), "--quiet")
    check_export(work)
    check_space(work)
    check_check(work)
    check_errors(work)
print("VTU files are read by VTK as they were meant")
