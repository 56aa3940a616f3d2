import { z } from 'zod'
import { idSchema } from '../core/ids.js'
import { Moment } from '../core/moment.js'

const At = z.iso.datetime({ precision: 3 })
const Seq = z.int().positive()
const Hash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')

/** The signed content: the head of a workspace's audit chain at some time. */
export const AuditCheckpointContent = z.object({
  workspaceId: z.string().max(100),
  seq: Seq,
  hash: Hash.meta({ description: 'Hash of the event with this `seq`.' }),
  at: At,
})
export type AuditCheckpointContent = z.infer<typeof AuditCheckpointContent>

const signatureFields = {
  signature: z
    .string()
    .regex(/^[A-Za-z0-9+/]{86}==$/, 'must be an Ed25519 signature in base64')
    .meta({ description: 'Ed25519 signature in base64. For the signed content, see ADR 020.' }),
  keyId: z
    .string()
    .max(64)
    .meta({ description: 'Id of the key that signed the checkpoint; see GET /audit/checkpoints/key.' }),
}

export const AuditCheckpoint = AuditCheckpointContent.extend(signatureFields).meta({
  id: 'AuditCheckpoint',
  description:
    'Signed state of the audit chain. Stored outside the platform, the checkpoint proves later that no event ' +
    'before it was changed or removed.',
})
export type AuditCheckpoint = z.infer<typeof AuditCheckpoint>

export const AuditCheckpointKey = z
  .object({
    keyId: z.string(),
    algorithm: z.literal('Ed25519'),
    publicKey: z.string().meta({ description: 'Public key as SPKI DER in base64.' }),
  })
  .meta({ id: 'AuditCheckpointKey' })
export type AuditCheckpointKey = z.infer<typeof AuditCheckpointKey>

export const AuditVerifyRange = z.object({
  from: z.coerce.number().pipe(Seq).optional().meta({ description: 'First `seq` to check. Default: 1.' }),
  to: z.coerce
    .number()
    .pipe(Seq)
    .optional()
    .meta({ description: 'Last `seq` to check. Default: the end of the chain.' }),
  after: z
    .string()
    .max(2000)
    .optional()
    .meta({ description: 'The `nextCursor` of a verification that ran out of time.' }),
})
export type AuditVerifyRange = z.infer<typeof AuditVerifyRange>

export const AuditVerifyRequest = z
  .strictObject({
    // The signature covers the text written by this platform; a client that reformats instants may send another text.
    checkpoint: AuditCheckpointContent.extend({ ...signatureFields, at: Moment }).strict(),
  })
  .meta({
    id: 'AuditVerifyRequest',
    example: {
      checkpoint: {
        workspaceId: 'ws_01KAM7Z4Q6V3N8W2X5Y9B1C0DE',
        seq: 1000,
        hash: 'a'.repeat(64),
        at: '2026-01-31T08:00:00.000Z',
        keyId: 'settings',
        signature: `${'A'.repeat(86)}==`,
      },
    },
  })
export type AuditVerifyRequest = z.infer<typeof AuditVerifyRequest>

const AuditProblemKind = z
  .enum(['edited', 'deleted', 'inserted', 'reordered', 'truncated', 'checkpoint_mismatch'])
  .meta({ id: 'AuditProblemKind' })

export const AuditProblem = z
  .object({
    seq: Seq.meta({ description: 'Position of the problem; all events before it are in order.' }),
    kind: AuditProblemKind,
    eventId: z
      .string()
      .nullable()
      .meta({ description: 'Id of the event at this position; `null` if there is none.' }),
  })
  .meta({ id: 'AuditProblem' })
export type AuditProblem = z.infer<typeof AuditProblem>

export const AuditVerification = z
  .object({
    valid: z.boolean().meta({ description: 'Whether the checked part of the chain has no problem.' }),
    complete: z.boolean().meta({ description: '`false` if time ran out; continue with `nextCursor`.' }),
    checked: z.int().min(0).meta({ description: 'Number of events checked.' }),
    firstSeq: Seq.nullable(),
    lastSeq: Seq.nullable().meta({ description: 'The `seq` of the last event found in order.' }),
    head: z
      .object({ seq: Seq, hash: Hash, at: At })
      .nullable()
      .meta({ description: 'The end of the chain.' }),
    checkpoint: AuditCheckpoint.nullable().meta({
      description: 'Latest checkpoint stored in this installation.',
    }),
    checkpointsChecked: z.int().min(0),
    givenSignature: z
      .enum(['valid', 'unknown_key'])
      .nullable()
      .meta({
        description:
          'Signature check of the submitted checkpoint; with an unknown key, only the hash of the checkpoint is ' +
          'compared.',
      }),
    problem: AuditProblem.nullable().meta({ description: 'First problem found.' }),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'AuditVerification' })
export type AuditVerification = z.infer<typeof AuditVerification>

/** An exported copy of the log, as contained in events. */
export const AuditExport = z
  .object({
    id: idSchema('auditExport'),
    filters: z.record(z.string(), z.string()),
    lastSeq: z.int().min(0).meta({
      description: 'End of the chain at the time of the export; the copy contains no later events.',
    }),
    createdAt: At,
  })
  .meta({ id: 'AuditExport' })
export type AuditExport = z.infer<typeof AuditExport>

/** The last line of an export. Without it the copy is incomplete. */
export const AuditExportEnd = z
  .object({ complete: z.literal(true), count: z.int().min(0) })
  .meta({ id: 'AuditExportEnd' })
