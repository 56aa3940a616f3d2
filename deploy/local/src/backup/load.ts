import { join } from 'node:path'
import { isDetachedName } from '@opsplane/eventstore'
import { copyIn, type Database, quoteIdentifier, readTables, relationExists } from '@opsplane/postgres'
import { OpsError } from '../ops-target.js'
import { backends } from '../services.js'
import { readMigrationHashes } from './databases.js'
import type { SavedDatabase, SavedTable } from './manifest.js'

type Sql = Database['sql']

export interface Loading {
  folder: string
  saved: SavedDatabase
  say(line: string): void
}

/**
 * Begins a transaction that fills the database from the backup, and leaves the commit to the caller. Throws
 * OpsError.
 */
export async function fillDatabase(sql: Sql, { folder, saved, say }: Loading): Promise<void> {
  await refuseOtherVersions(sql, saved)
  // Disables triggers and foreign key checks: their effects are in the saved rows already.
  await sql.unsafe('begin; set local session_replication_role = replica').simple()
  for (const { service, description } of saved.beside)
    await backends[service].extraSchemas?.prepare(sql, description)
  await dropDetachedMonths(sql, saved)
  await emptyTables(sql, saved)
  await addPartitions(sql, saved.tables)
  let reportedAt = performance.now()
  for (const [at, table] of saved.tables.entries()) {
    await copyIn(sql, table, join(folder, table.file))
    if (performance.now() - reportedAt < progressEveryMs) continue
    reportedAt = performance.now()
    say(`${saved.name}: ${at + 1} of ${saved.tables.length} tables`)
  }
  await setSequences(sql, saved)
  for (const { service, description } of saved.beside)
    await backends[service].extraSchemas?.finish(sql, description)
  say(`${saved.name}: ${saved.tables.length} tables`)
}

const progressEveryMs = 1_000

async function refuseOtherVersions(sql: Sql, { logs }: SavedDatabase): Promise<void> {
  for (const { schema, service, migrations } of logs) {
    const here = await readMigrationHashes(sql, schema)
    if (here.length === 0)
      throw new OpsError(
        'refused',
        `${service} has no tables here: run the migrations first (opsplane migrate).`,
      )
    if (here.join() === migrations.join()) continue
    throw new OpsError(
      'refused',
      `${service} has ${here.length} migrations here, and ${migrations.length} in the backup, or others: restore with ` +
        'the version of Opsplane that made the backup, and upgrade then.',
    )
  }
}

const nameOf = ({ schema, name }: { schema: string; name: string }) =>
  `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`

/** Provisioning has written rows of its own. */
async function emptyTables(sql: Sql, { logs }: SavedDatabase): Promise<void> {
  const schemas = logs.map(({ schema }) => schema)
  const rows = await sql.unsafe<{ schema: string; name: string }[]>(
    `select n.nspname as schema, c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = any($1::text[]) and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname not in ('log_migrations', 'schema_migrations')`,
    [schemas],
  )
  if (rows.length > 0) await sql.unsafe(`truncate ${rows.map(nameOf).join(', ')}`)
}

/** No migration creates the tables of detached months, so a backup contains its own. */
async function dropDetachedMonths(sql: Sql, { logs }: SavedDatabase): Promise<void> {
  const found = await readTables(
    sql,
    logs.map(({ schema }) => schema),
  )
  for (const table of found.filter(({ name }) => isDetachedName(name)))
    await sql.unsafe(`drop table ${nameOf(table)}`)
}

async function addPartitions(sql: Sql, tables: readonly SavedTable[]): Promise<void> {
  for (const table of tables) {
    const { schema, name, parent, bound } = table
    if (isDetachedName(name)) await createDetachedMonth(sql, table)
    if (parent === null || bound === null) continue
    if (await relationExists(sql, nameOf(table))) continue
    await sql.unsafe(
      `create table ${nameOf(table)} partition of ${nameOf({ schema, name: parent })} ${bound}`,
    )
  }
}

/** Creates the table with the columns that the log had when the month was detached. */
async function createDetachedMonth(sql: Sql, table: SavedTable): Promise<void> {
  const { schema, name, columns } = table
  await sql.unsafe(`create table ${nameOf(table)} (like ${nameOf({ schema, name: 'events' })} including all)`)
  const created = (await readTables(sql, [schema])).find((each) => each.name === name)
  for (const column of created?.columns.filter((each) => !columns.includes(each)) ?? [])
    await sql.unsafe(`alter table ${nameOf(table)} drop column ${quoteIdentifier(column)}`)
}

/** Positions drawn for events after the backup, which consumers may have received, are never drawn again. */
async function setSequences(sql: Sql, { sequences, logs }: SavedDatabase): Promise<void> {
  for (const { schema, name, last } of sequences) {
    const log = logs.find((each) => each.schema === schema && name === 'events_position_seq')
    const value = log ? String(Math.max(log.drawn, log.lastPosition)) : last
    if (value !== null && value !== '0')
      await sql.unsafe('select setval($1::text::regclass, $2::text::bigint)', [
        nameOf({ schema, name }),
        value,
      ])
  }
}
