import {
  type Decider,
  type Decision,
  filterMatches,
  type Instant,
  notFound,
  type SlaClockState,
  type SlaEventType,
  type SlaGoalKey,
  type SlaPolicyState,
  type SlaTimer,
} from '@opsplane/contracts'
import type { Calendar } from './calendar.js'
import type { SlaFacts } from './entity.js'
import { reachedAt } from './ledger.js'
import { goalUnitMs } from './measure.js'
import { storedTimer } from './stored-timer.js'

/** What a clock goes by: the revisions it is pinned to. */
export interface Terms {
  policy: SlaPolicyState
  /** Counting in the unit of the policy's goals. */
  calendar: Calendar
  calendarRevision: number | null
}

/** An event of the entity as far as clocks heed it. */
export interface Change {
  eventId: string
  version: number
  at: Instant
  entity: SlaFacts
}

export type TimerCommand =
  | { kind: 'start'; id: string; history: readonly Change[]; terms: Terms; now: Instant }
  | { kind: 'heed'; change: Change; terms: Terms; now: Instant }
  | { kind: 'fire'; until: Instant; terms: Terms; now: Instant }
  | { kind: 'reapply'; history: readonly Change[]; terms: Terms; now: Instant }

interface TimerDecision extends Decision<SlaTimer> {
  type: SlaEventType
  after: SlaTimer
}

/** A clock over an entity. Its events are `slaEvents`; being breached is a flag, not a state. */
export const slaTimer: Decider<SlaTimer, TimerCommand> = {
  resourceType: 'sla',
  table: 'sla_timers',
  decide,
  expose: (state) => state,
  upcast: (stored) => ('goalUnit' in stored ? stored : storedTimer(stored)),
  describe: ({ policyName, entityNumber }) => ({ displayName: `${policyName}: ${entityNumber}` }),
}

function decide(command: TimerCommand, state: SlaTimer | null): TimerDecision[] {
  if (command.kind === 'start') return start(command)
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'heed':
      return heed(state, command.change, command.terms, command.now)
    case 'fire':
      return fireOrSetRight(command, state)
    case 'reapply':
      return reapply(command, state)
  }
}

const openStates: readonly SlaClockState[] = ['running', 'paused']
export const isOpen = ({ state }: Pick<SlaTimer, 'state'>) => openStates.includes(state)

/** The goal a policy has for the entity, and what it goes by; undefined when it has none. */
export function goalOf(
  { goals, goalsBy, goalUnit }: Pick<SlaPolicyState, 'goals' | 'goalsBy' | 'goalUnit'>,
  entity: SlaFacts,
): { goalKey: SlaGoalKey; goalMs: number } | undefined {
  const goalKey = goalsBy === 'all' ? goalsBy : entity[goalsBy]
  const goal = goalKey === null ? undefined : goals[goalKey]
  return goalKey === null || goal === undefined ? undefined : { goalKey, goalMs: goal * goalUnitMs[goalUnit] }
}

/** Whether a policy has a goal for the entity and its conditions hold. */
function applies(policy: SlaPolicyState, entity: SlaFacts): boolean {
  return goalOf(policy, entity) !== undefined && filterMatches(policy.conditions, entity.state)
}

/** Whether a clock that is missing starts with this event. */
export function starts(policy: SlaPolicyState, { entity }: Change): boolean {
  return entity.ended === null && applies(policy, entity)
}

/** Counts from the entity's creation, with the pauses it has had. */
function start({ id, history, terms, now }: Extract<TimerCommand, { kind: 'start' }>): TimerDecision[] {
  const [first, ...rest] = history
  const last = history.at(-1)
  if (first === undefined || last === undefined) throw notFound()
  const { policy } = terms
  const goal = goalOf(policy, last.entity)
  if (goal === undefined) return []
  const blank: SlaTimer = {
    id,
    entityType: policy.entityType,
    entityId: first.entity.id,
    entityNumber: first.entity.number,
    policyId: policy.id,
    policyName: policy.name,
    policyRevision: policy.revision,
    calendarId: policy.calendarId,
    calendarRevision: terms.calendarRevision,
    metric: policy.metric,
    goalsBy: policy.goalsBy,
    goalUnit: policy.goalUnit,
    ...goal,
    cycle: 1,
    state: 'running',
    ledger: [],
    breached: false,
    startedAt: first.at,
    dueAt: null,
    nextFireAt: null,
    breachedAt: null,
    fired: [],
    entityVersion: first.version,
    createdAt: first.at,
    updatedAt: now,
  }
  // Whether it applied all along does not matter: it does now, and counts from the start.
  const always = () => true
  const { state, reason } = wanted(blank, first.entity, policy, always)
  const begun = { ...blank, state, ledger: [{ from: first.at, state, reason, eventId: first.eventId }] }
  const counted = rest.reduce((timer, change) => moved(timer, change, policy, always) ?? timer, begun)
  const after = { ...counted, entityVersion: last.version, updatedAt: now }
  return [{ type: 'sla.started', after: timed(after, terms) }]
}

