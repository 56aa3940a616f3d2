import type { JsonSchema } from '@opsplane/json-schema'
import { compile } from '../../json-schema/compile.js'
import { checkFaults } from '../../json-schema/data-faults.js'
import { checkEnforceable } from '../../json-schema/enforceable.js'

const rules = { path: '/schema', form: false }

/** Throws validation_failed if a class schema uses a keyword that is not enforced. The error names its place. */
export function checkClassSchema(schema: JsonSchema | null): void {
  if (schema !== null) checkEnforceable(schema, rules)
}

/**
 * Validates the attributes of an item against the schema of its class. Throws validation_failed listing all
 * violations.
 */
export function checkAttributes(schema: JsonSchema | null, attributes: Record<string, unknown>): void {
  if (schema === null) return
  const faults = compile(schema, rules).check(attributes)
  checkFaults(faults, '/attributes', 'The attributes do not fit the schema of the class.')
}
