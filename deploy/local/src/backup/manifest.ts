import { backendNames } from '@opsplane/contracts'
import { DumpedSequence, DumpedTable } from '@opsplane/postgres'
import { z } from 'zod'

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
/** Path within the backup folder, with names we choose. */
const FileName = z.string().regex(/^[a-z]+\/[0-9]+\.[a-z0-9.]+$/)

export const SavedTable = DumpedTable.extend({ file: FileName, rows: z.int().min(0) })
export type SavedTable = z.infer<typeof SavedTable>

/** The log of a service at the instant of the backup. */
export const SavedLog = z.object({
  service: z.enum(backendNames),
  schema: z.string(),
  events: z.int().min(0),
  lastPosition: z.int().min(0),
  /**
   * No position up to this one is drawn again: those after the last event belong to events that the backup does not
   * contain.
   */
  drawn: z.int().min(0),
  /** Hashes of the migrations of the schema, those of the log first. */
  migrations: z.array(z.string()),
})

export const SavedDatabase = z.object({
  /** `main`, or `data` if the tenants' tables have a separate database. */
  name: z.string().regex(/^[a-z]+$/),
  postgresVersion: z.string(),
  logs: z.array(SavedLog),
  tables: z.array(SavedTable),
  sequences: z.array(DumpedSequence),
  /** Data that services keep outside their schemas, described by the service. */
  beside: z.array(z.object({ service: z.enum(backendNames), description: z.unknown() })),
})
export type SavedDatabase = z.infer<typeof SavedDatabase>

const Head = z.looseObject({})
export const SavedStream = z.object({
  name: z.string(),
  file: FileName,
  messages: z.int().min(0),
  config: Head,
  state: Head,
})
export type SavedStream = z.infer<typeof SavedStream>

/** Contents of a backup, against which it is verified. */
export const Manifest = z.object({
  format: z.literal('opsplane-backup-1'),
  /** The instant of the snapshots of all databases. */
  at: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  /** Time during which no service could append, in ms. */
  pausedMs: z.number(),
  /** Ids of the master keys that wrap its data keys; never the keys. */
  masterKeys: z.array(z.string()),
  databases: z.array(SavedDatabase),
  streams: z.array(SavedStream),
  consumers: z.array(z.object({ stream: z.string(), config: Head, acknowledged: z.int().min(0) })),
  files: z.record(FileName, z.object({ bytes: z.int().min(0), sha256: Sha256 })),
})
export type Manifest = z.infer<typeof Manifest>
