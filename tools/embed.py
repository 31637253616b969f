#!/usr/bin/env python3
"""embed.py OUT.c [--missing TEXT] FILE...: the files of the viewer's page as a C file for cli/view/page.h."""
import pathlib
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}


def literal(data):
    """Lines of a C array. Decimal numbers are the shortest, and there are many."""
    return "\n".join("  " + ",".join(str(byte) for byte in data[i:i + 32]) + ","
                     for i in range(0, len(data), 32))


def main(arguments):
    out, missing = pathlib.Path(arguments.pop(0)), ""
    if arguments[:1] == ["--missing"]:
        missing = arguments[1]
        arguments = arguments[2:]
    files = [pathlib.Path(name) for name in arguments]
    lines = ['#include "page.h"', ""]
    for number, path in enumerate(files):
        lines += [f"static const unsigned char FILE_{number}[] = {{", literal(path.read_bytes()) or "  0",
                  "};"]
    lines.append("const page_file PAGE_FILES[] = {")
    for number, path in enumerate(files):
        size = path.stat().st_size
        lines.append(f'    {{"/{path.name}", "{TYPES[path.suffix]}", FILE_{number}, {size}}},')
    lines += ["    {0},", "};", f"const size_t PAGE_FILE_COUNT = {len(files)};",
              'const char* const PAGE_MISSING = "%s";' % missing.replace("\\", "").replace('"', "'")]
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
