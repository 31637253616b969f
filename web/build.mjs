// node build.mjs OUT: bundles the page into the folder OUT: index.html, viewer.js, viewer.css,
// favicon.svg. Needs the npm packages three and esbuild (tools/deps.sh installs them).
import {copyFileSync, mkdirSync, readFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {build} from "esbuild";

const web = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2];
if (!out) {
  console.error("build.mjs: which folder? Usage: node build.mjs OUT");
  process.exit(1);
}
mkdirSync(out, {recursive: true});
// Its licence asks that its text goes along with every copy.
const licence = readFileSync(join(web, "../node_modules/three/LICENSE"), "utf8").trim();
await build({
  entryPoints: [join(web, "src/main.js"), join(web, "viewer.css")],
  entryNames: "viewer",
  outdir: out,
  bundle: true,
  format: "iife",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  banner: {js: `/* This file contains three.js:\n\n${licence}\n*/`},
  logLevel: "warning",
});
for (const name of ["index.html", "favicon.svg"]) copyFileSync(join(web, name), join(out, name));
