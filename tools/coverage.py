#!/usr/bin/env python3
"""coverage.py BUILD OUT: what the tests that ran in BUILD (preset "coverage") reached of the library.

Prints lines and branches for each layer, for the readers, caches and checkpoints that must survive any file, and for
the whole; writes OUT/coverage.md with a row a file and OUT/missed.txt with every line that never ran or has a branch that
was never taken. An assertion's failure counts as no branch: it must not be reached.
"""
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Readers, caches, checkpoint and resume.
READERS = re.compile(
    r"^src/io/(cells_file|checkpoint|dae\w*|drive\w*|fbx_\w+|fiber_file|fields_file|file|floats|gltf_(accessor|buffer|"
    r"check|clip|loose|mesh|morph|names|node|pose|read)|import_\w+|json_load|lock|mdd|mesh_file|mesh_parts|messages|obj|"
    r"pc2|ply|pose|run|scene_\w+|sums|text|ties_file|traits|verify|vertex_values|xml)\.c$")
ASSERTION = re.compile(r"\bSN_ASSERT\(")


def read_gcov(build):
    """By source file: counts of lines, and of branches as (taken or not) by line, added up over all objects."""
    data = [str(p.resolve()) for p in pathlib.Path(build).rglob("*.gcda") if "sinew_objects" in str(p)]
    files = {}
    with tempfile.TemporaryDirectory() as folder:
        for at in range(0, len(data), 20):
            subprocess.run(["gcov", "--json-format", "--branch-probabilities", *data[at:at + 20]], cwd=folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        for path in pathlib.Path(folder).glob("*.gcov.json.gz"):
            document = json.loads(gzip.open(path).read())
            for entry in document["files"]:
                name = os.path.realpath(os.path.join(document["current_working_directory"], entry["file"]))
                if name.startswith(str(ROOT / "src") + os.sep):
                    add(files.setdefault(os.path.relpath(name, ROOT), {}), entry["lines"])
    return files


def add(lines, found):
    for line in found:
        kept = lines.setdefault(line["line_number"], [0, []])
        kept[0] += line["count"]
        counts = [b["count"] for b in line["branches"]]
        if len(counts) == len(kept[1]):
            kept[1] = [a + b for a, b in zip(kept[1], counts)]
        elif len(counts) > len(kept[1]):
            kept[1] = counts


def measure(name, lines):
    """Lines, lines that ran, branches, branches taken; and what each line missed."""
    text = (ROOT / name).read_text().splitlines()
    ran = branches = taken = 0
    missed = []
    for number, (count, found) in sorted(lines.items()):
        ran += count > 0
        source = text[number - 1] if number <= len(text) else ""
        if ASSERTION.search(source):
            found = []
        reached = sum(1 for b in found if b > 0)
        branches += len(found)
        taken += reached
        if count == 0 or reached < len(found):
            what = f"branch {reached} of {len(found)}" if count else "never ran"
            missed.append(f"{name}:{number}: {what}: {source.strip()}")
    return [len(lines), ran, branches, taken], missed


def share(part, whole):
    return f"{100 * part / whole:5.1f} %" if whole else "    - "


def row(name, sums):
    return f"| {name} | {sums[0]} | {share(sums[1], sums[0])} | {sums[2]} | {share(sums[3], sums[2])} |"


def main():
    build, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    groups, rows, missing = {}, [], []
    for name, lines in sorted(read_gcov(build).items()):
        sums, missed = measure(name, lines)
        rows.append(row(name, sums))
        missing += missed
        for group in ["library", name.split("/")[1]] + (["readers"] if READERS.match(name) else []):
            total = groups.setdefault(group, [0] * 4)
            for i in range(4):
                total[i] += sums[i]
    head = ["| | lines | run | branches | taken |", "| --- | --- | --- | --- | --- |"]
    last = [g for g in ("readers", "library") if g in groups]
    summary = head + [row(g, groups[g]) for g in sorted(groups) if g not in last] + [row(g, groups[g]) for g in last]
    print("\n".join(summary))
    (out / "coverage.md").write_text("\n".join(summary + [""] + head + rows) + "\n")
    (out / "missed.txt").write_text("\n".join(missing) + "\n")
    print(f"\nfiles    {out.resolve()}/coverage.md\nmissed   {out.resolve()}/missed.txt")


if __name__ == "__main__":
    main()
