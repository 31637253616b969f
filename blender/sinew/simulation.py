# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of the program in the background: start, poll, cancel, resume. Knows nothing of Blender.

A folder holds all of it, so that a run can be taken up again another day:
  character.glb   what is simulated
  job.json        the command, and how the result comes back
  run/            what the program writes
  flesh.pc2       the result in the object's own coordinates
"""

import collections
import glob
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy

from .problem import Problem
from .program import error_of

FORMAT = 1
HEADER_BYTES = 32
MAGIC = b"POINTCACHE2\0"
INTERRUPTED = 130
KEPT_MESSAGES = 200
JOB_KEYS = ["object", "options", "first_frame", "vertices", "to_object"]


# ---- Caches -------------------------------------------------------------------------------------


def read_header(path):
    """(vertices, frames) of a PC2 file, or None if there is none yet."""
    try:
        with open(path, "rb") as file:
            data = file.read(HEADER_BYTES)
    except OSError:
        return None
    if len(data) < HEADER_BYTES or data[:12] != MAGIC:
        return None
    whole = numpy.frombuffer(data, "<i4")
    return int(whole[4]), int(whole[7])


def read_frames(path, first, count, vertex_count):
    """(count, vertices, 3) of a PC2 file, from frame `first`, counted from 0."""
    size = 12 * vertex_count
    with open(path, "rb") as file:
        file.seek(HEADER_BYTES + first * size)
        data = file.read(count * size)
    if len(data) != count * size:
        raise Problem(f"{path}: shorter than its header says")
    return numpy.frombuffer(data, "<f4").reshape(count, vertex_count, 3)


class CacheCopy:
    """A PC2 file that follows another one, with a transform for each frame."""

    def __init__(self, source, target, transforms, vertex_count, first_frame):
        self.source, self.target = source, target
        self.transforms = transforms  # (frames, 4, 4)
        self.vertex_count = vertex_count
        self.first_frame = first_frame
        self.done = 0

    def begin(self):
        """Make an empty target."""
        self.done = 0
        with open(self.target, "wb") as file:
            file.write(self.header(0))

    def header(self, frames):
        numbers = numpy.array([1, self.vertex_count, 0, 0, frames], "<i4")
        numbers[2:4] = numpy.array([self.first_frame, 1.0], "<f4").view("<i4")
        return MAGIC + numbers.tobytes()

    def follow(self):
        """Copy the frames that are new in the source; how many the target has then."""
        found = read_header(self.source)
        if found is None:
            return self.done
        vertices, frames = found
        if vertices != self.vertex_count:
            raise Problem(f"{self.source}: {vertices} vertices instead of {self.vertex_count}")
        for frame in range(self.done, min(frames, len(self.transforms))):
            points = read_frames(self.source, frame, 1, vertices)[0].astype(float)
            matrix = self.transforms[frame]
            points = points @ matrix[:3, :3].T + matrix[:3, 3]
            with open(self.target, "r+b") as file:
                file.seek(HEADER_BYTES + 12 * vertices * frame)
                file.write(points.astype("<f4").tobytes())
                # Counted only once it is there: readers see whole frames.
                file.flush()
                file.seek(0)
                file.write(self.header(frame + 1))
            self.done = frame + 1
        return self.done


# ---- The job file -------------------------------------------------------------------------------


def job_path(folder):
    return os.path.join(folder, "job.json")


def write_job(folder, options, character):
    """Note what it takes to run the character of `folder`, and to run it again."""
    job = {
        "format": FORMAT,
        "object": character.name,
        "options": options,
        "first_frame": character.frames[0],
        "vertices": character.vertex_count,
        "to_object": character.to_object.reshape(-1, 16).tolist(),
    }
    temporary = job_path(folder) + ".tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump(job, file)
    os.replace(temporary, job_path(folder))


def read_job(folder):
    """The job of a folder; Problem if there is none that can be understood."""
    path = job_path(folder)
    try:
        with open(path, encoding="utf-8") as file:
            job = json.load(file)
        if job["format"] != FORMAT:
            raise Problem(f"{path}: format {job['format']}; this add-on knows {FORMAT}")
        job["to_object"] = numpy.array(job["to_object"], float).reshape(-1, 4, 4)
        return {key: job[key] for key in JOB_KEYS}
    except OSError as error:
        raise Problem(f"{path}: {error.strerror}; press Simulate first") from error
    except (ValueError, KeyError, TypeError) as error:
        raise Problem(f"{path}: not a job of this add-on ({error})") from error


def can_resume(folder):
    """Whether there is a run in the folder that stopped before its end."""
    run = os.path.join(folder, "run")
    if not os.path.isfile(job_path(folder)) or not os.path.isfile(os.path.join(run, "checkpoint")):
        return False
    return read_outcome(run).get("outcome", "") != "done"


def read_outcome(run):
    """What result.json says, or an empty dictionary while there is none."""
    try:
        with open(os.path.join(run, "result.json"), encoding="utf-8") as file:
            result = json.load(file)
        return result if isinstance(result, dict) else {}
    except (OSError, ValueError):
        return {}


# ---- The run ------------------------------------------------------------------------------------


class Simulation:
    """A run of `sinew flesh`. Call poll() now and then; nothing here blocks, save wait()."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.run_folder = os.path.join(folder, "run")
        self.cache = os.path.join(folder, "flesh.pc2")
        self.job = read_job(folder)
        self.frame_count = len(self.job["to_object"])
        self.state = "ready"  # running, done, interrupted, failed
        self.frame = 0        # last finished one, of the program's, which count from 1
        self.seconds = 0.0    # the last frame took
        self.unconverged = 0
        self.messages = collections.deque(maxlen=KEPT_MESSAGES)  # lines of stderr
        self.error = ""
        self.cancelled = self.resumed = False
        self.abandoned = False  # nobody polls it any more; see work.running
        self.process = None
        self.lines = collections.deque()  # of stdout, filled by a thread
        self.threads = []
        self.copy = None
        self.begun = 0.0
        self.frames_here = 0  # finished by this process

    def command(self, resume):
        character = os.path.join(self.folder, "character.glb")
        command = [self.program, "flesh", character, "-o", self.run_folder, "--progress", "json"]
        return command + list(self.job["options"]) + (["--resume"] if resume else [])

    def start(self, resume=False, threads=0):
        """Start the program; with `resume` it goes on after its last checkpoint."""
        command = self.command(resume) + (["--threads", str(threads)] if threads > 0 else [])
        # A group of its own on Windows, where Ctrl-Break is the only way to ask it to stop.
        flags = subprocess.CREATE_NEW_PROCESS_GROUP if sys.platform == "win32" else 0
        self.resumed = resume
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                            creationflags=flags)
        except OSError as error:
            raise Problem(f"{self.program}: {error.strerror or error}") from error
        for stream, lines in ((self.process.stdout, self.lines),
                              (self.process.stderr, self.messages)):
            thread = threading.Thread(target=collect, args=(stream, lines), daemon=True)
            thread.start()
            self.threads.append(thread)
        self.state = "running"
        self.begun = time.monotonic()

    def cancel(self):
        """Ask the program to finish its frame, write a checkpoint and end; asked twice, end it."""
        if self.process is None or self.process.poll() is not None:
            return
        if self.cancelled:
            self.process.kill()
        elif sys.platform == "win32":
            self.process.send_signal(signal.CTRL_BREAK_EVENT)
        else:
            self.process.terminate()
        self.cancelled = True

    def poll(self):
        """Take in what the program said since; whether it is still running."""
        if self.state != "running":
            return False
        code = self.process.poll()
        if code is not None:
            for thread in self.threads:
                thread.join()
        try:
            while self.lines:
                self.take_line(self.lines.popleft())
            if code is not None:
                self.finish(code)
        except (OSError, Problem) as problem:
            self.cancel()
            self.state, self.error = "failed", str(problem)
        return self.state == "running"

    def take_line(self, line):
        try:
            stats = json.loads(line)
            frame = int(stats["frame"])
        except (ValueError, KeyError, TypeError):
            return  # not a line of statistics
        self.frame = frame
        self.seconds = float(stats.get("seconds") or 0.0)
        self.unconverged += not stats.get("converged", True)
        self.frames_here += 1
        self.follow_cache()

    def follow_cache(self):
        """Bring over the frames that are there, which are this run's once it has finished one."""
        if self.frames_here == 0 and not self.resumed:
            return 0
        if self.copy is None:
            found = glob.glob(os.path.join(glob.escape(self.run_folder), "*.pc2"))
            if not found:
                return 0
            self.copy = CacheCopy(max(found, key=os.path.getmtime), self.cache,
                                  self.job["to_object"], self.job["vertices"],
                                  self.job["first_frame"])
            self.copy.begin()
        return self.copy.follow()

    def finish(self, code):
        """The program has ended: bring over the rest, and say how it went."""
        reason = error_of(self.messages) or "no message"
        error = f"sinew ended with code {code}: {reason}"
        frames = self.follow_cache()
        if code == 0 and frames == self.frame_count:
            self.state = "done"
        elif code == 0:
            self.state = "failed"
            self.error = f"{frames} frames in {self.run_folder} instead of {self.frame_count}"
        elif code == INTERRUPTED:
            self.state = "interrupted"
        elif self.cancelled:
            self.state, self.error = "interrupted", error
        else:
            self.state, self.error = "failed", error

    def wait(self, until=lambda simulation: False, pause=0.02):
        """Poll until the program has ended or `until` says enough; the state then."""
        while self.poll() and not until(self):
            time.sleep(pause)
        return self.state

    # What a progress bar shows.

    def share(self):
        return min(1.0, self.frame / self.frame_count)

    def seconds_left(self):
        """By the mean of the frames so far; None before the first."""
        if self.frames_here == 0:
            return None
        mean = (time.monotonic() - self.begun) / self.frames_here
        return mean * (self.frame_count - self.frame)

    def progress_lines(self):
        if self.cancelled and self.state == "running":
            return [f"ending after frame {self.frame + 1} ..."]
        if self.frames_here == 0:
            return ["preparing ..."]
        return [f"frame {self.frame} of {self.frame_count}, {100 * self.share():.0f} %",
                f"{self.seconds:.2f} s a frame, {clock(self.seconds_left())} left"]


def collect(stream, lines):
    """Read a pipe to its end; runs in a thread, so that the program never waits for a reader."""
    with stream:
        for line in stream:
            lines.append(line.decode("utf-8", "replace").rstrip())


def clock(seconds):
    whole = int(seconds + 0.5)
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02d}"
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
