import type { EventConsumer } from '@opsplane/eventstore'
import { collectYoungHeap } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import type { FactWriter } from './write-facts.js'

/**
 * Events are gathered for so long, but the first one after a pause: a batch costs little more than a single one, and dashboards look
 * less often.
 */
const spacingMs = 1_000

/** So many events, and what was made of them, fill a quarter of the young part of V8's heap. */
const collectedEvents = 100
/** By then a batch is acknowledged, and nothing refers to it any more. */
const collectDelayMs = 50

/** Turns every event into facts. What is committed changes nothing when it comes again. `written` is called after each batch. */
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
      // When V8 collects by itself, a batch is in memory: it would be copied, and so would the next one (ADR 114).
      setTimeout(collectYoungHeap, collectDelayMs).unref()
    },
  })
}
