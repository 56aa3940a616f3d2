import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { eventExample, eventHeaders, natsNames, newId } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { signedHeaders, testNatsUrl, waitFor } from '@opsplane/testing'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
let link: NatsLink
beforeAll(async () => {
  fixture = await startDispatcher()
  const log = createLogger({ service: 'stranger', level: 'silent' })
  link = connectNats({ url: testNatsUrl(), name: 'stranger', log })
})
afterAll(async () => {
  await link?.close()
  await fixture?.stop()
})

it('sends no webhook for an event that its source has not signed, and stores it as a dead letter', async () => {
  await fixture.webhook('siem', { events: ['*'] })
  const connection = await link.ready()
  const names = natsNames(fixture.service.natsPrefix)
  const { workspaceId = '' } = fixture.principal
  const forge = async (change: 'unsigned' | 'body' | 'subject' | 'foreign') => {
    const event = { ...eventExample('incident.created'), id: newId('event'), workspaceId }
    const [subject, body] = [names.eventSubject(event), JSON.stringify(event)]
    const signed = { subject, body }
    if (change === 'body') signed.body = body.replace('incident', 'accident')
    if (change === 'subject') signed.subject = names.eventSubject({ ...event, workspaceId: 'ws_other' })
    const by = change === 'foreign' ? 'apps' : 'itsm'
    const headers = signedHeaders(signed, { by, messageId: event.id })
    if (change === 'unsigned') headers.delete(eventHeaders.signature)
    await connection.request(subject, body, { headers, timeout: 60_000 })
    return event.id
  }
  const forged = [
    await forge('unsigned'),
    await forge('body'),
    await forge('subject'),
    await forge('foreign'),
  ]
  const genuine = await fixture.publish({ type: 'incident.resolved' })
  const sent = await waitFor(() => {
    const ids = fixture
      .requestsTo('siem')
      .map(({ rawBody }) => (JSON.parse(String(rawBody)) as { id: string }).id)
    return ids.includes(genuine.id) && ids
  })
  for (const id of forged) expect(sent).not.toContain(id)
  const letters = await waitFor(async () => {
    const rows = await fixture.service.sql<{ messageId: string; error: string }[]>`
      select message_id as "messageId", error from dead_letters order by message_id`
    return rows.length === forged.length && rows
  })
  expect(letters.map(({ messageId }) => messageId)).toEqual(forged.toSorted())
  const errorOf = new Map(letters.map(({ messageId, error }) => [messageId, error]))
  expect(forged.map((id) => errorOf.get(id))).toEqual([
    'SignatureError: the message is not authentic: it is not signed',
    'SignatureError: the message is not authentic: the signature is wrong',
    'SignatureError: the message is not authentic: the signature is wrong',
    'SignatureError: the message is not authentic: apps has signed it, and incident.created is for itsm to say',
  ])

  // Redriving by an operator must not make a forged event valid either.
  await fixture.service.sql`update dead_letters set redriven_at = now()`
  connection.publish(names.wakeSubject('dispatcher-delivery-fanout', 'redrive'))
  await waitFor(async () => {
    const [row] = await fixture.service.sql<{ left: number }[]>`
      select count(*)::int as left from dead_letters where redriven_at is not null`
    return row?.left === 0
  })
  expect(await fixture.service.sql`select from dead_letters where deliveries = 2`).toHaveLength(forged.length)
  expect(
    fixture
      .requestsTo('siem')
      .map(({ rawBody }) => String(rawBody))
      .join(),
  ).not.toContain(forged[0])
})

it('records no position of an unsigned event, and also verifies events without a subscribed webhook', async () => {
  const connection = await link.ready()
  const names = natsNames(fixture.service.natsPrefix)
  const publish = async (position: number, isSigned: boolean) => {
    const event = { ...eventExample('incident.created'), id: newId('event'), workspaceId: 'ws_without' }
    const signed = { subject: names.eventSubject(event), body: JSON.stringify(event) }
    const headers = signedHeaders(signed, { messageId: event.id, position })
    if (!isSigned) headers.delete(eventHeaders.signature)
    await connection.request(signed.subject, signed.body, { headers, timeout: 60_000 })
    return event.id
  }
  const forged = await publish(900_001, false)
  await publish(900_002, true)
  const marked = await waitFor(async () => {
    const [row] = await fixture.service.sql<{ positions: number[] }[]>`
      select array_agg(p::int) as positions from fan_out_marks cross join unnest(positions) as p where p > 900000`
    return row?.positions?.includes(900_002) && row.positions
  })
  expect(marked).toEqual([900_002])
  await waitFor(async () => {
    const letters = await fixture.service.sql`select from dead_letters where message_id = ${forged}`
    return letters.length === 1
  })
})
