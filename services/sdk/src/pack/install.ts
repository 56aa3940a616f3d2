import {
  ApiError,
  type ArtifactPermissions,
  type InstalledPack,
  type InstallPack,
  newId,
  type Pack,
  type Permission,
  permissions,
} from '@opsplane/contracts'
import type { EventStore, Unit } from '@opsplane/eventstore'
import type { Delegations, RequestMeta } from '@opsplane/http'
import { mergePermissions } from '@opsplane/pack-format'
import type { Database } from '@opsplane/postgres'
import type { ArtifactAggregate } from '../artifact/artifacts.js'
import type { Released } from '../artifact/domain.js'
import { type StoredVersion, versionRow } from '../artifact/versions.js'
import type { PackAggregate } from './aggregate.js'
import type { Installed, PackCommand, PackRecord } from './domain.js'
import type { ExaminedArtifact, PackExamination } from './examine.js'
import {
  findVersionContents,
  installationRef,
  installationRow,
  type StoredInstallation,
} from './installations.js'
import { problemsFailure, refuseMissingRights, refuseNotGranted, refuseUses } from './refusals.js'

export interface InstallParts {
  store: EventStore
  database: Pick<Database, 'sql'>
  delegations: Pick<Delegations, 'delegate' | 'revoke'>
  packs: PackAggregate
  artifacts: ArtifactAggregate
}

/** Options of a request that decide whether the installation is allowed. */
export type InstallOptions = Pick<InstallPack, 'grant' | 'downgrade' | 'force'>

/** The current state of the pack with this name; `null` if it was never installed. */
export type CurrentPack = PackRecord | null

/**
 * Throws `validation_failed` for problems and permissions not granted, `forbidden` for rights the caller lacks, and
 * `conflict` for a version with different content, a downgrade, or artifacts still in use.
 */
export async function assertInstallable(
  { database }: Pick<InstallParts, 'database'>,
  examined: PackExamination,
  { options, held, present }: { options: InstallOptions; held: readonly string[]; present: CurrentPack },
): Promise<void> {
  const { check, given, content, needs } = examined
  if (check.problems.length > 0) throw problemsFailure(check.problems, given.source)
  refuseNotGranted(check.asks, options.grant)
  refuseMissingRights(held, needs)
  const known = present && (await findVersionContents(database, present.id, check.packVersion))
  if (known && known !== content)
    throw new ApiError(
      'conflict',
      `${check.name} ${check.packVersion} was installed with other content: the content of a version never changes.`,
    )
  if (check.change === 'downgrade' && !options.downgrade)
    throw new ApiError(
      'conflict',
      `${check.name} ${check.installedVersion} is installed, which is newer. \`downgrade\` takes the older one.`,
    )
  if (!options.force)
    refuseUses(check.breaks, 'The pack no longer has them; `force` installs it all the same.')
}

/** Installs the pack, its artifacts and their versions in one transaction. */
export async function installPack(
  parts: InstallParts,
  { examined, present, meta }: { examined: PackExamination; present: CurrentPack; meta: RequestMeta },
): Promise<InstalledPack> {
  const { store, delegations } = parts
  const { check, needs } = examined
  const id = present?.id ?? newId('pack')
  const number = (present?.installations ?? 0) + 1
  const run = installationRef(id, number)
  const granted = new Set<Permission>([...needs.reads, ...needs.uses])
  const { grant } = await delegations.delegate(meta, {
    run,
    permissions: permissions.filter((each) => granted.has(each)),
    expiresInSeconds: null,
    environment: meta.tenant.environment,
  })
  const installation = { id, number, ref: run, grant, asks: mergePermissions([check.asks]) }
  const installedPack = store.transact(
    meta,
    async (unit) => ({
      ...(await place(parts, unit, { examined, present, meta, installation })),
      warnings: check.warnings,
    }),
    {
      queueKey: id,
    },
  )
  return installedPack.catch(async (error: unknown) => {
    await delegations
      .revoke(grant)
      .catch((cause: unknown) =>
        meta.log().warn({ err: cause }, 'a standing grant could not be revoked; nothing uses it any more'),
      )
    throw error
  })
}

