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
import type { Calendar } from '../../calendar/calendar.js'
import { goalUnitMs } from '../../calendar/measure.js'
import type { SlaFacts } from '../entity/entity.js'
import { reachedAt } from './ledger.js'
import {
  type ClockTarget,
  findSpanEnd,
  isRecurring,
  isSpanOpen,
  isSpanOpenAfter,
  notApplyingReason,
  sinceLastSpan,
} from './spans.js'

/** The terms of a clock: the revisions it is pinned to. */
export interface PinnedPolicy {
  policy: SlaPolicyState
  /** Counts in the unit of the policy's goals. */
  calendar: Calendar
  calendarRevision: number | null
}

/** An event of the entity with the parts that clocks use. */
export interface Change {
  eventId: string
  version: number
  at: Instant
  entity: SlaFacts
}

export type TimerCommand =
  | { kind: 'start'; id: string; history: readonly Change[]; terms: PinnedPolicy; now: Instant }
  /** `nextTerms` are the terms of the next recurring span; `null` if the policy starts no more spans. */
  | { kind: 'apply'; change: Change; terms: PinnedPolicy; nextTerms: PinnedPolicy | null; now: Instant }
  | { kind: 'fire'; until: Instant; terms: PinnedPolicy; now: Instant }
  | { kind: 'reapply'; history: readonly Change[]; terms: PinnedPolicy; now: Instant }

interface TimerDecision extends Decision<SlaTimer> {
  type: SlaEventType
  after: SlaTimer
}

/** An SLA clock of an entity. `slaEvents` lists its events. Being breached is a flag, not a state. */
export const slaTimer: Decider<SlaTimer, TimerCommand> = {
  resourceType: 'sla',
  table: 'sla_timers',
  decide,
  expose: (state) => state,
  describe: ({ policyName, entityNumber }) => ({ displayName: `${policyName}: ${entityNumber}` }),
}

function decide(command: TimerCommand, state: SlaTimer | null): TimerDecision[] {
  if (command.kind === 'start') return start(command)
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'apply':
      return apply(state, command)
    case 'fire':
      return fireOrReschedule(command, state)
    case 'reapply':
      return reapply(command, state)
  }
}

const openStates: readonly SlaClockState[] = ['running', 'paused']
export const isOpen = ({ state }: Pick<SlaTimer, 'state'>) => openStates.includes(state)

/** The fields of the terms that are stored with a clock. */
const toPinnedFields = ({ policy, calendarRevision }: PinnedPolicy) => ({
  policyId: policy.id,
  policyName: policy.name,
  policyRevision: policy.revision,
  calendarId: policy.calendarId,
  calendarRevision,
  goalsBy: policy.goalsBy,
  goalUnit: policy.goalUnit,
})

/** Whether a clock is pinned to exactly these revisions. */
export function isPinnedTo(timer: SlaTimer, { policy, calendarRevision }: PinnedPolicy): boolean {
  const ofPolicy = timer.policyRevision === policy.revision && timer.calendarId === policy.calendarId
  return ofPolicy && timer.calendarRevision === calendarRevision
}

/** Returns the policy's goal for the entity and its key; `undefined` if there is none. */
export function findGoal(
  { goals, goalsBy, goalUnit }: Pick<SlaPolicyState, 'goals' | 'goalsBy' | 'goalUnit'>,
  entity: SlaFacts,
): { goalKey: SlaGoalKey; goalMs: number } | undefined {
  const goalKey = goalsBy === 'all' ? goalsBy : entity[goalsBy]
  const goal = goalKey === null ? undefined : goals[goalKey]
  return goalKey === null || goal === undefined ? undefined : { goalKey, goalMs: goal * goalUnitMs[goalUnit] }
}

/** Whether a policy has a goal for the entity and its conditions match. */
export function applies(policy: SlaPolicyState, entity: SlaFacts): boolean {
  return findGoal(policy, entity) !== undefined && filterMatches(policy.conditions, entity.state)
}

/**
 * Returns the index of the event with which a missing clock starts, given the earlier events; -1 if it does not
 * start.
 */
