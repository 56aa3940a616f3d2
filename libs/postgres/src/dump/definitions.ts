import { z } from 'zod'
import type { StatementRunner } from '../database.js'
import { quoteIdentifier } from '../sql-text.js'

/** A statement that creates an object, to be run as the role that will own it. */
const Definition = z.object({ owner: z.string(), text: z.string() })
type Definition = z.infer<typeof Definition>

/** The objects of some schemas, as statements that recreate them: before the rows are copied, and after. */
export const Definitions = z.object({ before: z.array(Definition), after: z.array(Definition) })
export type Definitions = z.infer<typeof Definitions>

/**
 * Types, sequences, tables, constraints, indexes, statistics, views, comments and grants of these schemas; no
 * functions or triggers. Leaves search_path empty in `sql`'s transaction, so that all names are qualified with
 * their schema.
 */
export async function readDefinitions(
  sql: StatementRunner,
  schemas: readonly string[],
): Promise<Definitions> {
  await sql.unsafe(`set local search_path = ''`)
  const read = async (queries: readonly string[]) => {
    const found: Definition[] = []
    for (const query of queries) {
      const rows = await sql.unsafe(query, [[...schemas]])
      found.push(...rows.map((row) => Definition.parse({ ...row })))
    }
    return found
  }
  return { before: await read(beforeRows), after: await read(afterRows) }
}

/** The same definitions with other role names, for both owners and grantees. */
export function withRoles({ before, after }: Definitions, rename: (role: string) => string): Definitions {
  const renamed = ({ owner, text }: Definition): Definition => ({
    owner: rename(owner),
    text: text.replace(
      /^(grant .* to )([a-z0-9_]+)$/,
      (_whole, grant: string, role: string) => grant + rename(role),
    ),
  })
  return { before: before.map(renamed), after: after.map(renamed) }
}

const maxRounds = 100

/**
 * Runs the statements within the caller's transaction, each as its owner. A statement that depends on a later one
 * is retried after the others. Throws the Postgres error of the first statement that never succeeds.
 */
export async function applyDefinitions(
  sql: StatementRunner,
  definitions: readonly Definition[],
): Promise<void> {
  let left = definitions
  for (let round = 0; left.length > 0; round++) {
    const failed: { definition: Definition; error: unknown }[] = []
    for (const definition of left) {
      const error = await tried(sql, definition)
      if (error !== undefined) failed.push({ definition, error })
    }
    if (failed.length === left.length || round === maxRounds) throw failed[0]?.error
    left = failed.map(({ definition }) => definition)
  }
}

async function tried(sql: StatementRunner, { owner, text }: Definition): Promise<unknown> {
  await sql.unsafe(`savepoint definition; set local role ${quoteIdentifier(owner)}`)
  try {
    await sql.unsafe(text)
    await sql.unsafe('reset role; release definition')
    return undefined
  } catch (error) {
    await sql.unsafe('rollback to definition; reset role; release definition')
    return error
  }
}

const qualify = (alias: string, namespace = 'n') => `format('%I.%I', ${namespace}.nspname, ${alias})`

const classes = (kinds: string) => `
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = any($1::text[]) and c.relkind in (${kinds})`

const sequenceOptions = (
  alias: string,
) => `format('increment by %s minvalue %s maxvalue %s start with %s cache %s%s',
  ${alias}.seqincrement, ${alias}.seqmin, ${alias}.seqmax, ${alias}.seqstart, ${alias}.seqcache,
  case when ${alias}.seqcycle then ' cycle' else '' end)`

/**
 * The column a sequence depends on: `i` if it belongs to an identity column and is created with it, `a` if a
 * column owns it.
 */
const partOf = (kind: string) => `
  pg_depend d where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objid = c.oid
    and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjsubid > 0 and d.deptype = '${kind}'`

const columnText = `
  format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod))
  || coalesce((select format(' collate %I.%I', cn.nspname, o.collname) from pg_collation o
      join pg_namespace cn on cn.oid = o.collnamespace join pg_type ty on ty.oid = a.atttypid
      where o.oid = a.attcollation and a.attcollation <> ty.typcollation), '')
  || case
    when a.attgenerated <> '' then format(' generated always as (%s) stored', pg_get_expr(def.adbin, def.adrelid))
    when a.attidentity <> '' then coalesce((
      select format(' generated %s as identity (sequence name %I.%I %s)',
        case a.attidentity when 'a' then 'always' else 'by default' end, sn.nspname, sc.relname, ${sequenceOptions('q')})
      from pg_depend d join pg_class sc on sc.oid = d.objid join pg_namespace sn on sn.oid = sc.relnamespace
        join pg_sequence q on q.seqrelid = sc.oid
      where d.refobjid = a.attrelid and d.refobjsubid = a.attnum and d.deptype = 'i' and sc.relkind = 'S'), '')
    when def.adbin is not null then ' default ' || pg_get_expr(def.adbin, def.adrelid)
    else ''
  end
  || case when a.attnotnull then ' not null' else '' end`

