import { z } from 'zod'
import { idSchema, ResourceVersion } from '../core/ids.js'
import { Moment } from '../core/moment.js'
import { Actor } from '../core/principal.js'
import { type EventDefinition, resourceEvent } from '../events/catalog.js'
import { allowedActionsSchema, requireForAll } from './allowed-actions.js'
import { CiRelation, RedundancyByType } from './cmdb-relations.js'

export const ciStatuses = [
  'planned',
  'operational',
  'non_operational',
  'repair_in_progress',
  'retired',
] as const
export const CiStatus = z.enum(ciStatuses).meta({ id: 'CiStatus' })
export type CiStatus = z.infer<typeof CiStatus>

/** In descending order of severity. */
export const criticalities = ['critical', 'high', 'medium', 'low'] as const
export const Criticality = z.enum(criticalities).meta({ id: 'Criticality' })
export type Criticality = z.infer<typeof Criticality>

/** All actions on an item; its status determines which of them apply. */
export const ciActions = ['edit', 'relate', 'activate', 'fail', 'repair', 'retire', 'delete'] as const
export const CiAction = z.enum(ciActions).meta({ id: 'CiAction' })
export type CiAction = z.infer<typeof CiAction>

/** Built-in classes of every workspace, with their labels. */
export const builtInClasses: Readonly<Record<string, string>> = {
  service: 'Service',
  application: 'Application',
  server: 'Server',
  database: 'Database',
  network_device: 'Network device',
  storage: 'Storage',
  container: 'Container',
  cloud_resource: 'Cloud resource',
  other: 'Other',
}

export const CiClassName = z
  .string()
  .max(60)
  .regex(/^[a-z][a-z0-9_]*$/, 'must be lower-case letters, digits and _, beginning with a letter')
  .meta({ example: 'server' })
const Name = z.string().trim().min(1).max(200).meta({ example: 'checkout-db-1' })
const Reference = z.string().trim().min(1).max(100)
const NativeKey = z.string().trim().min(1).max(500)
const At = z.iso.datetime({ precision: 3 })
const Attributes = z
  .record(z.string().min(1).max(200), z.unknown())
  .refine(
    (attributes) => new TextEncoder().encode(JSON.stringify(attributes)).length <= 65_536,
    'must be at most 64 KiB of JSON',
  )
  .meta({
    description: 'Attributes of the item. Validated against the schema of the class, if it has one.',
    example: { cores: 8 },
  })

const fields = {
  class: CiClassName,
  name: Name,
  criticality: Criticality,
  description: z.string().max(20_000).nullable(),
  owner: Reference.nullable().meta({
    description: 'User responsible for the item.',
    example: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  }),
  supportGroup: Reference.nullable().meta({
    description: 'Team that supports the item.',
    example: 'payments',
  }),
  attributes: Attributes,
  redundancy: RedundancyByType,
}

/** An item as contained in events: its fields, without those only an API response adds. */
export const ConfigurationItemState = z.object({
  id: idSchema('ci'),
  ...fields,
  status: CiStatus,
  source: Reference.nullable().meta({
    description: 'System from which the item was imported.',
    example: 'aws',
  }),
  nativeKey: NativeKey.nullable().meta({
    description: 'Key of the item in the source system. Unique within the source.',
  }),
  lastSeenAt: At.nullable().meta({ description: 'Time at which the source system last reported the item.' }),
  createdBy: Actor,
  createdAt: At,
  updatedAt: At,
})
export type ConfigurationItemState = z.infer<typeof ConfigurationItemState>

export const ConfigurationItem = ConfigurationItemState.extend({
  version: ResourceVersion,
  allowedActions: allowedActionsSchema(
    CiAction,
    requireForAll(ciActions, 'cmdb:write'),
    'the present status',
  ),
  openIncidents: z
    .int()
    .min(0)
    .optional()
    .meta({
      description:
        'Number of incidents about the item that are open, in progress or on hold. Only present when a single item ' +
        'is read in its current state.',
    }),
}).meta({ id: 'ConfigurationItem' })
export type ConfigurationItem = z.infer<typeof ConfigurationItem>

