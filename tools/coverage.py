#!/usr/bin/env python3
"""coverage.py BUILD OUT: what the tests that ran in BUILD (preset "coverage") reached of the library.

Prints lines and branches for each layer and for the library as a whole, then for the kinds of readers, caches and
checkpoints that must survive any file; last what is promised of both, and fails if that is not reached. Writes
OUT/coverage.md with a row a file and OUT/missed.txt with every line that never ran or has a branch that was never taken.
An assertion's failure counts as no branch: it must not be reached.
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
# Readers, caches, checkpoint and resume; in the table by the first word of the file's name.
READERS = re.compile(
    r"^src/io/(cells_file|checkpoint|dae\w*|drive\w*|fbx_\w+|fiber_file|fields_file|file|floats|gltf_(accessor|buffer|"
    r"check|clip|loose|mesh|morph|names|node|pose|read)|import_\w+|json_load|lock|mdd|mesh_file|mesh_parts|messages|obj|"
    r"pc2|ply|pose|run|scene_\w+|sums|text|ties_file|traits|verify|vertex_values|xml)\.c$")
# Lines and branches, in percent.
PROMISED = {"library": (90, 80), "readers": (95, 90)}
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


def percent(part, whole):
    return 100 * part / whole if whole else 0


def row(name, sums):
    lines, ran, branches, taken = sums
    return f"| {name} | {lines} | {percent(ran, lines):.1f} % | {branches} | {percent(taken, branches):.1f} % |"


def add_to(table, names, sums):
    for name in names:
        table[name] = [a + b for a, b in zip(table.get(name, [0] * 4), sums)]


def bounds(name, sums):
    """Whether lines and branches are as many as promised, and a line a bound that says so."""
    found = [percent(sums[1], sums[0]), percent(sums[3], sums[2])]
    met = [f >= p for f, p in zip(found, PROMISED[name])]
    return all(met), [f"{name}, {what}: {f:.2f} %, promised {p} %: {'met' if m else 'NOT MET'}"
                      for what, f, p, m in zip(("lines", "branches"), found, PROMISED[name], met)]


def main():
    build, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    tables = {name: {} for name in PROMISED}
    rows, missing = [], []
    for name, lines in sorted(read_gcov(build).items()):
        sums, missed = measure(name, lines)
        rows.append(row(name, sums))
        missing += missed
        add_to(tables["library"], [name.split("/")[1], "library"], sums)
        if READERS.match(name):
            add_to(tables["readers"], [pathlib.Path(name).stem.split("_")[0], "readers"], sums)
    head = ["| | lines | run | branches | taken |", "| --- | --- | --- | --- | --- |"]
    summary, all_met = [], True
    for whole, table in tables.items():
        total = table.pop(whole, [0] * 4)
        met, said = bounds(whole, total)
        all_met = all_met and met
        summary += head + [row(n, table[n]) for n in sorted(table)] + [row(whole, total), "", *said, ""]
    print("\n".join(summary))
    (out / "coverage.md").write_text("\n".join(summary + head + rows) + "\n")
    (out / "missed.txt").write_text("\n".join(missing) + "\n")
    print(f"files    {out.resolve()}/coverage.md\nmissed   {out.resolve()}/missed.txt")
    return 0 if all_met else 1


if __name__ == "__main__":
    sys.exit(main())
