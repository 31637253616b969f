// The controls of the picture, in the order people look for them: colour, cut, surfaces, things.
import {choice, el, field, section, segments, setOptions, slider, toggle} from "./dom.js";
import {colourMaps} from "./colours.js";
import {COLOURS, coloursOf} from "./fields.js";
import {short, unitFor} from "./units.js";

/// The colours that some body can show, by what they are about.
function colourChoices(runs) {
  const keys =
    new Set(runs.flatMap((run) => run.bodies.flatMap((body) => coloursOf(body.info, runs.length))));
  const entries = [...keys].map((key) => [key, COLOURS[key].text]);
  const is = (test) => entries.filter(([key]) => test(COLOURS[key], key));
  const groups = [
    {
      group: "Motion",
      options: is((c, key) => ["displacement", "skinned", "difference"].includes(key))
    },
    {group: "In the flesh", options: is((c, key) => c.field || key === "penetration")},
    {group: "How it is built", options: is((c) => c.kind === "category")},
  ];
  return [["none", COLOURS.none.text], ...groups.filter((group) => group.options.length > 0)];
}

export class Look {
  constructor(store, runs) {
    this.store = store;
    this.runs = runs;
    this.element =
      el("div", {class: "look"}, this.#colour(), this.#cut(), this.#surfaces(), this.#things());
    store.on(
      [
        "colour", "rangeMode", "range", "cutOn", "cutAxis", "cutAt", "opacity", "map", "cellStyle",
        "kinds", "layout", "things", "wireframe", "colourNote"
      ],
      () => this.draw());
    this.draw();
  }

  #colour() {
    const {store} = this;
    this.colour = choice(colourChoices(this.runs), store.state.colour, (colour) => store.set({
      colour,
      map: COLOURS[colour].map ?? store.state.map,
      rangeMode: store.state.rangeMode === "hand" ? "run" : store.state.rangeMode
    }));
    this.colour.id = "colour";
    this.rangeMode = segments(
      "Range of the colours", [["run", "Whole run"], ["frame", "This frame"], ["hand", "By hand"]],
      store.state.rangeMode, (rangeMode) => store.set({rangeMode}));
    const end = (which, text) => el("input", {
      type: "number",
      step: "any",
      "aria-label": text,
      onchange: (event) => this.#setEnd(which, Number(event.target.value))
    });
    this.ends = [end(0, "Least value"), end(1, "Most value")];
    this.endUnit = el("span", {class: "unit"});
    this.hand =
      el("div", {class: "ends"}, this.ends[0], el("span", {}, "to"), this.ends[1], this.endUnit);
    this.map = choice(colourMaps(), store.state.map, (map) => store.set({map}));
    this.colourDetail =
      el("div", {class: "stack"}, this.rangeMode, this.hand, field("Colours", this.map));
    this.colourNote = el("p", {class: "hint"});
    return section("Colour", field("Show", this.colour), this.colourDetail, this.colourNote);
  }

