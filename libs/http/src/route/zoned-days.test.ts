import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { MomentOrDay } from '@opsplane/contracts'
import { z } from 'zod'
import { defineList, defineRoute } from '../index.js'
import { startTestApp, type TestApp } from '../server/test-app.fixture.js'

const contract = { tag: 'things', summary: 'x', scope: 'itsm:read' } as const
const createdAfter = MomentOrDay.optional().meta({ description: 'Created later than this.' })
const Seen = z.record(z.string(), z.unknown())
const routes = [
  defineList({
    ...contract,
    operationId: 'listThings',
    path: '/things',
    query: z.object({ createdAfter, name: z.string().optional() }),
    response: Seen,
    handler: async ({ query: { limit, after: _, sort: __, ...query } }) => ({
      ...{ items: [query], nextCursor: null, limit },
    }),
  }),
  defineRoute({
    ...contract,
    operationId: 'countThings',
    method: 'get',
    path: '/things/count',
    query: z.object({ createdAfter, timeZone: z.string().optional() }),
    response: Seen,
    handler: async ({ query }) => query,
  }),
]

let app: TestApp
beforeAll(async () => {
  app = await startTestApp(routes)
})
afterAll(() => app?.close())

const Data = z.object({
  data: z.union([
    z
      .array(Seen)
      .length(1)
      .transform(([item]) => item),
    Seen,
  ]),
})
const seen = async (path: string) => Data.parse((await app.call('GET', path)).json).data

test.each([
  ['createdAfter=2026-03-02T11:00:00%2B01:00', { createdAfter: '2026-03-02T10:00:00.000Z' }],
  ['createdAfter=2026-03-02', { createdAfter: '2026-03-02T00:00:00.000Z' }],
  ['createdAfter=2026-03-02&timeZone=Europe/Berlin', { createdAfter: '2026-03-01T23:00:00.000Z' }],
  ['createdAfter=2026-07-02&timeZone=Europe/Berlin', { createdAfter: '2026-07-01T22:00:00.000Z' }],
  ['name=2026-03-02&timeZone=Europe/Berlin', { name: '2026-03-02' }],
])('a list converts instants and days to UTC: %s', async (query, expected) => {
  expect(await seen(`/things?${query}`)).toEqual(expected)
})

test('a route that declares a timeZone parameter receives it', async () => {
  expect(await seen('/things/count?createdAfter=2026-03-02&timeZone=Europe/Berlin')).toEqual({
    ...{ createdAfter: '2026-03-01T23:00:00.000Z', timeZone: 'Europe/Berlin' },
  })
})

test.each(['createdAfter=2026-02-30', 'createdAfter=yesterday', 'timeZone=Mars'])(
  'rejects %s',
  async (query) => {
    const [name] = query.split('=')
    expect((await app.call('GET', `/things?${query}`)).json).toMatchObject({
      error: { code: 'validation_failed', details: [{ in: 'query', path: `/${name}` }] },
    })
  },
)
