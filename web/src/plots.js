// Curves over frames on a canvas of our own: axes with round numbers, the current frame marked,
// values under the pointer, a click goes to that frame.
import {el} from "./dom.js";
import {short, ticks, tickTexts} from "./units.js";

const MARGIN = {
  right: 8,
  top: 8,
  bottom: 18
};
const LEAST_LEFT = 40;
const INK = {
  grid: "#2c333d",
  text: "#a9b4c2",
  now: "#f2f5f9",
  hover: "#8b97a7"
};
export const CURVES = ["#5fd3c4", "#f2a65e", "#a99bf5", "#f27a8a"];

export class Plot {
  /// `series`: names of the curves. `log`: a logarithmic axis. `onframe`: hears clicks.
  constructor({title, unit = "", series = [""], log = false, height = 96, onframe}) {
    Object.assign(this, {title, unit, series, log, height, onframe});
    this.frames = [];
    this.values = series.map(() => []);
    this.hover = null;
    this.left = LEAST_LEFT;
    this.canvas = el("canvas", {class: "plot", role: "img"});
    this.readout = el("span", {class: "plot-value"});
    this.key = el(
      "span", {class: "plot-key"},
      series.length > 1 ? series.map((name, i) => el("span", {class: `curve curve-${i}`}, name)) :
                          []);
    this.element = el(
      "figure", {class: "plot-box"},
      el(
        "figcaption", {},
        el(
          "span", {class: "plot-title"}, title,
          unit ? el("span", {class: "unit"}, ` ${unit}`) : null),
        this.readout, this.key),
      this.canvas);
    this.#listen();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  #listen() {
    const frameAt = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return this.#frameAt(event.clientX - box.left);
    };
    this.canvas.addEventListener("pointermove", (event) => {
      this.hover = frameAt(event);
      this.draw();
    });
    this.canvas.addEventListener("pointerleave", () => {
      this.hover = null;
      this.draw();
    });
    this.canvas.addEventListener("click", (event) => {
      const frame = frameAt(event);
      if (frame !== null) this.onframe?.(frame);
    });
  }

  /// New curves: a list of values for each series, one for each of `frames`; null leaves a gap.
  set(frames, values) {
    this.frames = frames;
    this.values = values;
    this.draw();
  }

  /// Marks a frame.
  mark(frame) {
    this.now = frame;
    this.draw();
  }

  #frameAt(x) {
    if (this.frames.length === 0) return null;
    const first = this.frames[0];
    const last = this.frames[this.frames.length - 1];
    const share = (x - this.left) / Math.max(this.width - this.left - MARGIN.right, 1);
    return Math.round(Math.min(Math.max(first + share * (last - first), first), last));
  }

  draw() {
    const ratio = window.devicePixelRatio;
    this.width = this.canvas.clientWidth;
    if (this.width === 0) return;
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width !== width || this.canvas.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = "11px system-ui, sans-serif";
    this.#scales(context);
    this.#drawAxes(context);
    this.values.forEach((values, i) => this.#drawCurve(context, values, CURVES[i % CURVES.length]));
    this.#drawMarks(context);
    this.#describe();
  }

  /// Sets this.x and this.y, which take frames and values to pixels.
  #scales(context) {
    let least = Infinity;
    let most = -Infinity;
    for (const v of this.values.flat()) {
      if (v === null || !Number.isFinite(v) || (this.log && v <= 0)) continue;
      least = Math.min(least, v);
      most = Math.max(most, v);
    }
    if (least > most) [least, most] = this.log ? [0.1, 1] : [0, 1];
    if (!this.log) {
      if (least > 0 && least < 0.6 * most) least = 0;
      if (least === most)
        [least, most] = [least - Math.abs(least) * 0.1 - 1e-9, most + Math.abs(most) * 0.1 + 1e-9];
    }
    const place = this.log ? Math.log10 : (v) => v;
    const [a, b] = [place(least), place(most)];
    const pad = (b - a) * 0.06 || 0.5;
    const low = least === 0 ? 0 : a - pad;
    const high = b + pad;
    const inner = this.height - MARGIN.top - MARGIN.bottom;
    this.low = low;
    this.high = high;
    this.y = (v) => MARGIN.top + inner * (1 - (place(v) - low) / (high - low));
    this.marks = this.#valueTicks();
    this.texts = this.log ? this.marks.map((v) => short(v, 2)) : tickTexts(this.marks);
    this.left =
      Math.max(LEAST_LEFT, ...this.texts.map((text) => context.measureText(text).width + 10));
    const first = this.frames[0] ?? 0;
    const last = this.frames[this.frames.length - 1] ?? 1;
    const room = this.width - this.left - MARGIN.right;
    this.x = (f) => this.left + (room * (f - first)) / Math.max(last - first, 1);
  }

  #drawAxes(context) {
    context.lineWidth = 1;
    context.strokeStyle = INK.grid;
    context.fillStyle = INK.text;
    context.textBaseline = "middle";
    context.textAlign = "right";
    this.marks.forEach((v, i) => {
      const y = Math.round(this.y(v)) + 0.5;
      line(context, this.left, y, this.width - MARGIN.right, y);
      context.fillText(this.texts[i], this.left - 6, y);
    });
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    const first = this.frames[0] ?? 0;
    const last = this.frames[this.frames.length - 1] ?? 1;
    for (const f of ticks(first, last, 5).filter((v) => Number.isInteger(v))) {
      context.fillText(String(f), this.x(f), this.height - 4);
    }
  }

  #valueTicks() {
    if (!this.log) return ticks(this.low, this.high, 3);
    const powers = [];
    for (let p = Math.ceil(this.low); p <= this.high; p += 1) powers.push(10 ** p);
    const every = Math.ceil(powers.length / 4);
    return powers.length ? powers.filter((_, i) => i % every === 0) :
                           [10 ** ((this.low + this.high) / 2)];
  }

  #drawCurve(context, values, colour) {
    context.strokeStyle = colour;
    context.lineWidth = 1.6;
    context.lineJoin = "round";
    context.beginPath();
    let inside = false;
    values.forEach((v, i) => {
      const known = v !== null && Number.isFinite(v) && !(this.log && v <= 0);
      if (known && inside)
        context.lineTo(this.x(this.frames[i]), this.y(v));
      else if (known)
        context.moveTo(this.x(this.frames[i]), this.y(v));
      inside = known;
    });
    context.stroke();
    if (this.frames.length === 1 && values[0] !== null) {
      context.fillStyle = colour;
      context.fillRect(this.x(this.frames[0]) - 1.5, this.y(values[0]) - 1.5, 3, 3);
    }
  }

  #drawMarks(context) {
    context.lineWidth = 1;
    for (const [frame, colour] of [[this.hover, INK.hover], [this.now, INK.now]]) {
      if (frame === null || frame === undefined) continue;
      const x = Math.round(this.x(frame)) + 0.5;
      if (x < this.left - 1 || x > this.width - MARGIN.right + 1) continue;
      context.strokeStyle = colour;
      line(context, x, MARGIN.top - 4, x, this.height - MARGIN.bottom);
    }
    const i = this.frames.indexOf(this.hover ?? this.now);
    if (i < 0) return;
    this.values.forEach((values, k) => {
      if (values[i] === null || !Number.isFinite(values[i])) return;
      context.fillStyle = CURVES[k % CURVES.length];
      context.beginPath();
      context.arc(this.x(this.frames[i]), this.y(values[i]), 3, 0, 7);
      context.fill();
    });
  }

  /// The values at the pointer or at the current frame, as text.
  #describe() {
    const frame = this.hover ?? this.now;
    const i = this.frames.indexOf(frame);
    const texts = i < 0 ? [] : this.values.map((values) => short(values[i]));
    this.readout.textContent = texts.join(" · ");
    this.canvas.setAttribute(
      "aria-label",
      `${this.title} over frames ${this.frames[0] ?? "–"} to ${
        this.frames[this.frames.length - 1] ??
        "–"}; at frame ${frame ?? "–"}: ${texts.join(", ") || "nothing"}`);
  }
}

function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}
