import { type ClientRequestArgs, Agent as HttpAgent, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import { startDeadline } from '@opsplane/runtime'
import type { Request as GotStream, Method } from 'got'
import { flatten, type Outbound, type OutboundRequest, type OutboundResponse } from './outbound.js'
import { OutboundError, outboundError, toOutboundError } from './outbound-error.js'
import { readBody } from './response-body.js'

/** HTTP through got, for callers that need more features than webhooks do; the guard opens every connection. */
export interface OutboundHttp {
  /**
   * Sends one request; no redirects, no retries. A request that is not `repeatable` gets a new connection, because the
   * server may close a kept one at the moment it is used. Throws OutboundError.
   */
  request(request: OutboundRequest): Promise<OutboundResponse>
  close(): void
}

const connectTimeoutMs = 10_000
/** Shorter than the idle timeout of most servers. */
const idleMs = 4_000
const idlePerOrigin = 16

export function createOutboundHttp(outbound: Pick<Outbound, 'checkUrl' | 'connect'>): OutboundHttp {
  const kept = agents(outbound, true)
  const fresh = agents(outbound, false)
  return {
    request: (request) => send(outbound, request, request.repeatable ? kept : fresh),
    close() {
      for (const agent of [kept.http, kept.https, fresh.http, fresh.https]) agent.destroy()
    },
  }
}

type Agents = ReturnType<typeof agents>

/** Node's own agents with another way to connect. */
function agents({ connect }: Pick<Outbound, 'connect'>, keepAlive: boolean) {
  const options = { keepAlive, maxFreeSockets: idlePerOrigin, ...(keepAlive && { timeout: idleMs }) }
  const connectBy =
    (secure: boolean) =>
    ({ host, port }: ClientRequestArgs, done?: (error: Error | null, socket: Duplex) => void): undefined => {
      const target = { host: host ?? '', port: Number(port ?? (secure ? 443 : 80)), http: true }
      connect({ ...target, ...(secure && { tls: {} }), timeoutMs: connectTimeoutMs }).then(
        (socket) => done?.(null, socket),
        // Without an error there is a socket; with one the socket is not used.
        (error: Error) => (done as (error: Error) => void)?.(error),
      )
    }
  return {
    http: Object.assign(new HttpAgent(options), { createConnection: connectBy(false) }),
    https: Object.assign(new HttpsAgent(options), { createConnection: connectBy(true) }),
  }
}

async function send(
  { checkUrl }: Pick<Outbound, 'checkUrl'>,
  request: OutboundRequest,
  agent: Agents,
): Promise<OutboundResponse> {
  const startedAt = performance.now()
  refuse(() => checkUrl(request.url))
  const { signal, clear } = startDeadline(request.timeoutMs, request.signal)
  try {
    const stream = await open(request, agent, signal)
    const { statusCode = 0, headers } = await waitForResponse(stream)
    const body = await readBody(stream, headers['content-encoding'], request.maxResponseBytes)
    return {
      status: statusCode,
      headers: flatten(headers),
      ...body,
      durationMs: performance.now() - startedAt,
    }
  } catch (error) {
    if (request.signal?.aborted) throw new OutboundError('reset', 'The request was cancelled.')
    throw signal.aborted ? outboundError('timeout') : failureOf(error)
  } finally {
    clear()
  }
}

/** got is loaded with the first request, because few services send any. */
async function open(
  { url, method, headers, body }: OutboundRequest,
  agent: Agents,
  signal: AbortSignal,
): Promise<GotStream> {
  const { got } = await import('got')
  return got.stream(url, {
    // Node rejects invalid methods.
    method: method as Method,
    headers: { 'user-agent': 'Opsplane/1', ...headers },
    // If a body were allowed, got would wait for it to be written.
    ...(body === undefined && (method === 'GET' || method === 'HEAD')
      ? {}
      : { body: body ?? Buffer.alloc(0), allowGetBody: true }),
    agent,
    signal,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
  })
}

function waitForResponse(stream: GotStream): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    stream.once('response', resolve)
    // Also after the response has begun; the reader of the body then receives the error.
    stream.on('error', reject)
  })
}

/** got wraps the error of the connection. */
function failureOf(error: unknown): OutboundError {
  const { cause } = error instanceof Error ? error : { cause: undefined }
  return toOutboundError(cause instanceof Error ? cause : error)
}

/** A URL that was valid when it was stored may violate the current rules. */
function refuse(check: () => void): void {
  try {
    check()
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : 'The URL is refused.'
    throw new OutboundError('blocked_address', message, { cause })
  }
}
