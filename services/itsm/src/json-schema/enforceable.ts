import { formatPointerStep, isObject, type JsonSchema } from '@opsplane/json-schema'
import { compile } from './compile.js'
import { checkClosed, checkForm } from './declared-properties.js'
import { definitionName } from './references.js'
import { type Context, invalidSchema, type SchemaRules } from './schema-rules.js'

/** Keywords that do not constrain data. */
const annotations = ['$schema', 'title', 'description', 'examples', 'default']
const keywords = new Set([
  ...annotations,
  ...['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'then', 'else', '$ref', '$defs'],
  ...['properties', 'required', 'dependentRequired', 'additionalProperties', 'items'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format', 'multipleOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
])
/**
 * A schema without any of these is probably a mistake, because its other keywords constrain only values of some
 * types.
 */
const constrainingKeywords = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf']
/** Maximum cost of checking a schema with its references followed, in subschemas. */
const maxSteps = 100_000

/**
 * Rejects a schema with keywords that are not enforced or that a form cannot use. In a form, each possible value is
 * declared once. References must not be circular. Throws validation_failed naming the place.
 */
export function checkEnforceable(schema: JsonSchema, rules: SchemaRules): void {
  if (schema.type !== 'object') throw invalidSchema(`${rules.path}/type`, 'must be "object"')
  compile(schema, rules)
  let left = maxSteps
  const spend = (steps: number) => {
    left -= steps
    if (left < 0) throw invalidSchema(rules.path, 'is too large, with its references written out')
  }
  const context: Context = { ...rules, root: schema, own: true, trail: [], seen: new Set(), spend }
  check(schema, rules.path, context)
  for (const name of Object.keys(isObject(schema.$defs) ? schema.$defs : {}))
    if (!context.seen.has(`own ${name}`) && !context.seen.has(`reported ${name}`))
      checkDefinition(name, { ...context, own: false })
}

function check(schema: unknown, path: string, context: Context): void {
  context.spend(1)
  if (!isObject(schema)) return
  checkKeywords(schema, path, context)
  if (schema.$ref === undefined) checkContent(schema, path, context)
  else checkReference(schema, path, context)
  if (!('default' in schema)) return
  if (!context.form) throw invalidSchema(`${path}/default`, 'is a keyword that is not supported')
  if (!context.own) throw invalidSchema(`${path}/default`, 'is not filled in within conditions and choices')
}

function checkContent(schema: JsonSchema, path: string, context: Context): void {
  const binds = Object.keys(schema).some((name) => !annotations.includes(name))
  if (context.own && binds && !constrainingKeywords.some((name) => name in schema))
    throw invalidSchema(path, `needs one of ${constrainingKeywords.join(', ')}`)
  checkInner(schema, path, context)
  if (context.form && context.own) checkForm(schema, path, context)
  if (context.own) checkClosed(schema, path, context)
}

function checkKeywords(schema: JsonSchema, path: string, { root }: Context): void {
  for (const [name, value] of Object.entries(schema)) {
    if (!keywords.has(name) || (name === '$defs' && schema !== root))
      throw invalidSchema(path + formatPointerStep(name), 'is a keyword that is not supported')
    const choices = name === 'enum' ? [value].flat() : name === 'const' ? [value] : []
    if (choices.some((choice) => choice !== null && typeof choice === 'object'))
      throw invalidSchema(`${path}/${name}`, 'must be of texts, numbers, booleans or null')
  }
}

/** The referenced definition is checked as if it stood in place of the reference. */
function checkReference(schema: JsonSchema, path: string, context: Context): void {
  const sibling = Object.keys(schema).find((name) => name !== '$ref' && !annotations.includes(name))
  if (sibling !== undefined)
    throw invalidSchema(path + formatPointerStep(sibling), 'cannot be combined with $ref')
  const name = definitionName(context.root, schema.$ref)
  if (name === undefined)
    throw invalidSchema(`${path}/$ref`, 'must name one of the $defs of the schema, such as #/$defs/address')
  if (context.trail.includes(name)) throw invalidSchema(`${path}/$ref`, 'leads back to where it stands')
  checkDefinition(name, context)
}

/** Checks a definition once per kind of use, however often it is referenced. */
function checkDefinition(name: string, context: Context): void {
  const { root, own, seen, trail, path } = context
  const use = `${own ? 'own' : 'reported'} ${name}`
  if (seen.has(use) || !isObject(root.$defs)) return
  check(root.$defs[name], `${path}/$defs${formatPointerStep(name)}`, { ...context, trail: [...trail, name] })
  seen.add(use)
}

function checkInner(schema: JsonSchema, path: string, context: Context): void {
  const { properties, items, additionalProperties } = schema
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {}))
    check(property, `${path}/properties${formatPointerStep(name)}`, context)
  check(items, `${path}/items`, context)
  check(additionalProperties, `${path}/additionalProperties`, context)
  const reported = { ...context, own: false }
  for (const name of ['anyOf', 'oneOf', 'allOf']) {
    const alternatives = schema[name]
    for (const [index, one] of (Array.isArray(alternatives) ? alternatives : []).entries())
      check(one, `${path}/${name}/${index}`, reported)
  }
  for (const name of ['if', 'then', 'else', 'not']) check(schema[name], `${path}/${name}`, reported)
}
