import { randomUUID } from 'node:crypto'
import {
  type Environment,
  ErrorEnvelope,
  newId,
  Pagination,
  parseExact,
  readLines,
  Slug,
  stringifyExact,
} from '@opsplane/contracts'
import { delay, retryDelayMs } from '@opsplane/runtime'
import { z } from 'zod'
import { abortable, Deadline } from './deadline.js'
import { ApiFailure, CliError, isRetryable, UnreachableError, usageError } from './failure.js'

/** Target of the API calls, with the credentials to use. */
export interface ApiTarget {
  /** Includes the version, such as `https://ops.example.com/api/v1`. */
  baseUrl: string
  token?: string | undefined
  workspace?: string | undefined
  environment?: Environment | undefined
}

type QueryValue = string | number | readonly string[] | undefined

export interface Call {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  /** `path` is relative to the origin, without `/api/v1`. */
  ofOrigin?: boolean
  query?: Record<string, QueryValue>
  body?: unknown
  /** Maximum number of attempts if a call fails with a retryable error; 3 by default. */
  attempts?: number
  /** Added to the timeout of every call, in milliseconds. */
  extraTimeMs?: number
  signal?: AbortSignal | undefined
}

export interface ApiPage<Item> {
  data: Item[]
  pagination: Pagination
}

export interface Api {
  /** Throws ApiFailure, UnreachableError, or CliError if the response does not match the schema. */
  one<Schema extends z.ZodType>(schema: Schema, call: Call): Promise<z.output<Schema>>
  page<Schema extends z.ZodType>(schema: Schema, call: Call): Promise<ApiPage<z.output<Schema>>>
  /** Reads a list page by page, `max` items in total. */
  pages<Schema extends z.ZodType>(
    schema: Schema,
    call: Call,
    max?: number,
  ): AsyncGenerator<z.output<Schema>[]>
  /** For a response without content. */
  none(call: Call): Promise<void>
  /**
   * For a response of any length: yields its lines as they arrive. Opening the response is retried like any call. Throws
   * UnreachableError if the response is cut off, or if nothing arrives within the timeout of a call.
   */
  lines(call: Call): Promise<AsyncGenerator<string[]>>
}

const retryTiming = { strategy: 'exponential', baseMs: 300, maxMs: 3_000 } as const
const longestWaitMs = 10_000
const pageSize = 200

const Answer = z.object({ data: z.unknown() })
const ListAnswer = z.object({ data: z.array(z.unknown()), pagination: Pagination })

/** Throws CliError if the token or the workspace is not valid in a request header. */
export function createApi(target: ApiTarget, timeoutMs: number): Api {
  checkHeaders(target)
  const repeated = async <Result>(call: Call, once: (request: OneRequest) => Promise<Result>) => {
    const headers = headersOf(target, call)
    for (let attempt = 1; ; attempt++) {
      try {
        return await once({ target, call, headers, timeoutMs: timeoutMs + (call.extraTimeMs ?? 0) })
      } catch (error) {
        const waitMs = (error instanceof ApiFailure && error.retryAfterMs) || 0
        const last = attempt >= (call.attempts ?? 3) || waitMs > longestWaitMs
        if (last || !isRetryable(error) || call.signal?.aborted) throw error
        await delay(Math.max(waitMs, retryDelayMs({ attempt, ...retryTiming })), call.signal)
      }
    }
  }
  const send = (call: Call) => repeated(call, sendOnce)
  const understood = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    const [issue] = parsed.error.issues
    const detail = issue ? `${issue.path.join('.')}: ${issue.message}` : 'it is empty'
    throw new CliError(
      `The answer of ${target.baseUrl} is not understood (${detail}). Is that an Opsplane API of this version?`,
      1,
    )
  }
  const page: Api['page'] = async (schema, call) => {
    const { data, pagination } = understood(ListAnswer, await send(call))
    return { data: data.map((item) => understood(schema, item)), pagination }
  }
  return {
    page,
    one: async (schema, call) => understood(schema, understood(Answer, await send(call)).data),
    async *pages(schema, call, max = Number.POSITIVE_INFINITY) {
      let after: string | null = null
      let left = max
      do {
        const query: Call['query'] = { ...call.query, limit: Math.min(left, pageSize) }
        if (after !== null) query.after = after
        const { data, pagination }: ApiPage<z.output<typeof schema>> = await page(schema, { ...call, query })
        yield data
        left -= data.length
        after = pagination.hasMore ? pagination.nextCursor : null
      } while (after !== null && left > 0)
    },
    none: async (call) => void (await send(call)),
    lines: (call) => repeated(call, beginLines),
  }
}

