import { quoteIdentifier } from '@opsplane/postgres'
import type postgres from 'postgres'
import { z } from 'zod'

/** Advisory lock: only one replica rebuilds indexes, because concurrent index builds would wait for each other. */
const renewingLock = 7_241_004

const Outdated = z.object({
  tableId: z.string(),
  schema: z.string(),
  name: z.string(),
  /** Temporary name of the index while it is built. No definition can contain such a name. */
  built: z.string(),
  definition: z.string(),
})
type Outdated = z.infer<typeof Outdated>

const before = `to_tsvector('simple'::regconfig, `

/**
 * Rebuilds full-text indexes that still contain words with their accents, as created before `studio.search_words`
 * existed. Rows stay readable and writable meanwhile. An unfinished rebuild is started over.
 */
export async function renewIndexes(admin: postgres.Sql): Promise<void> {
  const [lock] = await admin`select pg_try_advisory_lock(${renewingLock}) as free`
  if (!lock?.free) return
  for (const index of await outdated(admin)) {
    const { schema, built, definition } = index
    await admin.unsafe(
      `drop index concurrently if exists ${quoteIdentifier(schema)}.${quoteIdentifier(built)}`,
    )
    const over = definition.slice(definition.indexOf(' ON ')).replace(before, 'studio.search_words(')
    await admin.unsafe(`create index concurrently ${quoteIdentifier(built)}${over}`)
    await replace(admin, index)
  }
}

async function outdated(admin: postgres.Sql): Promise<Outdated[]> {
  const rows = await admin.unsafe(
    `select c.table_id as "tableId", n.nspname as schema, i.relname as name, '~words_' || i.oid as built,
       pg_get_indexdef(i.oid) as definition
     from captured_tables c
     join tables t on t.id = c.table_id
     join pg_index x on x.indrelid = c.relation
     join pg_class i on i.oid = x.indexrelid
     join pg_namespace n on n.oid = i.relnamespace
     where pg_get_expr(x.indexprs, x.indrelid) like $1 || '%' and x.indisvalid and exists (
       select from jsonb_array_elements(t.state::jsonb->'indexes') d
       where d->>'name' = i.relname and d->>'kind' = 'fulltext')`,
    [before],
  )
  return z.array(Outdated).parse([...rows])
}

/** Replaces the index and updates the stored shape of the table, unless that shape had already drifted. */
const replace = (admin: postgres.Sql, { tableId, schema, name, built }: Outdated) =>
  admin.begin(async (tx) => {
    const [kept] = await tx.unsafe(
      `select s.shape = jsonb_set(n.shape, '{indexes}', (
         select jsonb_agg(i order by place) from jsonb_array_elements(n.shape->'indexes') with ordinality p (i, place)
         where i->>'name' <> $2)) as same
       from table_shapes s, (select table_shape(c.relation) as shape from captured_tables c where c.table_id = $1) n
       where s.table_id = $1`,
      [tableId, built],
    )
    await tx.unsafe(`drop index ${quoteIdentifier(schema)}.${quoteIdentifier(name)}`)
    await tx.unsafe(
      `alter index ${quoteIdentifier(schema)}.${quoteIdentifier(built)} rename to ${quoteIdentifier(name)}`,
    )
    if (kept?.same)
      await tx.unsafe(
        `update table_shapes s set shape = table_shape(c.relation) from captured_tables c
         where c.table_id = s.table_id and s.table_id = $1`,
        [tableId],
      )
  })
