import { consecutiveFailuresToPause, idTime, stringifyExact, tenantKey } from '@opsplane/contracts'
import type { DeliveryStore } from '../delivery-store.js'
import type { FanOutBatch } from '../enqueue/fan-out-statement.js'
import type { Claimed, ClaimOptions } from '../enqueue/queue-statements.js'
import type { OrderingQueue, Released } from '../ordering/release-statement.js'
import type { Booking, BookingRequest } from '../rate-limit/rate-limit-scheduler.js'
import type { AttemptRecording } from '../record/record-results.js'
import {
  beforeFirstAttempt,
  type DeliveryRow,
  type DeliveryRows,
  isUnfinished,
  type WebhookRow,
  waitsInQueue,
} from './delivery-rows.fixture.js'

/** Runs `act` on the rows atomically. */
export type Commit = <T>(act: () => T) => Promise<T>

/**
 * A DeliveryStore over rows in memory, for the simulation of the dispatcher. The due time of a queue is computed from
 * its deliveries; Postgres stores it in a table.
 */
export function deliveryStoreInMemory(rows: DeliveryRows, owner: string, commit: Commit): DeliveryStore {
  const own = (ids: readonly string[]) =>
    ids
      .flatMap((id) => rows.deliveries.get(id) ?? [])
      .filter((row) => row.leaseOwner === owner && isUnfinished(row))
  return {
    loadWebhooks: (tenants) =>
      commit(() =>
        tenants.flatMap((tenant) => {
          const revision = rows.revisions.get(tenantKey(tenant))
          if (revision === undefined) return []
          const subscribers = [...rows.webhooks.values()]
            .filter((row) => tenantKey(row.tenant) === tenantKey(tenant))
            .map(({ state, version }) => ({ target: { ...state, version, tenant }, fences: new Map() }))
          return [{ tenant, revision, subscribers }]
        }),
      ),
    addRevisions: (tenants) =>
      commit(() => {
        for (const tenant of tenants)
          rows.revisions.set(tenantKey(tenant), rows.revisions.get(tenantKey(tenant)) ?? 0)
      }),
    insert: (batch) => commit(() => insert(rows, owner, batch)),
    claim: (options) => commit(() => claim(rows, owner, options)),
    nextDueIn: (except) =>
      commit(() => {
        const due = [...rows.webhooks.values()].flatMap((row) =>
          except.includes(row.state.id) ? [] : (nextDueAt(rows, row) ?? []),
        )
        return due.length === 0 ? undefined : Math.min(...due) - rows.now
      }),
    cleanUp: (limit) => commit(() => cleanUp(rows, limit)),
    failWithoutEvent: (ids) =>
      commit(() => {
        for (const row of own(ids)) fail(row, 'event_missing')
      }),
    release: (ids) => commit(() => giveBack(rows, own(ids))),
    reclaim: () => commit(() => giveBack(rows, own([...rows.deliveries.keys()]))),
    record: (batch) => commit(() => record(rows, owner, batch)),
    book: (request) => commit(() => book(rows, request)),
    releaseHeads: (queues, lowWatermark) =>
      commit(() => ({ ...releaseHeads(rows, queues, lowWatermark), last: null })),
    sweepHeads: (after, limit, lowWatermark) =>
      commit(() => {
        const queues = queuesOf(rows)
          .filter((queue) => nameOf(queue) > nameOf(after))
          .slice(0, limit)
        const last = queues.length === limit ? (queues.at(-1) ?? null) : null
        return { ...releaseHeads(rows, queues, lowWatermark), last }
      }),
  }
}

