import { ApiError, type ErrorDetail, invalidField } from '@opsplane/contracts'
import { type CompiledSchema, type Fault, TooCostlyError } from '@opsplane/json-schema'

/**
 * Throws validation_failed with every fault: its place in the data, which is at `path`, and its place in the
 * schema.
 */
export function checkFaults(faults: readonly Fault[], path: string, message: string): void {
  const [first] = faults
  if (first === undefined) return
  const details = faults.map(
    ({ path: at, schemaPath, ...reported }): ErrorDetail => ({
      ...{ in: 'body', path: path + at, ...reported, params: { schemaPath } },
    }),
  )
  const summary = first.code === 'too_costly' ? first.message : message
  throw new ApiError('validation_failed', summary, { details })
}

/**
 * Returns the data at `path` completed with the defaults of its schema.
 * Throws validation_failed if applying the defaults would be too costly.
 */
export function withDefaults(schema: CompiledSchema, data: unknown, path: string): unknown {
  try {
    return schema.withDefaults(data)
  } catch (error) {
    if (error instanceof TooCostlyError) throw invalidField(path, 'too_costly', error.message)
    throw error
  }
}
