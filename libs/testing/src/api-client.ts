import { ErrorEnvelope, Meta, Pagination } from '@opsplane/contracts'
import { request as httpRequest } from 'undici'
import { z } from 'zod'
import { isRepeatable, type RepeatedAnswer, repeatedAnswer, repetitionProblems } from './repetition.js'

/** One response of the API. */
export interface ApiReply {
  status: number
  headers: Headers
  /** The body as sent. */
  text: string
  /** Parsed `data` of a successful response. Throws with the whole response if it is not successful. */
  data<Schema extends z.ZodType>(schema: Schema): z.output<Schema>
  /** The parsed items and the pagination of a list. */
  page<Schema extends z.ZodType>(item: Schema): { items: z.output<Schema>[]; pagination: Pagination }
  /** The error of an unsuccessful response. Throws with the whole response if it is successful. */
  error(): ErrorEnvelope['error']
}

export interface ApiRequest {
  body?: unknown
  headers?: Record<string, string>
}

export interface ApiClient {
  get(path: string, request?: ApiRequest): Promise<ApiReply>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiReply>
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<ApiReply>
  send(method: string, path: string, request?: ApiRequest): Promise<ApiReply>
}

/**
 * A client of a JSON API below `baseUrl`. `headers` is called for each request with its path below `baseUrl`. A
 * successful request with an Idempotency-Key is repeated, and throws unless both responses are equal.
 */
export function createApiClient(
  baseUrl: string,
  headers: (call: {
    method: string
    path: string
  }) => Promise<Record<string, string>> | Record<string, string>,
): ApiClient {
  const sendRequest = async (method: string, path: string, request: ApiRequest): Promise<ApiReply> => {
    const hasBody = request.body !== undefined
    // Takes a sixth of the CPU of `fetch`, which would dominate the cost of a test's request.
    const response = await httpRequest(`${baseUrl}${path}`, {
      method: method as 'GET',
      headers: {
        ...(await headers({ method, path })),
        ...(hasBody ? { 'content-type': 'application/json' } : {}),
        ...request.headers,
      },
      ...(hasBody ? { body: JSON.stringify(request.body) } : {}),
    })
    const text = await response.body.text()
    return reply(`${method} ${path}`, response.statusCode, toHeaders(response.headers), text)
  }
  const send = async (method: string, path: string, request: ApiRequest = {}): Promise<ApiReply> => {
    const answer = await sendRequest(method, path, request)
    if (isRepeatable({ method, headers: request.headers ?? {} }, answer.status)) {
      const again = await repeatedAnswer(async () => repeated(await sendRequest(method, path, request)))
      const problems = repetitionProblems(repeated(answer), again)
      if (problems.length > 0) throw new Error(`${method} ${path}: ${problems.join('; ')}`)
    }
    return answer
  }
  const withBody = (method: string) => (path: string, body?: unknown, extra?: Record<string, string>) =>
    send(method, path, { body, ...(extra ? { headers: extra } : {}) })
  return {
    send,
    get: (path, request) => send('GET', path, request),
    post: withBody('POST'),
    patch: withBody('PATCH'),
  }
}

function toHeaders(received: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(received))
    for (const value of [values ?? []].flat()) headers.append(name, value)
  return headers
}

const repeated = ({ status, headers, text }: ApiReply): RepeatedAnswer => ({
  status,
  body: text === '' ? null : JSON.parse(text),
  header: (name) => headers.get(name),
})

const DataEnvelope = z.strictObject({ data: z.unknown(), meta: Meta })
const PageEnvelope = z.strictObject({ data: z.array(z.unknown()), pagination: Pagination, meta: Meta })

function reply(request: string, status: number, headers: Headers, text: string): ApiReply {
  const wrong = (cause?: unknown) => new Error(`${request} answered ${status}: ${text}`, { cause })
  const check = <Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> => {
    const result = schema.safeParse(value)
    if (!result.success) throw wrong(result.error)
    return result.data
  }
  const envelope = <Schema extends z.ZodType>(schema: Schema, successful: boolean): z.output<Schema> => {
    if (status < 400 !== successful) throw wrong()
    return check(schema, JSON.parse(text))
  }
  return {
    status,
    headers,
    text,
    data: (schema) => check(schema, envelope(DataEnvelope, true).data),
    page: (item) => {
      const { data, pagination } = envelope(PageEnvelope, true)
      return { items: data.map((value) => check(item, value)), pagination }
    },
    error: () => envelope(ErrorEnvelope, false).error,
  }
}
