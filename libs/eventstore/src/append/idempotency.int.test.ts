import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { IdempotencyRaceError, newId } from '@opsplane/contracts'
import {
  meta,
  openTestStore,
  openTicketArguments,
  type Replica,
  type TestStore,
} from '../fixture/test-database.js'

describe('idempotency keys', () => {
  let testStore: TestStore
  let replicas: Replica[]

  beforeAll(async () => {
    testStore = await openTestStore()
    replicas = [testStore.replica(), testStore.replica()]
  })
  afterAll(() => testStore.close())

  const replica = (index = 0): Replica => {
    const found = replicas[index % replicas.length]
    if (!found) throw new Error('no replica')
    return found
  }
  const keyed = (key: string) =>
    meta({
      idempotency: {
        key,
        fingerprint: 'fingerprint',
        respond: (data) => ({ status: 201, body: { data, z: 1, a: 2 }, headers: { etag: '"1"' } }),
      },
    })

  test('store the response in the same commit as the effect, with its body unchanged', async () => {
    const { store, tickets } = replica()
    const [id, open] = openTicketArguments()
    const created = await tickets.create(id, open, keyed('kept'))
    const found = await store.idempotency.find('kept')
    expect(found).toEqual({
      fingerprint: 'fingerprint',
      response: { status: 201, body: { data: created, z: 1, a: 2 }, headers: { etag: '"1"' } },
    })
    expect(JSON.stringify(found?.response?.body)).toBe(JSON.stringify({ data: created, z: 1, a: 2 }))
  })

  test('store the response that was sent instead, only for the request with the same fingerprint', async () => {
    const { store, tickets } = replica()
    await tickets.create(...openTicketArguments(), keyed('replaced'))
    const sent = { status: 202, body: { data: 'sent' }, headers: { etag: '"2"' } }
    await store.idempotency.replace('replaced', 'another', { status: 500, body: null })
    await store.idempotency.replace('replaced', 'fingerprint', sent)
    await store.idempotency.replace('unkept', 'fingerprint', sent)
    for (const key of ['replaced', 'unkept'])
      expect(await store.idempotency.find(key)).toEqual({ fingerprint: 'fingerprint', response: sent })
  })

  test('are stored for a command that changes nothing', async () => {
    const { store, tickets } = replica()
    const [id, open] = openTicketArguments()
    await tickets.create(id, open, meta())
    await tickets.handle(id, { kind: 'touch' }, keyed('nothing'))
    expect(await store.idempotency.find('nothing')).toMatchObject({ response: { status: 201 } })
  })

  test('allow only one of 50 concurrent requests to take effect', async () => {
    const title = newId('request')
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => {
        const [id, open] = openTicketArguments(title)
        return replica(index).tickets.create(id, open, keyed('contended'))
      }),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(IdempotencyRaceError)
    const rows = await testStore.database.sql`
      select 1 from events where data->'after'->>'title' = ${title}
      union all select 1 from tickets where state->>'title' = ${title}`
    expect(rows).toHaveLength(2)
  })

  test('can be claimed before an effect, completed after it, and released without one', async () => {
    const [first, second] = [replica(0).store.idempotency, replica(1).store.idempotency]
    const claims = await Promise.all(
      [first, second, first, second].map((each) => each.claim('claimed', 'f', false)),
    )
    const [claim = ''] = claims.filter((each) => each !== undefined)
    expect(claims.filter((each) => each === undefined)).toHaveLength(3)
    expect(await second.find('claimed')).toEqual({ fingerprint: 'f', response: null })
    await first.complete('claimed', claim, { status: 202, body: { ok: true } })
    expect(await second.find('claimed')).toEqual({
      fingerprint: 'f',
      response: { status: 202, body: { ok: true } },
    })
    await second.release('claimed', claim)
    expect(await second.claim('claimed', 'f', true)).toBeUndefined()

    const held = (await first.claim('held', 'f', false)) ?? ''
    await testStore.database.sql`
      update idempotency_keys set locked_until = now() + interval '1 second' where key = 'held'`
    await first.renew('held', held)
    const longer = await testStore.database.sql`
      select from idempotency_keys where key = 'held' and locked_until > now() + interval '20 seconds'`
    expect(longer).toHaveLength(1)

    await first.release('released', (await first.claim('released', 'f', false)) ?? '')
    expect(await second.find('released')).toBeUndefined()
    expect(await second.claim('released', 'f', false)).toBeDefined()
  })

  test('can be completed or released only by the current holder of the claim', async () => {
    const { idempotency } = replica().store
    const { sql } = testStore.database
    const slow = (await idempotency.claim('taken', 'slow', false)) ?? ''
    await sql`update idempotency_keys set locked_until = now() - interval '1 second' where key = 'taken'`
    const next = (await idempotency.claim('taken', 'next', false)) ?? ''
    await idempotency.complete('taken', slow, { status: 202, body: { of: 'slow' } })
    await idempotency.release('taken', slow)
    expect(await idempotency.find('taken')).toEqual({ fingerprint: 'next', response: null })
    expect(await idempotency.claim('taken', 'another', true)).toBeUndefined()
    const again = (await idempotency.claim('taken', 'next', true)) ?? ''
    await idempotency.release('taken', next)
    await idempotency.complete('taken', again, { status: 202, body: { of: 'again' } })
    expect(await idempotency.find('taken')).toMatchObject({ response: { body: { of: 'again' } } })
  })

  test('are free again after 24 hours, or once the claim of a dead request has expired', async () => {
    const { store, tickets } = replica()
    const [first, openFirst] = openTicketArguments()
    const [second, openSecond] = openTicketArguments()
    await tickets.create(first, openFirst, keyed('old'))
    await store.idempotency.claim('died', 'f', false)
    await testStore.database.sql`
      update idempotency_keys set expires_at = now() - interval '1 second' where key = 'old'`
    await testStore.database.sql`
      update idempotency_keys set locked_until = now() - interval '1 second' where key = 'died'`
    expect(await store.idempotency.claim('died', 'f', false)).toBeDefined()
    expect(await store.idempotency.find('old')).toBeUndefined()
    await tickets.create(second, openSecond, keyed('old'))
    expect(await store.idempotency.find('old')).toMatchObject({
      response: { body: { data: { id: second } } },
    })
  })
})
