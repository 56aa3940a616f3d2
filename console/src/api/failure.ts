import { OpsplaneError } from '@opsplane/client'
import { texts } from '../texts/en.js'

/** An error as shown to a person: what happened, what to do, and the reference that operators search by. */
export interface Failure {
  title: string
  help: string
  code: string | undefined
  requestId: string | undefined
  /** Whether a retry may succeed. */
  isPassing: boolean
}

/** Whether the person must sign in, or sign in again. */
export const needsSignIn = (error: unknown): boolean => error instanceof OpsplaneError && error.status === 401

export function describeError(error: unknown): Failure {
  if (!(error instanceof OpsplaneError)) {
    const { unreachable: title, unreachableHelp: help } = texts.problem
    return { title, help, code: undefined, requestId: undefined, isPassing: true }
  }
  const { code, requestId } = error
  return { ...wordsFor(error), code, requestId }
}

function wordsFor(error: OpsplaneError): Pick<Failure, 'title' | 'help' | 'isPassing'> {
  const words = texts.problem
  if (error.status === 401) return { title: words.signIn, help: error.message, isPassing: false }
  if (error.status === 403) {
    const ownerHint = error.code === 'insufficient_scope' ? ` ${words.askOwner}` : ''
    return { title: words.forbidden, help: `${error.message}${ownerHint}`, isPassing: false }
  }
  if (error.status === 404) return { title: words.missing, help: words.missingHelp, isPassing: false }
  if (error.status === 429) return { title: words.busy, help: error.message, isPassing: true }
  if (error.status >= 502) return { title: words.away, help: words.awayHelp, isPassing: true }
  return { title: words.title, help: error.message, isPassing: error.retryable }
}

/** The messages of a rejected request body by field name, for a form. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof OpsplaneError)) return {}
  const inBody = error.details.filter((detail) => detail.in === 'body' && detail.path.startsWith('/'))
  return Object.fromEntries(
    inBody.map(({ path, message }) => [path.slice(1).replaceAll('/', '.'), sentence(message)]),
  )
}

const sentence = (message: string): string =>
  `${message.charAt(0).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`
