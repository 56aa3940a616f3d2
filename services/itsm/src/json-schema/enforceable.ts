import { invalidField } from '@opsplane/contracts'
import { faultsOf } from './faults.js'
import { keywordFault } from './keywords.js'
import { isObject, type JsonSchema, step } from './schema.js'

/** Keywords that say nothing about data. */
const annotations = ['$schema', 'title', 'description', 'examples', 'default']
const keywords = new Set([
  ...annotations,
  ...['type', 'enum', 'const', 'anyOf', 'properties', 'required', 'additionalProperties', 'items'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minLength', 'maxLength', 'pattern', 'format', 'multipleOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'if', 'then', 'else'],
])
/** A schema without one of these most likely is a mistake: its other keywords bind only some types. */
const deciding = ['type', 'enum', 'const', 'anyOf']
const maxBytes = 32_768
/** Reading one costs far more than its bytes. */
const maxPatterns = 100

export interface SchemaRules {
  /** Pointer to the schema within the request, such as `/formSchema`. */
  path: string
  /** What a form needs: defaults are filled in, lists hold scalars, objects are closed unless they say otherwise. */
  form: boolean
}

/**
 * Refuses a schema with anything that is not enforced. So are references, and regular expressions that take more than
 * linear time: one workspace's schema must not be able to keep the service busy for all. Throws validation_failed naming the place.
 */
export function checkEnforceable(schema: JsonSchema, rules: SchemaRules): void {
  if (schema.type !== 'object') throw refused(`${rules.path}/type`, 'must be "object"')
  if (Buffer.byteLength(JSON.stringify(schema)) > maxBytes)
    throw refused(rules.path, `must be at most ${maxBytes} bytes`)
  check(schema, rules.path, { form: rules.form, own: true, patterns: new Set() })
}

interface Context {
  form: boolean
  /** Declares a value; in conditions and choices a schema tells of one declared elsewhere. */
  own: boolean
  /** Those read so far. */
  patterns: Set<unknown>
}

function check(schema: unknown, path: string, context: Context): void {
  if (typeof schema === 'boolean') return
  if (!isObject(schema)) throw refused(path, 'must be a schema')
  for (const [name, value] of Object.entries(schema)) {
    if (!keywords.has(name)) throw refused(path + step(name), 'is a keyword that is not supported')
    if (name === 'pattern' && context.patterns.add(value).size > maxPatterns)
      throw refused(path + step(name), `has more than ${maxPatterns} patterns`)
    const fault = keywordFault(schema, name, value)
    if (fault !== undefined) throw refused(path + fault.at, fault.problem)
  }
  const binds = Object.keys(schema).some((name) => !annotations.includes(name))
  if (context.own && binds && !deciding.some((name) => name in schema))
    throw refused(path, `needs one of ${deciding.join(', ')}`)
  checkDefault(schema, path, context)
  if (context.form && context.own) checkForm(schema, path)
  checkInner(schema, path, context)
  if (context.own && isClosed(schema, context)) checkDeclared(schema, path, schema.properties)
}

const isClosed = ({ type, additionalProperties }: JsonSchema, { form }: Context) =>
  type === 'object' && (additionalProperties === false || (form && additionalProperties !== true))

/** Branches and choices of a closed object can ask only for what it declares: nothing else can ever be given. */
function checkDeclared({ anyOf, then, else: other }: JsonSchema, path: string, declared: unknown): void {
  const choices = (Array.isArray(anyOf) ? anyOf : []).map(
    (inner, index) => [`anyOf/${index}`, inner] as const,
  )
  for (const [name, inner] of [...choices, ['then', then] as const, ['else', other] as const]) {
    if (!isObject(inner)) continue
    const { properties, required } = inner
    const unknown = (name: unknown) => !(isObject(declared) && Object.hasOwn(declared, String(name)))
    const missing = Array.isArray(required) ? required.findIndex(unknown) : -1
    if (missing >= 0)
      throw refused(`${path}/${name}/required/${missing}`, 'names a property that is not declared around it')
    const stray = Object.entries(isObject(properties) ? properties : {}).find(
      ([name, told]) => told !== false && unknown(name),
    )
    if (stray)
      throw refused(
        `${path}/${name}/properties${step(stray[0])}`,
        'tells of a property that is not declared around it',
      )
    checkDeclared(inner, `${path}/${name}`, declared)
  }
}

function checkInner(schema: JsonSchema, path: string, context: Context): void {
  const { properties, items, additionalProperties, anyOf } = schema
  for (const [name, inner] of Object.entries(isObject(properties) ? properties : {}))
    check(inner, `${path}/properties${step(name)}`, context)
  if (items !== undefined) check(items, `${path}/items`, context)
  if (additionalProperties !== undefined) check(additionalProperties, `${path}/additionalProperties`, context)
  const told = { ...context, own: false }
  for (const [index, inner] of (Array.isArray(anyOf) ? anyOf : []).entries())
    check(inner, `${path}/anyOf/${index}`, told)
  for (const name of ['if', 'then', 'else'])
    if (schema[name] !== undefined) check(schema[name], `${path}/${name}`, told)
}

/** A default is filled in by forms alone, and never within a condition or a choice. */
function checkDefault(schema: JsonSchema, path: string, { form, own }: Context): void {
  if (!('default' in schema)) return
  if (!form) throw refused(`${path}/default`, 'is a keyword that is not supported')
  if (!own) throw refused(`${path}/default`, 'is not filled in within conditions and choices')
  const [fault] = faultsOf(schema, schema.default, { path: `${path}/default`, closed: true })
  if (fault) throw refused(fault.path, `has a default that does not fit: it ${fault.message}`)
}

function checkForm(schema: JsonSchema, path: string): void {
  const { type, items, additionalProperties, properties, required } = schema
  if ([type].flat().includes('array') && !isObject(items))
    throw refused(`${path}/items`, 'must say what a list holds')
  if (isObject(items) && !isScalar(items)) throw refused(`${path}/items`, 'must be of a scalar type')
  if (isObject(additionalProperties))
    throw refused(`${path}/additionalProperties`, 'must be true or false in a form')
  const closed = schema.type === 'object' && additionalProperties !== true
  const missing = (Array.isArray(required) ? required : []).findIndex(
    (name) => !(isObject(properties) && Object.hasOwn(properties, name)),
  )
  if (closed && missing >= 0)
    throw refused(`${path}/required/${missing}`, 'names a property that is not there')
}

const isScalar = ({ type, properties, items, anyOf }: JsonSchema) =>
  [properties, items, anyOf].every((keyword) => keyword === undefined) &&
  [type].flat().every((name) => name !== 'object' && name !== 'array')

const refused = (path: string, problem: string) =>
  invalidField(path, 'invalid_schema', `The schema is not one that can be enforced: it ${problem}.`)
