import { expect, it } from '@jest/globals'
import { ApiError, type Decider } from '@opsplane/contracts'
import { specify } from './decider-spec.js'

interface Door {
  id: string
  open: boolean
}

const door: Decider<Door, 'open' | 'slam' | 'remove' | 'ignore'> = {
  resourceType: 'door',
  table: 'doors',
  expose: (state) => state,
  describe: () => ({ displayName: 'door' }),
  decide(command, state) {
    if (state === null) throw new ApiError('not_found', 'There is no door.')
    if (command === 'ignore') return []
    if (command === 'remove') return [{ type: 'door.removed', after: null }]
    if (command === 'slam') state.open = false
    return [{ type: 'door.opened', after: { ...state, open: true }, extras: { squeaked: true } }]
  },
}
const { given } = specify(door)
const closed: Door = { id: 'd1', open: false }
const opened = { type: 'door.opened', changes: { open: true }, extras: { squeaked: true } }

it('accepts exactly the decided events and errors', () => {
  given(closed).when('open').emits(opened)
  given(closed).when('remove').emits({ type: 'door.removed', changes: null })
  given(closed).when('ignore').emits()
  given(null).when('open').fails('not_found')
})

it('rejects any other expectation', () => {
  const opening = given(closed).when('open')
  expect(() => opening.emits()).toThrow()
  expect(() => opening.emits({ ...opened, type: 'door.closed' })).toThrow()
  expect(() => opening.emits({ ...opened, changes: {} })).toThrow()
  expect(() => opening.emits({ ...opened, extras: {} })).toThrow()
  expect(() => opening.emits(opened, opened)).toThrow()
  expect(() => opening.fails('conflict')).toThrow('Expected an error')
  expect(() => given(null).when('open').fails('conflict')).toThrow()
})

it('fails a decider that changes the given state', () => {
  expect(() =>
    given({ ...closed })
      .when('slam')
      .emits(opened),
  ).toThrow(TypeError)
})
