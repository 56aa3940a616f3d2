import {
  type Actor,
  alreadyExists,
  type CatalogItemPatch,
  type CatalogItemState,
  changedFields,
  type Decider,
  type Decision,
  type Instant,
  type NewCatalogItem,
  notFound,
  type ReadModelRow,
  type ServiceCatalogEventType,
} from '@opsplane/contracts'
import { checkApprovalRule } from '../approval/approval.js'
import { checkFormSchema } from './form.js'
import { itemStatusAfter } from './item-transitions.js'
import { checkPlan } from './plan.js'

export type ItemCommand =
  | { kind: 'create'; id: string; by: Actor; now: Instant; input: NewCatalogItem }
  | { kind: 'edit'; now: Instant; patch: CatalogItemPatch }
  | { kind: 'activate' | 'retire' | 'delete'; now: Instant }

type ItemDecision = Decision<CatalogItemState, ServiceCatalogEventType>

/** All rules of a catalogue item. `itemTransitions` defines which action is allowed in which status. */
export const catalogItem: Decider<CatalogItemState, ItemCommand> = {
  resourceType: 'catalog_item',
  table: 'catalog_items',
  decide,
  expose: (state) => state,
  describe: ({ name }) => ({ displayName: name }),
  project: ({ after }) => (after?.status === 'active' ? [revisionRow(after)] : []),
}

export const revisionRowId = (itemId: string, revision: number) => `${itemId}.${revision}`

/** A revision that a request may be pinned to. A draft is never one. */
function revisionRow({ id: itemId, ...state }: CatalogItemState): ReadModelRow {
  const id = revisionRowId(itemId, state.revision)
  return { table: 'catalog_item_revisions', id, state: { id, itemId, ...state } }
}

function decide(command: ItemCommand, state: CatalogItemState | null): ItemDecision[] {
  if (command.kind === 'create') return [{ type: 'catalog_item.created', after: create(command, state) }]
  if (state === null) throw notFound()
  const status = itemStatusAfter(command.kind, state.status)
  const after = { ...state, status, updatedAt: command.now }
  switch (command.kind) {
    case 'edit':
      return edit(command.patch, state, after)
    case 'activate':
      return [{ type: 'catalog_item.activated', after: { ...after, activatedAt: command.now } }]
    case 'retire':
      return [{ type: 'catalog_item.retired', after: { ...after, retiredAt: command.now } }]
    case 'delete':
      return [{ type: 'catalog_item.deleted', after: null }]
  }
}

function create(
  { id, by, now, input }: ItemCommand & { kind: 'create' },
  existing: CatalogItemState | null,
): CatalogItemState {
  if (existing !== null) throw alreadyExists('catalogue item')
  checkContent(input)
  return {
    id,
    ...input,
    status: 'draft',
    revision: 1,
    activatedAt: null,
    retiredAt: null,
    createdBy: by,
    createdAt: now,
    updatedAt: now,
  }
}

function edit(patch: CatalogItemPatch, state: CatalogItemState, next: CatalogItemState): ItemDecision[] {
  const updates = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
  if (changedFields(state, { ...state, ...updates }).length === 0) return []
  checkContent(patch)
  return [{ type: 'catalog_item.updated', after: { ...next, ...updates, revision: state.revision + 1 } }]
}

/** Checks the rules that the body schema cannot express. Throws validation_failed. */
function checkContent({ formSchema, approvals, tasks }: CatalogItemPatch): void {
  if (formSchema !== undefined) checkFormSchema(formSchema)
  for (const [index, rule] of (approvals ?? []).entries()) checkApprovalRule(rule, `/approvals/${index}`)
  if (tasks !== undefined) checkPlan(tasks)
}
