import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { permissions } from '../core/permissions.js'
import { Environment } from '../core/principal.js'
import { Schedule } from '../core/schedule.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import {
  ArtifactApi,
  ArtifactKind,
  ArtifactLimits,
  ArtifactPermissions,
  ArtifactRule,
  ArtifactSchema,
  ArtifactSlug,
} from './sdk-artifacts.js'
import { ArtifactTests } from './sdk-tests.js'

const At = z.iso.datetime({ precision: 3 })

export const PackName = z
  .string()
  .max(100)
  .regex(
    /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/,
    'must be lower-case letters and digits, with single `-` or `.` in between',
  )
  .meta({ example: 'itsm-essentials' })

/** Semantic versioning 2.0.0 without build metadata: versions that differ only in build metadata have no order. */
const PackVersion = z
  .string()
  .max(50)
  .regex(
    /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-(?:0|[1-9]\d{0,8}|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d{0,8}|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?$/,
    'must be a semantic version such as 1.2.0 or 1.2.0-rc.1',
  )
  .meta({ example: '1.2.0' })

/** Path of a file in its pack. It cannot point outside the pack. */
export const PackPath = z
  .string()
  .min(1)
  .max(200)
  .regex(
    /^(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.@-]+(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.@-]+)*$/,
    'must be a relative path such as src/escalate.ts, without `.` and `..`',
  )
  .meta({ example: 'src/escalate.ts' })

const schemaOrPath = z.union([PackPath, ArtifactSchema]).meta({
  description: 'JSON Schema, or the path of a file in the pack that contains it.',
})

/** One artifact of a manifest. */
export const ManifestArtifact = z
  .strictObject({
    slug: ArtifactSlug,
    name: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: 'Name of the artifact. Default: its slug.' }),
    description: z.string().max(10_000).default(''),
    kind: ArtifactKind,
    source: PackPath.meta({
      description:
        'Path of the source in TypeScript or JavaScript: one ES module that imports only `@opsplane/sdk`.',
    }),
    input: schemaOrPath.optional(),
    output: schemaOrPath.optional(),
    permissions: ArtifactPermissions.prefault({}),
    limits: ArtifactLimits.prefault({}),
    retryable: z.boolean().default(false),
    rule: ArtifactRule.optional(),
    api: ArtifactApi.optional(),
    schedule: Schedule.optional(),
    tests: z.union([PackPath, ArtifactTests]).optional().meta({
      description: 'Tests of the artifact, or the path of a JSON file in the pack that contains them.',
    }),
  })
  .superRefine(({ kind, rule, api, schedule }, context) => {
    const wrong = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if (kind === 'business_rule' && rule === undefined) wrong('rule', 'is required of a business_rule')
    if (kind !== 'business_rule' && rule !== undefined) wrong('rule', 'is of use with business_rule only')
    if (kind !== 'api' && api !== undefined) wrong('api', 'is of use with api only')
    if (kind !== 'scheduled' && schedule !== undefined) wrong('schedule', 'is of use with scheduled only')
  })
  .meta({ id: 'ManifestArtifact' })
export type ManifestArtifact = z.infer<typeof ManifestArtifact>

const maxPackArtifacts = 50

/** `opsplane.pack.json`, at the root of a pack. */
export const PackManifest = z
  .strictObject({
    format: z.literal('opsplane.pack/1'),
    name: PackName,
    version: PackVersion,
    title: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: 'Title of the pack. Default: its name.' }),
    description: z.string().max(10_000).default(''),
    artifacts: z
      .array(ManifestArtifact)
      .min(1)
      .max(maxPackArtifacts)
      .refine(
        (list) => new Set(list.map(({ slug }) => slug)).size === list.length,
        'must name each slug once',
      ),
  })
  .meta({ id: 'PackManifest' })
export type PackManifest = z.infer<typeof PackManifest>

export const manifestFile = 'opsplane.pack.json'

export const packLimits = {
  /** Maximum files of a pack in addition to its manifest. */
  files: 200,
  fileBytes: 1024 * 1024,
  /** Maximum bytes of all files together, in UTF-8. */
  totalBytes: 4 * 1024 * 1024,
  tarballBytes: 4 * 1024 * 1024,
} as const

export const PackFiles = z
  .record(PackPath, z.string())
  .refine(
    (files) => Object.keys(files).length <= packLimits.files,
    `must be at most ${packLimits.files} files`,
  )
  .meta({ description: 'Contents of the files by their paths in the pack.' })

