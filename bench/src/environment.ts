import { limitTable } from '@opsplane/runtime'

const unlimited = Object.fromEntries(Object.keys(limitTable).map((name) => [name, 0]))

/** Environment of services: what is measured is what the platform can do, not what a tenant may. */
export const withoutLimits = {
  RATE_LIMIT_PER_MINUTE: '0',
  CONNECTIONS_PER_ADDRESS: '0',
  LIMITS: JSON.stringify(unlimited),
}

/** As `docs/scaling.md` has it for a server under load; the raw limits are measured on the same one. */
const checkpoints = ['max_wal_size=4GB', 'checkpoint_timeout=15min']

export const postgresFlags = ['shared_preload_libraries=pg_stat_statements', ...checkpoints]
