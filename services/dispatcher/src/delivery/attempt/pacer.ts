import { type Logger, retryDelayMs } from '@opsplane/runtime'

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

export interface PacerOptions {
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
  onOpen(webhookId: string): void
  log: Logger
}

/** Lets the attempts to webhooks with a rate limit start at their pace. */
export interface Pacer {
  /** Uses up a slot that is due; when there is none, `onSlot` follows. `waiting`: jobs there are slots for. */
  take(webhookId: string, perSecond: number, waiting: number): boolean
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

interface Pace {
  slots: Slot[]
  /** An answer, or the timer, is waited for before another booking. */
  busy: boolean
  closed: boolean
  timer: { at: number; cancel(): void } | undefined
  /** Somebody waits for a slot. */
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
export const burstOf = (perSecond: number) => Math.max(1, Math.ceil(perSecond / 4))

/**
 * Slots are at least 1/rate apart over all replicas, and a slot is used at most (burst - 1)/rate plus its slack
 * late. So any window of T seconds has at most rate * T + burst attempts, whoever makes them. A burst of one
 * leaves no room to be late, hence a slack of 5 % there, of a second at most: a slot that is missed may cost minutes.
 * Elsewhere slack is only booked by a replica that was late.
 */
export function createPacer(options: PacerOptions): Pacer {
  const { now, log } = options
  const paces = new Map<string, Pace>()
  const patienceMs = options.leaseMs * 0.45
  let stopped = false

  function paceOf(webhookId: string): Pace {
    const known = paces.get(webhookId)
    if (known) return known
    const fresh: Pace = {
      slots: [],
      busy: false,
      closed: false,
      timer: undefined,
      awaited: false,
      lateMs: 0,
      failures: 0,
    }
    paces.set(webhookId, fresh)
    return fresh
  }

  function dropPassed(pace: Pace) {
    for (let [slot] = pace.slots; slot && slot.until < now(); [slot] = pace.slots) {
      observe(pace, slot)
      pace.slots.shift()
    }
    if ((pace.slots[0]?.at ?? 0) > now() + astrayMs) pace.slots = []
  }

  function observe(pace: Pace, { since, easeMs }: Slot) {
    if (pace.awaited) pace.lateMs = Math.min(maxSlackMs, Math.max(0, 2 * (now() - since) - easeMs))
  }

  function wakeAt(webhookId: string, pace: Pace, at: number) {
    if (pace.timer && pace.timer.at <= at) return
    pace.timer?.cancel()
    // A timer can be a fraction of a millisecond early.
    const cancel = options.after(Math.max(1, Math.ceil(at - now()) + 1), () => wake(webhookId, pace))
    pace.timer = { at, cancel }
  }

  function wake(webhookId: string, pace: Pace) {
    const { closed } = pace
    pace.timer = undefined
    pace.busy = false
    pace.closed = false
    if (closed) options.onOpen(webhookId)
    ask(webhookId, pace)
  }

  function ask(webhookId: string, pace: Pace) {
    options.onSlot(webhookId)
    if (pace.busy || pace.timer) return
    // Nobody asked: what is left is kept for the next job, as long as it lasts.
    pace.awaited = false
    dropPassed(pace)
    const last = pace.slots.at(-1)
    if (last) wakeAt(webhookId, pace, last.until)
    else paces.delete(webhookId)
  }

  async function book(webhookId: string, pace: Pace, perSecond: number, waiting: number) {
    pace.busy = true
    pace.timer?.cancel()
    pace.timer = undefined
    const count = pace.lateMs > 0 ? 1 : Math.min(burstOf(perSecond), waiting)
    const request = { webhookId, perSecond, count, slackMs: pace.lateMs, aheadMs, astrayMs }
    const askedAt = now()
    try {
      const booking = await options.book(request)
      pace.failures = 0
      if (!stopped) booked(webhookId, pace, booking, askedAt)
    } catch (error) {
      if (stopped) return
      pace.failures++
      if (pace.failures === 1) log.warn({ err: error, webhookId }, 'no slots of a rate limit can be booked')
      const { failures: attempt } = pace
      const waitMs = retryDelayMs({ attempt, strategy: 'exponential', baseMs: 100, maxMs: 2_000 })
      wakeAt(webhookId, pace, now() + waitMs)
    }
  }

  function booked(webhookId: string, pace: Pace, booking: Booking, askedAt: number) {
    switch (booking.kind) {
      case 'booked': {
        const { firstInMs, count, intervalMs, perSecond } = booking
        const easeMs = ((burstOf(perSecond) - 1) * 1_000) / perSecond
        const slackMs = intervalMs - 1_000 / perSecond
        // It was booked between question and answer: never earlier than the slot, nor later than it allows.
        const waitedMs = now() - askedAt
        for (let at = now() + firstInMs; pace.slots.length < count; at += intervalMs)
          pace.slots.push({ at, since: at - waitedMs, until: at - waitedMs + easeMs + slackMs, easeMs })
        pace.busy = false
        return ask(webhookId, pace)
      }
      case 'taken': {
        const openAt = now() + booking.freeInMs - aheadMs
        pace.closed = openAt - now() > patienceMs
        wakeAt(webhookId, pace, Math.max(openAt, now() + restMs))
        if (pace.closed) options.onClosed(webhookId)
        return
      }
      case 'gone':
        paces.delete(webhookId)
        options.onClosed(webhookId)
    }
  }

  return {
    take(webhookId, perSecond, waiting) {
      const pace = paceOf(webhookId)
      dropPassed(pace)
      const [next] = pace.slots
      if (next && next.at <= now()) {
        observe(pace, next)
        pace.slots.shift()
        pace.awaited = false
        return true
      }
      pace.awaited = true
      if (next) wakeAt(webhookId, pace, next.at)
      else if (!pace.busy) void book(webhookId, pace, perSecond, waiting)
      return false
    },
    places: (perSecond) => Math.max(1, Math.floor((perSecond * options.leaseMs * 0.45) / 1_000)),
    isClosed: (webhookId) => paces.get(webhookId)?.closed ?? false,
    closed: () => [...paces].filter(([, { closed }]) => closed).map(([webhookId]) => webhookId),
    refresh(webhookId) {
      const pace = paces.get(webhookId)
      if (!pace?.busy || !pace.timer) return
      pace.timer.cancel()
      wake(webhookId, pace)
    },
    stop() {
      stopped = true
      for (const { timer } of paces.values()) timer?.cancel()
    },
  }
}
