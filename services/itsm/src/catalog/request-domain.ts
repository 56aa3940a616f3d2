import {
  ApiError,
  alreadyExists,
  type CatalogItemState,
  type CatalogRequestState,
  changedFields,
  type Decider,
  type Instant,
  invalidField,
  notFound,
} from '@opsplane/contracts'
import { voidApproval } from '../approval/approval.js'
import { fillForm } from './form.js'
import { approve, reject, requestApprovals } from './request-approvals.js'
import type { CreateRequest, RequestCommand, SubmitRequest } from './request-commands.js'
import { automaticStepEvent, type RequestDecision } from './request-decision.js'
import { editTask, fulfilledEvent, startTasks, workOnTask } from './request-tasks.js'
import { requestStatusAfter } from './request-transitions.js'
import { taskHasEnded } from './task-transitions.js'

/**
 * All rules of a request. `requestTransitions` defines which action is allowed in which status, and
 * `automaticTransitions` where a request moves automatically.
 */
export const catalogRequest: Decider<CatalogRequestState, RequestCommand> = {
  resourceType: 'catalog_request',
  table: 'catalog_requests',
  decide,
  expose: (state) => state,
  describe: ({ itemName, number }) => ({ displayName: itemName, number }),
}

function decide(command: RequestCommand, state: CatalogRequestState | null): RequestDecision[] {
  if (command.kind === 'create') return create(command, state)
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'edit':
      return edit(command, state)
    case 'submit':
      return submit(command, state)
    case 'approve':
      return approve(command, state)
    case 'reject':
      return reject(command, state)
    case 'work':
      return workOnTask(command, state)
    case 'edit_task':
      return editTask(command, state)
    case 'fulfill': {
      requestStatusAfter('fulfill', state)
      return [fulfilledEvent(command.outcome, 'fulfill', command.now, state)]
    }
    case 'cancel':
      return [cancel(command.reason, command.now, state)]
  }
}

function create(command: CreateRequest, existing: CatalogRequestState | null): RequestDecision[] {
  if (existing !== null) throw alreadyExists('request')
  const { id, number, by, now, item, input } = command
  if (item.status !== 'active') throw unknownItem()
  const draft: CatalogRequestState = {
    id,
    number,
    itemId: item.id,
    ...pinItem(item),
    status: 'draft',
    formData: fillForm(item.formSchema, input.formData, input),
    quantity: input.quantity,
    notes: input.notes,
    requestedBy: by.actor,
    requesterId: by.userId,
    requestedFor: input.requestedFor ?? by.userId,
    approvals: [],
    tasks: [],
    reason: null,
    submittedAt: null,
    approvedAt: null,
    closedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  const begun: RequestDecision = { type: 'request.created', after: draft }
  return input.draft ? [begun] : [begun, ...submit({ ...command, kind: 'submit' }, draft)]
}

function edit(
  { now, item, patch }: RequestCommand & { kind: 'edit' },
  state: CatalogRequestState,
): RequestDecision[] {
  const status = requestStatusAfter('edit', state)
  checkActive(item)
  const { quantity = state.quantity, notes = state.notes } = patch
  const formData = fillForm(item.formSchema, patch.formData ?? state.formData, { draft: true })
  const after = { ...state, ...pinItem(item), status, formData, quantity, notes }
  return changedFields(state, after).length === 0
    ? []
    : [{ type: 'request.updated', after: { ...after, updatedAt: now } }]
}

/** A draft follows its item until it is submitted, so approvals added to the item in the meantime apply to it. */
function submit({ now, item, ids }: SubmitRequest, state: CatalogRequestState): RequestDecision[] {
  const status = requestStatusAfter('submit', state)
  checkActive(item)
  const formData = fillForm(item.formSchema, state.formData, { draft: false })
  const after = { ...state, ...pinItem(item), status, formData, submittedAt: now, updatedAt: now }
  const next =
    item.approvals.length > 0
      ? requestApprovals(item.approvals, ids.approvalIds, now, after)
      : startTasks(item.tasks, ids.taskIds, now, after)
  return [{ type: 'request.submitted', after }, automaticStepEvent(after, next)]
}

/** Voids pending approvals and skips unfinished tasks. Decisions and finished work stay on record. */
function cancel(reason: string, now: Instant, state: CatalogRequestState): RequestDecision {
  const after: CatalogRequestState = {
    ...state,
    status: requestStatusAfter('cancel', state),
    approvals: state.approvals.map((approval) => voidApproval(approval, now)),
    tasks: state.tasks.map((task) =>
      taskHasEnded(task) ? task : { ...task, status: 'skipped', endedAt: now },
    ),
    reason,
    closedAt: now,
    updatedAt: now,
  }
  return { type: 'request.canceled', after, extras: { reason } }
}

const pinItem = ({ revision, name, price }: CatalogItemState) => ({
  itemRevision: revision,
  itemName: name,
  price,
})

export const unknownItem = () =>
  invalidField('/itemId', 'unknown_item', 'There is no such item, or it cannot be requested.')

function checkActive({ status }: CatalogItemState): void {
  if (status !== 'active') throw new ApiError('conflict', 'The item can no longer be requested.')
}