function insert(rows: DeliveryRows, owner: string, batch: FanOutBatch): Set<string> | undefined {
  const isCurrent = batch.revisions.every((asked) => rows.revisions.get(tenantKey(asked)) === asked.revision)
  if (!isCurrent) return undefined
  for (const { id, json } of batch.events) if (!rows.events.has(id)) rows.events.set(id, json)
  const made = new Set<string>()
  for (const given of batch.deliveries) {
    if (rows.deliveries.has(given.id)) continue
    made.add(given.id)
    const attempt = batch.attempts.find(({ id }) => id === given.id)
    rows.deliveries.set(given.id, {
      ...beforeFirstAttempt,
      ...{ id: given.id, workspaceId: given.workspace_id, environment: given.environment },
      ...{ webhookId: given.webhook_id, eventId: given.event_id, eventType: given.event_type },
      ...{ url: given.url, bytes: given.bytes, createdAt: given.created_at },
      ...{ orderingKey: given.ordering_key, orderingSequence: given.ordering_place },
      dueAt: given.waits ? null : rows.now + (given.lease_ms ?? 0),
      leaseOwner: given.lease_ms === null ? null : owner,
      ...(attempt && {
        ...{ status: 'succeeded', attempts: 1, dueAt: null, leaseOwner: null },
        ...{ lastAttemptAt: attempt.started_at, lastResponseStatus: attempt.response_status },
      }),
    })
    if (!attempt) continue
    rows.attempts.set(`${given.id}/1`, attempt)
    rows.failures.delete(given.webhook_id)
  }
  return made
}

/** When something of a queue is due, including drains; `undefined` if nothing is, or if the queue is not sent. */
function nextDueAt(rows: DeliveryRows, { state, resumedAt, drainAt }: WebhookRow): number | undefined {
  if (state.status !== 'active') return undefined
  const due = rows
    .unfinishedOf(state.id)
    .flatMap(({ dueAt }) => (dueAt !== null && dueAt > resumedAt ? dueAt : []))
  if (resumedAt > 0) due.push(Math.max(drainAt, rows.now))
  return due.length === 0 ? undefined : Math.min(...due)
}

function claim(
  rows: DeliveryRows,
  owner: string,
  { leaseMs, except, perWebhook, limit, bytes, drain }: Omit<ClaimOptions, 'owner'>,
): Claimed[] {
  const { now } = rows
  const picked = [...rows.webhooks.values()]
    .filter(({ state }) => !except.includes(state.id))
    .flatMap((row) => {
      const at = nextDueAt(rows, row)
      return at !== undefined && at <= now ? [{ row, at }] : []
    })
    .sort((one, other) => one.at - other.at)
    .slice(0, Math.max(1, Math.floor(limit / perWebhook)))
  for (const { row } of picked) if (row.resumedAt > 0 && row.drainAt <= now) drainQueue(rows, row, drain)
  const due = picked.flatMap(({ row }) =>
    dueOf(rows.unfinishedOf(row.state.id), row.resumedAt, now)
      .slice(0, perWebhook)
      .map((delivery, place) => ({ delivery, row, place })),
  )
  due.sort((one, other) => one.place - other.place || (one.row.state.id < other.row.state.id ? -1 : 1))
  let total = 0
  const claimed: Claimed[] = []
  for (const { delivery, row } of due.slice(0, limit)) {
    total += delivery.bytes
    if (claimed.length > 0 && total > bytes) break
    delivery.leaseOwner = owner
    delivery.dueAt = now + leaseMs + row.state.timeoutMs
    claimed.push(claimedOf(rows, delivery, row))
  }
  return claimed
}

const dueOf = (of: DeliveryRow[], resumedAt: number, now: number): DeliveryRow[] =>
  of
    .filter(({ dueAt }) => dueAt !== null && dueAt > resumedAt && dueAt <= now)
    .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))

function claimedOf(rows: DeliveryRows, delivery: DeliveryRow, { state, version }: WebhookRow): Claimed {
  return {
    ...{ id: delivery.id, webhook_id: delivery.webhookId, attempts: delivery.attempts },
    ...{ workspace_id: delivery.workspaceId, environment: delivery.environment },
    ...{ cycle_base: delivery.cycleBase, ordering_key: delivery.orderingKey, bytes: delivery.bytes },
    ...{ version, state: stringifyExact(state), event: rows.events.get(delivery.eventId) ?? null },
  }
}

