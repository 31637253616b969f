// What colours mean: a bar of the map with round numbers and the unit, or a list of categories.
import {categoryColour, colourBytes, cssOf, levelColour} from "./colours.js";
import {el} from "./dom.js";
import {COLOURS} from "./fields.js";
import {short, ticks, tickTexts, unitFor} from "./units.js";

const WIDTH = 300;
const BAR = 12;

export class Legend {
  constructor() {
    this.title = el("div", {class: "legend-title"});
    this.bar = el("canvas", {width: WIDTH, height: BAR, class: "legend-bar"});
    this.scale = el("div", {class: "legend-scale"});
    this.list = el("ul", {class: "legend-list"});
    this.element = el(
      "div", {class: "legend", role: "img", hidden: true}, this.title, this.bar, this.scale,
      this.list);
  }

  hide() {
    this.element.hidden = true;
    this.shown = null;
  }

  /// A map from range[0] to range[1], SI units.
  showMap(colour, map, range) {
    const {text, kind} = COLOURS[colour];
    const {factor, unit} = unitFor(kind, Math.max(Math.abs(range[0]), Math.abs(range[1])));
    this.#open(unit ? `${text}, ${unit}` : text);
    const context = this.bar.getContext("2d");
    const bytes = colourBytes(map);
    const image = context.createImageData(WIDTH, BAR);
    for (let x = 0; x < WIDTH; x += 1) {
      const i = 4 * Math.round((x / (WIDTH - 1)) * 255);
      for (let y = 0; y < BAR; y += 1)
        image.data.set(bytes.subarray(i, i + 4), 4 * (y * WIDTH + x));
    }
    context.putImageData(image, 0, 0);
    this.#marks(range.map((v) => v / factor));
    this.bar.hidden = false;
    this.shown = {colour, map, range, unit, title: this.title.textContent};
    this.element.setAttribute(
      "aria-label",
      `Colours: ${this.title.textContent} from ${short(range[0] / factor)} to ${
        short(range[1] / factor)}`);
  }

  #marks([least, most]) {
    const values = ticks(least, most, 4);
    const texts = tickTexts(values);
    this.marks = values.map((v, i) => ({text: texts[i], share: (v - least) / (most - least || 1)}));
    this.scale.replaceChildren(...this.marks.map(({text, share}) => {
      const mark = el("span", {}, text);
      mark.style.left = `${100 * share}%`;
      return mark;
    }));
  }

  /// Names in their colours.
  showCategories(colour, names) {
    this.#open(COLOURS[colour].text);
    const colourOf = colour === "level" ? levelColour : categoryColour;
    this.list.replaceChildren(...names.map((name, i) => {
      const dot = el("span", {class: "dot"});
      dot.style.background = cssOf(colourOf(i));
      return el("li", {}, dot, name);
    }));
    this.bar.hidden = true;
    this.shown = {
      colour,
      names,
      colours: names.map((_, i) => cssOf(colourOf(i))),
      title: this.title.textContent
    };
    this.element.setAttribute(
      "aria-label", `Colours: ${this.title.textContent}: ${names.join(", ")}`);
  }

  #open(title) {
    this.element.hidden = false;
    this.title.textContent = title;
    this.scale.replaceChildren();
    this.list.replaceChildren();
    this.marks = [];
  }

  /// Draws the same into a picture, at (x, y) from the top left.
  paint(context, x, y) {
    if (!this.shown) return;
    context.fillStyle = "rgb(20 24 30 / 0.85)";
    const height = this.shown.names ? 30 + 18 * this.shown.names.length : 56;
    context.fillRect(x, y - height, WIDTH + 40, height);
    context.fillStyle = "#eef1f5";
    context.font = "600 13px system-ui, sans-serif";
    context.textAlign = "left";
    context.fillText(this.shown.title, x + 20, y - height + 18);
    context.font = "12px system-ui, sans-serif";
    if (this.shown.names) {
      this.shown.names.forEach((name, i) => {
        context.fillStyle = this.shown.colours[i];
        context.fillRect(x + 20, y - height + 27 + 18 * i, 11, 11);
        context.fillStyle = "#eef1f5";
        context.fillText(name, x + 38, y - height + 37 + 18 * i);
      });
      return;
    }
    context.drawImage(this.bar, x + 20, y - height + 25, WIDTH, BAR);
    context.textAlign = "center";
    for (const {text, share} of this.marks) context.fillText(text, x + 20 + share * WIDTH, y - 5);
  }
}
