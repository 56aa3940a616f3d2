import { stringifyExact } from '@opsplane/contracts'
import { createSlices } from '@opsplane/runtime'

/** Depth to which objects are split: in an OpenAPI document, the paths and the single components. */
const depth = 3

/**
 * The bytes of `JSON.stringify(value)`, for plain data of megabytes. Written in slices,
 * so that it does not block the event loop.
 */
export async function stringifyInSlices(value: object): Promise<Buffer> {
  const slice = createSlices()
  const parts: string[] = []
  for (const part of partsOf(value, depth)) {
    parts.push(part)
    await slice()
  }
  return Buffer.from(parts.join(''))
}

function* partsOf(value: unknown, levels: number): Generator<string> {
  if (levels === 0 || !isDictionary(value)) {
    yield stringifyExact(value)
    return
  }
  let before = '{'
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    yield `${before}${JSON.stringify(name)}:`
    yield* partsOf(member, levels - 1)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}

const isDictionary = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !('toJSON' in value)
