import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import { computeColumnsTogether } from './computed-columns.js'
import { roleSettings } from './database.js'
import { formatRole, type Installation } from './installation/installation.js'
import { claimDatabase, installationGrants } from './installation/record.js'
import { markRole, refuseForeignRole } from './installation/role-marks.js'
import { parseServerTarget } from './server-target.js'
import { quoteLiteral } from './sql-text.js'

export interface ProvisionOptions {
  /** A role that may create roles and schemas; used here only, never by a running service. */
  adminUrl: string
  /** Names the schema and, after the prefix of the installation, the login role. */
  service: string
  password: string
  /** Whose role and schema they are. The names go by what the database records of it. */
  installation: Installation
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
 * change none. Returns the URL the service connects with. Throws InstallationError where the database, or the role, is another
 * installation's: nothing is changed then.
 */
export async function provisionSchema(options: ProvisionOptions): Promise<string> {
  const { adminUrl, service, password } = options
  if (!/^[a-z][a-z0-9_]*$/.test(service)) throw new Error(`not a schema name: ${service}`)
  const { url, ssl } = parseServerTarget(adminUrl)
  const admin = postgres(url, {
    ...(ssl && { ssl }),
    max: 1,
    onnotice: () => {},
    connection: { search_path: service },
  })
  try {
    await admin`select pg_advisory_lock(${provisioningLock})`
    const installation = await claimDatabase(admin, options.installation)
    const role = formatRole(installation, service)
    await ensureRole(admin, { installation, role, service, password })
    await admin.unsafe(`create schema if not exists ${service}`)
    await admin.unsafe(`revoke all on schema public from ${role}`)
    for (const { folder, table } of options.migrations)
      await migrate(drizzle(admin), {
        migrationsFolder: folder,
        migrationsSchema: service,
        migrationsTable: table,
      })
    await computeColumnsTogether(admin, service)
    await grant(admin, role, options)
    return urlAs(adminUrl, role, password)
  } finally {
    await admin.end({ timeout: 5 })
  }
}

/** Records to which installation a database belongs, or refuses: see `claimDatabase`. */
export async function claimInstallation(adminUrl: string, wanted?: Installation): Promise<Installation> {
  const admin = postgres(adminUrl, { max: 1, onnotice: () => {} })
  try {
    await admin`select pg_advisory_lock(${provisioningLock})`
    return await claimDatabase(admin, wanted)
  } finally {
    await admin.end({ timeout: 5 })
  }
}

/** The database of the URL, as this role. */
export function urlAs(adminUrl: string, role: string, password: string): string {
  const url = new URL(adminUrl)
  url.username = role
  url.password = password
  return url.toString()
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

interface ServiceRole {
  installation: Installation
  role: string
  service: string
  password: string
}

const ensureRole = (admin: postgres.Sql, { installation, role, service, password }: ServiceRole) =>
  retryRoleRaces(async () => {
    const verb = (await refuseForeignRole(admin, role, installation)) ? 'alter' : 'create'
    await admin.unsafe(
      [
        `${verb} role ${role} login password ${quoteLiteral(password)}`,
        markRole(role),
        // For connections that a pooler opens, which takes no settings from its clients.
        ...Object.entries(roleSettings(service)).map(
          ([name, value]) => `alter role ${role} set ${name} = '${value}'`,
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

/** Records that cannot be rewritten, and what proves one of them. */
const onlyGrowing = ['events', 'audit_log', 'audit_checkpoints']

async function grant(admin: postgres.Sql, role: string, { service, migrations }: ProvisionOptions) {
  const ownersAlone = migrations.map(({ table }) => `${service}.${table}`)
  await admin.unsafe(`${installationGrants(role)}
    grant usage on schema ${service} to ${role};
    grant select, insert, update, delete on all tables in schema ${service} to ${role};
    grant usage, select on all sequences in schema ${service} to ${role};
    revoke all on ${ownersAlone.join(', ')} from ${role};
    do $$ declare name text; begin
      foreach name in array '{${onlyGrowing.join()}}'::text[] loop
        if to_regclass('${service}.' || name) is not null then
          execute format('revoke update, delete on ${service}.%I from ${role}', name);
        end if;
      end loop;
      -- Rows of a partition are reached by way of the whole table alone.
      for name in select relname from pg_class where relnamespace = '${service}'::regnamespace and relispartition and relkind = 'r' loop
        execute format('revoke all on ${service}.%I from ${role}', name);
      end loop;
    end $$;`)
}
