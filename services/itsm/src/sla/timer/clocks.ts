import {
  type CommandMeta,
  IncidentState,
  newId,
  platformTenant,
  type SlaTimer,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import {
  type CreateWorker,
  createErrorClassifier,
  delayFailedRows,
  isolateFailures,
  type WorkContext,
} from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { type DueAggregate, dueCommands, isLostRace } from '../../due-commands.js'
import { dueTimers, settleMs } from '../../schema/sla.js'
import { slaEntities } from '../entity/entities.js'
import type { SlaEntity } from '../entity/entity.js'
import { incidentBreach } from '../escalation/breach.js'
import { createPinnedPolicies, type PinnedPolicies } from '../policy/pinned-policies.js'
import {
  type ClockStart,
  findMissingClocks,
  findSpanEventTypes,
  findStartingClocks,
  findUnknownSpans,
  isForEntity,
} from './clock-starts.js'
import {
  type ActivePolicy,
  type EntityChange,
  findTimedEntities,
  findUnappliedEntities,
  lockProgress,
  lockTimers,
  readActivePolicies,
  readChangesAfter,
  readIncidents,
  type StatementRunner,
  type StoredTimer,
  saveProgress,
  toStoredTimer,
  unappliedCondition,
} from './rows.js'
import { isPinnedTo, type PinnedPolicy, slaTimer, type TimerCommand, toBreachExtras } from './timer.js'

export interface ClockContext extends Pick<ServiceContext, 'database' | 'store' | 'clock'> {
  /** Kinds of entity to measure; all kinds by default. */
  entities?: readonly SlaEntity[]
  /** Wakes the worker for a clock that is due in this many milliseconds. */
  wake?: (inMs: number) => void
}

/** Maintains the clocks of entities. */
export interface Clocks {
  pinnedPolicies: PinnedPolicies
  timers: ReturnType<typeof timerAggregate>
  /** Applies the events of these entities to their clocks, and starts missing clocks. */
  apply(entityIds: readonly string[]): Promise<void>
  /** Reports due warnings and breaches. */
  worker: CreateWorker
}

export const clockWorkerName = 'sla-clocks'
/** Maximum number of clocks reported in one batch. */
const batchSize = 500
/** Clocks due later than this many milliseconds need no wake-up; the worker finds them by polling. */
const soonMs = 6_000

const timerAggregate = (store: ServiceContext['store']) =>
  store.aggregate(slaTimer, { present: (state) => state })

export function createClocks({
  database,
  store,
  clock,
  entities = slaEntities,
  wake = () => {},
}: ClockContext): Clocks {
  const timers = timerAggregate(store)
  const breaches = store.aggregate(incidentBreach)
  const pinnedPolicies = createPinnedPolicies()
  const meta = (): CommandMeta => ({
    tenant: platformTenant,
    actor: systemActor,
    now: clock.now(),
    requestId: null,
  })

  interface Reported {
    tenant: TenantScope
    /**
     * The state of the entity, current or at the event. Required
     * for incidents only, whose breaches are reported with it.
     */
    entity: object | undefined
    causationId?: string
  }

  /** Applies one command to one clock. A breach also becomes an event of the incident. */
  async function command(
    unit: Unit,
    before: StoredTimer,
    timerCommand: TimerCommand,
    reported: Reported,
  ): Promise<StoredTimer> {
    const { tenant, entity, causationId } = reported
    const options = { tenant, ...(causationId !== undefined && { causationId }) }
    const current = { state: before.state, version: before.version }
    const { id } = before.state
    const state = await unit.handle(timers, id, timerCommand, { ...options, current })
    for (const at of state.entityType === 'incident' ? findNewBreaches(before.state, state) : []) {
      const extras = { ...toBreachExtras(state, at, timerCommand.now), timerId: id }
      const currentIncident = { state: entity ? IncidentState.parse(entity) : null, version: 0 }
      await unit.handle(
        breaches,
        newId('slaBreach'),
        { kind: 'breach', extras },
        { ...options, current: currentIncident },
      )
    }
    return { ...before, state }
  }

  async function apply(entityIds: readonly string[]): Promise<void> {
    const ids = await findTimedEntities(database.sql, entities, [...new Set(entityIds)])
    if (ids.length === 0) return
    const kept: StoredTimer[] = []
    await database.sql.begin(async (tx) => {
      const progress = await lockProgress(tx, ids)
      const changes = await readChangesAfter(tx, entities, progress)
      const touched = [...changes.keys()]
      if (touched.length === 0) return
      const known = await lockTimers(tx, touched)
      const terms = await pinnedPolicies.load(
        tx,
        known.map(({ state }) => state),
      )
      const tenants = [...changes.values()].flatMap(([first]) => (first ? [first.tenant] : []))
      const policies = await readActivePolicies(tx, tenants)
      const absent = findMissingClocks(policies, known, changes)
      const earlier = await readChangesAfter(
        tx,
        entities,
        findUnknownSpans(absent),
        findSpanEventTypes(entities),
      )
      const starting = findStartingClocks(absent, earlier)
      const late = starting.map(({ entityId }) => entityId).filter((id) => progress.get(id) !== 0)
      const histories =
        late.length > 0 ? await readChangesAfter(tx, entities, new Map(late.map((id) => [id, 0]))) : changes
      const { now } = meta()
      await store.within(tx, meta(), async (unit) => {
        for (const timer of known) {
          const list = changes.get(timer.state.entityId) ?? []
          const by = { terms: terms(timer.state), nextTerms: findNextTerms(timer, policies, list) }
          kept.push(await applyAll(unit, timer, list, by, now))
        }
        for (const start of starting) {
          const history = (late.includes(start.entityId) ? histories : changes).get(start.entityId) ?? []
          kept.push(await begin(unit, start, history, now))
        }
      })
      await saveProgress(tx, new Map([...changes].map(([id, list]) => [id, list.at(-1)?.version ?? 0])))
    })
    const soonest = Math.min(...kept.map(({ state }) => Date.parse(state.nextFireAt ?? '9999')))
    const inMs = soonest + settleMs - Date.parse(clock.now())
    if (inMs < soonMs) wake(inMs)
  }

  /** Returns the terms for the clock's next recurring span; `null` if the policy no longer starts clocks. */
  function findNextTerms(
    { state }: StoredTimer,
    policies: readonly ActivePolicy[],
    list: readonly EntityChange[],
  ) {
    const active = policies.find((each) => each.policy.id === state.policyId && isForEntity(each, list))
    return active ? pinnedPolicies.present(active.policy, active.calendar) : null
  }

  async function applyAll(
    unit: Unit,
    timer: StoredTimer,
    changes: readonly EntityChange[],
    { terms, nextTerms }: { terms: PinnedPolicy; nextTerms: PinnedPolicy | null },
    now: string,
  ): Promise<StoredTimer> {
    let [current, by] = [timer, terms]
    for (const change of changes) {
      const { tenant, entity, eventId } = change
      const timerCommand: TimerCommand = { kind: 'apply', change, terms: by, nextTerms, now }
      current = await command(unit, current, timerCommand, {
        tenant,
        entity: entity.state,
        causationId: eventId,
      })
      if (nextTerms !== null && isPinnedTo(current.state, nextTerms)) by = nextTerms
    }
    return current
  }

  async function begin(unit: Unit, start: ClockStart, all: readonly EntityChange[], now: string) {
    const history = all.filter(({ version }) => version <= start.from.version)
    const terms = pinnedPolicies.present(start.active.policy, start.active.calendar)
    const id = newId('slaTimer')
    const { tenant, eventId } = start.from
    const state = await unit.create(
      timers,
      id,
      { kind: 'start', id, history, terms, now },
      { tenant, causationId: eventId },
    )
    const rest = all.filter(({ version }) => version > start.from.version)
    return applyAll(unit, { tenant, version: 1, state }, rest, { terms, nextTerms: terms }, now)
  }

  /**
   * Applies pending events of entities with due clocks first, so that work
   * done in time is not reported as late because a consumer lags behind.
   */
  async function catchUp(context: WorkContext): Promise<void> {
    const behind = await findUnappliedEntities(database.sql, entities, context.at(), batchSize)
    const applyPart = async (part: readonly { key: string }[]) => {
      await apply(part.map(({ key }) => key))
      return part
    }
    const { failed } = await isolateFailures(
      behind,
      applyPart,
      createErrorClassifier({ isRetryable: isLostRace }),
    )
    await delayFailedRows(
      { name: clockWorkerName, of: { ...dueTimers, key: 'incident_id' } },
      context,
      failed,
    )
  }

  async function fireTimers(unit: Unit, rows: readonly DueAggregate[], tx: StatementRunner): Promise<void> {
    const claimed = rows.map(toStoredTimer)
    const now = rows[0]?.at ?? ''
    const until = new Date(Date.parse(now) - settleMs).toISOString()
    const terms = await pinnedPolicies.load(
      tx,
      claimed.map(({ state }) => state),
    )
    const breaching = claimed.filter(
      ({ state }) => state.entityType === 'incident' && state.dueAt !== null && state.dueAt < until,
    )
    const incidents = await readIncidents(
      tx,
      breaching.map(({ state }) => state.entityId),
    )
    for (const timer of claimed) {
      const timerCommand: TimerCommand = { kind: 'fire', until, terms: terms(timer.state), now }
      await command(unit, timer, timerCommand, {
        tenant: timer.tenant,
        entity: incidents.get(timer.state.entityId),
      })
    }
  }

  const worker = dueCommands(
    { store },
    {
      name: clockWorkerName,
      of: dueTimers,
      batch: batchSize,
      where: `not ${unappliedCondition(entities)}`,
      prepare: catchUp,
      perform: fireTimers,
    },
  )
  return { pinnedPolicies, timers, apply, worker }
}

/** Returns the instants of breaches that were first reported between two states of a clock. */
function findNewBreaches(before: SlaTimer, after: SlaTimer): string[] {
  const reported = new Set(before.fired.filter(({ percent }) => percent === 100).map(({ at }) => at))
  const since = after.fired.slice(before.fired.length).filter(({ percent }) => percent === 100)
  // After a change of goal, the new cycle repeats what was already reported under the previous one.
  return [...new Set(since.map(({ at }) => at))].filter((at) => !reported.has(at))
}
