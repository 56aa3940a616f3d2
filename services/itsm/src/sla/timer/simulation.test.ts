import { expect, test } from '@jest/globals'
import {
  type Decision,
  type HoldReason,
  type IncidentState,
  priorities,
  type SlaPolicyState,
  type SlaTimer,
  severities,
  slaGoalKeys,
} from '@opsplane/contracts'
import { searchTimes, seededRandom } from '@opsplane/testing'
import { type CalendarHours, createCalendar } from '../../calendar/calendar.js'
import { incident } from '../../incident/domain.js'
import { agent, comment, create } from '../../incident/sample-incidents.fixture.js'
import type { IncidentStep } from '../../incident/steps.js'
import { incidentEntity } from '../entity/incident-entity.js'
import { samplePolicy } from '../policy/policy.fixture.js'
import { elapsedMs, intervals } from './ledger.js'
import { nine2five, openDays, openMinutes, sampleHours, type WallClock, zones } from './oracle.fixture.js'
import { plainCount, type Tally } from './plain-count.fixture.js'
import { type Change, slaTimer, type TimerCommand } from './timer.js'

const hourMs = 3_600_000
const year = Date.parse('2026-01-01T00:00:00Z')
const iso = (ms: number) => new Date(ms).toISOString()

const pausing = [[], [], [], ['open'], ['in_progress'], ['on_hold']]
const reasons: HoldReason[] = ['awaiting_caller', 'awaiting_vendor', 'awaiting_change']

/** An event as the reference implementation sees it: the incident, and whether it was answered. */
interface Lived extends Change {
  incident: IncidentState
  answered: boolean
}

