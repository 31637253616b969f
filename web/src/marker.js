// A small ball at the picked vertex, or an outline around the picked cell.
import * as THREE from "three";

/// Edges of a cell by its corners.
const EDGES = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];

export class Marker {
  constructor(sceneRadius) {
    this.what = null;
    this.ball = new THREE.Mesh(
      new THREE.SphereGeometry(sceneRadius * 0.012, 24, 12),
      new THREE.MeshBasicMaterial(
        {color: "#ffffff", depthTest: false, transparent: true, opacity: 0.95}));
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute(
      "position", new THREE.BufferAttribute(new Float32Array(3 * EDGES.length), 3));
    this.outline = new THREE.LineSegments(
      geometry, new THREE.LineBasicMaterial({color: "#ffffff", depthTest: false}));
    for (const object of [this.ball, this.outline]) {
      object.renderOrder = 30;
      object.frustumCulled = false;
    }
    this.mesh = new THREE.Group();
    this.mesh.add(this.ball, this.outline);
  }

  get on() {
    return this.what !== null;
  }

  set(what) {
    this.what = what;
    this.ball.visible = what?.vertex !== undefined;
    this.outline.visible = what?.cell !== undefined;
    this.follow();
  }

  /// To where the picked thing is now.
  follow() {
    if (!this.what) return;
    const {body, vertex, cell} = this.what;
    if (vertex !== undefined)
      this.ball.position.fromArray(body.simulated.positions, 3 * vertex);
    else {
      const {position} = this.outline.geometry.attributes;
      EDGES.forEach((corner, i) => {
        const p = 3 * body.cells.corners[8 * cell + corner];
        position.array.set(body.points.subarray(p, p + 3), 3 * i);
      });
      position.needsUpdate = true;
    }
  }
}
