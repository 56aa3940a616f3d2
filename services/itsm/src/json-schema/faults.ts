import { ApiError, canonicalJson } from '@opsplane/contracts'
import { hasFormat } from './formats.js'
import { compilePattern, type Pattern } from './pattern.js'
import { type Fault, isObject, type JsonSchema, step } from './schema.js'
import { isOfType } from './types.js'

/** What one check may cost, in comparisons: a fraction of a second. Schema and data come from users, and may be made to multiply. */
const maxSteps = 1_000_000

export interface FaultsOptions {
  /** Begins the pointers into the data, such as `/formData`. */
  path: string
  /** Objects take no other properties than those declared where the schema says nothing of it. */
  closed?: boolean
  /** The value is not complete yet: what is required may be missing. Conditions are held against what is there. */
  partial?: boolean
}

/** All that is wrong with a value. Throws validation_failed when it would cost too much to tell. */
export function faultsOf(schema: unknown, value: unknown, options: FaultsOptions): Fault[] {
  const { path, closed = false, partial = false } = options
  const walk = { faults: [], steps: 0, root: path, patterns: new Map() }
  visit(schema, value, { path, schemaPath: '', closed, partial }, walk)
  return walk.faults
}

interface Walk {
  faults: Fault[]
  steps: number
  root: string
  /** Each is read once, however many texts it is held against. */
  patterns: Map<string, Pattern>
}

interface Place {
  path: string
  schemaPath: string
  closed: boolean
  partial: boolean
}

type Check = (schema: JsonSchema, value: unknown, at: Place, walk: Walk) => void

function visit(schema: unknown, value: unknown, at: Place, walk: Walk): void {
  spend(walk, 1)
  if (schema === false) fault(walk, at, '', 'unrecognized_key', 'is not allowed here')
  if (!isObject(schema)) return
  const { type } = schema
  if (type === undefined || isOfType(type, value)) {
    for (const check of checks) check(schema, value, at, walk)
  } else {
    fault(walk, at, 'type', 'invalid_type', `must be of type ${[type].flat().join(' or ')}`)
  }
}

const values: Check = (schema, value, at, walk) => {
  const { enum: allowed, const: constant } = schema
  if (Array.isArray(allowed)) {
    spend(walk, allowed.length)
    if (!allowed.includes(value))
      fault(walk, at, 'enum', 'invalid_value', 'must be one of the values allowed')
  }
  if (constant !== undefined && value !== constant)
    fault(walk, at, 'const', 'invalid_value', `must be ${JSON.stringify(constant)}`)
}

const numbers: Check = (schema, value, at, walk) => {
  if (typeof value !== 'number') return
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (typeof minimum === 'number' && value < minimum)
    fault(walk, at, 'minimum', 'too_small', `must be at least ${minimum}`)
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
    fault(walk, at, 'exclusiveMinimum', 'too_small', `must be more than ${exclusiveMinimum}`)
  if (typeof maximum === 'number' && value > maximum)
    fault(walk, at, 'maximum', 'too_big', `must be at most ${maximum}`)
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
    fault(walk, at, 'exclusiveMaximum', 'too_big', `must be less than ${exclusiveMaximum}`)
  if (typeof multipleOf === 'number' && !isMultiple(value, multipleOf))
    fault(walk, at, 'multipleOf', 'not_multiple_of', `must be a multiple of ${multipleOf}`)
}

/** 0.3 is a multiple of 0.1, although their quotient is a little off in binary. */
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient))
}

const texts: Check = (schema, value, at, walk) => {
  if (typeof value !== 'string') return
  const { minLength, maxLength, format, pattern } = schema
  if (typeof format === 'string') {
    spend(walk, 20 + value.length / 16)
    if (!hasFormat(format, value)) fault(walk, at, 'format', 'invalid_format', `must be of format ${format}`)
  }
  if (typeof pattern === 'string' && !holds(pattern, value, walk))
    fault(walk, at, 'pattern', 'invalid_format', `must match ${pattern}`)
  if (minLength === undefined && maxLength === undefined) return
  spend(walk, value.length / 16)
  bounds(schema, [...value].length, ['minLength', 'maxLength', 'characters'], at, walk)
}

