import { isUtf8 } from 'node:buffer'
import type { WorkflowTrigger } from '@opsplane/contracts'
import { readJson } from '@opsplane/http'

/** A call of an inbound webhook. */
export interface HookCall {
  method: string
  query: Record<string, unknown>
  body: Buffer
  header(name: string): string | undefined
  now: string
  requestId: string
  traceparent: string | undefined
  signal: AbortSignal
}

type WebhookTrigger = Extract<WorkflowTrigger, { type: 'webhook' }>

/** Headers by which senders identify a repetition. */
export const keyHeaders = ['idempotency-key', 'webhook-id', 'x-service-delivery', 'x-github-delivery']
/** Headers that a run may read from every call. */
const shownHeaders = ['content-type', 'user-agent', 'x-github-event', 'x-service-event', ...keyHeaders]

/**
 * The event a run receives for a call. Its body is stored in the journal of the run, and is not part of
 * any message.
 */
export function hookEvent(
  { headers: further = [], body: form = 'parsed' }: Pick<WebhookTrigger, 'headers' | 'body'>,
  { method, query, body, header }: Pick<HookCall, 'method' | 'query' | 'body' | 'header'>,
) {
  const names = new Set([...shownHeaders, ...further])
  const headers = Object.fromEntries(
    [...names].flatMap((name): [string, string][] => {
      const value = header(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
  const type = form === 'raw' ? '' : (header('content-type') ?? '')
  return { method, query, headers, ...parseBody(body, type) }
}

/** Parses JSON and forms; returns other text unchanged, and binary data in base64. */
function parseBody(body: Buffer, contentType: string): { body: unknown; encoding?: 'base64' } {
  if (body.length === 0) return { body: null }
  if (/^application\/(?:json|[\w.+-]+\+json)\b/i.test(contentType)) return { body: readJson(body) }
  const text = isUtf8(body) ? body.toString() : undefined
  if (text === undefined || controls.test(text)) return { body: body.toString('base64'), encoding: 'base64' }
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(contentType) && !unkeepable.test(text)
  return { body: isForm ? Object.fromEntries(new URLSearchParams(text)) : text }
}

/** A form with a NUL or a field named `__proto__`, which the platform's JSON does not allow, is kept as text. */
const unkeepable = /%00|__proto__/

/** Control characters do not occur in text. In JSON each takes six bytes, and Postgres does not store NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it matches
const controls = /[\x00-\x08\x0b\x0c\x0e-\x1f]/
