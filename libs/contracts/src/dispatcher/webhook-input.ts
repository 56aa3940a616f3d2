import { z } from 'zod'
import { referencedSecrets, secretReference } from '../core/secret-reference.js'
import { maxSecretsAtOnce } from '../settings/settings-internal.js'

const maxHeaders = 50

/** Headers set by the sender, by HTTP itself, or when the delivery is signed. */
const reservedHeaders = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const reservedPrefixes = ['x-service-', 'webhook-']

const segment = '[a-z][a-z0-9_]*'

/** Checks the form of a subscription entry; the routes check whether it matches any event of the catalogue. */
export const EventPattern = z
  .string()
  .max(200)
  .regex(
    new RegExp(`^(\\*|${segment}(\\.${segment})*\\.\\*|${segment}(\\.${segment})+)$`),
    'must be an event type such as incident.created, a pattern such as incident.*, or *',
  )

export const HeaderName = z
  .string()
  .max(128)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be a header name')
  .refine((name) => {
    const lower = name.toLowerCase()
    return !reservedHeaders.has(lower) && !reservedPrefixes.some((prefix) => lower.startsWith(prefix))
  }, 'is set by the platform and cannot be overridden')

const HeaderValue = z
  .string()
  .max(4096)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be a single line of Latin-1 text')
  .refine(
    (value) => !/\{\{|\}\}/.test(value.replaceAll(secretReference, '')),
    'may use {{ }} for references of the form {{secrets.name}} only',
  )

/** Maximum characters of one header value, and of all names and values together, after references are replaced. */
export const maxHeaderValueLength = 16 * 1024
export const maxHeadersLength = 64 * 1024

/** Length of a value without its secret references. */
export const literalLength = (value: string) => value.replaceAll(secretReference, '').length

/** Extra headers of each delivery; values may contain `{{secrets.name}}`. */
export const WebhookHeaders = z
  .record(HeaderName, HeaderValue)
  .refine((headers) => Object.keys(headers).length <= maxHeaders, `must have at most ${maxHeaders} headers`)
  .refine(
    (headers) => new Set(Object.values(headers).flatMap(referencedSecrets)).size <= maxSecretsAtOnce,
    `must refer to at most ${maxSecretsAtOnce} secrets`,
  )
  .refine((headers) => {
    const names = Object.keys(headers).map((name) => name.toLowerCase())
    return new Set(names).size === names.length
  }, 'must not name a header twice')
  .refine(
    (headers) =>
      Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + literalLength(value), 0) <=
      maxHeadersLength,
    `must have at most ${maxHeadersLength} characters in all names and values`,
  )
  .meta({ description: 'Additional headers of each delivery. Values may contain {{secrets.name}}.' })
