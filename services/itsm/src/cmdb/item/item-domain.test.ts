import { describe, expect, it } from '@jest/globals'
import {
  ApiError,
  type CiAction,
  type CiStatus,
  ConfigurationItemState,
  ciActions,
  ciStatuses,
  criticalities,
} from '@opsplane/contracts'
import { seededRandom, specify } from '@opsplane/testing'
import { allowedActions, type CiStatusAction, statusActions } from '../transitions.js'
import { configurationItem, type ItemCommand } from './item-domain.js'
import { create, createdAt, input, items, now } from './sample-items.fixture.js'

const { given } = specify(configurationItem)

/**
 * Resulting status of each action; a missing cell means the action is
 * rejected. Written out independently of the table that the code uses.
 */
const matrix: Record<CiStatus, Partial<Record<CiAction, CiStatus>>> = {
  planned: {
    edit: 'planned',
    relate: 'planned',
    activate: 'operational',
    retire: 'retired',
    delete: 'planned',
  },
  operational: {
    edit: 'operational',
    relate: 'operational',
    fail: 'non_operational',
    repair: 'repair_in_progress',
    retire: 'retired',
  },
  non_operational: {
    edit: 'non_operational',
    relate: 'non_operational',
    activate: 'operational',
    repair: 'repair_in_progress',
    retire: 'retired',
  },
  repair_in_progress: {
    edit: 'repair_in_progress',
    relate: 'repair_in_progress',
    activate: 'operational',
    fail: 'non_operational',
    retire: 'retired',
  },
  retired: {},
}

const commandOf = (action: CiAction): ItemCommand | undefined => {
  if (action === 'relate') return undefined
  if (action === 'edit') return { kind: 'patch', now, patch: { name: 'checkout-2' }, schema: null }
  if (action === 'delete') return { kind: 'delete', relations: 0 }
  return { kind: action, now }
}
const eventOf = (action: CiStatusAction) => (action === 'retire' ? 'ci.retired' : 'ci.status_changed')

describe.each(ciStatuses)('a configuration item in status %s', (status) => {
  it('lists its allowed actions', () => {
    expect(allowedActions(status)).toEqual(ciActions.filter((action) => matrix[status][action]))
  })

  it.each(ciActions.filter((action) => action !== 'relate'))('handles the action %s', (action) => {
    const command = commandOf(action)
    if (command === undefined) throw new Error('There is no such command.')
    const to = matrix[status][action]
    const when = given(items[status]).when(command)
    if (to === undefined) when.fails('invalid_state_transition')
    else if (action === 'edit')
      when.emits({ type: 'ci.updated', changes: { name: 'checkout-2', updatedAt: now } })
    else if (action === 'delete') when.emits({ type: 'ci.deleted', changes: null })
    else
      when.emits({
        type: eventOf(action as CiStatusAction),
        changes: { status: to, updatedAt: now },
        extras: { reason: null },
      })
  })

  it.each(ciStatuses)('handles a patch to status %s', (to) => {
    const action = statusActions.find((name) => matrix[status][name] === to)
    const when = given(items[status]).when({ kind: 'patch', now, patch: { status: to }, schema: null })
    if (status === to) when.emits()
    else if (action === undefined) when.fails('invalid_state_transition')
    else
      when.emits({
        type: eventOf(action),
        changes: { status: to, updatedAt: now },
        extras: { reason: null },
      })
  })
})

describe('creating an item', () => {
  it('stores the given fields, with defaults for the others', () => {
    given(null)
      .when(create)
      .emits({
        type: 'ci.created',
        changes: {
          id: create.id,
          ...input,
          description: null,
          owner: null,
          supportGroup: null,
          source: null,
          nativeKey: null,
          lastSeenAt: null,
          createdBy: create.by,
          createdAt,
          updatedAt: createdAt,
        },
      })
  })

  it('validates the attributes against the schema of the class', () => {
    const schema = {
      type: 'object',
      properties: { cores: { type: 'integer', minimum: 1 } },
      required: ['cores'],
    }
    given(null)
      .when({ ...create, schema })
      .fails('validation_failed')
    given(null)
      .when({ ...create, schema, input: { ...input, attributes: { cores: 0 } } })
      .fails('validation_failed', undefined)
    const fitting = given(null).when({ ...create, schema, input: { ...input, attributes: { cores: 4 } } })
    expect(fitting.decisions()).toHaveLength(1)
  })
})

it('a patch edits fields before it changes the status', () => {
  given(items.operational)
    .when({ kind: 'patch', now, patch: { criticality: 'critical', status: 'retired' }, schema: null })
    .emits(
      { type: 'ci.updated', changes: { criticality: 'critical', updatedAt: now } },
      { type: 'ci.retired', changes: { status: 'retired' }, extras: { reason: null } },
    )
})

it('an item with relations cannot be deleted', () => {
  given(items.planned).when({ kind: 'delete', relations: 1 }).fails('conflict')
})

it('an item stays within the declared statuses under random actions', () => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 300; seed++) {
    const next = seededRandom(seed)
    const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)] as T
    let state: ConfigurationItemState | null = items.planned
    for (let step = 0; step < 30 && state !== null; step++) {
      const before: ConfigurationItemState = state
      const patch = {
        ...(next() < 0.5 && { status: pick(ciStatuses) }),
        ...(next() < 0.3 && { criticality: pick(criticalities) }),
        ...(next() < 0.3 && { owner: pick([null, 'usr_a', 'usr_b']) }),
      }
      const commands: ItemCommand[] = [
        { kind: 'patch', now, patch, schema: null },
        { kind: pick(statusActions), now },
      ]
      if (next() < 0.05) commands.push({ kind: 'delete', relations: pick([0, 1]) })
      try {
        for (const { after } of configurationItem.decide(pick(commands), before)) {
          if (after === null) expect(before.status).toBe('planned')
          else {
            expect(ConfigurationItemState.safeParse(after).error).toBeUndefined()
            expect([after.id, after.createdAt]).toEqual([before.id, before.createdAt])
            expect(before.status).not.toBe('retired')
            seen.add(after.status)
          }
          state = after
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(['invalid_state_transition', 'conflict']).toContain(error.code)
      }
    }
  }
  expect([...seen].sort()).toEqual([...ciStatuses].sort())
})
