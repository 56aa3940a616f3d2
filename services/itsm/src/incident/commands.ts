import type {
  Actor,
  IncidentCause,
  IncidentComment,
  IncidentPatch,
  Instant,
  ItsmSettingsState,
  NewIncident,
  ReachedThreshold,
} from '@opsplane/contracts'
import type { FollowUp } from './comment/post-closure-comment.js'
import type { MajorCommand } from './major/major.js'
import type { CountChild } from './parent-child/parent-child.js'
import type { IncidentStep } from './steps.js'

/** The workspace settings at the time of a command. */
export type IncidentSettings = Pick<ItsmSettingsState, 'priorityMatrix' | 'resolutionRequired'>

/** Opens an incident. `number` is the next number of the workspace. */
export interface CreateIncident {
  kind: 'create'
  id: string
  number: string
  by: Actor
  now: Instant
  settings: Pick<IncidentSettings, 'priorityMatrix'>
  input: NewIncident
  /** The ended incident that this one follows up on. */
  followsUpOn?: string | null
}

/** Changes fields, and the status through the action that leads to it. */
export interface PatchIncident {
  kind: 'patch'
  by: Actor
  /** Id of the acting person. For an API key, its owner. */
  userId?: string | undefined
  now: Instant
  settings: IncidentSettings
  patch: IncidentPatch
  /** The comment to store for `patch.comment`. */
  comment?: IncidentComment | undefined
}

/** A user starts or stops watching the incident. */
export interface WatchIncident {
  kind: 'watch'
  userId: string
  watching: boolean
  now: Instant
}

/** Another alert with the dedup key of an open incident. */
export interface CountAlert {
  kind: 'alert'
  now: Instant
}

/** Cause of a step that no agent takes. For the cause `sla`, `sla` is the threshold that was reached. */
export interface StepCause {
  cause?: IncidentCause | undefined
  sla?: ReachedThreshold | undefined
}

/** `userId` is the person who takes the step. */
export type IncidentCommand =
  | CreateIncident
  | PatchIncident
  | WatchIncident
  | CountAlert
  | CountChild
  | FollowUp
  | MajorCommand
  | (IncidentStep & StepCause & { now: Instant; userId?: string })
