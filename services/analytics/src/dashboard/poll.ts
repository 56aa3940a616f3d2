import type { Dashboard, DashboardData } from '@opsplane/contracts'
import type { QueryCaller } from '../query/types.js'
import type { ChangeWaiter } from './change-waiter.js'
import type { DashboardDataReader } from './data.js'

export interface Poll {
  caller: QueryCaller
  dashboard: Dashboard
  /** Version of an earlier answer: the request waits for a newer one. */
  since: string | undefined
  timeoutMs: number
  signal: AbortSignal
}

/** Returns the data of a dashboard, immediately or once it is newer than `since`. */
export async function pollData(
  { data, waiter }: { data: DashboardDataReader; waiter: Pick<ChangeWaiter, 'waitUntil'> },
  { caller, dashboard, since, timeoutMs, signal }: Poll,
): Promise<DashboardData> {
  const version = () => data.version(caller.tenant, dashboard)
  const isNew = async () => (await version()) !== since
  if (since !== undefined) await waiter.waitUntil(caller.tenant, isNew, { timeoutMs, signal })
  return data.read(caller, dashboard, await version(), signal)
}
