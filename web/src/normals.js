// Smooth normals of a surface that moves, cheap enough for every frame: sums of the triangles'
// area vectors, unnormalised, since the shader normalises anyway.

/// For each vertex the first one at the same place, or null if none share a place. Files double
/// vertices along texture seams; without this the seam would show as a crease.
export function weld(rest) {
  const count = rest.length / 3;
  let size = 1;
  while (size < 2 * count) size *= 2;
  const table = new Int32Array(size).fill(-1);
  const bits = new Int32Array(rest.buffer, rest.byteOffset, rest.length);
  const first = new Uint32Array(count);
  let shared = 0;
  for (let v = 0; v < count; v += 1) {
    const a = bits[3 * v];
    const b = bits[3 * v + 1];
    const c = bits[3 * v + 2];
    let slot = (Math.imul(a, 73856093) ^ Math.imul(b, 19349663) ^ Math.imul(c, 83492791)) >>> 0;
    slot = (slot ^ (slot >>> 15)) & (size - 1);
    while (table[slot] >= 0) {
      const w = table[slot];
      if (bits[3 * w] === a && bits[3 * w + 1] === b && bits[3 * w + 2] === c) break;
      slot = (slot + 1) & (size - 1);
    }
    if (table[slot] < 0)
      table[slot] = v;
    else
      shared += 1;
    first[v] = table[slot];
  }
  return shared > 0 ? first : null;
}

/// Writes the normals of all vertices. `first` is of `weld`.
export function computeNormals(positions, triangles, first, normals) {
  normals.fill(0);
  for (let i = 0; i < triangles.length; i += 3) {
    const a = 3 * (first ? first[triangles[i]] : triangles[i]);
    const b = 3 * (first ? first[triangles[i + 1]] : triangles[i + 1]);
    const c = 3 * (first ? first[triangles[i + 2]] : triangles[i + 2]);
    const ax = positions[a], ay = positions[a + 1], az = positions[a + 2];
    const ux = positions[b] - ax, uy = positions[b + 1] - ay, uz = positions[b + 2] - az;
    const vx = positions[c] - ax, vy = positions[c + 1] - ay, vz = positions[c + 2] - az;
    const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
    normals[a] += nx;
    normals[a + 1] += ny;
    normals[a + 2] += nz;
    normals[b] += nx;
    normals[b + 1] += ny;
    normals[b + 2] += nz;
    normals[c] += nx;
    normals[c + 1] += ny;
    normals[c + 2] += nz;
  }
  if (!first) return;
  for (let v = 0; v < first.length; v += 1) {
    const w = 3 * first[v];
    normals[3 * v] = normals[w];
    normals[3 * v + 1] = normals[w + 1];
    normals[3 * v + 2] = normals[w + 2];
  }
}

/// Each edge of the triangles once, two vertices each.
export function uniqueEdges(triangles, vertexCount) {
  const keys = new Float64Array(triangles.length);
  for (let i = 0; i < triangles.length; i += 3) {
    for (let k = 0; k < 3; k += 1) {
      const a = triangles[i + k];
      const b = triangles[i + ((k + 1) % 3)];
      keys[i + k] = Math.min(a, b) * vertexCount + Math.max(a, b);
    }
  }
  keys.sort();
  const edges = new Uint32Array(2 * keys.length);
  let count = 0;
  for (let i = 0; i < keys.length; i += 1) {
    if (i > 0 && keys[i] === keys[i - 1]) continue;
    const a = Math.floor(keys[i] / vertexCount);
    edges[count] = a;
    edges[count + 1] = keys[i] - a * vertexCount;
    count += 2;
  }
  return edges.subarray(0, count);
}
