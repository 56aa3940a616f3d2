import { delay, type Logger, msToIdleTick, type Timers } from '@opsplane/runtime'
import type { DueSignal } from '../enqueue/due-signal.js'
import type { OrderingQueue, OrderingRows, Released } from './release-statement.js'

export interface OrderingQueuesOptions {
  deliveries: OrderingRows
  timers: Timers
  /** Up to this sequence of the stream every event has been fanned out; rejects while that cannot be asked. */
  lowWatermark(): Promise<string>
  log: Logger
  /** Deliveries that are released are due. */
  due: Pick<DueSignal, 'wakeIn'>
}

export interface OrderingQueues {
  /** The next delivery of these queues may be released now, or once the low watermark has reached its sequence. */
  ask(queues: OrderingQueue[]): void
  /** A delivery is finished, and the next one of its ordering key, if it has one, may go. */
  finish(webhookId: string, key: string | null): void
  /** Looks at all queues soon. */
  sweep(): void
  close(): Promise<void>
}

const queuesAtOnce = 1_000
/** More are left to the sweep. */
const maxAsked = 20_000
/** What another replica left behind is seen at least so often. */
const sweepEveryMs = 10_000
const watermarkWaitMs = { least: 20, most: 1_000 }
const beginning: OrderingQueue = { webhookId: '', key: '' }

/**
 * Releases deliveries that are sent in order, one of each ordering queue at a time: see ADR 016. A delivery that ends or is added asks for
 * its queue; a sweep over all queues finds what was not asked for, as after a crash.
 */
export function startOrderingQueues(options: OrderingQueuesOptions): OrderingQueues {
  const { deliveries, timers, log } = options
  const { now } = timers
  const asked = new Map<string, OrderingQueue>()
  let closed = false
  let pause = new AbortController()
  let lowWatermark = ''
  let watermarkAt = 0
  let asking = false
  let watermarkWait = watermarkWaitMs.least
  let sweepAt = 0
  let swept = beginning
  /** A sweep was requested after the present one began. */
  let sweepAgain = false
  let failed = false

  const isReady = ({ sequence }: OrderingQueue) => sequence === undefined || sequence <= lowWatermark

  /** Of a queue that is asked for twice, the earlier sequence counts. */
  function add(queue: OrderingQueue) {
    const name = `${queue.webhookId} ${queue.key}`
    const known = asked.get(name)
    if (known && (known.sequence ?? '') <= (queue.sequence ?? '')) return
    if (known || asked.size < maxAsked) asked.set(name, queue)
  }

  /** Not waited for: what is below the low watermark known so far can be released while the server does not answer. */
  function raiseWatermark() {
    if (asking || now() < watermarkAt || [...asked.values()].every(isReady)) return
    asking = true
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
        asking = false
        watermarkAt = now() + watermarkWait
        pause.abort()
      })
  }

  function take({ released, above }: Released) {
    for (const queue of above) add(queue)
    if (released > 0) options.due.wakeIn(0)
  }

  async function releaseAsked() {
    const ready = [...asked].filter(([, queue]) => isReady(queue)).slice(0, queuesAtOnce)
    if (ready.length === 0) return
    for (const [name] of ready) asked.delete(name)
    const queues = ready.map(([, queue]) => queue)
    take(await deliveries.releaseHeads(queues, lowWatermark))
  }

  async function sweepSome() {
    const began = now()
    if (began < sweepAt) return
    if (swept === beginning) sweepAgain = false
    const step = await deliveries.sweepHeads(swept, queuesAtOnce, lowWatermark)
    take(step)
    swept = step.last ?? beginning
    // Between the steps of a long sweep there is time for what is asked for, and for others.
    const restMs = sweepAgain ? 0 : msToIdleTick(sweepEveryMs, undefined, timers)
    sweepAt = now() + (step.last ? 4 * (now() - began) : restMs)
  }

  async function look() {
    try {
      raiseWatermark()
      await releaseAsked()
      await sweepSome()
      failed = false
    } catch (error) {
      if (!failed) log.warn({ err: error }, 'deliveries sent in order could not be released; trying again')
      failed = true
      sweepAt = now() + sweepEveryMs
    }
  }

  /** When to look next, if nothing comes up before. */
  function nextLookAt() {
    // After a failure what is asked for is not tried again at once.
    if (asked.size === 0 || failed) return sweepAt
    if ([...asked.values()].some(isReady)) return now()
    return asking ? sweepAt : Math.min(sweepAt, watermarkAt)
  }

  async function run() {
    while (!closed) {
      pause = new AbortController()
      await look()
      await delay(Math.max(0, nextLookAt() - now()), pause.signal, timers)
      // What is asked for in one turn of the event loop shares a statement.
      await new Promise<void>((resolve) => timers.setImmediate(resolve))
    }
  }

  function ask(queues: OrderingQueue[]) {
    for (const queue of queues) add(queue)
    // Queues that are new bring the next question forward.
    if (!queues.every(isReady)) {
      watermarkWait = watermarkWaitMs.least
      watermarkAt = Math.min(watermarkAt, now() + watermarkWait)
    }
    pause.abort()
  }

  const running = run()
  return {
    ask,
    finish(webhookId, key) {
      if (key !== null) ask([{ webhookId, key }])
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
