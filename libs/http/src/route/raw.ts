import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { readBody } from '../server/body.js'
import { type Exchange, logRequest } from '../server/exchange.js'
import { checkKey, computeFingerprint, scopedKey } from '../server/idempotency.js'
import { securityHeaders } from '../server/security-headers.js'
import { parseQuery } from './query.js'
import { type Contract, commonFields, type PathSchema, type RequestMeta, type Route } from './route.js'

/** A request whose query, headers and body the route's handler validates itself. */
export interface RawRequest {
  /** As sent, such as `GET` or `HEAD`. */
  method: string
  /** Below the service's root, as sent: percent-encoded, without the query. */
  path: string
  query: Record<string, string | string[]>
  headers: IncomingMessage['headers']
  /** Empty for GET and HEAD. */
  body: Buffer
  /**
   * Set for a request that changes something and has an Idempotency-Key. Equal only
   * for repetitions of the same request.
   */
  repetition: { key: string; fingerprint: string } | undefined
}

/** A response with untrusted content: it gets the headers of every response, and no page in it can run scripts. */
export interface RawAnswer {
  status: number
  /** Added to those of every response, which they cannot replace. */
  headers: Readonly<Record<string, string>>
  body: string | null
}

interface RawContract<Path extends string> extends Contract<Path> {
  /** Possible media types of the response. */
  mediaTypes: readonly string[]
  handler(input: {
    params: z.output<PathSchema<Path>>
    request: RawRequest
    meta: RequestMeta
  }): Promise<RawAnswer>
}

/** A route that passes requests and responses through unchanged. Errors are answered as usual. */
export function defineRaw<const Path extends string>(contract: RawContract<Path>): Route {
  const handler: ErasedRawHandler = contract
  return {
    ...commonFields({ ...contract, waits: true }),
    kind: 'raw',
    params: undefined,
    query: z.looseObject({}),
    body: undefined,
    ...(contract.method !== 'get' && { upload: ['application/json', 'text/plain; charset=utf-8'] }),
    answers: contract.mediaTypes,
    response: z.unknown(),
    status: 200,
    bare: true,
    changesUnversioned: false,
    idempotency: 'none',
    ifMatch: false,
    handler: ({ params, body, meta }) => handler.handler({ params, request: body, meta }),
  }
}

interface ErasedRawHandler {
  handler(input: { params: unknown; request: unknown; meta: RequestMeta }): Promise<unknown>
}

/** Reads a whole request. Throws `payload_too_large`, `malformed_url`, and `idempotency_key_invalid`. */
export async function readRawRequest(
  req: IncomingMessage,
  route: Pick<Route, 'bodyLimitBytes'>,
  { tenant, actor }: Pick<RequestMeta, 'tenant' | 'actor'>,
): Promise<RawRequest> {
  const { method = 'GET', url = '/', headers } = req
  const reads = method === 'GET' || method === 'HEAD'
  const [path = '/'] = url.split('?', 1)
  const query = parseQuery(url, new Set())
  const body = reads ? Buffer.alloc(0) : await readBody(req, route.bodyLimitBytes)
  const request = { method, path, query, headers, body }
  const key = headers['idempotency-key']
  if (key === undefined || reads) return { ...request, repetition: undefined }
  const text = String(key)
  checkKey(text)
  return {
    ...request,
    repetition: {
      key: scopedKey({ tenant, actorId: actor.id, method, path, key: text }),
      fingerprint: computeFingerprint(text, body.toString('base64'), query),
    },
  }
}

/** Whether shown alone or in a frame, the content runs no scripts, loads nothing, and has an opaque origin. */
const contentPolicy = "default-src 'none'; frame-ancestors 'none'; sandbox"

/** Sends the return value of a raw route's handler. */
export function sendRaw(exchange: Exchange, data: unknown): void {
  const { status, headers, body } = data as RawAnswer
  const { res, requestId } = exchange
  res.writeHead(status, {
    ...headers,
    ...exchange.headers,
    ...securityHeaders,
    'Content-Security-Policy': contentPolicy,
    'X-Request-ID': requestId,
    ...(body !== null && { 'Content-Length': String(Buffer.byteLength(body)) }),
  })
  res.end(body ?? undefined)
  logRequest(exchange, status)
}
