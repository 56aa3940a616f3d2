import { type CompiledSchema, compileSchema, type JsonSchema } from '@opsplane/json-schema'
import { invalidSchemaProblems, type SchemaRules } from './schema-rules.js'

const maxBytes = 32_768

/** Compiles a schema for validating values. Throws validation_failed listing all errors in the schema. */
export function compile(schema: JsonSchema, { path, form }: SchemaRules): CompiledSchema {
  const result = compileSchema(schema, { closed: form, maxBytes })
  if ('problems' in result) throw invalidSchemaProblems(result.problems, path)
  return result.schema
}
