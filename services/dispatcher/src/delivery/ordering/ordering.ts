import { createHash } from 'node:crypto'
import { canonicalJson, type DeliveryBody, valueAt } from '@opsplane/contracts'
import type { NewDelivery } from '../enqueue/fan-out-statement.js'
import type { OrderingQueue } from './release-statement.js'

const maxKeyLength = 200

/** The ordering key of a delivery: the value at the webhook's path, as JSON. Null if the delivery is not ordered. */
export function computeOrderingKey(path: string | null, body: DeliveryBody): string | null {
  const value = path === null ? undefined : valueAt(body, path)
  if (value === undefined) return null
  const key = canonicalJson(value)
  return key.length > maxKeyLength ? createHash('sha256').update(key).digest('hex') : key
}

interface Draft {
  /** Index of its event among those that arrived together. */
  incoming: { place: number }
  row: NewDelivery
}

/**
 * Assigns the event's sequence to deliveries with an ordering key. Returns their ordering queues, each with its first
 * sequence here. Sequences are only requested if there are such deliveries.
 */
export async function assignSequences(
  drafts: readonly Draft[],
  sequences: () => Promise<string[]>,
): Promise<OrderingQueue[]> {
  const ordered = drafts.filter(({ row }) => row.ordering_key !== null)
  if (ordered.length === 0) return []
  const eventSequences = await sequences()
  const queues = new Map<string, OrderingQueue>()
  for (const { incoming, row } of ordered) {
    row.ordering_place = eventSequences[incoming.place] ?? null
    const name = `${row.webhook_id} ${row.ordering_key}`
    if (queues.has(name)) continue
    queues.set(name, {
      webhookId: row.webhook_id,
      key: row.ordering_key ?? '',
      sequence: row.ordering_place ?? '',
    })
  }
  return [...queues.values()]
}
