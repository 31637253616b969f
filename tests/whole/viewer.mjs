// viewer.mjs SINEW SOURCE CHROMIUM FOLDER OUT [--scrub]: real runs, the real server, a real browser. Loads,
// plays, scrubs, cuts, colours, picks, compares, follows a run that is going on, exports; no message on the
// console, no request to anywhere else, readable and usable by keys alone. With --scrub instead: how long
// frames of a large run take to be on the screen, printed.
import assert from "node:assert/strict";
import {execFileSync, spawn} from "node:child_process";
import {readFileSync, statSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {pathToFileURL} from "node:url";

const [sinew, source, chromiumPath, folder, out, mode] = process.argv.slice(2);
const {chromium} =
  await import(pathToFileURL(join(source, "node_modules/playwright-core/index.mjs")));
const FIELDS = ["strain", "stress", "J", "pressure", "activation", "contacts"];
const children = [];
const problems = [];
const foreign = [];

// Runs

function scene(name, changes = {}) {
  const text = {
    sinew: 1,
    frames: [1, 20],
    bodies: [{
      name: "pear",
      surface: "meshes/pear.obj",
      cell: 0.025,
      material: {young: 50000, poisson: 0.4},
      damping: 0.005,
      initial: {translate: [0, 0.12, 0], rotate: [0, 0, 0.300706, 0.953717]},
      ...changes.body
    }],
    colliders: [{shape: "plane"}],
    output: {fields: FIELDS},
    ...changes.scene,
  };
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(text));
  return join(folder, `${name}.json`);
}

function run(name, changes) {
  execFileSync(
    sinew, ["run", scene(name, changes), "-o", join(folder, name), "--quiet"], {stdio: "inherit"});
  return join(folder, name);
}

/// An arm with bones and muscles, and beside it a body with an animated pose: that of the first run.
function runAnatomy() {
  const bone = (name, from, to) => ({name, capsule: {from, to, radius: 0.008}});
  return run("anatomy", {
    scene: {
      frames: [1, 3],
      gravity: 0,
      mode: "quasistatic",
      contact: {self: false},
      colliders: [],
      bodies: [
        {name: "arm", surface: "meshes/lean_arm.obj", cell: 0.02},
        {name: "pear", surface: "meshes/pear.obj", cell: 0.03, pose: {from: "a/pear.pc2"}}
      ],
      bones: [
        bone("shoulder", [0.03, -0.019, 0], [0.03, 0.03, 0]),
        bone("upper", [0.03, -0.019, 0], [0.27, -0.019, 0]),
        bone("lower", [0.33, -0.019, 0], [0.56, -0.012, 0])
      ],
      attachments: ["shoulder", "upper", "lower"]
                     .map((name) => ({bone: name, body: "arm"}))
                     .concat([{body: "pear", to: "pose", where: "all"}]),
      muscles: [{
        mesh: "meshes/biceps.obj",
        body: "arm",
        activation: [{frame: 1, value: 0}, {frame: 3, value: 1}]
      }],
    }
  });
}

/// Positions of one frame of a cache.
function cached(dir, frame) {
  const bytes = readFileSync(join(dir, "pear.pc2"));
  const vertices = bytes.readInt32LE(16);
  const start = 32 + 12 * vertices * (frame - bytes.readFloatLE(20));
  return new Float32Array(
    bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + start + 12 * vertices));
}

/// Starts the viewer; the address is the first line that it prints.
const serve = (...dirs) => addressOf("view", ...dirs);
const serveCheck = (file) => addressOf("check", file, "--open");

function addressOf(...args) {
  const child = spawn(sinew, args, {stdio: ["ignore", "pipe", "inherit"]});
  children.push(child);
  return new Promise((done, fail) => {
    let text = "";
    child.stdout.on("data", (piece) => {
      text += piece;
      if (text.includes("\n")) done(text.split("\n")[0].trim());
    });
    child.on("exit", (code) => fail(new Error(`sinew ${args[0]} ended with ${code}`)));
  });
}

// Browser

async function open(browser, address, {offline = false} = {}) {
  const context = await browser.newContext(
    {viewport: {width: 1180, height: 720}, offline, acceptDownloads: true});
  const page = await context.newPage();
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()))
      problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`exception: ${error.stack}`));
  page.on("request", (request) => {
    const own =
      address.startsWith("file:") ? request.url() === address : request.url().startsWith(address);
    if (!own && !/^(data|blob):/.test(request.url())) foreign.push(request.url());
  });
  await page.goto(address);
  await page.waitForFunction(() => window.sinew, null, {timeout: 15000});
  return page;
}

