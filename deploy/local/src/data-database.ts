import { type BackendName, type ServiceEntry, serviceRegistry } from '@opsplane/contracts'
import { dataDatabaseName, type Installation, openClient, readIdentity } from '@opsplane/postgres'

/** Whether a service's schema is in the database of the tenants' data. */
const isInDataDatabase = (service: BackendName): boolean => {
  const { inDataDatabase }: ServiceEntry = serviceRegistry[service]
  return inDataDatabase ?? false
}

/**
 * URL of the database with a service's schema, for a role that owns its tables. The tenants' data is in a separate
 * database: the one DATA_DATABASE_URL names, or else one on the same server with the name that the installation
 * defines.
 */
export function databaseIn(
  installation: Pick<Installation, 'rolePrefix'>,
  service: BackendName,
  adminUrl: string,
): string {
  if (!isInDataDatabase(service)) return adminUrl
  return process.env.DATA_DATABASE_URL || toDatabaseUrl(adminUrl, dataDatabaseName(installation))
}

/** Same, with the installation read from the database itself. */
export async function findDatabaseUrl(service: BackendName, adminUrl: string): Promise<string> {
  if (!isInDataDatabase(service)) return adminUrl
  return databaseIn(await recordedIn(adminUrl), service, adminUrl)
}

/** Reads the prefix of the installation's names. A database without a record has no prefix. */
async function recordedIn(adminUrl: string): Promise<Pick<Installation, 'rolePrefix'>> {
  const { record } = await withAdmin(adminUrl, readIdentity)
  return record ?? { rolePrefix: '' }
}

/**
 * Creates the database of the tenants' data on the same server as the main one; a database named by its URL must
 * exist already.
 */
export async function makeDataDatabase(adminUrl: string, installation: Installation): Promise<void> {
  if (process.env.DATA_DATABASE_URL) return
  const name = dataDatabaseName(installation)
  await withAdmin(adminUrl, async (sql) => {
    const [found] = await sql`select 1 from pg_database where datname = ${name}`
    if (!found) await sql`create database ${sql(name)}`.catch(ignoreDuplicate)
  })
}

export const toDatabaseUrl = (adminUrl: string, database: string): string => {
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  return url.href
}

/** One connection as administrator for the duration of `work`, without a statement timeout. */
export async function withAdmin<T>(
  adminUrl: string,
  work: (sql: ReturnType<typeof openClient>) => Promise<T>,
): Promise<T> {
  const sql = openClient(adminUrl, { schema: 'public', max: 1, settings: { statement_timeout: '0' } })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** A concurrent start created it first. */
function ignoreDuplicate(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== '42P04' && code !== '23505') throw error
}
