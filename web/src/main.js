// The viewer: reads what a run left, builds the page, and connects its parts.
import * as THREE from "three";
import {Defects} from "./check.js";
import {Colouring} from "./colouring.js";
import {panelsFor} from "./compare.js";
import {FrameCache, Source} from "./data.js";
import {debugHooks} from "./debug.js";
import {el} from "./dom.js";
import {needsCells} from "./fields.js";
import {FrameLoader} from "./frames.js";
import {Info} from "./info.js";
import {listenToKeys} from "./keys.js";
import {Legend} from "./legend.js";
import {Live} from "./live.js";
import {Look} from "./look.js";
import {Marker} from "./marker.js";
import {Picked} from "./picked.js";
import {pickCell, pickSkin} from "./picking.js";
import {Run} from "./run.js";
import {Scene3d} from "./scene3d.js";
import {saveScreenshot} from "./screenshot.js";
import {setPlane, sharedUniforms} from "./shaders.js";
import {helpDialog, Tabs, topBar} from "./shell.js";
import {Statistics} from "./statistics.js";
import {createStore} from "./store.js";
import {Timeline} from "./timeline.js";
import {Triad} from "./triad.js";

const AXES = ["x", "y", "z"];

/// What the page shows before anyone has touched it.
function firstLook(answer) {
  const run = answer.runs[0];
  const compared = answer.runs.length > 1;
  const running = answer.runs.some((r) => r.state === "running");
  const checking = answer.mode === "check";
  return {
    frame: null,
    playing: false,
    speed: 1,
    loop: true,
    follow: running,
    stored: 0,
    colour: "none",
    map: "lagoon",
    range: [0, 1],
    rangeMode: "run",
    colourNote: "",
    // The half towards the viewer goes: z with y up, -y with z up.
    cutOn: false,
    cutAxis: run.up === "z" ? "y" : "z",
    cutSide: run.up === "z" ? -1 : 1,
    cutAt: 0.5,
    cellStyle: "section",
    levelShown: [],
    kinds: ["simulated"],
    layout: compared ? "beside" : "overlay",
    wireframe: checking,
    opacity: 1,
    runsShown: answer.runs.map(() => true),
    hidden: new Set(),
    things: {
      bones: false,
      muscles: false,
      attachments: false,
      colliders: !checking,
      contacts: false,
      defects: checking
    },
  };
}

class Viewer {
  constructor(answer, source) {
    // A scene that is only checked has its file for a name.
    for (const info of answer.runs) info.name = info.name.split("/").pop();
    this.answer = answer;
    this.source = source;
    this.store = createStore(firstLook(answer));
    this.shared = sharedUniforms();
    this.runs = answer.runs.map((info, r) => new Run(r, answer.runs.length, info));
    this.cache = new FrameCache(source);
  }

  get bodies() {
    return this.runs.flatMap((run) => run.bodies);
  }

  async start() {
    await Promise.all(this.runs.map((run) => run.load(this.source, this.shared)));
    this.restBox = this.runs.reduce((box, run) => box.union(run.restBox()), new THREE.Box3());
    this.#buildPage();
    await this.#frameScene();
    this.#connect();
    await this.#firstFrame();
  }

