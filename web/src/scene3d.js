// The picture: camera, panels side by side that share it, drawing only when something changed.
import * as THREE from "three";
import {OrbitControls} from "three/examples/jsm/controls/OrbitControls.js";
import {el} from "./dom.js";

const AXES = {
  x: new THREE.Vector3(1, 0, 0),
  y: new THREE.Vector3(0, 1, 0),
  z: new THREE.Vector3(0, 0, 1)
};

/// A picture that takes longer makes scrubbing and turning uneven.
const SLOW_MILLISECONDS = 35;
const REST_MILLISECONDS = 250;
const MOVING_RATIO = 0.6;

/// Where one looks from, by the axis that points up: the front is z for y up, -y for z up.
function viewDirections(up) {
  const front = {
    x: new THREE.Vector3(0, 0, 1),
    y: new THREE.Vector3(0, 0, 1),
    z: new THREE.Vector3(0, -1, 0)
  }[up];
  const side = AXES[up].clone().cross(front);
  const upward = AXES[up];
  return {
    front,
    side,
    top: upward.clone().addScaledVector(front, 1e-3).normalize(),
    corner: front.clone()
              .multiplyScalar(1)
              .addScaledVector(side, 0.75)
              .addScaledVector(upward, 0.42)
              .normalize(),
  };
}

