import { ApiError } from '@opsplane/contracts'
import { type LimitName, limitTable } from './limits.js'

/** The error for too much at once or in too short a time; a later retry may succeed. */
export function limitReached(limit: LimitName, max: number, retryAfterSeconds = 1): ApiError {
  return new ApiError('rate_limited', `The limit ${limit} is reached. Try again later.`, {
    details: detailsOf(limit, max),
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
  })
}

/** The error for a limit on a number of resources; waiting does not help. */
export function quotaExceeded(limit: LimitName, max: number): ApiError {
  return new ApiError('quota_exceeded', `The limit ${limit} is reached.`, { details: detailsOf(limit, max) })
}

function detailsOf(limit: LimitName, max: number) {
  const message = `may be at most ${max}: ${limitTable[limit].description}`
  return [
    { in: 'header' as const, path: '/x-workspace', code: 'limit_reached', message, params: { limit, max } },
  ]
}
