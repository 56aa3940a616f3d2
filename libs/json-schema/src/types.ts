import { isObject } from './schema.js'

const tests: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  object: isObject,
  array: Array.isArray,
}

export const types: ReadonlySet<unknown> = new Set(Object.keys(tests))

/** Whether a value has the type, or one of the types, of a schema's `type`. */
export function isOfType(type: unknown, value: unknown): boolean {
  return [type].flat().some((name) => typeof name === 'string' && tests[name]?.(value))
}
