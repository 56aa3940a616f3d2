import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ConfigurationItem, Incident } from '@opsplane/contracts'
import {
  type ApiClient,
  searchTimes,
  seededRandom,
  startTestService,
  type TestService,
  testPrincipal,
} from '@opsplane/testing'
import { z } from 'zod'
import { itsm } from '../../service.js'

let service: TestService
let api: ApiClient
const principal = testPrincipal()
let log: LoggedEvent[]
const random = seededRandom(7)
const oneOf = <Value>(values: readonly Value[]): Value => {
  const value = values[Math.floor(random() * values.length)]
  if (value === undefined) throw new Error('There is nothing to choose from.')
  return value
}

const LoggedEvent = z.object({
  kind: z.string(),
  id: z.string(),
  version: z.number(),
  at: z.date().transform((at) => at.toISOString()),
  after: z.record(z.string(), z.unknown()).nullable(),
})
type LoggedEvent = z.infer<typeof LoggedEvent>

beforeAll(async () => {
  service = await startTestService(itsm)
  api = service.as(principal)
  const opened: string[] = []
  const items: string[] = []
  for (let round = 0; round < (searchTimes > 1 ? 160 : 30); round++) {
    if (round < 30 || random() < 0.1) opened.push(await open())
    if (round < 15 || random() < 0.1) items.push(await record())
    // Actions that the status does not allow are rejected and change nothing.
    await actOn(oneOf(opened))
    await actOnItem(oneOf(items))
  }
  const rows = await service.sql`
    select stream_type as kind, stream_id as id, version, created_at as at, data->'after' as after from events
    where stream_type in ('incidents', 'configuration_items') order by position`
  log = z.array(LoggedEvent).parse([...rows])
})
afterAll(() => service?.stop())

async function open(): Promise<string> {
  const body = {
    title: oneOf(['Checkout is slow', 'Printer jams', 'Checkout is down']),
    severity: oneOf(['critical', 'high', 'medium', 'low']),
    category: oneOf(['network', 'billing', null]),
    channel: oneOf(['phone', 'email', null]),
    callerId: oneOf([principal.userId, 'usr_bob', null]),
    ...(random() < 0.5 && { assigneeId: oneOf(['usr_ada', 'usr_bob']) }),
  }
  return (await api.post('/itsm/incidents', body)).data(Incident).id
}

async function record(): Promise<string> {
  const body = { class: oneOf(['server', 'database']), name: oneOf(['checkout-db', 'billing-db']) }
  return (await api.post('/cmdb/items', body)).data(ConfigurationItem).id
}

const actOn = (id: string) =>
  oneOf([
    () => api.patch(`/itsm/incidents/${id}`, { title: oneOf(['Checkout is well', 'Printer jams']) }),
    () => api.patch(`/itsm/incidents/${id}`, { severity: oneOf(['critical', 'low']) }),
    () =>
      api.patch(`/itsm/incidents/${id}`, {
        category: oneOf(['network', null]),
        channel: oneOf(['chat', 'email']),
      }),
    () => api.patch(`/itsm/incidents/${id}`, { assigneeId: oneOf(['usr_ada', null]) }),
    () => api.post(`/itsm/incidents/${id}/resolve`, {}),
    () => api.post(`/itsm/incidents/${id}/reopen`, {}),
    () => api.post(`/itsm/incidents/${id}/close`, {}),
  ])()

const actOnItem = (id: string) =>
  oneOf([
    () => api.patch(`/cmdb/items/${id}`, { name: oneOf(['checkout-db', 'billing-db', 'old-db']) }),
    () => api.patch(`/cmdb/items/${id}`, { criticality: oneOf(['critical', 'low']) }),
    () => api.post(`/cmdb/items/${id}/activate`, {}),
    () => api.send('DELETE', `/cmdb/items/${id}`),
  ])()

type State = Record<string, unknown>
type Matches = (state: State) => boolean

/** Replays the log up to an instant. Returns ids with versions, newest first. */
function replayed(kind: string, asOf: string, matches: Matches): string[] {
  const found = new Map<string, LoggedEvent>()
  for (const event of log) if (event.kind === kind && event.at <= asOf) found.set(event.id, event)
  return [...found.values()]
    .flatMap(({ id, version, after }) => (after && matches(after) ? [{ id, version, after }] : []))
    .toSorted((a, b) => (`${a.after.createdAt}${a.id}` < `${b.after.createdAt}${b.id}` ? 1 : -1))
    .map(({ id, version }) => `${id} ${version}`)
}