/** The deliveries missed during a pause are drained a step at a time, followed by those scheduled for a later retry. */
function drainQueue(rows: DeliveryRows, row: WebhookRow, { step, everyMs }: ClaimOptions['drain']): void {
  const { now } = rows
  const { resumedAt } = row
  const unfinished = rows.unfinishedOf(row.state.id)
  const missed = dueOf(unfinished, Number.NEGATIVE_INFINITY, resumedAt).slice(0, step)
  for (const delivery of missed)
    Object.assign(delivery, { dueAt: Math.max(now, resumedAt + 1), leaseOwner: null })
  row.drainAt = now + everyMs
  if (missed.length > 0) return
  const later = unfinished
    .filter(({ id, status, leaseOwner, dueAt }) => {
      const isRetried = status === 'retrying' && leaseOwner === null && dueAt !== null && dueAt > now
      return isRetried && id > row.drainedTo && idTime(id) < resumedAt
    })
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .slice(0, step)
  for (const delivery of later) delivery.dueAt = Math.max(now, resumedAt + 1)
  row.drainedTo = later.at(-1)?.id ?? row.drainedTo
  if (later.length === 0) row.resumedAt = 0
}

function cleanUp(rows: DeliveryRows, limit: number): boolean {
  const left = [...rows.deliveries.values()].filter(
    (row) => isUnfinished(row) && !rows.webhooks.has(row.webhookId),
  )
  for (const row of left.slice(0, limit)) fail(row, 'webhook_deleted')
  return left.length > 0
}

const fail = (row: DeliveryRow, lastErrorKind: string) =>
  Object.assign(row, { status: 'failed', dueAt: null, leaseOwner: null, lastErrorKind })

function giveBack(rows: DeliveryRows, given: DeliveryRow[]): void {
  for (const row of given) Object.assign(row, { dueAt: rows.now, leaseOwner: null })
}

/** Maximum consecutive failures per webhook, counted within a batch. */
type Peaks = Map<string, { epoch: number; count: number }>

function record(rows: DeliveryRows, owner: string, batch: readonly AttemptRecording[]): string[] {
  const touched = new Set<string>()
  const peaks: Peaks = new Map()
  for (const result of batch) {
    const delivery = rows.deliveries.get(result.row.id)
    if (delivery && recordOne(rows, { delivery, owner, result, peaks })) touched.add(delivery.webhookId)
  }
  const now = new Date(rows.now).toISOString()
  for (const [webhookId, { epoch, count }] of peaks) {
    if (count < consecutiveFailuresToPause) continue
    const why = { reason: 'consecutive_failures', consecutiveFailures: count, epoch } as const
    rows.handle(webhookId, { kind: 'auto_pause', now, ...why })
  }
  for (const { target, gone } of batch) {
    if (!gone) continue
    const why = { reason: 'gone', consecutiveFailures: 1, epoch: target.epoch } as const
    rows.handle(target.id, { kind: 'auto_pause', now, ...why })
    touched.add(target.id)
  }
  return [...touched].filter((id) => rows.webhooks.get(id)?.state.status === 'paused')
}

/**
 * Returns whether the result changes anything: the number of an attempt is recorded once, a success always counts, and
 * nothing changes after it.
 */
