#!/usr/bin/env python3
"""Names every #include that points upwards in the house. The rules are in tools/layers.txt."""
import os
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


class Rules:
    def __init__(self, path):
        self.below, self.never, self.public, self.outside = {}, {}, {}, []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            words = line.split("#")[0].replace(":", " : ").split()
            if not words:
                continue
            kind, name, others = words[0], words[1], words[3:]
            if kind == "outside":
                self.outside.append(name)
            elif kind in ("layer", "never", "public"):
                table = {"layer": self.below, "never": self.never, "public": self.public}[kind]
                table[name] = others
            else:
                sys.exit(f"{path}:{number}: expected layer, never, public or outside, not {kind}")
        for name, others in [*self.below.items(), *self.never.items(), *self.public.items()]:
            for other in others:
                if other not in self.below:
                    sys.exit(f"{path}: {name} names the layer {other}, which is not defined")
        self.allowed = {name: self.closure(name, ()) for name in self.below}
        for name, others in self.never.items():
            for other in others:
                if other in self.allowed[name]:
                    sys.exit(f"{path}: {name} reaches {other}, which it never may")

    def closure(self, name, path):
        if name in path:
            sys.exit("layers.txt: a circle: " + " -> ".join([*path, name]))
        reached = {name}
        for other in self.below[name]:
            reached |= self.closure(other, (*path, name))
        return reached

    def complaint(self, source, target):
        """Why `source` (a path such as src/math/vec.h) may not include `target`, or None."""
        place = source.parts[0]
        if target.startswith("sinew/"):
            return self.complaint_public(source, target.removeprefix("sinew/"))
        if place == "include":
            return "a public header includes public headers only"
        if place in self.outside:
            if (source.parent / target).is_file():
                return None
            return f"{place}/ may include sinew/*.h and its own files only"
        layer = source.parts[1]
        if "/" not in target:
            return None if (source.parent / target).is_file() else "no such file in this folder"
        other = target.split("/")[0]
        if other not in self.below:
            return f"{other} is not a layer of tools/layers.txt"
        if other in self.allowed[layer]:
            return None
        return f"{layer} may include {' '.join(sorted(self.allowed[layer]))}, not {other}"

    def complaint_public(self, source, header):
        if header not in self.public:
            return f"sinew/{header} is not in tools/layers.txt"
        if source.parts[0] != "src":
            return None
        layer = source.parts[1]
        if any(lowest in self.allowed[layer] for lowest in self.public[header]):
            return None
        return f"sinew/{header} is for {' '.join(self.public[header])} and above, not for {layer}"


def main():
    os.chdir(pathlib.Path(__file__).resolve().parent.parent)
    rules = Rules(pathlib.Path("tools/layers.txt"))
    complaints, count = [], 0
    for folder in ["include", "src", *rules.outside]:
        for source in sorted(pathlib.Path(folder).rglob("*.[ch]")):
            if folder == "src" and (len(source.parts) != 3 or source.parts[1] not in rules.below):
                complaints.append(f"{source}:1: not in a folder of tools/layers.txt")
                continue
            for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                count += 1
                complaint = rules.complaint(source, match[1])
                if complaint:
                    complaints.append(f'{source}:{number}: "{match[1]}": {complaint}')
    for complaint in complaints:
        print(complaint)
    print(f"layers: {count} includes, {len(complaints)} wrong")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
