import {
  ApiError,
  hostOfUrl,
  type JsonValue,
  type ResolvedSecrets,
  referencedSecrets,
  type SecretRefusal,
  secretReference,
  stringifyExact,
  type TenantScope,
} from '@opsplane/contracts'
import { createEchoRedaction, createRedaction, type Redact, redactValue } from '@opsplane/runtime'
import { CallFailure } from '../calls/call-failure.js'
import type { SignCause } from '../calls/cause-header.js'
import type { ResolveSecrets } from '../calls/secret-values.js'
import { valueText } from '../calls/value-text.js'
import { answerBody } from './answer/answer-body.js'
import type { SpendEgress } from './egress.js'
import type { OutboundResponse } from './outbound.js'
import { describeOutboundError, OutboundError } from './outbound-error.js'
import type { OutboundHttp } from './outbound-http.js'
import { createSecretFilling, type FillSecrets, headerFault } from './secret-filling.js'

/** A request as written by its author, with references to secrets such as `{{secrets.token}}`. */
export interface SecretRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers: Record<string, string>
  query: Record<string, unknown>
  /** A string is sent unchanged, any other value as JSON; `undefined` for no body. */
  body: unknown
  /** Sent if the method changes something. */
  idempotencyKey: string
  timeoutMs: number
  signal: AbortSignal
  maxResponseBytes: number
  /** The tenant whose secrets are used, the user they are used for, and the consumer as kind and id: `workflow/wf_…`. */
  user: { tenant: TenantScope; userId: string; consumer: string }
  /** Id of the run or execution that sends the request. */
  cause: string
  /** Throws for a secret that may not be used here. */
  checkSecret?(name: string): void
}

export interface SecretResponse {
  response: OutboundResponse
  /** Removes the sent secrets from texts shown to people. */
  redact: Redact
  /** Values of the secrets. */
  secrets: string[]
}

interface SecretHttpOptions {
  http: Pick<OutboundHttp, 'request'>
  resolveSecrets: ResolveSecrets
  spendEgress: SpendEgress
  signCause: SignCause
}

/** Throws `CallFailure` if there is no response; a response with any status is returned. */
export type SendSecretRequest = (request: SecretRequest) => Promise<SecretResponse>

/** Idempotent methods. */
const repeatable = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

/** Sends requests through the outbound guard. Secrets are inserted immediately before sending and nowhere else. */
export function createSecretHttp({
  http,
  resolveSecrets,
  spendEgress,
  signCause,
}: SecretHttpOptions): SendSecretRequest {
  return async (request) => {
    const { url, headers, query, body, method } = request
    const text = body === undefined || typeof body === 'string' ? body : stringifyExact(body)
    const values = Object.values(query).map((value) => valueText(value) ?? '')
    const fill = await secretsFor(request, resolveSecrets, [
      ...Object.values(headers),
      ...values,
      text ?? '',
      url,
    ])
    const sent = {
      url: urlOf(url, query, fill.in),
      headers: { ...headersOf(request, headers, typeof body, fill.in), ...signCause(request.cause) },
      ...(text !== undefined && { body: fill.in(text, typeof body === 'string' ? undefined : inJson) }),
    }
    spend(spendEgress, request, sent)
    const response = await http
      .request({
        ...{ method, ...sent, signal: request.signal, timeoutMs: request.timeoutMs },
        maxResponseBytes: request.maxResponseBytes,
        repeatable: repeatable.has(method),
      })
      .then(describeOutboundError)
      .catch((error: unknown) => {
        throw error instanceof OutboundError ? outboundFailure(error) : error
      })
    return { response, redact: createRedaction(fill.values), secrets: fill.values }
  }
}

/** Throws a retryable `CallFailure`: a later attempt may fall into the next minute. */
function spend(
  egress: SpendEgress,
  { user }: SecretRequest,
  { url, body = '' }: { url: string; body?: string },
) {
  try {
    egress(user.tenant, url.length + Buffer.byteLength(body))
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw new CallFailure(error.code, error.message, { retryable: true })
  }
}

