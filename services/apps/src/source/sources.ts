import {
  type DataSource,
  type DataSourceInput,
  type DataSourcePatch,
  type DataSourceState,
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
import { mostSources, namesIn } from '../draft.js'
import { atHome, homeOf } from '../home.js'
import { unlessTaken } from '../taken.js'
import { dataSource } from './domain.js'

export interface Sources {
  aggregate: Aggregate<DataSourceState, ResourceCommand<DataSourceState>, DataSource>
  create(appId: string, fields: DataSourceInput, meta: RequestMeta): Promise<DataSource>
  get(appId: string, id: string, tenant: TenantScope): Promise<DataSource>
  update(appId: string, id: string, patch: DataSourcePatch, meta: RequestMeta): Promise<DataSource>
  delete(appId: string, id: string, meta: RequestMeta): Promise<void>
}

const nameTaken = {
  constraint: 'data_sources_name_key',
  field: 'name',
  message: 'There is a data source of this name in this app already.',
}

/** Data sources of apps. Whether what they name is there is looked at by deployments: environments differ. */
export function createSources(
  { store, database }: Pick<ServiceContext, 'store' | 'database'>,
  { apps, expressions }: { apps: Apps; expressions: Expressions },
): Sources {
  const aggregate = store.aggregate(dataSource)

  const stateOf = async (appId: string, id: string, tenant: TenantScope) => {
    const found = await aggregate.find(id, homeOf(tenant))
    if (found?.state.appId !== appId) throw notFound()
    return found.state
  }

  return {
    aggregate,

    async create(appId, fields, meta) {
      await apps.active(appId, 'add a data source', meta.tenant)
      const { sources } = await namesIn(database, appId, meta.tenant)
      refuseTooMany(sources.size, mostSources, 'data sources')
      refuseProblems(await checkSource(expressions, fields, meta.tenant))
      const id = newId('dataSource')
      const command = { kind: 'create', id, fields: { appId, ...fields }, now: meta.now } as const
      return unlessTaken(aggregate.create(id, command, atHome(meta)), nameTaken)
    },

    async get(appId, id, tenant) {
      await stateOf(appId, id, tenant)
      return aggregate.get(id, homeOf(tenant))
    },

    async update(appId, id, patch, meta) {
      const state = await stateOf(appId, id, meta.tenant)
      await apps.active(appId, 'change a data source', meta.tenant)
      const { binding = state.binding, params = state.params, result = state.result } = patch
      refuseProblems(await checkSource(expressions, { binding, params, result }, meta.tenant))
      const command = { kind: 'update', patch, now: meta.now } as const
      return unlessTaken(aggregate.handle(id, command, atHome(meta)), nameTaken)
    },

    async delete(appId, id, meta) {
      await stateOf(appId, id, meta.tenant)
      await aggregate.handle(id, { kind: 'delete' }, atHome(meta))
    },
  }
}
