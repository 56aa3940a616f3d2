import { type CompiledSchema, compileSchema, type JsonSchema } from '@opsplane/json-schema'
import { refusedFor, type SchemaRules } from './schema-rules.js'

const maxBytes = 32_768

/** The schema, to be held against values. Throws validation_failed naming all that is wrong with it. */
export function compiled(schema: JsonSchema, { path, form }: SchemaRules): CompiledSchema {
  const result = compileSchema(schema, { closed: form, maxBytes })
  if ('problems' in result) throw refusedFor(result.problems, path)
  return result.schema
}
