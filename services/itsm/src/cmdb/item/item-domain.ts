import {
  type Actor,
  ApiError,
  alreadyExists,
  type CmdbEventType,
  type ConfigurationItemPatch,
  type ConfigurationItemState,
  changedFields,
  type Decider,
  type Decision,
  type Instant,
  type NewConfigurationItem,
  notFound,
} from '@opsplane/contracts'
import { checkAttributes } from '../class/class-schema.js'
import { actionTo, type CiStatusAction, statusAfter } from '../transitions.js'

/** JSON Schema of the item's current or new class; `null` if the class has none. */
type ClassSchema = Record<string, unknown> | null

export type ItemCommand =
  | {
      kind: 'create'
      id: string
      by: Actor
      now: Instant
      input: NewConfigurationItem
      schema: ClassSchema
    }
  | { kind: 'patch'; now: Instant; patch: ConfigurationItemPatch; schema: ClassSchema }
  | { kind: CiStatusAction; now: Instant; reason?: string | undefined }
  | { kind: 'delete'; relations: number }

type ItemDecision = Decision<ConfigurationItemState, CmdbEventType>

/** All rules of a configuration item. `transitions` defines which action is allowed in which status. */
export const configurationItem: Decider<ConfigurationItemState, ItemCommand> = {
  resourceType: 'ci',
  table: 'configuration_items',
  decide,
  expose: (state) => state,
  describe: ({ name }) => ({ displayName: name }),
}

function decide(command: ItemCommand, state: ConfigurationItemState | null): ItemDecision[] {
  if (command.kind === 'create') return [{ type: 'ci.created', after: create(command, state) }]
  if (state === null) throw notFound()
  if (command.kind === 'delete') return [deleteItem(command.relations, state)]
  if (command.kind === 'patch') return patch(command, state)
  return [changeStatus(command.kind, command.now, command.reason ?? null, state)]
}

function create(
  { id, by, now, input, schema }: ItemCommand & { kind: 'create' },
  existing: ConfigurationItemState | null,
): ConfigurationItemState {
  if (existing !== null) throw alreadyExists('configuration item')
  checkAttributes(schema, input.attributes)
  return {
    id,
    class: input.class,
    name: input.name,
    status: input.status,
    criticality: input.criticality,
    description: input.description ?? null,
    owner: input.owner ?? null,
    supportGroup: input.supportGroup ?? null,
    attributes: input.attributes,
    redundancy: input.redundancy,
    source: input.source ?? null,
    nativeKey: input.nativeKey ?? null,
    lastSeenAt: input.lastSeenAt ?? null,
    createdBy: by,
    createdAt: now,
    updatedAt: now,
  }
}

/**
 * Applies edits before the status, because a retired item cannot be edited. Changes without effect produce no
 * event.
 */
function patch(
  { now, patch, schema }: ItemCommand & { kind: 'patch' },
  state: ConfigurationItemState,
): ItemDecision[] {
  const { status = state.status, ...fields } = patch
  const patchedItem = { ...state, ...withoutUndefined(fields) }
  const decisions: ItemDecision[] = []
  let current = state
  if (changedFields(state, patchedItem).length > 0) {
    statusAfter('edit', state.status)
    if (patch.class !== undefined || patch.attributes !== undefined)
      checkAttributes(schema, patchedItem.attributes)
    current = { ...patchedItem, updatedAt: now }
    decisions.push({ type: 'ci.updated', after: current })
  }
  if (status !== state.status)
    decisions.push(changeStatus(actionTo(state.status, status), now, null, current))
  return decisions
}

function changeStatus(
  action: CiStatusAction,
  now: Instant,
  reason: string | null,
  state: ConfigurationItemState,
): ItemDecision {
  const after = { ...state, status: statusAfter(action, state.status), updatedAt: now }
  return { type: action === 'retire' ? 'ci.retired' : 'ci.status_changed', after, extras: { reason } }
}

/** Only an item that was never in service can be deleted; other items are retired instead. */
function deleteItem(relations: number, state: ConfigurationItemState): ItemDecision {
  statusAfter('delete', state.status)
  if (relations > 0) throw itemHasRelations()
  return { type: 'ci.deleted', after: null }
}

export const itemHasRelations = () =>
  new ApiError('conflict', 'The item has relations. Remove them first.', {
    details: [{ in: 'path', path: '/id', code: 'has_relations', message: 'must have no relations' }],
  })

function withoutUndefined<T extends object>(fields: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]: Exclude<T[Name], undefined>
  }
}
