import type { RunError } from '@opsplane/contracts'
import type { Settled } from './memory.js'
import { outputId } from './program.js'

/** Why a run failed, by the step that did. */
export function runError({ error, place }: Settled & { kind: 'failed' }): RunError {
  const { code, message, details } = error
  const step = place === '' || place === outputId ? null : place
  return details === undefined ? { code, message, step } : { code, message, step, details: toJson(details) }
}

/** Of a run that failed, and whose steps for that failed as well. */
export function withLaterError(first: RunError, later: RunError): RunError {
  const { code, message, step, details = null } = later
  return {
    ...first,
    details: { failure: first.details ?? null, onFailure: { code, message, step, details } },
  }
}

/** Entries hold JSON alone. */
const toJson = (value: unknown) => value as NonNullable<RunError['details']>
