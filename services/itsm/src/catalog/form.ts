import { invalidField } from '@opsplane/contracts'
import { withDefaults } from '../json-schema/defaults.js'
import { checkEnforceable } from '../json-schema/enforceable.js'
import { faultsOf } from '../json-schema/faults.js'
import { checkFaults } from '../json-schema/fitting.js'
import { isObject, type JsonSchema } from '../json-schema/schema.js'
import { stepsFor } from '../json-schema/walk.js'

/** Also what a request takes as it is: events carry it twice. */
const maxBytes = 32_768

export type FormData = Record<string, unknown>

/** Refuses a form with anything that is not enforced. Throws validation_failed naming the place in it. */
export function checkFormSchema(schema: JsonSchema): void {
  checkEnforceable(schema, { path: '/formSchema', form: true })
}

/**
 * The data with the defaults of the form. Throws validation_failed naming all that does not fit; a draft may still
 * lack what is required.
 */
export function filledForm(schema: JsonSchema, data: FormData, { draft }: { draft: boolean }): FormData {
  const filled = withDefaults(schema, data, stepsFor('/formData'))
  const faults = faultsOf(schema, filled, { path: '/formData', closed: true, partial: draft })
  checkFaults(faults, 'What the form asks for is not given as it should be.')
  if (Buffer.byteLength(JSON.stringify(filled)) > maxBytes)
    throw invalidField(
      '/formData',
      'too_big',
      'With the defaults of the form it is more than 32 KiB of JSON.',
    )
  return isObject(filled) ? filled : data
}
