// Muscles of a body: their meshes, carried by the cells as the flesh around them is, redder the
// harder they pull.
import * as THREE from "three";
import {carry, embed} from "./cells.js";
import {computeNormals, weld} from "./normals.js";
import {parseSurface} from "./surface.js";
import {skinMaterial} from "./shaders.js";

const SLACK = new THREE.Color("#c98d86");
const TENSE = new THREE.Color("#e5132a");

export class Muscles {
  /// All muscles of a body that have a mesh.
  static async load(body, source, shared) {
    const muscles = new Muscles();
    muscles.list = await source.optionalJson(`${body.path}/muscles`, []);
    muscles.group = new THREE.Group();
    muscles.items = [];
    muscles.body = body;
    for (let m = 0; m < muscles.list.length; m += 1) {
      try {
        const surface = parseSurface(await source.binary(`${body.path}/muscle/${m}`));
        muscles.items.push(muscles.#item(surface, shared));
      } catch {
        // A muscle whose mesh is gone is still in the list and in the colour of the cells.
        muscles.items.push(null);
      }
    }
    return muscles;
  }

  #item(surface, shared) {
    const geometry = new THREE.BufferGeometry();
    geometry.setIndex(new THREE.BufferAttribute(surface.triangles, 1));
    for (const name of ["position", "normal"]) {
      geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * surface.V), 3));
    }
    geometry.setAttribute("rest", new THREE.BufferAttribute(surface.rest, 3));
    geometry.setAttribute("value", new THREE.BufferAttribute(new Float32Array(surface.V), 1));
    const mesh = new THREE.Mesh(geometry, skinMaterial(shared, SLACK));
    mesh.frustumCulled = false;
    mesh.renderOrder = 2;
    this.group.add(mesh);
    const embedding = embed(this.body.cells, this.body.cellIndex, surface.rest);
    return {mesh, geometry, surface, embedding, first: weld(surface.rest)};
  }

  /// To where the cells are now.
  move(points) {
    for (const item of this.items) {
      if (!item) continue;
      const {position, normal} = item.geometry.attributes;
      carry(this.body.cells, item.embedding, points, position.array);
      computeNormals(position.array, item.surface.triangles, item.first, normal.array);
      position.needsUpdate = true;
      normal.needsUpdate = true;
    }
  }

  /// Activations of the frame that is `index` frames after the first stored one.
  activate(index) {
    this.items.forEach((item, m) => {
      if (!item) return;
      const {activation} = this.list[m];
      const a = activation?.[Math.min(index, activation.length - 1)] ?? 0;
      item.mesh.material.uniforms.base.value.copy(SLACK).lerp(TENSE, a);
      item.activation = a;
    });
  }
}
