import { type BackendName, type ServiceEntry, serviceRegistry } from '@opsplane/contracts'
import { openClient } from '@opsplane/postgres'

const name = 'opsplane_data'

/**
 * The database that has a service's schema, as a role that owns its tables. That of the tenants' data is apart: the one
 * DATA_DATABASE_URL names, else one on the same server.
 */
export function databaseOf(service: BackendName, adminUrl: string): string {
  const { inDataDatabase }: ServiceEntry = serviceRegistry[service]
  if (!inDataDatabase) return adminUrl
  if (process.env.DATA_DATABASE_URL) return process.env.DATA_DATABASE_URL
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return url.href
}

/** Makes the database of the tenants' data on the server of the others; one that is named by its URL is there already. */
export async function makeDataDatabase(adminUrl: string): Promise<void> {
  if (process.env.DATA_DATABASE_URL) return
  const sql = openClient(adminUrl, { schema: 'public', max: 1 })
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${name}`
    if (!found) await sql`create database ${sql(name)}`.catch(ignoreDuplicate)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** Somebody else has made it meanwhile. */
function ignoreDuplicate(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== '42P04' && code !== '23505') throw error
}
