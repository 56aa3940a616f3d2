import type { Metrics } from '@opsplane/telemetry'

/** Has the child processes of a pool counted. */
export function measureChildren(
  metrics: Metrics,
  pool: string,
  { pids }: { pids(which?: 'all' | 'working'): number[] },
): void {
  metrics.gather(() =>
    (['all', 'working'] as const).map((state) => ({
      name: 'opsplane_sandbox_children',
      labels: { pool, state },
      value: pids(state).length,
    })),
  )
}