function recordOne(
  rows: DeliveryRows,
  {
    delivery,
    owner,
    result: { row, target },
    peaks,
  }: { delivery: DeliveryRow; owner: string; result: AttemptRecording; peaks: Peaks },
): boolean {
  const isOthers = delivery.leaseOwner !== null && delivery.leaseOwner !== owner
  const isNext = delivery.attempts < row.number
  const dueAt = row.due_in_ms === null ? null : rows.now + row.due_in_ms
  if (row.status === 'postponed') {
    if (!isNext || !isUnfinished(delivery) || isOthers) return false
    Object.assign(delivery, { dueAt, leaseOwner: null })
    return true
  }
  if (delivery.status === 'succeeded' || (!isNext && row.status !== 'succeeded')) return false
  const isRetried = row.status === 'retrying' && dueAt !== null
  Object.assign(delivery, {
    ...{ status: row.status, attempts: Math.max(delivery.attempts, row.number), url: row.url },
    // A late result leaves the lease of another replica unchanged.
    dueAt: isRetried ? Math.max(dueAt, isOthers ? (delivery.dueAt ?? 0) : 0) : null,
    leaseOwner: isRetried && isOthers ? delivery.leaseOwner : null,
    ...{ lastAttemptAt: row.started_at, lastResponseStatus: row.response_status },
    ...{ lastErrorKind: row.error_kind },
  })
  const attempt = `${row.id}/${row.number}`
  if (!rows.attempts.has(attempt)) rows.attempts.set(attempt, row)
  if (rows.webhooks.get(target.id)?.state.epoch !== row.epoch) return true
  if (row.status === 'succeeded') rows.failures.delete(target.id)
  if (row.status !== 'failed') return true
  const before = rows.failures.get(target.id)
  const count = (before?.epoch === row.epoch ? before.count : 0) + 1
  rows.failures.set(target.id, { epoch: row.epoch, count })
  peaks.set(target.id, { epoch: row.epoch, count: Math.max(count, peaks.get(target.id)?.count ?? 0) })
  return true
}

/** See `bookStatement`. */
function book(rows: DeliveryRows, request: BookingRequest): Booking {
  const { webhookId, count: most, slackMs, aheadMs, astrayMs } = request
  const state = rows.webhooks.get(webhookId)?.state
  if (!state) return { kind: 'gone' }
  const { now } = rows
  const perSecond = state.rateLimitPerSecond ?? request.perSecond
  const ownSlackMs = perSecond <= 4 ? Math.min(1_000, 50 / perSecond) : 0
  const intervalMs = 1_000 / perSecond + Math.max(slackMs, ownSlackMs)
  const count = Math.min(most, Math.max(1, Math.ceil(perSecond / 4)))
  const length = count * intervalMs
  const nextAt = rows.pace.get(webhookId) ?? Number.NEGATIVE_INFINITY
  const isAstray = nextAt > now + length + astrayMs
  if (nextAt > now + aheadMs && !isAstray) return { kind: 'taken', freeInMs: nextAt - now }
  const from = isAstray ? now : Math.max(nextAt, now)
  rows.pace.set(webhookId, from + length)
  return { kind: 'booked', firstInMs: from - now, count, intervalMs, perSecond }
}

const nameOf = ({ webhookId, key }: OrderingQueue) => `${webhookId} ${key}`

function queuesOf(rows: DeliveryRows): OrderingQueue[] {
  const queues = new Map<string, OrderingQueue>()
  for (const row of rows.deliveries.values()) {
    if (!isUnfinished(row) || row.orderingKey === null) continue
    const queue = { webhookId: row.webhookId, key: row.orderingKey }
    queues.set(nameOf(queue), queue)
  }
  return [...queues.values()].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
}

function releaseHeads(
  rows: DeliveryRows,
  queues: readonly OrderingQueue[],
  lowWatermark: string,
): Omit<Released, 'last'> {
  const above: Released['above'] = []
  let released = 0
  for (const { webhookId, key } of queues) {
    const [head] = rows
      .unfinishedOf(webhookId)
      .filter(({ orderingKey }) => orderingKey === key)
      .sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1))
    if (!head || !waitsInQueue(head)) continue
    const sequence = head.orderingSequence ?? ''
    if (sequence > lowWatermark) above.push({ webhookId, key, sequence })
    else {
      head.dueAt = rows.webhooks.get(webhookId)?.resumedAt || rows.now
      released++
    }
  }
  return { released, above }
}

const placeOf = ({ orderingSequence, id }: DeliveryRow) => `${orderingSequence} ${id}`
