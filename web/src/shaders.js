// Programs for the graphics card. Values become colours here, so that a new range, map or cutting
// plane costs nothing on the processor; a frame only brings new positions, normals and values.
import * as THREE from "three";
import {colourBytes, categoryColour, levelColour} from "./colours.js";

/// A value that means "nothing known here"; drawn grey.
export const NO_VALUE = 1e30;

const SHADING = /* glsl */ `
  vec3 toLinear(vec3 c) {
    return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c));
  }
  vec3 toScreen(vec3 c) {
    c = clamp(c, 0.0, 1.0);
    return mix(c * 12.92, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
  }
  // A lamp over the viewer's shoulder, a softer one across, and light from the sky.
  vec3 lit(vec3 colour, vec3 n, vec3 toEye, vec3 sky, float gloss) {
    float key = clamp((dot(n, normalize(vec3(0.4, 0.55, 0.75))) + 0.2) / 1.2, 0.0, 1.0);
    float fill = clamp(dot(n, normalize(vec3(-0.7, -0.1, 0.5))), 0.0, 1.0);
    float above = 0.5 + 0.5 * dot(n, sky);
    float rim = pow(1.0 - clamp(dot(n, toEye), 0.0, 1.0), 3.0);
    vec3 halfway = normalize(normalize(vec3(0.4, 0.55, 0.75)) + toEye);
    float shine = gloss * pow(clamp(dot(n, halfway), 0.0, 1.0), 28.0);
    vec3 light = vec3(0.62, 0.6, 0.57) * key + vec3(0.1, 0.12, 0.16) * fill
      + mix(vec3(0.16, 0.14, 0.13), vec3(0.34, 0.37, 0.42), above);
    return colour * light + vec3(0.5, 0.55, 0.6) * (shine + 0.12 * rim * gloss);
  }
  // Fields keep their colours: light only models the form.
  vec3 litEvenly(vec3 colour, vec3 n, vec3 toEye, vec3 sky) {
    float form = 0.62 + 0.3 * clamp(dot(n, normalize(vec3(0.25, 0.45, 0.85))), 0.0, 1.0)
      + 0.1 * (0.5 + 0.5 * dot(n, sky));
    return colour * form;
  }
`;

const COLOURING = /* glsl */ `
  uniform int mode;               // 0 plain, 1 map, 2 category
  uniform sampler2D map;          // the colours of the map
  uniform sampler2D categories;   // a colour a category
  uniform vec2 range;             // values at the ends of the map
  uniform vec3 base;              // plain colour, linear
  vec3 colourOf(float value, float category) {
    if (mode == 0) return base;
    if (mode == 2) return texelFetch(categories, ivec2(int(category + 0.5), 0), 0).rgb;
    if (value > 1e29) return vec3(0.12);
    float t = clamp((value - range.x) / max(range.y - range.x, 1e-30), 0.0, 1.0);
    return toLinear(texture(map, vec2((t * 255.0 + 0.5) / 256.0, 0.5)).rgb);
  }
`;

const SKIN_VERTEX = /* glsl */ `
  in vec3 rest;
  in float value;
  out vec3 vNormal; out vec3 vEye; out vec3 vRest; out float vValue;
  flat out float vCategory;
  void main() {
    vec4 p = modelViewMatrix * vec4(position, 1.0);
    vNormal = normalMatrix * normal;
    vEye = -p.xyz;
    vRest = rest;
    vValue = value;
    vCategory = value;
    gl_Position = projectionMatrix * p;
  }
`;

