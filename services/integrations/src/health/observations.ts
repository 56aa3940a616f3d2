import { ApiError, systemActor, type TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { Clock } from '@opsplane/runtime'
import type { Connectors } from '../connector/connectors.js'
import type { StoredConnector } from '../connector/domain.js'
import { CallFailure } from '../kind/call-failure.js'

/** The health of the connected system as seen in one use; `nothing`: the failure had another cause. */
export type Observation = { health: 'up' } | { health: 'down'; error: string } | { health: 'nothing' }

/** Statuses with which a proxy reports that the server behind it is unavailable. */
const absent = new Set([502, 503, 504])

/** For an invocation: any response shows that the system is up, except the responses of a proxy. */
export function observeInvocation(outcome: unknown): Observation {
  if (!(outcome instanceof CallFailure)) return { health: 'up' }
  const { kind, status, message } = outcome
  if (kind === 'unreachable' || kind === 'timeout') return { health: 'down', error: message }
  if (kind !== 'answered') return { health: 'nothing' }
  if (status !== undefined && absent.has(status)) return { health: 'down', error: message }
  return status === 500 ? { health: 'nothing' } : { health: 'up' }
}

/** For a test: any failure except a cancellation means down. */
export function observeTest(outcome: unknown): Observation {
  if (!(outcome instanceof CallFailure)) return { health: 'up' }
  return outcome.kind === 'cancelled' ? { health: 'nothing' } : { health: 'down', error: outcome.message }
}

/** Number of consecutive failures after which a connector is down. One success makes it up. */
export const failuresToDown = 2

/** Records an observation and returns the resulting status of the connector. `by`: a check does not count as a use. */
export type Observe = (
  connector: StoredConnector,
  tenant: TenantScope,
  seen: Observation,
  by?: 'use' | 'check',
) => Promise<StoredConnector['status']>

export interface ObserverOptions {
  database: Pick<Database, 'sql'>
  connectors: Connectors
  clock: Clock
  /** Seconds between checks. */
  everySeconds: number
}

/** Interval in milliseconds in which repeated observations of a healthy connector are not written. */
const silentMs = 5_000
const maxKnown = 10_000

/** Counts observations of connectors across all replicas, and reports each change of status once. */
export function createObserver({
  database: { sql },
  connectors,
  clock,
  everySeconds,
}: ObserverOptions): Observe {
  /** When each connector that is up was last written, by id and epoch. */
  const written = new Map<string, number>()

  const count = async (
    connector: StoredConnector,
    tenant: TenantScope,
    seen: Observation,
    by: 'use' | 'check',
  ) => {
    const [row] = await sql.unsafe<{ misses: number }[]>(countStatement, [
      ...[connector.id, tenant.workspaceId, tenant.environment, String(connector.epoch)],
      ...[seen.health, String(by === 'use'), String(everySeconds)],
    ])
    return row?.misses ?? 0
  }

  const report = async (
    connector: StoredConnector,
    tenant: TenantScope,
    status: 'up' | 'down',
    error: string | null,
  ) => {
    const now = clock.now()
    const meta = { tenant, actor: systemActor, now, requestId: null }
    const { id, epoch } = connector
    try {
      const after = await connectors.aggregate.handle(id, { kind: 'report', epoch, status, error, now }, meta)
      return after.status
    } catch (thrown) {
      // The connector was deleted meanwhile.
      if (thrown instanceof ApiError && thrown.code === 'not_found') return connector.status
      throw thrown
    }
  }

  return async (connector, tenant, seen, by = 'use') => {
    const key = `${connector.id}/${connector.epoch}`
    const isWell = seen.health === 'up' && connector.status === 'up'
    const lately = performance.now() - (written.get(key) ?? Number.NEGATIVE_INFINITY) < silentMs
    if (by === 'use' && isWell && lately) return 'up'
    const misses = await count(connector, tenant, seen, by)
    if (written.size >= maxKnown) written.clear()
    if (isWell) written.set(key, performance.now())
    else written.delete(key)
    if (seen.health === 'up') return isWell ? 'up' : report(connector, tenant, 'up', null)
    if (seen.health === 'down' && misses >= failuresToDown && connector.status !== 'down')
      return report(connector, tenant, 'down', seen.error)
    return connector.status
  }
}

/** Parameters: connector, workspace, environment, epoch, health, whether it was a use, seconds to the next check. */
const countStatement = `
  insert into connector_health as h (connector_id, workspace_id, environment, epoch, misses, last_used_at, due_at)
  values ($1, $2, $3, $4::text::int, ($5::text = 'down')::int, case when $6::text::boolean then now() end,
    now() + $7::text::float8 * interval '1 second')
  on conflict (connector_id) do update set
    epoch = excluded.epoch,
    misses = case $5::text when 'up' then 0
      else (case when h.epoch = excluded.epoch then h.misses else 0 end) + excluded.misses end,
    last_used_at = coalesce(excluded.last_used_at, h.last_used_at),
    due_at = coalesce(h.due_at, excluded.due_at)
  returning misses`
