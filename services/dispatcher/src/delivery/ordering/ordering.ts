import { createHash } from 'node:crypto'
import { canonicalJson, type DeliveryBody, type PlatformEvent, valueAt } from '@opsplane/contracts'
import type { NewDelivery } from '../queue/fan-out-statement.js'
import type { Line } from './turn-statement.js'

const maxKeyLength = 200

/** What a delivery is ordered by: the value at the webhook's path, as JSON. Null when it is not ordered. */
export function orderingKeyOf(path: string | null, body: DeliveryBody): string | null {
  const value = path === null ? undefined : valueAt(body, path)
  if (value === undefined) return null
  const key = canonicalJson(value)
  return key.length > maxKeyLength ? createHash('sha256').update(key).digest('hex') : key
}

interface Draft {
  incoming: { event: PlatformEvent }
  row: NewDelivery
}

/**
 * Gives deliveries that have an ordering key their event's place. Returns the lines in which they wait, each with its
 * first place here. The places are only asked for when there are such deliveries.
 */
export async function putInOrder(
  drafts: readonly Draft[],
  events: readonly PlatformEvent[],
  places: () => Promise<string[]>,
): Promise<Line[]> {
  const ordered = drafts.filter(({ row }) => row.ordering_key !== null)
  if (ordered.length === 0) return []
  const asked = await places()
  // An event that comes twice has the place it came at first.
  const placeOf = new Map(events.map(({ id }, index) => [id, asked[index]] as const).reverse())
  const lines = new Map<string, Line>()
  for (const {
    incoming: { event },
    row,
  } of ordered) {
    row.ordering_place = placeOf.get(event.id) ?? null
    const name = `${row.webhook_id} ${row.ordering_key}`
    if (lines.has(name)) continue
    lines.set(name, {
      webhookId: row.webhook_id,
      key: row.ordering_key ?? '',
      place: row.ordering_place ?? '',
    })
  }
  return [...lines.values()]
}
