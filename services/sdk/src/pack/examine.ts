import {
  type CheckPack,
  canonicalJson,
  manifestFile,
  missingRights,
  type NeededRights,
  type PackCheck,
  type PackManifest,
  type PackProblem,
  type TenantScope,
} from '@opsplane/contracts'
import type { FindPermission, SavingMeta, SecretTargets } from '@opsplane/http'
import {
  compareVersions,
  computeContentIntegrity,
  mergePermissions,
  type PackArtifact,
  readPack,
} from '@opsplane/pack-format'
import type { Database } from '@opsplane/postgres'
import { sha256Hex } from '@opsplane/runtime'
import type { CodeRunner } from '@opsplane/sandbox'
import type { AvailablePacks } from './available.js'
import { type ResolvedPack, resolvePack } from './content.js'
import type { PackRecord } from './domain.js'
import {
  findKnownVersions,
  findOccupiedSlugs,
  type KnownVersion,
  type OccupiedSlug,
} from './existing-packs.js'
import { findNeededRights } from './needed-rights.js'
import { problemsFailure } from './refusals.js'
import { findSecretWarnings } from './secret-targets.js'
import type { FindUses } from './uses.js'

/** An artifact of the pack with its current state. */
export interface ExaminedArtifact extends PackArtifact {
  digest: string
  /** `undefined` if it does not compile. */
  code: string | undefined
  taken: OccupiedSlug | undefined
  /** The existing version identical to this one, if any. */
  known: KnownVersion | undefined
}

/** The result of examining a pack without changing anything. */
export interface PackExamination {
  given: ResolvedPack
  manifest: PackManifest
  /** Digest of manifest and files. */
  content: string
  artifacts: ExaminedArtifact[]
  /** Artifacts of the installed pack that the new one no longer contains. */
  gone: { id: string; slug: string }[]
  needs: NeededRights
  check: PackCheck
}

/** The user who wants to install a pack. */
export interface ExaminationCaller extends SavingMeta {
  permissions: readonly string[]
}

export interface ExaminerParts {
  database: Pick<Database, 'sql'>
  runner: Pick<CodeRunner, 'compile'>
  available: AvailablePacks
  permissionOf: FindPermission
  findUses: FindUses
  secretTargets: Pick<SecretTargets, 'check'>
}

export interface Examiner {
  /** Throws `validation_failed` if the request contains no recognizable pack. */
  examine(body: CheckPack, caller: ExaminationCaller, installed: FindPack): Promise<PackExamination>
  /** Like `examine`, for a pack that is already loaded. */
  examineGiven(pack: ResolvedPack, caller: ExaminationCaller, installed: FindPack): Promise<PackExamination>
}

/** Finds the installed pack with a name. */
export type FindPack = (name: string, tenant: TenantScope) => Promise<PackRecord | undefined>

export function createExaminer(parts: ExaminerParts): Examiner {
  const { database, available, permissionOf, findUses, secretTargets } = parts

  const examineGiven: Examiner['examineGiven'] = async (pack, caller, findPack) => {
    const { tenant, permissions } = caller
    const { manifest, artifacts: read, problems } = readPack(pack)
    if (manifest === null) throw problemsFailure(problems, pack.source)
    const installed = await findPack(manifest.name, tenant)
    const artifacts = await pairWithExisting(database, tenant, read)
    const needs = await findNeededRights(read, permissionOf)
    const found = [
      ...problems,
      ...(await compileAll(parts, tenant, artifacts)),
      ...(await operationProblems(read, permissionOf)),
      ...slugProblems(artifacts, manifest.name),
    ]
    const removedArtifacts = (installed?.artifacts ?? []).filter(
      ({ slug }) => !read.some((each) => each.slug === slug),
    )
    const check: PackCheck = {
      ...{ name: manifest.name, packVersion: manifest.version, integrity: pack.integrity },
      change: changeFrom(installed?.packVersion, manifest.version),
      installedVersion: installed?.packVersion ?? null,
      artifacts: artifacts.map(shownArtifact),
      removes: removedArtifacts.map(({ slug }) => slug),
      asks: mergePermissions(read.map(({ permissions }) => permissions)),
      needs: missingRights([], needs),
      missing: missingRights(permissions, needs),
      problems: found,
      warnings: await findSecretWarnings(secretTargets, read, caller),
      breaks: await findUses(tenant, removedArtifacts),
    }
    const content = computeContentIntegrity({ manifest, files: pack.files })
    return { given: pack, manifest, content, artifacts, gone: removedArtifacts, needs, check }
  }

  return {
    examineGiven,
    examine: async (body, caller, findPack) =>
      examineGiven(await resolvePack(body, available), caller, findPack),
  }
}

