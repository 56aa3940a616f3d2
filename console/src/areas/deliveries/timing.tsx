import type { DeliveryAttempt } from '../../api/api.js'
import { duration } from '../../format/times.js'
import { texts } from '../../texts/en.js'
import { computePhases } from './phases.js'

const words = texts.deliveries

/** Bar for the duration of an attempt relative to the longest one, divided into phases. */
export function TimingBar({ attempt, longestMs }: { attempt: DeliveryAttempt; longestMs: number }) {
  const phases = computePhases(attempt)
  const widthOf = (ms: number) => `${Math.max((ms / longestMs) * 100, 0.5)}%`
  return (
    <span className="attempt-length" aria-hidden="true">
      {phases.length === 0 ? (
        <i style={{ width: widthOf(attempt.durationMs) }} />
      ) : (
        phases.map(({ name, ms }) => (
          <i key={name} className={`phase-${name}`} style={{ width: widthOf(ms) }} />
        ))
      )}
    </span>
  )
}

/** The phases of an attempt and their durations in words. */
export function Timing({ attempt }: { attempt: DeliveryAttempt }) {
  const phases = computePhases(attempt)
  if (phases.length === 0) return null
  return (
    <ul className="phases small">
      {attempt.isConnectionReused && <li className="muted">{words.reused}</li>}
      {phases.map(({ name, ms }) => (
        <li key={name}>
          <i className={`phase-${name}`} aria-hidden="true" />
          <span className="muted">{words.phases[name]}</span> <span className="number">{duration(ms)}</span>
        </li>
      ))}
    </ul>
  )
}