  #setEnd(which, value) {
    const {range, colour} = this.store.state;
    const {factor} = this.#unit(colour, range);
    const next = [...range];
    next[which] = value * factor;
    if (next[0] < next[1])
      this.store.set({range: next, rangeMode: "hand"});
    else
      this.draw();
  }

  #unit(colour, range) {
    return unitFor(COLOURS[colour].kind, Math.max(Math.abs(range[0]), Math.abs(range[1])));
  }

  #cut() {
    const {store} = this;
    this.cutOn = toggle(
      "Cut open", store.state.cutOn, (cutOn) => store.set({cutOn}),
      {id: "cut", class: "toggle wide"});
    this.axis = segments(
      "Axis of the cut", [["x", "X"], ["y", "Y"], ["z", "Z"]], store.state.cutAxis,
      (cutAxis) => store.set({cutAxis}));
    this.flip = el(
      "button",
      {type: "button", class: "small", onclick: () => store.set({cutSide: -store.state.cutSide})},
      "Other side");
    this.at = slider(0, 1, 0.001, store.state.cutAt, (cutAt) => store.set({cutAt}));
    this.at.id = "cut-at";
    this.cellStyle = segments(
      "What the cut shows", [["section", "Flat"], ["whole", "Whole cells"], ["none", "Skin only"]],
      store.state.cellStyle, (cellStyle) => store.set({cellStyle}));
    const levels = Math.max(
      0,
      ...this.runs.flatMap(
        (run) => run.bodies.map((body) => (body.info.cells ? body.info.levels : 0))));
    this.levels = el(
      "div", {class: "chips"},
      Array.from(
        {length: levels},
        (_, level) => toggle(level === 0 ? "Finest" : `Level ${level}`, true, (shown) => {
          const levelShown = [...store.state.levelShown];
          levelShown[level] = shown;
          store.set({levelShown});
        })));
    const hasCells = levels > 0;
    this.cutDetail = el(
      "div", {class: "stack"}, el("div", {class: "row"}, this.axis, this.flip),
      field("Position", this.at),
      hasCells ? this.cellStyle :
                 el(
                   "p", {class: "hint"},
                   "No cells in this run: add output.fields to the scene to keep them."),
      hasCells && levels > 1 ? el("div", {class: "field"}, el("span", {}, "Levels"), this.levels) :
                               null);
    return section("Cut", this.cutOn, this.cutDetail);
  }

  #surfaces() {
    const {store, runs} = this;
    const kind = (key, text) => toggle(text, store.state.kinds.includes(key), (shown) => {
      const kinds = ["rest", "skinned", "simulated"].filter(
        (k) => (k === key ? shown : store.state.kinds.includes(k)));
      store.set({kinds});
    }, {"data-kind": key});
    const skinned = runs.some((run) => run.bodies.some((body) => body.info.skinned));
    this.kinds = [
      kind("simulated", "Simulated"), skinned ? kind("skinned", "Skinned") : null,
      kind("rest", "Rest")
    ].filter(Boolean);
    this.layout = segments(
      "Layout", [["overlay", "Overlaid"], ["beside", "Side by side"]], store.state.layout,
      (layout) => store.set({layout}));
    this.layout.id = "layout";
    this.wireframe = toggle(
      "Wireframe", store.state.wireframe, (wireframe) => store.set({wireframe}), {id: "wireframe"});
    this.opacity = slider(0, 1, 0.01, store.state.opacity, (opacity) => store.set({opacity}));
    this.opacity.id = "opacity";
    const runRow = runs.length > 1 ? el(
                                       "div", {class: "chips", role: "group", "aria-label": "Runs"},
                                       runs.map(
                                         (run, r) => toggle(
                                           `${"AB"[r]}: ${run.info.name}`, true,
                                           (shown) => {
                                             const runsShown = [...store.state.runsShown];
                                             runsShown[r] = shown;
                                             store.set({runsShown});
                                           }))) :
                                     null;
    const bodies = runs[0].bodies.length > 1 ?
      el(
        "div", {class: "chips", role: "group", "aria-label": "Bodies"},
        runs[0].bodies.map(
          (body) => toggle(
            body.info.name, true,
            (shown) => {
              const hidden = new Set(store.state.hidden);
              if (shown)
                hidden.delete(body.info.name);
              else
                hidden.add(body.info.name);
              store.set({hidden});
            }))) :
      null;
    return section(
      "Surfaces", runRow, bodies, el("div", {class: "chips"}, this.kinds), this.layout,
      el("div", {class: "row"}, this.wireframe),
      field("Skin", this.opacity, el("span", {class: "ends-text"}, "see-through – solid")));
  }

  #things() {
    const {store, runs} = this;
    const any = (test) => runs.some((run) => test(run));
    const entries = [
      ["bones", "Bones", any((run) => run.info.bones.length > 0)],
      ["muscles", "Muscles", any((run) => run.bodies.some((body) => body.info.muscles.length > 0))],
      ["attachments", "Attachments", any((run) => run.bodies.some((body) => body.info.cells > 0))],
      ["colliders", "Colliders", any((run) => run.info.colliders.length > 0)],
      [
        "contacts", "Contacts",
        any((run) => run.bodies.some((body) => body.info.fields.includes("contacts")))
      ],
      ["defects", "Defects", store.state.things.defects],
    ].filter(([, , there]) => there);
    this.things = entries.map(
      ([key, text]) => toggle(
        text, store.state.things[key], (shown) => this.#setThing(key, shown), {"data-thing": key}));
    if (entries.length === 0) return null;
    return section("Inside and around", el("div", {class: "chips"}, this.things));
  }

  /// What is inside only shows through skin that lets it.
  #setThing(key, shown) {
    const things = {...this.store.state.things, [key]: shown};
    const inside = shown && ["bones", "muscles", "attachments"].includes(key);
    this.store.set({things, ...(inside && this.store.state.opacity > 0.6 ? {opacity: 0.35} : {})});
  }

  draw() {
    const {state} = this.store;
    this.colour.value = state.colour;
    const mapped = state.colour !== "none" && COLOURS[state.colour].kind !== "category";
    this.colourDetail.hidden = !mapped;
    this.rangeMode.set(state.rangeMode);
    this.hand.hidden = state.rangeMode !== "hand";
    this.map.value = state.map;
    this.colourNote.textContent = state.colourNote;
    this.colourNote.hidden = !state.colourNote;
    if (mapped) {
      const {factor, unit} = this.#unit(state.colour, state.range);
      this.ends.forEach((input, i) => {
        input.value = short(state.range[i] / factor, 4).replace("−", "-");
      });
      this.endUnit.textContent = unit;
    }
    this.cutOn.set(state.cutOn);
    this.cutDetail.hidden = !state.cutOn && state.cellStyle !== "whole";
    this.axis.set(state.cutAxis);
    this.at.value = state.cutAt;
    this.cellStyle.set(state.cellStyle);
    this.wireframe.set(state.wireframe);
    this.opacity.value = state.opacity;
    this.layout.set(state.layout);
    for (const button of this.kinds) button.set(state.kinds.includes(button.dataset.kind));
    for (const button of this.things ?? []) button.set(state.things[button.dataset.thing]);
  }

  /// Colours may come and go with what a run turns out to have.
  renewColours() {
    setOptions(this.colour, colourChoices(this.runs), this.store.state.colour);
  }
}
