import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { tenantKey } from '@opsplane/contracts'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import { createWebhookIndex, createWebhookRows } from './webhook-index.js'

const tenant = { workspaceId: 'ws_index', environment: 'production' } as const

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
})
afterAll(() => fixture?.stop())

test('an entry that is forgotten while it is loaded counts as unchecked until it is loaded again', async () => {
  const deliveries = createWebhookRows(fixture.service.sql)
  const index = createWebhookIndex({ deliveries, now: () => 1 })
  const checkedAt = async (loading: ReturnType<typeof index.of>) =>
    (await loading).get(tenantKey(tenant))?.checkedAt
  await index.of([tenant])
  index.forget([tenant])
  const loading = index.of([tenant])
  index.forget([tenant])
  expect(await checkedAt(loading)).toBe(Number.NEGATIVE_INFINITY)
  expect(await checkedAt(index.of([tenant]))).toBe(Number.NEGATIVE_INFINITY)
  index.forget([tenant])
  expect(await checkedAt(index.of([tenant]))).toBe(1)
})
