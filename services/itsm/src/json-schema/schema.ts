/** A JSON Schema as it came: what of it is enforced is checked before it is kept. */
export type JsonSchema = Record<string, unknown>

/** One thing wrong: where in the data, and which keyword of the schema says so, both as JSON pointers. */
export interface Fault {
  path: string
  schemaPath: string
  code: string
  message: string
}

export const isObject = (value: unknown): value is JsonSchema =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** A name as a part of a JSON pointer. */
export const step = (name: string | number): string =>
  `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
