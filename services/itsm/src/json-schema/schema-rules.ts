import { ApiError, type ErrorDetail, invalidField } from '@opsplane/contracts'
import type { JsonSchema, Problem } from '@opsplane/json-schema'

export interface SchemaRules {
  /** Pointer to the schema within the request, such as `/formSchema`. */
  path: string
  /**
   * Applies the rules for forms: defaults are filled in, lists must declare
   * their items, and objects are closed unless they state otherwise.
   */
  form: boolean
}

/** Context of the schema being checked. */
export interface Context extends SchemaRules {
  root: JsonSchema
  /**
   * Whether the schema declares a value. Within conditions and
   * choices, a schema only describes a value declared elsewhere.
   */
  own: boolean
  /** Names of the definitions that contain the schema through references. */
  trail: readonly string[]
  /** Definitions already checked, separately for declaring a value (`own`) and for describing one (`reported`). */
  seen: Set<string>
  /** Throws validation_failed once following references exceeds the maximum cost. */
  spend(steps: number): void
}

const message = (problem: string) => `The schema cannot be enforced: it ${problem}.`

export const invalidSchema = (path: string, problem: string): ApiError =>
  invalidField(path, 'invalid_schema', message(problem))

/** Error for an invalid schema, listing all its problems. */
export function invalidSchemaProblems(problems: readonly Problem[], within: string): ApiError {
  const details = problems.map(
    ({ path, code, message: problem }): ErrorDetail => ({
      ...{ in: 'body', path: within + path, code, message: message(problem) },
    }),
  )
  return new ApiError('validation_failed', details[0]?.message ?? message('is none'), { details })
}
