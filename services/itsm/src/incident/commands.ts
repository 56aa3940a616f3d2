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

/** What the settings of the workspace say when a command is given. */
export type IncidentSettings = Pick<ItsmSettingsState, 'priorityMatrix' | 'resolutionRequired'>

/** Opens an incident. `number` is the next of the workspace. */
export interface CreateIncident {
  kind: 'create'
  id: string
  number: string
  by: Actor
  now: Instant
  settings: Pick<IncidentSettings, 'priorityMatrix'>
  input: NewIncident
  /** The ended incident it is opened after. */
  followsUpOn?: string | null
}

/** Changes fields, and the status through the action that leads to it. */
export interface PatchIncident {
  kind: 'patch'
  by: Actor
  /** The person; an API key counts as its owner. */
  userId?: string | undefined
  now: Instant
  settings: IncidentSettings
  patch: IncidentPatch
  /** What `patch.comment` is kept as. */
  comment?: IncidentComment | undefined
}

/** Someone begins or ceases to follow it. */
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

/** What a step follows from where it is not an agent who takes it: with the cause `sla`, from which threshold. */
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
