import type { NatsNames } from '@opsplane/contracts'
import { listenForHints, type NatsLink } from '@opsplane/nats'
import { isDependencyUnavailable } from '@opsplane/postgres'
import { type Logger, retryDelayMs, type Timers } from '@opsplane/runtime'
import { createWaker } from '../waker.js'
import type { DeadLetter, MarkedLetter, RedriveStore } from './redrive-store.js'
import type { Transaction } from './transaction.js'

interface RedriveOptions {
  store: RedriveStore
  link: NatsLink
  names: NatsNames
  consumer: string
  log: Logger
  timers: Timers
  /**
   * Passes it to the consumer's handler. If the handler uses `tx`, its effect commits together with the end of the
   * dead letter.
   */
  apply(letter: DeadLetter, tx: Transaction): Promise<void>
}

/** Polling interval: finds letters whose wake-up notification was lost. */
const pollIntervalMs = 300_000

/** The subject that announces redriven dead letters of a consumer. */
export const redriveSubject = (names: NatsNames, consumer: string) => names.wakeSubject(consumer, 'redrive')

/**
 * Passes dead letters that an operator marked for redrive to their consumer, one at a time across all replicas. A
 * handled letter is deleted in the transaction of its effect; a failed one stays a dead letter, with the new
 * error. A letter that waits for an unavailable dependency does not delay the others.
 */
export function startRedrive({ store, link, names, consumer, log, timers, apply }: RedriveOptions) {
  const waker = createWaker(timers)
  const hints = listenForHints(link, redriveSubject(names, consumer), waker.wake)

  /** Processes every marked letter. Throws at the end if one of them waits for an unavailable dependency. */
  const round = async () => {
    let left: unknown
    const redo = async ({ letter, effect, end, failed }: MarkedLetter) => {
      try {
        await effect((tx) => apply(letter, tx))
        await end()
        log.info({ durable: consumer, messageId: letter.messageId }, 'dead letter redriven')
      } catch (err) {
        if (isDependencyUnavailable(err)) left = err
        else {
          log.warn(
            { err, durable: consumer, deadLetter: letter.id },
            'a dead letter that was redriven has failed again; see its error',
          )
          await failed(err)
        }
      }
    }
    for (let at: number | undefined = 0; at !== undefined && !waker.closing.aborted; )
      at = await store.nextMarked(at, redo)
    if (left) throw left
  }

  const run = async () => {
    for (let failures = 0; !waker.closing.aborted; ) {
      try {
        await round()
        failures = 0
        await waker.wait(pollIntervalMs)
      } catch (error) {
        if (failures === 0)
          log.warn(
            { err: error, durable: consumer },
            'the search for dead letters to redrive was interrupted, still trying',
          )
        const timing = { strategy: 'exponential', baseMs: 100, maxMs: 30_000 } as const
        await waker.wait(retryDelayMs({ attempt: ++failures, ...timing }))
      }
    }
  }
  const running = run()
  return {
    async close() {
      waker.close()
      await Promise.all([hints.close(), running])
    },
  }
}
