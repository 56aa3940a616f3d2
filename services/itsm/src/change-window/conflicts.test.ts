import { describe, expect, it, test } from '@jest/globals'
import type { ChangeConflict, ChangeWindowState } from '@opsplane/contracts'
import { seededRandom } from '@opsplane/testing'
import {
  at,
  between,
  minuteMs,
  otherChange,
  sampleContext,
  samplePlan,
  sampleSituation,
  sampleWindow,
  toIsoSpan,
} from './conflicts.fixture.js'
import {
  type ConflictContext,
  detectConflicts,
  newConflicts,
  type OtherChange,
  type Plan,
} from './conflicts.js'
import { findFreeSlots } from './slots.js'

const kinds = (plan: Plan, context: ConflictContext) => detectConflicts(plan, context).map(({ kind }) => kind)
const during = { span: toIsoSpan(at('2026-06-06T18:00:00Z'), at('2026-06-06T21:00:00Z')) }
const nights = {
  recurrence: {
    timeZone: 'Europe/Berlin',
    weekdays: ['saturday' as const],
    from: '22:00',
    to: '04:00',
    validFrom: null,
    validUntil: null,
  },
}

describe('another change', () => {
  const related = new Map([['app', 'db']])
  test.each<[string, Partial<OtherChange>, ChangeConflict['kind'][]]>([
    ['of the same item', { ciIds: ['db', 'disk'] }, ['same_ci']],
    ['of an item that depends on one', { ciIds: ['app'] }, ['dependent_ci']],
    ['of the same item and of one that depends on it', { ciIds: ['db', 'app'] }, ['same_ci']],
    ['of another item', { ciIds: ['disk'] }, []],
    ['by the same person', { assigneeId: 'ada' }, ['assignee_busy']],
    [
      'of the same item by the same person',
      { ciIds: ['db'], assigneeId: 'ada' },
      ['same_ci', 'assignee_busy'],
    ],
    [
      'that begins when this one ends',
      { ciIds: ['db'], span: between('2026-06-06T22:00:00Z', '2026-06-06T23:00:00Z') },
      [],
    ],
    [
      'that ends when this one begins',
      { ciIds: ['db'], span: between('2026-06-06T19:00:00Z', '2026-06-06T20:00:00Z') },
      [],
    ],
  ])('%s', (_, fields, expected) => {
    expect(kinds(samplePlan(), sampleContext({ others: [otherChange(fields)], related }))).toEqual(expected)
  })

  it('is reported with the affected items of this change and the overlapping time', () => {
    const others = [otherChange({ ciIds: ['app'] })]
    const [found] = detectConflicts(samplePlan(), sampleContext({ others, related }))
    expect(found).toMatchObject({
      with: 'chg_other',
      ciIds: ['db'],
      from: '2026-06-06T21:00:00.000Z',
      to: '2026-06-06T22:00:00.000Z',
    })
    expect(found?.message).toContain('CHG-2')
  })

  it('without an assignee causes no assignee conflict', () => {
    const others = [otherChange({ assigneeId: null })]
    expect(kinds(samplePlan({ assigneeId: null }), sampleContext({ others }))).toEqual([])
  })
})

