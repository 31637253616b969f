"""view.py SINEW FOLDER: the viewer's server by raw sockets: what it answers, and what it refuses.

Each check is a function; all run in FOLDER, which must be empty. Prints a line a check. Skipped (77) if the
program was built without the viewer's page.
"""
import base64
import fcntl
import json
import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import zlib

SINEW = os.path.abspath(sys.argv[1])
BASE = pathlib.Path(sys.argv[2]).resolve()
SECRET = b"nobody outside may read this"
UNIT = 0.01
FRAMES = 5
MEMORY_MOST = 200 << 20

CORNERS = [(x, y, z) for z in (0, 40) for y in (0, 40) for x in (0, 120)]
BOX = ("".join("v %g %g %g\n" % c for c in CORNERS) +
       "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n")
MUSCLE = BOX.replace("120", "70")

SCENE = {
    "unit": UNIT, "fps": 25, "frames": [1, FRAMES],
    "bodies": [{"name": "bl ck", "surface": "box.obj", "cell": 10, "pose": {"from": "pose.pc2"}}],
    "bones": [{"name": "core", "capsule": {"from": [20, 20, 20], "to": [50, 20, 20], "radius": 8},
               "motion": [{"frame": 1}, {"frame": 5, "translate": [0, 40, 0]}]},
              {"name": "mesh", "mesh": "box.obj", "motion": [{"frame": 1, "translate": [500, 0, 0]}]},
              {"name": "soft", "mesh": "box.obj", "motion": {"from": "pose.pc2"}}],
    "attachments": [{"bone": "core"}],
    "fixed": [{"where": {"box": [[110, -1, -1], [121, 41, 41]]}}],
    "muscles": [{"name": "pull", "mesh": "muscle.obj",
                 "activation": [{"frame": 1, "value": 0}, {"frame": 5, "value": 0.5}]}],
    "colliders": [{"shape": "plane", "position": [0, -5, 0]},
                  {"shape": "sphere", "position": [60, -30, 20], "radius": 30,
                   "motion": [{"frame": 1}, {"frame": 5, "translate": [0, 10, 0]}]},
                  {"shape": "box", "position": [300, 0, 0], "half": [1, 2, 3]}],
    "output": {"fields": ["strain", "stress", "J", "pressure", "activation", "contacts"]},
}


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def write_pc2(path, frames, vertices):
    """Frames as lists of places; the cache begins at frame 1."""
    with open(path, "wb") as file:
        file.write(b"POINTCACHE2\0" + struct.pack("<iiffi", 1, vertices, 1.0, 1.0, len(frames)))
        for frame in frames:
            for place in frame:
                file.write(struct.pack("<3f", *place))


def write_inputs(folder, scene=None):
    folder.mkdir(parents=True)
    (folder / "box.obj").write_text(BOX)
    (folder / "muscle.obj").write_text(MUSCLE)
    write_pc2(folder / "pose.pc2", [[(x, y + f, z) for x, y, z in CORNERS] for f in range(FRAMES)], 8)
    (folder / "scene.json").write_text(json.dumps(scene or SCENE))
    return folder


def sinew(*words, status=0):
    done = subprocess.run([SINEW, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)
    expect(done.returncode == status, f"{words}: exit code {done.returncode}, expected {status}: {done.stderr}")
    return done


def make_run(name, scene=None):
    folder = write_inputs(BASE / name, scene)
    sinew("run", folder / "scene.json", "-o", folder / "out", "--quiet")
    return folder / "out"


class Answer:
    def __init__(self, data, head_only=False):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        expect(re.match(r"HTTP/1\.[01] \d\d\d ", lines[0]), f"not an answer: {data[:200]!r}")
        self.status = int(lines[0].split()[1])
        self.headers = {}
        for line in lines[1:]:
            key, _, value = line.partition(":")
            expect(key.lower() not in self.headers, f"{key} twice")
            self.headers[key.lower()] = value.strip()
        if not head_only:
            expect(int(self.headers["content-length"]) == len(self.body),
                   f"Content-Length {self.headers['content-length']}, but {len(self.body)} bytes")

    def json(self):
        return json.loads(self.body)


class Server:
    """sinew view ... as a context. Ends it by SIGINT and expects exit code 0."""

    def __init__(self, *words, verb="view", path=None):
        environment = dict(os.environ, PATH=path or os.environ["PATH"])
        self.process = subprocess.Popen([SINEW, verb, *map(str, words)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        line = self.process.stdout.readline()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", line)
        expect(found, f"the first line is {line!r}: {self.process.stderr.read() if not line else ''}")
        self.port = int(found[1])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        started = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=30)
        self.said = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        if error[0] is None:
            expect(code == 0, f"exit code {code}: {self.said}")
            expect(time.monotonic() - started < 5, "it took long to end")

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        return connection

    def raw(self, data, head_only=False):
        with self.connect() as connection:
            connection.sendall(data)
            got = b""
            while True:
                try:
                    piece = connection.recv(1 << 16)
                except ConnectionResetError:
                    break
                if not piece:
                    break
                got += piece
        return Answer(got, head_only)

    def request(self, path, method="GET", headers=(), host=None):
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or '127.0.0.1:%d' % self.port}", *headers,
                 "Connection: close", "", ""]
        return self.raw("\r\n".join(lines).encode("latin-1"), head_only=method == "HEAD")

    def get(self, path, status=200):
        answer = self.request(path)
        expect(answer.status == status, f"{path}: {answer.status}, expected {status}: {answer.body[:300]!r}")
        for key, value in (("content-security-policy", "default-src 'self'"),
                           ("x-content-type-options", "nosniff"), ("cache-control", "no-store")):
            expect(answer.headers.get(key) == value, f"{path}: {key} is {answer.headers.get(key)!r}")
        if status != 200:
            expect(set(answer.json()) == {"error"}, f"{path}: {answer.body!r}")
        return answer

    def json(self, path):
        answer = self.get(path)
        expect(answer.headers["content-type"] == "application/json", answer.headers["content-type"])
        return answer.json()

    def bytes(self, path):
        return self.get(path).body

    def memory(self, key):
        """Of /proc: VmRSS now, VmHWM at most so far."""
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
        raise AssertionError(f"no {key}")


