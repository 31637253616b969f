// Plots of what the solver did, frame by frame, read from stats.jsonl as it grows.
import {el} from "./dom.js";
import {Plot} from "./plots.js";

const sum = (list) => (Array.isArray(list) ? list.reduce((a, b) => a + b, 0) : list ?? null);

/// Title, unit, what to take of a line of the statistics; several curves have names.
const PLOTS = [
  {title: "Time a frame", unit: "s", read: (s) => s.seconds},
  {title: "Newton steps", read: (s) => s.newton},
  {title: "Krylov iterations", read: (s) => sum(s.krylov)},
  {title: "Residual", log: true, read: (s) => s.residual},
  {
    title: "Energy",
    unit: "J",
    series: ["elastic", "kinetic", "gravity", "work"],
    read: (s, name) => s.energy?.[name]
  },
  {
    title: "Volume error",
    unit: "%",
    read: (s) => (s.volume_error === null ? null : 100 * s.volume_error)
  },
  {title: "Smallest J", read: (s) => s.min_j},
  {title: "Contacts", read: (s) => s.contacts},
  {title: "Deepest penetration", unit: "mm", read: (s) => 1000 * s.max_penetration},
];

export class Statistics {
  /// With two runs the curves of both are drawn together, energies of the first only.
  constructor(runs, onframe) {
    this.runs = runs;
    this.lines = runs.map(() => []);
    this.plots = PLOTS.map((spec) => {
      const series = spec.series ?? (runs.length > 1 ? runs.map((run) => run.info.name) : [""]);
      return new Plot({...spec, series, onframe});
    });
    this.empty = el("p", {class: "hint"}, "Statistics come with the first frame.");
    this.element = el(
      "div", {class: "plots"}, el("p", {class: "hint"}, "Click in a plot to go to that frame."),
      this.empty, this.plots.map((plot) => plot.element));
  }

  /// Reads what is new since the last time.
  async update(source) {
    await Promise.all(this.runs.map(async (run, r) => {
      const known = this.lines[r];
      const from = known.length ? known[known.length - 1].frame + 1 : 0;
      const path = from === 0 || !source.has(`/api/${run.number}/stats?from=${from}`) ?
        `/api/${run.number}/stats` :
        `/api/${run.number}/stats?from=${from}`;
      if (source.isExported && known.length) return;
      const fresh = await source.optionalJson(path, []);
      known.push(...fresh.filter((line) => line.frame >= from));
    }));
    this.#draw();
  }

  #draw() {
    const frames = [...new Set(this.lines.flat().map((line) => line.frame))].sort((a, b) => a - b);
    const byFrame = this.lines.map((lines) => new Map(lines.map((line) => [line.frame, line])));
    this.empty.hidden = frames.length > 0;
    PLOTS.forEach((spec, i) => {
      const take = (run, name) => frames.map((frame) => {
        const found = byFrame[run].get(frame);
        const value = found ? spec.read(found, name) : null;
        return value === undefined || Number.isNaN(value) ? null : value;
      });
      const curves =
        spec.series ? spec.series.map((name) => take(0, name)) : this.runs.map((_, r) => take(r));
      this.plots[i].set(frames, curves);
    });
  }

  mark(frame) {
    for (const plot of this.plots) plot.mark(frame);
  }

  /// Seconds a frame lately, for the time that is left.
  pace(run) {
    const recent = this.lines[run].slice(-8);
    return recent.length ? recent.reduce((a, line) => a + line.seconds, 0) / recent.length : NaN;
  }
}
