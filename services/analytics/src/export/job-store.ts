import { ApiError, ResultColumn } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { z } from 'zod'
import type { WriterState } from '../format/writer.js'

/** What was settled when the first row was read. */
export const OpenedSource = z.object({ columns: z.array(ResultColumn), dataAsOf: z.string() })
export type OpenedSource = z.infer<typeof OpenedSource>

export interface Part {
  name: string
  part: number
  bytes: number
  sha256: string
}

/** How far a file has come with a part. */
export interface PartDone extends Part {
  /** Null for the end of the rows. */
  cursor: string | null
  writer: WriterState
  opened: OpenedSource
  rows: number
  ended: boolean
}

/** Whose the job is by now: a lease that has passed to another may change nothing. */
export interface LeasedJob {
  key: string
  fence: string
  workspaceId: string
}

export interface JobStore {
  /** Finished parts in their order. */
  parts(exportId: string): Promise<Part[]>
  /** Notes an object before it is put. Throws `quota_exceeded` where the workspace keeps as much as it may. */
  note(held: LeasedJob, object: Omit<Part, 'part'>, maxBytes: number): Promise<void>
  /** Makes the object a part of the file. False where the job was cancelled, or passed to another. */
  commit(held: LeasedJob, part: PartDone): Promise<boolean>
  /** Names of everything that was ever put. */
  objects(exportId: string): Promise<string[]>
}

export function createJobStore(sql: StatementRunner): JobStore {
  const ask = <Row extends object>(text: string, parameters: (string | null)[]) =>
    sql.unsafe<Row[]>(text, parameters, { prepare: true })
  return {
    async parts(exportId) {
      const rows = await ask<Part>(
        `select name, part, bytes::float8 as bytes, sha256 from export_objects
          where export_id = $1 and part is not null order by part`,
        [exportId],
      )
      return [...rows]
    },
    async note({ key, workspaceId }, { name, bytes, sha256 }, maxBytes) {
      const noted = await ask(
        `insert into export_objects (name, export_id, workspace_id, bytes, sha256)
          select $1, $2, $3, $4::text::int8, $5 where $6::text::int8 = 0 or $6::text::int8 >= $4::text::int8 +
            (select coalesce(sum(bytes), 0) from export_objects where workspace_id = $3)
          returning 1`,
        [name, key, workspaceId, String(bytes), sha256, String(maxBytes)],
      )
      if (noted.length === 0)
        throw new ApiError(
          'quota_exceeded',
          `The workspace may keep ${maxBytes} bytes of exports. Delete some of them first.`,
        )
    },
    async commit({ key, fence }, { name, part, cursor, writer, opened, rows, ended, bytes }) {
      const committed = await ask(
        `with job as (
            update export_jobs set parts = $4::text::int4 + 1, row_cursor = $5, writer = $6::text::json,
              opened = $7::text::json, row_count = $8::text::int8, bytes = bytes + $9::text::int8,
              ended = $10::text::boolean, failures = 0
            where id = $1 and lease_fence = $2::text::int8 and parts = $4::text::int4 and not cancelled returning id)
          update export_objects set part = $4::text::int4 from job where name = $3 and export_id = job.id returning 1`,
        [
          ...[key, fence, name, String(part), cursor, JSON.stringify(writer), JSON.stringify(opened)],
          ...[String(rows), String(bytes), String(ended)],
        ],
      )
      return committed.length > 0
    },
    async objects(exportId) {
      const rows = await ask<{ name: string }>('select name from export_objects where export_id = $1', [
        exportId,
      ])
      return rows.map(({ name }) => name)
    },
  }
}
