import { newId, Schedule, type TenantScope } from '@opsplane/contracts'
import { createTimes } from '@opsplane/runtime'
import type { StatementRunner } from '../database.js'
import { claimInstantSql } from '../due-work/index.js'
import { isoText } from '../sql-text.js'

/** The owner of a schedule; each has one. */
export interface ScheduleOwner {
  kind: string
  id: string
  tenant: TenantScope
}

interface ScheduleStatus {
  schedule: Schedule
  paused: boolean
  /** ISO; `null` while the schedule is paused, and if there is no further time. */
  nextAt: string | null
  /** The latest time for which something was started. */
  lastAt: string | null
}

interface Row {
  spec: unknown
  anchored_at: string
  planned_at: string | null
  last_fired_at: string | null
  paused: boolean
}

/** The time of tests that simulate it; the database's own if absent. */
interface At {
  at?: string
}

const iso = (column: string) => `${isoText(column)} as ${column}`
export const scheduleColumns = [
  'spec::text as spec',
  ...['anchored_at', 'planned_at', 'last_fired_at'].map(iso),
]
const columns = [...scheduleColumns, 'paused_at is not null as paused'].join(', ')
const ofOwner = 'owner_kind = $1 and owner_id = $2 and workspace_id = $3 and environment = $4'
const ownerKey = ({ kind, id, tenant }: ScheduleOwner) => [kind, id, tenant.workspaceId, tenant.environment]

/** A schedule with the start of its interval. */
export function anchorSchedule(spec: unknown, anchoredAt: string): Schedule {
  const schedule = Schedule.parse(spec)
  const intervalStart = schedule.everySeconds === undefined ? {} : { startAt: anchoredAt }
  return { ...intervalStart, ...schedule }
}

/**
 * Creates or replaces an owner's schedule. Nothing is started for times before now; if the schedule is unchanged,
 * times that are due stay due. A paused schedule stays paused.
 */
export async function upsertSchedule(
  on: StatementRunner,
  owner: ScheduleOwner,
  schedule: Schedule,
  options: At = {},
): Promise<ScheduleStatus> {
  const now = await timeOf(on, options)
  const row = await one(
    on,
    `insert into schedules as kept (owner_kind, owner_id, workspace_id, environment, id, spec, anchored_at, planned_at)
      values ($1, $2, $3, $4, $5, $6::text::json, $7::timestamptz, $8::timestamptz)
      on conflict (owner_kind, owner_id) do update set spec = excluded.spec,
        anchored_at = ${ifUnchanged('kept.anchored_at', 'excluded.anchored_at')},
        planned_at = ${ifUnchanged('kept.planned_at', 'excluded.planned_at')},
        held_until = ${ifUnchanged('kept.held_until', 'null')}, failures = ${ifUnchanged('kept.failures', '0')}
      where kept.workspace_id = excluded.workspace_id and kept.environment = excluded.environment
      returning ${columns}`,
    [
      ...ownerKey(owner),
      newId('schedule'),
      JSON.stringify(schedule),
      now,
      nextAfter(anchorSchedule(schedule, now), now),
    ],
  )
  if (!row) throw new Error(`The schedule of ${owner.kind} ${owner.id} belongs to another tenant.`)
  return statusOf(row)
}

/** Keeps the existing value if the schedule is unchanged. */
const ifUnchanged = (same: string, changed: string) =>
  `case when kept.spec::jsonb = excluded.spec::jsonb then ${same} else ${changed} end`

/** `undefined` if the owner has no schedule; the same applies to the functions below. */
export async function findSchedule(
  on: StatementRunner,
  owner: ScheduleOwner,
): Promise<ScheduleStatus | undefined> {
  const row = await one(on, `select ${columns} from schedules where ${ofOwner}`, ownerKey(owner))
  return row && statusOf(row)
}

/** Starts nothing until the schedule is resumed. */
export async function pauseSchedule(
  on: StatementRunner,
  owner: ScheduleOwner,
  options: At = {},
): Promise<ScheduleStatus | undefined> {
  const row = await one(
    on,
    `update schedules set paused_at = coalesce(paused_at, $5::timestamptz) where ${ofOwner} returning ${columns}`,
    [...ownerKey(owner), await timeOf(on, options)],
  )
  return row && statusOf(row)
}

/** Continues with the next future time: times that passed during the pause are skipped on purpose. */
export async function resumeSchedule(
  on: StatementRunner,
  owner: ScheduleOwner,
  options: At = {},
): Promise<ScheduleStatus | undefined> {
  const found = await one(on, `select ${columns} from schedules where ${ofOwner} for update`, ownerKey(owner))
  if (!found?.paused) return found && statusOf(found)
  const now = await timeOf(on, options)
  const next = nextAfter(anchorSchedule(JSON.parse(String(found.spec)), found.anchored_at), now)
  const row = await one(
    on,
    `update schedules set paused_at = null, planned_at = $5::timestamptz, held_until = null, failures = 0
      where ${ofOwner} returning ${columns}`,
    [...ownerKey(owner), next],
  )
  return row && statusOf(row)
}

/** Returns whether there was one. */
export async function removeSchedule(on: StatementRunner, owner: ScheduleOwner): Promise<boolean> {
  const removed = await on.unsafe(`delete from schedules where ${ofOwner} returning 1`, ownerKey(owner))
  return removed.length > 0
}

async function timeOf(on: StatementRunner, { at }: At): Promise<string> {
  const [row] = await on.unsafe<{ at: string }[]>(`select ${claimInstantSql}`, [at ?? null])
  if (!row) throw new Error('The database did not say what time it is.')
  return row.at
}

function nextAfter(schedule: Schedule, now: string): string | null {
  const next = createTimes(schedule).after(Date.parse(now))
  return next === undefined ? null : new Date(next).toISOString()
}

async function one(
  on: StatementRunner,
  text: string,
  parameters: (string | null)[],
): Promise<Row | undefined> {
  const [row] = await on.unsafe<Row[]>(text, parameters)
  return row
}

const statusOf = ({ spec, paused, planned_at, last_fired_at }: Row): ScheduleStatus => ({
  schedule: Schedule.parse(JSON.parse(String(spec))),
  paused,
  nextAt: paused ? null : planned_at,
  lastAt: last_fired_at,
})
