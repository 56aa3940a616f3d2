import {
  ApiError,
  type CommandMeta,
  CsvDelimiter,
  ImportFormat,
  Principal,
  RefusedRow,
  stringifyExact,
  type TenantScope,
} from '@opsplane/contracts'
import {
  isDependencyUnavailable,
  type LeasedRow,
  leasedWorker,
  type StatementRunner,
} from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import { z } from 'zod'
import type { RecordAccess } from '../row/record-access.js'
import { dueImports } from '../schema.js'
import type { RecordValidator } from '../validation/record-validator.js'
import { UnreadableFileError } from './csv-records.js'
import { type BatchOutcome, type ImportMeta, writeBatch } from './import-batch.js'
import type { FileRow } from './import-rows.js'
import type { ImportStore } from './import-store.js'
import { createOpenFiles } from './open-files.js'

const Claimed = z.object({
  id: z.string(),
  workspaceId: z.string(),
  environment: z.enum(['production', 'staging', 'development']),
  tableSlug: z.string(),
  format: ImportFormat,
  delimiter: CsvDelimiter,
  conflictColumns: z.array(z.string()).nullable(),
  principal: Principal,
  requestId: z.string().nullable(),
  status: z.string(),
  batches: z.number(),
  /** Number of rows in the written batches. Postgres returns them as text, since they are bigints. */
  written: z.coerce.number(),
  refused: z.coerce.number(),
  /** Attempts since the last written batch. */
  failures: z.number(),
})
type Claimed = z.infer<typeof Claimed>
const columns = [
  'id',
  'workspace_id as "workspaceId"',
  'environment',
  'table_slug as "tableSlug"',
  'format',
  'delimiter',
  'conflict_columns as "conflictColumns"',
  'principal',
  'request_id as "requestId"',
  'status',
  'batches',
  'written',
  'refused',
]

const Outcome = z.object({ written: z.number(), refused: z.array(RefusedRow) })
/** Outcome of an import. */
interface Ended {
  status: 'completed' | 'failed'
  error: string | null
}

/** Number of written batches, and the outcome of their rows. */
interface Progress {
  batches: number
  written: number
  refused: number
}

/** Maximum imports that a replica processes concurrently, and fewer for one workspace while others wait. */
const places = { batch: 2, ofOne: 1 }
const maxRefused = 1_000
/** Milliseconds of one slice, which other imports wait for. The slice ends with the batch then in flight. */
const sliceMs = 1_000
/** Milliseconds; covers a slice that has to re-read its file from the beginning, or whose batch waits for locks. */
const deadlineMs = 600_000
/** Consecutive attempts without a written batch, after which the import fails permanently. */
const maxAttempts = 8
const retry = { baseMs: 1_000, maxMs: 60_000 }

/**
 * Imports files batch by batch in slices, so that workspaces take turns. A replica that takes over an import continues
 * after the last committed batch.
 */
