import { describe, expect, test } from '@jest/globals'
import { seal, unseal } from './sealed.js'

describe('sealing', () => {
  test('stores nothing when all fields are exposed', () => {
    const state = { id: 'a', name: 'x', none: undefined }
    expect(seal(state, state)).toBeNull()
    expect(seal(state, { ...state })).toBeNull()
  })

  test.each([
    ['hidden', { id: 'a', hash: 'h', list: [1] }, { id: 'a', list: [1] }],
    ['masked', { id: 'a', secret: 'plain' }, { id: 'a', secret: '***' }],
    ['derived', { id: 'a' }, { id: 'a', allowedActions: ['close'] }],
    ['partly hidden', { id: 'a', nested: { open: 1, hidden: 2 } }, { id: 'a', nested: { open: 1 } }],
  ])('restores a state with %s fields', (_, state, exposed) => {
    const sealed = seal(state, exposed)
    expect(sealed).not.toBeNull()
    expect(unseal(exposed, JSON.parse(JSON.stringify(sealed)))).toEqual(state)
  })
})
