import { type PlatformEvent, parseExact, StoredEvent } from '@opsplane/contracts'
import { copyIn, type Database } from '@opsplane/postgres'
import { formatEnvelope, type LoggedEvent, loggedEventColumns } from '../logged-events.js'
import type { MonthFile } from './detach.js'

const batch = 500

/** The events in the file of a month, in order, by way of a temporary table; `sql` is one connection, on the schema. */
export async function* readMonthFile(
  sql: Database['sql'],
  { columns }: Pick<MonthFile, 'columns'>,
  file: string,
): AsyncGenerator<PlatformEvent[]> {
  await sql.unsafe('create temp table archived_events (like events)')
  try {
    const table = { schema: 'pg_temp', name: 'archived_events', columns, parent: null, bound: null }
    await copyIn(sql, table, file)
    await sql.unsafe('create index on archived_events (position)')
    for (let after = '0'; ; ) {
      const rows = await sql.unsafe<LoggedEvent[]>(
        `select ${loggedEventColumns} from archived_events e where position > $1::text::bigint
         order by position limit ${batch}`,
        [after],
      )
      const last = rows.at(-1)
      if (!last) return
      yield rows.map((row) => StoredEvent.parse(parseExact(formatEnvelope(row))))
      after = String(last.position)
    }
  } finally {
    await sql.unsafe('drop table archived_events')
  }
}
