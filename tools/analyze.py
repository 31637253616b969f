#!/usr/bin/env python3
"""analyze.py BUILD [FOLDER...]: gcc's static analyzer (-fanalyzer) over the C files of the library and the program, or
of these folders, with the options of the compile commands in BUILD. Prints what it finds; fails if that is anything.

Kernels are left out: they take minutes each, and are arithmetic on arrays without any allocation.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEFT_OUT = re.compile(r"_kernels(_\w+)?\.c$")
# gcc 12 does not see an array that is filled in a loop, nor what a call sets whenever it returns SN_OK; the compilers'
# own warnings and the sanitizers look for values that were never set.
SILENCED = ["use-of-uninitialized-value"]


def command(entry):
    words = shlex.split(entry["command"])
    if os.path.basename(words[0]) == "ccache":
        words = words[1:]
    at = words.index("-o")
    del words[at:at + 2]
    words = [w for w in words if w != "-c" and not w.startswith("-O") and w != "-Werror"]
    words[0] = "gcc"
    words += ["-O1", "-fanalyzer", "-S", "-o", "/dev/null", "-Wno-all", "-fdiagnostics-plain-output"]
    return words + [f"-Wno-analyzer-{name}" for name in SILENCED]


def analyze(entry):
    run = subprocess.run(command(entry), cwd=entry["directory"], capture_output=True, text=True)
    return entry["file"], run.returncode, run.stderr


def main():
    build = pathlib.Path(sys.argv[1])
    folders = tuple(str(ROOT / f) + "/" for f in (sys.argv[2:] or ["src", "cli"]))
    entries = {e["file"]: e for e in json.loads((build / "compile_commands.json").read_text())
               if e["file"].startswith(folders) and not LEFT_OUT.search(e["file"])}
    found = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, code, text in pool.map(analyze, entries.values()):
            warnings = len(re.findall(r"\[-Wanalyzer", text))
            found += warnings + (code != 0)
            if warnings or code:
                print(f"{name}:\n{text}")
    print(f"{len(entries)} files, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
