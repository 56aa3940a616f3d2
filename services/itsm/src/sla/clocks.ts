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
import type { ServiceContext } from '@opsplane/service'
import { incidentBreach } from './breach.js'
import { slaEntities } from './entities.js'
import type { SlaEntity } from './entity.js'
import {
  type ActivePolicy,
  activePolicies,
  changesAfter,
  claimTimers,
  concerned,
  type EntityChange,
  holdProgress,
  holdTimers,
  incidentsById,
  keepProgress,
  type StoredTimer,
  unheededEntities,
} from './rows.js'
import {
  absentClocks,
  askedBefore,
  isFor,
  type Starting,
  startingClocks,
  tellingOfSpans,
} from './starting.js'
import { createTermsOf, type TermsOf } from './terms.js'
import { breachOf, isPinnedTo, slaTimer, type Terms, type TimerCommand } from './timer.js'

export interface ClockContext extends Pick<ServiceContext, 'database' | 'store' | 'clock' | 'log'> {
  relay: Pick<ServiceContext['relay'], 'wake'>
  /** What clocks run over; everything there is unless told otherwise. */
  entities?: readonly SlaEntity[]
}

/** Keeps the clocks of entities. */
export interface Clocks {
  termsOf: TermsOf
  timers: ReturnType<typeof timerAggregate>
  /** Brings the clocks of these entities up to their last event; starts those that are missing. */
  heed(entityIds: readonly string[]): Promise<void>
  /** Tells what is due, one batch in one transaction. How many clocks it took. */
  sweep(): Promise<number>
}

/** Requests under way are committed by then, so that what was done in time counts as done in time. */
const settleMs = 1_000
/** Clocks a sweep takes at most. */
export const batchSize = 500

const timerAggregate = (store: ServiceContext['store']) =>
  store.aggregate(slaTimer, { present: (state) => state })

export function createClocks({
  database,
  store,
  relay,
  clock,
  log,
  entities = slaEntities,
}: ClockContext): Clocks {
  const timers = timerAggregate(store)
  const breaches = store.aggregate(incidentBreach)
  const termsOf = createTermsOf()
  const meta = (): CommandMeta => ({
    tenant: platformTenant,
    actor: systemActor,
    now: clock.now(),
    requestId: null,
  })

  interface Told {
    tenant: TenantScope
    /** The state the entity has, or had then. Of an incident alone it is told. */
    entity: object | undefined
    causationId?: string
  }

  /** One command to one clock; a breach it tells is told in the incident's name too. */
  async function command(
    unit: Unit,
    before: StoredTimer,
    what: TimerCommand,
    told: Told,
  ): Promise<StoredTimer> {
    const { tenant, entity, causationId } = told
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

  async function heed(entityIds: readonly string[]): Promise<void> {
    const ids = await concerned(database.sql, entities, [...new Set(entityIds)])
    if (ids.length === 0) return
    await database.sql.begin(async (tx) => {
      const progress = await holdProgress(tx, ids)
      const changes = await changesAfter(tx, entities, progress)
      const touched = [...changes.keys()]
      if (touched.length === 0) return
      const known = await holdTimers(tx, touched)
      const terms = await termsOf.load(
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
          await heedAll(unit, timer, list, by, now)
        }
        for (const start of starting) {
          const history = (late.includes(start.entityId) ? histories : changes).get(start.entityId) ?? []
          await begin(unit, start, history, now)
        }
      })
      await keepProgress(tx, new Map([...changes].map(([id, list]) => [id, list.at(-1)?.version ?? 0])))
    })
    relay.wake()
  }

  /** What the clock would go by if what it measures came again: nothing that no longer starts clocks. */
  function anewFor({ state }: StoredTimer, policies: readonly ActivePolicy[], list: readonly EntityChange[]) {
    const active = policies.find((each) => each.policy.id === state.policyId && isFor(each, list))
    return active ? termsOf.present(active.policy, active.calendar) : null
  }

  async function heedAll(
    unit: Unit,
    timer: StoredTimer,
    changes: readonly EntityChange[],
    { terms, anew }: { terms: Terms; anew: Terms | null },
    now: string,
  ) {
    let [current, by] = [timer, terms]
    for (const change of changes) {
      const { tenant, entity, eventId } = change
      const what: TimerCommand = { kind: 'heed', change, terms: by, anew, now }
      current = await command(unit, current, what, { tenant, entity: entity.state, causationId: eventId })
      if (anew !== null && isPinnedTo(current.state, anew)) by = anew
    }
  }

  async function begin(unit: Unit, start: Starting, all: readonly EntityChange[], now: string) {
    const history = all.filter(({ version }) => version <= start.from.version)
    const terms = termsOf.present(start.active.policy, start.active.calendar)
    const id = newId('slaTimer')
    const { tenant, eventId } = start.from
    const state = await unit.create(
      timers,
      id,
      { kind: 'start', id, history, terms, now },
      { tenant, causationId: eventId },
    )
    const rest = all.filter(({ version }) => version > start.from.version)
    await heedAll(unit, { tenant, version: 1, state }, rest, { terms, anew: terms }, now)
  }

  async function sweep(): Promise<number> {
    const before = new Date(Date.parse(clock.now()) - settleMs).toISOString()
    const behind = await unheededEntities(database.sql, entities, before, batchSize)
    if (behind.length > 0)
      await heed(behind).catch((error: unknown) =>
        log.error({ err: error }, 'clocks could not be brought up'),
      )
    const swept = await database.sql.begin(async (tx) => {
      const claimed = await claimTimers(tx, entities, before, batchSize)
      if (claimed.length === 0) return 0
      const terms = await termsOf.load(
        tx,
        claimed.map(({ state }) => state),
      )
      const breaching = claimed.filter(
        ({ state }) => state.entityType === 'incident' && state.dueAt !== null && state.dueAt < before,
      )
      const incidents = await incidentsById(
        tx,
        breaching.map(({ state }) => state.entityId),
      )
      const { now } = meta()
      await store.within(tx, meta(), async (unit) => {
        for (const timer of claimed) {
          const what: TimerCommand = { kind: 'fire', until: before, terms: terms(timer.state), now }
          const entity = incidents.get(timer.state.entityId)
          await command(unit, timer, what, { tenant: timer.tenant, entity })
        }
      })
      return claimed.length
    })
    if (swept > 0) relay.wake()
    return swept
  }

  return { termsOf, timers, heed, sweep }
}

/** When breaches were told for the first time between two states of a clock. */
function newBreaches(before: SlaTimer, after: SlaTimer): string[] {
  const told = new Set(before.fired.filter(({ percent }) => percent === 100).map(({ at }) => at))
  const since = after.fired.slice(before.fired.length).filter(({ percent }) => percent === 100)
  // A new goal takes over what was told under the one before.
  return [...new Set(since.map(({ at }) => at))].filter((at) => !told.has(at))
}
