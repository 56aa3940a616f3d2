import { afterEach, expect, test } from '@jest/globals'
import { z } from 'zod'
import { defineList, defineRoute, type Route } from '../index.js'
import { startTestApp, type TestApp } from './test-app.fixture.js'

const Thing = z.object({ id: z.string(), size: z.number().max(10) })
const big: z.infer<typeof Thing> = { id: '1', size: 11 }
const leaky: z.infer<typeof Thing> = Object.assign({ id: '1', size: 1 }, { passwordHash: 'x' })

const single = (data: z.infer<typeof Thing>) =>
  defineRoute({
    operationId: 'getThing',
    method: 'get',
    path: '/thing',
    summary: 'x',
    tag: 't',
    scope: 'itsm:read',
    response: Thing,
    handler: async () => data,
  })
const list = (item: z.infer<typeof Thing>) =>
  defineList({
    operationId: 'listThings',
    path: '/thing',
    summary: 'x',
    tag: 't',
    scope: 'itsm:read',
    response: Thing,
    handler: async () => ({ items: [item], nextCursor: null, limit: 50 }),
  })

let app: TestApp | undefined
afterEach(() => app?.close())

async function statusOf(route: Route, checkResponses?: boolean): Promise<number> {
  app = await startTestApp([route], checkResponses === undefined ? {} : { checkResponses })
  return (await app.call('GET', '/thing')).status
}

test.each([
  ['breaks its schema', single(big)],
  ['has a field its schema does not declare', single(leaky)],
  ['has an item that breaks its schema', list(big)],
  ['has an item with an undeclared field', list(leaky)],
])('a response that %s is an internal error in tests', async (_what, route) => {
  expect(await statusOf(route)).toBe(500)
  expect(app?.logged()).toContainEqual(
    expect.objectContaining({ err: expect.objectContaining({ message: expect.stringContaining('Thing') }) }),
  )
})

test('responses are not checked in production', async () => {
  expect(await statusOf(single(big), false)).toBe(200)
})
