import { expect, it } from '@jest/globals'
import { ApiError, ConfigurationItemState, ciStatuses } from '@opsplane/contracts'
import { searchTimes, seededRandom } from '@opsplane/testing'
import { configurationItem, type ItemCommand } from './item/item-domain.js'
import { create, input, now } from './item/sample-items.fixture.js'
import { allowedActions, statusActions, transitions } from './transitions.js'

function generator(seed: number) {
  const next = seededRandom(seed)
  const pick = <T>(values: readonly [T, ...T[]]): T => values[Math.floor(next() * values.length)] ?? values[0]
  return { next, pick }
}

function randomCommand({ next, pick }: ReturnType<typeof generator>): ItemCommand {
  if (next() < 0.1) return { kind: 'delete', relations: pick([0, 1]) }
  if (next() < 0.6) return { kind: pick(statusActions), now }
  const patch = {
    ...(next() < 0.5 && { name: pick(['checkout-1', 'checkout-2']) }),
    ...(next() < 0.5 && { status: pick(ciStatuses) }),
  }
  return { kind: 'patch', patch, now, schema: null }
}

/** All statuses that the table can lead to from the current one. */
const reachable = (from: ConfigurationItemState) =>
  new Set([from.status, ...Object.values(transitions).flatMap((way) => way[from.status] ?? [])])

it('a configuration item stays within the declared statuses under random commands', () => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 100 * searchTimes; seed += 1) {
    const random = generator(seed)
    const begun = { ...create, input: { ...input, status: random.pick(['planned', 'operational'] as const) } }
    let state = configurationItem.decide(begun, null).at(-1)?.after ?? null
    for (let step = 0; step < 40 && state !== null; step += 1) {
      const before: ConfigurationItemState = state
      seen.add(before.status)
      try {
        const decisions = configurationItem.decide(randomCommand(random), before)
        expect(before.status === 'retired' ? decisions : []).toEqual([])
        for (const { after } of decisions) state = after
        if (state === null) {
          expect(before.status).toBe('planned')
          seen.add('deleted')
        } else {
          expect(ConfigurationItemState.safeParse(state).error).toBeUndefined()
          expect(reachable(before)).toContain(state.status)
          expect([state.id, state.createdAt]).toEqual([before.id, before.createdAt])
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(['invalid_state_transition', 'conflict']).toContain(error.code)
      }
    }
  }
  expect([...seen].sort()).toEqual([...ciStatuses, 'deleted'].sort())
})

it('a configuration item always has an allowed action until it is retired', () => {
  expect(ciStatuses.filter((status) => allowedActions(status).length === 0)).toEqual(['retired'])
})
