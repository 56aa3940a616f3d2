import { delay, type Logger, msToIdleTick, type Timers } from '@opsplane/runtime'
import type { DueSignal } from '../enqueue/due-signal.js'
import type { OrderingQueue, OrderingRows, Released } from './release-statement.js'

export interface OrderingQueuesOptions {
  deliveries: OrderingRows
  timers: Timers
  /** Sequence in the stream up to which every event has been fanned out; rejects while it is unknown. */
  lowWatermark(): Promise<string>
  log: Logger
  /** Woken because released deliveries are due. */
  due: Pick<DueSignal, 'wakeIn'>
}

export interface OrderingQueues {
  /** Requests the release of the next delivery of these queues, now or when the low watermark reaches its sequence. */
  request(queues: OrderingQueue[]): void
  /** Called when a delivery has finished; releases the next one of its ordering key, if it has one. */
  finish(webhookId: string, key: string | null): void
  /** Requests a sweep of all queues. */
  sweep(): void
  close(): Promise<void>
}

const queuesAtOnce = 1_000
/** Maximum requested queues; further ones are found by the sweep. */
const maxRequested = 20_000
/** Maximum milliseconds between sweeps, which find queues left behind by other replicas. */
const sweepEveryMs = 10_000
const watermarkWaitMs = { least: 20, most: 1_000 }
const sweepStart: OrderingQueue = { webhookId: '', key: '' }

/**
 * Releases ordered deliveries, one per ordering queue at a time: see ADR 016. A delivery that ends or is added requests
 * its queue; a sweep over all queues finds those not requested, for example after a crash.
 */
export function startOrderingQueues(options: OrderingQueuesOptions): OrderingQueues {
  const { deliveries, timers, log } = options
  const { now } = timers
  const requested = new Map<string, OrderingQueue>()
  let closed = false
  let pause = new AbortController()
  let lowWatermark = ''
  let watermarkAt = 0
  let isReadingWatermark = false
  let watermarkWait = watermarkWaitMs.least
  let sweepAt = 0
  let swept = sweepStart
  /** A sweep was requested after the current one started. */
  let sweepAgain = false
  let failed = false

  const isReady = ({ sequence }: OrderingQueue) => sequence === undefined || sequence <= lowWatermark

  /** If a queue is requested twice, the lower sequence is kept. */
  function add(queue: OrderingQueue) {
    const name = `${queue.webhookId} ${queue.key}`
    const known = requested.get(name)
    if (known && (known.sequence ?? '') <= (queue.sequence ?? '')) return
    if (known || requested.size < maxRequested) requested.set(name, queue)
  }

  /** Not awaited: deliveries below the known low watermark can be released while the server does not respond. */
  function raiseWatermark() {
    if (isReadingWatermark || now() < watermarkAt || [...requested.values()].every(isReady)) return
    isReadingWatermark = true
    void options
      .lowWatermark()
      .then(
        (raised) => {
          watermarkWait =
            raised > lowWatermark ? watermarkWaitMs.least : Math.min(watermarkWait * 2, watermarkWaitMs.most)
          if (raised > lowWatermark) lowWatermark = raised
        },
        (error: unknown) => {
          log.debug(
            { err: error },
            'NATS did not say up to which sequence events are fanned out; trying again',
          )
          watermarkWait = watermarkWaitMs.most
        },
      )
      .then(() => {
        isReadingWatermark = false
        watermarkAt = now() + watermarkWait
        pause.abort()
      })
  }

  function apply({ released, above }: Released) {
    for (const queue of above) add(queue)
    if (released > 0) options.due.wakeIn(0)
  }

  async function releaseRequested() {
    const ready = [...requested].filter(([, queue]) => isReady(queue)).slice(0, queuesAtOnce)
    if (ready.length === 0) return
    for (const [name] of ready) requested.delete(name)
    const queues = ready.map(([, queue]) => queue)
    apply(await deliveries.releaseHeads(queues, lowWatermark))
  }

  async function sweepSome() {
    const began = now()
    if (began < sweepAt) return
    if (swept === sweepStart) sweepAgain = false
    const step = await deliveries.sweepHeads(swept, queuesAtOnce, lowWatermark)
    apply(step)
    swept = step.last ?? sweepStart
    // Pauses between the steps of a long sweep leave time for requested queues and for other work.
    const restMs = sweepAgain ? 0 : msToIdleTick(sweepEveryMs, undefined, timers)
    sweepAt = now() + (step.last ? 4 * (now() - began) : restMs)
  }

  async function poll() {
    try {
      raiseWatermark()
      await releaseRequested()
      await sweepSome()
      failed = false
    } catch (error) {
      if (!failed) log.warn({ err: error }, 'deliveries sent in order could not be released; trying again')
      failed = true
      sweepAt = now() + sweepEveryMs
    }
  }

  /** Time of the next poll, if nothing is requested before. */
  function nextPollAt() {
    // After a failure, requested queues are not retried immediately.
    if (requested.size === 0 || failed) return sweepAt
    if ([...requested.values()].some(isReady)) return now()
    return isReadingWatermark ? sweepAt : Math.min(sweepAt, watermarkAt)
  }

  async function run() {
    while (!closed) {
      pause = new AbortController()
      await poll()
      await delay(Math.max(0, nextPollAt() - now()), pause.signal, timers)
      // Requests made in one turn of the event loop share a statement.
      await new Promise<void>((resolve) => timers.setImmediate(resolve))
    }
  }

  function request(queues: OrderingQueue[]) {
    for (const queue of queues) add(queue)
    // New queues bring the next query of the watermark forward.
    if (!queues.every(isReady)) {
      watermarkWait = watermarkWaitMs.least
      watermarkAt = Math.min(watermarkAt, now() + watermarkWait)
    }
    pause.abort()
  }

  const running = run()
  return {
    request,
    finish(webhookId, key) {
      if (key !== null) request([{ webhookId, key }])
    },
    sweep() {
      sweepAgain = true
      sweepAt = Math.min(sweepAt, now())
      pause.abort()
    },
    async close() {
      closed = true
      pause.abort()
      await running
    },
  }
}