def floats(data):
    expect(len(data) % 4 == 0, "not a whole number of floats")
    return struct.unpack("<%df" % (len(data) // 4), data)


def near(found, expected, tolerance=1e-4):
    return len(found) == len(expected) and all(abs(a - b) <= tolerance for a, b in zip(found, expected))


def split_shapes(data):
    """[(places, triangles)] of a surface answer with several items."""
    count, at, items = struct.unpack_from("<I", data)[0], 4, []
    for _ in range(count):
        vertices, triangles = struct.unpack_from("<II", data, at)
        at += 8
        items.append((floats(data[at:at + 12 * vertices]),
                      struct.unpack_from("<%dI" % (3 * triangles), data, at + 12 * vertices)))
        at += 12 * vertices + 12 * triangles
    expect(at == len(data), "bytes behind the last shape")
    return items


OUT = None


def out():
    global OUT
    if not OUT:
        OUT = make_run("first")
    return OUT


def runs_say_what_there_is():
    with Server(out()) as s:
        all_runs = s.json("/api/runs")
        expect(all_runs["mode"] == "run" and len(all_runs["runs"]) == 1, str(all_runs))
        run = all_runs["runs"][0]
        for key, value in (("name", "out"), ("unit", UNIT), ("up", "y"), ("fps", 25), ("frames", [1, FRAMES]),
                           ("stored", [1, FRAMES]), ("state", "done"), ("reason", ""), ("exported", False)):
            expect(run[key] == value, f"{key}: {run[key]!r}")
        body = run["bodies"][0]
        for key, value in (("name", "bl ck"), ("vertices", 8), ("triangles", 12), ("stored", [1, FRAMES]),
                           ("skinned", True), ("fields", SCENE["output"]["fields"]), ("muscles", ["pull"])):
            expect(body[key] == value, f"{key}: {body[key]!r}")
        expect(body["cells"] > 50 and body["nodes"] > body["cells"] and body["levels"] >= 1, str(body))
        expect([b["name"] for b in run["bones"]] == ["core", "mesh", "soft"], str(run["bones"]))
        expect([c["shape"] for c in run["colliders"]] == ["plane", "sphere", "box"], str(run["colliders"]))
        expect(s.json("/api/0/scene") == json.loads((out() / "scene.json").read_text()), "the scene differs")
        stats = s.json("/api/0/stats")
        expect([line["frame"] for line in stats] == list(range(1, FRAMES + 1)), str(stats))
        expect([line["frame"] for line in s.json("/api/0/stats?from=4")] == [4, 5], "from=4")
        expect(s.json("/api/0/stats?from=99") == [], "from=99")
        for query in ("from=", "from=x", "from=-1", "from=1e3", "from=99999999999", "to=3", "from=1&from=2"):
            expect(s.request("/api/0/stats?" + query).status == 400, query)
        expect(s.json("/api/0/result")["outcome"] == "done", "the result")
        messages = s.json("/api/0/messages")
        expect(all(set(m) == {"level", "text"} for m in messages), str(messages))


def frames_are_those_of_the_files():
    with Server(out()) as s:
        cache = (out() / "bl ck.pc2").read_bytes()
        for frame in range(1, FRAMES + 1):
            begin = 32 + 96 * (frame - 1)
            expect(s.bytes(f"/api/0/body/0/frame/{frame}") == cache[begin:begin + 96], f"frame {frame}")
        for frame in ("0", "6", "4294967295", "99999999999999999999"):
            s.get(f"/api/0/body/0/frame/{frame}", 404)
        surface = s.bytes("/api/0/body/0/surface")
        expect(struct.unpack_from("<II", surface) == (8, 12) and len(surface) == 8 + 96 + 144, "the surface")
        expect(near(floats(surface[8:104]), [x for c in CORNERS for x in c]), "places at rest")
        expect(max(struct.unpack_from("<36I", surface, 104)) == 7, "triangles")
        path = s.bytes("/api/0/body/0/vertex/5")
        expect(path == b"".join(cache[32 + 96 * f + 60:32 + 96 * f + 72] for f in range(FRAMES)), "vertex 5")
        s.get("/api/0/body/0/vertex/8", 404)
        for frame in (1, 3, 5):
            skinned = floats(s.bytes(f"/api/0/body/0/skinned/{frame}"))
            expect(near(skinned, [v for x, y, z in CORNERS for v in (x, y + frame - 1, z)]), f"pose of {frame}")
        s.get("/api/0/body/0/skinned/6", 404)


def read_records(path):
    """{frame: bytes} of BODY.fields, with all fields."""
    data = path.read_bytes()
    _, fields, cells, nodes = struct.unpack_from("<IIII", data, 8)
    expect(fields == 63, "all six fields")
    count, at, records = struct.unpack_from("<I", data, 40)[0], 48, {}
    for _ in range(count):
        frame, contacts = struct.unpack_from("<iI", data, at)
        size = 8 + 12 * nodes + 20 * cells + 36 * contacts + 8
        records[frame] = data[at:at + size]
        at += size
    return cells, nodes, records


def cells_and_fields_are_those_of_the_files():
    cells, nodes, records = read_records(out() / "bl ck.fields")
    with Server(out()) as s:
        expect(s.bytes("/api/0/body/0/cells") == (out() / "bl ck.cells").read_bytes(), "the cells")
        # Backwards, so that offsets are not only found one after the other.
        for frame in sorted(records, reverse=True):
            expect(s.bytes(f"/api/0/body/0/fields/{frame}") == records[frame], f"record {frame}")
        s.get("/api/0/body/0/fields/6", 404)
        cell = cells // 2
        values = s.json(f"/api/0/body/0/cell/{cell}")
        for number, name in enumerate(["strain", "stress", "J", "pressure", "activation"]):
            at = 8 + 12 * nodes + 4 * cells * number + 4 * cell
            expected = [struct.unpack_from("<f", records[f], at)[0] for f in sorted(records)]
            expect(all(abs(a - b) <= 1e-6 * abs(b) for a, b in zip(values[name], expected)), name)
            expect(len(values[name]) == FRAMES, name)
        s.get(f"/api/0/body/0/cell/{cells}", 404)
        ranges = s.json("/api/0/body/0/range")
        for number, name in enumerate(["strain", "stress", "J", "pressure", "activation"]):
            all_values = [v for r in records.values()
                          for v in struct.unpack_from("<%df" % cells, r, 8 + 12 * nodes + 4 * cells * number)]
            expect(near(ranges[name], [min(all_values), max(all_values)], 1e-6 * max(map(abs, all_values)) + 1e-30),
                   f"{name}: {ranges[name]}")
        expect(ranges["displacement"][1] > 0 and ranges["penetration"][0] == 0, str(ranges))


def bones_colliders_and_muscles_move_as_told():
    with Server(out()) as s:
        bones = split_shapes(s.bytes("/api/0/bones/surface"))
        expect(len(bones) == 3 and len(bones[1][0]) == 24, "three bones, the second a box")
        for frame, lift in ((1, 0), (3, 20), (5, 40)):
            moved = floats(s.bytes(f"/api/0/bones/frame/{frame}"))
            split = len(bones[0][0])
            expected = [v + (lift if i % 3 == 1 else 0) for i, v in enumerate(bones[0][0])]
            expect(near(moved[:split], expected), f"the capsule at {frame}")
            expect(near(moved[split:split + 24], [v + (500 if i % 3 == 0 else 0) for i, v in enumerate(bones[1][0])]),
                   "the box")
            expect(near(moved[split + 24:], [v for x, y, z in CORNERS for v in (x, y + frame - 1, z)]), "the soft one")
        # A capsule: every vertex is as far from its axis as the radius.
        for i in range(0, len(bones[0][0]), 3):
            x, y, z = bones[0][0][i:i + 3]
            along = min(max(x, 20), 50)
            expect(abs(((x - along) ** 2 + (y - 20) ** 2 + (z - 20) ** 2) ** 0.5 - 8) < 1e-3, "off the capsule")
        plane, ball, box = split_shapes(s.bytes("/api/0/colliders/surface"))
        expect(all(abs(y + 5) < 1e-4 for y in plane[0][1::3]), "the plane")
        expect(max(plane[0]) - min(plane[0]) > 200, "the plane is large")
        expect(near([min(box[0][i::3]) for i in range(3)], [299, -2, -3]), "the box")
        for places, triangles in (ball, box):
            expect(volume(places, triangles) > 0, "faces look outward")
        moved = floats(s.bytes("/api/0/colliders/frame/3"))
        expect(near(moved[len(plane[0]):len(plane[0]) + len(ball[0])],
                    [v + (5 if i % 3 == 1 else 0) for i, v in enumerate(ball[0])]), "the ball at 3")
        s.get("/api/0/bones/frame/6", 404)
        s.get("/api/0/colliders/frame/0", 404)
        muscles = s.json("/api/0/body/0/muscles")
        expect(muscles[0]["name"] == "pull" and near(muscles[0]["activation"], [0, .125, .25, .375, .5], 1e-8),
               str(muscles))
        muscle = s.bytes("/api/0/body/0/muscle/0")
        expect(struct.unpack_from("<II", muscle) == (8, 12) and len(muscle) == 248, "the muscle's mesh")
        s.get("/api/0/body/0/muscle/1", 404)


def volume(places, triangles):
    corner = [places[3 * v:3 * v + 3] for v in triangles]
    total = 0
    for a, b, c in zip(corner[0::3], corner[1::3], corner[2::3]):
        total += (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
                  a[2] * (b[0] * c[1] - b[1] * c[0]))
    return total / 6


def attachments_are_nodes_with_their_holders():
    with Server(out()) as s:
        data = s.bytes("/api/0/attachments/0")
        count = struct.unpack_from("<I", data)[0]
        expect(len(data) == 4 + 20 * count and count > 10, f"{count} attachments in {len(data)} bytes")
        tied = held = 0
        for i in range(count):
            node, x, y, z, holder = struct.unpack_from("<IfffI", data, 4 + 20 * i)
            if holder == 0:
                # A node of a cell whose centre is in the bone.
                expect(0 <= x <= 70 and 0 <= y <= 40 and 0 <= z <= 40, f"{node} at {x} {y} {z}")
                tied += 1
            else:
                expect(holder == 0x80000000 and 109 <= x <= 121, f"{node} at {x} {y} {z}, held by {holder}")
                held += 1
        expect(tied > 0 and held > 0, f"{tied} tied, {held} held")
        s.get("/api/0/attachments/1", 404)


def defects_are_found():
    folder = write_inputs(BASE / "defects")
    lines = BOX.splitlines()
    holes = "\n".join(lines[:-1])  # without its last face
    inner = holes + "\nv 10 10 -10\nv 20 10 -10\nv 15 20 60\nf 9 10 11\nf 9 10 11\nf 1 1 2\n"
    (folder / "box.obj").write_text(inner)
    scene = dict(SCENE, bodies=[dict(SCENE["bodies"][0], pose=None)], fixed=[], bones=[], attachments=[], muscles=[],
                 gravity=0, frames=[1, 1])
    (folder / "scene.json").write_text(json.dumps(scene))
    with Server(folder / "scene.json", "--open", verb="check") as s:
        run = s.json("/api/runs")
        expect(run["mode"] == "check" and run["runs"][0]["state"] == "checked", str(run)[:300])
        expect(run["runs"][0]["stored"] is None and run["runs"][0]["bodies"][0]["cells"] > 50, str(run)[:900])
        defects = s.json("/api/0/body/0/defects")
        counts = {key: len(defects[key]) for key in defects["counts"]}
        expect(counts == defects["counts"] and not defects["truncated"], str(defects["counts"]))
        expect((counts["holes"], counts["degenerate"], counts["duplicate"]) == (7, 1, 1), str(counts))
        expect(counts["intersecting"] >= 2 and 10 in defects["self"], str(defects))
        expect(len(s.bytes("/api/0/body/0/cells")) > 1000, "cells that would be made")
        expect(any("without area" in m["text"] for m in s.json("/api/0/messages")), "a warning of the check")
        s.get("/api/0/body/0/frame/1", 404)
        report = s.process.stdout.readline()
        expect(report.startswith("body bl ck"), f"the report follows the address: {report!r}")
        left = [p for p in pathlib.Path(os.environ.get("TMPDIR", "/tmp")).glob("sinew-check-*")
                if (p / "scene.json").exists() and str(folder) in (p / "scene.json").read_text()]
        expect(len(left) == 1, "one folder for a while")
    expect(not left[0].exists(), "the folder is gone")
    with Server(out()) as s:
        expect(not any(s.json("/api/0/body/0/defects")["counts"].values()), "a box is sound")


def two_runs_are_the_same_interface_twice():
    other = make_run("second", dict(SCENE, frames=[2, 4]))
    with Server(out(), other) as s:
        runs = s.json("/api/runs")["runs"]
        expect([run["stored"] for run in runs] == [[1, FRAMES], [2, 4]], str(runs)[:500])
        cache = (other / "bl ck.pc2").read_bytes()
        expect(s.bytes("/api/1/body/0/frame/3") == cache[32 + 96:32 + 192], "frame 3 of the second")
        s.get("/api/1/body/0/frame/1", 404)
        s.get("/api/2/scene", 404)
        expect(len(s.bytes("/api/1/body/0/vertex/0")) == 36, "three frames")


def only_the_own_page_may_ask():
    with Server(out()) as s:
        good = [f"127.0.0.1:{s.port}", f"localhost:{s.port}", f"LOCALHOST:{s.port}"]
        bad = ["evil.example", f"evil.example:{s.port}", "127.0.0.1", "localhost", f"127.0.0.1:{s.port + 1}",
               f"127.0.0.1.evil.example:{s.port}", f"localhost.evil.example:{s.port}", f"0.0.0.0:{s.port}",
               f"[::1]:{s.port}", f"127.0.0.2:{s.port}", f"user@127.0.0.1:{s.port}", f"127.0.0.1:{s.port}/",
               f"127.0.0.1:0{s.port}", "null", f"127.1:{s.port}", f"2130706433:{s.port}"]
        for path in ("/", "/api/runs", "/api/0/body/0/frame/1", "/nothing"):
            for host in bad:
                expect(s.request(path, host=host).status == 403, f"{path} for Host {host}")
        for host in good:
            expect(s.request("/api/runs", host=host).status == 200, host)
            expect(s.request("/api/runs", headers=[f"Origin: http://{host}"]).status == 200, f"Origin {host}")
        for origin in ["http://evil.example", "null", f"https://127.0.0.1:{s.port}", "http://127.0.0.1",
                       f"http://127.0.0.1:{s.port + 1}", f"http://127.0.0.1:{s.port}.evil.example", "file://", ""]:
            answer = s.request("/api/runs", headers=[f"Origin: {origin}"])
            expect(answer.status == 403, f"Origin {origin}: {answer.status}")
            expect("access-control-allow-origin" not in answer.headers, "CORS is not for others")
        expect(s.raw(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").status == 400, "no Host")
        twice = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        expect(s.raw(twice.encode()).status in (400, 403), "two Hosts")
        preflight = s.request("/api/runs", "OPTIONS", ["Origin: http://evil.example",
                                                       "Access-Control-Request-Method: GET"])
        expect(preflight.status == 403, f"a preflight of others: {preflight.status}")
        upgrade = s.request("/", headers=["Upgrade: websocket", "Sec-WebSocket-Version: 13",
                                          "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw=="])
        expect(upgrade.status == 200, "no websockets: it is just a page")


def it_listens_on_loopback_only():
    with Server(out()) as s:
        found = []
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            for line in open(table).read().splitlines()[1:]:
                words = line.split()
                if words[3] == "0A" and int(words[1].split(":")[1], 16) == s.port:
                    found.append(words[1].split(":")[0])
        expect(found == ["0100007F"], f"listens on {found}")
        for address in socket.gethostbyname_ex(socket.gethostname())[2]:
            if address.startswith("127."):
                continue
            try:
                socket.create_connection((address, s.port), timeout=2).close()
                raise AssertionError(f"{address} answers")
            except OSError:
                pass


def only_get_and_head_are_answered():
    with Server(out()) as s:
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "MKCOL", "TRACE", "CONNECT"):
            answer = s.request("/api/runs", method)
            if method in ("TRACE", "CONNECT") and answer.status in (400, 405, 501):
                continue
            expect(answer.status == 405, f"{method}: {answer.status}")
            expect(answer.headers.get("allow") == "GET, HEAD", f"{method}: {answer.headers}")
        for path in ("/", "/api/runs", "/api/0/body/0/frame/1", "/api/0/body/0/frame/99", "/nothing"):
            head, get = s.request(path, "HEAD"), s.request(path)
            expect(head.status == get.status and head.body == b"", f"HEAD {path}: {head.status} {head.body!r}")
            for key in ("content-length", "content-type", "content-security-policy"):
                expect(head.headers[key] == get.headers[key], f"HEAD {path}: {key}")
        body = s.request("/api/runs", "POST", ["Content-Length: 5"])
        expect(body.status in (400, 405), "a POST with content")
        # Two on one connection: a HEAD sends no content, or the second answer would begin with it.
        both = "".join(f"{m} /api/runs HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\nConnection: {c}\r\n\r\n"
                       for m, c in (("HEAD", "keep-alive"), ("GET", "close")))
        with s.connect() as connection:
            connection.sendall(both.encode())
            got = b""
            while piece := connection.recv(1 << 16):
                got += piece
        expect(got.count(b"HTTP/1.1 200") == 2, f"{got[:400]!r}")
        json.loads(got.rpartition(b"\r\n\r\n")[2])


def malformed_requests_get_4xx():
    host = "Host: 127.0.0.1:%d\r\n"
    with Server(out()) as s:
        own = host % s.port
        for data in ["nonsense\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n" + own + "\r\n",
                     "GET / HTTP/1.1\r\nno colon here\r\n\r\n", "\0\0\0\0\r\n\r\n",
                     "G\0T / HTTP/1.1\r\n" + own + "\r\n",
                     "GET /\0 HTTP/1.1\r\n" + own + "\r\n", "GET  HTTP/1.1\r\n" + own + "\r\n",
                     "GET nothing HTTP/1.1\r\n" + own + "\r\n", "GET * HTTP/1.1\r\n" + own + "\r\n",
                     "GET http://evil.example/ HTTP/1.1\r\n" + own + "\r\n",
                     "GET /" + "a" * 100000 + " HTTP/1.1\r\n" + own + "\r\n",
                     "GET / HTTP/1.1\r\n" + own + "X: " + "a" * 100000 + "\r\n\r\n",
                     "GET / HTTP/1.1\r\n" + own + "".join("X%d: 1\r\n" % i for i in range(300)) + "\r\n",
                     "GET / HTTP/1.1\r\n" + own + "Content-Length: -5\r\n\r\n",
                     "GET / HTTP/1.1\r\n" + own + "Content-Length: 99999999999999999999\r\n\r\n",
                     "GET / HTTP/1.1\r\n" + own + "Content-Length: 10\r\n\r\n0123456789",
                     "GET / HTTP/1.1\r\n" + own + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                     "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"]:
            with s.connect() as connection:
                got = b""
                try:
                    connection.sendall(data.encode("latin-1"))
                    connection.shutdown(socket.SHUT_WR)
                    while piece := connection.recv(1 << 16):
                        got += piece
                except OSError:  # it has gone away already
                    pass
            # Where the client still writes when it is refused, the answer may be lost on the way.
            if got or len(data) < 10000:
                answer = Answer(got)
                expect(400 <= answer.status < 500, f"{data[:60]!r}: {answer.status}")
                expect(SECRET not in got, "a secret")
        s.get("/api/runs")


def traversals():
    """More than two hundred ways to ask for a file beside the run's own folder."""
    ups = ["../", "..%2f", "..%2F", "%2e%2e/", "%2e%2e%2f", "%2E%2E%2F", ".%2e/", "%2e./", "..\\", "..%5c", "%2e%2e%5c",
           "%252e%252e%252f", "..%252f", "%25%32%65%25%32%65%25%32%66", "..%c0%af", "%c0%ae%c0%ae/", "..%ef%bc%8f",
           "....//", "..;/", "../\\", ".../", "..././", "..%00/", "%00../", "..%0a/", "..//", "./../", "..%u2215",
           "..%e0%80%af", "..%f0%80%80%af"]
    starts = ["/", "/api/", "/api/0/", "/api/0/body/0/", "/api/0/body/0/frame/", "/api/0/body/", "//", "/index.html/"]
    for up in ups:
        for start in starts:
            yield start + up * 1 + "secret.txt"
            yield start + up * 4 + "secret.txt"
    for name in (str(BASE / "first" / "secret.txt"), "/etc/passwd", "/proc/self/environ"):
        yield name
        yield "/" + name
        yield "/api/0/scene" + name
        yield "/api/0/" + name.replace("/", "%2f")
        yield "/file://" + name
        yield "/api/0/body/0/frame/1" + name
    for tail in ("/linked.txt", "/api/0/linked.txt", "/api/0/scene.json", "/checkpoint", "/api/0/checkpoint",
                 "/scene.json", "/stats.jsonl", "/api/0/body/-1/frame/1", "/api/0/body/01/frame/1",
                 "/api/00/scene", "/api/0/body/0x0/frame/1", "/api/0/body/0/frame/1/", "/api/0/body/0/frame/+1",
                 "/api/0/body/0/frame/1%00", "/api/0/scene%00.html", "/api/0/scene/", "//api/0/scene", "/API/0/scene",
                 "/api/4294967296/scene", "/api/0/body/4294967296/surface", "/api/0/body/0/frame/1.0",
                 "/api/0/body/0/vertex/99999999999", "/api/0/body/0/cell/-1", "/api/0/body/1/surface"):
        yield tail


def nothing_outside_the_folder_is_served():
    first = out().parent
    (first / "secret.txt").write_bytes(SECRET)
    (out() / "linked.txt").symlink_to(first / "secret.txt")
    count = 0
    with Server(out()) as s:
        for path in traversals():
            answer = s.request(path)
            expect(SECRET not in answer.body and b"root:" not in answer.body, f"{path} shows it")
            expect(400 <= answer.status < 500, f"{path}: {answer.status}")
            count += 1
        for query in ("../secret.txt", "from=../secret.txt", "from=%2e%2e", "file=/etc/passwd"):
            expect(SECRET not in s.request("/api/0/stats?" + query).body, query)
    (out() / "linked.txt").unlink()
    expect(count >= 200, f"only {count} forms")


def links_in_the_folder_lead_nowhere():
    """Files of a run that are links out of the folder, pipes or folders are as good as not there."""
    run = make_run("links")
    outside = run.parent / "outside"
    outside.mkdir()
    for name in ("bl ck.pc2", "bl ck.fields", "bl ck.cells", "bl ck.ties", "stats.jsonl", "result.json"):
        (run / name).rename(outside / name)
        (run / name).symlink_to(outside / name)
    (run / "messages.jsonl").unlink(missing_ok=True)
    os.mkfifo(run / "messages.jsonl")
    with Server(run) as s:
        body = s.json("/api/runs")["runs"][0]
        expect(body["stored"] is None and body["state"] == "killed", str(body)[:300])
        expect(body["bodies"][0]["cells"] == 0 and body["bodies"][0]["fields"] == [], str(body)[:900])
        for path in ("frame/1", "cells", "fields/1"):
            s.get("/api/0/body/0/" + path, 404)
        expect(s.json("/api/0/stats") == [] and s.json("/api/0/messages") == [], "lines of links")
        expect(s.json("/api/0/result") is None, "a result that is a link")
        expect(s.bytes("/api/0/attachments/0") == b"\0\0\0\0", "ties that are a link")
    for name in ("bl ck.obj", "scene.json"):
        (run / name).rename(outside / name)
        (run / name).symlink_to(outside / name)
        expect("no plain file" in sinew("view", run, status=2).stderr, name)
    # A body whose name is a path.
    (run / "scene.json").unlink()
    scene = json.loads((outside / "scene.json").read_text())
    for name in ("../outside/bl ck", "/etc/passwd", "..", "a/b", "", "a\\b", ".hidden"):
        scene["bodies"][0]["name"] = name
        (run / "scene.json").write_text(json.dumps(scene))
        expect("usable name" in sinew("view", run, status=2).stderr, name)


def slow_clients_keep_nobody_waiting():
    with Server(out()) as s:
        slow = []
        own = f"Host: 127.0.0.1:{s.port}\r\n"
        for i in range(120):
            connection = s.connect()
            connection.sendall([b"", b"G", b"GET /api/runs HTTP/1.1\r\n",
                                f"GET /viewer.js HTTP/1.1\r\n{own}\r\n".encode()][i % 4])
            slow.append(connection)
        for _ in range(10):
            started = time.monotonic()
            s.get("/api/runs")
            took = time.monotonic() - started
            expect(took < 1, f"a good client waited {took:.2f} s")
        # One that sends a byte now and then is not waited for much longer than one that sends none.
        drip = s.connect()
        drip.settimeout(0.5)
        started = time.monotonic()
        closed = False
        while time.monotonic() - started < 25 and not closed:
            try:
                drip.sendall(b"G")
                closed = drip.recv(100) == b""
            except socket.timeout:
                pass
            except OSError:
                closed = True
        expect(closed, "a client that sends a byte now and then is kept for ever")
        for connection in slow:
            connection.close()


def append_frame(path, count, places):
    with open(path, "r+b") as file:
        file.seek(0, 2)
        file.write(struct.pack("<%df" % len(places), *places))
        file.seek(28)
        file.write(struct.pack("<i", count))


def a_live_run_is_followed():
    run = BASE / "live" / "out"
    write_inputs(run.parent)
    sinew("run", run.parent / "scene.json", "-o", run, "--quiet", "--frames", f"1:{FRAMES}")
    full = {name: (run / name).read_bytes() for name in ("bl ck.pc2", "bl ck.fields", "stats.jsonl", "result.json")}
    _, _, records = read_records(run / "bl ck.fields")
    (run / "result.json").unlink()

    def show(frames, promised=None, torn=b""):
        """The folder as it is after so many frames; the header may promise more than there is."""
        promised = frames if promised is None else promised
        cache = bytearray(full["bl ck.pc2"][:32 + 96 * frames]) + torn
        cache[28:32] = struct.pack("<i", promised)
        (run / "bl ck.pc2").write_bytes(cache)
        fields = bytearray(full["bl ck.fields"][:48 + sum(len(records[f]) for f in range(1, frames + 1))]) + torn
        fields[40:48] = struct.pack("<II", promised, ~promised & 0xffffffff)
        (run / "bl ck.fields").write_bytes(fields)
        lines = full["stats.jsonl"].splitlines(keepends=True)
        (run / "stats.jsonl").write_bytes(b"".join(lines[:frames]) + (b'{"frame": 9' if torn else b""))

    with Server(run) as s, open(run / "lock", "w", encoding="ascii") as lock:
        show(2)
        expect(s.json("/api/runs")["runs"][0]["state"] == "killed", "a run that nobody goes on with")
        fcntl.lockf(lock, fcntl.LOCK_EX)
        for frames, promised, torn in ((0, None, b""), (1, None, b""), (2, None, b"torn"), (3, 5, b"x" * 50),
                                       (3, 2147483647, b""), (5, None, b""), (2, None, b""), (4, None, b"")):
            show(frames, promised, torn)
            told = s.json("/api/runs")["runs"][0]
            expect(told["state"] == "running", told["state"])
            expect(told["stored"] == ([1, frames] if frames else None), f"{frames} frames, told {told['stored']}")
            for frame in range(1, FRAMES + 1):
                s.get(f"/api/0/body/0/frame/{frame}", 200 if frame <= frames else 404)
                answer = s.get(f"/api/0/body/0/fields/{frame}", 200 if frame <= frames else 404)
                if frame <= frames:
                    expect(answer.body == records[frame], f"record {frame} of {frames}")
            expect(len(s.json("/api/0/stats")) == frames, f"lines of {frames} frames")
            expect(len(s.bytes("/api/0/body/0/vertex/1")) == 12 * frames, "a vertex's way")
        show(5)
        (run / "result.json").write_bytes(full["result.json"])
        expect(s.json("/api/runs")["runs"][0]["state"] == "done", "the end is seen")
        fcntl.lockf(lock, fcntl.LOCK_UN)
        cache = bytearray(full["bl ck.pc2"])
        cache[32 + 96 + 50] ^= 4
        (run / "bl ck.pc2").write_bytes(cache)
        expect(b"damaged" in s.get("/api/0/body/0/frame/2", 404).body, "a frame that is damaged")
        s.get("/api/0/body/0/frame/3")
        show(5)
        # Another run in the same folder.
        sinew("run", run.parent / "scene.json", "-o", run, "--quiet", "--frames", "1:2", "--set", "fps=50")
        told = s.json("/api/runs")["runs"][0]
        expect(told["fps"] == 50 and told["stored"] == [1, 2], str(told)[:300])
        # Damaged files are as good as not there.
        (run / "bl ck.pc2").write_bytes(b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 8, float("nan"), 1, 5) + b"x" * 960)
        (run / "bl ck.fields").write_bytes(full["bl ck.fields"][:30])
        (run / "bl ck.cells").write_bytes(b"SINEWCL\0\1\0\0\0" + b"\xff" * 200)
        (run / "result.json").write_text("{")
        (run / "stats.jsonl").write_bytes(b"\xff\xfe{\n[]\n{}\n{\"frame\": \"1\"}\n")
        told = s.json("/api/runs")["runs"][0]
        expect(told["stored"] is None and told["bodies"][0]["cells"] == 0, str(told)[:500])
        expect(s.json("/api/0/stats") == [] and s.json("/api/0/result") is None, "damaged lines")
        s.get("/api/0/body/0/cells", 404)
        (run / "scene.json").write_text("{")
        expect(s.json("/api/runs")["runs"][0]["bodies"] == [], "a scene that is none")
        s.get("/api/0/body/0/surface", 404)
        expect("scene.json" in s.json("/api/0/messages")[0]["text"], "why")


def damage(data, dice):
    """Bytes changed, cut off, added, or numbers replaced by extreme ones."""
    data = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(data)) if data else 0
        kind = dice.randrange(5)
        if kind == 0 and data:
            data[at] = dice.randrange(256)
        elif kind == 1:
            data = data[:at]
        elif kind == 2:
            data += bytes(dice.randrange(256) for _ in range(dice.randint(1, 200)))
        else:
            # The heads of files hold their counts.
            at = dice.randrange(0, 100, 4) if kind == 3 else at
            extreme = dice.choice([0, 1, 0xffffffff, 0x7fffffff, 0x80000000, 0x10000, 0x3fffffff, 0x7f800000])
            data[at:at + 4] = struct.pack("<I", extreme)
    return bytes(data)


def damaged_files_do_no_harm():
    run = make_run("damaged")
    names = ["bl ck.pc2", "bl ck.fields", "bl ck.cells", "bl ck.ties", "stats.jsonl", "result.json", "messages.jsonl",
             "scene.json", "bl ck.obj"]
    whole = {name: (run / name).read_bytes() if (run / name).exists() else b"" for name in names}
    paths = ["runs", "0/scene", "0/stats", "0/messages", "0/result", "0/body/0/surface", "0/body/0/frame/2",
             "0/body/0/cells", "0/body/0/fields/1", "0/body/0/fields/5", "0/body/0/range", "0/body/0/vertex/7",
             "0/body/0/cell/3", "0/attachments/0", "0/bones/frame/2", "0/colliders/surface", "0/body/0/muscles",
             "0/body/0/defects", "0/body/0/skinned/2"]
    dice = random.Random(20)
    with Server(run) as s:
        for turn in range(int(os.environ.get("VIEW_DAMAGES", "60"))):
            name = names[turn % len(names)]
            damaged = damage(whole[name], dice)
            (run / name).write_bytes(damaged)
            for path in paths:
                answer = s.request("/api/" + path)
                expect(answer.status in (200, 404), f"{path} with {name} damaged ({turn}): {answer.status}")
                if answer.headers["content-type"] == "application/json":
                    answer.json()
            (run / name).write_bytes(whole[name])
        s.get("/api/runs")
        s.get("/api/0/body/0/frame/2")


def big_caches_stay_on_the_disk():
    """A cache of 2 GB, mostly a hole, with 250,000 vertices, and an animated pose as large: the server stays small
    whatever is asked."""
    run = BASE / "big"
    run.mkdir()
    side = 500
    with open(run / "big.obj", "w") as file:
        for j in range(side):
            file.write("".join(f"v {i} 0 {j}\n" for i in range(side)))
        for j in range(side - 1):
            at = j * side + 1
            file.write("".join(f"f {at + i} {at + i + side} {at + i + side + 1} {at + i + 1}\n"
                               for i in range(side - 1)))
    vertices = side * side
    frames = (2 << 30) // (12 * vertices) + 1
    with open(run / "big.pc2", "wb") as file:
        file.write(b"POINTCACHE2\0" + struct.pack("<iiffi", 1, vertices, 1.0, 1.0, frames))
        file.truncate(32 + 12 * vertices * frames)
        file.seek(32 + 12 * vertices * (frames - 1))
        file.write(struct.pack("<3f", 1, 2, 3))
    expect(os.path.getsize(run / "big.pc2") > 2 << 30, "2 GB")
    scene = {"unit": 1, "up": "y", "fps": 24, "frames": [1, frames],
             "bodies": [{"name": "big", "surface": str(run / "big.obj"), "cell": 10,
                         "pose": {"from": str(run / "big.pc2")}}],
             "attachments": [{"body": "big", "to": "pose", "stiffness": 1}]}
    (run / "scene.json").write_text(json.dumps(scene))
    most = 0
    with Server(run) as s:
        expect(s.json("/api/runs")["runs"][0]["stored"] == [1, frames], "all frames")
        for frame in list(range(1, frames + 1, 60)) + [frames]:
            answer = s.bytes(f"/api/0/body/0/frame/{frame}")
            expect(len(answer) == 12 * vertices, f"frame {frame}")
            most = max(most, s.memory("VmRSS"))
        expect(floats(answer[:12]) == (1, 2, 3), "the last frame is the last")
        expect(s.bytes(f"/api/0/body/0/skinned/{frames}") == answer, "the pose of the last frame")
        expect(len(s.bytes("/api/0/body/0/vertex/77")) == 12 * frames, "a vertex's way")
        expect(s.json("/api/0/body/0/range")["displacement"][1] > 500, "a range")
        most = max(most, s.memory("VmRSS"))
        # A hundred who ask for the surface, 9 MB each, and for a frame, and do not take them.
        slow = []
        for i in range(100):
            connection = s.connect()
            path = "surface" if i % 2 else "frame/2"
            connection.sendall(f"GET /api/0/body/0/{path} HTTP/1.1\r\nHost: 127.0.0.1:{s.port}\r\n\r\n".encode())
            slow.append(connection)
        until = time.monotonic() + 2
        while time.monotonic() < until:
            most = max(most, s.memory("VmRSS"))
            time.sleep(0.05)
        started = time.monotonic()
        expect(len(s.bytes("/api/0/body/0/frame/3")) == 12 * vertices, "a good client")
        expect(time.monotonic() - started < 2, "a good client waited")
        for connection in slow:
            connection.close()
        peak = s.memory("VmHWM")
    print(f"  the server held {most / 1e6:.0f} MB, {peak / 1e6:.0f} MB while it read the meshes")
    expect(most < MEMORY_MOST and peak < MEMORY_MOST, f"{most / 1e6:.0f} MB, {peak / 1e6:.0f} MB")


def one_file_holds_it_all():
    page = BASE / "page.html"
    done = sinew("view", out(), "--export", page, "--frames", "2:4")
    expect(done.stdout == f"{page}\n", done.stdout)
    text = page.read_text()
    data = {m[1]: zlib.decompress(base64.b64decode(m[2]), -15)
            for m in re.finditer(r'<script type="application/octet-stream" data-path="([^"]+)">([^<]*)</script>', text)}
    run = json.loads(data["/api/runs"])["runs"][0]
    expect(run["stored"] == [2, 4] and run["exported"] is True, str(run)[:400])
    expect([line["frame"] for line in json.loads(data["/api/0/stats"])] == [2, 3, 4], "lines")
    with Server(out()) as s:
        served = 0
        for path, content in data.items():
            if path == "/api/runs" or "stats" in path or "range" in path or path.endswith("muscles"):
                continue
            expect(content == s.bytes(path), f"{path} differs from what is served")
            served += 1
        expect(served > 20, f"{served} paths")
        page_text = s.bytes("/").decode()
        expect('src="/viewer.js"' in page_text, "the page as served")
    for path in ("/api/0/body/0/frame/3", "/api/0/body/0/fields/3", "/api/0/body/0/skinned/3", "/api/0/bones/frame/3",
                 "/api/0/body/0/cells", "/api/0/body/0/defects", "/api/0/attachments/0", "/api/0/body/0/muscle/0"):
        expect(path in data, f"{path} is not in the page")
    expect("/api/0/body/0/frame/1" not in data, "frame 1 was not asked for")
    # Nothing is fetched from anywhere.
    rest = re.sub(r'<script type="application/octet-stream".*?</script>', "", text, flags=re.S)
    head = rest[:rest.index("<script type=\"module\">")]
    expect(not re.search(r'(src|href)="(?!data:)', head), "the page names other files")
    expect("default-src 'none'" in head, "its own policy")
    whole = BASE / "whole.html"
    sinew("view", out(), out(), "--export", whole)
    expect(whole.stat().st_size > page.stat().st_size, "all frames of two runs are more")
    # It appears whole or not at all.
    page.write_text("old")
    sinew("view", out(), "--export", BASE / "no" / "page.html", status=4)
    sinew("view", out(), "--export", page, "--frames", "7:9", status=1)
    expect(page.read_text() == "old" and not list(BASE.glob("*.tmp")), "what was there stays")
    expect(sinew("view", out(), "--frames", "1:2", status=1).stderr.count("--export") == 1, "--frames alone")


def wrong_folders_and_options_are_refused():
    empty = BASE / "empty"
    empty.mkdir()
    for words, status, part in (([], 1, "expected the folder"), ([out(), out(), out()], 1, "expected the folder"),
                                ([BASE / "nothing"], 2, "No such file"), ([out() / "scene.json"], 2, "Not a directory"),
                                ([empty], 2, "scene.json"), ([out(), empty], 2, "scene.json"),
                                ([out(), "--port", "70000"], 1, "65535"), ([out(), "--port", "-1"], 1, "65535"),
                                ([out(), "--prt", "1"], 1, "--port"), ([out(), "--port", "x"], 1, "whole number")):
        done = sinew("view", *words, status=status)
        expect(part in done.stderr and done.stdout == "", f"{words}: {done.stderr!r}")
        expect(done.stderr.count("\n") == 1, f"one line: {done.stderr!r}")
    with Server(out()) as s:
        expect("cannot be had" in sinew("view", out(), "--port", s.port, status=4).stderr, "a port that is taken")
    if os.geteuid() != 0:
        empty.chmod(0)
        expect("Permission" in sinew("view", empty, status=4).stderr, "a folder that may not be read")
        empty.chmod(0o700)
    for name, text in (("a", "{"), ("b", "[]"), ("c", '{"unit": 1}'),
                       ("d", json.dumps(dict(json.loads((out() / "scene.json").read_text()), frames=[5, 1])))):
        folder = BASE / ("wrong_" + name)
        folder.mkdir()
        (folder / "scene.json").write_text(text)
        expect("scene.json" in sinew("view", folder, status=2).stderr, name)


def a_browser_is_started_if_asked_for():
    programs = BASE / "programs"
    programs.mkdir()
    browser = programs / "xdg-open"
    browser.write_text(f"#!/bin/sh\ncd {programs} && echo \"$1\" > opened.part && mv opened.part opened\n")
    browser.chmod(0o755)
    with Server(out(), path=f"{programs}:{os.environ['PATH']}"):
        time.sleep(0.3)
    expect(not (programs / "opened").exists(), "nobody asked for a browser")
    with Server(out(), "--browser", path=f"{programs}:{os.environ['PATH']}") as s:
        until = time.monotonic() + 10
        while not (programs / "opened").exists() and time.monotonic() < until:
            time.sleep(0.02)
        expect((programs / "opened").read_text() == f"http://127.0.0.1:{s.port}/\n", "the address")
    with Server(out(), "--browser", path=str(BASE / "nowhere")) as s:
        s.get("/api/runs")
    expect("xdg-open is not there" in s.said, s.said)


def a_run_without_its_inputs_is_still_shown():
    run = make_run("moved")
    (run.parent / "box.obj").unlink()
    with Server(run) as s:
        told = s.json("/api/runs")["runs"][0]
        expect(told["stored"] == [1, FRAMES] and told["bones"] == [] and not told["bodies"][0]["skinned"], "stored")
        expect(told["bodies"][0]["muscles"] == ["pull"], "names from the cells")
        s.get("/api/0/body/0/frame/2")
        s.get("/api/0/body/0/skinned/2", 404)
        expect(s.bytes("/api/0/bones/surface") == b"\0\0\0\0", "no bones")
        expect(any("box.obj" in m["text"] for m in s.json("/api/0/messages")), "why is said")
        s.json("/api/0/body/0/defects")


def messages_are_kept_once():
    folder = write_inputs(BASE / "messages")
    scene = dict(SCENE, mode="quasistatic", bodies=[dict(SCENE["bodies"][0], initial={"velocity": [1, 0, 0]})])
    (folder / "scene.json").write_text(json.dumps(scene))

    def kept():
        path = folder / "out" / "messages.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    said = sinew("run", folder / "scene.json", "-o", folder / "out", "--frames", "1:2").stderr
    first = kept()
    warnings = [line[len("sinew: warning: "):] for line in said.splitlines() if line.startswith("sinew: warning: ")]
    expect(warnings and [m["text"] for m in first if m["level"] == "warning"] == warnings, f"{first} {warnings}")
    sinew("run", folder / "scene.json", "-o", folder / "out", "--frames", "1:3", "--resume", "--quiet")
    expect(kept() == first, f"resumed: {kept()}")
    with open(folder / "out" / "messages.jsonl", "a") as file:
        file.write('{"level": "warn')  # as a killed program leaves it
    sinew("run", folder / "scene.json", "-o", folder / "out", "--frames", "1:4", "--resume", "--quiet",
          "--set", "output.fields=[]")
    expect(kept()[:len(first)] == first and len(kept()) > len(first), f"more is added: {kept()}")
    with Server(folder / "out") as s:
        expect(s.json("/api/0/messages") == kept(), "the viewer has them")
    sinew("run", folder / "scene.json", "-o", folder / "out", "--frames", "1:1", "--quiet")
    expect(kept() == first, "a new run begins anew, also a quiet one")


CHECKS = [runs_say_what_there_is, frames_are_those_of_the_files, cells_and_fields_are_those_of_the_files,
          bones_colliders_and_muscles_move_as_told, attachments_are_nodes_with_their_holders,
          defects_are_found, two_runs_are_the_same_interface_twice, only_the_own_page_may_ask,
          it_listens_on_loopback_only, only_get_and_head_are_answered, malformed_requests_get_4xx,
          nothing_outside_the_folder_is_served, links_in_the_folder_lead_nowhere,
          slow_clients_keep_nobody_waiting, a_live_run_is_followed, damaged_files_do_no_harm,
          big_caches_stay_on_the_disk, one_file_holds_it_all, wrong_folders_and_options_are_refused,
          a_browser_is_started_if_asked_for, a_run_without_its_inputs_is_still_shown,
          messages_are_kept_once]


def main():
    missing = subprocess.run([SINEW, "view", "/"], capture_output=True, text=True, check=False)
    if missing.returncode == 1 and "built without" in missing.stderr:
        print(missing.stderr.strip())
        return 77
    failed = 0
    wanted = sys.argv[3:]
    for check in CHECKS:
        if wanted and check.__name__ not in wanted:
            continue
        started = time.monotonic()
        try:
            check()
            print(f"ok      {check.__name__} ({time.monotonic() - started:.1f} s)")
        except Exception as error:
            failed += 1
            print(f"FAILED  {check.__name__}: {type(error).__name__}: {error}")
    return 1 if failed else 0


sys.exit(main())
