import { type Logger, retryDelayMs } from '@opsplane/runtime'
import type { DueSignal } from '../enqueue/due-signal.js'

export interface BookingRequest {
  webhookId: string
  perSecond: number
  /** Slots wanted at most. */
  count: number
  /** Room wanted behind each slot, for an attempt that starts late; a limit without a burst has some of itself. */
  slackMs: number
  /** Nothing is booked when the next free slot is further ahead. */
  aheadMs: number
  /** One further ahead than this and the slots asked for is none: a clock was set back, or the limit raised. */
  astrayMs: number
}

/**
 * Slots are `intervalMs` apart, the first one in `firstInMs` from when it was booked, by the database's clock.
 * `perSecond` is the limit the booking was made by.
 */
export type Booking =
  | { kind: 'booked'; firstInMs: number; count: number; intervalMs: number; perSecond: number }
  /** Nothing was booked: the next free slot is in `freeInMs`. */
  | { kind: 'taken'; freeInMs: number }
  /** There is no such webhook any more. */
  | { kind: 'gone' }

export type Bookings = (request: BookingRequest) => Promise<Booking>

export interface RateLimitSchedulerOptions {
  book: Bookings
  /** How long a job may wait in memory, at most. */
  leaseMs: number
  /** Monotonic milliseconds. */
  now(): number
  /** Calls back after so many milliseconds; returns how to call that off. */
  after(ms: number, callback: () => void): () => void
  /** It pays to ask for a slot of this webhook again. */
  onSlot(webhookId: string): void
  /** What is queued for this webhook is better off in Postgres. */
  onClosed(webhookId: string): void
  /** There is room again for a webhook that was closed. */
  due: Pick<DueSignal, 'wakeIn'>
  log: Logger
}

/** Starts the attempts to webhooks with a rate limit no faster than it allows. */
export interface RateLimitScheduler {
  /** Uses up a slot that is due; when there is none, `onSlot` follows. `waiting`: jobs there are slots for. */
  useSlot(webhookId: string, perSecond: number, waiting: number): boolean
  /** Jobs that can wait in memory without outliving their leases. */
  places(perSecond: number): number
  /** Whether its next slot is so far off that jobs should not wait for it in memory. */
  isClosed(webhookId: string): boolean
  closed(): string[]
  /** Its limit may have changed: what waits for its next slot asks again. */
  refresh(webhookId: string): void
  stop(): void
}

/** May be used from `at` until `until`. */
interface Slot {
  at: number
  /** The earliest it can stand at, for how late it is used. */
  since: number
  until: number
  /** How late it may be used even without slack. */
  easeMs: number
}

interface Schedule {
  slots: Slot[]
  /** An answer, or the timer, is waited for before another booking. */
  busy: boolean
  closed: boolean
  timer: { at: number; cancel(): void } | undefined
  /** A job waits for a slot. */
  awaited: boolean
  /** Slack to book, since this replica was late for its last slot. */
  lateMs: number
  failures: number
}

/** Slots are booked so far ahead at most. */
const aheadMs = 250
/** Between two bookings at least when one was refused. */
const restMs = 10
const maxSlackMs = 4_000
/** More than what can be booked ahead, a quarter of a second of slots or one with its slack included. */
const astrayMs = aheadMs + 250 + maxSlackMs

/** Attempts that may start at once: what a quarter of a second has room for. */
export const computeBurst = (perSecond: number) => Math.max(1, Math.ceil(perSecond / 4))

/**
 * Slots are at least 1/rate apart over all replicas, and a slot is used at most (burst - 1)/rate plus its slack
 * late. So any window of T seconds has at most rate * T + burst attempts over all replicas. A burst of one
 * leaves no room to be late, hence a slack of 5 % there, of a second at most: a slot that is missed may cost minutes.
 * Elsewhere slack is only booked by a replica that was late.
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
    // A timer can be a fraction of a millisecond early.
    const cancel = options.after(Math.max(1, Math.ceil(at - now()) + 1), () => wake(webhookId, schedule))
    schedule.timer = { at, cancel }
  }

  function wake(webhookId: string, schedule: Schedule) {
    const { closed } = schedule
    schedule.timer = undefined
    schedule.busy = false
    schedule.closed = false
    if (closed) options.due.wakeIn(0)
    ask(webhookId, schedule)
  }

  function ask(webhookId: string, schedule: Schedule) {
    options.onSlot(webhookId)
    if (schedule.busy || schedule.timer) return
    // No job waits: what is left is kept for the next job, as long as it lasts.
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
    const askedAt = now()
    try {
      const booking = await options.book(request)
      schedule.failures = 0
      if (!stopped) booked(webhookId, schedule, booking, askedAt)
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

  function booked(webhookId: string, schedule: Schedule, booking: Booking, askedAt: number) {
    switch (booking.kind) {
      case 'booked': {
        const { firstInMs, count, intervalMs, perSecond } = booking
        const easeMs = ((computeBurst(perSecond) - 1) * 1_000) / perSecond
        const slackMs = intervalMs - 1_000 / perSecond
        // It was booked between question and answer: never earlier than the slot, nor later than it allows.
        const waitedMs = now() - askedAt
        for (let at = now() + firstInMs; schedule.slots.length < count; at += intervalMs)
          schedule.slots.push({ at, since: at - waitedMs, until: at - waitedMs + easeMs + slackMs, easeMs })
        schedule.busy = false
        return ask(webhookId, schedule)
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
