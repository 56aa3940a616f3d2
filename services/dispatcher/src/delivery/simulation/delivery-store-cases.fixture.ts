import { expect } from '@jest/globals'
import { minId } from '@opsplane/contracts'
import type { WebhookState } from '../../webhook/domain.js'
import { deriveDeliveryId } from '../delivery-id.js'
import type { DeliveryStore } from '../delivery-store.js'
import type { NewDelivery } from '../enqueue/fan-out-statement.js'
import type { AttemptRecording } from '../record/record-results.js'
import { tenant, webhookStates } from './webhooks.fixture.js'

/** Delivery tables, and the operations that change them from outside. */
export interface Subject {
  store(owner: string): DeliveryStore
  addWebhook(state: WebhookState): Promise<void>
  setStatus(webhookId: string, status: 'active' | 'paused'): Promise<void>
  deleteWebhook(webhookId: string): Promise<void>
  /** Advances the clock of the database. */
  pass(ms: number): Promise<void>
  nowMs(): Promise<number>
  delivery(id: string): Promise<{ status: string; attempts: number; leased: boolean }>
}

const leaseMs = 15_000
const claiming = {
  ...{ leaseMs, except: [], perWebhook: 16, limit: 400, bytes: 1_000_000 },
  drain: { step: 1, everyMs: 200 },
}
const [plain, ordered, paced] = webhookStates() as [WebhookState, WebhookState, WebhookState]
const noAttempt = {
  ...{ started_at: '2026-01-01T00:00:00.000Z', url: plain.url, duration_ms: 1, request_headers: {} },
  ...{ response_status: null, response_headers: null, response_body: null, body_start: null },
  ...{ response_truncated: null, error_kind: null, error_message: null },
  ...{ dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null, total_ms: null },
  is_connection_reused: null,
}

const resultOf = (
  id: string,
  status: AttemptRecording['row']['status'],
  number: number,
  dueInMs: number | null = null,
): AttemptRecording => ({
  row: { ...noAttempt, id, number, epoch: 0, status, due_in_ms: dueInMs },
  target: { ...plain, version: 1, tenant },
  eventId: 'evt_1',
  gone: false,
})

/** Inserts deliveries of events one by one; resolves with their ids. */
async function deliver(
  { store, nowMs }: Subject,
  webhook: WebhookState,
  events: readonly number[],
  changes: Partial<NewDelivery> = {},
) {
  const inserting = store('one')
  await inserting.addRevisions([tenant])
  const [loaded] = await inserting.loadWebhooks([tenant])
  const now = await nowMs()
  const rows = events.map((place): NewDelivery => {
    const eventId = `${minId('event', now)}${String(place).padStart(16, '0')}`
    return {
      ...{
        id: deriveDeliveryId(eventId, webhook.id),
        workspace_id: tenant.workspaceId,
        environment: 'production',
      },
      ...{ webhook_id: webhook.id, event_id: eventId, event_type: 'a.b', url: webhook.url, bytes: 1 },
      ...{ lease_ms: null, waits: webhook.orderingKey !== null },
      ordering_key: webhook.orderingKey && 'k',
      ordering_place: webhook.orderingKey && String(place),
      created_at: new Date(now).toISOString(),
      ...changes,
    }
  })
  const insert = (revision: number) =>
    inserting.insert({
      now: new Date(now).toISOString(),
      events: rows.map(({ event_id: id }) => ({ id, tenant, json: '{"n":1}' })),
      ...{ deliveries: rows, attempts: [], origins: [] },
      revisions: [{ ...tenant, revision }],
    })
  const revision = loaded?.revision ?? 0
  return { ids: rows.map(({ id }) => id), insert, revision }
}

async function delivered(subject: Subject, webhook: WebhookState, events: readonly number[]) {
  await subject.addWebhook(webhook)
  const { ids, insert, revision } = await deliver(subject, webhook, events)
  expect(await insert(revision)).toEqual(new Set(ids))
  return ids
}

const claimedBy = async (store: DeliveryStore) => (await store.claim(claiming)).map(({ id }) => id).sort()

