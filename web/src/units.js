// Numbers as people read them: three digits, a unit that keeps them short.

const LENGTHS = [[1, "m"], [1e-2, "cm"], [1e-3, "mm"], [1e-6, "µm"]];
const PRESSURES = [[1e9, "GPa"], [1e6, "MPa"], [1e3, "kPa"], [1, "Pa"]];

/// The largest unit in which `most` is at least 1; `factor` divides SI values.
function pick(units, most) {
  for (const [factor, unit] of units) {
    if (Math.abs(most) >= factor) return {factor, unit};
  }
  const [factor, unit] = units[units.length - 1];
  return {factor, unit};
}

/// How values of a kind are written when `most` is the largest of them.
/// Kinds: "length" (metres), "pressure" (pascal), "ratio" (no unit).
export function unitFor(kind, most) {
  if (kind === "length") {
    // Centimetres only from 10 cm on: small motions are read in millimetres.
    return Math.abs(most) < 0.1 ? pick(LENGTHS.slice(2), most) : pick(LENGTHS.slice(0, 2), most);
  }
  if (kind === "pressure") return pick(PRESSURES, most);
  return {factor: 1, unit: ""};
}

/// A number with `digits` significant digits and no needless zeros.
export function short(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    return value.toExponential(digits - 1)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e")
      .replace("-", "−")
      .replace("e-", "e−");
  }
  const text = value.toPrecision(digits);
  const plain = text.includes("e") ? String(Math.round(value)) : text;
  return (plain.includes(".") ? plain.replace(/\.?0+$/, "") : plain).replace("-", "−");
}

/// Round numbers between two others, about `count` of them.
export function ticks(least, most, count) {
  const span = most - least;
  if (!(span > 0)) return [least];
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((s) => s >= rough * 0.999);
  const out = [];
  for (let i = Math.ceil(least / step - 1e-9); i * step <= most + step * 1e-9; i += 1) {
    out.push(i * step);
  }
  return out;
}

/// Texts of ticks, with as many digits as tell neighbours apart.
export function tickTexts(values) {
  const step = values.length > 1 ? Math.abs(values[1] - values[0]) : 0;
  const most = Math.max(...values.map(Math.abs));
  if (step === 0 || most >= 1e5 || most < 1e-3) return values.map((v) => short(v, 3));
  // A step of 2.5 needs one digit more than its size says.
  const digits = -Math.floor(Math.log10(step) + 1e-9);
  const even = Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) < 1e-6;
  const decimals = Math.min(Math.max(digits + (even ? 0 : 1), 0), 9);
  return values.map(
    (v) => (Math.abs(v) < step * 1e-6 ? "0" : v.toFixed(decimals).replace("-", "−")));
}

/// Seconds as a person says them.
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
