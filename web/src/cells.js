// The cells of a body: reading BODY.cells, who is beside whom in the octree, which faces show once
// a plane has cut some away, and where the corners are at a frame.

const MAGIC = "SINEWCL\0";
const HEADER = 96;
export const NO_MUSCLE = 4294967295;

/// Reads the file; arrays are views of `buffer`. Throws if it is not one of ours or too short.
export function parseCells(buffer) {
  const view = new DataView(buffer);
  const magic = String.fromCharCode(...new Uint8Array(buffer, 0, 8));
  if (magic !== MAGIC || view.getUint32(8, true) !== 1)
    throw new Error("not a cells file of version 1");
  const [C, N, H, V, materials, muscles, nameBytes] =
    Array.from({length: 7}, (_, i) => view.getUint32(64 + 4 * i, true));
  let offset = HEADER;
  const take = (Type, count) => {
    const array = new Type(buffer, offset, count);
    offset += array.byteLength;
    return array;
  };
  const cells = {
    C,
    N,
    H,
    V,
    origin: [0, 1, 2].map((k) => view.getFloat64(32 + 8 * k, true)),
    edge: view.getFloat64(56, true),
    corners: take(Uint32Array, 8 * C),
    hanging: take(Uint32Array, 4 * H),
    mu: take(Float32Array, C),
    lambda: take(Float32Array, C),
    fill: take(Float32Array, C),
    muscleOf: take(Uint32Array, C),
  };
  readCarriers(cells, take(Uint32Array, 4 * V));
  readPlaces(cells, take(Uint8Array, 8 * C));
  cells.nodeGrid = take(Uint16Array, 3 * N);
  cells.materialOf = take(Uint8Array, C);
  const names = new TextDecoder().decode(take(Uint8Array, nameBytes)).split("\0");
  cells.materials = names.slice(0, materials);
  cells.muscles = names.slice(materials, materials + muscles);
  cells.restPoints = new Float32Array(3 * (N + H));
  pointsAt(cells, null, cells.restPoints);
  return cells;
}

/// Of each vertex of the skin the cell that carries it.
function readCarriers(cells, words) {
  cells.carrier = new Uint32Array(cells.V);
  for (let v = 0; v < cells.V; v += 1) cells.carrier[v] = words[4 * v];
}

function readPlaces(cells, bytes) {
  cells.low = new Uint16Array(3 * cells.C);
  cells.level = new Uint8Array(cells.C);
  for (let c = 0; c < cells.C; c += 1) {
    for (let k = 0; k < 3; k += 1) {
      cells.low[3 * c + k] = bytes[8 * c + 2 * k] + 256 * bytes[8 * c + 2 * k + 1];
    }
    cells.level[c] = bytes[8 * c + 6];
  }
  cells.levels = 1 + cells.level.reduce((most, level) => Math.max(most, level), 0);
}

/// Positions of all points: nodes, displaced if displacements are given, then hanging corners, each
/// the mean of its four nodes.
export function pointsAt(cells, displacements, out) {
  const {N, H, origin, edge, nodeGrid, hanging} = cells;
  for (let i = 0; i < 3 * N; i += 1) {
    out[i] = origin[i % 3] + edge * nodeGrid[i] + (displacements ? displacements[i] : 0);
  }
  for (let h = 0; h < H; h += 1) {
    const a = 3 * hanging[4 * h], b = 3 * hanging[4 * h + 1];
    const c = 3 * hanging[4 * h + 2], d = 3 * hanging[4 * h + 3];
    const o = 3 * (N + h);
    for (let k = 0; k < 3; k += 1)
      out[o + k] = (out[a + k] + out[b + k] + out[c + k] + out[d + k]) / 4;
  }
  return out;
}

/// Cells by their lowest corner: a hash table with open addressing.
export class CellIndex {
  constructor(cells) {
    this.cells = cells;
    let size = 16;
    while (size < 2 * cells.C) size *= 2;
    this.mask = size - 1;
    this.slots = new Int32Array(size).fill(-1);
    for (let c = 0; c < cells.C; c += 1) {
      let slot = this.#slot(cells.low[3 * c], cells.low[3 * c + 1], cells.low[3 * c + 2]);
      while (this.slots[slot] >= 0) slot = (slot + 1) & this.mask;
      this.slots[slot] = c;
    }
  }

