import { type Logger, retryDelayMs } from '@opsplane/runtime'
import type { DueSignal } from '../enqueue/due-signal.js'

export interface BookingRequest {
  webhookId: string
  perSecond: number
  /** Maximum slots to book. */
  count: number
  /**
   * Extra milliseconds after each slot for attempts that start late; a limit without a burst
   * includes some by default.
   */
  slackMs: number
  /** Nothing is booked if the next free slot is further ahead than this. */
  aheadMs: number
  /**
   * A next slot further ahead than this plus the requested slots is invalid: a clock was set
   * back, or the limit was raised.
   */
  astrayMs: number
}

/**
 * Slots are `intervalMs` apart; the first one is `firstInMs` after the booking, by the database's clock. `perSecond` is
 * the limit used for the booking.
 */
export type Booking =
  | { kind: 'booked'; firstInMs: number; count: number; intervalMs: number; perSecond: number }
  /** Nothing was booked: the next free slot is in `freeInMs`. */
  | { kind: 'taken'; freeInMs: number }
  /** The webhook no longer exists. */
  | { kind: 'gone' }

export type Bookings = (request: BookingRequest) => Promise<Booking>

export interface RateLimitSchedulerOptions {
  book: Bookings
  /** Maximum milliseconds that a job may wait in memory. */
  leaseMs: number
  /** Monotonic milliseconds. */
  now(): number
  /** Schedules `callback` in `ms` milliseconds; returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void
  /** Called when a slot of this webhook may be available. */
  onSlot(webhookId: string): void
  /** Called when the queued jobs of this webhook should be released to Postgres. */
  onClosed(webhookId: string): void
  /** Woken when a closed webhook has room again. */
  due: Pick<DueSignal, 'wakeIn'>
  log: Logger
}

/** Limits the start of attempts to the rate limit of their webhooks. */
export interface RateLimitScheduler {
  /**
   * Uses a slot that is due and returns true; otherwise returns false, and `onSlot` is called later. `waiting`: number
   * of jobs for which slots are booked.
   */
  useSlot(webhookId: string, perSecond: number, waiting: number): boolean
  /** Number of jobs that can wait in memory without outliving their leases. */
  places(perSecond: number): number
  /** Whether the next slot is so far ahead that jobs should not wait for it in memory. */
  isClosed(webhookId: string): boolean
  closed(): string[]
  /** Called when the limit may have changed: waiting jobs request a slot again. */
  refresh(webhookId: string): void
  stop(): void
}

/** Usable from `at` until `until`. */
interface Slot {
  at: number
  /** The earliest possible time of the slot, from which lateness is measured. */
  since: number
  until: number
  /** Milliseconds it may be used late even without slack. */
  easeMs: number
}

interface Schedule {
  slots: Slot[]
  /** A booking is in progress, or a timer must fire before the next one. */
  busy: boolean
  closed: boolean
  timer: { at: number; cancel(): void } | undefined
  /** A job waits for a slot. */
  awaited: boolean
  /** Slack to book, because this replica was late for its last slot. */
  lateMs: number
  failures: number
}

/** Maximum milliseconds that slots are booked ahead. */
const aheadMs = 250
/** Minimum milliseconds between bookings after one was rejected. */
const restMs = 10
const maxSlackMs = 4_000
/** More than can be booked ahead: a quarter of a second of slots, or one slot with its slack. */
const astrayMs = aheadMs + 250 + maxSlackMs

/** Attempts that may start concurrently: the number of slots in a quarter of a second. */
export const computeBurst = (perSecond: number) => Math.max(1, Math.ceil(perSecond / 4))

/**
 * Slots are at least 1/rate apart over all replicas, and a slot is used at most (burst - 1)/rate plus its slack late.
 * Therefore any window of T seconds has at most rate * T + burst attempts over all replicas. A burst of one allows no
 * lateness, so it gets a slack of 5 %, at most a second: a missed slot may cost minutes. Otherwise only a replica that
 * was late books slack.
 */
