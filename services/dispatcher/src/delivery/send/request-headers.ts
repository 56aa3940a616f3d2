import {
  type AttemptErrorKind,
  literalLength,
  maxHeadersLength,
  maxHeaderValueLength,
  redactedValue,
  referencedSecrets,
  type SecretRefusal,
  secretReference,
} from '@opsplane/contracts'
import { headerFault } from '@opsplane/http'
import type { Credentials } from '../../webhook/sealing.js'
import { buildSignatureHeaders } from './sign.js'

export interface RequestContent {
  eventId: string
  eventType: string
  body: string
  /** Unix seconds. */
  timestamp: number
  /** Headers that name the run or execution that caused the event. */
  causeHeaders: Record<string, string>
  /** W3C Trace Context; a header with that name configured in the webhook takes precedence. */
  traceparent?: string | undefined
}

/** The headers of one request, and a copy for storage in which every secret is `***`. */
export interface RequestHeaders {
  sent: Record<string, string>
  kept: Record<string, string>
  /** All secret values in `sent`, used to redact them if the endpoint echoes them. */
  secrets: string[]
}

/** The headers cannot be built because of the webhook's configuration. */
export class HeadersError extends Error {
  constructor(
    readonly kind: AttemptErrorKind,
    message: string,
  ) {
    super(message)
    this.name = 'HeadersError'
  }
}

const refusals: Record<SecretRefusal, string> = {
  host_not_allowed: "may not be sent to the webhook's host; its `hosts` say where it may go",
  permission_missing: 'may not be used: the owner of the webhook has no `secrets:use`',
  too_large: 'is too large to be sent in headers with the others',
}

/** A header refers to a secret that may not be used for it. */
export const secretRefusedError = (secretName: string, reason: SecretRefusal) =>
  new HeadersError('secret_refused', `The secret ${secretName} ${refusals[reason]}.`)

const tooLarge = (label: string, limit: number) =>
  new HeadersError('headers_too_large', `With its secrets ${label} would have more than ${limit} characters.`)

/** Checks the total length of the headers before building them. */
function checkLengths(headers: Record<string, string>, values: Record<string, string>): void {
  let total = 0
  for (const [name, template] of Object.entries(headers)) {
    const length = referencedSecrets(template).reduce(
      (sum, secretName) => sum + secretValue(values, secretName).length,
      literalLength(template),
    )
    if (length > maxHeaderValueLength) throw tooLarge(`the header ${name}`, maxHeaderValueLength)
    total += name.length + length
  }
  if (total > maxHeadersLength) throw tooLarge('all headers', maxHeadersLength)
}

function secretValue(values: Record<string, string>, secretName: string): string {
  const value = Object.hasOwn(values, secretName) ? values[secretName] : undefined
  if (value !== undefined) return value
  throw new HeadersError(
    'secret_missing',
    `A header refers to the secret ${secretName}, which does not exist.`,
  )
}

/** Builds the headers of a delivery request. Throws HeadersError. */
export function buildRequestHeaders(
  { secrets, headers, secretHeaders }: Credentials,
  values: Record<string, string>,
  content: RequestContent,
): RequestHeaders {
  checkLengths(headers, values)
  const fault = headerFault(headers, values)
  if (fault) throw new HeadersError('secret_refused', fault)
  const custom: Record<string, string> = {}
  const redacted: Record<string, string> = {}
  const used: string[] = []
  for (const [name, template] of Object.entries(headers)) {
    custom[name] = template.replaceAll(secretReference, (_, secretName: string) => {
      const value = secretValue(values, secretName)
      used.push(value)
      return value
    })
    const secret = secretHeaders.has(name)
    redacted[name] = secret ? redactedValue : template.replaceAll(secretReference, redactedValue)
    if (secret) used.push(template)
  }
  const { body, eventId, timestamp } = content
  const own = {
    'content-type': 'application/json',
    'x-service-delivery': eventId,
    'x-service-event': content.eventType,
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    ...content.causeHeaders,
    ...buildSignatureHeaders(secrets, { messageId: eventId, timestamp, body }),
  }
  const names = new Set(Object.keys(custom).map((name) => name.toLowerCase()))
  const agent: Record<string, string> = names.has('user-agent') ? {} : { 'user-agent': 'Opsplane-Webhooks/1' }
  const { traceparent } = content
  if (traceparent !== undefined && !names.has('traceparent')) agent.traceparent = traceparent
  return {
    sent: { ...agent, ...custom, ...own },
    kept: { ...agent, ...redacted, ...own },
    secrets: [...used, ...secrets],
  }
}