/// Until the frame is on the screen, and drawn.
const shown = (page, frame) => page.waitForFunction(
  (f) => window.sinew.shownFrame === f && !window.sinew.viewer.scene3d.scheduled, frame,
  {timeout: 10000});
const state = (page, key) => page.evaluate((k) => window.sinew.store.state[k], key);
const shot = (page, name) => page.screenshot({path: join(out, `${name}.png`)});

// Tests. Each gets a page of the first run, or opens its own.

const folders = {};

/// The edges of what is drawn are those of the cache's positions, seen through the page's camera.
async function frameIsWhereTheCacheSays(page, frame) {
  const positions = cached(folders.a, frame);
  const given = await page.evaluate(() => window.sinew.debug.positions(0, 0));
  assert.deepEqual(given, Array.from(positions), `positions of frame ${frame}`);
  const {matrix, width, height, drawn} = await page.evaluate(() => window.sinew.debug.silhouette());
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < positions.length; i += 3) {
    const [x, y, , w] = [0, 1, 2, 3].map(
      (r) => matrix[r] * positions[i] + matrix[4 + r] * positions[i + 1] +
        matrix[8 + r] * positions[i + 2] + matrix[12 + r]);
    const [u, v] = [((x / w + 1) / 2) * width, ((1 - y / w) / 2) * height];
    box[0] = Math.min(box[0], u);
    box[1] = Math.min(box[1], v);
    box[2] = Math.max(box[2], u);
    box[3] = Math.max(box[3], v);
  }
  box.forEach(
    (edge, k) => assert.ok(
      Math.abs(edge - drawn[k]) < 2,
      `frame ${frame}: edge ${k} of the picture is at ${drawn[k]}, of the cache at ${edge}`));
}

