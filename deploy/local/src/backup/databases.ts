import { type BackendName, backendNames } from '@opsplane/contracts'
import { type Database, openClient, relationExists } from '@opsplane/postgres'
import { findDatabaseUrl } from '../data-database.js'
import { backends } from '../services.js'

/** A database, and the services that have their schemas in it. */
export interface ServiceDatabase {
  name: string
  url: string
  services: BackendName[]
}

/** The databases of an installation: the main database, and that of the tenants' data. */
export async function findDatabases(adminUrl: string): Promise<ServiceDatabase[]> {
  const byUrl = new Map<string, BackendName[]>()
  for (const service of backendNames) {
    const url = await findDatabaseUrl(service, adminUrl)
    byUrl.set(url, [...(byUrl.get(url) ?? []), service])
  }
  return [...byUrl].map(([url, services]) => ({ name: url === adminUrl ? 'main' : 'data', url, services }))
}

export const toSchemas = (services: readonly BackendName[]) => services.map((name) => backends[name].schema)

/** One dedicated connection, without a statement timeout. */
export const openSession = (url: string, applicationName: string): Database['sql'] =>
  openClient(url, {
    schema: 'public',
    max: 1,
    applicationName,
    settings: { statement_timeout: '0', idle_in_transaction_session_timeout: '0' },
  })

/** Written by provisioning, and compared instead of copied. */
export const migrationTables = ['log_migrations', 'schema_migrations']

/** Hashes of the migrations of a schema, those of the log first; empty if the schema does not exist. */
export async function readMigrationHashes(
  sql: Pick<Database['sql'], 'unsafe'>,
  schema: string,
): Promise<string[]> {
  const hashes: string[] = []
  for (const table of migrationTables) {
    if (!(await relationExists(sql, `${schema}.${table}`))) continue
    const rows = await sql.unsafe<{ hash: string }[]>(`select hash from ${schema}.${table} order by id`)
    hashes.push(...rows.map(({ hash }) => hash))
  }
  return hashes
}
