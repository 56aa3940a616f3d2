import { Environment, type TenantScope } from '@opsplane/contracts'
import {
  type CreateWorker,
  isDependencyUnavailable,
  type LeasedRow,
  leasedWorker,
  type StatementRunner,
} from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'
import type { OpenCall } from '../connector/calls.js'
import type { Connectors } from '../connector/connectors.js'
import type { StoredConnector } from '../connector/domain.js'
import { CallFailure } from '../kind/call-failure.js'
import type { Kinds } from '../kind/kinds.js'
import { dueChecks } from '../schema.js'
import { type Observe, observeTest } from './observations.js'

export interface CheckOptions {
  kinds: Kinds
  connectors: Connectors
  open: OpenCall
  observe: Observe
  log: Logger
  everySeconds: number
}

interface CheckRow extends LeasedRow {
  workspace_id: string
  environment: string
  in_use: boolean
}

/**
 * `again`: check again later. `rest`: the connector is unused or disabled, so it is not checked until its next use.
 * `gone`: it was deleted.
 */
type Result = 'again' | 'rest' | 'gone'

/** Maximum duration of a check in milliseconds, whatever the connector's own timeout. */
export const maxCheckMs = 10_000

/** Checks connectors that are in use, so that their users learn of an outage before they need the connector. */
export function checkWork({
  kinds,
  connectors,
  open,
  observe,
  log,
  everySeconds,
}: CheckOptions): CreateWorker {
  const check = async (connector: StoredConnector, tenant: TenantScope, signal: AbortSignal) => {
    const timeoutMs = Math.min(connector.timeoutMs, maxCheckMs)
    const { call, end } = open(connector, {
      ...{
        tenant,
        timeoutMs,
        signal,
        log,
        invoker: null,
        cause: null,
        idempotencyKey: `check-${connector.id}`,
      },
    })
    try {
      await kinds.named(connector.kind).test(call)
      return observeTest(undefined)
    } catch (error) {
      const failure = call.signal.aborted ? call.signal.reason : error
      if (!(failure instanceof CallFailure)) throw failure
      return observeTest(failure)
    } finally {
      end()
    }
  }

  const perform = async (row: CheckRow, signal: AbortSignal): Promise<Result> => {
    const tenant = { workspaceId: row.workspace_id, environment: Environment.parse(row.environment) }
    const found = await connectors.aggregate.find(row.key, tenant)
    if (!found) return 'gone'
    if (!row.in_use || !found.state.enabled) return 'rest'
    await observe(found.state, tenant, await check(found.state, tenant, signal), 'check')
    return 'again'
  }

  return leasedWorker<CheckRow, Result>({
    name: 'connector checks',
    of: dueChecks,
    columns: ['workspace_id', 'environment', `last_used_at > now() - interval '24 hours' as in_use`],
    batch: 32,
    deadlineMs: maxCheckMs + 5_000,
    isRetryable: isDependencyUnavailable,
    perform: ([row], signal) => (row ? Promise.all([perform(row, signal)]) : Promise.resolve([])),
    done: (tx, finished) =>
      settle(
        tx,
        finished.map(({ row, result }) => ({ id: row.key, result })),
        everySeconds,
      ),
  })
}

/** Schedules the next checks by the database's clock. */
async function settle(
  tx: StatementRunner,
  checked: readonly { id: string; result: Result }[],
  everySeconds: number,
): Promise<void> {
  const ids = (result: Result) => checked.filter((each) => each.result === result).map(({ id }) => id)
  await tx.unsafe(
    `with gone as (delete from connector_health where connector_id = any ($1::text[]))
     update connector_health set due_at = case when connector_id = any ($2::text[])
       then now() + $3::text::float8 * interval '1 second' end
     where connector_id = any ($2::text[]) or connector_id = any ($4::text[])`,
    [ids('gone'), ids('again'), String(everySeconds), ids('rest')],
  )
}
