/** Keywords of a schema with data in which nothing is a schema. */
const dataOf = new Set(['default', 'example', 'examples', 'enum', 'const'])
const scalars = new Set(['string', 'number', 'integer', 'boolean', 'null'])

/**
 * Keeps only defaults that are strings, numbers or booleans of a schema with a scalar type. Client
 * generators fail on others, such as an object, an array, `null`, or a default of a union: these are
 * moved to the description, unless they are empty.
 */
export function withPlainDefaults<Part>(part: Part): Part {
  return rewritten(part, false) as Part
}

/** `isNamed`: the keys are property names, not keywords. */
function rewritten(part: unknown, isNamed: boolean): unknown {
  if (Array.isArray(part)) return part.map((item) => rewritten(item, false))
  if (typeof part !== 'object' || part === null) return part
  const entries = Object.entries(part).map(([key, value]) => [
    key,
    !isNamed && dataOf.has(key) ? value : rewritten(value, !isNamed && key === 'properties'),
  ])
  const { default: value, ...others }: Record<string, unknown> = Object.fromEntries(entries)
  if (isNamed || value === undefined || isPlain(value, others.type)) return Object.fromEntries(entries)
  if (isEmpty(value)) return others
  const defaultText = `Unless given: \`${JSON.stringify(value)}\`.`
  return { ...others, description: [others.description, defaultText].filter(Boolean).join(' ') }
}

function isPlain(value: unknown, type: unknown): boolean {
  const isOfScalars = type !== undefined && [type].flat().every((each) => scalars.has(String(each)))
  return isOfScalars && value !== null && typeof value !== 'object'
}

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0)
