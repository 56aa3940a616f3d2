import {
  ApiError,
  type AppState,
  type DeployApp,
  type Deployment,
  type DeploymentContents,
  type DeploymentProblem,
  newId,
  notFound,
  type RollbackApp,
  type TenantScope,
} from '@opsplane/contracts'
import { type Aggregate, lockTenant, serializer } from '@opsplane/eventstore'
import { maxDetails, type RequestMeta } from '@opsplane/http'
import { toStatementRunner } from '@opsplane/postgres'
import type { Expressions } from '@opsplane/sandbox'
import type { ServiceContext } from '@opsplane/service'
import type { Apps } from '../app/apps.js'
import { checkPage } from '../check/page.js'
import { readDraft } from '../draft.js'
import type { Inspection } from '../inspect/inspect.js'
import type { InspectForCaller } from '../inspect/inspect-for-caller.js'
import type { Platform } from '../platform.js'
import { type CarriedRights, createCarriedRights, requireCarriedRights } from './carried-rights.js'
import {
  computeDigest,
  contentsRow,
  createContentsLoader,
  type LoadContents,
  toContents,
} from './contents.js'
import { type DeploymentCommand, deployment, type StoredDeployment } from './domain.js'
import { type DeploymentRow, findByNumber, findLiveDeployment } from './queries.js'

export interface Deployments {
  aggregate: Aggregate<StoredDeployment, DeploymentCommand, Omit<Deployment, 'live'>>
  load: LoadContents
  /**
   * Deploys the current pages and sources. If something is missing, records `deploy.failed` and throws
   * `validation_failed` with the problems.
   */
  deploy(appId: string, options: DeployApp, meta: RequestMeta): Promise<Deployment>
  /**
   * Deploys an earlier deployment again. Throws `not_found` if no deployment has this number, and the errors of
   * `deploy`.
   */
  rollback(appId: string, options: RollbackApp, meta: RequestMeta): Promise<Deployment>
  /** Finds a deployment by id or number. Throws `not_found` unless it belongs to the app in this environment. */
  find(appId: string, reference: string, meta: RequestMeta): Promise<Deployment>
  /** Adds `live`, for lists. */
  present(row: { state: Record<string, unknown>; version: number }, liveId: string | undefined): Deployment
  liveId(appId: string, tenant: TenantScope): Promise<string | undefined>
  grantBy: CarriedRights['grantBy']
  /** The live deployment of the app in this environment. Throws `conflict` if there is none. */
  live(appId: string, tenant: TenantScope): Promise<StoredDeployment>
  /**
   * Gives the live deployment the rights of the caller. Throws `conflict` if no deployment is live, and `forbidden`
   * (`permission_not_held`) with the permissions of the deployment that the caller lacks.
   */
  takeOver(appId: string, meta: RequestMeta): Promise<Deployment>
}

export interface DeploymentParts {
  apps: Apps
  expressions: Expressions
  platform: Pick<Platform, 'delegations'>
  lookUp: InspectForCaller
}

/** One attempt to make contents live. */
interface Release {
  app: AppState
  contents: DeploymentContents
  restores: number | null
  note: string
  embeddable: boolean
}

type Replaces = (before: StoredDeployment | undefined) => void

