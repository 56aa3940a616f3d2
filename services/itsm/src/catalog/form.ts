import { invalidField, stringifyExact } from '@opsplane/contracts'
import { isObject, type JsonSchema } from '@opsplane/json-schema'
import { compile } from '../json-schema/compile.js'
import { checkFaults, withDefaults } from '../json-schema/data-faults.js'
import { checkEnforceable } from '../json-schema/enforceable.js'

/** The same limit as of a request body: events carry the data twice. */
const maxBytes = 32_768
const rules = { path: '/formSchema', form: true }

export type FormData = Record<string, unknown>

/** Refuses a form with anything that is not enforced. Throws validation_failed naming the place in it. */
export function checkFormSchema(schema: JsonSchema): void {
  checkEnforceable(schema, rules)
}

/**
 * The data with the defaults of the form. Throws validation_failed naming all that does not fit; a draft may still
 * lack what is required.
 */
export function fillForm(schema: JsonSchema, data: FormData, { draft }: { draft: boolean }): FormData {
  const form = compile(schema, rules)
  const filled = withDefaults(form, data, '/formData')
  const faults = form.check(filled, { partial: draft })
  checkFaults(faults, '/formData', 'The form data does not match the form.')
  if (Buffer.byteLength(stringifyExact(filled)) > maxBytes)
    throw invalidField(
      '/formData',
      'too_big',
      'The form data, with the defaults of the form, is larger than 32 KiB of JSON.',
    )
  return isObject(filled) ? filled : data
}
