import { KpiPoint, type KpiStanding, KpiStatus, type Quantity } from '@opsplane/contracts'
import { isoText, type StatementRunner } from '@opsplane/postgres'
import { parseDecimal, toQuantity } from '../decimal/decimal.js'

const iso = (column: string, name: string) => `${isoText(column)} as "${name}"`
/** The previous version stores only a double; its shortest text is the original value. */
const exact = (name: string) => `coalesce(exact_${name}::text, ${name}::text) as ${name}`
const shownColumns = [
  ...[iso('at', 'at'), iso('covers_from', 'from'), iso('covers_to', 'to')],
  ...['time_zone as "timeZone"', exact('value'), exact('target'), 'status'],
  ...[iso('measured_at', 'measuredAt'), 'backfilled'],
].join(', ')

export interface PointPage {
  /** ISO instants; unbounded if absent. */
  from: string | undefined
  to: string | undefined
  limit: number
  direction: 'asc' | 'desc'
  after: string | undefined
}

/** Returns values ordered by time. */
export async function readPoints(on: StatementRunner, kpiId: string, page: PointPage): Promise<KpiPoint[]> {
  const [than, order] = page.direction === 'asc' ? ['>', 'asc'] : ['<', 'desc']
  const rows = await on.unsafe(
    `select ${shownColumns} from kpi_points where kpi_id = $1
        and ($2::text is null or at >= $2::text::timestamptz) and ($3::text is null or at < $3::text::timestamptz)
        and ($4::text is null or at ${than} $4::text::timestamptz)
      order by kpi_points.at ${order} limit $5::text::int4`,
    [kpiId, page.from ?? null, page.to ?? null, page.after ?? null, String(page.limit)],
  )
  return rows.map(toPoint)
}

const toPoint = ({ value, target, ...row }: Record<string, unknown>): KpiPoint =>
  KpiPoint.parse({ ...row, value: parseQuantity(value), target: parseQuantity(target) })

function parseQuantity(text: unknown): Quantity | null {
  const decimal = parseDecimal(text)
  return decimal ? toQuantity(decimal) : null
}

/** Returns the latest values with a number for each KPI, at most two, newest first. */
export async function readLatestPoints(
  on: StatementRunner,
  kpiIds: readonly string[],
): Promise<Map<string, KpiPoint[]>> {
  const rows = await on.unsafe<{ kpiId: string }[]>(
    `select asked.id as "kpiId", latest.* from unnest($1::text[]) as asked (id) cross join lateral (
        select ${shownColumns} from kpi_points where kpi_id = asked.id order by kpi_points.at desc limit 2) latest`,
    [kpiIds as string[]],
  )
  const found = new Map<string, KpiPoint[]>()
  for (const { kpiId, ...row } of rows) found.set(kpiId, [...(found.get(kpiId) ?? []), toPoint(row)])
  return found
}

/** Returns when each KPI is measured next, and why its last measurement failed. */
export async function readRemarks(
  on: StatementRunner,
  kpiIds: readonly string[],
): Promise<Map<string, Pick<KpiStanding, 'nextAt' | 'error'>>> {
  const rows = await on.unsafe<{ id: string; nextAt: string | null; error: string | null }[]>(
    `select asked.id, ${iso('schedules.planned_at', 'nextAt')}, kpi_standings.error
      from unnest($1::text[]) as asked (id)
      left join schedules on schedules.owner_kind = 'kpi' and schedules.owner_id = asked.id
      left join kpi_standings on kpi_standings.kpi_id = asked.id`,
    [kpiIds as string[]],
  )
  return new Map(rows.map(({ id, ...remarks }) => [id, remarks]))
}

/** Stores a value. Returns false if one exists for its time and is not to be replaced. */
export async function savePoint(
  tx: StatementRunner,
  kpiId: string,
  point: KpiPoint,
  replace: boolean,
): Promise<boolean> {
  const { at, from, to, timeZone, value, target, status, measuredAt, backfilled } = point
  const kept = await tx.unsafe(
    `insert into kpi_points as old
        (kpi_id, at, covers_from, covers_to, time_zone, value, target, exact_value, exact_target, status, measured_at, backfilled)
      values ($1, $2::timestamptz, $3::timestamptz, $4::timestamptz, $5, $6::text::float8, $7::text::float8,
        $8::text::numeric, $9::text::numeric, $10, $11::timestamptz, $12::text::boolean)
      on conflict (kpi_id, at) do update set covers_from = excluded.covers_from, covers_to = excluded.covers_to,
        time_zone = excluded.time_zone, value = excluded.value, target = excluded.target,
        exact_value = excluded.exact_value, exact_target = excluded.exact_target, status = excluded.status, measured_at = excluded.measured_at, backfilled = excluded.backfilled
      where $13::text::boolean returning 1`,
    [
      ...[kpiId, at, from, to, timeZone, doubleText(value), doubleText(target)],
      ...[exactText(value), exactText(target), status, measuredAt, String(backfilled), String(replace)],
    ],
  )
  return kept.length > 0
}

const exactText = (value: Quantity | null) => parseDecimal(value)?.toFixed() ?? null

/** Returns `null` for values outside the range of a double. */
const doubleText = (value: Quantity | null) =>
  value !== null && Number.isFinite(Number(value)) ? String(Number(value)) : null

/**
 * Locks the standing of a KPI until the end of the transaction and returns its last known status: that of the latest
 * regularly measured value with a target, otherwise of the latest backfilled value before `at`.
 */
export async function lockStanding(
  tx: StatementRunner,
  kpiId: string,
  at: string,
): Promise<{ status: KpiStatus; at: string | null }> {
  await tx.unsafe('insert into kpi_standings (kpi_id) values ($1) on conflict do nothing', [kpiId])
  const [row] = await tx.unsafe<{ status: string | null; at: string | null }[]>(
    `select coalesce(status, (select point.status from kpi_points point where point.kpi_id = $1
        and point.at < $2::text::timestamptz and point.status not in ('no_data', 'no_target')
        order by point.at desc limit 1)) as status, ${iso('at', 'at')}
      from kpi_standings where kpi_id = $1 for update`,
    [kpiId, at],
  )
  return { status: KpiStatus.parse(row?.status ?? 'no_data'), at: row?.at ?? null }
}

export const saveStanding = (tx: StatementRunner, kpiId: string, { status, at }: KpiPoint) =>
  tx.unsafe('update kpi_standings set status = $2, at = $3::timestamptz where kpi_id = $1', [
    kpiId,
    status,
    at,
  ])

export const saveError = (tx: StatementRunner, kpiId: string, error: string | null) =>
  tx.unsafe(
    `insert into kpi_standings (kpi_id, error) values ($1, $2)
      on conflict (kpi_id) do update set error = excluded.error`,
    [kpiId, error],
  )