/** Behaviour that the dispatcher relies on, for any implementation of the tables. */
export const deliveryStoreCases: Record<string, (subject: Subject) => Promise<void>> = {
  async 'a batch is inserted once, and by the webhooks as they are'(subject) {
    await subject.addWebhook(plain)
    const { ids, insert, revision } = await deliver(subject, plain, [1, 2])
    expect(await insert(revision - 1)).toBeUndefined()
    expect(await insert(revision)).toEqual(new Set(ids))
    expect(await insert(revision)).toEqual(new Set())
    await subject.setStatus(plain.id, 'paused')
    expect(await insert(revision)).toBeUndefined()
  },
  async 'what is due is leased to one replica, until its lease ends or it gives it back'(subject) {
    const ids = await delivered(subject, plain, [1, 2])
    const [one, two] = [subject.store('one'), subject.store('two')]
    expect(await claimedBy(one)).toEqual([...ids].sort())
    expect(await claimedBy(two)).toEqual([])
    await two.release(ids)
    expect(await claimedBy(two)).toEqual([])
    await one.release(ids.slice(0, 1))
    expect(await claimedBy(two)).toEqual(ids.slice(0, 1))
    await subject.pass(leaseMs + plain.timeoutMs + 1_000)
    expect(await claimedBy(one)).toEqual([...ids].sort())
    await one.reclaim()
    expect(await claimedBy(two)).toEqual([...ids].sort())
  },
  async 'a number is recorded once, a success always, and nothing after it'(subject) {
    const [id = ''] = await delivered(subject, plain, [1])
    const one = subject.store('one')
    await claimedBy(one)
    await one.record([resultOf(id, 'retrying', 1, 60_000)])
    expect(await subject.delivery(id)).toEqual({ status: 'retrying', attempts: 1, leased: false })
    await one.record([resultOf(id, 'retrying', 1, 0)])
    expect(await claimedBy(one)).toEqual([])
    await one.record([resultOf(id, 'succeeded', 1)])
    expect(await subject.delivery(id)).toEqual({ status: 'succeeded', attempts: 1, leased: false })
    await one.record([resultOf(id, 'retrying', 2, 0)])
    expect(await subject.delivery(id)).toEqual({ status: 'succeeded', attempts: 1, leased: false })
  },
  async 'a late result leaves the lease of another replica alone'(subject) {
    const ids = await delivered(subject, plain, [1, 2])
    const [one, two, three] = [subject.store('one'), subject.store('two'), subject.store('three')]
    await claimedBy(one)
    await subject.pass(leaseMs + plain.timeoutMs + 1_000)
    const [late = '', postponed = ''] = await claimedBy(two)
    await one.record([resultOf(late, 'retrying', 1, 0), resultOf(postponed, 'postponed', 1, 0)])
    expect(await subject.delivery(late)).toEqual({ status: 'retrying', attempts: 1, leased: true })
    expect(await subject.delivery(postponed)).toEqual({ status: 'pending', attempts: 0, leased: true })
    expect(await claimedBy(three)).toEqual([])
    await two.record([resultOf(late, 'succeeded', 1), resultOf(postponed, 'postponed', 1, 0)])
    expect(await subject.delivery(late)).toEqual({ status: 'succeeded', attempts: 1, leased: false })
    expect(await claimedBy(three)).toEqual(ids.filter((id) => id === postponed))
  },
  async 'what is postponed is due again without an attempt'(subject) {
    const [id = ''] = await delivered(subject, plain, [1])
    const one = subject.store('one')
    await claimedBy(one)
    await one.record([resultOf(id, 'postponed', 1, 5_000)])
    expect(await claimedBy(one)).toEqual([])
    await subject.pass(6_000)
    expect(await claimedBy(one)).toEqual([id])
    expect(await subject.delivery(id)).toEqual({ status: 'pending', attempts: 0, leased: true })
  },
  async 'of an ordering queue the first one is released, below the low watermark'(subject) {
    const [first = '', second = ''] = await delivered(subject, ordered, [1, 2])
    const one = subject.store('one')
    const queue = { webhookId: ordered.id, key: 'k' }
    expect(await one.releaseHeads([queue], '0')).toMatchObject({ released: 0, above: [{ sequence: '1' }] })
    expect(await one.releaseHeads([queue], '9')).toMatchObject({ released: 1, above: [] })
    expect(await one.releaseHeads([queue], '9')).toMatchObject({ released: 0, above: [] })
    expect(await claimedBy(one)).toEqual([first])
    await one.record([resultOf(first, 'succeeded', 1)])
    const swept = await one.sweepHeads({ webhookId: '', key: '' }, 1, '9')
    expect(swept).toMatchObject({ released: 1, last: queue })
    expect(await one.sweepHeads(queue, 1, '9')).toMatchObject({ released: 0, last: null })
    expect(await claimedBy(one)).toEqual([second])
  },
  async 'nothing of a paused webhook is claimed, and what it missed comes step by step'(subject) {
    const ids = await delivered(subject, plain, [1, 2])
    await subject.setStatus(plain.id, 'paused')
    const one = subject.store('one')
    expect(await claimedBy(one)).toEqual([])
    expect(await one.nextDueIn([])).toBeUndefined()
    await subject.pass(1_000)
    await subject.setStatus(plain.id, 'active')
    await subject.pass(1)
    const [first = '', ...others] = await claimedBy(one)
    expect(others).toEqual([])
    await subject.pass(250)
    expect([first, ...(await claimedBy(one))].sort()).toEqual([...ids].sort())
  },
  async 'what a deleted webhook leaves is ended'(subject) {
    const [id = ''] = await delivered(subject, plain, [1])
    await subject.deleteWebhook(plain.id)
    const one = subject.store('one')
    expect(await claimedBy(one)).toEqual([])
    expect(await one.cleanUp(10)).toBe(true)
    expect(await subject.delivery(id)).toMatchObject({ status: 'failed', leased: false })
    expect(await one.cleanUp(10)).toBe(false)
  },
  async 'slots of a rate limit are apart, whichever replica books them'(subject) {
    await subject.addWebhook({ ...paced, rateLimitPerSecond: 4 })
    const request = { webhookId: paced.id, perSecond: 4, count: 1, slackMs: 0, aheadMs: 250, astrayMs: 5_000 }
    const first = await subject.store('one').book(request)
    const second = await subject.store('two').book(request)
    expect(first).toMatchObject({ kind: 'booked', firstInMs: 0, count: 1, intervalMs: 262.5 })
    if (second.kind === 'gone') throw new Error('there is no webhook')
    const inMs = second.kind === 'booked' ? second.firstInMs : second.freeInMs
    expect(inMs).toBeGreaterThan(0)
    expect(inMs).toBeLessThanOrEqual(262.5)
    expect(await subject.store('one').book({ ...request, webhookId: 'wh_none' })).toEqual({ kind: 'gone' })
  },
}
