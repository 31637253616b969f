#!/usr/bin/env python3
"""House rules that a compiler does not know, over the C files of the tree.

Fails on: unfinished-work marks; functions that are banned, or banned where they stand; libm's
transcendental functions where results must not depend on the machine's libm; public declarations
without a comment. Prints the longest functions as a mirror, not as a limit.
"""
import os
import pathlib
import re
import statistics
import sys

FOLDERS = ["include", "src", "cli", "samples", "peers", "tests", "fuzz"]

# Split so that this file does not find itself.
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MARKED_FILES = [".c", ".h", ".py", ".sh", ".md", ".txt", ".cmake", ".in", ".json", ".js"]

TRANSCENDENTAL = """sin cos tan sincos asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2
exp10 expm1 log log2 log10 log1p pow cbrt hypot erf erfc tgamma lgamma""".split()


def calls(names):
    """Matches a call of one of these functions, but not of a member or of a longer name."""
    return re.compile(r"(?<![\w.>])(" + "|".join(names) + r")\s*\(")


# (pattern, files that are held to it, files that are let off, what to do instead)
RULES = [
    (calls("strcpy stpcpy strcat strncpy strncat sprintf vsprintf gets".split()),
     "", [], "use snprintf, or memcpy with a checked length"),
    (calls("strtok asctime ctime gmtime localtime strerror_l".split()),
     "", [], "keeps hidden state: use the _r form"),
    (calls("atoi atol atoll atof".split()), "", [], "cannot tell an error: use strtol or strtod"),
    (calls("rand srand random srandom drand48 rand_r".split()),
     "", [], "differs between machines: use the fixed-seed generator of src/math"),
    (calls("system popen tmpnam tempnam mktemp alloca".split()), "", [], "unsafe"),
    (calls("malloc calloc realloc aligned_alloc posix_memalign free strdup strndup".split()),
     "src/", ["src/base/memory.c"], "the library's memory goes through base/memory.h"),
    (calls("printf puts putchar vprintf exit _Exit quick_exit".split()),
     "src/", [], "the library neither prints nor exits: use sn_log or a status"),
    (calls(["abort"]), "src/", ["src/base/status.c"], "use SN_ASSERT"),
    (calls([name + suffix for name in TRANSCENDENTAL for suffix in ("", "f", "l")]),
     "src/", ["src/render/", "src/math/elementary.c"],
     "libm differs between machines: use math/elementary.h"),
    (re.compile(r"(?<!\w)(_mm\d*_\w+|__m\d+\w*|__builtin_ia32_\w+|immintrin\.h|arm_neon\.h)"),
     "src/", ["src/math/simd", "src/base/parallel.c"], "intrinsics live in math/simd.h"),
    (re.compile(r"(?<!\w)(stdatomic\.h|atomic_\w+|_Atomic|__atomic_\w+|__sync_\w+|pthread_\w+)"),
     "src/", ["src/base/"], "threads and atomics live in src/base"),
]

COMMENT_OR_TEXT = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)


def bare_code(text):
    """The code with comments and texts blanked out, line numbers kept. Includes are kept."""
    def blank(match):
        kept = match[0]
        line_start = text.rfind("\n", 0, match.start()) + 1
        if kept[0] == '"' and text[line_start:match.start()].lstrip().startswith("#include"):
            return kept
        return re.sub(r"[^\n]", " ", kept)
    return COMMENT_OR_TEXT.sub(blank, text)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def check_rules(path, code):
    for pattern, scope, let_off, advice in RULES:
        if not path.startswith(scope) or any(path.startswith(prefix) for prefix in let_off):
            continue
        for match in pattern.finditer(code):
            yield f"{path}:{line_of(code, match.start())}: {match[1]}: {advice}"


def check_marks():
    for folder, folders, files in os.walk("."):
        folders[:] = [f for f in folders
                      if f not in (".git", "out", "node_modules") and not f.startswith("build")]
        for name in files:
            path = pathlib.Path(folder, name)
            if path.suffix not in MARKED_FILES and name != "Makefile":
                continue
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                match = MARKS.search(line)
                if match:
                    yield f"{path}:{number}: {match[0]}: open an issue instead of leaving a mark"


def public_declarations(code):
    """(first line, text) of each declaration at file level of a header, from 0."""
    depth, first, words = 0, None, []
    in_directive = False
    for number, line in enumerate(code.splitlines()):
        if in_directive or line.lstrip().startswith("#"):
            in_directive = line.endswith("\\")
            continue
        text = line.strip()
        if re.match(r'extern\b.*\{$', text) or (depth == 0 and text == "}"):
            continue
        if not text:
            continue
        if first is None:
            first = number
        words.append(text)
        depth += text.count("{") - text.count("}")
        if depth == 0 and text.endswith(";"):
            yield first, " ".join(words)
            first, words = None, []


def check_comments(path, text):
    lines = text.splitlines()
    code = bare_code(text)
    for first, declaration in public_declarations(code):
        above = lines[first - 1].strip() if first else ""
        if above.startswith("///") or "///<" in lines[first]:
            continue
        name = re.search(r"(\w+)\s*\(", declaration) or re.search(r"(\w+)\s*;$", declaration)
        yield f"{path}:{first + 1}: {name[1] if name else declaration}: no /// comment above it"


def functions(path, code):
    """(length, path, line, name) of each function; relies on the tree being formatted."""
    lines = code.splitlines()
    start = None
    for number, line in enumerate(lines):
        if re.match(r"[A-Za-z_].*[^;]$", line) and start is None and not re.match(
                r"(typedef|struct|enum|union|extern)\b[^(]*$", line):
            start = number
        if start is not None and line.rstrip().endswith(";") and not line.startswith(" ") \
                and "{" not in line:
            start = None
        if start is not None and (line.startswith("}") or re.search(r"\{.*\}\s*$", line)):
            if number == start or line.startswith("}"):
                # The name, which a macro may dress: NAME(...) or DRESS(NAME)(...).
                whole = " ".join(lines[start:number + 1])
                match = re.search(r"\w+\((\w+)\)\s*\(", whole.split("{")[0]) or re.search(
                    r"(\w+)\s*\(", whole)
                if match and not line.startswith("};"):
                    yield number - start + 1, path, start + 1, match[1]
                start = None


def print_mirror(found):
    lengths = [length for length, *_ in found]
    if not lengths:
        return
    short = sum(length < 60 for length in lengths) / len(lengths)
    print(f"functions: {len(lengths)}, median {statistics.median(lengths):.0f} lines, "
          f"{short:.0%} under 60; the longest:")
    for length, path, line, name in sorted(found, reverse=True)[:5]:
        print(f"  {length:4} {name} ({path}:{line})")


def main():
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    complaints, found = list(check_marks()), []
    for folder in FOLDERS:
        for file in sorted(pathlib.Path(folder).rglob("*.[ch]")):
            path, text = str(file), file.read_text(errors="replace")
            code = bare_code(text)
            complaints += check_rules(path, code)
            if folder == "include":
                complaints += check_comments(path, text)
            if folder in ("src", "cli"):
                found += functions(path, code)
    print_mirror(found)
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