const SKIN_FRAGMENT = /* glsl */ `
  uniform vec4 plane;             // what is beyond is cut away, judged at rest
  uniform vec3 sky;               // up, as the camera sees it
  uniform float opacity;
  uniform float ghost;            // 1: only the outline glows
  in vec3 vNormal; in vec3 vEye; in vec3 vRest; in float vValue;
  flat in float vCategory;
  out vec4 colour;
  ${SHADING}
  ${COLOURING}
  void main() {
    if (dot(vRest, plane.xyz) > plane.w) discard;
    vec3 toEye = normalize(vEye);
    vec3 n = normalize(vNormal + 1e-12 * toEye);
    if (!gl_FrontFacing) n = -n;
    vec3 c = colourOf(vValue, vCategory);
    if (ghost > 0.5) {
      float edge = 1.0 - clamp(dot(n, toEye), 0.0, 1.0);
      colour = vec4(toScreen(base), opacity * (0.18 + 0.82 * pow(edge, 1.6)));
      return;
    }
    vec3 shaded = mode == 0 ? lit(c, n, toEye, sky, gl_FrontFacing ? 0.22 : 0.0)
                            : litEvenly(c, n, toEye, sky);
    if (!gl_FrontFacing) shaded *= mode == 0 ? vec3(0.45, 0.32, 0.3) : vec3(0.55);
    // See-through skin is thinner where one looks straight at it.
    float slant = 1.0 - clamp(dot(n, toEye), 0.0, 1.0);
    float thin = mix(0.55 * opacity, min(1.0, 1.7 * opacity), slant * slant);
    float alpha = opacity >= 1.0 ? 1.0 : thin;
    colour = vec4(toScreen(shaded), alpha);
  }
`;

const CELL_VERTEX = /* glsl */ `
  in float value;
  out vec3 vEye; out vec2 vPlace; out float vValue;
  flat out float vCategory;
  void main() {
    vec4 p = modelViewMatrix * vec4(position, 1.0);
    int corner = gl_VertexID & 3;
    vPlace = vec2(corner == 1 || corner == 2 ? 1.0 : 0.0, corner >= 2 ? 1.0 : 0.0);
    vEye = -p.xyz;
    vValue = value;
    vCategory = value;
    gl_Position = projectionMatrix * p;
  }
`;

const CELL_FRAGMENT = /* glsl */ `
  uniform vec3 sky;
  uniform float edges;            // 1: lines between cells
  in vec3 vEye; in vec2 vPlace; in float vValue;
  flat in float vCategory;
  out vec4 colour;
  ${SHADING}
  ${COLOURING}
  void main() {
    vec3 toEye = normalize(vEye);
    vec3 n = normalize(cross(dFdx(vEye), dFdy(vEye)));
    if (dot(n, toEye) < 0.0) n = -n;
    vec3 c = litEvenly(colourOf(vValue, vCategory), n, toEye, sky);
    // A line of one pixel along the border, fainter where cells are only a few pixels wide.
    vec2 width = fwidth(vPlace);
    vec2 border = min(vPlace, 1.0 - vPlace) / max(width, vec2(1e-6));
    float line = 1.0 - smoothstep(0.4, 1.3, min(border.x, border.y));
    float room = clamp(0.25 / max(width.x, width.y), 0.0, 1.0);
    c *= 1.0 - 0.62 * edges * line * room;
    colour = vec4(toScreen(c), 1.0);
  }
`;

const GROUND_FRAGMENT = /* glsl */ `
  uniform vec3 base; uniform vec3 centre; uniform float reach; uniform float spacing;
  uniform vec3 upward;
  in vec3 vPlace;
  out vec4 colour;
  void main() {
    vec3 p = vPlace - centre;
    vec3 a = abs(upward);
    vec2 q = a.x > 0.9 ? p.yz : (a.y > 0.9 ? p.xz : p.xy);
    vec2 cells = q / spacing;
    vec2 width = fwidth(cells);
    vec2 near = abs(fract(cells - 0.5) - 0.5) / max(width, vec2(1e-6));
    float room = clamp(0.3 / max(width.x, width.y), 0.0, 1.0);
    float line = (1.0 - clamp(min(near.x, near.y), 0.0, 1.0)) * room;
    float fade = 1.0 - smoothstep(0.35, 1.0, length(p) / reach);
    colour = vec4(base * (1.0 + 0.55 * line), (0.55 + 0.3 * line) * fade);
  }
`;

