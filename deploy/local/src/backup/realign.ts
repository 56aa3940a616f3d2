import type { BackendName } from '@opsplane/contracts'
import { deleteStream } from '@opsplane/nats'
import { explainDatabaseError, type Target, withNats } from '../ops-target.js'
import { backends } from '../services.js'
import { findDatabases, openSession } from './databases.js'
import { positionsIn } from './distribution.js'
import { refuseConnected } from './restore.js'

export interface Realigned {
  service: BackendName
  /** Last position of the log. */
  lastPosition: number
  /** Highest position of this log in the event stream, which was ahead of the database. */
  streamed: number
}

/**
 * For databases that were recovered to an earlier time while NATS was not: deletes the event stream, which the
 * services then refill from their logs, and ensures that no position in it is assigned to another event. Throws
 * OpsError.
 */
export async function realignStreams({ target }: { target: Target }): Promise<Realigned[]> {
  const adminUrl = target.databaseUrl()
  const { url, names } = target.nats()
  try {
    return await withNats(url, async (link) => {
      const connection = await link.ready()
      const streamed = await positionsIn(link, names.eventsStream)
      const results: Realigned[] = []
      for (const database of await findDatabases(adminUrl)) {
        const sql = openSession(database.url, 'opsplane-restore')
        try {
          await refuseConnected(sql, database)
          for (const service of database.services) {
            const { schema } = backends[service]
            const highest = streamed.get(schema)?.highest() ?? 0
            const [row] = await sql<{ last: number }[]>`
              select coalesce(max(position), 0)::float8 as last from ${sql(schema)}.events`
            await sql.unsafe(
              `select setval('${schema}.events_position_seq', greatest($1::text::bigint, last_value)) from ${schema}.events_position_seq`,
              [String(Math.max(highest, 1))],
            )
            results.push({ service, lastPosition: row?.last ?? 0, streamed: highest })
          }
        } finally {
          await sql.end({ timeout: 5 })
        }
      }
      await deleteStream(connection, names.eventsStream)
      return results
    })
  } catch (error) {
    throw explainDatabaseError(error, adminUrl)
  }
}
