import { type JsonSchema, type OpenApi, resolveSchema } from './document.js'

/** A body that is wrong in one known place. */
export interface Breakage {
  name: string
  /** The body as sent. */
  text: string
  /** JSON pointer of the wrong value. */
  pointer: string
}

type Fields = Record<string, unknown>

/**
 * Breaks a valid body in every field of its schema, one at a time: in every possible way, or in `ways` ways per
 * field, rotating between fields.
 */
export function breakBody(document: OpenApi, schema: JsonSchema, good: unknown, ways = Infinity): Breakage[] {
  const found: Breakage[] = []
  let turn = 0
  const at = (place: string[], name: string, value: unknown) =>
    found.push({ name, text: JSON.stringify(withValue(good, place, value)), pointer: pointerOf(place) })

  const visit = (part: JsonSchema, place: string[], depth: number) => {
    const { type, properties = {}, required = [], additionalProperties } = resolveSchema(document, part)
    if (type !== 'object' || depth > 3) return
    for (const [name, field] of Object.entries(properties)) {
      const wrong = wrongValues(resolveSchema(document, field))
      const some = wrong.length <= ways ? wrong : rotateList(wrong, ways * turn++).slice(0, ways)
      for (const [what, value] of some) at([...place, name], what, value)
      visit(field, [...place, name], depth + 1)
    }
    for (const name of required) at([...place, name], 'missing', undefined)
    if (additionalProperties === false) at([...place, 'unknownField'], 'unknown field', 1)
  }
  visit(schema, [], 0)
  return found
}

/** The list rotated so that it begins at index `by`. */
export function rotateList<T>(list: readonly T[], by: number): T[] {
  const first = by % Math.max(1, list.length)
  return [...list.slice(first), ...list.slice(0, first)]
}

function wrongValues(schema: JsonSchema): [string, unknown][] {
  const types = [schema.type ?? []].flat()
  const wrong: [string, unknown][] = []
  const allowsType = (type: string) => types.includes(type)
  if (schema.enum) wrong.push(['not of the list', 'no such value'])
  if (types.length === 0) return wrong
  if (!allowsType('boolean')) wrong.push(['a boolean', true])
  if (!allowsType('object')) wrong.push(['an object', { a: 1 }])
  if (!allowsType('array')) wrong.push(['an array', [[]]])
  if (!allowsType('string')) wrong.push(['a string', 'text'])
  if (!allowsType('null')) wrong.push(['null', null])
  if (allowsType('string')) {
    wrong.push(['text with U+0000', 'a\0b'], ['a lone surrogate', '\ud800'])
    if (schema.maxLength !== undefined) wrong.push(['too long', 'x'.repeat(schema.maxLength + 1)])
    if (schema.minLength !== undefined) wrong.push(['too short', ''])
    if (schema.format === 'date-time') wrong.push(['no date', 'yesterday'])
    if (schema.pattern !== undefined) wrong.push(['against the pattern', '\n!'])
  }
  if (allowsType('integer')) wrong.push(['a fraction', 1.5], ['beyond integers', 1e300])
  if (schema.minimum !== undefined) wrong.push(['too small', schema.minimum - 1])
  if (schema.maximum !== undefined) wrong.push(['too big', schema.maximum + 1])
  if (allowsType('array') && schema.maxItems !== undefined) {
    wrong.push(['too many', Array.from({ length: schema.maxItems + 1 }, () => 'x')])
  }
  if (allowsType('array') && (schema.minItems ?? 0) > 0) wrong.push(['too few', []])
  return wrong
}

function withValue(target: unknown, place: string[], value: unknown): unknown {
  const [name, ...rest] = place
  if (name === undefined) return value
  const fields: Fields = typeof target === 'object' && target !== null ? { ...target } : {}
  const inner = withValue(fields[name], rest, value)
  if (inner === undefined) delete fields[name]
  else fields[name] = inner
  return fields
}

const pointerOf = (place: string[]) => place.map((name) => `/${name}`).join('')
