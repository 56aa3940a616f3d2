import { z } from 'zod'
import type { Route } from './route.js'

const secretName = /(?:^|_)(?:secret|token|password|api_?key|apiKey)$|[a-z](?:Secret|Token|Password|ApiKey)$/

/** The path of a text field in a route's response whose name indicates a plaintext secret; `undefined` if there is none. */
export function findSecretField({ kind, response }: Pick<Route, 'kind' | 'response'>): string | undefined {
  return kind === 'single' ? secretField(response, '') : undefined
}

function secretField(schema: unknown, path: string): string | undefined {
  const inner = unwrapped(schema)
  if (inner instanceof z.ZodArray) return secretField(inner.element, `${path}/*`)
  if (!(inner instanceof z.ZodObject)) return undefined
  for (const [name, field] of Object.entries(inner.shape)) {
    const below = `${path}/${name}`
    if (secretName.test(name) && unwrapped(field) instanceof z.ZodString) return below
    const found = secretField(field, below)
    if (found !== undefined) return found
  }
  return undefined
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
    ? unwrapped(schema.unwrap())
    : schema
}
