// Where the page's data comes from: elements embedded in an exported page, else the server that
// gave the page. Frames are kept in a cache that is bounded in bytes and asked for ahead of time;
// requests that nobody waits for any more are given up.

/// Raw deflate of base64 text, as an exported page embeds answers.
async function inflate(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).arrayBuffer();
}

/// Reads answers by path. Embedded ones go first; with any embedded there is no server.
export class Source {
  constructor() {
    this.embedded = new Map();
    for (const node of document.querySelectorAll("script[data-path]")) {
      this.embedded.set(node.dataset.path, node);
    }
    this.requests = 0;
    this.aborted = 0;
  }

  get isExported() {
    return this.embedded.size > 0;
  }

  has(path) {
    return !this.isExported || this.embedded.has(path);
  }

  async binary(path, signal) {
    const node = this.embedded.get(path);
    if (node) return inflate(node.textContent);
    if (this.isExported) throw new Error(`${path} is not in this file`);
    this.requests += 1;
    const response = await fetch(path, {signal}).catch((error) => {
      if (error.name === "AbortError") throw error;
      throw new Error("The server does not answer. Is sinew view still running?");
    });
    if (!response.ok) throw new Error(await explain(response, path));
    return response.arrayBuffer();
  }

  async json(path) {
    return JSON.parse(new TextDecoder().decode(await this.binary(path)));
  }

  /// The answer, or `fallback` if there is none; for what a run need not have.
  async optionalJson(path, fallback) {
    try {
      return await this.json(path);
    } catch {
      return fallback;
    }
  }
}

async function explain(response, path) {
  try {
    return (await response.json()).error;
  } catch {
    return `${path}: the server answered ${response.status}`;
  }
}

/// How much of the machine's memory frames may take: a sixteenth, 128 MB to 512 MB.
function defaultBudget() {
  const gigabytes = navigator.deviceMemory ?? 4;
  return Math.min(Math.max(gigabytes * 64, 128), 512) * 2 ** 20;
}

/// Answers by path, the least recently used leaving first when they exceed `budget` bytes.
export class FrameCache {
  constructor(source, budget = defaultBudget()) {
    this.source = source;
    this.budget = budget;
    this.bytes = 0;
    this.kept = new Map();
    this.pending = new Map();
  }

  /// The answer if it is here already, and then as the most recently used.
  peek(path) {
    const buffer = this.kept.get(path);
    if (buffer === undefined) return null;
    this.kept.delete(path);
    this.kept.set(path, buffer);
    return buffer;
  }

  has(path) {
    return this.kept.has(path);
  }

  /// The answer, asked for if need be. Two who ask for the same path share one request.
  get(path) {
    const buffer = this.peek(path);
    if (buffer) return Promise.resolve(buffer);
    const pending = this.pending.get(path);
    if (pending) return pending.promise;
    const controller = new AbortController();
    const promise = this.source.binary(path, controller.signal)
                      .then((answer) => {
                        this.put(path, answer);
                        return answer;
                      })
                      .finally(() => {
                        if (this.pending.get(path)?.controller === controller)
                          this.pending.delete(path);
                      });
    this.pending.set(path, {promise, controller});
    return promise;
  }

  put(path, buffer) {
    if (this.kept.has(path)) return;
    this.kept.set(path, buffer);
    this.bytes += buffer.byteLength;
    for (const [oldest, old] of this.kept) {
      if (this.bytes <= this.budget || oldest === path) break;
      this.kept.delete(oldest);
      this.bytes -= old.byteLength;
    }
  }

  /// Give up every request that is not for one of `wanted`.
  abortOthers(wanted) {
    for (const [path, {controller}] of this.pending) {
      if (wanted.has(path)) continue;
      this.pending.delete(path);
      this.source.aborted += 1;
      controller.abort();
    }
  }
}