export function findStartIndex(
  policy: SlaPolicyState,
  changes: readonly Change[],
  earlier: readonly Change[] = [],
): number {
  const { metric } = policy
  if (!isRecurring(metric))
    return changes.findIndex(({ entity }) => entity.ended === null && applies(policy, entity))
  let underWay = earlier.reduce((before, { entity }) => isSpanOpenAfter(metric, entity, before), false)
  return changes.findIndex(({ entity }) => {
    underWay = isSpanOpenAfter(metric, entity, underWay)
    return underWay && applies(policy, entity)
  })
}

/** Returns the events a clock counts from: all of them, or those since the last recurring span began. */
const countedFrom = ({ metric }: SlaPolicyState, history: readonly Change[]) =>
  isRecurring(metric) ? sinceLastSpan(metric, history) : history

/** Starts a clock that counts from the entity's creation or the beginning of its span, including past pauses. */
function start({ id, history, terms, now }: Extract<TimerCommand, { kind: 'start' }>): TimerDecision[] {
  const { policy } = terms
  const [created] = history
  const last = history.at(-1)
  if (created === undefined || last === undefined) throw notFound()
  const [first, ...rest] = countedFrom(policy, history)
  if (first === undefined) return []
  const goal = findGoal(policy, last.entity)
  if (goal === undefined) return []
  const blank: SlaTimer = {
    id,
    entityType: policy.entityType,
    entityId: first.entity.id,
    entityNumber: first.entity.number,
    metric: policy.metric,
    ...toPinnedFields(terms),
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
    createdAt: created.at,
    updatedAt: now,
  }
  // Past conditions are ignored: the policy applies now, so the clock counts from the start.
  const always = () => true
  const { state, reason } = findTarget(blank, first.entity, policy, always)
  const begun = { ...blank, state, ledger: [{ from: first.at, state, reason, eventId: first.eventId }] }
  const caughtUpTimer = rest.reduce(
    (timer, change) => appendEntry(timer, change, policy, always) ?? timer,
    begun,
  )
  const after = { ...caughtUpTimer, entityVersion: last.version, updatedAt: now }
  return [{ type: 'sla.started', after: withDueTimes(after, terms) }]
}

/**
 * Reports everything due before the change with the goal in force until then. Then changes the goal, then the
 * state.
 */
function apply(
  timer: SlaTimer,
  { change, terms, nextTerms, now }: Extract<TimerCommand, { kind: 'apply' }>,
): TimerDecision[] {
  if (change.version <= timer.entityVersion) return []
  if (startsNextSpan(timer, change))
    return nextTerms === null ? [] : [nextSpanEvent(timer, change, nextTerms, now)]
  const { policy } = terms
  const decided = isOpen(timer) ? fire(timer, terms, Date.parse(change.at), now) : []
  const current = () => decided.at(-1)?.after ?? timer
  const { state } = findTarget(timer, change.entity, policy)
  const goal = findGoal(policy, change.entity)
  if (openStates.includes(state) && goal !== undefined && goal.goalKey !== timer.goalKey) {
    const next = { ...goal, entityVersion: change.version, updatedAt: now }
    const after = retarget({ ...current(), ...next }, terms, change.at)
    decided.push({ type: 'sla.retargeted', after, extras: { cause: policy.goalsBy } })
    decided.push(...fire(after, terms, Date.parse(change.at), now))
  }
  const after = appendEntry(current(), change, policy)
  if (after) {
    const done = withDueTimes({ ...after, updatedAt: now }, terms)
    decided.push({ type: moveType(done), after: done })
  }
  return decided
}

/** Whether the next recurring span of the clock begins with this event. */
const startsNextSpan = (timer: SlaTimer, { entity }: Change) =>
  isRecurring(timer.metric) && !isSpanOpen(timer) && isSpanOpenAfter(timer.metric, entity, false)

/** Maximum number of earlier reports that are kept, because a conversation may go on forever. */
const maxKeptFirings = 100

/** The next span is a separate cycle. From the previous one it keeps only the reports. */
function nextSpanEvent(timer: SlaTimer, change: Change, terms: PinnedPolicy, now: Instant): TimerDecision {
  const { policy } = terms
  const { at, version: entityVersion, entity, eventId } = change
  const blank: SlaTimer = {
    ...{ ...timer, ...toPinnedFields(terms), ...findGoal(policy, entity) },
    ...{ state: 'running', ledger: [], cycle: timer.cycle + 1, startedAt: at },
    ...{ breached: false, breachedAt: null, dueAt: null, entityVersion, updatedAt: now },
    fired: timer.fired.slice(-maxKeptFirings),
  }
  const { state, reason } = findTarget(blank, entity, policy)
  const after = withDueTimes({ ...blank, state, ledger: [{ from: at, state, reason, eventId }] }, terms)
  return { type: state === 'canceled' ? 'sla.canceled' : 'sla.started', after }
}

