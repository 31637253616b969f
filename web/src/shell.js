// The frame of the page: bar at the top, picture, panels at the side, timeline at the bottom.
import {el, icon} from "./dom.js";

/// Panels of which one shows, chosen by tabs as screen readers know them.
export class Tabs {
  constructor(entries) {
    this.entries = entries;
    this.buttons = entries.map(
      ({key, text}, i) => el(
        "button", {
          type: "button",
          role: "tab",
          id: `tab-${key}`,
          "aria-controls": `panel-${key}`,
          onclick: () => this.open(key),
          onkeydown: (event) => this.#move(event, i)
        },
        text));
    this.panels = entries.map(
      ({key, content}) => el(
        "div", {
          role: "tabpanel",
          id: `panel-${key}`,
          class: "tab-panel",
          "aria-labelledby": `tab-${key}`,
          tabIndex: -1
        },
        content));
    this.element = el(
      "aside", {class: "side"},
      el("div", {class: "tabs", role: "tablist", "aria-label": "Panels"}, this.buttons),
      this.panels);
    this.open(entries[0].key);
  }

  open(key) {
    this.current = key;
    this.entries.forEach((entry, i) => {
      const chosen = entry.key === key;
      this.buttons[i].setAttribute("aria-selected", String(chosen));
      this.buttons[i].tabIndex = chosen ? 0 : -1;
      this.panels[i].hidden = !chosen;
    });
  }

  #move(event, i) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    event.stopPropagation();
    event.preventDefault();
    const next = (i + step + this.entries.length) % this.entries.length;
    this.open(this.entries[next].key);
    this.buttons[next].focus();
  }

  /// A number beside the text of a tab; 0 takes it away.
  badge(key, count) {
    const i = this.entries.findIndex((entry) => entry.key === key);
    if (i < 0) return;
    this.buttons[i].querySelector(".badge")?.remove();
    if (count > 0) this.buttons[i].append(el("span", {class: "badge"}, String(count)));
  }
}

const KEYS = [
  ["Space", "play or pause"], ["← →", "one frame back or on; with Shift ten"],
  ["Home, End", "first or last frame"], ["C", "cut open, or close"], ["W", "wireframe"],
  ["1, 2, 3", "from the front, the side, the top"], ["F", "whole scene in view"],
  ["J L I K", "turn left, right, up, down"], ["+ −", "nearer, further"], ["S", "save a picture"],
  ["?", "these keys"]
];

export function helpDialog() {
  const dialog = el(
    "dialog", {class: "help", "aria-label": "Keys and mouse"},
    el(
      "div", {class: "row spread"}, el("h2", {}, "Keys and mouse"),
      el(
        "button", {
          type: "button",
          class: "icon-button",
          "aria-label": "Close",
          onclick: () => dialog.close()
        },
        icon("close"))),
    el(
      "dl", {class: "keys"},
      KEYS.flatMap(([keys, text]) => [el("dt", {}, keys), el("dd", {}, text)]), [
        ["Drag", "turn"], ["Right drag", "shift"], ["Wheel", "nearer, further"],
        ["Click", "pick a place of the skin or a cell"]
      ].flatMap(([keys, text]) => [el("dt", {}, keys), el("dd", {}, text)])));
  return dialog;
}

/// The bar at the top: name, state with progress, buttons.
export function topBar({title, onview, onscreenshot, onhelp, onpanel}) {
  const state = el("span", {class: "state", role: "status"});
  const meter =
    el("progress", {max: 1, value: 0, hidden: true, "aria-label": "Progress of the run"});
  const follow = el("label", {class: "follow", hidden: true});
  const views = [["corner", "3/4"], ["front", "Front"], ["side", "Side"], ["top", "Top"]].map(
    ([key, text]) =>
      el("button", {type: "button", class: "segment", onclick: () => onview(key)}, text));
  const element = el(
    "header", {class: "top"}, el("span", {class: "brand"}, "Sinew"),
    el("h1", {class: "run-name", title}, title), state, meter, follow, el("span", {class: "grow"}),
    el("div", {class: "segments", role: "group", "aria-label": "Look from"}, views),
    el(
      "button", {
        type: "button",
        class: "small",
        onclick: () => onview(null),
        title: "Whole scene in view (F)"
      },
      icon("fit"), "Fit"),
    el(
      "button", {
        type: "button",
        class: "small",
        id: "screenshot",
        onclick: onscreenshot,
        title: "Save a picture (S)"
      },
      icon("camera"), "Picture"),
    el(
      "button", {
        type: "button",
        class: "icon-button",
        "aria-label": "Keys and mouse",
        title: "Keys and mouse (?)",
        onclick: onhelp
      },
      icon("help")),
    el(
      "button", {
        type: "button",
        class: "icon-button",
        "aria-label": "Show or hide the panels",
        onclick: onpanel
      },
      icon("panel")));
  return {element, state, meter, follow};
}
