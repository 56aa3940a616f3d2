import type { Column, TableState } from '@opsplane/contracts'
import { quoted } from '@opsplane/postgres'

/** What a field's values are in Postgres and in JSON. */
export type ValueKind =
  | 'text'
  | 'integer'
  | 'bigint'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'timestamp'
  | 'json'
  | 'uuid'
  | 'enum'
  | 'reference'

/** One field of a record: a column of the table, or one that every record has. */
export interface Field {
  /** As the API names it. */
  name: string
  /** As Postgres names it. */
  column: string
  kind: ValueKind
  nullable: boolean
  /** Absent for the fields every record has. */
  definition?: Column
}

const own: readonly Field[] = [
  { name: 'id', column: 'id', kind: 'text', nullable: false },
  { name: 'version', column: 'version', kind: 'integer', nullable: false },
  { name: 'createdAt', column: 'created_at', kind: 'timestamp', nullable: false },
  { name: 'updatedAt', column: 'updated_at', kind: 'timestamp', nullable: false },
]

/** Of a table, what its records are made of. */
export type Columns = Pick<TableState, 'columns'>

const known = new WeakMap<Columns, ReadonlyMap<string, Field>>()

/** The fields of a table's records by their names in the API, in the order they are answered in. */
export function fieldsOf(table: Columns): ReadonlyMap<string, Field> {
  const cached = known.get(table)
  if (cached) return cached
  const columns = table.columns.map((definition) => ({
    name: definition.name,
    column: definition.name,
    kind: kindOf(definition),
    nullable: definition.nullable,
    definition,
  }))
  const fields = new Map([...own, ...columns].map((field) => [field.name, field]))
  known.set(table, fields)
  return fields
}

export const isOwn = ({ definition }: Field): boolean => definition === undefined

const kindOf = (column: Column): ValueKind => (column.type === 'computed' ? column.resultType : column.type)

const sqlTypes: Record<ValueKind, string> = {
  text: 'text',
  integer: 'int4',
  bigint: 'int8',
  decimal: 'numeric',
  boolean: 'bool',
  date: 'date',
  timestamp: 'timestamptz',
  json: 'jsonb',
  uuid: 'uuid',
  enum: 'text',
  reference: 'text',
}

/** The type of this kind's values where no column says it. */
export const sqlType = (kind: ValueKind): string => sqlTypes[kind]

/** The type a parameter is cast to that is compared with a column; of an enum it is the column's, which a migration may have made one of Postgres. */
export const comparedType = (kind: ValueKind): string | undefined =>
  kind === 'enum' ? undefined : sqlTypes[kind]

/** The expression that reads a field of the row called `row` as the API shows it. */
export function shownAs({ column, kind }: Field, row: string): string {
  const value = `${row}.${quoted(column)}`
  if (kind === 'timestamp') return `to_char(${value} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return kind === 'bigint' || kind === 'decimal' || kind === 'date' ? `${value}::text` : value
}

/** The same as JSON, as a text: faster by half than rows as JSON, which look up the type of each value. */
export function jsonText(field: Field, row: string): string {
  const text = jsonOf(field, shownAs(field, row))
  return isOwn(field) ? text : `coalesce(${text}, 'null')`
}

function jsonOf({ kind }: Field, value: string): string {
  switch (kind) {
    case 'integer':
    case 'boolean':
    case 'json':
      return `${value}::text`
    case 'text':
    case 'enum':
    case 'reference':
      return `to_json(${value})::text`
    default:
      return `'"' || ${value}::text || '"'`
  }
}
