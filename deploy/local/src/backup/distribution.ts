import { type BackendName, eventHeaders } from '@opsplane/contracts'
import { type NatsLink, readHeaders } from '@opsplane/nats'
import { findDatabaseUrl } from '../data-database.js'
import { explainDatabaseError, OpsError, type Target, withNats } from '../ops-target.js'
import { backends } from '../services.js'
import { openSession } from './databases.js'

/** The events of a log, compared with the event stream. */
export interface Distributed {
  service: BackendName
  events: number
  lastPosition: number
  /** Not published yet. */
  waiting: number
  /** Number of events of the log that are in the stream. */
  inStream: number
}

export interface DistributionTask {
  target: Target
  services: readonly BackendName[]
  say?(line: string): void
}

/**
 * Proves that a running installation has lost nothing: every event that has not aged out of the event stream (older
 * than the oldest event of its log there) is in the stream or waits in the outbox, the audit log is complete, and
 * read models match their logs. Throws OpsError that lists the problems.
 */
export async function proveRunning({
  target,
  services,
  say = () => {},
}: DistributionTask): Promise<Distributed[]> {
  const adminUrl = target.databaseUrl()
  const { url, names } = target.nats()
  try {
    return await withNats(url, async (link) => {
      // Read before the stream: an event published between the two reads would be in neither.
      const ends = new Map<BackendName, Edge>()
      for (const service of services)
        ends.set(service, await edgeOf(await findDatabaseUrl(service, adminUrl), service))
      const streamed = await positionsIn(link, names.eventsStream)
      const problems: string[] = []
      const results: Distributed[] = []
      for (const service of services) {
        const { missing, ...result } = await compare(
          await findDatabaseUrl(service, adminUrl),
          service,
          streamed,
          ends.get(service),
        )
        if (missing > 0) problems.push(`${missing} events of ${service} are not in ${names.eventsStream}`)
        problems.push(
          ...(await backends[service].prove({ adminUrl: await findDatabaseUrl(service, adminUrl) })),
        )
        say(
          `${service}: ${result.inStream} of ${result.events} events are in the stream, ${result.waiting} wait`,
        )
        results.push(result)
      }
      if (problems.length > 0) throw new OpsError('refused', `Something is missing: ${problems.join('; ')}.`)
      return results
    })
  } catch (error) {
    throw explainDatabaseError(error, adminUrl)
  }
}

/** Positions in the stream, by the schema of their log. */
type Streamed = ReadonlyMap<string, Positions>

export async function positionsIn(link: NatsLink, stream: string): Promise<Streamed> {
  const positions = new Map<string, Positions>()
  await readHeaders(await link.ready(), stream, (header) => {
    const source = header(eventHeaders.source)
    const position = Number(header(eventHeaders.position))
    if (source === undefined || !Number.isSafeInteger(position)) return
    const known = positions.get(source) ?? createPositions()
    positions.set(source, known)
    known.add(position)
  })
  return positions
}

type Positions = ReturnType<typeof createPositions>

/** A set of positions with one bit each. */
function createPositions() {
  let bits = new Uint8Array(1_024)
  let [lowest, highest] = [Number.POSITIVE_INFINITY, 0]
  return {
    lowest: () => lowest,
    highest: () => highest,
    add(position: number) {
      lowest = Math.min(lowest, position)
      highest = Math.max(highest, position)
      const byte = Math.floor(position / 8)
      if (byte >= bits.length) {
        const larger = new Uint8Array(Math.max(byte + 1, bits.length * 2))
        larger.set(bits)
        bits = larger
      }
      bits[byte] = (bits[byte] ?? 0) | (1 << (position % 8))
    },
    has: (position: number) => ((bits[Math.floor(position / 8)] ?? 0) & (1 << (position % 8))) !== 0,
  }
}

const batch = 10_000

/** The end of a log at one moment, and the positions in its outbox at that moment. */
interface Edge {
  last: number
  waiting: ReadonlySet<number>
}

async function edgeOf(databaseUrl: string, service: BackendName): Promise<Edge> {
  const { schema } = backends[service]
  const sql = openSession(databaseUrl, 'opsplane-proof')
  try {
    const [end] = await sql<{ last: number }[]>`
      select coalesce(max(position), 0)::float8 as last from ${sql(schema)}.events`
    const rows = await sql<{ at: number }[]>`select position::float8 as at from ${sql(schema)}.outbox`
    return { last: end?.last ?? 0, waiting: new Set(rows.map(({ at }) => at)) }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function compare(
  databaseUrl: string,
  service: BackendName,
  positions: Streamed,
  { last, waiting }: Edge = { last: 0, waiting: new Set() },
) {
  const { schema } = backends[service]
  const known = positions.get(schema) ?? createPositions()
  const sql = openSession(databaseUrl, 'opsplane-proof')
  try {
    let [after, inStream, missing, events] = [0, 0, 0, 0]
    for (;;) {
      const rows = await sql<{ at: number }[]>`
        select position::float8 as at from ${sql(schema)}.events where position > ${after}::text::bigint and position <= ${last}::text::bigint
        order by position limit ${batch}`
      for (const { at } of rows) {
        if (known.has(at)) inStream++
        else if (at >= known.lowest() && !waiting.has(at)) missing++
      }
      events += rows.length
      after = rows.at(-1)?.at ?? after
      if (rows.length < batch)
        return { service, events, lastPosition: after, waiting: waiting.size, inStream, missing }
    }
  } finally {
    await sql.end({ timeout: 5 })
  }
}
