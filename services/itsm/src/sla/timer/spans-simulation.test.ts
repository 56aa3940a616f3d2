import { expect, test } from '@jest/globals'
import type { SlaPolicyState, SlaTimer } from '@opsplane/contracts'
import { searchTimes } from '@opsplane/testing'
import { type CalendarHours, createCalendar } from '../../calendar/calendar.js'
import { samplePolicy } from '../policy/policy.fixture.js'
import { replayTimer } from '../policy/preview.js'
import { elapsedMs, intervals } from './ledger.js'
import { nine2five, openDays, openMinutes, sampleHours, type WallClock } from './oracle.fixture.js'
import { plainCount, type Tally } from './plain-count.fixture.js'
import {
  conversation,
  decisions,
  generator,
  type ObservedChange,
  type Random,
} from './random-spans.fixture.js'
import { findStartIndex, slaTimer, type TimerCommand } from './timer.js'

const hourMs = 3_600_000
const year = Date.parse('2026-01-01T00:00:00Z')
const iso = (ms: number) => new Date(ms).toISOString()

/** Returns the expected result of one span. */
function countSpan(
  events: readonly ObservedChange[],
  policy: SlaPolicyState,
  wall: WallClock,
  until: number,
) {
  const count = plainCount(policy, wall, events[0]?.key)
  const counted = (end: string) => ({
    ...{ end, reported: count.reported, breached: count.breached(), elapsed: count.elapsed() },
  })
  for (const [index, event] of events.entries()) {
    const starts = Date.parse(event.at)
    const next = events[index + 1]
    if (index > 0) count.tell(starts)
    const over = index > 0 ? event.ended : null
    if (over !== null) return counted(over === 'off' ? 'canceled' : 'completed')
    count.retarget(event.key, starts)
    const to = next ? Date.parse(next.at) : until
    if (!event.held) count.run(starts, to)
    count.tell(to)
  }
  return counted(events.at(-1)?.held ? 'paused' : 'running')
}

/** Returns the expected spans, each computed from its events up to and including the one that ended it. */
function oracle(seen: readonly ObservedChange[], policy: SlaPolicyState, wall: WallClock, until: number) {
  const spans: ObservedChange[][] = []
  let open: ObservedChange[] | null = null
  for (const event of seen) {
    if (open !== null) open.push(event)
    if (open !== null && event.ended !== null) open = null
    else if (open === null && event.asked) {
      open = [event]
      spans.push(open)
    }
  }
  const counted = spans.map((events) => countSpan(events, policy, wall, until))
  const last = counted.at(-1)
  if (last === undefined) return null
  return {
    ends: counted.map(({ end, breached }) => (end === 'completed' ? (breached ? 'missed' : 'met') : end)),
    reported: counted.flatMap(({ reported }) => reported),
    breached: last.breached,
    elapsed: last.elapsed,
  }
}

/** Runs the clock under test: swept at random instants, and serialized and parsed again before each event. */
function simulate(
  seen: ObservedChange[],
  policy: SlaPolicyState,
  hours: CalendarHours,
  until: number,
  random: Random,
) {
  const from = findStartIndex(policy, seen)
  const first = seen[from]
  if (first === undefined) return null
  const reported: Tally = []
  const ends: string[] = []
  const run = (command: TimerCommand, before: SlaTimer | null): SlaTimer => {
    const read: SlaTimer | null = before && JSON.parse(JSON.stringify(before))
    const decided = slaTimer.decide(command, read)
    for (const { type, extras } of decided) {
      if (type === 'sla.warning')
        reported.push({ percent: Number(extras?.percent), at: Date.parse(String(extras?.reachedAt)) })
      if (type === 'sla.breached') reported.push({ percent: 100, at: Date.parse(String(extras?.breachedAt)) })
      if (type === 'sla.met' || type === 'sla.missed') ends.push(type.slice('sla.'.length))
      if (type === 'sla.canceled') ends.push('canceled')
    }
    const after = decided.at(-1)?.after ?? read
    if (!after) throw new Error('no clock')
    return after
  }
  const terms = () => ({ policy, calendar: createCalendar(hours, policy.goalUnit), calendarRevision: 1 })
  const history = seen.slice(0, from + 1)
  let current = run({ kind: 'start', id: 'tmr_1', history, terms: terms(), now: first.at }, null)
  for (const event of [...seen.slice(from + 1), null]) {
    const end = event ? Date.parse(event.at) : until
    const kept = terms()
    while (random.next() < 0.7 || event === null) {
      const { nextFireAt } = current
      if (nextFireAt === null || Date.parse(nextFireAt) >= end) break
      const now = Math.min(end, Date.parse(nextFireAt) + 1 + Math.floor(random.next() * hourMs))
      current = run({ kind: 'fire', until: iso(now), terms: kept, now: iso(now) }, current)
    }
    if (event)
      current = run({ kind: 'apply', change: event, terms: kept, nextTerms: kept, now: event.at }, current)
  }
  const { calendar } = terms()
  const parts = intervals(current.ledger, calendar, until)
  const again = replayTimer('tmr_1', seen, terms(), iso(until))
  const known = ({ updatedAt: _, ...timer }: SlaTimer) => timer
  return {
    ends: current.state === 'running' || current.state === 'paused' ? [...ends, current.state] : ends,
    reported,
    breached: current.breached,
    elapsed: elapsedMs(current.ledger, calendar, until),
    explained: parts.reduce((sum, { countedMs }) => sum + countedMs, 0),
    gaps: parts.filter(({ from }, index) => index > 0 && from !== parts[index - 1]?.to),
    replay: again && { found: known(again), expected: known(current) },
  }
}

