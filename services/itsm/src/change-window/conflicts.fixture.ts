import { type ChangeWindowState, weekdays } from '@opsplane/contracts'
import type { ConflictContext, OtherChange, Plan } from './conflicts.js'
import { computeBounds } from './occurrences.js'

export const minuteMs = 60_000
export const at = (text: string) => Date.parse(text)
export const between = (from: string, to: string) => ({ from: at(from), to: at(to) })

const createdAt = '2026-03-02T09:00:00.000Z'

/** A blackout for all items, unless overridden. */
export function sampleWindow(fields: Partial<ChangeWindowState>): ChangeWindowState {
  const window: ChangeWindowState = {
    ...{
      id: 'win_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
      name: 'Freeze',
      kind: 'blackout',
      status: 'active',
      reason: null,
    },
    ...{ ciIds: null, classes: null, span: null, recurrence: null, startsAt: null, endsAt: null },
    ...{ createdBy: { id: 'usr_1', name: 'Ada', type: 'user' }, createdAt, updatedAt: createdAt },
    ...fields,
  }
  return { ...window, ...computeBounds(window) }
}

export const toIsoSpan = (from: number, to: number) => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
})

export const samplePlan = (fields: Partial<Plan> = {}): Plan => ({
  id: 'chg_self',
  span: between('2026-06-06T20:00:00Z', '2026-06-06T22:00:00Z'),
  ciIds: ['web', 'db'],
  assigneeId: 'ada',
  ...fields,
})

export const otherChange = (fields: Partial<OtherChange> = {}): OtherChange => ({
  id: 'chg_other',
  number: 'CHG-2',
  span: between('2026-06-06T21:00:00Z', '2026-06-06T23:00:00Z'),
  ciIds: [],
  assigneeId: null,
  ...fields,
})

export const sampleContext = (fields: Partial<ConflictContext> = {}): ConflictContext => ({
  others: [],
  windows: [],
  classes: new Map([
    ['web', 'server'],
    ['db', 'database'],
  ]),
  related: new Map(),
  ...fields,
})

/**
 * A random plan and its context within three days of June. There are few items, persons and windows, so they
 * collide.
 */
export function sampleSituation(random: () => number): { plan: Plan; around: ConflictContext } {
  const start = at('2026-06-05T00:00:00Z')
  const chance = (probability: number) => random() < probability
  const some = <Value>(values: readonly Value[]) => values.filter(() => chance(0.4))
  const span = (longest: number) => {
    const from = start + Math.floor(random() * 4_320) * minuteMs
    return { from, to: from + (1 + Math.floor(random() * longest)) * minuteMs }
  }
  const time = () => `${String(Math.floor(random() * 24)).padStart(2, '0')}:${chance(0.5) ? '00' : '30'}`
  const items = ['web', 'db', 'cache', 'queue']
  const plan = samplePlan({ span: span(600), ciIds: some(items), assigneeId: chance(0.7) ? 'ada' : null })
  const window = (_: unknown, index: number) => {
    const ciIds = some(items)
    const once = span(chance(0.5) ? 300 : 2_000)
    const recurrence = {
      ...{ timeZone: 'Europe/Berlin', weekdays: [...weekdays], from: time(), to: time() },
      ...{ validFrom: null, validUntil: chance(0.3) ? '2026-06-06' : null },
    }
    return sampleWindow({
      id: `win_${index}`,
      kind: chance(0.4) ? 'blackout' : 'maintenance',
      ciIds: ciIds.length > 0 ? ciIds : null,
      classes: chance(0.3) ? ['database'] : null,
      ...(chance(0.5) ? { span: toIsoSpan(once.from, once.to) } : { recurrence }),
    })
  }
  const other = (_: unknown, index: number): OtherChange => ({
    ...{
      id: `chg_${index}`,
      number: `CHG-${index}`,
      span: span(600),
      ciIds: some([...items, 'app', 'disk']),
    },
    assigneeId: chance(0.3) ? 'ada' : 'bob',
  })
  return {
    plan,
    around: sampleContext({
      others: Array.from({ length: Math.floor(random() * 4) }, other),
      windows: Array.from({ length: Math.floor(random() * 4) }, window),
      related: new Map(chance(0.9) && plan.ciIds[0] ? [['app', plan.ciIds[0]]] : []),
    }),
  }
}
