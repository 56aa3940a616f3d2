import {
  type AppPage,
  type AppPageState,
  type AppPageWithProblems,
  newId,
  notFound,
  type PageInput,
  type PagePatch,
  type ResourceCommand,
  type TenantScope,
} from '@opsplane/contracts'
import type { Aggregate } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { Expressions } from '@opsplane/sandbox'
import type { ServiceContext } from '@opsplane/service'
import type { Apps } from '../app/apps.js'
import { checkPage } from '../check/page.js'
import { refuseProblems, refuseTooMany } from '../check/refuse.js'
import { loadNames, maxPages } from '../draft.js'
import { rejectDuplicate } from '../reject-duplicate.js'
import { toWorkspaceScope, withWorkspaceScope } from '../workspace-scope.js'
import { appPage } from './domain.js'

export interface Pages {
  aggregate: Aggregate<AppPageState, ResourceCommand<AppPageState>, AppPage>
  create(appId: string, fields: PageInput, meta: RequestMeta): Promise<AppPageWithProblems>
  get(appId: string, id: string, tenant: TenantScope): Promise<AppPageWithProblems>
  update(appId: string, id: string, patch: PagePatch, meta: RequestMeta): Promise<AppPageWithProblems>
  delete(appId: string, id: string, meta: RequestMeta): Promise<void>
}

const slugConflict = {
  constraint: 'app_pages_slug_key',
  field: 'slug',
  message: 'A page with this slug already exists in this app.',
}

/**
 * Pages of apps. A page is saved only if its expressions can be parsed; references to missing names are saved as
 * problems.
 */
export function createPages(
  { store, database }: Pick<ServiceContext, 'store' | 'database'>,
  { apps, expressions }: { apps: Apps; expressions: Expressions },
): Pages {
  const aggregate = store.aggregate(appPage)

  const stateOf = async (appId: string, id: string, tenant: TenantScope) => {
    const found = await aggregate.find(id, toWorkspaceScope(tenant))
    if (found?.state.appId !== appId) throw notFound()
    return found.state
  }
  const problemsOf = async (
    appId: string,
    page: Pick<PageInput, 'components' | 'slug'>,
    tenant: TenantScope,
  ) => {
    const { sources, pages } = await loadNames(database, appId, tenant)
    const knownNames = { sources, pages: new Set([...pages, page.slug]) }
    const { syntax, missing } = await checkPage(expressions, page, knownNames, tenant)
    refuseProblems(syntax)
    return missing
  }

  return {
    aggregate,

    async create(appId, fields, meta) {
      await apps.active(appId, 'add a page', meta.tenant)
      const { pages } = await loadNames(database, appId, meta.tenant)
      refuseTooMany(pages.size, maxPages, 'pages')
      const problems = await problemsOf(appId, fields, meta.tenant)
      const id = newId('page')
      const command = { kind: 'create', id, fields: { appId, ...fields }, now: meta.now } as const
      const saved = store.transact(withWorkspaceScope(meta), async (unit) => ({
        ...(await unit.create(aggregate, id, command)),
        problems,
      }))
      return rejectDuplicate(saved, slugConflict)
    },

    async get(appId, id, tenant) {
      await stateOf(appId, id, tenant)
      const page = await aggregate.get(id, toWorkspaceScope(tenant))
      return { ...page, problems: await problemsOf(appId, page, tenant) }
    },

    async update(appId, id, patch, meta) {
      const state = await stateOf(appId, id, meta.tenant)
      await apps.active(appId, 'change a page', meta.tenant)
      const { components = state.components, slug = state.slug } = patch
      const problems = await problemsOf(appId, { components, slug }, meta.tenant)
      const command = { kind: 'update', patch, now: meta.now } as const
      const saved = store.transact(
        withWorkspaceScope(meta),
        async (unit) => ({ ...(await unit.handle(aggregate, id, command)), problems }),
        { queueKey: id },
      )
      return rejectDuplicate(saved, slugConflict)
    },

    async delete(appId, id, meta) {
      await stateOf(appId, id, meta.tenant)
      await aggregate.handle(id, { kind: 'delete' }, withWorkspaceScope(meta))
    },
  }
}
