import { formatPointerStep, isObject, type JsonSchema } from '@opsplane/json-schema'
import { resolveReference } from './references.js'
import { type Context, invalidSchema } from './schema-rules.js'

/** Additional rules for forms: every possible value must be declared. */
export function checkForm(schema: JsonSchema, path: string, { root }: Context): void {
  const { type, items, additionalProperties } = schema
  const { schema: item } = resolveReference(root, items)
  if ([type].flat().includes('array') && !isObject(item))
    throw invalidSchema(`${path}/items`, 'must say what a list holds')
  if (isObject(item) && !isScalar(item) && item.type !== 'object')
    throw invalidSchema(`${path}/items`, 'must be of a scalar type, or of type object alone')
  if (isObject(item) && item.type === 'object' && 'default' in item)
    throw invalidSchema(`${path}/items/default`, 'is not filled in for items')
  if (isObject(additionalProperties))
    throw invalidSchema(`${path}/additionalProperties`, 'must be true or false in a form')
  if (isClosed(schema, true)) checkNames(schema, path, schema.properties)
}

const isScalar = ({ type, properties, items, anyOf, oneOf, allOf }: JsonSchema) =>
  [properties, items, anyOf, oneOf, allOf].every((keyword) => keyword === undefined) &&
  [type].flat().every((name) => name !== 'object' && name !== 'array')

/**
 * Branches and choices of a closed object may refer only to
 * properties that it declares, because no others can be given.
 */
export function checkClosed(schema: JsonSchema, path: string, context: Context): void {
  if (isClosed(schema, context.form)) checkBranches(schema, path, schema.properties, context)
}

const isClosed = ({ type, additionalProperties }: JsonSchema, form: boolean) =>
  type === 'object' && (additionalProperties === false || (form && additionalProperties !== true))

function checkBranches(schema: JsonSchema, path: string, declared: unknown, context: Context): void {
  const single = ['then', 'else', 'not'].map((name) => [name, schema[name]] as const)
  const several = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => {
    const schemas = schema[name]
    return (Array.isArray(schemas) ? schemas : []).map((one, index) => [`${name}/${index}`, one] as const)
  })
  for (const [name, given] of [...several, ...single]) {
    const { schema: reported, path: definition } = resolveReference(context.root, given)
    if (!isObject(reported)) continue
    context.spend(1 + Object.keys(reported).length / 8)
    const there = definition === undefined ? `${path}/${name}` : context.path + definition
    checkNames(reported, there, declared)
    const properties = Object.entries(isObject(reported.properties) ? reported.properties : {})
    const stray = properties.find(([name, value]) => value !== false && !isDeclared(declared, name))
    if (stray)
      throw invalidSchema(
        `${there}/properties${formatPointerStep(stray[0])}`,
        'tells of a property that is not declared around it',
      )
    checkBranches(reported, there, declared, context)
  }
}

/** Rejects undeclared names in `required` and `dependentRequired`. */
function checkNames({ required, dependentRequired }: JsonSchema, path: string, declared: unknown): void {
  const lists: [at: string, names: unknown][] = [['required', required]]
  for (const [name, names] of Object.entries(isObject(dependentRequired) ? dependentRequired : {})) {
    const at = `dependentRequired${formatPointerStep(name)}`
    if (!isDeclared(declared, name))
      throw invalidSchema(`${path}/${at}`, 'names a property that is not declared')
    lists.push([at, names])
  }
  for (const [at, names] of lists) {
    const stray = Array.isArray(names) ? names.findIndex((name) => !isDeclared(declared, name)) : -1
    if (stray >= 0) throw invalidSchema(`${path}/${at}/${stray}`, 'names a property that is not declared')
  }
}

const isDeclared = (declared: unknown, name: unknown) =>
  isObject(declared) && Object.hasOwn(declared, String(name))
