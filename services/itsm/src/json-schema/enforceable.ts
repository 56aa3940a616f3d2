import { checkClosed, checkForm } from './declared.js'
import { faultsOf } from './faults.js'
import { keywordFault } from './keywords.js'
import { patternProblem } from './pattern.js'
import { definitionName } from './references.js'
import { isObject, type JsonSchema, step } from './schema.js'
import { type Context, refused, type SchemaRules } from './schema-rules.js'
import { type Spend, stepsFor } from './walk.js'

/** Keywords that say nothing about data. */
const annotations = ['$schema', 'title', 'description', 'examples', 'default']
const keywords = new Set([
  ...annotations,
  ...['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', '$ref', '$defs'],
  ...['properties', 'required', 'dependentRequired', 'additionalProperties', 'items'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format', 'multipleOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
])
/** A schema without one of these most likely is a mistake: its other keywords bind only some types. */
const deciding = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf']
const maxBytes = 32_768
/** Definitions that hold one another nest deeper than any body of a request. */
const maxDepth = 100

/**
 * Refuses a schema with anything that is not enforced. So are references to elsewhere or to themselves, and regular
 * expressions that take more than linear time: one workspace's schema must not be able to keep the service busy for all.
 * Throws validation_failed naming the place.
 */
export function checkEnforceable(schema: JsonSchema, rules: SchemaRules): void {
  if (schema.type !== 'object') throw refused(`${rules.path}/type`, 'must be "object"')
  if (Buffer.byteLength(JSON.stringify(schema)) > maxBytes)
    throw refused(rules.path, `must be at most ${maxBytes} bytes`)
  const spend = stepsFor(
    rules.path,
    'The schema is too large, with its references written out and its patterns read.',
  )
  const seen = { keywords: new Set<JsonSchema>(), definitions: new Set<string>() }
  const context: Context = { ...rules, root: schema, own: true, trail: [], depth: 0, spend, seen }
  check(schema, rules.path, context)
  for (const [name, definition] of Object.entries(isObject(schema.$defs) ? schema.$defs : {}))
    if (!seen.definitions.has(name))
      check(definition, `${rules.path}/$defs${step(name)}`, { ...context, own: false, trail: [name] })
}

function check(schema: unknown, path: string, context: Context): void {
  context.spend(10)
  if (typeof schema === 'boolean') return
  if (!isObject(schema)) throw refused(path, 'must be a schema')
  if (context.depth > maxDepth) throw refused(path, `is nested more than ${maxDepth} levels deep`)
  if (!context.seen.keywords.has(schema)) checkKeywords(schema, path, context)
  context.seen.keywords.add(schema)
  if (schema.$ref === undefined) checkContent(schema, path, context)
  else checkReference(schema, path, context)
  checkDefault(schema, path, context)
}

function checkContent(schema: JsonSchema, path: string, context: Context): void {
  const binds = Object.keys(schema).some((name) => !annotations.includes(name))
  if (context.own && binds && !deciding.some((name) => name in schema))
    throw refused(path, `needs one of ${deciding.join(', ')}`)
  checkInner(schema, path, context)
  if (context.form && context.own) checkForm(schema, path, context)
  if (context.own) checkClosed(schema, path, context)
}

/** What can be told of the keywords by themselves: once for a definition, however often it is referred to. */
function checkKeywords(schema: JsonSchema, path: string, { root, spend }: Context): void {
  // Whoever holds data against it reads its patterns as well, and has to have steps left.
  const spendTwice: Spend = (steps) => spend(2 * steps)
  for (const [name, value] of Object.entries(schema)) {
    if (!keywords.has(name) || (name === '$defs' && schema !== root))
      throw refused(path + step(name), 'is a keyword that is not supported')
    const problem = name === 'pattern' ? patternProblem(value, spendTwice) : undefined
    if (problem !== undefined) throw refused(`${path}/pattern`, problem)
    const fault = keywordFault(schema, name, value)
    if (fault !== undefined) throw refused(path + fault.at, fault.problem)
  }
}

/** What it refers to stands in its place, held to what holds there. */
function checkReference(schema: JsonSchema, path: string, context: Context): void {
  const { root, trail, seen } = context
  const beside = Object.keys(schema).find((name) => name !== '$ref' && !annotations.includes(name))
  if (beside !== undefined) throw refused(path + step(beside), 'cannot stand beside $ref')
  const name = definitionName(root, schema.$ref)
  if (name === undefined || !isObject(root.$defs))
    throw refused(`${path}/$ref`, 'must name one of the $defs of the schema, such as #/$defs/address')
  if (trail.includes(name)) throw refused(`${path}/$ref`, 'leads back to where it stands')
  seen.definitions.add(name)
  const there = { ...context, trail: [...trail, name], depth: context.depth + 1 }
  check(root.$defs[name], `${context.path}/$defs/${name}`, there)
}

function checkInner(schema: JsonSchema, path: string, context: Context): void {
  const { properties, items, additionalProperties } = schema
  const inner = { ...context, depth: context.depth + 1 }
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {}))
    check(property, `${path}/properties${step(name)}`, inner)
  if (items !== undefined) check(items, `${path}/items`, inner)
  if (additionalProperties !== undefined) check(additionalProperties, `${path}/additionalProperties`, inner)
  const told = { ...inner, own: false }
  for (const name of ['anyOf', 'oneOf', 'allOf']) {
    const alternatives = schema[name]
    for (const [index, one] of (Array.isArray(alternatives) ? alternatives : []).entries())
      check(one, `${path}/${name}/${index}`, told)
  }
  for (const name of ['if', 'then', 'else', 'not'])
    if (schema[name] !== undefined) check(schema[name], `${path}/${name}`, told)
}

/** A default is filled in by forms alone, and never within a condition or a choice. */
function checkDefault(schema: JsonSchema, path: string, { form, own, root, spend }: Context): void {
  if (!('default' in schema)) return
  if (!form) throw refused(`${path}/default`, 'is a keyword that is not supported')
  if (!own) throw refused(`${path}/default`, 'is not filled in within conditions and choices')
  const [fault] = faultsOf(schema, schema.default, { path: `${path}/default`, closed: true, root, spend })
  if (fault) throw refused(fault.path, `has a default that does not fit: it ${fault.message}`)
}