describe('change windows', () => {
  const elsewhen = { span: toIsoSpan(at('2026-07-01T00:00:00Z'), at('2026-07-02T00:00:00Z')) }
  test.each<[string, Partial<ChangeWindowState>[], ChangeConflict['kind'][]]>([
    ['a blackout for everything', [during], ['blackout']],
    ['a blackout of one of the items', [{ ...during, ciIds: ['db', 'disk'] }], ['blackout']],
    ['a blackout of another item', [{ ...during, ciIds: ['disk'] }], []],
    ['a blackout of its class', [{ ...during, classes: ['database'] }], ['blackout']],
    ['a blackout of another class', [{ ...during, classes: ['storage'] }], []],
    [
      'a blackout of the item, were it of this class',
      [{ ...during, ciIds: ['web'], classes: ['database'] }],
      [],
    ],
    ['a blackout at another time', [elsewhen], []],
    ['a weekly blackout', [nights], ['blackout']],
    ['maintenance that holds it', [{ ...nights, kind: 'maintenance' }], []],
    ['maintenance that holds half of it', [{ ...during, kind: 'maintenance' }], ['outside_maintenance']],
    ['maintenance at another time', [{ ...elsewhen, kind: 'maintenance' }], ['outside_maintenance']],
    ['maintenance of another item', [{ ...elsewhen, kind: 'maintenance', ciIds: ['disk'] }], []],
    [
      'maintenance that was over before',
      [{ kind: 'maintenance', span: toIsoSpan(at('2026-06-01T00:00:00Z'), at('2026-06-06T20:00:00Z')) }],
      [],
    ],
    [
      'two stretches of maintenance that touch',
      [
        { ...during, kind: 'maintenance' },
        { kind: 'maintenance', span: toIsoSpan(at('2026-06-06T21:00:00Z'), at('2026-06-06T22:00:00Z')) },
      ],
      [],
    ],
    [
      'maintenance of one item that holds it, of the other that does not',
      [
        { ...nights, kind: 'maintenance', ciIds: ['db'] },
        { ...elsewhen, kind: 'maintenance', ciIds: ['web'] },
      ],
      ['outside_maintenance'],
    ],
  ])('%s', (_, windows, expected) => {
    expect(kinds(samplePlan(), sampleContext({ windows: windows.map(sampleWindow) }))).toEqual(expected)
  })

  it('for all items apply to a change without items, but windows for certain items do not', () => {
    const windows = [
      during,
      { ...during, classes: ['server'] },
      { ...elsewhen, kind: 'maintenance' as const },
    ]
    expect(kinds(samplePlan({ ciIds: [] }), sampleContext({ windows: windows.map(sampleWindow) }))).toEqual([
      'blackout',
    ])
  })

  it('report the items outside of maintenance', () => {
    const windows = [sampleWindow({ ...elsewhen, kind: 'maintenance', classes: ['database'] })]
    expect(detectConflicts(samplePlan(), sampleContext({ windows }))).toMatchObject([
      { ciIds: ['db'], with: null },
    ])
  })

  it('are evaluated in bounded time for a plan of any length', () => {
    const span = between('2000-01-01T00:00:00Z', '9999-01-01T00:00:00Z')
    const windows = [sampleWindow(nights), sampleWindow({ ...nights, kind: 'maintenance' })]
    expect(kinds(samplePlan({ span }), sampleContext({ windows }))).toEqual([
      'blackout',
      'outside_maintenance',
    ])
  })
})

test('a conflict is new if its kind or its other change differs, but not if only its times or items do', () => {
  const [same] = detectConflicts(samplePlan(), sampleContext({ others: [otherChange({ ciIds: ['db'] })] }))
  if (!same) throw new Error('expected a conflict')
  const shifted = { ...same, to: '2026-06-06T21:30:00.000Z', ciIds: ['web'] }
  const others = [
    { ...same, with: 'chg_third' },
    { ...same, kind: 'assignee_busy' as const },
  ]
  expect(newConflicts([same], [shifted, ...others])).toEqual(others)
})

