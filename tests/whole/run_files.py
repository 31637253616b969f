"""The files of a run, read by the letter of docs/formats.md and nothing else: what a program of another kind would
make of them. Each check raises Damaged where a file is not whole."""
import json
import struct

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)


class Damaged(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Damaged(what)


def turn(x, r):
    return ((x << r) | (x >> (64 - r))) & MASK


def xxh64(data, seed=0):
    """xxHash, 64 bits, as its specification has it."""
    at, size = 0, len(data)
    if size >= 32:
        lanes = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        for at in range(0, size - 31, 32):
            for i, word in enumerate(struct.unpack_from("<4Q", data, at)):
                lanes[i] = turn((lanes[i] + word * P2) & MASK, 31) * P1 & MASK
        at += 32
        acc = sum(turn(lane, r) for lane, r in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            acc = ((acc ^ (turn(lane * P2 & MASK, 31) * P1 & MASK)) * P1 + P4) & MASK
    else:
        acc = (seed + P5) & MASK
    acc = (acc + size) & MASK
    while size - at >= 8:
        acc ^= turn(struct.unpack_from("<Q", data, at)[0] * P2 & MASK, 31) * P1 & MASK
        acc = (turn(acc, 27) * P1 + P4) & MASK
        at += 8
    if size - at >= 4:
        acc ^= struct.unpack_from("<I", data, at)[0] * P1 & MASK
        acc = (turn(acc, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        acc ^= byte * P5 & MASK
        acc = turn(acc, 11) * P1 & MASK
    acc = (acc ^ acc >> 33) * P2 & MASK
    acc = (acc ^ acc >> 29) * P3 & MASK
    return acc ^ acc >> 32


def check_end(data):
    """A file whose last word is the checksum of all before."""
    expect(len(data) >= 8 and struct.unpack("<Q", data[-8:])[0] == xxh64(data[:-8]), "wrong checksum at the end")


def check_cache(cache, sums):
    """A point cache with its checksums. @return its number of frames"""
    expect(cache[:12] == b"POINTCACHE2\0" and len(cache) >= 32, "no header")
    version, vertices, first, step, count = struct.unpack_from("<iiffi", cache, 12)
    expect(version == 1 and vertices > 0 and step == 1, "wrong header")
    expect(len(cache) >= 32 + 12 * vertices * count, "fewer frames than promised")
    if sums is None:
        return 0  # of an older run, and about to be replaced
    expect(sums[:8] == b"SINEWSM\0" and struct.unpack_from("<Q", sums, 24)[0] == xxh64(sums[:24]), "header of sums")
    expect(struct.unpack_from("<IIi", sums, 8) == (1, vertices, int(first)), "sums of another cache")
    known, before, check = struct.unpack_from("<IIQ", sums, 32)
    expect(check == xxh64(sums[32:40]), "counts of sums")
    expect(count in (known, before), f"{count} frames, the sums know {known} or {before}")
    for frame in range(count):
        at = 32 + 12 * vertices * frame
        expect(struct.unpack_from("<Q", sums, 48 + 8 * frame)[0] == xxh64(cache[at:at + 12 * vertices], frame),
               f"frame {frame}")
    return count


def check_fields(data):
    expect(data[:8] == b"SINEWFD\0" and struct.unpack_from("<Q", data, 32)[0] == xxh64(data[:32]), "header of fields")
    fields, cells, nodes = struct.unpack_from("<III", data, 12)
    count, mirror = struct.unpack_from("<II", data, 40)
    expect(count ^ mirror == 0xFFFFFFFF, "count of fields")
    at = 48
    for _ in range(count):
        contacts = struct.unpack_from("<I", data, at + 4)[0]
        size = 8 + 12 * nodes + 4 * cells * bin(fields & 31).count("1") + 36 * contacts
        expect(struct.unpack_from("<Q", data, at + size)[0] == xxh64(data[at:at + size]), "a record")
        at += size + 8


def check_lines(data):
    """Objects of JSON, a line each. A last line that is not ended does not count."""
    for line in data.split(b"\n")[:-1]:
        expect(isinstance(json.loads(line), dict), "a line")


def check_folder(folder):
    """All files under their final names. @return frames that each cache has, and that of the checkpoint or None"""
    caches, checkpoint = {}, None
    for path in sorted(folder.iterdir()):
        if path.suffix == ".tmp" or path.name == "lock":
            continue
        data = path.read_bytes()
        try:
            if path.suffix == ".pc2":
                sums = path.with_name(path.name + ".sums")
                expect(sums.exists() or not (folder / "checkpoint").exists(), "a cache without checksums")
                caches[path.stem] = check_cache(data, sums.read_bytes() if sums.exists() else None)
            elif path.suffix == ".fields":
                check_fields(data)
            elif path.suffix in (".cells", ".ties") or path.name.startswith("checkpoint"):
                check_end(data)
                if path.name == "checkpoint":
                    checkpoint = struct.unpack_from("<i", data, 12)[0]
            elif path.suffix == ".jsonl":
                check_lines(data)
            elif path.suffix == ".json":
                json.loads(data)
            elif path.suffix == ".obj":
                expect(data.endswith(b"\n"), "cut")
            else:
                expect(path.suffix == ".sums", "a file that no run has")
        except (Damaged, ValueError, struct.error) as problem:
            raise Damaged(f"{path}: {problem}") from problem
    return caches, checkpoint
