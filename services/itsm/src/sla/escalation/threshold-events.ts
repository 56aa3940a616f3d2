import { type Instant, SlaTimer, type TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '../timer/rows.js'
import { isOpen } from '../timer/timer.js'
import { breachPercent, type Firing } from './escalation-rules.js'

/** Types of the events that report a threshold. */
export const thresholdEvents = ['sla.warning', 'sla.breached'] as const

interface Row {
  id: string
  version: number
  percent: number | null
  after: unknown
  present: unknown
}

/**
 * Returns all thresholds a clock has reported, in order, and
 * since when it has been counting; `null` if it is not counting.
 */
export async function readFirings(
  tx: StatementRunner,
  { workspaceId, environment }: TenantScope,
  timerId: string,
): Promise<{ firings: Omit<Firing, 'policy'>[]; countsFrom: Instant | null }> {
  const rows = await tx.unsafe<Row[]>(
    `select e.id, e.version, (e.data->>'percent')::int as percent, e.data->'after' as after, t.state as present
     from sla_timers t
     join events e on e.stream_id = t.id and e.stream_type = 'sla_timers' and e.type = any($4::text[])
     where t.id = $1 and t.workspace_id = $2 and t.environment = $3
     order by e.version`,
    [timerId, workspaceId, environment, [...thresholdEvents]],
    { prepare: true },
  )
  const firings = rows.map(({ id, version, percent, after }) => ({
    eventId: id,
    version,
    percent: percent ?? breachPercent,
    timer: SlaTimer.parse(after),
  }))
  const present = rows[0] && SlaTimer.parse(rows[0].present)
  return { firings, countsFrom: present && isOpen(present) ? present.startedAt : null }
}
