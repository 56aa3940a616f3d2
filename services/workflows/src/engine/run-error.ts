import type { RunError } from '@opsplane/contracts'
import type { Settled } from './memory.js'
import { outputId } from './program.js'

/** The error of a run, from the step that failed. */
export function runError({ error, place }: Settled & { kind: 'failed' }): RunError {
  const { code, message, details } = error
  const step = place === '' || place === outputId ? null : place
  return details === undefined ? { code, message, step } : { code, message, step, details: toJson(details) }
}

/** The error of a run that failed and whose `onFailure` steps failed as well. */
export function withLaterError(first: RunError, later: RunError): RunError {
  const { code, message, step, details = null } = later
  return {
    ...first,
    details: { failure: first.details ?? null, onFailure: { code, message, step, details } },
  }
}

/** Entries contain only JSON. */
const toJson = (value: unknown) => value as NonNullable<RunError['details']>