function moveType({ state, breached, ledger }: SlaTimer): SlaEventType {
  if (state === 'completed') return breached ? 'sla.missed' : 'sla.met'
  // A span that began while the policy did not apply starts to count here.
  if (state !== 'canceled' && ledger.slice(0, -1).every((entry) => entry.state === 'canceled'))
    return 'sla.started'
  return ({ running: 'sla.resumed', paused: 'sla.paused', canceled: 'sla.canceled' } as const)[state]
}

/** Returns the state that an event of the entity requires, and the reason. */
function findTarget(
  timer: SlaTimer,
  entity: SlaFacts,
  policy: SlaPolicyState,
  doesApply = applies,
): ClockTarget {
  const { metric } = timer
  const sign = isRecurring(metric) ? entity.spans?.[metric] : undefined
  const over = isRecurring(metric) ? findSpanEnd(timer, sign) : findEnd(timer, entity)
  if (over !== null) return over
  if (!doesApply(policy, entity)) return { state: 'canceled', reason: notApplyingReason }
  const pause = sign?.is === 'held' ? sign.reason : findPauseReason(policy, entity)
  return pause === null ? { state: 'running', reason: null } : { state: 'paused', reason: pause }
}

/** Returns the final state of a clock that counts from the creation; `null` if it continues. */
function findEnd({ metric, state, entityType }: SlaTimer, entity: SlaFacts): ClockTarget | null {
  if (metric === 'response' && state === 'completed') return { state, reason: null }
  if (entity.ended === 'canceled') return { state: 'canceled', reason: `${entityType} canceled` }
  // Work that is done while the clock does not count is neither met nor missed.
  if (state === 'canceled' && entity.ended !== null) return { state, reason: null }
  const done = metric === 'response' ? entity.response : entity.ended && entity.status
  return done === null ? null : { state: 'completed', reason: done }
}

function findPauseReason({ pauseReasons, pauseStatuses }: SlaPolicyState, { holdReason, status }: SlaFacts) {
  if (holdReason !== null && pauseReasons.includes(holdReason)) return holdReason
  return pauseStatuses.includes(status) ? status : null
}

/** Returns the clock with a new ledger entry; `undefined` if its state does not change. */
function appendEntry(
  timer: SlaTimer,
  change: Change,
  policy: SlaPolicyState,
  doesApply = applies,
): SlaTimer | undefined {
  const { state, reason } = findTarget(timer, change.entity, policy, doesApply)
  // A span that ends while the policy does not apply does not
  // continue if the policy applies again, so the reason matters.
  const byReason = state === 'paused' || (state === 'canceled' && isRecurring(timer.metric))
  if (state === timer.state && (!byReason || reason === timer.ledger.at(-1)?.reason)) return undefined
  const entry = { from: change.at, state, reason, eventId: change.eventId }
  return { ...timer, state, ledger: [...timer.ledger, entry], entityVersion: change.version }
}

/** Begins a new cycle. Thresholds of this span that were reported and are still in the past are not reported again. */
function retarget(timer: SlaTimer, terms: PinnedPolicy, at: Instant): SlaTimer {
  const cycle = timer.cycle + 1
  const ofSpan = timer.fired.filter((firing) => firing.at >= timer.startedAt)
  const reported = new Map(ofSpan.map((firing) => [firing.percent, firing.at]))
  const kept = [...reported].filter(([percent]) => {
    const reachedMs = reachedAt(timer.ledger, terms.calendar, (timer.goalMs / 100) * percent)
    return reachedMs !== null && reachedMs <= Date.parse(at)
  })
  const fired = [...timer.fired, ...kept.map(([percent, firedAt]) => ({ cycle, percent, at: firedAt }))]
  const breachedAt = kept.find(([percent]) => percent === 100)?.[1] ?? null
  return withDueTimes({ ...timer, cycle, fired, breached: breachedAt !== null, breachedAt }, terms)
}

