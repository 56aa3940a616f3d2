import {
  ApiError,
  type CheckPack,
  type CommandMeta,
  type InstalledPack,
  type InstallPack,
  invalidField,
  notFound,
  type Pack,
  type PackCheck,
  type PromotePack,
  type RollbackPack,
  type TenantScope,
} from '@opsplane/contracts'
import type { EventStore } from '@opsplane/eventstore'
import type { Delegations, RequestMeta, SecretTargets } from '@opsplane/http'
import type { Database } from '@opsplane/postgres'
import type { SubscriptionRules } from '@opsplane/service'
import type { ArtifactAggregate } from '../artifact/artifacts.js'
import type { ArtifactCommand } from '../artifact/domain.js'
import type { AnnounceValidations } from '../rule/announce.js'
import type { PackAggregate } from './aggregate.js'
import type { ResolvedPack } from './content.js'
import type { PackCommand } from './domain.js'
import type { Examiner, FindPack, PackExamination } from './examine.js'
import { findPackId } from './existing-packs.js'
import { assertInstallable, type InstallOptions, installPack } from './install.js'
import { findLatestInstallation, loadInstallation } from './installations.js'
import { refuseHidden, refuseUses } from './refusals.js'
import { listSecretTargets } from './secret-targets.js'
import type { FindUses } from './uses.js'

export interface Packs {
  aggregate: PackAggregate
  /** Returns what an installation would do, without changing anything. */
  check(body: CheckPack, meta: RequestMeta): Promise<PackCheck>
  install(body: InstallPack, meta: RequestMeta): Promise<InstalledPack>
  /** Returns an installed pack by id or name. */
  get(idOrName: string, tenant: TenantScope): Promise<Pack>
  /** Reinstalls a version that was installed before. */
  rollback(id: string, body: RollbackPack, meta: RequestMeta): Promise<InstalledPack>
  /** Installs the current version in another environment. */
  promote(id: string, body: PromotePack, meta: RequestMeta): Promise<InstalledPack>
  /** Reinstalls the current version with the rights of the caller. Throws `forbidden` naming missing permissions. */
  takeOver(id: string, meta: RequestMeta): Promise<InstalledPack>
  /** Throws `conflict` if its artifacts are still in use, unless forced. */
  uninstall(id: string, options: { force: boolean }, meta: RequestMeta): Promise<void>
  suspend(
    id: string,
    owner: { ownerId: string; missing: readonly string[] },
    meta: CommandMeta,
  ): Promise<void>
}

export interface PacksParts {
  store: EventStore
  database: Pick<Database, 'sql'>
  delegations: Pick<Delegations, 'delegate' | 'revoke'>
  aggregate: PackAggregate
  artifacts: ArtifactAggregate
  examiner: Examiner
  findUses: FindUses
  announceValidations: AnnounceValidations
  secretTargets: Pick<SecretTargets, 'admit'>
  rules: SubscriptionRules
}

