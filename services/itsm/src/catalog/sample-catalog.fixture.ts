import {
  type Actor,
  type CatalogItemState,
  type CatalogItemStatus,
  type CatalogRequestState,
  type CatalogRequestStatus,
  type CatalogTaskState,
  type CatalogTaskStatus,
  NewCatalogItem,
  newId,
} from '@opsplane/contracts'
import { catalogItem, type ItemCommand } from './item-domain.js'
import type { ActingUser, CreateRequest, NewIds, RequestCommand } from './request-commands.js'
import { catalogRequest } from './request-domain.js'

/** Sample items and requests, each built by applying commands. */

export const createdAt = '2026-03-02T09:00:00.000Z'
export const now = '2026-03-02T10:00:00.000Z'

const person = (userId: string, name: string): ActingUser => {
  const actor: Actor = { id: userId, name, type: 'user' }
  return { userId, actor }
}
export const requester = person('usr_ada', 'Ada')
export const owner = { id: 'usr_tim', name: 'Tim', type: 'user' } as const
/** Named by the first rule. The second rule accepts anyone. */
export const approver = person('usr_boss', 'Grace')
export const manager = person('usr_keeper', 'Kim')

export const input = NewCatalogItem.parse({
  name: 'Laptop',
  category: 'hardware',
  formSchema: {
    type: 'object',
    properties: {
      size: { type: 'integer', minimum: 13, maximum: 17 },
      color: { type: 'string', default: 'grey' },
    },
    required: ['size'],
  },
  price: { amount: '1499.00', currency: 'EUR' },
  approvals: [{ name: 'Budget', approverIds: [approver.userId] }, { name: 'Workplace' }],
  tasks: [
    { key: 'order', name: 'Order it' },
    { key: 'account', name: 'Make an account' },
    { key: 'set_up', name: 'Set it up', dependsOn: ['order', 'account'] },
    { key: 'deliver', name: 'Deliver it', dependsOn: ['set_up'] },
  ],
})

export const createItem = {
  kind: 'create',
  id: 'cit_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  by: owner,
  now: createdAt,
  input,
} as const satisfies ItemCommand

export const itemCommands = {
  edit: { kind: 'edit', now, patch: { name: 'Notebook' } },
  activate: { kind: 'activate', now },
  retire: { kind: 'retire', now },
  delete: { kind: 'delete', now },
} as const satisfies Record<string, ItemCommand>

export function itemAfter(...path: ItemCommand[]): CatalogItemState {
  let state: CatalogItemState | null = null
  for (const command of [createItem, ...path])
    state = catalogItem.decide(command, state).at(-1)?.after ?? null
  if (state === null) throw new Error('The path leads nowhere.')
  return state
}

export const items: Record<CatalogItemStatus, CatalogItemState> = {
  draft: itemAfter(),
  active: itemAfter(itemCommands.activate),
  retired: itemAfter(itemCommands.activate, itemCommands.retire),
}
export const item = items.active
export const itemWithoutApprovals = { ...item, approvals: [] }
/** Has no tasks either. */
export const itemWithoutTasks = { ...itemWithoutApprovals, tasks: [] }

export const ids: NewIds = {
  approvalIds: [newId('approval'), newId('approval')],
  taskIds: item.tasks.map(() => newId('catalogTask')),
}

export const create = {
  kind: 'create',
  id: 'rqs_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  number: 'REQ-1',
  by: requester,
  now: createdAt,
  item,
  ids,
  input: { itemId: item.id, formData: { size: 15 }, quantity: 2, notes: null, draft: true },
} as const satisfies CreateRequest

export const commands = {
  edit: { kind: 'edit', now, item, patch: { quantity: 3 } },
  submit: { kind: 'submit', now, item, ids },
  /** The approver's decision counts for both rules. */
  approve: { kind: 'approve', by: approver, now, comment: null, plan: item.tasks, taskIds: ids.taskIds },
  reject: { kind: 'reject', by: approver, now, reason: 'Too dear.' },
  cancel: { kind: 'cancel', now, reason: 'Not needed.' },
  fulfill: { kind: 'fulfill', now, outcome: 'complete' },
} as const satisfies Record<string, RequestCommand>

type TaskAction = (RequestCommand & { kind: 'work' })['action']

/** Returns the id of the sample task with this key. */
export function taskId(key: string): string {
  const id = ids.taskIds[item.tasks.findIndex((task) => task.key === key)]
  if (id === undefined) throw new Error(`There is no task ${key}.`)
  return id
}
export const work = (action: TaskAction, key: string): RequestCommand => ({
  kind: 'work',
  action,
  taskId: taskId(key),
  now,
})

export function begin(command: CreateRequest, ...path: RequestCommand[]): CatalogRequestState {
  let state: CatalogRequestState | null = null
  for (const one of [command, ...path]) state = catalogRequest.decide(one, state).at(-1)?.after ?? state
  if (state === null) throw new Error('The path leads nowhere.')
  return state
}
export const after = (...path: RequestCommand[]) => begin(create, ...path)

const approved = [commands.submit, commands.approve]
const all = (action: TaskAction) => ['order', 'account', 'set_up', 'deliver'].map((key) => work(action, key))

/**
 * Returns an intermediate state: one decision passes through
 * submitted or approved, so the state is taken from its events.
 */
function passThrough(status: CatalogRequestStatus, ...path: RequestCommand[]): CatalogRequestState {
  const last = path.at(-1)
  if (last === undefined) throw new Error('There is no last step.')
  const found = catalogRequest
    .decide(last, after(...path.slice(0, -1)))
    .find((decision) => decision.after?.status === status)?.after
  if (!found) throw new Error(`Nothing passes through ${status}.`)
  return found
}

export const requests: Record<CatalogRequestStatus, CatalogRequestState> = {
  draft: after(),
  submitted: passThrough('submitted', commands.submit),
  awaiting_approval: after(commands.submit),
  approved: passThrough('approved', ...approved),
  fulfilling: after(...approved),
  closed_complete: after(...approved, ...all('complete')),
  closed_incomplete: after(...approved, work('fail', 'order'), work('complete', 'account')),
  closed_skipped: after(...approved, ...all('skip')),
  rejected: after(commands.submit, commands.reject),
  canceled: after(commands.cancel),
}
/** A request in fulfillment that has no tasks. */
export const requestWithoutTasks = begin({
  ...create,
  item: itemWithoutTasks,
  input: { ...create.input, draft: false },
})

export const taskStatuses = (state: CatalogRequestState) =>
  Object.fromEntries(state.tasks.map(({ key, status }) => [key, status]))

/** A request in fulfillment whose first task is in the given status. */
export function withTask(status: CatalogTaskStatus): CatalogRequestState {
  const { fulfilling } = requests
  const ended = status === 'complete' || status === 'incomplete' || status === 'skipped'
  const change = (task: CatalogTaskState) => ({ ...task, status, endedAt: ended ? now : null })
  return { ...fulfilling, tasks: fulfilling.tasks.map((task, index) => (index === 0 ? change(task) : task)) }
}
