import type { Delivery } from '../../api/api.js'
import { texts } from '../../texts/en.js'

type Outcome = Pick<Delivery, 'lastError' | 'lastResponseStatus'>

/** Why a delivery received no successful response, in words: `Answered 500`. */
export function describeCause({ lastError, lastResponseStatus }: Outcome): string {
  if (lastError === null) return texts.causes.unknown
  if (lastError.kind === 'status') return texts.causes.status(lastResponseStatus)
  return texts.causes[lastError.kind]
}

/** What the person can do about the failure. */
export function remedyFor({ lastError, lastResponseStatus }: Outcome): string {
  const words = texts.remedies
  if (lastError === null) return words.other
  switch (lastError.kind) {
    case 'webhook_deleted':
    case 'event_missing':
    case 'headers_too_large':
      return words.other
    case 'secret_missing':
    case 'secret_refused':
      return words.secret
    case 'status':
      return remedyForStatus(lastResponseStatus ?? 0)
    default:
      return words[lastError.kind]
  }
}

function remedyForStatus(status: number): string {
  const words = texts.remedies
  if (status >= 500) return words.server
  if (status === 401 || status === 403) return words.unauthorized
  if (status === 404 || status === 410) return words.gone
  return words.status
}
