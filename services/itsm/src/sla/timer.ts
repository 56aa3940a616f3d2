import {
  type Decider,
  type Decision,
  filterMatches,
  type IncidentState,
  type Instant,
  notFound,
  type SlaClockState,
  type SlaEventType,
  type SlaPolicyState,
  type SlaTimer,
} from '@opsplane/contracts'
import type { Calendar } from './calendar.js'
import { reachedAt } from './ledger.js'

/** What a clock goes by: the revisions it is pinned to. */
export interface Terms {
  policy: SlaPolicyState
  calendar: Calendar
  calendarRevision: number | null
}

/** An event of the incident as far as clocks heed it. */
export interface Change {
  eventId: string
  version: number
  at: Instant
  incident: IncidentState
  /** A public comment by anyone but the caller. */
  answered: boolean
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

/** A clock over an incident. Its events are `slaEvents`; being breached is a flag, not a state. */
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

/** Whether a policy has a goal for the incident and its conditions hold. */
export function applies(policy: SlaPolicyState, incident: IncidentState): boolean {
  return policy.goals[incident.severity] !== undefined && filterMatches(policy.conditions, incident)
}

/** Counts from the incident's creation, with the pauses it has had. */
function start({ id, history, terms, now }: Extract<TimerCommand, { kind: 'start' }>): TimerDecision[] {
  const [first, ...rest] = history
  if (first === undefined) throw notFound()
  const { policy } = terms
  const latest = history.at(-1)?.incident ?? first.incident
  const goal = policy.goals[latest.severity]
  if (goal === undefined) return []
  const blank: SlaTimer = {
    id,
    entityType: 'incident',
    entityId: first.incident.id,
    entityNumber: first.incident.number,
    policyId: policy.id,
    policyName: policy.name,
    policyRevision: policy.revision,
    calendarId: policy.calendarId,
    calendarRevision: terms.calendarRevision,
    metric: policy.metric,
    severity: latest.severity,
    goalMs: goal * 60_000,
    cycle: 1,
    state: 'running',
    breached: false,
    startedAt: first.at,
    dueAt: null,
    nextFireAt: null,
    breachedAt: null,
    ledger: [{ from: first.at, state: 'running', reason: null, eventId: first.eventId }],
    fired: [],
    incidentVersion: first.version,
    createdAt: first.at,
    updatedAt: now,
  }
  // Whether it applied all along does not matter: it does now, and counts from the start.
  const anyway = { ...terms, policy: { ...policy, goals: everyGoal(goal), conditions: {} } }
  const after = rest.reduce((timer, change) => moved(timer, change, anyway) ?? timer, blank)
  return [{ type: 'sla.started', after: timed({ ...after, updatedAt: now }, terms) }]
}

const everyGoal = (goal: number) => ({ critical: goal, high: goal, medium: goal, low: goal })

/** What is due before the change comes first, by the goal in force until then; then another goal, then the state. */
function heed(timer: SlaTimer, change: Change, terms: Terms, now: Instant): TimerDecision[] {
  if (change.version <= timer.incidentVersion) return []
  const decided = isOpen(timer) ? fire(timer, terms, Date.parse(change.at), now) : []
  const current = () => decided.at(-1)?.after ?? timer
  const { state } = wanted(timer, change, terms)
  const goal = terms.policy.goals[change.incident.severity]
  if (openStates.includes(state) && goal !== undefined && change.incident.severity !== timer.severity) {
    const { severity } = change.incident
    const next = { severity, goalMs: goal * 60_000, incidentVersion: change.version }
    const after = retargeted({ ...current(), ...next, updatedAt: now }, terms, change.at)
    decided.push({ type: 'sla.retargeted', after, extras: { cause: 'severity' } })
    decided.push(...fire(after, terms, Date.parse(change.at), now))
  }
  const after = moved(current(), change, terms)
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

/** The state an incident's event asks of the clock, and why. */
function wanted(
  { metric, state }: SlaTimer,
  { incident, answered }: Change,
  { policy }: Terms,
): { state: SlaClockState; reason: string | null } {
  if (metric === 'response' && state === 'completed') return { state, reason: null }
  if (incident.status === 'canceled') return { state: 'canceled', reason: 'incident canceled' }
  // What is done while no clock counts is neither kept nor missed.
  const counts = state !== 'canceled' || ['open', 'in_progress', 'on_hold'].includes(incident.status)
  if (!counts) return { state, reason: null }
  if (metric === 'response') {
    if (incident.assigneeId !== null) return { state: 'completed', reason: 'assigned' }
    if (answered) return { state: 'completed', reason: 'answered' }
    if (incident.status !== 'open') return { state: 'completed', reason: incident.status }
  } else if (incident.status === 'resolved' || incident.status === 'closed') {
    return { state: 'completed', reason: 'resolved' }
  }
  if (!applies(policy, incident)) return { state: 'canceled', reason: 'policy does not apply' }
  const { holdReason } = incident
  if (holdReason !== null && policy.pauseReasons.includes(holdReason))
    return { state: 'paused', reason: holdReason }
  return { state: 'running', reason: null }
}

/** The clock with a new entry in its ledger; undefined when its state stays. */
function moved(timer: SlaTimer, change: Change, terms: Terms): SlaTimer | undefined {
  const { state, reason } = wanted(timer, change, terms)
  if (state === timer.state && (state !== 'paused' || reason === timer.ledger.at(-1)?.reason))
    return undefined
  const entry = { from: change.at, state, reason, eventId: change.eventId }
  return { ...timer, state, ledger: [...timer.ledger, entry], incidentVersion: change.version }
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
  if (fresh === undefined || !last || !applies(policy, last.incident)) {
    const reason = 'policy does not apply'
    const entry = { from: now, state: 'canceled' as const, reason, eventId: last?.eventId ?? '' }
    const after = { ...state, state: entry.state, ledger: [...state.ledger, entry], updatedAt: now }
    return [{ type: 'sla.canceled', after: timed(after, terms) }]
  }
  const { cycle, fired } = state
  const after = retargeted({ ...fresh.after, cycle, fired }, terms, now)
  return [{ type: 'sla.retargeted', after, extras: { cause: 'policy' } }]
}
