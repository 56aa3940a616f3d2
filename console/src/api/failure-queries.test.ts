import { expect, test } from '@jest/globals'
import type { FailureGroup } from './api.js'
import { retryingExecutions } from './failure-queries.js'

const place = { workspace: 'acme', environment: 'production' } as const
const group = { id: 'art_1.timeout/2', to: 'position-1' } as FailureGroup

test('a group of failed executions is retried up to its listed position, and the job can be read and canceled', async () => {
  const calls: unknown[][] = []
  const job = { id: 'exr_1', status: 'running', total: 3, retried: 2, refused: 1 }
  const retrying = retryingExecutions(place, async (_, path, options) => {
    calls.push([options?.method ?? 'GET', path, options?.body])
    return { data: path.endsWith('/retry') ? { job } : job } as never
  })
  const shown = { id: 'exr_1', status: 'running', total: 3, done: 2, refused: 1 }
  expect(await retrying.start(group)).toEqual(shown)
  expect(await retrying.read(group, 'exr_1', new AbortController().signal)).toEqual(shown)
  await retrying.cancel(group, 'exr_1')
  const path = '/api/service-sdk/executions'
  expect(calls).toEqual([
    ['POST', `${path}/failures/art_1.timeout%2F2/retry`, { to: 'position-1' }],
    ['GET', `${path}/retries/exr_1`, undefined],
    ['POST', `${path}/retries/exr_1/cancel`, undefined],
  ])
})
