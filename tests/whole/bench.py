"""bench.py SINEW FOLDER: every benchmark runs at a tiny size and prints its figures as JSON lines.

Times are printed, never judged. Counts are: they are the same on every machine.
"""
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

SINEW = os.path.abspath(sys.argv[1])
FOLDER = pathlib.Path(sys.argv[2]).resolve()

# benchmark -> figures that it has to print
FIGURES = {
    "machine": ["triad_gb_per_s", "fma_gflops"],
    "apply": ["elements_per_s_core", "gb_per_s", "share_of_limit"],
    "polar": ["elements_per_s_core", "gb_per_s", "share_of_limit"],
    "mgpcg": ["element_iterations_per_s_core", "iterations", "gb_per_s", "share_of_limit", "bytes_per_element"],
    "setup": ["elements_per_s", "elements_per_s_core", "gb_per_s", "share_of_limit"],
    "threads": ["speedup", "efficiency"],
    "convergence": ["max_error_at_10", "seconds_at_10", "iterations_to_1e-6"],
    "tissue": ["differential_seconds", "seconds_per_krylov_iteration", "seconds_per_newton_step", "seconds_per_frame"],
    "incompressible": ["iterations_to_error_1e-05", "iterations_to_1e-02", "iterations_to_1e-05", "ms_per_iteration"],
    "growth": ["elements", "slope", "bytes_per_element", "seconds_per_frame", "dense_ratio"],
    "spike": ["elements", "seconds_per_frame"],
    "character": ["elements", "seconds_per_frame"],
    "contact": ["elements", "seconds_per_frame", "contacts", "contact_share"],
    "render": ["triangles", "rays_per_s", "seconds_per_frame"],
    "macroblock": ["factor_seconds", "solve_seconds", "bytes_per_block", "iterations_ratio_cg",
                   "iterations_ratio_cg_none", "iterations_ratio_cg_exact", "thin_time_ratio_multigrid",
                   "thin_time_ratio_best", "seconds_auto", "seconds_direct", "iteration_over_cg_eight"],
    "peers": ["setup_seconds", "solve_seconds", "iterations", "bytes", "ratio_time", "ratio_memory", "residual"],
}
PLOTS = ["threads", "convergence-iterations", "convergence-seconds", "growth-elements", "growth-bytes",
         "growth-seconds"]


def expect(condition, text):
    if not condition:
        sys.exit(f"FAILED: {text}")


def bench(*words, sinew=SINEW):
    return subprocess.run([sinew, "bench", "--quick", "--json", *words], cwd=FOLDER, capture_output=True, text=True,
                          timeout=250)


def lines_of(text):
    lines = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        expect(line.keys() == {"bench", "case", "figure", "value", "unit"}, f"keys of {line}")
        expect(line["value"] is None or math.isfinite(line["value"]), f"value of {line}")
    return lines


def values(lines, name, figure):
    return {line["case"]: line["value"] for line in lines if line["bench"] == name and line["figure"] == figure}


result = bench("-o", "out/all")
expect(result.returncode == 0, result.stderr)
lines = lines_of(result.stdout)
for name, figures in FIGURES.items():
    for figure in figures:
        found = values(lines, name, figure)
        sensible = all(value is not None and value >= 0 for value in found.values())
        expect(sensible and any(found.values()), f"{name}: {figure}: {found}")
help_text = subprocess.run([SINEW, "bench", "--help"], capture_output=True, text=True, check=True).stdout
listed = set(re.findall(r"^  ([a-z]+)  ", help_text, re.M))
expect(listed == set(FIGURES), f"benchmarks listed: {sorted(listed)}")
expect(set(line["bench"] for line in lines) == listed, "a benchmark was not run")

# counts
expect(values(lines, "apply", "elements") == {"cube16": 2528, "cube16-stable-neo-hookean": 2528},
       "the cube of 16 cells a side")
expect(0 < values(lines, "mgpcg", "iterations")["cube16"] <= 20, "iterations of mgpcg")
slopes = values(lines, "growth", "slope")
expect(1 < slopes["octree"] < slopes["uniform"] < 3.2, f"slopes {slopes}")

# peers: what is there has solved our system, what is not there is said to be missing
residuals, missing = values(lines, "peers", "residual"), values(lines, "peers", "missing")
differences = values(lines, "peers", "difference")
names = ["petsc-mg", "petsc-gamg", "hypre-boomeramg", "jacobi-cg", "cholmod"]
expect(set(differences) | set(missing) == {f"cube8_{name}" for name in names}, f"{differences}, {missing}")
expect("cube8_jacobi-cg" in differences, "jacobi-cg needs no package")
expect(all(value < 1.1e-6 for value in residuals.values()), f"residuals {residuals}")
expect(all(value < 1e-5 for value in differences.values()), f"differences {differences}")
expect(set(values(lines, "peers", "ratio_time")) == set(differences), "a ratio a peer")

# table and plots
out = FOLDER / "out/all"
expect(lines_of((out / "figures.jsonl").read_text()) == lines, "figures.jsonl is what was printed")
expect((out / "table.md").read_text().count("\n") == len(lines) + 2, "a row a figure in table.md")
for name in PLOTS:
    expect((out / f"{name}.png").read_bytes()[:4] == b"\x89PNG", f"{name}.png")
    expect((out / f"{name}.svg").read_text().rstrip().endswith("</svg>"), f"{name}.svg")

# size limit: left out with a reason
result = bench("character", "spike", "--max-elements", "1000")
expect(result.returncode == 0 and result.stdout == "" and result.stderr.count("--max-elements") == 3, result.stderr)

# one case alone
result = bench("macroblock", "--case", "shell")
expect(result.returncode == 0 and {line["case"] for line in lines_of(result.stdout)} == {"shell"}, result.stderr)
result = bench("macroblock", "--case", "shel")
expect(result.returncode == 1 and "bar, sheet, shell, spikes, table1, peers" in result.stderr, result.stderr)

# what a program alone in its folder cannot run is reported as missing, not as an error
shutil.copy(SINEW, FOLDER / "alone")
result = bench("character", sinew=str(FOLDER / "alone"))
expect(result.returncode == 0 and result.stdout == "" and "missing" in result.stderr, result.stderr)
result = bench("peers", sinew=str(FOLDER / "alone"))
expect(result.returncode == 0 and "missing: sinew-peers" in result.stderr, result.stderr)
expect(set(values(lines_of(result.stdout), "peers", "solve_seconds")) == {"cube8_sinew"}, "our own is measured")

# interrupted: ends with 130 and keeps what it has
process = subprocess.Popen([SINEW, "bench", "machine", "convergence", "-o", "out/cut", "--json"], cwd=FOLDER,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
process.stdout.readline()
process.send_signal(signal.SIGINT)
process.communicate(timeout=120)
expect(process.returncode == 130, f"exit code {process.returncode} after Ctrl-C")
expect((FOLDER / "out/cut/figures.jsonl").read_text().count("\n") > 0, "figures before Ctrl-C are kept")
print("ok")
