/** A step of a plain path: a field, and indexes into its value; negative ones count from the end. */
export interface PathStep {
  name: string
  places: readonly number[]
}

const step = /\s*(?:\.\s*)?(?:([A-Za-z_][A-Za-z0-9_]*)|`([^`]*)`)((?:\s*\[\s*-?(?:0|[1-9]\d{0,8})\s*\])*)\s*/y
const reserved = new Set(['and', 'or', 'in', 'true', 'false', 'null', 'function'])

/**
 * The steps of an expression that consists only of names and indexes (`items[0].name`); `undefined` for any other
 * expression.
 */
export function parsePlainPath(source: string): PathStep[] | undefined {
  const steps: PathStep[] = []
  step.lastIndex = 0
  while (step.lastIndex < source.length) {
    const start = step.lastIndex
    const [whole, plain, quoted, places] = step.exec(source) ?? []
    if (whole === undefined || whole.trimStart().startsWith('.') !== start > 0) return undefined
    if (plain !== undefined && reserved.has(plain)) return undefined
    steps.push({ name: plain ?? quoted ?? '', places: placesIn(places ?? '') })
  }
  return steps.length > 0 ? steps : undefined
}

const placesIn = (text: string): number[] => [...text.matchAll(/-?\d+/g)].map(([place]) => Number(place))

/**
 * A sequence of JSONata: an array created during evaluation, which is flattened into others, and equals its item if it has
 * only one.
 */
class Sequence extends Array<unknown> {
  static override readonly [Symbol.species] = Array
}

/** The value at a path by JSONata's rules: arrays are mapped and flattened, missing values are `undefined`. */
export function walkPlainPath(steps: readonly PathStep[], scope: object): unknown {
  let input: unknown[] = [scope]
  for (const [index, { name, places }] of steps.entries()) {
    input = applyStep(input, { name, places, last: index === steps.length - 1 })
    if (input.length === 0) break
  }
  const value = unwrapped(input)
  return value instanceof Sequence ? Array.from(value) : value
}

function applyStep(
  input: readonly unknown[],
  { name, places, last }: PathStep & { last: boolean },
): unknown[] {
  const found: unknown[] = []
  for (const item of input) {
    const value = places.reduce(at, unwrapped(fieldOf(item, name)))
    if (value !== undefined) found.push(value)
  }
  const [only] = found
  if (last && found.length === 1 && Array.isArray(only) && !(only instanceof Sequence)) return only
  const flat = new Sequence()
  for (const value of found) {
    if (Array.isArray(value)) for (const item of value) flat.push(item)
    else flat.push(value)
  }
  return flat
}

function fieldOf(item: unknown, name: string): unknown {
  if (Array.isArray(item)) {
    const found = new Sequence()
    for (const each of item) {
      const value = fieldOf(each, name)
      if (Array.isArray(value)) for (const inner of value) found.push(inner)
      else if (value !== undefined) found.push(value)
    }
    return found
  }
  const isObject = item !== null && typeof item === 'object' && Object.hasOwn(item, name)
  return isObject ? (item as Record<string, unknown>)[name] : undefined
}

function at(value: unknown, place: number): unknown {
  const items = Array.isArray(value) ? value : [value]
  const item: unknown = items[place < 0 ? items.length + place : place]
  if (Array.isArray(item)) return item
  const found = new Sequence()
  if (item !== undefined) found.push(item)
  return found
}

/** An empty sequence becomes `undefined`, a sequence of one item that item. */
function unwrapped(value: unknown): unknown {
  if (!(value instanceof Sequence)) return value
  return value.length < 2 ? value[0] : value
}
