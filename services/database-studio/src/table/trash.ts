import type { Instant, TableState, TenantScope } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { quoteIdentifier } from '@opsplane/postgres'
import { roleOfSpace, type Space } from '../data-plane/space.js'
import { relation } from './column-sql.js'
import type { DefinitionTransaction } from './define.js'
import { buildParts } from './table-sql.js'

const trashDays = 7

type Doing = Pick<DefinitionTransaction, 'tx' | 'asOwner'>

const trashOf = ({ schema }: Space): string => `${schema}_trash`
/** Name of a table in the trash, where several may have had the same slug. */
const nameInTrash = ({ id }: Pick<TableState, 'id'>): string => id.toLowerCase()

/** The purge time of a table that is dropped now. */
export const computePurgeTime = (now: Instant): Instant =>
  new Date(Date.parse(now) + trashDays * 86_400_000).toISOString()

/** Moves a table to where only its owner role can access it. Records it refers to may be deleted meanwhile. */
export const trashTable = (tx: StatementRunner, { id }: Pick<TableState, 'id'>) =>
  tx.unsafe('select put_in_trash($1)', [id])

/** Schedules the purge of a table in the trash. */
export const planPurge = (tx: StatementRunner, tenant: TenantScope, id: string, at: Instant) =>
  tx.unsafe(
    'insert into table_purges (table_id, workspace_id, environment, due_at) values ($1, $2, $3, $4)',
    [id, tenant.workspaceId, tenant.environment, at],
  )

/** Ids of the tables of a space that are in its trash. */
export async function listTrashedTables(tx: StatementRunner, spaceId: string): Promise<ReadonlySet<string>> {
  const rows = await tx.unsafe<{ id: string }[]>(
    `select c.table_id as id from captured_tables c join pg_class r on r.oid = c.relation join spaces s on s.id = c.space_id
     where c.space_id = $1 and r.relnamespace = (s.schema_name || '_trash')::regnamespace`,
    [spaceId],
  )
  return new Set(rows.map(({ id }) => id))
}

/** Moves a table back into the schema. Postgres rejects it if records it refers to have been deleted. */
export async function restoreFromTrash(
  { tx, asOwner }: Doing,
  space: Space,
  state: TableState,
): Promise<void> {
  const names = await tx.unsafe<{ name: string; trashed: string }[]>(
    'delete from trashed_names where table_id = $1 returning name, trashed',
    [state.id],
  )
  const trash = trashOf(space)
  const place = { schema: space.schema, slug: state.slug }
  await asOwner(async (owner) => {
    const trashed = relation({ schema: trash, slug: nameInTrash(state) })
    await owner.unsafe(`alter table ${trashed} set schema ${quoteIdentifier(space.schema)}`)
    await owner.unsafe(
      `alter table ${relation({ ...place, slug: nameInTrash(state) })} rename to ${quoteIdentifier(state.slug)}`,
    )
    for (const { name, trashed: from } of names)
      await owner.unsafe(
        `alter index ${quoteIdentifier(space.schema)}.${quoteIdentifier(from)} rename to ${quoteIdentifier(name)}`,
      )
    for (const [name, definition] of references(space, state))
      await owner.unsafe(
        `alter table ${relation(place)} add constraint ${quoteIdentifier(name)} ${definition}`,
      )
  })
}

/** Purges a table. */
export async function purgeTable(tx: StatementRunner, space: Space, id: string): Promise<void> {
  await tx.unsafe(`set local role ${quoteIdentifier(roleOfSpace(space, 'owner'))}`)
  await tx.unsafe(`drop table if exists ${relation({ schema: trashOf(space), slug: nameInTrash({ id }) })}`)
  await tx.unsafe('set local role none')
  await tx.unsafe('select drop_capture($1)', [id])
  await tx.unsafe('delete from trashed_names where table_id = $1', [id])
}

/** The foreign keys of a table. */
const references = ({ schema }: Space, state: TableState): [string, string][] =>
  [...buildParts({ schema, slug: state.slug }, state).constraints].filter(([, definition]) =>
    definition.startsWith('foreign key'),
  )
