import { EventEmitter, once } from 'node:events'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { z } from 'zod'
import { defineList } from '../index.js'
import { gatewayToken, startTestApp, type TestApp, user } from './test-app.fixture.js'

interface Pending {
  workspaceId: string
  settle(outcome: 'done' | 'failed'): void
}

/** Requests whose handler is running. */
const pending: Pending[] = []
const requests = new EventEmitter()

async function untilRunning(count: number): Promise<void> {
  while (pending.length < count) await once(requests, 'started')
}

const routes = [
  defineList({
    operationId: 'listPages',
    path: '/pages',
    summary: 'Pages',
    tag: 'pages',
    scope: 'itsm:read',
    response: z.object({}),
    handler: ({ query, meta }) =>
      new Promise((resolve, reject) => {
        pending.push({
          workspaceId: meta.tenant.workspaceId,
          settle: (outcome) => {
            if (outcome === 'failed') reject(new Error('The read failed.'))
            else resolve({ items: [], nextCursor: null, limit: query.limit })
          },
        })
        requests.emit('started')
      }),
  }),
]

let app: TestApp
beforeAll(async () => {
  app = await startTestApp(routes)
})
afterAll(() => app.listening.close())

const settleAll = (outcome: 'done' | 'failed') => {
  for (const { settle } of pending.splice(0)) settle(outcome)
}

test.each(['done', 'failed'] as const)(
  'at most two large pages of a workspace are read concurrently (%s)',
  async (outcome) => {
    const answers = Array.from({ length: 7 }, () => app.call('GET', '/pages?limit=200'))
    let settled = 0
    while (settled < 7) {
      const expected = Math.min(2, 7 - settled)
      await untilRunning(expected)
      // All other queued requests have had the same time to start.
      await app.call('GET', '/absent')
      expect(pending).toHaveLength(expected)
      settled += expected
      settleAll(outcome)
    }
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(new Set(statuses)).toEqual(new Set([outcome === 'done' ? 200 : 500]))
  },
)

test('large pages delay neither small pages nor another workspace', async () => {
  const token = await gatewayToken({ ...user, workspaceId: 'ws_2' })
  const large = Array.from({ length: 4 }, () => app.call('GET', '/pages?limit=51'))
  await untilRunning(2)
  const others = [
    ...Array.from({ length: 3 }, () => app.call('GET', '/pages?limit=50')),
    app.call('GET', '/pages?limit=200', { token }),
  ]
  await untilRunning(6)
  expect(pending.filter(({ workspaceId }) => workspaceId === 'ws_2')).toHaveLength(1)
  settleAll('done')
  await untilRunning(2)
  settleAll('done')
  for (const { status } of await Promise.all([...large, ...others])) expect(status).toBe(200)
})
