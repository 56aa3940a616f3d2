import {
  allowsHost,
  type Instant,
  maxSecretsLength,
  type NewSecret,
  newId,
  notFound,
  type ResolvedSecrets,
  type Secret,
  type SecretDetail,
  type SecretRefusal,
  type SecretResolution,
  type SecretRotation,
  type TenantScope,
  type UsedSecret,
} from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Vault } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { findMemberRights } from '../role/member-rights.js'
import { type SealedValue, type StoredSecret, secret } from './domain.js'
import { secretsByName } from './queries.js'
import { neverUsed, type SecretUsage } from './usage.js'

export type SecretService = ReturnType<typeof createSecretService>

/** Stores secrets, and returns their values to services only. */
export function createSecretService(
  { store, database: { db } }: Pick<ServiceContext, 'store' | 'database'>,
  vault: Vault,
  usage: SecretUsage,
) {
  const secrets = store.aggregate(secret)

  const seal = async (
    tenant: TenantScope,
    name: string,
    version: number,
    value: string,
  ): Promise<SealedValue> => ({
    text: await vault.seal(tenant.workspaceId, value, place(tenant, name, version)),
    version,
  })

  const open = ({ name, sealedValue: { text, version } }: StoredSecret, tenant: TenantScope) =>
    vault.open(tenant.workspaceId, text, place(tenant, name, version))

  const byName = async (name: string, tenant: TenantScope): Promise<StoredSecret> => {
    const [found] = await secretsByName(db, tenant, [name])
    if (!found) throw notFound()
    return found
  }

  const withUse = async (found: Secret[]): Promise<UsedSecret[]> => {
    const uses = await usage.of(found.map(({ id }) => id))
    return found.map((shown) => ({ ...shown, ...(uses.get(shown.id) ?? neverUsed) }))
  }

  return {
    present: secrets.present,
    withUse,

    async get(name: string, tenant: TenantScope): Promise<SecretDetail> {
      const { id } = await byName(name, tenant)
      const shown = await secrets.get(id, tenant)
      const use = (await usage.of([id])).get(id) ?? neverUsed
      return { ...shown, ...use, uses: await usage.grants(id) }
    },

    async create({ name, value, hosts }: NewSecret, meta: RequestMeta): Promise<Secret> {
      const id = newId('secret')
      const sealedValue = await seal(meta.tenant, name, 1, value)
      return secrets.create(id, { kind: 'create', id, name, hosts, sealedValue, now: meta.now }, meta)
    },

    async rotate(name: string, { value, hosts }: SecretRotation, meta: RequestMeta): Promise<Secret> {
      const current = await byName(name, meta.tenant)
      const sealedValue = await seal(meta.tenant, name, current.sealedValue.version + 1, value)
      const command = { kind: 'rotate' as const, sealedValue, now: meta.now, ...(hosts && { hosts }) }
      return secrets.handle(current.id, command, meta)
    },

    async delete(name: string, meta: RequestMeta): Promise<void> {
      const { id } = await byName(name, meta.tenant)
      await secrets.handle(id, { kind: 'delete' }, meta)
      await usage.forget(id)
    },

    /** Values by name, for a service that sends them to one host on behalf of one person. Unknown names are absent. */
    async resolve(
      { names, host, userId, consumer, ...tenant }: SecretResolution,
      context: { service: string; now: Instant },
    ): Promise<ResolvedSecrets> {
      const [found, rights] = await Promise.all([
        secretsByName(db, tenant, names),
        findMemberRights(db, tenant.workspaceId, [userId]),
      ])
      const mayUse = rights.get(userId)?.includes('secrets:use') ?? false
      const refusalOf = ({ hosts }: StoredSecret): SecretRefusal | null => {
        if (!mayUse) return 'permission_missing'
        return allowsHost(hosts, host) ? null : 'host_not_allowed'
      }
      const refusals = new Map(found.map((stored) => [stored.name, refusalOf(stored)]))
      const resolvedSecrets: [StoredSecret, string][] = []
      let length = 0
      for (const stored of found) {
        if (refusals.get(stored.name)) continue
        const value = await open(stored, tenant)
        length += value.length
        // Values that exceed the size of one request together are not sent between services either.
        if (length > maxSecretsLength) refusals.set(stored.name, 'too_large')
        else resolvedSecrets.push([stored, value])
      }
      await usage.note(
        resolvedSecrets.map(([{ id }]) => id),
        { ...context, host, userId, consumer },
      )
      return {
        values: Object.fromEntries(resolvedSecrets.map(([{ name }, value]) => [name, value])),
        refused: Object.fromEntries(
          [...refusals].flatMap(([name, reason]) => (reason ? [[name, reason] as const] : [])),
        ),
      }
    },
  }
}

/** Context that a sealed value is bound to, in addition to its workspace: a copy elsewhere cannot be opened. */
function place({ environment }: TenantScope, name: string, version: number): string {
  return `${environment}|${name}|${version}`
}
