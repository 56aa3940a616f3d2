import type {
  Actor,
  CatalogItemState,
  CatalogRequestPatch,
  CatalogTaskAction,
  CatalogTaskPatch,
  FulfillmentOutcome,
  Instant,
  NewCatalogRequest,
  PlannedTask,
} from '@opsplane/contracts'

/** The acting user. For an API key, its owner. */
export interface ActingUser {
  actor: Actor
  userId: string
}

/** New ids: one for each rule and each planned task of the item. */
export interface NewIds {
  approvalIds: readonly string[]
  taskIds: readonly string[]
}

export interface CreateRequest {
  kind: 'create'
  id: string
  number: string
  by: ActingUser
  now: Instant
  item: CatalogItemState
  ids: NewIds
  input: NewCatalogRequest
}

/** Submitting pins the request to the current revision of the item. */
export interface SubmitRequest {
  kind: 'submit'
  now: Instant
  item: CatalogItemState
  ids: NewIds
}

/** `plan` is the plan of the pinned revision. Its tasks start with the last approval. */
export interface ApproveRequest {
  kind: 'approve'
  by: ActingUser
  now: Instant
  comment: string | null
  plan: readonly PlannedTask[]
  taskIds: readonly string[]
}

export type TaskCommand =
  | { kind: 'edit_task'; taskId: string; now: Instant; patch: CatalogTaskPatch }
  | {
      kind: 'work'
      action: Exclude<CatalogTaskAction, 'edit'>
      taskId: string
      now: Instant
      notes?: string | null | undefined
    }

export type RequestCommand =
  | CreateRequest
  | SubmitRequest
  | ApproveRequest
  | TaskCommand
  | { kind: 'edit'; now: Instant; item: CatalogItemState; patch: CatalogRequestPatch }
  | { kind: 'reject'; by: ActingUser; now: Instant; reason: string }
  | { kind: 'cancel'; now: Instant; reason: string }
  | { kind: 'fulfill'; now: Instant; outcome: FulfillmentOutcome }
