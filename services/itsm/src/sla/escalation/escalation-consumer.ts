import {
  type IncidentState,
  type Instant,
  type PlatformEvent,
  type PriorityMatrix,
  SlaTimer,
  slaEvents,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import { type Unit, VersionRaceError } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { incident } from '../../incident/domain.js'
import type { IncidentStore } from '../../incident/incident-store.js'
import { incidentEntity } from '../entity/incident-entity.js'
import type { PinnedPolicies } from '../policy/pinned-policies.js'
import { lockProgress, saveProgress } from '../timer/rows.js'
import {
  breachPercent,
  dueFirings,
  type Firing,
  formatReason,
  planSteps,
  rulesAt,
  toReachedThreshold,
} from './escalation-rules.js'
import { readFirings } from './threshold-events.js'

export { thresholdEvents } from './threshold-events.js'

export interface EscalationContext extends Pick<ServiceContext, 'database' | 'store' | 'clock' | 'log'> {}

/** Maximum attempts of a transaction that loses races for the incident. */
const maxTries = 10

/**
 * Applies the escalation rules of policies. An event only names the clock. The clock's reports are read from the log
 * after the last applied version, which is stored in the transaction that changes the incident. Redelivered, late or
 * reordered events therefore do no harm. ADR 035.
 */
export function createEscalationConsumer(
  ctx: EscalationContext,
  pinnedPolicies: PinnedPolicies,
  getSettings: IncidentStore['getSettings'],
) {
  const { database, store, clock, log } = ctx
  const incidents = store.aggregate(incident)

  async function handle(events: readonly PlatformEvent[]): Promise<void> {
    const reported = events
      .map((event) => ({ ...event, percent: readPercent(event), timer: SlaTimer.parse(event.data.after) }))
      .filter(({ timer }) => timer.entityType === 'incident')
    const terms = await pinnedPolicies.load(
      database.sql,
      reported.map(({ timer }) => timer),
    )
    const clocks = new Map<string, TenantScope>()
    for (const { percent, timer, workspaceId, environment } of reported)
      if (rulesAt(terms(timer).policy, percent).length > 0) clocks.set(timer.id, { workspaceId, environment })
    for (const [timerId, tenant] of clocks) await escalate(timerId, tenant)
  }

  async function escalate(timerId: string, tenant: TenantScope): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const done = await carryOut(timerId, tenant)
        if (done === undefined) return
        if (done.left.length > 0)
          log.warn(
            { timerId, userIds: done.left },
            'an escalated incident has the maximum number of watchers',
          )
        return
      } catch (error) {
        if (!(error instanceof VersionRaceError) || tries === maxTries) throw error
      }
    }
  }

  /**
   * Applies all reports of the clock that were not applied yet,
   * in one transaction. Returns `undefined` if there are none.
   */
  async function carryOut(timerId: string, tenant: TenantScope) {
    const { priorityMatrix } = await getSettings(tenant)
    return database.sql.begin(async (tx) => {
      const after = (await lockProgress(tx, [timerId])).get(timerId) ?? 0
      const { firings: reported, countsFrom } = await readFirings(tx, tenant, timerId)
      const last = reported.at(-1)?.version ?? 0
      if (last <= after) return undefined
      await saveProgress(tx, new Map([[timerId, last]]))
      const terms = await pinnedPolicies.load(
        tx,
        reported.map(({ timer }) => timer),
      )
      const firings = reported.map((firing) => ({ ...firing, policy: terms(firing.timer).policy }))
      // Ignores reports of earlier spans: the awaited response
      // may have arrived, and the clock may measure a later span.
      const due = dueFirings(firings, after).filter(({ timer }) => timer.startedAt === countsFrom)
      const meta = { tenant, actor: systemActor, now: clock.now(), requestId: null }
      return {
        left: await store.within(tx, meta, (unit) => changeIncident(unit, due, priorityMatrix, meta.now)),
      }
    })
  }

  /** Skips incidents that have ended. Returns the users who could not be added as watchers. */
  async function changeIncident(
    unit: Unit,
    due: readonly Firing[],
    priorityMatrix: PriorityMatrix,
    now: Instant,
  ): Promise<string[]> {
    const left: string[] = []
    for (const firing of due) {
      const { entityId } = firing.timer
      const why = { cause: 'sla', sla: toReachedThreshold(firing), now } as const
      for (const rule of rulesAt(firing.policy, firing.percent)) {
        const found = await unit.find(incidents, entityId)
        if (found === null || !isOpen(found.state)) break
        const plan = planSteps(rule, found.state, formatReason(firing))
        for (const step of plan.steps) {
          const command = step.kind === 'escalate' ? { ...step, priorityMatrix } : step
          await unit.handle(incidents, entityId, { ...command, ...why }, { causationId: firing.eventId })
        }
        left.push(...plan.left)
      }
    }
    return left
  }

  return { handle }
}

const isOpen = ({ status }: Pick<IncidentState, 'status'>) => incidentEntity.openStatuses.includes(status)

function readPercent({ type, data }: PlatformEvent): number {
  return type === 'sla.breached'
    ? breachPercent
    : slaEvents['sla.warning'].data.shape.percent.parse(data.percent)
}
