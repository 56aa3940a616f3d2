import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { ApiError } from '@opsplane/contracts'
import { clientTls, type InternalTls } from '@opsplane/http'
import { type Dispatcher, errors, Pool } from 'undici'
import { responseHeaders, type SetCookies } from './forwarded-headers.js'
import type { OpenAnswer } from './open-answers/open-answers.js'

/** One request on its way through the gateway. */
export interface ForwardedRequest {
  req: IncomingMessage
  res: ServerResponse
  /** Path and query for the service. */
  path: string
  /** Name, value, name, value …, for the service. */
  headers: string[]
  body: Buffer | Readable | null
  /** Headers the gateway adds to the answer. */
  answerHeaders: Record<string, string>
  /** The value of Set-Cookie for what the service says in one of `cookieHeaders`, where it may. */
  setCookies?: SetCookies | undefined
  /** For an answer that may come long after its request, or go on for long. */
  rechecks?: Rechecks | undefined
  /** Called with the number of bytes of each piece of the answer. */
  onBytes?: ((bytes: number) => void) | undefined
  /** Called once the service has nothing more to do with the request. */
  over?: (() => void) | undefined
  /** Called at most once, and only while nothing has been sent to the client. */
  fail(error: ApiError): void
}

/** Whether a caller may have an answer still. */
export interface Rechecks {
  /** Rejects unless they may have it at its beginning. */
  begin(): Promise<void>
  /** From then on to its end. */
  follow(refuse: (error: ApiError) => void): OpenAnswer
}

/** One service as the gateway reaches it. */
export interface Upstream {
  /** Sends the request and streams the answer back. A client that leaves aborts the request. */
  forward(forwarding: ForwardedRequest): void
  close(): Promise<void>
}

export interface UpstreamOptions {
  /** Bounds the wait for the answer's headers, and each silence within its body. */
  timeoutMs: number
  /** Called for each new connection. */
  onConnect(): void
  tls: InternalTls | undefined
}

export function createUpstream(url: string, { timeoutMs, onConnect, tls }: UpstreamOptions): Upstream {
  const pool = new Pool(url, {
    pipelining: 1,
    // Shorter than a replica that ends still takes requests: unused connections are closed from here, where no request
    // can meet it.
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
      // Cut short, so that the client cannot take a part for the whole.
      res.destroy()
    } else if (firstTry && isRetrySafe(forwarding, error)) send(pool, forwarding, false)
    else forwarding.fail(translate(error))
  }
  const refuse = (running: Dispatcher.DispatchController) => (error: Error) => {
    failed(error)
    running.abort(error)
  }
  /** Goes on once the caller may have what comes; ends the answer where they may not. */
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
          // Sent together with the end: one write to the socket fewer.
          lastChunk = chunk
          if (answer && !answer.isConfirmed()) once(running, answer.confirmed(), () => {})
          return
        }
        if (!answer || answer.isConfirmed()) return write(running, chunk)
        once(running, answer.confirmed(), () => write(running, chunk))
      },
      onResponseEnd() {
        forwarding.over?.()
        // Without a body the end does not wait for the answer to go on.
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
 * What changes nothing may be, where a replica has closed a connection just as it was used again, or was killed. So may what
 * has never left, where a replica that has ended did not take the connection: another one may.
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
