import { canonicalJson, type EventCatalog, parseExact } from '@opsplane/contracts'
import { z } from 'zod'
import type { EventRow } from './commit.js'

/** Throws if an event is not declared, violates its schema or contains fields the schema does not declare. */
export function checkEvents(
  catalog: EventCatalog,
  events: readonly Pick<EventRow, 'type' | 'data' | 'version'>[],
): void {
  for (const { type, data, version } of events) {
    const definition = Object.hasOwn(catalog, type) ? catalog[type] : undefined
    if (!definition) throw new Error(`${type} is not declared in the event catalogue`)
    const sent = { version, ...(parseExact(data) as object) }
    const result = definition.data.safeParse(sent)
    if (!result.success) {
      throw new Error(`${type} carries what breaks its schema:\n${z.prettifyError(result.error)}`)
    }
    const [carried, declared] = [canonicalJson(sent), canonicalJson(result.data)]
    if (carried !== declared) {
      throw new Error(`${type} carries what its schema does not declare:\n${carried}\ndeclared:\n${declared}`)
    }
  }
}