  #buildPage() {
    const {store} = this;
    const goTo = (frame) => this.timeline.jump(frame);
    this.legend = new Legend();
    this.statistics = new Statistics(this.runs, goTo);
    this.picked = new Picked(this, goTo, () => this.pick(null));
    this.info = new Info(this.runs, this.source);
    this.look = new Look(store, this.runs);
    this.timeline =
      new Timeline(store, {fps: this.answer.runs[0].fps, range: () => this.storedRange()});
    this.help = helpDialog();
    this.bar = topBar({
      title: this.runs.map((run) => run.info.name).join("  ·  "),
      onview: (direction) => this.scene3d.fit(direction),
      onscreenshot: () => this.saveScreenshot(),
      onhelp: () => this.help.showModal(),
      onpanel: () => document.body.classList.toggle("wide")
    });
    this.note = el("div", {class: "note", role: "alert", hidden: true});
    this.viewport = el("main", {class: "viewport"}, this.legend.element, this.note);
    this.tabs = new Tabs([
      ...this.#checkTab(), {key: "look", text: "Look", content: this.look.element},
      ...(
        this.answer.mode === "check" ?
          [] :
          [{key: "plots", text: "Plots", content: this.statistics.element}]),
      {key: "picked", text: "Picked", content: this.picked.element},
      {key: "run", text: this.answer.mode === "check" ? "Scene" : "Run", content: this.info.element}
    ]);
    document.body.replaceChildren(
      this.bar.element, this.viewport, this.tabs.element, this.timeline.element, this.help);
    document.body.classList.toggle("check", this.answer.mode === "check");
    document.title = `${this.runs.map((run) => run.info.name).join(" and ")} – Sinew`;
    this.scene3d = new Scene3d(
      this.viewport, this.answer.runs[0].up, this.shared, this.bodies.some((body) => body.isLarge));
    this.triad = new Triad(this.scene3d.camera);
    this.viewport.append(this.triad.element);
    this.scene3d.afterDraw.push(() => this.triad.draw());
    if (this.defects) this.defects.scene3d = this.scene3d;
  }

  #checkTab() {
    if (this.answer.mode !== "check") return [];
    this.defects = new Defects(this.bodies, this.source, null);
    return [{key: "defects", text: "Defects", content: this.defects.element}];
  }

  /// Frames from the first to the last that any run has.
  storedRange() {
    const stored = this.runs.map((run) => run.info.stored).filter(Boolean);
    if (stored.length === 0) return null;
    return [Math.min(...stored.map((s) => s[0])), Math.max(...stored.map((s) => s[1]))];
  }

  /// Finds how much room the motion takes, so that the camera and the floor suit all of it.
  async #frameScene() {
    const box = new THREE.Box3();
    for (const run of this.runs) {
      const frames = run.info.stored ? [...new Set(run.info.stored)] : [];
      for (const body of run.bodies) {
        const found = await Promise.all(
          frames.map((f) => this.cache.get(`${body.path}/frame/${f}`).catch(() => null)));
        for (const buffer of found.filter(Boolean))
          box.union(new THREE.Box3().setFromArray(new Float32Array(buffer)));
        if (!found.some(Boolean)) box.union(new THREE.Box3().setFromArray(body.rest));
      }
    }
    this.scene3d.setBounds(box);
    this.scene3d.fit("corner");
    const {center, radius} = this.scene3d.bounds;
    const spacing = 10 ** Math.round(Math.log10(radius / 2.5));
    const surroundings = {centre: center, reach: radius * 4, spacing, up: this.scene3d.upward};
    await Promise.all(
      this.runs.map((run) => run.loadShapes(this.source, this.shared, surroundings)));
    this.marker = new Marker(radius);
  }

  #connect() {
    this.#register();
    this.loader = new FrameLoader(
      this.cache, (frame) => this.needs(frame), (frame, buffers) => this.#show(frame, buffers),
      (error) => this.complain(error));
    this.colouring = new Colouring(this);
    this.#listen();
    this.live = new Live({...this, onchange: () => this.#grown()});
    this.#keys();
    this.#pointer();
    this.#panels();
    const animate = (now) => {
      this.#advance(now);
      requestAnimationFrame(animate);
    };
    requestAnimationFrame(animate);
  }

  needs(frame) {
    return this.runs.flatMap((run) => run.needs(frame, this.store.state));
  }

/// Tells the scene which objects there are and when each shows.
#register() {
  const {state} = this.store;
  const see = (object, kind, run, wanted) => this.scene3d.register(object, {kind, run, wanted});
  for(const run of this.runs) {
    for (const body of run.bodies) {
      const there = () => !state.hidden.has(body.info.name);
      this.#registerBody(body, run.number, there, see);
    }
    if (run.bones) see(run.bones.group, "around", run.number, () => state.things.bones);
    // Overlaid runs share their obstacles; drawn twice, see-through floors would look different.
    const twice = () => run.number > 0 && state.layout === "overlay" && state.runsShown[0];
    if (run.colliders)
      see(run.colliders.group, "around", run.number, () => state.things.colliders && !twice());
    if (run.contacts) see(run.contacts.group, "inside", run.number, () => state.things.contacts);
  }
  see(this.marker.mesh, "inside", null, () => this.marker.on);
  if(this.defects) see(this.defects.group, "around", null, () => state.things.defects);
}

