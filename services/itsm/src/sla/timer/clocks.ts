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
  type ActivePolicy,
  activePolicies,
  changesAfter,
  concerned,
  type EntityChange,
  holdProgress,
  holdTimers,
  incidentsById,
  keepProgress,
  type StatementRunner,
  type StoredTimer,
  timerOf,
  unapplied,
  unappliedEntities,
} from './rows.js'
import {
  absentClocks,
  askedBefore,
  isFor,
  type Starting,
  startingClocks,
  tellingOfSpans,
} from './starting.js'
import { breachOf, isPinnedTo, type PinnedPolicy, slaTimer, type TimerCommand } from './timer.js'

export interface ClockContext extends Pick<ServiceContext, 'database' | 'store' | 'clock'> {
  /** What clocks run over; everything there is unless set otherwise. */
  entities?: readonly SlaEntity[]
  /** Says that a clock has something to tell in so many milliseconds. */
  wake?: (inMs: number) => void
}

/** Keeps the clocks of entities. */
export interface Clocks {
  pinnedPolicies: PinnedPolicies
  timers: ReturnType<typeof timerAggregate>
  /** Brings the clocks of these entities up to their last event; starts those that are missing. */
  apply(entityIds: readonly string[]): Promise<void>
  /** Tells what is due. */
  telling: CreateWorker
}

