/* How a memory is drawn, told apart without colour: the shape says what family its type is of, the
   letter which type, the filling its tier, the size how important it is. */

import { NodeProgram, type ProgramInfo } from 'sigma/rendering'
import type { NodeDisplayData, RenderParams } from 'sigma/types'
import { floatColor } from 'sigma/utils'

export const SHAPES = ['circle', 'square', 'diamond', 'triangle', 'hexagon'] as const
export type Shape = (typeof SHAPES)[number]

/** What is so: circle. What was chosen or is wanted: diamond. What is worked on: square. What
    happened: triangle. Who somebody is: hexagon. */
export const SHAPE_OF: Record<string, Shape> = {
  fact: 'circle',
  concept: 'circle',
  observation: 'circle',
  decision: 'diamond',
  goal: 'diamond',
  project: 'square',
  procedure: 'square',
  event: 'triangle',
  person: 'hexagon',
  preference: 'hexagon',
}

export const FILLINGS = ['archival', 'working', 'core'] as const

/** Shape and filling as one number, for the shader. */
export function look(type: string, tier: string): number {
  const filling = Math.max(0, FILLINGS.indexOf(tier as (typeof FILLINGS)[number]))
  return SHAPES.indexOf(SHAPE_OF[type] ?? 'circle') + 8 * filling
}

const VERTEX = /* glsl */ `
attribute vec4 a_color;
attribute vec2 a_position;
attribute float a_size;
attribute float a_look;
attribute float a_angle;
uniform mat3 u_matrix;
uniform float u_sizeRatio;
uniform float u_correctionRatio;
varying vec4 v_color;
varying vec2 v_at;
varying float v_pixel;
varying float v_look;
const float bias = 255.0 / 254.0;

void main() {
  float size = a_size * u_correctionRatio / u_sizeRatio * 4.0;
  vec2 corner = size * 1.3 * vec2(cos(a_angle), sin(a_angle));
  gl_Position = vec4((u_matrix * vec3(a_position + corner, 1)).xy, 0, 1);
  v_at = corner / (size / 2.0);
  v_pixel = u_correctionRatio * 2.0 / (size / 2.0);
  v_look = a_look;
  v_color = a_color;
  v_color.a *= bias;
}`

const FRAGMENT = /* glsl */ `
precision mediump float;
varying vec4 v_color;
varying vec2 v_at;
varying float v_pixel;
varying float v_look;

float edge(vec2 p, float shape) {
  vec2 q = abs(p);
  if (shape < 0.5) return length(p) - 1.0;
  if (shape < 1.5) return max(q.x, q.y) - 0.88;
  if (shape < 2.5) return (q.x + q.y) * 0.7071 - 0.84;
  if (shape < 3.5) return max(q.x * 0.866 + p.y * 0.5, -p.y) - 0.62;
  return max(q.x * 0.866 + q.y * 0.5, q.y) - 0.92;
}

void main(void) {
  float filling = floor(v_look / 8.0);
  float far = edge(v_at, v_look - filling * 8.0);
  float inside = clamp(0.5 - far / v_pixel, 0.0, 1.0);
  float line = max(0.3, 1.1 * v_pixel);
  if (filling < 0.5) inside *= clamp(0.5 + (far + line) / v_pixel, 0.0, 1.0);
  else if (filling > 1.5) {
    float gap = abs(far + 0.2) - 0.075;
    inside *= clamp(0.5 + gap / v_pixel, 0.0, 1.0);
  }
  gl_FragColor = v_color * inside;
}`

const UNIFORMS = ['u_sizeRatio', 'u_correctionRatio', 'u_matrix'] as const
const { FLOAT, UNSIGNED_BYTE, TRIANGLES } = WebGLRenderingContext

export interface Marked extends NodeDisplayData {
  look: number
}

/** Draws all memories with one call: a triangle around each, the shape cut out of it. */
export class MarkProgram extends NodeProgram<(typeof UNIFORMS)[number]> {
  getDefinition() {
    return {
      VERTICES: 3,
      VERTEX_SHADER_SOURCE: VERTEX,
      FRAGMENT_SHADER_SOURCE: FRAGMENT,
      METHOD: TRIANGLES as 4,
      UNIFORMS,
      ATTRIBUTES: [
        { name: 'a_position', size: 2, type: FLOAT },
        { name: 'a_size', size: 1, type: FLOAT },
        { name: 'a_look', size: 1, type: FLOAT },
        { name: 'a_color', size: 4, type: UNSIGNED_BYTE, normalized: true },
      ],
      CONSTANT_ATTRIBUTES: [{ name: 'a_angle', size: 1, type: FLOAT }],
      CONSTANT_DATA: [[0], [(2 * Math.PI) / 3], [(4 * Math.PI) / 3]],
    }
  }

  processVisibleItem(_: number, start: number, data: NodeDisplayData): void {
    const array = this.array
    array[start] = data.x
    array[start + 1] = data.y
    array[start + 2] = data.size
    array[start + 3] = (data as Marked).look
    array[start + 4] = floatColor(data.color)
  }

  setUniforms(params: RenderParams, { gl, uniformLocations }: ProgramInfo): void {
    gl.uniform1f(uniformLocations.u_correctionRatio!, params.correctionRatio)
    gl.uniform1f(uniformLocations.u_sizeRatio!, params.sizeRatio)
    gl.uniformMatrix3fv(uniformLocations.u_matrix!, false, params.matrix)
  }

  /** Who is under the pointer is looked up in the scene, which is cheaper than drawing all twice. */
  override render(params: RenderParams): void {
    if (this.hasNothingToRender()) return
    const { gl } = this.normalProgram
    gl.viewport(0, 0, params.width * params.pixelRatio, params.height * params.pixelRatio)
    this.bindProgram(this.normalProgram)
    this.renderProgram(params, this.normalProgram)
    this.unbindProgram(this.normalProgram)
  }
}
