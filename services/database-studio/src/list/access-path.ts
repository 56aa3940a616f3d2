import type { TableState } from '@opsplane/contracts'
import { buildFields, type Field } from '../row/fields.js'
import type { Condition } from '../row/filter.js'
import type { SortTerm } from './sort.js'

/**
 * How a list is found: by an index, in which a column with several requested values is
 * read value by value; or by a table scan.
 */
export type AccessPath =
  | {
      served: true
      each?: Extract<Condition, { kind: 'among' }>
      /**
       * Leading index columns restricted to one value, if Postgres needs to know that they do
       * not affect the order.
       */
      prefix?: Path['columns']
    }
  | { served: false; advice: string }

/** An index as stored: its columns in order; non-unique indexes end with the id. */
interface Path {
  columns: readonly { column: string; descending: boolean }[]
  /** Number of leading columns whose combination is unique. */
  unique?: number
}

export interface AccessRequest {
  conditions: readonly Condition[]
  sort: readonly SortTerm[]
  /** Search words. */
  q?: string | undefined
}

/**
 * Determines whether a declared index finds the records in the requested order, so that a page costs the same whatever
 * the size of the table. Full-text indexes return matches in no order: their speed depends on how frequent the words
 * are.
 */
export function findAccessPath(table: TableState, request: AccessRequest): AccessPath {
  const terms = termsOf(request.conditions)
  if (isBounded(table, terms)) return { served: true }
  if (isSearched(table, request)) return { served: true }
  if (request.q === undefined && terms.rest.length === 0) {
    for (const path of pathsOf(table)) {
      const each = terms.several.length === 1 ? terms.several[0] : undefined
      const prefix = terms.several.length <= 1 ? prefixOf(path, terms, request.sort) : undefined
      if (!prefix) continue
      const hasNull = terms.nulls && prefix.length > 0
      return { served: true, ...(each && { each }), ...(hasNull && { prefix }) }
    }
  }
  return { served: false, advice: adviceOn(request, terms) }
}

interface Terms {
  /** Columns restricted to one value. */
  equal: Field[]
  /** Whether one of these values is null: Postgres does not treat such a column as constant. */
  nulls: boolean
  /** Conditions with several values. */
  several: Extract<Condition, { kind: 'among' }>[]
  ranges: Field[]
  /** Conditions that no column index can answer in order. */
  rest: Condition[]
}

function termsOf(conditions: readonly Condition[]): Terms {
  const terms: Terms = { equal: [], nulls: false, several: [], ranges: [], rest: [] }
  for (const condition of conditions) {
    if (isNull(condition)) terms.nulls = true
    if (condition.kind === 'equals' && !condition.negated) terms.equal.push(condition.field)
    else if (
      condition.kind === 'among' &&
      !(condition.negated || condition.orNull || condition.field.kind === 'array')
    ) {
      if (condition.values.length <= 1) terms.equal.push(condition.field)
      else terms.several.push(condition)
    } else if (condition.kind === 'compares' || condition.kind === 'starts_with')
      terms.ranges.push(condition.field)
    else if (condition.kind === 'exists' && !condition.value) terms.equal.push(condition.field)
    else terms.rest.push(condition)
  }
  return terms
}

const isNull = (condition: Condition): boolean =>
  (condition.kind === 'equals' && condition.value === null) ||
  (condition.kind === 'exists' && !condition.value)

/**
 * Restricted by ids or a unique key: the result has at most as many records as values were
 * requested, whatever the other conditions.
 */
function isBounded(table: TableState, { equal, several }: Terms): boolean {
  const restrictedColumns = new Set(
    [...equal, ...several.map(({ field }) => field)].map(({ column }) => column),
  )
  return pathsOf(table).some(
    ({ columns, unique }) =>
      unique !== undefined &&
      columns.slice(0, unique).every(({ column }) => restrictedColumns.has(column)) &&
      columns.slice(0, unique).filter(({ column }) => several.some(({ field }) => field.column === column))
        .length <= 1,
  )
}

/**
 * The index columns restricted to one value, in the direction the index is read;
 * `undefined` if the index does not fit.
 */
