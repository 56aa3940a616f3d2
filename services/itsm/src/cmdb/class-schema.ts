import { ApiError, type ErrorDetail, invalidField } from '@opsplane/contracts'
import { z } from 'zod'

type JsonSchema = Record<string, unknown>

const annotations = ['$schema', 'title', 'description', 'examples']
const keywords = new Set([
  ...annotations,
  ...['type', 'enum', 'const', 'anyOf', 'properties', 'required', 'additionalProperties', 'items'],
  ...['minItems', 'maxItems', 'minLength', 'maxLength', 'format', 'multipleOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
])
/** Without one of these the other keywords of a schema would bind nothing. */
const deciding = ['type', 'enum', 'const', 'anyOf']
const maxLength = 32_768

/**
 * Refuses a class schema with anything that is not enforced. Regular expressions are refused too: one workspace's
 * pattern must not be able to keep the service busy for all. Throws validation_failed naming the place.
 */
export function checkClassSchema(schema: JsonSchema | null): void {
  if (schema === null) return
  if (schema.type !== 'object') throw refused('/type', 'must be "object", as attributes are an object')
  if (JSON.stringify(schema).length > maxLength) throw refused('', `must be at most ${maxLength} characters`)
  checkKeywords(schema, '')
  try {
    z.fromJSONSchema(schema)
  } catch (error) {
    throw refused('', error instanceof Error ? error.message : 'is not a JSON Schema')
  }
}

/** What is wrong with the attributes of an item of a class with this schema. Throws validation_failed naming all of it. */
export function checkAttributes(schema: JsonSchema | null, attributes: Record<string, unknown>): void {
  if (schema === null) return
  const issues = z.fromJSONSchema(schema).safeParse(attributes).error?.issues ?? []
  const details = issues.map((issue): ErrorDetail => {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
    return { in: 'body', path: pointer([...issue.path, ...keys]), code: issue.code, message: issue.message }
  })
  if (details.length === 0) return
  const message = 'The attributes do not fit the schema of the class.'
  throw new ApiError('validation_failed', message, { details })
}

function checkKeywords(schema: unknown, path: string): void {
  if (typeof schema === 'boolean') return
  if (!isObject(schema)) throw refused(path, 'must be a schema')
  const unknown = Object.keys(schema).find((name) => !keywords.has(name))
  if (unknown !== undefined) throw refused(`${path}/${unknown}`, 'is a keyword that is not supported')
  const binds = Object.keys(schema).some((name) => !annotations.includes(name))
  if (binds && !deciding.some((name) => name in schema))
    throw refused(path, `needs one of ${deciding.join(', ')}`)
  const { properties, items, additionalProperties, anyOf } = schema
  if (properties !== undefined && !isObject(properties))
    throw refused(`${path}/properties`, 'must be an object')
  for (const [name, inner] of Object.entries(properties ?? {}))
    checkKeywords(inner, `${path}/properties/${name}`)
  if (items !== undefined) checkKeywords(items, `${path}/items`)
  if (additionalProperties !== undefined) checkKeywords(additionalProperties, `${path}/additionalProperties`)
  if (anyOf !== undefined && !Array.isArray(anyOf)) throw refused(`${path}/anyOf`, 'must be a list')
  for (const [at, inner] of (anyOf ?? []).entries()) checkKeywords(inner, `${path}/anyOf/${at}`)
}

const isObject = (value: unknown): value is JsonSchema =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const refused = (path: string, problem: string) =>
  invalidField(`/schema${path}`, 'invalid_schema', `The schema is not one that can be enforced: ${problem}.`)

const pointer = (path: readonly PropertyKey[]) =>
  ['attributes', ...path]
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')
