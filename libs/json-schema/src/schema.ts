import { ExactNumber } from '@opsplane/contracts'

/** A JSON Schema of draft 2020-12, as its author wrote it. */
export type JsonSchema = Record<string, unknown>

/** A problem. `path` is a JSON pointer into the checked value, or into the compiled schema. */
export interface Problem {
  path: string
  code: string
  message: string
}

/** A problem of a value; `schemaPath` is a JSON pointer to the violated keyword. */
export interface Fault extends Problem {
  schemaPath: string
}

export const isObject = (value: unknown): value is JsonSchema =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof ExactNumber)

/** Formats a name as a segment of a JSON pointer. */
export const formatPointerStep = (name: string | number): string =>
  `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`

/** Splits a JSON pointer into names. */
export const parsePointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
