import { type Column, insertInto, text } from './append/columns.js'
import { type EventFields, eventFields } from './append/event-fields.js'

/** A journal event that is appended by the service's own statement; JSON columns are already serialized. */
export interface JournalRow extends EventFields {
  /** How many events of the same stream follow it in the statement. */
  left: number
}

/** The columns `journalParts` needs of each event, as text. */
export const journalColumns: Column<JournalRow>[] = [
  ...eventFields,
  text('left_in_stream', (row) => String(row.left)),
]

/**
 * Parts of a `with` that append the events returned by the query `journalled`, with `journalColumns`; several
 * events of a stream in the order of `left_in_stream`. For statements that also write the rows the events
 * describe; such a statement locks those rows before it draws positions. Like `append_journal`, which triggers
 * call, for any number of events at a time.
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
