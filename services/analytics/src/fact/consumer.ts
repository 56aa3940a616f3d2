import type { EventConsumer } from '@opsplane/eventstore'
import { collectYoungHeap } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import type { FactWriter } from './write-facts.js'

/**
 * Minimum interval between batches, in milliseconds; the first event after a pause is not delayed. A batch costs little
 * more than a single event, and dashboards poll less often.
 */
const spacingMs = 1_000

/** This many events with their derived objects fill a quarter of V8's young generation. */
const collectedEvents = 100
/** By then a batch has been acknowledged, and nothing refers to it any more. */
const collectDelayMs = 50

/**
 * Turns every event into facts. Redelivered events that were already committed change nothing. `written` is called
 * after each batch.
 */
export function gatherFacts(
  { consume }: Pick<ServiceContext, 'consume'>,
  writer: FactWriter,
  written: () => void,
): EventConsumer {
  let uncollected = 0
  return consume({
    durable: 'analytics-facts',
    spacingMs,
    history: 'all',
    async perform(events) {
      await writer.write(events)
      written()
      uncollected += events.length
      if (uncollected < collectedEvents) return
      uncollected = 0
      // When V8 collects by itself, a batch is in memory and would be copied, and so would the next one (ADR 114).
      setTimeout(collectYoungHeap, collectDelayMs).unref()
    },
  })
}
