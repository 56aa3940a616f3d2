import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { jetstreamManager } from '@nats-io/jetstream'
import { natsNames, type TenantScope } from '@opsplane/contracts'
import { connectNats, ensureStreams, type NatsLink, streamLog } from '@opsplane/nats'
import { type EmbeddedNats, startEmbeddedNats } from '@opsplane/nats/embedded'
import { createLogger } from '@opsplane/runtime'
import { freePort } from '@opsplane/runtime/server-process'
import { uniquePrefix, waitFor } from '@opsplane/testing'
import { createTopics, type Topics } from './topics.js'
import { Waiters } from './waiters.js'

const log = createLogger({ service: 'test', level: 'silent' })
const tenant: TenantScope = { workspaceId: 'ws_1', environment: 'production' }
const alive = new AbortController().signal
const now = '2026-05-06T07:08:09.123Z'
const names = natsNames(uniquePrefix())
const event = (n: number) => ({ type: 'a', payload: { n } })

/** Two replicas on a NATS server that can be stopped. */
describe('topics of two replicas', () => {
  const storeDir = mkdtempSync(join(tmpdir(), 'topics-nats-'))
  let port: number
  let server: EmbeddedNats
  const replicas: { link: NatsLink; waiters: Waiters; topics: Topics }[] = []
  const replica = (index: number) => {
    const found = replicas[index]
    if (!found) throw new Error('there are two replicas')
    return found
  }

  beforeAll(async () => {
    port = await freePort()
    server = await startEmbeddedNats({ storeDir, port })
    for (const name of ['one', 'two']) {
      const link = connectNats({ url: server.url, name, log })
      await ensureStreams(link, names)
      const waiters = new Waiters()
      replicas.push({
        link,
        waiters,
        topics: createTopics({ link, names, waiters, log, budgets: { spend: () => undefined } }),
      })
    }
  })
  afterAll(async () => {
    for (const { link, topics } of replicas) {
      await topics.close()
      await link.close()
    }
    await server.stop()
    rmSync(storeDir, { recursive: true })
  })

  const publish = (index: number, name: string, n: number) =>
    replica(index).topics.publish(tenant, name, event(n), { now, depth: 0 })
  const poll = (index: number, name: string, after?: string, signal = alive) =>
    replica(index).topics.read(tenant, name, { after, limit: 50, timeoutMs: 120_000, signal })

  it('wake a waiting poll on either replica', async () => {
    const polls = [poll(0, 'wake'), poll(1, 'wake')]
    await waitFor(() => replica(0).waiters.size === 1 && replica(1).waiters.size === 1)
    const { id } = await publish(0, 'wake', 1)
    for (const page of await Promise.all(polls)) expect(page.items).toMatchObject([{ id }])
    expect(replica(0).waiters.size + replica(1).waiters.size).toBe(0)
  })

  it('miss no event that is published while a poll begins', async () => {
    let after: string | undefined
    for (let n = 0; n < 400; n++) {
      // A different number of event loop turns each time, so that the publish coincides with every step of the poll.
      const polling = poll(1, 'race', after)
      for (let turn = 0; turn < n % 20; turn++) await new Promise(setImmediate)
      const [page, { id }] = await Promise.all([polling, publish(0, 'race', n)])
      expect(page.items).toMatchObject([{ id, payload: { n } }])
      after = id
    }
  })

  it('lose no event between polls while many are published', async () => {
    const total = 500
    const seen: unknown[] = []
    const publishing = (async () => {
      for (let n = 0; n < total; n++) await publish(n % 2, 'busy', n)
    })()
    for (let after: string | undefined; seen.length < total; ) {
      const { items } = await poll(1, 'busy', after)
      seen.push(...items.map(({ payload }) => payload.n))
      after = items.at(-1)?.id ?? after
    }
    await publishing
    expect(seen).toEqual(Array.from({ length: total }, (_, n) => n))
  })

  it('release a poll whose client has disconnected', async () => {
    const client = new AbortController()
    const polling = poll(0, 'gone', undefined, client.signal)
    await waitFor(() => replica(0).waiters.size === 1)
    client.abort()
    expect((await polling).items).toEqual([])
    expect(replica(0).waiters.size).toBe(0)
  })

  it('reject a publish without NATS, and wake waiting polls once NATS is back', async () => {
    await publish(0, 'outage', 1)
    const first = (await poll(0, 'outage')).items[0]
    const polling = poll(0, 'outage', first?.id)
    await waitFor(() => replica(0).waiters.size === 1)
    // When this poll returns, the first read of the waiting poll has finished and it waits.
    await poll(0, 'outage')
    await server.stop()
    await waitFor(() => replicas.every(({ link }) => !link.connected()))
    await expect(publish(0, 'outage', 2)).rejects.toMatchObject({ code: 'service_unavailable' })
    await expect(poll(0, 'outage')).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(replica(0).waiters.size).toBe(1)

    server = await startEmbeddedNats({ storeDir, port })
    await waitFor(() => replicas.every(({ link }) => link.connected()))
    // Published by a separate client, so that replicas can only learn of it from the stream.
    const link = connectNats({ url: server.url, name: 'other', log })
    const { createdAt, type, payload } = { createdAt: now, ...event(3) }
    await link.ready()
    await streamLog(link, names.topicsStream).append(
      names.topicSubject('ws_1', 'production', 'outage'),
      JSON.stringify({ type, payload, createdAt }),
    )
    await link.close()
    expect((await polling).items).toMatchObject([{ payload: { n: 3 } }])
    expect((await poll(1, 'outage')).items).toHaveLength(2)
  })

  it('continue with the oldest stored event after a cursor whose event has expired', async () => {
    const ids: string[] = []
    for (let n = 0; n < 4; n++) ids.push((await publish(0, 'expired', n)).id)
    const manager = await jetstreamManager(await replica(1).link.ready())
    const filter = names.topicSubject('ws_1', 'production', 'expired')
    await manager.streams.purge(names.topicsStream, { filter, keep: 2 })
    expect((await poll(0, 'expired', ids[0])).items.map(({ id }) => id)).toEqual(ids.slice(2))
    await manager.streams.purge(names.topicsStream, { filter })
    const polling = poll(0, 'expired', ids[3])
    await waitFor(() => replica(0).waiters.size === 1)
    const { id } = await publish(1, 'expired', 4)
    expect((await polling).items).toMatchObject([{ id, payload: { n: 4 } }])
  })

  it('reject a cursor of a lost stream as invalid_cursor', async () => {
    const { id } = await publish(0, 'lost', 1)
    await server.stop()
    await waitFor(() => replicas.every(({ link }) => !link.connected()))
    rmSync(join(storeDir, 'jetstream'), { recursive: true })
    server = await startEmbeddedNats({ storeDir, port })
    await waitFor(() => replicas.every(({ link }) => link.connected()))
    await ensureStreams(replica(0).link, names)
    await expect(poll(0, 'lost', id)).rejects.toMatchObject({ code: 'invalid_cursor' })
    const again = await publish(1, 'lost', 1)
    expect(again.id).not.toBe(id)
    expect((await poll(0, 'lost')).items).toMatchObject([{ id: again.id }])
    const polling = poll(0, 'lost', again.id)
    const next = await publish(1, 'lost', 2)
    expect((await polling).items).toMatchObject([{ id: next.id }])
  })

  it('recreate a deleted stream, and wake waiting polls', async () => {
    const polling = poll(0, 'deleted')
    await waitFor(() => replica(0).waiters.size === 1)
    const manager = await jetstreamManager(await replica(1).link.ready())
    await manager.streams.delete(names.topicsStream)
    // The first attempt may be rejected, because cached information on the stream is a few seconds old.
    const { id } = await waitFor(() => publish(0, 'deleted', 1))
    expect((await polling).items).toMatchObject([{ id }])
    // The other replica may report a different id while it still assumes the old stream.
    expect((await poll(1, 'deleted')).items).toMatchObject([{ payload: { n: 1 } }])
  })

  it('accept a deduplication key again once the window of the stream has passed', async () => {
    // Cached information on a recreated stream is outdated for some seconds.
    const idsOf = async (n: number) => (await poll(n, 'deleted')).items.map(({ id }) => id).join()
    await waitFor(async () => (await idsOf(0)) === (await idsOf(1)))
    const manager = await jetstreamManager(await replica(0).link.ready())
    const keyed = { ...event(1), deduplicationKey: 'once' }
    const publishKeyed = () => replica(1).topics.publish(tenant, 'window', keyed, { now, depth: 0 })
    const first = await publishKeyed()
    expect(await publishKeyed()).toEqual({ ...first, deduplicated: true })
    // Five minutes would be too long for a test: 100 ms, in nanoseconds.
    const { config } = await manager.streams.info(names.topicsStream)
    await manager.streams.update(names.topicsStream, { duplicate_window: 100_000_000 })
    const second = await waitFor(async () => {
      const published = await publishKeyed()
      return !published.deduplicated && published
    })
    expect(second.id).not.toBe(first.id)
    expect((await poll(0, 'window')).items).toHaveLength(2)
    await manager.streams.update(names.topicsStream, { duplicate_window: config.duplicate_window })
  })

  it('answer waiting polls immediately when the service stops', async () => {
    const { waiters } = replica(1)
    const polls = [poll(1, 'drain'), poll(1, 'drain')]
    await waitFor(() => waiters.size === 2)
    waiters.drain()
    expect(await Promise.all(polls)).toEqual([0, 1].map(() => ({ items: [], hasMore: false })))
    expect((await poll(1, 'drain')).items).toEqual([])
  })
})
