import type { Column, TableIndex, TableState } from '@opsplane/contracts'
import { quoteIdentifier } from '@opsplane/postgres'
import { buildConstraintName } from '../row/constraint-name.js'
import { searchVector } from '../row/search-vector.js'
import { columnConstraints, columnSql, relation, type TableName } from './column-sql.js'

/** The named parts of a table: constraints and indexes, each with its definition as SQL. */
export interface TableParts {
  constraints: Map<string, string>
  indexes: Map<string, string>
}

/**
 * Same check as in `adopt_table`. It trims bytes instead of matching, because a regular expression rebuilds its state
 * for each row, which costs a tenth of an insert.
 */
const idForm = `check (octet_length(id) = 30 and rtrim(convert_to(id, 'UTF8'), '0123456789ABCDEFGHJKMNPQRSTVWXYZ'::bytea) = 'rec_'::bytea)`

type Defined = Pick<TableState, 'columns' | 'indexes' | 'uniques' | 'checks'>

/** Every constraint and index of a table. Only names chosen by clients can be duplicates. */
export function buildParts(place: TableName, { columns, indexes, uniques, checks }: Defined): TableParts {
  const list = (names: readonly string[]) => names.map(quoteIdentifier).join(', ')
  const constraints = new Map([
    ...unnamedConstraints(place, columns).map(({ name, definition }) => [name, definition] as const),
    ...uniques.map(({ name, columns: of }) => [name, `unique (${list(of)})`] as const),
    ...checks.map(({ name, expression }) => [name, `check (${expression})`] as const),
  ])
  const references = columns.flatMap((column) => [...columnIndexes(place, column)])
  return {
    constraints,
    indexes: new Map([...references, ...indexes.map((index) => [index.name, indexSql(index)] as const)]),
  }
}

/** The constraints whose names derive from the table and a column, each with that column. */
export function unnamedConstraints(place: TableName, columns: readonly Column[]) {
  return [
    { name: buildConstraintName(place.slug, 'pkey'), column: 'id', definition: 'primary key (id)' },
    { name: buildConstraintName(place.slug, 'id', 'form'), column: 'id', definition: idForm },
    ...columns.flatMap((column) =>
      [...columnConstraints(place, column)].map(([name, definition]) => ({
        ...{ name, column: column.name, definition },
      })),
    ),
  ]
}

/** The index of a reference column, by name. Without it, deleting a referenced record would scan this table. */
function columnIndexes({ slug }: TableName, { name, type, unique }: Column): Map<string, string> {
  return new Map(
    type === 'reference' && !unique
      ? [[buildConstraintName(slug, name, 'ref'), `(${quoteIdentifier(name)}, id)`]]
      : [],
  )
}

/** The names of all constraints and indexes of a table, by the place in the definition they come from. */
export function partNames({ slug, columns, indexes, uniques, checks }: Defined & { slug: string }) {
  const place = { schema: '', slug }
  const namedParts = { indexes, uniques, checks }
  return [
    { path: '/slug', name: buildConstraintName(slug, 'pkey') },
    { path: '/slug', name: buildConstraintName(slug, 'id', 'form') },
    ...columns.flatMap((column, at) =>
      [...columnConstraints(place, column).keys(), ...columnIndexes(place, column).keys()].map((name) => ({
        path: `/columns/${at}`,
        name,
      })),
    ),
    ...Object.entries(namedParts).flatMap(([list, parts]) =>
      parts.map(({ name }, at) => ({ path: `/${list}/${at}`, name })),
    ),
  ]
}

/** The part of CREATE INDEX behind the table name. */
function indexSql({ columns, kind, unique }: TableIndex): string {
  if (kind === 'trigram')
    return `using gin (${columns.map(({ name }) => `${quoteIdentifier(name)} extensions.gin_trgm_ops`).join(', ')})`
  if (kind === 'fulltext') return `using gin (${searchVector(columns.map(({ name }) => name))})`
  const terms = columns.map(({ name, direction }) => `${quoteIdentifier(name)} ${direction}`)
  // Appends the id, so that keyset pages can continue among records with equal values.
  const last = columns.at(-1)
  const isWhole = unique || columns.some(({ name }) => name === 'id')
  return `(${[...terms, ...(isWhole ? [] : [`id ${last?.direction ?? 'asc'}`])].join(', ')})`
}

/** A definition does not include the word UNIQUE, which CREATE INDEX places before the table name. */
export const createIndex = (place: TableName, name: string, definition: string, unique = false): string =>
  `create ${unique ? 'unique ' : ''}index ${quoteIdentifier(name)} on ${relation(place)} ${definition}`

/** The statements that create a table, in order. */
export function createTable(place: TableName, state: TableState): string[] {
  const { constraints, indexes } = buildParts(place, state)
  const lines = [
    'id text default studio.new_record_id()',
    'version integer not null',
    'created_at timestamptz(3) not null',
    'updated_at timestamptz(3) not null',
    ...state.columns.map(columnSql),
    ...[...constraints].map(([name, definition]) => `constraint ${quoteIdentifier(name)} ${definition}`),
  ]
  const unique = uniqueIndexes(state)
  return [
    `create table ${relation(place)} (\n\t${lines.join(',\n\t')}\n)`,
    ...[...indexes].map(([name, definition]) => createIndex(place, name, definition, unique.has(name))),
  ]
}

export const uniqueIndexes = ({ indexes }: Pick<TableState, 'indexes'>): Set<string> =>
  new Set(indexes.filter(({ unique }) => unique).map(({ name }) => name))
