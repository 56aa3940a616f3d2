import { type ApiError, invalidField } from '@opsplane/contracts'
import type { JsonSchema } from './schema.js'
import type { Spend } from './walk.js'

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
  depth: number
  spend: Spend
  seen: { keywords: Set<JsonSchema>; definitions: Set<string> }
}

export const refused = (path: string, problem: string): ApiError =>
  invalidField(path, 'invalid_schema', `The schema is not one that can be enforced: it ${problem}.`)
