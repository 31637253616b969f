// The run itself: how it stands, its scene file, what it said.
import {el} from "./dom.js";
import {duration, short} from "./units.js";

const KEYWORD =
  /("(?:\\.|[^"\\])*"(?=\s*:))|("(?:\\.|[^"\\])*")|(-?\d[\d.eE+-]*)|(true|false|null)/g;

/// JSON text with its parts marked for colours.
function coloured(text) {
  const out = [];
  let last = 0;
  for (const match of text.matchAll(KEYWORD)) {
    out.push(text.slice(last, match.index));
    const kind =
      ["key", "text", "number", "word"][match.slice(1).findIndex((part) => part !== undefined)];
    out.push(el("span", {class: `json-${kind}`}, match[0]));
    last = match.index + match[0].length;
  }
  out.push(text.slice(last));
  return out;
}

/// Two blanks a level, short lists and objects on one line.
export function prettyJson(value, indent = "") {
  const flat = JSON.stringify(value);
  if (value === null || typeof value !== "object") return flat;
  if (flat.length + indent.length <= 60)
    return flat.replace(/([,:])(?=[^\s])(?=(?:[^"]*"[^"]*")*[^"]*$)/g, "$1 ");
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => inner + prettyJson(item, inner)).join(",\n")}\n${indent}]`;
  }
  return `{\n${
    Object.entries(value)
      .map(([key, item]) => `${inner}${JSON.stringify(key)}: ${prettyJson(item, inner)}`)
      .join(",\n")}\n${indent}}`;
}

export class Info {
  constructor(runs, source) {
    Object.assign(this, {runs, source});
    this.element = el("div", {class: "info"});
  }

  /// Reads scenes and messages; how many warnings and errors there are.
  async update() {
    const parts = [];
    let notable = 0;
    for (const run of this.runs) {
      const [messages, scene] = await Promise.all([
        this.source.optionalJson(`/api/${run.number}/messages`, []),
        run.scene ?? this.source.optionalJson(`/api/${run.number}/scene`, null),
      ]);
      run.scene = scene;
      notable += messages.filter((message) => message.level !== "info").length;
      parts.push(this.#run(run, messages, scene));
    }
    const open =
      new Set([...this.element.querySelectorAll("details[open]")].map((node) => node.dataset.part));
    this.element.replaceChildren(...parts.flat());
    for (const node of this.element.querySelectorAll("details")) {
      if (open.has(node.dataset.part)) node.open = true;
    }
    return notable;
  }

  #run(run, messages, scene) {
    const {info} = run;
    const facts = [
      ["Folder", info.folder],
      ["State", info.state + (info.reason ? `: ${info.reason}` : "")],
      [
        "Frames",
        info.stored ? `${info.stored[0]} to ${info.stored[1]} of ${info.frames[1]}` :
                      `none of ${info.frames[1]}`
      ],
      ["Rate", `${short(info.fps)} frames a second`],
      ["Unit", `${short(info.unit)} m`],
      ["Up", info.up],
      ...info.bodies.map(
        (body) =>
          [body.name,
           [
             `${body.vertices.toLocaleString("en")} vertices`,
             `${body.triangles.toLocaleString("en")} triangles`,
             body.cells ? `${body.cells.toLocaleString("en")} cells in ${body.levels} levels` :
                          "no cells kept"
           ].join(", ")]),
    ];
    return [
      this.runs.length > 1 ? el("h2", {}, `${"AB"[run.number]}: ${info.name}`) :
                             el("h2", {}, info.name),
      el(
        "dl", {class: "facts"},
        facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      el("h3", {}, "What the run said"),
      messages.length === 0 ?
        el("p", {class: "hint"}, "No warnings.") :
        el(
          "ul", {class: "messages"},
          messages.map(
            ({level, text}) =>
              el("li", {class: `message ${level}`}, el("strong", {}, `${level}: `), text))),
      el(
        "details", {class: "scene-file", "data-part": `scene${run.number}`},
        el("summary", {}, "Scene file, every default written out"),
        el(
          "pre", {tabIndex: 0, "aria-label": "Scene file"},
          scene ? coloured(prettyJson(scene)) : "no scene")),
    ];
  }
}

/// How far a run is, in words for the bar at the top.
export function progressText(info, pace) {
  if (info.state !== "running") {
    return {
      done: "Done",
      interrupted: "Interrupted",
      failed: "Failed",
      killed: "Killed before its end",
      checked: "Checked"
    }[info.state] ??
      info.state;
  }
  const [first, last] = info.frames;
  const stored = info.stored ? info.stored[1] - first + 1 : 0;
  const left = (last - first + 1 - stored) * pace;
  return `Running: ${stored} of ${last - first + 1}${
    Number.isFinite(left) ? `, ${duration(left)} left` : ""}`;
}
