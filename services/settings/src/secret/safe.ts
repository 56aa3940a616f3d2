import {
  type Instant,
  type NewSecret,
  newId,
  notFound,
  type Secret,
  type SecretResolution,
  type SecretRotation,
  type TenantScope,
  type UsedSecret,
} from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { Vault } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { type SealedValue, type StoredSecret, secret } from './domain.js'
import { secretsByName } from './queries.js'
import { neverUsed, type SecretUsage } from './usage.js'

export type Safe = ReturnType<typeof createSafe>

/** Stores secrets and gives their values out again, to services only. */
export function createSafe(
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

    async get(name: string, tenant: TenantScope): Promise<UsedSecret> {
      const { id } = await byName(name, tenant)
      const shown = await secrets.get(id, tenant)
      return { ...shown, ...((await usage.of([id])).get(id) ?? neverUsed) }
    },

    async create({ name, value }: NewSecret, meta: RequestMeta): Promise<Secret> {
      const id = newId('secret')
      const sealedValue = await seal(meta.tenant, name, 1, value)
      return secrets.create(id, { kind: 'create', id, name, sealedValue, now: meta.now }, meta)
    },

    async rotate(name: string, { value }: SecretRotation, meta: RequestMeta): Promise<Secret> {
      const current = await byName(name, meta.tenant)
      const sealedValue = await seal(meta.tenant, name, current.sealedValue.version + 1, value)
      return secrets.handle(current.id, { kind: 'rotate', sealedValue, now: meta.now }, meta)
    },

    async delete(name: string, meta: RequestMeta): Promise<void> {
      const { id } = await byName(name, meta.tenant)
      await secrets.handle(id, { kind: 'delete' }, meta)
      await usage.forget(id)
    },

    /** Values by name, for a service; unknown names are absent. */
    async resolve(
      { names, ...tenant }: SecretResolution,
      occasion: { service: string; now: Instant },
    ): Promise<Record<string, string>> {
      const found = await secretsByName(db, tenant, names)
      const values = await Promise.all(
        found.map(async (stored) => [stored.name, await open(stored, tenant)] as const),
      )
      await usage.note(
        found.map(({ id }) => id),
        occasion,
      )
      return Object.fromEntries(values)
    },
  }
}

/** What a sealed value is bound to beside its workspace: moved elsewhere, it cannot be opened. */
function place({ environment }: TenantScope, name: string, version: number): string {
  return `${environment}|${name}|${version}`
}
