import { ApiError, type WorkflowDefinition, type WorkflowProblem } from '@opsplane/contracts'
import { compileSchema } from '@opsplane/json-schema'

/** Finds problems of the JSON Schema of a workflow's input. */
export function checkInputSchema({ input }: WorkflowDefinition): WorkflowProblem[] {
  if (input === undefined) return []
  const compiled = compileSchema(input)
  if ('schema' in compiled) return []
  return compiled.problems.map(({ path, code, message }) => ({
    ...{ step: null, path: `/input${path}`, code, message },
  }))
}

/**
 * The input of a run with defaults filled in. Throws `validation_failed` naming the values that do not match the
 * schema.
 */
export function parseRunInput(definition: WorkflowDefinition, value: unknown): unknown {
  const input = value ?? null
  if (definition.input === undefined) return input
  const compiled = compileSchema(definition.input)
  if ('problems' in compiled)
    throw new Error('a version with an input schema that cannot be read was published')
  const filled = compiled.schema.withDefaults(input ?? {})
  const faults = compiled.schema.check(filled)
  if (faults.length === 0) return filled
  throw new ApiError('validation_failed', 'The input does not match the schema of the workflow.', {
    details: faults.slice(0, 100).map(({ path, code, message }) => ({
      ...{ in: 'body' as const, path: `/input${path}`, code, message },
    })),
  })
}