/** Subresource integrity, in npm's format. */
export const Integrity = z
  .string()
  .regex(/^sha512-[A-Za-z0-9+/]{86}==$/, 'must be sha512- and the hash in base64')
  .meta({
    example: `sha512-${'A'.repeat(86)}==`,
    description: 'SHA-512 of the tarball, in the format of `integrity` in an npm lockfile.',
  })

const content = {
  manifest: PackManifest.optional(),
  files: PackFiles.optional().meta({ description: 'Files of the pack, used together with `manifest`.' }),
  tarball: z
    .base64()
    .max(Math.ceil((packLimits.tarballBytes * 4) / 3) + 4)
    .optional()
    .meta({
      description:
        'Gzipped tar archive of the pack in base64, as created by `npm pack`, with the files below `package/` or at ' +
        'the root.',
    }),
  integrity: Integrity.optional().meta({
    description: 'Hash of the tarball. Required with `tarball` and must match it.',
  }),
  available: PackName.optional().meta({ description: 'Name of a pack from `GET /sdk/packs/available`.' }),
}

/** Requires exactly one of the three forms of the pack's content. */
const oneContent = (input: { [Field in keyof typeof content]?: unknown }, context: z.RefinementCtx): void => {
  const wrong = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message })
  const forms = [input.manifest, input.tarball, input.available].filter((each) => each !== undefined)
  if (forms.length === 0) wrong('manifest', 'is required, or tarball or available is')
  if (forms.length > 1)
    wrong(
      input.tarball === undefined ? 'available' : 'tarball',
      'cannot be combined with another form of the pack',
    )
  if (input.files !== undefined && input.manifest === undefined)
    wrong('files', 'are only allowed with a manifest')
  if (input.tarball !== undefined && input.integrity === undefined)
    wrong('integrity', 'is required with tarball')
  if (input.integrity !== undefined && input.tarball === undefined)
    wrong('integrity', 'is only allowed with a tarball')
}

export const CheckPack = z
  .strictObject(content)
  .superRefine(oneContent)
  .meta({ id: 'CheckPack', example: { available: 'itsm-essentials' } })
export type CheckPack = z.infer<typeof CheckPack>

const choices = {
  grant: ArtifactPermissions.prefault({}).meta({
    description: 'Permissions granted to the pack: at least all permissions that its artifacts request.',
  }),
  force: z.boolean().default(false).meta({
    description: 'Proceeds even if workflows or jobs use artifacts that the pack no longer contains.',
  }),
}
const downgrade = z.boolean().default(false).meta({
  description: 'Allows an older version to replace the installed version.',
})

export const InstallPack = z
  .strictObject({ ...content, ...choices, downgrade })
  .superRefine(oneContent)
  .meta({
    id: 'InstallPack',
    example: {
      available: 'itsm-essentials',
      grant: {
        api: [
          'listIncidents',
          'escalateIncident',
          'listConfigurationItems',
          'createConfigurationItem',
          'updateConfigurationItem',
        ],
        http: ['*'],
        secrets: ['inventory_token'],
        topics: ['incidents.grave', 'summaries.daily'],
      },
    },
  })
export type InstallPack = z.infer<typeof InstallPack>

export const RollbackPack = z
  .strictObject({
    to: PackVersion.meta({ description: 'Version to restore, which must have been installed before.' }),
    ...choices,
  })
  .meta({ id: 'RollbackPack', example: { to: '1.1.0', grant: { api: ['listIncidents'] } } })
export type RollbackPack = z.infer<typeof RollbackPack>

export const PromotePack = z
  .strictObject({ environment: Environment, ...choices, downgrade })
  .meta({ id: 'PromotePack', example: { environment: 'staging', grant: {} } })
export type PromotePack = z.infer<typeof PromotePack>

export const packSources = ['inline', 'tarball', 'available', 'promotion'] as const

const packStatuses = ['active', 'suspended', 'uninstalled'] as const
export const PackStatus = z.enum(packStatuses)

/** A pack as contained in events. */
export const PackState = z.object({
  id: idSchema('pack'),
  name: PackName,
  title: z.string(),
  description: z.string(),
  status: PackStatus,
  packVersion: PackVersion,
  integrity: Integrity.meta({
    description:
      'Hash of the tarball, or of the manifest and files in canonical JSON if there was no tarball.',
  }),
  source: z.enum(packSources),
  artifacts: z.array(
    z.object({ id: idSchema('artifact'), slug: ArtifactSlug, artifactVersion: z.int().min(1) }),
  ),
  granted: ArtifactPermissions,
  ownerId: idSchema('user').meta({
    description: 'User who installed the pack and on whose behalf its artifacts act.',
  }),
  suspendedFor: z
    .array(z.string())
    .meta({ description: 'Rights that the owner lacks, while the pack is suspended.' }),
  createdAt: At,
  updatedAt: At,
})
export type PackState = z.infer<typeof PackState>

