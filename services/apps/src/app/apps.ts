import {
  type App,
  type AppPatch,
  type AppState,
  invalidTransition,
  type NewApp,
  newId,
  notFound,
  type TenantScope,
} from '@opsplane/contracts'
import type { Aggregate } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { atHome, homeOf } from '../home.js'
import { unlessTaken } from '../taken.js'
import { type AppCommand, app } from './domain.js'

export interface Apps {
  aggregate: Aggregate<AppState, AppCommand, App>
  /** Throws `conflict` for a slug that another app of the workspace has. */
  create(fields: NewApp, meta: RequestMeta): Promise<App>
  get(id: string, tenant: TenantScope): Promise<App>
  update(id: string, patch: AppPatch, meta: RequestMeta): Promise<App>
  archive(id: string, meta: RequestMeta): Promise<App>
  /** Throws `not_found`, and `invalid_state_transition` for one that is archived; `action` is what is to be done. */
  active(id: string, action: string, tenant: TenantScope): Promise<AppState>
}

const slugTaken = {
  constraint: 'apps_slug_key',
  field: 'slug',
  message: 'There is an app of this slug in this workspace already.',
}

/** Apps of whole workspaces, whatever environment a request is for. */
export function createApps({ store }: Pick<ServiceContext, 'store'>): Apps {
  const aggregate = store.aggregate(app)
  return {
    aggregate,
    create: (fields, meta) => {
      const id = newId('app')
      const command = { kind: 'create', id, fields, now: meta.now } as const
      return unlessTaken(aggregate.create(id, command, atHome(meta)), slugTaken)
    },
    get: (id, tenant) => aggregate.get(id, homeOf(tenant)),
    update: (id, patch, meta) =>
      unlessTaken(aggregate.handle(id, { kind: 'update', patch, now: meta.now }, atHome(meta)), slugTaken),
    archive: (id, meta) => aggregate.handle(id, { kind: 'archive', now: meta.now }, atHome(meta)),
    async active(id, action, tenant) {
      const found = await aggregate.find(id, homeOf(tenant))
      if (!found) throw notFound()
      if (found.state.status === 'archived') throw invalidTransition(action, 'archived', [])
      return found.state
    },
  }
}
