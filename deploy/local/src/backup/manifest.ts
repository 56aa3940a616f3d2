import { backendNames } from '@opsplane/contracts'
import { DumpedSequence, DumpedTable } from '@opsplane/postgres'
import { z } from 'zod'

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
/** Inside the folder of the backup, by names of ours. */
const FileName = z.string().regex(/^[a-z]+\/[0-9]+\.[a-z0-9.]+$/)

export const SavedTable = DumpedTable.extend({ file: FileName, rows: z.int().min(0) })
export type SavedTable = z.infer<typeof SavedTable>

/** The log of a service at the instant of the backup. */
export const SavedLog = z.object({
  service: z.enum(backendNames),
  schema: z.string(),
  events: z.int().min(0),
  lastPosition: z.int().min(0),
  /** No position up to it is drawn again: those after the last one went to events that the backup does not have. */
  drawn: z.int().min(0),
  /** Hashes of the migrations its schema has, the log's first. */
  migrations: z.array(z.string()),
})

export const SavedDatabase = z.object({
  /** `main`, or `data` where tenants' tables have a database of their own. */
  name: z.string().regex(/^[a-z]+$/),
  postgresVersion: z.string(),
  logs: z.array(SavedLog),
  tables: z.array(SavedTable),
  sequences: z.array(DumpedSequence),
  /** What services keep outside their schemas, as they describe it. */
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

/** What a backup is, and what it must be found to be. */
export const Manifest = z.object({
  format: z.literal('opsplane-backup-1'),
  /** The instant that all databases are of. */
  at: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  /** For how long no service could append. */
  pausedMs: z.number(),
  /** Ids of the master keys that wrap its data keys; never the keys. */
  masterKeys: z.array(z.string()),
  databases: z.array(SavedDatabase),
  streams: z.array(SavedStream),
  consumers: z.array(z.object({ stream: z.string(), config: Head, acknowledged: z.int().min(0) })),
  files: z.record(FileName, z.object({ bytes: z.int().min(0), sha256: Sha256 })),
})
export type Manifest = z.infer<typeof Manifest>
