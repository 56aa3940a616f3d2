import type { TenantScope } from '@opsplane/contracts'
import type { EventConsumer } from '@opsplane/eventstore'
import { type Database, isoText } from '@opsplane/postgres'
import type { Clock } from '@opsplane/runtime'
import { fedDatasets } from '../dataset/datasets.js'
import { isRebuilding } from './rebuild.js'
import { shareInFlight } from './share-in-flight.js'

/** Minimum interval between two checks of the consumer's progress, in milliseconds. */
const minCheckIntervalMs = 1_000

export interface DataAge {
  /**
   * Returns an ISO instant: everything that happened up to it is in the tenant's facts of these datasets. Concurrent
   * callers share the statements.
   */
  asOf(tenant: TenantScope, datasets: readonly string[]): Promise<string>
}

const never = new Date(0).toISOString()

/**
 * For event datasets: now if the consumer is caught up; otherwise the time of the tenant's newest handled event; 1970
 * if there is none or while the facts are rebuilt. For datasets with a feed: the time when the feed was last read to
 * its end.
 */
export function createDataAge(
  { sql }: Pick<Database, 'sql'>,
  consumer: Pick<EventConsumer, 'isCaughtUp'>,
  clock: Clock,
): DataAge {
  let lastCheck: { until: number; at: string; answer: Promise<boolean> } | undefined
  const caughtUp = () => {
    if (lastCheck && lastCheck.until > performance.now()) return lastCheck
    const answer = consumer.isCaughtUp().catch(() => false)
    lastCheck = { until: performance.now() + minCheckIntervalMs, at: clock.now(), answer }
    return lastCheck
  }
  const ofEvents = async ({ workspaceId, environment }: TenantScope) => {
    const { at, answer } = caughtUp()
    if (await isRebuilding({ sql })) return never
    if (await answer) return at
    const [row] = await sql.unsafe<{ at: string | null }[]>(
      `select ${isoText('max(newest_at)')} as at from fact_versions
       where workspace_id = $1 and environment = $2 and not dataset = any ($3::text[])`,
      [workspaceId, environment, fedNames],
      { prepare: true },
    )
    return row?.at ?? never
  }
  const ofFeeds = async (names: string[]) => {
    const rows = await sql.unsafe<{ at: string | null }[]>(
      `select ${isoText('as_of')} as at from fact_feeds where dataset = any ($1::text[])`,
      [names],
      { prepare: true },
    )
    return rows.map(({ at }) => at ?? never)
  }

  const ofAll = async ({ tenant, datasets }: { tenant: TenantScope; datasets: readonly string[] }) => {
    const fed = datasets.filter((name) => fedNames.includes(name))
    const instants = fed.length > 0 ? await ofFeeds(fed) : []
    if (fed.length < datasets.length || datasets.length === 0) instants.push(await ofEvents(tenant))
    return instants.sort().at(0) ?? never
  }
  const shared = shareInFlight(
    ({ tenant: { workspaceId, environment }, datasets }) => [workspaceId, environment, ...datasets].join('/'),
    ofAll,
  )
  return { asOf: (tenant, datasets) => shared({ tenant, datasets }) }
}

const fedNames = fedDatasets.map(({ name }) => name)