function prefixOf(
  { columns }: Path,
  { equal, several, ranges }: Terms,
  sort: readonly SortTerm[],
): Path['columns'] | undefined {
  const fixed = new Set([...equal, ...several.map(({ field }) => field)].map(({ column }) => column))
  let at = 0
  while (at < columns.length && fixed.has(columns[at]?.column ?? '')) at++
  const prefix = columns.slice(0, at)
  const rest = columns.slice(at)
  const remainingSort = sort.filter(({ field }) => !fixed.has(field.column))
  const turned = remainingSort.map(({ descending }, index) => descending !== rest[index]?.descending)
  const fits =
    [...fixed].every((name) => prefix.some(({ column }) => column === name)) &&
    ranges.every(({ column }) => column === rest[0]?.column) &&
    remainingSort.every(({ field }, index) => rest[index]?.column === field.column) &&
    turned.every((one) => one === turned[0])
  if (!fits) return undefined
  return prefix.map(({ column, descending }) => ({ column, descending: descending !== (turned[0] ?? false) }))
}

const known = new WeakMap<TableState, readonly Path[]>()

function pathsOf(table: TableState): readonly Path[] {
  const cached = known.get(table)
  if (cached) return cached
  const unique = (names: readonly string[]): Path => ({
    columns: withId(names.map((column) => ({ column, descending: false }))),
    unique: names.length,
  })
  const paths = [
    { columns: [{ column: 'id', descending: false }], unique: 1 },
    ...table.columns.filter((column) => column.unique).map(({ name }) => unique([name])),
    ...table.columns
      .filter(({ type }) => type === 'reference')
      .map(({ name }) => ({ columns: withId([{ column: name, descending: false }]) })),
    ...table.uniques.map(({ columns }) => unique(columns)),
    ...table.indexes
      .filter(({ kind }) => kind === 'btree')
      .map(({ columns, unique: isUnique }) => ({
        columns: withId(
          columns.map(({ name, direction }) => ({ column: name, descending: direction === 'desc' })),
        ),
        ...(isUnique && { unique: columns.length }),
      })),
  ]
  known.set(table, paths)
  return paths
}

/** The id ends an index in the direction of its last column, as it ends a sort. */
const withId = (columns: Path['columns']): Path['columns'] =>
  columns.some(({ column }) => column === 'id')
    ? columns
    : [...columns, { column: 'id', descending: columns.at(-1)?.descending ?? false }]

const shortestTrigram = 3

export const hasTrigrams = (table: TableState, column: string): boolean =>
  table.indexes.some(({ kind, columns }) => kind === 'trigram' && columns.some(({ name }) => name === column))

function isSearched(table: TableState, { conditions, q }: AccessRequest): boolean {
  if (q !== undefined) return table.indexes.some(({ kind }) => kind === 'fulltext')
  return conditions.some(
    (condition) =>
      (condition.kind === 'contains' || condition.kind === 'matches') &&
      condition.value.length >= shortestTrigram &&
      hasTrigrams(table, condition.field.column),
  )
}

/** Advice on which index would serve the list, or that none would. */
function adviceOn({ conditions, sort, q }: AccessRequest, { equal, several, ranges, rest }: Terms): string {
  if (q !== undefined) return 'Add an index of kind fulltext on the columns to search.'
  const part = conditions.find(({ kind }) => kind === 'contains' || kind === 'matches')
  if (part?.kind === 'contains' || part?.kind === 'matches')
    return `Add an index of kind trigram on (${part.field.column}), and give three characters or more.`
  if (rest.length > 0) return 'No index serves such a condition.'
  const fixed = [...new Set([...equal, ...several.map(({ field }) => field)].map(({ column }) => column))]
  const ordered = sort.filter(({ field }) => field.column !== 'id' && !fixed.includes(field.column))
  const range = ranges.find(({ column }) => !fixed.includes(column))
  if (range && ordered.length > 0 && ordered[0]?.field !== range)
    return `Sort by ${range.name} first, with an index on (${[...fixed, range.column].join(', ')}).`
  if (range && ordered.length === 0)
    return `Sort by ${range.name}, with an index on (${[...fixed, range.column].join(', ')}).`
  const columns = ordered.map(({ field, descending }) => `${field.column}${descending ? ' desc' : ''}`)
  return `Add an index on (${[...fixed, ...columns].join(', ')}).`
}

/** The text columns that a search without an index scans. */
export const searchableFields = (table: TableState): Field[] =>
  [...buildFields(table).values()].filter(
    ({ kind, definition }) => definition && (kind === 'text' || kind === 'enum'),
  )