/** What a step of the automaton costs is spent beforehand: an expression and a text from users may both be long. */
function holds(source: string, text: string, walk: Walk): boolean {
  if (!walk.patterns.has(source)) spend(walk, 1_000)
  const pattern = walk.patterns.get(source) ?? compilePattern(source)
  walk.patterns.set(source, pattern)
  spend(walk, pattern.size * (text.length + 1))
  return pattern.test(text)
}

const lists: Check = (schema, value, at, walk) => {
  if (!Array.isArray(value)) return
  bounds(schema, value.length, ['minItems', 'maxItems', 'items'], at, walk)
  if (schema.uniqueItems === true && repeats(value, walk))
    fault(walk, at, 'uniqueItems', 'not_unique', 'must not repeat items')
  if (schema.items === undefined) return
  for (const [index, item] of value.entries()) {
    const path = at.path + step(index)
    visit(schema.items, item, { ...at, path, schemaPath: `${at.schemaPath}/items` }, walk)
  }
}

/** Whether an item is there twice. Items are written out to be compared, which costs as much as they are long. */
function repeats(items: readonly unknown[], walk: Walk): boolean {
  const seen = new Set<string>()
  for (const item of items) {
    const text = canonicalJson(item)
    spend(walk, 1 + text.length / 16)
    if (seen.has(text)) return true
    seen.add(text)
  }
  return false
}

const objects: Check = (schema, value, at, walk) => {
  if (!isObject(value)) return
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) && !at.partial ? schema.required : []
  spend(walk, required.length)
  for (const [index, name] of required.entries()) {
    if (typeof name !== 'string' || Object.hasOwn(value, name)) continue
    const missing = { ...at, path: at.path + step(name) }
    fault(walk, missing, `required/${index}`, 'required', 'is required')
  }
  const { additionalProperties: others = !(at.closed && schema.type === 'object') } = schema
  for (const [name, inner] of Object.entries(value)) {
    const path = at.path + step(name)
    const declared = Object.hasOwn(properties, name)
    const schemaPath = `${at.schemaPath}${declared ? `/properties${step(name)}` : '/additionalProperties'}`
    visit(declared ? properties[name] : others, inner, { ...at, path, schemaPath }, walk)
  }
}

/** Conditions and choices are about an object that is declared elsewhere, so they do not close it. */
const choices: Check = (schema, value, at, walk) => {
  const within = (keyword: string): Place => ({
    ...at,
    schemaPath: `${at.schemaPath}/${keyword}`,
    closed: false,
  })
  const fits = (inner: unknown, place: Place) => {
    const trial = { ...walk, faults: [] }
    visit(inner, value, place, trial)
    walk.steps = trial.steps
    return trial.faults.length === 0
  }
  if (Array.isArray(schema.anyOf) && !schema.anyOf.some((inner) => fits(inner, within('anyOf'))))
    fault(walk, at, 'anyOf', 'invalid_union', 'fits none of the alternatives')
  if (schema.if === undefined) return
  const branch = fits(schema.if, { ...within('if'), partial: false }) ? 'then' : 'else'
  if (schema[branch] !== undefined) visit(schema[branch], value, within(branch), walk)
}

const checks: readonly Check[] = [values, numbers, texts, lists, objects, choices]

function bounds(
  schema: JsonSchema,
  count: number,
  [least, most, what]: readonly [string, string, string],
  at: Place,
  walk: Walk,
): void {
  const { [least]: minimum, [most]: maximum } = schema
  if (typeof minimum === 'number' && count < minimum)
    fault(walk, at, least, 'too_small', `must have at least ${minimum} ${what}`)
  if (typeof maximum === 'number' && count > maximum)
    fault(walk, at, most, 'too_big', `must have at most ${maximum} ${what}`)
}

function fault({ faults }: Walk, at: Place, keyword: string, code: string, message: string): void {
  const schemaPath = keyword === '' ? at.schemaPath : `${at.schemaPath}/${keyword}`
  faults.push({ path: at.path, schemaPath, code, message })
}

function spend(walk: Walk, steps: number): void {
  walk.steps += steps
  if (walk.steps <= maxSteps) return
  const message = 'It is too large to be held against this schema.'
  const details = [{ in: 'body' as const, path: walk.root, code: 'too_costly', message }]
  throw new ApiError('validation_failed', message, { details })
}
