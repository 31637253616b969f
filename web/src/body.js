// One body of one run: its surfaces (rest, skinned, simulated), cells and muscles as objects of the
// scene, and what it needs to show a frame.
import * as THREE from "three";
import {uniqueEdges, weld} from "./normals.js";
import {
  CellIndex,
  neighbours,
  parseCells,
  placeQuads,
  pointsAt,
  sectionQuads,
  shownCells,
  wholeCellQuads
} from "./cells.js";
import {coarseTriangles} from "./coarse.js";
import {cellsToSkin, COLOURS, distances, parseRecord, valuesOfCells} from "./fields.js";
import {
  cellMaterial,
  countingMaterials,
  depthMaterial,
  NO_VALUE,
  shadowMaterial,
  skinMaterial
} from "./shaders.js";
import {Muscles} from "./muscles.js";
import {dynamic, parseSurface, Surface} from "./surface.js";

const SKIN_COLOURS = ["#d8a08a", "#8fb4d8"];
const GHOST_COLOURS = {
  rest: "#a7b0bd",
  skinned: "#86b4e6"
};

/// Surfaces of more triangles are drawn coarser on slow machines while something moves.
const COARSE_FROM = 40000;
const COARSE_VERTICES = 5000;

export class Body {
  constructor(run, number, info, buffer, shared) {
    Object.assign(this, parseSurface(buffer));
    this.run = run;
    this.number = number;
    this.info = info;
    this.shared = shared;
    this.path = `/api/${run.number}/body/${number}`;
    // Bodies are drawn one after the other, each with its counting before its cut.
    this.order = -100 + number + 50 * run.number;
    this.first = weld(this.rest);
    this.index = new THREE.BufferAttribute(this.triangles, 1);
    this.restAttribute = new THREE.BufferAttribute(this.rest, 3);
    this.opacity = 1;
    this.coarse = false;
    this.cells = null;
    this.record = null;
    this.skinnedPositions = null;
    this.#build();
  }