describe('random situations', () => {
  /** Checks every minute of the plan separately, without any span arithmetic. */
  function byTheMinute(
    { id, span, ciIds, assigneeId }: Plan,
    { others, windows, classes, related }: ConflictContext,
  ) {
    const found = new Set<string>()
    const item = (window: ChangeWindowState, ci: string) =>
      (window.ciIds?.includes(ci) ?? true) && (window.classes?.includes(classes.get(ci) ?? '') ?? true)
    const wide = ({ ciIds: items, classes: names }: ChangeWindowState) => items === null && names === null
    const shut = new Set<string>()
    for (let minute = span.from; minute < span.to; minute += minuteMs) {
      for (const other of others) {
        if (other.id === id || minute < other.span.from || minute >= other.span.to) continue
        const same = other.ciIds.some((ci) => ciIds.includes(ci))
        if (same) found.add(`same_ci/${other.id}`)
        else if (other.ciIds.some((ci) => related.has(ci))) found.add(`dependent_ci/${other.id}`)
        if (assigneeId !== null && other.assigneeId === assigneeId) found.add(`assignee_busy/${other.id}`)
      }
      for (const window of windows)
        if (
          window.kind === 'blackout' &&
          (wide(window) || ciIds.some((ci) => item(window, ci))) &&
          isOn(window, minute)
        )
          found.add(`blackout/${window.id}`)
      for (const ci of ciIds) {
        const current = windows.filter(
          (window) =>
            window.kind === 'maintenance' &&
            item(window, ci) &&
            (window.endsAt === null || at(window.endsAt) > span.from),
        )
        if (current.length > 0 && !current.some((window) => isOn(window, minute))) shut.add(ci)
      }
    }
    if (shut.size > 0) found.add('outside_maintenance/')
    return [...found].sort()
  }

  /** Uses the wall clock in Berlin, which is two hours ahead of UTC in June. */
  function isOn({ span, recurrence }: ChangeWindowState, minute: number): boolean {
    if (span) return minute >= at(span.from) && minute < at(span.to)
    if (!recurrence) return false
    const local = new Date(minute + 120 * minuteMs).toISOString()
    const [today, time] = [local.slice(0, 10), local.slice(11, 16)]
    const yesterday = new Date(minute + (120 - 1_440) * minuteMs).toISOString().slice(0, 10)
    const valid = (date: string) => recurrence.validUntil === null || date <= recurrence.validUntil
    if (recurrence.from < recurrence.to)
      return valid(today) && time >= recurrence.from && time < recurrence.to
    return (valid(today) && time >= recurrence.from) || (valid(yesterday) && time < recurrence.to)
  }

  it('have the conflicts that a minute-by-minute check finds', () => {
    const seen = new Map<string, number>()
    for (let seed = 1; seed <= 1_500; seed++) {
      const situation = sampleSituation(seededRandom(seed))
      const found = detectConflicts(situation.plan, situation.around).map(
        (each) => `${each.kind}/${each.with ?? ''}`,
      )
      expect([seed, found.sort()]).toEqual([seed, byTheMinute(situation.plan, situation.around)])
      for (const key of found) seen.set(key.split('/')[0] ?? '', (seen.get(key.split('/')[0] ?? '') ?? 0) + 1)
    }
    expect([...seen.keys()].sort()).toEqual([
      ...['assignee_busy', 'blackout', 'dependent_ci', 'outside_maintenance', 'same_ci'],
    ])
    for (const count of seen.values()) expect(count).toBeGreaterThan(30)
  })

  it('have exactly the first free slots offered', () => {
    const quarterMs = 15 * minuteMs
    let offered = 0
    for (let seed = 1; seed <= 200; seed++) {
      const { plan, around: context } = sampleSituation(seededRandom(seed))
      const within = between('2026-06-05T00:07:00Z', '2026-06-08T00:00:00Z')
      const durationMs = (1 + (seed % 9)) * 20 * minuteMs
      const slots = findFreeSlots({ plan, around: context, within, durationMs, count: 5 })
      const expected: typeof slots = []
      for (let from = at('2026-06-05T00:15:00Z'); from + durationMs <= within.to && expected.length < 5; ) {
        const span = { from, to: from + durationMs }
        const free = detectConflicts({ ...plan, span }, context).length === 0
        if (free) expected.push(span)
        from = free ? Math.ceil(span.to / quarterMs) * quarterMs : from + quarterMs
      }
      expect([seed, slots]).toEqual([seed, expected])
      offered += slots.length
    }
    expect(offered).toBeGreaterThan(300)
  })
})