  #slot(x, y, z) {
    const h = Math.imul(x, 73856093) ^ Math.imul(y, 19349663) ^ Math.imul(z, 83492791);
    return (h ^ (h >>> 13)) & this.mask;
  }

  /// The cell whose lowest corner is there, or -1.
  at(x, y, z) {
    const {low} = this.cells;
    for (let slot = this.#slot(x, y, z); this.slots[slot] >= 0; slot = (slot + 1) & this.mask) {
      const c = this.slots[slot];
      if (low[3 * c] === x && low[3 * c + 1] === y && low[3 * c + 2] === z) return c;
    }
    return -1;
  }

  /// The cell of that level which holds the finest cell (x, y, z), or -1.
  holding(x, y, z, level) {
    const size = 1 << level;
    const c = this.at(x - (x % size), y - (y % size), z - (z % size));
    return c >= 0 && this.cells.level[c] === level ? c : -1;
  }

  /// The cell that holds a place at rest, or the nearest one within two finest cells, or -1.
  locate(place) {
    const {origin, edge, levels} = this.cells;
    const grid = place.map((v, k) => Math.floor((v - origin[k]) / edge));
    for (const [dx, dy, dz] of NEARBY) {
      const x = grid[0] + dx, y = grid[1] + dy, z = grid[2] + dz;
      if (x < 0 || y < 0 || z < 0) continue;
      for (let level = 0; level < levels; level += 1) {
        const c = this.holding(x, y, z, level);
        if (c >= 0) return c;
      }
    }
    return -1;
  }
}

/// Offsets up to two finest cells away, nearest first.
const NEARBY = [];
for (let i = 0; i < 125; i += 1) {
  NEARBY.push([(i % 5) - 2, (Math.floor(i / 5) % 5) - 2, Math.floor(i / 25) - 2]);
}
NEARBY.sort((a, b) => Math.hypot(...a) - Math.hypot(...b));

/// Corners of each face, around it: -x, +x, -y, +y, -z, +z. Bit 1 of a corner is x, 2 y, 4 z.
const FACES = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

/// Of each cell and face the cells on the other side: one of the same size or larger in the first
/// of four places, or up to four smaller ones; -1 where there is none.
export function neighbours(cells, index) {
  const out = new Int32Array(24 * cells.C).fill(-1);
  const p = [0, 0, 0];
  for (let c = 0; c < cells.C; c += 1) {
    const level = cells.level[c];
    const size = 1 << level;
    for (let face = 0; face < 6; face += 1) {
      const axis = face >> 1;
      for (let k = 0; k < 3; k += 1) p[k] = cells.low[3 * c + k];
      p[axis] += face & 1 ? size : -1;
      if (p[axis] < 0) continue;
      const o = 24 * c + 4 * face;
      const same = index.holding(p[0], p[1], p[2], level);
      out[o] = same >= 0 ? same : index.holding(p[0], p[1], p[2], level + 1);
      if (out[o] >= 0 || level === 0) continue;
      // Four of half the size, by the other two axes.
      for (let q = 0; q < 4; q += 1) {
        const at = [...p];
        at[(axis + 1) % 3] += q & 1 ? size / 2 : 0;
        at[(axis + 2) % 3] += q & 2 ? size / 2 : 0;
        out[o + q] = index.holding(at[0], at[1], at[2], level - 1);
      }
    }
  }
  return out;
}

/// True if what lies behind the face covers all of it.
function covered(cells, beside, shown, c, face) {
  const o = 24 * c + 4 * face;
  const first = beside[o];
  if (first >= 0 && cells.level[first] >= cells.level[c]) return shown[first] === 1;
  for (let q = 0; q < 4; q += 1) {
    if (beside[o + q] < 0 || shown[beside[o + q]] === 0) return false;
  }
  return true;
}

/// Which cells show: 1 on this side of the plane and of a level that is wanted, else 0. A cell is
/// on the side of its middle.
export function shownCells(cells, cut, levelShown, out) {
  const {C, low, level} = cells;
  for (let c = 0; c < C; c += 1) {
    let here = levelShown[level[c]] === false ? 0 : 1;
    if (here && cut) {
      const middle = low[3 * c + cut.axis] + (1 << level[c]) / 2;
      const place = cells.origin[cut.axis] + cells.edge * middle;
      if ((place - cut.at) * cut.side > 0) here = 0;
    }
    out[c] = here;
  }
  return out;
}

/// The faces that show: of each its cell and its four points. Faces between two cells that show
/// are hidden and left out.
export function wholeCellQuads(cells, beside, shown) {
  const quads = new QuadList(cells.C);
  for (let c = 0; c < cells.C; c += 1) {
    if (shown[c] === 0) continue;
    for (let face = 0; face < 6; face += 1) {
      if (covered(cells, beside, shown, c, face)) continue;
      quads.add(c, 0, FACES[face], FACES[face], cells.corners);
    }
  }
  return quads.finish();
}

