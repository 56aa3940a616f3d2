import type { JsonSchema } from '@opsplane/json-schema'
import { compile } from '../../json-schema/compile.js'
import { checkFaults } from '../../json-schema/data-faults.js'
import { checkEnforceable } from '../../json-schema/enforceable.js'

const rules = { path: '/schema', form: false }

/** Refuses a class schema with anything that is not enforced. Throws validation_failed naming the place. */
export function checkClassSchema(schema: JsonSchema | null): void {
  if (schema !== null) checkEnforceable(schema, rules)
}

/** What is wrong with the attributes of an item of a class with this schema. Throws validation_failed naming all of it. */
export function checkAttributes(schema: JsonSchema | null, attributes: Record<string, unknown>): void {
  if (schema === null) return
  const faults = compile(schema, rules).check(attributes)
  checkFaults(faults, '/attributes', 'The attributes do not fit the schema of the class.')
}
