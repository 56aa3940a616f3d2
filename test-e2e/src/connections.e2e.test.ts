import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { backendNames, serviceNames } from '@opsplane/contracts'
import { connectionsByServer, mapNames, planServices } from '@opsplane/local'
import { isLongTier, pace, startReceiver, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { passkeyOrigin, passkeyTests } from './passkey-journey.js'
import { type Api, apiClient, startTestCluster } from './platform.js'
import { revocationTests } from './revocation.js'

/** Maximum connections that one replica of every service may use in total. */
const maxOfAll = 60
const reserved = 3
const rounds = isLongTier() ? 20 : 3

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let receiver: Awaited<ReturnType<typeof startReceiver>>
let api: Api
let sql: postgres.Sql

beforeAll(async () => {
  cluster = await startTestCluster({
    // One workspace may use all tenant sessions, and rate limits are off: requests are rejected for missing rights only,
    // not for their number.
    extra: {
      ...{ QUERIES_PER_WORKSPACE: '1000', RATE_LIMIT_PER_MINUTE: '0' },
      ANONYMOUS_RATE_LIMIT_PER_MINUTE: '0',
      PUBLIC_ORIGIN: passkeyOrigin,
    },
    postgresFlags: [
      'fsync=off',
      `max_connections=${maxOfAll + reserved}`,
      `superuser_reserved_connections=${reserved}`,
    ],
  })
  api = apiClient(cluster.info)
  receiver = await startReceiver({ tls: { key: cluster.certificate.key, cert: cluster.certificate.cert } })
  sql = postgres(cluster.info.postgresUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql?.end({ timeout: 5 })
  await receiver?.stop()
  await cluster?.stop()
})

/** Open connections by service; those of tenants belong to the studio. */
async function openByService(): Promise<Map<string, number>> {
  const rows = await sql<{ name: string; count: number }[]>`
    select case when application_name like 'opsplane-tenant-%' then 'database-studio'
      else substr(application_name, length('opsplane-') + 1) end as name, count(*)::int as count
    from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() group by 1`
  return new Map(rows.map(({ name, count }) => [name, count]))
}

/** Maximum number of connections that each service declares. */
function allowedByService(): Map<string, number> {
  const plan = planServices({
    secrets: cluster.secrets,
    databaseUrls: mapNames(backendNames, (name) => `postgres://${name}/x`),
    natsUrls: mapNames(serviceNames, () => cluster.info.natsUrl),
    ports: mapNames(serviceNames, () => 1),
    origin: cluster.info.origin,
    environment: {},
  })
  return connectionsByServer(plan)
}

test('under load no service exceeds its declared number of connections, and no request fails for lack of one', async () => {
  const slug = 'machines'
  const made = [
    await api('POST', '/webhooks', {
      body: { name: 'all', url: `${receiver.url}/`, events: ['incident.*'] },
    }),
    await api('POST', '/tables', { body: { slug, columns: [{ name: 'name', type: 'text' }] } }),
  ]
  expect(made.map(({ status }) => status)).toEqual([201, 201])

  const most = new Map<string, number>()
  let maxTogether = 0
  let over = false
  const counting = (async () => {
    while (!over) {
      const now = await openByService()
      for (const [name, count] of now) most.set(name, Math.max(most.get(name) ?? 0, count))
      maxTogether = Math.max(
        maxTogether,
        [...now.values()].reduce((sum, count) => sum + count, 0),
      )
      await pace(5)
    }
  })()

  const calls: (() => ReturnType<Api>)[] = [
    () => api('POST', '/itsm/incidents', { body: { title: 'Disk full' } }),
    () => api('GET', '/itsm/incidents?q=disk'),
    () => api('GET', '/audit?limit=50'),
    () => api('GET', '/webhooks'),
    () => api('GET', '/workflows'),
    () => api('GET', '/connectors'),
    () => api('GET', '/apps'),
    () => api('GET', '/sdk/packs'),
    () => api('GET', '/analytics/datasets'),
    () => api('POST', `/tables/${slug}/records`, { body: { name: 'Drill' } }),
    () => api('POST', '/queries/run', { body: { sql: `select count(*) from ${slug}` } }),
  ]
  const refused: string[] = []
  let created = 0
  const client = async (n: number) => {
    for (let round = 0; round < rounds; round++) {
      const at = (n + round) % calls.length
      const answer = await calls[at]?.()
      if (at === 0) created++
      if (answer && answer.status >= 400) refused.push(`${answer.status} ${JSON.stringify(answer.body)}`)
    }
  }
  try {
    await Promise.all(Array.from({ length: 66 }, (_, n) => client(n)))
    expect(refused).toEqual([])
    await waitFor(() => receiver.received().length >= created)
  } finally {
    over = true
    await counting
  }
  expect(maxTogether).toBeLessThanOrEqual(maxOfAll)
  const allowed = allowedByService()
  expect([...allowed.keys()].toSorted()).toEqual([...backendNames].toSorted())
  for (const [name, count] of most)
    expect([name, count]).toEqual([name, Math.min(count, allowed.get(name) ?? 0)])
})

describe('revoked credentials', () => revocationTests(() => cluster))

describe('a passkey', () => passkeyTests(() => cluster))
