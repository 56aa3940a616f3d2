import {
  ApiError,
  type EmbedToken,
  type EmbedTokenCreated,
  type Environment,
  invalidField,
  type NewEmbedToken,
  newId,
  notFound,
  type TenantScope,
} from '@opsplane/contracts'
import type { Aggregate } from '@opsplane/eventstore'
import { jsonPointer, type RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import type { Apps } from '../app/apps.js'
import { requireCarriedRights } from '../deployment/carried-rights.js'
import type { Deployments } from '../deployment/deployments.js'
import { toWorkspaceScope } from '../workspace-scope.js'
import { type EmbedTokenCommand, embedToken, StoredEmbedToken } from './domain.js'
import { createEmbedSigner, type EmbedSigner } from './jwt.js'

export interface Embeds {
  aggregate: Aggregate<StoredEmbedToken, EmbedTokenCommand, EmbedToken>
  /**
   * Throws `conflict` if the deployment is not embeddable, and `forbidden` with the permissions of the deployment that
   * the caller lacks.
   */
  create(appId: string, input: NewEmbedToken, meta: RequestMeta): Promise<EmbedTokenCreated>
  get(appId: string, id: string, tenant: TenantScope): Promise<EmbedToken>
  revoke(appId: string, id: string, meta: RequestMeta): Promise<void>
  /**
   * Verifies a signed token and returns its state. Throws `token_expired`, or `invalid_token`, also for a revoked
   * token.
   */
  verified(token: string, now: string): Promise<VerifiedEmbed>
  /**
   * The origins that may frame the page at this address, by the id of an embed token. Empty if the id is unknown,
   * expired or revoked, or belongs to an app at another address.
   */
  origins(id: string, at: FramedAddress, now: string): Promise<readonly string[]>
}

/** The requested address of an app's page. */
export interface FramedAddress {
  /** Slug of the workspace. */
  workspace: string
  /** Slug of the app. */
  slug: string
  /** `undefined` if the address names none. */
  environment: Environment | undefined
}

export interface VerifiedEmbed {
  state: StoredEmbedToken
  tenant: TenantScope
  /** Slug of the workspace. */
  workspace: string
}

const Row = z.object({ workspaceId: z.string(), state: StoredEmbedToken })

export function createEmbeds(
  { store, database, config, clock }: ServiceContext,
  { apps, deployments }: { apps: Apps; deployments: Deployments },
): Embeds {
  const aggregate = store.aggregate(embedToken)
  const signer: EmbedSigner = createEmbedSigner(config.servicePrivateKey, config.previousServicePrivateKeys)

  /** The tenant of the id is unknown here: the caller checks the signature, or returns only public data. */
  const byId = async (id: string) => {
    const [row] = await database.sql.unsafe(
      'select workspace_id as "workspaceId", state from embed_tokens where id = $1',
      [id],
      { prepare: true },
    )
    return row && Row.parse(row)
  }
  const isOver = ({ revokedAt, expiresAt }: StoredEmbedToken, now: string) =>
    revokedAt !== null || expiresAt <= now

  const get: Embeds['get'] = async (appId, id, tenant) => {
    const found = await aggregate.get(id, tenant)
    if (found.appId !== appId) throw notFound()
    return found
  }

  return {
    aggregate,
    get,

    async create(appId, { expiresInSeconds, ...wanted }, meta) {
      const { tenant, principal } = meta
      const { slug } = await apps.active(appId, 'embed', tenant)
      await refuseUnfit(deployments, appId, wanted, meta)
      const now = clock.now()
      const workspace = principal.workspaceSlug ?? ''
      const state: StoredEmbedToken = {
        ...{
          id: newId('embedToken'),
          appId,
          environment: tenant.environment,
          workspaceSlug: workspace,
          ...wanted,
        },
        expiresAt: new Date(Date.parse(now) + expiresInSeconds * 1_000).toISOString(),
        ...{ revokedAt: null, createdBy: principal.userId, makerTokenId: principal.tokenId },
        ...{ createdAt: now, updatedAt: now },
      }
      const token = await signer.sign(state, workspace)
      const path = `/apps/${workspace}/${slug}?embed=${state.id}#token=${token}`
      return store.transact(meta, async (unit) => ({
        ...(await unit.create(aggregate, state.id, { kind: 'create', state })),
        ...{ token, path },
      }))
    },

    async revoke(appId, id, meta) {
      await get(appId, id, meta.tenant)
      await aggregate.handle(id, { kind: 'revoke', now: meta.now }, meta)
    },

    async verified(token, now) {
      const { jti, workspace, app, environment } = await signer.verify(token)
      const found = await byId(jti)
      const isSame = found?.state.appId === app && found.state.environment === environment
      if (!found || !isSame || found.state.revokedAt !== null)
        throw new ApiError('invalid_token', 'The embed token was revoked.')
      if (isOver(found.state, now)) throw new ApiError('token_expired', 'The embed token has expired.')
      const { state, workspaceId } = found
      return { state, workspace, tenant: { workspaceId, environment: state.environment } }
    },

    async origins(id, { workspace, slug, environment }, now) {
      const found = await byId(id)
      if (!found || isOver(found.state, now)) return []
      const { appId, workspaceSlug, environment: own, origins } = found.state
      if (workspaceSlug !== workspace || (environment !== undefined && environment !== own)) return []
      const app = await apps.aggregate.find(appId, toWorkspaceScope(found))
      return app?.state.status === 'active' && app.state.slug === slug ? origins : []
    },
  }
}

/**
 * Throws unless the live deployment is embeddable, the caller has its permissions, and it has the sources the token
 * names.
 */
async function refuseUnfit(
  deployments: Deployments,
  appId: string,
  { exempt, rowFilter }: Pick<NewEmbedToken, 'exempt' | 'rowFilter'>,
  meta: RequestMeta,
): Promise<void> {
  const { id, embeddable, permissions } = await deployments.live(appId, meta.tenant)
  if (!embeddable)
    throw new ApiError('conflict', 'The deployment is not embeddable. Deploy the app with embeddable.')
  requireCarriedRights(permissions, meta)
  const { contents } = await deployments.load(id, meta.tenant)
  for (const [index, name] of exempt.entries())
    if (!contents.sources.some((source) => source.name === name))
      throw invalidField(jsonPointer(['exempt', index]), 'unknown_source', `There is no data source ${name}.`)
  if (rowFilter !== null && Object.hasOwn(rowFilter, 'or'))
    throw invalidField('/rowFilter/or', 'unrecognized_key', 'or is not a field.')
}
