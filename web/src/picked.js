// A vertex or a cell that was clicked: where it is, what it feels, and both over time.
import {el} from "./dom.js";
import {COLOURS, parseRecord} from "./fields.js";
import {Plot} from "./plots.js";
import {short, unitFor} from "./units.js";

export class Picked {
  constructor({source, cache}, onframe, onclear) {
    Object.assign(this, {source, cache, onframe});
    this.what = null;
    this.plots = [];
    this.title = el("h2", {}, "Nothing picked");
    this.facts = el("dl", {class: "facts"});
    this.hint = el(
      "p", {class: "hint"},
      "Click on the skin, or on a cell of a cut, to see its values over time.");
    this.clear =
      el("button", {type: "button", class: "small", hidden: true, onclick: onclear}, "Let go");
    this.box = el("div", {class: "plots"});
    this.element = el(
      "div", {class: "picked"}, el("div", {class: "row spread"}, this.title, this.clear), this.hint,
      this.facts, this.box);
  }

  /// `what`: {body, vertex} or {body, cell}, or null.
  async show(what, frame) {
    this.what = what;
    this.clear.hidden = what === null;
    this.hint.hidden = what !== null;
    this.facts.replaceChildren();
    this.box.replaceChildren();
    this.plots = [];
    if (!what) {
      this.title.textContent = "Nothing picked";
      return;
    }
    this.title.textContent = what.vertex === undefined ?
      `Cell ${what.cell} of ${what.body.info.name}` :
      `Vertex ${what.vertex} of ${what.body.info.name}`;
    await this.renew();
    this.mark(frame);
  }

  /// Reads the values over time, again when more frames are stored.
  async renew() {
    const what = this.what;
    if (!what) return;
    const {body} = what;
    const curves = [];
    const first = body.info.stored?.[0] ?? 1;
    if (what.vertex !== undefined) curves.push(...await this.#pathCurves(body, what.vertex));
    const cell = what.cell ?? (body.cells ? body.cells.carrier[what.vertex] : null);
    if (cell !== null && body.info.cells > 0) curves.push(...await this.#cellCurves(body, cell));
    if (this.what !== what) return;
    what.carrier = cell;
    curves.forEach(({title, unit, series, values}, i) => {
      if (this.plots[i]?.title !== title || this.plots[i].unit !== unit) {
        const plot = new Plot({title, unit, series, onframe: this.onframe});
        this.plots[i]?.element.replaceWith(plot.element);
        if (!this.plots[i]) this.box.append(plot.element);
        this.plots[i] = plot;
      }
      this.plots[i].set(values[0].map((_, k) => first + k), values);
      this.plots[i].mark(this.frame);
    });
  }

  async #pathCurves(body, vertex) {
    const scale = body.run.info.unit;
    const path = await this.#path(body, vertex);
    const moved = [];
    const places = [[], [], []];
    for (let i = 0; i < path.length; i += 3) {
      const d = [0, 1, 2].map((k) => (path[i + k] - body.rest[3 * vertex + k]) * scale);
      moved.push(Math.hypot(...d));
      d.forEach((v, k) => places[k].push(v));
    }
    const {factor, unit} = unitFor("length", Math.max(...moved));
    const scaled = (list) => list.map((v) => v / factor);
    return [
      {title: "Displacement", unit, series: [""], values: [scaled(moved)]},
      {title: "Displacement along", unit, series: ["x", "y", "z"], values: places.map(scaled)},
    ];
  }

  /// Three numbers a stored frame. An exported page has no server to ask and reads its frames.
  async #path(body, vertex) {
    if (!this.source.isExported)
      return new Float32Array(await this.source.binary(`${body.path}/vertex/${vertex}`));
    const places = [];
    for (const frame of storedFrames(body)) {
      const buffer = await this.cache.get(`${body.path}/frame/${frame}`);
      places.push(...new Float32Array(buffer, 12 * vertex, 3));
    }
    return places;
  }

  async #cellValues(body, cell) {
    if (!this.source.isExported) return this.source.optionalJson(`${body.path}/cell/${cell}`, {});
    const values = {};
    for (const frame of storedFrames(body)) {
      const record = parseRecord(
        await this.cache.get(`${body.path}/fields/${frame}`), body.cells, body.info.fields);
      for (const key of body.info.fields)
        if (record[key] && key !== "contacts") (values[key] ??= []).push(record[key][cell]);
    }
    return values;
  }

  async #cellCurves(body, cell) {
    const values = await this.#cellValues(body, cell);
    return Object.entries(values)
      .filter(([key, list]) => COLOURS[key] && list.length > 0)
      .map(([key, list]) => {
        const {factor, unit} =
          unitFor(COLOURS[key].kind, Math.max(...list.map((v) => Math.abs(v ?? 0))));
        return {
          title: COLOURS[key].text,
          unit,
          series: [""],
          values: [list.map((v) => (v === null ? null : v / factor))]
        };
      });
  }

  /// The facts of the frame that shows.
  mark(frame) {
    this.frame = frame;
    for (const plot of this.plots) plot.mark(frame);
    if (!this.what) return;
    const {body, vertex} = this.what;
    const facts = [];
    if (body.run.count > 1) facts.push(["Run", body.run.info.name]);
    if (vertex !== undefined) {
      const p = Array.from(body.simulated.positions.subarray(3 * vertex, 3 * vertex + 3));
      facts.push(["Position", p.map((v) => short(v, 4)).join(", ")]);
    }
    facts.push(...this.#cellFacts(body));
    this.facts.replaceChildren(
      ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  }

  #cellFacts(body) {
    const cell = this.what.cell ?? this.what.carrier;
    if (!body.cells || cell === null || cell === undefined || cell >= body.cells.C) return [];
    const {cells, record} = body;
    const facts = [
      [
        "Cell",
        `${cell}, level ${cells.level[cell]}, edge ${
          withUnit("length", cells.edge * 2 ** cells.level[cell] * body.run.info.unit)}`
      ],
      ["Filled", `${short(100 * cells.fill[cell])} %`],
      ["Material", cells.materials[cells.materialOf[cell]] ?? "–"],
      ["Stiffness µ", withUnit("pressure", cells.mu[cell])]
    ];
    const muscle = cells.muscles[cells.muscleOf[cell]];
    if (muscle) facts.push(["Muscle", muscle]);
    for (const key of ["strain", "stress", "J", "pressure", "activation"]) {
      if (record?.[key])
        facts.push([COLOURS[key].text, withUnit(COLOURS[key].kind, record[key][cell])]);
    }
    return facts;
  }
}

function storedFrames(body) {
  const [first, last] = body.info.stored ?? [1, 0];
  return Array.from({length: last - first + 1}, (_, i) => first + i);
}

function withUnit(kind, value) {
  const {factor, unit} = unitFor(kind, value);
  return `${short(value / factor)} ${unit}`.trim();
}
