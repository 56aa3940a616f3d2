import { ApiError } from '@opsplane/contracts'
import type { z } from 'zod'
import { malformedUrl } from '../server/errors.js'

type Query = Record<string, string | string[]>

const maxParameters = 500

/**
 * Splits a URL's query; a repeated parameter is an array. Throws `malformed_url` on bad %-encoding and
 * `validation_failed` on more than 500 parameters.
 */
export function parseQuery(url: string, arrays: ReadonlySet<string>): Query {
  const mark = url.indexOf('?')
  const query: Query = {}
  if (mark === -1) return query
  let count = 0
  for (let start = mark + 1; start < url.length; ) {
    const ampersand = url.indexOf('&', start)
    const end = ampersand === -1 ? url.length : ampersand
    if (end > start) {
      if (++count > maxParameters) throw tooManyParameters()
      add(query, url.slice(start, end), arrays)
    }
    start = end + 1
  }
  return query
}

function add(query: Query, pair: string, arrays: ReadonlySet<string>): void {
  const equals = pair.indexOf('=')
  const name = decode(equals === -1 ? pair : pair.slice(0, equals))
  const value = equals === -1 ? '' : decode(pair.slice(equals + 1))
  const before = Object.hasOwn(query, name) ? query[name] : undefined
  if (Array.isArray(before)) before.push(value)
  else if (before !== undefined) define(query, name, [before, value])
  else define(query, name, arrays.has(name) ? [value] : value)
}

function tooManyParameters(): ApiError {
  const message = `must have at most ${maxParameters} parameters`
  return new ApiError('validation_failed', `The query ${message}.`, {
    details: [
      { in: 'query', path: '', code: 'too_many_parameters', message, params: { max: maxParameters } },
    ],
  })
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  const decoded = decodeURIComponent(spaced)
  if (decoded.includes('\0')) throw malformedUrl()
  return decoded
}

/** A plain assignment would lose a parameter named `__proto__` instead of reporting it. */
function define(query: Query, name: string, value: string | string[]): void {
  Object.defineProperty(query, name, { value, enumerable: true, configurable: true, writable: true })
}

/** Names of the parameters that are lists, so that a single value becomes a list too. */
export function arrayParameters(schema: z.ZodObject): Set<string> {
  const names = Object.entries(schema.shape).filter(([, field]) => isArray(field))
  return new Set(names.map(([name]) => name))
}

function isArray(schema: z.core.$ZodType): boolean {
  const { def } = schema._zod
  if (def.type === 'array') return true
  return 'innerType' in def && isArray(def.innerType as z.core.$ZodType)
}
