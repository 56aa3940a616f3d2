import { describe, expect, it } from '@jest/globals'
import { NewChangePolicy } from '@opsplane/contracts'
import { specify } from '@opsplane/testing'
import { now } from '../sample-changes.fixture.js'
import { type ChangePolicyCommand, changePolicy } from './policy.js'

const { given } = specify(changePolicy)
const id = 'cpl_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
const create = (fields: object): ChangePolicyCommand => ({
  kind: 'create',
  id,
  input: NewChangePolicy.parse({ name: 'Board', ...fields }),
  now,
})
const state = changePolicy.decide(create({}), null)[0]?.after ?? null
const people = (count: number) => Array.from({ length: count }, (_, index) => `usr_${index}`)

describe('a change policy', () => {
  it('requires one approval by anyone in each stage by default', () => {
    const anyone = [{ name: 'Approval', approverIds: null, waitFor: 'first' }]
    expect(state).toMatchObject({
      order: 100,
      conditions: {},
      technical: anyone,
      authorization: anyone,
      distinctApprovers: false,
      status: 'active',
    })
  })

  it.each([
    [{ conditions: { impct: 'high' } }],
    [{ technical: [{ name: 'All', waitFor: 'all' }] }],
    [{ authorization: [{ name: 'One' }, { name: 'Two', approverIds: ['a'], waitFor: { count: 2 } }] }],
    [
      {
        technical: [{ name: 'All', approverIds: people(60), waitFor: 'all' }],
        authorization: [{ name: 'All', approverIds: people(50), waitFor: 'all' }],
      },
    ],
  ])('is rejected with unknown conditions, rules that cannot be met or too many approvers: %#', (fields) => {
    given(null).when(create(fields)).fails('validation_failed')
    given(state)
      .when({ kind: 'patch', patch: NewChangePolicy.partial().parse(fields), now })
      .fails('validation_failed')
  })

  it('with distinctApprovers is rejected if the second stage needs approvers of the first', () => {
    const named = (approverIds: string[], waitFor: object | string = 'first') => [
      { name: 'Board', approverIds, waitFor },
    ]
    const refused = [
      { technical: named(['a']), authorization: named(['a']) },
      { technical: named(['a', 'b'], 'all'), authorization: named(['a', 'b'], 'all') },
      {
        technical: named(['a', 'b', 'c'], { count: 2 }),
        authorization: named(['a', 'b', 'c'], { count: 2 }),
      },
    ]
    const met = [
      { technical: named(['a', 'b']), authorization: named(['a', 'b'], 'all') },
      {
        technical: named(['a', 'b', 'c'], { count: 2 }),
        authorization: named(['a', 'b', 'd'], { percent: 50 }),
      },
      { authorization: named(['a']) },
      // A shortage that two technical rules cause only together is reported when the second one is to be approved.
      { technical: [...named(['a']), ...named(['b'])], authorization: named(['a', 'b']) },
      { technical: named(['a', 'b', 'c', 'd'], { percent: 50 }), authorization: named(['a', 'b'], 'all') },
    ]
    for (const fields of refused) {
      given(null).when(create(fields)).decisions()
      const strict = { ...fields, distinctApprovers: true }
      expect(() => changePolicy.decide(create(strict), null)).toThrow(
        expect.objectContaining({
          details: [expect.objectContaining({ path: '/authorization/0/approverIds' })],
        }),
      )
      const loose = changePolicy.decide(create(fields), null)[0]?.after ?? null
      given(loose)
        .when({ kind: 'patch', patch: { distinctApprovers: true }, now })
        .fails('validation_failed')
    }
    for (const fields of met)
      given(null)
        .when(create({ ...fields, distinctApprovers: true }))
        .decisions()
  })

  it('emits its changed fields, and nothing for a patch that changes nothing', () => {
    const later = '2026-03-02T11:00:00.000Z'
    given(state)
      .when({ kind: 'patch', patch: { status: 'inactive' }, now: later })
      .emits({ type: 'change_policy.updated', changes: { status: 'inactive', updatedAt: later } })
    given(state)
      .when({ kind: 'patch', patch: { name: 'Board' }, now: later })
      .emits()
    given(state).when({ kind: 'delete' }).emits({ type: 'change_policy.deleted', changes: null })
    given(null).when({ kind: 'delete' }).fails('not_found')
  })
})
