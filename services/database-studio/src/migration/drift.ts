import type { Drift } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import type { Space } from '../data-plane/space.js'
import { difference, type TableShape } from './shape.js'
import { knownTables, parseShapes, sameShape } from './table-changes.js'

type Difference = Drift['differences'][number]

/** Objects in the schema of a space that no definition or migration explains, and expected objects that are missing. */
export async function computeDrift({ sql }: Pick<Database, 'sql'>, space: Space): Promise<Drift> {
  const known = await knownTables(sql, space)
  const [row] = await sql.unsafe(
    `select space_shapes(s.id) as shapes, capture_fault(s) as fault,
       (select coalesce(json_agg(c.relname order by c.relname), '[]') from pg_class c
        where c.relnamespace = s.schema_name::regnamespace and c.relkind not in ('i', 'S', 't')
          and not exists (select from captured_tables t where t.relation = c.oid)) as strangers
     from spaces s where s.id = $1`,
    [space.id],
  )
  const shapes = parseShapes(row?.shapes)
  const strangers = z.array(z.string()).parse(row?.strangers ?? [])
  const fault = z.string().nullish().parse(row?.fault)
  const differences: Difference[] = [
    ...strangers.map(
      (table): Difference => ({ table, kind: 'unmanaged', message: 'is not a defined table' }),
    ),
    ...known.flatMap(({ id, state, shape }) => ofTable(state.slug, shapes[id], shape)),
    ...(fault ? [{ table: '', kind: 'capture_off' as const, message: fault }] : []),
  ]
  return { inSync: differences.length === 0, differences }
}

function ofTable(table: string, now: TableShape | undefined, was: TableShape | null): Difference[] {
  if (!now) return [{ table, kind: 'missing', message: 'has a definition, but does not exist' }]
  const invalid = now.indexes
    .filter(({ valid }) => !valid)
    .map(
      ({ name }): Difference => ({ table, kind: 'invalid_index', message: `index ${name} is not finished` }),
    )
  if (!was || sameShape(was, now)) return invalid
  const parts = ['columns', 'constraints', 'indexes', 'triggers'] as const
  const partChanges = parts.flatMap((part) => {
    const { added, removed, changed } = difference<{ name: string }>(was[part], now[part])
    const list = (verb: string, names: { name: string }[]) =>
      names.length > 0 ? [`${part} ${verb}: ${names.map(({ name }) => name).join(', ')}`] : []
    return [
      ...list('added', added),
      ...list('removed', removed),
      ...list(
        'changed',
        changed.map(([, after]) => after),
      ),
    ]
  })
  const renamed = was.name === now.name ? [] : [`is called ${now.name}`]
  const message = [...renamed, ...partChanges].join('; ') || 'has another description'
  return [...invalid, { table, kind: 'changed', message }]
}
