// viewer_modules.mjs SOURCE RUN: the page's reading of cells and fields, its choice of faces, colour maps,
// numbers and cache, without a browser.
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";

const [source, run] = process.argv.slice(2);
const module = (name) => import(pathToFileURL(join(resolve(source), "web/src", name)));
const {
  CellIndex,
  carry,
  embed,
  neighbours,
  parseCells,
  placeQuads,
  pointsAt,
  sectionQuads,
  shownCells,
  wholeCellQuads
} = await module("cells.js");
const {colourBytes, colourMaps} = await module("colours.js");
const {coarseTriangles} = await module("coarse.js");
const {FrameCache} = await module("data.js");
const {extent, parseRecord, settledRange} = await module("fields.js");
const {computeNormals, uniqueEdges, weld} = await module("normals.js");
const {short, tickTexts, ticks, unitFor} = await module("units.js");

const bufferOf = (name) => {
  const bytes = readFileSync(join(run, name));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
};
const cells = parseCells(bufferOf("pear.cells"));
const index = new CellIndex(cells);
const beside = neighbours(cells, index);
const volumeOf = (c) => (cells.edge * 2 ** cells.level[c]) ** 3;

/// Volume inside quads, by the divergence theorem, each as two triangles; needs them to face outward.
function enclosed(quads) {
  const p = new Float32Array(12 * quads.count);
  placeQuads(quads, cells.restPoints, p);
  let volume = 0;
  for (let q = 0; q < quads.count; q += 1) {
    for (const [b, c] of [[1, 2], [2, 3]]) {
      const [u, v, w] =
        [0, b, c].map((k) => [0, 1, 2].map((a) => p[12 * q + 3 * k + a] - cells.origin[a]));
      volume += (u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) +
                 u[2] * (v[0] * w[1] - v[1] * w[0])) /
        6;
    }
  }
  return volume;
}

