import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { AuditCheckpoint, AuditVerification, natsNames, newId, type PlatformEvent } from '@opsplane/contracts'
import { consumeEvents } from '@opsplane/eventstore'
import { generateServiceKeys } from '@opsplane/http'
import { connectNats, ensureStreams } from '@opsplane/nats'
import { connect, createDueWork, type Database } from '@opsplane/postgres'
import { createLogger, cursorCodec } from '@opsplane/runtime'
import {
  createDatabase,
  type TestDatabase,
  testLogin,
  testNatsUrl,
  uniquePrefix,
  waitFor,
} from '@opsplane/testing'
import { settings } from '../service.js'
import { appendToChains } from './append.js'
import { foreignEvent, publish } from './audit.fixture.js'
import { createCheckpointSigner } from './checkpoint.js'
import { checkpointWork } from './checkpoints.js'
import { createVerify } from './verify.js'

const at = '2026-03-01T10:00:00.000Z'
const signer = createCheckpointSigner(generateServiceKeys().privateKey)
/** Without the service, which would create checkpoints by itself. */
let server: TestDatabase
let replicas: [Database, Database]
beforeAll(async () => {
  server = await createDatabase()
  await settings.provision({ adminUrl: server.url, ...testLogin })
  const open = () => connect(server.url, { schema: 'settings', max: 4 })
  replicas = [open(), open()]
})
afterAll(async () => {
  for (const replica of replicas ?? []) await replica.close()
  await server?.drop()
})

const eventsOf = (workspaces: string[], count: number): PlatformEvent[] =>
  Array.from({ length: count }, (_, index) => foreignEvent(workspaces[index % workspaces.length] ?? ''))
const append = (events: PlatformEvent[], replica = replicas[0]) => appendToChains(replica.sql, events, at)
const verifier = (monotonicMs = () => 0) =>
  createVerify({
    ...{ db: replicas[0].db, signer, monotonicMs, budgetMs: 1_000, semaphore: (work) => work() },
    cursors: cursorCodec('a secret for the cursors of tests'),
  })
const seqs = async (workspaceId: string) => {
  const rows = await replicas[0].sql<{ seq: string }[]>`
    select seq from audit_log where workspace_id = ${workspaceId} order by seq`
  return rows.map(({ seq }) => Number(seq))
}
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe('two concurrent replicas', () => {
  it('keep one chain per workspace without gaps, in any order of events', async () => {
    const workspaces = Array.from({ length: 4 }, () => newId('workspace'))
    const events = eventsOf(workspaces, 400)
    const batches = Array.from({ length: 40 }, (_, index) => events.slice(index * 10, index * 10 + 10))
    // Each batch is appended by both replicas, in opposite orders, as after a lost acknowledgement.
    const twice = batches.flatMap((batch) => [
      append(batch, replicas[0]),
      append([...batch].reverse(), replicas[1]),
    ])
    await Promise.all(twice)
    for (const workspaceId of workspaces) {
      expect(await seqs(workspaceId)).toEqual(upTo(100))
      expect(await verifier()(workspaceId, {})).toMatchObject({ valid: true, checked: 100 })
    }
  })

  it('keep one chain per workspace without gaps as consumers of one durable', async () => {
    const log = createLogger({ service: 'test', level: 'silent' })
    const prefix = uniquePrefix()
    const names = natsNames(prefix)
    const links = [1, 2].map((each) => connectNats({ url: testNatsUrl(), name: `replica-${each}`, log }))
    for (const link of links.slice(0, 1)) await ensureStreams(link, names)
    const consumers = links.map((link, index) =>
      consumeEvents({
        ...{ database: replicas[index] ?? replicas[0], link, names, log, durable: 'test-audit-log' },
        ...{ maxBatch: 10, history: { of: 'gap', logs: [] } },
        perform: (events) => appendToChains((replicas[index] ?? replicas[0]).sql, events, at),
      }),
    )
    const workspaces = Array.from({ length: 3 }, () => newId('workspace'))
    const events = eventsOf(workspaces, 300)
    await publish(prefix, [...events, ...events.slice(0, 50)])
    const handled = () => consumers.map((consumer) => consumer.counters().handled)
    await waitFor(() => handled().reduce((sum, each) => sum + each) === 350)
    for (const workspaceId of workspaces) {
      expect(await seqs(workspaceId)).toEqual(upTo(100))
      expect(await verifier()(workspaceId, {})).toMatchObject({ valid: true, checked: 100 })
    }
    for (const consumer of consumers) await consumer.close()
    for (const link of links) await link.close()
  })
})

