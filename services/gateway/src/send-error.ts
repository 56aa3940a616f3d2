import type { ServerResponse } from 'node:http'
import { errorBody } from '@opsplane/contracts'
import { errorHeaders, securityHeaders, toApiError } from '@opsplane/http'

/** Answers with the error envelope. `added` are further headers; its `x-request-id` is the request's. */
export function sendError(response: ServerResponse, thrown: unknown, added: Record<string, string>): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const error = toApiError(thrown)
  const body = JSON.stringify(errorBody(error, added['x-request-id'] ?? ''))
  response.writeHead(error.status, {
    ...securityHeaders,
    ...added,
    ...errorHeaders(error),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  })
  response.end(body)
}
