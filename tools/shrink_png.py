#!/usr/bin/env python3
"""shrink_png.py IN.png OUT.png: halves a picture in width and height and, if it is still too large for the tree,
reduces it to 256 colours. Reads what `sinew render` writes: 8-bit RGB, not interlaced.
"""
import collections
import struct
import sys
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
COLOURS = 256
MOST_BYTES = 150000


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
    return [[tuple((a[6 * x + c] + a[6 * x + 3 + c] + b[6 * x + c] + b[6 * x + 3 + c] + 2) // 4 for c in range(3))
             for x in range(len(a) // 6)] for a, b in zip(rows[::2], rows[1::2])]


def spread(box):
    """The widest channel of a box of (colour, count), and how much splitting there would gain."""
    best = (-1, 0)
    weight = sum(count for _, count in box)
    for c in range(3):
        values = [colour[c] for colour, _ in box]
        best = max(best, ((max(values) - min(values)) ** 2 * weight ** 0.5, c))
    return best


def choose_palette(rows):
    """Median cut: the box that gains most is split in halves of equal weight, until there are enough."""
    boxes = [list(collections.Counter(pixel for row in rows for pixel in row).items())]
    gains = [spread(boxes[0])]
    while len(boxes) < COLOURS:
        k = max(range(len(boxes)), key=lambda i: gains[i])
        gain, channel = gains[k]
        if gain <= 0:
            break
        box = sorted(boxes[k], key=lambda entry: entry[0][channel])
        half, total, at = sum(count for _, count in box) / 2, 0, 0
        while at < len(box) - 1 and (at == 0 or total < half):
            total += box[at][1]
            at += 1
        boxes[k:k + 1], gains[k:k + 1] = [box[:at], box[at:]], [spread(box[:at]), spread(box[at:])]
    palette, index = [], {}
    for box in boxes:
        weight = sum(count for _, count in box)
        for colour, _ in box:
            index[colour] = len(palette)
        palette.append([round(sum(colour[c] * count for colour, count in box) / weight) for c in range(3)])
    return palette, index


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def pack_whole(rows):
    """With all colours."""
    raw, above = bytearray(), [0] * (3 * len(rows[0]))
    for pixels in rows:
        row = [value for pixel in pixels for value in pixel]
        # Of three filters the one that leaves the smallest numbers.
        tries = {kind: [(row[i] - predict(kind, row, above, i)) & 255 for i in range(len(row))] for kind in (0, 1, 4)}
        best = min(tries, key=lambda kind: sum(min(n, 256 - n) for n in tries[kind]))
        raw += bytes([best] + tries[best])
        above = row
    return 2, b"", zlib.compress(bytes(raw), 9)


def pack_palette(rows):
    palette, index = choose_palette(rows)
    raw = b"".join(b"\0" + bytes(index[pixel] for pixel in row) for row in rows)
    return 3, chunk(b"PLTE", bytes(sum(palette, []))), zlib.compress(raw, 9)


def write(path, rows):
    kind, palette, data = pack_whole(rows)
    if len(data) > MOST_BYTES:
        kind, palette, data = pack_palette(rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, kind, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(SIGNATURE + chunk(b"IHDR", header) + chunk(b"sRGB", b"\0") + palette + chunk(b"IDAT", data) +
                   chunk(b"IEND", b""))


write(sys.argv[2], halve(read(sys.argv[1])))
