// Brings frames to the screen: asks for what a frame needs, shows the newest one that was wanted,
// gives up what has been scrubbed past, and reads ahead while playing.

const AHEAD = 8;

export class FrameLoader {
  /// `needs(frame)` lists the paths of a frame; `show(frame, buffers)` puts it on the screen.
  constructor(cache, needs, show, complain) {
    Object.assign(this, {cache, needs, show, complain});
    this.shown = null;
    this.target = null;
    this.loading = null;
    this.shownAt = 0;
  }

  /// Wants this frame on the screen. If all of it is here it shows at once. A jump gives up what
  /// was read ahead; playing does not.
  go(frame, {playing = false} = {}) {
    this.target = frame;
    const paths = this.needs(frame);
    if (!playing) this.cache.abortOthers(new Set(paths));
    if (paths.every((path) => this.cache.has(path))) {
      this.loading = null;
      this.#display(frame, paths);
      return;
    }
    this.#load(frame, paths);
  }

  /// Shows the target again with what is needed now, after a change of what is to be seen.
  refresh() {
    if (this.target !== null) this.go(this.target);
  }

  async #load(frame, paths) {
    this.loading = frame;
    try {
      await Promise.all(paths.map((path) => this.cache.get(path)));
    } catch (error) {
      if (error.name === "AbortError") return;
      this.loading = null;
      this.complain(error);
      return;
    }
    if (this.loading !== frame) return;
    this.loading = null;
    this.#display(frame, paths);
  }

  #display(frame, paths) {
    const start = performance.now();
    const buffers = new Map(paths.map((path) => [path, this.cache.peek(path)]));
    // One that is larger than the whole cache has left it already.
    if ([...buffers.values()].some((buffer) => !buffer)) return;
    this.shown = frame;
    this.shownAt = performance.now();
    this.show(frame, buffers);
    this.applyMilliseconds = performance.now() - start;
  }

  /// Asks for the frames that play next, a few at a time.
  readAhead(frames) {
    for (const frame of frames.slice(0, AHEAD)) {
      for (const path of this.needs(frame)) {
        if (this.cache.pending.size >= AHEAD) return;
        if (!this.cache.has(path)) this.cache.get(path).catch(() => {});
      }
    }
  }
}
