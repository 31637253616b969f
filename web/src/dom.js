// Small helpers to build the page. Nothing here sets inline styles by attribute or markup from
// text, so the page works under the strictest content security policy.

const SVG = "http://www.w3.org/2000/svg";

/// An element with properties, listeners (onclick: function), attributes and children.
export function el(name, options = {}, ...children) {
  const node = document.createElement(name);
  assign(node, options);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

/// An element of a drawing.
export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

function assign(node, options) {
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class")
      node.className = value;
    else if (key.startsWith("on"))
      node.addEventListener(key.slice(2), value);
    else if (key in node && !key.includes("-"))
      node[key] = value;
    else
      node.setAttribute(key, value === true ? "" : value);
  }
}

const ICONS = {
  play: "M6 4l14 8-14 8z",
  pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  first: "M5 4h2.5v16H5zM20 4v16L9 12z",
  last: "M16.5 4H19v16h-2.5zM4 4l11 8-11 8z",
  back: "M17 4v16L6 12z",
  forward: "M7 4l11 8-11 8z",
  loop:
    "M17 3l4 4-4 4V8H8a3 3 0 0 0-3 3v1H3v-1a5 5 0 0 1 5-5h9zM7 21l-4-4 4-4v3h9a3 3 0 0 0 3-3v-1h2v1a5 5 0 0 1-5 5H7z",
  camera:
    "M9 4l-1.5 2H4a2 2 0 0 0-2 2v10a2 2 0 0 0 2 2h16a2 2 0 0 0 2-2V8a2 2 0 0 0-2-2h-3.5L15 4zm3 4.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zm0 2a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  help:
    "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm-1.2 15.2h2.2v2.2h-2.2zm4.2-5.6c-.9.9-1.9 1.3-1.9 3h-2.3c0-2.3 1-3.2 2-4.1.7-.7 1.3-1.1 1.3-2 0-1-.8-1.7-2-1.7-1.3 0-2.1.8-2.2 2.1H7.6c.1-2.6 1.9-4.2 4.5-4.2 2.5 0 4.3 1.5 4.3 3.7 0 1.6-.7 2.5-1.4 3.2z",
  fit: "M3 9V3h6v2H5v4zm12-6h6v6h-2V5h-4zM3 15h2v4h4v2H3zm16 0h2v6h-6v-2h4zM8 8h8v8H8z",
  close:
    "M5 6.4L6.4 5 12 10.6 17.6 5 19 6.4 13.4 12 19 17.6 17.6 19 12 13.4 6.4 19 5 17.6 10.6 12z",
  panel: "M3 4h18v16H3zm2 2v12h9V6z",
};

/// One of the page's signs, to stand beside or in place of a text.
export function icon(name) {
  return svg(
    "svg", {viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true"},
    svg("path", {d: ICONS[name], "fill-rule": "evenodd"}));
}

let labels = 0;

/// A text and the control that it names, in a row. A screen reader reads them together.
export function field(text, control, extra = null) {
  labels += 1;
  if (!control.id) control.id = `control-${labels}`;
  return el("div", {class: "field"}, el("label", {htmlFor: control.id}, text), control, extra);
}

/// A list to choose from; options are [value, text] or {group, options}.
export function choice(options, value, onchange) {
  const node = el("select", {onchange: () => onchange(node.value)});
  setOptions(node, options, value);
  return node;
}

export function setOptions(node, options, value) {
  const option = ([key, text]) => el("option", {value: key, textContent: text});
  node.replaceChildren(...options.map(
    (entry) =>
      (Array.isArray(entry) ? option(entry) :
                              el("optgroup", {label: entry.group}, entry.options.map(option)))));
  node.value = value;
}

/// A button that stays down; `pressed` is read back by `toggle.set`.
export function toggle(text, pressed, onchange, options = {}) {
  const node = el(
    "button", {
      type: "button",
      class: "toggle",
      ...options,
      onclick: () => {
        node.set(!node.pressed);
        onchange(node.pressed);
      }
    },
    text);
  node.set = (value) => {
    node.pressed = value;
    node.setAttribute("aria-pressed", String(value));
  };
  node.set(pressed);
  return node;
}

/// A row of buttons of which one is down.
export function segments(name, options, value, onchange) {
  const buttons = options.map(
    ([key, text]) => el(
      "button", {
        type: "button",
        class: "segment",
        "data-value": key,
        onclick: () => {
          group.set(key);
          onchange(key);
        }
      },
      text));
  const group = el("div", {class: "segments", role: "group", "aria-label": name}, buttons);
  group.set = (chosen) => buttons.forEach(
    (button, i) => button.setAttribute("aria-pressed", String(options[i][0] === chosen)));
  group.set(value);
  return group;
}

/// A slider; `onchange` hears every move.
export function slider(least, most, step, value, onchange) {
  return el("input", {
    type: "range",
    min: least,
    max: most,
    step,
    value,
    oninput: (event) => onchange(Number(event.target.value))
  });
}

/// A heading with a body that can be folded away.
export function section(title, ...children) {
  return el(
    "details", {class: "section", open: true}, el("summary", {}, title),
    el("div", {class: "section-body"}, children));
}