#registerBody(body, run, there, see) {
  const {state} = this.store;
  const cellsOnly = () => state.cutOn && state.cellStyle === "whole" && body.quads;
  const skin = () => there() && state.opacity > 0 && !cellsOnly();
  see(body.simulated.mesh, "simulated", run, skin);
  see(body.veil, "simulated", run, () => skin() && body.opacity < 1);
  const floor = this.runs[run].floor();
  if (floor)
    see(body.shadow(floor, this.scene3d), "simulated", run, () => skin() && state.things.colliders);
  body.lazy = (name, object) => {
    if (body[`seen-${name}`] || !object) return;
    body[`seen-${name}`] = true;
    const kind = ["rest", "skinned"].includes(name) ? name : "inside";
    const wanted = {
      rest: there,
      skinned: there,
      wire: () => skin() && state.wireframe,
      cells: () => there() && state.cutOn && Boolean(body.quads),
      layers: () => there() && state.cutOn && Boolean(body.quads) && body.trimmed,
      muscles: () => there() && state.things.muscles
    }[name];
    see(object, kind, run, wanted);
  };
}

#listen() {
  const {store} = this;
  store.on(["frame"], () => this.loader.go(store.state.frame, {playing: store.state.playing}));
  store.on(["colour", "rangeMode", "map"], () => this.#relook());
  store.on(["range"], () => store.state.rangeMode === "hand" && this.#repaint());
  store.on(
    ["cutOn", "cutAxis", "cutAt", "cutSide", "cellStyle", "levelShown"], () => this.#relook());
  store.on(["kinds", "layout", "runsShown"], () => {
    this.#panels();
    this.#relook();
  });
  store.on(["opacity", "wireframe", "hidden", "things"], () => this.#relook());
}

#panels() {
  this.scene3d.setPanels(panelsFor(this.store.state, this.runs));
}

/// The plane of the cut in rest coordinates, or null.
cut() {
  const {cutOn, cutAxis, cutAt, cutSide} = this.store.state;
  if (!cutOn) return null;
  const axis = AXES.indexOf(cutAxis);
  const [low, high] = [this.restBox.min.getComponent(axis), this.restBox.max.getComponent(axis)];
  const margin = 0.02 * (high - low);
  return {axis, at: low - margin + cutAt * (high - low + 2 * margin), side: cutSide};
}

/// After a change of what is to be seen: loads what that needs, then shows the frame again.
async #relook() {
  const {state} = this.store;
  const cut = this.cut();
  setPlane(
    this.shared,
    cut &&
      new THREE.Vector4(...AXES.map((_, k) => (k === cut.axis ? cut.side : 0)), cut.side * cut.at));
  for (const body of this.bodies) {
    const over = body.run.number > 0 && state.layout === "overlay" && state.runsShown[0];
    body.setOpacity(over ? Math.min(state.opacity, 0.5) : state.opacity);
    if (state.wireframe) body.lazy("wire", body.wireframe());
    for (const kind of ["rest", "skinned"]) {
      if (state.kinds.includes(kind) && (kind === "rest" || body.info.skinned))
        body.lazy(kind, body.surface(kind).mesh);
    }
    body.setGhosts(this.scene3d.panels.length === 1 && state.kinds.includes("simulated"));
  }
  this.scene3d.invalidate();
  try {
    await this.#loadWhatShows(state);
  } catch (error) {
    this.complain(error);
  }
  this.#cutCells();
  if (state.frame === null || this.storedRange() === null)
    this.#repaint();
  else
    this.loader.refresh();
}

async #loadWhatShows(state) {
  const jobs = [];
  if (needsCells(state.colour) || state.cutOn)
    jobs.push(...this.bodies.map((body) => body.loadCells(this.source)));
  if (state.things.muscles) jobs.push(...this.bodies.map((body) => body.loadMuscles(this.source)));
  if (state.things.contacts) jobs.push(...this.bodies.map((body) => body.loadCells(this.source)));
  if (state.things.attachments) jobs.push(...this.runs.map((run) => this.#loadAttachments(run)));
  if (state.colour !== "none" && !this.rangesLoaded) {
    this.rangesLoaded = true;
    jobs.push(this.colouring.loadRanges());
  }
  await Promise.all(jobs);
  for (const body of this.bodies) body.lazy("muscles", body.muscles?.group);
}

async #loadAttachments(run) {
  await Promise.all(
    [run.loadAttachments(this.source), ...run.bodies.map((body) => body.loadCells(this.source))]);
  for (const attachments of run.attachments) {
    if (!attachments || attachments.registered) continue;
    attachments.registered = true;
    this.scene3d.register(
      attachments.group,
      {kind: "inside", run: run.number, wanted: () => this.store.state.things.attachments});
  }
  run.moveThings();
}

#cutCells() {
  const {cellStyle, levelShown} = this.store.state;
  const cut = this.cut();
  for (const body of this.bodies) {
    body.cutCells(cut ? cellStyle : "none", cut, levelShown);
    body.lazy("cells", body.cellMesh);
    body.lazy("layers", body.layers);
  }
}

