import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { Environment } from '../core/principal.js'
import { TableSlug } from '../studio/studio-columns.js'

const recordChangeKinds = ['create', 'update', 'delete'] as const
/** Kind of a pending write to records. */
export const RecordChangeKind = z.enum(recordChangeKinds)
export type RecordChangeKind = z.infer<typeof RecordChangeKind>

/** Writes of records that a business rule validates beforehand. */
export const RecordValidation = z
  .strictObject({
    tables: z
      .array(TableSlug)
      .min(1)
      .max(20)
      .refine((tables) => new Set(tables).size === tables.length, 'must name each table once')
      .meta({ description: 'Slugs of the tables, which need not exist yet.', example: ['assets'] }),
    on: z
      .array(RecordChangeKind)
      .min(1)
      .max(3)
      .refine((on) => new Set(on).size === on.length, 'must name each change once'),
    whenUnavailable: z.enum(['fail_open', 'fail_closed']).meta({
      description: 'Whether records are written while the validation cannot be run or has itself failed.',
    }),
  })
  .meta({ id: 'RecordValidation' })
export type RecordValidation = z.infer<typeof RecordValidation>

/** Timeout of a validation in milliseconds, whatever its artifact allows: a write waits for it. */
export const validationMs = 8_000

const Tenant = { workspaceId: z.string().max(100), environment: Environment }

/** A validation as known to the database studio, which writes records; `validates` is `null` if it was removed. */
export const KnownValidation = z.object({
  artifactId: idSchema('artifact'),
  /** Version of the artifact; messages with an earlier version are ignored. */
  version: z.int().min(1),
  validates: RecordValidation.nullable(),
})
export type KnownValidation = z.infer<typeof KnownValidation>

/** Sent by the sdk service to the database studio before it acknowledges the installation of a pack. */
export const KnownValidations = z.strictObject({
  ...Tenant,
  validations: z.array(KnownValidation).max(1_000),
})
export type KnownValidations = z.infer<typeof KnownValidations>

/** Columns as parsed from JSON. */
const Columns = z.record(z.string(), z.unknown())

/** Records of one table that are about to be written by the same operation. */
export const ChangedRecords = z.strictObject({
  table: TableSlug,
  operation: RecordChangeKind,
  /** The new records; for a delete, the current ones. */
  records: z.array(Columns).min(1),
  /** For updates: the current records, in the order of `records`. */
  before: z.array(Columns).optional(),
})
export type ChangedRecords = z.infer<typeof ChangedRecords>

/** Sent by the database studio before it writes a batch. */
export const ValidationQuestion = z.strictObject({
  ...Tenant,
  batch: z.array(ChangedRecords).min(1).max(1_000),
  /** The actor that writes. */
  actorId: z.string().max(200),
  requestId: z.string().nullable(),
  /** Cause of the write, such as an execution. */
  causationId: z.string().nullable(),
})
export type ValidationQuestion = z.infer<typeof ValidationQuestion>

const Fault = {
  index: z.int().min(0).meta({ description: 'Index of the record in `records`.' }),
  column: z.string().min(1).max(63).optional().meta({
    description: 'Column that the fault concerns; absent if the fault concerns the record as a whole.',
  }),
  code: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,49}$/, 'must be snake_case')
    .default('refused_by_rule'),
  message: z.string().trim().min(1).max(500),
}

/** Result of a validation's code: why records are rejected. Without faults, none is rejected. */
export const ValidationResult = z.strictObject({ faults: z.array(z.strictObject(Fault)).max(1_000) })

export const ValidationAnswer = z.object({
  /** `batch`: index in the question's batch; `artifact`: slug of the validation that rejects the record. */
  faults: z.array(z.object({ ...Fault, batch: z.int().min(0), artifact: z.string() })),
  /** Fail-closed validations that could not be run. */
  unavailable: z.array(z.object({ artifact: z.string(), reason: z.string() })),
})
export type ValidationAnswer = z.infer<typeof ValidationAnswer>
