import { OpsplaneError } from '@opsplane/client'
import { texts } from '../texts/en.js'

/** What a person is shown of an error: what has happened, what to do, and by what operators find it. */
export interface Failure {
  title: string
  help: string
  code: string | undefined
  requestId: string | undefined
  /** Whether asking again may help. */
  isPassing: boolean
}

/** Whether the person has to sign in, or sign in again. */
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
    const asks = error.code === 'insufficient_scope' ? ` ${words.askOwner}` : ''
    return { title: words.forbidden, help: `${error.message}${asks}`, isPassing: false }
  }
  if (error.status === 404) return { title: words.missing, help: words.missingHelp, isPassing: false }
  if (error.status === 429) return { title: words.busy, help: error.message, isPassing: true }
  if (error.status >= 502) return { title: words.away, help: words.awayHelp, isPassing: true }
  return { title: words.title, help: error.message, isPassing: error.retryable }
}

/** The messages of a refused body by the names of its fields, as a form shows them. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof OpsplaneError)) return {}
  const inBody = error.details.filter((detail) => detail.in === 'body' && detail.path.startsWith('/'))
  return Object.fromEntries(
    inBody.map(({ path, message }) => [path.slice(1).replaceAll('/', '.'), sentence(message)]),
  )
}

const sentence = (message: string): string =>
  `${message.charAt(0).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`