const zones = ['Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe']

test.each(
  zones
    .flatMap((zone) => (['next_response', 'approval'] as const).map((metric) => [metric, zone] as const))
    // In the short tier: one metric for each zone, and each metric in two zones. All combinations in the long tier.
    .filter((_, index) => searchTimes > 1 || [0, 3, 4, 7].includes(index)),
)('a simulated year of %s clocks in %s matches a wall clock', (metric, zone) => {
  const random = generator(2_000 + zones.indexOf(zone) * 2 + Number(metric === 'approval'))
  const counts: Record<string, number> = {}
  let [breaches, breachesByDay, lives] = [0, 0, 0]
  for (const hours of [nine2five(zone), sampleHours(zone, random.next)]) {
    const known = [year - 2 * 24 * hourMs, 452] as const
    const walls = { minutes: openMinutes(hours, ...known), business_days: openDays(hours, ...known) }
    for (let count = 0; count < 20; count++) {
      const goalUnit = count % 4 === 3 ? 'business_days' : 'minutes'
      const goal = () =>
        goalUnit === 'minutes'
          ? 30 + Math.floor(random.next() ** 2 * 1_000)
          : 1 + Math.floor(random.next() * 2)
      const byWhat = metric === 'approval' ? ['all'] : ['critical', 'high', 'medium', 'low']
      const policy = samplePolicy(iso(year), {
        ...{ entityType: metric === 'approval' ? 'change' : 'incident', metric, goalUnit },
        goalsBy: metric === 'approval' ? 'all' : 'severity',
        goals: Object.fromEntries(byWhat.map((key) => [key, goal()])),
        calendarId: 'cal_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
        pauseReasons: metric === 'approval' ? [] : ['awaiting_vendor'],
        pauseStatuses: metric === 'next_response' && random.next() < 0.3 ? ['in_progress'] : [],
        warnings: random.next() < 0.5 ? [50, 75, 90] : [33],
      })
      const openedAt = year + 1_000 * Math.floor(random.next() * 365 * 24 * 3_600)
      const seen =
        metric === 'approval' ? decisions(random, openedAt) : conversation(random, openedAt, policy)
      const until = Date.parse(seen.at(-1)?.at ?? '') + Math.floor(random.next() * 3 * 24 * 3_600) * 1_000
      const expected = oracle(seen, policy, walls[goalUnit], until)
      const simulated = simulate(seen, policy, hours, until, random)
      if (expected === null || simulated === null) {
        expect(simulated).toEqual(expected)
        continue
      }
      const { explained, gaps, replay, ...found } = simulated
      expect(found).toEqual(expected)
      expect([explained, gaps]).toEqual([expected.elapsed, []])
      expect(replay?.found).toEqual(replay?.expected)
      lives++
      const breached = expected.reported.filter(({ percent }) => percent === 100).length
      breaches += breached
      if (goalUnit === 'business_days') breachesByDay += breached
      for (const end of expected.ends) counts[end] = (counts[end] ?? 0) + 1
    }
  }
  const spans = Object.values(counts).reduce((sum, count) => sum + count, 0)
  expect(spans).toBeGreaterThan(lives * 1.3)
  expect(Math.min(breachesByDay, breaches - breachesByDay)).toBeGreaterThan(0)
  for (const end of ['met', 'missed', 'canceled']) expect([end, (counts[end] ?? 0) > 0]).toEqual([end, true])
})