const GROUND_VERTEX = /* glsl */ `
  out vec3 vPlace;
  void main() {
    vPlace = position;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
  }
`;

const SHADOW_VERTEX = /* glsl */ `
  in vec3 rest;
  uniform vec3 ground; uniform vec3 upward; uniform vec3 sun; uniform float lift;
  out vec3 vRest; out float vHeight;
  void main() {
    vRest = rest;
    vHeight = dot(position - ground, upward);
    vec3 p = position - sun * (vHeight / dot(sun, upward)) + lift * upward;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(p, 1.0);
  }
`;

const SHADOW_FRAGMENT = /* glsl */ `
  uniform vec4 plane;
  in vec3 vRest; in float vHeight;
  out vec4 colour;
  void main() {
    if (dot(vRest, plane.xyz) > plane.w || vHeight < 0.0) discard;
    colour = vec4(0.02, 0.025, 0.035, 0.4);
  }
`;

/// The skin pressed flat onto a floor: a shadow. The stencil keeps its layers from adding up.
export function shadowMaterial(shared, ground, upward, size) {
  const sun = upward.clone().add(new THREE.Vector3(0.22, 0.18, 0.2)).normalize();
  return new THREE.ShaderMaterial({
    glslVersion: THREE.GLSL3,
    vertexShader: SHADOW_VERTEX,
    fragmentShader: SHADOW_FRAGMENT,
    uniforms: {
      plane: shared.plane,
      ground: {value: ground},
      upward: {value: upward},
      sun: {value: sun},
      lift: {value: size * 1e-3}
    },
    side: THREE.DoubleSide,
    transparent: true,
    depthWrite: false,
    stencilWrite: true,
    stencilFunc: THREE.EqualStencilFunc,
    stencilRef: 0,
    stencilZPass: THREE.IncrementStencilOp,
  });
}

const DOT_VERTEX = /* glsl */ `
  in vec3 color;
  uniform float size;
  out vec3 vColour;
  void main() {
    vColour = color;
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
    gl_PointSize = size;
  }
`;

const DOT_FRAGMENT = /* glsl */ `
  in vec3 vColour;
  out vec4 colour;
  ${SHADING}
  void main() {
    float far = length(gl_PointCoord - 0.5) * 2.0;
    if (far > 1.0) discard;
    colour = vec4(toScreen(vColour * (1.0 - 0.6 * smoothstep(0.6, 1.0, far))), 1.0);
  }
`;

/// Round points of a size in pixels, each in its own linear colour.
export function dotMaterial(size) {
  return new THREE.ShaderMaterial({
    glslVersion: THREE.GLSL3,
    vertexShader: DOT_VERTEX,
    fragmentShader: DOT_FRAGMENT,
    uniforms: {size: {value: size * Math.min(window.devicePixelRatio, 2)}}
  });
}

const NOTHING_CUT = new THREE.Vector4(0, 0, 0, 1);

/// Values that all materials of the page share, each an object that shaders look into.
export function sharedUniforms() {
  return {
    sky: {value: new THREE.Vector3(0, 1, 0)},
    plane: {value: NOTHING_CUT.clone()},
    map: {value: mapTexture("lagoon")},
    range: {value: new THREE.Vector2(0, 1)},
    categories: {value: categoryTexture("level")},
  };
}

export function setPlane(shared, plane) {
  shared.plane.value.copy(plane ?? NOTHING_CUT);
}

const textures = new Map();

/// The colours of a map, made once.
export function mapTexture(name) {
  if (!textures.has(name)) {
    const texture = new THREE.DataTexture(colourBytes(name), 256, 1, THREE.RGBAFormat);
    texture.minFilter = THREE.LinearFilter;
    texture.magFilter = THREE.LinearFilter;
    texture.needsUpdate = true;
    textures.set(name, texture);
  }
  return textures.get(name);
}

