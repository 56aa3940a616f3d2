import { type Filter, invalidField } from '@opsplane/contracts'
import { z } from 'zod'

/**
 * Throws validation_failed naming a condition that no record can ever meet, because the field does not exist or never
 * has this value. Otherwise a misspelled policy would silently never apply.
 */
export function checkConditions(conditions: Filter, record: z.ZodObject): void {
  for (const [path, condition] of Object.entries(conditions)) {
    const place = `/conditions/${path.replaceAll('~', '~0').replaceAll('/', '~1')}`
    const [name = ''] = path.split('.')
    const field = Object.hasOwn(record.shape, name) ? record.shape[name] : undefined
    if (!field) {
      const known = Object.keys(record.shape).join(', ')
      throw invalidField(place, 'unknown_field', `There is no field ${name}. There are: ${known}.`)
    }
    if (path !== name) continue
    const impossible = findEqualValues(condition).find((value) => !z.safeParse(field, value).success)
    if (impossible !== undefined)
      throw invalidField(place, 'impossible_value', `${name} is never ${JSON.stringify(impossible)}.`)
  }
}

/** Returns the values that the condition compares for equality. */
function findEqualValues(condition: Filter[string]): readonly unknown[] {
  if (condition === null || typeof condition !== 'object') return [condition]
  return condition.in ?? []
}