function urlOf(url: string, query: Record<string, unknown>, fill: FillSecrets): string {
  const target = parsed(fill(url, encodeURIComponent))
  if (hostOfUrl(target.href) !== parseTemplateHost(url))
    throw new CallFailure('invalid_url', 'No secret can be part of the host.')
  for (const [name, value] of Object.entries(query)) {
    const text = valueText(value)
    if (text !== undefined) target.searchParams.append(name, fill(text))
  }
  return target.href
}

/**
 * The host of a URL with references in it. The host cannot come from a secret, because secrets are only sent to hosts
 * allowed for them. Throws `CallFailure` if the text is no URL.
 */
export const parseTemplateHost = (url: string): string =>
  hostOfUrl(parsed(url.replaceAll(secretReference, 'secret')).href)

function parsed(url: string): URL {
  if (!URL.canParse(url)) throw new CallFailure('invalid_url', 'The URL is none.')
  return new URL(url)
}

const inJson = (value: string) => JSON.stringify(value).slice(1, -1)

const refusals: Record<SecretRefusal, string> = {
  host_not_allowed: 'may not be sent to this host; its `hosts` say where it may go',
  permission_missing: 'may not be used: the person this runs for lacks the permission `secrets:use`',
  too_large: 'is too large to be sent with the others',
}

async function secretsFor(
  { user, url, headers, checkSecret }: SecretRequest,
  resolve: ResolveSecrets,
  texts: readonly string[],
) {
  const names = texts.flatMap(referencedSecrets)
  for (const name of names) checkSecret?.(name)
  const host = parseTemplateHost(url)
  const { values, refused } = names.length > 0 ? await resolve({ ...user, host }, names) : nothing
  for (const [name, reason] of Object.entries(refused))
    if (reason) throw new CallFailure('secret_refused', `The secret ${name} ${refusals[reason]}.`)
  const known: Record<string, string> = { ...values }
  for (const name of names)
    if (!Object.hasOwn(known, name))
      throw new CallFailure('unknown_secret', `The secret ${name} does not exist.`)
  const fault = headerFault(headers, known)
  if (fault) throw new CallFailure('invalid_header', fault)
  return {
    in: createSecretFilling({
      secretValue: (name) => known[name] ?? '',
      tooLong: (message) => new CallFailure('secrets_too_long', message),
    }),
    values: Object.values(known),
  }
}

const nothing: ResolvedSecrets = { values: {}, refused: {} }

function headersOf(
  { idempotencyKey, method }: SecretRequest,
  headers: Record<string, string>,
  body: string,
  fill: FillSecrets,
): Record<string, string> {
  const sent: Record<string, string> = {}
  if (body !== 'undefined' && body !== 'string') sent['content-type'] = 'application/json'
  if (method !== 'GET' && method !== 'HEAD') sent['idempotency-key'] = idempotencyKey
  for (const [name, value] of Object.entries(headers)) sent[name.toLowerCase()] = fill(value)
  return sent
}

function outboundFailure({ kind, message }: OutboundError) {
  const code =
    kind === 'timeout'
      ? 'upstream_timeout'
      : kind === 'blocked_address'
        ? 'blocked_address'
        : 'upstream_error'
  return new CallFailure(code, message, { retryable: kind !== 'blocked_address', details: { kind } })
}

/** A response to be used in further computation. */
interface RedactedResponse {
  status: number
  headers: Record<string, string>
  /** Parsed if its type is JSON, otherwise text or base64; `null` if it is empty. */
  body: unknown
  /** Set if the body is not text in its charset. */
  bodyEncoding?: 'base64'
}

/** A response with all echoes of the sent secrets removed. */
export function redactResponse({
  response,
  secrets,
}: Pick<SecretResponse, 'response' | 'secrets'>): RedactedResponse {
  const redact = createEchoRedaction(secrets)
  const { encoding, body } = answerBody(response)
  const headers = Object.entries(response.headers).map(([name, value]) => [name, redact(value)])
  return {
    status: response.status,
    headers: Object.fromEntries(headers),
    // Parsed from JSON, or text.
    body: redactValue(body as JsonValue, redact),
    ...(encoding === 'base64' && { bodyEncoding: 'base64' as const }),
  }
}