#show(frame, buffers) {
  for (const run of this.runs) run.apply(frame, buffers);
  this.#repaint();
  this.scene3d.hurry();
  this.statistics.mark(frame);
  this.picked.mark(frame);
  this.marker.follow();
  this.note.hidden = true;
  this.timeline.drawBuffered((f) => this.needs(f).every((path) => this.cache.has(path)));
}

#repaint() {
  this.colouring.paint();
  this.scene3d.invalidate();
}

#advance(now) {
  const next = this.timeline.tick(now);
  if (next !== null && next !== this.store.state.frame) this.store.set({frame: next});
  if (this.store.state.playing) this.loader.readAhead(this.timeline.coming(8));
}

async #firstFrame() {
  await this.statistics.update(this.source);
  const range = this.storedRange();
  if (range)
    this.store.set({frame: this.store.state.follow ? range[1] : range[0]});
  else
    this.#repaint();
  this.tabs.badge("run", await this.info.update());
  if (this.defects) {
    this.tabs.badge("defects", await this.defects.load());
  }
  this.live.draw();
  await this.#relook();
  this.scene3d.onmoving = (moving) => this.bodies.forEach((body) => body.setCoarse(moving));
  if (this.bodies.some((body) => body.isLarge)) this.scene3d.measure();
}

/// More frames are there, or a run has ended.
async #grown() {
  this.store.set({stored: this.store.state.stored + 1});
  await this.statistics.update(this.source);
  this.tabs.badge("run", await this.info.update());
  if (this.store.state.colour !== "none")
    await this.colouring.loadRanges();
  else
    this.rangesLoaded = false;
  await this.picked.renew();
  const range = this.storedRange();
  if (!range) return;
  const {follow, playing, frame} = this.store.state;
  if (frame === null || (follow && !playing)) this.store.set({frame: range[1]});
}