  #build() {
    this.simulated =
      new Surface(this, skinMaterial(this.shared, SKIN_COLOURS[this.run.number % 2]));
    // Drawn before the skin when that is see-through, after all that is solid.
    this.veil = new THREE.Mesh(this.simulated.geometry, depthMaterial(this.shared));
    this.veil.material.transparent = true;
    this.veil.frustumCulled = false;
    this.veil.renderOrder = 5;
    this.simulated.mesh.renderOrder = 6;
    this.restSurface = null;
    this.skinnedSurface = null;
    this.wire = null;
    this.cellMesh = null;
    this.muscles = null;
  }

  get isLarge() {
    return this.T > COARSE_FROM;
  }

  /// Draws fewer triangles of a large surface, or all of them.
  setCoarse(coarse) {
    const wanted = coarse && this.isLarge;
    if (wanted === this.coarse) return;
    this.coarse = wanted;
    this.coarseIndex ??=
      new THREE.BufferAttribute(coarseTriangles(this.rest, this.triangles, COARSE_VERTICES), 1);
    for (const surface of [this.simulated, this.restSurface, this.skinnedSurface]) {
      surface?.geometry.setIndex(wanted ? this.coarseIndex : this.index);
    }
  }

  /// The shadow of the simulated skin on a floor through `ground`.
  shadow(ground, {upward, bounds}) {
    const mesh = new THREE.Mesh(
      this.simulated.geometry, shadowMaterial(this.shared, ground, upward, bounds.radius));
    mesh.frustumCulled = false;
    mesh.renderOrder = 1;
    return mesh;
  }

  /// The surface of that kind, made when it is first wanted.
  surface(kind) {
    if (kind === "simulated") return this.simulated;
    const key = kind === "rest" ? "restSurface" : "skinnedSurface";
    if (!this[key]) {
      const material = skinMaterial(this.shared, GHOST_COLOURS[kind], {ghost: true});
      this[key] = new Surface(this, material);
      this[key].mesh.renderOrder = 8;
    }
    return this[key];
  }

  /// Surfaces to compare with are outlines over the simulated one, solid in panels of their own.
  setGhosts(ghosts) {
    for (const surface of [this.restSurface, this.skinnedSurface]) {
      if (!surface) continue;
      const {material} = surface.mesh;
      material.uniforms.ghost.value = ghosts ? 1 : 0;
      material.uniforms.opacity.value = ghosts ? 0.7 : 1;
      material.transparent = ghosts;
      material.depthWrite = !ghosts;
    }
  }

  /// Lines along all edges of the simulated skin.
  wireframe() {
    if (!this.wire) {
      const geometry = new THREE.BufferGeometry();
      geometry.setIndex(new THREE.BufferAttribute(uniqueEdges(this.triangles, this.V), 1));
      for (const name of ["position", "rest"]) {
        geometry.setAttribute(name, this.simulated.geometry.attributes[name]);
      }
      this.wire = new THREE.LineSegments(geometry, wireMaterial(this.shared));
      this.wire.frustumCulled = false;
      this.wire.renderOrder = 7;
    }
    return this.wire;
  }

  /// Reads the cells once; false if the body has none.
  async loadCells(source) {
    if (this.info.cells === 0) return false;
    this.cellsLoading ??= source.binary(`${this.path}/cells`).then((buffer) => {
      this.cells = parseCells(buffer);
      if (this.cells.V !== this.V)
        throw new Error(
          `cells of ${this.info.name} carry ${this.cells.V} vertices, the surface has ${this.V}`);
      this.points = this.cells.restPoints.slice();
      this.cellValues = new Float32Array(this.cells.C);
      this.cellIndex = new CellIndex(this.cells);
      if (this.pendingRecord) this.#readRecord(this.pendingRecord);
    });
    await this.cellsLoading;
    return true;
  }

  async loadMuscles(source) {
    if (this.info.muscles.length === 0 || !(await this.loadCells(source))) return;
    this.musclesLoading ??= Muscles.load(this, source, this.shared).then((muscles) => {
      this.muscles = muscles;
      muscles.move(this.points);
    });
    await this.musclesLoading;
  }

  /// Shows a frame: what of it has not been asked for is null and stays as it is.
  apply({frame, skinned, record}) {
    if (frame) this.simulated.move(new Float32Array(frame));
    if (skinned) {
      this.skinnedPositions = new Float32Array(skinned);
      if (this.skinnedSurface) this.skinnedSurface.move(this.skinnedPositions);
    }
    this.pendingRecord = record ?? null;
    if (record && this.cells) this.#readRecord(record);
    if (!record) this.record = null;
  }

  #readRecord(buffer) {
    this.record = parseRecord(buffer, this.cells, this.info.fields);
    pointsAt(this.cells, this.record.displacements, this.points);
    if (this.cellMesh) this.placeCells();
    this.muscles?.move(this.points);
  }

  /// Chooses the faces that show. `look.cells` is "none", "section" or "whole".
  cutCells(look, cut, levelShown) {
    const style = cut || look === "whole" ? look : "none";
    if (!this.cells || style === "none") {
      this.quads = null;
      return;
    }
    if (style === "section")
      this.quads = sectionQuads(this.cells, cut, levelShown);
    else {
      this.beside ??= neighbours(this.cells, this.cellIndex);
      this.shownCells ??= new Uint8Array(this.cells.C);
      shownCells(this.cells, cut, levelShown, this.shownCells);
      this.quads = wholeCellQuads(this.cells, this.beside, this.shownCells);
    }
    this.#roomForQuads();
    this.#trim(style === "section");
    this.placeCells();
  }

  #roomForQuads() {
    const wanted = this.quads.count;
    if (this.cellMesh && this.cellMesh.geometry.userData.room >= wanted) {
      this.cellMesh.geometry.setDrawRange(0, 6 * wanted);
      return;
    }
    const room = Math.ceil(wanted * 1.25) + 64;
    const geometry = new THREE.BufferGeometry();
    const index = new Uint32Array(6 * room);
    for (let q = 0; q < room; q += 1) {
      index.set([4 * q, 4 * q + 1, 4 * q + 2, 4 * q, 4 * q + 2, 4 * q + 3], 6 * q);
    }
    geometry.setIndex(new THREE.BufferAttribute(index, 1));
    geometry.setAttribute("position", dynamic(new Float32Array(12 * room), 3));
    geometry.setAttribute("value", dynamic(new Float32Array(4 * room), 1));
    geometry.userData.room = room;
    geometry.setDrawRange(0, 6 * wanted);
    if (this.cellMesh) {
      this.cellMesh.geometry.dispose();
      this.cellMesh.geometry = geometry;
      return;
    }
    this.cellMesh = new THREE.Mesh(geometry, cellMaterial(this.shared));
    this.cellMesh.frustumCulled = false;
    this.cellMesh.renderOrder = this.order + 0.3;
    this.cellMesh.onAfterRender = (renderer) => renderer.clearStencil();
    this.#countLayers();
  }

  /// A flat cut is trimmed to the skin: the skin is drawn into the stencil buffer before it.
  #countLayers() {
    this.layers = new THREE.Group();
    countingMaterials(this.shared).forEach((material, i) => {
      const mesh = new THREE.Mesh(this.simulated.geometry, material);
      mesh.frustumCulled = false;
      mesh.renderOrder = this.order + 0.1 * i;
      this.layers.add(mesh);
    });
  }

  /// Only flat cuts are trimmed; whole cells reach beyond the skin.
  #trim(trimmed) {
    const {material} = this.cellMesh;
    material.stencilWrite = trimmed;
    material.stencilFunc = THREE.NotEqualStencilFunc;
    material.stencilRef = 0;
    this.trimmed = trimmed;
  }

  /// Corners of the faces that show, where they are now.
  placeCells() {
    if (!this.quads) return;
    const {position} = this.cellMesh.geometry.attributes;
    placeQuads(this.quads, this.points, position.array);
    position.needsUpdate = true;
    this.#paintQuads();
  }

  /// Values of skin and cells for a colour. `other` is the body to compare with.
  paint(colour, other) {
    const unit = this.run.info.unit;
    const {values} = this.simulated;
    // Plain skin still shows its cells by level: that is what one looks at cells for.
    const cellColour = colour === "none" ? "level" : colour;
    if (this.cells) {
      this.cellsKnown = valuesOfCells(cellColour, {...this, unit}, this.cellValues);
      if (!this.cellsKnown) this.cellValues.fill(NO_VALUE);
      if (this.quads) this.#paintQuads();
    }
    if (colour === "displacement")
      distances(this.simulated.positions, this.rest, unit, values);
    else if (colour === "skinned" && this.skinnedPositions) {
      distances(this.simulated.positions, this.skinnedPositions, unit, values);
    } else if (colour === "difference")
      this.#paintDifference(other, unit);
    else if (this.cells && this.cellsKnown)
      cellsToSkin(this.cells, this.cellValues, values);
    else
      values.fill(NO_VALUE);
    this.simulated.geometry.attributes.value.needsUpdate = true;
    this.simulated.mesh.material.uniforms.mode.value = modeOf(colour);
    if (this.cellMesh) this.cellMesh.material.uniforms.mode.value = modeOf(cellColour);
  }

  #paintDifference(other, unit) {
    const {values, positions} = this.simulated;
    if (other && other.V === this.V) {
      distances(positions, other.simulated.positions, unit, values);
    } else
      values.fill(NO_VALUE);
  }

  #paintQuads() {
    const {value} = this.cellMesh.geometry.attributes;
    for (let q = 0; q < this.quads.count; q += 1) {
      value.array.fill(this.cellValues[this.quads.cell[q]], 4 * q, 4 * q + 4);
    }
    value.needsUpdate = true;
  }

  /// How much of the skin one sees; below 1 what is inside shows through.
  setOpacity(opacity) {
    this.opacity = opacity;
    const {material} = this.simulated.mesh;
    material.uniforms.opacity.value = opacity;
    if (material.transparent !== opacity < 1) {
      material.transparent = opacity < 1;
      material.needsUpdate = true;
    }
  }
}

/// How shaders make colours: plain, by a map, by categories.
function modeOf(colour) {
  if (colour === "none") return 0;
  return COLOURS[colour].kind === "category" ? 2 : 1;
}

function wireMaterial(shared) {
  return new THREE.ShaderMaterial({
    glslVersion: THREE.GLSL3,
    vertexShader: `in vec3 rest; out vec3 vRest;
      void main() {
        vRest = rest;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
      }`,
    fragmentShader: `uniform vec4 plane; in vec3 vRest; out vec4 colour;
      void main() {
        if (dot(vRest, plane.xyz) > plane.w) discard;
        colour = vec4(0.04, 0.05, 0.07, 0.55);
      }`,
    uniforms: {plane: shared.plane},
    transparent: true,
    depthWrite: false,
  });
}
