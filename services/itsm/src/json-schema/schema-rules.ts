import { ApiError, type ErrorDetail, invalidField } from '@opsplane/contracts'
import type { JsonSchema, Problem } from '@opsplane/json-schema'

export interface SchemaRules {
  /** Pointer to the schema within the request, such as `/formSchema`. */
  path: string
  /** What a form needs: defaults are filled in, lists say what they hold, objects are closed unless they say otherwise. */
  form: boolean
}

/** Where a schema stands that is checked. */
export interface Context extends SchemaRules {
  root: JsonSchema
  /** Declares a value; in conditions and choices a schema tells of one declared elsewhere. */
  own: boolean
  /** Definitions it is part of, by way of references. */
  trail: readonly string[]
  /** Definitions that were checked, as ones that declare a value or as ones that tell of it. */
  seen: Set<string>
  /** Throws where following references takes too long. */
  spend(steps: number): void
}

const message = (problem: string) => `The schema cannot be enforced: it ${problem}.`

export const invalidSchema = (path: string, problem: string): ApiError =>
  invalidField(path, 'invalid_schema', message(problem))

/** A schema that is none: all that is wrong with it. */
export function invalidSchemaProblems(problems: readonly Problem[], within: string): ApiError {
  const details = problems.map(
    ({ path, code, message: problem }): ErrorDetail => ({
      ...{ in: 'body', path: within + path, code, message: message(problem) },
    }),
  )
  return new ApiError('validation_failed', details[0]?.message ?? message('is none'), { details })
}
