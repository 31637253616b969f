// Colour maps that are even to the eye: each is a path through OKLab [Ottosson 2020], a space in
// which equal distances look equally different, walked at constant speed. So a step of the value
// looks the same everywhere on the legend, and none invents borders that are not in the data.

const SIZE = 256;

function oklabOf([lightness, chroma, hueDeg]) {
  const hue = (hueDeg * Math.PI) / 180;
  return [lightness, chroma * Math.cos(hue), chroma * Math.sin(hue)];
}

function linearOf([L, a, b]) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

/// Towards grey until the screen can show it; lightness, which the eye follows, stays.
function shown(lab) {
  let [L, a, b] = lab;
  for (let i = 0; i < 60; i += 1) {
    if (linearOf([L, a, b]).every((c) => c >= -1e-4 && c <= 1.0001)) break;
    a *= 0.97;
    b *= 0.97;
  }
  return [L, a, b];
}

function byteOf(linear) {
  const c = Math.min(Math.max(linear, 0), 1);
  return Math.round(255 * (c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055));
}

/// The path through stops (lightness, chroma, hue), cut into `count` steps of equal length.
/// `straight`: from stop to stop without going around the hues.
function pathThrough(stops, straight, count) {
  const fine = 2048;
  const ends = straight ? stops.map(oklabOf) : stops;
  const at = (t) => {
    const x = t * (stops.length - 1);
    const i = Math.min(Math.floor(x), stops.length - 2);
    const between = ends[i].map((value, k) => value + (ends[i + 1][k] - value) * (x - i));
    return shown(straight ? between : oklabOf(between));
  };
  const points = Array.from({length: fine + 1}, (_, i) => at(i / fine));
  const length = [0];
  for (let i = 1; i <= fine; i += 1) {
    length.push(length[i - 1] + Math.hypot(...points[i].map((v, k) => v - points[i - 1][k])));
  }
  let j = 0;
  return Array.from({length: count}, (_, i) => {
    const wanted = (length[fine] * i) / (count - 1);
    while (j < fine && length[j + 1] < wanted) j += 1;
    return points[j];
  });
}

/// The colours of a map. The two halves of a two-sided one are walked each by itself, from the grey
/// middle outwards, so that the middle is the middle.
function mapThrough(stops, twoSided) {
  const half = (stops.length + 1) / 2;
  const labs = twoSided ?
    [
      ...pathThrough(stops.slice(0, half), true, SIZE / 2),
      ...pathThrough(stops.slice(half - 1), true, SIZE / 2)
    ] :
    pathThrough(stops, false, SIZE);
  const bytes = new Uint8Array(SIZE * 4).fill(255);
  labs.forEach((lab, i) => linearOf(lab).forEach((c, k) => {
    bytes[4 * i + k] = byteOf(c);
  }));
  return bytes;
}

/// Name, text, stops (lightness, chroma, hue in degrees) of each map, and whether it is two-sided.
const MAPS = {
  lagoon: [
    "Lagoon",
    [[0.4, 0.15, 285], [0.54, 0.12, 245], [0.69, 0.12, 180], [0.82, 0.15, 140], [0.96, 0.16, 105]]
  ],
  ember: [
    "Ember",
    [[0.36, 0.12, 300], [0.49, 0.18, 345], [0.64, 0.19, 390], [0.79, 0.16, 425], [0.96, 0.12, 465]]
  ],
  grey: ["Grey", [[0.38, 0, 0], [0.98, 0, 0]]],
  balance: [
    "Balance (two-sided)",
    [[0.42, 0.16, 262], [0.68, 0.12, 250], [0.94, 0.005, 250], [0.68, 0.15, 40], [0.42, 0.15, 25]],
    true
  ],
};

const made = new Map();

/// The 256 colours of a map, four bytes each.
export function colourBytes(name) {
  if (!made.has(name)) made.set(name, mapThrough(MAPS[name][1], MAPS[name][2]));
  return made.get(name);
}

export function colourMaps() {
  return Object.entries(MAPS).map(([key, [text]]) => [key, text]);
}

/// Distinct colours for levels, materials, muscles, bones: equal lightness and chroma apart from a
/// slow walk in lightness, hues as far apart as the golden angle puts them.
export function categoryColour(index) {
  const lightness = [0.78, 0.68, 0.84][index % 3];
  return linearOf(shown(oklabOf([lightness, 0.11, 215 + 137.5 * index])));
}

/// The levels of the octree: from fine and light to coarse and deep, one after the other.
export function levelColour(level) {
  const stops = [
    [0.86, 0.09, 95], [0.78, 0.12, 150], [0.68, 0.11, 205], [0.58, 0.13, 255], [0.5, 0.15, 295],
    [0.45, 0.14, 340]
  ];
  return linearOf(shown(oklabOf(stops[Math.min(level, stops.length - 1)])));
}

/// A colour as CSS writes it.
export function cssOf(linear) {
  return `rgb(${linear.map(byteOf).join(" ")})`;
}

/// The colour of a map at 0 to 1, as CSS writes it.
export function cssAt(name, t) {
  const bytes = colourBytes(name);
  const i = 4 * Math.round(Math.min(Math.max(t, 0), 1) * (SIZE - 1));
  return `rgb(${bytes[i]} ${bytes[i + 1]} ${bytes[i + 2]})`;
}