/** Checked here first, because the error message of the HTTP client would reveal the token. */
function checkHeaders({ token, workspace }: ApiTarget): void {
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw usageError(
      'The API key or token contains characters that are not allowed, such as a space or a line break.',
    )
  if (workspace !== undefined && !Slug.safeParse(workspace).success)
    throw usageError(
      `${workspace} is not a workspace: names have lower-case letters, digits and inner hyphens.`,
    )
}

/** All attempts share one request id and one idempotency key, because together they are one call. */
function headersOf(target: ApiTarget, { method = 'GET', body }: Call): Record<string, string> {
  return {
    accept: 'application/json, application/x-ndjson',
    'x-request-id': newId('request'),
    ...(target.token !== undefined && { authorization: `Bearer ${target.token}` }),
    ...(target.workspace !== undefined && { 'x-workspace': target.workspace }),
    ...(target.environment !== undefined && { 'x-environment': target.environment }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(method !== 'GET' && { 'idempotency-key': `opsplane-cli-${randomUUID()}` }),
  }
}

interface OneRequest {
  target: ApiTarget
  call: Call
  headers: Record<string, string>
  timeoutMs: number
}

async function sendOnce(request: OneRequest): Promise<unknown> {
  const deadline = new Deadline(request.timeoutMs)
  deadline.begin()
  return withUnreachableErrors(request, deadline, async () => {
    const response = await fetchOnce(request, deadline)
    return readAnswer(request.target, response, await response.text())
  }).finally(() => deadline.rest())
}

async function beginLines(request: OneRequest): Promise<AsyncGenerator<string[]>> {
  const { call } = request
  const deadline = new Deadline(request.timeoutMs)
  const within = <Result>(work: () => Promise<Result>): Promise<Result> => {
    deadline.begin()
    return withUnreachableErrors(request, deadline, () =>
      abortable(work(), deadline.signal, call.signal),
    ).finally(() => deadline.rest())
  }
  const response = await within(() => fetchOnce(request, deadline))
  if (!response.ok) readAnswer(request.target, response, await within(() => response.text()))
  return readLines(response.body ?? new ReadableStream(), within)
}

function fetchOnce({ target, call, headers }: OneRequest, deadline: Deadline): Promise<Response> {
  const { method = 'GET', path, query, body, signal, ofOrigin } = call
  const base = ofOrigin ? new URL(target.baseUrl).origin : target.baseUrl
  return fetch(`${base}${path}${queryText(query)}`, {
    method,
    headers,
    body: body === undefined ? null : stringifyExact(body),
    // Following a redirect would send the token to another host.
    redirect: 'error',
    signal: signal ? AbortSignal.any([deadline.signal, signal]) : deadline.signal,
  })
}

async function withUnreachableErrors<Result>(
  { target: { baseUrl }, headers, timeoutMs }: OneRequest,
  deadline: Deadline,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CliError) throw error
    const request = `[request ${headers['x-request-id']}]`
    if (deadline.signal.aborted)
      throw new UnreachableError(`${baseUrl} did not answer within ${timeoutMs / 1000} s ${request}`, error)
    throw new UnreachableError(
      `${baseUrl} cannot be reached (${causeOf(error)}). Check that it runs and that the URL is right ${request}`,
      error,
    )
  }
}

function readAnswer(target: ApiTarget, { ok, status, headers }: Response, text: string): unknown {
  const json = parseJson(text)
  if (ok) return json
  const envelope = ErrorEnvelope.safeParse(json)
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  if (envelope.success)
    throw new ApiFailure(envelope.data, Number.isFinite(seconds) ? seconds * 1_000 : undefined)
  const message = `${target.baseUrl} answered ${status}, and not as an Opsplane API does`
  // The response came from an intermediary, such as a proxy without a running backend.
  throw status >= 500 ? new UnreachableError(message) : new CliError(`${message}. Check the URL.`, 1)
}

function parseJson(text: string): unknown {
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

function queryText(query: Record<string, QueryValue> = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one): [string, string] => [name, String(one)]),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

/** `fetch failed` says nothing; the actual reason is in `cause`. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return cause instanceof Error ? cause.message : String(cause)
}
