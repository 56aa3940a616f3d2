import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'

export interface ProvisionOptions {
  /** A role that may create roles and schemas; used here only, never by a running service. */
  adminUrl: string
  /** Names the schema and the login role. */
  service: string
  password: string
  /** A folder of migrations as drizzle-kit writes them. */
  migrationsDir: string
}

/** One lock for all provisioning of a database: services start together. */
const provisioningLock = 7_241_001

/**
 * Brings one service's schema up to date: login role, schema, migrations, grants. Safe to repeat and to run
 * from several processes at once. The service's role can only read and write rows, and the event log only grows:
 * of an event nothing but `published_at` can be changed, of the audit log nothing at all. Returns the URL the service connects with.
 */
export async function provisionService(options: ProvisionOptions): Promise<string> {
  const { adminUrl, service, password } = options
  if (!/^[a-z][a-z0-9_]*$/.test(service)) throw new Error(`not a schema name: ${service}`)
  const admin = postgres(adminUrl, { max: 1, onnotice: () => {}, connection: { search_path: service } })
  try {
    await admin`select pg_advisory_lock(${provisioningLock})`
    await createRoleAndSchema(admin, service, password)
    await migrate(drizzle(admin), {
      migrationsFolder: options.migrationsDir,
      migrationsSchema: service,
      migrationsTable: 'schema_migrations',
    })
    await grant(admin, service)
  } finally {
    await admin.end({ timeout: 5 })
  }
  const url = new URL(adminUrl)
  url.username = service
  url.password = password
  return url.toString()
}

async function createRoleAndSchema(admin: postgres.Sql, service: string, password: string) {
  await ensureRole(admin, service, password)
  await admin.unsafe(`create schema if not exists ${service}`)
  await admin.unsafe(`revoke all on schema public from ${service}`)
}

const roleRaces = 10

/** Roles belong to the cluster, the lock to one database: the provisioning of another can get in between. */
async function ensureRole(admin: postgres.Sql, service: string, password: string) {
  for (let attempt = 1; ; attempt++) {
    const [role] = await admin`select 1 from pg_roles where rolname = ${service}`
    const verb = role ? 'alter' : 'create'
    try {
      await admin.unsafe(`${verb} role ${service} login password '${password.replaceAll("'", "''")}'`)
      return
    } catch (error) {
      if (attempt === roleRaces || !isRoleRace(error)) throw error
    }
  }
}

/** Postgres has no state of its own for two sessions that alter a role at once, which it calls internal. */
function isRoleRace(error: unknown): boolean {
  if (!(error instanceof postgres.PostgresError)) return false
  const { code, message } = error
  return code === '42710' || code === '23505' || message === 'tuple concurrently updated'
}

/** Beside the event log: a record nobody can rewrite, and what proves it. */
const onlyGrowing = ['audit_log', 'audit_checkpoints']

const keepGrowing = (service: string, table: string) => `
      if to_regclass('${service}.${table}') is not null then
        revoke update, delete on ${service}.${table} from ${service};
      end if;`

async function grant(admin: postgres.Sql, service: string) {
  await admin.unsafe(`
    grant usage on schema ${service} to ${service};
    grant select, insert, update, delete on all tables in schema ${service} to ${service};
    grant usage, select on all sequences in schema ${service} to ${service};
    revoke all on ${service}.schema_migrations from ${service};
    do $$ begin
      if to_regclass('${service}.events') is not null then
        revoke update, delete on ${service}.events from ${service};
        grant update (published_at) on ${service}.events to ${service};
      end if;
      ${onlyGrowing.map((table) => keepGrowing(service, table)).join('\n')}
    end $$;`)
}
