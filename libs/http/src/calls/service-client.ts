import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { ApiError, ErrorEnvelope, parseExact, stringifyExact } from '@opsplane/contracts'
import { type Deadline, startDeadline } from '@opsplane/runtime'
import { inSpan } from '@opsplane/telemetry'
import type { Dispatcher, Pool } from 'undici'
import { z } from 'zod'
import { causationHeader } from './authenticate.js'
import { toRefusalError } from './inner-refusal.js'
import { clientTls, type InternalTls } from './internal-tls.js'
import type { InternalIssuer } from './internal-token.js'
import { undici } from './undici.js'

export interface CallOptions {
  /** Forwarded, so that one id finds the log lines of every service. */
  requestId?: string
  /** Traceparent of the span the call is made in: the call becomes its child span, if that span is open in this process. */
  traceparent?: string | undefined
  signal?: AbortSignal
  /** Identity of the call, if it is not the client's: see `Delegations`. */
  issuer?: Pick<InternalIssuer, 'serviceToken'>
  /** For calls by a grant: the run that makes the call, recorded as the cause of its changes. */
  causationId?: string
  /** Number of runs and executions that caused that run. */
  causationDepth?: number
}

/** Calls one service: its `/internal/*` routes as this service itself, its others in the name of a person. */
export interface ServiceClient {
  get<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    options?: CallOptions,
  ): Promise<z.output<Schema>>
  post<Schema extends z.ZodType>(
    path: string,
    body: unknown,
    schema: Schema,
    options?: CallOptions,
  ): Promise<z.output<Schema>>
  /** The lines of a text response, such as JSON lines, as they arrive; at most 16 MiB. */
  lines(path: string, options?: CallOptions): AsyncIterable<string>
  /**
   * A response of any length, read with backpressure. Throws the errors of `get`,
   * also if the response ends prematurely.
   */
  stream(path: string, options?: CallOptions): AsyncIterable<Buffer>
  /** Sends any request and returns any response. Throws only if there is no response. */
  request(request: ServiceRequest): Promise<ServiceAnswer>
  close(): Promise<void>
}

export interface ServiceRequest extends CallOptions {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  /** JSON. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** Default: the client's timeout. */
  timeoutMs?: number
}

export interface ServiceAnswer {
  status: number
  /** Parsed JSON; `undefined` for any other content type. */
  body: unknown
}

export interface ServiceClientOptions {
  baseUrl: string
  audience: string
  /** Issuer of this service, or of a grant (`Delegations`): only calls by a grant are in a person's name. */
  issuer: Pick<InternalIssuer, 'serviceToken'>
  /** From the first byte sent to the last byte received. */
  timeoutMs: number
  /** Set if services are called over https. */
  tls?: InternalTls | undefined
}

const maxResponseBytes = 16 * 1024 * 1024
const unusedConnectionMs = 4_000

/**
 * Throws `InnerRefusal` if the service rejects the call, or an ApiError if the status means the same to a client
 * (`toRefusalError`); `service_unavailable` if it cannot be reached, `upstream_timeout` after `timeoutMs`,
 * `upstream_error` if the response violates the schema. Never retries.
 */
