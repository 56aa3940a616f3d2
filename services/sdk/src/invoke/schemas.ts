import { ApiError, type ErrorDetail, exactNumbersAsText, type JsonValue } from '@opsplane/contracts'
import { type CompiledSchema, compileSchema, type Fault } from '@opsplane/json-schema'

type Schema = Record<string, JsonValue>

/** Cache of compiled schemas. Versions are immutable, so a schema is compiled once while its version is in memory. */
const compiled = new WeakMap<Schema, CompiledSchema>()

function compiledOf(schema: Schema): CompiledSchema {
  const known = compiled.get(schema)
  if (known) return known
  const result = compileSchema(schema)
  if ('problems' in result)
    throw new Error(`a schema that was installed does not compile: ${result.problems[0]?.message}`)
  compiled.set(schema, result.schema)
  return result.schema
}

const maxFaults = 20

/** Maps a pointer into the input to the part of the request it was taken from. */
type PlaceOf = (pointer: string) => Pick<ErrorDetail, 'in' | 'path'>

const inBody: PlaceOf = (pointer) => ({ in: 'body', path: `/input${pointer}` })

/**
 * Validates an input against the artifact's schema and fills in defaults. Numbers that a double cannot represent become
 * strings. Throws `validation_failed` with each fault and its location in the request.
 */
export function validateInput(schema: Schema | null, value: JsonValue, placeOf: PlaceOf = inBody): JsonValue {
  const input = exactNumbersAsText(value) as JsonValue
  if (schema === null) return input
  const checks = compiledOf(schema)
  const filled = checks.withDefaults(input) as JsonValue
  const found = checks.check(filled)
  if (found.length === 0) return filled
  // For a number that arrives as a string, the first fault of the number itself is more helpful.
  const [inexact] = input === value ? [] : checks.check(value)
  const faults = found.map((fault) => (fault.path === inexact?.path ? inexact : fault))
  throw new ApiError('validation_failed', 'The input does not match the schema of the artifact.', {
    details: faults.slice(0, maxFaults).map(({ path, code, message }) => ({
      ...{ ...placeOf(path), code, message },
    })),
  })
}

/** Returns the first fault of an output; `undefined` if it is valid. */
export function findOutputFault(schema: Schema | null, output: JsonValue): Fault | undefined {
  return schema === null ? undefined : compiledOf(schema).check(output)[0]
}
