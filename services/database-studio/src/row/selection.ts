import type { TableState } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'
import { conditionsSql } from './conditions.js'
import { buildFields, type Field, findReferenceKey, shownExpression } from './fields.js'
import type { Condition } from './filter.js'
import type { Parameters } from './parameters.js'
import type { Place, Problems } from './problems.js'

/** The part of a table's records to return. */
export interface Selection {
  table: TableState
  /** In the order of the response. */
  fields: readonly Field[]
  /** References that are returned as the records they point to, by field name. */
  expanded: ReadonlyMap<string, Selection>
  /** Condition a record must satisfy to be visible: the caller's rule for its table. */
  rule: readonly Condition[]
}

/** The tables that a selection may expand, with the caller's read rule for each. */
export interface RelatedTables {
  table: TableState
  rule: readonly Condition[]
}

const bounds = { depth: 3, expanded: 10 }
const always = ['id', 'version']

/** All fields of a table's records. */
export const selectAllFields = (table: TableState, rule: readonly Condition[] = []): Selection => ({
  table,
  fields: [...buildFields(table).values()],
  expanded: new Map(),
  rule,
})

/** The fields named by `fields=a,b`, plus id and version; all fields if the parameter is absent. */
export function readFields(
  table: TableState,
  fieldsText: string | undefined,
  place: Place,
  problems: Problems,
): Field[] {
  const fields = buildFields(table)
  if (fieldsText === undefined) return [...fields.values()]
  const names = fieldsText.split(',')
  for (const name of names)
    if (!fields.has(name))
      problems.add(place, 'invalid_value', `names ${JSON.stringify(name)}, which is no field`)
  return [...fields.values()].filter(({ name }) => always.includes(name) || names.includes(name))
}

/** Resolves the tables along the reference paths named by `expand=customer,customer.region`. */
export async function readExpand(
  selection: Selection,
  expandText: string | undefined,
  find: (table: string) => Promise<RelatedTables | undefined>,
  { place, problems }: { place: Place; problems: Problems },
): Promise<Selection> {
  if (expandText === undefined) return selection
  const paths = expandText.split(',').map((path) => path.split('.'))
  if (paths.length > bounds.expanded || paths.some((path) => path.length > bounds.depth)) {
    problems.add(place, 'too_big', `must name at most ${bounds.expanded} references, ${bounds.depth} deep`)
    return selection
  }
  return expandAll(selection, paths, find, (name) =>
    problems.add(
      place,
      'invalid_value',
      `names ${JSON.stringify(name)}, which is no reference that is answered`,
    ),
  )
}

async function expandAll(
  selection: Selection,
  paths: readonly string[][],
  find: (table: string) => Promise<RelatedTables | undefined>,
  refuse: (name: string) => void,
): Promise<Selection> {
  const expanded = new Map<string, Selection>()
  for (const name of new Set(paths.map(([first = '']) => first))) {
    const field = selection.fields.find((one) => one.name === name)
    const target = field?.definition?.type === 'reference' ? await find(field.definition.table) : undefined
    if (!target) {
      refuse(name)
      continue
    }
    const rest = paths.flatMap(([first, ...more]) => (first === name && more.length > 0 ? [more] : []))
    expanded.set(name, await expandAll(selectAllFields(target.table, target.rule), rest, find, refuse))
  }
  return { ...selection, expanded }
}

/** The select list of records in their API representation; each expanded reference is a separate scalar subquery. */
export function selectList(
  { fields, expanded }: Selection,
  row: string,
  schema: string,
  parameters: Parameters,
): string {
  return fields
    .map((field) => {
      const target = expanded.get(field.name)
      const value = target
        ? expandedSql(target, field, { schema, parameters, row })
        : shownExpression(field, row)
      return `${value} as ${quoteIdentifier(field.name)}`
    })
    .join(', ')
}

/** The record a reference points to, as JSON; null if there is none or the caller may not read it. */
function expandedSql(
  target: Selection,
  { column, definition }: Field,
  { schema, parameters, row }: { schema: string; parameters: Parameters; row: string },
): string {
  const inner = `${row}x`
  const list = selectList(target, inner, schema, parameters)
  const rule = conditionsSql(target.rule, inner, parameters)
  const from = `${quoteIdentifier(schema)}.${quoteIdentifier(target.table.slug)} ${inner}`
  const key = quoteIdentifier(findReferenceKey(definition))
  return `(select row_to_json(found) from (select ${list} from ${from} where ${inner}.${key} = ${row}.${quoteIdentifier(column)} and ${rule}) found)`
}