#keys() {
  const {store, timeline, scene3d} = this;
  const turn = 0.12;
  listenToKeys({
    " ": () => timeline.togglePlay(),
    ArrowLeft: () => timeline.step(-1),
    ArrowRight: () => timeline.step(1),
    "Shift+ArrowLeft": () => timeline.step(-10),
    "Shift+ArrowRight": () => timeline.step(10),
    Home: () => timeline.jump(-Infinity),
    End: () => timeline.jump(Infinity),
    c: () => store.set({cutOn: !store.state.cutOn}),
    w: () => store.set({wireframe: !store.state.wireframe}),
    f: () => scene3d.fit(),
    1: () => scene3d.fit("front"),
    2: () => scene3d.fit("side"),
    3: () => scene3d.fit("top"),
    j: () => scene3d.nudge(-turn, 0, 1),
    l: () => scene3d.nudge(turn, 0, 1),
    i: () => scene3d.nudge(0, -turn, 1),
    k: () => scene3d.nudge(0, turn, 1),
    "+": () => scene3d.nudge(0, 0, 0.9),
    "=": () => scene3d.nudge(0, 0, 0.9),
    "-": () => scene3d.nudge(0, 0, 1.1),
    s: () => this.saveScreenshot(),
    "?": () => this.help.showModal(),
  });
}

/// A click without a drag picks.
#pointer() {
  const {canvas} = this.scene3d;
  let down = null;
  canvas.addEventListener("pointerdown", (event) => {
    down = [event.clientX, event.clientY, event.button];
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!down || down[2] !== 0) return;
    const moved = Math.hypot(event.clientX - down[0], event.clientY - down[1]);
    down = null;
    if (moved > 4) return;
    const box = canvas.getBoundingClientRect();
    this.pick(this.pickAt(event.clientX - box.left, event.clientY - box.top));
  });
}

/// The vertex or cell at a place of the canvas, or null.
pickAt(x, y) {
  const {state} = this.store;
  const {panel, ray} = this.scene3d.rayAt(x, y);
  const cut = this.cut();
  let best = null;
  for (const body of this.bodies) {
    if (state.hidden.has(body.info.name) || !panel.shows("simulated", body.run.number)) continue;
    const cellsOnly = state.cutOn && state.cellStyle === "whole" && body.quads;
    const skin = state.opacity > 0 && !cellsOnly ? pickSkin(body, ray, cut) : null;
    const cell = state.cutOn ? pickCell(body, ray) : null;
    for (const found of [skin, cell].filter(Boolean)) {
      if (!best || found.t < best.t) best = {...found, body};
    }
  }
  return best;
}

/// Picks {body, vertex} or {body, cell}, or lets go.
async pick(what) {
  if (what) {
    this.tabs.open("picked");
    await what.body.loadCells(this.source).catch(() => false);
  }
  this.marker.set(what);
  this.scene3d.invalidate();
  await this.picked.show(what, this.store.state.frame);
  // The facts of a cell are those of this frame, which has to be here.
  this.loader.refresh();
}

saveScreenshot() {
  this.scene3d.setMoving(false);
  const {frame} = this.store.state;
  const name = this.runs.map((run) => run.info.name).join("_");
  return saveScreenshot(
    this.scene3d, this.legend,
    `${this.runs.map((run) => run.info.name).join(", ")}${
      frame === null ? "" : `, frame ${frame}`}`,
    `${name}${frame === null ? "" : `_${String(frame).padStart(4, "0")}`}.png`);
}

/// Says what went wrong over the picture; the next frame that shows takes it away.
complain(error) {
  this.note.textContent = error.message;
  this.note.hidden = false;
}
}

async function start() {
  const source = new Source();
  try {
    const viewer = new Viewer(await source.json("/api/runs"), source);
    await viewer.start();
    window.sinew = debugHooks(viewer);
  } catch (error) {
    document.body.replaceChildren(el(
      "main", {class: "broken"}, el("h1", {}, "This run cannot be shown"),
      el("p", {}, error.message)));
    throw error;
  }
}

if (document.readyState === "loading")
  document.addEventListener("DOMContentLoaded", start);
else
  start();