function changeFrom(installed: string | undefined, version: string): PackCheck['change'] {
  if (installed === undefined) return 'install'
  const order = compareVersions(version, installed)
  return order === 0 ? 'reinstall' : order > 0 ? 'upgrade' : 'downgrade'
}

async function pairWithExisting(
  database: Pick<Database, 'sql'>,
  tenant: TenantScope,
  read: readonly PackArtifact[],
): Promise<ExaminedArtifact[]> {
  const digests = read.map((each) => sha256Hex(canonicalJson(each)))
  const existingArtifacts = await findOccupiedSlugs(
    database,
    tenant,
    read.map(({ slug }) => slug),
  )
  const known = await findKnownVersions(
    database,
    [...existingArtifacts.values()].map(({ id }) => id),
    digests,
  )
  return read.map((each, index) => {
    const digest = digests[index] ?? ''
    const found = existingArtifacts.get(each.slug)
    const same = known.find((version) => version.artifactId === found?.id && version.digest === digest)
    return { ...each, digest, taken: found, known: same, code: same?.code }
  })
}

/** Compiles, one after the other, the artifacts that no existing version has the code of. Returns compile errors. */
async function compileAll(
  { runner }: Pick<ExaminerParts, 'runner'>,
  { workspaceId, environment }: TenantScope,
  artifacts: ExaminedArtifact[],
): Promise<PackProblem[]> {
  const problems: PackProblem[] = []
  for (const each of artifacts) {
    const { source, fileName } = each
    if (each.code !== undefined || source === '') continue
    const compiled = await runner.compile({ tenant: `${workspaceId}/${environment}`, source, fileName })
    if (compiled.ok) each.code = compiled.code
    else
      for (const { message, line, column } of compiled.diagnostics)
        problems.push({ file: fileName, path: '', line, column, code: 'compile_error', message })
  }
  return problems
}

async function operationProblems(
  read: readonly PackArtifact[],
  permissionOf: FindPermission,
): Promise<PackProblem[]> {
  const problems: PackProblem[] = []
  for (const [index, { permissions }] of read.entries())
    for (const [at, operation] of permissions.api.entries())
      if ((await permissionOf(operation)) === undefined)
        problems.push(
          inManifest(
            `/artifacts/${index}/permissions/api/${at}`,
            'unknown_operation',
            `there is no operation ${operation}`,
          ),
        )
  return problems
}

const slugProblems = (artifacts: readonly ExaminedArtifact[], packName: string): PackProblem[] =>
  artifacts.flatMap(({ taken }, index) =>
    taken === undefined || taken.status === 'removed' || taken.packName === packName
      ? []
      : [
          inManifest(
            `/artifacts/${index}/slug`,
            'not_unique',
            `is the slug of an artifact of the pack ${taken.packName}`,
          ),
        ],
  )

const inManifest = (path: string, code: string, message: string): PackProblem => ({
  ...{ file: manifestFile, path, code, message },
  line: null,
  column: null,
})

function shownArtifact({
  slug,
  kind,
  permissions,
  digest,
  taken,
}: ExaminedArtifact): PackCheck['artifacts'][number] {
  const there = taken !== undefined && taken.status !== 'removed'
  const change = !there ? 'added' : taken.digest === digest ? 'unchanged' : 'changed'
  return { slug, kind, permissions, change }
}
