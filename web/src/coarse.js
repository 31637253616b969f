// A coarser choice of triangles over the same vertices, for machines that draw slowly: vertices are
// gathered in the boxes of a grid at rest, and of each box one stands for all. It moves as the fine
// surface does, since it has no vertices of its own.

function surfaceArea(rest, triangles) {
  let area = 0;
  for (let i = 0; i < triangles.length; i += 3) {
    const a = 3 * triangles[i], b = 3 * triangles[i + 1], c = 3 * triangles[i + 2];
    const ux = rest[b] - rest[a], uy = rest[b + 1] - rest[a + 1], uz = rest[b + 2] - rest[a + 2];
    const vx = rest[c] - rest[a], vy = rest[c + 1] - rest[a + 1], vz = rest[c + 2] - rest[a + 2];
    area += Math.hypot(uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx) / 2;
  }
  return area;
}

/// For each vertex the first one in its box of edge `size`.
function representatives(rest, size) {
  const count = rest.length / 3;
  const boxes = new Map();
  const out = new Uint32Array(count);
  for (let v = 0; v < count; v += 1) {
    const [x, y, z] = [0, 1, 2].map((k) => Math.floor(rest[3 * v + k] / size) & 0x1ffff);
    const key = x + y * 0x20000 + z * 0x400000000;
    if (!boxes.has(key)) boxes.set(key, v);
    out[v] = boxes.get(key);
  }
  return out;
}

/// Triangles between about `wanted` of the vertices, three each.
export function coarseTriangles(rest, triangles, wanted) {
  const size = Math.sqrt(surfaceArea(rest, triangles) / wanted);
  if (!(size > 0)) return triangles;
  const of = representatives(rest, size);
  const out = new Uint32Array(triangles.length);
  let count = 0;
  for (let i = 0; i < triangles.length; i += 3) {
    const a = of[triangles[i]], b = of[triangles[i + 1]], c = of[triangles[i + 2]];
    if (a === b || b === c || c === a) continue;
    out[count] = a;
    out[count + 1] = b;
    out[count + 2] = c;
    count += 3;
  }
  return out.slice(0, count);
}
