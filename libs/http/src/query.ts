import type { z } from 'zod'
import { malformedUrl } from './errors.js'

type Query = Record<string, string | string[]>

/** Splits a URL's query; a parameter given twice is an array. Throws `malformed_url` on bad %-encoding. */
export function parseQuery(url: string, arrays: ReadonlySet<string>): Query {
  const mark = url.indexOf('?')
  const query: Query = {}
  if (mark === -1 || mark === url.length - 1) return query
  for (const [name, value] of splitPairs(url.slice(mark + 1))) {
    const before = Object.hasOwn(query, name) ? query[name] : undefined
    if (before === undefined) define(query, name, arrays.has(name) ? [value] : value)
    else define(query, name, [before, value].flat())
  }
  return query
}

function splitPairs(text: string): [string, string][] {
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=')
      return equals === -1
        ? [decode(pair), '']
        : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]
    })
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  const decoded = decodeURIComponent(spaced)
  if (decoded.includes('\0')) throw malformedUrl()
  return decoded
}

/** Plain assignment would lose a parameter named `__proto__` instead of reporting it. */
function define(query: Query, name: string, value: string | string[]): void {
  Object.defineProperty(query, name, { value, enumerable: true, configurable: true, writable: true })
}

/** Names of the parameters that are lists, so that one value alone is a list too. */
export function arrayParameters(schema: z.ZodObject): Set<string> {
  const names = Object.entries(schema.shape).filter(([, field]) => isArray(field))
  return new Set(names.map(([name]) => name))
}

function isArray(schema: z.core.$ZodType): boolean {
  const { def } = schema._zod
  if (def.type === 'array') return true
  return 'innerType' in def && isArray(def.innerType as z.core.$ZodType)
}
