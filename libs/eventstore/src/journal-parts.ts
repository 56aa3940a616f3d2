import { type Column, insertInto, text } from './append/columns.js'
import { type EventFields, eventFields } from './append/event-fields.js'

/** An event of a journal that is appended by a statement of the service's own; JSON is text already. */
export interface JournalRow extends EventFields {
  /** How many events of the same stream come after it in the statement. */
  left: number
}

/** What `journalParts` needs of each event, as text. */
export const journalColumns: Column<JournalRow>[] = [
  ...eventFields,
  text('left_in_stream', (row) => String(row.left)),
]

/**
 * Parts of a `with` that append the events which the query `journalled` gives, with `journalColumns`: several of a stream
 * in the order of `left_in_stream`. For statements that write what the events tell of as well; such a statement holds the rows
 * it tells of before it draws positions. Like `append_journal`, which triggers call, for any number of events at once.
 */
export const journalParts = (journalled: string): string[] => [
  `journalled as materialized (${journalled})`,
  `journal_head as (
    insert into stream_heads as h (stream_id, stream_type, workspace_id, environment, version)
    select stream_id, min(stream_type), min(workspace_id), min(environment), count(*)::int
    from journalled group by stream_id order by stream_id
    on conflict on constraint stream_heads_pkey do update set version = h.version + excluded.version
    returning h.stream_id, h.version)`,
  `journal_event as (
    ${insertInto(
      'events',
      [...eventFields, text('version', () => null)],
      `(
      select j.*, (h.version - j.left_in_stream::int)::int as version
      from journalled j join journal_head h on h.stream_id = j.stream_id
      order by j.stream_id, j.left_in_stream::int desc) t`,
    )}
    returning position, id, workspace_id)`,
  `journal_waiting as (
    insert into outbox (position, workspace_id, event_id) select position, workspace_id, id from journal_event)`,
]