async function listed(path: string, limit: number): Promise<string[]> {
  const Item = z.looseObject({ id: z.string(), version: z.number() })
  const found: string[] = []
  for (let after = ''; ; ) {
    const { items, pagination } = (await api.get(`${path}&limit=${limit}${after}`)).page(Item)
    found.push(...items.map(({ id, version }) => `${id} ${version}`))
    if (pagination.nextCursor === null) return found
    after = `&after=${encodeURIComponent(pagination.nextCursor)}`
  }
}

const incidentQueries: [string, Matches][] = [
  ['', () => true],
  ['status=open,resolved', ({ status }) => status === 'open' || status === 'resolved'],
  ['assigneeId=none', ({ assigneeId }) => assigneeId === null],
  ['assigneeId=usr_ada&severity=low', (state) => state.assigneeId === 'usr_ada' && state.severity === 'low'],
  ['category=network', ({ category }) => category === 'network'],
  ['channel=chat,phone', ({ channel }) => channel === 'chat' || channel === 'phone'],
  [
    'callerId=me&severity=critical,low',
    ({ callerId, severity }) =>
      callerId === principal.userId && (severity === 'critical' || severity === 'low'),
  ],
  ['q=checkout', ({ title }) => String(title).startsWith('Checkout')],
  ['q=printer+or+well', ({ title }) => /Printer|well/.test(String(title))],
]
const itemQueries: [string, Matches][] = [
  ['', () => true],
  ['status=operational', ({ status }) => status === 'operational'],
  ['q=old', ({ name }) => name === 'old-db'],
  ['q=eckout', ({ name }) => name === 'checkout-db'],
  ['criticality=critical,low', ({ criticality }) => criticality !== 'medium'],
]

describe.each([
  ['/itsm/incidents', 'incidents', incidentQueries],
  ['/cmdb/items', 'configuration_items', itemQueries],
] as const)('%s as of a past instant', (path, kind, queries) => {
  it.each(queries)(
    'returns the records replayed from the log at any instant: ?%s',
    async (query, matches) => {
      const instants = Array.from({ length: 8 }, () => oneOf(log).at)
      for (const asOf of [...instants, '2020-01-01T00:00:00.000Z', '2120-01-01T00:00:00.000Z']) {
        const expected = replayed(kind, asOf, matches)
        expect(await listed(`${path}?${query}&asOf=${asOf}`, 200)).toEqual(expected)
        expect(await listed(`${path}?${query}&asOf=${asOf}`, 4)).toEqual(expected)
        const upwards = await listed(`${path}?${query}&asOf=${asOf}&sort=createdAt`, 200)
        expect(upwards).toEqual(expected.toReversed())
      }
      expect(replayed(kind, '2120-01-01T00:00:00.000Z', matches)).toEqual(
        await listed(`${path}?${query}`, 200),
      )
    },
  )

  it('rejects cursors of another instant, filter or sort order', async () => {
    const [early, late] = [log[40]?.at, log.at(-1)?.at]
    const Item = z.looseObject({ id: z.string() })
    const page = (await api.get(`${path}?limit=1&asOf=${late}`)).page(Item)
    const after = `limit=1&after=${encodeURIComponent(page.pagination.nextCursor ?? '')}`
    for (const other of ['', `asOf=${early}`, `asOf=${late}&q=db`, `asOf=${late}&sort=createdAt`]) {
      expect((await api.get(`${path}?${after}&${other}`)).error().code).toBe('invalid_cursor')
    }
    expect((await api.get(`${path}?${after}&asOf=${late}`)).status).toBe(200)
  })

  it('can be sorted only by creation time', async () => {
    const reply = await api.get(`${path}?asOf=${log[0]?.at}&sort=-updatedAt`)
    expect(reply.status).toBe(422)
    expect(reply.error().details).toEqual([expect.objectContaining({ in: 'query', path: '/sort' })])
  })
})

it.each(['priority', '-severity'])('rejects sorting by urgency as of a past instant: %s', async (sort) => {
  const reply = await api.get(`/itsm/incidents?asOf=${log[0]?.at}&sort=${sort}`)
  expect(reply.error().details).toEqual([expect.objectContaining({ in: 'query', path: '/sort' })])
})

it('lists each record as of a past instant exactly as it is read on its own', async () => {
  const asOf = log[Math.floor(log.length / 2)]?.at
  const { items } = (await api.get(`/itsm/incidents?asOf=${asOf}&limit=5`)).page(Incident)
  for (const item of items) {
    expect((await api.get(`/itsm/incidents/${item.id}?asOf=${asOf}`)).data(Incident)).toEqual(item)
  }
})