const tests = {
  async "loads and shows the first frame"(page) {
    await shown(page, 1);
    assert.equal(await page.title(), "a – Sinew");
    assert.equal(await page.textContent(".state"), "Done");
    await shot(page, "first");
  },

  async "scrubs: the picture is what the cache says"(page) {
    await page.click("[data-thing=colliders]");
    for (const frame of [7, 20, 3]) {
      await page.fill("#frame-number", String(frame));
      await page.press("#frame-number", "Enter");
      await shown(page, frame);
      await frameIsWhereTheCacheSays(page, frame);
    }
    const slider = await page.locator("#frame-slider").boundingBox();
    await page.mouse.move(slider.x + 2, slider.y + slider.height / 2);
    await page.mouse.down();
    for (let i = 1; i <= 10; i += 1)
      await page.mouse.move(slider.x + (slider.width * i) / 20, slider.y + slider.height / 2);
    await page.mouse.up();
    const frame = await state(page, "frame");
    assert.ok(frame > 7 && frame < 14, `in the middle of the slider is frame ${frame}`);
    await shown(page, frame);
    await frameIsWhereTheCacheSays(page, frame);
    await page.click("[data-thing=colliders]");
  },

  async "plays, loops, stops"(page) {
    await page.press("body", "Home");
    await shown(page, 1);
    await page.selectOption("#speed", "2");
    await page.click("#play");
    await page.waitForFunction(() => window.sinew.shownFrame > 6);
    await page.waitForFunction(() => window.sinew.shownFrame < 6, null, {timeout: 8000});
    await page.click("#play");
    assert.equal(await state(page, "playing"), false);
    await page.click("#loop");
    await page.press("body", "End");
    await page.click("#play");
    await page.waitForFunction(() => !window.sinew.store.state.playing, null, {timeout: 8000});
    assert.equal(await state(page, "frame"), 20);
    await page.click("#loop");
    await page.selectOption("#speed", "1");
  },

  async "is used by keys alone"(page) {
    await page.locator("canvas").first().focus();
    await page.keyboard.press("Home");
    assert.equal(await state(page, "frame"), 1);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    assert.equal(await state(page, "frame"), 12);
    await page.keyboard.press("ArrowLeft");
    assert.equal(await state(page, "frame"), 11);
    await page.keyboard.press("Space");
    assert.equal(await state(page, "playing"), true);
    await page.keyboard.press("Space");
    await page.keyboard.press("End");
    assert.equal(await state(page, "frame"), 20);
    await page.keyboard.press("c");
    assert.equal(await state(page, "cutOn"), true);
    await page.keyboard.press("c");
    await everyControlIsReached(page);
  },

  async "cuts the body open"(page) {
    await page.click("#cut");
    await page.waitForFunction(() => window.sinew.debug.quads(0, 0) > 0);
    const flat = await page.evaluate(() => window.sinew.debug.quads(0, 0));
    await shot(page, "cut-flat");
    await page.click("text=Whole cells");
    await page.waitForFunction((n) => window.sinew.debug.quads(0, 0) > n, flat);
    await shot(page, "cut-cells");
    const half = await page.evaluate(() => window.sinew.debug.quads(0, 0));
    await page.locator("#cut-at").evaluate((node) => {
      node.value = 0.15;
      node.dispatchEvent(new Event("input"));
    });
    await page.waitForFunction((n) => window.sinew.debug.quads(0, 0) < n, half);
    await page.click("text=Other side");
    await page.waitForFunction((n) => window.sinew.debug.quads(0, 0) > n, half);
    await page.click("text=Other side");
    await page.evaluate(() => window.sinew.store.set({cutAt: 0.5}));
    await page.click("text=Flat");
  },

  async "colours by every field, with a legend in units"(page) {
    const units = {
      displacement: /m$/,
      strain: /Strain/,
      stress: /Pa$/,
      J: /J$/,
      pressure: /Pa$/,
      penetration: /m$/
    };
    for (const [colour, title] of Object.entries(units)) {
      await page.selectOption("#colour", colour);
      await page.waitForFunction((c) => window.sinew.debug.legend()?.colour === c, colour);
      const legend = await page.evaluate(() => window.sinew.debug.legend());
      assert.match(legend.title, title);
      assert.ok(
        legend.marks.length >= 2, `${colour}: ${legend.marks.length} numbers on the legend`);
      assert.ok(legend.range[0] < legend.range[1]);
      assert.ok(await page.isVisible(".legend"));
    }
    await page.selectOption("#colour", "displacement");
    await page.click("text=This frame");
    const frame = await state(page, "frame");
    const moved = distances(cached(folders.a, frame), restOf(folders.a));
    const legend = await page.evaluate(() => window.sinew.debug.legend());
    assert.ok(
      Math.abs(legend.range[1] - Math.max(...moved)) < 1e-6,
      `${legend.range[1]} is not ${Math.max(...moved)}`);
    await page.selectOption("#colour", "strain");
    await page.click("text=Whole run");
    await page.waitForTimeout(100);
    await shot(page, "colour");
  },

  async "a colour on the screen is that of the legend"(page) {
    await page.click("#cut");
    await page.selectOption("#colour", "displacement");
    // All of it at the upper end: the same hue everywhere.
    const {pixel, wanted} = await page.evaluate(async () => {
      const {viewer, debug} = window.sinew;
      viewer.store.set({rangeMode: "hand", range: [0, 1e-9]});
      const [x, y] = debug.screenOf(0, 0, 0);
      const centre = debug.silhouette().drawn;
      return {
        pixel: debug.pixel((centre[0] + centre[2]) / 2, (centre[1] + centre[3]) / 2),
        wanted: debug.mapColour(1),
        at: [x, y]
      };
    });
    const hue = ([r, g, b]) => Math.atan2(Math.sqrt(3) * (g - b), 2 * r - g - b);
    assert.ok(
      Math.abs(hue(pixel) - hue(wanted)) < 0.15, `pixel ${pixel} is not of the hue of ${wanted}`);
    await page.evaluate(() => window.sinew.store.set({rangeMode: "run"}));
    await page.selectOption("#colour", "none");
  },

  async "picks a vertex and a cell, and plots them"(page) {
    await page.keyboard.press("1");
    const middle = await page.evaluate(() => {
      const box = window.sinew.debug.silhouette().drawn;
      return [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
    });
    const canvas = await page.locator("canvas").first().boundingBox();
    await page.mouse.click(canvas.x + middle[0], canvas.y + middle[1]);
    await page.waitForSelector(".picked .plot");
    const picked = await page.evaluate(() => window.sinew.viewer.picked.what.vertex);
    const [x, y] = await page.evaluate((v) => window.sinew.debug.screenOf(0, 0, v), picked);
    assert.ok(
      Math.hypot(x - middle[0], y - middle[1]) < 30, "the picked vertex is under the pointer");
    const curve = await page.evaluate(() => ({
                                        frames: window.sinew.viewer.picked.plots[1].frames,
                                        y: window.sinew.viewer.picked.plots[1].values[1],
                                        unit: window.sinew.viewer.picked.plots[1].unit
                                      }));
    const factor = {mm: 1e-3, cm: 1e-2, m: 1}[curve.unit];
    const rest = restOf(folders.a);
    curve.frames.forEach(
      (frame, i) => assert.ok(
        Math.abs(
          curve.y[i] * factor - (cached(folders.a, frame)[3 * picked + 1] - rest[3 * picked + 1])) <
          1e-6,
        `path at frame ${frame}`));
    await shot(page, "picked");
    await page.keyboard.press("c");
    await page.waitForFunction(() => window.sinew.debug.quads(0, 0) > 0);
    await page.mouse.click(canvas.x + middle[0], canvas.y + middle[1]);
    await page.waitForFunction(() => window.sinew.viewer.picked.what?.cell !== undefined);
    await page.waitForFunction(() => window.sinew.viewer.picked.plots.length >= 4);
    await page.keyboard.press("c");
  },

  async "plots the statistics; a click goes to the frame"(page) {
    await page.click("#tab-plots");
    const titles = await page.locator(".plots:visible .plot-title").allTextContents();
    for (const title of
           ["Time a frame", "Newton steps", "Krylov iterations", "Residual", "Energy",
            "Volume error", "Deepest penetration"]) {
      assert.ok(titles.some((text) => text.startsWith(title)), `a plot of ${title}`);
    }
    const lines = readFileSync(join(folders.a, "stats.jsonl"), "utf8")
                    .trim()
                    .split("\n")
                    .map((line) => JSON.parse(line));
    const newton = await page.evaluate(() => window.sinew.viewer.statistics.plots[1].values[0]);
    assert.deepEqual(newton, lines.map((line) => line.newton));
    const box = await page.locator(".plot:visible").first().boundingBox();
    await page.mouse.click(box.x + box.width - 9, box.y + box.height / 2);
    await shown(page, 20);
    await shot(page, "plots");
  },

  async "shows the scene file and what the run said"(page) {
    await page.click("#tab-run");
    await page.click("text=Scene file");
    const text = await page.textContent(".scene-file pre");
    assert.deepEqual(
      JSON.parse(text), JSON.parse(readFileSync(join(folders.a, "scene.json"), "utf8")));
    await shot(page, "run");
  },

  async "saves a picture"(page) {
    const [download] =
      await Promise.all([page.waitForEvent("download"), page.click("#screenshot")]);
    assert.equal(download.suggestedFilename(), "a_0020.png");
    await download.saveAs(join(out, "saved.png"));
    const bytes = readFileSync(join(out, "saved.png"));
    assert.equal(bytes.toString("latin1", 1, 4), "PNG");
    assert.ok(bytes.readUInt32BE(16) > 600 && bytes.length > 10000);
  },

  async "every text can be read"(page) {
    for (const tab of ["look", "plots", "picked", "run"]) {
      await page.click(`#tab-${tab}`);
      await everyTextHasContrast(page, tab);
    }
    await page.keyboard.press("?");
    await page.waitForSelector("dialog[open]");
    await everyTextHasContrast(page, "help");
    await shot(page, "help");
    await page.keyboard.press("Escape");
    await page.click("#tab-look");
  },

  async "shows bones, muscles, attachments, skinned and rest surfaces, wireframe"(_, browser) {
    const page = await open(browser, await serve(runAnatomy()));
    await page.keyboard.press("End");
    await shown(page, 3);
    for (const thing of ["bones", "muscles", "attachments"])
      await page.click(`[data-thing=${thing}]`);
    await page.waitForFunction(
      () => window.sinew.viewer.runs[0].attachments[0]?.registered &&
        window.sinew.viewer.runs[0].bodies[0].muscles);
    const seen = await page.evaluate(() => {
      const [run] = window.sinew.viewer.runs;
      return {
        activation: run.bodies[0].muscles.items[0].activation,
        ties: run.attachments[0].count,
        bones: run.bones.meshes.length,
        opacity: run.bodies[0].opacity,
        muscle:
          Array.from(run.bodies[0].muscles.items[0].geometry.attributes.position.array.slice(0, 3))
      };
    });
    assert.deepEqual([seen.activation, seen.bones], [1, 3]);
    assert.ok(seen.ties > 20 && seen.opacity < 0.5, "ties, and skin that lets them be seen");
    await page.keyboard.press("Home");
    await shown(page, 1);
    const before = await page.evaluate(
      () => Array.from(window.sinew.viewer.runs[0]
                         .bodies[0]
                         .muscles.items[0]
                         .geometry.attributes.position.array.slice(0, 3)));
    assert.notDeepEqual(seen.muscle, before, "the muscle moves with the flesh");
    await page.keyboard.press("End");
    await shown(page, 3);
    await shot(page, "anatomy");
    await page.click("[data-kind=skinned]");
    await page.click("[data-kind=rest]");
    await page.click("#layout [data-value=beside]");
    await page.click("#wireframe");
    await page.waitForFunction(() => window.sinew.viewer.runs[0].bodies[1].skinnedPositions);
    assert.deepEqual(
      await page.locator(".panel-label").allTextContents(), ["Rest", "Skinned", "Simulated"]);
    const skinned =
      await page.evaluate(() => Array.from(window.sinew.viewer.runs[0].bodies[1].skinnedPositions));
    assert.deepEqual(skinned, Array.from(cached(folders.a, 3)));
    await shot(page, "side-by-side");
    await page.context().close();
  },

  async "compares two runs"(_, browser) {
    const page = await open(browser, await serve(folders.a, folders.b));
    await page.keyboard.press("End");
    await shown(page, 20);
    assert.deepEqual(await page.locator(".panel-label").allTextContents(), ["A: a", "B: b"]);
    await page.selectOption("#colour", "difference");
    await page.waitForFunction(() => window.sinew.debug.legend()?.colour === "difference");
    const values = await page.evaluate(() => window.sinew.debug.values(0, 0));
    const wanted = distances(cached(folders.a, 20), cached(folders.b, 20));
    assert.ok(Math.max(...wanted) > 1e-4, "the runs differ");
    values.forEach(
      (value, v) => assert.ok(Math.abs(value - wanted[v]) < 1e-6, `difference of vertex ${v}`));
    await shot(page, "compare");
    await page.click("#layout [data-value=overlay]");
    await page.waitForTimeout(150);
    await shot(page, "compare-overlaid");
    await page.context().close();
  },

  async "follows a run that is going on"(_, browser) {
    const file = scene("live", {body: {cell: 0.015}});
    const child = spawn(
      sinew, ["run", file, "-o", join(folder, "live"), "--quiet", "--threads", "1"],
      {stdio: "inherit"});
    children.push(child);
    const ended = new Promise((done) => {
      child.on("exit", done);
    });
    // Held up after its first frames, so that the page is there before it is done on any machine.
    await until(() => statOf(join(folder, "live", "stats.jsonl")) > 0);
    child.kill("SIGSTOP");
    const page = await open(browser, await serve(join(folder, "live")));
    assert.match(await page.textContent(".state"), /^Running: \d+ of 20/);
    assert.ok(await page.isVisible("progress"));
    const before = await state(page, "frame");
    await shown(page, before);
    await shot(page, "live");
    child.kill("SIGCONT");
    await page.waitForFunction((f) => window.sinew.shownFrame > f, before, {timeout: 15000});
    await page.waitForFunction(
      () => document.querySelector(".state").textContent === "Done", null, {timeout: 30000});
    assert.equal(await ended, 0);
    await shown(page, 20);
    assert.equal(await page.evaluate(() => window.sinew.viewer.statistics.lines[0].length), 20);
    await page.context().close();
  },

  async "check --open lists the defects and flies to them"(_, browser) {
    const faces = readFileSync(join(folder, "meshes/pear.obj"), "utf8").trim().split("\n");
    const kept = faces.filter((line, i) => !line.startsWith("f ") || i % 500 !== 0);
    const missing = faces.length - kept.length;
    writeFileSync(join(folder, "meshes/open.obj"), kept.join("\n"));
    const page =
      await open(browser, await serveCheck(scene("open", {body: {surface: "meshes/open.obj"}})));
    assert.equal(await page.textContent(".state"), "Checked");
    await page.waitForSelector(".defect");
    assert.equal(await page.textContent(".defect h3"), `Holes: ${3 * missing}`);
    const camera = () => page.evaluate(() => window.sinew.viewer.scene3d.camera.position.toArray());
    const before = await camera();
    await page.click(".go >> nth=0");
    await page.waitForTimeout(800);
    assert.notDeepEqual(await camera(), before);
    await shot(page, "check");
    await everyTextHasContrast(page, "defects");
    await page.click("#tab-look");
    await page.click("#cut");
    await page.waitForFunction(() => window.sinew.debug.quads(0, 0) > 0);
    await page.context().close();
  },

  async "exports one page that needs no network"(_, browser) {
    const file = join(folder, "page.html");
    execFileSync(
      sinew, ["view", folders.a, "--export", file], {stdio: ["ignore", "ignore", "inherit"]});
    const page = await open(browser, pathToFileURL(file).href, {offline: true});
    await page.keyboard.press("End");
    await shown(page, 20);
    const given = await page.evaluate(() => window.sinew.debug.positions(0, 0));
    assert.deepEqual(given, Array.from(cached(folders.a, 20)));
    await page.click("#cut");
    await page.selectOption("#colour", "stress");
    await page.waitForFunction(
      () => window.sinew.debug.legend()?.colour === "stress" && window.sinew.debug.quads(0, 0) > 0);
    await page.evaluate(
      () => window.sinew.viewer.pick({body: window.sinew.viewer.runs[0].bodies[0], vertex: 5}));
    await page.waitForFunction(() => window.sinew.viewer.picked.plots.length >= 4);
    await shot(page, "export");
    await page.context().close();
  },
};

// What tests share

function restOf(dir) {
  const text = readFileSync(join(dir, "pear.obj"), "utf8");
  return Float32Array.from(text.split("\n")
                             .filter((line) => line.startsWith("v "))
                             .flatMap((line) => line.split(/\s+/).slice(1, 4).map(Number)));
}

function distances(a, b) {
  return Array.from(
    {length: a.length / 3},
    (_, v) =>
      Math.hypot(a[3 * v] - b[3 * v], a[3 * v + 1] - b[3 * v + 1], a[3 * v + 2] - b[3 * v + 2]));
}

function statOf(path) {
  try {
    return statSync(path).size;
  } catch {
    return -1;
  }
}

async function until(truth) {
  for (let i = 0; i < 1500; i += 1) {
    if (truth()) return;
    await new Promise((done) => {
      setTimeout(done, 10);
    });
  }
  throw new Error("waited for 15 s in vain");
}

/// Tab reaches every control that shows; each has a name and shows that it has the focus.
async function everyControlIsReached(page) {
  await page.evaluate(() => document.activeElement.blur());
  const wanted = await page.evaluate(
    () => [...document.querySelectorAll("button, select, input, summary, canvas[tabindex]")]
            .filter((node) => node.checkVisibility() && !node.disabled && node.tabIndex >= 0)
            .map((node, i) => {
              node.dataset.test = i;
              const name = node.getAttribute("aria-label") || node.labels?.[0]?.textContent ||
                node.textContent.trim();
              if (!name) throw new Error(`no name: ${node.outerHTML.slice(0, 120)}`);
              return i;
            }));
  const reached = new Set();
  for (let i = 0; i < wanted.length + 5; i += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const node = document.activeElement;
      if (node === document.body) return -1;
      const {outlineStyle, outlineWidth} = getComputedStyle(node);
      if (outlineStyle === "none" || parseFloat(outlineWidth) < 1)
        throw new Error(`focus does not show: ${node.outerHTML.slice(0, 120)}`);
      return Number(node.dataset.test ?? -1);
    }));
  }
  const missed = wanted.filter((i) => !reached.has(i));
  assert.deepEqual(missed, [], "controls that Tab does not reach");
}

