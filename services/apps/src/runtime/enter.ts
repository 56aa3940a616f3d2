import {
  ApiError,
  type DeploymentState,
  guestTokenHeader,
  notFound,
  type TenantScope,
} from '@opsplane/contracts'
import type { PlatformCaller, RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { LRUCache } from 'lru-cache'
import type { Deployments } from '../deployment/deployments.js'
import { liveAt } from '../deployment/queries.js'
import type { Embeds } from '../embed/embeds.js'
import type { Platform } from '../platform.js'
import { sourceCompiler } from './compiled.js'
import type { Running } from './running.js'

/** Whose address a request is for, as its path says. */
export interface Address {
  workspace: string
  slug: string
}

/**
 * Who uses what runs at an address: a person or a key with `apps:use`, or the holder of an embed token. Throws
 * `unauthenticated`, `invalid_token`, `token_expired`, `insufficient_scope`, `forbidden` or `not_found`.
 */
export type Enter = (address: Address, meta: RequestMeta) => Promise<Running>

export interface EnterParts {
  deployments: Deployments
  embeds: Embeds
  platform: Pick<Platform, 'delegations'>
}

/** As long as the gateway uses a client's token again. */
const grantReuseMs = 25_000
const grantSeconds = 60
const mostGrants = 5_000

export function createEnter({ database }: ServiceContext, parts: EnterParts): Enter {
  const { deployments, embeds, platform } = parts
  const compile = sourceCompiler()
  const grants = new LRUCache<string, { grant: Promise<string>; until: number }>({ max: mostGrants })

  const live = async (slug: string, tenant: TenantScope) => {
    const row = await liveAt(database.sql, slug, tenant)
    if (!row) throw notFound()
    const stored = await deployments.load(row.id, tenant)
    const { state } = row
    return { state, stored, sources: compile(state.id, stored.contents, state.pinned) }
  }

  /** What the person may do, and of that no more than the deployment takes: for the requests of half a minute. */
  const personsGrant = (meta: RequestMeta, { id, permissions }: DeploymentState): Promise<string> => {
    const key = `${id} ${meta.clientToken}`
    const known = grants.get(key)
    if (known && known.until > performance.now()) return known.grant
    const wanted = { run: id, permissions, expiresInSeconds: grantSeconds }
    const grant = platform.delegations.delegate(meta, wanted).then((given) => given.grant)
    grants.set(key, { grant, until: performance.now() + grantReuseMs })
    grant.catch(() => grants.delete(key))
    return grant
  }

  const asPerson: Enter = async ({ slug }, meta) => {
    const { actor, userId, email = '', workspaceId = '', environment = 'production' } = meta.principal
    const tenant = { workspaceId, environment }
    const { state, stored, sources } = await live(slug, tenant)
    return {
      ...{ deployment: state, contents: stored.contents, sources, tenant, embed: null },
      user: { id: userId, name: actor.name, email },
      caller: async (key): Promise<PlatformCaller> => ({
        ...{ grant: await personsGrant(meta, state), key, causationId: state.id },
      }),
    }
  }

  const asEmbed = async (
    { workspace, slug }: Address,
    token: string,
    meta: RequestMeta,
  ): Promise<Running> => {
    refuseOtherSites(meta)
    const { state: embed, ...of } = await embeds.verified(token, meta.now)
    if (of.workspace !== workspace) throw notFound()
    const { state, stored, sources } = await live(slug, of.tenant)
    if (state.appId !== embed.appId) throw notFound()
    const { grant } = stored
    if (grant === null) throw notEmbeddable()
    return {
      ...{ deployment: state, contents: stored.contents, sources, tenant: of.tenant, embed },
      user: embed.user,
      caller: async (key) => ({ ...{ grant, key, causationId: state.id }, workflow: actorOf(state) }),
    }
  }

  return async (address, meta) => {
    const { principal } = meta
    if (principal.workspaceId === undefined) {
      const token = meta.header(guestTokenHeader)
      if (token === undefined)
        throw new ApiError(
          'unauthenticated',
          'Send an access token or an embed token: Authorization: Bearer <token>.',
        )
      return asEmbed(address, token, meta)
    }
    if (principal.workspaceSlug !== address.workspace)
      throw new ApiError('workspace_forbidden', 'X-Workspace names another workspace than the address.')
    if (!principal.permissions.includes('apps:use'))
      throw new ApiError('insufficient_scope', 'This operation needs the permission apps:use.')
    return asPerson(address, meta)
  }
}

/** An embedded app is one that acts, not the person who has deployed it. */
const actorOf = ({ appId, appName }: DeploymentState) => ({ id: appId, name: appName })

const notEmbeddable = () => new ApiError('forbidden', 'What runs now is not to be embedded.')

/** The app's own page sends an embed token, never the page that shows it. A browser says which site asks. */
function refuseOtherSites({ header }: RequestMeta): void {
  const site = header('sec-fetch-site')
  if (site === undefined || site === 'same-origin') return
  throw new ApiError('forbidden', 'An embed token is used by the app alone, not from another site.')
}
