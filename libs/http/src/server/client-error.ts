import { ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError, errorBody } from '@opsplane/contracts'
import type { Logger } from '@opsplane/runtime'
import { requestIdFrom } from './request-id.js'
import { securityHeaders } from './security-headers.js'

/** Answers requests that Node's HTTP parser rejects, which never reach the app, with the usual envelope. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex, log: Logger): void {
  if (!socket.writable || error.code === 'ECONNRESET' || isBeingAnswered(socket)) {
    socket.destroy()
    return
  }
  const requestId = requestIdFrom(undefined)
  const refusal = refusalOf(error)
  log.debug({ requestId, reason: error.code, status: refusal.status }, 'refused by the HTTP parser')
  const body = JSON.stringify(errorBody(refusal, requestId))
  const headers = {
    ...securityHeaders,
    'X-Request-ID': requestId,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`, ...lines].join('\r\n')
  socket.end(`${head}\r\n\r\n${body}`)
}

/** Node stores the response being written on the socket, and checks it for the same purpose. */
function isBeingAnswered(socket: Duplex): boolean {
  const answer: unknown = Reflect.get(socket, '_httpMessage')
  return answer instanceof ServerResponse && answer.headersSent
}

function refusalOf({ code }: NodeJS.ErrnoException): ApiError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new ApiError('request_timeout', 'The request did not come in time.')
  return code === 'HPE_HEADER_OVERFLOW'
    ? new ApiError('headers_too_large', 'The request headers are too large.')
    : new ApiError('malformed_url', 'The request is not well-formed HTTP.')
}
