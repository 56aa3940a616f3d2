import { ApiError, guestTokenHeader, notFound, type Permission, type TenantScope } from '@opsplane/contracts'
import type { CarriedLimits, PlatformCaller, RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { LRUCache } from 'lru-cache'
import { notSharedError } from '../access/changes.js'
import { hasUsePermission, mayUse } from '../access/domain.js'
import type { Deployments } from '../deployment/deployments.js'
import type { StoredDeployment } from '../deployment/domain.js'
import { type DeploymentRow, findLiveAtSlug } from '../deployment/queries.js'
import type { Embeds } from '../embed/embeds.js'
import type { Platform } from '../platform.js'
import { createSourceCompiler } from './compiled.js'
import type { DeploymentUse } from './deployment-use.js'

/** The workspace and app in the path of a request. */
export interface Address {
  workspace: string
  slug: string
}

/**
 * Resolves the user and the deployment at an address: a person or a key with access to the app, or the holder of an
 * embed token. Throws `unauthenticated`, `invalid_token`, `token_expired`, `insufficient_scope`, `forbidden`,
 * `workspace_forbidden` or `not_found`.
 */
export type Enter = (address: Address, meta: RequestMeta) => Promise<DeploymentUse>

export interface EnterParts {
  deployments: Deployments
  embeds: Embeds
  platform: Pick<Platform, 'delegations'>
}

/** As long as the gateway reuses a client's token, in milliseconds. */
const grantReuseMs = 25_000
const grantSeconds = 60
const maxGrants = 5_000

export function createEnter({ database }: ServiceContext, parts: EnterParts): Enter {
  const { deployments, embeds, platform } = parts
  const compile = createSourceCompiler()
  const grants = new LRUCache<string, { grant: Promise<string>; until: number }>({ max: maxGrants })

  const runningOf = async ({ state }: DeploymentRow, tenant: TenantScope) => {
    const { contents } = await deployments.load(state.id, tenant)
    const sources = compile(state.id, contents, state.pinned)
    return { deployment: state, contents, sources, tenant }
  }

  /**
   * A grant of the calling person, limited to `permissions` (none: it only proves the person's identity). Reused for
   * about half a minute.
   */
  const personsGrant = (meta: RequestMeta, id: string, permissions: Permission[]): Promise<string> => {
    const key = `${id} ${meta.clientToken}`
    const known = grants.get(key)
    if (known && known.until > performance.now()) return known.grant
    const grantRequest = { run: id, permissions, expiresInSeconds: grantSeconds }
    const grant = platform.delegations.delegate(meta, grantRequest).then((delegation) => delegation.grant)
    grants.set(key, { grant, until: performance.now() + grantReuseMs })
    grant.catch(() => grants.delete(key))
    return grant
  }

  const asPerson: Enter = async ({ slug }, meta) => {
    const { actor, userId, email = '', workspaceId = '', environment = 'production' } = meta.principal
    const tenant = { workspaceId, environment }
    const found = await findLiveAtSlug(database.sql, slug, tenant)
    if (!found && !hasUsePermission(meta.principal)) throw needsUse()
    if (!found) throw notFound()
    if (!mayUse(found.access, meta.principal)) throw found.access ? notSharedError() : needsUse()
    const { id, permissions } = found.state
    const carried = await deployments.grantBy(found.state, tenant)
    return {
      ...{ ...(await runningOf(found, tenant)), embed: null },
      user: { id: userId, name: actor.name, email },
      async caller(key): Promise<PlatformCaller> {
        const common = { key, causationId: id }
        // Deployments stored before each had a grant use the person's own rights until they are deployed again or taken over.
        if (carried === null) return { ...common, grant: await personsGrant(meta, id, permissions) }
        return { ...common, grant: carried, person: await personsGrant(meta, id, []) }
      },
    }
  }

  const asEmbed = async (
    { workspace, slug }: Address,
    token: string,
    meta: RequestMeta,
  ): Promise<DeploymentUse> => {
    refuseOtherSites(meta)
    const { state: embed, ...of } = await embeds.verified(token, meta.now)
    if (of.workspace !== workspace) throw notFound()
    const found = await findLiveAtSlug(database.sql, slug, of.tenant)
    if (found?.state.appId !== embed.appId) throw notFound()
    const { state } = found
    const grant = await deployments.grantBy(state, of.tenant)
    if (!state.embeddable || grant === null) throw notEmbeddable()
    const callers = [{ userId: embed.createdBy, tokenId: embed.makerTokenId }]
    const limits = { callers, workflow: actorOf(state) }
    await requireMaker(platform.delegations, grant, limits)
    return {
      ...{ ...(await runningOf(found, of.tenant)), embed },
      user: embed.user,
      caller: async (key) => ({ ...limits, grant, key, causationId: state.id }),
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
      throw new ApiError('workspace_forbidden', 'X-Workspace does not match the workspace of the address.')
    return asPerson(address, meta)
  }
}

/** The embedded app is the actor, not the person who deployed it. */
const actorOf = ({ appId, appName }: StoredDeployment) => ({ id: appId, name: appName })

const needsUse = () => new ApiError('insufficient_scope', 'This operation needs the permission apps:use.')

/** The service apps read from most; the token requested for this check is reused by the calls that follow. */
const usualAudience = 'database-studio'
const missingMakerCodes = new Set(['workspace_forbidden', 'invalid_token', 'token_expired'])

/**
 * Throws `invalid_token` if the maker of an embed token or the giver of the deployment has left, or if their key has
 * ended.
 */
async function requireMaker(
  delegations: Platform['delegations'],
  grant: string,
  limits: CarriedLimits,
): Promise<void> {
  await delegations
    .actingBy(grant, limits)
    .serviceToken(usualAudience)
    .catch((cause: unknown) => {
      if (!(cause instanceof ApiError) || !missingMakerCodes.has(cause.code)) throw cause
      const message = 'The embed token has ended: a user it depends on may no longer act here.'
      throw new ApiError('invalid_token', message, { cause })
    })
}

const notEmbeddable = () => new ApiError('forbidden', 'The live deployment is not embeddable.')

/**
 * Only the app's own page sends an embed token, never the page that embeds it. The browser reports the requesting
 * site.
 */
function refuseOtherSites({ header }: RequestMeta): void {
  const site = header('sec-fetch-site')
  if (site === undefined || site === 'same-origin') return
  throw new ApiError('forbidden', 'An embed token can be used only by the app, not from another site.')
}
