import type { TenantScope } from '@opsplane/contracts'
import type { Aggregate } from '@opsplane/eventstore'
import { removeSchedule, type ScheduleOwner, scheduleWork, upsertSchedule } from '@opsplane/postgres'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { isSuspended, type KpiCommand, type KpiRecord } from './domain.js'
import { deleteKpiData, requestEvaluations } from './evaluations.js'
import { isOfFacts } from './measure.js'
import { pastTimes } from './times.js'

const toScheduleOwner = (id: string, tenant: TenantScope): ScheduleOwner => ({ kind: 'kpi', id, tenant })
/** The latest scheduled time before now lies within this span for any cron schedule. */
const longMs = 93 * 86_400_000

export interface KpiSchedulesOptions {
  kpis: Aggregate<KpiRecord, KpiCommand, unknown>
  /** Notifies the worker that measurements are due. */
  wake(): void
}

/** Schedules the measurements of KPIs. The schedules are derived from KPI events, which may be redelivered or late. */
export function startKpiSchedules(
  { consume, database: { sql }, dueWork }: Pick<ServiceContext, 'consume' | 'database' | 'dueWork'>,
  { kpis, wake }: KpiSchedulesOptions,
): BackgroundWork {
  const work = dueWork.start(
    scheduleWork({
      name: 'kpi schedules',
      isActive: async () => 0,
      fire: (tx, { ownerId, tenant }, fireAt) =>
        requestEvaluations(tx, {
          ...{ kpiId: ownerId, tenant, times: [Date.parse(fireAt)] },
          ...{ backfill: false, replace: false, now: fireAt },
        }),
      committed: wake,
    }),
  )

  const follow = async (id: string, tenant: TenantScope, isNew: boolean) => {
    const found = await kpis.find(id, tenant)
    if (!found || isSuspended(found.state)) {
      await removeSchedule(sql, toScheduleOwner(id, tenant))
      return found ? undefined : deleteKpiData(sql, id)
    }
    const { state } = found
    await upsertSchedule(sql, toScheduleOwner(id, tenant), state.schedule)
    if (!isNew || !isOfFacts(state)) return
    const now = Date.parse(state.createdAt)
    const latest = findLatestTime(state, now)
    if (latest === undefined) return
    // A new KPI then has a value to show, and to compare the next one with, from the beginning.
    await requestEvaluations(sql, {
      kpiId: id,
      tenant,
      times: [latest],
      backfill: false,
      replace: false,
      now: state.createdAt,
    })
  }

  return consume({
    durable: 'analytics-kpi-schedules',
    types: ['kpi.created', 'kpi.updated', 'kpi.suspended', 'kpi.deleted'],
    perform: async (events) => {
      for (const { type, resource, workspaceId, environment } of events)
        await follow(resource.id, { workspaceId, environment }, type === 'kpi.created')
      work.wake()
      wake()
    },
  })
}

function findLatestTime(state: KpiRecord, now: number): number | undefined {
  const { everySeconds } = state.schedule
  const spanMs = everySeconds === undefined ? longMs : everySeconds * 1_000
  try {
    return pastTimes(state, { from: now - spanMs, to: now }).at(-1)
  } catch {
    // The schedule fires so often that the next measurement is imminent.
    return undefined
  }
}