/**
 * If the clock is not due after all, its due time was computed
 * with time-zone rules that have changed since. Reschedules it.
 */
function fireOrReschedule(
  { terms, until, now }: Extract<TimerCommand, { kind: 'fire' }>,
  state: SlaTimer,
): TimerDecision[] {
  const decided = fire(state, terms, Date.parse(until), now)
  const right = withDueTimes(state, terms)
  if (decided.length > 0 || right.nextFireAt === state.nextFireAt) return decided
  return [{ type: 'sla.retargeted', after: { ...right, updatedAt: now }, extras: { cause: 'time_zone' } }]
}

/** Reports the thresholds reached before an instant, in order, each once per cycle. */
function fire(timer: SlaTimer, terms: PinnedPolicy, until: number, now: Instant): TimerDecision[] {
  const decided: TimerDecision[] = []
  let current = timer
  for (const { percent, at } of findPending(timer, terms)) {
    if (at >= until) break
    const reachedInstant = new Date(at).toISOString()
    const breached = percent === 100
    const fired = [...current.fired, { cycle: current.cycle, percent, at: reachedInstant }]
    const flags = breached ? { breached, breachedAt: reachedInstant, dueAt: reachedInstant } : {}
    current = withDueTimes({ ...current, ...flags, fired, updatedAt: now }, terms)
    const extras = breached
      ? toBreachExtras(current, reachedInstant, now)
      : { percent, reachedAt: reachedInstant, detectedAt: now }
    decided.push({ type: breached ? 'sla.breached' : 'sla.warning', after: current, extras })
  }
  return decided
}

/** Extra fields of `sla.breached` and `incident.sla_breached`. */
export function toBreachExtras(
  { entityType, entityId, metric, policyId }: SlaTimer,
  dueAt: Instant,
  now: Instant,
) {
  return { entityType, entityId, metric, dueAt, breachedAt: dueAt, detectedAt: now, policyId }
}

/** Returns the thresholds not yet reported in this cycle, with the instants at which they are reached, in order. */
function findPending(timer: SlaTimer, { policy, calendar }: PinnedPolicy): { percent: number; at: number }[] {
  const reported = new Set(
    timer.fired.filter(({ cycle }) => cycle === timer.cycle).map(({ percent }) => percent),
  )
  const found: { percent: number; at: number }[] = []
  for (const percent of [...policy.warnings, 100]) {
    const at = reported.has(percent)
      ? null
      : reachedAt(timer.ledger, calendar, (timer.goalMs / 100) * percent)
    if (at !== null) found.push({ percent, at })
  }
  return found
}

/** Computes when the clock is due and when to check it next. A stopped clock keeps its due time. */
function withDueTimes(timer: SlaTimer, terms: PinnedPolicy): SlaTimer {
  if (!isOpen(timer)) return { ...timer, nextFireAt: null }
  const instant = (ms: number | null | undefined) =>
    typeof ms === 'number' ? new Date(ms).toISOString() : null
  return {
    ...timer,
    dueAt: instant(reachedAt(timer.ledger, terms.calendar, timer.goalMs)),
    nextFireAt: instant(findPending(timer, terms)[0]?.at),
  }
}

/** Returns the clock as if it had used these terms from the start. Reports stay while they still hold. */
function reapply(
  { history, terms, now }: Extract<TimerCommand, { kind: 'reapply' }>,
  state: SlaTimer,
): TimerDecision[] {
  const { policy } = terms
  if (isPinnedTo(state, terms)) return []
  const [fresh] = start({ kind: 'start', id: state.id, history, terms, now })
  const last = history.at(-1)
  if (fresh === undefined || !last || !applies(policy, last.entity)) {
    const eventId = last?.eventId ?? ''
    const entry = { from: now, state: 'canceled' as const, reason: notApplyingReason, eventId }
    const after = { ...state, state: entry.state, ledger: [...state.ledger, entry], updatedAt: now }
    return [{ type: 'sla.canceled', after: withDueTimes(after, terms) }]
  }
  const { cycle, fired } = state
  const after = retarget({ ...fresh.after, cycle, fired }, terms, now)
  return [{ type: 'sla.retargeted', after, extras: { cause: 'policy' } }]
}