export const Pack = PackState.extend({ version: z.int().min(1) }).meta({ id: 'Pack' })
export type Pack = z.infer<typeof Pack>

/** A problem in a pack, with its location. */
export const PackProblem = z
  .object({
    /** `manifest` itself if it is not in a separate file. */
    file: z.string(),
    path: z.string().meta({ description: 'JSON pointer into the file; empty for source files.' }),
    line: z.int().min(1).nullable(),
    column: z.int().min(1).nullable(),
    code: z.string(),
    message: z.string(),
  })
  .meta({ id: 'PackProblem' })
export type PackProblem = z.infer<typeof PackProblem>

/** A pack as returned by an installation. */
export const InstalledPack = Pack.extend({
  warnings: z.array(PackProblem).meta({
    description:
      'Problems with secrets that the artifacts cannot use at present: secrets that do not exist, or that may not ' +
      'be sent to any of their hosts.',
  }),
}).meta({ id: 'InstalledPack' })
export type InstalledPack = z.infer<typeof InstalledPack>

/** A resource that uses an artifact. */
export const ArtifactUse = z
  .object({
    artifact: ArtifactSlug,
    kind: z.enum(['workflow', 'scheduled_job']),
    id: z.string(),
    name: z.string(),
  })
  .meta({ id: 'ArtifactUse' })
export type ArtifactUse = z.infer<typeof ArtifactUse>

/** Sent by the sdk service to workflows: which resources use these artifacts of an environment. */
export const ArtifactUsesQuestion = z.strictObject({
  workspaceId: z.string().max(100),
  environment: Environment,
  slugs: z.array(ArtifactSlug).max(1_000),
})

export const ArtifactUses = z.object({ uses: z.array(ArtifactUse) })

const packChanges = ['install', 'upgrade', 'downgrade', 'reinstall'] as const

/** Preview of an installation. */
export const PackCheck = z
  .object({
    name: PackName,
    packVersion: PackVersion,
    integrity: Integrity,
    change: z.enum(packChanges),
    installedVersion: PackVersion.nullable(),
    artifacts: z.array(
      z.object({
        slug: ArtifactSlug,
        kind: ArtifactKind,
        change: z.enum(['added', 'changed', 'unchanged']),
        permissions: ArtifactPermissions,
      }),
    ),
    removes: z
      .array(ArtifactSlug)
      .meta({ description: 'Artifacts of the installed version that the new version no longer contains.' }),
    asks: ArtifactPermissions.meta({
      description: 'Permissions that all artifacts together request; the `grant` of an installation.',
    }),
    needs: z
      .array(z.enum(permissions))
      .meta({ description: 'Permissions required of the user who installs the pack.' }),
    missing: z
      .array(z.enum(permissions))
      .meta({ description: 'Required permissions that the caller lacks.' }),
    problems: z.array(PackProblem),
    warnings: z.array(PackProblem).meta({
      description:
        'Problems that do not prevent the installation: secrets that do not exist, or that may not be sent to any ' +
        'host of the artifact.',
    }),
    breaks: z
      .array(ArtifactUse)
      .meta({ description: 'Workflows and scheduled jobs that use artifacts which would be removed.' }),
  })
  .meta({ id: 'PackCheck' })
export type PackCheck = z.infer<typeof PackCheck>

export const AvailablePack = z
  .object({
    name: PackName,
    packVersion: PackVersion,
    title: z.string(),
    description: z.string(),
    integrity: Integrity,
    artifacts: z.array(
      z.object({ slug: ArtifactSlug, kind: ArtifactKind, name: z.string(), description: z.string() }),
    ),
    asks: ArtifactPermissions,
    installedVersion: PackVersion.nullable(),
  })
  .meta({ id: 'AvailablePack' })
export type AvailablePack = z.infer<typeof AvailablePack>

export const packEvents = {
  'pack.installed': resourceEvent(PackState, 'A pack was installed.'),
  'pack.upgraded': resourceEvent(PackState, 'Another version of a pack took the place of the one before.', {
    from: PackVersion,
    change: z.enum(['upgrade', 'downgrade', 'reinstall']),
  }),
  'pack.suspended': resourceEvent(
    PackState,
    'Its artifacts no longer run: the person who installed it lacks permissions they need.',
  ),
  'pack.uninstalled': resourceEvent(PackState, 'A pack was uninstalled, and its artifacts with it.'),
} satisfies Record<string, EventDefinition>