export function createDeployments(ctx: ServiceContext, parts: DeploymentParts): Deployments {
  const { store, database, log } = ctx
  const { apps, expressions, lookUp } = parts
  const { delegations } = parts.platform
  const aggregate = store.aggregate(deployment)
  const load = createContentsLoader(database)
  const carrying = createCarriedRights(delegations, { load, log })
  const serialized = serializer({ store, database }, lockTenant('deployments'))

  /** The problems that prevent the contents from going live, and the permissions they need. */
  const inspect = async ({ contents }: Release, id: string, meta: RequestMeta): Promise<Inspection> => {
    const world = await lookUp(contents.sources, id, meta)
    const problems = [...(await ofPages(expressions, contents, meta.tenant)), ...world.problems]
    return { ...world, problems: problems.slice(0, maxDetails) }
  }

  const stateOf = (release: Release, id: string, world: Inspection, meta: RequestMeta): StoredDeployment => ({
    ...{ id, appId: release.app.id, appSlug: release.app.slug, appName: release.app.name },
    environment: meta.tenant.environment,
    status: world.problems.length > 0 ? 'failed' : 'completed',
    number: null,
    ...{ note: release.note, restores: release.restores, embeddable: release.embeddable },
    digest: computeDigest(release.contents),
    pageCount: release.contents.pages.length,
    sourceCount: release.contents.sources.length,
    ...world,
    ...{ deployedBy: meta.principal.userId, giverId: meta.principal.userId, grant: null },
    ...{ heldReason: null, missing: [] },
    ...{ createdAt: meta.now, updatedAt: meta.now },
  })

  const goLive = (state: StoredDeployment, release: Release, replaces: Replaces, meta: RequestMeta) =>
    serialized(meta, async (unit, tx) => {
      const before = await findLiveDeployment(toStatementRunner(tx), release.app.id, meta.tenant)
      replaces(before?.state)
      const number = (before?.state.number ?? 0) + 1
      const contents = contentsRow(state.id, {
        ...{ contents: release.contents, grant: null, createdAt: meta.now },
      })
      const command: DeploymentCommand = { kind: 'record', state: { ...state, number }, contents }
      return { ...(await unit.create(aggregate, state.id, command)), live: true }
    })

  const release = async (newRelease: Release, meta: RequestMeta): Promise<Deployment> => {
    const id = newId('deployment')
    const world = await inspect(newRelease, id, meta)
    const state = stateOf(newRelease, id, world, meta)
    if (world.problems.length > 0) {
      const { idempotency: _, ...unkept } = meta
      await aggregate.create(id, { kind: 'record', state, contents: null }, unkept)
      throw failed(id, world.problems)
    }
    return carrying.give({ id, permissions: world.permissions }, meta, (grant, replaces) =>
      goLive({ ...state, grant }, newRelease, replaces, meta),
    )
  }

  const live: Deployments['live'] = async (appId, tenant) => {
    const found = await findLiveDeployment(database.sql, appId, tenant)
    if (!found) throw notDeployed()
    return found.state
  }

  const takeOver: Deployments['takeOver'] = async (appId, meta) => {
    await apps.active(appId, 'take over', meta.tenant)
    const { id, permissions } = await live(appId, meta.tenant)
    requireCarriedRights(permissions, meta)
    const giverId = meta.principal.userId
    return carrying.give({ id, permissions }, meta, (grant, replaces) =>
      serialized(meta, async (unit, tx) => {
        const found = await findLiveDeployment(toStatementRunner(tx), appId, meta.tenant)
        // Another deployment, which carries other rights, went live meanwhile.
        if (found?.id !== id)
          throw new ApiError('version_conflict', 'Another deployment went live meanwhile.')
        replaces(found.state)
        const command = { kind: 'take_over', giverId, grant, now: meta.now } as const
        return { ...(await unit.handle(aggregate, id, command)), live: true }
      }),
    )
  }

  const shown = ({ state, version }: DeploymentRow, liveId: string | undefined): Deployment => ({
    ...aggregate.present({ state, version }),
    live: state.id === liveId,
  })
  const liveId = async (appId: string, tenant: TenantScope) =>
    (await findLiveDeployment(database.sql, appId, tenant))?.id

  return {
    aggregate,
    ...{ load, liveId, live, takeOver, grantBy: carrying.grantBy },
    present: (row, live) => {
      const response = aggregate.present(row)
      return { ...response, live: response.id === live }
    },

    async deploy(appId, { note, embeddable }, meta) {
      const app = await apps.active(appId, 'deploy', meta.tenant)
      const contents = toContents(await readDraft(database, appId, meta.tenant))
      return release({ app, contents, note, embeddable, restores: null }, meta)
    },

    async rollback(appId, { to, note, embeddable }, meta) {
      const app = await apps.active(appId, 'roll back', meta.tenant)
      const found = await findByNumber(database.sql, appId, to, meta.tenant)
      if (!found) throw notFound()
      const { contents } = await load(found.id, meta.tenant)
      return release({ app, contents, note, embeddable, restores: to }, meta)
    },

    async find(appId, reference, meta) {
      await apps.get(appId, meta)
      const { tenant } = meta
      const row = /^[1-9]\d{0,8}$/.test(reference)
        ? await findByNumber(database.sql, appId, Number(reference), tenant)
        : await aggregate.find(reference, tenant)
      if (row?.state.appId !== appId) throw notFound()
      return shown({ id: row.state.id, ...row }, await liveId(appId, tenant))
    },
  }
}

/** Problems of pages, including names that are not deployed with them. */
async function ofPages(
  expressions: Expressions,
  { pages, sources }: DeploymentContents,
  tenant: TenantScope,
): Promise<DeploymentProblem[]> {
  const none = { page: null, source: null, path: '/pages' }
  if (pages.length === 0) return [{ ...none, code: 'no_pages', message: 'the app has no page' }]
  const knownNames = {
    sources: new Set(sources.map(({ name }) => name)),
    pages: new Set(pages.map(({ slug }) => slug)),
  }
  const checked = await Promise.all(
    pages.map(async (page) => {
      const { syntax, missing } = await checkPage(expressions, page, knownNames, tenant)
      return [...syntax, ...missing].map((found) => ({ page: page.slug, source: null, ...found }))
    }),
  )
  return checked.flat()
}

const notDeployed = () => new ApiError('conflict', 'The app is not deployed to this environment.')

function failed(id: string, problems: readonly DeploymentProblem[]): ApiError {
  const message = `The app was not deployed: ${problems.length === 1 ? 'something is' : `${problems.length} things are`} missing or wrong.`
  return new ApiError('validation_failed', message, {
    details: problems.map(({ page, source, path, code, message: text }) => ({
      ...{ in: 'body' as const, path: '', code, message: text },
      params: { deployment: id, page, source, path },
    })),
  })
}
