import { setTimeout as delay } from 'node:timers/promises'
import { createLogger } from '@opsplane/runtime'
import postgres from 'postgres'
import { connect, createDueWork, dueTable, type LeasedRow } from '../index.js'
import type { DueWorkOptions } from './due-work.js'

/** A table of due work in a dedicated schema. */
export const jobs = dueTable({
  table: 'jobs',
  key: 'id',
  dueAt: 'due_at',
  waiting: 'finished_at is null',
  fairKey: 'workspace_id',
})

export interface Job extends LeasedRow {
  workspace_id: string
}

const url = process.env.TEST_DATABASE_URL ?? ''
const silent = createLogger({ service: 'test', level: 'silent' })

export async function scratchJobs(schema: string) {
  const admin = postgres(url, { max: 4, onnotice: () => undefined, connection: { search_path: schema } })
  await admin.unsafe(`drop schema if exists ${schema} cascade; create schema ${schema};
    create table ${schema}.jobs (id text primary key, workspace_id text not null, due_at timestamptz not null,
      finished_at timestamptz, times_done int not null default 0, held_until timestamptz,
      failures int not null default 0, last_error text, lease_owner text, lease_fence bigint not null default 0);
    create index jobs_due_idx on ${schema}.jobs (${jobs.due}) where ${jobs.waiting};
    create index jobs_turn_idx on ${schema}.jobs (workspace_id, (${jobs.dueInTurn})) where ${jobs.waiting}`)
  const database = connect(url, { schema, max: 8 })
  return {
    schema,
    admin,
    sql: database.sql,
    /** One replica of a service. */
    replica: (options: Partial<DueWorkOptions> = {}) =>
      createDueWork({ sql: database.sql, log: silent, ...options }),
    /** Adds `count` jobs of a workspace, due since or in the given number of milliseconds. */
    async add(
      count: number,
      {
        workspaceId = 'ws_a',
        inMs = 0,
        prefix,
      }: { workspaceId?: string; inMs?: number; prefix?: string } = {},
    ) {
      await admin`insert into jobs (id, workspace_id, due_at)
        select ${`${prefix ?? workspaceId}_`} || lpad(n::text, 6, '0'), ${workspaceId}, now() + ${inMs} * interval '1 ms'
        from generate_series(1, ${count}::int) n`
    },
    async jobs() {
      return [
        ...(await admin<{ id: string; times_done: number; failures: number; last_error: string | null }[]>`
          select id, times_done, failures, last_error from jobs order by id`),
      ]
    },
    async left(): Promise<number> {
      const [row] = await admin<{ left: number }[]>`
        select count(*)::int as left from jobs where finished_at is null`
      return row?.left ?? 0
    },
    /** The remaining jobs that have failed and are delayed. */
    async listDelayed(): Promise<string[]> {
      const rows = await admin<{ id: string }[]>`
        select id from jobs where finished_at is null and failures > 0 and held_until > now() order by id`
      return rows.map(({ id }) => id)
    },
    async close() {
      await database.close()
      await admin.unsafe(`drop schema ${schema} cascade`)
      await admin.end()
    },
  }
}
export type ScratchJobs = Awaited<ReturnType<typeof scratchJobs>>

/** Increments the row's count of completions. */
export const finish = (tx: Pick<postgres.Sql, 'unsafe'>, rows: readonly { key: string }[]) =>
  tx.unsafe('update jobs set finished_at = now(), times_done = times_done + 1 where id = any($1::text[])', [
    rows.map(({ key }) => key),
  ])

/**
 * Waits until the condition is true, on machines of any speed: the timeout only catches conditions that never come
 * true.
 */
export async function waitUntilTrue(
  condition: () => boolean | undefined | Promise<boolean | undefined>,
): Promise<void> {
  const deadlineMs = performance.now() + 60_000
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error('it never came to that')
    await delay(10)
  }
}