export const NewConfigurationItem = z
  .strictObject({
    class: CiClassName,
    name: Name,
    status: z.enum(['planned', 'operational']).default('planned'),
    criticality: Criticality.default('medium'),
    description: fields.description.optional(),
    owner: fields.owner.optional(),
    supportGroup: fields.supportGroup.optional(),
    attributes: Attributes.default({}),
    redundancy: RedundancyByType.default({}),
    source: Reference.optional(),
    nativeKey: NativeKey.optional(),
    lastSeenAt: Moment.optional(),
  })
  .refine(({ source, nativeKey }) => (source === undefined) === (nativeKey === undefined), {
    path: ['nativeKey'],
    message: 'goes with source, and source with nativeKey',
  })
  .meta({ id: 'NewConfigurationItem', example: { class: 'server', name: 'web-1' } })
export type NewConfigurationItem = z.infer<typeof NewConfigurationItem>

export const ConfigurationItemPatch = z
  .strictObject({ ...fields, status: CiStatus, lastSeenAt: Moment })
  .partial()
  .meta({ id: 'ConfigurationItemPatch', example: { criticality: 'high' } })
export type ConfigurationItemPatch = z.infer<typeof ConfigurationItemPatch>

export const CiStatusReason = z
  .strictObject({ reason: z.string().trim().min(1).max(2_000).optional() })
  .meta({ id: 'CiStatusReason', example: { reason: 'Disk replaced.' } })

const ClassSchema = z
  .record(z.string(), z.unknown())
  .nullable()
  .meta({
    description: 'JSON Schema of the attributes. Existing items are validated when they are next written.',
    example: { type: 'object', properties: { cores: { type: 'integer', minimum: 1 } } },
  })
const Label = z.string().trim().min(1).max(100)

/** A class as contained in events. */
export const CiClassState = z.object({
  id: idSchema('ciClass'),
  name: CiClassName,
  label: Label,
  schema: ClassSchema,
  createdAt: At,
  updatedAt: At,
})
export type CiClassState = z.infer<typeof CiClassState>

export const CiClass = z
  .object({
    name: CiClassName,
    label: Label,
    schema: ClassSchema,
    builtIn: z
      .boolean()
      .meta({ description: 'Whether the class is built in. Built-in classes exist in every workspace.' }),
    version: z
      .int()
      .min(0)
      .meta({
        description:
          'Version number, also returned as the `ETag`. Send it as `If-Match`. 0 for a built-in class that was never ' +
          'changed.',
      }),
  })
  .meta({ id: 'CiClass' })
export type CiClass = z.infer<typeof CiClass>

export const NewCiClass = z
  .strictObject({ name: CiClassName, label: Label, schema: ClassSchema.default(null) })
  .meta({ id: 'NewCiClass', example: { name: 'laptop', label: 'Laptop' } })
export type NewCiClass = z.infer<typeof NewCiClass>

export const CiClassPatch = z
  .strictObject({ label: Label, schema: ClassSchema })
  .partial()
  .meta({ id: 'CiClassPatch', example: { label: 'Notebook' } })
export type CiClassPatch = z.infer<typeof CiClassPatch>

export const cmdbEvents = {
  'ci.created': resourceEvent(ConfigurationItemState, 'A configuration item was recorded.'),
  'ci.updated': resourceEvent(ConfigurationItemState, 'Fields of a configuration item changed.'),
  'ci.status_changed': resourceEvent(
    ConfigurationItemState,
    'A configuration item went into service, failed, or is being repaired.',
    { reason: z.string().nullable() },
  ),
  'ci.retired': resourceEvent(ConfigurationItemState, 'A configuration item was retired permanently.', {
    reason: z.string().nullable(),
  }),
  'ci.deleted': resourceEvent(ConfigurationItemState, 'A planned configuration item was dropped.'),
  'ci.relation_added': resourceEvent(CiRelation, 'Two configuration items were related.'),
  'ci.relation_removed': resourceEvent(CiRelation, 'Two configuration items are no longer related.'),
  'ci.class_created': resourceEvent(CiClassState, 'A class of configuration items was set up.'),
  'ci.class_updated': resourceEvent(CiClassState, 'The label or schema of a class changed.'),
} satisfies Record<string, EventDefinition>
export type CmdbEventType = keyof typeof cmdbEvents
