import type {
  Actor,
  EndedChange,
  Instant,
  NewProblem,
  PriorityMatrix,
  ProblemPatch,
  ProblemResolution,
} from '@opsplane/contracts'

/** Records a problem. `number` is the next number of the workspace. */
export interface CreateProblem {
  kind: 'create'
  id: string
  number: string
  by: Actor
  now: Instant
  input: NewProblem
  matrix: PriorityMatrix
}

/** Resolution of a problem. `duplicateOf` is the id of an existing problem. */
export interface ProblemEnd {
  resolution?: ProblemResolution | undefined
  resolutionNotes?: string | undefined
  duplicateOf?: string | undefined
}

/** One action of the transition table. */
export type ProblemStep =
  | { kind: 'edit'; patch: ProblemPatch; matrix: PriorityMatrix }
  | { kind: 'assess' | 'analyze' | 'fix' | 'mark_known_error' | 'unmark_known_error' }
  | ({ kind: 'resolve'; resolution: ProblemResolution } & ProblemEnd)
  | ({ kind: 'close' } & ProblemEnd)
  | { kind: 'reopen'; reason?: string | undefined }
  | { kind: 'publish_workaround'; workaround?: string | undefined }

/** Reports that every change linked to the problem has ended. */
export interface ReportChangesEnded {
  kind: 'report_changes_ended'
  changes: EndedChange[]
}

export type ProblemCommand = CreateProblem | ReportChangesEnded | (ProblemStep & { now: Instant })
