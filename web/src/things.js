// What is around the flesh: bones, colliders, attachments, contacts.
import * as THREE from "three";
import {computeNormals} from "./normals.js";
import {categoryColour} from "./colours.js";
import {dotMaterial, groundMaterial, skinMaterial} from "./shaders.js";
import {parseSurface} from "./surface.js";

/// Meshes one after the other: u32 count, then each as a surface.
function parseSurfaces(buffer) {
  const out = [];
  let offset = 4;
  const count = new DataView(buffer).getUint32(0, true);
  for (let i = 0; i < count; i += 1) {
    out.push(parseSurface(buffer, offset));
    offset = out[i].end;
  }
  return out;
}

function staticMesh(surface, material) {
  const geometry = new THREE.BufferGeometry();
  geometry.setIndex(new THREE.BufferAttribute(surface.triangles, 1));
  geometry.setAttribute("position", new THREE.BufferAttribute(surface.rest.slice(), 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(new Float32Array(3 * surface.V), 3));
  geometry.setAttribute("rest", new THREE.BufferAttribute(new Float32Array(3 * surface.V), 3));
  geometry.setAttribute("value", new THREE.BufferAttribute(new Float32Array(surface.V), 1));
  const mesh = new THREE.Mesh(geometry, material);
  mesh.frustumCulled = false;
  return mesh;
}

/// Bones or colliders of a run: shapes that move as told.
export class Shapes {
  constructor(buffer, infos, materialOf) {
    this.surfaces = parseSurfaces(buffer);
    this.infos = infos;
    this.group = new THREE.Group();
    this.meshes = this.surfaces.map((surface, i) => staticMesh(surface, materialOf(infos[i], i)));
    this.group.add(...this.meshes);
    this.move(null);
  }

  /// To their places at a frame: positions of all, one shape after the other.
  move(buffer) {
    let offset = 0;
    this.surfaces.forEach((surface, i) => {
      const {position, normal} = this.meshes[i].geometry.attributes;
      position.array.set(buffer ? new Float32Array(buffer, offset, 3 * surface.V) : surface.rest);
      computeNormals(position.array, surface.triangles, null, normal.array);
      position.needsUpdate = true;
      normal.needsUpdate = true;
      offset += 12 * surface.V;
    });
  }

  /// The rigid motion of a shape from rest to now, from the corners of a large triangle of it.
  motionOf(i) {
    const surface = this.surfaces[i];
    const now = this.meshes[i].geometry.attributes.position.array;
    surface.largest ??= largestTriangle(surface);
    return frameOf(now, surface.largest).multiply(frameOf(surface.rest, surface.largest).invert());
  }
}

function corner(array, v) {
  return new THREE.Vector3().fromArray(array, 3 * v);
}

function largestTriangle({rest, triangles}) {
  let best = [0, 1, 2];
  let most = -1;
  for (let i = 0; i < triangles.length; i += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => corner(rest, triangles[i + k]));
    const area = b.sub(a).cross(c.sub(a)).lengthSq();
    if (area > most) {
      most = area;
      best = [0, 1, 2].map((k) => triangles[i + k]);
    }
  }
  return best;
}

function frameOf(positions, [a, b, c]) {
  const o = corner(positions, a);
  const x = corner(positions, b).sub(o).normalize();
  const z = x.clone().cross(corner(positions, c).sub(o)).normalize();
  const y = z.clone().cross(x);
  return new THREE.Matrix4().makeBasis(x, y, z).setPosition(o);
}

export function boneShapes(buffer, infos, shared) {
  return new Shapes(buffer, infos, () => skinMaterial(shared, "#e9e1cf", {cut: false}));
}

/// Colliders; planes are floors that fade out around the scene.
export function colliderShapes(buffer, infos, shared, {centre, reach, spacing, up}) {
  return new Shapes(
    buffer, infos,
    (info) =>
      (info?.shape === "plane" ? groundMaterial(centre, reach, spacing, up) :
                                 skinMaterial(shared, "#7d8896", {cut: false})));
}

const ATTACHMENT_WORDS = 5;
const HELD = 0x80000000;
const OWN_POSE = 0xffffffff;

/// The colour of a tie: of its bone; white where the body's own pose or a fixed place holds it.
function tieColour(bone) {
  return bone >= HELD ? [0.9, 0.9, 0.9] : categoryColour(bone % 60);
}

