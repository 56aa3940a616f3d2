import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import type { DelegationRequest } from '@opsplane/contracts'
import type { z } from 'zod'
import { createDelegations } from './delegation.js'

beforeEach(() => {
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
})

/** Settings double that issues a different token on each request, or rejects it. */
function given() {
  const asked: DelegationRequest[] = []
  let refusal: Error | undefined
  const post = async <Schema extends z.ZodType>(_path: string, body: unknown, schema: Schema) => {
    asked.push(body as DelegationRequest)
    if (refusal) throw refusal
    return schema.parse({ token: `token ${asked.length}` })
  }
  return {
    ...{ asked, delegations: createDelegations({ post }) },
    refuse: (error: Error | undefined) => {
      refusal = error
    },
  }
}

test('the rights of a person are checked again after one second, however often the token is used', async () => {
  const { asked, delegations, refuse } = given()
  const acting = delegations.actingBy('grant')
  expect(await acting.serviceToken('itsm')).toBe('token 1')
  for (let tenth = 0; tenth < 9; tenth++) {
    jest.advanceTimersByTime(100)
    expect(await delegations.actingBy('grant').serviceToken('itsm')).toBe('token 1')
  }
  expect(asked).toHaveLength(1)
  refuse(new Error('no member any more'))
  jest.advanceTimersByTime(100)
  await expect(acting.serviceToken('itsm')).rejects.toThrow('no member any more')
})

test('a rejected delegation is not cached', async () => {
  const { delegations, refuse } = given()
  refuse(new Error('away'))
  const acting = delegations.actingBy('grant')
  await expect(acting.serviceToken('itsm')).rejects.toThrow('away')
  refuse(undefined)
  expect(await acting.serviceToken('itsm')).toBe('token 2')
})

test('a delegated token is reused only for the same grant, service, workflow and permissions', async () => {
  const { asked, delegations } = given()
  const workflow = { id: 'wf_1', name: 'Onboard' }
  const tokens = [
    await delegations.actingBy('grant').serviceToken('itsm'),
    await delegations.actingBy('grant').serviceToken('sdk'),
    await delegations.actingBy('another').serviceToken('itsm'),
    await delegations.actingBy('grant', { workflow }).serviceToken('itsm'),
    await delegations.actingBy('grant', { permissions: ['itsm:read'] }).serviceToken('itsm'),
    await delegations.actingBy('grant', { permissions: [] }).serviceToken('itsm'),
  ]
  expect(new Set(tokens).size).toBe(6)
  expect(asked.at(-1)).toEqual({ grant: 'grant', audience: 'itsm', permissions: [] })
})
