import { type CompiledSchema, compileSchema, type JsonSchema } from '@opsplane/json-schema'
import { invalidSchemaProblems, type SchemaRules } from './schema-rules.js'

const maxBytes = 32_768

/** The schema, to be held against values. Throws validation_failed naming all that is wrong with it. */
export function compile(schema: JsonSchema, { path, form }: SchemaRules): CompiledSchema {
  const result = compileSchema(schema, { closed: form, maxBytes })
  if ('problems' in result) throw invalidSchemaProblems(result.problems, path)
  return result.schema
}
