import { CalendarDay, type ErrorDetail, ExactNumber, Moment, type SourceParam } from '@opsplane/contracts'
import { jsonPointer, validationFailed } from '@opsplane/http'
import { z } from 'zod'

const maxText = 10_000

const schemas: { readonly [Type in SourceParam['type']]: (param: SourceParam) => z.ZodType } = {
  text: ({ maxLength = maxText, enum: values }) =>
    values ? z.enum(values) : z.string().refine((text) => [...text].length <= maxLength, 'is too long'),
  // Text for integers that a double cannot represent exactly.
  integer: () => z.union([z.int(), z.string().regex(/^-?\d{16,40}$/, 'must be a whole number')]),
  decimal: () =>
    z.union([
      z.number(),
      z.instanceof(ExactNumber),
      z.string().regex(/^-?\d{1,40}(\.\d{1,40})?$/, 'must be a decimal'),
    ]),
  boolean: () => z.boolean(),
  date: () => CalendarDay,
  timestamp: () => Moment,
  json: () => z.unknown(),
}

/**
 * Parses the parameters of a request as the data source declares them; `null` counts as absent. Throws
 * `validation_failed` for wrong types, missing parameters and undeclared ones.
 */
export function parseParams(
  declared: Readonly<Record<string, SourceParam>>,
  input: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const details: ErrorDetail[] = []
  const refuse = (name: string, code: string, message: string) =>
    details.push({ in: 'body', path: jsonPointer(['params', name]), code, message })
  const values: Record<string, unknown> = {}
  for (const name of Object.keys(input))
    if (!Object.hasOwn(declared, name))
      refuse(name, 'unrecognized_key', 'is no parameter of this data source')
  for (const [name, param] of Object.entries(declared)) {
    const value = Object.hasOwn(input, name) ? (input[name] ?? undefined) : undefined
    if (value === undefined) {
      if (param.required) refuse(name, 'required', 'is required')
      continue
    }
    const parsed = schemas[param.type](param).safeParse(value)
    if (parsed.success) values[name] = value
    else refuse(name, 'invalid_type', parsed.error.issues[0]?.message ?? `must be of the type ${param.type}`)
  }
  if (details.length > 0) throw validationFailed(details)
  return values
}
