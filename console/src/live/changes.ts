import { parseExact } from '@opsplane/client'
import type { SentEvent } from '@opsplane/contracts/sent-events'

/** Prefix of the query keys that are out of date, after workspace and environment. */
export type Change = readonly string[]

/** Query keys of records that change without events, by type: the affected lists, and the page of a named record. */
const changedKeys: Readonly<Record<string, { lists: readonly string[]; page: string }>> = {
  delivery: { lists: ['deliveries', 'event-deliveries', 'failures', 'replays'], page: 'delivery' },
  run: { lists: ['runs', 'failures'], page: 'run' },
  execution: { lists: ['executions', 'failures'], page: 'execution' },
}
const everyChange: Change = []

/**
 * The query keys that a message of the stream makes out of date. An event invalidates the lists and the page of its
 * resource, for example `['webhooks']` and `['webhook', id]`; a `changed` message names records that changed without an
 * event.
 */
export function findChanges({ event, data }: SentEvent, isFirst: boolean): readonly Change[] {
  switch (event) {
    case 'event':
      return ofEvent(parseExact(data) as StreamedEvent)
    case 'changed':
      return ofChanged(parseExact(data) as Changed)
    case 'ready':
      // Changes without events that occurred between two connections are not sent again.
      return isFirst ? [] : Object.values(changedKeys).flatMap(keysOf)
    case 'reset':
      return [everyChange]
    default:
      return []
  }
}

interface StreamedEvent {
  resource: { type: string; id: string }
  requestId: string | null
}

function ofEvent({ resource: { type, id }, requestId }: StreamedEvent): Change[] {
  const related: Change[] = requestId === null ? [] : [['related', requestId]]
  return [['events'], ['related', id], ...related, [`${type}s`], [type, id]]
}

interface Changed {
  type: string
  ids: readonly string[]
  /** Whether more records changed than `ids` lists. */
  isMore?: boolean
}

function ofChanged({ type, ids, isMore }: Changed): Change[] {
  const keys = changedKeys[type]
  if (keys === undefined) return []
  if (isMore) return keysOf(keys)
  return [...keys.lists.map((list) => [list]), ...ids.map((id) => [keys.page, id])]
}

const keysOf = ({ lists, page }: { lists: readonly string[]; page: string }): Change[] =>
  [...lists, page].map((key) => [key])

/** Whether a cached query is out of date; `key` excludes workspace and environment. */
export const isChanged = (key: readonly unknown[], changes: readonly Change[]): boolean =>
  changes.some((change) => change.every((part, index) => key[index] === part))
