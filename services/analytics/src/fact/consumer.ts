import type { EventConsumer } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import type { FactWriter } from './write-facts.js'

/**
 * Events are gathered for so long, but the first one after a pause: a batch costs little more than a single one, and dashboards look
 * less often.
 */
const spacingMs = 1_000

/** Turns every event into facts. What is committed changes nothing when it comes again. `written` is called after each batch. */
export function gatherFacts(
  { consume }: Pick<ServiceContext, 'consume'>,
  writer: FactWriter,
  written: () => void,
): EventConsumer {
  return consume({
    durable: 'analytics-facts',
    spacingMs,
    history: 'all',
    async perform(events) {
      await writer.write(events)
      written()
    },
  })
}