export function serviceClient(options: ServiceClientOptions): ServiceClient {
  const { audience, issuer, timeoutMs } = options
  let pool: Pool | undefined
  let streaming: Pool | undefined
  let closed = false
  const openPool = (): Pool => {
    if (closed) throw new Error('The client is closed.')
    const { Pool } = undici()
    pool ??= new Pool(options.baseUrl, {
      connections: 64,
      // The client closes idle connections before a stopping replica would close them.
      keepAliveMaxTimeout: unusedConnectionMs,
      maxResponseSize: maxResponseBytes,
      connect: clientTls(options.tls),
    })
    return pool
  }

  /** Long-lived responses use separate connections. */
  const streams = (): Pool => {
    if (closed) throw new Error('The client is closed.')
    const { Pool } = undici()
    streaming ??= new Pool(options.baseUrl, { connections: 16, connect: clientTls(options.tls) })
    return streaming
  }
  const headersOf = (
    { requestId, traceparent, causationId, causationDepth = 0 }: CallOptions,
    token: string,
  ) => ({
    authorization: `Bearer ${token}`,
    ...(traceparent !== undefined && { traceparent }),
    ...(requestId !== undefined && { 'x-request-id': requestId }),
    ...(causationId !== undefined && { [causationHeader]: `${causationId};${causationDepth}` }),
  })

  const open = async <Read>(
    { method, path, ...request }: Omit<ServiceRequest, 'body'> & { body: string | null },
    { signal: deadline }: Deadline,
    read: (response: Dispatcher.ResponseData) => Promise<Read>,
  ): Promise<Read> => {
    const { body, headers, issuer: by = issuer } = request
    const token = await by.serviceToken(audience, method === 'GET' ? undefined : { method, path })
    const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline
    try {
      const response = await openPool().request({
        method,
        path,
        body,
        signal,
        headers: {
          ...headers,
          ...headersOf(request, token),
          ...(body !== null && { 'content-type': 'application/json' }),
        },
      })
      return await read(response)
    } catch (cause) {
      throw deadline.aborted ? timedOut(audience, cause) : unreachable(audience, cause)
    }
  }
  const send = (request: Parameters<typeof open>[0]) =>
    inSpan(
      `call ${audience}`,
      request.traceparent,
      (traceparent) => {
        const deadline = startDeadline(request.timeoutMs ?? timeoutMs)
        return open({ ...request, traceparent }, deadline, read).finally(deadline.clear)
      },
      { kind: 'client' },
    )
  const call = (method: 'GET' | 'POST', path: string, body: string | null, options: CallOptions) =>
    send({ ...options, method, path, body })

  async function* stream(path: string, callOptions: CallOptions = {}): AsyncIterable<Buffer> {
    const token = await (callOptions.issuer ?? issuer).serviceToken(audience)
    const begin = new AbortController()
    const signal = callOptions.signal ? AbortSignal.any([begin.signal, callOptions.signal]) : begin.signal
    // Applies until the response begins; its total duration is up to the reader.
    const timer = setTimeout(() => begin.abort(), timeoutMs)
    const failed = (cause: unknown) =>
      begin.signal.aborted ? timedOut(audience, cause) : unreachable(audience, cause)
    const response = await streams()
      .request({ method: 'GET', path, signal, headers: headersOf(callOptions, token) })
      .catch((cause: unknown) => {
        throw failed(cause)
      })
      .finally(() => clearTimeout(timer))
    if (response.statusCode >= 300) {
      readAnswer(audience, 'GET', path, await read(response), z.never())
    }
    try {
      for await (const chunk of response.body) yield chunk as Buffer
    } catch (cause) {
      throw failed(cause)
    }
  }

  async function* lines(path: string, callOptions: CallOptions = {}): AsyncIterable<string> {
    const deadline = startDeadline(timeoutMs)
    try {
      const response = await open(
        { ...callOptions, method: 'GET', path, body: null },
        deadline,
        async (all) => all,
      )
      if (response.statusCode >= 300) readAnswer(audience, 'GET', path, await read(response), z.never())
      yield* linesOf(response.body, (cause) => unreachable(audience, cause))
    } finally {
      deadline.clear()
    }
  }

  return {
    stream,
    get: async (path, schema, callOptions = {}) =>
      readAnswer(audience, 'GET', path, await call('GET', path, null, callOptions), schema),
    post: async (path, body, schema, callOptions = {}) =>
      readAnswer(audience, 'POST', path, await call('POST', path, stringifyExact(body), callOptions), schema),
    lines,
    async request({ body, ...request }) {
      const answer = await send({ ...request, body: body === undefined ? null : stringifyExact(body) })
      return { status: answer.status, body: parseJson(answer.text) }
    },
    async close() {
      closed = true
      await Promise.all([pool?.close(), streaming?.close()])
    },
  }
}

async function* linesOf(body: Readable, failed: (cause: unknown) => Error): AsyncIterable<string> {
  // Errors of the body are ignored once the reader has stopped: an error event without a listener would end the process.
  body.on('error', () => {})
  const reader = createInterface({ input: body, crlfDelay: Number.POSITIVE_INFINITY })
  try {
    yield* reader
  } catch (cause) {
    throw failed(cause)
  } finally {
    reader.close()
    body.destroy()
  }
}

const DataEnvelope = z.object({ data: z.unknown() })

interface Answered {
  status: number
  text: string
  retryAfter: string | undefined
}

async function read({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Answered> {
  const retryAfter = headers['retry-after']
  return {
    status: statusCode,
    text: await body.text(),
    retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
  }
}

function readAnswer<Schema extends z.ZodType>(
  service: string,
  method: ServiceRequest['method'],
  path: string,
  { status, text, retryAfter }: Answered,
  schema: Schema,
): z.output<Schema> {
  const json = parseJson(text)
  if (status < 300) {
    const data = DataEnvelope.safeParse(json).data?.data
    const result = schema.safeParse(data)
    if (result.success) return result.data
    throw notUnderstood(service, status, result.error)
  }
  const failure = ErrorEnvelope.safeParse(json)
  if (!failure.success) throw notUnderstood(service, status, failure.error)
  const { code, message, details } = failure.data.error
  throw toRefusalError({
    service,
    operation: `${method} ${path.replace(/\?.*$/, '')}`,
    ...{ code, message, retryAfter },
    details: details.map(({ params, ...detail }) => ({ ...detail, ...(params && { params }) })),
  })
}

function parseJson(text: string): unknown {
  if (text === '') return undefined
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

function timedOut(service: string, cause: unknown): ApiError {
  return new ApiError('upstream_timeout', `${service} did not answer in time.`, { cause })
}

function unreachable(service: string, cause: unknown): ApiError {
  return new ApiError('service_unavailable', `${service} cannot be reached.`, { cause })
}

function notUnderstood(service: string, status: number, cause: unknown): ApiError {
  return new ApiError('upstream_error', `${service} gave an answer (${status}) that is not understood.`, {
    cause,
  })
}