/** A random history of an incident: allowed steps at whole seconds, and occasional changes of priority. */
function life(random: () => number, openedAt: number): Lived[] {
  const pick = <T>(items: readonly T[]): T => {
    const item = items[Math.floor(random() * items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
  const changes: Lived[] = []
  const add = (decisions: Pick<Decision<IncidentState>, 'after'>[], at: number, answered = false) => {
    for (const { after } of decisions) {
      if (!after) continue
      const version = changes.length + 1
      const entity = incidentEntity.facts(after, answered ? { comment: answer } : {})
      changes.push({ eventId: `evt_${version}`, version, at: iso(at), entity, incident: after, answered })
    }
  }
  const input = { ...create.input, severity: pick(severities) }
  const opened = incident.decide({ ...create, now: iso(openedAt), input }, null)
  const priority = pick(priorities)
  add(
    opened.map(({ after }) => ({ after: after && { ...after, priority } })),
    openedAt,
  )
  let at = openedAt
  for (let step = 0; step < 14; step++) {
    at += 1_000 * Math.floor(random() ** 3 * 4 * 24 * 3_600)
    const state = changes.at(-1)?.incident
    if (!state || state.status === 'closed' || state.status === 'canceled') break
    const steps: IncidentStep[] = {
      open: [{ kind: 'start' } as const, { kind: 'assign', assigneeId: agent.id } as const],
      in_progress: [{ kind: 'resolve' } as const],
      on_hold: [{ kind: 'resume' } as const, { kind: 'resume' } as const, { kind: 'resolve' } as const],
      resolved: [{ kind: 'reopen' } as const, { kind: 'reopen' } as const, { kind: 'close' } as const],
    }[state.status]
    if (state.status === 'open' || state.status === 'in_progress')
      steps.push({ kind: 'hold', holdReason: pick(reasons) }, { kind: 'hold', holdReason: pick(reasons) })
    if (state.status !== 'resolved') steps.push({ kind: 'edit', fields: { severity: pick(severities) } })
    if (state.status !== 'resolved' && random() < 0.05) steps.push({ kind: 'cancel' })
    if (random() < 0.3) add([{ after: { ...state, priority: pick(priorities) } }], at)
    else add(incident.decide({ ...pick(steps), now: iso(at) }, state), at, random() < 0.1)
  }
  return changes
}

const answer = { ...comment, author: { ...agent, id: 'usr_who_answers' }, userId: 'usr_who_answers' }

/** Second implementation of the rules: returns the time and the reports expected from the clock. */
function oracle(changes: Lived[], policy: SlaPolicyState, wall: WallClock, until: number) {
  const keyOf = ({ severity, priority }: IncidentState) =>
    policy.goalsBy === 'priority' ? priority : severity
  const held = ({ holdReason, status }: IncidentState) =>
    (holdReason !== null && policy.pauseReasons.includes(holdReason)) || policy.pauseStatuses.includes(status)
  let state = changes[0] && held(changes[0].incident) ? 'paused' : 'running'
  const count = plainCount(policy, wall, changes[0] && keyOf(changes[0].incident))
  for (const [index, { at, incident: now, answered }] of changes.entries()) {
    const starts = Date.parse(at)
    const next = changes[index + 1]
    const ends = next ? Date.parse(next.at) : until
    if (index > 0) {
      const wasOpen = state === 'running' || state === 'paused'
      const ended = state === 'canceled' || (state === 'completed' && policy.metric === 'response')
      const done =
        policy.metric === 'response'
          ? now.assigneeId !== null || now.status !== 'open' || answered
          : now.status === 'resolved' || now.status === 'closed'
      if (wasOpen) count.tell(starts)
      if (!ended)
        state = now.status === 'canceled' ? 'canceled' : done ? 'completed' : held(now) ? 'paused' : 'running'
      if (state === 'running' || state === 'paused') count.retarget(keyOf(now), starts)
    }
    if (state === 'running') count.run(starts, ends)
    if (state === 'running' || state === 'paused') count.tell(ends)
  }
  return { state, reported: count.reported, breached: count.breached(), elapsed: count.elapsed() }
}

/** Runs the clock under test: swept at random instants, and serialized and parsed again before each event. */
function simulate(
  changes: Lived[],
  policy: SlaPolicyState,
  hours: CalendarHours,
  until: number,
  random: () => number,
) {
  const reported: Tally = []
  const causes: unknown[] = []
  const [first, ...rest] = changes
  if (!first) throw new Error('nothing happened')
  const run = (command: TimerCommand, before: SlaTimer | null): SlaTimer => {
    const read: SlaTimer | null = before && JSON.parse(JSON.stringify(before))
    const decisions = slaTimer.decide(command, read)
    for (const { type, extras } of decisions) {
      if (type === 'sla.warning')
        reported.push({ percent: Number(extras?.percent), at: Date.parse(String(extras?.reachedAt)) })
      if (type === 'sla.retargeted') causes.push(extras?.cause)
      if (type === 'sla.breached') reported.push({ percent: 100, at: Date.parse(String(extras?.breachedAt)) })
    }
    const after = decisions.at(-1)?.after ?? read
    if (!after) throw new Error('no clock')
    return after
  }
  const terms = () => ({ policy, calendar: createCalendar(hours, policy.goalUnit), calendarRevision: 1 })
  let current = run({ kind: 'start', id: 'tmr_1', history: [first], terms: terms(), now: first.at }, null)
  for (const change of [...rest, null]) {
    const end = change ? Date.parse(change.at) : until
    const kept = terms()
    while (random() < 0.7 || change === null) {
      const { nextFireAt } = current
      if (nextFireAt === null || Date.parse(nextFireAt) >= end) break
      const now = Math.min(end, Date.parse(nextFireAt) + 1 + Math.floor(random() * hourMs))
      current = run({ kind: 'fire', until: iso(now), terms: kept, now: iso(now) }, current)
    }
    if (change)
      current = run({ kind: 'apply', change, terms: kept, nextTerms: kept, now: change.at }, current)
  }
  const { calendar } = terms()
  const parts = intervals(current.ledger, calendar, until)
  return {
    state: current.state,
    causes,
    reported,
    breached: current.breached,
    elapsed: elapsedMs(current.ledger, calendar, until),
    explained: parts.reduce((sum, { countedMs }) => sum + countedMs, 0),
    gaps: parts.filter(({ from }, index) => index > 0 && from !== parts[index - 1]?.to),
  }
}

/**
 * Half-hour offsets in both hemispheres, and a zone whose
 * changes follow the lunar calendar. All zones in the long tier.
 */
const tried = zones.filter((_, index) => searchTimes > 1 || index % 4 === 3)

test.each(tried)('a simulated year of incidents in %s matches a wall clock', (zone) => {
  const random = seededRandom(1_000 + zones.indexOf(zone))
  let [breaches, warnings, breachesByDay] = [0, 0, 0]
  const retargeted = { severity: 0, priority: 0 }
  for (const hours of [nine2five(zone), sampleHours(zone, random)]) {
    const known = [year - 2 * 24 * hourMs, 452] as const
    const walls = { minutes: openMinutes(hours, ...known), business_days: openDays(hours, ...known) }
    for (let count = 0; count < 18; count++) {
      const goalsBy = count % 2 === 0 ? 'severity' : 'priority'
      const goalUnit = count % 3 === 0 ? 'business_days' : 'minutes'
      const goal = () =>
        goalUnit === 'minutes' ? 30 + Math.floor(random() ** 2 * 3_000) : 1 + Math.floor(random() ** 2 * 9)
      const policy = samplePolicy(iso(year), {
        metric: random() < 0.3 ? 'response' : 'resolution',
        ...{ goalsBy, goalUnit },
        goals: Object.fromEntries(slaGoalKeys[goalsBy].map((key) => [key, goal()])),
        calendarId: 'cal_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
        pauseReasons: ['awaiting_caller', 'awaiting_vendor'],
        pauseStatuses: pausing[Math.floor(random() * pausing.length)] ?? [],
        warnings: random() < 0.5 ? [50, 75, 90] : [33],
      })
      const openedAt = year + 1_000 * Math.floor(random() * 365 * 24 * 3_600)
      const changes = life(random, openedAt)
      const until = Date.parse(changes.at(-1)?.at ?? '') + Math.floor(random() * 5 * 24 * 3_600) * 1_000
      const expected = oracle(changes, policy, walls[goalUnit], until)
      const { explained, gaps, causes, ...found } = simulate(changes, policy, hours, until, random)
      expect(found).toEqual(expected)
      expect([explained, gaps]).toEqual([expected.elapsed, []])
      const breached = expected.reported.filter(({ percent }) => percent === 100).length
      breaches += breached
      if (goalUnit === 'business_days') breachesByDay += breached
      warnings += expected.reported.length
      // Changes of the field that the goals do not depend on have no effect.
      expect(new Set(causes).size).toBeLessThanOrEqual(1)
      retargeted[goalsBy] += causes.filter((cause) => cause === goalsBy).length
    }
  }
  expect(Math.min(breachesByDay, breaches - breachesByDay)).toBeGreaterThan(2)
  expect(warnings).toBeGreaterThan(breaches)
  expect(Math.min(retargeted.severity, retargeted.priority)).toBeGreaterThan(2)
})
