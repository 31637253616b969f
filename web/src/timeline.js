// The strip at the bottom: play, scrub, speed, loop. Knows which frames are stored and which are
// in memory already.
import {choice, el, icon, toggle} from "./dom.js";

const SPEEDS =
  [["0.1", "0.1×"], ["0.25", "¼×"], ["0.5", "½×"], ["1", "1×"], ["2", "2×"], ["4", "4×"]];

export class Timeline {
  /// `store` holds frame, playing, speed, loop; `range()` is [first, last] stored, or null.
  constructor(store, {fps, range}) {
    Object.assign(this, {store, fps, range});
    const button = (name, label, key, act) => el(
      "button", {
        type: "button",
        class: "icon-button",
        title: `${label} (${key})`,
        "aria-label": label,
        onclick: act
      },
      icon(name));
    this.play =
      el("button", {type: "button", class: "play", id: "play", onclick: () => this.togglePlay()});
    this.scrub = el("input", {
      type: "range",
      id: "frame-slider",
      class: "scrub",
      min: 1,
      max: 1,
      step: 1,
      "aria-label": "Frame",
      oninput: () => this.jump(Number(this.scrub.value))
    });
    this.buffered = el("canvas", {class: "buffered", "aria-hidden": "true"});
    this.number = el("input", {
      type: "number",
      id: "frame-number",
      "aria-label": "Frame number",
      onchange: () => this.jump(Number(this.number.value))
    });
    this.total = el("span", {class: "total"});
    this.time = el("span", {class: "time"});
    this.speed = choice(SPEEDS, "1", (value) => store.set({speed: Number(value)}));
    this.speed.id = "speed";
    this.loop =
      toggle([icon("loop"), "Loop"], store.state.loop, (loop) => store.set({loop}), {id: "loop"});
    this.element = el(
      "div", {class: "timeline", role: "group", "aria-label": "Timeline"},
      el(
        "div", {class: "transport"}, this.play,
        button("first", "First frame", "Home", () => this.jump(-Infinity)),
        button("back", "One frame back", "Left", () => this.step(-1)),
        button("forward", "One frame on", "Right", () => this.step(1)),
        button("last", "Last frame", "End", () => this.jump(Infinity))),
      el("div", {class: "track"}, this.buffered, this.scrub),
      el(
        "div", {class: "where"}, el("label", {htmlFor: "frame-number"}, "Frame"), this.number,
        this.total, this.time),
      el("div", {class: "pace"}, el("label", {htmlFor: "speed"}, "Speed"), this.speed, this.loop));
    store.on(["frame", "playing", "stored"], () => this.draw());
    this.draw();
  }

  draw() {
    const {frame, playing} = this.store.state;
    const range = this.range();
    this.play.replaceChildren(icon(playing ? "pause" : "play"), playing ? "Pause" : "Play");
    this.play.title = "Play or pause (space)";
    this.play.setAttribute("aria-pressed", String(playing));
    const [first, last] = range ?? [1, 1];
    this.scrub.min = first;
    this.scrub.max = last;
    this.scrub.value = frame ?? first;
    this.scrub.disabled = this.play.disabled = this.number.disabled = range === null;
    if (document.activeElement !== this.number) this.number.value = frame ?? first;
    this.number.min = first;
    this.number.max = last;
    this.total.textContent = `of ${last}`;
    this.time.textContent = `${(((frame ?? first) - first) / this.fps).toFixed(2)} s`;
    this.scrub.setAttribute("aria-valuetext", `frame ${frame} of ${last}`);
  }

  togglePlay() {
    const range = this.range();
    if (!range) return;
    const {playing, frame} = this.store.state;
    // Played to the end: once more from the start.
    if (!playing && frame >= range[1]) this.jump(range[0], true);
    this.store.set({playing: !playing});
  }

  /// To a frame, kept within those that are stored. Scrubbing stops playing; it also stops following
  /// a run that goes on, which going to its end begins again.
  jump(frame, playing = false) {
    const range = this.range();
    if (!range || Number.isNaN(frame)) return;
    const wanted = Math.round(Math.min(Math.max(frame, range[0]), range[1]));
    const follow = wanted === range[1] && (this.store.state.follow || frame === Infinity);
    this.store.set({frame: wanted, ...(playing ? {} : {playing: false, follow})});
  }

  step(count) {
    this.jump((this.store.state.frame ?? 0) + count);
  }

  /// Called for every picture while playing: the frame that time has come to, or null when it has
  /// not moved on. Frames are left out where the machine is too slow for the pace.
  tick(now) {
    const {playing, speed, frame, loop} = this.store.state;
    const range = this.range();
    if (!playing || !range) {
      this.last = null;
      return null;
    }
    this.last ??= now;
    const due = ((now - this.last) / 1000) * this.fps * speed;
    if (due < 1) return null;
    this.last += (Math.floor(due) * 1000) / (this.fps * speed);
    const next = frame + Math.floor(due);
    if (next <= range[1]) return next;
    if (loop && range[1] > range[0])
      return range[0] + ((next - range[0]) % (range[1] - range[0] + 1));
    this.store.set({playing: false});
    return range[1];
  }

  /// The frames that play next, for reading ahead.
  coming(count) {
    const range = this.range();
    if (!range) return [];
    const {frame, loop} = this.store.state;
    const length = range[1] - range[0] + 1;
    return Array.from({length: count}, (_, i) => frame + 1 + i)
      .map(
        (f) =>
          (f <= range[1] ? f :
             loop        ? range[0] + ((f - range[0]) % length) :
                           null))
      .filter((f) => f !== null);
  }

  /// Paints which frames are in memory along the track.
  drawBuffered(has) {
    const range = this.range();
    const width = this.buffered.clientWidth;
    if (!range || width === 0) return;
    this.buffered.width = width;
    this.buffered.height = 3;
    const context = this.buffered.getContext("2d");
    context.fillStyle = "#5fd3c4";
    const count = range[1] - range[0] + 1;
    const room = width / count;
    for (let i = 0; i < count; i += 1) {
      if (has(range[0] + i)) context.fillRect(i * room, 0, Math.max(room, 0.5), 3);
    }
  }
}
