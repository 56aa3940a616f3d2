import { type ErrorDetail, ExactNumber, hasLongDigits } from '@opsplane/contracts'
import { jsonPointer, validationFailed } from '../route/validation.js'
import { maxDepth } from './json-bounds.js'

/**
 * Rejects values that parse as JSON but that no part of the platform accepts: nesting beyond 100 levels,
 * `__proto__` keys, text that Postgres cannot store (U+0000, lone surrogates), and numbers outside the range
 * of a double, which could take any amount of space when written out. A text search clears ordinary bodies;
 * large ones need a check of their depth as well.
 */
export function checkJson(text: string, value: unknown): void {
  const suspicious = text.includes('\\u') || text.includes('__proto__') || hasLongDigits(text)
  if (!suspicious && (hasAtMostBrackets(text, maxDepth) || isNoDeeper(value))) return
  const problem = findProblem(value, [], maxDepth)
  if (problem) throw validationFailed([problem])
}

function hasAtMostBrackets(text: string, limit: number): boolean {
  let count = 0
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++count > limit) return false
    }
  }
  return true
}

/** Whether arrays and objects are nested at most `levels` deep. */
export function isNoDeeper(value: unknown, levels = maxDepth): boolean {
  if (value === null || typeof value !== 'object') return true
  return levels > 0 && Object.values(value).every((inner) => isNoDeeper(inner, levels - 1))
}

function findProblem(value: unknown, path: PropertyKey[], depthLeft: number): ErrorDetail | undefined {
  if (typeof value === 'string') {
    return isStorable(value)
      ? undefined
      : problemAt(path, 'invalid_text', 'has characters that cannot be stored')
  }
  if (value instanceof ExactNumber) return rangeProblem(value, path)
  if (value === null || typeof value !== 'object') return undefined
  if (depthLeft === 0) return problemAt(path, 'too_deep', `is nested more than ${maxDepth} levels deep`)
  for (const [key, inner] of Object.entries(value)) {
    path.push(key)
    if (key === '__proto__') return problemAt(path, 'forbidden_key', 'is not allowed as a key')
    const problem = isStorable(key)
      ? findProblem(inner, path, depthLeft - 1)
      : problemAt(path, 'invalid_text', 'has characters that cannot be stored')
    if (problem) return problem
    path.pop()
  }
  return undefined
}

function rangeProblem({ text }: ExactNumber, path: PropertyKey[]): ErrorDetail | undefined {
  const double = Number(text)
  if (!Number.isFinite(double)) return problemAt(path, 'too_big', 'is a number beyond what can be stored')
  return double === 0
    ? problemAt(path, 'too_small', 'is a number nearer to zero than what can be stored')
    : undefined
}

const unstorable = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

function isStorable(text: string): boolean {
  return !unstorable.test(text)
}

function problemAt(path: PropertyKey[], code: string, message: string): ErrorDetail {
  return { in: 'body', path: jsonPointer(path), code, message }
}
