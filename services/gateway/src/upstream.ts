import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { ApiError } from '@opsplane/contracts'
import { clientTls, type InternalTls } from '@opsplane/http'
import { type Dispatcher, errors, Pool } from 'undici'
import { responseHeaders, type SetCookies } from './forwarded-headers.js'
import type { OpenAnswer } from './open-answers/open-answers.js'

/** A request to be forwarded by the gateway. */
export interface ForwardedRequest {
  req: IncomingMessage
  res: ServerResponse
  /** Path and query for the service. */
  path: string
  /** Headers for the service: name, value, name, value … */
  headers: string[]
  body: Buffer | Readable | null
  /** Headers that the gateway adds to the response. */
  answerHeaders: Record<string, string>
  /** Builds the Set-Cookie value for a service's `cookieHeaders`, if the service may set cookies. */
  setCookies?: SetCookies | undefined
  /** Checks for a response that may arrive long after its request, or continue for long. */
  rechecks?: Rechecks | undefined
  /** Called with the length of each piece of the response. */
  onBytes?: ((bytes: number) => void) | undefined
  /** Called once the service has finished with the request. */
  over?: (() => void) | undefined
  /** Called at most once, and only while nothing has been sent to the client. */
  fail(error: ApiError): void
}

/** Checks whether a caller may still receive the response. */
export interface Rechecks {
  /** Rejects unless the caller may receive it when it begins. */
  begin(): Promise<void>
  /** Checks from then until the end of the response. */
  follow(refuse: (error: ApiError) => void): OpenAnswer
}

/** One service as reached by the gateway. */
export interface Upstream {
  /** Sends the request and streams the response back. Aborts the request if the client disconnects. */
  forward(forwarding: ForwardedRequest): void
  close(): Promise<void>
}

export interface UpstreamOptions {
  /** Maximum milliseconds to wait for the response headers, and for each pause within the body. */
  timeoutMs: number
  /** Called for each new connection. */
  onConnect(): void
  tls: InternalTls | undefined
}

export function createUpstream(url: string, { timeoutMs, onConnect, tls }: UpstreamOptions): Upstream {
  const pool = new Pool(url, {
    pipelining: 1,
    // Shorter than the time a terminating replica still accepts requests: unused connections are closed from this side,
    // where no request can be lost.
    ...{ keepAliveTimeout: unusedConnectionMs, keepAliveMaxTimeout: unusedConnectionMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connect: { timeout: Math.min(timeoutMs, 5_000), ...clientTls(tls) },
  })
  pool.on('connect', onConnect)
  return {
    forward: (forwarding) => send(pool, forwarding, true),
    close: () => pool.destroy(),
  }
}

const unusedConnectionMs = 4_000

function send(pool: Pool, forwarding: ForwardedRequest, firstTry: boolean): void {
  const { req, res } = forwarding
  let controller: Dispatcher.DispatchController | undefined
  let expectedBytes = -1
  let receivedBytes = 0
  let lastChunk: Buffer | undefined
  let waitsForDrain = false
  let over = false
  let answer: OpenAnswer | undefined
  let begun: Promise<void> | undefined

  const failed = (error: Error) => {
    if (over) return
    over = true
    res.off('close', onClose)
    answer?.stop()
    forwarding.over?.()
    if (res.headersSent || res.destroyed) {
      // Destroyed, so that the client cannot mistake a part for the whole.
      res.destroy()
    } else if (firstTry && isRetrySafe(forwarding, error)) send(pool, forwarding, false)
    else forwarding.fail(translate(error))
  }
  const refuse = (running: Dispatcher.DispatchController) => (error: Error) => {
    failed(error)
    running.abort(error)
  }
  /** Continues once the caller's permission is confirmed; ends the response if it is not. */
  const once = (running: Dispatcher.DispatchController, allowed: Promise<void>, onAllowed: () => void) => {
    running.pause()
    begun = allowed.then(() => {
      if (over) return
      onAllowed()
      if (!waitsForDrain) running.resume()
    }, refuse(running))
  }
  const write = (running: Dispatcher.DispatchController, chunk: Buffer) => {
    if (res.write(chunk) || waitsForDrain) return
    running.pause()
    waitsForDrain = true
    res.once('drain', () => {
      waitsForDrain = false
      running.resume()
    })
  }
  const finish = () => {
    answer?.stop()
    if (over) return
    if (lastChunk) res.end(lastChunk)
    else res.end()
  }
  const onClose = () => {
    if (!res.writableFinished) controller?.abort(new Error('the client left'))
  }
  res.once('close', onClose)

  pool.dispatch(
    {
      path: forwarding.path,
      method: req.method ?? 'GET',
      headers: forwarding.headers,
      body: forwarding.body,
    },
    {
      onRequestStart(started) {
        controller = started
        if (res.destroyed) started.abort(new Error('the client left'))
      },
      onResponseStart(running, status, headers) {
        if (status < 200) return
        expectedBytes = Number(headers['content-length'] ?? -1)
        const begin = () =>
          res.writeHead(status, responseHeaders(headers, forwarding.answerHeaders, forwarding.setCookies))
        const { rechecks } = forwarding
        if (!rechecks) return begin()
        once(running, rechecks.begin(), () => {
          begin()
          answer = rechecks.follow(refuse(running))
        })
      },
      onResponseData(running, chunk) {
        if (over) return
        receivedBytes += chunk.length
        forwarding.onBytes?.(chunk.length)
        if (receivedBytes === expectedBytes) {
          // Sent together with the end, to save one write to the socket.
          lastChunk = chunk
          if (answer && !answer.isConfirmed()) once(running, answer.confirmed(), () => {})
          return
        }
        if (!answer || answer.isConfirmed()) return write(running, chunk)
        once(running, answer.confirmed(), () => write(running, chunk))
      },
      onResponseEnd() {
        forwarding.over?.()
        // Pausing does not delay the end of a response without a body, so it waits here.
        if (begun) void begun.then(finish)
        else finish()
      },
      onResponseError(_controller, error) {
        failed(error)
      },
    },
  )
}

/**
 * Whether the request may be repeated. True for reads, if a replica closed the connection at the moment of its reuse or
 * was killed. Also true for any request that was never sent because a terminated replica did not accept the connection.
 */
function isRetrySafe({ req, body }: ForwardedRequest, error: Error): boolean {
  if (neverSentCodes.has(readErrorCode(error))) return body === null || Buffer.isBuffer(body)
  return body === null && isSafe(req.method) && resetCodes.has(readErrorCode(error))
}

const isSafe = (method: string | undefined) => method === 'GET' || method === 'HEAD'

const readErrorCode = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : ''

const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
const neverSentCodes = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'])

function translate(error: Error): ApiError {
  if (error instanceof ApiError) return error
  const code = readErrorCode(error)
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    return upstreamTimeout(error)
  }
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
    return new ApiError('malformed_url', 'The request cannot be forwarded as it is.', { cause: error })
  }
  if (error instanceof errors.HTTPParserError || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new ApiError('upstream_error', 'The service sent an invalid response.', { cause: error })
  }
  return serviceUnavailable(error)
}

export const upstreamTimeout = (cause?: Error): ApiError =>
  new ApiError(
    'upstream_timeout',
    'The service did not answer in time. The outcome of the request is not known.',
    { cause },
  )

export const serviceUnavailable = (cause?: Error): ApiError =>
  new ApiError('service_unavailable', 'The service is not available. Try again shortly.', { cause })