/// Nodes that bones hold: a point where the bone wants each, in the colour of the bone, and a line
/// to where the node is, which is short where the bone gets its will.
///
/// Where the skin follows its own skinned pose nearly all nodes are tied to it, and would hide the
/// others: those ties show only where there are no others.
export class Attachments {
  constructor(buffer) {
    const words = new Uint32Array(buffer);
    const floats = new Float32Array(buffer);
    const all = Array.from({length: words[0]}, (_, i) => 1 + ATTACHMENT_WORDS * i);
    const held = all.filter((o) => words[o + 4] !== OWN_POSE);
    const shown = held.length > 0 ? held : all;
    this.count = shown.length;
    this.node = new Uint32Array(this.count);
    this.bone = new Uint32Array(this.count);
    this.rest = new Float32Array(3 * this.count);
    const colours = new Float32Array(6 * this.count);
    for (let i = 0; i < this.count; i += 1) {
      const o = shown[i];
      this.node[i] = words[o];
      this.rest.set(floats.subarray(o + 1, o + 4), 3 * i);
      this.bone[i] = words[o + 4];
      const colour = tieColour(this.bone[i]);
      colours.set(colour, 6 * i);
      colours.set(colour, 6 * i + 3);
    }
    this.#build(colours);
  }

  #build(colours) {
    const ends = new THREE.BufferAttribute(new Float32Array(6 * this.count), 3);
    const tint = new THREE.BufferAttribute(colours, 3);
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", ends);
    geometry.setAttribute("color", tint);
    const lines =
      new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({vertexColors: true}));
    const points = new THREE.Points(geometry, dotMaterial(6));
    for (const object of [lines, points]) object.frustumCulled = false;
    this.ends = ends;
    this.group = new THREE.Group();
    this.group.add(lines, points);
    this.move(null, null);
  }

  /// `bones` are the shapes at this frame, `body` has the places of its nodes if it has cells.
  move(bones, body) {
    const motions = new Map();
    const place = new THREE.Vector3();
    const follows = body?.record && body.points;
    for (let i = 0; i < this.count; i += 1) {
      const bone = this.bone[i];
      place.fromArray(this.rest, 3 * i);
      if (bones && bone < bones.surfaces.length) {
        if (!motions.has(bone)) motions.set(bone, bones.motionOf(bone));
        place.applyMatrix4(motions.get(bone));
      }
      place.toArray(this.ends.array, 6 * i);
      const node = 3 * this.node[i];
      for (let k = 0; k < 3; k += 1) {
        const now = follows && node + k < body.points.length ? body.points[node + k] : null;
        this.ends.array[6 * i + 3 + k] = now ?? this.ends.array[6 * i + k];
        // Where a pose or a fixed place wants a node is not known here: the dot is at the node.
        if (bone >= HELD) this.ends.array[6 * i + k] = this.ends.array[6 * i + 3 + k];
      }
    }
    this.ends.needsUpdate = true;
  }
}

const CONTACT_WORDS = 9;

/// Contacts of a frame: a needle along the normal where something pushes the skin, longer and
/// brighter the harder it pushes.
export class Contacts {
  constructor(length) {
    this.length = length;
    // Over everything else: contacts are between surfaces, where one could not see them.
    const over = {depthTest: false, transparent: true};
    this.lines = new THREE.LineSegments(
      new THREE.BufferGeometry(), new THREE.LineBasicMaterial({vertexColors: true, ...over}));
    this.dots = new THREE.Points(new THREE.BufferGeometry(), Object.assign(dotMaterial(5), over));
    for (const object of [this.lines, this.dots]) {
      object.frustumCulled = false;
      object.renderOrder = 15;
    }
    this.group = new THREE.Group();
    this.group.add(this.lines, this.dots);
  }

  show(records) {
    const count = records.reduce((sum, record) => sum + record.contactCount, 0);
    const ends = new Float32Array(6 * count);
    const dots = new Float32Array(3 * count);
    const dotTints = new Float32Array(3 * count);
    const tints = new Float32Array(6 * count);
    const strongest = strongestForce(records);
    let i = 0;
    for (const record of records) {
      for (let k = 0; k < record.contactCount; k += 1, i += 1) {
        const c = record.contacts.subarray(CONTACT_WORDS * k, CONTACT_WORDS * k + 8);
        const share = strongest > 0 ? Math.max(c[7], 0) / strongest : 0;
        for (let a = 0; a < 3; a += 1) {
          dots[3 * i + a] = c[a];
          ends[6 * i + a] = c[a];
          ends[6 * i + 3 + a] = c[a] + c[3 + a] * this.length * (0.15 + 0.85 * share);
        }
        dotTints.set([1, 0.6, 0.12], 3 * i);
        tints.set([1, 0.75, 0.15, 1, 0.35 + 0.4 * share, 0.1], 6 * i);
      }
    }
    this.#put(this.lines, {position: ends, color: tints});
    this.#put(this.dots, {position: dots, color: dotTints});
    this.count = count;
  }

  #put(object, attributes) {
    object.geometry.dispose();
    object.geometry = new THREE.BufferGeometry();
    for (const [name, array] of Object.entries(attributes)) {
      object.geometry.setAttribute(name, new THREE.BufferAttribute(array, 3));
    }
  }
}

function strongestForce(records) {
  let most = 0;
  for (const record of records) {
    for (let k = 0; k < record.contactCount; k += 1) {
      most = Math.max(most, record.contacts[CONTACT_WORDS * k + 7]);
    }
  }
  return most;
}
