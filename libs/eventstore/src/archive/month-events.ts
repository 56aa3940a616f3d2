import { createHash } from 'node:crypto'
import { type PlatformEvent, parseExact, StoredEvent } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { formatEnvelope, type LoggedEvent, loggedEventColumns } from '../logged-events.js'

const batch = 500

/** The events of a month's partition or detached table in position order, in batches of up to 500. */
export async function* monthEvents(sql: StatementRunner, table: string): AsyncGenerator<PlatformEvent[]> {
  for (let after = '0'; ; ) {
    const rows = await sql.unsafe<LoggedEvent[]>(
      `select ${loggedEventColumns} from ${table} e where position > $1::text::bigint order by position limit ${batch}`,
      [after],
    )
    const last = rows.at(-1)
    if (!last) return
    yield rows.map((row) => StoredEvent.parse(parseExact(formatEnvelope(row))))
    after = String(last.position)
  }
}

export interface MonthChecksum {
  events: number
  /** SHA-256 in hex of the rows as Postgres prints them, one per line, in position order. */
  sha256: string
}

/** Counts and hashes the rows of a month's partition or detached table. `sql` is one connection. */
export async function checksumMonth(sql: StatementRunner, table: string): Promise<MonthChecksum> {
  // Fixes the text format of instants.
  await sql.unsafe(`select set_config('TimeZone', 'UTC', false), set_config('DateStyle', 'ISO', false)`)
  const hash = createHash('sha256')
  let events = 0
  for (let after = '0'; ; ) {
    const rows = await sql.unsafe<{ position: string; row: string }[]>(
      `select position::text as position, e::text as row from ${table} e where position > $1::text::bigint order by e.position limit ${batch}`,
      [after],
    )
    const last = rows.at(-1)
    if (!last) return { events, sha256: hash.digest('hex') }
    for (const { row } of rows) hash.update(`${row}\n`)
    events += rows.length
    after = last.position
  }
}