export const tellingName = 'sla-clocks'
/** Clocks announced at once at most. */
const batchSize = 500
/** What is further ahead is found by itself. */
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
    /** The state the entity has, or had then. Of an incident alone it is reported. */
    entity: object | undefined
    causationId?: string
  }

  /** One command to one clock; a breach it tells is reported in the incident's name too. */
  async function command(
    unit: Unit,
    before: StoredTimer,
    what: TimerCommand,
    reported: Reported,
  ): Promise<StoredTimer> {
    const { tenant, entity, causationId } = reported
    const options = { tenant, ...(causationId !== undefined && { causationId }) }
    const current = { state: before.state, version: before.version }
    const { id } = before.state
    const state = await unit.handle(timers, id, what, { ...options, current })
    for (const at of state.entityType === 'incident' ? newBreaches(before.state, state) : []) {
      const extras = { ...breachOf(state, at, what.now), timerId: id }
      const given = { state: entity ? IncidentState.parse(entity) : null, version: 0 }
      await unit.handle(
        breaches,
        newId('slaBreach'),
        { kind: 'breach', extras },
        { ...options, current: given },
      )
    }
    return { ...before, state }
  }

  async function apply(entityIds: readonly string[]): Promise<void> {
    const ids = await concerned(database.sql, entities, [...new Set(entityIds)])
    if (ids.length === 0) return
    const kept: StoredTimer[] = []
    await database.sql.begin(async (tx) => {
      const progress = await holdProgress(tx, ids)
      const changes = await changesAfter(tx, entities, progress)
      const touched = [...changes.keys()]
      if (touched.length === 0) return
      const known = await holdTimers(tx, touched)
      const terms = await pinnedPolicies.load(
        tx,
        known.map(({ state }) => state),
      )
      const tenants = [...changes.values()].flatMap(([first]) => (first ? [first.tenant] : []))
      const policies = await activePolicies(tx, tenants)
      const absent = absentClocks(policies, known, changes)
      const earlier = await changesAfter(tx, entities, askedBefore(absent), tellingOfSpans(entities))
      const starting = startingClocks(absent, earlier)
      const late = starting.map(({ entityId }) => entityId).filter((id) => progress.get(id) !== 0)
      const histories =
        late.length > 0 ? await changesAfter(tx, entities, new Map(late.map((id) => [id, 0]))) : changes
      const { now } = meta()
      await store.within(tx, meta(), async (unit) => {
        for (const timer of known) {
          const list = changes.get(timer.state.entityId) ?? []
          const by = { terms: terms(timer.state), anew: anewFor(timer, policies, list) }
          kept.push(await applyAll(unit, timer, list, by, now))
        }
        for (const start of starting) {
          const history = (late.includes(start.entityId) ? histories : changes).get(start.entityId) ?? []
          kept.push(await begin(unit, start, history, now))
        }
      })
      await keepProgress(tx, new Map([...changes].map(([id, list]) => [id, list.at(-1)?.version ?? 0])))
    })
    const soonest = Math.min(...kept.map(({ state }) => Date.parse(state.nextFireAt ?? '9999')))
    const inMs = soonest + settleMs - Date.parse(clock.now())
    if (inMs < soonMs) wake(inMs)
  }

  /** What the clock would go by if what it measures came again: nothing that no longer starts clocks. */
  function anewFor({ state }: StoredTimer, policies: readonly ActivePolicy[], list: readonly EntityChange[]) {
    const active = policies.find((each) => each.policy.id === state.policyId && isFor(each, list))
    return active ? pinnedPolicies.present(active.policy, active.calendar) : null
  }

  async function applyAll(
    unit: Unit,
    timer: StoredTimer,
    changes: readonly EntityChange[],
    { terms, anew }: { terms: PinnedPolicy; anew: PinnedPolicy | null },
    now: string,
  ): Promise<StoredTimer> {
    let [current, by] = [timer, terms]
    for (const change of changes) {
      const { tenant, entity, eventId } = change
      const what: TimerCommand = { kind: 'apply', change, terms: by, anew, now }
      current = await command(unit, current, what, { tenant, entity: entity.state, causationId: eventId })
      if (anew !== null && isPinnedTo(current.state, anew)) by = anew
    }
    return current
  }

  async function begin(unit: Unit, start: Starting, all: readonly EntityChange[], now: string) {
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
    return applyAll(unit, { tenant, version: 1, state }, rest, { terms, anew: terms }, now)
  }

  /** Nothing that was done in time is reported because a consumer is behind. */
  async function catchUp(context: WorkContext): Promise<void> {
    const behind = await unappliedEntities(database.sql, entities, context.at(), batchSize)
    const applyPart = async (part: readonly { key: string }[]) => {
      await apply(part.map(({ key }) => key))
      return part
    }
    const { failed } = await isolateFailures(
      behind,
      applyPart,
      createErrorClassifier({ isPassing: isLostRace }),
    )
    await delayFailedRows({ name: tellingName, of: { ...dueTimers, key: 'incident_id' } }, context, failed)
  }

  async function tell(unit: Unit, rows: readonly DueAggregate[], tx: StatementRunner): Promise<void> {
    const claimed = rows.map(timerOf)
    const now = rows[0]?.at ?? ''
    const until = new Date(Date.parse(now) - settleMs).toISOString()
    const terms = await pinnedPolicies.load(
      tx,
      claimed.map(({ state }) => state),
    )
    const breaching = claimed.filter(
      ({ state }) => state.entityType === 'incident' && state.dueAt !== null && state.dueAt < until,
    )
    const incidents = await incidentsById(
      tx,
      breaching.map(({ state }) => state.entityId),
    )
    for (const timer of claimed) {
      const what: TimerCommand = { kind: 'fire', until, terms: terms(timer.state), now }
      await command(unit, timer, what, { tenant: timer.tenant, entity: incidents.get(timer.state.entityId) })
    }
  }

  const telling = dueCommands(
    { store },
    {
      name: tellingName,
      of: dueTimers,
      batch: batchSize,
      where: `not ${unapplied(entities)}`,
      prepare: catchUp,
      perform: tell,
    },
  )
  return { pinnedPolicies, timers, apply, telling }
}

/** When breaches were reported for the first time between two states of a clock. */
function newBreaches(before: SlaTimer, after: SlaTimer): string[] {
  const reported = new Set(before.fired.filter(({ percent }) => percent === 100).map(({ at }) => at))
  const since = after.fired.slice(before.fired.length).filter(({ percent }) => percent === 100)
  // A new goal takes over what was reported under the one before.
  return [...new Set(since.map(({ at }) => at))].filter((at) => !reported.has(at))
}
