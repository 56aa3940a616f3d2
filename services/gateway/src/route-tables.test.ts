import { afterEach, describe, expect, test } from '@jest/globals'
import { type RouteTable, RouteTable as RouteTableSchema } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import { createLogger } from '@opsplane/runtime'
import { waitFor } from '@opsplane/testing'
import {
  asAda,
  call,
  itsmRoutes,
  startPlatform,
  startUpstream,
  type TestPlatform,
} from './fixture/platform.js'
import { createServiceRoutes, type ServiceRoutes } from './route-tables.js'

let platform: TestPlatform | undefined
afterEach(async () => {
  await platform?.stop()
  platform = undefined
})

const logIn = ({ url }: TestPlatform) => call(`${url}/api/v1/auth/token`, { method: 'POST', body: '{}' })
const incidents = ({ url }: TestPlatform, init: RequestInit = { headers: asAda }) =>
  call(`${url}/api/v1/itsm/incidents`, init)

describe('a service with unknown routes', () => {
  test('receives no request, and receives the next one as soon as it has answered', async () => {
    const reserved = await startUpstream()
    await reserved.close()
    platform = await startPlatform({}, { itsm: reserved.url })
    const refused = await incidents(platform)
    expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await incidents(platform, {})).status).toBe(503)
    expect((await logIn(platform)).status).toBe(200)

    const itsm = await startUpstream(undefined, reserved.port, itsmRoutes)
    platform.pass(100)
    expect((await incidents(platform)).status).toBe(200)
    expect(itsm.requests).toHaveLength(1)
    await itsm.close()
  })
})

test('the routes of a service that restarts with another version are fetched again', async () => {
  const started = await startPlatform()
  platform = started
  const path = '/itsm/incidents'
  expect((await incidents(started, {})).status).toBe(401)
  await started.itsm.close()
  started.pass(5_000)
  const itsm = await startUpstream(undefined, started.itsm.port, [
    {
      operationId: 'listIncidents',
      method: 'get',
      path,
      access: 'public',
      bodyLimitBytes: 1024,
      waits: false,
      permission: null,
    },
  ])
  // Only a forwarded request opens a connection.
  expect((await incidents(started)).status).toBe(200)
  await waitFor(async () => (await incidents(started, {})).status === 200)
  await itsm.close()
})

test('the routes of another version are fetched when connections to the service are new', async () => {
  const { routes, answers, asked } = stubbed([table('public'), table('workspace')], { renewAfterMs: 0 })
  await routes.ask()
  expect(accessOf(routes)).toBe('public')
  routes.renewed()
  await waitFor(() => accessOf(routes) === 'workspace')
  expect([asked(), answers]).toEqual([2, []])
  routes.close()
})

test('a route table is kept if its service does not answer, or answers without a valid table', async () => {
  const { routes, answers } = stubbed([table('account'), new Error('away'), { routes: [{ path: '/x' }] }], {
    renewAfterMs: 0,
  })
  await routes.ask()
  for (const left of [1, 0]) {
    routes.renewed()
    await waitFor(() => answers.length === left)
    expect(accessOf(routes)).toBe('account')
  }
  routes.close()
})

test('concurrent requests for a service fetch its routes once, and not again right after a failure', async () => {
  let nowMs = 0
  const { routes, asked } = stubbed([new Error('away'), table('public')], { monotonicMs: () => nowMs })
  await Promise.all([routes.ask(), routes.ask()])
  await routes.ask()
  expect([asked(), routes.table()]).toEqual([1, undefined])
  nowMs += 100
  await routes.ask()
  expect([asked(), accessOf(routes)]).toEqual([2, 'public'])
  routes.close()
})

const table = (access: RouteTable['routes'][number]['access']): RouteTable => ({
  routes: [
    {
      ...{ operationId: 'logIn', method: 'post', path: '/auth/token', permission: null },
      ...{ access, bodyLimitBytes: 1, waits: false },
    },
  ],
})
const accessOf = (routes: ServiceRoutes) => routes.table()?.lookup('POST', '/auth/token')?.access

/** A service with these responses, in order. */
function stubbed(answers: unknown[], options: { renewAfterMs?: number; monotonicMs?: () => number } = {}) {
  let asked = 0
  const get = async () => {
    asked++
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return RouteTableSchema.parse(answer)
  }
  const client: Pick<ServiceClient, 'get'> = { get: get as ServiceClient['get'] }
  const log = createLogger({ service: 'test', level: 'silent' })
  const routes = createServiceRoutes({
    service: 'settings',
    client,
    log,
    monotonicMs: () => performance.now(),
    ...options,
  })
  return { routes, answers, asked: () => asked }
}
