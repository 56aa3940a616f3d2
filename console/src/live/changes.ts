import { parseExact } from '@opsplane/client'
import type { SentEvent } from '@opsplane/contracts/sent-events'

/** The beginning of the keys of what is out of date, behind workspace and environment. */
export type Change = readonly string[]

/** What is no event, by its type: every list it is in, and the pages of those that are named. */
const changedKeys: Readonly<Record<string, { lists: readonly string[]; page: string }>> = {
  delivery: { lists: ['deliveries', 'event-deliveries', 'failures', 'replays'], page: 'delivery' },
  run: { lists: ['runs', 'failures'], page: 'run' },
  execution: { lists: ['executions', 'failures'], page: 'execution' },
}
const everyChange: Change = []

/**
 * What a message of the stream makes out of date. An event does so to the lists and the page of its resource, whose keys are
 * called like it, as `['webhooks']` and `['webhook', id]`; what changes without an event is named by `changed`.
 */
export function findChanges({ event, data }: SentEvent, isFirst: boolean): readonly Change[] {
  switch (event) {
    case 'event':
      return ofEvent(parseExact(data) as StreamedEvent)
    case 'changed':
      return ofChanged(parseExact(data) as Changed)
    case 'ready':
      // What has changed without an event in between is not sent again.
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
  /** More than are named. */
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

/** Whether what is kept under a key, without workspace and environment, is out of date. */
export const isChanged = (key: readonly unknown[], changes: readonly Change[]): boolean =>
  changes.some((change) => change.every((part, index) => key[index] === part))
