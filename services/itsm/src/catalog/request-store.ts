import {
  type CatalogItemState,
  type CatalogRequest,
  type CatalogRequestState,
  type CatalogTaskPatch,
  type NewCatalogRequest,
  newId,
  notFound,
} from '@opsplane/contracts'
import type { RequiresUnchanged, Unit } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { findReferencedId } from '../lists/referenced-id.js'
import type { People } from '../people.js'
import { catalogRequests } from '../schema/catalog.js'
import { checkVisible } from './access.js'
import { catalogItem } from './item-domain.js'
import type { ItemStore } from './item-store.js'
import { findPlan } from './queries.js'
import type { ActingUser, NewIds, RequestCommand } from './request-commands.js'
import { catalogRequest, unknownItem } from './request-domain.js'
import { allowedRequestActions } from './request-transitions.js'
import { allowedTaskActions } from './task-transitions.js'

export const toActingUser = ({ actor, principal }: RequestMeta): ActingUser => ({
  actor,
  userId: principal.userId,
})

type Guard = (meta: RequestMeta, request: CatalogRequestState) => void

/** Requests in their API representation, and the commands that also need the item. */
export function requestStore({ store, database: { db } }: ServiceContext, items: ItemStore, people: People) {
  const aggregate = store.aggregate(catalogRequest, { present })

  /** Loads a request by id or by a number such as `REQ-12`. Throws not_found if the caller may not see it. */
  const visible = async (reference: string, meta: RequestMeta): Promise<CatalogRequestState> => {
    const id = await findReferencedId(db, { table: catalogRequests, prefix: 'REQ' }, reference, meta.tenant)
    const row = await aggregate.find(id, meta.tenant)
    if (!row) throw notFound()
    checkVisible(meta, row.state)
    return row.state
  }

  return {
    present: aggregate.present,

    async asOf(reference: string, instant: string | undefined, meta: RequestMeta): Promise<CatalogRequest> {
      const { id } = await visible(reference, meta)
      return aggregate.asOf(id, meta.tenant, instant)
    },

    async create(input: NewCatalogRequest, meta: RequestMeta): Promise<CatalogRequest> {
      const number = `REQ-${await store.numbers.next(meta.tenant.workspaceId, 'request')}`
      const id = newId('catalogRequest')
      return store.transact(meta, async (unit) => {
        const item = (await unit.find(items, input.itemId))?.state
        if (item === undefined) throw unknownItem()
        requireItemUnchanged(unit, item)
        const command = {
          kind: 'create',
          id,
          number,
          by: toActingUser(meta),
          now: meta.now,
          item,
          input,
        } as const
        return unit.create(aggregate, id, { ...command, ids: newIdsFor(item) })
      })
    },

    /** For commands that need only the request. */
    async execute(
      reference: string,
      command: RequestCommand,
      meta: RequestMeta,
      guard?: Guard,
    ): Promise<CatalogRequest> {
      const request = await visible(reference, meta)
      guard?.(meta, request)
      return aggregate.handle(request.id, command, meta)
    },

    /** Throws validation_failed if the assignee is not a member. */
    async editTask(
      reference: string,
      taskId: string,
      patch: CatalogTaskPatch,
      meta: RequestMeta,
    ): Promise<CatalogRequest> {
      const { id, tasks } = await visible(reference, meta)
      const before = tasks.find((task) => task.id === taskId)?.assigneeId
      await people.check(meta.tenant, { assigneeId: patch.assigneeId }, { assigneeId: before })
      return aggregate.handle(id, { kind: 'edit_task', taskId, now: meta.now, patch }, meta)
    },

    /** For commands that need the current state of the item. */
    async executeWithItem(
      reference: string,
      commandFor: (item: CatalogItemState, ids: NewIds) => RequestCommand,
      meta: RequestMeta,
      guard: Guard,
    ): Promise<CatalogRequest> {
      const request = await visible(reference, meta)
      guard(meta, request)
      const decide = async (unit: Unit) => {
        const item = (await unit.find(items, request.itemId))?.state
        if (item === undefined) throw unknownItem()
        requireItemUnchanged(unit, item)
        return unit.handle(aggregate, request.id, commandFor(item, newIdsFor(item)))
      }
      return store.transact(meta, decide, { queueKey: request.id })
    },

    /** Uses the plan of the revision the request was submitted with, which does not change any more. */
    async approve(reference: string, comment: string | null, meta: RequestMeta): Promise<CatalogRequest> {
      const { id, itemId, itemRevision } = await visible(reference, meta)
      const plan = await findPlan(db, meta.tenant, itemId, itemRevision)
      const taskIds = plan.map(() => newId('catalogTask'))
      const command = {
        kind: 'approve',
        by: toActingUser(meta),
        now: meta.now,
        comment,
        plan,
        taskIds,
      } as const
      return aggregate.handle(id, command, meta)
    },
  }
}
export type RequestStore = ReturnType<typeof requestStore>

/** Ensures that at commit the item can still be requested and that its revision has not changed. */
const requireItemUnchanged = (unit: RequiresUnchanged, { id, status, revision }: CatalogItemState) =>
  unit.requireUnchanged(catalogItem, id, { status, revision })

const newIdsFor = ({ approvals, tasks }: CatalogItemState): NewIds => ({
  approvalIds: approvals.map(() => newId('approval')),
  taskIds: tasks.map(() => newId('catalogTask')),
})

function present(state: CatalogRequestState, version: number): CatalogRequest {
  const working = state.status === 'fulfilling'
  const tasks = state.tasks.map((task) => ({
    ...task,
    allowedActions: working ? allowedTaskActions(task.status) : [],
  }))
  return { ...state, tasks, version, allowedActions: allowedRequestActions(state) }
}
