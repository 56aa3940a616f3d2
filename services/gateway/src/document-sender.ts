import { beginExchange, type CachedDocument, sendCachedDocument } from '@opsplane/http'
import { type Logger, parseNetwork } from '@opsplane/runtime'
import type { Request, Response } from 'express'
import { joinRateHeaders, type RateLimiter } from './rate-limit.js'

export type SendDocument = (
  request: Request,
  response: Response,
  document: CachedDocument,
  headers: Readonly<Record<string, string | undefined>>,
) => Promise<void>

/**
 * Sends documents, and counts their bytes against the client's network. Throws `rate_limited` and
 * `precondition_failed`.
 */
export function createDocumentSender({
  clientAddress,
  anonymousBytes,
  log,
}: {
  clientAddress(request: Request): string
  anonymousBytes: Pick<RateLimiter, 'check' | 'spend'>
  log: Logger
}): SendDocument {
  return async (request, response, document, headers) => {
    const network = parseNetwork(clientAddress(request))
    const requests = {
      'RateLimit-Policy': String(response.getHeader('RateLimit-Policy') ?? ''),
      RateLimit: String(response.getHeader('RateLimit') ?? ''),
    }
    const exchange = beginExchange(request, response, 'gateway', log)
    exchange.headers = joinRateHeaders(requests, anonymousBytes.check(network))
    anonymousBytes.spend(network, await sendCachedDocument(exchange, document, headers))
  }
}
