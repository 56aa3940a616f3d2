import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import { computeColumnsTogether } from './computed-columns.js'
import { roleSettings } from './database.js'
import { targetOf } from './server-target.js'
import { literal } from './sql-text.js'

export interface ProvisionOptions {
  /** A role that may create roles and schemas; used here only, never by a running service. */
  adminUrl: string
  /** Names the schema and the login role. */
  service: string
  password: string
  /** In the order they are applied. */
  migrations: readonly Migrations[]
}

export interface Migrations {
  /** A folder of migrations as drizzle-kit writes them. */
  folder: string
  /** Keeps which of them have been applied. */
  table: string
}

/** One lock for all provisioning of a database: services start together. */
const provisioningLock = 7_241_001

/**
 * Brings one service's schema up to date: login role, schema, migrations, grants. Safe to repeat and to run
 * from several processes at once. The service's role can only read and write rows, and of event log and audit log it can
 * change none. Returns the URL the service connects with.
 */
export async function provisionSchema(options: ProvisionOptions): Promise<string> {
  const { adminUrl, service, password } = options
  if (!/^[a-z][a-z0-9_]*$/.test(service)) throw new Error(`not a schema name: ${service}`)
  const { url, ssl } = targetOf(adminUrl)
  const admin = postgres(url, {
    ...(ssl && { ssl }),
    max: 1,
    onnotice: () => {},
    connection: { search_path: service },
  })
  try {
    await admin`select pg_advisory_lock(${provisioningLock})`
    await createRoleAndSchema(admin, service, password)
    for (const { folder, table } of options.migrations)
      await migrate(drizzle(admin), {
        migrationsFolder: folder,
        migrationsSchema: service,
        migrationsTable: table,
      })
    await computeColumnsTogether(admin, service)
    await grant(admin, options)
  } finally {
    await admin.end({ timeout: 5 })
  }
  return urlAs(adminUrl, service, password)
}

/** The database of the URL, as this role. */
export function urlAs(adminUrl: string, role: string, password: string): string {
  const url = new URL(adminUrl)
  url.username = role
  url.password = password
  return url.toString()
}

async function createRoleAndSchema(admin: postgres.Sql, service: string, password: string) {
  await ensureRole(admin, service, password)
  await admin.unsafe(`create schema if not exists ${service}`)
  await admin.unsafe(`revoke all on schema public from ${service}`)
}

const roleRaces = 10

/** Roles belong to the cluster, locks to one database: when the provisioning of another gets in between, `work` is done again. */
export async function retryRoleRaces<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === roleRaces || !isRoleRace(error)) throw error
    }
  }
}

const ensureRole = (admin: postgres.Sql, service: string, password: string) =>
  retryRoleRaces(async () => {
    const [role] = await admin`select 1 from pg_roles where rolname = ${service}`
    const verb = role ? 'alter' : 'create'
    await admin.unsafe(
      [
        `${verb} role ${service} login password ${literal(password)}`,
        // For connections that a pooler opens, which takes no settings from its clients.
        ...Object.entries(roleSettings(service)).map(
          ([name, value]) => `alter role ${service} set ${name} = '${value}'`,
        ),
      ].join(';'),
    )
  })

/** Postgres has no state of its own for two sessions that alter a role at once, which it calls internal. */
function isRoleRace(error: unknown): boolean {
  if (!(error instanceof postgres.PostgresError)) return false
  const { code, message } = error
  return code === '42710' || code === '23505' || message === 'tuple concurrently updated'
}

/** Records nobody can rewrite, and what proves one of them. */
const onlyGrowing = ['events', 'audit_log', 'audit_checkpoints']

async function grant(admin: postgres.Sql, { service, migrations }: ProvisionOptions) {
  const ownersAlone = migrations.map(({ table }) => `${service}.${table}`)
  await admin.unsafe(`
    grant usage on schema ${service} to ${service};
    grant select, insert, update, delete on all tables in schema ${service} to ${service};
    grant usage, select on all sequences in schema ${service} to ${service};
    revoke all on ${ownersAlone.join(', ')} from ${service};
    do $$ declare name text; begin
      foreach name in array '{${onlyGrowing.join()}}'::text[] loop
        if to_regclass('${service}.' || name) is not null then
          execute format('revoke update, delete on ${service}.%I from ${service}', name);
        end if;
      end loop;
      -- Rows of a partition are reached by way of the whole table alone.
      for name in select relname from pg_class where relnamespace = '${service}'::regnamespace and relispartition and relkind = 'r' loop
        execute format('revoke all on ${service}.%I from ${service}', name);
      end loop;
    end $$;`)
}