describe('a long chain', () => {
  const workspaceId = newId('workspace')
  beforeAll(() => append(eventsOf([workspaceId], 1_200)))

  it('is verified in parts within a time limit, each starting where the previous one ended', async () => {
    let nowMs = 0
    const verify = verifier(() => (nowMs += 1_200))
    const ends: (number | null)[] = []
    let after: string | undefined
    let firstCursor = ''
    do {
      const part = await verify(workspaceId, { ...(after !== undefined && { after }) })
      expect(part).toMatchObject({ valid: true, firstSeq: (ends.at(-1) ?? 0) + 1 })
      ends.push(part.lastSeq)
      after = part.nextCursor ?? undefined
      firstCursor ||= part.nextCursor ?? ''
    } while (after !== undefined)
    expect(ends.length).toBeGreaterThan(2)
    expect(ends.at(-1)).toBe(1_200)
    const stolen = verify(newId('workspace'), { after: firstCursor })
    await expect(stolen).rejects.toMatchObject({ code: 'invalid_cursor' })
  })

  it('is not verified further after the client disconnects', async () => {
    const outcome = await verifier()(workspaceId, {}, undefined, AbortSignal.abort())
    expect(outcome).toMatchObject({ valid: true, complete: false })
    expect(outcome.lastSeq).toBeLessThan(1_200)
  })

  it('gets a checkpoint immediately, after it has grown, and after a period', async () => {
    let now = at
    const log = createLogger({ service: 'test', level: 'silent' })
    const group = createDueWork({ sql: replicas[0].sql, log, simulated: { now: () => now } })
    const work = group.start(checkpointWork(signer))
    const own = async () => {
      const rows = await replicas[0].db.execute(
        `select workspace_id as "workspaceId", seq::int, hash, at, signature, key_id as "keyId"
         from audit_checkpoints where workspace_id = '${workspaceId}' order by seq`,
      )
      return rows.map((row) => AuditCheckpoint.parse(row))
    }
    const signed = (seq: number) => waitFor(async () => (await own()).at(-1)?.seq === seq)
    await signed(1_200)
    await append(eventsOf([workspaceId], 999))
    const [head] = await replicas[0].sql`
      select checkpoint_at > ${at} as waits from audit_heads where workspace_id = ${workspaceId}`
    expect(head).toEqual({ waits: true })
    await append(eventsOf([workspaceId], 1))
    work.wake()
    await signed(2_200)
    await append(eventsOf([workspaceId], 1))
    now = '2026-03-01T11:00:00.000Z'
    await signed(2_201)
    await group.close()
    const taken = await own()
    expect(taken.map(({ seq }) => seq)).toEqual([1_200, 2_200, 2_201])
    expect(taken.map((each) => signer.check(each))).toEqual(['valid', 'valid', 'valid'])
    const verified = AuditVerification.parse(await verifier()(workspaceId, {}))
    expect(verified).toMatchObject({ valid: true, checkpointsChecked: 3, checkpoint: taken[2] })
  })
})

it('a chain whose end cannot be signed does not block other chains', async () => {
  const workspaces = Array.from({ length: 12 }, () => newId('workspace'))
  await append(eventsOf(workspaces, 24))
  const [poison] = workspaces
  const { sql } = replicas[0]
  await sql`update audit_heads set hash = 'none' where workspace_id = ${poison ?? ''}`
  const refusing = {
    ...signer,
    sign(content: Parameters<typeof signer.sign>[0]) {
      if (content.hash === 'none') throw new Error('this is no hash')
      return signer.sign(content)
    },
  }
  const log = createLogger({ service: 'test', level: 'silent' })
  const group = createDueWork({ sql, log })
  group.start(checkpointWork(refusing))
  const ends = () => sql<{ workspace_id: string; last_error: string | null; failures: number }[]>`
    select workspace_id, last_error, failures from audit_heads
    where workspace_id = any(${workspaces}) and checkpoint_at is not null`
  const [left] = await waitFor(async () => {
    const rows = await ends()
    return rows.length === 1 && rows
  })
  expect(left).toMatchObject({ workspace_id: poison, last_error: 'this is no hash' })
  await group.close()
})