export function createPacks(parts: PacksParts): Packs {
  const { store, database, aggregate, artifacts, examiner, findUses, delegations, secretTargets } = parts
  const installing = { ...parts, packs: aggregate }

  const presentOf = async (name: string, tenant: TenantScope) => {
    const id = await findPackId(database, tenant, name)
    const found = id === undefined ? null : await aggregate.find(id, tenant)
    return found?.state ?? null
  }
  const installedOf: FindPack = async (name, tenant) => {
    const present = await presentOf(name, tenant)
    return present && present.status !== 'uninstalled' ? present : undefined
  }
  /** Finds an installed pack by id or name. */
  const installed = async (idOrName: string, tenant: TenantScope) => {
    const id = idOrName.startsWith('pck_') ? idOrName : await findPackId(database, tenant, idOrName)
    const found = id === undefined ? null : await aggregate.find(id, tenant)
    if (!found || found.state.status === 'uninstalled') throw notFound()
    return found
  }
  const record = async (idOrName: string, tenant: TenantScope) => (await installed(idOrName, tenant)).state
  const callerOf = ({ tenant, clientToken, principal: { permissions } }: RequestMeta) => ({
    ...{ tenant, clientToken, permissions },
  })

  const installExamined = async (examined: PackExamination, options: InstallOptions, meta: RequestMeta) => {
    const present = await presentOf(examined.check.name, meta.tenant)
    await assertInstallable(parts, examined, { options, held: meta.principal.permissions, present })
    await refuseHidden(parts.rules, examined.artifacts, meta)
    await secretTargets.admit(meta, listSecretTargets(examined.artifacts))
    const installedPack = await installPack(installing, { examined, present, meta })
    await parts.announceValidations(meta.tenant, installedPack.id)
    return installedPack
  }
  const installAgain = async (pack: ResolvedPack, options: InstallOptions, meta: RequestMeta) =>
    installExamined(await examiner.examineGiven(pack, callerOf(meta), installedOf), options, meta)
  const loadPack = async (ref: string, source: ResolvedPack['source'] | undefined, tenant: TenantScope) => {
    const kept = await loadInstallation(database, ref, tenant)
    return { ...kept, source: source ?? kept.source }
  }

  /** Decides about the pack and all its artifacts in one transaction. */
  const withArtifacts = (id: string, command: PackCommand, onArtifacts: ArtifactCommand, meta: CommandMeta) =>
    store.transact(
      meta,
      async (unit) => {
        const found = await unit.find(aggregate, id)
        await unit.handle(aggregate, id, command)
        for (const artifact of found?.state.artifacts ?? [])
          await unit.handle(artifacts, artifact.id, onArtifacts)
      },
      { queueKey: id },
    )

  return {
    aggregate,
    check: async (body, meta) => (await examiner.examine(body, callerOf(meta), installedOf)).check,
    install: async (body, meta) =>
      installExamined(await examiner.examine(body, callerOf(meta), installedOf), body, meta),

    async get(idOrName, tenant) {
      const { state, version } = await installed(idOrName, tenant)
      return aggregate.present({ state: { ...state }, version })
    },

    async rollback(idOrName, { to, ...options }, meta) {
      const { id } = await record(idOrName, meta.tenant)
      const ref = await findLatestInstallation(database, id, to)
      if (ref === undefined)
        throw invalidField('/to', 'unknown_version', `${to} was never installed in this environment.`)
      return installAgain(await loadPack(ref, undefined, meta.tenant), { ...options, downgrade: true }, meta)
    },

    async promote(idOrName, { environment, ...options }, meta) {
      if (environment === meta.tenant.environment)
        throw new ApiError(
          'conflict',
          'Source and target are the same environment: name another one to promote to.',
        )
      const { installation } = await record(idOrName, meta.tenant)
      const pack = await loadPack(installation, 'promotion', meta.tenant)
      return installAgain(pack, options, inTenant(meta, { ...meta.tenant, environment }))
    },

    async takeOver(idOrName, meta) {
      const { installation, granted } = await record(idOrName, meta.tenant)
      const pack = await loadPack(installation, undefined, meta.tenant)
      return installAgain(pack, { grant: granted, downgrade: false, force: false }, meta)
    },

    async uninstall(idOrName, { force }, meta) {
      const { id, artifacts: present, installation } = await record(idOrName, meta.tenant)
      if (!force) refuseUses(await findUses(meta.tenant, present), '`force=true` uninstalls it all the same.')
      const { now } = meta
      await withArtifacts(id, { kind: 'uninstall', now }, { kind: 'remove', now }, meta)
      const { grant } = await loadInstallation(database, installation, meta.tenant)
      // Nothing uses the grant any more, whether or not settings revokes it.
      await delegations
        .revoke(grant)
        .catch((err: unknown) =>
          meta.log().warn({ err }, 'a standing grant could not be revoked; nothing uses it any more'),
        )
    },

    async suspend(id, owner, meta) {
      const { now } = meta
      await withArtifacts(id, { kind: 'suspend', now, ...owner }, { kind: 'suspend', now }, meta)
    },
  }
}

/** Drops the idempotency key: the key is stored with the response of the whole request. */
function inTenant(meta: RequestMeta, tenant: TenantScope): RequestMeta {
  const { idempotency: _, expectedVersion: _1, ...rest } = meta
  return { ...rest, tenant, signal: meta.signal, log: meta.log }
}
