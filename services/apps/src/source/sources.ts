import {
  type DataSource,
  type DataSourceInput,
  type DataSourcePatch,
  type DataSourceState,
  type DataSourceWithProblems,
  newId,
  notFound,
  type ResourceCommand,
  type TenantScope,
} from '@opsplane/contracts'
import type { Aggregate } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { Expressions } from '@opsplane/sandbox'
import type { ServiceContext } from '@opsplane/service'
import type { Apps } from '../app/apps.js'
import { refuseProblems, refuseTooMany } from '../check/refuse.js'
import { checkSource } from '../check/source.js'
import { loadNames, maxSources } from '../draft.js'
import type { createWarnings } from '../inspect/inspect-for-caller.js'
import { rejectDuplicate } from '../reject-duplicate.js'
import { toWorkspaceScope, withWorkspaceScope } from '../workspace-scope.js'
import { dataSource } from './domain.js'

export interface Sources {
  aggregate: Aggregate<DataSourceState, ResourceCommand<DataSourceState>, DataSource>
  create(appId: string, fields: DataSourceInput, meta: RequestMeta): Promise<DataSourceWithProblems>
  get(appId: string, id: string, tenant: TenantScope): Promise<DataSource>
  update(
    appId: string,
    id: string,
    patch: DataSourcePatch,
    meta: RequestMeta,
  ): Promise<DataSourceWithProblems>
  delete(appId: string, id: string, meta: RequestMeta): Promise<void>
}

const nameConflict = {
  constraint: 'data_sources_name_key',
  field: 'name',
  message: 'A data source with this name already exists in this app.',
}

export interface SourceParts {
  apps: Apps
  expressions: Expressions
  warningsOf: ReturnType<typeof createWarnings>
}

/**
 * Data sources of apps. A source is saved only if it is valid by itself. Resources it names that do not exist in the
 * caller's environment are reported as warnings: another environment may have them, which each deployment checks.
 */
export function createSources(
  { store, database }: Pick<ServiceContext, 'store' | 'database'>,
  { apps, expressions, warningsOf }: SourceParts,
): Sources {
  const aggregate = store.aggregate(dataSource)

  const stateOf = async (appId: string, id: string, tenant: TenantScope) => {
    const found = await aggregate.find(id, toWorkspaceScope(tenant))
    if (found?.state.appId !== appId) throw notFound()
    return found.state
  }

  return {
    aggregate,

    async create(appId, fields, meta) {
      await apps.active(appId, 'add a data source', meta.tenant)
      const { sources } = await loadNames(database, appId, meta.tenant)
      refuseTooMany(sources.size, maxSources, 'data sources')
      refuseProblems(await checkSource(expressions, fields, meta.tenant))
      const id = newId('dataSource')
      const problems = await warningsOf(fields, id, meta)
      const command = { kind: 'create', id, fields: { appId, ...fields }, now: meta.now } as const
      const saved = store.transact(withWorkspaceScope(meta), async (unit) => ({
        ...(await unit.create(aggregate, id, command)),
        problems,
      }))
      return rejectDuplicate(saved, nameConflict)
    },

    async get(appId, id, tenant) {
      await stateOf(appId, id, tenant)
      return aggregate.get(id, toWorkspaceScope(tenant))
    },

    async update(appId, id, patch, meta) {
      const state = await stateOf(appId, id, meta.tenant)
      await apps.active(appId, 'change a data source', meta.tenant)
      const { name = state.name, binding = state.binding } = patch
      const { params = state.params, result = state.result } = patch
      refuseProblems(await checkSource(expressions, { binding, params, result }, meta.tenant))
      const problems = await warningsOf({ name, binding }, id, meta)
      const command = { kind: 'update', patch, now: meta.now } as const
      const saved = store.transact(
        withWorkspaceScope(meta),
        async (unit) => ({ ...(await unit.handle(aggregate, id, command)), problems }),
        { queueKey: id },
      )
      return rejectDuplicate(saved, nameConflict)
    },

    async delete(appId, id, meta) {
      await stateOf(appId, id, meta.tenant)
      await aggregate.handle(id, { kind: 'delete' }, withWorkspaceScope(meta))
    },
  }
}
