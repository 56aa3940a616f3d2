import type { Actor, DelegationRequest, Instant, RunError, RunStatus, TenantScope } from '@opsplane/contracts'
import type { Entry, Place } from '../engine/history.js'
import type { LogPositions } from './event-wait/accepted-event.js'

/** The data a run was started with; entry 0 of its journal. */
export interface Origin {
  programRef: string
  trigger: { type: string; id: string | null; at: Instant }
  event: unknown
  input: unknown
  parent: Parent | null
  /** Number of runs in the chain of causes before this one. */
  depth: number
  /** People on whose request it acts: their row rules apply in addition to those of its giver. */
  callers?: RunCaller[] | undefined
  causationId: string | null
  requestId: string | null
  /** Log positions at the start of a run that may wait for events: it waits only for later events. */
  since: LogPositions | null
  /** Trace context of the run's cause, if traced: its steps belong to the same trace. */
  traceparent?: string | undefined
}

/** A person, with the credential of their request. */
export type RunCaller = NonNullable<DelegationRequest['callers']>[number]

/** The step of another run that started this run. */
export interface Parent {
  runId: string
  place: Place
}

/** The fields of a run that never change. */
export interface RunIdentity {
  id: string
  tenant: TenantScope
  workflowId: string
  workflowName: string
  workflowVersion: number
  triggerType: string
  parentRunId: string | null
  /** Whether the step of the parent waits for this run to end. */
  parentWaits: boolean
  concurrencyKey: string | null
  queuedAt: Instant
}

/** The fields of a run that its journal changes. */
export interface RunProgress {
  status: RunStatus
  attempt: number
  error: RunError | null
  startedAt: Instant | null
  endedAt: Instant | null
}

/** A serialized journal entry. */
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

/** A run as claimed by its worker. */
export interface ClaimedRun {
  identity: RunIdentity
  progress: RunProgress
  fence: string
  seq: number
  bytes: number
  /** Number of signals sent to the run so far. */
  signals: number
}

/** An entry of a run with its actor. */
export interface AttributedEntry {
  entry: Entry
  actor: Actor
  requestId: string | null
}
