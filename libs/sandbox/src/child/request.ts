import type { ChildRequest } from '../child-request.js'

const forbiddenKeyPattern = /"(__proto__|_jsonata_)/

/** Parses a request and removes keys that would mark data as a JSONata function or set a prototype. */
export function parseRequest(text: string): ChildRequest {
  return JSON.parse(text, forbiddenKeyPattern.test(text) ? withoutMarks : undefined) as ChildRequest
}

function withoutMarks(this: unknown, _key: string, value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  const fields = Object.entries(value)
  const kept = fields.filter(([key]) => key !== '__proto__' && !key.startsWith('_jsonata_'))
  return kept.length === fields.length ? value : Object.fromEntries(kept)
}
