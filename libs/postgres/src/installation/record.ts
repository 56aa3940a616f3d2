import type { StatementRunner } from '../database.js'
import { type Installation, InstallationError, newInstallation } from './installation.js'
import { roleMark } from './role-marks.js'

/** The location of a database, which differs for a copy or a restored dump. */
interface DatabaseLocation {
  /** The server's identifier from `pg_control_system`. */
  systemIdentifier: string
  databaseOid: string
}

/** The installation a database belongs to, as recorded in it. */
interface InstallationRecord extends Installation, DatabaseLocation {
  /** The new id of an unfinished adoption. */
  adopting: string | null
}

/** The database of a connection: its record and its location. */
export interface DatabaseIdentity {
  database: string
  here: DatabaseLocation
  record: InstallationRecord | undefined
}

const objects = `
  create schema if not exists opsplane;
  create table if not exists opsplane.installation (
    one boolean primary key default true check (one),
    id text not null,
    role_prefix text not null,
    system_identifier text not null,
    database_oid oid not null,
    adopting text,
    recorded_at timestamptz not null default now()
  );
  create or replace function opsplane.role_name(part text) returns text language sql stable security definer
  set search_path = pg_catalog as $$ select role_prefix || part from opsplane.installation $$;
  create or replace function opsplane.mark_role(name text) returns void language plpgsql
  set search_path = pg_catalog as $$ begin
    execute format('comment on role %I is %L', name, (select '${roleMark}' || id from opsplane.installation));
  end $$;
  create or replace function opsplane.is_in_place() returns boolean language sql stable security definer
  set search_path = pg_catalog as $$
    select i.adopting is null and i.database_oid = d.oid and i.system_identifier = c.system_identifier::text
    from opsplane.installation i, pg_control_system() c, pg_database d where d.datname = current_database()
  $$;
  revoke execute on all functions in schema opsplane from public;`

/** Grants a service's role read access to the installation's record. */
export const installationGrants = (role: string): string => `
  grant usage on schema opsplane to ${role};
  grant select on opsplane.installation to ${role};
  grant execute on function opsplane.role_name, opsplane.is_in_place to ${role};`

/**
 * Records once which installation a database belongs to, and the database's location; later calls return the
 * record. A database set up by an earlier version keeps names without a prefix. `installation` is the starting
 * installation; without it, any installation is accepted. Throws InstallationError if the database belongs to
 * another installation, is a copy, or was adopted only partly.
 */
export async function claimDatabase(
  sql: StatementRunner,
  installation?: Installation,
): Promise<Installation> {
  const isOlder = await hasTables(sql)
  await sql.unsafe(objects)
  const { id, rolePrefix } = installation ?? { ...newInstallation(), rolePrefix: '' }
  await sql.unsafe(
    `insert into opsplane.installation (id, role_prefix, system_identifier, database_oid)
     select $1, $2, c.system_identifier::text, d.oid
     from pg_control_system() c, pg_database d where d.datname = current_database() on conflict do nothing`,
    [id, isOlder ? '' : rolePrefix],
  )
  return findInstallation(sql, installation?.id)
}

/** The installation that a provisioned database belongs to. Throws InstallationError: see `claimDatabase`. */
export async function findInstallation(sql: StatementRunner, expectedId?: string): Promise<Installation> {
  const identity = await readIdentity(sql)
  refuseForeign(identity, expectedId)
  const { record, database } = identity
  if (!record)
    throw new InstallationError(`The database ${database} belongs to no installation: run opsplane migrate.`)
  return { id: record.id, rolePrefix: record.rolePrefix }
}

/** Whether a version without installations has set up this database. */
async function hasTables(sql: StatementRunner): Promise<boolean> {
  const [row] = await sql.unsafe<{ found: boolean }[]>(
    `select exists (select from pg_class where relname = 'log_migrations' and relkind = 'r') as found`,
  )
  return row?.found ?? false
}

/** Throws errors of Postgres unchanged; the record is `undefined` if the database has none. */
export async function readIdentity(sql: StatementRunner): Promise<DatabaseIdentity> {
  const [here] = await sql.unsafe<(DatabaseLocation & { database: string; recorded: boolean })[]>(
    `select c.system_identifier::text as "systemIdentifier", d.oid::text as "databaseOid", d.datname as database,
       exists (select from pg_class r join pg_namespace n on n.oid = r.relnamespace
         where n.nspname = 'opsplane' and r.relname = 'installation') as recorded
     from pg_control_system() c, pg_database d where d.datname = current_database()`,
  )
  if (!here) throw new Error('the server does not say which database this is')
  const [record] = here.recorded
    ? await sql.unsafe<InstallationRecord[]>(
        `select id, role_prefix as "rolePrefix", system_identifier as "systemIdentifier",
           database_oid::text as "databaseOid", adopting from opsplane.installation`,
      )
    : []
  const { database, systemIdentifier, databaseOid } = here
  return { database, here: { systemIdentifier, databaseOid }, record }
}

export const isAtRecordedLocation = ({ here, record }: DatabaseIdentity): boolean =>
  here.databaseOid === record?.databaseOid && here.systemIdentifier === record.systemIdentifier

/**
 * Throws InstallationError unless the database is at its recorded location and belongs to the given installation,
 * if any.
 */
export function refuseForeign(identity: DatabaseIdentity, expectedId: string | undefined): void {
  const { database, here, record } = identity
  if (!record) return
  // Only provisioning is left of this adoption.
  const isAdopted = record.adopting === record.id && record.rolePrefix !== ''
  if (record.adopting !== null && !isAdopted)
    throw new InstallationError(
      `The database ${database} is half adopted, as installation ${record.adopting}. Run opsplane adopt again: it goes on where it ended.`,
    )
  if (expectedId !== undefined && expectedId !== record.id)
    throw new InstallationError(
      `The database ${database} belongs to installation ${record.id}, and this is installation ${expectedId}. Name a ` +
        `database of ${expectedId} in DATABASE_URL. To make this one its own, stop the services of ${record.id} and run opsplane adopt.`,
    )
  if (isAtRecordedLocation(identity)) return
  const place = ({ systemIdentifier, databaseOid }: DatabaseLocation) =>
    `database ${databaseOid} of server ${systemIdentifier}`
  throw new InstallationError(
    `The database ${database} is a copy or was moved: installation ${record.id} has recorded ${place(record)}, and this is ` +
      `${place(here)}. Run opsplane adopt to make it a separate installation, or opsplane adopt --moved ` +
      'where the other is gone.',
  )
}

/** Records the present location of a copied database. */
export const recordLocation = (sql: StatementRunner): Promise<unknown> =>
  sql.unsafe(
    `update opsplane.installation set system_identifier = c.system_identifier::text, database_oid = d.oid
     from pg_control_system() c, pg_database d where d.datname = current_database()`,
  )
