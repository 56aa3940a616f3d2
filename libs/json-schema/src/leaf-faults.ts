import type { Schema } from '@cfworker/json-schema'
import { type Fault, formatPointerStep, isObject, parsePointer } from './schema.js'

/** A failed keyword without subschemas. */
interface Leaf {
  keyword: string
  /** Pointer to the value. */
  path: string
}

interface Place {
  node: Schema | boolean
  pointer: string
  alias: string | undefined
}

type Words = readonly [code: string, message: (bound: unknown) => string]

const limit = (code: string, relation: string): Words => [code, (bound) => `must ${relation} ${bound}`]
const amount = (code: string, word: string, unit: string): Words => [
  code,
  (bound) => `must have at ${word} ${bound} ${unit}`,
]

const words: Readonly<Record<string, Words>> = {
  type: ['invalid_type', (type) => `must be of type ${[type].flat().join(' or ')}`],
  enum: ['invalid_value', () => 'must be one of the values allowed'],
  const: ['invalid_value', (value) => `must be ${JSON.stringify(value)?.slice(0, 200)}`],
  not: ['invalid_value', () => 'is what is ruled out'],
  minimum: limit('too_small', 'be at least'),
  exclusiveMinimum: limit('too_small', 'be more than'),
  maximum: limit('too_big', 'be at most'),
  exclusiveMaximum: limit('too_big', 'be less than'),
  multipleOf: limit('not_multiple_of', 'be a multiple of'),
  minLength: amount('too_small', 'least', 'characters'),
  maxLength: amount('too_big', 'most', 'characters'),
  minItems: amount('too_small', 'least', 'items'),
  maxItems: amount('too_big', 'most', 'items'),
  minProperties: amount('too_small', 'least', 'properties'),
  maxProperties: amount('too_big', 'most', 'properties'),
  uniqueItems: ['not_unique', () => 'must not repeat items'],
  pattern: ['invalid_format', (pattern) => `must match ${pattern}`],
  format: ['invalid_format', (format) => `must be of format ${format}`],
  contains: ['too_small', () => 'must have an item of the kind that is asked for'],
  minContains: ['too_small', (count) => `must have at least ${count} items of the kind that is asked for`],
  maxContains: ['too_big', (count) => `must have at most ${count} items of the kind that is asked for`],
}

/** The faults of a failed keyword: usually one, but one per missing property for `required` and `dependentRequired`. */
export function leafFaults(
  { node, pointer, alias }: Place,
  { keyword, path }: Leaf,
  value: unknown,
): Fault[] {
  if (typeof node === 'boolean' || keyword === 'false')
    return [{ path, schemaPath: pointer, code: 'unrecognized_key', message: 'is not allowed here' }]
  const name = alias ?? keyword
  if (keyword === 'required') return missing(node.required ?? [], { path, pointer, keyword }, value)
  if (keyword === 'dependentRequired') return missingDependents(node, { path, pointer }, value)
  const [code, message] = words[name] ?? ['invalid_value', () => `does not meet ${name}`]
  return [{ path, schemaPath: `${pointer}/${name}`, code, message: message(node[keyword]) }]
}

interface MissingIn {
  path: string
  pointer: string
  keyword: string
  because?: string
}

function missing(
  names: readonly string[],
  { path, pointer, keyword, because = '' }: MissingIn,
  value: unknown,
) {
  const object = valueAt(value, path)
  return names.flatMap((name, index): Fault[] =>
    isObject(object) && Object.hasOwn(object, name)
      ? []
      : [
          {
            path: path + formatPointerStep(name),
            schemaPath: `${pointer}/${keyword}/${index}`,
            code: 'required',
            message: `is required${because}`,
          },
        ],
  )
}

function missingDependents(
  { dependentRequired = {} }: Schema,
  { path, pointer }: { path: string; pointer: string },
  value: unknown,
): Fault[] {
  const object = valueAt(value, path)
  return Object.entries(dependentRequired).flatMap(([given, names]) => {
    if (!isObject(object) || !Object.hasOwn(object, given)) return []
    const keyword = `dependentRequired${formatPointerStep(given)}`
    return missing(names, { path, pointer, keyword, because: ` together with ${given}` }, value)
  })
}

function valueAt(value: unknown, path: string): unknown {
  let found = value
  for (const name of parsePointer(path)) {
    if (Array.isArray(found)) found = found[Number(name)]
    else found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return found
}
