// What can be shown as colour: its name, unit and map, and its values on skin and cells at a frame.
import {NO_VALUE} from "./shaders.js";
import {NO_MUSCLE} from "./cells.js";

/// `kind`: unit (units.js), or "category". `centre`: the middle of a two-sided map. `field`: kept by
/// the run under this name, a number a cell.
export const COLOURS = {
  none: {text: "Plain skin"},
  displacement: {text: "Displacement from rest", kind: "length", map: "lagoon"},
  skinned: {text: "Distance from skinned", kind: "length", map: "lagoon"},
  strain: {text: "Strain", kind: "ratio", map: "lagoon", field: true},
  stress: {text: "Stress (von Mises)", kind: "pressure", map: "ember", field: true},
  J: {text: "Volume change J", kind: "ratio", map: "balance", centre: 1, field: true},
  pressure: {text: "Pressure", kind: "pressure", map: "balance", centre: 0, field: true},
  activation: {text: "Muscle activation", kind: "ratio", map: "ember", field: true, fixed: [0, 1]},
  penetration: {text: "Penetration", kind: "length", map: "ember"},
  difference: {text: "Difference of the two runs", kind: "length", map: "lagoon"},
  level: {text: "Level of the octree", kind: "category"},
  material: {text: "Material", kind: "category"},
  muscle: {text: "Muscle", kind: "category"},
};

/// Colours that need BODY.fields at each frame.
export function needsRecord(colour) {
  return Boolean(COLOURS[colour].field) || colour === "penetration";
}

/// Colours that need BODY.cells.
export function needsCells(colour) {
  return needsRecord(colour) || COLOURS[colour].kind === "category";
}

/// The colours that a body can show.
export function coloursOf(info, runCount) {
  const has = (name) => info.cells > 0 && info.fields.includes(name);
  return Object.keys(COLOURS).filter((key) => {
    if (key === "none" || key === "displacement") return true;
    if (key === "skinned") return info.skinned;
    if (key === "difference") return runCount > 1;
    if (key === "penetration") return has("contacts");
    if (key === "level") return info.cells > 0;
    if (key === "material") return info.cells > 0 && info.materials.length > 1;
    if (key === "muscle") return info.cells > 0 && info.muscles.length > 0;
    return has(key);
  });
}

const CONTACT_WORDS = 9;

/// A record of BODY.fields: displacements of the nodes, a number a cell for each field, contacts.
export function parseRecord(buffer, cells, fields) {
  const view = new DataView(buffer);
  const record = {
    frame: view.getInt32(0, true),
    displacements: new Float32Array(buffer, 8, 3 * cells.N)
  };
  let offset = 8 + 12 * cells.N;
  for (const name of fields) {
    if (name === "contacts") continue;
    record[name] = new Float32Array(buffer, offset, cells.C);
    offset += 4 * cells.C;
  }
  const count = view.getUint32(4, true);
  record.contactCount = count;
  record.contacts = new Float32Array(buffer, offset, CONTACT_WORDS * count);
  record.contactCells = new Uint32Array(buffer, offset, CONTACT_WORDS * count);
  return record;
}

/// Deepest contact of each cell, metres; nothing where there is none.
function penetrationOfCells(cells, record, unit, out) {
  out.fill(0);
  for (let i = 0; i < record.contactCount; i += 1) {
    const cell = record.contactCells[CONTACT_WORDS * i + 8];
    const depth = record.contacts[CONTACT_WORDS * i + 6] * unit;
    if (cell < cells.C && depth > out[cell]) out[cell] = depth;
  }
}

/// Lengths of the displacements of cells, metres: those of their corners' mean.
function displacementOfCells(cells, points, unit, out) {
  for (let c = 0; c < cells.C; c += 1) {
    let x = 0, y = 0, z = 0;
    for (let k = 0; k < 8; k += 1) {
      const p = 3 * cells.corners[8 * c + k];
      x += points[p] - cells.restPoints[p];
      y += points[p + 1] - cells.restPoints[p + 1];
      z += points[p + 2] - cells.restPoints[p + 2];
    }
    out[c] = (unit * Math.hypot(x, y, z)) / 8;
  }
}

/// Writes the values of all cells in SI units; false if this colour says nothing about cells.
export function valuesOfCells(colour, {cells, points, record, unit}, out) {
  if (colour === "level")
    out.set(cells.level);
  else if (colour === "material")
    out.set(cells.materialOf);
  else if (colour === "muscle") {
    for (let c = 0; c < cells.C; c += 1) {
      out[c] = cells.muscleOf[c] === NO_MUSCLE ? 63 : Math.min(cells.muscleOf[c], 62);
    }
  } else if (colour === "displacement" && points)
    displacementOfCells(cells, points, unit, out);
  else if (colour === "penetration" && record)
    penetrationOfCells(cells, record, unit, out);
  else if (record?.[colour])
    out.set(record[colour]);
  else
    return false;
  return true;
}

/// Distances between two sets of positions, metres.
export function distances(a, b, unit, out) {
  for (let v = 0; v < out.length; v += 1) {
    const x = a[3 * v] - b[3 * v], y = a[3 * v + 1] - b[3 * v + 1], z = a[3 * v + 2] - b[3 * v + 2];
    out[v] = unit * Math.sqrt(x * x + y * y + z * z);
  }
}

/// Takes the values of cells to the vertices that they carry.
export function cellsToSkin(cells, values, out) {
  for (let v = 0; v < out.length; v += 1) {
    const c = cells.carrier[v];
    out[v] = c < cells.C ? values[c] : NO_VALUE;
  }
}

/// Least and most of the values that are known, or null.
export function extent(values) {
  let least = Infinity;
  let most = -Infinity;
  for (let i = 0; i < values.length; i += 1) {
    const v = values[i];
    if (v >= NO_VALUE || v !== v) continue;
    if (v < least) least = v;
    if (v > most) most = v;
  }
  return least <= most ? [least, most] : null;
}

/// A range as a map wants it: never empty, and the same to both sides of a centre.
export function settledRange(colour, range) {
  const {centre, fixed} = COLOURS[colour];
  if (fixed) return fixed;
  let [least, most] = range ?? [0, 1];
  if (centre !== undefined) {
    const reach = Math.max(Math.abs(least - centre), Math.abs(most - centre), 1e-6);
    return [centre - reach, centre + reach];
  }
  if (COLOURS[colour].kind === "length" || colour === "strain" || colour === "stress") least = 0;
  if (!(most > least)) most = least + 1e-6;
  return [least, most];
}