const tests = {
  "cells are read: counts, levels, corners where the grid has them"() {
    assert.ok(cells.C > 100 && cells.levels >= 2 && cells.H > 0);
    for (let c = 0; c < cells.C; c += 1) {
      for (let corner = 0; corner < 8; corner += 1) {
        for (let k = 0; k < 3; k += 1) {
          const wanted = cells.origin[k] +
            cells.edge * (cells.low[3 * c + k] + (corner & (1 << k) ? 2 ** cells.level[c] : 0));
          const given = cells.restPoints[3 * cells.corners[8 * c + corner] + k];
          assert.ok(Math.abs(given - wanted) < 1e-6, `cell ${c}, corner ${corner}`);
        }
      }
    }
  },

  "faces that show enclose exactly the cells, faces between cells are left out"() {
    const shown = shownCells(cells, null, [], new Uint8Array(cells.C));
    const quads = wholeCellQuads(cells, beside, shown);
    const wanted = Array.from({length: cells.C}, (_, c) => volumeOf(c)).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(enclosed(quads) / wanted - 1) < 1e-4, `${enclosed(quads)} is not ${wanted}`);
    assert.ok(quads.count < 3 * cells.C, `${quads.count} faces of ${cells.C} cells`);
  },

  "a cut takes cells away and shows the faces behind them"() {
    const cut = {axis: 2, at: 0.001, side: 1};
    const shown = shownCells(cells, cut, [], new Uint8Array(cells.C));
    const left = shown.reduce((a, b) => a + b, 0);
    assert.ok(left > 0.3 * cells.C && left < 0.7 * cells.C);
    const quads = wholeCellQuads(cells, beside, shown);
    for (const c of quads.cell) assert.equal(shown[c], 1);
    const none =
      shownCells(cells, cut, [false, false, false, false, false, false], new Uint8Array(cells.C));
    assert.equal(wholeCellQuads(cells, beside, none).count, 0);
  },

  "a flat section lies in its plane and covers the body there"() {
    const at = 0.0042;
    const quads = sectionQuads(cells, {axis: 1, at, side: 1}, []);
    const p = new Float32Array(12 * quads.count);
    placeQuads(quads, cells.restPoints, p);
    let area = 0;
    for (let q = 0; q < quads.count; q += 1) {
      for (let k = 0; k < 4; k += 1) assert.ok(Math.abs(p[12 * q + 3 * k + 1] - at) < 1e-6);
      area += (cells.edge * 2 ** cells.level[quads.cell[q]]) ** 2;
    }
    const wanted = Array.from({length: cells.C}, (_, c) => c)
                     .filter((c) => {
                       const low = cells.origin[1] + cells.edge * cells.low[3 * c + 1];
                       return low <= at && at < low + cells.edge * 2 ** cells.level[c];
                     })
                     .reduce((sum, c) => sum + volumeOf(c) ** (2 / 3), 0);
    assert.ok(Math.abs(area / wanted - 1) < 1e-9 && quads.count > 20);
  },

  "points in cells are found and move with them"() {
    const rest = new Float32Array([0.01, 0.02, 0.03, -0.03, 0.01, 0, 9, 9, 9]);
    const embedding = embed(cells, index, rest);
    assert.ok(embedding.cellOf[0] >= 0 && embedding.cellOf[1] >= 0 && embedding.cellOf[2] === -1);
    const shift = new Float32Array(3 * cells.N).map((_, i) => [0.1, 0.2, 0.3][i % 3]);
    const points = pointsAt(cells, shift, new Float32Array(3 * (cells.N + cells.H)));
    const out = new Float32Array(9);
    carry(cells, embedding, points, out);
    [0.11, 0.22, 0.33, 0.07, 0.21, 0.3, 9, 9, 9].forEach(
      (v, i) => assert.ok(Math.abs(out[i] - v) < 1e-5, `${i}: ${out[i]}`));
  },

  "a record of fields is read to its last byte"() {
    const bytes = bufferOf("pear.fields");
    const view = new DataView(bytes);
    assert.equal(view.getUint32(40, true), 2);
    const size = (bytes.byteLength - 48) / 2;
    const record =
      parseRecord(bytes.slice(48 + size, 48 + 2 * size), cells, ["strain", "J", "contacts"]);
    assert.equal(record.frame, 2);
    assert.equal(record.J.length, cells.C);
    assert.equal(size, 8 + 12 * cells.N + 8 * cells.C + 36 * record.contactCount + 8);
    assert.ok(record.J.every((j) => Math.abs(j - 1) < 1e-3), "nothing pulls at this body");
  },

  "files that are not ours are refused"() {
    assert.throws(() => parseCells(new ArrayBuffer(200)), /not a cells file/);
    const short = bufferOf("pear.cells").slice(0, 400);
    assert.throws(() => parseCells(short), RangeError);
  },

  "colour maps are even to the eye, sequential ones ever lighter"() {
    for (const [name] of colourMaps()) {
      const bytes = colourBytes(name);
      const labs =
        Array.from({length: 256}, (_, i) => oklab([...bytes.subarray(4 * i, 4 * i + 3)]));
      // Over 16 colours, since single steps are rounded to bytes.
      const steps = Array.from(
        {length: 15},
        (_, i) => Math.hypot(...labs[16 * (i + 1)].map((v, k) => v - labs[16 * i][k])));
      const ratio = Math.max(...steps) / Math.min(...steps);
      assert.ok(
        ratio < 1.25, `${name}: the largest step is ${ratio.toFixed(2)} times the smallest`);
      const rising = labs.every((lab, i) => i < 8 || lab[0] > labs[i - 8][0]);
      assert.equal(rising, name !== "balance", name);
    }
  },

  "normals are smooth over seams, edges come once"() {
    const rest = new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0.5, 0, 1, 0]);
    const triangles = new Uint32Array([0, 1, 2, 3, 4, 5]);
    const first = weld(rest);
    assert.deepEqual(Array.from(first), [0, 1, 2, 1, 4, 2]);
    const normals = new Float32Array(18);
    computeNormals(rest, triangles, first, normals);
    assert.deepEqual(normals.slice(3, 6), normals.slice(9, 12));
    assert.equal(weld(rest.slice(0, 9)), null);
    assert.equal(uniqueEdges(new Uint32Array([0, 1, 2, 2, 1, 3]), 4).length, 10);
  },

  "a coarse surface keeps the form with a share of the triangles"() {
    const n = 64;
    const rest = Float32Array.from(
      {length: 3 * n * n}, (_, i) => [Math.floor(i / 3) % n, Math.floor(i / 3 / n), 0][i % 3] / n);
    const triangles = [];
    for (let y = 0; y + 1 < n; y += 1) {
      for (let x = 0; x + 1 < n; x += 1) {
        const v = y * n + x;
        triangles.push(v, v + 1, v + n, v + 1, v + n + 1, v + n);
      }
    }
    const coarse = coarseTriangles(rest, Uint32Array.from(triangles), 256);
    assert.ok(
      coarse.length > 0 && coarse.length < triangles.length / 8, `${coarse.length / 3} triangles`);
  },

  "numbers are short, ticks are round and tell neighbours apart"() {
    assert.deepEqual(
      [0, 12.3456, 0.00012, 123456, -3.5, null].map((v) => short(v)),
      ["0", "12.3", "1.2e−4", "1.23e5", "−3.5", "–"]);
    assert.deepEqual(tickTexts(ticks(0, 1, 4)), ["0", "0.25", "0.50", "0.75", "1.00"]);
    assert.deepEqual(
      tickTexts(ticks(0.99998, 1.00001, 3)), ["0.99998", "0.99999", "1.00000", "1.00001"]);
    assert.deepEqual(
      [unitFor("length", 0.3).unit, unitFor("length", 0.02).unit, unitFor("pressure", 5e4).unit],
      ["cm", "mm", "kPa"]);
    assert.deepEqual(settledRange("J", [0.9, 1.02]), [0.9, 1.1]);
    assert.deepEqual(extent(new Float32Array([1, 1e30, -2, NaN])), [-2, 1]);
  },

  async "the cache stays within its bytes, shares requests and gives up what nobody wants"() {
    const asked = [];
    const fake = {
      aborted: 0,
      binary: (path, signal) => {
        asked.push(path);
        return new Promise((done, fail) => {
          signal.addEventListener(
            "abort", () => fail(Object.assign(new Error("gave up"), {name: "AbortError"})));
          setTimeout(() => done(new ArrayBuffer(100)), 5);
        });
      }
    };
    const cache = new FrameCache(fake, 250);
    await Promise.all([cache.get("a"), cache.get("a"), cache.get("b")]);
    assert.deepEqual(asked, ["a", "b"]);
    cache.peek("a");
    await cache.get("c");
    assert.deepEqual(
      [cache.has("a"), cache.has("b"), cache.has("c"), cache.bytes], [true, false, true, 200]);
    const lost = assert.rejects(cache.get("d"), {name: "AbortError"});
    const kept = cache.get("e");
    cache.abortOthers(new Set(["e"]));
    await Promise.all([lost, kept]);
    assert.equal(fake.aborted, 1);
  },
};

/// Bytes of a colour on the screen to OKLab.
function oklab(bytes) {
  const [r, g, b] =
    bytes.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s
  ];
}

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok   ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}\n${error.stack}`);
  }
}
process.exit(failed ? 1 : 0);
