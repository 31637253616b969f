// What tests and the curious may look at from the console, as window.sinew.
import * as THREE from "three";
import {cssAt} from "./colours.js";

export function debugHooks(viewer) {
  const body = (run, number) => viewer.runs[run].bodies[number];
  return {
    viewer,
    store: viewer.store,
    /// The frame on the screen, which may lag behind the one that is wanted.
    get shownFrame() {
      return viewer.loader.shown;
    },
    debug: {
      positions: (run, number) => Array.from(body(run, number).simulated.positions),
      values: (run, number) => Array.from(body(run, number).simulated.values),
      /// Where a vertex is on the page: x, y in CSS pixels of the canvas.
      screenOf: (run, number, vertex, panel = 0) => viewer.scene3d.screenOf(
        new THREE.Vector3().fromArray(body(run, number).simulated.positions, 3 * vertex), panel),
      pixel: (x, y) => viewer.scene3d.pixel(x, y),
      pickAt: (x, y) => {
        const found = viewer.pickAt(x, y);
        return found && {
          run: found.body.run.number,
          body: found.body.number,
          vertex: found.vertex,
          cell: found.cell
        };
      },
      /// Edges of what is drawn, CSS pixels (left, top, right, bottom), and the matrix from the scene
      /// to the screen, column by column.
      silhouette: () => silhouette(viewer.scene3d),
      mapColour: (t) => cssAt(viewer.store.state.map, t).match(/\d+/g).map(Number),
      quads: (run, number) => body(run, number).quads?.count ?? 0,
      legend: () => viewer.legend.shown && {...viewer.legend.shown, marks: viewer.legend.marks},
      cache: () => ({
        bytes: viewer.cache.bytes,
        budget: viewer.cache.budget,
        entries: viewer.cache.kept.size,
        requests: viewer.source.requests,
        aborted: viewer.source.aborted
      }),
      timings: () => ({
        apply: viewer.loader.applyMilliseconds,
        draw: viewer.scene3d.drawMilliseconds,
        drawn: viewer.scene3d.drawn,
        picture: viewer.scene3d.pictureMilliseconds,
        slow: viewer.scene3d.slow
      }),
    },
  };
}

function silhouette(scene3d) {
  scene3d.draw();
  const gl = scene3d.renderer.getContext();
  const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
  const pixels = new Uint8Array(4 * width * height);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
  const ratio = scene3d.renderer.getPixelRatio();
  const drawn = [Infinity, Infinity, -Infinity, -Infinity];
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      if (pixels[4 * (y * width + x) + 3] < 128) continue;
      drawn[0] = Math.min(drawn[0], x);
      drawn[2] = Math.max(drawn[2], x + 1);
      drawn[1] = Math.min(drawn[1], height - y - 1);
      drawn[3] = Math.max(drawn[3], height - y);
    }
  }
  const {camera} = scene3d;
  const matrix =
    new THREE.Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
  return {
    drawn: drawn.map((v) => v / ratio),
    matrix: matrix.elements,
    width: scene3d.width,
    height: scene3d.height
  };
}