/// Where the plane goes through the cells at rest: a rectangle in each, whose corners run with the
/// edges that they lie on.
export function sectionQuads(cells, cut, levelShown) {
  const quads = new QuadList(cells.C);
  const low = FACES[2 * cut.axis];
  // The opposite corner of each along the axis, in the same order around.
  const high = low.map((corner) => corner | (1 << cut.axis));
  for (let c = 0; c < cells.C; c += 1) {
    if (levelShown[cells.level[c]] === false) continue;
    const size = cells.edge * (1 << cells.level[c]);
    const t = (cut.at - cells.origin[cut.axis] - cells.edge * cells.low[3 * c + cut.axis]) / size;
    if (t < 0 || t >= 1) continue;
    quads.add(c, t, low, high, cells.corners);
  }
  return quads.finish();
}

/// Grows arrays of quads: corner i lies between the points from[i] and to[i], at share t.
class QuadList {
  constructor(room) {
    this.count = 0;
    this.#grow(Math.max(64, room));
  }

  #grow(room) {
    const copy = (Type, old, count) => {
      const array = new Type(count);
      if (old) array.set(old);
      return array;
    };
    this.cell = copy(Uint32Array, this.cell, room);
    this.t = copy(Float32Array, this.t, room);
    this.from = copy(Uint32Array, this.from, 4 * room);
    this.to = copy(Uint32Array, this.to, 4 * room);
  }

  add(cell, t, from, to, corners) {
    if (this.count === this.cell.length) this.#grow(2 * this.count);
    const q = this.count;
    this.cell[q] = cell;
    this.t[q] = t;
    for (let k = 0; k < 4; k += 1) {
      this.from[4 * q + k] = corners[8 * cell + from[k]];
      this.to[4 * q + k] = corners[8 * cell + to[k]];
    }
    this.count += 1;
  }

  finish() {
    const n = this.count;
    return {
      count: n,
      cell: this.cell.subarray(0, n),
      t: this.t.subarray(0, n),
      from: this.from.subarray(0, 4 * n),
      to: this.to.subarray(0, 4 * n)
    };
  }
}

/// Positions of the corners of quads, three numbers each.
export function placeQuads(quads, points, out) {
  for (let i = 0; i < 4 * quads.count; i += 1) {
    const t = quads.t[i >> 2];
    const a = 3 * quads.from[i];
    const b = 3 * quads.to[i];
    out[3 * i] = points[a] + t * (points[b] - points[a]);
    out[3 * i + 1] = points[a + 1] + t * (points[b + 1] - points[a + 1]);
    out[3 * i + 2] = points[a + 2] + t * (points[b + 2] - points[a + 2]);
  }
}

/// Weights to carry any points that lie in the body at rest, such as those of a muscle's mesh.
/// Points that no cell is near keep their place at rest.
export function embed(cells, index, rest) {
  const count = rest.length / 3;
  const cellOf = new Int32Array(count);
  const place = new Float32Array(3 * count);
  for (let i = 0; i < count; i += 1) {
    const p = [rest[3 * i], rest[3 * i + 1], rest[3 * i + 2]];
    const c = index.locate(p);
    cellOf[i] = c;
    if (c < 0) continue;
    const size = cells.edge * (1 << cells.level[c]);
    for (let k = 0; k < 3; k += 1) {
      place[3 * i + k] = (p[k] - cells.origin[k] - cells.edge * cells.low[3 * c + k]) / size;
    }
  }
  return {cellOf, place, rest};
}

/// Where embedded points are, by trilinear interpolation of the corners of their cells.
export function carry(cells, embedding, points, out) {
  const {cellOf, place, rest} = embedding;
  for (let i = 0; i < cellOf.length; i += 1) {
    const c = cellOf[i];
    for (let k = 0; k < 3; k += 1) out[3 * i + k] = c < 0 ? rest[3 * i + k] : 0;
    if (c < 0) continue;
    const x = place[3 * i], y = place[3 * i + 1], z = place[3 * i + 2];
    for (let corner = 0; corner < 8; corner += 1) {
      const w = (corner & 1 ? x : 1 - x) * (corner & 2 ? y : 1 - y) * (corner & 4 ? z : 1 - z);
      const p = 3 * cells.corners[8 * c + corner];
      out[3 * i] += w * points[p];
      out[3 * i + 1] += w * points[p + 1];
      out[3 * i + 2] += w * points[p + 2];
    }
  }
}
