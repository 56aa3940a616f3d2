import { canonicalJson } from '@opsplane/contracts'
import { checkChoices } from './choices.js'
import { resolved } from './references.js'
import { checkNumbers, checkTexts, checkValues } from './scalars.js'
import { type Fault, isObject, type JsonSchema, step } from './schema.js'
import { isOfType } from './types.js'
import { type Check, checkBounds, fault, type Place, type Spend, stepsFor, type Walk } from './walk.js'

export interface FaultsOptions {
  /** Begins the pointers into the data, such as `/formData`. */
  path: string
  /** Objects take no other properties than those declared where the schema says nothing of it. */
  closed?: boolean
  /** The value is not complete yet: what is required may be missing. Conditions are held against what is there. */
  partial?: boolean
  /** Where references lead, when the schema is a part of another one. */
  root?: JsonSchema
  /** Of a check that this one is a part of. */
  spend?: Spend
}

/** All that is wrong with a value. Throws validation_failed when it would cost too much to tell. */
export function faultsOf(schema: JsonSchema, value: unknown, options: FaultsOptions): Fault[] {
  const { path, closed = false, partial = false, root = schema, spend = stepsFor(path) } = options
  const walk: Walk = { root, faults: [], spend, patterns: new Map() }
  visit(schema, value, { path, schemaPath: '', closed, partial }, walk)
  return walk.faults
}

function visit(schema: unknown, value: unknown, at: Place, walk: Walk): void {
  walk.spend(1)
  if (schema === false) fault(walk, at, '', 'unrecognized_key', 'is not allowed here')
  if (!isObject(schema)) return
  if (schema.$ref !== undefined) {
    const { schema: meant, path: schemaPath = at.schemaPath } = resolved(walk.root, schema)
    walk.spend(5)
    visit(meant, value, { ...at, schemaPath }, walk)
    return
  }
  const { type } = schema
  if (type === undefined || isOfType(type, value)) {
    for (const check of checks) check(schema, value, at, walk)
  } else {
    fault(walk, at, 'type', 'invalid_type', `must be of type ${[type].flat().join(' or ')}`)
  }
}

const checkLists: Check = (schema, value, at, walk) => {
  if (!Array.isArray(value)) return
  checkBounds(schema, value.length, ['minItems', 'maxItems', 'items'], at, walk)
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
    walk.spend(1 + text.length / 16)
    if (seen.has(text)) return true
    seen.add(text)
  }
  return false
}

const checkObjects: Check = (schema, value, at, walk) => {
  if (!isObject(value)) return
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) && !at.partial ? schema.required : []
  walk.spend(required.length)
  for (const [index, name] of required.entries()) {
    if (typeof name !== 'string' || Object.hasOwn(value, name)) continue
    const missing = { ...at, path: at.path + step(name) }
    fault(walk, missing, `required/${index}`, 'required', 'is required')
  }
  if (isObject(schema.dependentRequired) && !at.partial)
    checkDependents(schema.dependentRequired, value, at, walk)
  const { additionalProperties: others = !(at.closed && schema.type === 'object') } = schema
  for (const [name, inner] of Object.entries(value)) {
    const path = at.path + step(name)
    const declared = Object.hasOwn(properties, name)
    const schemaPath = `${at.schemaPath}${declared ? `/properties${step(name)}` : '/additionalProperties'}`
    visit(declared ? properties[name] : others, inner, { ...at, path, schemaPath }, walk)
  }
}

function checkDependents(dependents: JsonSchema, value: JsonSchema, at: Place, walk: Walk): void {
  for (const [given, names] of Object.entries(dependents)) {
    walk.spend(1)
    if (!Object.hasOwn(value, given) || !Array.isArray(names)) continue
    walk.spend(names.length)
    for (const [index, name] of names.entries()) {
      if (Object.hasOwn(value, name)) continue
      const missing = { ...at, path: at.path + step(name) }
      const keyword = `dependentRequired${step(given)}/${index}`
      fault(walk, missing, keyword, 'required', `is required together with ${given}`)
    }
  }
}

const checks: readonly Check[] = [
  ...[checkValues, checkNumbers, checkTexts, checkLists, checkObjects],
  checkChoices(visit),
]
