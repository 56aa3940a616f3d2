import type { Metrics } from '@opsplane/telemetry'

/** Adds a metric for the number of child processes of a pool. */
export function measureChildren(
  metrics: Metrics,
  pool: string,
  { pids }: { pids(state?: 'all' | 'working'): number[] },
): void {
  metrics.gather(() =>
    (['all', 'working'] as const).map((state) => ({
      name: 'opsplane_sandbox_children',
      labels: { pool, state },
      value: pids(state).length,
    })),
  )
}