interface Installation {
  id: string
  number: number
  ref: string
  grant: string
  asks: ArtifactPermissions
}
interface Placing {
  examined: PackExamination
  present: CurrentPack
  meta: RequestMeta
  installation: Installation
}

async function place(parts: InstallParts, unit: Unit, placing: Placing): Promise<Pack> {
  const { examined, present, meta, installation } = placing
  const { now } = meta
  const placedArtifacts: Installed['artifacts'] = []
  for (const each of examined.artifacts) placedArtifacts.push(await placeArtifact(parts, unit, each, placing))
  for (const { id } of examined.gone) await unit.handle(parts.artifacts, id, { kind: 'remove', now })
  const { ref: row, number } = installation
  const command = {
    now,
    number,
    fields: fieldsOf(placing, placedArtifacts),
    row: installationRow(row, storedOf(placing)),
  }
  const { change, name } = examined.check
  if (present === null)
    return unit.create(parts.packs, installation.id, {
      kind: 'install',
      id: installation.id,
      name,
      ...command,
    })
  const changing: PackCommand =
    change === 'install'
      ? { kind: 'install', id: present.id, name, ...command }
      : { kind: 'change', change, ...command }
  return unit.handle(parts.packs, present.id, changing)
}

async function placeArtifact(
  { artifacts }: InstallParts,
  unit: Unit,
  each: ExaminedArtifact,
  { examined, meta, installation }: Placing,
): Promise<Installed['artifacts'][number]> {
  const { slug, taken, known } = each
  const id = taken?.id ?? newId('artifact')
  const number = known?.number ?? (taken?.latestVersion ?? 0) + 1
  const version = versionOf(each, { id, number, packVersion: examined.check.packVersion, meta })
  const row = known ? undefined : versionRow(version)
  const { name, description, kind, permissions, limits, retryable, rule, api, schedule, digest } = version
  const fields: Released = {
    ...{ name, description, kind, permissions, limits, retryable, rule, api, schedule, digest },
    ...{ installation: installation.ref, packId: installation.id, packName: examined.check.name },
    ownerId: meta.principal.userId,
  }
  const release = { fields, number, row, now: meta.now }
  if (taken) await unit.handle(artifacts, id, { kind: 'release', ...release })
  else await unit.create(artifacts, id, { kind: 'create', id, slug, ...release })
  return { id, slug, artifactVersion: number }
}

function versionOf(
  { taken: _, known: _1, code, ...each }: ExaminedArtifact,
  { id, number, packVersion, meta }: { id: string; number: number; packVersion: string; meta: RequestMeta },
): StoredVersion {
  if (code === undefined) throw new Error(`${each.slug} was not compiled`)
  const created = { createdAt: meta.now, createdBy: meta.principal.userId }
  return { ...each, code, artifactId: id, number, packVersion, ...created }
}

function fieldsOf({ examined, meta, installation }: Placing, artifacts: Installed['artifacts']): Installed {
  const { manifest, given, needs } = examined
  const { name, version: packVersion, title = name, description } = manifest
  const { integrity, source } = given
  return {
    ...{ title, description, packVersion, integrity, source, artifacts, needs },
    granted: installation.asks,
    ownerId: meta.principal.userId,
    installation: installation.ref,
  }
}

function storedOf({ examined, meta, installation }: Placing): StoredInstallation {
  const { manifest, given, content } = examined
  const { integrity, source } = given
  return {
    ...{ packId: installation.id, packVersion: manifest.version, manifest, files: { ...given.files } },
    ...{ integrity, content, source, granted: installation.asks, grant: installation.grant },
    installedAt: meta.now,
    installedBy: meta.principal.userId,
  }
}