export function createRateLimitScheduler(options: RateLimitSchedulerOptions): RateLimitScheduler {
  const { now, log } = options
  const schedules = new Map<string, Schedule>()
  const maxWaitMs = options.leaseMs * 0.45
  let stopped = false

  function scheduleOf(webhookId: string): Schedule {
    const known = schedules.get(webhookId)
    if (known) return known
    const fresh: Schedule = {
      ...{ slots: [], timer: undefined, busy: false, closed: false, awaited: false, lateMs: 0, failures: 0 },
    }
    schedules.set(webhookId, fresh)
    return fresh
  }

  function dropPassed(schedule: Schedule) {
    for (let [slot] = schedule.slots; slot && slot.until < now(); [slot] = schedule.slots) {
      observe(schedule, slot)
      schedule.slots.shift()
    }
    if ((schedule.slots[0]?.at ?? 0) > now() + astrayMs) schedule.slots = []
  }

  function observe(schedule: Schedule, { since, easeMs }: Slot) {
    if (schedule.awaited) schedule.lateMs = Math.min(maxSlackMs, Math.max(0, 2 * (now() - since) - easeMs))
  }

  function wakeAt(webhookId: string, schedule: Schedule, at: number) {
    if (schedule.timer && schedule.timer.at <= at) return
    schedule.timer?.cancel()
    // A timer can fire a fraction of a millisecond early.
    const cancel = options.after(Math.max(1, Math.ceil(at - now()) + 1), () => wake(webhookId, schedule))
    schedule.timer = { at, cancel }
  }

  function wake(webhookId: string, schedule: Schedule) {
    const { closed } = schedule
    schedule.timer = undefined
    schedule.busy = false
    schedule.closed = false
    if (closed) options.due.wakeIn(0)
    offerSlots(webhookId, schedule)
  }

  function offerSlots(webhookId: string, schedule: Schedule) {
    options.onSlot(webhookId)
    if (schedule.busy || schedule.timer) return
    // No job waits: remaining slots are kept for the next job until they expire.
    schedule.awaited = false
    dropPassed(schedule)
    const last = schedule.slots.at(-1)
    if (last) wakeAt(webhookId, schedule, last.until)
    else schedules.delete(webhookId)
  }

  async function book(webhookId: string, schedule: Schedule, perSecond: number, waiting: number) {
    schedule.busy = true
    schedule.timer?.cancel()
    schedule.timer = undefined
    const count = schedule.lateMs > 0 ? 1 : Math.min(computeBurst(perSecond), waiting)
    const request = { webhookId, perSecond, count, slackMs: schedule.lateMs, aheadMs, astrayMs }
    const requestedAt = now()
    try {
      const booking = await options.book(request)
      schedule.failures = 0
      if (!stopped) booked(webhookId, schedule, booking, requestedAt)
    } catch (error) {
      if (stopped) return
      schedule.failures++
      if (schedule.failures === 1)
        log.warn(
          { err: error, webhookId },
          'no slots could be booked for a webhook with a rate limit; its deliveries wait',
        )
      const { failures: attempt } = schedule
      const waitMs = retryDelayMs({ attempt, strategy: 'exponential', baseMs: 100, maxMs: 2_000 })
      wakeAt(webhookId, schedule, now() + waitMs)
    }
  }

  function booked(webhookId: string, schedule: Schedule, booking: Booking, requestedAt: number) {
    switch (booking.kind) {
      case 'booked': {
        const { firstInMs, count, intervalMs, perSecond } = booking
        const easeMs = ((computeBurst(perSecond) - 1) * 1_000) / perSecond
        const slackMs = intervalMs - 1_000 / perSecond
        // The booking happened between request and answer: `at` is never earlier than the slot,
        // and `until` never later than allowed.
        const waitedMs = now() - requestedAt
        for (let at = now() + firstInMs; schedule.slots.length < count; at += intervalMs)
          schedule.slots.push({ at, since: at - waitedMs, until: at - waitedMs + easeMs + slackMs, easeMs })
        schedule.busy = false
        return offerSlots(webhookId, schedule)
      }
      case 'taken': {
        const openAt = now() + booking.freeInMs - aheadMs
        schedule.closed = openAt - now() > maxWaitMs
        wakeAt(webhookId, schedule, Math.max(openAt, now() + restMs))
        if (schedule.closed) options.onClosed(webhookId)
        return
      }
      case 'gone':
        schedules.delete(webhookId)
        options.onClosed(webhookId)
    }
  }

  return {
    useSlot(webhookId, perSecond, waiting) {
      const schedule = scheduleOf(webhookId)
      dropPassed(schedule)
      const [next] = schedule.slots
      if (next && next.at <= now()) {
        observe(schedule, next)
        schedule.slots.shift()
        schedule.awaited = false
        return true
      }
      schedule.awaited = true
      if (next) wakeAt(webhookId, schedule, next.at)
      else if (!schedule.busy) void book(webhookId, schedule, perSecond, waiting)
      return false
    },
    places: (perSecond) => Math.max(1, Math.floor((perSecond * options.leaseMs * 0.45) / 1_000)),
    isClosed: (webhookId) => schedules.get(webhookId)?.closed ?? false,
    closed: () => [...schedules].filter(([, { closed }]) => closed).map(([webhookId]) => webhookId),
    refresh(webhookId) {
      const schedule = schedules.get(webhookId)
      if (!schedule?.busy || !schedule.timer) return
      schedule.timer.cancel()
      wake(webhookId, schedule)
    },
    stop() {
      stopped = true
      for (const { timer } of schedules.values()) timer?.cancel()
    },
  }
}
