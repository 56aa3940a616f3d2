import {
  ApiError,
  type CommandMeta,
  Environment,
  type ExportFile,
  type ExportState,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import type { Aggregate, EventStore } from '@opsplane/eventstore'
import {
  afterCommit,
  type CreateWorker,
  type LeasedRow,
  leasedWorker,
  type StatementRunner,
} from '@opsplane/postgres'
import type { Limits, Logger } from '@opsplane/runtime'
import { z } from 'zod'
import { FileLimitError } from '../format/writer.js'
import type { ObjectStorage } from '../storage/object-storage.js'
import type { ExportCommand } from './domain.js'
import { type JobStore, OpenedSource } from './job-store.js'
import { Owner, type Owners } from './owner.js'
import { PlannedExport } from './plan.js'
import type { OpenRows } from './rows.js'
import { dueExports } from './tables.js'
import { StoppedError, writeFile } from './write-file.js'

const Claimed = z.object({
  key: z.string(),
  fence: z.string(),
  at: z.string(),
  failures: z.number(),
  workspaceId: z.string(),
  environment: Environment,
  phase: z.enum(['write', 'keep', 'purge']),
  owner: Owner,
  plan: PlannedExport,
  cursor: z.string().nullable(),
  writer: z.unknown(),
  opened: OpenedSource.nullable(),
  ended: z.boolean(),
  rows: z.coerce.number(),
})
type Claimed = z.infer<typeof Claimed>
const columns = [
  'workspace_id as "workspaceId"',
  ...['environment', 'phase', 'owner', 'plan', 'writer', 'opened', 'ended'],
  'row_cursor as "cursor"',
  'row_count as "rows"',
]

export type Exports = Aggregate<ExportState, ExportCommand, unknown>

type Failure = NonNullable<ExportState['error']>
/** Result of one attempt. */
type Outcome =
  | { kind: 'completed'; file: ExportFile }
  | { kind: 'failed'; error: Failure }
  /** `sliced`: more remains to be written in the next slice. */
  | { kind: 'stopped' | 'over' | 'purged' | 'sliced' }

export interface ExportWorkOptions {
  exports: Exports
  eventStore: Pick<EventStore, 'within'>
  store: JobStore
  storage: ObjectStorage
  owners: Owners
  openRows: OpenRows
  limits: Limits
  log: Logger
  partBytes: number
  /** How long one export is written before the next workspace has its turn, in milliseconds. */
  sliceMs: number
  leaseMs: number
  retentionHours: number
  /** Notifies the worker that a job is due. */
  wake(): void
}

export const exportWorkName = 'exports'
/** Exports processed concurrently by a replica, and of one workspace while others wait. */
const batchSizes = { batch: 2, ofOne: 1 }
const deadlineMs = 900_000
/** Consecutive attempts without a finished part; about an hour and a half with the delays of `retry`. */
const maxAttempts = 20
const retry = { baseMs: 1_000, maxMs: 300_000 }

/** Writes exports, expires their files at the end of retention and deletes all their objects. */
export function exportWork(options: ExportWorkOptions): CreateWorker {
  const { store, storage, owners, openRows, limits, log } = options

  const write = async (job: Claimed, signal: AbortSignal): Promise<Outcome> => {
    const { workspaceId, environment } = job
    const tenant: TenantScope = { workspaceId, environment }
    try {
      // It was never committed, or it was cancelled or deleted.
      if ((await options.exports.find(job.key, tenant))?.state.status !== 'pending')
        return { kind: 'stopped' }
      if (job.failures >= maxAttempts) return attemptsExceeded
      const caller = await owners.resolveCaller(job.owner, tenant)
      const file = await writeFile(
        { ...job, writer: (job.writer ?? null) as never },
        {
          ...{ store, storage, partBytes: options.partBytes, sliceMs: options.sliceMs, now: job.at, signal },
          maxBytes: (workspace) => limits.of('exportBytes', workspace),
          open: (openOptions) => openRows(caller, job.plan.rows, openOptions),
        },
      )
      return file ? { kind: 'completed', file } : { kind: 'sliced' }
    } catch (error) {
      if (error instanceof StoppedError) return { kind: 'stopped' }
      const failure = toFailure(error)
      if (failure) return { kind: 'failed', error: failure }
      log.warn({ err: error, export: job.key }, 'an export was interrupted; it continues later')
      throw error
    }
  }

  const purge = async ({ key }: Claimed, signal: AbortSignal): Promise<Outcome> => {
    for (const name of await store.objects(key)) await storage.remove(name, signal)
    return { kind: 'purged' }
  }

  const attempt = (job: Claimed, signal: AbortSignal): Promise<Outcome> => {
    if (job.phase === 'purge') return purge(job, signal)
    if (job.phase === 'keep') return Promise.resolve({ kind: 'over' })
    return write(job, signal)
  }

  return leasedWorker<LeasedRow, { job: Claimed; outcome: Outcome }>({
    ...{
      name: exportWorkName,
      of: dueExports,
      columns,
      ...batchSizes,
      deadlineMs,
      leaseMs: options.leaseMs,
      retry,
    },
    perform: (rows, signal) =>
      Promise.all(
        rows.map(async (row) => {
          const job = Claimed.parse(row)
          const begun = performance.now()
          const outcome = await attempt(job, signal)
          // Writing takes long: later deadlines count from the current time of the database clock.
          const at = new Date(Date.parse(job.at) + performance.now() - begun).toISOString()
          return { job: { ...job, at }, outcome }
        }),
      ),
    async done(tx, finished) {
      for (const { result } of finished) await settle(options, tx, result.job, result.outcome)
    },
  })
}

/**
 * Records the result on the export and its job. If the export was deleted in the meantime, the job is left
 * for purging.
 */
async function settle(
  { exports, eventStore, retentionHours, wake }: ExportWorkOptions,
  tx: StatementRunner,
  job: Claimed,
  outcome: Outcome,
): Promise<void> {
  const { key, at: now, workspaceId, environment } = job
  const meta: CommandMeta = { tenant: { workspaceId, environment }, actor: systemActor, now, requestId: null }
  const expiresAt = new Date(Date.parse(now) + retentionHours * 3_600_000).toISOString()
  const decide = (command: ExportCommand) =>
    eventStore.within(tx, meta, async (unit) => {
      const found = await unit.find(exports, key)
      if (found) await unit.handle(exports, key, command)
      return found?.state
    })
  const go = async (phase: 'write' | 'keep' | 'purge', dueAt: string) => {
    const parameters = [key, phase, dueAt]
    await tx.unsafe('update export_jobs set phase = $2, due_at = $3::timestamptz where id = $1', parameters)
    if (phase !== 'keep') afterCommit(tx, wake)
  }

  switch (outcome.kind) {
    case 'completed': {
      const before = await decide({ kind: 'complete', file: outcome.file, expiresAt, now })
      return before?.status === 'pending' ? go('keep', expiresAt) : go('purge', now)
    }
    case 'failed':
      await decide({ kind: 'fail', error: outcome.error, now })
      return go('purge', now)
    case 'over':
      await decide({ kind: 'expire', now })
      return go('purge', now)
    case 'stopped':
      return go('purge', now)
    case 'sliced':
      return go('write', now)
    case 'purged':
      await tx.unsafe('delete from export_objects where export_id = $1', [key])
      await tx.unsafe('delete from export_links where export_id = $1', [key])
      await tx.unsafe('delete from export_jobs where id = $1', [key])
  }
}

const attemptsExceeded: Outcome = {
  kind: 'failed',
  error: {
    code: 'service_unavailable',
    message: `It could not be finished in ${maxAttempts} attempts, as a dependency was unavailable. Try again later.`,
  },
}

/** Returns the failure if another attempt would be pointless, `undefined` if it may succeed. */
function toFailure(error: unknown): Failure | undefined {
  if (error instanceof FileLimitError) return { code: 'payload_too_large', message: error.message }
  if (!(error instanceof ApiError) || error.status >= 500 || error.retryable) return undefined
  return { code: error.code, message: error.message }
}
