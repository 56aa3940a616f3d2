import {
  type CommandMeta,
  type IncidentState,
  newId,
  platformTenant,
  type SlaTimer,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import type { BackendContext, Unit } from '@opsplane/eventstore'
import { incidentBreach } from './breach.js'
import {
  type ActivePolicy,
  activePolicies,
  changesAfter,
  claimTimers,
  concerned,
  holdProgress,
  holdTimers,
  type IncidentChange,
  incidentsById,
  keepProgress,
  type StoredTimer,
  unheededIncidents,
} from './rows.js'
import { createTermsOf, type TermsOf } from './terms.js'
import { applies, breachOf, slaTimer, type TimerCommand } from './timer.js'

export interface ClockContext extends Pick<BackendContext, 'database' | 'store' | 'clock' | 'log'> {
  relay: Pick<BackendContext['relay'], 'wake'>
}

/** Keeps the clocks of incidents. */
export interface Clocks {
  termsOf: TermsOf
  timers: ReturnType<typeof timerAggregate>
  /** Brings the clocks of these incidents up to their last event; starts those that are missing. */
  heed(incidentIds: readonly string[]): Promise<void>
  /** Tells what is due, one batch in one transaction. How many clocks it took. */
  sweep(): Promise<number>
}

/** Requests under way are committed by then, so that what was done in time counts as done in time. */
const settleMs = 1_000
/** Clocks a sweep takes at most. */
export const batchSize = 500

const timerAggregate = (store: BackendContext['store']) =>
  store.aggregate(slaTimer, { present: (state) => state })

export function createClocks({ database, store, relay, clock, log }: ClockContext): Clocks {
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
    incident: IncidentState | undefined
    causationId?: string
  }

  /** One command to one clock; a breach it tells is told in the incident's name too. */
  async function command(
    unit: Unit,
    before: StoredTimer,
    what: TimerCommand,
    told: Told,
  ): Promise<StoredTimer> {
    const { tenant, incident, causationId } = told
    const options = { tenant, ...(causationId !== undefined && { causationId }) }
    const current = { state: before.state, version: before.version }
    const { id } = before.state
    const state = await unit.handle(timers, id, what, { ...options, current })
    for (const at of newBreaches(before.state, state)) {
      const extras = { ...breachOf(state, at, what.now), timerId: id }
      const given = { state: incident ?? null, version: 0 }
      await unit.handle(
        breaches,
        newId('slaBreach'),
        { kind: 'breach', extras },
        { ...options, current: given },
      )
    }
    return { ...before, state }
  }

  async function heed(incidentIds: readonly string[]): Promise<void> {
    const ids = await concerned(database.sql, [...new Set(incidentIds)])
    if (ids.length === 0) return
    await database.sql.begin(async (tx) => {
      const progress = await holdProgress(tx, ids)
      const changes = await changesAfter(tx, progress)
      const touched = [...changes.keys()]
      if (touched.length === 0) return
      const known = await holdTimers(tx, touched)
      const terms = await termsOf.load(
        tx,
        known.map(({ state }) => state),
      )
      const tenants = [...changes.values()].flatMap(([first]) => (first ? [first.tenant] : []))
      const starting = missing(await activePolicies(tx, tenants), known, changes)
      const late = starting.map(({ incidentId }) => incidentId).filter((id) => progress.get(id) !== 0)
      const histories = late.length > 0 ? await changesAfter(tx, new Map(late.map((id) => [id, 0]))) : changes
      const { now } = meta()
      await store.within(tx, meta(), async (unit) => {
        for (const timer of known)
          await heedAll(unit, timer, changes.get(timer.state.entityId) ?? [], terms(timer.state), now)
        for (const start of starting) {
          const history = (late.includes(start.incidentId) ? histories : changes).get(start.incidentId) ?? []
          await begin(unit, start, history, now)
        }
      })
      await keepProgress(tx, new Map([...changes].map(([id, list]) => [id, list.at(-1)?.version ?? 0])))
    })
    relay.wake()
  }

  async function heedAll(
    unit: Unit,
    timer: StoredTimer,
    changes: readonly IncidentChange[],
    terms: ReturnType<TermsOf['present']>,
    now: string,
  ) {
    let current = timer
    for (const change of changes) {
      const { tenant, incident, eventId } = change
      const what: TimerCommand = { kind: 'heed', change, terms, now }
      current = await command(unit, current, what, { tenant, incident, causationId: eventId })
    }
  }

  async function begin(unit: Unit, start: Starting, all: readonly IncidentChange[], now: string) {
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
    await heedAll(unit, { tenant, version: 1, state }, rest, terms, now)
  }

  async function sweep(): Promise<number> {
    const before = new Date(Date.parse(clock.now()) - settleMs).toISOString()
    const behind = await unheededIncidents(database.sql, before, batchSize)
    if (behind.length > 0)
      await heed(behind).catch((error: unknown) =>
        log.error({ err: error }, 'clocks could not be brought up'),
      )
    const swept = await database.sql.begin(async (tx) => {
      const claimed = await claimTimers(tx, before, batchSize)
      if (claimed.length === 0) return 0
      const terms = await termsOf.load(
        tx,
        claimed.map(({ state }) => state),
      )
      const due = claimed.filter(({ state }) => state.dueAt !== null && state.dueAt < before)
      const incidents = await incidentsById(
        tx,
        due.map(({ state }) => state.entityId),
      )
      const { now } = meta()
      await store.within(tx, meta(), async (unit) => {
        for (const timer of claimed) {
          const what: TimerCommand = { kind: 'fire', until: before, terms: terms(timer.state), now }
          const incident = incidents.get(timer.state.entityId)
          await command(unit, timer, what, { tenant: timer.tenant, incident })
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

interface Starting {
  incidentId: string
  active: ActivePolicy
  /** The first event from which on the policy applies. */
  from: IncidentChange
}

/** The clocks that policies ask for and that are not there. Incidents older than the policy get none. */
function missing(
  policies: readonly ActivePolicy[],
  known: readonly StoredTimer[],
  changes: ReadonlyMap<string, readonly IncidentChange[]>,
): Starting[] {
  const kept = new Set(known.map(({ state }) => `${state.entityId}/${state.policyId}`))
  return [...changes].flatMap(([incidentId, list]) =>
    policies.flatMap((active) => {
      const { policy, tenant } = active
      const from = list.find(
        (change) =>
          change.tenant.workspaceId === tenant.workspaceId &&
          change.tenant.environment === tenant.environment &&
          !['resolved', 'closed', 'canceled'].includes(change.incident.status) &&
          policy.activeSince !== null &&
          change.incident.createdAt >= policy.activeSince &&
          applies(policy, change.incident),
      )
      return from && !kept.has(`${incidentId}/${policy.id}`) ? [{ incidentId, active, from }] : []
    }),
  )
}
