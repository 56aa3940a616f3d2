import type { TenantScope } from '@opsplane/contracts'
import type { EventConsumer } from '@opsplane/eventstore'
import type { Database } from '@opsplane/postgres'
import type { Clock } from '@opsplane/runtime'
import { isRebuilding } from './rebuild.js'

/** The consumer is asked how far it has come no more often. */
const askEveryMs = 1_000

export interface DataAge {
  /** ISO instant: everything that happened until then is in the tenant's facts. */
  asOf(tenant: TenantScope): Promise<string>
}

/**
 * Now, where every event there is has been handled; otherwise when the newest of the tenant's events happened that was, and
 * 1970 where none was, or while the facts are made anew.
 */
export function createDataAge(
  { sql }: Pick<Database, 'sql'>,
  consumer: Pick<EventConsumer, 'isCaughtUp'>,
  clock: Clock,
): DataAge {
  let asked: { until: number; at: string; answer: Promise<boolean> } | undefined
  const caughtUp = () => {
    if (asked && asked.until > performance.now()) return asked
    const answer = consumer.isCaughtUp().catch(() => false)
    asked = { until: performance.now() + askEveryMs, at: clock.now(), answer }
    return asked
  }
  return {
    async asOf({ workspaceId, environment }) {
      const { at, answer } = caughtUp()
      if (await isRebuilding({ sql })) return new Date(0).toISOString()
      if (await answer) return at
      const [row] = await sql.unsafe<{ at: string | null }[]>(
        `select to_char(max(newest_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
           from fact_versions where workspace_id = $1 and environment = $2`,
        [workspaceId, environment],
        { prepare: true },
      )
      return row?.at ?? new Date(0).toISOString()
    },
  }
}
