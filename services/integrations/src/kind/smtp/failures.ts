import { oneLine } from '@opsplane/runtime'
import { CallFailure } from '../call-failure.js'
import { toConnectFailure } from '../outbound-failure.js'

/** Properties of nodemailer's errors in addition to the message. */
interface MailError extends Error {
  code?: string
  responseCode?: number
}

const maxWords = 500

/** Converts a mail error. A rejected mail was not sent. */
export function mailFailure(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error
  const unconnected = toConnectFailure(error)
  if (unconnected) return unconnected
  const { code, responseCode, message } = error as MailError
  const words = oneLine(String(message)).slice(0, maxWords)
  if (responseCode !== undefined)
    return new CallFailure('answered', words, {
      sent: false,
      // A temporary error; 421 means that the server is shutting down.
      ...(responseCode < 500 && { status: responseCode === 421 ? 503 : 429 }),
      body: words,
      cause: error,
    })
  if (code === 'ETLS') return new CallFailure('unreachable', words, { sent: false, cause: error })
  // It is unknown when the connection was lost: the server may have received the mail.
  const lost = code === 'ECONNECTION' || code === 'ESOCKET'
  const kind = code === 'ETIMEDOUT' ? 'timeout' : lost ? 'unreachable' : 'protocol'
  return new CallFailure(kind, words, { sent: true, cause: error })
}