const beforeRows = [
  `select pg_get_userbyid(t.typowner) as owner, format('create type %s as enum (%s)', ${qualify('t.typname')},
     (select coalesce(string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder), '')
      from pg_enum e where e.enumtypid = t.oid)) as text
   from pg_type t join pg_namespace n on n.oid = t.typnamespace
   where n.nspname = any($1::text[]) and t.typtype = 'e' order by t.oid`,
  `select pg_get_userbyid(c.relowner) as owner, format('create type %s as (%s)', ${qualify('c.relname')},
     (select coalesce(string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum), '')
      from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)) as text
   ${classes(`'c'`)} order by c.oid`,
  `select pg_get_userbyid(t.typowner) as owner, format('create domain %s as %s', ${qualify('t.typname')},
     format_type(t.typbasetype, t.typtypmod)) || coalesce(' default ' || t.typdefault, '')
     || case when t.typnotnull then ' not null' else '' end
     || coalesce((select string_agg(format(' constraint %I %s', k.conname, pg_get_constraintdef(k.oid)), '' order by k.conname)
       from pg_constraint k where k.contypid = t.oid and k.contype = 'c'), '') as text
   from pg_type t join pg_namespace n on n.oid = t.typnamespace
   where n.nspname = any($1::text[]) and t.typtype = 'd' order by t.oid`,
  `select pg_get_userbyid(c.relowner) as owner, format('create sequence %s as %s %s', ${qualify('c.relname')},
     format_type(q.seqtypid, null), ${sequenceOptions('q')}) as text
   from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_sequence q on q.seqrelid = c.oid
   where n.nspname = any($1::text[]) and not exists (select from ${partOf('i')}) order by c.oid`,
  `select pg_get_userbyid(c.relowner) as owner, format('create %stable %s (%s)',
     case c.relpersistence when 'u' then 'unlogged ' else '' end, ${qualify('c.relname')},
     (select coalesce(string_agg(${columnText}, ', ' order by a.attnum), '')
      from pg_attribute a left join pg_attrdef def on def.adrelid = a.attrelid and def.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped))
     || coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '') as text
   ${classes(`'r'`)} order by c.oid`,
  `select pg_get_userbyid(c.relowner) as owner, format('alter sequence %s owned by %I.%I.%I', ${qualify('c.relname')},
     tn.nspname, t.relname, a.attname) as text
   from pg_class c join pg_namespace n on n.oid = c.relnamespace join lateral (select * from ${partOf('a')}) d on true
     join pg_class t on t.oid = d.refobjid join pg_namespace tn on tn.oid = t.relnamespace
     join pg_attribute a on a.attrelid = t.oid and a.attnum = d.refobjsubid
   where n.nspname = any($1::text[]) and c.relkind = 'S' order by c.oid`,
]

const afterRows = [
  `select pg_get_userbyid(c.relowner) as owner, format('alter table only %s add constraint %I %s', ${qualify('c.relname')},
     k.conname, pg_get_constraintdef(k.oid)) as text
   from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = any($1::text[]) and k.contype in ('p', 'u', 'c', 'x', 'f')
   order by k.contype = 'f', k.oid`,
  `select pg_get_userbyid(c.relowner) as owner, format('create %sview %s%s as %s',
     case c.relkind when 'm' then 'materialized ' else '' end, ${qualify('c.relname')},
     coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', ''), rtrim(pg_get_viewdef(c.oid), ';'))
     || case when c.relkind = 'm' and not c.relispopulated then ' with no data' else '' end as text
   ${classes(`'v', 'm'`)} order by c.oid`,
  // Invalid indexes, whose creation never finished, are left out.
  `select pg_get_userbyid(c.relowner) as owner, pg_get_indexdef(i.indexrelid) as text
   from pg_index i join pg_class c on c.oid = i.indrelid join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = any($1::text[]) and i.indisvalid
     and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
   order by i.indexrelid`,
  `select pg_get_userbyid(s.stxowner) as owner, pg_get_statisticsobjdef(s.oid) as text
   from pg_statistic_ext s join pg_namespace n on n.oid = s.stxnamespace
   where n.nspname = any($1::text[]) order by s.oid`,
  `select pg_get_userbyid(c.relowner) as owner, format('comment on %s %s is %L', case
       when d.objsubid > 0 then 'column' when c.relkind = 'v' then 'view' when c.relkind = 'm' then 'materialized view'
       when c.relkind = 'i' then 'index' when c.relkind = 'S' then 'sequence' else 'table' end,
     ${qualify('c.relname')} || coalesce((select format('.%I', a.attname) from pg_attribute a
       where a.attrelid = c.oid and a.attnum = d.objsubid and d.objsubid > 0), ''), d.description) as text
   from pg_description d join pg_class c on c.oid = d.objoid and d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
     join pg_namespace n on n.oid = c.relnamespace
   where n.nspname = any($1::text[]) and c.relkind in ('r', 'v', 'm', 'i', 'S') order by c.oid, d.objsubid`,
  `select pg_get_userbyid(c.relowner) as owner, format('grant %s on %s %s to %s', string_agg(g.privilege_type, ', '),
     case c.relkind when 'S' then 'sequence' else 'table' end, ${qualify('c.relname')},
     case g.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end) as text
   from pg_class c join pg_namespace n on n.oid = c.relnamespace cross join lateral aclexplode(c.relacl) g
   where n.nspname = any($1::text[]) and c.relkind in ('r', 'v', 'm', 'S') and g.grantee <> c.relowner
   group by c.oid, c.relname, c.relowner, c.relkind, n.nspname, g.grantee order by c.oid`,
]
