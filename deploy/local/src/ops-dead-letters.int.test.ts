import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import { Incident, natsNames } from '@opsplane/contracts'
import { itsm } from '@opsplane/itsm'
import {
  signedHeaders,
  startTestService,
  type TestService,
  testNatsUrl,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import {
  dropAllDeadLetters,
  listAllDeadLetters,
  readDeadLetter,
  redriveDeadLetters,
} from './ops-dead-letters.js'
import { findTarget, type Target, withNats } from './ops-target.js'

let service: TestService
let target: Target
const services = ['settings', 'itsm', 'dispatcher'] as const
const consumer = 'itsm-incident-timers'
const inItsm = { services: ['itsm'], consumer } as const

beforeAll(async () => {
  service = await startTestService(itsm)
  const options = { home: 'nowhere', databaseUrl: service.adminUrl, natsUrl: testNatsUrl() }
  target = findTarget({ ...options, natsPrefix: service.natsPrefix }, {})
})
afterAll(() => service?.stop())

const list = () => listAllDeadLetters({ target, ...inItsm, limit: 10 })

test('an unreadable message is listed and shown, and stays after a failed redrive until it is dropped', async () => {
  const names = natsNames(service.natsPrefix)
  const subject = names.eventSubject({
    workspaceId: 'ws_1',
    environment: 'production',
    type: 'incident.created',
  })
  await withNats(testNatsUrl(), async (link) => {
    // The service creates the stream once it is up.
    const client = jetstream(await link.ready(), { timeout: 60_000 })
    const body = '{"odd":true}'
    const headers = signedHeaders({ subject, body })
    await waitFor(() => client.publish(subject, body, { headers }).catch(() => false))
  })
  const [letter] = await waitFor(async () => {
    const found = await list()
    return found.length === 1 && found
  })
  expect(letter).toMatchObject({ service: 'itsm', consumer, subject, deliveries: 1, redrivenAt: null })
  const id = { service: 'itsm', number: Number(letter?.id.split(':')[1]) } as const
  expect(await readDeadLetter(target, id)).toMatchObject({ payload: '{"odd":true}', source: 'itsm' })

  const [again] = await redriveDeadLetters({ target, services: ['itsm'], ids: [id], waitMs: 60_000 })
  expect(again).toMatchObject({ id: letter?.id, consumer, outcome: 'failed' })
  expect(await list()).toMatchObject([{ deliveries: 2, redrivenAt: null }])

  expect(await dropAllDeadLetters({ target, services: ['itsm'], ids: [id] })).toEqual([
    { service: 'itsm', dropped: 1 },
  ])
  expect(await list()).toEqual([])
  await expect(readDeadLetter(target, id)).rejects.toMatchObject({ reason: 'refused' })
})

test('a dead letter is redriven to its consumer while the service runs', async () => {
  const api = service.as(testPrincipal())
  const { id } = (await api.post('/itsm/incidents', { title: 'Disk full' })).data(Incident)
  const message = await withNats(testNatsUrl(), async (link) => {
    const { streams } = await jetstreamManager(await link.ready())
    const stream = natsNames(service.natsPrefix).eventsStream
    return waitFor(() =>
      streams.getMessage(stream, { last_by_subj: `${service.natsPrefix}.evt.*.*.incident.created` }),
    )
  })
  await service.sql`
    insert into dead_letters (consumer, message_id, subject, stream_sequence, payload, error, deliveries)
    values (${consumer}, 'evt_given_up', ${message.subject}, ${message.seq}, ${message.string()}, 'a bug', 10)`
  expect(message.string()).toContain(id)

  expect(await redriveDeadLetters({ target, ...inItsm, waitMs: 60_000 })).toEqual([
    { id: expect.stringMatching(/^itsm:\d+$/), consumer, outcome: 'handled', error: null },
  ])
  expect(await list()).toEqual([])
})

test('listing the dead letters of a service that is not set up is refused', async () => {
  await expect(listAllDeadLetters({ target, services, limit: 1 })).rejects.toMatchObject({
    reason: 'refused',
  })
})
