import {
  ApiError,
  type IdentityProvider,
  type IdentityProviderPatch,
  invalidField,
  type NewIdentityProvider,
  newId,
} from '@opsplane/contracts'
import type { Serialized, Transaction } from '@opsplane/eventstore'
import type { Outbound, RequestMeta } from '@opsplane/http'
import type { Vault } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { inWorkspaceScope, requireGrant } from '../membership/members.js'
import { requireSession } from '../session/own-session.js'
import { requireProvenFactor } from '../session/proven-factor.js'
import type { Sessions } from '../session/sessions.js'
import type { ProviderAddresses } from './addresses.js'
import { identityProvider, type StoredProvider } from './domain.js'
import { countProviders } from './queries.js'
import { endSsoSessions } from './sso-sessions.js'

/** Limits the number of choices on a sign-in page. */
export const maxProviders = 20

export interface ProvidersOptions {
  serialized: Serialized
  sessions: Sessions
  vault: Vault
  outbound: Pick<Outbound, 'checkUrl'>
  addresses: ProviderAddresses
  /** Domains, set by the operator, whose people may become users by signing in. */
  domains: readonly string[]
}

export type Providers = ReturnType<typeof createProviders>

/** The identity providers of a workspace. Changes are serialized. */
export function createProviders(
  { store, relay }: Pick<ServiceContext, 'store' | 'relay'>,
  { serialized, sessions, vault, outbound, addresses, domains }: ProvidersOptions,
) {
  const present = (state: StoredProvider, version: number): IdentityProvider => ({
    ...identityProvider.expose(state),
    version,
    ...addresses.of(state.id),
  })
  const providers = store.aggregate(identityProvider, { present })

  const check = async (
    tx: Transaction,
    meta: RequestMeta,
    { roles = [], defaultRole = null, domains: wanted = [] }: IdentityProviderPatch,
  ) => {
    for (const role of new Set([
      ...roles.map(({ role: each }) => each),
      ...(defaultRole ? [defaultRole] : []),
    ]))
      await requireGrant(tx, meta, role)
    const at = wanted.findIndex((domain) => !domains.includes(domain))
    if (at >= 0) throw unlistedDomain(at, wanted[at] ?? '', domains)
  }

  /**
   * A caller who requires a provider must keep access afterwards: by that provider, or with a second factor. Throws
   * `forbidden`, `factor_enrolment_required`.
   */
  const requireEntrant = async (meta: RequestMeta, { required }: Pick<IdentityProviderPatch, 'required'>) => {
    const { tokenId } = requireSession(meta, noKey)
    if (required) await requireProvenFactor(sessions, tokenId)
  }

  const sealed = (id: string, { workspaceId }: RequestMeta['tenant'], secret: string) =>
    vault.seal(workspaceId, secret, providerSealContext(id))

  return {
    present: providers.present,

    get: (id: string, meta: RequestMeta): Promise<IdentityProvider> =>
      providers.get(id, inWorkspaceScope(meta).tenant),

    async create({ clientSecret, ...wanted }: NewIdentityProvider, meta: RequestMeta) {
      await requireEntrant(meta, wanted)
      outbound.checkUrl(wanted.issuer, '/issuer')
      const id = newId('identityProvider')
      const sealedSecret = await sealed(id, meta.tenant, clientSecret)
      const { now } = meta
      return serialized(inWorkspaceScope(meta), async (unit, tx) => {
        await check(tx, meta, wanted)
        if ((await countProviders(tx, meta.tenant.workspaceId)) >= maxProviders) throw tooMany()
        const fields = { ...wanted, sealedSecret, clientSecretSetAt: now }
        return unit.create(providers, id, { kind: 'create', id, fields, now })
      })
    },

    async update(id: string, { clientSecret, ...wanted }: IdentityProviderPatch, meta: RequestMeta) {
      await requireEntrant(meta, wanted)
      const { now } = meta
      const secret = clientSecret !== undefined && {
        sealedSecret: await sealed(id, meta.tenant, clientSecret),
        clientSecretSetAt: now,
      }
      const updated = await serialized(inWorkspaceScope(meta), async (unit, tx) => {
        await check(tx, meta, wanted)
        const command = { kind: 'update' as const, patch: { ...wanted, ...secret }, now }
        const shown = await unit.handle(providers, id, command)
        if (!shown.enabled)
          await endSsoSessions(tx, sessions, { providerId: id }, { ...meta, reason: 'provider_revoked' })
        return shown
      })
      relay.wake()
      return updated
    },

    async delete(id: string, meta: RequestMeta): Promise<void> {
      requireSession(meta, noKey)
      await serialized(inWorkspaceScope(meta), async (unit, tx) => {
        await unit.handle(providers, id, { kind: 'delete' })
        await endSsoSessions(tx, sessions, { providerId: id }, { ...meta, reason: 'provider_revoked' })
      })
      relay.wake()
    },
  }
}

/** Context that the sealed secret of a provider is bound to, in addition to its workspace. */
export const providerSealContext = (providerId: string): string => `identity-provider|${providerId}`

const noKey = 'An API key does not decide who signs in. Log in, and send the request again.'

function unlistedDomain(at: number, domain: string, listed: readonly string[]): ApiError {
  const known = listed.length === 0 ? 'lists none' : `lists ${listed.join(', ')}`
  return invalidField(
    `/domains/${at}`,
    'domain_not_listed',
    `The operator of this installation ${known}: ask for ${domain} in SSO_DOMAINS of the settings service.`,
  )
}

function tooMany(): ApiError {
  return new ApiError('conflict', `A workspace has at most ${maxProviders} identity providers.`)
}