/// The contrast of each text that shows with what it stands on, by WCAG 2: at least 4.5.
async function everyTextHasContrast(page, where) {
  const poor = await page.evaluate(() => {
    const parse = (text) => {
      const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
      return [r, g, b, a];
    };
    const over = (top, below) =>
      top.slice(0, 3).map((c, k) => c * top[3] + below[k] * (1 - top[3])).concat(1);
    const backOf = (node) => {
      if (!node) return [20, 23, 28, 1];
      const {backgroundColor, backgroundImage} = getComputedStyle(node);
      // A gradient is judged by the brighter of its ends.
      const ends = backgroundImage.match(/rgba?\([^)]*\)/g);
      const own = parse(ends ? ends[0] : backgroundColor);
      return own[3] === 1 ? own : over(own, backOf(node.parentElement));
    };
    const light = (c) => c.slice(0, 3)
                           .map((v) => v / 255)
                           .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
                           .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
    const out = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let count = 0;
    while (walker.nextNode()) {
      const node = walker.currentNode.parentElement;
      if (
        !walker.currentNode.textContent.trim() || !node.checkVisibility() ||
        node.closest("svg, optgroup, noscript"))
        continue;
      const back = backOf(node);
      const front = over(parse(getComputedStyle(node).color), back);
      const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      count += 1;
      if (ratio < 4.5)
        out.push(`${walker.currentNode.textContent.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
    }
    return {out, count};
  });
  assert.ok(poor.count > 15, `${where}: only ${poor.count} texts looked at`);
  assert.deepEqual(poor.out, [], `${where}: texts that are hard to read`);
}

// A large run

/// A ring of 2 n m triangles.
function writeRing(path, n, m) {
  const lines = [];
  for (let i = 0; i < n; i += 1)
    for (let k = 0; k < m; k += 1) {
      const [a, b] = [(2 * Math.PI * i) / n, (2 * Math.PI * k) / m];
      const radius = 0.1 + 0.035 * Math.cos(b);
      lines.push(`v ${radius * Math.cos(a)} ${0.035 * Math.sin(b)} ${radius * Math.sin(a)}`);
    }
  for (let i = 0; i < n; i += 1)
    for (let k = 0; k < m; k += 1) {
      const at = (x, y) => 1 + (x % n) * m + (y % m);
      const [a, b, c, d] = [at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
      lines.push(`f ${a} ${d} ${c}`, `f ${a} ${c} ${b}`);
    }
  writeFileSync(path, lines.join("\n") + "\n");
}

/// Milliseconds from asking for each frame to its being drawn, sorted.
async function timeFrames(page, frames) {
  const times = [];
  for (const frame of frames) {
    const began = Date.now();
    await page.evaluate((f) => window.sinew.store.set({frame: f}), frame);
    await page.waitForFunction(
      (f) => window.sinew.shownFrame === f && !window.sinew.viewer.scene3d.scheduled, frame,
      {polling: 5, timeout: 30000});
    times.push(Date.now() - began);
  }
  return times.sort((a, b) => a - b);
}

async function measureScrubbing(browser) {
  writeRing(join(folder, "meshes/ring.obj"), 500, 200);
  const large = run("large", {
    scene: {frames: [1, 240], output: {}},
    body: {name: "ring", surface: "meshes/ring.obj", cell: 0.02}
  });
  const page = await open(browser, await serve(large));
  await shown(page, 1);
  const frames = Array.from({length: 40}, (_, i) => 2 + ((i * 97) % 239));
  for (const what of ["first time", "again"]) {
    const times = await timeFrames(page, frames);
    console.log(
      `200000 triangles, 240 frames, ${what}: median ${times[20]} ms, worst ${times[39]} ms`);
  }
}

let failed = 0;
const start = Date.now();
const browser = await chromium.launch({
  executablePath: chromiumPath,
  args: [
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-background-networking"
  ]
});
/// All tests, on one page.
async function testAll() {
  folders.a = run("a");
  folders.b = run("b", {body: {material: {young: 15000, poisson: 0.4}}});
  const page = await open(browser, await serve(folders.a));
  for (const [name, test] of Object.entries(tests)) {
    const began = Date.now();
    try {
      await test(page, browser);
      assert.deepEqual(problems.splice(0), [], "messages on the console");
      assert.deepEqual(foreign.splice(0), [], "requests to other places");
      console.log(`ok   ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed += 1;
      await shot(page, `failed-${failed}`).catch(() => {});
      console.log(`FAIL ${name}\n${error.stack}`);
    }
  }
  console.log(`${Object.keys(tests).length - failed} of ${Object.keys(tests).length} passed in ${
    ((Date.now() - start) / 1000).toFixed(1)} s; screenshots in ${out}`);
}

try {
  await (mode === "--scrub" ? measureScrubbing(browser) : testAll());
} finally {
  await browser.close();
  for (const child of children) {
    child.kill("SIGCONT");
    child.kill("SIGINT");
  }
}
process.exit(failed ? 1 : 0);
