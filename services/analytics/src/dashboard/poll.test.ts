import { expect, it } from '@jest/globals'
import type { QueryAnswer } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { waitFor } from '@opsplane/testing'
import { createFactVersions } from '../fact/fact-versions.js'
import type { QueryCaller, QueryRunner } from '../query/types.js'
import { builtInDashboards } from './built-in.js'
import { createChangeWaiter } from './change-waiter.js'
import { createDashboardData } from './data.js'
import { pollData } from './poll.js'

const tenant = { workspaceId: 'ws_1', environment: 'production' } as const
const answer = { columns: [], rows: [] } as unknown as QueryAnswer
const deskOf = () => {
  const [desk] = builtInDashboards
  if (!desk) throw new Error('there is no dashboard')
  return desk
}

/** Everything between the route and the database, with counters for each kind of call. */
function platform() {
  const asked = { versions: 0, queries: 0, looks: 0 }
  let version = 1
  let wake = () => {}
  const sql = {
    unsafe: async () => {
      asked.versions++
      return [{ dataset: 'incidents', version: String(version) }]
    },
  } as unknown as Database['sql']
  const runner = {
    runQuery: async () => {
      asked.queries++
      return answer
    },
  } as unknown as QueryRunner
  const data = createDashboardData({
    versions: createFactVersions({ sql }),
    dashboards: { reports: {} } as never,
    runner,
    age: { asOf: async () => new Date(0).toISOString() },
  })
  const waiter = createChangeWaiter({
    listen(_, woken) {
      asked.looks++
      wake = woken
      return () => {}
    },
  })
  const change = () => {
    version++
    wake()
  }
  return { asked, data, waiter, change }
}

const caller = (permissions: string[]) => ({ tenant, permissions }) as unknown as QueryCaller

it('evaluates a dashboard once for all waiting requests with the same rights', async () => {
  const { asked, data, waiter, change } = platform()
  const dashboard = deskOf()
  const since = await data.version(tenant, dashboard)
  const signal = new AbortController().signal
  const polls = Array.from({ length: 1_000 }, (_, index) =>
    pollData(
      { data, waiter },
      {
        caller: caller(index % 2 === 0 ? ['itsm:read', 'analytics:read'] : ['analytics:read', 'itsm:read']),
        ...{ dashboard, since, timeoutMs: 60_000, signal },
      },
    ),
  )
  const agent = pollData(
    { data, waiter },
    { caller: caller(['analytics:read']), dashboard, since, timeoutMs: 60_000, signal },
  )
  await waitFor(() => asked.looks > 0 && asked.versions > 1)
  expect(asked.queries).toBe(0)
  change()
  const answers = await Promise.all(polls)
  await agent
  expect(new Set(answers.map(({ since: newer }) => newer))).not.toContain(since)
  expect(asked.queries).toBe(2 * dashboard.widgets.length)
  // Versions are read at the start, when the requests begin to wait, when they check and when they read: not once for
  // each request.
  expect(asked.versions).toBeLessThanOrEqual(6)
  waiter.drain()
})