/** What is due before the change comes first, by the goal in force until then; then another goal, then the state. */
function heed(timer: SlaTimer, change: Change, terms: Terms, now: Instant): TimerDecision[] {
  if (change.version <= timer.entityVersion) return []
  const { policy } = terms
  const decided = isOpen(timer) ? fire(timer, terms, Date.parse(change.at), now) : []
  const current = () => decided.at(-1)?.after ?? timer
  const { state } = wanted(timer, change.entity, policy)
  const goal = goalOf(policy, change.entity)
  if (openStates.includes(state) && goal !== undefined && goal.goalKey !== timer.goalKey) {
    const next = { ...goal, entityVersion: change.version, updatedAt: now }
    const after = retargeted({ ...current(), ...next }, terms, change.at)
    decided.push({ type: 'sla.retargeted', after, extras: { cause: policy.goalsBy } })
    decided.push(...fire(after, terms, Date.parse(change.at), now))
  }
  const after = moved(current(), change, policy)
  if (after) {
    const done = timed({ ...after, updatedAt: now }, terms)
    decided.push({ type: moveType(done), after: done })
  }
  return decided
}

function moveType({ state, breached }: SlaTimer): SlaEventType {
  if (state === 'completed') return breached ? 'sla.missed' : 'sla.met'
  return ({ running: 'sla.resumed', paused: 'sla.paused', canceled: 'sla.canceled' } as const)[state]
}

/** The state an event of the entity asks of the clock, and why. */
function wanted(
  { metric, state }: SlaTimer,
  entity: SlaFacts,
  policy: SlaPolicyState,
  doesApply = applies,
): { state: SlaClockState; reason: string | null } {
  if (metric === 'response' && state === 'completed') return { state, reason: null }
  if (entity.ended === 'canceled') return { state: 'canceled', reason: `${policy.entityType} canceled` }
  // What is done while no clock counts is neither kept nor missed.
  if (state === 'canceled' && entity.ended !== null) return { state, reason: null }
  const done = metric === 'response' ? entity.response : entity.ended && entity.status
  if (done !== null) return { state: 'completed', reason: done }
  if (!doesApply(policy, entity)) return { state: 'canceled', reason: 'policy does not apply' }
  const pause = pauseOf(policy, entity)
  return pause === null ? { state: 'running', reason: null } : { state: 'paused', reason: pause }
}

function pauseOf({ pauseReasons, pauseStatuses }: SlaPolicyState, { holdReason, status }: SlaFacts) {
  if (holdReason !== null && pauseReasons.includes(holdReason)) return holdReason
  return pauseStatuses.includes(status) ? status : null
}

/** The clock with a new entry in its ledger; undefined when its state stays. */
function moved(
  timer: SlaTimer,
  change: Change,
  policy: SlaPolicyState,
  doesApply = applies,
): SlaTimer | undefined {
  const { state, reason } = wanted(timer, change.entity, policy, doesApply)
  if (state === timer.state && (state !== 'paused' || reason === timer.ledger.at(-1)?.reason))
    return undefined
  const entry = { from: change.at, state, reason, eventId: change.eventId }
  return { ...timer, state, ledger: [...timer.ledger, entry], entityVersion: change.version }
}

/** A new cycle. What was told before and is still past is not told again. */
function retargeted(timer: SlaTimer, terms: Terms, at: Instant): SlaTimer {
  const cycle = timer.cycle + 1
  const told = new Map(timer.fired.map((firing) => [firing.percent, firing.at]))
  const kept = [...told].filter(([percent]) => {
    const reached = reachedAt(timer.ledger, terms.calendar, (timer.goalMs / 100) * percent)
    return reached !== null && reached <= Date.parse(at)
  })
  const fired = [...timer.fired, ...kept.map(([percent, firedAt]) => ({ cycle, percent, at: firedAt }))]
  const breachedAt = kept.find(([percent]) => percent === 100)?.[1] ?? null
  return timed({ ...timer, cycle, fired, breached: breachedAt !== null, breachedAt }, terms)
}

