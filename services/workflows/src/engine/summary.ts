import type { RunError, RunStatus } from '@opsplane/contracts'
import type { Place } from './history.js'
import type { RunMemory } from './memory.js'
import { outputId } from './program.js'

/** The state of a run for lists and events, and its next due time. Instants are Unix milliseconds. */
export interface RunSummary {
  status: RunStatus
  attempt: number
  /** When it first left the queue. */
  startedAt: number | null
  endedAt: number | null
  error: RunError | null
  /** Output of a completed run. */
  output: unknown
  /** When the next `tick` may change something. */
  nextDue: number | null
  /** Places of active steps, limited to the first few. */
  currentSteps: Place[]
  /** Runs it started and no longer waits for; they are cancelled unless they have ended. */
  abandonedRuns: string[]
}

const maxCurrentSteps = 20

export function summarizeRun(memory: RunMemory): RunSummary {
  const { attempt, startedAt, endedAt, ended, timers, abandonedRuns } = memory
  return {
    status: computeStatus(memory),
    attempt,
    startedAt,
    endedAt,
    error: ended && ended.status !== 'completed' ? ended.error : null,
    output: ended?.status === 'completed' ? ended.output : null,
    nextDue: timers.next?.at ?? null,
    currentSteps: firstPlaces(memory),
    abandonedRuns: [...abandonedRuns],
  }
}

function firstPlaces({ live }: RunMemory): Place[] {
  const places: Place[] = []
  for (const place of live.keys()) {
    if (places.length === maxCurrentSteps) break
    if (place !== outputId) places.push(place)
  }
  return places
}

export function computeStatus({ stage, ended, busy, approvals }: RunMemory): RunStatus {
  if (ended) return ended.status
  if (stage === 'queued') return 'queued'
  if (busy > 0) return 'running'
  return approvals > 0 ? 'paused' : 'waiting'
}
