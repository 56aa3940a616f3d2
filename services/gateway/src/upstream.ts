import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { ApiError } from '@opsplane/contracts'
import { type Dispatcher, Pool } from 'undici'
import { responseHeaders } from './forwarded-headers.js'

/** One request on its way through the gateway. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
  /** Path and query for the service. */
  path: string
  /** Name, value, name, value …, for the service. */
  headers: string[]
  body: Buffer | Readable | null
  /** Headers the gateway adds to the answer. */
  answerHeaders: Record<string, string>
  /** Called at most once, and only while nothing has been sent to the client. */
  fail(error: ApiError): void
}

/** One service as the gateway reaches it. */
export interface Upstream {
  /** Sends the request and streams the answer back. A client that leaves aborts the request. */
  forward(exchange: Exchange): void
  close(): Promise<void>
}

/** `timeoutMs` bounds the wait for the answer's headers, and each silence within its body. */
export function createUpstream(url: string, timeoutMs: number): Upstream {
  const pool = new Pool(url, {
    pipelining: 1,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connectTimeout: Math.min(timeoutMs, 5_000),
  })
  return {
    forward: (exchange) => send(pool, exchange, true),
    close: () => pool.destroy(),
  }
}

function send(pool: Pool, exchange: Exchange, firstTry: boolean): void {
  const { request, response } = exchange
  let controller: Dispatcher.DispatchController | undefined
  let expectedBytes = -1
  let receivedBytes = 0
  let lastChunk: Buffer | undefined
  let waitsForDrain = false

  const onClose = () => {
    if (!response.writableFinished) controller?.abort(new Error('the client left'))
  }
  response.once('close', onClose)

  pool.dispatch(
    {
      path: exchange.path,
      method: request.method as Dispatcher.HttpMethod,
      headers: exchange.headers,
      body: exchange.body,
    },
    {
      onRequestStart(started) {
        controller = started
        if (response.destroyed) started.abort(new Error('the client left'))
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return
        expectedBytes = Number(headers['content-length'] ?? -1)
        response.writeHead(status, responseHeaders(headers, exchange.answerHeaders))
      },
      onResponseData(running, chunk) {
        receivedBytes += chunk.length
        if (receivedBytes === expectedBytes) {
          // Sent together with the end: one write to the socket fewer.
          lastChunk = chunk
          return
        }
        if (response.write(chunk) || waitsForDrain) return
        running.pause()
        waitsForDrain = true
        response.once('drain', () => {
          waitsForDrain = false
          running.resume()
        })
      },
      onResponseEnd() {
        if (lastChunk) response.end(lastChunk)
        else response.end()
      },
      onResponseError(_controller, error) {
        response.off('close', onClose)
        if (response.headersSent || response.destroyed) {
          // Cut short, so that the client cannot take a part for the whole.
          response.destroy()
        } else if (firstTry && exchange.body === null && isSafe(request.method) && wasReset(error)) {
          // The service had closed a kept-alive connection just as it was used again.
          send(pool, exchange, false)
        } else exchange.fail(translate(error))
      },
    },
  )
}

const isSafe = (method: string | undefined) => method === 'GET' || method === 'HEAD'

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const resetCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
const wasReset = (error: unknown) => resetCodes.has(codeOf(error))

function translate(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT') {
    const message = 'The service did not answer in time. What became of the request is not known.'
    return new ApiError('upstream_timeout', message, { cause: error })
  }
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
    return new ApiError('malformed_url', 'The request cannot be passed on as it is.', { cause: error })
  }
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new ApiError('upstream_error', 'The service gave no valid answer.', { cause: error })
  }
  return new ApiError('service_unavailable', 'The service is not available. Try again shortly.', {
    cause: error,
  })
}
