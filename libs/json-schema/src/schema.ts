import { ExactNumber } from '@opsplane/contracts'

/** A JSON Schema of draft 2020-12, as its author wrote it. */
export type JsonSchema = Record<string, unknown>

/** One thing wrong. `path` is a JSON pointer: into the value that was checked, or into the schema that was compiled. */
export interface Problem {
  path: string
  code: string
  message: string
}

/** What is wrong with a value; `schemaPath` is a JSON pointer to the keyword that says so. */
export interface Fault extends Problem {
  schemaPath: string
}

export const isObject = (value: unknown): value is JsonSchema =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof ExactNumber)

/** A name as a part of a JSON pointer. */
export const formatPointerStep = (name: string | number): string =>
  `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The names a JSON pointer goes through. */
export const parsePointer = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
