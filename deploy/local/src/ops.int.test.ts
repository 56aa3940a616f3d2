import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { jetstreamManager } from '@nats-io/jetstream'
import { Incident, natsNames } from '@opsplane/contracts'
import { itsm } from '@opsplane/itsm'
import { startTestService, type TestService, testNatsUrl, testPrincipal, waitFor } from '@opsplane/testing'
import { findTarget, type Target, withNats } from './ops-target.js'
import { rebuildServices, reseedServices, statusOfServices } from './ops-tasks.js'

let service: TestService
let target: Target
const services = ['itsm'] as const

beforeAll(async () => {
  service = await startTestService(itsm)
  const options = { home: 'nowhere', databaseUrl: service.adminUrl, natsUrl: testNatsUrl() }
  target = findTarget({ ...options, natsPrefix: service.natsPrefix }, service.env)
  const api = service.as(testPrincipal())
  for (const title of ['Disk full', 'Mail is slow', 'No network']) {
    const { id } = (await api.post('/itsm/incidents', { title })).data(Incident)
    await api.post(`/itsm/incidents/${id}/comments`, { body: 'Looking into it' })
  }
  await waitFor(async () => (await status())?.unpublished === 0)
})
afterAll(() => service?.stop())

const status = async () => (await statusOfServices({ target, services }))[0]

const rows = async () => [
  await service.sql`select * from incidents order by id`,
  await service.sql`select * from incident_comments order by id`,
]

test('the status counts the events in the log, the unpublished ones and those handled by each consumer', async () => {
  const settled = await waitFor(async () => {
    const now = await status()
    const handled = now?.checkpoints.map((checkpoint) => checkpoint.handled)
    return String(handled) === '6,3' && now
  })
  expect(settled).toEqual({
    service: 'itsm',
    events: 6,
    lastPosition: 6,
    unpublished: 0,
    oldestUnpublishedAt: null,
    deadLetters: [],
    checkpoints: [
      // For incidents and their comments, and for incidents alone.
      { consumer: 'itsm-incident-timers', handled: 6, streamSequence: 6, updatedAt: expect.any(String) },
      {
        consumer: 'itsm-major-proposals',
        handled: 3,
        streamSequence: expect.any(Number),
        updatedAt: expect.any(String),
      },
    ],
  })
})

test('a rebuild restores a damaged read model to the same rows while the service runs', async () => {
  const before = await rows()
  expect(before).toMatchObject([{ length: 3 }, { length: 3 }])
  await service.sql`update incidents set state = '{"id":"wrong"}'`
  await service.sql`delete from incident_comments`
  const said: string[] = []
  const result = await rebuildServices({ target, services, say: (line) => said.push(line) })
  expect(result).toEqual([{ service: 'itsm', events: 6 }])
  expect(said.at(-1)).toBe('itsm: read models rebuilt from 6 events')
  expect(await rows()).toEqual(before)
})

test('a reseed publishes the events of the log to a lost stream', async () => {
  const { eventsStream } = natsNames(service.natsPrefix)
  const inStream = (use: 'delete' | 'count') =>
    withNats(testNatsUrl(), async (link) => {
      const { streams } = await jetstreamManager(await link.ready(), { timeout: 60_000 })
      if (use === 'delete') await streams.delete(eventsStream)
      else return (await streams.info(eventsStream)).state.messages
    })
  expect(await inStream('count')).toBe(6)
  // The relay would also fill it once it notices, unless another relay appears to own its lease.
  await service.sql`update leases set owner = 'another', fence = fence + 1, expires_at = 'infinity' where name = 'relay'`
  await inStream('delete')
  expect(await reseedServices({ target, services, toPosition: 2 })).toEqual([
    { service: 'itsm', published: 2 },
  ])
  expect(await inStream('count')).toBe(2)
  expect(await reseedServices({ target, services })).toEqual([{ service: 'itsm', published: 6 }])
  expect(await inStream('count')).toBe(6)
})

test.each([
  ['no platform', { home: 'nowhere' }, 'unnamed', 'npm start'],
  [
    'an unreachable one',
    { home: 'nowhere', databaseUrl: 'postgres://u:hidden@127.0.0.1:1/x' },
    'away',
    '127.0.0.1:1/x does not',
  ],
] as const)('%s is an error with advice and without the password', async (_what, options, reason, advice) => {
  const asked = (async () => rebuildServices({ target: findTarget(options, {}), services }))()
  await expect(asked).rejects.toMatchObject({ reason, message: expect.stringContaining(advice) })
  await expect(asked).rejects.toMatchObject({ message: expect.not.stringContaining('hidden') })
})
