// One run: what the server says about it, its bodies, bones, colliders, attachments and contacts.
import * as THREE from "three";
import {Body} from "./body.js";
import {needsRecord} from "./fields.js";
import {Attachments, boneShapes, colliderShapes, Contacts} from "./things.js";

export class Run {
  constructor(number, count, info) {
    Object.assign(this, {number, count, info});
    this.bodies = [];
    this.bones = null;
    this.colliders = null;
    this.attachments = [];
    this.contacts = null;
  }

  async load(source, shared) {
    this.bodies = await Promise.all(this.info.bodies.map(
      async (info, b) => new Body(
        this, b, info, await source.binary(`/api/${this.number}/body/${b}/surface`), shared)));
  }

  /// True if another run has begun in the same folder: other bodies, or frames that are gone.
  isAnother(info) {
    const shape = (of) => JSON.stringify(
      of.bodies.map((body) => [body.name, body.vertices, body.triangles, body.cells]));
    const last = (of) => of.stored?.[1] ?? 0;
    return shape(info) !== shape(this.info) || last(info) < last(this.info);
  }

  /// Takes what the server says now; true if more frames are stored or the state has changed.
  update(info) {
    const before = JSON.stringify([this.info.stored, this.info.state]);
    this.info = {...info, name: this.info.name};
    this.bodies.forEach((body, b) => {
      body.info = info.bodies[b] ?? body.info;
    });
    return before !== JSON.stringify([info.stored, info.state]);
  }

  /// Bones and colliders, once; where they are drawn depends on how large the scene is.
  async loadShapes(source, shared, surroundings) {
    const load = async (kind) =>
      (this.info[kind].length === 0 ?
         null :
         source.binary(`/api/${this.number}/${kind}/surface`).catch(() => null));
    const [bones, colliders] = await Promise.all([load("bones"), load("colliders")]);
    if (bones) this.bones = boneShapes(bones, this.info.bones, shared);
    if (colliders)
      this.colliders = colliderShapes(colliders, this.info.colliders, shared, surroundings);
    this.contacts = new Contacts(surroundings.reach * 0.06);
  }

  async loadAttachments(source) {
    this.attachmentsLoading ??=
      Promise
        .all(this.bodies.map(async (body) => {
          const buffer =
            await source.binary(`/api/${this.number}/attachments/${body.number}`).catch(() => null);
          return buffer && buffer.byteLength >= 4 ? new Attachments(buffer) : null;
        }))
        .then((list) => {
          this.attachments = list;
        });
    await this.attachmentsLoading;
  }

  /// The nearest frame that this run has, or null.
  nearest(frame) {
    const {stored} = this.info;
    return stored ? Math.min(Math.max(frame, stored[0]), stored[1]) : null;
  }

  /// Paths of all that a frame needs, given what is to be seen.
  needs(frame, look) {
    const at = this.nearest(frame);
    if (at === null) return [];
    const paths = [];
    for (const body of this.bodies) {
      paths.push(`${body.path}/frame/${at}`);
      if (this.#wantsSkinned(body, look)) paths.push(`${body.path}/skinned/${at}`);
      if (this.#wantsRecord(body, look)) paths.push(`${body.path}/fields/${at}`);
    }
    if (this.bones && (look.things.bones || look.things.attachments))
      paths.push(`/api/${this.number}/bones/frame/${at}`);
    if (this.colliders && look.things.colliders)
      paths.push(`/api/${this.number}/colliders/frame/${at}`);
    return paths;
  }

  #wantsSkinned(body, look) {
    return body.info.skinned && (look.kinds.includes("skinned") || look.colour === "skinned");
  }

  #wantsRecord(body, look) {
    if (body.info.cells === 0 || body.info.fields.length === 0) return false;
    return needsRecord(look.colour) || look.cutOn || look.things.contacts || look.things.muscles ||
      look.things.attachments;
  }

  /// Puts a frame into place.
  apply(frame, buffers) {
    const at = this.nearest(frame);
    if (at === null) return;
    const get = (path) => buffers.get(path) ?? null;
    for (const body of this.bodies) {
      body.apply({
        frame: get(`${body.path}/frame/${at}`),
        skinned: get(`${body.path}/skinned/${at}`),
        record: get(`${body.path}/fields/${at}`)
      });
      body.muscles?.activate(at - this.info.stored[0]);
    }
    const bones = get(`/api/${this.number}/bones/frame/${at}`);
    if (bones) this.bones.move(bones);
    const colliders = get(`/api/${this.number}/colliders/frame/${at}`);
    if (colliders) this.colliders.move(colliders);
    this.moveThings();
  }

  /// Attachments and contacts follow bodies and bones.
  moveThings() {
    this.attachments.forEach((attachment, b) => attachment?.move(this.bones, this.bodies[b]));
    const records = this.bodies.map((body) => body.record).filter(Boolean);
    this.contacts?.show(records);
  }

  /// A point of the first plane among the colliders if that is level, else null.
  floor() {
    const i = this.info.colliders.findIndex((collider) => collider.shape === "plane");
    if (i < 0 || !this.colliders) return null;
    const {rest} = this.colliders.surfaces[i];
    const axis = ["x", "y", "z"].indexOf(this.info.up);
    const heights = [0, 1, 2].map((v) => rest[3 * v + axis]);
    const level = Math.max(...heights) - Math.min(...heights) < 1e-6 * (1 + Math.abs(heights[0]));
    return level ? new THREE.Vector3().fromArray(rest) : null;
  }

  /// The box around all bodies as they are now.
  box() {
    const box = new THREE.Box3();
    for (const body of this.bodies) {
      box.union(new THREE.Box3().setFromArray(body.simulated.positions));
    }
    return box;
  }

  /// The box around all bodies at rest, where cuts are made.
  restBox() {
    const box = new THREE.Box3();
    for (const body of this.bodies) box.union(new THREE.Box3().setFromArray(body.rest));
    return box;
  }
}
