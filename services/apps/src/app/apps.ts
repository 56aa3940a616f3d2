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
import type { AccessChecks } from '../access/changes.js'
import { mayBuild, mayUse } from '../access/domain.js'
import { rejectDuplicate } from '../reject-duplicate.js'
import { toWorkspaceScope, withWorkspaceScope } from '../workspace-scope.js'
import { type AppCommand, app } from './domain.js'

export interface Apps {
  aggregate: Aggregate<AppState, AppCommand, App>
  /** Throws `conflict` if another app of the workspace has the slug, and the errors of `AccessChecks`. */
  create(fields: NewApp, meta: RequestMeta): Promise<App>
  /** Throws `not_found` also if the person may neither use nor build the app. */
  get(id: string, meta: Pick<RequestMeta, 'tenant' | 'principal'>): Promise<App>
  update(id: string, patch: AppPatch, meta: RequestMeta): Promise<App>
  archive(id: string, meta: RequestMeta): Promise<App>
  /**
   * Throws `not_found`, and `invalid_state_transition` for an archived app; `action` names the attempted action in the
   * message.
   */
  active(id: string, action: string, tenant: TenantScope): Promise<AppState>
}

const slugConflict = {
  constraint: 'apps_slug_key',
  field: 'slug',
  message: 'An app with this slug already exists in this workspace.',
}

/** Apps belong to the whole workspace, independent of the environment of the request. */
export function createApps(
  { store }: Pick<ServiceContext, 'store'>,
  { accessChecks }: { accessChecks: AccessChecks },
): Apps {
  const aggregate = store.aggregate(app)
  return {
    aggregate,
    async create(fields, meta) {
      await accessChecks.requireKnown(fields.access, meta)
      const id = newId('app')
      const command = { kind: 'create', id, fields, now: meta.now } as const
      return rejectDuplicate(aggregate.create(id, command, withWorkspaceScope(meta)), slugConflict)
    },
    async get(id, { tenant, principal }) {
      const found = await aggregate.get(id, toWorkspaceScope(tenant))
      if (!mayBuild(principal) && !mayUse(found.access, principal)) throw notFound()
      return found
    },
    async update(id, patch, meta) {
      const { access } = patch
      if (access !== undefined) {
        const { access: before = null } = await aggregate.get(id, toWorkspaceScope(meta.tenant))
        await accessChecks.requireRights(id, { before, after: access }, meta)
        await accessChecks.requireKnown(access, meta)
      }
      const command = { kind: 'update', patch, now: meta.now } as const
      return rejectDuplicate(aggregate.handle(id, command, withWorkspaceScope(meta)), slugConflict)
    },
    archive: (id, meta) => aggregate.handle(id, { kind: 'archive', now: meta.now }, withWorkspaceScope(meta)),
    async active(id, action, tenant) {
      const found = await aggregate.find(id, toWorkspaceScope(tenant))
      if (!found) throw notFound()
      if (found.state.status === 'archived') throw invalidTransition(action, 'archived', [])
      return found.state
    },
  }
}
