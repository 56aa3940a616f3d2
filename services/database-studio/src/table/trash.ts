import type { TableState } from '@opsplane/contracts'
import type { StatementRunner } from '@opsplane/postgres'
import { quoted } from '@opsplane/postgres'
import { roleOfSpace, type Space } from '../plane/space.js'
import { relation } from './column-sql.js'
import type { Defining } from './define.js'
import { expectedNames } from './expected-names.js'
import { partsOf } from './table-sql.js'

export const trashDays = 7

type Doing = Pick<Defining, 'tx' | 'asOwner'>

const trashOf = ({ schema }: Space): string => `${schema}_trash`
/** What a table is called in the trash, where several may have had one slug. */
const nameInTrash = ({ id }: Pick<TableState, 'id'>): string => id.toLowerCase()

/** Puts a table where only its owner finds it. Records it refers to may be deleted meanwhile. */
export async function trashTable({ tx, asOwner }: Doing, space: Space, state: TableState): Promise<void> {
  const place = { schema: space.schema, slug: state.slug }
  const indexes = await tx.unsafe<{ name: string }[]>(
    'select indexname as name from pg_indexes where schemaname = $1 and tablename = $2 order by 1',
    [space.schema, state.slug],
  )
  const names = indexes.map(({ name }, at) => ({ name, trashed: `${nameInTrash(state)}_${at}` }))
  for (const { name, trashed } of names)
    await tx.unsafe('insert into trashed_names (table_id, trashed, name) values ($1, $2, $3)', [
      state.id,
      trashed,
      name,
    ])
  const drops = references(space, state).map(
    ([name]) => `alter table ${relation(place)} drop constraint ${quoted(name)}`,
  )
  const named = await expectedNames(tx, place, state, drops)
  await asOwner(async (owner) => {
    for (const statement of [...named, ...drops]) await owner.unsafe(statement)
    for (const { name, trashed } of names)
      await owner.unsafe(`alter index ${quoted(space.schema)}.${quoted(name)} rename to ${quoted(trashed)}`)
    await owner.unsafe(`alter table ${relation(place)} rename to ${quoted(nameInTrash(state))}`)
    const renamed = relation({ ...place, slug: nameInTrash(state) })
    await owner.unsafe(`alter table ${renamed} set schema ${quoted(trashOf(space))}`)
  })
}

/** The way back. Where records it refers to are gone, Postgres refuses it. */
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
    await owner.unsafe(`alter table ${trashed} set schema ${quoted(space.schema)}`)
    await owner.unsafe(
      `alter table ${relation({ ...place, slug: nameInTrash(state) })} rename to ${quoted(state.slug)}`,
    )
    for (const { name, trashed: from } of names)
      await owner.unsafe(`alter index ${quoted(space.schema)}.${quoted(from)} rename to ${quoted(name)}`)
    for (const [name, definition] of references(space, state))
      await owner.unsafe(`alter table ${relation(place)} add constraint ${quoted(name)} ${definition}`)
  })
}

/** Drops a table for good. */
export async function purgeTable(tx: StatementRunner, space: Space, id: string): Promise<void> {
  await tx.unsafe(`set local role ${quoted(roleOfSpace(space, 'owner'))}`)
  await tx.unsafe(`drop table if exists ${relation({ schema: trashOf(space), slug: nameInTrash({ id }) })}`)
  await tx.unsafe('set local role none')
  await tx.unsafe('select drop_capture($1)', [id])
  await tx.unsafe('delete from trashed_names where table_id = $1', [id])
}

/** The foreign keys of a table. */
const references = ({ schema }: Space, state: TableState): [string, string][] =>
  [...partsOf({ schema, slug: state.slug }, state).constraints].filter(([, definition]) =>
    definition.startsWith('foreign key'),
  )
