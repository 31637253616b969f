// From what is chosen to colours on the screen: values, their range, the legend.
import {COLOURS, extent, settledRange} from "./fields.js";
import {categoryTexture, mapTexture} from "./shaders.js";

export class Colouring {
  constructor({store, runs, source, shared, legend, statistics}) {
    Object.assign(this, {store, runs, source, shared, legend, statistics});
    this.ranges = new Map();
    this.seen = new Map();
  }

  get bodies() {
    return this.runs.flatMap((run) => run.bodies);
  }

  /// The body of the other run with the same name, else with the same number.
  partner(body) {
    const other = this.runs[1 - body.run.number];
    if (!other) return null;
    return other.bodies.find((b) => b.info.name === body.info.name) ?? other.bodies[body.number] ??
      null;
  }

  /// Paints all bodies as they are now.
  paint() {
    const {state} = this.store;
    for (const body of this.bodies) body.paint(state.colour, this.partner(body));
    this.store.set({colourNote: this.#note(state)});
    this.shared.categories.value =
      categoryTexture(["none", "level"].includes(state.colour) ? "level" : "other");
    if (state.colour === "none" || COLOURS[state.colour].kind === "category")
      this.#showCategories(state);
    else
      this.#showMap(state);
  }

  /// What one should know of a colour, or nothing.
  #note({colour, rangeMode}) {
    const alike = this.bodies.every((body) => this.partner(body)?.V === body.V);
    if (colour === "difference" && !alike) {
      return "Grey bodies have no partner with as many vertices in the other run.";
    }
    const summed = this.bodies.some((body) => this.ranges.get(body)?.[colour]);
    const open = COLOURS[colour].kind === "length" && rangeMode === "run" && !summed;
    return open ? "The range is that of the frames seen so far." : "";
  }

  #showCategories({colour, cutOn, cellStyle}) {
    const cellsShow = cutOn && cellStyle !== "none" && this.bodies.some((body) => body.quads);
    const shown = colour === "none" && cellsShow ? "level" : colour;
    if (shown === "none") {
      this.legend.hide();
      return;
    }
    const info = this.bodies.map((body) => body.info).find((i) => i.cells > 0);
    const cell = this.bodies.find((body) => body.cells)?.cells;
    const names = {
      level: () =>
        Array.from({length: cell?.levels ?? info?.levels ?? 1}, (_, i) => this.#levelName(cell, i)),
      material: () => info?.materials ?? [],
      muscle: () => info?.muscles ?? []
    }[shown]();
    this.legend.showCategories(shown, names);
  }

  #levelName(cells, level) {
    if (!cells) return level === 0 ? "finest" : `level ${level}`;
    const millimetres = cells.edge * 2 ** level * this.runs[0].info.unit * 1000;
    return `${level === 0 ? "finest" : `level ${level}`}: ${Number(millimetres.toPrecision(3))} mm`;
  }

  #showMap({colour, map, rangeMode, range}) {
    this.#remember(colour);
    const wanted = rangeMode === "hand" ?
      range :
      settledRange(colour, rangeMode === "frame" ? this.#frameRange() : this.#runRange(colour));
    this.shared.map.value = mapTexture(map);
    this.shared.range.value.set(...wanted);
    this.legend.showMap(colour, map, wanted);
    if (wanted[0] !== range[0] || wanted[1] !== range[1]) this.store.set({range: wanted});
  }

  #frameRange() {
    const found = this.bodies.map((body) => extent(body.simulated.values)).filter(Boolean);
    if (found.length === 0) return null;
    return [Math.min(...found.map((r) => r[0])), Math.max(...found.map((r) => r[1]))];
  }

  /// Widens what has been seen of colours whose range over the run nobody has summed up.
  #remember(colour) {
    const now = this.#frameRange();
    if (!now) return;
    const before = this.seen.get(colour) ?? now;
    this.seen.set(colour, [Math.min(before[0], now[0]), Math.max(before[1], now[1])]);
  }

  #runRange(colour) {
    const found = this.bodies
                    .map((body) => {
                      const range = this.ranges.get(body)?.[colour];
                      const scale = COLOURS[colour].kind === "length" ? body.run.info.unit : 1;
                      return range ? range.map((v) => v * scale) : null;
                    })
                    .filter((range) => range && range.every(Number.isFinite));
    if (found.length === 0) return this.seen.get(colour) ?? null;
    return [Math.min(...found.map((r) => r[0])), Math.max(...found.map((r) => r[1]))];
  }

  /// Reads the ranges over all stored frames.
  async loadRanges() {
    await Promise.all(this.bodies.map(async (body) => {
      if (body.info.stored)
        this.ranges.set(body, await this.source.optionalJson(`${body.path}/range`, {}));
    }));
  }
}
