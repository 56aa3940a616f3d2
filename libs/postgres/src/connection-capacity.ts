import type postgres from 'postgres'

/** The connection limits and usage of a server. */
interface ConnectionCapacity {
  /** `max_connections`. */
  max: number
  /** Number of these that only superusers and roles with `pg_use_reserved_connections` may use. */
  reserved: number
  /** Connections opened by all other clients. */
  used: number
}

/**
 * Reads the server's limits; every role that may connect may read them. The connection used for this is not
 * counted.
 */
export async function readConnectionCapacity(sql: postgres.Sql): Promise<ConnectionCapacity> {
  // The server's own processes have no user or no database. `reserved_connections` exists since Postgres 16.
  const [row] = await sql<ConnectionCapacity[]>`
    select current_setting('max_connections')::int as max,
      current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true), '0')::int as reserved,
      (select count(*)::int from pg_stat_get_activity(null)
       where usesysid is not null and datid is not null and pid <> pg_backend_pid()) as used`
  if (!row) throw new Error('Postgres gave no answer about its connections')
  return row
}

/** A message for operators if fewer connections are left than wanted; `undefined` if there are enough. */
export function connectionShortage(
  required: number,
  { max, reserved, used }: ConnectionCapacity,
): string | undefined {
  const left = Math.max(max - reserved - used, 0)
  if (required <= left) return undefined
  return (
    `Postgres has ${left} connections left, and up to ${required} are needed: max_connections is ${max}, of which ${reserved} are ` +
    `reserved and ${used} in use by others.`
  )
}

/** The remedy for a shortage, for operators. */
export const shortageRemedy =
  'Raise max_connections (and restart Postgres), close what else is connected, or set DATABASE_POOL_SIZE (at least 3 for ' +
  'each service) and DATA_SESSIONS lower: docs/scaling.md#connections'
