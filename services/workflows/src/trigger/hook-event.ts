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

/** Headers with which senders mark a repetition. */
export const keyHeaders = ['idempotency-key', 'webhook-id', 'x-service-delivery', 'x-github-delivery']
/** What a run may see of any call. */
const shownHeaders = ['content-type', 'user-agent', 'x-github-event', 'x-service-event', ...keyHeaders]

/** The event a run gets for a call. Its body is stored in the journal of the run, and in no message. */
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

/** JSON as it is, a form by its fields, other text as it came, and what is none in base64. */
function parseBody(body: Buffer, contentType: string): { body: unknown; encoding?: 'base64' } {
  if (body.length === 0) return { body: null }
  if (/^application\/(?:json|[\w.+-]+\+json)\b/i.test(contentType)) return { body: readJson(body) }
  const text = isUtf8(body) ? body.toString() : undefined
  if (text === undefined || controls.test(text)) return { body: body.toString('base64'), encoding: 'base64' }
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(contentType) && !unkeepable.test(text)
  return { body: isForm ? Object.fromEntries(new URLSearchParams(text)) : text }
}

/** A form with NUL, or with a field that no JSON of the platform has, stays the text it is. */
const unkeepable = /%00|__proto__/

/** No text has them. In JSON each is six bytes, and Postgres keeps no NUL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\x00-\x08\x0b\x0c\x0e-\x1f]/
