import { type BackendName, type ServiceEntry, serviceRegistry } from '@opsplane/contracts'
import { dataDatabaseName, type Installation, openClient, readIdentity } from '@opsplane/postgres'

/** Whether a service's schema is in the database of the tenants' data. */
const isInDataDatabase = (service: BackendName): boolean => {
  const { inDataDatabase }: ServiceEntry = serviceRegistry[service]
  return inDataDatabase ?? false
}

/**
 * The database that has a service's schema, as a role that owns its tables. That of the tenants' data is apart: the one
 * DATA_DATABASE_URL names, else one on the same server, by the name that the installation gives it.
 */
export function databaseIn(
  installation: Pick<Installation, 'rolePrefix'>,
  service: BackendName,
  adminUrl: string,
): string {
  if (!isInDataDatabase(service)) return adminUrl
  return process.env.DATA_DATABASE_URL || toDatabaseUrl(adminUrl, dataDatabaseName(installation))
}

/** The same, where the database itself says which installation it belongs to. */
export async function findDatabaseUrl(service: BackendName, adminUrl: string): Promise<string> {
  if (!isInDataDatabase(service)) return adminUrl
  return databaseIn(await recordedIn(adminUrl), service, adminUrl)
}

/** Of the installation, what names go by. Those of a database that records none have no prefix. */
async function recordedIn(adminUrl: string): Promise<Pick<Installation, 'rolePrefix'>> {
  const { record } = await withAdmin(adminUrl, readIdentity)
  return record ?? { rolePrefix: '' }
}

/** Makes the database of the tenants' data on the server of the others; one that is named by its URL is there already. */
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

/** One connection as the administrator, for as long as `work` takes: its statements have no limit of time. */
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

/** Another start was first. */
function ignoreDuplicate(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== '42P04' && code !== '23505') throw error
}
