// What is under the pointer: the nearest triangle of skin that is not cut away, or face of a cell.

/// Distance along the ray to a triangle, or Infinity [Moeller, Trumbore 1997]; both sides count.
function hitTriangle(o, d, p, a, b, c) {
  const ax = p[a], ay = p[a + 1], az = p[a + 2];
  const ux = p[b] - ax, uy = p[b + 1] - ay, uz = p[b + 2] - az;
  const vx = p[c] - ax, vy = p[c + 1] - ay, vz = p[c + 2] - az;
  const px = d.y * vz - d.z * vy, py = d.z * vx - d.x * vz, pz = d.x * vy - d.y * vx;
  const det = ux * px + uy * py + uz * pz;
  if (det === 0) return Infinity;
  const tx = o.x - ax, ty = o.y - ay, tz = o.z - az;
  const u = (tx * px + ty * py + tz * pz) / det;
  if (u < 0 || u > 1) return Infinity;
  const qx = ty * uz - tz * uy, qy = tz * ux - tx * uz, qz = tx * uy - ty * ux;
  const v = (d.x * qx + d.y * qy + d.z * qz) / det;
  if (v < 0 || u + v > 1) return Infinity;
  const t = (vx * qx + vy * qy + vz * qz) / det;
  return t > 0 ? t : Infinity;
}

/// True if the vertex is beyond the plane at rest.
function cutAway(rest, v, cut) {
  return cut !== null && (rest[3 * v + cut.axis] - cut.at) * cut.side > 0;
}

/// The vertex of the skin nearest to where the ray meets it: {t, vertex}, or null.
export function pickSkin(body, ray, cut) {
  const {positions} = body.simulated;
  const {triangles, rest} = body;
  let best = Infinity;
  let found = -1;
  for (let i = 0; i < triangles.length; i += 3) {
    const t = hitTriangle(
      ray.origin, ray.direction, positions, 3 * triangles[i], 3 * triangles[i + 1],
      3 * triangles[i + 2]);
    if (t >= best) continue;
    if (cut && [0, 1, 2].every((k) => cutAway(rest, triangles[i + k], cut))) continue;
    best = t;
    found = i;
  }
  if (found < 0) return null;
  return {t: best, vertex: nearestCorner(positions, triangles, found, ray, best)};
}

function nearestCorner(positions, triangles, i, ray, t) {
  const at = ray.origin.clone().addScaledVector(ray.direction, t);
  let best = Infinity;
  let vertex = triangles[i];
  for (let k = 0; k < 3; k += 1) {
    const v = 3 * triangles[i + k];
    const far = Math.hypot(positions[v] - at.x, positions[v + 1] - at.y, positions[v + 2] - at.z);
    if (far < best) {
      best = far;
      vertex = triangles[i + k];
    }
  }
  return vertex;
}

/// The cell whose face the ray meets first: {t, cell}, or null.
export function pickCell(body, ray) {
  if (!body.quads) return null;
  const positions = body.cellMesh.geometry.attributes.position.array;
  let best = Infinity;
  let cell = -1;
  for (let q = 0; q < body.quads.count; q += 1) {
    const o = 12 * q;
    const t = Math.min(
      hitTriangle(ray.origin, ray.direction, positions, o, o + 3, o + 6),
      hitTriangle(ray.origin, ray.direction, positions, o, o + 6, o + 9));
    if (t < best) {
      best = t;
      cell = body.quads.cell[q];
    }
  }
  return cell < 0 ? null : {t: best, cell};
}
