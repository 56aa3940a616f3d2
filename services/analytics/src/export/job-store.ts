import { ApiError, ResultColumn } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { z } from 'zod'
import type { WriterState } from '../format/writer.js'

/** Columns and data age, determined when the first row was read. */
export const OpenedSource = z.object({ columns: z.array(ResultColumn), dataAsOf: z.string() })
export type OpenedSource = z.infer<typeof OpenedSource>

export interface Part {
  name: string
  part: number
  bytes: number
  sha256: string
}

/** A finished part and the state needed to continue after it. */
export interface PartDone extends Part {
  /** `null` at the end of the rows. */
  cursor: string | null
  writer: WriterState
  opened: OpenedSource
  rows: number
  ended: boolean
}

/** Identifies the lease of a job. Writes of an expired lease are rejected. */
export interface LeasedJob {
  key: string
  fence: string
  workspaceId: string
}

export interface JobStore {
  /** Finished parts in order. */
  parts(exportId: string): Promise<Part[]>
  /**
   * Records an object before it is uploaded. Throws `quota_exceeded` if the workspace has reached its
   * storage limit.
   */
  note(job: LeasedJob, object: Omit<Part, 'part'>, maxBytes: number): Promise<void>
  /** Adds the object to the file as a part. Returns false if the job was cancelled or leased by another replica. */
  commit(job: LeasedJob, part: PartDone): Promise<boolean>
  /** Names of all objects ever uploaded for the export. */
  objects(exportId: string): Promise<string[]>
}

export function createJobStore(sql: StatementRunner): JobStore {
  const query = <Row extends object>(text: string, parameters: (string | null)[]) =>
    sql.unsafe<Row[]>(text, parameters, { prepare: true })
  return {
    async parts(exportId) {
      const rows = await query<Part>(
        `select name, part, bytes::float8 as bytes, sha256 from export_objects
          where export_id = $1 and part is not null order by part`,
        [exportId],
      )
      return [...rows]
    },
    async note({ key, workspaceId }, { name, bytes, sha256 }, maxBytes) {
      const noted = await query(
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
      const committed = await query(
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
      const rows = await query<{ name: string }>('select name from export_objects where export_id = $1', [
        exportId,
      ])
      return rows.map(({ name }) => name)
    },
  }
}
