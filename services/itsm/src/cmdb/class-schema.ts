import { checkEnforceable } from '../json-schema/enforceable.js'
import { faultsOf } from '../json-schema/faults.js'
import { checkFaults } from '../json-schema/fitting.js'
import type { JsonSchema } from '../json-schema/schema.js'

/** Refuses a class schema with anything that is not enforced. Throws validation_failed naming the place. */
export function checkClassSchema(schema: JsonSchema | null): void {
  if (schema !== null) checkEnforceable(schema, { path: '/schema', form: false })
}

/** What is wrong with the attributes of an item of a class with this schema. Throws validation_failed naming all of it. */
export function checkAttributes(schema: JsonSchema | null, attributes: Record<string, unknown>): void {
  if (schema === null) return
  const faults = faultsOf(schema, attributes, { path: '/attributes' })
  checkFaults(faults, 'The attributes do not fit the schema of the class.')
}