/// True if the browser draws without a graphics card.
function drawsBySoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const names = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = names ? gl.getParameter(names.UNMASKED_RENDERER_WEBGL) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export class Scene3d {
  /// `large`: surfaces of many triangles, whose edges are left rough where drawing is slow already:
  /// measured, smooth ones take three times as long without a graphics card.
  constructor(host, up, shared, large) {
    this.host = host;
    this.shared = shared;
    this.up = up;
    this.upward = AXES[up].clone();
    this.renderer = new THREE.WebGLRenderer({
      antialias: !(large && drawsBySoftware()),
      stencil: true,
      powerPreference: "high-performance"
    });
    this.ratio = Math.min(window.devicePixelRatio, 2);
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setClearColor(0x000000, 0);
    this.renderer.autoClear = false;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(32, 1, 0.01, 100);
    this.camera.up.copy(this.upward);
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute(
      "aria-label",
      "Picture of the simulation. Drag to turn, right drag to shift, wheel to come nearer; a click picks.");
    this.canvas.setAttribute("role", "img");
    this.labels = el("div", {class: "panel-labels"});
    host.prepend(this.canvas, this.labels);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.18;
    this.controls.addEventListener("change", () => this.hurry());
    this.panels = [{label: "", shows: () => true}];
    this.stacked = false;
    this.registered = [];
    this.afterDraw = [];
    this.drawn = 0;
    this.slow = false;
    this.moving = false;
    new ResizeObserver(() => this.#resize()).observe(host);
    this.#resize();
  }

  /// An object of the scene; `wanted()` says whether it shows, `kind` and `run` in which panels.
  register(object, {kind, run, wanted}) {
    this.scene.add(object);
    this.registered.push({object, kind, run, wanted});
  }

  /// Panels from left to right: label, and a rule which registered objects each shows.
  setPanels(panels) {
    const before = this.#roomNow();
    this.panels = panels;
    this.#arrange();
    const factor = this.#roomNow() / before;
    // Narrower panels see as much as wider ones did: the camera steps back, or comes nearer again.
    if (Number.isFinite(factor) && factor !== 1) this.nudge(0, 0, factor);
    this.labels.replaceChildren(...panels.map(
      (panel) => el("div", {class: "panel"}, el("span", {class: "panel-label"}, panel.label))));
    this.labels.hidden = panels.length < 2 && !panels[0].label;
    this.labels.classList.toggle("stacked", this.stacked);
    this.labels.style.gridTemplateColumns = this.stacked ? "1fr" : `repeat(${panels.length}, 1fr)`;
    this.labels.style.gridTemplateRows = this.stacked ? `repeat(${panels.length}, 1fr)` : "1fr";
    this.invalidate();
  }

  /// Side by side, or one above the other where wide things are seen larger that way.
  #arrange() {
    // How large things are: pixels of a panel's height over the distance that fits all in.
    const size = (stacked) => {
      this.stacked = stacked;
      return this.panelBox(0).height / this.#roomNow();
    };
    const beside = size(false);
    this.stacked = this.panels.length > 1 && size(true) > 1.15 * beside;
  }

  /// The distance at which the whole scene fits into a panel, from where the camera is.
  #roomNow() {
    if (!this.bounds) return NaN;
    return this.#distanceFor(this.camera.position.clone().sub(this.controls.target).normalize());
  }

  invalidate() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.draw();
    });
  }

  /// Something moves: on a slow machine pictures are coarser until it has come to rest.
  hurry() {
    this.invalidate();
    if (!this.slow) return;
    this.setMoving(true);
    clearTimeout(this.resting);
    const rest = Math.min(REST_MILLISECONDS + 2 * this.pictureMilliseconds, 1500);
    this.resting = setTimeout(() => this.setMoving(false), rest);
  }

  setMoving(moving) {
    if (this.moving === moving) return;
    this.moving = moving;
    this.onmoving?.(moving);
    this.renderer.setPixelRatio(this.ratio * (moving ? MOVING_RATIO : 1));
    this.invalidate();
  }

  /// Draws once and waits for the graphics card, to learn whether this machine is slow.
  measure() {
    this.pixel(1, 1);
    const start = performance.now();
    this.pixel(1, 1);
    this.pictureMilliseconds = performance.now() - start;
    this.slow = this.pictureMilliseconds > SLOW_MILLISECONDS;
  }

  #resize() {
    const {clientWidth: width, clientHeight: height} = this.host;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height, false);
    this.width = width;
    this.height = height;
    this.invalidate();
  }

  /// Edges of a panel in CSS pixels, from the left and the top.
  panelBox(index) {
    const [width, height] = [this.width, this.height];
    const count = this.panels.length;
    if (this.stacked) return {x: 0, y: (index * height) / count, width, height: height / count};
    return {x: (index * width) / count, y: 0, width: width / count, height};
  }

  draw() {
    const start = performance.now();
    this.controls.update();
    this.#fitDepth();
    this.camera.updateMatrixWorld();
    this.shared.sky.value.copy(this.upward).transformDirection(this.camera.matrixWorldInverse);
    this.renderer.setScissorTest(false);
    this.renderer.clear();
    this.renderer.setScissorTest(true);
    this.panels.forEach((panel, i) => {
      const box = this.panelBox(i);
      const bottom = this.height - box.y - box.height;
      this.renderer.setViewport(box.x, bottom, box.width, box.height);
      this.renderer.setScissor(box.x, bottom, box.width, box.height);
      this.camera.aspect = box.width / box.height;
      this.camera.updateProjectionMatrix();
      for (const {object, kind, run, wanted} of this.registered) {
        object.visible = wanted() && panel.shows(kind, run);
      }
      this.renderer.render(this.scene, this.camera);
    });
    this.drawn += 1;
    for (const listener of this.afterDraw) listener();
    this.drawMilliseconds = performance.now() - start;
  }

  /// Near and far planes just around the scene, for depth that tells close surfaces apart.
  #fitDepth() {
    if (!this.bounds) return;
    const distance = this.camera.position.distanceTo(this.bounds.center);
    this.camera.near =
      Math.max(distance - 6 * this.bounds.radius, distance * 0.01, this.bounds.radius * 1e-3);
    this.camera.far = distance + 12 * this.bounds.radius;
  }

  /// What the scene takes up; the camera frames it.
  setBounds(box) {
    this.box = box;
    this.bounds = box.getBoundingSphere(new THREE.Sphere());
    this.bounds.radius = Math.max(this.bounds.radius, 1e-9);
    this.controls.minDistance = this.bounds.radius * 0.02;
    this.controls.maxDistance = this.bounds.radius * 30;
  }

  /// Looks at the whole scene from a named direction, or from where the camera is.
  fit(direction) {
    if (!this.bounds) return;
    const from = direction ? viewDirections(this.up)[direction] :
                             this.camera.position.clone().sub(this.controls.target).normalize();
    const distance = this.#distanceFor(from) * 1.12;
    this.controls.target.copy(this.bounds.center);
    this.camera.position.copy(this.bounds.center).addScaledVector(from, distance);
    this.controls.update();
    this.invalidate();
  }

  /// How far off the camera must be in a direction for all corners of the box to be in view.
  #distanceFor(from) {
    const panel = this.panelBox(0);
    const tall = Math.tan((this.camera.fov * Math.PI) / 360);
    const wide = (tall * panel.width) / panel.height;
    const eye = new THREE.Matrix4().lookAt(from, new THREE.Vector3(), this.upward).invert();
    let distance = 0;
    for (let i = 0; i < 8; i += 1) {
      const p = new THREE
                  .Vector3(...[0, 1, 2].map(
                    (k) => (i & (1 << k) ? this.box.max : this.box.min).getComponent(k)))
                  .sub(this.bounds.center)
                  .applyMatrix4(eye);
      distance = Math.max(distance, p.z + Math.abs(p.x) / wide, p.z + Math.abs(p.y) / tall);
    }
    return Math.max(distance, this.bounds.radius * 1.05);
  }

  /// Flies to a place so that it is seen with what is around it, from `direction` if there is one.
  flyTo(place, radius, direction) {
    const start = {target: this.controls.target.clone(), position: this.camera.position.clone()};
    const offset = (direction ?? start.position.clone().sub(start.target))
                     .clone()
                     .normalize()
                     .multiplyScalar(Math.max(radius * 5, this.bounds.radius * 0.9));
    const end = {target: place.clone(), position: place.clone().add(offset)};
    const began = performance.now();
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const step = () => {
      const t = calm ? 1 : Math.min((performance.now() - began) / 450, 1);
      const s = t * t * (3 - 2 * t);
      this.controls.target.lerpVectors(start.target, end.target, s);
      this.camera.position.lerpVectors(start.position, end.position, s);
      this.invalidate();
      if (t < 1) requestAnimationFrame(step);
    };
    step();
  }

  /// Turns or comes nearer by keys: radians, and a factor on the distance.
  nudge(aside, upward, factor) {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const turn = new THREE.Quaternion().setFromUnitVectors(this.upward, AXES.y);
    const sphere = new THREE.Spherical().setFromVector3(offset.applyQuaternion(turn));
    sphere.theta += aside;
    sphere.phi = Math.min(Math.max(sphere.phi + upward, 0.02), Math.PI - 0.02);
    sphere.radius *= factor;
    offset.setFromSpherical(sphere).applyQuaternion(turn.invert());
    this.camera.position.copy(this.controls.target).add(offset);
    this.invalidate();
  }

  /// The panel at a place of the canvas and the ray into it.
  rayAt(x, y) {
    const share = this.stacked ? y / this.height : x / this.width;
    const index = Math.min(Math.floor(share * this.panels.length), this.panels.length - 1);
    const box = this.panelBox(index);
    this.camera.aspect = box.width / box.height;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    const pointer =
      new THREE.Vector2((2 * (x - box.x)) / box.width - 1, 1 - (2 * (y - box.y)) / box.height);
    const caster = new THREE.Raycaster();
    caster.setFromCamera(pointer, this.camera);
    return {panel: this.panels[index], ray: caster.ray};
  }

  /// Where a place of the scene is on the canvas, CSS pixels in the panel of that number.
  screenOf(place, index = 0) {
    const box = this.panelBox(index);
    this.camera.aspect = box.width / box.height;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    const p = place.clone().project(this.camera);
    return [box.x + ((p.x + 1) / 2) * box.width, box.y + ((1 - p.y) / 2) * box.height, p.z];
  }

  /// Colour of a pixel as drawn, CSS pixels from the left and the top.
  pixel(x, y) {
    this.draw();
    const gl = this.renderer.getContext();
    const ratio = this.renderer.getPixelRatio();
    const out = new Uint8Array(4);
    gl.readPixels(
      Math.round(x * ratio), Math.round((this.height - y) * ratio), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE,
      out);
    return Array.from(out);
  }
}
