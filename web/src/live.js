// Follows a run that is still going on: asks once a second how far it is, until it is done.
import {el} from "./dom.js";
import {progressText} from "./info.js";

const EVERY_MILLISECONDS = 1000;
const WHEN_LOST_MILLISECONDS = 3000;

export class Live {
  /// `onchange` hears when frames came or a state changed.
  constructor({store, runs, source, bar, statistics, onchange}) {
    Object.assign(this, {store, runs, source, bar, statistics, onchange});
    const box = el("input", {
      type: "checkbox",
      id: "follow",
      checked: store.state.follow,
      onchange: () => store.set({follow: box.checked})
    });
    bar.follow.append(box, "Follow");
    store.on(["follow"], () => {
      box.checked = store.state.follow;
    });
    this.draw();
    if (this.running && !source.isExported) this.#later(EVERY_MILLISECONDS);
  }

  get running() {
    return this.runs.some((run) => run.info.state === "running");
  }

  #later(milliseconds) {
    setTimeout(() => this.#ask(), milliseconds);
  }

  async #ask() {
    let answer;
    try {
      answer = await this.source.json("/api/runs");
    } catch {
      this.bar.state.textContent = "The server does not answer";
      this.bar.state.className = "state failed";
      this.#later(WHEN_LOST_MILLISECONDS);
      return;
    }
    if (this.runs.some((run, r) => run.isAnother(answer.runs[r]))) {
      window.location.reload();
      return;
    }
    const changed = this.runs.map((run, r) => run.update(answer.runs[r])).some(Boolean);
    if (changed) await this.onchange();
    this.draw();
    if (this.running) this.#later(EVERY_MILLISECONDS);
  }

  draw() {
    const {bar} = this;
    const run = this.runs.find((r) => r.info.state === "running") ?? this.runs[0];
    const {info} = run;
    bar.state.textContent = progressText(info, this.statistics.pace(run.number));
    bar.state.className = `state ${info.state}`;
    // An exported page stays as it is, also that of a run which was still going on.
    const growing = this.running && !this.source.isExported;
    bar.meter.hidden = !growing;
    bar.follow.hidden = !growing;
    const [first, last] = info.frames;
    bar.meter.value = info.stored ? (info.stored[1] - first + 1) / (last - first + 1) : 0;
  }
}
