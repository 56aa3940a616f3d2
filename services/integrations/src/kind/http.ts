import { hostOfUrl, invalidField, stringifyExact } from '@opsplane/contracts'
import { z } from 'zod'
import { defineAction } from './action.js'
import { Auth, authSendsTo, type SendAuthorized } from './auth.js'
import { ConfiguredHeaders, ConfiguredQuery, InvocationHeaders } from './credential.js'
import { HttpOutput, toOutput } from './http-answer.js'
import { answeredFailure } from './http-calls.js'
import { type Call, defineKind, type Kind, type SecretPart } from './kind.js'
import { addQuery, InvocationQuery, urlBelow } from './paths.js'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type Method = (typeof methods)[number]
/** Methods with the same effect when they are repeated. */
export const idempotentMethods: ReadonlySet<string> = new Set<string>([
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
  'OPTIONS',
])
const reading = new Set<string>(['GET', 'HEAD', 'OPTIONS'])

const Path = z.string().max(4_096).default('').meta({ description: 'Path below the base URL.' })

/** Configuration of every kind that uses HTTP, in addition to its address. */
export const httpFields = {
  headers: ConfiguredHeaders,
  query: ConfiguredQuery,
  followRedirects: z
    .int()
    .min(0)
    .max(5)
    .default(0)
    .meta({ description: 'Maximum number of redirects to follow, within the origin of the base URL only.' }),
  maxResponseBytes: z.int().min(1_024).max(4_194_304).default(1_048_576),
  idempotencyHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,100}$/)
    .nullable()
    .default('Idempotency-Key')
    .meta({
      description: 'Header with a key that stays the same when a change is sent again; `null` for none.',
    }),
  test: z
    .strictObject({ method: z.enum(['GET', 'HEAD']).default('GET'), path: Path })
    .prefault({})
    .meta({
      description: 'Request that tests whether the API is available: 401, 403 and 5xx count as unavailable.',
    }),
}

const HttpConfig = z.strictObject({
  baseUrl: z.string().min(1).max(2_048).meta({ description: 'Base URL of the API. Must use https.' }),
  auth: Auth,
  ...httpFields,
})
type HttpConfig = z.output<typeof HttpConfig>

const Accept = z.array(z.int().min(400).max(599)).max(50).optional().meta({
  description: 'Statuses of 400 and above that are not treated as errors.',
})
const reads = { path: Path, query: InvocationQuery, headers: InvocationHeaders, accept: Accept }
const writes = {
  ...reads,
  body: z.unknown().optional(),
  contentType: z.string().max(200).optional().meta({
    description: 'Media type of the body if it is a text or a form. Default: JSON.',
  }),
}
const Reading = z.strictObject(reads)
const Writing = z.strictObject(writes)
const Any = Writing.extend({ method: z.enum(methods) })
export type HttpInput = z.output<typeof Writing>

/** Hosts that the secrets of the common HTTP configuration are sent to. */
export const httpSendsTo = (
  { auth, headers, query }: Pick<HttpConfig, 'auth' | 'headers' | 'query'>,
  host: string,
): SecretPart[] => [
  authSendsTo(auth, host),
  { path: ['headers'], value: headers, host },
  { path: ['query'], value: query, host },
]

export interface HttpKindOptions {
  send: SendAuthorized
  checkUrl(url: string, path: string): void
}