/** A clock that is not due after all was set by time-zone rules that have changed since. */
function fireOrSetRight(
  { terms, until, now }: Extract<TimerCommand, { kind: 'fire' }>,
  state: SlaTimer,
): TimerDecision[] {
  const decided = fire(state, terms, Date.parse(until), now)
  const right = timed(state, terms)
  if (decided.length > 0 || right.nextFireAt === state.nextFireAt) return decided
  return [{ type: 'sla.retargeted', after: { ...right, updatedAt: now }, extras: { cause: 'time_zone' } }]
}

/** Fires what was reached before an instant, in order, each once in a cycle. */
function fire(timer: SlaTimer, terms: Terms, until: number, now: Instant): TimerDecision[] {
  const decided: TimerDecision[] = []
  let current = timer
  for (const { percent, at } of pending(timer, terms)) {
    if (at >= until) break
    const reached = new Date(at).toISOString()
    const breached = percent === 100
    const fired = [...current.fired, { cycle: current.cycle, percent, at: reached }]
    const flags = breached ? { breached, breachedAt: reached, dueAt: reached } : {}
    current = timed({ ...current, ...flags, fired, updatedAt: now }, terms)
    const extras = breached
      ? breachOf(current, reached, now)
      : { percent, reachedAt: reached, detectedAt: now }
    decided.push({ type: breached ? 'sla.breached' : 'sla.warning', after: current, extras })
  }
  return decided
}

/** What `sla.breached` and `incident.sla_breached` tell. */
export function breachOf({ entityType, entityId, metric, policyId }: SlaTimer, dueAt: Instant, now: Instant) {
  return { entityType, entityId, metric, dueAt, breachedAt: dueAt, detectedAt: now, policyId }
}

/** What is not told yet in this cycle, with when it is reached, in order. */
function pending(timer: SlaTimer, { policy, calendar }: Terms): { percent: number; at: number }[] {
  const told = new Set(timer.fired.filter(({ cycle }) => cycle === timer.cycle).map(({ percent }) => percent))
  const found: { percent: number; at: number }[] = []
  for (const percent of [...policy.warnings, 100]) {
    const at = told.has(percent) ? null : reachedAt(timer.ledger, calendar, (timer.goalMs / 100) * percent)
    if (at !== null) found.push({ percent, at })
  }
  return found
}

/** Works out when it is due and when to look at it next. A clock that stopped keeps when it was due. */
function timed(timer: SlaTimer, terms: Terms): SlaTimer {
  if (!isOpen(timer)) return { ...timer, nextFireAt: null }
  const instant = (ms: number | null | undefined) =>
    typeof ms === 'number' ? new Date(ms).toISOString() : null
  return {
    ...timer,
    dueAt: instant(reachedAt(timer.ledger, terms.calendar, timer.goalMs)),
    nextFireAt: instant(pending(timer, terms)[0]?.at),
  }
}

/** The clock as it would be had it gone by these terms from the start. What was told stays told while it holds. */
function reapply(
  { history, terms, now }: Extract<TimerCommand, { kind: 'reapply' }>,
  state: SlaTimer,
): TimerDecision[] {
  const { policy } = terms
  if (state.policyRevision === policy.revision && state.calendarRevision === terms.calendarRevision) return []
  const [fresh] = start({ kind: 'start', id: state.id, history, terms, now })
  const last = history.at(-1)
  if (fresh === undefined || !last || !applies(policy, last.entity)) {
    const reason = 'policy does not apply'
    const entry = { from: now, state: 'canceled' as const, reason, eventId: last?.eventId ?? '' }
    const after = { ...state, state: entry.state, ledger: [...state.ledger, entry], updatedAt: now }
    return [{ type: 'sla.canceled', after: timed(after, terms) }]
  }
  const { cycle, fired } = state
  const after = retargeted({ ...fresh.after, cycle, fired }, terms, now)
  return [{ type: 'sla.retargeted', after, extras: { cause: 'policy' } }]
}
