import {
  type HttpStep,
  hostOfUrl,
  referencedSecrets,
  type SecretRefusal,
  secretReference,
} from '@opsplane/contracts'
import { OutboundError, type OutboundHttp, type OutboundResponse, type ResolveSecrets } from '@opsplane/http'
import { createRedaction, retryAfterMs } from '@opsplane/runtime'
import { z } from 'zod'
import { maxValueBytes } from '../lines.js'
import { type Effect, type EffectCall, failed } from './effect.js'

const Input = z.object({
  url: z.coerce.string(),
  headers: z.record(z.string(), z.coerce.string()).default({}),
  query: z.record(z.string(), z.unknown()).default({}),
  body: z.unknown().optional(),
})

export interface HttpEffectOptions {
  http: Pick<OutboundHttp, 'request'>
  resolveSecrets: ResolveSecrets
}

/** Methods that do the same when they are done twice. */
const repeatable = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])
const keptOfError = 16 * 1024

/**
 * One request through the guard, secrets filled in at the last moment and nowhere else: `{ status, headers, body }`. An
 * answer of 400 and above is a failure.
 */
export function httpEffect({ http, resolveSecrets }: HttpEffectOptions): Effect<HttpStep> {
  return async (call) => {
    const { url, headers, query, body } = Input.parse(call.input)
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const values = Object.values(query).map((value) => plain(value) ?? '')
    const fill = await secretsFor(call, resolveSecrets, url, [
      ...Object.values(headers),
      ...values,
      text ?? '',
      url,
    ])
    const { method } = call.step
    const answer = await http
      .request({
        ...{ method, url: urlOf(url, query, fill.in), signal: call.signal, timeoutMs: call.timeoutMs },
        headers: headersOf(call, headers, typeof body, fill.in),
        ...(text !== undefined && { body: fill.in(text, typeof body === 'string' ? asItIs : inJson) }),
        maxResponseBytes: maxValueBytes - keptOfError,
        repeatable: repeatable.has(method),
      })
      .catch((error: unknown) => {
        throw error instanceof OutboundError ? outboundFailure(error) : error
      })
    if (answer.status >= 400) throw answered(answer, fill.redact)
    return outputOf(answer, fill.redact)
  }
}

type Fill = (text: string, encode: (value: string) => string) => string

function urlOf(url: string, query: Record<string, unknown>, fill: Fill): string {
  const target = parsed(fill(url, encodeURIComponent))
  if (hostOfUrl(target.href) !== hostOf(url))
    throw failed('invalid_url', 'No secret can be part of the host.')
  for (const [name, value] of Object.entries(query)) {
    const text = plain(value)
    if (text !== undefined) target.searchParams.append(name, fill(text, asItIs))
  }
  return target.href
}

/** Secrets have no part in it: they go to hosts that are allowed for them. */
const hostOf = (url: string) => hostOfUrl(parsed(url.replaceAll(secretReference, 'secret')).href)

function parsed(url: string): URL {
  if (!URL.canParse(url)) throw failed('invalid_url', 'The URL is none.')
  return new URL(url)
}

function plain(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const asItIs = (value: string) => value
const inJson = (value: string) => JSON.stringify(value).slice(1, -1)

const refusals: Record<SecretRefusal, string> = {
  host_not_allowed: 'may not be sent to this host; its `hosts` say where it may go',
  permission_missing: 'may not be used: whoever published the workflow has no `secrets:use`',
  too_large: 'is too large to be sent with the others',
}

async function secretsFor(
  { run, userId }: EffectCall,
  resolve: ResolveSecrets,
  url: string,
  texts: readonly string[],
) {
  const names = texts.flatMap(referencedSecrets)
  const user = { tenant: run.tenant, userId, consumer: `workflow/${run.workflowId}`, host: hostOf(url) }
  const { values, refused } = names.length > 0 ? await resolve(user, names) : { values: {}, refused: {} }
  for (const [name, reason] of Object.entries(refused))
    if (reason) throw failed('secret_refused', `The secret ${name} ${refusals[reason]}.`)
  const known: Record<string, string> = { ...values }
  for (const name of names)
    if (!Object.hasOwn(known, name)) throw failed('unknown_secret', `The secret ${name} does not exist.`)
  return {
    in: (text: string, encode: (value: string) => string) =>
      text.replaceAll(secretReference, (_, name: string) => encode(known[name] ?? '')),
    redact: createRedaction(Object.values(known)),
  }
}

function headersOf(
  { key, step }: EffectCall<HttpStep>,
  headers: Record<string, string>,
  body: string,
  fill: Fill,
): Record<string, string> {
  const sent: Record<string, string> = {}
  if (body !== 'undefined' && body !== 'string') sent['content-type'] = 'application/json'
  if (step.method !== 'GET' && step.method !== 'HEAD') sent['idempotency-key'] = key
  for (const [name, value] of Object.entries(headers)) sent[name.toLowerCase()] = fill(value, asItIs)
  if (Object.values(sent).some((value) => /[\r\n\0]/.test(value)))
    throw failed('invalid_header', 'A header has a line break in it.')
  return sent
}

function outboundFailure({ kind, message }: OutboundError) {
  const code =
    kind === 'timeout'
      ? 'upstream_timeout'
      : kind === 'blocked_address'
        ? 'blocked_address'
        : 'upstream_error'
  return failed(code, message, { retryable: kind !== 'blocked_address', details: { kind } })
}

const worthAnother = new Set([408, 425, 429])

function answered(
  { status, headers, body }: OutboundResponse,
  redact: (text: string, cutOff?: boolean) => string,
) {
  const retryAfter = retryAfterMs(headers['retry-after'], Date.now())
  return failed('http_status', `The answer was ${status}.`, {
    retryable: status >= 500 || worthAnother.has(status),
    details: { status, body: redact(body.subarray(0, keptOfError).toString(), body.length > keptOfError) },
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
  })
}

function outputOf(
  { status, headers, body, truncated }: OutboundResponse,
  redact: (text: string, cutOff?: boolean) => string,
) {
  if (truncated) throw failed('output_too_large', 'The answer is larger than what is kept of a value.')
  const shown = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, redact(value)]))
  return { status, headers: shown, body: bodyOf(redact(body.toString()), headers['content-type'] ?? '') }
}

function bodyOf(text: string, contentType: string): unknown {
  if (text === '') return null
  const safe = text.replaceAll('\0', '\uFFFD')
  if (!/[/+]json\b/i.test(contentType)) return safe
  try {
    return JSON.parse(safe)
  } catch {
    return safe
  }
}
