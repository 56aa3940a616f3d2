import { oneLine } from '@opsplane/runtime'
import { CallFailure } from '../call-failure.js'
import { toConnectFailure } from '../outbound-failure.js'

/** What nodemailer reports in addition to the message. */
interface MailError extends Error {
  code?: string
  responseCode?: number
}

const maxWords = 500

/** What went wrong with a mail. Where it was refused nothing was sent. */
export function mailFailure(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error
  const unconnected = toConnectFailure(error)
  if (unconnected) return unconnected
  const { code, responseCode, message } = error as MailError
  const words = oneLine(String(message)).slice(0, maxWords)
  if (responseCode !== undefined)
    return new CallFailure('answered', words, {
      sent: false,
      // Temporarily; 421 is a server that is going down.
      ...(responseCode < 500 && { status: responseCode === 421 ? 503 : 429 }),
      body: words,
      cause: error,
    })
  if (code === 'ETLS') return new CallFailure('unreachable', words, { sent: false, cause: error })
  // Where the connection was lost is not known: the server may have the mail.
  const lost = code === 'ECONNECTION' || code === 'ESOCKET'
  const kind = code === 'ETIMEDOUT' ? 'timeout' : lost ? 'unreachable' : 'protocol'
  return new CallFailure(kind, words, { sent: true, cause: error })
}