export function importWork({
  access,
  validating,
  store,
  sql,
  now,
  log,
  goOn,
}: {
  access: RecordAccess
  validating: RecordValidator
  store: ImportStore
  sql: StatementRunner
  now(): string
  log: Logger
  /** Called when more work may remain. */
  goOn(): void
}) {
  const files = createOpenFiles(store)
  const perform = async (claimed: Claimed, signal: AbortSignal): Promise<Ended | null> => {
    if (claimed.status === 'uploading')
      return { status: 'failed', error: 'The file has never arrived whole.' }
    // Every replica that processed it crashed.
    if (claimed.failures >= maxAttempts) return toFailedOutcome(claimed, claimed.batches)
    const { batches, written, refused } = claimed
    const progress = { batches, written, refused }
    try {
      return await importSlice(claimed, progress, signal)
    } catch (error) {
      const isOver = error instanceof UnreadableFileError || (error instanceof ApiError && error.status < 500)
      if (isOver) return { status: 'failed', error: error.message }
      const isStuck = progress.batches === claimed.batches && claimed.failures + 1 >= maxAttempts
      if (!isStuck || signal.aborted || isDependencyUnavailable(error)) throw error
      log.error({ err: error, import: claimed.id }, 'an import has failed permanently')
      return toFailedOutcome(claimed, progress.batches)
    }
  }

  /** Runs one slice of an import. Returns null if rows remain, or if another replica has claimed the import. */
  async function importSlice(
    claimed: Claimed,
    progress: Progress,
    signal: AbortSignal,
  ): Promise<Ended | null> {
    const meta = metaOf(claimed, now())
    const { table } = await access.open(claimed.tableSlug, meta)
    const file = files.take(claimed, table)
    const until = performance.now() + sliceMs
    for (;;) {
      signal.throwIfAborted()
      const { number } = file
      const rows = await file.next()
      if (rows === undefined) return endOf(progress)
      if (number < claimed.batches) continue
      const done = await importBatch(claimed, rows, { number, bytesRead: file.bytes(), meta })
      if (!done) return null
      progress.batches = file.number
      progress.written += done.written
      progress.refused += done.refused
      if (performance.now() < until) continue
      files.keep(claimed.id, table, file)
      return null
    }
  }

  /** Outcome of the rows; `undefined` if the import was cancelled or claimed by another replica. */
  async function importBatch(
    claimed: Claimed,
    rows: readonly FileRow[],
    { number, bytesRead, meta }: { number: number; bytesRead: number; meta: ImportMeta },
  ): Promise<Pick<Progress, 'written' | 'refused'> | undefined> {
    const key = `import:${claimed.id}:${number}`
    const known = Outcome.safeParse(await store.outcome(key))
    const outcome = known.success
      ? known.data
      : await write(claimed, rows, { ...meta, idempotency: kept(key) })
    // One row may have several problems.
    const refusedCount = new Set(outcome.refused.map(({ line }) => line)).size
    const parameters = [claimed.id, number, bytesRead, outcome.written, refusedCount].map(String)
    const noted = await sql.unsafe(
      `update record_imports set batches = $2::text::int4 + 1, failures = 0, bytes_done = $3::text::int8,
         written = written + $4::text::int8, refused = refused + $5::text::int8,
         refused_rows = case when jsonb_array_length(refused_rows) >= ${maxRefused} then refused_rows
           else refused_rows || $6::text::jsonb end
       where id = $1 and batches = $2::text::int4 and status = 'pending' returning id`,
      [...parameters, stringifyExact(outcome.refused.slice(0, maxRefused))],
    )
    return noted.length > 0 ? { written: outcome.written, refused: refusedCount } : undefined
  }

  const write = (claimed: Claimed, rows: readonly FileRow[], meta: ImportMeta): Promise<BatchOutcome> =>
    access.withTable(claimed.tableSlug, meta, (resolvedTable) =>
      writeBatch(access, resolvedTable, rows, { meta, on: claimed.conflictColumns ?? undefined, validating }),
    )

  return leasedWorker<Claimed & LeasedRow, Ended | null>({
    name: 'record-imports',
    of: dueImports,
    columns,
    ...places,
    deadlineMs,
    retry,
    perform: async (rows, signal) =>
      Promise.all(rows.map((row) => perform({ ...row, ...Claimed.parse(row) }, signal))),
    done: async (tx, finished) => {
      for (const { row, result } of finished) if (result) await end(tx, row.key, result)
    },
    // The remaining rows are due immediately, when it is the workspace's turn.
    committed: goOn,
  })
}

/** Outcome of a file that was read to its end. */
function endOf({ written, refused }: Progress): Ended {
  if (written > 0) return { status: 'completed', error: null }
  const error =
    refused > 0
      ? `None of the ${refused} rows could be written: refusedRows says why.`
      : 'The file has no rows: nothing was written.'
  return { status: 'failed', error }
}

const toFailedOutcome = ({ requestId }: Claimed, batches: number): Ended => ({
  status: 'failed',
  error: `The rows after the first ${batches} batches could not be written in ${maxAttempts} attempts, for a reason that is not in the file. What was written before stays. Try again later, or ask the operator of the platform, naming the request ${requestId}.`,
})

async function end(tx: StatementRunner, id: string, { status, error }: Ended): Promise<void> {
  await tx.unsafe(
    `update record_imports set status = $2, error = $3, finished_at = now(), bytes_done = case when $2 = 'completed' then bytes else bytes_done end
     where id = $1 and status in ('uploading', 'pending')`,
    [id, status, error],
  )
  await tx.unsafe('delete from record_import_parts where import_id = $1', [id])
}

function metaOf(claimed: Claimed, now: string): ImportMeta {
  const { workspaceId, environment, principal, requestId } = claimed
  const tenant: TenantScope = { workspaceId, environment }
  return { tenant, principal, actor: principal.actor, requestId, now }
}

const kept = (key: string): NonNullable<CommandMeta['idempotency']> => ({
  key,
  fingerprint: 'import',
  respond: (data) => ({ status: 200, body: data }),
})