/** The kind for any HTTP API. */
export function httpKind({ send, checkUrl }: HttpKindOptions): Kind {
  const perform = async (call: Call<HttpConfig>, method: Method, input: HttpInput): Promise<HttpOutput> => {
    const answer = await send(call, call.config.auth, await buildRequest(call, method, input))
    if (answer.status >= 400 && !input.accept?.includes(answer.status)) throw answeredFailure(answer)
    return toOutput(answer)
  }
  const reader = (method: Method, title: string) =>
    defineAction<HttpConfig, typeof Reading, typeof HttpOutput>({
      ...{
        title,
        description: `Sends a ${method} request.`,
        input: Reading,
        output: HttpOutput,
        repeatable: true,
      },
      run: (call, input) => perform(call, method, input),
    })
  const writer = (method: Method, title: string) =>
    defineAction<HttpConfig, typeof Writing, typeof HttpOutput>({
      ...{ title, description: `Sends a ${method} request.`, input: Writing, output: HttpOutput },
      repeatable: idempotentMethods.has(method),
      run: (call, input) => perform(call, method, input),
    })

  return defineKind<HttpConfig>({
    name: 'http',
    title: 'HTTP API',
    description: 'Requests to any API below a base URL.',
    config: HttpConfig,
    check({ baseUrl, auth }) {
      checkUrl(baseUrl, '/config/baseUrl')
      const { search, hash } = new URL(baseUrl)
      if (search !== '' || hash !== '')
        throw invalidField(
          '/config/baseUrl',
          'invalid_url',
          'Must have no ? or #; parameters go into `query`.',
        )
      if (auth.type === 'oauth2') checkUrl(auth.tokenUrl, '/config/auth/tokenUrl')
    },
    sendsTo: (config) => httpSendsTo(config, hostOfUrl(config.baseUrl)),
    actions: {
      request: defineAction<HttpConfig, typeof Any, typeof HttpOutput>({
        title: 'Request',
        description: 'Sends a request with any method.',
        input: Any,
        output: HttpOutput,
        repeatable: ({ method }) => idempotentMethods.has(method),
        run: (call, { method, ...input }) => perform(call, method, input),
      }),
      get: reader('GET', 'Get'),
      head: reader('HEAD', 'Head'),
      post: writer('POST', 'Post'),
      put: writer('PUT', 'Put'),
      patch: writer('PATCH', 'Patch'),
      delete: writer('DELETE', 'Delete'),
    },
    async test(call) {
      const { method, path } = call.config.test
      const answer = await send(call, call.config.auth, await buildRequest(call, method, { path }))
      const { status } = answer
      if (status === 401 || status === 403 || status >= 500) throw answeredFailure(answer)
      return `${method} was answered with ${status}.`
    },
  })
}

/** Throws `validation_failed` below `/input`, and `CallFailure` for secrets. */
export async function buildRequest(
  { config, secrets, idempotencyKey }: Call<Omit<HttpConfig, 'auth'>>,
  method: Method,
  input: HttpInput,
) {
  const { headers, idempotencyHeader, followRedirects: redirects, maxResponseBytes } = config
  const url = urlBelow(config.baseUrl, input.path)
  const host = hostOfUrl(config.baseUrl)
  addQuery(url, await secrets.fillAll(config.query, host))
  addQuery(url, input.query)
  const { type, body } = encoded(input)
  return {
    ...{ method, url, redirects, maxResponseBytes, repeatable: idempotentMethods.has(method) },
    headers: {
      ...lowerCased(input.headers ?? {}),
      ...(type !== undefined && { 'content-type': type }),
      ...(idempotencyHeader !== null &&
        !reading.has(method) && { [idempotencyHeader.toLowerCase()]: idempotencyKey }),
      ...lowerCased(await secrets.fillAll(headers, host)),
    },
    ...(body !== undefined && { body }),
  }
}

function encoded({ body, contentType }: HttpInput): { type?: string; body?: string } {
  if (body === undefined) return {}
  if (contentType === undefined) return { type: 'application/json', body: stringifyExact(body) }
  if (typeof body === 'string') return { type: contentType, body }
  if (!/^application\/x-www-form-urlencoded\b/i.test(contentType))
    return { type: contentType, body: stringifyExact(body) }
  const form = Form.safeParse(body)
  if (!form.success) throw invalidField('/input/body', 'invalid_form', 'A form is an object of plain values.')
  return { type: contentType, body: new URLSearchParams(form.data).toString() }
}

const Form = z.record(z.string(), z.coerce.string())

const lowerCased = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