/// 64 colours: of levels, or of anything else that is numbered.
export function categoryTexture(kind) {
  const key = `category:${kind}`;
  if (!textures.has(key)) {
    const data = new Float32Array(64 * 4);
    for (let i = 0; i < 64; i += 1) {
      data.set([...(kind === "level" ? levelColour(i) : categoryColour(i)), 1], 4 * i);
    }
    // The last one stands for "none".
    data.set([0.12, 0.12, 0.12, 1], 63 * 4);
    const texture = new THREE.DataTexture(data, 64, 1, THREE.RGBAFormat, THREE.FloatType);
    texture.needsUpdate = true;
    textures.set(key, texture);
  }
  return textures.get(key);
}

function common(shared, colour) {
  return {
    sky: shared.sky,
    map: shared.map,
    range: shared.range,
    categories: shared.categories,
    mode: {value: 0},
    base: {value: new THREE.Color(colour)},
  };
}

/// Skin: smooth, cut by the plane unless `cut` is false. `ghost` shows an outline only, for a
/// surface to compare with.
export function skinMaterial(shared, colour, {ghost = false, cut = true} = {}) {
  return new THREE.ShaderMaterial({
    glslVersion: THREE.GLSL3,
    vertexShader: SKIN_VERTEX,
    fragmentShader: SKIN_FRAGMENT,
    uniforms: {
      ...common(shared, colour),
      plane: cut ? shared.plane : {value: NOTHING_CUT},
      opacity: {value: ghost ? 0.7 : 1},
      ghost: {value: ghost ? 1 : 0}
    },
    side: THREE.DoubleSide,
    transparent: ghost,
    depthWrite: !ghost,
    polygonOffset: true,
    polygonOffsetFactor: 1,
    polygonOffsetUnits: 1,
  });
}

/// Writes depth only: before a see-through skin, so that just its nearest layer shows.
export function depthMaterial(shared) {
  const material = skinMaterial(shared, "#000");
  material.colorWrite = false;
  return material;
}

/// Counts, pixel by pixel, how often a line of sight leaves the cut body more than it enters it:
/// there the cut itself shows. One for the insides of the skin, one for its outsides.
export function countingMaterials(shared) {
  return [THREE.BackSide, THREE.FrontSide].map((side) => {
    const material = depthMaterial(shared);
    const count =
      side === THREE.BackSide ? THREE.IncrementWrapStencilOp : THREE.DecrementWrapStencilOp;
    return Object.assign(material, {
      side,
      depthWrite: false,
      depthTest: false,
      stencilWrite: true,
      stencilFunc: THREE.AlwaysStencilFunc,
      stencilFail: count,
      stencilZFail: count,
      stencilZPass: count
    });
  });
}

/// Faces of cells, four vertices each, with lines between them.
export function cellMaterial(shared) {
  return new THREE.ShaderMaterial({
    glslVersion: THREE.GLSL3,
    vertexShader: CELL_VERTEX,
    fragmentShader: CELL_FRAGMENT,
    uniforms: {...common(shared, "#c9b8a8"), edges: {value: 1}},
    side: THREE.DoubleSide,
    polygonOffset: true,
    polygonOffsetFactor: 1,
    polygonOffsetUnits: 1,
  });
}

/// An endless floor: a faint grid that fades out around the scene.
export function groundMaterial(centre, reach, spacing, upward) {
  return new THREE.ShaderMaterial({
    glslVersion: THREE.GLSL3,
    vertexShader: GROUND_VERTEX,
    fragmentShader: GROUND_FRAGMENT,
    uniforms: {
      base: {value: new THREE.Color(0.24, 0.28, 0.34)},
      centre: {value: centre},
      reach: {value: reach},
      spacing: {value: spacing},
      upward: {value: upward}
    },
    side: THREE.DoubleSide,
    transparent: true,
    depthWrite: false,
  });
}
