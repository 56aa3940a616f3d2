import type { Actor, DelegationRequest, Instant, RunError, RunStatus, TenantScope } from '@opsplane/contracts'
import type { Entry, Place } from '../engine/history.js'
import type { LogPositions } from './event-wait/accepted-event.js'

/** What a run was started with; number 0 of its journal. */
export interface Origin {
  programRef: string
  trigger: { type: string; id: string | null; at: Instant }
  event: unknown
  input: unknown
  parent: Parent | null
  /** Runs that were caused by runs, up to this one. */
  depth: number
  /** People on whose request it acts: their row rules apply as well as those of its giver. */
  callers?: RunCaller[] | undefined
  causationId: string | null
  requestId: string | null
  /** Up to where logs had come, for a run that may wait for events: what it waits for is later. */
  since: LogPositions | null
  /** Of what has started it, where that is followed: its steps belong to the same trace. */
  traceparent?: string | undefined
}

/** A person, and what they asked with. */
export type RunCaller = NonNullable<DelegationRequest['callers']>[number]

/** The step of another run that a run was started by. */
export interface Parent {
  runId: string
  place: Place
}

/** What of a run never changes. */
export interface RunIdentity {
  id: string
  tenant: TenantScope
  workflowId: string
  workflowName: string
  workflowVersion: number
  triggerType: string
  parentRunId: string | null
  /** Whether a step of the parent waits for its end. */
  parentWaits: boolean
  concurrencyKey: string | null
  queuedAt: Instant
}

/** What of a run its journal changes. */
export interface RunProgress {
  status: RunStatus
  attempt: number
  error: RunError | null
  startedAt: Instant | null
  endedAt: Instant | null
}

/** An entry as it is written. */
export interface JournalLine {
  seq: number
  /** Unix milliseconds. */
  at: number
  /** JSON without the large value, if there is one. */
  entry: string
  largeField: string | null
  /** JSON. */
  large: string | null
  bytes: number
}

/** A run as it is taken over by who works on it. */
export interface ClaimedRun {
  identity: RunIdentity
  progress: RunProgress
  fence: string
  seq: number
  bytes: number
  /** How many signals it had been sent. */
  signals: number
}

/** Something new in a run, and whose doing it is. */
export interface AttributedEntry {
  entry: Entry
  actor: Actor
  requestId: string | null
}
