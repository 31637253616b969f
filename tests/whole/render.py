"""render.py SINEW FOLDER: pictures and movies of a small run, in every way that `sinew render` has.

Pictures are read by eyes of our own: sizes, colours, what differs from what. Movies are counted by ffprobe, where
it is installed; without ffmpeg that is skipped and said.
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import zlib

SINEW = os.path.abspath(sys.argv[1])
FOLDER = pathlib.Path(sys.argv[2]).resolve()
SIZE = ("--size", "160x120")
FIELDS = ["strain", "stress", "J", "pressure", "activation", "contacts"]


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def box(low, high):
    corners = [[(low, high)[bit][k] for k, bit in enumerate((i & 1, i >> 1 & 1, i >> 2))] for i in range(8)]
    faces = ["1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6"]
    return "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {face}\n" for face in faces)


def sinew(*words, environment=None):
    return subprocess.run([SINEW, *words], cwd=FOLDER, capture_output=True, text=True, timeout=120, env=environment)


def make_runs():
    (FOLDER / "bar.obj").write_text(box((0, 0, 0), (2, 0.5, 0.5)))
    (FOLDER / "muscle.obj").write_text(box((0.4, 0.15, 0.15), (1.6, 0.35, 0.35)))
    # A pose of the surface, as plain skinning would give it: the bar, moved up.
    corners = [float(n) for line in (FOLDER / "bar.obj").read_text().splitlines() if line[0] == "v"
               for n in line.split()[1:]]
    moved = [n + 0.2 * (i % 3 == 1) for i, n in enumerate(corners)]
    (FOLDER / "pose.pc2").write_bytes(b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 8, 1, 1, 4) +
                                      b"".join(struct.pack(f"<{len(moved)}f", *moved) for _ in range(4)))
    scene = {"mode": "quasistatic", "frames": [1, 4], "gravity": 0,
             "bodies": [{"name": "bar", "surface": "bar.obj", "cell": 0.125, "pose": {"from": "pose.pc2"}}],
             "bones": [{"name": "root", "capsule": {"from": [0, 0.25, 0.25], "to": [0.3, 0.25, 0.25], "radius": 0.15}},
                       {"name": "tip", "capsule": {"from": [1.7, 0.25, 0.25], "to": [2, 0.25, 0.25], "radius": 0.15},
                        "motion": [{"frame": 1}, {"frame": 4, "rotate": [0, 0, 0.2588, 0.9659], "pivot": [1, 0, 0]}]}],
             "attachments": [{"body": "bar", "bone": "root"}, {"body": "bar", "bone": "tip"}],
             "muscles": [{"name": "m", "body": "bar", "mesh": "muscle.obj", "activation": [{"frame": 1, "value": 0}, {"frame": 4, "value": 0.2}],
                          "max_stress": 2e3}],
             "colliders": [{"shape": "sphere", "position": [1, -0.3, 0.25], "radius": 0.32}],
             "output": {"fields": FIELDS}}
    (FOLDER / "scene.json").write_text(json.dumps(scene))
    for folder, words in (("out", ()), ("other", ("--set", "bodies.0.material.young=3e4")),
                          ("bare", ("--set", "output.fields=[]"))):
        result = sinew("run", "scene.json", "-o", folder, "--quiet", *words)
        expect(result.returncode == 0, result.stderr)


def pixels(name):
    """Width, height and rows of an 8-bit RGB picture."""
    data = (FOLDER / name).read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    packed, at = b"", 8
    while at < len(data):
        size = struct.unpack(">I", data[at:at + 4])[0]
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    raw, stride, rows, above = zlib.decompress(packed), 3 * width, [], bytearray(3 * width)
    for y in range(height):
        kind, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride):
            a = row[i - 3] if i >= 3 else 0
            b, c = above[i], above[i - 3] if i >= 3 else 0
            p = a + b - c
            nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            row[i] = (row[i] + (0, a, b, (a + b) // 2, nearest)[kind]) & 255
        rows.append(row)
        above = row
    return width, height, rows


def draw(name, *words):
    result = sinew("render", "out", "-o", name, *words)
    expect(result.returncode == 0, f"{words}: {result.stderr}")
    expect(result.stdout == name + "\n", f"stdout is the path alone: {result.stdout!r}")
    return (FOLDER / name).read_bytes()


def colourful(name):
    """The share of pixels with a strong colour."""
    width, height, rows = pixels(name)
    count = sum(max(row[i:i + 3]) - min(row[i:i + 3]) > 90 for row in rows for i in range(0, len(row), 3))
    return count / (width * height)


def threads_do_not_matter():
    pictures = {draw(f"t{n}.png", "--frame", "3", *SIZE, "--threads", str(n)) for n in (1, 2, 3, 4)}
    expect(len(pictures) == 1, "the same bytes on 1 to 4 threads")


def every_option_shows():
    plain = draw("plain.png", "--frame", "4", *SIZE)
    for name, words in (("bones", ["--bones"]), ("muscles", ["--muscles"]), ("slice", ["--slice", "z"]),
                        ("offset", ["--slice", "z:0.1"]), ("any", ["--slice", ":0"]), ("x", ["--slice", "x"]),
                        ("cells", ["--show", "cells"]), ("both", ["--show", "cells", "--slice", "z"]),
                        ("ground", ["--no-ground"]), ("colliders", ["--no-colliders"]), ("labels", ["--no-labels"]),
                        ("front", ["--camera", "front"]), ("side", ["--camera", "side"]),
                        ("top", ["--camera", "top"]), ("angles", ["--camera", "-40,20"]),
                        ("good", ["--quality", "good"])):
        expect(draw(f"{name}.png", "--frame", "4", *SIZE, *words) != plain, f"{words} changes nothing")
    expect(draw("preset.png", "--frame", "4", *SIZE, "--camera", "three-quarter") == plain, "the default view")
    expect((FOLDER / "slice.png").read_bytes() != (FOLDER / "offset.png").read_bytes(), "the offset counts")


def fields_have_colours_and_a_legend():
    for show in ("strain", "stress", "J", "pressure", "displacement"):
        draw("show.png", "--frame", "4", *SIZE, "--show", show)
        expect(colourful("show.png") > 0.05, f"--show {show} has colours")
        expect(draw("cut.png", "--frame", "4", *SIZE, "--show", show, "--slice", "z") !=
               (FOLDER / "show.png").read_bytes(), f"--show {show} in a cut")
    for show in ("activation", "penetration"):
        draw("show.png", "--frame", "4", *SIZE, "--show", show)
    narrow = draw("narrow.png", "--frame", "4", *SIZE, "--show", "strain", "--range", "0:0.01")
    expect(narrow != draw("wide.png", "--frame", "4", *SIZE, "--show", "strain", "--range", "0:10"), "--range")
    # The legend is a strip at the right: it has all colours in a column.
    width, height, rows = pixels("wide.png")
    columns = [{bytes(row[3 * x:3 * x + 3]) for row in rows} for x in range(width)]
    expect(max(len({c for c in column if max(c) - min(c) > 90}) for column in columns[width // 2:]) > 40,
           "a column with the colours of the legend")


def sheets_and_panels_have_their_sizes():
    draw("sheet.png", "--size", "80x60")
    expect(pixels("sheet.png")[:2] == (320, 60), "four frames in a row")
    draw("part.png", "--size", "80x60", "--frames", "2:3", "--sheet")
    expect(pixels("part.png")[:2] == (160, 60), "two frames")
    draw("tiles.png", "--size", "80x60", "--tiles", "3")
    expect(pixels("tiles.png")[:2] == (240, 60), "three of the frames")
    draw("panels.png", "--frame", "2", "--size", "300x100", "--panels", "rest,skinned,simulated")
    expect(pixels("panels.png")[:2] == (300, 100), "panels share the width")
    draw("run.png", "--size", "80x60", "--beside", "other")
    expect(pixels("run.png")[:2] == (320, 120), "another run below")
    expect(draw("cache.png", "--frame", "4", "--size", "200x100", "--beside", "other/bar.pc2") !=
           draw("same.png", "--frame", "4", "--size", "200x100", "--beside", "out/bar.pc2"), "another cache")


def wrong_options_are_explained():
    cases = [(1, "--camera", ["--camera", "left"]), (1, "--camera", ["--camera", "3,95"]),
             (1, "--size", ["--size", "big"]), (1, "--size", ["--size", "8x8"]), (1, "--size", ["--size", "40x40x4"]),
             (1, "--quality", ["--quality", "fine"]), (1, "strain", ["--show", "strian"]),
             (1, "--slice", ["--slice", "w"]), (1, "--slice", ["--slice", "z:nan"]),
             (1, "--range", ["--range", "3:1"]), (1, "--panels", ["--panels", "rest,skin"]),
             (1, "frames 1 to 4", ["--frame", "9"]), (1, "frames 1 to 4", ["--frames", "0:2"]),
             (1, "--tiles", ["--tiles", "999"]), (1, "--tiles", ["--frame", "1", "--tiles", "2"]),
             (1, "one of them", ["--frame", "1", "--frames", "1:2"]),
             (1, "FILE.mp4", ["-o", "picture.gif"]), (1, "--frames A:B", ["-o", "m.mp4", "--frame", "2"]),
             (1, "even", ["-o", "m.mp4", "--size", "61x60"]), (1, "--progress", ["--progress", "dots"]),
             (2, "vertices", ["--beside", "wrong.pc2"]), (4, "nowhere", ["-o", "nowhere/picture.png", *SIZE])]
    (FOLDER / "wrong.pc2").write_bytes(b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 1, 1, 1, 1) + bytes(12))
    for code, part, words in cases:
        result = sinew("render", "out", *words)
        expect(result.returncode == code and part in result.stderr,
               f"{words}: {result.returncode}, {result.stderr!r}, expected {code} and {part!r}")
    for words in (["--slice", "z"], ["--show", "strain"], ["--muscles"]):
        result = sinew("render", "bare", *words)
        expect(result.returncode == 2 and "output.fields" in result.stderr, f"{words}: {result.stderr!r}")
    left = [p.name for p in FOLDER.iterdir() if ".part" in p.name]
    expect(not left, f"unfinished files stay behind: {left}")


def damaged_files_are_errors():
    shutil.copytree(FOLDER / "out", FOLDER / "damaged")
    for name in ("bar.cells", "bar.fields"):
        path = FOLDER / "damaged" / name
        whole = path.read_bytes()
        for data in (whole[:len(whole) // 2], whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:], b""):
            path.write_bytes(data)
            result = sinew("render", "damaged", "--frame", "4", "--slice", "z", *SIZE)
            # Of a file that is cut off, the frames that are left can be drawn, and this one is not among them.
            expect(result.returncode in (1, 2), f"{name}: {result.returncode} {result.stderr!r}")
        path.write_bytes(whole)


def movies_have_all_frames():
    if not shutil.which("ffmpeg") or not shutil.which("ffprobe"):
        print("skipped: no ffmpeg")
        return
    first = draw("a.mp4", *SIZE)
    shown = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0", "-show_entries",
                            "stream=codec_name,pix_fmt,width,height,r_frame_rate,nb_read_frames", "-of", "json",
                            FOLDER / "a.mp4"], capture_output=True, text=True, timeout=60)
    stream = json.loads(shown.stdout)["streams"][0]
    expect(stream == {"codec_name": "h264", "pix_fmt": "yuv420p", "width": 160, "height": 120,
                      "r_frame_rate": "24/1", "nb_read_frames": "4"}, str(stream))
    expect(draw("b.mp4", *SIZE, "--threads", "1") == first, "the same bytes again")
    expect(len(draw("c.mp4", *SIZE, "--frames", "2:2", "--show", "strain")) < len(first), "one frame")


def without_ffmpeg_it_says_so():
    (FOLDER / "empty").mkdir()
    result = sinew("render", "out", "-o", "no.mp4", *SIZE, environment={**os.environ, "PATH": str(FOLDER / "empty")})
    expect(result.returncode == 4 and "ffmpeg" in result.stderr, f"{result.returncode} {result.stderr!r}")
    # One that ends at once is reported as well.
    fake = FOLDER / "empty" / "ffmpeg"
    fake.write_text("#!/bin/sh\nexit 3\n")
    fake.chmod(0o755)
    result = sinew("render", "out", "-o", "no.mp4", *SIZE, environment={**os.environ, "PATH": str(FOLDER / "empty")})
    expect(result.returncode == 4 and "ffmpeg" in result.stderr, f"{result.returncode} {result.stderr!r}")
    expect(not list(FOLDER.glob("no.mp4*")), "nothing is left of it")


def progress_is_shown():
    result = sinew("render", "out", "--size", "32x32")
    expect(len(result.stderr.splitlines()) == 4 and "100 %" in result.stderr, result.stderr)
    result = sinew("render", "out", "--size", "32x32", "--quiet")
    expect(result.stderr == "", result.stderr)
    result = sinew("render", "out", "--size", "32x32", "--progress", "openjd")
    expect(result.stdout.count("openjd_progress:") == 5, result.stdout)


make_runs()
failed = 0
for test in (threads_do_not_matter, every_option_shows, fields_have_colours_and_a_legend,
             sheets_and_panels_have_their_sizes, wrong_options_are_explained, damaged_files_are_errors,
             movies_have_all_frames, without_ffmpeg_it_says_so, progress_is_shown):
    try:
        test()
        print("ok    ", test.__name__)
    except AssertionError as error:
        failed += 1
        print("FAILED", test.__name__, "-", error)
sys.exit(failed > 0)
