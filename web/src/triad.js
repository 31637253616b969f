// Which way the axes point, in the corner of the picture.
import * as THREE from "three";
import {svg} from "./dom.js";

const COLOURS = {
  x: "#ff8080",
  y: "#8ce08c",
  z: "#85b8ff"
};
const REACH = 24;

export class Triad {
  constructor(camera) {
    this.camera = camera;
    this.axes = Object.entries(COLOURS).map(
      ([name, colour]) => ({
        name,
        line:
          svg("line", {x1: 0, y1: 0, stroke: colour, "stroke-width": 2, "stroke-linecap": "round"}),
        text: svg("text", {fill: colour, "text-anchor": "middle", "dominant-baseline": "central"}),
      }));
    for (const {name, text} of this.axes) text.textContent = name;
    this.element = svg(
      "svg", {class: "triad", viewBox: "-36 -36 72 72", "aria-hidden": "true"},
      ...this.axes.flatMap(({line, text}) => [line, text]));
  }

  draw() {
    const turn = this.camera.matrixWorldInverse;
    this.axes.forEach(({name, line, text}) => {
      const d = new THREE.Vector3(Number(name === "x"), Number(name === "y"), Number(name === "z"))
                  .transformDirection(turn);
      line.setAttribute("x2", d.x * REACH);
      line.setAttribute("y2", -d.y * REACH);
      text.setAttribute("x", d.x * (REACH + 8));
      text.setAttribute("y", -d.y * (REACH + 8));
    });
  }
}
