// node export_usda.mjs PACKAGE FILE.usda: what tinyusdz reads from the file, as a line of JSON: of each mesh
// the number of time samples of its points, the number of points in each, and the names of its subsets.
//
// The package is built for browsers only, so it is told that this is one. It converts a stage only at its
// default time; the layer that it has parsed, printed again by itself, has all of them.
import fs from "fs";
import path from "path";
import { pathToFileURL } from "url";

const folder = path.resolve(process.argv[2]);
globalThis.window = {};
Object.defineProperty(process, "type", { value: "renderer" });
const { default: start } = await import(pathToFileURL(path.join(folder, "tinyusdz.js")).href);
const wasm = fs.readFileSync(path.join(folder, "tinyusdz.wasm"));
const tiny = await start({
  instantiateWasm(imports, done) {
    WebAssembly.instantiate(wasm, imports).then((made) => done(made.instance, made.module));
    return {};
  },
});

function load(method) {
  const loader = new tiny.TinyUSDZLoaderNative();
  const bytes = new Uint8Array(fs.readFileSync(process.argv[3]));
  if (!loader[method](bytes, "file.usda")) {
    console.log(`${method}: ${loader.error()}`);
    process.exit(1);
  }
  return loader;
}

const scene = load("loadFromBinary");
const text = load("loadAsLayerFromBinary").layerToString();
const meshes = {};
let mesh = null;
let inPoints = false;
for (const line of text.split("\n")) {
  const prim = /^\s*def Mesh "(\w+)"/.exec(line);
  if (prim) mesh = meshes[prim[1]] = { samples: 0, points: [], subsets: [] };
  const subset = /^\s*def GeomSubset "(\w+)"/.exec(line);
  if (subset) mesh.subsets.push(subset[1]);
  if (/timeSamples = \{/.test(line)) inPoints = /point3f\[\] points\.timeSamples/.test(line);
  const sample = /^\s*\d+: (\[.*\]),$/.exec(line);
  if (!sample || !inPoints) continue;
  mesh.samples += 1;
  mesh.points.push(sample[1].split("(").length - 1);
}
if (scene.numMeshes() !== Object.keys(meshes).length) {
  console.log(`${scene.numMeshes()} meshes in the scene, ${Object.keys(meshes).length} in the layer`);
  process.exit(1);
}
console.log(JSON.stringify(meshes));
