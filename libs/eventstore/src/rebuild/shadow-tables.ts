import { type Database, quoteIdentifier } from '@opsplane/postgres'

type Sql = Database['sql']
type Transaction = Parameters<Parameters<Sql['begin']>[1]>[0]

/** Copies of tables in a separate schema, which are filled there and then replace the tables. */
export interface ShadowTables {
  /** The qualified name of a table's copy. */
  of(table: string): string
  /**
   * Creates all indexes except the primary keys, which would slow down filling the copies. Also
   * analyzes the copies.
   */
  complete(): Promise<void>
  /**
   * Replaces the tables by the copies, with their triggers, within a transaction that has locked all tables. Values
   * that triggers compute in a row are already computed in the copies. Foreign keys are not validated yet.
   */
  swap(tx: Transaction): Promise<void>
  /** Validates the foreign keys, during concurrent writes. */
  validate(): Promise<void>
  drop(): Promise<void>
}

interface Index {
  table: string
  /** The name of both the index and its constraint. */
  name: string
  primary: boolean
  definition: string
}

interface ForeignKey {
  table: string
  name: string
  definition: string
}

interface Grant {
  table: string
  grantee: string
  privilege: string
}

/** Creates empty copies with the columns, checks and privileges of the tables. Leftover copies are dropped. */
export async function createShadowTables(
  sql: Sql,
  schema: string,
  tables: readonly string[],
): Promise<ShadowTables> {
  const shadow = `${schema}_rebuild`
  const of = (table: string) => `${quoteIdentifier(shadow)}.${quoteIdentifier(table)}`
  const here = (table: string) => `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`
  const drop = () => sql.unsafe(`drop schema if exists ${quoteIdentifier(shadow)} cascade`).then(() => {})
  const indexes = await sql<Index[]>`
    select t.relname as table, c.relname as name, i.indisprimary as primary, pg_get_indexdef(c.oid) as definition
    from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
    where t.relnamespace = ${schema}::regnamespace and t.relname = any(${[...tables]})`
  const foreignKeys = await sql<ForeignKey[]>`
    select t.relname as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
    from pg_constraint k join pg_class t on t.oid = k.conrelid join pg_class r on r.oid = k.confrelid
    where k.contype = 'f' and k.connamespace = ${schema}::regnamespace
      and (t.relname = any(${[...tables]}) or r.relname = any(${[...tables]}))`
  const grants = await sql<Grant[]>`
    select c.relname as table, a.grantee::regrole::text as grantee, a.privilege_type as privilege
    from pg_class c, aclexplode(c.relacl) a
    where c.relnamespace = ${schema}::regnamespace and c.relname = any(${[...tables]}) and a.grantee <> c.relowner`

  const triggers = await sql<{ table: string; computes: boolean; definition: string }[]>`
    select c.relname as table, t.tgtype::int & 3 = 3 as computes, pg_get_triggerdef(t.oid) as definition
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where not t.tgisinternal and c.relnamespace = ${schema}::regnamespace and c.relname = any(${[...tables]})`

  await drop()
  await sql.unsafe(`create schema ${quoteIdentifier(shadow)}`)
  for (const table of tables) {
    await sql.unsafe(`create table ${of(table)} (like ${here(table)} including all excluding indexes)`)
    for (const { name } of indexes.filter((index) => index.table === table && index.primary))
      await sql.unsafe(`alter table ${of(table)} add constraint ${quoteIdentifier(name)} primary key (id)`)
  }
  for (const { table, definition } of triggers.filter(({ computes }) => computes))
    await sql.unsafe(definition.replace(/ ON \S+ FOR EACH ROW /, ` ON ${of(table)} FOR EACH ROW `))
  for (const { table, privilege, grantee } of grants)
    await sql.unsafe(`grant ${privilege} on ${of(table)} to ${grantee}`)

  return {
    of,
    drop,
    async complete() {
      // The part before the access method contains the index name, which is free in the other schema, and the table.
      for (const { table, definition } of indexes.filter(({ primary }) => !primary))
        await sql.unsafe(definition.replace(/ ON (ONLY )?\S+ USING /, ` ON ${of(table)} USING `))
      for (const table of tables) await sql.unsafe(`analyze ${of(table)}`)
    },
    async swap(tx) {
      for (const { table, name } of foreignKeys)
        await tx.unsafe(`alter table ${here(table)} drop constraint ${quoteIdentifier(name)}`)
      for (const table of tables) {
        await tx.unsafe(`drop table ${here(table)}`)
        await tx.unsafe(`alter table ${of(table)} set schema ${quoteIdentifier(schema)}`)
      }
      for (const { definition } of triggers.filter(({ computes }) => !computes)) await tx.unsafe(definition)
      for (const { table, name, definition } of foreignKeys)
        await tx.unsafe(
          `alter table ${here(table)} add constraint ${quoteIdentifier(name)} ${definition} not valid`,
        )
    },
    async validate() {
      for (const { table, name } of foreignKeys)
        await sql.unsafe(`alter table ${here(table)} validate constraint ${quoteIdentifier(name)}`)
    },
  }
}
