#!/usr/bin/env python3
"""shrink_png.py IN.png OUT.png: halves a picture in width and height, so that it is small enough for
the tree. Reads what `sinew render` writes: 8-bit RGB, not interlaced.
"""
import struct
import sys
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def paeth(left, above, corner):
    p = left + above - corner
    a, b, c = abs(p - left), abs(p - above), abs(p - corner)
    return left if a <= b and a <= c else above if b <= c else corner


def predict(kind, row, above, i):
    left = row[i - 3] if i >= 3 else 0
    corner = above[i - 3] if i >= 3 else 0
    return (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind]


def read(path):
    data = open(path, "rb").read()
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", data[16:29])
    if data[:8] != SIGNATURE or (depth, colour, interlace) != (8, 2, 0):
        sys.exit(f"{path}: not an 8-bit RGB picture without interlacing")
    packed, at = b"", 8
    while at < len(data):
        size = struct.unpack(">I", data[at:at + 4])[0]
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    raw, stride, rows = zlib.decompress(packed), 3 * width, []
    above = bytearray(stride)
    for y in range(height):
        kind, *row = raw[y * (stride + 1):(y + 1) * (stride + 1)]
        if kind:
            for i in range(stride):
                row[i] = (row[i] + predict(kind, row, above, i)) & 255
        rows.append(row)
        above = row
    return rows


def halve(rows):
    return [[(a[6 * x + c] + a[6 * x + 3 + c] + b[6 * x + c] + b[6 * x + 3 + c] + 2) // 4
             for x in range(len(a) // 6) for c in range(3)] for a, b in zip(rows[::2], rows[1::2])]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write(path, rows):
    raw, above = bytearray(), [0] * len(rows[0])
    for row in rows:
        # Of the five filters the one that leaves the smallest numbers.
        tries = [[(row[i] - predict(kind, row, above, i)) & 255 for i in range(len(row))]
                 for kind in range(5)]
        best = min(range(5), key=lambda kind: sum(min(n, 256 - n) for n in tries[kind]))
        raw += bytes([best] + tries[best])
        above = row
    header = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(SIGNATURE + chunk(b"IHDR", header) + chunk(b"sRGB", b"\0") +
                   chunk(b"IDAT", zlib.compress(bytes(raw), 9)) + chunk(b"IEND", b""))


write(sys.argv[2], halve(read(sys.argv[1])))
