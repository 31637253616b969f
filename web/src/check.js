// Defects of the input surfaces: a list by kind, marked in the picture, a click flies there.
import * as THREE from "three";
import {el} from "./dom.js";

/// What each kind is called, what its items are, and what it means for the simulation.
const KINDS = {
  holes: {
    text: "Holes",
    items: "edges",
    colour: "#ffb020",
    hint: "edges with a triangle on one side only"
  },
  nonmanifold: {
    text: "Non-manifold edges",
    items: "edges",
    colour: "#ff5fd2",
    hint: "edges with more than two triangles"
  },
  intersecting: {
    text: "Self-intersections at rest",
    items: "pairs",
    colour: "#ff4d4d",
    hint: "pairs of triangles that pass through one another before anything moves"
  },
  degenerate: {
    text: "Degenerate triangles",
    items: "triangles",
    colour: "#8fd14f",
    hint: "triangles without an area"
  },
  duplicate: {
    text: "Duplicate triangles",
    items: "triangles",
    colour: "#4fc3f7",
    hint: "the same three corners again"
  },
};
const ROWS = 100;

/// Vertices of an item: an edge, a triangle or a pair of triangles.
function verticesOf(kind, item, triangles) {
  const corners = (t) => [triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]];
  if (KINDS[kind].items === "edges") return item;
  return KINDS[kind].items === "pairs" ? item.flatMap(corners) : corners(item);
}

/// Items that hang together by common vertices, largest group first.
export function groupItems(kind, items, triangles) {
  const parent = new Map();
  const root = (v) => {
    let top = v;
    while ((parent.get(top) ?? top) !== top) top = parent.get(top);
    parent.set(v, top);
    return top;
  };
  for (const item of items) {
    const [first, ...others] = verticesOf(kind, item, triangles);
    for (const v of others) parent.set(root(v), root(first));
  }
  const groups = new Map();
  for (const item of items) {
    const key = root(verticesOf(kind, item, triangles)[0]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length);
}

export class Defects {
  constructor(bodies, source, scene3d) {
    Object.assign(this, {bodies, source, scene3d});
    this.group = new THREE.Group();
    this.element =
      el("div", {class: "defects"}, el("p", {class: "hint"}, "Looking at the surfaces …"));
  }

  /// Reads the defects of all bodies; how many there are.
  async load() {
    const parts = [];
    let total = 0;
    for (const body of this.bodies) {
      const defects = await this.source.optionalJson(`${body.path}/defects`, null);
      if (!defects) continue;
      const kinds = Object.keys(KINDS).filter((kind) => defects[kind]?.length > 0);
      total +=
        kinds.reduce((sum, kind) => sum + (defects.counts?.[kind] ?? defects[kind].length), 0);
      parts.push(this.#body(body, defects, kinds));
    }
    this.element.replaceChildren(...(
      parts.length ? parts.flat() :
                     [el("p", {class: "hint"}, "The surfaces could not be looked at.")]));
    this.scene3d.invalidate();
    return total;
  }

  #body(body, defects, kinds) {
    const heading = el("h2", {}, body.info.name);
    if (kinds.length === 0)
      return [
        heading, el("p", {class: "fine"}, "No defects: closed, manifold, free of intersections.")
      ];
    const lists = kinds.map((kind) => {
      this.#mark(body, kind, defects[kind]);
      return this.#list(body, kind, defects);
    });
    const cut =
      defects.truncated ? el("p", {class: "hint"}, "There are more than are listed here.") : null;
    return [heading, ...lists, cut].filter(Boolean);
  }

  #list(body, kind, defects) {
    const {text, items, hint, colour} = KINDS[kind];
    const groups = groupItems(kind, defects[kind], body.triangles);
    const dot = el("span", {class: "dot"});
    dot.style.background = colour;
    return el(
      "section", {class: "defect"},
      el(
        "h3", {}, dot,
        `${text}: ${(defects.counts?.[kind] ?? defects[kind].length).toLocaleString("en")}`),
      el("p", {class: "hint"}, hint),
      el(
        "ol", {},
        groups.slice(0, ROWS).map(
          (group) => el(
            "li", {},
            el(
              "button", {type: "button", class: "go", onclick: () => this.#fly(body, kind, group)},
              this.#name(kind, group, items, body))))),
      groups.length > ROWS ? el("p", {class: "hint"}, `and ${groups.length - ROWS} more places`) :
                             null);
  }

  #name(kind, group, items, body) {
    const near = verticesOf(kind, group[0], body.triangles)[0];
    const noun = group.length === 1 ? items.slice(0, -1) : items;
    return `${group.length} ${noun} at vertex ${near}`;
  }

  #fly(body, kind, group) {
    const box = new THREE.Box3();
    const outward = new THREE.Vector3();
    const normals = body.simulated.geometry.attributes.normal.array;
    for (const item of group) {
      for (const v of verticesOf(kind, item, body.triangles)) {
        box.expandByPoint(new THREE.Vector3().fromArray(body.simulated.positions, 3 * v));
        outward.add(new THREE.Vector3().fromArray(normals, 3 * v).normalize());
      }
    }
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    // From outside, a little from above; from where one is if the skin faces all ways there.
    const clear = outward.length() > 0.1 * group.length;
    const direction = clear ? outward.normalize().addScaledVector(this.scene3d.upward, 0.25) : null;
    this.scene3d.flyTo(sphere.center, sphere.radius, direction);
  }

  /// Edges as lines, triangles as patches, drawn over everything.
  #mark(body, kind, items) {
    const places = items.flatMap((item) => verticesOf(kind, item, body.triangles));
    const positions = new Float32Array(3 * places.length);
    places.forEach(
      (v, i) => positions.set(body.simulated.positions.subarray(3 * v, 3 * v + 3), 3 * i));
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
    const {colour, items: noun} = KINDS[kind];
    const dots = new THREE.Points(
      geometry,
      new THREE.PointsMaterial(
        {color: colour, size: 6, sizeAttenuation: false, depthTest: false, transparent: true}));
    const shape = noun === "edges" ?
      new THREE.LineSegments(
        geometry,
        new THREE.LineBasicMaterial({color: colour, depthTest: false, transparent: true})) :
      new THREE.Mesh(geometry, new THREE.MeshBasicMaterial({
        color: colour,
        side: THREE.DoubleSide,
        transparent: true,
        opacity: 0.4,
        depthTest: false
      }));
    for (const object of [shape, dots]) {
      object.frustumCulled = false;
      object.renderOrder = 20;
      this.group.add(object);
    }
  }
}
