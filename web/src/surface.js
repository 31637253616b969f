// A triangle surface that moves: reading one, and drawing it with positions written in place.
import * as THREE from "three";
import {computeNormals} from "./normals.js";

/// An attribute that changes with every frame.
export function dynamic(array, size) {
  return new THREE.BufferAttribute(array, size).setUsage(THREE.DynamicDrawUsage);
}

/// u32 V, u32 T, f32 3V, u32 3T from `offset` on; the answer of a surface.
export function parseSurface(buffer, offset = 0) {
  const [V, T] = new Uint32Array(buffer, offset, 2);
  const rest = new Float32Array(buffer, offset + 8, 3 * V);
  const triangles = new Uint32Array(buffer, offset + 8 + 12 * V, 3 * T);
  for (const v of triangles)
    if (v >= V) throw new Error(`a triangle names vertex ${v} of ${V}`);
  return {V, T, rest, triangles, end: offset + 8 + 12 * V + 12 * T};
}

/// A surface of its own positions that shares triangles and seams with others of the body.
export class Surface {
  constructor(body, material) {
    this.body = body;
    const geometry = new THREE.BufferGeometry();
    geometry.setIndex(body.index);
    geometry.setAttribute("position", dynamic(body.rest.slice(), 3));
    geometry.setAttribute("normal", dynamic(new Float32Array(3 * body.V), 3));
    geometry.setAttribute("rest", body.restAttribute);
    geometry.setAttribute("value", dynamic(new Float32Array(body.V), 1));
    this.geometry = geometry;
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.move(body.rest);
  }

  get positions() {
    return this.geometry.attributes.position.array;
  }

  get values() {
    return this.geometry.attributes.value.array;
  }

  /// New positions, written in place.
  move(positions) {
    const {position, normal} = this.geometry.attributes;
    position.array.set(positions);
    computeNormals(position.array, this.body.triangles, this.body.first, normal.array);
    position.needsUpdate = true;
    normal.needsUpdate = true;
  }
}
