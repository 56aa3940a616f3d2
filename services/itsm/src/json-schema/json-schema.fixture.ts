import { ApiError } from '@opsplane/contracts'
import type { JsonSchema } from '@opsplane/json-schema'
import { compile } from './compile.js'
import { checkFaults, withDefaults } from './data-faults.js'
import { checkEnforceable } from './enforceable.js'
import type { SchemaRules } from './schema-rules.js'

export const form: SchemaRules = { path: '/formSchema', form: true }
export const object = (properties: object, rest: object = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...rest,
})
export const list = (items: object, rest: object = {}): JsonSchema => ({ type: 'array', items, ...rest })
/** Properties a0, a1, … */
export const numberedProperties = (count: number, schema: (index: number) => object) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, schema(index)]))

/** Returns path and code of the first error with which a schema is rejected. */
export function catchRefusal(
  work: () => void,
): { path: string | undefined; code: string | undefined } | null {
  try {
    work()
    return null
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const [detail] = error.details
    return { path: detail?.path, code: detail?.code }
  }
}

/** Returns the path at which a schema is rejected; `null` if it is accepted. */
export const findRefusedPath = (schema: JsonSchema, rules = form) =>
  catchRefusal(() => checkEnforceable(schema, rules))?.path ?? null

export const faults = (schema: JsonSchema, value: unknown, options: { partial?: boolean } = {}) =>
  compile(schema, form)
    .check(value, options)
    .map(({ path, schemaPath, code }) => `/formData${path} ${schemaPath} ${code}`)

/** Returns the error with which too costly data is rejected. */
export const catchDataRefusal = (schema: JsonSchema, value: unknown) =>
  catchRefusal(() => checkFaults(compile(schema, form).check(value), '/formData', 'It does not fit.'))

export const fillDefaults = (schema: JsonSchema, value: unknown) =>
  withDefaults(compile(schema, form), value, '/formData')
