import { type CompiledSchema, compileSchema } from './compile.js'
import type { SchemaOptions } from './options.js'
import type { JsonSchema, Problem } from './schema.js'

export const object = (properties: object, rest: object = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...rest,
})
export const list = (items: object, rest: object = {}): JsonSchema => ({ type: 'array', items, ...rest })
export const referTo = (name: string, rest: object = {}) => ({ $ref: `#/$defs/${name}`, ...rest })
/** Properties a0, a1, … */
export const numberedProperties = (count: number, schema: (index: number) => object) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, schema(index)]))

export function compileValid(schema: unknown, options?: SchemaOptions): CompiledSchema {
  const result = compileSchema(schema, options)
  if ('problems' in result) throw new Error(JSON.stringify(result.problems))
  return result.schema
}

export function listProblems(schema: unknown, options?: SchemaOptions): Problem[] {
  const result = compileSchema(schema, options)
  return 'problems' in result ? result.problems : []
}

/** Path and code of each problem. */
export const summarizeFaults = (problems: readonly Problem[]) =>
  problems.map(({ path, code }) => `${path} ${code}`)

export const listFaults = (
  schema: unknown,
  value: unknown,
  options: SchemaOptions & { partial?: boolean } = {},
) =>
  compileValid(schema, options)
    .check(value, options)
    .map(({ path, schemaPath, code }) => `${path} ${schemaPath} ${code}`)

/** A chain of definitions, each of which contains the previous one. */
export const nestedSchemas = (
  height: number,
  holding: (name: string) => object,
  bottom: object = { type: 'null' },
) => ({
  ...object({ a: referTo(`d${height}`) }),
  $defs: Object.fromEntries(
    Array.from({ length: height + 1 }, (_, level) => [
      `d${level}`,
      level === 0 ? bottom : holding(`d${level - 1}`),
    ]),
  ),
})
