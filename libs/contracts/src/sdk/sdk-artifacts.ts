import { z } from 'zod'
import { NewFilter } from '../core/filter.js'
import { idSchema } from '../core/ids.js'
import { Schedule } from '../core/schedule.js'
import { HostPatterns } from '../core/secret-hosts.js'
import { ShownHeader } from '../core/shown-header.js'
import { TopicName } from '../dispatcher/topics.js'
import { EventPattern } from '../dispatcher/webhook-input.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { JsonValue } from '../json/json-value.js'
import { SecretName } from '../settings/secrets.js'
import { TableSlug } from '../studio/studio-columns.js'
import { RecordValidation } from './validations.js'

const At = z.iso.datetime({ precision: 3 })
const Name = z.string().trim().min(1).max(200)

const artifactKinds = ['workflow_action', 'business_rule', 'scheduled', 'api'] as const
export const ArtifactKind = z.enum(artifactKinds).meta({
  id: 'ArtifactKind',
  description:
    '`workflow_action` runs in workflow steps, `business_rule` on events or before records are written, ' +
    '`scheduled` in scheduled jobs, `api` under a path of its own. Every artifact can also be invoked manually.',
})
export type ArtifactKind = z.infer<typeof ArtifactKind>

/** Permanent name of an artifact in its environment. */
export const ArtifactSlug = z
  .string()
  .max(100, 'has at most 100 characters')
  .regex(
    /^[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*$/,
    'must be lower-case letters and digits, with single `-` or `_` in between',
  )
  .meta({ example: 'escalate-stale-incidents' })

/** JSON Schema of draft 2020-12, which `libs/json-schema` compiles. */
export const ArtifactSchema = z
  .record(z.string(), JsonValue)
  .meta({ description: 'JSON Schema, draft 2020-12.', example: { type: 'object' } })

const maxEntries = 100
const names = <Item extends z.ZodType>(item: Item) => z.array(item).max(maxEntries).default([])

const TableAccess = z.enum(['read', 'write'])

/** External resources an artifact may access. Everything not listed is denied. */
export const ArtifactPermissions = z
  .strictObject({
    api: names(
      z.string().regex(/^[a-z][A-Za-z0-9]{0,99}$/, 'must be an operation id such as createIncident'),
    ).meta({
      description: 'Operation ids of this API that `host.api` may call.',
      example: ['createIncident'],
    }),
    http: HostPatterns.default([]).meta({
      description:
        'Hosts that `host.http` may call: names, `*.example.com` for any one label in front, or `*` for every host.',
      example: ['api.example.com'],
    }),
    connectors: names(Name).meta({ description: 'Names of connectors that `host.connector` may invoke.' }),
    secrets: names(SecretName).meta({
      description:
        'Names of secrets for which `host.secret` returns handles. The value replaces the handle only in requests to ' +
        'the hosts of the secret.',
    }),
    secretsPlain: names(SecretName).meta({
      description:
        'Names of secrets whose values the code itself may read. Masking cannot prevent the code from disclosing ' +
        'them.',
    }),
    tables: z
      .record(TableSlug, z.array(TableAccess).min(1).max(2))
      .refine((tables) => Object.keys(tables).length <= maxEntries, `must name at most ${maxEntries} tables`)
      .default({})
      .meta({
        description: 'Access of `host.table` to tables, by slug of the table.',
        example: { assets: ['read'] },
      }),
    topics: names(TopicName).meta({ description: 'Topics that `host.publish` may publish to.' }),
  })
  .meta({ id: 'ArtifactPermissions' })
export type ArtifactPermissions = z.infer<typeof ArtifactPermissions>

const KiB = 1_024
const MiB = KiB * KiB

/** Resource limits of one invocation. */
export const ArtifactLimits = z
  .strictObject({
    cpuMs: z
      .int()
      .min(10)
      .max(10_000)
      .default(1_000)
      .meta({ description: 'Maximum computing time in milliseconds.' }),
    wallMs: z
      .int()
      .min(10)
      .max(300_000)
      .default(30_000)
      .meta({ description: 'Maximum time from start to end in milliseconds, including waits.' }),
    memoryMb: z.int().min(8).max(256).default(64),
    inputBytes: z
      .int()
      .min(KiB)
      .max(4 * MiB)
      .default(MiB),
    outputBytes: z
      .int()
      .min(KiB)
      .max(4 * MiB)
      .default(MiB),
    logBytes: z
      .int()
      .min(KiB)
      .max(MiB)
      .default(64 * KiB),
    hostCalls: z.int().min(0).max(10_000).default(1_000),
    hostCallsAtOnce: z.int().min(1).max(64).default(16),
  })
  .meta({ id: 'ArtifactLimits' })
export type ArtifactLimits = z.infer<typeof ArtifactLimits>

/** Events a business rule handles, or the records it validates before they are written. */
export const ArtifactRule = z
  .strictObject({
    events: z
      .array(EventPattern)
      .max(50)
      .default([])
      .meta({
        description: 'Event types or patterns after which the rule runs, at least once for each event.',
        example: ['record.created'],
      }),
    filter: NewFilter.optional().meta({
      description:
        'Conditions over the webhook body of the event, such as `data.severity`. For validations: conditions over ' +
        'the record in its current or its new state.',
    }),
    validates: RecordValidation.optional().meta({
      description:
        'Tables whose records the rule validates. The rule runs before such records are written through the API, ' +
        'once for each batch and for at most 8 seconds. The rule receives `{ table, operation, records, before }` ' +
        'and returns `{ faults: [{ index, column, code, message }] }`. Changes made by SQL, migrations or references ' +
        'are not validated.',
    }),
  })
  .refine(
    ({ events, validates }) => events.length > 0 !== (validates !== undefined),
    'must have either events or validates',
  )
  .meta({ id: 'ArtifactRule' })
export type ArtifactRule = z.infer<typeof ArtifactRule>

export const apiMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** How an artifact serves HTTP requests below its own path. */
export const ArtifactApi = z
  .strictObject({
    methods: z
      .array(z.enum(apiMethods))
      .min(1)
      .max(apiMethods.length)
      .default(['GET', 'POST'])
      .meta({ description: 'HTTP methods that the artifact accepts. GET also allows HEAD.' }),
    headers: z
      .array(ShownHeader)
      .max(20)
      .default([])
      .meta({
        description:
          'Request headers passed to the artifact in addition to `accept`, `accept-language`, `content-type` and ' +
          '`user-agent`.',
        example: ['x-signature'],
      }),
  })
  .meta({ id: 'ArtifactApi' })
export type ArtifactApi = z.infer<typeof ArtifactApi>

const artifactStatuses = ['active', 'suspended', 'removed'] as const
const ArtifactStatus = z.enum(artifactStatuses).meta({
  description:
    '`suspended`: the user who installed the artifact lacks a permission it requires. `removed`: the pack of the ' +
    'artifact was removed or no longer contains it.',
})

/** An artifact as contained in events: its current version, without code and schemas. */
export const ArtifactState = z.object({
  id: idSchema('artifact'),
  slug: ArtifactSlug,
  name: z.string(),
  description: z.string(),
  kind: ArtifactKind,
  status: ArtifactStatus,
  artifactVersion: z.int().min(1).meta({ description: 'Version that is currently invoked.' }),
  latestVersion: z.int().min(1),
  packId: idSchema('pack'),
  packName: z.string(),
  permissions: ArtifactPermissions,
  limits: ArtifactLimits,
  retryable: z.boolean().meta({ description: 'Whether an interrupted invocation may be started again.' }),
  rule: ArtifactRule.nullable(),
  api: ArtifactApi.nullable(),
  schedule: Schedule.nullable().meta({
    description: 'Proposed schedule for a scheduled job of the artifact.',
  }),
  ownerId: idSchema('user').meta({
    description: 'User who installed the artifact and on whose behalf it acts.',
  }),
  createdAt: At,
  updatedAt: At,
})
export type ArtifactState = z.infer<typeof ArtifactState>

export const Artifact = ArtifactState.extend({ version: z.int().min(1) }).meta({ id: 'Artifact' })
export type Artifact = z.infer<typeof Artifact>

const Sources = {
  inputSchema: ArtifactSchema.nullable().meta({
    description: 'JSON Schema of the input; `null` if any input is accepted.',
  }),
  outputSchema: ArtifactSchema.nullable().meta({
    description: 'JSON Schema of the output; `null` if any output is allowed.',
  }),
  fileName: z.string(),
  source: z.string().meta({ description: 'Source code as one ES module, as installed.' }),
}

/** An immutable version. */
export const ArtifactVersion = z
  .object({
    artifactId: idSchema('artifact'),
    number: z.int().min(1),
    packVersion: z.string(),
    digest: z.string().meta({ description: 'SHA-256 of the code and all its declarations, in hexadecimal.' }),
    createdAt: At,
    createdBy: idSchema('user'),
    current: z.boolean(),
  })
  .meta({ id: 'ArtifactVersion' })
export type ArtifactVersion = z.infer<typeof ArtifactVersion>

export const ArtifactVersionDetail = ArtifactVersion.extend({
  kind: ArtifactKind,
  permissions: ArtifactPermissions,
  limits: ArtifactLimits,
  ...Sources,
  tests: z.array(z.string()).meta({ description: 'Names of the tests of this version.' }),
}).meta({ id: 'ArtifactVersionDetail' })
export type ArtifactVersionDetail = z.infer<typeof ArtifactVersionDetail>

export const ArtifactDetail = Artifact.extend({
  ...Sources,
  tests: z.array(z.string()).meta({ description: 'Names of the tests of the artifact.' }),
}).meta({ id: 'ArtifactDetail' })
export type ArtifactDetail = z.infer<typeof ArtifactDetail>

export const artifactEvents = {
  'artifact.created': resourceEvent(ArtifactState, 'An artifact came with a pack.'),
  'artifact.updated': resourceEvent(
    ArtifactState,
    'An artifact has another version or owner, or was suspended.',
  ),
  'artifact.removed': resourceEvent(
    ArtifactState,
    'An artifact went with its pack. It can come back under its slug.',
  ),
} satisfies Record<string, EventDefinition>
