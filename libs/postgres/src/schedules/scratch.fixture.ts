import { Schedule, type TenantScope } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import postgres from 'postgres'
import {
  attemptDueWork,
  connect,
  createDueWork,
  dueSchedules,
  type ScheduleOwner,
  type ScheduleRow,
  scheduleWork,
} from '../index.js'

const url = process.env.TEST_DATABASE_URL ?? ''
const silent = createLogger({ service: 'test', level: 'silent' })
export const tenant: TenantScope = { workspaceId: 'ws_a', environment: 'production' }
export const scheduleOwner = (id: string, of = tenant): ScheduleOwner => ({
  kind: 'workflow',
  id,
  tenant: of,
})
export const spec = (fields: object) => Schedule.parse(fields)

/** Schedules in a dedicated schema, and a table of the work they start, which would show a time started twice. */
export async function scratchSchedules(schema: string) {
  const admin = postgres(url, { max: 4, onnotice: () => undefined, connection: { search_path: schema } })
  await admin.unsafe(`drop schema if exists ${schema} cascade; create schema ${schema};
    create table schedules (id text primary key, owner_kind text not null, owner_id text not null, workspace_id text not null,
      environment text not null, spec json not null, anchored_at timestamptz not null, planned_at timestamptz,
      last_fired_at timestamptz, paused_at timestamptz, held_until timestamptz, failures int not null default 0,
      last_error text, unique (owner_kind, owner_id));
    create index schedules_due_idx on schedules ((${dueSchedules.due})) where ${dueSchedules.waiting};
    create index schedules_turn_idx on schedules (workspace_id, (${dueSchedules.dueInTurn})) where ${dueSchedules.waiting};
    create table schedule_fires (schedule_id text not null references schedules on delete cascade, fire_at timestamptz not null,
      decided_at timestamptz not null, begun text not null, primary key (schedule_id, fire_at));
    create table runs (owner_id text not null, fire_at text not null, begun text not null, ended bool not null default false)`)
  const database = connect(url, { schema, max: 8 })
  const state = { failing: undefined as string | undefined }

  const work = () =>
    scheduleWork({
      async isActive(tx, { ownerId }: ScheduleRow) {
        const [row] = await tx.unsafe<{ active: number }[]>(
          'select count(*)::int as active from runs where owner_id = $1 and not ended',
          [ownerId],
        )
        return row?.active ?? 0
      },
      async fire(tx, { ownerId }, fireAt, begun) {
        if (ownerId === state.failing) throw new Error('cannot be begun')
        if (begun === 'replace')
          await tx.unsafe('update runs set ended = true where owner_id = $1', [ownerId])
        await tx.unsafe('insert into runs (owner_id, fire_at, begun) values ($1, $2, $3)', [
          ownerId,
          fireAt,
          begun,
        ])
      },
    })
  return {
    admin,
    sql: database.sql,
    state,
    work,
    /** A replica with its own time source. */
    replica(now: () => string) {
      const group = createDueWork({ sql: database.sql, log: silent, simulated: { now }, restMs: 5 })
      group.start(work())
      return group
    },
    /** Polls once for schedules due at an instant. */
    lookAt: (now: string) =>
      attemptDueWork(work(), { sql: database.sql, log: silent, simulated: { now: () => now } }),
    async begun(id: string) {
      const rows = await admin<{ fire_at: string; begun: string }[]>`
        select fire_at, begun from runs where owner_id = ${id} order by fire_at`
      return rows.map(({ fire_at, begun }) => `${fire_at.slice(8, 16)} ${begun}`)
    },
    async decided(id: string) {
      const rows = await admin<{ begun: string }[]>`
        select begun from schedule_fires join schedules on id = schedule_id where owner_id = ${id} order by fire_at`
      return rows.map(({ begun }) => begun)
    },
    end: (id: string) => admin`update runs set ended = true where owner_id = ${id}`,
    async close() {
      await database.close()
      await admin.unsafe(`drop schema ${schema} cascade`)
      await admin.end()
    },
  }
}
export type ScratchSchedules = Awaited<ReturnType<typeof scratchSchedules>>
