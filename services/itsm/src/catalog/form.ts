import { invalidField, stringifyExact } from '@opsplane/contracts'
import { isObject, type JsonSchema } from '@opsplane/json-schema'
import { compile } from '../json-schema/compile.js'
import { checkFaults, withDefaults } from '../json-schema/data-faults.js'
import { checkEnforceable } from '../json-schema/enforceable.js'

/** The same limit as for a request body, because events contain the data twice. */
const maxBytes = 32_768
const rules = { path: '/formSchema', form: true }

export type FormData = Record<string, unknown>

/** Throws validation_failed if the form uses a keyword that is not enforced. The error names its place in the form. */
export function checkFormSchema(schema: JsonSchema): void {
  checkEnforceable(schema, rules)
}

/**
 * Returns the data completed with the defaults of the form. Throws validation_failed listing everything that does not
 * match; a draft may still lack required fields.
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
