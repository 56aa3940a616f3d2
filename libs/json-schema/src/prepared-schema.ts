import type { Schema } from '@cfworker/json-schema'
import { applicators } from './applicators.js'
import type { SchemaInspection } from './inspect.js'
import { annotations } from './keyword-rules.js'
import { formatPointerStep, isObject, type JsonSchema } from './schema.js'

/** How a schema is applied to values. */
interface EvaluationMode {
  /** Objects accept only declared properties, unless the schema says otherwise. */
  closed: boolean
  /** The value is not complete yet: required properties may be missing. Conditions are evaluated on the present properties. */
  partial: boolean
}

/** Position in the original schema of a prepared subschema, or of the keyword that it replaces. */
interface Origin {
  pointer: string
  keyword?: string
}

/** A schema in the validator's form, with the data needed to refer to positions of the original schema. */
export interface PreparedSchema {
  root: Schema | boolean
  /** Targets of references. */
  lookup: Record<string, Schema | boolean>
  origins: ReadonlyMap<unknown, Origin>
}

/** Keywords that an incomplete value may still satisfy later. */
const pending = new Set([
  'required',
  'dependentRequired',
  'minProperties',
  'contains',
  'minContains',
  'maxContains',
])
const droppedKeywords = new Set([...annotations, '$defs', 'definitions'])
/** Conditions and alternatives describe a value that is declared elsewhere, so they do not close it. */
const choices = new Set([
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
  'contains',
])

/** All keywords that the validator reads: it is several times faster if all schema objects have the same shape. */
const names = [
  ...[
    '$ref',
    '$recursiveRef',
    '$recursiveAnchor',
    'type',
    'const',
    'enum',
    'required',
    'not',
    'anyOf',
    'allOf',
  ],
  ...['oneOf', 'if', 'then', 'else', 'format', 'properties', 'patternProperties', 'additionalProperties'],
  ...['unevaluatedProperties', 'minProperties', 'maxProperties', 'propertyNames', 'dependentRequired'],
  ...['dependentSchemas', 'dependencies', 'prefixItems', 'items', 'additionalItems', 'unevaluatedItems'],
  ...['contains', 'minContains', 'maxContains', 'minItems', 'maxItems', 'uniqueItems', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'pattern'],
  ...['__absolute_ref__', '__absolute_recursive_ref__'],
]
const blank = (): Schema => Object.fromEntries(names.map((name) => [name, undefined]))

export function prepareSchema(
  { subschemas, targets }: SchemaInspection,
  manner: EvaluationMode,
  from: string,
): PreparedSchema {
  const lookup: Record<string, Schema | boolean> = Object.create(null)
  const origins = new Map<unknown, Origin>()

  function prepared(pointer: string, { closed, partial }: EvaluationMode): Schema | boolean {
    const schema = subschemas.get(pointer)
    if (schema === undefined || typeof schema === 'boolean') return schema ?? false
    const node = blank()
    origins.set(node, { pointer })
    const also: Schema[] = []
    for (const [name, value] of Object.entries(schema)) {
      if (droppedKeywords.has(name) || (partial && pending.has(name))) continue
      const at = `${pointer}/${name}`
      if (name === '$ref') node.$ref = reference(targets.get(pointer) ?? '', { closed, partial })
      else if (partial && (name === 'not' || name === 'oneOf')) also.push(undecided(name, value, pointer))
      else {
        const inner = { closed: closed && !choices.has(name), partial: partial && name !== 'if' }
        node[name] = applicators.has(name) ? prepareNested(value, at, inner) : value
      }
    }
    if (also.length > 0) node.allOf = [...(node.allOf ?? []), ...also]
    if (closed && schema.type === 'object') node.additionalProperties ??= false
    return node
  }
  function prepareNested(value: unknown, at: string, manner: EvaluationMode): unknown {
    if (subschemas.has(at)) return prepared(at, manner)
    if (Array.isArray(value)) return value.map((_, index) => prepared(`${at}/${index}`, manner))
    const names = Object.keys(isObject(value) ? value : {})
    return Object.fromEntries(names.map((name) => [name, prepared(at + formatPointerStep(name), manner)]))
  }
  function reference(target: string, manner: EvaluationMode): string {
    const key = `${manner.closed ? 'closed' : ''}${manner.partial ? 'partial' : ''}#${target}`
    if (!(key in lookup)) {
      lookup[key] = true
      lookup[key] = prepared(target, manner)
    }
    return key
  }
  /**
   * For objects and lists, missing content may still decide between alternatives, or make the value differ from an
   * excluded one.
   */
  function undecided(name: 'not' | 'oneOf', value: unknown, pointer: string): Schema {
    const at = `${pointer}/${name}`
    const whole = { closed: false, partial: false }
    const part = { closed: false, partial: true }
    const structured: Schema = { ...blank(), type: ['object', 'array'] }
    const some: JsonSchema = {
      ...blank(),
      ...(name === 'oneOf' ? { anyOf: prepareNested(value, at, part) } : {}),
    }
    const strictly: JsonSchema = {
      ...blank(),
      [name]: prepareNested(value, at, name === 'not' ? whole : part),
    }
    for (const node of [some, strictly]) origins.set(node, { pointer, keyword: name })
    return { ...blank(), if: structured, then: some, else: strictly }
  }
  return { root: prepared(from, manner), lookup, origins }
}
