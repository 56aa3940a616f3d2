import {
  ExactNumber,
  invalidField,
  type ParameterType,
  parseExact,
  plainDecimal,
  stringifyExact,
} from '@opsplane/contracts'

export type Json = string | number | ExactNumber | boolean | null | Json[] | { [key: string]: Json }

/** A parameter in the text format of Postgres. Without a type, a list is an SQL array and an object is JSON. */
export function parameterText(value: unknown, type: ParameterType | undefined): string | null {
  if (value === null) return null
  if (type === 'json') return stringifyExact(value)
  return Array.isArray(value) ? arrayText(value) : valueText(value)
}

/** Numbers are written without an exponent, which only some Postgres types accept. */
function valueText(value: unknown): string {
  const text = typeof value === 'object' ? stringifyExact(value) : String(value)
  const isNumber = typeof value === 'number' || value instanceof ExactNumber
  return (isNumber && plainDecimal(text)) || text
}

/** An array in Postgres notation: `{"a",NULL}`. */
function arrayText(values: readonly unknown[]): string {
  const parts = values.map((value) => {
    if (value === null) return 'NULL'
    if (Array.isArray(value)) return arrayText(value)
    const text = valueText(value)
    return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
  })
  return `{${parts.join(',')}}`
}

/** Throws `validation_failed` if a value does not match the type; checks that Postgres does better are left to it. */
export function checkParameter(name: string, value: unknown, type: ParameterType): void {
  if (value === null || type === 'json') return
  const isList = Array.isArray(value)
  const isObject = typeof value === 'object' && !isList && !(value instanceof ExactNumber)
  if (isList !== type.endsWith('[]') || isObject)
    throw invalidField(`/parameters/${name}`, 'invalid_type', `must be ${type}`)
}

/** The studio's names for column types; all other types have their Postgres names. */
const typeNames = new Map([
  ['character varying', 'text'],
  ['numeric', 'decimal'],
  ['timestamp with time zone', 'timestamp'],
  ['jsonb', 'json'],
])

export const typeName = (postgresName: string): string =>
  postgresName.replace(/^[a-z ]+?(?=\[\]$|$)/, (name) => typeNames.get(name) ?? name)

/** Converts a column's text to the representation used in records, by the Postgres name of its type. */
export function createValueReader(type: string): (text: string) => Json {
  if (type.endsWith('[]')) {
    const element = createValueReader(type.slice(0, -2))
    return (text) => readArray(text, element)
  }
  switch (type) {
    case 'smallint':
    case 'integer':
    case 'oid':
      return Number
    case 'real':
    case 'double precision':
      return (text) => (Number.isFinite(Number(text)) ? Number(text) : text)
    case 'boolean':
      return (text) => text === 't'
    case 'json':
    case 'jsonb':
      return (text) => parseExact(text) as Json
    case 'timestamp with time zone':
      return isoInstant
    case 'timestamp without time zone':
      return (text) => text.replace(' ', 'T')
    default:
      return (text) => text
  }
}

/** Sessions use UTC. Digits beyond milliseconds are preserved; infinity and years BC are returned unchanged. */
function isoInstant(text: string): string {
  const [, date, time, fraction = ''] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(text) ?? []
  return date ? `${date}T${time}.${fraction.padEnd(3, '0')}Z` : text
}

/** Parses `{a,"b \"c\"",NULL,{…}}`; explicit bounds, as in `[0:1]={…}`, are dropped. */
function readArray(text: string, element: (text: string) => Json): Json {
  const open: Json[][] = []
  let at = text.indexOf('{')
  for (;;) {
    const current = open.at(-1)
    const character = text[at]
    if (character === '{') {
      const inner: Json[] = []
      current?.push(inner)
      open.push(inner)
      at += 1
    } else if (character === '}') {
      open.pop()
      at += 1
      if (open.length === 0 || current === undefined) return current ?? []
    } else if (character === ',') {
      at += 1
    } else {
      const [whole, quoted] = /"((?:[^"\\]|\\.)*)"|[^,{}]*/sy.exec(text.slice(at)) ?? ['']
      if (whole === '') return text
      const value = quoted?.replaceAll(/\\(.)/gs, '$1')
      current?.push(value === undefined ? (whole === 'NULL' ? null : element(whole)) : element(value))
      at += whole.length
    }
  }
}
